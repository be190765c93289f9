use super::ValidateError;
use super::walk::{self, Task};

/// How many zeros follow a document in the buffer, so that a block can be read at each of its bytes.
pub(super) const PADDING: usize = 64;

/// Looks at a block of bytes at a time.
pub(super) trait Blocks: Copy {
    /// Where bytes are that cannot stand in a string as they are, quotes, backslashes and control characters: a bit
    /// each, the lowest for the first byte.
    fn special(self, block: &[u8; PADDING]) -> u64;
}

/// Whose blocks are looked at. Only [`Kernel::available`] makes those that need more than any CPU has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    Words(Words),
}

impl Kernel {
    /// What this CPU can run, the fastest first.
    pub(super) fn available() -> impl Iterator<Item = Kernel> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [x86::Avx512::detect().map(Kernel::Avx512), x86::Avx2::detect().map(Kernel::Avx2)];
        #[cfg(not(target_arch = "x86_64"))]
        let vectors = [None; 0];
        vectors.into_iter().flatten().chain([Kernel::Words(Words)])
    }

    #[inline]
    pub(super) fn best() -> Kernel {
        Kernel::available().next().unwrap_or(Kernel::Words(Words))
    }

    /// [`walk::minify`] with the blocks of this kernel.
    pub(super) fn minify(self, task: Task<'_>) -> Result<usize, ValidateError> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(avx512) => x86::minify_avx512(avx512, task),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(avx2) => x86::minify_avx2(avx2, task),
            Kernel::Words(words) => walk::minify(words, task),
        }
    }
}

/// Eight bytes at a time in a 64-bit word, for any CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words;

impl Blocks for Words {
    #[inline(always)]
    fn special(self, block: &[u8; PADDING]) -> u64 {
        const ONES: u64 = u64::MAX / 0xff;
        const TOPS: u64 = ONES << 7;
        // The top bit of each byte that is zero. Exact: no carry leaves a byte.
        let zeros = |word: u64| !(((word & !TOPS) + !TOPS) | word | !TOPS);
        let (words, _) = block.as_chunks::<8>();
        words.iter().enumerate().fold(0, |special, (index, word)| {
            let word = u64::from_le_bytes(*word);
            let quote = zeros(word ^ (ONES * u64::from(b'"')));
            let backslash = zeros(word ^ (ONES * u64::from(b'\\')));
            let control = zeros(word & (ONES * 0xe0));
            let tops = (quote | backslash | control) >> 7;
            // Gathers the eight bits into the top byte.
            special | (tops.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * index)
        })
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector instructions, after detection, on a block of known size")]
mod x86 {
    use super::super::ValidateError;
    use super::super::walk::{self, Task};
    use super::{Blocks, PADDING};
    use std::arch::x86_64::*;

    /// Shifts and trailing zeros are cheaper with these, and every CPU with AVX2 has them.
    fn has_bit_instructions() -> bool {
        is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")
    }

    /// Witness that the CPU has AVX-512 with byte masks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in super::super) struct Avx512(());

    impl Avx512 {
        pub(super) fn detect() -> Option<Avx512> {
            let has = is_x86_feature_detected!("avx512bw") && has_bit_instructions();
            has.then_some(Avx512(()))
        }
    }

    impl Blocks for Avx512 {
        #[inline(always)]
        fn special(self, block: &[u8; PADDING]) -> u64 {
            // SAFETY: the witness is only made where the CPU has AVX-512BW.
            unsafe { special_avx512(block) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn special_avx512(block: &[u8; PADDING]) -> u64 {
        // SAFETY: the block has the 64 bytes that are read.
        let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let quote = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'"' as i8));
        let backslash = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\\' as i8));
        let control = _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20));
        quote | backslash | control
    }

    pub(super) fn minify_avx512(avx512: Avx512, task: Task<'_>) -> Result<usize, ValidateError> {
        #[target_feature(enable = "avx512bw,bmi1,bmi2")]
        fn shell(avx512: Avx512, task: Task<'_>) -> Result<usize, ValidateError> {
            walk::minify(avx512, task)
        }
        // SAFETY: the witness is only made where the CPU has what the shell needs.
        unsafe { shell(avx512, task) }
    }

    /// Witness that the CPU has AVX2.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in super::super) struct Avx2(());

    impl Avx2 {
        pub(super) fn detect() -> Option<Avx2> {
            let has = is_x86_feature_detected!("avx2") && has_bit_instructions();
            has.then_some(Avx2(()))
        }
    }

    impl Blocks for Avx2 {
        #[inline(always)]
        fn special(self, block: &[u8; PADDING]) -> u64 {
            // SAFETY: the witness is only made where the CPU has AVX2.
            unsafe { special_avx2(block) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn special_avx2(block: &[u8; PADDING]) -> u64 {
        let special = |half: &[u8; 32]| {
            // SAFETY: the half has the 32 bytes that are read.
            let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            let quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
            let backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\' as i8));
            let control =
                _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, _mm256_set1_epi8(0x1f)), _mm256_set1_epi8(0x1f));
            let special = _mm256_or_si256(control, _mm256_or_si256(quote, backslash));
            u64::from(_mm256_movemask_epi8(special).cast_unsigned())
        };
        match block.as_chunks() {
            ([low, high], _) => special(low) | special(high) << 32,
            _ => 0,
        }
    }

    pub(super) fn minify_avx2(avx2: Avx2, task: Task<'_>) -> Result<usize, ValidateError> {
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn shell(avx2: Avx2, task: Task<'_>) -> Result<usize, ValidateError> {
            walk::minify(avx2, task)
        }
        // SAFETY: the witness is only made where the CPU has what the shell needs.
        unsafe { shell(avx2, task) }
    }
}
