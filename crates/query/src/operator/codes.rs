//! The groups of a dictionary's entries: rows that share an entry are of one group, and its text is looked at once.

use crate::chunk::{CellText, Chunk};
use crate::dictionary::Dictionary;
use std::sync::Arc;

/// The groups of a dictionary's entries: cells that share an entry are of one group.
#[derive(Default)]
pub(super) struct Codes {
    dictionary: Option<Arc<Dictionary>>,
    /// The number of that dictionary in the present chunk.
    number: u32,
    /// For each entry one more than the number of its group; 0 where it was not met yet.
    groups: Vec<u32>,
}

impl Codes {
    /// Goes on with the cells of a chunk, which are entries of one dictionary if any.
    pub(super) fn begin(&mut self, chunk: &Chunk<'_>, cells: &[CellText]) {
        let number = match cells.first() {
            Some(CellText::Entry { dictionary, .. }) => *dictionary,
            _ => u32::MAX,
        };
        let dictionary = chunk.dictionary(number);
        self.number = number;
        let is_known = match (dictionary, &self.dictionary) {
            (Some(dictionary), Some(known)) => Arc::ptr_eq(dictionary, known),
            (None, _) | (_, None) => false,
        };
        if !is_known {
            self.groups.clear();
            self.groups.resize(dictionary.map_or(0, |dictionary| dictionary.len()), 0);
            self.dictionary = dictionary.cloned();
        }
    }

    #[inline]
    pub(super) fn get(&self, cell: CellText) -> Option<u32> {
        match cell {
            CellText::Entry { dictionary, code } if dictionary == self.number => {
                self.groups.get(code as usize)?.checked_sub(1)
            }
            _ => None,
        }
    }

    pub(super) fn set(&mut self, cell: CellText, group: u32) {
        if let CellText::Entry { dictionary, code } = cell
            && dictionary == self.number
            && let Some(place) = self.groups.get_mut(code as usize)
        {
            *place = group.saturating_add(1);
        }
    }
}
