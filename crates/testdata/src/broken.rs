//! Byte strings that no strict reader may take for a JSON object.

/// Byte strings that are no JSON object in UTF-8 and must be rejected wherever events come in.
#[must_use]
pub fn broken_documents() -> Vec<Vec<u8>> {
    let mut documents: Vec<Vec<u8>> = BROKEN.iter().map(|(_, bytes)| bytes.to_vec()).collect();
    // A valid object cut at each place is broken at each place.
    let whole = "{\"a\":[1,-2.5e-3,\"x\\u00e9\\\"é\",{\"b\":null,\"\":true}],\"c\":false}".as_bytes();
    documents.extend((0..whole.len()).map(|end| whole[..end].to_vec()));
    // A control character is never allowed raw inside a string.
    documents.extend((0..0x20).map(|byte| [b"{\"a\":\"x", &[byte][..], b"y\"}"].concat()));
    documents
}

/// Each with the word why.
const BROKEN: &[(&str, &[u8])] = &[
    ("empty", b""),
    ("nothing but space", b" \t\r\n "),
    ("no object: null", b"null"),
    ("no object: number", b"12"),
    ("no object: string", b"\"{}\""),
    ("no object: array", b"[{\"a\":1}]"),
    ("two objects", b"{}{}"),
    ("two objects, comma between", b"{},{}"),
    ("something after it", b"{\"a\":1}x"),
    ("a closing brace after it", b"{\"a\":1}}"),
    ("a NUL after it", b"{\"a\":1}\0"),
    ("a byte order mark before it", b"\xef\xbb\xbf{}"),
    ("no-break space as white space", b"{\xc2\xa0}"),
    ("form feed as white space", b"{\x0c}"),
    ("vertical tab as white space", b"{\"a\":\x0b1}"),
    ("wrong closing bracket", b"{\"a\":[1}"),
    ("wrong closing brace", b"{\"a\":{\"b\":1]"),
    ("crossed brackets", b"{\"a\":[{]}}"),
    ("comma at the end of an object", b"{\"a\":1,}"),
    ("comma at the end of an array", b"{\"a\":[1,]}"),
    ("comma at the beginning", b"{,\"a\":1}"),
    ("comma alone", b"{,}"),
    ("two commas", b"{\"a\":1,,\"b\":2}"),
    ("two commas in an array", b"{\"a\":[1,,2]}"),
    ("comma missing", b"{\"a\":1\"b\":2}"),
    ("comma missing in an array", b"{\"a\":[1 2]}"),
    ("comma missing between strings", b"{\"a\":\"x\"\"b\":\"y\"}"),
    ("colon missing", b"{\"a\"1}"),
    ("colon and value missing", b"{\"a\"}"),
    ("two colons", b"{\"a\"::1}"),
    ("colon instead of comma", b"{\"a\":1:\"b\":2}"),
    ("comma instead of colon", b"{\"a\",1}"),
    ("colon in an array", b"{\"a\":[\"b\":1]}"),
    ("value missing", b"{\"a\":}"),
    ("value missing before a comma", b"{\"a\":,\"b\":1}"),
    ("key without quotes", b"{a:1}"),
    ("key in single quotes", b"{'a':1}"),
    ("key that is a number", b"{1:1}"),
    ("key that is null", b"{null:1}"),
    ("key that is an array", b"{[]:1}"),
    ("string in single quotes", b"{\"a\":'b'}"),
    ("string without end", b"{\"a\":\"b}"),
    ("key without end", b"{\"a:1}"),
    ("quote escaped away", b"{\"a\":\"b\\\"}"),
    ("unknown escape", b"{\"a\":\"\\x41\"}"),
    ("unknown escape of a quote", b"{\"a\":\"\\'\"}"),
    ("escape of a digit", b"{\"a\":\"\\0\"}"),
    ("escape in upper case", b"{\"a\":\"\\N\"}"),
    ("\\U in upper case", b"{\"a\":\"\\U0041\"}"),
    ("\\u with three digits", b"{\"a\":\"\\u004\"}"),
    ("\\u with no digit", b"{\"a\":\"\\u\"}"),
    ("\\u with a letter that is no digit", b"{\"a\":\"\\u00g0\"}"),
    ("\\u with a sign", b"{\"a\":\"\\u+041\"}"),
    ("\\u with a digit that is not ASCII", b"{\"a\":\"\\u004\xd9\xa1\"}"),
    ("\\u cut in the second half of a pair", b"{\"a\":\"\\ud83d\\u\"}"),
    ("an escape in white space", b"{\"a\":\\n1}"),
    ("an escape outside of a string", b"{\\\"a\":1}"),
    ("line feed in a string", b"{\"a\":\"b\nc\"}"),
    ("tab in a key", b"{\"a\tb\":1}"),
    ("null misspelt", b"{\"a\":nul}"),
    ("null too long", b"{\"a\":nulll}"),
    ("null in upper case", b"{\"a\":NULL}"),
    ("True in Python's spelling", b"{\"a\":True}"),
    ("true and a digit", b"{\"a\":true1}"),
    ("false cut", b"{\"a\":fals}"),
    ("undefined", b"{\"a\":undefined}"),
    ("NaN", b"{\"a\":NaN}"),
    ("Infinity", b"{\"a\":Infinity}"),
    ("minus Infinity", b"{\"a\":-Infinity}"),
    ("zero before a number", b"{\"a\":01}"),
    ("zero before a negative number", b"{\"a\":-01}"),
    ("two zeros", b"{\"a\":00}"),
    ("plus before a number", b"{\"a\":+1}"),
    ("minus alone", b"{\"a\":-}"),
    ("two minuses", b"{\"a\":--1}"),
    ("point without digits after it", b"{\"a\":1.}"),
    ("point without digits before it", b"{\"a\":.5}"),
    ("minus and point", b"{\"a\":-.5}"),
    ("two points", b"{\"a\":1.2.3}"),
    ("point, then exponent", b"{\"a\":1.e5}"),
    ("exponent without digits", b"{\"a\":1e}"),
    ("exponent with nothing but a sign", b"{\"a\":1e+}"),
    ("exponent with two signs", b"{\"a\":1e+-2}"),
    ("exponent with a fraction", b"{\"a\":1e1.5}"),
    ("two exponents", b"{\"a\":1e2e3}"),
    ("exponent alone", b"{\"a\":e5}"),
    ("hexadecimal number", b"{\"a\":0x1F}"),
    ("number with an underscore", b"{\"a\":1_000}"),
    ("number with a unit", b"{\"a\":12ms}"),
    ("number with a space in it", b"{\"a\":1 2}"),
    ("fullwidth digit", b"{\"a\":\xef\xbc\x91}"),
    ("comment to the end of the line", b"{\"a\":1}//x"),
    ("comment between", b"{/*x*/\"a\":1}"),
    ("comment with a hash", b"{\"a\":1#x\n}"),
    ("UTF-8: byte that never occurs", b"{\"a\":\"\xff\"}"),
    ("UTF-8: byte that never occurs, in a key", b"{\"\xfe\":1}"),
    ("UTF-8: continuation alone", b"{\"a\":\"\x80\"}"),
    ("UTF-8: start alone", b"{\"a\":\"\xc3\"}"),
    ("UTF-8: three bytes cut", b"{\"a\":\"\xe4\xb8\"}"),
    ("UTF-8: four bytes cut", b"{\"a\":\"\xf0\x9f\x98\"}"),
    ("UTF-8: overlong slash", b"{\"a\":\"\xc0\xaf\"}"),
    ("UTF-8: overlong in three bytes", b"{\"a\":\"\xe0\x80\xaf\"}"),
    ("UTF-8: overlong in four bytes", b"{\"a\":\"\xf0\x80\x80\xaf\"}"),
    ("UTF-8: overlong NUL", b"{\"a\":\"\xc0\x80\"}"),
    ("UTF-8: surrogate", b"{\"a\":\"\xed\xa0\x80\"}"),
    ("UTF-8: beyond the last character", b"{\"a\":\"\xf4\x90\x80\x80\"}"),
    ("UTF-8: five bytes", b"{\"a\":\"\xf8\x88\x80\x80\x80\"}"),
    ("Latin-1", b"{\"a\":\"Z\xfcrich\"}"),
    ("UTF-16", b"{\0\"\0a\0\"\0:\x001\0}\0"),
    ("not UTF-8 outside of strings", b"{\"a\":\xe9}"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_json_takes_none_of_them_for_an_object() {
        for (why, bytes) in BROKEN {
            let taken = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(bytes);
            assert!(taken.is_err(), "{why}: {}", bytes.escape_ascii());
        }
        for bytes in broken_documents() {
            let taken = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&bytes);
            assert!(taken.is_err(), "{}", bytes.escape_ascii());
        }
    }
}
