//! The hash of a value's structure: of its keys in their order, and the kinds of its values.
//!
//! Values with equal hashes are taken for alike, and events may be written by anybody: each process has a seed of its own, so that nobody
//! can choose two that collide. Nothing that is written depends on a hash.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use crate::shape::Leaf;
use crate::walk::{Found, Visitor};

/// Hashes that are good as they are.
#[derive(Default)]
pub(crate) struct Same(u64);

impl std::hash::Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// An odd number without pattern: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// What hashes begin with: random, and never zero.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(MULTIPLIER) | 1);

/// Folds a word into a hash: both halves of a product, as wyhash and foldhash do.
#[inline(always)]
fn mix(hash: u64, word: u64) -> u64 {
    mix_two(hash ^ word, MULTIPLIER)
}

/// Folds two words, at least one of which is hidden by a hash.
#[inline(always)]
fn mix_two(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Folds a key and the kind of its value into a hash.
#[inline(always)]
fn mix_member(hash: u64, key: &[u8], kind: u8) -> u64 {
    let length = ((key.len() as u64) << 8 | u64::from(kind)).wrapping_mul(MULTIPLIER);
    if let (Some(first), Some(last)) = (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        let mut hash = hash;
        if key.len() > 16 {
            // What is left at the end is in the last word.
            for word in key[8..].as_chunks().0 {
                hash = mix(hash.rotate_left(5), u64::from_le_bytes(*word));
            }
        }
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        mix_two(hash ^ first, hash.rotate_left(32) ^ length ^ last)
    } else {
        mix_two(hash ^ short_word(key), hash.rotate_left(32) ^ length)
    }
}

/// A word that holds all bytes of a text of less than eight.
#[inline(always)]
fn short_word(text: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
    } else {
        let byte = |at: usize| u64::from(text.get(at).copied().unwrap_or_default());
        byte(0) << 16 | byte(text.len() / 2) << 8 | byte(text.len().saturating_sub(1))
    }
}

/// A word that most texts differ in which differ at all: of their ends, and of how long they are.
#[inline(always)]
pub(crate) fn of_ends(text: &[u8]) -> u64 {
    let ends = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29),
        _ => short_word(text),
    };
    (ends ^ text.len() as u64).wrapping_mul(MULTIPLIER)
}

/// The hash of a text.
#[inline(always)]
pub(crate) fn of_bytes(text: &[u8]) -> u64 {
    mix_member(*SEED, text, 0)
}

/// The hash of numbers. That of the differences of two sequences is the difference of their hashes.
pub(crate) fn of_numbers(numbers: &[i64]) -> u64 {
    let multiplier = *SEED;
    numbers
        .iter()
        .fold(0, |hash: u64, number| hash.wrapping_mul(multiplier).wrapping_add(number.cast_unsigned()))
}

/// The hash of a text that follows what has another hash.
pub(crate) fn of_next(before: u64, text: &[u8]) -> u64 {
    mix_member(mix(*SEED, before), text, 0)
}

const CLOSE: u8 = 200;
const OPEN: u8 = 201;

/// The first walk, over every value: its hash, and what is in it.
pub(crate) struct Hashing<'f> {
    hash: u64,
    /// What is in it.
    found: &'f mut Vec<Found>,
}

impl<'f> Hashing<'f> {
    /// The hash of an element of a list begins with the list's number.
    pub(crate) fn new(list: u32, found: &'f mut Vec<Found>) -> Hashing<'f> {
        Hashing { hash: mix(*SEED, u64::from(list) << 1), found }
    }

    /// The hash of all that was visited.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}

/// A hash for elements of a list that are kept as text: theirs begins with another number than that of a structure.
pub(crate) fn of_text(list: u32) -> u64 {
    mix(*SEED, u64::from(list) << 1 | 1)
}

impl<'d> Visitor<'d> for Hashing<'_> {
    #[inline(always)]
    fn open(&mut self, key: Option<&'d [u8]>) {
        self.hash = mix_member(self.hash, key.unwrap_or_default(), OPEN);
    }

    #[inline(always)]
    fn leaf(&mut self, key: Option<&'d [u8]>, kind: Leaf, found: Option<Found>) {
        self.hash = mix_member(self.hash, key.unwrap_or_default(), kind as u8);
        self.found.extend(found);
    }

    #[inline(always)]
    fn close(&mut self) {
        self.hash = mix(self.hash, u64::from(CLOSE));
    }
}
