//! 64 bytes in one register, entries made four at a time: x86-64 with AVX-512 VBMI2 (Ice Lake and Zen 4 on).
#![expect(unsafe_code, reason = "vector instructions, on a CPU that was asked for them")]

use std::arch::x86_64::*;

use super::{BLOCK, Kernel, Masks};
use crate::scan::{Marks, Sink};

/// Made only where the CPU has all that [`Avx512::detect`] asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512(());

/// The bytes 0 to 63: compressed by a mask, they are the positions of its bits.
const POSITIONS: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
};

/// Picks four entries from the positions of delimiters (indices from 0) and those of values (from 64): in each entry's four
/// 32-bit lanes the delimiter before, the value, the delimiter, and what the step becomes.
const PICK: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut entry: usize = 0;
    while entry < 4 {
        bytes[entry * 16] = (entry as u8).wrapping_sub(1);
        bytes[entry * 16 + 4] = 64 + entry as u8;
        bytes[entry * 16 + 8] = entry as u8;
        entry += 1;
    }
    bytes
};

/// The lowest byte of each of an entry's first three lanes.
const LOWEST: u64 = 0x0111_0111_0111_0111;

impl Avx512 {
    /// The witness, where the CPU can.
    pub(crate) fn detect() -> Option<Avx512> {
        let able = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        able.then_some(Avx512(()))
    }

    #[inline(always)]
    fn sort(self, bytes: __m512i) -> Masks {
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            let equal = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
            // '[' and ']' are '{' and '}' without the bit 0x20.
            let folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
            let brackets = _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8(b'{' as i8))
                | _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8(b'}' as i8));
            Masks {
                quotes: equal(b'"'),
                backslashes: equal(b'\\'),
                colons: equal(b':'),
                delimiters: equal(b',') | brackets,
                brackets,
            }
        }
    }
}

impl Kernel for Avx512 {
    #[inline(always)]
    fn classify(self, block: &[u8; BLOCK]) -> Masks {
        // SAFETY: 64 bytes are read from a reference to 64.
        self.sort(unsafe { _mm512_loadu_si512(block.as_ptr().cast()) })
    }

    #[inline(always)]
    fn classify_last(self, bytes: &[u8], at: usize) -> Masks {
        let tail = &bytes[at..];
        // SAFETY: a masked load touches none but the bytes of its mask; the tail has 1 to 63 of them.
        self.sort(unsafe {
            _mm512_maskz_loadu_epi8(_bzhi_u64(u64::MAX, tail.len() as u32), tail.as_ptr().cast())
        })
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
    fn emit(self, marks: Marks, sink: &mut Sink<'_>) {
        let Marks { base, structural, delimiters, brackets } = marks;
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe {
            let of_delimiters = _pext_u64(delimiters, structural);
            let value_starts = _pdep_u64(of_delimiters, structural << 1 | 1);
            let of_brackets = _pext_u64(brackets, delimiters);
            // Compressed in a register and with a source: into memory, or with zeroing, it is many times slower on Zen.
            let all = _mm512_loadu_si512(POSITIONS.as_ptr().cast());
            let ends = _mm512_mask_compress_epi8(all, delimiters, all);
            let values = _mm512_mask_compress_epi8(all, value_starts, all);
            let ranks = _mm512_mask_compress_epi8(all, of_brackets, all);

            // What is added to the picked positions: start, value, end, step.
            let ones = _mm512_set1_epi32(1);
            let bases = _mm512_mask_set1_epi32(ones, 0x6666, base as i32);
            let bases = _mm512_mask_set1_epi32(bases, 0x1111, base as i32 + 1);
            let mut pick = _mm512_loadu_si512(PICK.as_ptr().cast());
            let count = delimiters.count_ones() as usize;
            let mut four = |done: usize| {
                let picked = _mm512_maskz_permutex2var_epi8(LOWEST, ends, pick, values);
                sink.put_four(done, _mm512_add_epi32(picked, bases));
                pick = _mm512_add_epi8(pick, _mm512_set1_epi8(4));
            };
            // Most blocks of most documents have no more than eight.
            four(0);
            four(4);
            let mut done = 8;
            while done < count {
                four(done);
                done += 4;
            }
            sink.join(marks, value_starts);

            let index = _mm512_set1_epi32(sink.len() as i32);
            let count_brackets = brackets.count_ones() as usize;
            sink.put_brackets(
                0,
                _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(ranks)), index),
            );
            if count_brackets > 16 {
                let rest = [
                    _mm512_extracti32x4_epi32::<1>(ranks),
                    _mm512_extracti32x4_epi32::<2>(ranks),
                    _mm512_extracti32x4_epi32::<3>(ranks),
                ];
                for (at, ranks) in rest.into_iter().enumerate() {
                    if count_brackets > at * 16 + 16 {
                        sink.put_brackets(at * 16 + 16, _mm512_add_epi32(_mm512_cvtepu8_epi32(ranks), index));
                    }
                }
            }
            sink.moved(marks, count, count_brackets);
        }
    }
}
