//! Where a needle was found, document by document.

use super::answers::Match;
use super::documents::Documents;
use std::ops::Range;
use tamias_simd::Vector;

/// Where a needle stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// Offsets in the block's bytes, in their order. A needle may reach over the end of its document.
    pub(super) offsets: Vec<u32>,
    /// The documents with so many of them close together that only the first were noted.
    pub(super) crowded: Vec<u32>,
}

impl Occurrences {
    pub(super) fn clear(&mut self) {
        self.offsets.clear();
        self.crowded.clear();
    }

    /// Of crowded documents no is no sure answer: not all of their occurrences were looked at.
    pub(super) fn doubt_crowded(&self, matches: &mut [Match]) {
        for index in &self.crowded {
            if let Some(answer @ Match::No) = matches.get_mut(*index as usize) {
                *answer = Match::Maybe;
            }
        }
    }

    /// Which of them lie in each of the documents that have any: the document's index, and the range of their numbers.
    #[inline(always)]
    pub(super) fn runs<'d, V: Vector>(&self, vector: V, documents: Documents<'d>) -> Runs<'d, '_, V> {
        Runs { vector, documents, offsets: &self.offsets, next: 0, index: 0 }
    }
}

/// The documents that have some of certain occurrences, one after another. See [`Occurrences::runs`].
pub(super) struct Runs<'d, 'o, V> {
    vector: V,
    documents: Documents<'d>,
    offsets: &'o [u32],
    /// The number of the next occurrence.
    next: usize,
    /// The first document that may have it.
    index: usize,
}

impl<V: Vector> Iterator for Runs<'_, '_, V> {
    type Item = (usize, Range<usize>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let first = self.next;
        let index = self.documents.index_of(self.vector, self.index, *self.offsets.get(first)?)?;
        let end = self.documents.end_as_told(index);
        let mut next = first + 1;
        while self.offsets.get(next).is_some_and(|offset| *offset < end) {
            next += 1;
        }
        (self.next, self.index) = (next, index + 1);
        Some((index, first..next))
    }
}
