//! Several keys of a row as one number, where each is an entry of a dictionary or an interval: rows that share all of them are of one group, and
//! what they are spelled like is looked at once.

use crate::chunk::{CellText, Chunk, Column};
use crate::dictionary::Dictionary;
use crate::outputs::KeyColumn;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The groups of combinations that were met.
#[derive(Default)]
pub(super) struct Combined {
    /// The dictionaries of the keys, by which codes mean something.
    dictionaries: Vec<Option<Arc<Dictionary>>>,
    /// The numbers of intervals, by their beginnings.
    intervals: HashMap<u64, u64, RandomState>,
    /// For each combination one more than the number of its group; 0 where it was not met. Used where there are few combinations.
    few: Vec<u32>,
    /// The same where there may be many.
    many: HashMap<u64, u32, RandomState>,
}

/// More intervals than these are not told apart here: so many are met in a block seldom.
const INTERVALS_MAX: u64 = 1 << 12;
/// Up to so many combinations have a place each.
const FEW: u64 = 1 << 16;

/// How the keys of a chunk's rows are combined.
pub(super) struct Combination<'c> {
    keys: Vec<KeyCells<'c>>,
    are_few: bool,
}

enum KeyCells<'c> {
    Interval,
    /// Entries of a dictionary of so many, or undefined.
    Entries {
        cells: &'c [CellText],
        number: u32,
        entries: u64,
    },
}

impl Combined {
    /// How the keys of a chunk are combined; none where they cannot be.
    pub(super) fn begin<'c>(&mut self, chunk: &Chunk<'c>, keys: &[KeyColumn]) -> Option<Combination<'c>> {
        let mut all = Vec::with_capacity(keys.len());
        let mut dictionaries = Vec::with_capacity(keys.len());
        let mut combinations = 1u64;
        for key in keys {
            match key {
                KeyColumn::Time(_) => {
                    all.push(KeyCells::Interval);
                    dictionaries.push(None);
                    combinations = combinations.checked_mul(INTERVALS_MAX)?;
                }
                KeyColumn::Value { column, .. } => {
                    let Column::Values(cells) = chunk.column(*column) else { return None };
                    let number = cells.iter().find_map(|cell| match cell {
                        CellText::Entry { dictionary, .. } => Some(*dictionary),
                        CellText::Undefined | CellText::Block { .. } | CellText::Own { .. } => None,
                    });
                    let number = number.unwrap_or(u32::MAX);
                    let dictionary = chunk.dictionary(number);
                    let entries = dictionary.map_or(0, |dictionary| dictionary.len() as u64);
                    all.push(KeyCells::Entries { cells, number, entries });
                    dictionaries.push(dictionary.cloned());
                    combinations = combinations.checked_mul(entries + 1)?;
                }
            }
        }
        let is_same = |(a, b): (&Option<Arc<Dictionary>>, &Option<Arc<Dictionary>>)| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let are_few = combinations <= FEW;
        let are_same = self.dictionaries.len() == dictionaries.len()
            && self.dictionaries.iter().zip(&dictionaries).all(is_same);
        if !are_same {
            self.dictionaries = dictionaries;
            self.many.clear();
            self.few.clear();
        }
        if are_few {
            self.few.resize(combinations as usize, 0);
        }
        Some(Combination { keys: all, are_few })
    }

    /// The number of a row's combination; none where one of its keys is something else.
    #[inline]
    pub(super) fn of(
        &mut self,
        combination: &Combination<'_>,
        row: usize,
        interval: &Range<u64>,
    ) -> Option<u64> {
        let mut number = 0;
        for key in &combination.keys {
            number = match key {
                KeyCells::Interval => {
                    let next = self.intervals.len() as u64;
                    let interval = *self.intervals.entry(interval.start).or_insert(next);
                    if interval >= INTERVALS_MAX {
                        return None;
                    }
                    number * INTERVALS_MAX + interval
                }
                KeyCells::Entries { cells, number: dictionary, entries } => {
                    let code = match cells.get(row)? {
                        CellText::Undefined => 0,
                        CellText::Entry { dictionary: of, code } if of == dictionary => u64::from(*code) + 1,
                        CellText::Entry { .. } | CellText::Block { .. } | CellText::Own { .. } => {
                            return None;
                        }
                    };
                    number * (entries + 1) + code
                }
            };
        }
        Some(number)
    }

    /// The group of a combination, if it was met.
    #[inline]
    pub(super) fn group(&self, combination: &Combination<'_>, number: u64) -> Option<u32> {
        let known = match combination.are_few {
            true => self.few.get(number as usize).copied(),
            false => self.many.get(&number).copied(),
        };
        known?.checked_sub(1)
    }

    /// Notes the group of a combination.
    pub(super) fn set(&mut self, combination: &Combination<'_>, number: u64, group: u32) {
        let group = group.saturating_add(1);
        if !combination.are_few {
            self.many.insert(number, group);
        } else if let Some(place) = self.few.get_mut(number as usize) {
            *place = group;
        }
    }
}
