//! Several numbers compared with a whole one in their text.

use crate::baseline::not_digits;
use std::cmp::Ordering;

/// A whole number of at most seven digits, as it is compared with several numbers at once.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Its digits, a byte each, the first one highest.
    pub(crate) digits: u64,
    /// The lowest bit of the byte that follows them in the text, of which the first byte is the lowest.
    pub(crate) end: u64,
    /// Its digits, the last one lowest, below how many they are: of two numbers the greater has the greater key.
    key: u64,
}

impl Whole {
    /// How many digits it has.
    #[inline(always)]
    fn count(self) -> usize {
        self.end.trailing_zeros() as usize / 8
    }

    /// The number; none if it has more digits.
    pub fn new(number: u64) -> Option<Whole> {
        let text = number.to_string();
        let digits = text.bytes().fold(0u64, |digits, digit| digits << 8 | u64::from(digit - b'0'));
        let count = text.len() as u32;
        (count < 8).then(|| Whole {
            digits: digits << (64 - 8 * count),
            end: 1 << (8 * count),
            key: digits | u64::from(count) << 56,
        })
    }
}

impl Whole {
    /// How the number with which a text begins stands to this one, if that can be told at a glance: see [`Standing`].
    ///
    /// Without a branch, for numbers come in no order that a processor could guess.
    ///
    /// ```
    /// use std::cmp::Ordering;
    /// let whole = tamias_simd::Whole::new(200).unwrap();
    /// assert_eq!(whole.compare(b"199.5,         }"), Some(Ordering::Less));
    /// assert_eq!(whole.compare(b"200,           }"), Some(Ordering::Equal));
    /// assert_eq!(whole.compare(b"200.5,         }"), None);
    /// ```
    #[inline(always)]
    pub fn compare(self, text: &[u8; 16]) -> Option<Ordering> {
        const ZEROS: u64 = 0x3030_3030_3030_3030;
        let others = not_digits(text) | 1 << 16;
        let count = others.trailing_zeros() as usize;
        // The fraction, if there is one, ends where the next byte is that is no digit.
        let has_point = text[count % 16] == b'.';
        let end = (others & others.wrapping_sub(u32::from(has_point))).trailing_zeros() as usize;
        let behind = text[end % 16];
        let is_ended = (behind == b',') | (behind == b'}');
        let word = text.first_chunk().map_or(0, |word| u64::from_be_bytes(*word) ^ ZEROS);
        let key = word >> (64usize.wrapping_sub(8 * count) % 64) | (count as u64) << 56;
        let is_told = (count.wrapping_sub(1) < 7) & (end < 16) & is_ended & !(has_point & (key == self.key));
        is_told.then(|| key.cmp(&self.key))
    }
}

/// How several numbers stand to another: a bit for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// Whether it can be told at a glance: the number has one to seven digits, and perhaps a fraction, and ends within 16 bytes with a
    /// comma or brace; and if it has a fraction, its digits before the point are not just those of the other number.
    pub is_told: u8,
    /// Whether it is equal; without meaning where that is not told.
    pub is_equal: u8,
    /// Whether it is greater; without meaning where that is not told.
    pub is_greater: u8,
}

impl Standing {
    /// Compares one number, with which the text begins.
    pub(crate) fn set(&mut self, lane: usize, text: &[u8; 16], whole: Whole) {
        let digits_from = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let count = digits_from(0);
        let has_point = text.get(count) == Some(&b'.');
        let end = if has_point { count + 1 + digits_from(count + 1) } else { count };
        let digits = text.iter().take(count.min(8)).map(|digit| digit - b'0');
        let number = (0..8).zip(digits.chain(std::iter::repeat(0)));
        let number = number.fold(0u64, |number, (_, digit)| number << 8 | u64::from(digit));
        let is_equal = count == whole.count() && number == whole.digits;
        let is_greater = count > whole.count() || count == whole.count() && number > whole.digits;
        let is_ended = matches!(text.get(end), Some(b',' | b'}'));
        let is_told = (1..8).contains(&count) && is_ended && !(has_point && is_equal);
        self.is_told |= u8::from(is_told) << lane;
        self.is_equal |= u8::from(is_told && is_equal) << lane;
        self.is_greater |= u8::from(is_told && is_greater) << lane;
    }
}

/// Only what is told counts.
impl PartialEq for Standing {
    fn eq(&self, other: &Standing) -> bool {
        let told = |standing: &Standing| {
            let Standing { is_told, is_equal, is_greater } = *standing;
            (is_told, is_equal & is_told, is_greater & is_told)
        };
        told(self) == told(other)
    }
}
