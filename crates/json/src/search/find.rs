//! All occurrences of a needle in the bytes of some documents.

use super::documents::Documents;
use super::needle::{Needle, REACH};
use super::occurrences::Occurrences;
use memchr::memmem;
use std::ops::Range;
use tamias_simd::{Isa, Task, VECTOR, Vector, prefetch};

/// Vectors that are searched for the pair before what was found is compared.
const STRIDE_VECTORS: usize = 32;
const STRIDE: usize = STRIDE_VECTORS * VECTOR;

/// HEURISTIC: the processor's own prefetching stops at the ends of pages of 4 KiB, and this is past the next. Measured on mapped files.
const PREFETCHED: usize = 8192;

/// Room for what a stride finds, one more than its bytes; a power of two, so that any number has a place in it.
const CANDIDATES: usize = (STRIDE + 1).next_power_of_two();

/// Most occurrences close together in a document that are noted.
pub(super) const CROWD: usize = 16;

impl Documents<'_> {
    /// The occurrences of the needle in these documents, those that overlap too. They replace what `found` holds.
    pub fn find(&self, isa: Isa, needle: &Needle, found: &mut Occurrences) {
        found.clear();
        isa.run(Find { needle, documents: *self, found });
    }
}

struct Find<'t> {
    needle: &'t Needle,
    documents: Documents<'t>,
    found: &'t mut Occurrences,
}

impl Task for Find<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        if V::PREFERS_MEMCHR && !self.needle.is_folded() {
            self.by_memchr(vector)
        } else {
            self.by_pairs(vector)
        }
    }
}

impl Find<'_> {
    #[inline(always)]
    fn by_memchr<V: Vector>(self, vector: V) {
        let Find { needle, documents, found } = self;
        let (bytes, range) = (documents.bytes(), documents.all());
        let finder = memmem::Finder::new(needle.bytes());
        let (mut index, mut at) = (0, range.start);
        while let Some(distance) = bytes.get(at..range.end).and_then(|rest| finder.find(rest)) {
            at += distance;
            found.offsets.push(at as u32);
            let before =
                found.offsets.len().checked_sub(CROWD + 1).and_then(|before| found.offsets.get(before));
            let is_crowd = before.is_some_and(|before| at - (*before as usize) < STRIDE);
            at += 1;
            if is_crowd {
                (index, at) = step_over(vector, documents, index, found, at);
            }
        }
    }

    #[inline(always)]
    fn by_pairs<V: Vector>(self, vector: V) {
        let Find { needle, documents, found } = self;
        let (bytes, range) = (documents.bytes(), documents.all());
        // The document that was looked at last.
        let mut index = 0;
        let end = range.end.min(bytes.len());
        let Some(last) = end.checked_sub(needle.bytes().len()) else { return };
        let mut at = range.start;
        let mut candidates = [0u32; CANDIDATES];
        while at <= last {
            let vectors = match (bytes.len() - at).checked_sub(REACH) {
                Some(room) => (room / VECTOR).min((last - at) / VECTOR + 1).min(STRIDE_VECTORS),
                None => 0,
            };
            if vectors == 0 {
                break;
            }
            let count = pairs(vector, needle, bytes, at, vectors, &mut candidates);
            for candidate in candidates.iter().take(count) {
                let from = *candidate as usize;
                if from <= last && needle.is_at(vector, bytes, from) {
                    found.offsets.push(*candidate);
                }
            }
            at += vectors * VECTOR;
            if count > CROWD {
                // Who has so many has them everywhere, and is not told by them.
                (index, at) = step_over(vector, documents, index, found, at);
            }
        }
        // What is near the end of the bytes.
        while at <= last {
            if needle.begins(&bytes[at..]) {
                found.offsets.push(at as u32);
            }
            at += 1;
        }
    }
}

/// Notes where the needle's pair stands in the vectors from `at` on, behind which one more is there: how many places that are.
#[inline(always)]
fn pairs<V: Vector>(
    vector: V,
    needle: &Needle,
    bytes: &[u8],
    at: usize,
    vectors: usize,
    candidates: &mut [u32; CANDIDATES],
) -> usize {
    let (stretch, _) = bytes[at..at + (vectors + 1) * VECTOR].as_chunks::<VECTOR>();
    let mut from = at;
    let mut count = 0;
    for window in stretch.array_windows::<2>() {
        prefetch(bytes, from + PREFETCHED);
        let Some(window) = window.as_flattened().first_chunk() else { break };
        let mut found = needle.pairs(vector, window);
        // One is written in any case and mostly right: the loop for more is seldom entered.
        let mut note = |found: u64| {
            candidates[count % CANDIDATES] = (from as u32).wrapping_add(found.trailing_zeros());
            count += usize::from(found != 0);
        };
        note(found);
        found &= found.wrapping_sub(1);
        while found != 0 {
            note(found);
            found &= found - 1;
        }
        from += VECTOR;
    }
    count
}

/// If the last occurrences are too many in one document, notes that, and goes on behind it: the document's index, and where to go on.
#[cold]
fn step_over<V: Vector>(
    vector: V,
    documents: Documents<'_>,
    index: usize,
    found: &mut Occurrences,
    at: usize,
) -> (usize, usize) {
    let Occurrences { offsets, crowded } = found;
    let Some(index) = offsets.last().and_then(|last| documents.index_of(vector, index, *last)) else {
        return (index, at);
    };
    let Range { start, end } = documents.range(index);
    let before = offsets.len().checked_sub(CROWD + 1).and_then(|before| offsets.get(before));
    if end > at && before.is_some_and(|offset| *offset as usize >= start) {
        crowded.push(index as u32);
        return (index + 1, end);
    }
    (index, at)
}
