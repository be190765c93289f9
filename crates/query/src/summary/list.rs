//! The distinct values of a key, as long as they are few.

use super::hash::{quick, same};
use super::{LISTED_BYTES_MAX, LISTED_MAX};

/// A value in its spelling, how many events have it, and which is the first.
pub(super) struct Entry<'d> {
    pub(super) text: &'d [u8],
    pub(super) count: u32,
    pub(super) first: u32,
}

pub(super) struct List<'d> {
    pub(super) entries: Vec<Entry<'d>>,
    /// By the hash of its text, the number of an entry, from 1.
    table: [u8; TABLE],
}

const TABLE: usize = 2 * LISTED_MAX;

impl<'d> List<'d> {
    pub(super) fn new() -> List<'d> {
        List { entries: Vec::new(), table: [0; TABLE] }
    }

    /// Counts a value: whether the list has room for it.
    #[inline]
    pub(super) fn add(&mut self, text: &'d [u8], event: u32) -> bool {
        let mut place = quick(text) as usize % TABLE;
        // Half of the places are empty at least.
        while let Some(&number @ 1..) = self.table.get(place) {
            if let Some(entry) = self.entries.get_mut(usize::from(number) - 1)
                && same(entry.text, text)
            {
                entry.count += 1;
                return true;
            }
            place = (place + 1) % TABLE;
        }
        if self.entries.len() >= LISTED_MAX || text.len() > LISTED_BYTES_MAX {
            return false;
        }
        self.entries.push(Entry { text, count: 1, first: event });
        if let Some(number) = self.table.get_mut(place) {
            *number = self.entries.len() as u8;
        }
        true
    }
}
