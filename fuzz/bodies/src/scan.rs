//! Any bytes as a document.

use serde_json::Value as Oracle;
use tamias_json::validate::{Limits, minify_object};
use tamias_json::{Document, Value};

/// The scanner on documents that the trust boundary let in: every value as `serde_json` has it, where it accepts, and
/// in any case the document's own bytes, put together again from the views.
pub fn scan(input: &[u8]) {
    // Deeper documents are the business of `kernels`: here the oracle and the body itself recurse.
    let limits = Limits { bytes_max: 1 << 20, depth_max: 200 };
    let mut bytes = Vec::new();
    if minify_object(input, &limits, &mut bytes).is_err() {
        return;
    }
    let document = Document::scan_trusted(&bytes).expect("a valid minified object scans");
    let root = Value::Map(document.root());

    let mut again = Vec::new();
    write(root, &mut again);
    assert_eq!(again, bytes, "put together again");

    if let Ok(oracle) = serde_json::from_slice::<Oracle>(&bytes) {
        compare(root, &oracle);
    }
}

fn write(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Map(map) => {
            out.push(b'{');
            for (index, (key, value)) in map.entries().enumerate() {
                out.extend(if index > 0 { &b","[..] } else { b"" });
                out.extend(key.raw_quoted());
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
        Value::Array(array) => {
            out.push(b'[');
            for (index, value) in array.iter().enumerate() {
                out.extend(if index > 0 { &b","[..] } else { b"" });
                write(value, out);
            }
            out.push(b']');
        }
        leaf => out.extend(leaf.raw()),
    }
}

fn compare(value: Value<'_>, oracle: &Oracle) {
    match (value, oracle) {
        (Value::Null, Oracle::Null) => {}
        (Value::Bool(truth), Oracle::Bool(expected)) => assert_eq!(truth, *expected),
        (Value::Number(number), Oracle::Number(expected)) => {
            if expected.is_f64() {
                // Negative zero and what lies beyond 64 bits.
                assert_eq!(Some(number.to_f64()), expected.as_f64(), "{}", number.text());
            } else {
                assert_eq!(number.text(), expected.to_string());
            }
        }
        (Value::String(string), Oracle::String(expected)) => assert_eq!(string.text(), *expected),
        (Value::Array(array), Oracle::Array(expected)) => {
            assert_eq!(array.len(), expected.len());
            for (value, oracle) in array.iter().zip(expected) {
                compare(value, oracle);
            }
        }
        (Value::Map(map), Oracle::Object(expected)) => {
            for (key, oracle) in expected {
                // Of several members with one key the last counts, here and there.
                compare(map.get(key).expect("a key that is there"), oracle);
            }
            for (key, _) in map.entries() {
                assert!(expected.contains_key(&*key.text()), "a key that is not there: {}", key.text());
            }
        }
        (value, oracle) => panic!("{value:?} is {oracle}"),
    }
}
