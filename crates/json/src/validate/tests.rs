use super::*;

fn minified(input: &str) -> Result<String, String> {
    let mut out = Vec::new();
    minify_value(input.as_bytes(), &Limits::default(), &mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn white_space_goes_and_escapes_take_their_one_spelling() {
    assert_eq!(
        minified(" [ 1 , \"\\u0041\\/\\u000a\\u001F\\uD83D\\uDE00\\uDBFF\" ]\n").unwrap(),
        "[1,\"A/\\n\\u001f😀\\udbff\"]"
    );
}
