//! Groups shared out by their keys, where these are very many; or, where there are none, the values of the one aggregate, which counts how many differ.
//!
//! If each thread had groups of its own, all would have most keys, and to merge them would take as long as to find them. So each group is in one of some parts, of which a
//! thread takes one at a time for the rows of a chunk that belong there. In the end the parts follow one another, and no key is looked up again.

use super::group::Groups;
use super::kept::KeptOf;
use super::threads::lock;
use crate::chunk::{Chunk, Column, Columns, Entries, Split};
use crate::control::Control;
use crate::error::ExecError;
use crate::key_table::{share, share_of_number};
use crate::outputs::KeyColumn;
use crate::plan::Grouping;
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The groups of a query in parts.
pub(super) struct Parts<'p> {
    /// The column of the key, or of the values, that tells the part.
    column: usize,
    parts: Vec<Mutex<Groups<'p>>>,
}

/// What a thread needs to share rows out.
pub(super) struct Sharing {
    split: Split,
    part: Columns,
}

/// HEURISTIC: keys are very many where of so many rows no more than these have the key of one before. Of a hundred thousand keys some 80 are expected to: with so few, threads are
/// sooner done if each has its own groups.
const ROWS_TOLD: usize = 4096;
const ROWS_MIN: usize = 1024;
const REPEATED_MAX: usize = 64;

/// The most parts.
const PARTS_MAX: usize = 16;

impl Sharing {
    /// `part` has the columns of chunks.
    pub(super) fn new(part: Columns) -> Sharing {
        Sharing { split: Split::default(), part }
    }
}

impl<'p> Parts<'p> {
    /// No groups yet, for so many threads; none where the keys of a chunk, the first of a query, do not tell that they are very many, or there is one thread.
    pub(super) fn of(
        threads: usize,
        grouping: &'p Grouping,
        kept: &KeptOf,
        chunk: &Chunk<'_>,
    ) -> Option<Parts<'p>> {
        if threads == 1 {
            return None;
        }
        let groups = || Groups::new(grouping, kept).into_part();
        let first = groups();
        // By several keys, parts have values in common, and would have to be merged.
        let column = match (first.keys.as_slice(), grouping.aggregates.as_slice()) {
            ([KeyColumn::Value { column, ci: false }], _) => *column,
            // Values that have numbers are counted by these.
            ([], [only]) if only.function.counts_distinct() && !kept.has_numbers() => {
                *first.arguments().first()?
            }
            _ => return None,
        };
        let are_very_many = match chunk.column(column) {
            Column::Entries(entries) => {
                let texts = entries.codes.iter().map(|code| entries.dictionary.get(*code));
                // Many rows may have none.
                are_very_many(texts.filter(|text| !text.is_empty()))
            }
            Column::Keys(numbers) => are_very_many(numbers.values.iter()),
            _ => false,
        };
        if !are_very_many {
            return None;
        }
        let parts = (0..threads.min(PARTS_MAX)).map(|_| Mutex::new(groups()));
        Some(Parts { column, parts: parts.collect() })
    }

    /// Takes in the rows of a chunk.
    pub(super) fn take(
        &self,
        chunk: &Chunk<'_>,
        sharing: &mut Sharing,
        control: &Control,
    ) -> Result<(), ExecError> {
        let Sharing { split, part: rows } = sharing;
        let parts = self.parts.len();
        let part = |share: u8| share % parts as u8;
        match chunk.column(self.column) {
            Column::Entries(Entries { dictionary, codes, .. }) => {
                let shares = dictionary.shares(share);
                let share = |code: &u32| shares.get(*code as usize).copied().unwrap_or_default();
                split.set(parts, codes.iter().map(|code| part(share(code))));
            }
            Column::Keys(numbers) => {
                let share = |value: &i64| share_of_number(*value, numbers.scale);
                split.set(parts, numbers.values.iter().map(|value| part(share(value))));
            }
            _ => {
                let json = |row: usize| chunk.json_at(self.column, row);
                split.set(parts, (0..chunk.len()).map(|row| part(share(json(row)))));
            }
        }
        let mut left: Vec<u8> = (0..parts as u8).collect();
        while let Some((place, mut groups)) = self.free(&left) {
            rows.set_part(chunk, split, left.swap_remove(place));
            groups.take(&Chunk::new(rows, chunk.documents()), control)?;
        }
        // Taken note of once all parts have asked.
        if let Column::Entries(entries) = chunk.column(self.column) {
            entries.dictionary.are_keys_again();
        }
        Ok(())
    }

    /// One of some parts that no other thread is at, or else the first once none is; with its place among them.
    fn free(&self, of: &[u8]) -> Option<(usize, MutexGuard<'_, Groups<'p>>)> {
        let part = |number: &u8| self.parts.get(usize::from(*number));
        let free = of.iter().enumerate().find_map(|(place, number)| match part(number)?.try_lock() {
            Ok(groups) => Some((place, groups)),
            Err(TryLockError::Poisoned(error)) => Some((place, error.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        });
        free.or_else(|| Some((0, lock(part(of.first()?)?))))
    }

    /// All groups, to which others may be added yet or not.
    pub(super) fn into_groups(
        self,
        is_all: bool,
        control: &Control,
    ) -> Result<Option<Groups<'p>>, ExecError> {
        let parts =
            self.parts.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        parts
            .map(Ok)
            .reduce(|all, part| {
                let (mut all, part) = (all?, part?);
                match is_all {
                    true => all.append(part, control)?,
                    false => all.merge(part, control)?,
                }
                Ok(all)
            })
            .transpose()
    }
}

/// Whether nearly each row has a key of its own, as far as those of the first ones tell.
fn are_very_many<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> bool {
    let (mut rows, mut distinct) = (0, HashSet::with_hasher(RandomState::default()));
    for key in keys.take(ROWS_TOLD) {
        rows += 1;
        distinct.insert(key);
    }
    rows >= ROWS_MIN && rows - distinct.len() <= REPEATED_MAX
}
