//! Counts of what a query has read and found.

use std::fmt;

/// How hits are found: the events of a block that pass `where`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Technique {
    /// Each event is scanned and evaluated.
    Plain,
    /// The text of whole blocks is searched, and only candidate events are evaluated.
    Search,
    /// Whole columns are read and evaluated.
    Columns,
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Technique::Plain => "each event scanned and evaluated",
            Technique::Search => "blocks searched, what is found evaluated",
            Technique::Columns => "columns read and evaluated",
        })
    }
}

/// Counts of a running query, up to the last row returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Events read: evaluated one by one, or searched with the rest of their block.
    pub events: u64,
    /// The bytes of their documents, if the query reads the documents.
    pub bytes: u64,
    /// The bytes of columns read, in stored (compressed) form. Columns in the cache are not counted.
    pub column_bytes: u64,
    /// Blocks of events read, completely or in part.
    pub blocks: u64,
    /// Blocks skipped because their times or statistics show that none of their events passes, or that of an order of which the first rows are wanted others come
    /// before all of theirs.
    pub blocks_skipped: u64,
    /// The events of those blocks, and those of other blocks that are outside of the query's period.
    pub events_skipped: u64,
    /// Blocks for which the statistics alone were enough.
    pub blocks_answered: u64,
    /// The events of those blocks.
    pub events_answered: u64,
    /// Elements of unnested collections, each of which is tested instead of its event. Of events that do not pass what is asked of them alone nothing is unnested.
    pub elements: u64,
    /// Events, or elements of unnested ones, that passed `where`; none of blocks that were skipped.
    pub hits: u64,
    /// Rows returned.
    pub rows: u64,
    /// How hits were found; `None` before anything was read. If blocks differ, the fastest technique used.
    pub technique: Option<Technique>,
}

impl Stats {
    /// Adds the counts of other blocks.
    pub(crate) fn add(&mut self, other: &Stats) {
        self.events += other.events;
        self.bytes += other.bytes;
        self.column_bytes += other.column_bytes;
        self.blocks += other.blocks;
        self.blocks_skipped += other.blocks_skipped;
        self.events_skipped += other.events_skipped;
        self.blocks_answered += other.blocks_answered;
        self.events_answered += other.events_answered;
        self.elements += other.elements;
        self.hits += other.hits;
        self.rows += other.rows;
        self.technique = self.technique.max(other.technique);
    }
}
