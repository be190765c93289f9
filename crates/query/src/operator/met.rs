//! Several keys of a row as one number: each value by the number that it has among those of its key. Combinations that were met before are told
//! by numbers, and only a new one is spelt.

use crate::chunk::{Chunk, Column};
use crate::key_table::{KeyTable, Spelling};
use crate::outputs::KeyColumn;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;

/// The combinations of keys that were met, with their groups.
#[derive(Default)]
pub(super) struct Met {
    /// For each key its values.
    tables: Vec<KeyTable>,
    /// The interval of the last row, and how many there were.
    interval: (Range<u64>, u32),
    groups: HashMap<u128, u32, RandomState>,
    /// For each row of a chunk its combination.
    combinations: Vec<u128>,
    known: Vec<u32>,
    /// There are too many, so that spelling them takes less.
    are_too_many: bool,
}

/// So many keys have room in a combination, each in 32 bits.
const KEYS_MAX: usize = 4;
const COMBINATIONS_MAX: usize = 1 << 14;
/// What the values of the keys may take.
const BYTES_MAX: usize = 4 << 20;

impl Met {
    /// Finds the combinations of a chunk's rows: whether that can be done.
    pub(super) fn begin(&mut self, chunk: &Chunk<'_>, keys: &[KeyColumn]) -> bool {
        let is_told = |key: &KeyColumn| match key {
            KeyColumn::Time(_) => true,
            KeyColumn::Value { column, .. } => matches!(chunk.column(*column), Column::Values(_)),
        };
        if self.are_too_many || keys.len() > KEYS_MAX || !keys.iter().all(is_told) {
            return false;
        }
        if self.groups.len() > COMBINATIONS_MAX || self.bytes() > BYTES_MAX {
            *self = Met { are_too_many: true, ..Met::default() };
            return false;
        }
        self.combinations.clear();
        self.combinations.resize(chunk.len(), 0);
        self.tables.resize_with(keys.len(), KeyTable::default);
        for (place, (key, table)) in keys.iter().zip(&mut self.tables).enumerate() {
            let shift = 32 * place as u32;
            match key {
                KeyColumn::Time(intervals) => {
                    let (interval, nth) = &mut self.interval;
                    for (combination, order) in self.combinations.iter_mut().zip(chunk.orders()) {
                        if !interval.contains(&order.0) {
                            *interval = intervals.around(order.0);
                            *nth = nth.wrapping_add(1);
                        }
                        *combination |= u128::from(*nth) << shift;
                    }
                }
                KeyColumn::Value { column, ci } => {
                    let Column::Values(cells) = chunk.column(*column) else { return false };
                    let texts = cells.iter().map(|cell| chunk.json(*cell));
                    table.look_ahead(0, texts, &mut self.known);
                    for ((combination, known), cell) in
                        self.combinations.iter_mut().zip(&self.known).zip(cells)
                    {
                        let number = known.checked_sub(1).unwrap_or_else(|| {
                            table.find(0, Spelling::Value { json: chunk.json(*cell), ci: *ci }).number()
                        });
                        *combination |= u128::from(number) << shift;
                    }
                }
            }
        }
        true
    }

    /// The group of a row's combination, if it was met.
    #[inline]
    pub(super) fn group(&self, row: usize) -> Option<u32> {
        self.groups.get(self.combinations.get(row)?).copied()
    }

    /// Notes the group of a row's combination.
    pub(super) fn set(&mut self, row: usize, group: u32) {
        if let Some(combination) = self.combinations.get(row) {
            self.groups.insert(*combination, group);
        }
    }

    /// What it holds, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        let tables: usize = self.tables.iter().map(KeyTable::bytes).sum();
        tables + self.groups.capacity() * size_of::<(u128, u32)>()
    }
}
