//! Rows to be sorted, held in memory: no more than a limit needs.

use crate::control::Control;
use crate::error::{self, ExecError};
use crate::plan::Sort;
use crate::row::Row;
use crate::value::{Value, order};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering::Relaxed;
use tamias_json::Offsets;

pub(super) type Held = Vec<Value<'static>>;

pub(super) struct Sorted<'p> {
    sort: &'p [Sort],
    rows: Rows<'p>,
    bytes: usize,
    offsets: Offsets,
}

enum Rows<'p> {
    All(Vec<Held>),
    /// The first so many, of which the last is the greatest.
    First {
        limit: usize,
        rows: BinaryHeap<Ranked<'p>>,
        /// The number of the next row.
        next: u64,
    },
}

/// A row in the order of its query; equal rows stay in the order of their numbers.
struct Ranked<'p> {
    sort: &'p [Sort],
    number: u64,
    row: Held,
}

/// What a held row costs beside its values, about.
const ROW_BYTES: usize = 64;

impl<'p> Sorted<'p> {
    pub(super) fn new(sort: &'p [Sort], limit: Option<u64>) -> Sorted<'p> {
        let rows = match limit.and_then(|limit| usize::try_from(limit).ok()) {
            Some(limit) => Rows::First { limit, rows: BinaryHeap::new(), next: 0 },
            None => Rows::All(Vec::new()),
        };
        Sorted { sort, rows, bytes: 0, offsets: Offsets::new() }
    }

    /// Takes in a row.
    pub(super) fn push(&mut self, row: &Row<'_>, control: &Control) -> Result<(), ExecError> {
        control.watch.held.fetch_add(1, Relaxed);
        if self.is_behind(row) {
            return Ok(());
        }
        let row = row.values();
        match &mut self.rows {
            Rows::All(rows) => {
                self.bytes += held_bytes(&row);
                rows.push(row);
                control.check_held(self.bytes, error::Held::Rows)
            }
            Rows::First { limit, rows, next } => {
                let row = Ranked { sort: self.sort, number: *next, row };
                *next += 1;
                self.bytes += held_bytes(&row.row);
                rows.push(row);
                if rows.len() > *limit
                    && let Some(last) = rows.pop()
                {
                    self.bytes = self.bytes.saturating_sub(held_bytes(&last.row));
                }
                control.check_held(self.bytes, error::Held::FirstRows)
            }
        }
    }

    /// Whether the row comes behind all that are wanted, so that it is not held at all.
    ///
    /// Most rows of a query with a small limit are; it is told from the cells that they are sorted by, as they are stored.
    fn is_behind(&mut self, row: &Row<'_>) -> bool {
        let Rows::First { limit, rows, .. } = &self.rows else {
            return false;
        };
        if rows.len() < *limit {
            return false;
        }
        let Some(last) = rows.peek() else {
            return true;
        };
        for item in self.sort {
            let json = row.get(item.column).and_then(|cell| cell.json());
            let value = match json.map(|json| tamias_json::Value::scan_trusted(json, &mut self.offsets)) {
                Some(Ok(value)) => Value::stored(value),
                _ => Value::Undefined,
            };
            let unequal =
                last.row.get(item.column).map_or(Ordering::Equal, |last| order(&value, last, item.ci));
            if unequal.is_ne() {
                return unequal.is_gt() != item.descending;
            }
        }
        // It came later.
        true
    }

    /// The rows, the last one first.
    pub(super) fn finish(self) -> Vec<Held> {
        let mut rows = match self.rows {
            Rows::All(mut rows) => {
                sort_rows(self.sort, &mut rows);
                rows
            }
            Rows::First { rows, .. } => rows.into_sorted_vec().into_iter().map(|ranked| ranked.row).collect(),
        };
        rows.reverse();
        rows
    }
}

impl Ord for Ranked<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.sort, &self.row, &other.row).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Ranked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked<'_> {}

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
