//! The beginnings of values, which tell most of them apart without looking at the rest.

use crate::chunk::{few_digits_of, value_of};
use crate::plan::Sort;
use crate::value::{Number, Text, Value, upper};
use std::borrow::Cow;

/// The beginning of a value in some order: where two of them differ, the values stand to one another as they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beginning {
    pub(super) kind: u8,
    pub(super) bytes: u64,
    /// Whether another value with this beginning that is whole is equal.
    pub(super) is_whole: bool,
}

/// The kind of strings, ascending.
const TEXT: u8 = 5;

/// So many bytes of a text are in its beginning; the last byte says how many.
const TEXT_BYTES: usize = 7;

impl Beginning {
    /// That of every row where there is no order.
    pub(super) const NONE: Beginning = Beginning { kind: 0, bytes: 0, is_whole: true };

    /// The beginning of a value as JSON text.
    pub(super) fn of_json(json: &[u8], by: &Sort) -> Beginning {
        match json.first() {
            Some(b'[') => Beginning { kind: 6, bytes: 0, is_whole: false }.directed(by),
            Some(b'{') => Beginning { kind: 7, bytes: 0, is_whole: false }.directed(by),
            _ => Beginning::of(&value_of(json), by),
        }
    }

    /// The beginning of a value.
    pub(super) fn of(value: &Value<'_>, by: &Sort) -> Beginning {
        let (kind, (bytes, is_whole)) = match value {
            Value::Undefined => (0, (0, true)),
            Value::Null => (1, (0, true)),
            Value::Bool(false) => (2, (0, true)),
            Value::Bool(true) => (3, (0, true)),
            Value::Number(number) => (4, of_number(number)),
            Value::Text(text) => (TEXT, of_text(text, by.ci)),
            Value::Array(_) => (6, (0, false)),
            Value::Object(_) => (7, (0, false)),
        };
        Beginning { kind, bytes, is_whole }.directed(by)
    }

    /// What a text goes on with behind some of its bytes.
    pub(super) fn of_rest(rest: &[u8], by: &Sort) -> Beginning {
        let (bytes, is_whole) = of_bytes(rest);
        Beginning { kind: TEXT, bytes, is_whole }.directed(by)
    }

    fn directed(self, by: &Sort) -> Beginning {
        if by.descending { Beginning { kind: !self.kind, bytes: !self.bytes, ..self } } else { self }
    }
}

/// The text of a string that is spelled as it reads, and compared so.
pub(super) fn ascii_of<'j>(json: &'j [u8], by: &Sort) -> Option<&'j [u8]> {
    let text = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    (!by.ci && text.is_ascii() && memchr::memchr(b'\\', text).is_none()).then_some(text)
}

/// The bytes by which a string is compared, of its JSON text; none for another value.
pub(super) fn text_of<'j>(json: &'j [u8], by: &Sort) -> Option<Cow<'j, [u8]>> {
    let Value::Text(text) = value_of(json.strip_prefix(b"\"").map(|_| json)?) else { return None };
    Some(match text {
        Text::Stored(text) if !by.ci && !text.has_escapes() => Cow::Borrowed(text.raw()),
        text if !by.ci => Cow::Owned(text.text().into_owned().into_bytes()),
        text => Cow::Owned(text.text().chars().map(upper).collect::<String>().into_bytes()),
    })
}

fn of_text(text: &Text<'_>, ci: bool) -> (u64, bool) {
    match text {
        Text::Stored(text) if !ci && !text.has_escapes() => of_bytes(text.raw()),
        text if !ci => of_bytes(text.text().as_bytes()),
        text => {
            // Each character is at least a byte.
            let upper: String = text.text().chars().map(upper).take(TEXT_BYTES + 1).collect();
            of_bytes(upper.as_bytes())
        }
    }
}

/// Some bytes of a text, and how many they are: a text is less than what goes on behind it.
fn of_bytes(text: &[u8]) -> (u64, bool) {
    let mut bytes = [0; 8];
    for (place, byte) in bytes.iter_mut().zip(text.iter().take(TEXT_BYTES)) {
        *place = *byte;
    }
    bytes[TEXT_BYTES] = text.len().min(TEXT_BYTES + 1) as u8;
    (u64::from_be_bytes(bytes), text.len() <= TEXT_BYTES)
}

/// The nearest binary64, which rises with the number. Two of up to 15 digits have different ones.
fn of_number(number: &Number<'_>) -> (u64, bool) {
    const SIGNIFICAND_MAX: u64 = 10u64.pow(15);
    let few = few_digits_of(number);
    let is_whole = few.is_some_and(|(significand, _)| significand.unsigned_abs() < SIGNIFICAND_MAX);
    let nearest = few.and_then(|(significand, scale)| crate::value::nearest(significand, scale));
    let nearest = nearest.unwrap_or_else(|| match number {
        Number::Decimal(decimal) => crate::value::nearest_of(*decimal),
        Number::Stored(_) | Number::Shared(_) => number.text().parse().unwrap_or(f64::NAN),
    });
    // Zeros are equal, whatever their sign.
    let bits = if nearest == 0.0 { 0 } else { nearest.to_bits() };
    const SIGN: u64 = 1 << 63;
    (if bits & SIGN == 0 { bits | SIGN } else { !bits }, is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::order;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    const VALUES: [&str; 22] = [
        "",
        "null",
        "true",
        "false",
        "-0",
        "0e5",
        "1.0",
        "1e-400",
        "-1e400",
        "1e400",
        "9007199254740993",
        "9007199254740992",
        "999999999999999.5",
        "0.1000000000000000055",
        r#""""#,
        r#""\u0000""#,
        r#""\ud800""#,
        r#""\n""#,
        "[]",
        "[1]",
        "{}",
        r#"{"a":1}"#,
    ];

    fn json() -> impl Strategy<Value = String> {
        prop_oneof![
            proptest::sample::select(&VALUES[..]).prop_map(str::to_owned),
            "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,17})?(e-?[0-9]{1,2})?",
            "\"(abcdef)?[a-cA-CäÄßſ]{0,9}\"",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn beginnings_that_differ_stand_to_one_another_as_the_values(
            a in json(), b in json(), ci: bool, descending: bool,
        ) {
            let by = Sort { column: 0, ci, descending };
            let expected = order(&value_of(a.as_bytes()), &value_of(b.as_bytes()), ci);
            let expected = if descending { expected.reverse() } else { expected };
            let [x, y] = [&a, &b].map(|json| Beginning::of_json(json.as_bytes(), &by));
            prop_assert_eq!(x, Beginning::of(&value_of(a.as_bytes()), &by));
            match (x.kind, x.bytes).cmp(&(y.kind, y.bytes)) {
                Ordering::Equal if x.is_whole && y.is_whole => prop_assert_eq!(expected, Ordering::Equal),
                Ordering::Equal => {}
                unequal => prop_assert_eq!(unequal, expected),
            }
        }
    }
}
