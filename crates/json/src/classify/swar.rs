//! Eight bytes at a time in an ordinary register: for machines without the instructions of the other kernels.

use super::{BLOCK, Kernel, Masks};

/// Any machine with 64-bit registers can run it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Swar;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Eight bytes, ready to be compared.
#[derive(Clone, Copy)]
struct Word {
    /// Without their high bits.
    low: u64,
    /// The high bits of those that are ASCII.
    ascii: u64,
}

impl Word {
    #[inline(always)]
    fn new(bytes: [u8; 8]) -> Word {
        let word = u64::from_le_bytes(bytes);
        Word { low: word & !HIGH, ascii: !word & HIGH }
    }

    /// The high bit of each byte that equals `byte`, an ASCII one; the other bits mean nothing, nor do those of bytes
    /// that are not ASCII. No byte borrows from its neighbour: what is taken from 0x80 is at most 0x7f.
    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        HIGH - (self.low ^ (LOW * u64::from(byte)))
    }

    /// The same for `{`, `}`, `[` and `]`: the latter two are the former without the bit 0x20.
    #[inline(always)]
    fn bracket(self) -> u64 {
        let folded = Word { low: self.low | (LOW * 0x20), ..self };
        folded.equal(b'{') | folded.equal(b'}')
    }

    /// Bit `n` from the high bit of byte `n`, where that is ASCII.
    #[inline(always)]
    fn gather(self, high_bits: u64) -> u64 {
        (high_bits & self.ascii).wrapping_mul(0x0002_0408_1020_4081) >> 56
    }
}

impl Kernel for Swar {
    #[inline(always)]
    fn classify(self, block: &[u8; BLOCK]) -> Masks {
        let mut masks = Masks::default();
        let (words, _) = block.as_chunks::<8>();
        let mut any_bracket = 0;
        for (at, word) in words.iter().enumerate() {
            let (word, shift) = (Word::new(*word), at * 8);
            masks.quotes |= word.gather(word.equal(b'"')) << shift;
            masks.colons |= word.gather(word.equal(b':')) << shift;
            masks.delimiters |= word.gather(word.equal(b',')) << shift;
            masks.backslashes |= word.gather(word.equal(b'\\')) << shift;
            any_bracket |= word.bracket() & word.ascii;
        }
        // Few blocks have one.
        if any_bracket != 0 {
            for (at, word) in words.iter().enumerate() {
                let word = Word::new(*word);
                masks.brackets |= word.gather(word.bracket()) << (at * 8);
            }
            masks.delimiters |= masks.brackets;
        }
        masks
    }

    #[inline(always)]
    fn same(self, a: &[u8; BLOCK], b: &[u8; BLOCK]) -> u64 {
        let pairs = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).enumerate();
        pairs.fold(0, |mask, (at, (a, b))| {
            let differences = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
            // The high bit of each byte that is not 0.
            let unequal = (((differences & !HIGH) + !HIGH) | differences) & HIGH;
            let equal = (!unequal & HIGH).wrapping_mul(0x0002_0408_1020_4081) >> 56;
            mask | equal << (at * 8)
        })
    }
}
