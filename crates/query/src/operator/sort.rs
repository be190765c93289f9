//! Rows to be sorted, held in memory: no more than a limit needs.

use super::beginning::Beginning;
use super::held::HeldRows;
use super::sorted::{Ranked, RowOrder, SortedRows};
use crate::allocated::vec_bytes;
use crate::chunk::{Chunk, value_of};
use crate::control::Control;
use crate::error::{ExecError, Held};
use crate::interrupt::Meter;
use crate::memory::Holding;
use crate::outputs::check_row;
use crate::plan::Sort;
use crate::value::{Value, order};
use std::cmp::Ordering;

/// Takes rows in, and sorts them once all are there.
pub(crate) struct Sorter<'p> {
    sort: &'p [Sort],
    /// No more rows than these are wanted.
    limit: usize,
    rows: HeldRows,
    /// Those that may be wanted.
    ranked: Vec<Ranked>,
    /// The last of those that are wanted, once there are more than the limit: what comes behind it is not.
    last: Option<Last>,
    /// How many rows were taken in.
    taken: u64,
    /// What the rows took when they were as many as are wanted, no more.
    bytes_kept: usize,
    holding: Holding,
}

/// The last of the rows that are wanted.
struct Last {
    row: Ranked,
    /// The values that it is sorted by, which every other row is compared with; none for a large array or object, which is read each time.
    values: Vec<Option<Value<'static>>>,
}

/// An array or object of more bytes of JSON takes too much memory to be kept beside its text.
const KEPT_BYTES_MAX: usize = 256 << 10;

impl Last {
    fn bytes(&self) -> usize {
        self.values.iter().flatten().map(Value::weight).sum()
    }
}

/// Rows that are not wanted any more may take so many bytes beside as many as those that are, and be so many.
const UNWANTED_BYTES: usize = 64 << 10;
const UNWANTED_ROWS: usize = 1024;

impl<'p> Sorter<'p> {
    pub(crate) fn new(sort: &'p [Sort], limit: Option<u64>, width: usize) -> Sorter<'p> {
        Sorter {
            sort,
            limit: limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            rows: HeldRows::new(width),
            ranked: Vec::new(),
            last: None,
            taken: 0,
            bytes_kept: 0,
            holding: Holding::default(),
        }
    }

    /// Takes in a row of a chunk.
    pub(crate) fn take_row(
        &mut self,
        chunk: &Chunk<'_>,
        row: usize,
        control: &Control,
    ) -> Result<(), ExecError> {
        self.taken += 1;
        let first = self.sort.first();
        let beginning =
            first.map_or(Beginning::NONE, |by| Beginning::of_json(chunk.json_at(by.column, row), by));
        let values = self.sort.iter().map(|by| value_of(chunk.json_at(by.column, row)));
        if self.is_wanted(beginning, values) {
            // It is copied before the budget can be asked.
            let bytes = (0..self.rows.width()).map(|column| chunk.json_at(column, row).len());
            check_row(bytes.sum(), None)?;
            let id = self.rows.push(chunk, row);
            self.rank(Ranked::new(id, beginning), control)?;
        }
        Ok(())
    }

    /// How many rows were taken in.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes in a row of values.
    pub(super) fn take_values(&mut self, values: &[Value<'_>], control: &Control) -> Result<(), ExecError> {
        self.taken += 1;
        let value = |column: usize| values.get(column).map_or(Value::Undefined, Value::reborrow);
        let first = self.sort.first();
        let beginning = first.map_or(Beginning::NONE, |by| Beginning::of(&value(by.column), by));
        if self.is_wanted(beginning, self.sort.iter().map(|by| value(by.column))) {
            let id = self.rows.push_values(values.iter());
            self.rank(Ranked::new(id, beginning), control)?;
        }
        Ok(())
    }

    /// Takes note of rows that are known not to be wanted.
    pub(super) fn pass_over(&mut self, rows: u64) {
        self.taken += rows;
    }

    /// Whether there are so many rows that others may be passed over.
    pub(super) fn may_pass_over(&self) -> bool {
        self.last.is_some()
    }

    /// Whether a row that has this first value to be sorted by is passed over, as no such row is wanted any more; none where that takes more to tell.
    pub(super) fn passes_over_first(&mut self, first: &Value<'_>) -> Option<bool> {
        let (last, by) = self.last.as_ref().zip(self.sort.first())?;
        let Beginning { kind, bytes, is_whole } = Beginning::of(first, by);
        let is_behind = match (kind, bytes).cmp(&last.row.key()) {
            Ordering::Less => Some(false),
            Ordering::Greater => Some(true),
            // Of equal rows the first counts.
            Ordering::Equal => (self.sort.len() == 1 && is_whole && last.row.is_whole()).then_some(true),
        };
        self.taken += u64::from(is_behind == Some(true));
        is_behind
    }

    /// Passes over a row that is not wanted any more, by the values that it is sorted by.
    pub(super) fn passes_over(&mut self, sorted_by: &[Value<'_>]) -> bool {
        let first = self.sort.first().zip(sorted_by.first());
        let beginning = first.map_or(Beginning::NONE, |(by, value)| Beginning::of(value, by));
        let is_behind =
            self.last.is_some() && !self.is_wanted(beginning, sorted_by.iter().map(Value::reborrow));
        self.taken += u64::from(is_behind);
        is_behind
    }

    /// What its rows take, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        // Sorting takes the ranks again, and half of them.
        self.rows.bytes() + vec_bytes(&self.ranked) + self.ranked.capacity() * size_of::<Ranked>() / 2 * 3
    }

    /// Whether a row that comes behind all others is among those that are wanted so far. Its values are those that it is sorted by.
    fn is_wanted<'v>(&self, beginning: Beginning, values: impl Iterator<Item = Value<'v>>) -> bool {
        let Some(last) = &self.last else { return self.limit > 0 };
        let unequal = (beginning.kind, beginning.bytes).cmp(&last.row.key());
        if unequal.is_ne() {
            return unequal.is_lt();
        }
        let last_row = last.row.id();
        for ((by, last), value) in self.sort.iter().zip(&last.values).zip(values) {
            let unequal = match last {
                Some(last) => order(&value, last, by.ci),
                None => order(&value, &value_of(self.rows.json(last_row, by.column)), by.ci),
            };
            if unequal.is_ne() {
                return unequal.is_lt() != by.descending;
            }
        }
        false
    }

    /// Takes in the rank of a row.
    fn rank(&mut self, row: Ranked, control: &Control) -> Result<(), ExecError> {
        self.ranked.push(row);
        if self.limit == usize::MAX {
            let bytes = self.bytes();
            return control.budget.hold(&mut self.holding, bytes, Held::Rows);
        }
        if self.ranked.len() == self.limit {
            self.bytes_kept = self.rows.bytes();
        }
        let is_large = self.rows.bytes() > 2 * self.bytes_kept + UNWANTED_BYTES;
        let are_many = self.ranked.len() / 2 >= self.limit.saturating_add(UNWANTED_ROWS);
        if self.ranked.len() > self.limit && (is_large || are_many) {
            self.leave_out_unwanted();
        }
        if self.hold_first(control).is_err() && self.ranked.len() > self.limit {
            self.leave_out_unwanted();
        }
        self.hold_first(control)
    }

    /// Tells the query what the rows hold, with room to copy those that are wanted when the others are left out.
    fn hold_first(&mut self, control: &Control) -> Result<(), ExecError> {
        let bytes = self.bytes() + self.bytes_kept + self.last.as_ref().map_or(0, Last::bytes);
        control.budget.hold(&mut self.holding, bytes, Held::FirstRows)
    }

    /// Drops the ranks of rows that are beyond the limit.
    fn select(&mut self) {
        let order = RowOrder::new(self.sort, &self.rows);
        if self.ranked.len() > self.limit && self.limit > 0 {
            self.ranked.select_nth_unstable_by(self.limit - 1, |a, b| order.compare(a, b));
        }
        self.ranked.truncate(self.limit);
    }

    /// Leaves out the rows that are beyond the limit.
    fn leave_out_unwanted(&mut self) {
        self.select();
        // Of equal rows the first counts: they stay in the order in which they came.
        self.ranked.sort_unstable_by_key(Ranked::id);
        let mut rows = HeldRows::new(self.rows.width());
        for ranked in &mut self.ranked {
            if let Some((chunk, row)) = self.rows.chunk(ranked.id()) {
                ranked.set_id(rows.push(&chunk, row));
            }
        }
        self.rows = rows;
        self.bytes_kept = self.rows.bytes();
        let order = RowOrder::new(self.sort, &self.rows);
        self.last = self.ranked.iter().max_by(|a, b| order.compare(a, b)).map(|row| {
            let value = |by: &Sort| {
                let json = self.rows.json(row.id(), by.column);
                (json.len() <= KEPT_BYTES_MAX).then(|| value_of(json).into_static())
            };
            Last { row: *row, values: self.sort.iter().map(value).collect() }
        });
    }

    /// The rows in their order.
    pub(crate) fn finish(mut self, control: &Control) -> Result<SortedRows, ExecError> {
        self.select();
        let order = RowOrder::new(self.sort, &self.rows);
        order.sort(&mut self.ranked, &mut Meter::new(&control.interrupt))?;
        if let Some(by) = self.sort.first() {
            let values = self.ranked.iter().map(|row| value_of(self.rows.json(row.id(), by.column)));
            control.watch.look_at_order(by, self.limit < usize::MAX, values);
        }
        Ok(SortedRows::new(self.rows, self.ranked))
    }
}

/// A single row.
pub(crate) fn single(values: &[Value<'_>]) -> Result<SortedRows, ExecError> {
    check_row(values.iter().map(Value::weight).sum(), None)?;
    let mut rows = HeldRows::new(values.len());
    let id = rows.push_values(values.iter());
    Ok(SortedRows::new(rows, vec![Ranked::new(id, Beginning::NONE)]))
}

#[cfg(test)]
mod tests;
