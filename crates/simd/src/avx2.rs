//! 64 bytes in two registers of 32, entries made one by one: x86-64 with AVX2, FMA and BMI2 (Haswell and Zen on).
#![expect(unsafe_code, reason = "vector instructions, on a CPU that was asked for them")]

use std::arch::asm;
use std::arch::x86_64::*;

use crate::entry::Entry;
use crate::marks::{Marks, Masks};
use crate::sink::Sink;
use crate::sizes::{DIGITS, NUMBERS, VECTOR};
use crate::vector::Vector;

/// Made only where the CPU has all that [`Avx2::detect`] asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The witness, where the CPU can.
    pub(crate) fn detect() -> Option<Avx2> {
        let able = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("fma");
        able.then_some(Avx2(()))
    }
}

/// The same bits, as a value that the optimiser takes as given. Else it moves the making of a mask to where it is used,
/// past branches, and takes vectors apart byte by byte on the way: four times slower.
#[inline(always)]
fn settled(mask: u64) -> u64 {
    let mut mask = mask;
    // SAFETY: no instruction at all.
    unsafe { asm!("/* {0} */", inout(reg) mask, options(nomem, nostack, preserves_flags)) };
    mask
}

/// 16 bytes from one of its places on are 0 at first, then 255.
const STEP: [u8; 33] = {
    let mut bytes = [0; 33];
    let mut at = 17;
    while at < 33 {
        bytes[at] = 255;
        at += 1;
    }
    bytes
};

/// 16 bytes that are 255 from the `from`th on, which may be 0 to 16.
#[inline(always)]
fn step(from: usize) -> __m128i {
    // SAFETY: 16 bytes are read at a place of at most 17 of 33.
    unsafe { _mm_loadu_si128(STEP.as_ptr().add(17 - from.min(DIGITS)).cast()) }
}

// Functions with the instructions, and no closures: a closure is a function without them, and calls each of them wherever it is not
// inlined itself.

/// What [`Vector::decimal`] gives, in one register.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(crate) fn decimal(text: &[u8; DIGITS], length: usize) -> Option<(u64, u32)> {
    let nothing = _mm_setzero_si128();
    // SAFETY: 16 bytes are read from a reference to 16.
    let text = unsafe { _mm_loadu_si128(text.as_ptr().cast()) };
    let text = _mm_sub_epi8(text, _mm_set1_epi8(b'0' as i8));
    let text = _mm_and_si128(text, step(DIGITS.saturating_sub(length)));
    let digits = _mm_cmpeq_epi8(_mm_subs_epu8(text, _mm_set1_epi8(9)), nothing);
    let others = !_mm_movemask_epi8(digits) as u32 & 0xffff;
    let points = _mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(b'.' as i8 - b'0' as i8))) as u32;
    if others != points || others & others.wrapping_sub(1) != 0 {
        return None;
    }
    // What stands before the point moves on to its place.
    let behind = step(32 - others.leading_zeros() as usize);
    let digits = _mm_blendv_epi8(_mm_slli_si128::<1>(text), text, behind);
    let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
    let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
    let eights = _mm_madd_epi16(_mm_packus_epi32(fours, nothing), _mm_set1_epi32(0x0001_2710));
    let halves = _mm_cvtsi128_si64(eights) as u64;
    let scale = others.leading_zeros() % DIGITS as u32;
    Some(((halves & 0xffff_ffff) * 100_000_000 + (halves >> 32), scale))
}

/// The two halves of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(bytes: &[u8; VECTOR]) -> (__m256i, __m256i) {
    // SAFETY: both halves lie in the vector.
    unsafe { (_mm256_loadu_si256(bytes.as_ptr().cast()), _mm256_loadu_si256(bytes.as_ptr().add(32).cast())) }
}

/// The bytes that equal `byte`.
#[inline]
#[target_feature(enable = "avx2")]
fn equal(bytes: __m256i, byte: u8) -> __m256i {
    _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8))
}

/// The bytes that are curly or square brackets.
#[inline]
#[target_feature(enable = "avx2")]
fn brackets(bytes: __m256i) -> __m256i {
    // '[' and ']' are '{' and '}' without the bit 0x20.
    let folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    _mm256_or_si256(equal(folded, b'{'), equal(folded, b'}'))
}

/// The bytes that are quotes, backslashes or control characters.
#[inline]
#[target_feature(enable = "avx2")]
fn special(bytes: __m256i) -> __m256i {
    // No more than 0x1f, unsigned.
    let last = _mm256_set1_epi8(0x1f);
    let controls = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, last), last);
    _mm256_or_si256(controls, _mm256_or_si256(equal(bytes, b'"'), equal(bytes, b'\\')))
}

/// The high bits of the bytes of both halves.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(low: __m256i, high: __m256i) -> u64 {
    let (low, high) = (_mm256_movemask_epi8(low) as u32, _mm256_movemask_epi8(high) as u32);
    settled(u64::from(low) | u64::from(high) << 32)
}

/// How many of eight numbers are at most `most`.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn count_up_to(numbers: __m256i, most: __m256i) -> usize {
    let is_up_to = _mm256_cmpeq_epi32(_mm256_max_epu32(numbers, most), most);
    _mm256_movemask_ps(_mm256_castsi256_ps(is_up_to)).count_ones() as usize
}

impl Vector for Avx2 {
    const FUSES: bool = true;

    #[inline(always)]
    fn classify(self, bytes: &[u8; VECTOR]) -> Masks {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            let (low, high) = halves(bytes);
            let (brackets_low, brackets_high) = (brackets(low), brackets(high));
            Masks {
                quotes: mask(equal(low, b'"'), equal(high, b'"')),
                backslashes: mask(equal(low, b'\\'), equal(high, b'\\')),
                colons: mask(equal(low, b':'), equal(high, b':')),
                delimiters: mask(
                    _mm256_or_si256(equal(low, b','), brackets_low),
                    _mm256_or_si256(equal(high, b','), brackets_high),
                ),
                brackets: mask(brackets_low, brackets_high),
            }
        }
    }

    #[inline(always)]
    fn equal(self, bytes: &[u8; VECTOR], byte: u8) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            let (low, high) = halves(bytes);
            mask(equal(low, byte), equal(high, byte))
        }
    }

    #[inline(always)]
    fn same(self, a: &[u8; VECTOR], b: &[u8; VECTOR]) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            let ((a_low, a_high), (b_low, b_high)) = (halves(a), halves(b));
            mask(_mm256_cmpeq_epi8(a_low, b_low), _mm256_cmpeq_epi8(a_high, b_high))
        }
    }

    #[inline(always)]
    fn both(self, a: &[u8; VECTOR], x: u8, b: &[u8; VECTOR], y: u8) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            let ((a_low, a_high), (b_low, b_high)) = (halves(a), halves(b));
            mask(
                _mm256_and_si256(equal(a_low, x), equal(b_low, y)),
                _mm256_and_si256(equal(a_high, x), equal(b_high, y)),
            )
        }
    }

    #[inline(always)]
    fn begins(self, bytes: &[u8; VECTOR]) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            // As signed numbers, the bytes that continue a character are the least.
            let (low, high) = halves(bytes);
            let least = _mm256_set1_epi8(-65);
            mask(_mm256_cmpgt_epi8(low, least), _mm256_cmpgt_epi8(high, least))
        }
    }

    #[inline(always)]
    fn special(self, bytes: &[u8; VECTOR]) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            let (low, high) = halves(bytes);
            let (low, high) = (_mm256_movemask_epi8(special(low)), _mm256_movemask_epi8(special(high)));
            u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
        }
    }

    #[inline(always)]
    fn count_up_to(self, numbers: &[[u8; 4]; NUMBERS], most: u32) -> usize {
        // SAFETY: the witness says that the CPU has these instructions; both halves lie in the 16 times 4 bytes.
        unsafe {
            let most = _mm256_set1_epi32(most as i32);
            let low = _mm256_loadu_si256(numbers.as_ptr().cast());
            let high = _mm256_loadu_si256(numbers.as_ptr().add(8).cast());
            count_up_to(low, most) + count_up_to(high, most)
        }
    }

    #[inline(always)]
    fn decimal(self, text: &[u8; DIGITS], length: usize) -> Option<(u64, u32)> {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe { decimal(text, length) }
    }

    #[inline(always)]
    fn prefix_xor(self, bits: u64) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            let product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(bits as i64), _mm_set1_epi8(-1), 0);
            _mm_cvtsi128_si64(product) as u64
        }
    }

    #[inline(always)]
    fn emit(self, marks: Marks, sink: &mut Sink<'_, '_>) {
        sink.claim();
        let Marks { base, structural, delimiters, .. } = marks;
        let count = delimiters.count_ones() as usize;
        // SAFETY: the witness says that the CPU has these instructions. Room was claimed; four entries are written while there are more,
        // and at first in any case.
        unsafe {
            let values = _pdep_u64(_pext_u64(delimiters, structural), structural << 1 | 1);
            let brackets = sink.put_brackets_of(marks);
            let (mut ends, mut starts) = (delimiters, values);
            // The first value may begin in an earlier vector.
            let first =
                if values & 1 == 1 { sink.value() } else { base.wrapping_add(starts.trailing_zeros()) };
            sink.put(0, Entry::new(first, base.wrapping_add(ends.trailing_zeros())));
            let mut done = 1;
            loop {
                for at in 0..4 {
                    starts = _blsr_u64(starts);
                    ends = _blsr_u64(ends);
                    let value = base.wrapping_add(starts.trailing_zeros());
                    sink.put(done + at, Entry::new(value, base.wrapping_add(ends.trailing_zeros())));
                }
                done += 4;
                if done >= count {
                    break;
                }
            }
            sink.moved(marks, count, brackets);
        }
    }
}
