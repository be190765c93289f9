//! Values as JSON text: stored ones as they stand, computed ones in the normalised spelling.

use super::number::{Number, plain};
use super::text::Text;
use super::types::{Array, DEPTH_MAX, Object, Value};
use std::io::Write;
use tamias_json::write_json_string;

/// Appends the value as JSON text. Undefined writes nothing: the caller leaves it out.
pub(crate) fn write_json(value: &Value<'_>, out: &mut Vec<u8>) {
    write_below(value, out, 0);
}

/// The value as JSON text of its own; none for undefined.
pub(crate) fn json(value: &Value<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    write_json(value, &mut out);
    (!value.is_undefined()).then_some(out)
}

fn write_below(value: &Value<'_>, out: &mut Vec<u8>, depth: usize) {
    match value {
        Value::Undefined => {}
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(bool) => out.extend_from_slice(if *bool { b"true" } else { b"false" }),
        Value::Number(Number::Decimal(decimal)) => {
            // Writing to a vector does not fail.
            let _ = write!(out, "{}", plain(*decimal));
        }
        Value::Number(number) => out.extend_from_slice(number.text().as_bytes()),
        Value::Text(text) => write_text(text, out),
        Value::Array(Array::Stored(array)) => out.extend_from_slice(array.raw()),
        Value::Object(Object::Stored(map)) => out.extend_from_slice(map.raw()),
        // Computed values do not nest as deep: the planner sees to that.
        _ if depth > DEPTH_MAX => out.extend_from_slice(b"null"),
        Value::Array(array @ Array::Shared(_)) => {
            out.push(b'[');
            for (index, value) in array.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_below(&value, out, depth + 1);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            out.push(b'{');
            for (index, (key, value)) in object.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_text(&key, out);
                out.push(b':');
                write_below(&value, out, depth + 1);
            }
            out.push(b'}');
        }
    }
}

fn write_text(text: &Text<'_>, out: &mut Vec<u8>) {
    match text {
        Text::Stored(text) => out.extend_from_slice(text.raw_quoted()),
        Text::Spelled(json) => out.extend_from_slice(json.as_bytes()),
        Text::Borrowed(text) => write_json_string(text, out),
        Text::Shared(text) => write_json_string(text, out),
    }
}

/// The value that minified JSON text holds, with nothing borrowed.
pub(crate) fn parse(json: &[u8]) -> Value<'static> {
    let mut offsets = tamias_json::Offsets::new();
    match tamias_json::Value::scan_trusted(json, &mut offsets) {
        Ok(value) => Value::stored(value).into_static(),
        Err(_) => Value::Undefined,
    }
}
