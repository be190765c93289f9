//! What a block says of itself, so that a query can pass it over, or answer from it, without reading a document.
//!
//! [`collect_statistics`] writes that when a block is sealed, [`Statistics`] reads it, and [`check_statistics`] finds
//! what is not true of it. Every byte is specified in `docs/statistics.md`. All
//! facts are about the keys of the documents' top level, and exact; what is not known is told to be unknown. Any bytes are
//! safe to read: of those that are malformed nothing is known.

mod check;
mod collect;
mod facts;
mod filter;
mod hash;
mod layout;
mod list;
mod names;
mod numbers;
mod occurrence;
mod packed;
mod read;
mod strings;
mod text;
mod texts;
mod write;

#[cfg(test)]
mod tests;

pub use check::{FalseStatistics, check_statistics};
pub use packed::{pack_statistics, unpack_statistics};
pub(crate) use read::{Extreme, Key, Listed, Statistics, Sum, Tally, Values, spelled};
pub use texts::statistics_texts;
pub use write::collect_statistics;
