//! Numbers against decimals.

use crate::reference::is_json;
use std::cmp::Ordering;
use tamias_json::number::{Bound, compare, to_decimal};

/// Comparing numbers in their text, and converting them: the input is texts with a space or line feed between them,
/// of which each is compared with each.
///
/// The oracle writes numbers out as digits of a fixed width, so numbers with exponents beyond some hundreds are compared
/// only with others of about that size, both moved into its reach. Texts that are no numbers only have to be safe.
pub fn number(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let texts: Vec<&str> = text.split([' ', '\n']).take(6).collect();
    for (at, a) in texts.iter().enumerate() {
        for b in &texts[at..] {
            pair(a, b);
        }
    }
}

/// Digits before and after the point that the oracle writes out.
const WIDTH: usize = 400;

fn pair(a: &str, b: &str) {
    let ordering = compare(a, b);
    assert_eq!(compare(b, a), ordering.reverse(), "{a} and {b} the other way round");
    assert_eq!(Bound::new(b).compare(a.as_bytes()), ordering, "{a} and the bound {b}");
    assert_eq!(Bound::new(a).compare(b.as_bytes()), ordering.reverse(), "{b} and the bound {a}");
    let (decimal_a, decimal_b) = (to_decimal(a), to_decimal(b));
    if let (true, true) = (is_number(a), is_number(b)) {
        if let (Some(a), Some(b)) = (decimal_a, decimal_b) {
            assert_eq!(ordering, a.cmp(&b), "as decimals: {a} and {b}");
        }
        for shift in [Some(0), exponent(a)].into_iter().flatten() {
            if let (Some(written_a), Some(written_b)) = (Written::out(a, shift), Written::out(b, shift)) {
                assert_eq!(ordering, written_a.compare(&written_b), "{a} and {b}");
            }
        }
        if let Some(written) = Written::out(a, 0) {
            assert_eq!(decimal_a.is_some(), written.fits_decimal(), "{a} as a decimal");
        }
        if let Some(decimal) = decimal_a {
            let back = decimal.to_string();
            assert_eq!(compare(a, &back), Ordering::Equal, "{a} became {back}");
            assert!(!back.contains('.') || !back.ends_with('0'), "{back} has trailing zeros");
        }
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && is_json(text.as_bytes())
        && !text.ends_with(['\t', '\r'])
}

/// The exponent, 0 where there is none, and nothing where it is beyond those that are compared exactly.
fn exponent(number: &str) -> Option<i64> {
    let exponent = number.split_once(['e', 'E']).map_or(Some(0), |(_, exponent)| exponent.parse().ok());
    exponent.filter(|exponent: &i64| exponent.unsigned_abs() < 10u64.pow(17))
}

/// A number written out in full: `WIDTH` digits before the point and as many after it.
struct Written {
    negative: bool,
    digits: Vec<u8>,
}

impl Written {
    /// The number divided by ten `shift` times, if it is not too large or too small for the width.
    fn out(number: &str, shift: i64) -> Option<Written> {
        let (mantissa, _) = number.split_once(['e', 'E']).unwrap_or((number, ""));
        let exponent = exponent(number)?.checked_sub(shift)?;
        let negative = mantissa.starts_with('-');
        let mantissa = mantissa.trim_start_matches('-');
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let point = i64::try_from(integer.len()).ok()?.checked_add(exponent)?;
        let start = i64::try_from(WIDTH).ok()?.checked_sub(point)?;
        let all = [integer, fraction].concat();
        let start = usize::try_from(start).ok()?;
        let mut digits = vec![b'0'; 2 * WIDTH];
        digits.get_mut(start..start.checked_add(all.len())?)?.copy_from_slice(all.as_bytes());
        Some(Written { negative: negative && digits.iter().any(|&digit| digit != b'0'), digits })
    }

    fn compare(&self, other: &Written) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.digits.cmp(&other.digits),
            (true, true) => other.digits.cmp(&self.digits),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }

    /// Whether 96 bits hold the digits down to the last that counts, at a scale of 0 to 28.
    fn fits_decimal(&self) -> bool {
        let Some(first) = self.digits.iter().position(|&digit| digit != b'0') else { return true };
        let last = self.digits.iter().rposition(|&digit| digit != b'0').unwrap_or(first);
        let end = (last + 1).max(WIDTH);
        let first = first.min(WIDTH);
        if end > WIDTH + 28 || end - first > 60 {
            return false;
        }
        let digits = self.digits[first..end].iter().skip_while(|&&digit| digit == b'0');
        let significand =
            digits.fold(0u128, |sum, digit| sum.saturating_mul(10).saturating_add(u128::from(digit - b'0')));
        significand < 1 << 96
    }
}
