//! Equality, the order of `<`, the order of rows, and the spelling that equal values share.

use super::text::{Text, upper};
use super::types::{Array, DEPTH_MAX, Object, Value};
use super::write::write_json;
use std::cmp::Ordering;

/// `=`: undefined where either is; values of two kinds are not equal.
pub(crate) fn equal(a: &Value<'_>, b: &Value<'_>, ci: bool) -> Option<bool> {
    match (a, b) {
        (Value::Undefined, _) | (_, Value::Undefined) => None,
        (Value::Text(a), Value::Text(b)) if !ci => Some(a.equals(b)),
        (a, b) => Some(a.kind() == b.kind() && order(a, b, ci).is_eq()),
    }
}

/// `<` and its kin: two numbers, or two strings.
pub(crate) fn compare(a: &Value<'_>, b: &Value<'_>, ci: bool) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Some(a.compare(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.compare(b, ci)),
        _ => None,
    }
}

/// The order of all values, as `order by` has it:
/// undefined < null < false < true < numbers < strings < arrays < objects.
pub(crate) fn order(a: &Value<'_>, b: &Value<'_>, ci: bool) -> Ordering {
    order_below(a, b, ci, 0)
}

fn order_below(a: &Value<'_>, b: &Value<'_>, ci: bool, depth: usize) -> Ordering {
    if depth > DEPTH_MAX {
        let text = |value: &Value<'_>| {
            let mut out = Vec::new();
            write_json(value, &mut out);
            out
        };
        return text(a).cmp(&text(b));
    }
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.compare(b),
        (Value::Text(a), Value::Text(b)) => a.compare(b, ci),
        (Value::Array(a), Value::Array(b)) => {
            let (mut a, mut b) = (a.iter(), b.iter());
            loop {
                match (a.next(), b.next()) {
                    (Some(a), Some(b)) => match order_below(&a, &b, ci, depth + 1) {
                        Ordering::Equal => {}
                        unequal => return unequal,
                    },
                    (a, b) => return a.is_some().cmp(&b.is_some()),
                }
            }
        }
        (Value::Object(a), Value::Object(b)) => {
            let (a, b) = (sorted(a), sorted(b));
            for ((a_key, a), (b_key, b)) in a.iter().zip(&b) {
                let unequal = a_key.compare(b_key, false).then_with(|| order_below(a, b, ci, depth + 1));
                if unequal.is_ne() {
                    return unequal;
                }
            }
            a.len().cmp(&b.len())
        }
        (a, b) => a.kind().cmp(&b.kind()),
    }
}

fn sorted<'a>(object: &Object<'a>) -> Vec<(Text<'a>, Value<'a>)> {
    let mut pairs: Vec<_> = object.iter().collect();
    pairs.sort_by(|(a, _), (b, _)| a.compare(b, false));
    pairs
}

/// Writes the value so that equal values, and only they, give equal bytes. The bytes mean nothing else.
pub(crate) fn canonical(value: &Value<'_>, ci: bool, out: &mut Vec<u8>) {
    canonical_below(value, ci, out, 0);
}

fn canonical_below(value: &Value<'_>, ci: bool, out: &mut Vec<u8>, depth: usize) {
    if depth > DEPTH_MAX {
        return write_json(value, out);
    }
    match value {
        Value::Undefined => out.push(b'u'),
        Value::Null => out.push(b'n'),
        Value::Bool(bool) => out.push(if *bool { b't' } else { b'f' }),
        Value::Number(number) => {
            out.push(b'#');
            number.canonical(out);
            out.push(b';');
        }
        Value::Text(text) => canonical_text(text, ci, out),
        Value::Array(array) => {
            out.push(b'[');
            for value in Array::iter(array) {
                canonical_below(&value, ci, out, depth + 1);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            out.push(b'{');
            for (key, value) in sorted(object) {
                canonical_text(&key, false, out);
                canonical_below(&value, ci, out, depth + 1);
            }
            out.push(b'}');
        }
    }
}

/// The length goes first, so that no text can look like the end of another.
fn canonical_text(text: &Text<'_>, ci: bool, out: &mut Vec<u8>) {
    let text = text.text();
    out.push(b'"');
    let at = out.len();
    out.extend_from_slice(&text.len().to_le_bytes());
    let from = out.len();
    if !ci {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    for character in text.chars() {
        out.extend_from_slice(upper(character).encode_utf8(&mut [0; 4]).as_bytes());
    }
    // Upper case may take more bytes, or fewer.
    let length = (out.len() - from).to_le_bytes();
    if let Some(place) = out.get_mut(at..from) {
        place.copy_from_slice(&length);
    }
}
