//! Where events come from: blocks of them, in groups whose times overlap.

use crate::column_block::{ColumnBlock, ColumnError, Path};
use crate::places::Places;
use crate::stored::{Documents, SourceError, Times};
use std::sync::Arc;

/// Some events, sorted by (instant, arrival).
///
/// The documents are minified JSON objects in the normalised spelling that `tamias_json::validate` writes. All other bytes
/// are safe, but may get wrong answers, or an error.
pub trait Block: Send + Sync {
    /// How many events it has, at least one.
    fn len(&self) -> usize;
    /// Never: a block holds an event.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The first event's instant and arrival number, and the last one's. They may lie further apart, but no event lies outside.
    fn range(&self) -> ((u64, u64), (u64, u64));
    /// The instants and arrival numbers. Once they were given they are given again.
    ///
    /// None where they are damaged and shall be left out: the query goes on as if the block held no events.
    ///
    /// # Errors
    /// Whatever keeps them from being read; the query ends with it.
    fn times(&self) -> Result<Option<Times<'_>>, SourceError>;
    /// The documents. A query that can do without them does not ask; once they were given they are given again.
    ///
    /// None where they are damaged and shall be left out: the query goes on as if the block held no events.
    ///
    /// # Errors
    /// Whatever keeps them from being read; the query ends with it.
    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError>;
    /// The block in columns, if it is stored so.
    ///
    /// # Errors
    /// Whatever keeps it from being opened; the query ends with it.
    fn columns(&self) -> Result<Option<&ColumnBlock>, SourceError> {
        Ok(None)
    }
    /// Columns could not be read: nothing where the block shall be left out, as if it held no events.
    ///
    /// # Errors
    /// The reason, if the query shall end with it.
    fn leave_out(&self, error: ColumnError) -> Result<(), SourceError> {
        Err(error.into())
    }
    /// What queries before have found in the documents, and left for those to come; none where nothing is kept of the block. They must be those
    /// of these documents.
    fn places(&self) -> Option<Arc<Places>> {
        None
    }
    /// What the block says of itself, as [`collect_statistics`](crate::collect_statistics) wrote it; none where nothing was collected.
    fn statistics(&self) -> Option<&[u8]>;
}

/// Yields the events of a query.
pub trait Source: Send {
    /// The next group of blocks: those whose time ranges overlap stand in one group, and the groups come in time order,
    /// ascending or descending as the query's direction is. None after the last.
    ///
    /// # Errors
    /// Whatever keeps the source from reading on; the query ends with it.
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError>;

    /// Told once, before the first group: what the query will read of the blocks. A source that waits for a medium can ask for it ahead of time.
    fn expect(&mut self, _interest: Interest) {}

    /// What the source keeps of blocks that were read, for queries to come. It counts in the query's
    /// [budget of memory](crate::RunOptions::memory_bytes), and gives way to what the query holds.
    fn cache(&self) -> Option<Arc<dyn Cache>> {
        None
    }
}

/// What a query will read of blocks in columns, as far as that is known before.
pub struct Interest {
    pub(crate) paths: Vec<Path>,
    pub(crate) reads_statistics: bool,
    pub(crate) may_pass: BlockTest,
}

/// A condition on blocks.
type BlockTest = Box<dyn FnMut(&dyn Block) -> bool + Send>;

impl Interest {
    /// The paths whose values are read first, each as keys that documents spell like this.
    pub fn paths(&self) -> &[Box<[Box<str>]>] {
        &self.paths
    }

    /// Whether statistics are read before a block is opened.
    pub fn reads_statistics(&self) -> bool {
        self.reads_statistics
    }

    /// Whether events of a block may pass, as its times and statistics tell, which may be read for it.
    pub fn may_pass(&mut self, block: &dyn Block) -> bool {
        (self.may_pass)(block)
    }
}

/// Memory that can be done without.
pub trait Cache: Send + Sync {
    /// What it takes, in bytes.
    fn held_bytes(&self) -> usize;
    /// Gives memory back until the rest takes at most so many bytes.
    fn shrink(&self, bytes_max: usize);
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

/// A source without events.
pub(crate) struct NoEvents;

impl Source for NoEvents {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        Ok(None)
    }
}
