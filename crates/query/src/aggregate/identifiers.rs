//! Identifiers as traces have them, strings of 32 hexadecimal digits in lower case, told apart by their 16 bytes.

use crate::key_table::hexadecimal;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher;

/// The 16 bytes that digits stand for.
pub(super) type Identifier = [u64; 2];

/// The identifiers of owners, each once.
#[derive(Default)]
pub(super) struct Identifiers {
    known: HashTable<(u32, Identifier)>,
    hasher: RandomState,
}

/// The identifier that a JSON text is; none where it is another value, or spelled otherwise.
#[inline]
pub(super) fn identifier(json: &[u8]) -> Option<Identifier> {
    let digits: &[u8; 32] = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?.try_into().ok()?;
    let bits = hexadecimal(digits)?;
    Some([(bits >> 64) as u64, bits as u64])
}

impl Identifiers {
    /// Whether an identifier is new to its owner, which has it from now on.
    #[inline]
    pub(super) fn insert(&mut self, owner: u32, identifier: Identifier) -> bool {
        let Identifiers { known, hasher } = self;
        let hash = |(owner, [a, b]): &(u32, Identifier)| hasher.hash_one((*owner, *a, *b));
        let key = (owner, identifier);
        match known.entry(hash(&key), |other| *other == key, hash) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(key);
                true
            }
        }
    }

    /// The same of many of an owner, so that the processor waits for memory once for several of them: how many are new.
    pub(super) fn insert_all(&mut self, owner: u32, identifiers: &[Identifier]) -> u64 {
        const TOGETHER: usize = 32;
        let mut new = 0;
        for some in identifiers.chunks(TOGETHER) {
            let mut is_known = [false; TOGETHER];
            for (is_known, id) in is_known.iter_mut().zip(some) {
                let hash = self.hasher.hash_one((owner, id[0], id[1]));
                *is_known = self.known.find(hash, |other| *other == (owner, *id)).is_some();
            }
            for (is_known, id) in is_known.iter().zip(some) {
                new += u64::from(!is_known && self.insert(owner, *id));
            }
        }
        new
    }

    /// All of them with their owners.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Identifier)> {
        self.known.iter().copied()
    }

    /// What it has held in memory at most, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        // While a table grows there is one of half the size beside it.
        let bytes = self.known.num_buckets() * (size_of::<(u32, Identifier)>() + 1) / 2 * 3;
        let will_grow = crate::allocated::is_almost_full(self.known.len(), self.known.capacity());
        if will_grow { 2 * bytes } else { bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_identifier_is_its_bytes(bytes: u128) {
            let json = format!("\"{bytes:032x}\"");
            prop_assert_eq!(identifier(json.as_bytes()), Some([(bytes >> 64) as u64, bytes as u64]));
        }

        #[test]
        fn nothing_else_is_an_identifier(bytes: u128, place in 1usize..33, other: u8) {
            let mut json = format!("\"{bytes:032x}\"").into_bytes();
            json[place] = other;
            let is_digit = matches!(other, b'0'..=b'9' | b'a'..=b'f');
            prop_assert_eq!(identifier(&json).is_some(), is_digit);
        }

        #[test]
        fn many_are_told_apart_as_one_by_one(ids in prop::collection::vec((0u64..9, 0u64..9), 0..200), owner in 0u32..2) {
            let ids: Vec<Identifier> = ids.into_iter().map(|(a, b)| [a, b]).collect();
            let (mut one, mut all) = (Identifiers::default(), Identifiers::default());
            let new = ids.iter().filter(|id| one.insert(owner, **id)).count() as u64;
            prop_assert_eq!(all.insert_all(owner, &ids), new);
            prop_assert_eq!(all.insert_all(owner, &ids), 0);
            prop_assert_eq!(all.insert_all(owner + 1, &ids), new);
            prop_assert_eq!(all.iter().count() as u64, 2 * new);
        }
    }
}
