//! 64 bytes become a handful of bit sets. This is all that differs from CPU to CPU.
//!
//! [`Portable`] steps through the bytes and is the specification; every other kernel gives the same on every block.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod swar;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;

pub(crate) use portable::Portable;
pub(crate) use swar::Swar;

use crate::access;
use crate::number::{DIGITS, SEVERAL, Standing, Whole, digits};
use crate::scan::{Marks, Sink};
use crate::search::put_places;
use std::mem::MaybeUninit;

/// Bytes per step.
pub(crate) const BLOCK: usize = 64;

/// Numbers that are compared at a time.
pub(crate) const NUMBERS: usize = 16;

/// What 64 bytes hold; bit `n` speaks of byte `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    /// `"`, escaped or not.
    pub(crate) quotes: u64,
    /// `\`.
    pub(crate) backslashes: u64,
    /// `:`, inside strings too.
    pub(crate) colons: u64,
    /// `,` `{` `}` `[` `]`, inside strings too.
    pub(crate) delimiters: u64,
    /// `{` `}` `[` `]`, inside strings too.
    pub(crate) brackets: u64,
}

impl Masks {
    /// Forgets the first `count` bytes, so that bit 0 speaks of byte `count`.
    #[inline(always)]
    pub(crate) fn skip(self, count: u32) -> Masks {
        Masks {
            quotes: self.quotes >> count,
            backslashes: self.backslashes >> count,
            colons: self.colons >> count,
            delimiters: self.delimiters >> count,
            brackets: self.brackets >> count,
        }
    }
}

/// The operations that a kernel does its own way. Holding a kernel is the proof that the CPU can run it.
pub(crate) trait Kernel: Copy {
    /// Sorts the bytes of a block.
    fn classify(self, block: &[u8; BLOCK]) -> Masks;

    /// Sorts the bytes from `at` on, fewer than a block and at least one; bits past them are 0.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the last bytes of a document are read without a check")]
    fn classify_last(self, bytes: &[u8], at: usize) -> Masks {
        if let Some(from) = bytes.len().checked_sub(BLOCK) {
            // SAFETY: the last 64 bytes of at least 64.
            let block = unsafe { access::array(bytes, from) };
            // The bytes before `at` are those of the block before.
            self.classify(block).skip((at - from) as u32)
        } else {
            let mut block = [0; BLOCK];
            block[..bytes.len()].copy_from_slice(bytes);
            self.classify(&block)
        }
    }

    /// Which bytes of a block equal `byte`.
    #[inline(always)]
    fn equal(self, block: &[u8; BLOCK], byte: u8) -> u64 {
        self.same(block, &[byte; BLOCK])
    }

    /// Which bytes begin a character: all but those of the form 10xxxxxx.
    #[inline(always)]
    fn begins(self, block: &[u8; BLOCK]) -> u64 {
        block.iter().enumerate().fold(0, |mask, (at, byte)| mask | u64::from(byte & 0xc0 != 0x80) << at)
    }

    /// Where `x` stands in one block and `y` in the other.
    #[inline(always)]
    fn both(self, a: &[u8; BLOCK], x: u8, b: &[u8; BLOCK], y: u8) -> u64 {
        self.equal(a, x) & self.equal(b, y)
    }

    /// Which bytes of two blocks are the same.
    #[inline(always)]
    fn same(self, a: &[u8; BLOCK], b: &[u8; BLOCK]) -> u64 {
        let pairs = a.iter().zip(b).enumerate();
        pairs.fold(0, |mask, (at, (a, b))| mask | u64::from(a == b) << at)
    }

    /// How many of some numbers, which are little-endian, are at most `most`.
    #[inline(always)]
    fn count_up_to(self, numbers: &[[u8; 4]; NUMBERS], most: u32) -> usize {
        numbers.iter().filter(|number| u32::from_le_bytes(**number) <= most).count()
    }

    /// How the numbers that begin `behind` bytes after some places stand to a whole one. None where the kernel has no quicker way than
    /// one after the other, or a place is near the end of the bytes.
    #[inline(always)]
    fn compare_several(
        self,
        _bytes: &[u8],
        _places: &[u32; SEVERAL],
        _behind: usize,
        _whole: Whole,
    ) -> Option<Standing> {
        None
    }

    /// The number that the last `length` of some characters spell, 1 to 16 of them, and how many of its digits stand behind its
    /// point; none where there is more to it than digits and a point.
    #[inline(always)]
    fn few_digits(self, text: &[u8; DIGITS], length: usize) -> Option<(u64, u32)> {
        digits(text, length)
    }

    /// Bit `n` of the answer is the parity of the bits 0 to `n`: from quotes to what lies between them.
    #[inline(always)]
    fn prefix_xor(self, bits: u64) -> u64 {
        let mut bits = bits;
        for shift in [1, 2, 4, 8, 16, 32] {
            bits ^= bits << shift;
        }
        bits
    }

    /// Appends an entry for each delimiter of a block, which has at least one structural byte.
    #[inline(always)]
    fn emit(self, marks: Marks, sink: &mut Sink<'_>) {
        sink.append(marks);
    }

    /// Writes the places of a mask's bits, counted from `base`, into the room from `count` on, and gives the count with them.
    ///
    /// # Safety
    /// From `count` on there is room for a block, and [`SLACK`](crate::scan::SLACK) more.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the contract is handed on")]
    unsafe fn put_places(self, mask: u64, base: u32, room: &mut [MaybeUninit<u32>], count: usize) -> usize {
        // SAFETY: the contract.
        unsafe { put_places(mask, base, room, count) }
    }
}
