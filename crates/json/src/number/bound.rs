use super::Parts;
use std::cmp::Ordering;

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
    /// -1, 0 or 1.
    sign: i32,
    /// For each number of digits after the point: the bound's magnitude moved so many places to the left, without what
    /// then stands after the point. A digit a byte; one that is too long is more than any of 16 digits.
    scaled: [u128; DIGITS],
    /// A bit for each of them: whether anything was left out.
    cut: u32,
    /// The digits of a bound that is 0 or a positive integer of at most eight, a byte each.
    whole: Option<u64>,
}

/// The most characters that are compared at once.
const DIGITS: usize = 16;

impl Bound {
    /// Prepares a JSON number. Of a text that is none the longest part that looks like one counts.
    pub fn new(text: &str) -> Bound {
        let text = text.as_bytes();
        let parts = Parts::of(text);
        let mut bound =
            Bound { text: text.into(), sign: parts.sign(), scaled: [0; DIGITS], cut: 0, whole: None };
        for (places, scaled) in (0i64..).zip(&mut bound.scaled) {
            let length = usize::try_from(parts.magnitude.saturating_add(places)).unwrap_or(0);
            let digits = parts.significand().chain(std::iter::repeat(b'0')).take(length.min(DIGITS));
            let joined = digits.fold(0, |sum, digit| sum << 8 | u128::from(digit - b'0'));
            *scaled = if length > DIGITS { u128::MAX } else { joined };
            bound.cut |= u32::from(parts.digits() > length) << places;
        }
        if bound.sign >= 0 && bound.cut & 1 == 0 {
            bound.whole = u64::try_from(bound.scaled[0]).ok();
        }
        bound
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
        if let (Some(whole), Some(start)) = (self.whole, text.first_chunk())
            && let (order, true) = compare_whole(start, whole)
        {
            return Some((order as i8 - 1).cmp(&0));
        }
        self.compare_any_beginning(text)
    }

    /// The digits of a bound that is 0 or a positive integer of at most eight, a byte each: what [`compare_whole`] takes.
    #[inline(always)]
    pub(crate) fn whole(&self) -> Option<u64> {
        self.whole
    }

    /// [`compare_beginning`](Bound::compare_beginning) for numbers of any form.
    #[inline(never)]
    pub(crate) fn compare_any_beginning(&self, text: &[u8]) -> Option<Ordering> {
        let is_number = matches!(text, [b'-' | b'0'..=b'9', ..]);
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
        is_number.then(|| self.compare(&text[..length]))
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

/// How a number of few digits, with which the bytes begin, stands to one that is whole, whose digits are a byte each: 0 for less,
/// 1 for equal, 2 for greater; and whether that can be told at a glance.
///
/// Without a branch, for numbers come in no order that a processor could guess.
#[inline(always)]
pub(crate) fn compare_whole(start: &[u8; 16], whole: u64) -> (usize, bool) {
    let others = others(start) | 1 << 16;
    let digits = others.trailing_zeros();
    // The fraction, if there is one, ends where the next byte is that is no digit.
    let has_point = start[(digits % 16) as usize] == b'.';
    let end = (others & others.wrapping_sub(u32::from(has_point))).trailing_zeros();
    let behind = start[(end % 16) as usize];
    let is_ended = (behind == b',') | (behind == b'}');
    let word = start.first_chunk().map_or(0, |word| u64::from_be_bytes(*word)) ^ ZEROS;
    // No number begins with more zeros than one, so that more digits are more.
    let number = word >> (64u32.wrapping_sub(8 * digits) % 64);
    let order = usize::from(number >= whole) + usize::from(number > whole);
    let is_short = digits.wrapping_sub(1) < 8;
    (order, is_short & (end < 16) & is_ended & !(has_point & (order == 1)))
}

/// Numbers that are compared together.
pub(crate) const SEVERAL: usize = 8;

/// A whole number of at most seven digits, as it is compared with several numbers at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    /// Its digits, a byte each, the first one highest.
    pub(crate) digits: u64,
    /// The lowest bit of the byte that follows them in the text, of which the first byte is the lowest.
    pub(crate) end: u64,
}

impl Whole {
    /// From the digits, a byte each, the last one lowest; none if they are more.
    pub(crate) fn new(digits: u64) -> Option<Whole> {
        let count = (8 - digits.leading_zeros() / 8).max(1);
        let end = 1u64.checked_shl(8 * count)?;
        Some(Whole { digits: digits << (64 - 8 * count), end })
    }
}

/// How several numbers stand to another: a bit for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// Whether it can be told at a glance.
    pub(crate) is_told: u8,
    pub(crate) is_equal: u8,
    pub(crate) is_greater: u8,
}

/// The digits of the whole part of the number with which the bytes begin, a byte each; what comes with it.
#[inline(always)]
pub(crate) fn whole_part(start: &[u8; 16]) -> (u64, Rest) {
    let others = others(start) | 1 << 16;
    let digits = others.trailing_zeros();
    let has_point = start[(digits % 16) as usize] == b'.';
    let end = (others & others.wrapping_sub(u32::from(has_point))).trailing_zeros();
    let behind = start[(end % 16) as usize];
    let word = start.first_chunk().map_or(0, |word| u64::from_be_bytes(*word)) ^ ZEROS;
    let number = word >> (64u32.wrapping_sub(8 * digits) % 64);
    let is_short = (digits.wrapping_sub(1) < 8) & (end < 16) & ((behind == b',') | (behind == b'}'));
    let ends_in_zero = start[(end.wrapping_sub(1) % 16) as usize] == b'0';
    let rest = match (is_short, has_point, ends_in_zero) {
        (false, ..) => Rest::Unknown,
        (true, false, _) => Rest::Nothing,
        (true, true, false) => Rest::Fraction,
        (true, true, true) => Rest::Zeros,
    };
    (number, rest)
}

/// What follows the whole part of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    Nothing,
    /// A fraction that is not 0.
    Fraction,
    /// A fraction that ends in 0, and may be 0.
    Zeros,
    /// This is no number of at most eight digits before the point and 15 characters.
    Unknown,
}

/// A bit for each byte that is no digit.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(unsafe_code, reason = "instructions that every x86-64 has")]
fn others(bytes: &[u8; 16]) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is a part of x86-64, and 16 bytes are read from a reference to 16.
    unsafe {
        let digits = _mm_sub_epi8(_mm_loadu_si128(bytes.as_ptr().cast()), _mm_set1_epi8(b'0' as i8));
        let small = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
        !_mm_movemask_epi8(small) as u32 & 0xffff
    }
}

/// A bit for each byte that is no digit.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn others(bytes: &[u8; 16]) -> u32 {
    bytes.iter().enumerate().fold(0, |bits, (at, byte)| bits | u32::from(!byte.is_ascii_digit()) << at)
}

/// The digits of a number of 1 to 16 characters, a byte each, and how many of them stand after the point (at most 15);
/// nothing where there is more to it than digits and a point.
#[inline]
fn short(text: &[u8]) -> Option<(u128, usize)> {
    let word = |at: usize| text[at..].first_chunk().map_or(0, |word| u64::from_be_bytes(*word));
    let half = |at: usize| text[at..].first_chunk().map_or(0, |half| u32::from_be_bytes(*half));
    match text.len() {
        // Pieces that overlap where the length is none of theirs. The last character comes to stand in the lowest byte,
        // and zeros before the first.
        length @ 1..=3 => {
            let byte = |at: usize, shift: usize| u64::from(text[at]) << (8 * shift);
            let all = byte(0, length - 1) | byte(length / 2, length - 1 - length / 2) | byte(length - 1, 0);
            one_word(all ^ ZEROS >> (64 - 8 * length))
        }
        length @ 4..=8 => {
            let all = u64::from(half(0)) << (8 * (length - 4)) | u64::from(half(length - 4));
            one_word(all ^ ZEROS >> (64 - 8 * length))
        }
        length @ 9..=16 => two_words((word(0) ^ ZEROS) >> (8 * (16 - length)), word(length - 8) ^ ZEROS),
        _ => None,
    }
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// What a point becomes when '0' is taken away.
const POINT: u8 = b'.' ^ b'0';

#[inline]
fn one_word(digits: u64) -> Option<(u128, usize)> {
    let others = not_digits(digits);
    let (digits, places) = if others == 0 { (digits, 0) } else { without_point(digits, others)? };
    Some((u128::from(digits), places))
}

#[inline]
fn two_words(high: u64, low: u64) -> Option<(u128, usize)> {
    let (high, low, places) = match (not_digits(high), not_digits(low)) {
        (0, 0) => (u128::from(high) << 64, low, 0),
        (0, others) => {
            let (low, places) = without_point(low, others)?;
            (u128::from(high) << 56, low, places)
        }
        (others, 0) => {
            let (high, places) = without_point(high, others)?;
            (u128::from(high) << 64, low, places + 8)
        }
        _ => return None,
    };
    Some((high | u128::from(low), places))
}

/// The seven digits of eight characters of which one is the point, and how many of them stand after it. `others` marks what
/// is no digit: nothing, if that is more than the point.
#[inline]
fn without_point(digits: u64, others: u64) -> Option<(u64, usize)> {
    let point = others.trailing_zeros() - 7;
    if others & (others - 1) != 0 || (digits >> point) as u8 != POINT {
        return None;
    }
    let after = digits & ((1 << point) - 1);
    let before = digits & !(u64::MAX >> (63 - point) | 0xff << point);
    Some((before >> 8 | after, point as usize / 8))
}

/// The high bit of each byte that is more than 9.
#[inline]
fn not_digits(word: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    (((word & !HIGH) + LOW * 0x76) | word) & HIGH
}
