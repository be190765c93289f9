//! Values as JSON text: stored ones as they stand, computed ones in the normalised spelling.

use super::number::{Number, plain};
use super::text::Text;
use super::types::{Array, DEPTH_MAX, Object, Value};
use rust_decimal::Decimal;
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
        Value::Number(Number::Decimal(decimal)) => write_decimal(plain(*decimal), out),
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

/// The most digits of a decimal, and a zero before the point.
const DIGITS_MAX: usize = 30;

/// Appends a decimal with all digits of its scale, as it shows itself, by far fewer divisions of long numbers.
fn write_decimal(decimal: Decimal, out: &mut Vec<u8>) {
    const HALF: u128 = 10u128.pow(18);
    let significand = decimal.mantissa().unsigned_abs();
    let scale = decimal.scale() as usize;
    let (mut digits, mut at) = ([b'0'; DIGITS_MAX], DIGITS_MAX);
    let mut put = |mut rest: u64, until: usize| {
        while rest > 0 || at > until {
            at = at.saturating_sub(1);
            if let Some(digit) = digits.get_mut(at) {
                *digit = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
        }
    };
    // One digit stands before the point at least.
    let first = DIGITS_MAX - (scale + 1).min(DIGITS_MAX);
    if significand < HALF {
        put(significand as u64, first);
    } else {
        put((significand % HALF) as u64, DIGITS_MAX - 18);
        put((significand / HALF) as u64, first);
    }
    if decimal.is_sign_negative() {
        out.push(b'-');
    }
    let (whole, fraction) = digits.split_at(DIGITS_MAX - scale.min(DIGITS_MAX));
    out.extend_from_slice(whole.get(at..).unwrap_or_default());
    if scale > 0 {
        out.push(b'.');
        out.extend_from_slice(fraction);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decimals_are_written_as_they_show_themselves(
            significand in prop_oneof![any::<i64>().prop_map(i128::from), -(1i128 << 96) + 1..1i128 << 96],
            scale in 0u32..29,
        ) {
            let decimal = Decimal::from_i128_with_scale(significand, scale);
            let mut out = Vec::new();
            write_decimal(decimal, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), decimal.to_string());
        }
    }
}
