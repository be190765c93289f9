//! JSON numbers in their text: compared and converted without rounding.

mod bound;
mod few;

pub use bound::Bound;
pub(crate) use bound::{Rest, SEVERAL, Standing, Whole, compare_whole, whole_part};
pub(crate) use few::{DIGITS, digits, few_digits_by};
pub use few::{few_digits, few_digits_at};

use rust_decimal::Decimal;
use std::cmp::Ordering;

/// Compares two JSON numbers by their mathematical value, however long they are or large their exponents.
///
/// Takes time linear in the length of the texts, and never materialises an exponent. `-0` equals `0`. Of a text that
/// is no JSON number the longest part that looks like one counts, so any text is safe. Exponents are exact up to
/// ±10^17, far beyond the ±10^9 that a stored number may have.
///
/// ```
/// use std::cmp::Ordering;
/// use tamias_json::number::compare;
/// assert_eq!(compare("1e2", "100.0"), Ordering::Equal);
/// assert_eq!(compare("-1e999999999", "0.1"), Ordering::Less);
/// ```
pub fn compare(a: &str, b: &str) -> Ordering {
    Parts::of(a.as_bytes()).compare(&Parts::of(b.as_bytes()))
}

/// The number as a decimal, if it can be represented exactly: 96 bits of significand, scale 0 to 28.
///
/// Trailing zeros are dropped first and exponents worked in, so `1e2` is 100 and `1.50` is 1.5. Takes time linear in
/// the length of the text, also for `1e1000000000`.
///
/// ```
/// use tamias_json::number::to_decimal;
/// assert_eq!(to_decimal("1.50e1").unwrap().to_string(), "15");
/// assert_eq!(to_decimal("1e29"), None);
/// ```
pub fn to_decimal(text: &str) -> Option<Decimal> {
    let parts = Parts::of(text.as_bytes());
    let count = parts.digits();
    if count == 0 {
        return Some(Decimal::ZERO);
    }
    // The power of ten of the last significant digit.
    let power = parts.magnitude - i64::try_from(count).ok()?;
    if count > 29 || !(-28..=28).contains(&power) {
        return None;
    }
    let digits = parts.significand().map(|digit| digit - b'0');
    let mut significand = if count <= 19 {
        u128::from(digits.fold(0u64, |sum, digit| sum * 10 + u64::from(digit)))
    } else {
        digits.fold(0u128, |sum, digit| sum * 10 + u128::from(digit))
    };
    let scale = u32::try_from(-power).unwrap_or(0);
    if let Ok(zeros @ 1..) = u32::try_from(power) {
        significand = significand.checked_mul(10u128.checked_pow(zeros)?)?;
    }
    let word = |shift: u32| (significand >> shift) as u32;
    (word(96) == 0).then(|| Decimal::from_parts(word(0), word(32), word(64), parts.negative, scale))
}

/// A number taken apart, without its insignificant zeros: the value is `0.DIGITS × 10^magnitude`.
struct Parts<'t> {
    negative: bool,
    /// Power of ten just above the first digit. The least possible for zero.
    magnitude: i64,
    /// The digits, in two pieces; the first begins with none, the last of them ends with no zero.
    integer: &'t [u8],
    fraction: &'t [u8],
}

impl<'t> Parts<'t> {
    fn of(text: &'t [u8]) -> Parts<'t> {
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let (integer, text) = split_digits(text);
        let (fraction, text) = match text {
            [b'.', rest @ ..] => split_digits(rest),
            _ => (&[][..], text),
        };
        let exponent = match text {
            [b'e' | b'E', b'-', rest @ ..] => -exponent(rest),
            [b'e' | b'E', b'+', rest @ ..] | [b'e' | b'E', rest @ ..] => exponent(rest),
            _ => 0,
        };
        let mut integer = trim_start_zeros(integer);
        let mut trimmed = trim_end_zeros(fraction);
        let magnitude = if !integer.is_empty() {
            if trimmed.is_empty() {
                let length = integer.len();
                integer = trim_end_zeros(integer);
                length as i64
            } else {
                integer.len() as i64
            }
        } else {
            let length = trimmed.len();
            trimmed = trim_start_zeros(trimmed);
            if trimmed.is_empty() {
                return Parts { negative: false, magnitude: i64::MIN, integer: &[], fraction: &[] };
            }
            -((length - trimmed.len()) as i64)
        };
        Parts { negative, magnitude: magnitude.saturating_add(exponent), integer, fraction: trimmed }
    }

    fn digits(&self) -> usize {
        self.integer.len() + self.fraction.len()
    }

    fn sign(&self) -> i32 {
        if self.digits() == 0 {
            0
        } else if self.negative {
            -1
        } else {
            1
        }
    }

    /// The digits that count, first to last.
    fn significand(&self) -> impl Iterator<Item = u8> {
        self.integer.iter().chain(self.fraction).copied()
    }

    fn compare(&self, other: &Parts<'_>) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| {
            // Neither significand ends with a zero: where one runs out first, it is the smaller.
            let digits = || self.significand().cmp(other.significand());
            let magnitudes = self.magnitude.cmp(&other.magnitude).then_with(digits);
            if self.negative { magnitudes.reverse() } else { magnitudes }
        })
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let length = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(length)
}

fn trim_start_zeros(digits: &[u8]) -> &[u8] {
    let first = digits.iter().position(|&digit| digit != b'0').unwrap_or(digits.len());
    &digits[first..]
}

fn trim_end_zeros(digits: &[u8]) -> &[u8] {
    let end = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    &digits[..end]
}

/// The digits of an exponent, held at 10^17, so that adding a length to it cannot overflow.
fn exponent(text: &[u8]) -> i64 {
    let (digits, _) = split_digits(text);
    digits.iter().fold(0i64, |sum, digit| (sum * 10 + i64::from(digit - b'0')).min(100_000_000_000_000_000))
}

#[cfg(test)]
mod tests;
