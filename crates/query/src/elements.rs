//! The elements of an array, from its JSON text alone: of a short one they are found sooner than it is scanned.

use tamias_json::search::string_end;

/// Tells each element of an array as its text; false where the text is no array.
///
/// Of trusted text these are the elements that a scan finds. Takes time linear in the text.
pub(crate) fn each_element<'j>(json: &'j [u8], mut tell: impl FnMut(&'j [u8])) -> bool {
    let [b'[', elements @ .., b']'] = json else { return false };
    if elements.is_empty() {
        return true;
    }
    let (mut depth, mut begin, mut at) = (0usize, 0, 0);
    while let Some(byte) = elements.get(at) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => at = string_end(elements, at + 1).unwrap_or(elements.len()),
            b',' if depth == 0 => {
                tell(elements.get(begin..at).unwrap_or_default());
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    tell(elements.get(begin..).unwrap_or_default());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tamias_json::{Offsets, Value};

    fn elements(json: &str) -> Option<Vec<&[u8]>> {
        let mut found = Vec::new();
        each_element(json.as_bytes(), |element| found.push(element)).then_some(found)
    }

    #[test]
    fn what_is_no_array_has_no_elements() {
        for json in ["", "[", "{}", "\"[]\"", "1", "null"] {
            assert_eq!(elements(json), None, "{json}");
        }
        assert_eq!(elements("[]"), Some(Vec::new()));
    }

    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            (-9i64..9999).prop_map(|number| number.to_string()),
            "[ab,\\[\\]{}:]{0,5}".prop_map(|text| format!("\"{text}\"")),
            Just("\"\\\\\"".to_owned()),
            Just("\"\\\",[\"".to_owned()),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(|all| format!("[{}]", all.join(","))),
                proptest::collection::vec(inner, 0..3).prop_map(|all| {
                    let members = all.iter().enumerate().map(|(key, value)| format!("\"k{key}\":{value}"));
                    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn elements_are_those_of_a_scan(json in json()) {
            let mut offsets = Offsets::new();
            let scanned = Value::scan_trusted(json.as_bytes(), &mut offsets).unwrap();
            let expected = scanned.as_array().map(|array| array.iter().map(|element| element.raw()).collect::<Vec<_>>());
            prop_assert_eq!(elements(&json), expected);
        }

        #[test]
        fn any_bytes_have_an_end(json in proptest::collection::vec(prop_oneof![Just(b'['), Just(b']'), Just(b'"'), Just(b'\\'), Just(b','), any::<u8>()], 0..40)) {
            each_element(&json, |_| {});
        }
    }
}
