//! The one parser of short decimals: text of at most 16 characters becomes digits and a scale, all at once.
//!
//! It takes two steps: first the digits, a byte each, which is enough to compare numbers; then what they come to.

use crate::baseline::not_digits;
use crate::sizes::DIGITS;
use crate::vector::Vector;

/// The mantissa and the scale of the number from `start` up to `end` in `bytes`: 1.50 is (150, 2).
///
/// Of at most [`DIGITS`] characters, the minus not counted, and without exponent: none for what takes more work, and for the text of any
/// other scalar. The mantissa is less than 10^16, the scale at most 15; 0 has no sign.
///
/// What stands before the number is read with it, which is quicker than to take its text out. Any bytes and places are safe; text that
/// is no JSON gives none or some number.
///
/// ```
/// use tamias_simd::{Swar, decimal};
/// let document = br#"{"@mt":"took","Elapsed":-12.50}"#;
/// assert_eq!(decimal::at(Swar, document, 24, 30), Some((-1250, 2)));
/// assert_eq!(decimal::at(Swar, document, 7, 13), None);
/// ```
#[inline(always)]
pub fn at<V: Vector>(vector: V, bytes: &[u8], start: usize, end: usize) -> Option<(i64, u32)> {
    let is_negative = bytes.get(start) == Some(&b'-');
    let start = start + usize::from(is_negative);
    let length = end.checked_sub(start).filter(|length| (1..=DIGITS).contains(length))?;
    let (mantissa, scale) = match bytes.get(..end)?.last_chunk() {
        Some(text) => vector.decimal(text, length)?,
        None => Digits::of(bytes.get(start..end)?)?.value(),
    };
    // Less than 10^16.
    let mantissa = mantissa as i64;
    Some((if is_negative { -mantissa } else { mantissa }, scale))
}

/// The number that the text begins with, if a comma or brace ends it among the first 16 characters: whether it has a minus, and its
/// digits.
///
/// ```
/// use tamias_simd::decimal;
/// let (is_negative, digits) = decimal::beginning(br#"-12.50,"next":1}"#).unwrap();
/// assert_eq!((is_negative, digits.value()), (true, (1250, 2)));
/// assert!(decimal::beginning(br#"1e2,"next":true}"#).is_none());
/// ```
#[inline(always)]
pub fn beginning(text: &[u8; DIGITS]) -> Option<(bool, Digits)> {
    let is_negative = text[0] == b'-';
    let minus = usize::from(is_negative);
    let others = not_digits(text) & !(minus as u32) | 1 << DIGITS;
    let first = others.trailing_zeros() as usize;
    // The fraction, if there is one, ends where the next byte is that is no digit.
    let has_point = text[first % DIGITS] == b'.';
    let end = (others & others.wrapping_sub(u32::from(has_point))).trailing_zeros() as usize;
    let is_ended = matches!(text[end % DIGITS], b',' | b'}');
    if !is_ended || end >= DIGITS || end == minus {
        return None;
    }
    // All characters are known: digits, and perhaps a point. Without one there is nothing to close up.
    let scale = (end - first).saturating_sub(1) as u32;
    let point = 8 * u32::from(has_point);
    let high = text.first_chunk().map_or(0, |word| u64::from_be_bytes(*word) ^ ZEROS);
    let high = high & u64::MAX >> (8 * minus);
    let bytes = if end <= 8 {
        let word = high >> (64 - 8 * end);
        let behind = (1 << (8 * scale)) - 1;
        u128::from(word & behind | word >> point & !behind)
    } else {
        let low = text.last_chunk().map_or(0, |word| u64::from_be_bytes(*word) ^ ZEROS);
        let words = (u128::from(high) << 64 | u128::from(low)) >> (8 * (DIGITS - end));
        let behind = (1 << (8 * scale)) - 1;
        words & behind | words >> point & !behind
    };
    Some((is_negative, Digits { bytes, scale }))
}

/// The digits of a number of 1 to 16 characters, without sign and exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits {
    /// A byte each, 0 to 9, the last one lowest.
    pub bytes: u128,
    /// How many of them stand behind the point, at most 15.
    pub scale: u32,
}

impl Digits {
    /// The digits of a text; none where it has more than digits and a point, or more than [`DIGITS`] characters.
    ///
    /// ```
    /// use tamias_simd::decimal::Digits;
    /// assert_eq!(Digits::of(b"1.50"), Some(Digits { bytes: 0x01_05_00, scale: 2 }));
    /// assert_eq!(Digits::of(b"1e2"), None);
    /// ```
    #[inline(always)]
    pub fn of(text: &[u8]) -> Option<Digits> {
        let word = |at: usize| text[at..].first_chunk().map_or(0, |word| u64::from_be_bytes(*word));
        let half = |at: usize| text[at..].first_chunk().map_or(0, |half| u32::from_be_bytes(*half));
        // Pieces that overlap where the length is none of theirs. The last character comes to stand in the lowest byte.
        match text.len() {
            length @ 1..=3 => {
                let byte = |at: usize, shift: usize| u64::from(text[at]) << (8 * shift);
                let all =
                    byte(0, length - 1) | byte(length / 2, length - 1 - length / 2) | byte(length - 1, 0);
                Digits::of_word(all ^ ZEROS >> (64 - 8 * length))
            }
            length @ 4..=8 => {
                let all = u64::from(half(0)) << (8 * (length - 4)) | u64::from(half(length - 4));
                Digits::of_word(all ^ ZEROS >> (64 - 8 * length))
            }
            length @ 9..=DIGITS => {
                let high = (word(0) ^ ZEROS) >> (8 * (DIGITS - length));
                let low = word(length - 8) ^ ZEROS;
                let text = u128::from(high) << 64 | u128::from(low);
                if not_digit(high) | not_digit(low) == 0 {
                    return Some(Digits { bytes: text, scale: 0 });
                }
                Digits::of_words(text)
            }
            _ => None,
        }
    }

    /// From eight characters, from which '0' was taken away.
    #[inline(always)]
    fn of_word(text: u64) -> Option<Digits> {
        if not_digit(text) == 0 {
            return Some(Digits { bytes: text.into(), scale: 0 });
        }
        let (digits, scale) = u64::without_point(text)?;
        Some(Digits { bytes: u128::from(digits), scale })
    }

    /// From sixteen characters, from which '0' was taken away.
    #[inline(always)]
    pub(crate) fn of_words(text: u128) -> Option<Digits> {
        let (bytes, scale) = u128::without_point(text)?;
        Some(Digits { bytes, scale })
    }

    /// The digits as a whole number, less than 10^16, and the scale.
    #[inline(always)]
    pub fn value(self) -> (u64, u32) {
        let (high, low) = ((self.bytes >> 64) as u64, self.bytes as u64);
        (eight(high) * 100_000_000 + eight(low), self.scale)
    }
}

/// The number of eight digits, a byte each, the last one in the lowest.
#[inline(always)]
fn eight(digits: u64) -> u64 {
    let pairs = (digits & 0x00ff_00ff_00ff_00ff) + (digits >> 8 & 0x00ff_00ff_00ff_00ff) * 10;
    let fours = (pairs & 0x0000_ffff_0000_ffff) + (pairs >> 16 & 0x0000_ffff_0000_ffff) * 100;
    (fours & 0xffff_ffff) + (fours >> 32) * 10_000
}

const ZEROS: u64 = 0x3030_3030_3030_3030;
pub(crate) const TWICE_ZEROS: u128 = (ZEROS as u128) << 64 | ZEROS as u128;

/// The high bit of each byte that is more than 9.
#[inline(always)]
fn not_digit(word: u64) -> u64 {
    const LOW: u64 = u64::MAX / 0xff;
    (((word & !(LOW << 7)) + LOW * 0x76) | word) & LOW << 7
}

/// A register of characters.
trait Characters: Sized {
    /// The digits, if there are no others than them and one point, and how many of them stand behind it.
    ///
    /// No branch depends on where the point stands, nor on whether there is one: that is not to be guessed.
    fn without_point(text: Self) -> Option<(Self, u32)>;
}

macro_rules! characters {
    ($word:ty) => {
        impl Characters for $word {
            #[inline(always)]
            fn without_point(text: $word) -> Option<($word, u32)> {
                /// A byte for each character.
                const LOW: $word = <$word>::MAX / 0xff;
                const HIGH: $word = LOW << 7;
                /// What points become when '0' is taken away.
                const POINTS: $word = LOW * (b'.' ^ b'0') as $word;
                // The high bit of each byte that is no digit.
                let others = (((text & !HIGH) + LOW * 0x76) | text) & HIGH;
                // The bytes behind the point; all where there is none.
                let behind = (others >> 7).wrapping_sub(1);
                let point = behind ^ (behind << 8 | 0xff);
                if others & others.wrapping_sub(1) != 0 || (text ^ POINTS) & point != 0 {
                    return None;
                }
                let scale = others.trailing_zeros() / 8 % (<$word>::BITS / 8);
                Some((text & behind | text >> 8 & !behind, scale))
            }
        }
    };
}

characters!(u64);
characters!(u128);
