//! Rows to be sorted, held in memory: no more than a limit needs.

use super::held::{HeldRows, RowId};
use crate::chunk::{Chunk, value_of};
use crate::control::Control;
use crate::error::{ExecError, Held};
use crate::outputs::check_row;
use crate::plan::Sort;
use crate::value::{Value, order};
use std::cmp::Ordering;

pub(crate) struct Sorter<'p> {
    sort: &'p [Sort],
    /// No more rows than these are wanted.
    limit: usize,
    rows: HeldRows,
    /// Those that are wanted. Once they are as many as the limit they are a heap, of which the first is the greatest.
    wanted: Vec<Ranked>,
    is_heap: bool,
    /// How many rows were taken in.
    taken: u64,
    /// What the rows took when those that are not wanted were last left out.
    bytes_kept: usize,
}

/// A row, and the number that puts equal ones in order.
#[derive(Clone, Copy)]
struct Ranked {
    id: RowId,
    number: u64,
}

/// Rows that are not wanted any more may take so many bytes beside as many as those that are.
const UNWANTED_BYTES: usize = 64 << 10;

impl<'p> Sorter<'p> {
    pub(crate) fn new(sort: &'p [Sort], limit: Option<u64>, width: usize) -> Sorter<'p> {
        Sorter {
            sort,
            limit: limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            rows: HeldRows::new(width),
            wanted: Vec::new(),
            is_heap: false,
            taken: 0,
            bytes_kept: 0,
        }
    }

    /// Takes in a row of a chunk.
    pub(crate) fn take_row(
        &mut self,
        chunk: &Chunk<'_>,
        row: usize,
        control: &Control,
    ) -> Result<(), ExecError> {
        let number = self.next();
        if !self.is_wanted(number, |column| value_of(chunk.json_at(column, row))) {
            return Ok(());
        }
        let id = self.rows.push(chunk, row);
        self.hold(Ranked { id, number });
        if self.bytes() > control.options.memory_bytes {
            self.leave_out_unwanted();
        }
        let held = if self.limit == usize::MAX { Held::Rows } else { Held::FirstRows };
        control.check_held(self.bytes(), held)
    }

    /// How many rows were taken in.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes in a row of values.
    pub(super) fn take_values(&mut self, values: &[Value<'_>]) {
        let number = self.next();
        let value = |column: usize| values.get(column).map_or(Value::Undefined, Value::reborrow);
        if self.is_wanted(number, value) {
            let id = self.rows.push_values(values.iter());
            self.hold(Ranked { id, number });
        }
    }

    /// What its rows take, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        self.rows.bytes() + self.wanted.len() * size_of::<Ranked>()
    }

    fn next(&mut self) -> u64 {
        self.taken += 1;
        self.taken
    }

    /// Whether a row is among those that are wanted so far, told from the values that it is sorted by.
    fn is_wanted<'v>(&self, number: u64, value: impl Fn(usize) -> Value<'v>) -> bool {
        if self.wanted.len() < self.limit {
            return true;
        }
        let Some(last) = self.wanted.first().filter(|_| self.is_heap) else { return false };
        for item in self.sort {
            let unequal =
                order(&value(item.column), &value_of(self.rows.json(last.id, item.column)), item.ci);
            if unequal.is_ne() {
                return unequal.is_lt() != item.descending;
            }
        }
        number < last.number
    }

    fn hold(&mut self, row: Ranked) {
        if self.wanted.len() < self.limit {
            self.wanted.push(row);
            if self.wanted.len() == self.limit {
                self.make_heap();
            }
            return;
        }
        if let Some(first) = self.wanted.first_mut() {
            *first = row;
            self.sink(0);
        }
        if self.rows.bytes() > 2 * self.bytes_kept + UNWANTED_BYTES {
            self.leave_out_unwanted();
        }
    }

    fn make_heap(&mut self) {
        self.is_heap = true;
        (0..self.wanted.len() / 2).rev().for_each(|at| self.sink(at));
        self.bytes_kept = self.rows.bytes();
    }

    /// Moves a row down the heap to where none below it is greater.
    fn sink(&mut self, mut at: usize) {
        loop {
            let children = [2 * at + 1, 2 * at + 2];
            let mut greatest = at;
            for child in children {
                if let (Some(a), Some(b)) = (self.wanted.get(child), self.wanted.get(greatest))
                    && self.compare(a, b).is_gt()
                {
                    greatest = child;
                }
            }
            if greatest == at {
                return;
            }
            self.wanted.swap(at, greatest);
            at = greatest;
        }
    }

    fn leave_out_unwanted(&mut self) {
        if !self.is_heap {
            return;
        }
        let mut rows = HeldRows::new(self.rows.width());
        for ranked in &mut self.wanted {
            if let Some((chunk, row)) = self.rows.chunk(ranked.id) {
                ranked.id = rows.push(&chunk, row);
            }
        }
        self.rows = rows;
        self.bytes_kept = self.rows.bytes();
    }

    fn compare(&self, a: &Ranked, b: &Ranked) -> Ordering {
        for item in self.sort {
            let value = |row: &Ranked| value_of(self.rows.json(row.id, item.column));
            let unequal = order(&value(a), &value(b), item.ci);
            if unequal.is_ne() {
                return if item.descending { unequal.reverse() } else { unequal };
            }
        }
        a.number.cmp(&b.number)
    }

    /// The rows in their order.
    pub(crate) fn finish(mut self) -> (HeldRows, Vec<RowId>) {
        let mut wanted = std::mem::take(&mut self.wanted);
        if !self.sort.is_empty() || self.is_heap {
            wanted.sort_unstable_by(|a, b| self.compare(a, b));
        }
        (self.rows, wanted.into_iter().map(|row| row.id).collect())
    }
}

/// A single row.
pub(crate) fn single(values: &[Value<'_>]) -> Result<(HeldRows, Vec<RowId>), ExecError> {
    check_row(values.iter().map(Value::weight).sum(), None)?;
    let mut rows = HeldRows::new(values.len());
    let id = rows.push_values(values.iter());
    Ok((rows, vec![id]))
}

#[cfg(test)]
mod tests;
