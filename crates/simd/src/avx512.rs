//! 64 bytes in one register, entries made eight at a time: x86-64 with AVX-512 VBMI2 (Ice Lake and Zen 4 on).
#![expect(unsafe_code, reason = "vector instructions, on a CPU that was asked for them")]

use std::arch::x86_64::*;

use crate::avx2;
use crate::marks::{Marks, Masks};
use crate::room::Room;
use crate::several::{Standing, Whole};
use crate::sink::Sink;
use crate::sizes::{DIGITS, NUMBERS, SEVERAL, VECTOR};
use crate::vector::Vector;

/// Made only where the CPU has all that [`Avx512::detect`] asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The witness, where the CPU can.
    pub(crate) fn detect() -> Option<Avx512> {
        let able = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("fma");
        able.then_some(Avx512(()))
    }
}

/// The bytes 0 to 63: compressed by a mask, they are the positions of its bits.
static POSITIONS: [u8; VECTOR] = {
    let mut bytes = [0; VECTOR];
    let mut at = 0;
    while at < VECTOR {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
};

/// The eight bytes of each word in reverse.
static SWAPPED: [u8; VECTOR] = {
    let mut bytes = [0; VECTOR];
    let mut at = 0;
    while at < VECTOR {
        bytes[at] = (at as u8 & 8) + 7 - (at as u8 & 7);
        at += 1;
    }
    bytes
};

// Functions with the instructions, and no closures: a closure is a function without them, and calls each of them wherever it is not
// inlined itself.

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; VECTOR]) -> __m512i {
    // SAFETY: 64 bytes are read from a reference to 64.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The bytes that equal `byte`.
#[inline]
#[target_feature(enable = "avx512bw")]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8))
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn sort(bytes: __m512i) -> Masks {
    // '[' and ']' are '{' and '}' without the bit 0x20.
    let folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    let brackets = equal(folded, b'{') | equal(folded, b'}');
    Masks {
        quotes: equal(bytes, b'"'),
        backslashes: equal(bytes, b'\\'),
        colons: equal(bytes, b':'),
        delimiters: equal(bytes, b',') | brackets,
        brackets,
    }
}

/// The lowest bit of each word.
#[inline]
#[target_feature(enable = "avx512f")]
fn lowest(words: __m512i) -> __m512i {
    _mm512_and_si512(words, _mm512_sub_epi64(_mm512_setzero_si512(), words))
}

/// Eight entries, of the first eight starts and ends of sixteen.
#[inline]
#[target_feature(enable = "avx512f")]
fn lower_eight(starts: __m512i, ends: __m512i, bases: __m512i) -> __m512i {
    let (starts, ends) = (_mm512_castsi512_si128(starts), _mm512_castsi512_si128(ends));
    _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm_unpacklo_epi8(starts, ends)), bases)
}

/// Eight entries, of the last eight starts and ends of sixteen.
#[inline]
#[target_feature(enable = "avx512f")]
fn upper_eight(starts: __m512i, ends: __m512i, bases: __m512i) -> __m512i {
    let (starts, ends) = (_mm512_castsi512_si128(starts), _mm512_castsi512_si128(ends));
    _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm_unpackhi_epi8(starts, ends)), bases)
}

/// Eight numbers, given by their first and their second eight bytes, compared with a whole one.
#[inline]
#[target_feature(enable = "avx512bw")]
fn compare(first: __m512i, second: __m512i, whole: Whole) -> Standing {
    let first_digits = _mm512_xor_si512(first, _mm512_set1_epi8(b'0' as i8));
    let second_digits = _mm512_xor_si512(second, _mm512_set1_epi8(b'0' as i8));
    let nine = _mm512_set1_epi8(9);
    let others = _mm512_movm_epi8(_mm512_cmpgt_epu8_mask(first_digits, nine));
    let end = lowest(others);
    let points = _mm512_movm_epi8(equal(first, b'.'));
    let has_point = _mm512_test_epi64_mask(points, end);
    // The fraction, if there is one, ends where the next byte is that is no digit.
    let point = _mm512_sub_epi64(_mm512_slli_epi64::<8>(end), end);
    let others = _mm512_mask_andnot_epi64(others, has_point, point, others);
    let is_near = _mm512_test_epi64_mask(others, others);
    let far = _mm512_movm_epi8(_mm512_cmpgt_epu8_mask(second_digits, nine));
    let last = lowest(_mm512_mask_blend_epi64(is_near, far, others));
    let text = _mm512_mask_blend_epi64(is_near, second, first);
    let stops = _mm512_movm_epi8(equal(text, b',') | equal(text, b'}'));
    let is_ended = _mm512_test_epi64_mask(stops, last);
    // Without a digit the end is the lowest byte; of eight and more it is not among the first.
    let one = _mm512_set1_epi64(1);
    let has_few = _mm512_cmpgt_epu64_mask(end, one);
    // The first digit to the highest byte.
    let digits = _mm512_and_si512(first_digits, _mm512_sub_epi64(end, one));
    let digits = _mm512_shuffle_epi8(digits, load(&SWAPPED));
    let (whole_digits, whole_end) =
        (_mm512_set1_epi64(whole.digits as i64), _mm512_set1_epi64(whole.end as i64));
    let has_as_many = _mm512_cmpeq_epi64_mask(end, whole_end);
    let is_equal = _mm512_mask_cmpeq_epi64_mask(has_as_many, digits, whole_digits);
    let is_greater = _mm512_cmpgt_epu64_mask(end, whole_end)
        | _mm512_mask_cmpgt_epu64_mask(has_as_many, digits, whole_digits);
    Standing { is_told: is_ended & has_few & !(has_point & is_equal), is_equal, is_greater }
}

impl Vector for Avx512 {
    const FUSES: bool = true;

    const COMPARES_SEVERAL: bool = true;

    #[inline(always)]
    fn classify(self, bytes: &[u8; VECTOR]) -> Masks {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe { sort(load(bytes)) }
    }

    #[inline(always)]
    fn classify_last(self, bytes: &[u8], at: usize) -> Masks {
        let tail = &bytes[at..];
        // SAFETY: the witness says that the CPU has these instructions. A masked load touches none but the bytes of its mask: those of the
        // tail.
        unsafe { sort(_mm512_maskz_loadu_epi8(_bzhi_u64(u64::MAX, tail.len() as u32), tail.as_ptr().cast())) }
    }

    #[inline(always)]
    fn equal(self, bytes: &[u8; VECTOR], byte: u8) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe { equal(load(bytes), byte) }
    }

    #[inline(always)]
    fn same(self, a: &[u8; VECTOR], b: &[u8; VECTOR]) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe { _mm512_cmpeq_epi8_mask(load(a), load(b)) }
    }

    #[inline(always)]
    fn both(self, a: &[u8; VECTOR], x: u8, b: &[u8; VECTOR], y: u8) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe { _mm512_mask_cmpeq_epi8_mask(equal(load(a), x), load(b), _mm512_set1_epi8(y as i8)) }
    }

    #[inline(always)]
    fn begins(self, bytes: &[u8; VECTOR]) -> u64 {
        // As signed numbers, the bytes that continue a character are the least.
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe { _mm512_cmpgt_epi8_mask(load(bytes), _mm512_set1_epi8(-65)) }
    }

    #[inline(always)]
    fn special(self, bytes: &[u8; VECTOR]) -> u64 {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            let bytes = load(bytes);
            let controls = _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(b' ' as i8));
            equal(bytes, b'"') | equal(bytes, b'\\') | controls
        }
    }

    #[inline(always)]
    fn count_up_to(self, numbers: &[[u8; 4]; NUMBERS], most: u32) -> usize {
        // SAFETY: the witness says that the CPU has these instructions; 64 bytes are read from a reference to 16 times 4.
        unsafe {
            let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
            _mm512_cmple_epu32_mask(numbers, _mm512_set1_epi32(most as i32)).count_ones() as usize
        }
    }

    #[inline(always)]
    fn compare_several(
        self,
        bytes: &[u8],
        places: &[u32; SEVERAL],
        behind: usize,
        whole: Whole,
    ) -> Option<Standing> {
        let furthest = places.iter().fold(0, |furthest, place| furthest.max(*place)) as usize;
        if furthest.checked_add(behind)?.checked_add(16)? > bytes.len() || furthest > i32::MAX as usize {
            return None;
        }
        // SAFETY: the witness says that the CPU has these instructions. 8 places are read from a reference to as many; from behind each
        // of them on there are 16 bytes, and a place is no negative index.
        unsafe {
            let at = _mm256_loadu_si256(places.as_ptr().cast());
            let from = bytes.as_ptr().add(behind);
            let first = _mm512_i32gather_epi64::<1>(at, from.cast());
            let second = _mm512_i32gather_epi64::<1>(at, from.add(8).cast());
            Some(compare(first, second, whole))
        }
    }

    #[inline(always)]
    fn decimal(self, text: &[u8; DIGITS], length: usize) -> Option<(u64, u32)> {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe { avx2::decimal(text, length) }
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
        let Marks { base, structural, delimiters, brackets } = marks;
        let count = delimiters.count_ones() as usize;
        // SAFETY: the witness says that the CPU has these instructions. Room was claimed; eight entries are written while there are more,
        // and at first in any case, and so with 32 brackets. The registers' bytes make entries, and indices.
        unsafe {
            // For each delimiter the structural byte before it, moved on by one: the bit 0 stands for one in an earlier vector.
            let values = _pdep_u64(_pext_u64(delimiters, structural), structural << 1 | 1);
            let of_brackets = _pext_u64(brackets, delimiters);
            // Compressed in a register and with a source: into memory, or with zeroing, it is many times slower on Zen.
            let all = load(&POSITIONS);
            let mut ends = _mm512_mask_compress_epi8(all, delimiters, all);
            let mut starts = _mm512_mask_compress_epi8(all, values, all);

            let bases = _mm512_set1_epi32(base as i32);
            // Most vectors of most documents have no more than eight.
            let eight = lower_eight(starts, ends, bases);
            sink.put(0, _mm512_mask_set1_epi32(eight, values as u16 & 1, sink.value() as i32));
            if count > 8 {
                sink.put(8, upper_eight(starts, ends, bases));
                let mut done = 16;
                while done < count {
                    ends = _mm512_alignr_epi64::<2>(ends, ends);
                    starts = _mm512_alignr_epi64::<2>(starts, starts);
                    sink.put(done, lower_eight(starts, ends, bases));
                    sink.put(done + 8, upper_eight(starts, ends, bases));
                    done += 16;
                }
            }

            let count_brackets = of_brackets.count_ones() as usize;
            if of_brackets != 0 {
                let ranks = _mm512_mask_compress_epi8(all, of_brackets, all);
                let index = _mm512_set1_epi16(sink.count() as i16);
                let first = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(ranks));
                sink.put_brackets(0, _mm512_add_epi16(first, index));
                if count_brackets > 32 {
                    let others = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(ranks));
                    sink.put_brackets(32, _mm512_add_epi16(others, index));
                }
            }
            sink.moved(marks, count, count_brackets);
        }
    }

    #[inline(always)]
    fn put_positions(self, mask: u64, base: u32, room: &mut Room<'_, u32>) {
        room.claim();
        let found = mask.count_ones() as usize;
        // SAFETY: the witness says that the CPU has these instructions. Room was claimed; 16 places are written while there are more, and
        // at first in any case. The registers' bytes make places.
        unsafe {
            let bases = _mm512_set1_epi32(base as i32);
            let all = load(&POSITIONS);
            let mut places = _mm512_mask_compress_epi8(all, mask, all);
            let mut done = 0;
            loop {
                let sixteen = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
                room.put(done, _mm512_add_epi32(sixteen, bases));
                done += 16;
                // Most vectors of most documents have no more.
                if done >= found {
                    break;
                }
                places = _mm512_alignr_epi64::<2>(places, places);
            }
            room.moved(found);
        }
    }
}
