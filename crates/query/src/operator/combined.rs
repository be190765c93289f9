//! Several keys of a row as one number, where each is an entry of a dictionary or an interval: rows of a chunk that share all of them are of one
//! group, and what they are spelled like is looked at once.

use crate::chunk::{Chunk, Column};
use crate::outputs::KeyColumn;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The groups of the combinations of a chunk.
#[derive(Default)]
pub(super) struct Combined {
    /// For each row the number of its combination.
    numbers: Vec<u64>,
    are_few: bool,
    /// For each combination one more than the number of its group; 0 where it was not met yet. Used where there are few combinations.
    few: Vec<u32>,
    /// The same where there may be many.
    many: HashMap<u64, u32, RandomState>,
}

/// Up to so many combinations have a place each: about as many as a chunk has rows.
const FEW: u64 = 1 << 14;

impl Combined {
    /// Combines the keys of a chunk's rows, which are to be in the order of time: whether that can be done.
    pub(super) fn begin(&mut self, chunk: &Chunk<'_>, keys: &[KeyColumn]) -> bool {
        self.many.clear();
        self.few.clear();
        self.numbers.clear();
        self.numbers.resize(chunk.len(), 0);
        let mut combinations = 1u64;
        if !chunk.orders().is_sorted() {
            return false;
        }
        for key in keys {
            // Where there are too many combinations their numbers are not used.
            let size = match key {
                KeyColumn::Time(intervals) => {
                    // Those of an interval stand together.
                    let (mut interval, mut nth) = (0..0, 0);
                    for (number, order) in self.numbers.iter_mut().zip(chunk.orders()) {
                        if !interval.contains(&order.0) {
                            interval = intervals.around(order.0);
                            nth += 1;
                        }
                        *number = number.wrapping_add(combinations.wrapping_mul(nth - 1));
                    }
                    nth
                }
                KeyColumn::Value { column, .. } => {
                    let Column::Entries(entries) = chunk.column(*column) else { return false };
                    for (number, code) in self.numbers.iter_mut().zip(&entries.codes) {
                        *number = number.wrapping_add(combinations.wrapping_mul(u64::from(*code)));
                    }
                    entries.dictionary.len() as u64
                }
            };
            match combinations.checked_mul(size) {
                Some(more) => combinations = more,
                None => return false,
            }
        }
        self.are_few = combinations <= FEW;
        if self.are_few {
            self.few.resize(combinations as usize, 0);
        }
        true
    }

    /// The group of a row's combination, if it was met.
    #[inline]
    pub(super) fn group(&self, row: usize) -> Option<u32> {
        let number = self.numbers.get(row)?;
        let known = match self.are_few {
            true => self.few.get(*number as usize).copied(),
            false => self.many.get(number).copied(),
        };
        known?.checked_sub(1)
    }

    /// Notes the group of a row's combination.
    pub(super) fn set(&mut self, row: usize, group: u32) {
        let Some(number) = self.numbers.get(row) else { return };
        let group = group.saturating_add(1);
        if !self.are_few {
            self.many.insert(*number, group);
        } else if let Some(place) = self.few.get_mut(*number as usize) {
            *place = group;
        }
    }
}
