//! The documents of some rows, put together once for all that asks about them.

use crate::dictionary::Dictionary;

/// The documents of some rows.
pub(super) struct RowDocuments {
    /// In ascending order.
    rows: Vec<u32>,
    documents: Dictionary,
}

impl RowDocuments {
    /// Those of rows in ascending order, each an entry.
    pub(super) fn new(rows: Vec<u32>, documents: Dictionary) -> RowDocuments {
        RowDocuments { rows, documents }
    }

    /// The number of a row among them; none where it is none of them.
    pub(super) fn place(&self, row: u32) -> Option<u32> {
        self.rows.binary_search(&row).ok().map(|place| place as u32)
    }

    /// The document of a row; empty where it is none of them.
    pub(super) fn get(&self, row: u32) -> &[u8] {
        self.place(row).map_or(&[], |place| self.documents.get(place))
    }
}
