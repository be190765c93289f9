//! What a block says of itself, so that a query can pass it over, or answer from it, without reading a document.
//!
//! [`summarize`] writes it when a block is sealed, [`Summary`] reads it, and [`check_summary`] finds
//! what is not true of it. Every byte is specified in `docs/summaries.md`. All
//! facts are about the keys of the documents' top level, and exact; what is not known is told to be unknown. Any bytes are
//! safe to read: of those that are malformed nothing is known.

mod check;
mod collect;
mod digits;
mod facts;
mod filter;
mod hash;
mod list;
mod names;
mod numbers;
mod read;
mod strings;
mod text;
mod write;

#[cfg(test)]
mod tests;

pub use check::{FalseSummary, check_summary};
pub(crate) use read::{Extreme, Key, Listed, Sum, Summary, Tally, Values, spelled};
pub use write::summarize;

/// The first byte. What another version wrote is not understood, and nothing is known then.
const VERSION: u8 = 1;
/// Version, flags, number of keys, number of events, bytes of the filter.
const HEADER_BYTES: usize = 12;

/// Flags of a summary.
mod flags {
    /// There are keys that are not listed.
    pub(super) const INCOMPLETE: u8 = 1;
    /// A document holds an object or array.
    pub(super) const NESTED: u8 = 2;
}

/// Flags of a key.
mod key_flags {
    /// The bytes `"key":` occur nowhere but as this key.
    pub(super) const SIMPLE: u8 = 1;
    /// Some event has it more than once: no values are told.
    pub(super) const REPEATED: u8 = 2;
    /// All distinct strings are listed.
    pub(super) const STRINGS: u8 = 4;
    /// All distinct spellings of numbers are listed.
    pub(super) const NUMBERS: u8 = 8;
    /// The least and the greatest number are told.
    pub(super) const RANGE: u8 = 16;
    /// The sum of the numbers is told.
    pub(super) const SUM: u8 = 32;
    /// All strings up to [`FILTERED_BYTES_MAX`](super::FILTERED_BYTES_MAX) are in the filter.
    pub(super) const FILTER: u8 = 64;
    /// The events are told in which the bytes `"key":` occur elsewhere.
    pub(super) const ELSEWHERE: u8 = 128;
}

/// The most keys that are listed.
const KEYS_MAX: usize = 512;
/// The longest key that is listed, in bytes as it is stored.
const NAME_BYTES_MAX: usize = 256;
/// HEURISTIC: the most distinct values of a kind that are listed.
const LISTED_MAX: usize = 64;
/// The longest value that is listed.
const LISTED_BYTES_MAX: usize = 256;
/// HEURISTIC: the longest string in the filter. Longer ones are prose, which nobody asks for as a whole.
const FILTERED_BYTES_MAX: usize = 64;
