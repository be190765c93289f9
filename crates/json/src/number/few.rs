//! Numbers of few digits, taken from their text all at once.

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
    let is_negative = bytes.get(start) == Some(&b'-');
    let start = start + usize::from(is_negative);
    let length = end.checked_sub(start)?;
    if !(1..=DIGITS).contains(&length) {
        return None;
    }
    let text = match bytes.get(..end)?.last_chunk() {
        Some(chunk) => u128::from_be_bytes(*chunk) & u128::MAX >> (8 * (DIGITS - length)),
        None => alone(bytes.get(start..end)?),
    };
    let (significand, scale) = digits(text ^ ZEROS >> (8 * (DIGITS - length)))?;
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
const DIGITS: usize = 16;

/// A byte for each character.
const LOW: u128 = u128::MAX / 0xff;
const HIGH: u128 = LOW << 7;
const ZEROS: u128 = LOW * b'0' as u128;

/// What points become when '0' is taken away.
const POINTS: u128 = LOW * (b'.' ^ b'0') as u128;

/// At most 16 characters, the last one in the lowest byte, and zeros before the first.
fn alone(text: &[u8]) -> u128 {
    let mut bytes = [0; DIGITS];
    if let Some(place) = bytes.get_mut(DIGITS.saturating_sub(text.len())..) {
        place.copy_from_slice(text);
    }
    u128::from_be_bytes(bytes)
}

/// The number and the digits after its point. No branch depends on where the point stands: that is not to be guessed.
#[inline(always)]
fn digits(text: u128) -> Option<(i64, u32)> {
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
    let significand = eight((digits >> 64) as u64) * 100_000_000 + eight(digits as u64);
    Some((significand as i64, scale))
}

/// The number of eight digits, a byte each, the last one in the lowest.
#[inline(always)]
fn eight(digits: u64) -> u64 {
    let pairs = (digits & 0x00ff_00ff_00ff_00ff) + (digits >> 8 & 0x00ff_00ff_00ff_00ff) * 10;
    let fours = (pairs & 0x0000_ffff_0000_ffff) + (pairs >> 16 & 0x0000_ffff_0000_ffff) * 100;
    (fours & 0xffff_ffff) + (fours >> 32) * 10_000
}
