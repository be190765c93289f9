//! Eight bytes at a time in an ordinary register: for machines without the instructions of the other kernels.

use crate::decimal::{Digits, TWICE_ZEROS};
use crate::marks::Masks;
use crate::sizes::{DIGITS, VECTOR};
use crate::vector::Vector;
use crate::words::{HIGH, LOW, gather, same, zeros};

/// Any machine with 64-bit registers can run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swar;

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
        gather(high_bits & self.ascii)
    }
}

impl Vector for Swar {
    const PREFERS_MEMCHR: bool = true;

    #[inline(always)]
    fn classify(self, bytes: &[u8; VECTOR]) -> Masks {
        let mut masks = Masks::default();
        let (words, _) = bytes.as_chunks::<8>();
        let mut any_bracket = 0;
        for (at, word) in words.iter().enumerate() {
            let (word, shift) = (Word::new(*word), at * 8);
            masks.quotes |= word.gather(word.equal(b'"')) << shift;
            masks.colons |= word.gather(word.equal(b':')) << shift;
            masks.delimiters |= word.gather(word.equal(b',')) << shift;
            masks.backslashes |= word.gather(word.equal(b'\\')) << shift;
            any_bracket |= word.bracket() & word.ascii;
        }
        // Few vectors have one.
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
    fn same(self, a: &[u8; VECTOR], b: &[u8; VECTOR]) -> u64 {
        same(a, b)
    }

    #[inline(always)]
    fn special(self, bytes: &[u8; VECTOR]) -> u64 {
        let (words, _) = bytes.as_chunks::<8>();
        words.iter().enumerate().fold(0, |special, (at, word)| {
            let word = u64::from_le_bytes(*word);
            let quote = zeros(word ^ (LOW * u64::from(b'"')));
            let backslash = zeros(word ^ (LOW * u64::from(b'\\')));
            let control = zeros(word & (LOW * 0xe0));
            special | gather(quote | backslash | control) << (at * 8)
        })
    }

    #[inline(always)]
    fn decimal(self, text: &[u8; DIGITS], length: usize) -> Option<(u64, u32)> {
        let kept = u128::MAX >> (8 * DIGITS.saturating_sub(length));
        Some(Digits::of_words((u128::from_be_bytes(*text) ^ TWICE_ZEROS) & kept)?.value())
    }
}
