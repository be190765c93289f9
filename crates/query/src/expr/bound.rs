//! A constant that stored numbers are compared with, prepared so that most of them compare in their text.

use crate::value::Number;
use rust_decimal::Decimal;
use std::cmp::Ordering;

#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// The bound, if it is an integer of at most 17 digits.
    integer: Option<i64>,
    number: Number<'static>,
    text: Box<str>,
}

impl Bound {
    pub(crate) fn new(number: Number<'static>) -> Bound {
        let integer = number
            .decimal()
            .filter(Decimal::is_integer)
            .and_then(|decimal| i64::try_from(decimal).ok())
            .filter(|integer| integer.unsigned_abs() < 100_000_000_000_000_000);
        Bound { integer, text: number.text().into(), number }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How `number` stands to the bound.
    pub(crate) fn order(&self, number: &Number<'_>) -> Ordering {
        match number {
            Number::Stored(text) => self
                .integer
                .and_then(|bound| compare_digits(text.as_bytes(), bound))
                .unwrap_or_else(|| tamias_json::number::compare(text, &self.text)),
            other => other.compare(&self.number),
        }
    }
}

/// Compares a number of at most 17 digits before the point and without exponent; none for any other.
fn compare_digits(text: &[u8], bound: i64) -> Option<Ordering> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut integer = 0i64;
    let mut length = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        integer = integer.wrapping_mul(10).wrapping_add(i64::from(digit));
        length += 1;
    }
    if length == 0 || length > 17 {
        return None;
    }
    let mut beyond = false;
    if let [b'.', fraction @ ..] = digits.get(length..)? {
        for &byte in fraction {
            beyond |= byte != b'0';
            if !byte.is_ascii_digit() {
                return None;
            }
        }
    } else if digits.len() > length {
        return None;
    }
    let order = integer.cmp(&if negative { -bound } else { bound });
    let magnitude = if order.is_eq() && beyond { Ordering::Greater } else { order };
    Some(if negative { magnitude.reverse() } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_exact_comparison(
            text in "-?(0|[1-9][0-9]{0,19})(\\.[0-9]{1,4})?([eE][+-]?[0-3])?",
            bound in prop_oneof![-300i64..300, any::<i64>()],
            near in any::<bool>(),
        ) {
            let bound = if near { text.split(['.', 'e', 'E']).next().unwrap().parse().unwrap_or(bound) } else { bound };
            let prepared = Bound::new(Number::Decimal(bound.into()));
            prop_assert_eq!(
                prepared.order(&Number::Stored(&text)),
                tamias_json::number::compare(&text, &bound.to_string())
            );
        }
    }

    #[test]
    fn near_the_bound() {
        let bound = Bound::new(Number::Stored("200").into_static());
        for (text, order) in [
            ("200", Ordering::Equal),
            ("200.0", Ordering::Equal),
            ("2e2", Ordering::Equal),
            ("200.00000000000000000001", Ordering::Greater),
            ("199.99999999999999999999", Ordering::Less),
            ("201.5e-3", Ordering::Less),
            ("1.5e3", Ordering::Greater),
            ("1999e-3", Ordering::Less),
            ("-0", Ordering::Less),
            ("-200", Ordering::Less),
        ] {
            assert_eq!(bound.order(&Number::Stored(text)), order, "{text}");
        }
    }
}
