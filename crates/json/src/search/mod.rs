//! Searching many documents at once: keys and literals are found in the bytes of a whole block, without scanning its documents.
//!
//! In a valid minified document a key is where its spelling is: the bytes `"name":` are that key, unless a backslash stands before
//! them, for a closing quote is only ever followed by `,` `:` `]` `}` or the end, and a quote inside a string has a backslash
//! before it. What is left to find out is how deep the key lies, and whether it comes again; both are rare questions, answered
//! for the few documents where they arise, or left to who scans those ([`Place::Unsure`]).
//!
//! Everything here is done for a run of documents in one call: a call per document would cost more than the bytes that it reads.
//!
//! As with the scanner any bytes are safe, and get some answer in time linear in their length.

mod find;
mod holds;
mod lengths;
mod numbers;
mod places;
mod structure;

#[cfg(test)]
mod tests;

pub use find::Needle;
pub use holds::Held;
pub use numbers::{FewDigits, Wanted};
pub use structure::Structure;
pub(crate) use structure::put_places;

use crate::classify::{Kernel, NUMBERS};
use crate::isa::Isa;
use crate::scan::BYTES_MAX;
use places::Runs;
use std::ops::Range;

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
    fn is_plain(&self, index: usize) -> bool {
        let number = self.first + index;
        self.plain.get(number / 8).is_some_and(|bits| bits >> (number % 8) & 1 == 1)
    }

    /// Those with the numbers of `range`, counted from the first of the block.
    pub fn part(&self, range: Range<usize>) -> Documents<'d> {
        let last = range.end.min(self.ends.len());
        Documents { first: range.start.min(last), last, ..*self }
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

    /// The first of them, from the `index`th on, that ends behind a place.
    #[inline(always)]
    fn index_of<K: Kernel>(&self, kernel: K, mut index: usize, place: u32) -> Option<usize> {
        let mut ends = self.ends.get(self.first + index..self.last)?;
        // How many end before it is not to be guessed: they are counted several at a time.
        while let Some((several, rest)) = ends.split_first_chunk::<NUMBERS>() {
            let before = kernel.count_up_to(several, place);
            index += before;
            if before < NUMBERS {
                return Some(index);
            }
            ends = rest;
        }
        Some(index + ends.iter().position(|end| u32::from_le_bytes(*end) > place)?)
    }

    /// Where the `index`th of them ends, as it is told: perhaps past the bytes.
    #[inline(always)]
    fn end_as_told(&self, index: usize) -> u32 {
        self.ends.get(self.first + index).map_or(0, |end| u32::from_le_bytes(*end))
    }

    /// Where the `index`th of them ends.
    #[inline(always)]
    fn end(&self, index: usize) -> usize {
        let end = self.ends.get(self.first + index).map_or(0, |end| u32::from_le_bytes(*end) as usize);
        end.min(self.bytes.len())
    }

    /// Where they stand together.
    fn all(&self) -> Range<usize> {
        match self.len() {
            0 => 0..0,
            len => {
                let end = self.range(len - 1).end;
                self.range(0).start.min(end)..end
            }
        }
    }

    /// The places of the needle in these documents, those that overlap too. They replace what `places` holds.
    pub fn find(&self, isa: Isa, needle: &Needle, places: &mut Places) {
        places.clear();
        find::all(isa, needle, *self, places);
    }

    /// For each document where the value of a key of its top level stands, from the places of that key's needle.
    /// It replaces what `values` holds.
    pub fn values(&self, isa: Isa, needle: &Needle, places: &Places, values: &mut Vec<Place>) {
        places::of_all(isa, needle, *self, places, values);
    }

    /// For each document whether the key stands at its top level at a place that is kept, from the places of its needle and the
    /// numbers of those that are, in their order. It replaces what `matches` holds.
    ///
    /// Of a key that is repeated the last one counts, which takes a scan to know: such a document is [`Match::Maybe`] one
    /// if any of its places is kept.
    pub fn matches(
        &self,
        isa: Isa,
        needle: &Needle,
        places: &Places,
        kept: &[u32],
        matches: &mut Vec<Match>,
    ) {
        places::matches(isa, needle, *self, places, kept, matches);
    }

    /// For each document whether the value of a key of its top level has a text, from the places where that was found. It replaces what
    /// `matches` holds. Values that are looked up for that are filled in, where they are unsure so far.
    pub fn holds(
        &self,
        isa: Isa,
        key: &Needle,
        held: Held<'_>,
        places: &Places,
        values: &mut [Place],
        matches: &mut Vec<Match>,
    ) {
        holds::all(isa, key, *self, held, places, values, matches);
    }

    /// The documents that have any of some places: they are a [`Match::Maybe`]. It replaces what `matches` holds.
    pub fn mentions(&self, isa: Isa, places: &Places, matches: &mut Vec<Match>) {
        places::mentions(isa, *self, places, matches);
    }

    /// Which places lie in each of the documents that have any: the document's index, and the range of numbers of its places.
    #[inline(always)]
    fn runs<'p, K: Kernel>(&self, kernel: K, places: &'p Places) -> Runs<'d, 'p, K> {
        Runs { kernel, documents: *self, places: &places.all, next: 0, index: 0 }
    }

    /// How many characters the strings at some values have: those at `indices` whose value is a string. What it cannot tell, because
    /// there are escapes like `\u00e4` in it or the value is not sure, goes to `left`, as its place among the indices. They replace what the
    /// lists hold, and are in order.
    ///
    /// A character is what begins with a byte that continues no other.
    pub fn lengths(
        &self,
        isa: Isa,
        values: &[Place],
        indices: &[u32],
        lengths: &mut Vec<FewDigits>,
        left: &mut Vec<u32>,
    ) {
        lengths::all(isa, *self, values, indices, lengths, left);
    }

    /// The bytes of the whole block.
    pub fn bytes(&self) -> &'d [u8] {
        self.bytes
    }

    /// What [`values`](Documents::values) gives for single documents: of the document `index` at `index`, for each of `indices` that
    /// is unsure so far; all else is left as it is.
    pub fn values_of(&self, isa: Isa, needle: &Needle, indices: &[u32], values: &mut [Place]) {
        places::of_some(isa, needle, *self, indices, values);
    }
}

/// Where a needle stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Offsets in the block's bytes, in their order. A place may reach over the end of its document.
    all: Vec<u32>,
    /// The documents with so many places close together that only the first of them were noted.
    crowded: Vec<u32>,
}

impl Places {
    fn clear(&mut self) {
        self.all.clear();
        self.crowded.clear();
    }
}

/// Where the value of a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The document has no such key at its top level.
    Absent,
    /// It takes a scan of the document to know: the key is repeated, or its value is an object or an array.
    Unsure,
    /// A string, number, `true`, `false` or `null`: from the first offset in the block's bytes up to the second, that one
    /// excluded.
    Value(u32, u32),
}

/// Whether a document is one that is looked for. In the order of their certainty: the lesser of two answers is that to both
/// questions at once, the greater that to either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It is not.
    No,
    /// It takes a scan of the document to know.
    Maybe,
    /// It is.
    Yes,
}

impl std::ops::Not for Match {
    type Output = Match;

    #[inline(always)]
    fn not(self) -> Match {
        match self {
            Match::No => Match::Yes,
            Match::Maybe => Match::Maybe,
            Match::Yes => Match::No,
        }
    }
}
