//! What the scanner says of a document is what `serde_json` says of it.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value as Expected;
use tamias_json::validate::{Limits, minify_object};
use tamias_json::{Document, Isa, Map, Offsets, ScanError, Value};

/// Asserts that two values are the same, members in order and duplicates aside.
#[track_caller]
fn assert_same(value: Value<'_>, expected: &Expected) {
    match (value, expected) {
        (Value::Null, Expected::Null) => {}
        (Value::Bool(a), Expected::Bool(b)) => assert_eq!(a, *b),
        (Value::Number(a), Expected::Number(b)) => {
            // The texts may differ, what they stand for may not.
            assert_eq!(Some(a.to_f64()), b.as_f64(), "{}", a.text());
            if let Some(integer) = b.as_u64() {
                assert_eq!(a.text().parse(), Ok(integer));
            }
        }
        (Value::String(a), Expected::String(b)) => assert_eq!(a.text(), *b),
        (Value::Array(a), Expected::Array(b)) => {
            assert_eq!(a.len(), b.len());
            assert_eq!(a.is_empty(), b.is_empty());
            for (index, (element, b)) in a.iter().zip(b).enumerate() {
                assert_same(element, b);
                if index < 8 {
                    assert_eq!(a.get(index).expect("an element").raw(), element.raw());
                }
            }
        }
        (Value::Map(a), Expected::Object(b)) => {
            assert_eq!(a.is_empty(), b.is_empty());
            // Every key of ours is one of theirs, and the other way round; the last value counts.
            for (key, _) in a.entries() {
                assert!(b.contains_key(key.text().as_ref()));
            }
            let members: HashMap<_, _> = a.entries().map(|(key, value)| (key.text(), value)).collect();
            for (key, b) in b {
                assert_same(members[key.as_str()], b);
            }
            // Each lookup walks all the members.
            for key in b.keys().take(50) {
                let found = a.get(key).unwrap_or_else(|| panic!("no key {key:?} in {a:?}"));
                assert_eq!(found.raw(), members[key.as_str()].raw());
            }
            assert!(a.len() >= b.len());
            assert!(a.get("no such key").is_none());
        }
        (value, expected) => panic!("{value:?} is not {expected}"),
    }
}

/// Asserts that a value's text, cut out, stands for the same value.
#[track_caller]
fn assert_raw(value: Value<'_>, expected: &Expected) {
    match serde_json::from_slice::<Expected>(value.raw()) {
        Ok(again) => assert_eq!(&again, expected),
        Err(error) => panic!("{}: {error}", String::from_utf8_lossy(value.raw())),
    }
}

fn minified(document: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    minify_object(document, &Limits::default(), &mut out).expect("valid");
    out
}

/// Scans with each kernel, each way, and compares.
fn check(document: &[u8], offsets: &mut Offsets) {
    let expected = serde_json::from_slice::<Expected>(document).expect("serde_json accepts");
    for isa in Isa::available() {
        let root = offsets.scan_trusted_with(document, isa).expect("scans");
        assert_same(Value::Map(root), &expected);
        assert_raw(Value::Map(root), &expected);
        for (key, value) in root.entries().take(50) {
            if root.entries().filter(|(other, _)| other.text() == key.text()).count() == 1 {
                assert_raw(value, &expected[key.text().as_ref()]);
            }
        }
    }
    let text = std::str::from_utf8(document).expect("UTF-8");
    assert_same(Value::Map(offsets.scan_trusted_str(text).expect("scans")), &expected);
    let kept = Document::scan_trusted(document).expect("scans").detach();
    assert_same(Value::Map(Document::attach(document, kept).expect("attaches").root()), &expected);
}

#[test]
fn nasty_documents_read_as_serde_json_reads_them() {
    let mut offsets = Offsets::new();
    let mut read = 0;
    for document in tamias_testdata::nasty_documents() {
        let document = minified(&document);
        // serde_json rejects some of what is valid here: numbers beyond binary64, lone surrogates, depth 128.
        if serde_json::from_slice::<Expected>(&document).is_ok() {
            check(&document, &mut offsets);
            read += 1;
        } else {
            offsets.scan_trusted(&document).expect("scans");
        }
    }
    assert!(read > 10);
}

#[test]
fn generated_events_read_as_serde_json_reads_them() {
    let mut offsets = Offsets::new();
    let mut generator = tamias_testdata::Generator::new(7, 500);
    let mut line = Vec::new();
    while generator.write_next(&mut line) {
        check(line.strip_suffix(b"\n").expect("a line"), &mut offsets);
        line.clear();
    }
}

#[test]
fn broken_structure_is_an_error_that_names_its_place_and_leaves_nothing() {
    let deep = [b"{\"a\":".as_slice(), &b"[".repeat(1024), &b"]".repeat(1024), b"}"].concat();
    let cases: &[(&[u8], ScanError)] = &[
        (b"", ScanError::NotAnObject),
        (b"[1]", ScanError::NotAnObject),
        (b"{", ScanError::Truncated { open: 1 }),
        (br#"{"a":[1"#, ScanError::Truncated { open: 2 }),
        (br#"{"a":"b}"#, ScanError::OpenString { offset: 5 }),
        (br#"{"a":"b\"}"#, ScanError::OpenString { offset: 5 }),
        (br#"{"a":1]"#, ScanError::Unbalanced { offset: 6 }),
        (br#"{"a"],42}"#, ScanError::Unbalanced { offset: 4 }),
        (br#"{"a":1}}"#, ScanError::Trailing { offset: 7 }),
        (br#"{"a":4} 2"#, ScanError::Trailing { offset: 7 }),
        (br#"{"a":4},"#, ScanError::Trailing { offset: 7 }),
        (br#"{"a":4}{}"#, ScanError::Trailing { offset: 7 }),
        (br#"{"a":4}"x""#, ScanError::Trailing { offset: 7 }),
        (&deep, ScanError::TooDeep { offset: 5 + 1023 }),
    ];
    let mut offsets = Offsets::new();
    for isa in Isa::available() {
        for (document, error) in cases {
            let found = offsets.scan_trusted_with(document, isa).map(|_| ());
            assert_eq!(found, Err(*error), "{} by {isa:?}", String::from_utf8_lossy(document));
            assert!(Document::attach(document, offsets.clone()).is_err());
        }
        let just_deep_enough =
            &deep[..5 + 1023].iter().chain(&deep[deep.len() - 1024..]).copied().collect::<Vec<_>>();
        let mut depth = 1;
        let root = offsets.scan_trusted_with(just_deep_enough, isa).expect("scans");
        let mut array = root.get("a").and_then(|a| a.as_array());
        while let Some(inner) = array {
            depth += 1;
            array = inner.get(0).and_then(|a| a.as_array());
        }
        assert_eq!(depth, tamias_json::DEPTH_MAX);
    }
}

#[test]
fn keys_are_compared_decoded_and_the_last_counts() {
    let get = |document: &str, key: &str| {
        let document = Document::scan_trusted(document.as_bytes()).expect("scans");
        document.root().get(key).map(|value| String::from_utf8_lossy(value.raw()).into_owned())
    };
    assert_eq!(get(r#"{"a":1,"b":2,"a":3}"#, "a").as_deref(), Some("3"));
    assert_eq!(get(r#"{"a":1,"\u0061":2}"#, "a").as_deref(), Some("2"));
    assert_eq!(get(r#"{"\u0061b":1}"#, "ab").as_deref(), Some("1"));
    assert_eq!(get(r#"{"a\u0062":1}"#, "ab").as_deref(), Some("1"));
    assert_eq!(get(r#"{"a\n":1}"#, "a\n").as_deref(), Some("1"));
    assert_eq!(get(r#"{"a\n":1}"#, r"a\n"), None);
    assert_eq!(get(r#"{"a\\n":1}"#, r"a\n").as_deref(), Some("1"));
    assert_eq!(get(r#"{"":1}"#, "").as_deref(), Some("1"));
    assert_eq!(get(r#"{"\"":1}"#, "\"").as_deref(), Some("1"));
    assert_eq!(get(r#"{"é":1}"#, "é").as_deref(), Some("1"));
    assert_eq!(get(r#"{"\u00e9":1}"#, "é").as_deref(), Some("1"));
    assert_eq!(get(r#"{"b":{"a":1}}"#, "a"), None);
    assert_eq!(get(r#"{"b":{},"a":[]}"#, "a").as_deref(), Some("[]"));
    assert_eq!(get(r#"{"b":[{},{}],"a":[{}]}"#, "a").as_deref(), Some("[{}]"));
}

#[test]
fn lone_values_scan_too() {
    let mut offsets = Offsets::new();
    for text in ["null", "true", "12", r#""x,{[\"y""#, "[]", "[1,[2]]", r#"{"a":"]"}"#, "{}"] {
        let value = Value::scan_trusted(text.as_bytes(), &mut offsets).expect("scans");
        assert_same(value, &serde_json::from_str(text).expect("valid"));
    }
    for text in ["", "1,2", "[1", "]", "\"", "\"a", "1]", "[1]2", "[1},"] {
        assert!(Value::scan_trusted(text.as_bytes(), &mut offsets).is_err(), "{text}");
    }
}

#[test]
fn a_list_is_attached_only_where_it_fits() {
    let kept = Document::scan_trusted(br#"{"a":[1,2]}"#).expect("scans").detach();
    let attach =
        |bytes: &'static [u8]| Document::attach(bytes, kept.clone()).map(|d| format!("{:?}", d.root().raw()));
    assert!(attach(br#"{"a":[1,2]}"#).is_ok());
    assert!(attach(br#"{"b":[3,4]}"#).is_ok());
    assert!(attach(br#"{"a":[1,2]} "#).is_err());
    assert!(attach(br#"["a":[1,2]]"#).is_err());
    assert!(attach(br#"{"a":{1,2]}"#).is_ok());
    assert!(attach(br#"{"a":1,2,3}"#).is_err());
    assert!(attach(b"           ").is_err());
    assert!(Document::attach(b"{}", Offsets::new()).is_err());
}

#[test]
fn iterators_stay_ended_and_bound_their_length() {
    let document = Document::scan_trusted(br#"{"a":[1,{"x":[]},3],"b":{}}"#).expect("scans");
    let root: Map<'_> = document.root();
    let mut entries = root.entries();
    let mut left = 2;
    while entries.next().is_some() {
        left -= 1;
        let (low, high) = entries.size_hint();
        assert!(low <= left && high.is_some_and(|high| left <= high));
    }
    assert_eq!(left, 0);
    assert!(entries.next().is_none());
    let mut elements = root.get("a").and_then(|a| a.as_array()).expect("an array").iter();
    assert_eq!(elements.by_ref().count(), 3);
    assert!(elements.next().is_none());
}

#[test]
fn real_events_read_as_serde_json_reads_them() {
    let mut offsets = Offsets::new();
    for name in tamias_testdata::DATA_SETS {
        let bytes = tamias_testdata::data_set(name).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        for line in
            lines.step_by(37).filter(|line| serde_json::from_slice::<Expected>(line).is_ok()).take(200)
        {
            // They are minified but for the spelling of their strings, which the scanner does not mind.
            check(line, &mut offsets);
        }
    }
}

/// Visits everything in a value, and asserts that each slice lies in the document and each text is a text.
fn walk(value: Value<'_>, document: &[u8]) -> usize {
    let inside = |slice: &[u8]| {
        let range = document.as_ptr_range();
        let slice = slice.as_ptr_range();
        slice.is_empty() || range.start <= slice.start && slice.end <= range.end
    };
    match value {
        Value::Null | Value::Bool(_) => {}
        _ => assert!(inside(value.raw())),
    }
    match value {
        Value::Null | Value::Bool(_) => 1,
        Value::Number(number) => {
            assert!(inside(number.text().as_bytes()));
            let _ = (number.to_f64(), number.to_decimal());
            1
        }
        Value::String(string) => {
            assert!(inside(string.raw()) && inside(string.raw_quoted()));
            1 + usize::from(string.text().is_empty())
        }
        Value::Array(array) => {
            assert_eq!(array.len(), array.iter().count());
            array.iter().map(|element| walk(element, document)).sum()
        }
        Value::Map(map) => {
            for (key, value) in map.entries() {
                assert!(inside(key.raw()));
                if let Some(found) = map.get(&key.text()) {
                    assert!(
                        found.kind() == value.kind()
                            || map.entries().filter(|(k, _)| k.text() == key.text()).count() > 1
                    );
                }
            }
            map.entries().map(|(_, value)| walk(value, document)).sum()
        }
    }
}

/// Bytes whose brackets balance, and that make no sense otherwise.
fn balanced() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"\"a\":"[..],
        b":",
        b",",
        b"\"x\"",
        b"\"\\\"\"",
        b"1e9",
        b"-",
        b"true",
        b"\xff",
        b"\"\xc3\"",
        b"\\",
        b"tr",
        b" ",
        "é".as_bytes(),
        b"\"a",
        b"\"",
        b"\"k\":{}",
        b"\"\\u00\"",
    ]);
    let text = prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat());
    text.prop_recursive(6, 60, 5, |inner| {
        (prop::collection::vec(inner, 0..5), any::<bool>()).prop_map(|(inner, map)| {
            let inner = inner.concat();
            if map { [b"{", &inner[..], b"}"].concat() } else { [b"[", &inner[..], b"]"].concat() }
        })
    })
}

/// Any JSON value.
fn json() -> impl Strategy<Value = Expected> {
    let text = prop_oneof![any::<String>(), "[a-c\\\\\"\n{}:,\\[\\]é😀]{0,40}"];
    let leaf = prop_oneof![
        Just(Expected::Null),
        any::<bool>().prop_map(Expected::from),
        any::<i64>().prop_map(Expected::from),
        any::<f64>().prop_map(Expected::from),
        text.clone().prop_map(Expected::from),
    ];
    leaf.prop_recursive(6, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Expected::from),
            prop::collection::btree_map(text.clone(), inner, 0..8).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_json_reads_as_serde_json_reads_it(members in prop::collection::btree_map(any::<String>(), json(), 0..6)) {
        let expected: Expected = members.into_iter().collect();
        let document = serde_json::to_vec(&expected).expect("JSON");
        let mut offsets = Offsets::new();
        check(&document, &mut offsets);
        check(&minified(&document), &mut offsets);
    }

    #[test]
    fn balanced_bytes_without_sense_are_safe_to_read(bytes in balanced()) {
        let document = [b"{\"a\":", &bytes[..], b"}"].concat();
        let mut offsets = Offsets::new();
        for isa in Isa::available() {
            if let Ok(root) = offsets.scan_trusted_with(&document, isa) {
                walk(Value::Map(root), &document);
                assert!(!format!("{root:?}").is_empty());
            }
        }
        if let Ok(root) = std::str::from_utf8(&document).map(|text| offsets.scan_trusted_str(text)) {
            root.into_iter().for_each(|root| _ = walk(Value::Map(root), &document));
        }
        if let Ok(value) = Value::scan_trusted(&bytes, &mut offsets) {
            walk(value, &bytes);
        }
    }

    /// A list may meet any other bytes of the same length: it refuses them, or reads them safely.
    #[test]
    fn a_list_attached_to_other_bytes_is_safe_to_read(members in prop::collection::btree_map("[a-b]{0,3}", json(), 0..4), other in any::<u8>(), places in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
        let mut document = serde_json::to_vec(&members).expect("JSON");
        let kept = Document::scan_trusted(&document).expect("scans").detach();
        for place in places {
            let at = place.index(document.len());
            document[at] = other;
        }
        if let Ok(attached) = Document::attach(&document, kept) {
            walk(Value::Map(attached.root()), &document);
        }
    }
}
