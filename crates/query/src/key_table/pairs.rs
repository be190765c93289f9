//! Two numbers as one key.

use super::found::Found;
use super::slots::{Glance, Slots};
use crate::allocated::Pages;
use foldhash::fast::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Pairs of numbers, told apart: each has the number of how many came before it.
#[derive(Default)]
pub(crate) struct Pairs {
    slots: Slots,
    pairs: Pages<u64>,
    hasher: RandomState,
}

/// So many pairs are looked up together, so that the processor waits for memory once for several of them.
pub(crate) const TOGETHER: usize = 32;

/// Both numbers as one.
#[inline]
fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) << u32::BITS | u64::from(second)
}

impl Pairs {
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The numbers of a pair.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> (u32, u32) {
        let pair = self.pairs.get(number as usize).copied().unwrap_or_default();
        ((pair >> u32::BITS) as u32, pair as u32)
    }

    /// The number of a pair, which is added if it is new.
    pub(crate) fn find(&mut self, first: u32, second: u32) -> Found {
        let pair = pair(first, second);
        self.find_hashed(self.hash(pair), pair)
    }

    /// The same of many, of which the first numbers stand where their own are to come. The places of those that are new are added.
    pub(crate) fn find_all(&mut self, numbers: &mut [u32], seconds: &[u32], new: &mut Vec<u32>) {
        let all = numbers.chunks_mut(TOGETHER).zip(seconds.chunks(TOGETHER));
        for ((numbers, seconds), begin) in all.zip((0..).step_by(TOGETHER)) {
            // Each step reads what the one before has told for all of them.
            let mut some = [Looked::default(); TOGETHER];
            for (looked, (first, second)) in some.iter_mut().zip(numbers.iter().zip(seconds)) {
                looked.pair = pair(*first, *second);
                looked.glance = self.slots.glance(self.hash(looked.pair));
            }
            for looked in &mut some {
                let likely = self.slots.likely(looked.glance);
                looked.likely = likely.unwrap_or_default();
                looked.is_known =
                    likely.and_then(|at| self.pairs.get(at as usize)).is_some_and(|at| *at == looked.pair);
            }
            for ((number, looked), at) in numbers.iter_mut().zip(&some).zip(begin..) {
                *number = if looked.is_known { looked.likely } else { self.find_new(looked, at, new) };
            }
        }
    }

    /// The number of a pair that most likely is new. It may be one of those before it, and have been added in the meantime.
    fn find_new(&mut self, looked: &Looked, at: u32, new: &mut Vec<u32>) -> u32 {
        let found = self.find_hashed(looked.glance.hash(), looked.pair);
        if let Found::New(_) = found {
            new.push(at);
        }
        found.number()
    }

    #[inline]
    fn find_hashed(&mut self, hash: u32, pair: u64) -> Found {
        match self.slots.find(hash, |place| self.pairs.get(place as usize) == Some(&pair)) {
            Some(known) => Found::Known(known),
            None => {
                let new = self.len() as u32;
                self.slots.insert(hash, new);
                self.pairs.push(pair);
                Found::New(new)
            }
        }
    }

    #[inline]
    fn hash(&self, pair: u64) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u64(pair);
        (hasher.finish() >> 32) as u32
    }

    /// Forgets how pairs are found: what they are is all that is asked for from now on.
    pub(crate) fn close(&mut self) {
        self.slots = Slots::default();
    }

    /// What it holds once it is closed, in bytes.
    pub(crate) fn closed_bytes(&self) -> usize {
        self.pairs.bytes()
    }

    /// What it has held in memory at most, in bytes; soon before it grows also what it will hold while it does. It never becomes less.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes() + self.pairs.bytes()
    }
}

/// A pair that is looked up beside others.
#[derive(Clone, Copy, Default)]
struct Looked {
    pair: u64,
    glance: Glance,
    likely: u32,
    /// Whether it is the likely one.
    is_known: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_pairs_and_only_they_have_a_number_in_common(
            pairs in prop::collection::vec((0u32..4, 0u32..20), 0..200),
            alone in prop::collection::vec((0u32..4, 0u32..20), 0..10),
        ) {
            let mut table = Pairs::default();
            let mut all: Vec<(u32, u32)> = Vec::new();
            let mut expected = |pair: (u32, u32)| match all.iter().position(|other| *other == pair) {
                Some(place) => Found::Known(place as u32),
                None => {
                    all.push(pair);
                    Found::New(all.len() as u32 - 1)
                }
            };
            for (a, b) in alone {
                prop_assert_eq!(table.find(a, b), expected((a, b)));
            }
            let (mut numbers, seconds): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
            let mut new = Vec::new();
            table.find_all(&mut numbers, &seconds, &mut new);
            let is_new = |at: usize| new.contains(&(at as u32));
            let found: Vec<Found> = numbers.iter().enumerate().map(|(at, number)| match is_new(at) {
                true => Found::New(*number),
                false => Found::Known(*number),
            }).collect();
            prop_assert_eq!(found, pairs.iter().map(|pair| expected(*pair)).collect::<Vec<_>>());
            prop_assert_eq!(table.len(), all.len());
            for (number, pair) in (0..).zip(&all) {
                prop_assert_eq!(table.get(number), *pair);
            }
        }
    }
}
