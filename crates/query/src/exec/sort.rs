//! Rows to be sorted, held in memory: no more than a limit needs.

use crate::control::Control;
use crate::error::ExecError;
use crate::plan::Sort;
use crate::value::{Value, order};
use std::cmp::Ordering;
use std::sync::atomic::Ordering::Relaxed;

pub(super) type Held = Vec<Value<'static>>;

pub(super) struct Sorted<'p> {
    sort: &'p [Sort],
    limit: Option<usize>,
    rows: Vec<Held>,
    bytes: usize,
}

/// What a held row costs beside its values, about.
const ROW_BYTES: usize = 64;

impl<'p> Sorted<'p> {
    pub(super) fn new(sort: &'p [Sort], limit: Option<u64>) -> Sorted<'p> {
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        Sorted { sort, limit, rows: Vec::new(), bytes: 0 }
    }

    pub(super) fn push(&mut self, row: Held, control: &Control) -> Result<(), ExecError> {
        self.bytes += held_bytes(&row);
        self.rows.push(row);
        control.watch.held.fetch_add(1, Relaxed);
        // Sorting twice what is kept costs a constant for each row.
        if self.limit.is_some_and(|limit| self.rows.len() >= limit.saturating_mul(2).max(4096)) {
            self.cut();
        }
        control.check_memory(self.bytes)
    }

    fn cut(&mut self) {
        let sort = self.sort;
        self.rows.sort_by(|a, b| compare(sort, a, b));
        if let Some(limit) = self.limit {
            self.rows.truncate(limit);
        }
        self.bytes = self.rows.iter().map(|row| held_bytes(row)).sum();
    }

    /// The rows, the last one first.
    pub(super) fn finish(mut self) -> Vec<Held> {
        self.cut();
        self.rows.reverse();
        self.rows
    }
}

pub(super) fn held_bytes(values: &[Value<'static>]) -> usize {
    values.iter().map(|value| size_of::<Value<'static>>() + value.weight()).sum::<usize>() + ROW_BYTES
}

/// Sorts rows in place; equal rows keep their order.
pub(super) fn sort_rows(sort: &[Sort], rows: &mut [Held]) {
    rows.sort_by(|a, b| compare(sort, a, b));
}

fn compare(sort: &[Sort], a: &Held, b: &Held) -> Ordering {
    for item in sort {
        if let (Some(a), Some(b)) = (a.get(item.column), b.get(item.column)) {
            let unequal = order(a, b, item.ci);
            if unequal.is_ne() {
                return if item.descending { unequal.reverse() } else { unequal };
            }
        }
    }
    Ordering::Equal
}
