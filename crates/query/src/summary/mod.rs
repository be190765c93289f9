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
mod layout;
mod list;
mod names;
mod numbers;
mod occurrence;
mod read;
mod strings;
mod text;
mod write;

#[cfg(test)]
mod tests;

pub use check::{FalseSummary, check_summary};
pub(crate) use read::{Extreme, Key, Listed, Sum, Summary, Tally, Values, spelled};
pub use write::summarize;
