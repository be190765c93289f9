//! The interface to stored events: blocks of events, in groups whose times overlap.

use crate::column_block::{ColumnBlock, ColumnError, Path};
use crate::key_numbers::KeyNumbers;
use crate::places::Places;
use crate::stored::{Documents, SourceError, Times};
use std::sync::Arc;

/// A block of events, sorted by (instant, arrival).
///
/// The documents must be minified JSON objects in the normalised form that `tamias_json::validate` writes. Other bytes
/// are memory-safe, but may cause wrong results or an error.
pub trait Block: Send + Sync {
    /// The number of events, at least one.
    fn len(&self) -> usize;
    /// Always false: a block holds at least one event.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The instant and arrival number of the first event, and of the last. The range may be wider, but must contain every event.
    fn range(&self) -> ((u64, u64), (u64, u64));
    /// The instants and arrival numbers. If a call succeeds, later calls must succeed too.
    ///
    /// `None` if they are damaged and the block is to be skipped: the query continues as if the block held no events.
    ///
    /// # Errors
    /// If they cannot be read; the query ends with this error.
    fn times(&self) -> Result<Option<Times<'_>>, SourceError>;
    /// The documents. Only called if the query needs them. If a call succeeds, later calls must succeed too.
    ///
    /// `None` if they are damaged and the block is to be skipped: the query continues as if the block held no events.
    ///
    /// # Errors
    /// If they cannot be read; the query ends with this error.
    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError>;
    /// The block's columns, if it is stored in columns. They may have more events, which are [left out](ColumnBlock::without).
    ///
    /// # Errors
    /// If they cannot be opened; the query ends with this error.
    fn columns(&self) -> Result<Option<&ColumnBlock>, SourceError> {
        Ok(None)
    }
    /// Called when columns could not be read. Return `Ok` to skip the block, as if it held no events.
    ///
    /// # Errors
    /// The error that the query is to end with.
    fn leave_out(&self, error: ColumnError) -> Result<(), SourceError> {
        Err(error.into())
    }
    /// What earlier queries found in the documents, kept for later queries: the positions of keys, and columns of paths; `None` if nothing is kept for the block. They must
    /// belong to these documents.
    fn places(&self) -> Option<Arc<Places>> {
        None
    }
    /// The block's statistics, as [`collect_statistics`](crate::collect_statistics) wrote them, or [without their filter](crate::split_statistics); `None` if there are none.
    fn statistics(&self) -> Option<&[u8]>;
    /// The filter of statistics that are without. Only called where a query asks it. `None` if it cannot be read: then nothing is known of it.
    fn filter(&self) -> Option<&[u8]> {
        None
    }
    /// Where [`statistics`](Block::statistics) has none: those of these events and others that were deleted. They tell which events cannot pass, and no
    /// values.
    fn statistics_with_deleted(&self) -> Option<&[u8]> {
        None
    }
}

/// A source of events for a query.
pub trait Source: Send {
    /// The next group of blocks. Blocks whose time ranges overlap must be in one group, and groups must come in order of time,
    /// ascending or descending according to the query's direction. `None` after the last.
    ///
    /// # Errors
    /// If the source cannot be read further; the query ends with this error.
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError>;

    /// Called once, before the first group, with what the query will read of the blocks, so that a source with a slow medium can read ahead.
    fn expect(&mut self, _interest: Interest) {}

    /// The cache that the source keeps for later queries. It counts towards the query's
    /// [memory limit](crate::RunOptions::memory_bytes), and is shrunk when the query needs the memory.
    fn cache(&self) -> Option<Arc<dyn Cache>> {
        None
    }
}

/// What a query will read of blocks, as far as it is known in advance.
pub struct Interest {
    pub(crate) paths: Vec<Path>,
    pub(crate) reads_times: bool,
    pub(crate) reads_statistics: bool,
    pub(crate) reads_documents: bool,
    pub(crate) reads_all: bool,
    pub(crate) may_pass: BlockTest,
}

/// A condition on blocks.
type BlockTest = Box<dyn FnMut(&dyn Block) -> bool + Send>;

impl Interest {
    /// The frames that will be read of a block, as far as that is known, in ascending order.
    pub fn frames_of(&self, columns: &ColumnBlock) -> Vec<u32> {
        columns.frames_at(&self.paths, self.reads_times)
    }

    /// The paths that it knows of.
    pub fn paths(&self) -> &[Box<[Box<str>]>] {
        &self.paths
    }

    /// Whether anything is read of blocks, as far as that is known: statistics or columns.
    pub fn reads_blocks(&self) -> bool {
        self.reads_documents || self.reads_statistics || self.reads_times || !self.paths.is_empty()
    }

    /// Whether all blocks are read, in any case: there is no limit that the first of them may reach.
    pub fn reads_all(&self) -> bool {
        self.reads_all
    }

    /// Whether documents are read of each block in which events may pass, and so all columns.
    pub fn reads_documents(&self) -> bool {
        self.reads_documents
    }

    /// Whether statistics are read before a block is opened.
    pub fn reads_statistics(&self) -> bool {
        self.reads_statistics
    }

    /// Whether events of a block may pass, according to its times and statistics. This may read the statistics.
    pub fn may_pass(&mut self, block: &dyn Block) -> bool {
        (self.may_pass)(block)
    }
}

/// Memory that can be freed when it is needed elsewhere.
pub trait Cache: Send + Sync {
    /// The memory in use, in bytes.
    fn held_bytes(&self) -> usize;
    /// Frees memory until at most `bytes_max` bytes are in use.
    fn shrink(&self, bytes_max: usize);

    /// The numbers of keys that queries share; they are part of the memory in use. `None` if the blocks of every query are others.
    fn key_numbers(&self) -> Option<&KeyNumbers> {
        None
    }
}

/// The order in which a query reads events.
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
