//! What goes in: events, and what is collected from the blocks that they form.

/// An event as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// When it happened: ticks of 100 ns since 0001-01-01T00:00:00Z. Any value is accepted.
    pub instant: u64,
    /// The document: at least one byte, none of them a line feed.
    pub bytes: &'a [u8],
}

/// Says what a block holds, in bytes that the store keeps and does not look into.
pub trait Statistics: Send + Sync {
    /// Appends the statistics of a block. `documents` are the documents, each ended by a line feed; `ends` are the offsets of these line
    /// feeds. They have at most 16 MiB: of longer ones nothing is kept.
    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>);
}

/// No statistics.
impl Statistics for () {
    fn collect(&self, _: &[u8], _: &[u32], _: &mut Vec<u8>) {}
}
