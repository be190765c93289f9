//! Where entries are found by their hashes.

use crate::allocated::is_almost_full;

/// The places of entries in a list, by hash: a word for each, with the hash beside the place, so that one line of the cache tells most of them. Open addressing,
/// where what has a greater hash stands further behind: a table that grows is read and written from front to end, and no entry is looked at.
#[derive(Clone, Default)]
pub(super) struct Slots {
    /// As many as a power of two, or none: the hash above one more than the place, or 0 where there is nothing.
    words: Vec<u64>,
    len: usize,
}

/// The fewest words of a table that has some.
const WORDS_MIN: usize = 16;

/// A table of more words is filled further: it is in no cache, where memory is what matters, and a search that goes on mostly does so in the line that it has read.
const HALF_FULL_MAX: usize = 1 << 20;

/// How many of so many words may be taken.
fn taken_max(words: usize) -> usize {
    // Some stay empty, so that a search ends soon.
    if words > HALF_FULL_MAX { words / 4 * 3 } else { words / 2 }
}

/// A word, before it is known which entry it stands for.
#[derive(Clone, Copy, Default)]
pub(super) struct Glance {
    hash: u32,
    word: u64,
}

impl Glance {
    pub(super) fn hash(self) -> u32 {
        self.hash
    }
}

impl Slots {
    /// Reads the word at which a search for a hash begins.
    #[inline]
    pub(super) fn glance(&self, hash: u32) -> Glance {
        Glance { hash, word: self.words.get(self.begin(hash)).copied().unwrap_or_default() }
    }

    /// The first place with the hash that was glanced at.
    #[inline]
    pub(super) fn likely(&self, Glance { hash, word }: Glance) -> Option<u32> {
        match (word as u32).checked_sub(1)? {
            place if has_hash(word, hash) => Some(place),
            _ => self.find(hash, |_| true),
        }
    }

    /// The place with a hash that is the one.
    #[inline]
    pub(super) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = self.begin(hash);
        loop {
            let word = *self.words.get(at)?;
            let place = (word as u32).checked_sub(1)?;
            if has_hash(word, hash) && is_it(place) {
                return Some(place);
            }
            at = self.behind(at);
        }
    }

    /// Adds a place.
    pub(super) fn insert(&mut self, hash: u32, place: u32) {
        if self.len >= taken_max(self.words.len()) {
            let words = (2 * self.words.len()).max(WORDS_MIN);
            let before = std::mem::replace(&mut self.words, vec![0; words]);
            before.into_iter().filter(|word| *word != 0).for_each(|word| self.put(word));
        }
        self.len += 1;
        self.put(u64::from(hash) << 32 | u64::from(place.saturating_add(1)));
    }

    fn put(&mut self, word: u64) {
        let mut at = self.begin((word >> 32) as u32);
        while self.words.get(at).is_some_and(|word| *word != 0) {
            at = self.behind(at);
        }
        if let Some(empty) = self.words.get_mut(at) {
            *empty = word;
        }
    }

    #[inline]
    fn begin(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.words.len() as u64) >> 32) as usize
    }

    #[inline]
    fn behind(&self, at: usize) -> usize {
        (at + 1) & self.words.len().wrapping_sub(1)
    }

    /// What it holds, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// What it has held in memory at most, in bytes; soon before it grows also what it will hold while it does. It never becomes less.
    pub(super) fn bytes(&self) -> usize {
        // While a table grows there is one of half the size beside it.
        let bytes = self.words.len() * size_of::<u64>() / 2 * 3;
        if is_almost_full(self.len, taken_max(self.words.len())) { 2 * bytes } else { bytes }
    }
}

#[inline]
fn has_hash(word: u64, hash: u32) -> bool {
    (word >> 32) as u32 == hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_put_in_is_found_by_its_hash_and_nothing_else_is(
            hashes in prop::collection::vec(prop_oneof![0u32..6, u32::MAX - 3..=u32::MAX, any::<u32>()], 0..200),
            other: u32,
        ) {
            let mut slots = Slots::default();
            prop_assert_eq!(slots.find(other, |_| true), None);
            for (place, hash) in (0..).zip(&hashes) {
                slots.insert(*hash, place);
            }
            for (place, hash) in (0..).zip(&hashes) {
                prop_assert_eq!(slots.find(*hash, |found| found == place), Some(place));
                let likely = slots.likely(slots.glance(*hash)).unwrap();
                prop_assert_eq!(hashes[likely as usize], *hash);
            }
            let is_known = hashes.contains(&other);
            prop_assert_eq!(slots.find(other, |_| true).is_some(), is_known);
            prop_assert_eq!(slots.likely(slots.glance(other)).is_some(), is_known);
        }
    }
}
