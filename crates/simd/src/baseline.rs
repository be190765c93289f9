//! Operations by the instructions that every CPU of its kind has: for what is too small to be dispatched.

use crate::sizes::{DIGITS, VECTOR};

/// Which bytes equal `byte`: bit `n` speaks of byte `n`.
///
/// ```
/// assert_eq!(tamias_simd::equal(&[b'\\'; 64], b'\\'), u64::MAX);
/// ```
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(unsafe_code, reason = "instructions that every x86-64 has")]
pub fn equal(bytes: &[u8; VECTOR], byte: u8) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    let (quarters, _) = bytes.as_chunks::<16>();
    quarters.iter().rev().fold(0, |bits, quarter| {
        // SAFETY: SSE2 is a part of x86-64; 16 bytes are read from a reference to 16.
        let equal = unsafe {
            let bytes = _mm_loadu_si128(quarter.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8)))
        };
        bits << 16 | u64::from(equal.cast_unsigned())
    })
}

/// Which bytes equal `byte`: bit `n` speaks of byte `n`.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn equal(bytes: &[u8; VECTOR], byte: u8) -> u64 {
    crate::words::same(bytes, &[byte; VECTOR])
}

/// A bit for each byte that is no digit.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(unsafe_code, reason = "instructions that every x86-64 has")]
pub(crate) fn not_digits(bytes: &[u8; DIGITS]) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is a part of x86-64; 16 bytes are read from a reference to 16.
    let digits = unsafe {
        let digits = _mm_sub_epi8(_mm_loadu_si128(bytes.as_ptr().cast()), _mm_set1_epi8(b'0' as i8));
        _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits))
    };
    !digits as u32 & 0xffff
}

/// A bit for each byte that is no digit.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn not_digits(bytes: &[u8; DIGITS]) -> u32 {
    bytes.iter().enumerate().fold(0, |bits, (at, byte)| bits | u32::from(!byte.is_ascii_digit()) << at)
}

/// Asks for the bytes at `at` to be brought near, for they will be read soon. A hint: any place will do, outside the slice too.
#[inline(always)]
pub fn prefetch(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "an instruction that every x86-64 has")]
        // SAFETY: nothing is read in the sense of the language, and no address faults.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(at).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}
