//! What a query has read and found.

/// Counts of a running query, up to the row last given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events read.
    pub events: u64,
    /// The bytes of their documents.
    pub bytes: u64,
    /// Blocks of events read, or begun.
    pub blocks: u64,
    /// Events that passed `where`.
    pub hits: u64,
    /// Rows given.
    pub rows: u64,
}
