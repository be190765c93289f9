//! Numbers of few digits, many digits at a time.

use super::text::{Text, Words};
use crate::value::few_digits;

/// As [`few_digits`], of the number from `start` up to `end`.
#[inline(always)]
pub(super) fn at(documents: &[u8], start: usize, end: usize) -> Option<(i64, u32)> {
    let is_negative = documents.get(start) == Some(&b'-');
    let start_of_digits = start + usize::from(is_negative);
    let words = Words::of_short(documents, start_of_digits, end);
    match words.and_then(|words| without_sign(words, end - start_of_digits)) {
        Some((significand, scale)) => Some((if is_negative { -significand } else { significand }, scale)),
        None => few_digits(documents.get(start..end)?),
    }
}

/// As [`few_digits`].
pub(super) fn of(number: &Text<'_>) -> Option<(i64, u32)> {
    let short = Some(number.words).filter(|_| number.is_short());
    short.and_then(|words| without_sign(words, number.bytes.len())).or_else(|| few_digits(number.bytes))
}

/// The number of at most 16 digits, of which a point may be one.
#[inline(always)]
fn without_sign(words: Words, digits: usize) -> Option<(i64, u32)> {
    let [low, high] = words.halves();
    match digits {
        1..=8 => up_to_8(low << (8 * (8 - digits)), digits),
        9..=15 => {
            let behind = 8 * (16 - digits);
            up_to_16([low << behind, high << behind | low >> (64 - behind)], digits)
        }
        16 => up_to_16([low, high], 16),
        _ => None,
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const ZEROS: u64 = ONES * b'0' as u64;

/// The number at the end of eight bytes, of which the first stand before it.
#[inline(always)]
fn up_to_8(bytes: u64, digits: usize) -> Option<(i64, u32)> {
    let before = 8 * (8 - digits);
    // In place of what stands before come zeros.
    let text = bytes & u64::MAX << before | ZEROS & !(u64::MAX << before);
    let point = first_point(text);
    // The bytes up to the point; none where there is none. Whether there is one is not to be guessed: no branch.
    let up_to = (point ^ point.wrapping_sub(1)) & u64::from(point == 0).wrapping_sub(1);
    // Those before it move up over it.
    let text = text & !up_to | (text << 8 | u64::from(b'0')) & up_to;
    Some((value_of(text)?, 7u32.saturating_sub(point.trailing_zeros() / 8)))
}

/// The same of sixteen.
#[inline(always)]
fn up_to_16([low, high]: [u64; 2], digits: usize) -> Option<(i64, u32)> {
    let before = 8 * (16 - digits);
    let (mut low, mut high) = (low & u64::MAX << before | ZEROS & !(u64::MAX << before), high);
    let mut scale = 0;
    let (in_low, in_high) = (first_point(low), first_point(high));
    if in_high != 0 {
        let at = in_high.trailing_zeros() / 8;
        scale = 7 - at;
        let behind = (u64::MAX << (8 * at)) << 8;
        high = high & behind | (high << 8 | low >> 56) & !behind;
        low = low << 8 | u64::from(b'0');
    } else if in_low != 0 {
        let at = in_low.trailing_zeros() / 8;
        scale = 15 - at;
        let behind = (u64::MAX << (8 * at)) << 8;
        low = low & behind | (low << 8 | u64::from(b'0')) & !behind;
    }
    Some((value_of(low)? * 100_000_000 + value_of(high)?, scale))
}

/// The lowest of its bits is the highest of the first point's.
#[inline(always)]
fn first_point(text: u64) -> u64 {
    let others = text ^ (ONES * u64::from(b'.'));
    others.wrapping_sub(ONES) & !others & ONES << 7
}

/// What eight digits come to; none if they are none.
#[inline(always)]
fn value_of(text: u64) -> Option<i64> {
    const UPPER: u64 = ONES * 0xf0;
    // A digit has 3 in its upper half, and still has when 6 is added. No carry leaves a byte that has.
    let others = (text & UPPER ^ ZEROS) | (text.wrapping_add(ONES * 6) & UPPER ^ ZEROS);
    if others != 0 {
        return None;
    }
    let ones = text & (ONES * 0x0f);
    let pairs = ones.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(10_000 << 32 | 1) >> 32) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_at_a_time_are_as_one_by_one(
            before in "[\":,.0-9a-z]{16}", number in "-?[0-9]{1,20}([.][0-9]{1,9})?([eE][+-]?[0-9]{1,2})?", after in "[,}.0-9]{0,9}"
        ) {
            let text = format!("{before}{number}{after}");
            let end = before.len() + number.len();
            prop_assert_eq!(at(text.as_bytes(), before.len(), end), few_digits(number.as_bytes()));
        }

        #[test]
        fn any_bytes_may_be_read(bytes in prop::collection::vec(any::<u8>(), 0..40), start in 0usize..50, end in 0usize..50) {
            at(&bytes, start, end);
        }
    }
}
