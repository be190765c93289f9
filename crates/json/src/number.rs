//! JSON numbers as text: compared and converted without rounding.

mod bound;
mod parts;

pub use bound::Bound;

use parts::Parts;
use rust_decimal::Decimal;
use std::cmp::Ordering;
use tamias_simd::{Swar, decimal};

/// The significand and the scale of the number from `start` up to `end` in `bytes`: 1.50 is (150, 2).
///
/// Only for numbers of at most 16 characters, not counting the minus, without exponent: `None` for other numbers, and for the text of any other
/// scalar. The significand is less than 10^16, the scale at most 15; 0 has no sign.
///
/// Reads the bytes before the number too, which is faster than copying its text. Any bytes and offsets are safe; for text that
/// is not JSON the result is `None` or an arbitrary number.
///
/// ```
/// use tamias_json::number::few_digits_at;
/// let document = br#"{"@mt":"took","Elapsed":-12.50}"#;
/// assert_eq!(few_digits_at(document, 24, 30), Some((-1250, 2)));
/// assert_eq!(few_digits_at(document, 7, 13), None);
/// ```
#[inline]
pub fn few_digits_at(bytes: &[u8], start: usize, end: usize) -> Option<(i64, u32)> {
    decimal::at(Swar, bytes, start, end)
}

/// As [`few_digits_at`], for text that consists of the number only.
///
/// ```
/// use tamias_json::number::few_digits;
/// assert_eq!(few_digits(b"1.50"), Some((150, 2)));
/// assert_eq!(few_digits(b"1e2"), None);
/// ```
#[inline]
pub fn few_digits(text: &[u8]) -> Option<(i64, u32)> {
    few_digits_at(text, 0, text.len())
}

/// Compares two JSON numbers by their mathematical value, however long they are or large their exponents.
///
/// Takes time linear in the length of the texts, whatever the exponents. `-0` equals `0`. Any text is safe: if it
/// is not a JSON number, the longest part that looks like one is used. Exponents are exact up to
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
/// Trailing zeros are dropped and exponents are applied, so `1e2` is 100 and `1.50` is 1.5. Takes time linear in
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

#[cfg(test)]
mod tests;
