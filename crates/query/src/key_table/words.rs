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
    /// How many of them, the first ones, are found by their hashes. The others are before the next one is sought.
    hashed: usize,
    hashes: Hashes,
    hasher: RandomState,
}

/// How words are hashed.
#[derive(Clone, Copy, Default)]
enum Hashes {
    /// There is no word yet.
    #[default]
    None,
    /// All words have the same upper half, and no two of them the same hash: who has found a hash need not read the word, which is not in the cache where they are many.
    OfHalves {
        upper: u32,
        scramble: Scramble,
    },
    OfWords,
}

/// Turns numbers of 32 bits into others, no two into the same, as chance has it.
#[derive(Clone, Copy)]
struct Scramble {
    add: u32,
    times: u32,
}

impl Scramble {
    fn by_chance(hasher: &RandomState) -> Scramble {
        let chance = hasher.hash_one(0u64);
        // What is multiplied by an odd number comes back by multiplying it with another.
        Scramble { add: (chance >> u32::BITS) as u32, times: chance as u32 | 1 }
    }

    #[inline]
    fn of(self, half: u32) -> u32 {
        const TIMES: u32 = 0x9e37_79b1;
        let mixed = half.wrapping_add(self.add).wrapping_mul(self.times);
        let mixed = (mixed ^ mixed >> 16).wrapping_mul(TIMES);
        let mixed = (mixed ^ mixed >> 15).wrapping_mul(self.times);
        mixed ^ mixed >> 16
    }
}

#[inline]
fn upper_half(word: u64) -> u32 {
    (word >> u32::BITS) as u32
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

    /// Adds a word that is known to be none of these: its number.
    #[inline]
    pub(crate) fn push(&mut self, word: u64) -> u32 {
        self.words.push(word);
        self.len() as u32 - 1
    }

    /// The number of a word, which is added if it is new.
    #[inline]
    pub(crate) fn find(&mut self, word: u64) -> Found {
        self.prepare_for(&[word]);
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
        self.prepare_for(words);
        let are_halves = matches!(self.hashes, Hashes::OfHalves { .. });
        // Each step reads what the one before has told for all of them.
        let mut some = [Looked::default(); TOGETHER];
        for (looked, word) in some.iter_mut().zip(words) {
            looked.glance = self.slots.glance(self.hash(*word));
        }
        for (looked, word) in some.iter_mut().zip(words) {
            let likely = self.slots.likely(looked.glance);
            looked.likely = likely.unwrap_or_default();
            looked.is_known = match are_halves {
                true => likely.is_some(),
                false => likely.and_then(|at| self.words.get(at as usize)) == Some(word),
            };
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
        let are_halves = matches!(self.hashes, Hashes::OfHalves { .. });
        match self.slots.find(hash, |place| are_halves || self.words.get(place as usize) == Some(&word)) {
            Some(known) => Found::Known(known),
            None => {
                let new = self.len() as u32;
                self.slots.insert(hash, new);
                self.words.push(word);
                self.hashed += 1;
                Found::New(new)
            }
        }
    }

    /// Sees to it that some words have hashes which tell them from all others, or else that words are looked at.
    #[inline]
    fn prepare_for(&mut self, words: &[u64]) {
        if self.hashed < self.len() {
            self.hash_pushed();
        }
        self.prepare_hashes_for(words);
    }

    /// Sees to it that words which were added without a look are found, too.
    #[cold]
    fn hash_pushed(&mut self) {
        while let Some(word) = self.words.get(self.hashed).copied() {
            self.prepare_hashes_for(&[word]);
            // All of them may have been hashed anew.
            if self.hashed < self.len() {
                self.slots.insert(self.hash(word), self.hashed as u32);
                self.hashed += 1;
            }
        }
    }

    #[inline]
    fn prepare_hashes_for(&mut self, words: &[u64]) {
        if let Hashes::OfHalves { upper, .. } = self.hashes
            && words.iter().fold(false, |differs, word| differs | (upper_half(*word) != upper))
        {
            self.hash_words();
        }
        if let (Hashes::None, Some(first)) = (self.hashes, words.first()) {
            let scramble = Scramble::by_chance(&self.hasher);
            self.hashes = Hashes::OfHalves { upper: upper_half(*first), scramble };
            self.prepare_hashes_for(words);
        }
    }

    /// From now on hashes are those of words.
    #[cold]
    fn hash_words(&mut self) {
        self.hashes = Hashes::OfWords;
        let mut slots = Slots::default();
        for (place, word) in (0..).zip(self.words.iter()) {
            slots.insert(self.hash(*word), place);
        }
        self.slots = slots;
        self.hashed = self.len();
    }

    #[inline]
    fn hash(&self, word: u64) -> u32 {
        if let Hashes::OfHalves { scramble, .. } = self.hashes {
            return scramble.of(word as u32);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_that_were_added_without_a_look_are_found() {
        for upper in [0, 1] {
            let mut table = Words::default();
            let words: Vec<u64> = (0..1000).map(|n| (n % 2 * upper) << 40 | n).collect();
            for some in words.chunks(7) {
                let (pushed, found) = some.split_at(some.len() / 2);
                pushed.iter().for_each(|word| _ = table.push(*word));
                found.iter().for_each(|word| _ = table.find(*word));
            }
            for (number, word) in (0..).zip(&words) {
                assert_eq!(table.find(*word), Found::Known(number));
            }
            assert_eq!(table.len(), words.len());
        }
    }

    proptest! {
        #[test]
        fn equal_words_and_only_they_have_a_number_in_common(
            words in prop::collection::vec(0u64..90, 0..300),
            others in prop::collection::vec(prop_oneof![0u64..90, any::<u64>()], 0..80),
            upper in 0u64..2,
        ) {
            let mut table = Words::default();
            let mut all: Vec<u64> = Vec::new();
            // First those of one upper half, and then any.
            let words: Vec<u64> = words.iter().map(|word| upper << 40 | (word * 0x0101_0101) & 0xffff_ffff).collect();
            for words in [&words, &others, &words] {
                let mut found = Vec::new();
                table.find_all(words.iter().copied(), |of_word| found.push(of_word));
                prop_assert_eq!(found.len(), words.len());
                for (word, found) in words.iter().zip(found) {
                    let expected = match all.iter().position(|other| other == word) {
                        Some(place) => Found::Known(place as u32),
                        None => {
                            all.push(*word);
                            Found::New(all.len() as u32 - 1)
                        }
                    };
                    prop_assert_eq!(found, expected);
                    prop_assert_eq!(table.find(*word), Found::Known(found.number()));
                }
            }
            prop_assert!(table.iter().eq(all.iter().copied()));
        }

        #[test]
        fn what_is_scrambled_differs_where_it_did(one: u32, other: u32) {
            let scramble = Scramble::by_chance(&RandomState::default());
            prop_assert_eq!(scramble.of(one) == scramble.of(other), one == other);
            prop_assert_ne!(scramble.of(one), scramble.of(one.wrapping_add(1)));
        }
    }
}
