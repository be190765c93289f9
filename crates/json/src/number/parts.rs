//! Numbers taken apart, of any length and with any exponent.

use std::cmp::Ordering;

/// A number taken apart, without its insignificant zeros: the value is `0.DIGITS × 10^magnitude`.
pub(super) struct Parts<'t> {
    pub(super) negative: bool,
    /// Power of ten just above the first digit. The least possible for zero.
    pub(super) magnitude: i64,
    /// The digits, in two pieces; the first begins with none, the last of them ends with no zero.
    integer: &'t [u8],
    fraction: &'t [u8],
}

impl<'t> Parts<'t> {
    pub(super) fn of(text: &'t [u8]) -> Parts<'t> {
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

    pub(super) fn digits(&self) -> usize {
        self.integer.len() + self.fraction.len()
    }

    pub(super) fn sign(&self) -> i32 {
        if self.digits() == 0 {
            0
        } else if self.negative {
            -1
        } else {
            1
        }
    }

    /// The digits that count, first to last.
    pub(super) fn significand(&self) -> impl Iterator<Item = u8> {
        self.integer.iter().chain(self.fraction).copied()
    }

    pub(super) fn compare(&self, other: &Parts<'_>) -> Ordering {
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
