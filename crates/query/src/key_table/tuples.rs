//! Several numbers as one key.

use super::found::Found;
use super::slots::Slots;
use crate::allocated::vec_bytes;
use foldhash::fast::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Tuples of so many numbers each, told apart: each has the number of how many came before it.
#[derive(Default)]
pub(crate) struct Tuples {
    width: usize,
    slots: Slots,
    /// The numbers of all tuples, one tuple after another.
    numbers: Vec<u32>,
    hasher: RandomState,
}

/// So many tuples are looked up together, so that the processor waits for memory once for several of them.
const TOGETHER: usize = 32;

impl Tuples {
    pub(crate) fn new(width: usize) -> Tuples {
        Tuples { width: width.max(1), ..Tuples::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len() / self.width.max(1)
    }

    /// The numbers of a tuple.
    #[inline]
    pub(crate) fn get(&self, tuple: u32) -> &[u32] {
        let start = tuple as usize * self.width;
        self.numbers.get(start..start + self.width).unwrap_or_default()
    }

    /// The number of a tuple, which is added if it is new.
    #[inline]
    pub(crate) fn find(&mut self, tuple: &[u32]) -> Found {
        self.find_hashed(self.hash(tuple), tuple)
    }

    /// The same of many that stand one after another.
    pub(crate) fn find_all(&mut self, tuples: &[u32], mut each: impl FnMut(Found)) {
        let mut last: (&[u32], u32) = (&[], 0);
        for some in tuples.chunks(TOGETHER * self.width.max(1)) {
            // Each step reads what the one before has told for all of them.
            let mut hashes = [0; TOGETHER];
            for (hash, tuple) in hashes.iter_mut().zip(some.chunks(self.width)) {
                *hash = self.hash(tuple);
            }
            let glances = hashes.map(|hash| self.slots.glance(hash));
            let likely = glances.map(|glance| self.slots.likely(glance));
            for ((tuple, glance), likely) in some.chunks(self.width).zip(&glances).zip(likely) {
                let found = match likely {
                    _ if last.0 == tuple => Found::Known(last.1),
                    Some(likely) if self.get(likely) == tuple => Found::Known(likely),
                    // It may be one of those before it, and have been added in the meantime.
                    _ => self.find_hashed(glance.hash(), tuple),
                };
                last = (tuple, found.number());
                each(found);
            }
        }
    }

    #[inline]
    fn find_hashed(&mut self, hash: u32, tuple: &[u32]) -> Found {
        match self.slots.find(hash, |place| self.get(place) == tuple) {
            Some(known) => Found::Known(known),
            None => {
                let new = self.len() as u32;
                self.slots.insert(hash, new);
                self.numbers.extend_from_slice(tuple);
                Found::New(new)
            }
        }
    }

    #[inline]
    fn hash(&self, tuple: &[u32]) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        for number in tuple {
            hasher.write_u32(*number);
        }
        (hasher.finish() >> 32) as u32
    }

    /// Forgets how tuples are found: what they are is all that is asked for from now on.
    pub(crate) fn close(&mut self) {
        self.slots = Slots::default();
    }

    /// What it holds once it is closed, in bytes.
    pub(crate) fn closed_bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<u32>()
    }

    /// What it has held in memory at most, in bytes; soon before it grows also what it will hold while it does. It never becomes less.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes() + vec_bytes(&self.numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_tuples_and_only_they_have_a_number_in_common(
            tuples in prop::collection::vec((0u32..4, 0u32..5), 0..200),
            alone in prop::collection::vec((0u32..4, 0u32..5), 0..10),
        ) {
            let mut table = Tuples::new(2);
            let mut all: Vec<(u32, u32)> = Vec::new();
            let mut expected = |tuple: (u32, u32)| match all.iter().position(|other| *other == tuple) {
                Some(place) => Found::Known(place as u32),
                None => {
                    all.push(tuple);
                    Found::New(all.len() as u32 - 1)
                }
            };
            for (a, b) in alone {
                prop_assert_eq!(table.find(&[a, b]), expected((a, b)));
            }
            let flat: Vec<u32> = tuples.iter().flat_map(|(a, b)| [*a, *b]).collect();
            let mut found = Vec::new();
            table.find_all(&flat, |one| found.push(one));
            prop_assert_eq!(found, tuples.iter().map(|tuple| expected(*tuple)).collect::<Vec<_>>());
            prop_assert_eq!(table.len(), all.len());
            for (number, (a, b)) in (0..).zip(&all) {
                prop_assert_eq!(table.get(number), [*a, *b]);
            }
        }
    }
}
