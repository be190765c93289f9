//! Eight bytes in a word, each of which is told something in its high bit.

use crate::sizes::VECTOR;

pub(crate) const LOW: u64 = 0x0101_0101_0101_0101;
pub(crate) const HIGH: u64 = LOW << 7;

/// Bit `n` from the high bit of byte `n`; the other bits are 0.
#[inline(always)]
pub(crate) fn gather(high_bits: u64) -> u64 {
    high_bits.wrapping_mul(0x0002_0408_1020_4081) >> 56
}

/// The high bit of each byte that is 0; exact, no byte disturbs its neighbour.
#[inline(always)]
pub(crate) fn zeros(word: u64) -> u64 {
    !(((word & !HIGH) + !HIGH) | word) & HIGH
}

/// Which bytes of two vectors are the same.
#[inline(always)]
pub(crate) fn same(a: &[u8; VECTOR], b: &[u8; VECTOR]) -> u64 {
    let pairs = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).enumerate();
    pairs.fold(0, |mask, (at, (a, b))| {
        let differences = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        mask | gather(zeros(differences)) << (at * 8)
    })
}

/// How many of eight bytes are digits before the first that is none.
///
/// ```
/// assert_eq!(tamias_simd::leading_digits(b"2024-05-"), 4);
/// ```
#[inline(always)]
pub fn leading_digits(bytes: &[u8; 8]) -> usize {
    const UPPER: u64 = LOW * 0xf0;
    const DIGIT: u64 = LOW * 0x30;
    let word = u64::from_le_bytes(*bytes);
    // A digit has 3 in its upper half, and still has when 6 is added. A carry out of a byte reaches only bytes above it, and a byte of
    // 0xfa or more is no digit itself.
    let other = ((word & UPPER) ^ DIGIT) | ((word.wrapping_add(LOW * 6) & UPPER) ^ DIGIT);
    other.trailing_zeros() as usize / 8
}
