//! Where events come from: blocks of them, in groups whose times overlap.

use crate::chunk::Order;
use std::sync::Arc;

/// Some events, sorted by (instant, arrival).
///
/// The documents are minified JSON objects in the normalised spelling that `tamias_json::validate` writes. All other bytes
/// are safe, but may get wrong answers, or an error.
pub trait Block: Send + Sync {
    /// The documents, each followed by a line feed. A query that can do without them does not ask; once they were given they
    /// are given again.
    ///
    /// None where they are damaged and shall be left out: the query goes on as if the block held no events.
    ///
    /// # Errors
    /// Whatever keeps them from being read; the query ends with it.
    fn documents(&self) -> Result<Option<&[u8]>, SourceError>;
    /// For each event the offset just past its document, as a little-endian `u32`.
    fn ends(&self) -> &[[u8; 4]];
    /// For each event its instant: ticks of 100 ns since 0001-01-01T00:00:00Z, as a little-endian `u64`.
    fn instants(&self) -> &[[u8; 8]];
    /// For each event its arrival number, as a little-endian `u64`.
    fn arrivals(&self) -> &[[u8; 8]];
    /// What the block says of itself, as [`collect_statistics`](crate::collect_statistics) wrote it; none where nothing was collected.
    fn statistics(&self) -> Option<&[u8]>;
}

/// Why a source cannot go on.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// Yields the events of a query.
pub trait Source: Send {
    /// The next group of blocks: those whose time ranges overlap stand in one group, and the groups come in time order,
    /// ascending or descending as the query's direction is. None after the last.
    ///
    /// # Errors
    /// Whatever keeps the source from reading on; the query ends with it.
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError>;
}

/// The order in which a query wants its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The earliest first.
    #[default]
    Ascending,
    /// The latest first.
    Descending,
}

/// How many events a block has: as many as are told of in full.
pub(crate) fn event_count(block: &dyn Block) -> usize {
    block.ends().len().min(block.instants().len()).min(block.arrivals().len())
}

/// The instant and arrival number of an event.
#[inline]
pub(crate) fn order_of(block: &dyn Block, index: usize) -> Order {
    order_at(block.instants(), block.arrivals(), index)
}

/// The same, of the block's instants and arrival numbers.
#[inline]
pub(crate) fn order_at(instants: &[[u8; 8]], arrivals: &[[u8; 8]], index: usize) -> Order {
    let number = |numbers: &[[u8; 8]]| numbers.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes));
    (number(instants), number(arrivals))
}

/// A source without events.
pub(crate) struct NoEvents;

impl Source for NoEvents {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        Ok(None)
    }
}
