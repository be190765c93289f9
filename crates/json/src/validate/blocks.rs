use super::ValidateError;
use super::walk::{self, Task};
use crate::classify::{BLOCK, Portable, Swar};
use crate::isa::{Isa, Level};

/// How many zeros follow a document in the buffer, so that a block can be read at each of its bytes.
pub(super) const PADDING: usize = BLOCK;

/// Looks at a block of bytes at a time. Holding a kernel is the proof that the CPU can run it.
pub(super) trait Blocks: Copy {
    /// Where bytes are that cannot stand in a string as they are, quotes, backslashes and control characters: a bit
    /// each, the lowest for the first byte.
    fn special(self, block: &[u8; BLOCK]) -> u64;
}

/// [`walk::minify`] with the blocks of a kernel.
pub(super) fn minify(isa: Isa, task: Task<'_>) -> Result<usize, ValidateError> {
    match isa.level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(avx512) => x86::minify_avx512(avx512, task),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => x86::minify_avx2(avx2, task),
        Level::Swar(swar) => walk::minify(swar, task),
        Level::Portable(portable) => walk::minify(portable, task),
    }
}

impl Blocks for Portable {
    fn special(self, block: &[u8; BLOCK]) -> u64 {
        let is_special = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
        block.iter().rev().fold(0, |special, byte| special << 1 | u64::from(is_special(byte)))
    }
}

impl Blocks for Swar {
    #[inline(always)]
    fn special(self, block: &[u8; BLOCK]) -> u64 {
        const LOW: u64 = 0x0101_0101_0101_0101;
        const HIGH: u64 = 0x8080_8080_8080_8080;
        // The high bit of each byte that is zero; exact, no byte disturbs its neighbour.
        let zeros = |word: u64| !(((word & !HIGH) + !HIGH) | word) & HIGH;
        let (words, _) = block.as_chunks::<8>();
        words.iter().enumerate().fold(0, |special, (index, word)| {
            let word = u64::from_le_bytes(*word);
            let quote = zeros(word ^ (LOW * u64::from(b'"')));
            let backslash = zeros(word ^ (LOW * u64::from(b'\\')));
            let control = zeros(word & (LOW * 0xe0));
            // The eight high bits, gathered.
            let bits = ((quote | backslash | control) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            special | bits << (8 * index)
        })
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector instructions, on a CPU that was asked for them")]
mod x86 {
    use super::{BLOCK, Blocks, Task, ValidateError, walk};
    use crate::classify::{Avx2, Avx512};
    use std::arch::x86_64::*;

    impl Blocks for Avx512 {
        #[inline(always)]
        fn special(self, block: &[u8; BLOCK]) -> u64 {
            // SAFETY: the witness says that the CPU has these instructions; 64 bytes are read from a reference to 64.
            unsafe {
                let bytes = _mm512_loadu_si512(block.as_ptr().cast());
                let quotes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'"' as i8));
                let backslashes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\\' as i8));
                quotes | backslashes | _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(b' ' as i8))
            }
        }
    }

    pub(super) fn minify_avx512(avx512: Avx512, task: Task<'_>) -> Result<usize, ValidateError> {
        #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
        fn shell(avx512: Avx512, task: Task<'_>) -> Result<usize, ValidateError> {
            walk::minify(avx512, task)
        }
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe { shell(avx512, task) }
    }

    impl Blocks for Avx2 {
        #[inline(always)]
        fn special(self, block: &[u8; BLOCK]) -> u64 {
            // A function rather than a closure: a closure would be compiled without these instructions.
            #[inline]
            #[target_feature(enable = "avx2")]
            fn special(block: &[u8; BLOCK], half: usize) -> u64 {
                // SAFETY: 32 bytes are read from one of the two halves of 64.
                let bytes = unsafe { _mm256_loadu_si256(block.as_ptr().add(32 * (half & 1)).cast()) };
                let quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
                let backslashes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\' as i8));
                // No more than 0x1f, unsigned.
                let last = _mm256_set1_epi8(0x1f);
                let controls = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, last), last);
                let special = _mm256_or_si256(controls, _mm256_or_si256(quotes, backslashes));
                u64::from(_mm256_movemask_epi8(special).cast_unsigned())
            }
            // SAFETY: the witness says that the CPU has these instructions.
            unsafe { special(block, 0) | special(block, 1) << 32 }
        }
    }

    pub(super) fn minify_avx2(avx2: Avx2, task: Task<'_>) -> Result<usize, ValidateError> {
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn shell(avx2: Avx2, task: Task<'_>) -> Result<usize, ValidateError> {
            walk::minify(avx2, task)
        }
        // SAFETY: the witness says that the CPU has these instructions.
        unsafe { shell(avx2, task) }
    }
}
