use super::Parts;
use std::cmp::Ordering;

/// A number prepared for being compared with many others in their text.
///
/// Numbers of at most 16 characters without exponent, the minus not counted, are compared by their digits as one
/// integer, without a branch that depends on them; others as [`compare`](super::compare) has it. Both ways are exact.
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
    /// -1, 0 or 1.
    sign: i32,
    /// For each number of digits after the point: the bound's magnitude moved so many places to the left, without what
    /// then stands after the point. Too large a one is cut off at a value beyond all numbers of 16 digits.
    scaled: [u64; DIGITS + 1],
    /// A bit for each of them: whether anything was left out.
    cut: u32,
}

/// The most characters that are compared as an integer.
const DIGITS: usize = 16;

impl Bound {
    /// Prepares a JSON number. Of a text that is none the longest part that looks like one counts.
    pub fn new(text: &str) -> Bound {
        let text = text.as_bytes();
        let parts = Parts::of(text);
        let mut bound = Bound { text: text.into(), sign: parts.sign(), scaled: [0; DIGITS + 1], cut: 0 };
        for (places, scaled) in (0i64..).zip(&mut bound.scaled) {
            let length = usize::try_from(parts.magnitude.saturating_add(places)).unwrap_or(0);
            // 19 digits fit; more are more than 16 characters can stand for.
            let digits = parts.significand().chain(std::iter::repeat(b'0')).take(length.min(19));
            *scaled = if length > 19 {
                u64::MAX
            } else {
                digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'))
            };
            bound.cut |= u32::from(parts.digits() > length) << places;
        }
        bound
    }

    /// How the number in `text` stands to the bound: `Less` where it is less than the bound.
    #[inline]
    pub fn compare(&self, text: &[u8]) -> Ordering {
        let (negative, magnitude) = match text {
            [b'-', magnitude @ ..] => (true, magnitude),
            _ => (false, text),
        };
        let Some((digits, places)) = short(magnitude) else { return self.compare_exactly(text) };
        let sign = if digits == 0 { 0 } else { 1 - 2 * i32::from(negative) };
        if sign != self.sign {
            return sign.cmp(&self.sign);
        }
        let cut = self.cut >> places & 1 == 1;
        let order = digits.cmp(&self.scaled[places]).then(if cut { Ordering::Less } else { Ordering::Equal });
        if negative { order.reverse() } else { order }
    }

    #[cold]
    fn compare_exactly(&self, text: &[u8]) -> Ordering {
        Parts::of(text).compare(&Parts::of(&self.text))
    }
}

/// The digits of a number of 1 to 16 characters as an integer, and how many of them stand after the point (at most 15);
/// nothing where there is more to it than digits and a point.
#[inline]
fn short(text: &[u8]) -> Option<(u64, usize)> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let word = |at: usize| text[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word)) ^ ZEROS;
    // The characters with '0' taken away, the last one in the highest byte, zeros before the first.
    let (high, low) = match text.len() {
        length @ 9..=16 => (word(length - 8), word(0) << (8 * (16 - length))),
        8 => (word(0), 0),
        length @ 4..=7 => {
            let half =
                |at: usize| text[at..].first_chunk().map_or(0, |half| u64::from(u32::from_le_bytes(*half)));
            let bytes = half(0) | half(length - 4) << (8 * (length - 4));
            ((bytes ^ ZEROS) << (8 * (8 - length)), 0)
        }
        length @ 1..=3 => {
            let byte = |at: usize| u64::from(text[at]) << (8 * at);
            let bytes = byte(0) | byte(length / 2) | byte(length - 1);
            ((bytes ^ ZEROS) << (8 * (8 - length)), 0)
        }
        _ => return None,
    };
    let others = (u128::from(not_digits(high)) << 64) | u128::from(not_digits(low));
    if others == 0 {
        return Some((integer(high) + 100_000_000 * integer(low), 0));
    }
    // One character that is no digit, and that the point.
    let place = others.trailing_zeros() - 7;
    let all = u128::from(high) << 64 | u128::from(low);
    if others.count_ones() != 1 || (all >> place) as u8 != b'.' ^ b'0' {
        return None;
    }
    let before = all & ((1 << place) - 1);
    let after = all >> place >> 8;
    let digits = after.checked_shl(place + 8).unwrap_or(0) | before << 8;
    let (high, low) = ((digits >> 64) as u64, digits as u64);
    Some((integer(high) + 100_000_000 * integer(low), (120 - place) as usize / 8))
}

/// The high bit of each byte that is more than 9.
#[inline]
fn not_digits(word: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    (((word & !HIGH) + LOW * 0x76) | word) & HIGH
}

/// Eight digits, the last one in the highest byte, as an integer.
#[inline]
fn integer(digits: u64) -> u64 {
    // Pairs, then fours, then all eight.
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff
}
