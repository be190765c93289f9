//! Every kernel against the portable one.

use std::ops::Range;
use tamias_json::{Array, Document, Isa, Kind, Map, Offsets, ScanError, Value};

/// Each kernel against the portable one, which is the specification, on any bytes: the same error, or a document in
/// which every accessor gives the same. Slices lie within the document, whatever its bytes.
pub fn kernels(input: &[u8]) {
    let portable =
        Isa::available().into_iter().find(|isa| isa.name() == "portable").expect("runs everywhere");
    let expected = seen(input, portable);
    let count = Offsets::count_with(input, portable);
    for isa in Isa::available() {
        assert_eq!(seen(input, isa), expected, "{}", isa.name());
        assert_eq!(Offsets::count_with(input, isa), count, "{}", isa.name());
        // Where the document stands in memory makes no difference.
        let shifted = [&b"{[,\"\\"[..input.len() % 5], input, b"\"}"].concat();
        let start = input.len() % 5;
        assert_eq!(seen(&shifted[start..start + input.len()], isa), expected, "{}, shifted", isa.name());
    }
    assert_eq!(expected.is_ok(), Document::scan_trusted(input).is_ok());

    lone_value(input);
    as_text(input, &expected);
    if let Ok(expected) = expected {
        attached(input, &expected);
    }
}

/// What an accessor gave: the kind of a value, or `None` for a key, and where its text lies.
type Seen = Vec<(Option<Kind>, Range<usize>)>;

fn seen(input: &[u8], isa: Isa) -> Result<Seen, ScanError> {
    let mut offsets = Offsets::new();
    // A list that held something else before.
    let _ = offsets.scan_trusted_with(br#"{"a":[1,{"b":2}]}"#, isa);
    let root = offsets.scan_trusted_with(input, isa)?;
    assert!(!format!("{root:?}{root:#?}").is_empty());
    Ok(walk(input, Value::Map(root)))
}

fn lone_value(input: &[u8]) {
    let mut offsets = Offsets::new();
    if let Ok(value) = Value::scan_trusted(input, &mut offsets) {
        walk(input, value);
    }
}

/// The forms that are told that the bytes are text.
fn as_text(input: &[u8], expected: &Result<Seen, ScanError>) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut offsets = Offsets::new();
    assert_eq!(&offsets.scan_trusted_str(text).map(|root| walk(input, Value::Map(root))), expected);
    let document = Document::scan_trusted_str(text);
    assert_eq!(&document.map(|document| walk(input, Value::Map(document.root()))), expected);
}

/// A list that is kept gives the same again with its bytes, and something safe or an error with others.
fn attached(input: &[u8], expected: &Seen) {
    let kept = Document::scan_trusted(input).expect("scanned before").detach();
    let document = Document::attach(input, kept.clone()).expect("the bytes that it was made from");
    assert_eq!(&walk(input, Value::Map(document.root())), expected);

    let mut others = vec![input.to_vec(), input[..input.len() - 1].to_vec(), [input, b"}"].concat()];
    for at in [1, input.len() / 2, input.len() - 1] {
        for byte in *b"{}[],:\"\\ \xff" {
            let mut other = input.to_vec();
            other[at] = byte;
            others.push(other);
        }
    }
    for other in &others {
        if let Ok(document) = Document::attach(other, kept.clone()) {
            assert!(!format!("{document:?}{document:#?}").is_empty());
            walk(other, Value::Map(document.root()));
        }
    }
}

/// Calls every accessor of every value, and asserts of each what holds for any bytes.
fn walk(bytes: &[u8], root: Value<'_>) -> Seen {
    let mut seen = Vec::new();
    let mut rest = vec![root];
    while let Some(value) = rest.pop() {
        let place = match value {
            // Their text is always the same.
            Value::Null | Value::Bool(_) => 0..0,
            _ => place(bytes, value.raw()),
        };
        seen.push((Some(value.kind()), place));
        match value {
            Value::Null => assert!(value.is_null()),
            Value::Bool(truth) => assert_eq!(value.as_bool(), Some(truth)),
            Value::Number(number) => {
                assert!(value.as_number().is_some());
                assert!(number.text().len() <= value.raw().len());
                let _ = (number.to_decimal(), number.to_f64());
            }
            Value::String(string) => {
                assert!(value.as_str().is_some());
                place_within(bytes, string.raw());
                assert_eq!(string.has_escapes(), string.raw_quoted().contains(&b'\\'));
                let _ = string.text();
            }
            Value::Array(array) => rest.extend(elements(array)),
            Value::Map(map) => rest.extend(members(bytes, map, &mut seen)),
        }
    }
    seen
}

fn elements(array: Array<'_>) -> Vec<Value<'_>> {
    let iterator = array.iter();
    let (least, most) = iterator.size_hint();
    let elements: Vec<_> = iterator.collect();
    assert!(least <= elements.len() && most.is_none_or(|most| elements.len() <= most));
    assert_eq!((array.len(), array.is_empty()), (elements.len(), elements.is_empty()));
    assert!(array.get(elements.len()).is_none());
    for (index, element) in elements.iter().enumerate().take(4) {
        assert_eq!(array.get(index).map(|found| found.raw()), Some(element.raw()));
    }
    elements
}

fn members<'d>(bytes: &[u8], map: Map<'d>, seen: &mut Seen) -> Vec<Value<'d>> {
    let iterator = map.entries();
    let (least, most) = iterator.size_hint();
    let members: Vec<_> = iterator.collect();
    assert!(least <= members.len() && most.is_none_or(|most| members.len() <= most));
    assert_eq!((map.len(), map.is_empty()), (members.len(), members.is_empty()));
    for (key, _) in &members {
        place_within(bytes, key.raw());
        seen.push((None, place(bytes, key.raw_quoted())));
    }
    for (key, _) in members.iter().take(8) {
        let text = key.text();
        let _ = (map.get(&text), map.path(&[&text, &text]));
    }
    members.into_iter().map(|(_, value)| value).collect()
}

/// Where a slice lies within the document.
fn place(bytes: &[u8], slice: &[u8]) -> Range<usize> {
    if slice.is_empty() {
        return 0..0;
    }
    let start =
        (slice.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize).expect("not before the document");
    assert!(start + slice.len() <= bytes.len(), "beyond the end of the document");
    start..start + slice.len()
}

fn place_within(bytes: &[u8], slice: &[u8]) {
    place(bytes, slice);
}
