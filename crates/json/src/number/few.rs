//! Numbers of few digits, taken from their text all at once.

use crate::classify::{Kernel, Swar};

/// The significand and the scale of the number from `start` up to `end` in `bytes`: 1.50 is (150, 2).
///
/// Of at most 16 characters, the minus not counted, and without exponent: none for what takes more work, and for the text of any other
/// scalar. The significand is less than 10^16, the scale at most 15; 0 has no sign.
///
/// What stands before the number is read with it, which is quicker than to take its text out. Any bytes and places are safe; text that
/// is no JSON gives none or some number.
///
/// ```
/// use tamias_json::number::few_digits_at;
/// let document = br#"{"@mt":"took","Elapsed":-12.50}"#;
/// assert_eq!(few_digits_at(document, 24, 30), Some((-1250, 2)));
/// assert_eq!(few_digits_at(document, 7, 13), None);
/// ```
#[inline]
pub fn few_digits_at(bytes: &[u8], start: usize, end: usize) -> Option<(i64, u32)> {
    few_digits_by(Swar, bytes, start, end)
}

/// The same by any kernel.
#[inline(always)]
pub(crate) fn few_digits_by<K: Kernel>(
    kernel: K,
    bytes: &[u8],
    start: usize,
    end: usize,
) -> Option<(i64, u32)> {
    let is_negative = bytes.get(start) == Some(&b'-');
    let start = start + usize::from(is_negative);
    let length = end.checked_sub(start).filter(|length| (1..=DIGITS).contains(length))?;
    let (significand, scale) = match bytes.get(..end)?.last_chunk() {
        Some(text) => kernel.few_digits(text, length)?,
        None => {
            let mut text = [b'0'; DIGITS];
            text.get_mut(DIGITS - length..)?.copy_from_slice(bytes.get(start..end)?);
            kernel.few_digits(&text, length)?
        }
    };
    let significand = significand as i64;
    Some((if is_negative { -significand } else { significand }, scale))
}

/// What [`few_digits_at`] gives for a number that stands alone.
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

/// The most characters that are looked at.
pub(crate) const DIGITS: usize = 16;

/// A byte for each character.
const LOW: u128 = u128::MAX / 0xff;
const HIGH: u128 = LOW << 7;
const ZEROS: u128 = LOW * b'0' as u128;

/// What points become when '0' is taken away.
const POINTS: u128 = LOW * (b'.' ^ b'0') as u128;

/// The number that the last `length` characters spell, 1 to 16 of them, and how many of its digits stand behind its point; none where
/// there is more to it than digits and a point.
///
/// No branch depends on where the point stands, nor on whether there is one: that is not to be guessed.
#[inline(always)]
pub(crate) fn digits(text: &[u8; DIGITS], length: usize) -> Option<(u64, u32)> {
    let kept = u128::MAX >> (8 * DIGITS.saturating_sub(length));
    let text = (u128::from_be_bytes(*text) ^ ZEROS) & kept;
    // The high bit of each byte that is no digit.
    let others = (((text & !HIGH) + LOW * 0x76) | text) & HIGH;
    // The bytes behind the point; all where there is none.
    let behind = (others >> 7).wrapping_sub(1);
    let point = behind ^ (behind << 8 | 0xff);
    if others & others.wrapping_sub(1) != 0 || (text ^ POINTS) & point != 0 {
        return None;
    }
    let digits = text & behind | text >> 8 & !behind;
    let scale = others.trailing_zeros() / 8 % DIGITS as u32;
    Some((eight((digits >> 64) as u64) * 100_000_000 + eight(digits as u64), scale))
}

/// The number of eight digits, a byte each, the last one in the lowest.
#[inline(always)]
fn eight(digits: u64) -> u64 {
    let pairs = (digits & 0x00ff_00ff_00ff_00ff) + (digits >> 8 & 0x00ff_00ff_00ff_00ff) * 10;
    let fours = (pairs & 0x0000_ffff_0000_ffff) + (pairs >> 16 & 0x0000_ffff_0000_ffff) * 100;
    (fours & 0xffff_ffff) + (fours >> 32) * 10_000
}
