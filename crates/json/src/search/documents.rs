//! Documents of a block, one after the other, and where each ends.

use crate::limits::BYTES_MAX;
use std::ops::Range;
use tamias_simd::{NUMBERS, Vector};

/// Some documents of a block, one after another with a byte between them.
#[derive(Clone, Copy, Debug)]
pub struct Documents<'d> {
    bytes: &'d [u8],
    ends: &'d [[u8; 4]],
    plain: &'d [u8],
    first: usize,
    last: usize,
}

impl<'d> Documents<'d> {
    /// The documents of a block. `ends` has for each the offset just past it, as a little-endian `u32`; the next one begins
    /// a byte further on. None if the bytes are more than [`BYTES_MAX`].
    ///
    /// Ends that do not rise, or lie outside the bytes, are safe; such documents count as empty.
    pub fn new(bytes: &'d [u8], ends: &'d [[u8; 4]]) -> Option<Documents<'d>> {
        (bytes.len() <= BYTES_MAX).then_some(Documents {
            bytes,
            ends,
            plain: &[],
            first: 0,
            last: ends.len(),
        })
    }

    /// The same, with what is known of a key in them: a bit for each of the block, the lowest of a byte first, that says whether the key
    /// is *plain* there: its needle stands in the document at most once, and if it does as a key of the top level. Answers for that key
    /// then take less work. Bits that are missing say no.
    pub fn with_plain(&self, plain: &'d [u8]) -> Documents<'d> {
        Documents { plain, ..*self }
    }

    /// Whether the key is known to be plain in a document.
    #[inline(always)]
    pub(super) fn is_plain(&self, index: usize) -> bool {
        let number = self.first + index;
        self.plain.get(number / 8).is_some_and(|bits| bits >> (number % 8) & 1 == 1)
    }

    /// Those with the numbers of `range`, counted from the first of the block.
    pub fn part(&self, range: Range<usize>) -> Documents<'d> {
        let last = range.end.min(self.ends.len());
        Documents { first: range.start.min(last), last, ..*self }
    }

    /// All documents of the block.
    pub fn whole(&self) -> Documents<'d> {
        Documents { first: 0, last: self.ends.len(), ..*self }
    }

    /// Of what there is for each document of the block that which is for these.
    pub fn part_of<'p, T>(&self, of_block: &'p [T]) -> &'p [T] {
        of_block.get(self.first..self.last).unwrap_or_default()
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.last - self.first
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.first == self.last
    }

    /// Where the `index`th of them stands in the block's bytes.
    #[inline(always)]
    pub fn range(&self, index: usize) -> Range<usize> {
        let number = self.first + index;
        let start = match number.checked_sub(1).and_then(|before| self.ends.get(before)) {
            Some(end) => u32::from_le_bytes(*end) as usize + 1,
            None => 0,
        };
        let end = self.ends.get(number).map_or(0, |end| u32::from_le_bytes(*end) as usize);
        let end = end.min(self.bytes.len());
        start.min(end)..end
    }

    /// Bytes of the first or of the last `count` of them, without what stands between them.
    pub fn bytes_of(&self, count: usize, first: bool) -> u64 {
        let count = count.min(self.len());
        let part = if first { self.first..self.first + count } else { self.last - count..self.last };
        self.part(part).all().len().saturating_sub(count.saturating_sub(1)) as u64
    }

    /// The first of them, from the `index`th on, that ends behind an offset.
    #[inline(always)]
    pub(super) fn index_of<V: Vector>(&self, vector: V, mut index: usize, offset: u32) -> Option<usize> {
        let mut ends = self.ends.get(self.first + index..self.last)?;
        // How many end before it is not to be guessed: they are counted several at a time.
        while let Some((several, rest)) = ends.split_first_chunk::<NUMBERS>() {
            let before = vector.count_up_to(several, offset);
            index += before;
            if before < NUMBERS {
                return Some(index);
            }
            ends = rest;
        }
        Some(index + ends.iter().position(|end| u32::from_le_bytes(*end) > offset)?)
    }

    /// Where the `index`th of them ends, as it is told: perhaps past the bytes.
    #[inline(always)]
    pub(super) fn end_as_told(&self, index: usize) -> u32 {
        self.ends.get(self.first + index).map_or(0, |end| u32::from_le_bytes(*end))
    }

    /// Where the `index`th of them ends.
    #[inline(always)]
    pub(super) fn end(&self, index: usize) -> usize {
        let end = self.ends.get(self.first + index).map_or(0, |end| u32::from_le_bytes(*end) as usize);
        end.min(self.bytes.len())
    }

    /// Where they stand together.
    pub(super) fn all(&self) -> Range<usize> {
        match self.len() {
            0 => 0..0,
            len => {
                let end = self.range(len - 1).end;
                self.range(0).start.min(end)..end
            }
        }
    }

    /// The bytes of the whole block.
    pub fn bytes(&self) -> &'d [u8] {
        self.bytes
    }
}
