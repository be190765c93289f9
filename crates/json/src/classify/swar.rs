//! Eight bytes at a time in an ordinary register: for machines without the instructions of the other kernels.

use super::{BLOCK, Kernel, Masks};

/// Any machine with 64-bit registers can run it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Swar;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of each byte of `word` that equals `byte`; exact, no byte disturbs its neighbour.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    let differs = word ^ (LOW * u64::from(byte));
    !(((differs & !HIGH) + !HIGH) | differs) & HIGH
}

/// The eight high bits, gathered: bit `n` from byte `n`.
#[inline(always)]
fn gather(high_bits: u64) -> u64 {
    (high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

impl Kernel for Swar {
    #[inline(always)]
    fn classify(self, block: &[u8; BLOCK]) -> Masks {
        let mut masks = Masks::default();
        let (words, _) = block.as_chunks::<8>();
        for (at, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let shift = at * 8;
            // '[' and ']' are '{' and '}' without the bit 0x20.
            let folded = word | (LOW * 0x20);
            let brackets = equal(folded, b'{') | equal(folded, b'}');
            masks.quotes |= gather(equal(word, b'"')) << shift;
            masks.backslashes |= gather(equal(word, b'\\')) << shift;
            masks.colons |= gather(equal(word, b':')) << shift;
            masks.delimiters |= gather(equal(word, b',') | brackets) << shift;
            masks.brackets |= gather(brackets) << shift;
        }
        masks
    }
}
