//! What a query has read and found.

use std::fmt;

/// How hits are looked for: the events of a block that pass `where`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Technique {
    /// Each event is scanned and evaluated.
    Plain,
    /// Blocks are searched, and what is found there is evaluated.
    Search,
    /// Columns are read, and evaluated as such.
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

/// Counts of a running query, up to the row last given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Events read: evaluated one by one, or searched in with the rest of their block.
    pub events: u64,
    /// The bytes of their documents, where the query looks into them.
    pub bytes: u64,
    /// The bytes of columns that were read, as they are stored. What was read before, and is kept, is not read again.
    pub column_bytes: u64,
    /// Blocks of events read, or begun.
    pub blocks: u64,
    /// Blocks passed over, since what is known of them shows that none of their events passes.
    pub blocks_skipped: u64,
    /// The events of those blocks, and those of others that are outside of the query's time.
    pub events_skipped: u64,
    /// Blocks whose statistics told all that was asked of their events.
    pub blocks_answered: u64,
    /// The events of those blocks.
    pub events_answered: u64,
    /// Elements of unnested collections, each tested in place of its event.
    pub elements: u64,
    /// Events, or elements of unnested ones, that passed `where`.
    pub hits: u64,
    /// Rows given.
    pub rows: u64,
    /// How hits were looked for; none before anything was read. Of several, the quickest.
    pub technique: Option<Technique>,
}

impl Stats {
    /// Adds what was counted of other blocks.
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
