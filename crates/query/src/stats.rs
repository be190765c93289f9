//! What a query has read and found.

use crate::scan::PLAIN;

/// Counts of a running query, up to the row last given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Events read: evaluated one by one, or searched in with the rest of their block.
    pub events: u64,
    /// The bytes of their documents, where the query looks into them.
    pub bytes: u64,
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
    /// How hits were looked for, in a few words; empty before anything was read.
    pub technique: &'static str,
}

impl Stats {
    /// Adds what was counted of other blocks.
    pub(crate) fn add(&mut self, other: &Stats) {
        self.events += other.events;
        self.bytes += other.bytes;
        self.blocks += other.blocks;
        self.blocks_skipped += other.blocks_skipped;
        self.events_skipped += other.events_skipped;
        self.blocks_answered += other.blocks_answered;
        self.events_answered += other.events_answered;
        self.elements += other.elements;
        self.hits += other.hits;
        self.rows += other.rows;
        if self.technique.is_empty() || !matches!(other.technique, "" | PLAIN) {
            self.technique = other.technique;
        }
    }
}
