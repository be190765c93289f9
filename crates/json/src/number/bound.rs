//! A number that many others are compared with.

use super::parts::Parts;
use std::cmp::Ordering;
use tamias_simd::decimal::{self, Digits};
use tamias_simd::{DIGITS, Whole};

/// A number prepared for being compared with many others in their text.
///
/// Numbers of at most 16 characters without exponent, the minus not counted, are compared by their digits, all of them at
/// once; others as [`compare`](super::compare) has it. Both ways are exact.
///
/// ```
/// use std::cmp::Ordering;
/// use tamias_json::number::Bound;
/// let bound = Bound::new("200");
/// assert_eq!(bound.compare(b"199.99"), Ordering::Less);
/// assert_eq!(bound.compare(b"2e2"), Ordering::Equal);
/// ```
#[derive(Debug, Clone)]
pub struct Bound {
    text: Box<[u8]>,
    /// For each number of digits after the point: the bound moved so many places to the left, twice, its digits a byte each. If
    /// anything then stands after the point, it counts as a half: that is odd. [`BEYOND`], of either sign, for more than 16 digits.
    twice: [i128; DIGITS],
}

/// More than twice any 16 digits.
const BEYOND: i128 = i128::MAX;

impl Bound {
    /// Prepares a JSON number. Of a text that is none the longest part that looks like one counts.
    pub fn new(text: &str) -> Bound {
        let text = text.as_bytes();
        let parts = Parts::of(text);
        let mut twice = [0; DIGITS];
        for (places, twice) in (0i64..).zip(&mut twice) {
            let length = usize::try_from(parts.magnitude.saturating_add(places)).unwrap_or(0);
            let digits = parts.significand().chain(std::iter::repeat(b'0')).take(length.min(DIGITS));
            let joined = digits.fold(0, |sum, digit| sum << 8 | i128::from(digit - b'0'));
            let is_cut = parts.digits() > length;
            let magnitude = if length > DIGITS { BEYOND } else { joined << 1 | i128::from(is_cut) };
            *twice = magnitude * i128::from(parts.sign());
        }
        Bound { text: text.into(), twice }
    }

    /// How the number with which `text` begins stands to the bound; none if it begins with no number.
    ///
    /// ```
    /// use std::cmp::Ordering;
    /// use tamias_json::number::Bound;
    /// let bound = Bound::new("200");
    /// assert_eq!(bound.compare_beginning(br#"200.5,"next":1}"#), Some(Ordering::Greater));
    /// assert_eq!(bound.compare_beginning(br#""200","next":1}"#), None);
    /// ```
    #[inline]
    pub fn compare_beginning(&self, text: &[u8]) -> Option<Ordering> {
        if !matches!(text, [b'-' | b'0'..=b'9', ..]) {
            return None;
        }
        match text.first_chunk().and_then(decimal::beginning) {
            Some((is_negative, digits)) => Some(self.compare_digits(is_negative, digits)),
            None => Some(self.compare_any_beginning(text)),
        }
    }

    /// [`compare_beginning`](Bound::compare_beginning) for numbers of any form.
    #[inline(never)]
    fn compare_any_beginning(&self, text: &[u8]) -> Ordering {
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
        self.compare(&text[..length])
    }

    /// How the number in `text` stands to the bound: `Less` where it is less than the bound.
    #[inline]
    pub fn compare(&self, text: &[u8]) -> Ordering {
        let (is_negative, magnitude) = match text {
            [b'-', magnitude @ ..] => (true, magnitude),
            _ => (false, text),
        };
        match Digits::of(magnitude) {
            Some(digits) => self.compare_digits(is_negative, digits),
            None => self.compare_exactly(text),
        }
    }

    #[inline(always)]
    fn compare_digits(&self, is_negative: bool, digits: Digits) -> Ordering {
        // The highest bit of a digit is 0, so that each can be doubled.
        let twice = (digits.bytes << 1) as i128;
        let twice = if is_negative { -twice } else { twice };
        twice.cmp(&self.twice[digits.scale as usize % DIGITS])
    }

    #[cold]
    fn compare_exactly(&self, text: &[u8]) -> Ordering {
        Parts::of(text).compare(&Parts::of(&self.text))
    }

    /// The digits of a bound that is 0 or a positive integer of at most eight, a byte each.
    pub(crate) fn integer(&self) -> Option<u64> {
        let twice = u128::try_from(self.twice[0]).ok()?;
        u64::try_from(twice >> 1).ok().filter(|_| twice & 1 == 0)
    }

    /// The bound, if it can be compared with several numbers at once.
    pub(crate) fn whole(&self) -> Option<Whole> {
        let (number, _) = Digits { bytes: self.integer()?.into(), scale: 0 }.value();
        Whole::new(number)
    }
}
