//! Rows that are held in memory, as text, a page after the other.

use crate::allocated::vec_bytes;
use crate::chunk::{Chunk, Columns};
use crate::value::Value;

/// Rows of so many columns.
pub(crate) struct HeldRows {
    pages: Vec<Columns>,
    width: usize,
    /// What all pages but the last take, in bytes.
    full_bytes: usize,
}

/// Which row it is. Later rows are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowId {
    pub(super) page: u32,
    /// A page has no more rows than this tells.
    pub(super) row: u16,
}

impl HeldRows {
    pub(super) fn new(width: usize) -> HeldRows {
        HeldRows { pages: Vec::new(), width, full_bytes: 0 }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// What they take, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        vec_bytes(&self.pages) + self.full_bytes + self.pages.last().map_or(0, Columns::held_bytes)
    }

    /// Adds a row of a chunk.
    pub(super) fn push(&mut self, chunk: &Chunk<'_>, row: usize) -> RowId {
        self.page().push_row(chunk, row);
        self.last()
    }

    /// Adds a row of values.
    pub(super) fn push_values<'v>(&mut self, values: impl Iterator<Item = &'v Value<'v>>) -> RowId {
        let page = self.page();
        let row = page.begin_row((0, 0));
        values.enumerate().for_each(|(column, value)| page.push(column, row, value, &[]));
        self.last()
    }

    /// A page with room.
    fn page(&mut self) -> &mut Columns {
        let is_full = self.pages.last().is_none_or(Columns::is_full);
        if is_full {
            if let Some(full) = self.pages.last_mut() {
                full.shrink();
                self.full_bytes += full.held_bytes();
            }
            self.pages.push(Columns::of_values(self.width));
        }
        let last = self.pages.len() - 1;
        &mut self.pages[last]
    }

    fn last(&self) -> RowId {
        let row = self.pages.last().map_or(0, |page| page.len().saturating_sub(1));
        RowId { page: self.pages.len().saturating_sub(1) as u32, row: row as u16 }
    }

    /// The page of a row, and its place there.
    #[inline]
    pub(super) fn chunk(&self, id: RowId) -> Option<(Chunk<'_>, usize)> {
        let page = self.pages.get(id.page as usize)?;
        Some((Chunk::new(page, &[]), id.row as usize))
    }

    /// A cell's JSON text; empty for undefined.
    pub(super) fn json(&self, id: RowId, column: usize) -> &[u8] {
        self.chunk(id).map_or(&[], |(chunk, row)| chunk.json_at(column, row))
    }
}
