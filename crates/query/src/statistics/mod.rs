//! Statistics of a block, from which a query can skip it, or answer from it, without reading a document.
//!
//! [`collect_statistics`] writes them when a block is sealed, [`Statistics`] reads them, and [`check_statistics`] checks
//! them against the documents. Every byte is specified in `docs/statistics.md`. All
//! facts are about the documents' top-level keys, and nested paths of columns, and exact; unknown facts are marked as unknown. Any bytes are
//! safe to read: malformed statistics count as empty.

mod check;
mod collect;
mod columns;
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
pub use columns::collect_surveyed_statistics;
pub use packed::{SplitStatistics, join_statistics, knows_statistics, split_statistics, unpack_statistics};
pub(crate) use read::{Extreme, Key, Listed, Statistics, Sum, Tally, Values, spelled};
pub use texts::statistics_texts;
pub use write::collect_statistics;
