//! The columns of a block, stored or made of its documents.

use super::text_columns::TextColumns;
use crate::column_block::{ColumnBlock, ColumnError, PathColumn, Use};
use crate::dictionary::Dictionary;
use crate::stored::Times;
use std::ops::Range;
use std::sync::Arc;

/// What was read of a block, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Read {
    /// Of columns, as they are stored.
    pub(super) column_bytes: u64,
    pub(super) document_bytes: u64,
}

/// The columns of a block.
pub(crate) enum BlockColumns<'b> {
    Stored(&'b ColumnBlock),
    /// Of a block of text. They tell what stands at paths, and nothing of arrays and of the keys that there are.
    Text(TextColumns<'b>),
}

impl<'b> BlockColumns<'b> {
    /// The stored ones, which tell more.
    pub(super) fn stored(&self) -> Option<&'b ColumnBlock> {
        match self {
            BlockColumns::Stored(block) => Some(block),
            BlockColumns::Text(_) => None,
        }
    }

    /// Whether they are made of documents.
    pub(in crate::scan) fn is_text(&self) -> bool {
        matches!(self, BlockColumns::Text(_))
    }

    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        match self {
            BlockColumns::Stored(block) => block.len(),
            BlockColumns::Text(text) => text.len(),
        }
    }

    /// The instants and arrival numbers.
    pub(super) fn times(&self) -> Result<Times<'b>, ColumnError> {
        match self {
            BlockColumns::Stored(block) => block.times(),
            BlockColumns::Text(text) => Ok(text.times()),
        }
    }

    /// What stands at a path of keys, as documents spell them.
    pub(super) fn at(&self, path: &[Box<str>]) -> Result<Arc<PathColumn>, ColumnError> {
        self.at_for(Use::Values, path)
    }

    /// The same for some use.
    pub(super) fn at_for(&self, usage: Use, path: &[Box<str>]) -> Result<Arc<PathColumn>, ColumnError> {
        match self {
            BlockColumns::Stored(block) => block.at_for(usage, path),
            BlockColumns::Text(text) => text.at(path),
        }
    }

    /// The same if it was decoded before, with its texts or, of keys, without.
    pub(super) fn known_keys(&self, path: &[Box<str>]) -> Option<Arc<PathColumn>> {
        self.stored()?.known_for(Use::Keys, path)
    }

    /// The same where it makes no difference which event has what: others may seem to have it.
    pub(super) fn at_in_any_order(
        &self,
        usage: Use,
        path: &[Box<str>],
    ) -> Result<Arc<PathColumn>, ColumnError> {
        match self {
            BlockColumns::Stored(block) => block.at_in_any_order(usage, path),
            BlockColumns::Text(text) => text.at(path),
        }
    }

    /// Whether something stands there; other values than `null` may seem to be others.
    pub(super) fn presence(&self, path: &[Box<str>]) -> Result<Arc<PathColumn>, ColumnError> {
        match self {
            BlockColumns::Stored(block) => block.presence(path),
            BlockColumns::Text(text) => text.at(path),
        }
    }

    /// The same where some rows are looked at, in ascending order; others may seem to have nothing.
    pub(super) fn at_rows(&self, path: &[Box<str>], rows: &[u32]) -> Result<Arc<PathColumn>, ColumnError> {
        match self {
            BlockColumns::Stored(block) => block.at_rows(path, rows),
            BlockColumns::Text(text) => text.at_rows(path, rows),
        }
    }

    /// Whether the column of a path is there already, for all rows.
    pub(super) fn has(&self, path: &[Box<str>]) -> bool {
        match self {
            BlockColumns::Stored(block) => block.has(path),
            BlockColumns::Text(text) => text.has(path),
        }
    }

    /// The documents of some rows, each an entry.
    pub(super) fn documents_of(&self, rows: &[u32]) -> Result<Dictionary, ColumnError> {
        match self {
            BlockColumns::Stored(block) => block.documents_of(rows),
            BlockColumns::Text(text) => text.documents_of(rows),
        }
    }

    /// Where the events of a range are that is counted without the deleted ones.
    pub(super) fn places(&self, events: Range<usize>) -> Range<usize> {
        match self {
            BlockColumns::Stored(block) => block.places(events),
            BlockColumns::Text(_) => events,
        }
    }

    /// The places in a range where events are deleted.
    pub(super) fn deleted_in(&self, events: &Range<usize>) -> &'b [Range<u32>] {
        self.stored().map_or(&[], |block| block.deleted_in(events))
    }

    /// What was read since this was asked last.
    pub(super) fn take_read(&self) -> Read {
        match self {
            BlockColumns::Stored(block) => Read { column_bytes: block.take_read_bytes(), document_bytes: 0 },
            BlockColumns::Text(text) => Read { column_bytes: 0, document_bytes: text.take_read_bytes() },
        }
    }
}
