//! Functions of numbers.

use super::call::Call;
use crate::value::{Long, Midpoint, Number, Value};
use rust_decimal::{Decimal, RoundingStrategy};
use std::borrow::Cow;
use std::sync::Arc;

/// `Round(number [, places])`, midpoints away from zero.
pub(super) fn round<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let places = call.integer_or(1, 0).and_then(|places| u32::try_from(places).ok());
    let (Value::Number(number), Some(places @ 0..=Decimal::MAX_SCALE)) = (call.argument(0), places) else {
        return Value::Undefined;
    };
    call.computed(match number.decimal() {
        Some(decimal) => Ok(decimal.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero)),
        None => {
            Long::of(number).and_then(|long| long.rounded(places.into(), Midpoint::AwayFromZero).decimal())
        }
    })
}

/// `0x` and the digits of a whole number, which is not negative.
pub(super) fn to_hex_string<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let number = call.decimal(0).filter(|number| number.is_integer() && *number >= Decimal::ZERO);
    // A zero may have a sign, which counts for nothing.
    let number = number.and_then(|number| u128::try_from(number.abs()).ok());
    Value::from_option(number.map(|number| format!("0x{number:x}")))
}

/// The number that a string spells as JSON does, but that zeros may stand before it; a number as it is.
pub(super) fn to_number<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    match call.argument(0) {
        Value::Number(number) => Value::Number(number.clone()),
        Value::Text(text) => {
            let text = text.text();
            let text = without_zeros(text.trim());
            if !is_number(&text) {
                return Value::Undefined;
            }
            Value::Number(match tamias_json::number::to_decimal(&text) {
                Some(decimal) => Number::Decimal(decimal),
                None => Number::Shared(Arc::from(text)),
            })
        }
        _ => Value::Undefined,
    }
}

/// A text without the zeros before its first digit, as months and codes have them.
fn without_zeros(text: &str) -> Cow<'_, str> {
    let (minus, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let rest = digits.trim_start_matches('0');
    // The last one stays where no digit comes after it.
    let is_last_needed = !rest.starts_with(|next: char| next.is_ascii_digit());
    let zeros = (digits.len() - rest.len()).saturating_sub(usize::from(is_last_needed));
    match digits.get(zeros..) {
        Some(rest) if zeros > 0 => Cow::Owned(format!("{minus}{rest}")),
        _ => Cow::Borrowed(text),
    }
}

/// Whether the text is a JSON number.
fn is_number(text: &str) -> bool {
    let mut out = Vec::new();
    let limits = tamias_json::validate::Limits::default();
    text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && tamias_json::validate::minify_value(text.as_bytes(), &limits, &mut out).is_ok()
}

/// Numbers, strings and Booleans as strings.
pub(super) fn to_string<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    match call.argument(0) {
        Value::Number(number) => Value::from(number.text().into_owned()),
        Value::Bool(bool) => Value::from(if *bool { "true" } else { "false" }),
        Value::Text(text) => Value::Text(text.clone()),
        _ => Value::Undefined,
    }
}
