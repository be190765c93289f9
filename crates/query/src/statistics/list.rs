//! The distinct values of a key, as long as they are few.

use super::layout::{LISTED_BYTES_MAX, LISTED_MAX};
use super::text::{Text, Words};

/// A value in its spelling, how many events have it, and which is the first.
pub(super) struct Entry<'d> {
    pub(super) text: Text<'d>,
    pub(super) count: u32,
    pub(super) first: u32,
}

pub(super) struct List<'d> {
    pub(super) entries: Vec<Entry<'d>>,
    /// By the hash of its text, the number of an entry, from 1.
    table: [u8; TABLE],
}

const TABLE: usize = 4 * LISTED_MAX;
/// Room at first.
const ENTRIES: usize = 16;

impl<'d> List<'d> {
    pub(super) fn new() -> List<'d> {
        List { entries: Vec::new(), table: [0; TABLE] }
    }

    /// Counts the value from `start` up to `end`: whether the list has room for it.
    #[inline(always)]
    pub(super) fn add(&mut self, documents: &'d [u8], start: usize, end: usize, event: u32) -> bool {
        // Most values are known, and found at the first place; short ones by their words alone.
        let text = match Words::of_short(documents, start, end) {
            Some(words) => {
                let number = usize::from(self.table[words.hash() % TABLE]);
                if let Some(entry) = self.entries.get_mut(number.wrapping_sub(1))
                    && entry.text.words == words
                    && entry.text.is_short()
                {
                    entry.count += 1;
                    return true;
                }
                Text::at(documents, start, end)
            }
            None => {
                let text = Text::at(documents, start, end);
                let number = text.map_or(0, |text| usize::from(self.table[text.words.hash() % TABLE]));
                if let (Some(text), Some(entry)) = (text, self.entries.get_mut(number.wrapping_sub(1)))
                    && entry.text.is(&text)
                {
                    entry.count += 1;
                    return true;
                }
                text
            }
        };
        text.is_none_or(|text| self.search(text, event))
    }

    #[inline(never)]
    fn search(&mut self, text: Text<'d>, event: u32) -> bool {
        let mut place = text.words.hash() % TABLE;
        // Most of the places are empty.
        while let Some(&number @ 1..) = self.table.get(place) {
            if let Some(entry) = self.entries.get_mut(usize::from(number) - 1)
                && entry.text.is(&text)
            {
                entry.count += 1;
                return true;
            }
            place = (place + 1) % TABLE;
        }
        if self.entries.len() >= LISTED_MAX || text.bytes.len() > LISTED_BYTES_MAX {
            return false;
        }
        if self.entries.is_empty() {
            self.entries.reserve(ENTRIES);
        }
        self.entries.push(Entry { text, count: 1, first: event });
        if let Some(number) = self.table.get_mut(place) {
            *number = self.entries.len() as u8;
        }
        true
    }
}
