//! Words of 64 bits as keys.

use super::found::Found;
use super::slots::{Glance, Slots};
use crate::allocated::Pages;
use foldhash::fast::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Words, told apart: each has the number of how many came before it.
#[derive(Default)]
pub(crate) struct Words {
    slots: Slots,
    words: Pages<u64>,
    hasher: RandomState,
}

/// So many words are looked up together, so that the processor waits for memory once for several of them.
pub(crate) const TOGETHER: usize = 32;

impl Words {
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// The word of a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<u64> {
        self.words.get(number as usize).copied()
    }

    /// All of them in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.words.iter().copied()
    }

    /// The number of a word, which is added if it is new.
    #[inline]
    pub(crate) fn find(&mut self, word: u64) -> Found {
        self.find_hashed(self.hash(word), word)
    }

    /// The same of many, one after the other.
    pub(crate) fn find_all(&mut self, mut words: impl Iterator<Item = u64>, mut each: impl FnMut(Found)) {
        let (mut some, mut count) = ([0; TOGETHER], TOGETHER);
        while count == TOGETHER {
            count = 0;
            for (place, word) in some.iter_mut().zip(words.by_ref()) {
                *place = word;
                count += 1;
            }
            self.find_some(some.get(..count).unwrap_or_default(), |_, found| each(found));
        }
    }

    /// The same of [`TOGETHER`] at most, each with its place among them.
    #[inline]
    pub(super) fn find_some(&mut self, words: &[u64], mut each: impl FnMut(usize, Found)) {
        // Each step reads what the one before has told for all of them.
        let mut some = [Looked::default(); TOGETHER];
        for (looked, word) in some.iter_mut().zip(words) {
            looked.glance = self.slots.glance(self.hash(*word));
        }
        for (looked, word) in some.iter_mut().zip(words) {
            let likely = self.slots.likely(looked.glance);
            looked.likely = likely.unwrap_or_default();
            looked.is_known = likely.and_then(|at| self.words.get(at as usize)) == Some(word);
        }
        for (at, (looked, word)) in some.iter().zip(words).enumerate() {
            let found = match looked.is_known {
                true => Found::Known(looked.likely),
                // It may be one of those before it, and have been added in the meantime.
                false => self.find_hashed(looked.glance.hash(), *word),
            };
            each(at, found);
        }
    }

    #[inline]
    fn find_hashed(&mut self, hash: u32, word: u64) -> Found {
        match self.slots.find(hash, |place| self.words.get(place as usize) == Some(&word)) {
            Some(known) => Found::Known(known),
            None => {
                let new = self.len() as u32;
                self.slots.insert(hash, new);
                self.words.push(word);
                Found::New(new)
            }
        }
    }

    #[inline]
    fn hash(&self, word: u64) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u64(word);
        (hasher.finish() >> 32) as u32
    }

    /// Takes in words that are none of these, behind them. Words are not found any more.
    pub(crate) fn append(&mut self, other: &Words) {
        other.iter().for_each(|word| self.words.push(word));
    }

    /// Forgets how words are found: what they are is all that is asked for from now on.
    pub(crate) fn close(&mut self) {
        self.slots = Slots::default();
    }

    /// What it holds once it is closed, in bytes.
    pub(crate) fn closed_bytes(&self) -> usize {
        self.words.bytes()
    }

    /// What it has held in memory at most, in bytes; soon before it grows also what it will hold while it does. It never becomes less.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes() + self.words.bytes()
    }
}

/// A word that is looked up beside others.
#[derive(Clone, Copy, Default)]
struct Looked {
    glance: Glance,
    likely: u32,
    /// Whether it is the likely one.
    is_known: bool,
}
