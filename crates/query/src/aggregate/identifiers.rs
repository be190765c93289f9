//! Identifiers as traces have them, strings of 32 hexadecimal digits in lower case, and UUIDs, which have dashes between them: told apart by their 16 bytes.

use crate::key_table::{dashed, hexadecimal};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher;

/// The 16 bytes that digits stand for, and whether there are dashes between these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identifier {
    words: [u64; 2],
    is_dashed: bool,
}

/// An identifier of an owner.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Owned {
    words: [u64; 2],
    owner: u32,
    is_dashed: bool,
}

impl Owned {
    #[inline]
    fn new(owner: u32, Identifier { words, is_dashed }: Identifier) -> Owned {
        Owned { words, owner, is_dashed }
    }

    #[inline]
    fn hash(&self, hasher: &RandomState) -> u64 {
        let [a, b] = self.words;
        hasher.hash_one((self.owner, a, b))
    }
}

/// The identifiers of owners, each once.
#[derive(Default)]
pub(super) struct Identifiers {
    known: HashTable<Owned>,
    hasher: RandomState,
}

/// The identifier that a JSON text is; none where it is another value, or spelled otherwise.
#[inline]
pub(super) fn identifier(json: &[u8]) -> Option<Identifier> {
    let text = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let (bits, is_dashed) = match text.len() {
        32 => (hexadecimal(text.first_chunk()?)?, false),
        36 => (dashed(text.first_chunk()?)?, true),
        _ => return None,
    };
    Some(Identifier { words: [(bits >> 64) as u64, bits as u64], is_dashed })
}

impl Identifiers {
    /// Whether an identifier is new to its owner, which has it from now on.
    #[inline]
    pub(super) fn insert(&mut self, owner: u32, identifier: Identifier) -> bool {
        let Identifiers { known, hasher } = self;
        let key = Owned::new(owner, identifier);
        match known.entry(key.hash(hasher), |other| *other == key, |known| known.hash(hasher)) {
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
                let key = Owned::new(owner, *id);
                *is_known = self.known.find(key.hash(&self.hasher), |other| *other == key).is_some();
            }
            for (is_known, id) in is_known.iter().zip(some) {
                new += u64::from(!is_known && self.insert(owner, *id));
            }
        }
        new
    }

    /// All of them with their owners.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Identifier)> {
        let own =
            |known: &Owned| (known.owner, Identifier { words: known.words, is_dashed: known.is_dashed });
        self.known.iter().map(own)
    }

    /// What it has held in memory at most, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        // While a table grows there is one of half the size beside it.
        let bytes = self.known.num_buckets() * (size_of::<Owned>() + 1) / 2 * 3;
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
        fn an_identifier_is_its_bytes(bits: u128) {
            let words = [(bits >> 64) as u64, bits as u64];
            let hex = format!("{bits:032x}");
            let dashed =
                [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
            for (text, is_dashed) in [(hex, false), (dashed, true)] {
                let found = identifier(format!("\"{text}\"").as_bytes());
                prop_assert_eq!(found, Some(Identifier { words, is_dashed }));
            }
        }

        #[test]
        fn many_are_told_apart_as_one_by_one(
            ids in prop::collection::vec((0u64..9, 0u64..5, any::<bool>()), 0..200),
            owner in 0u32..2,
        ) {
            let identifier = |(a, b, is_dashed)| Identifier { words: [a, b], is_dashed };
            let ids: Vec<Identifier> = ids.into_iter().map(identifier).collect();
            let (mut one, mut all) = (Identifiers::default(), Identifiers::default());
            let new = ids.iter().filter(|id| one.insert(owner, **id)).count() as u64;
            prop_assert_eq!(all.insert_all(owner, &ids), new);
            prop_assert_eq!(all.insert_all(owner, &ids), 0);
            prop_assert_eq!(all.insert_all(owner + 1, &ids), new);
            prop_assert_eq!(all.iter().count() as u64, 2 * new);
        }
    }
}
