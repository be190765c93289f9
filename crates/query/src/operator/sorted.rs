//! Rows in their order: sorted in runs, which are merged as rows are asked for.
//!
//! A run is sorted by the beginnings of values, and rows that agree in them by what comes behind, a few bytes at a time (multikey
//! quicksort, Bentley and Sedgewick 1997, with words for characters): so each row's text is looked at about once, and not at each comparison.

use super::beginning::{Beginning, plain_text};
use super::held::{HeldRows, RowId};
use crate::chunk::{Chunk, value_of};
use crate::interrupt::{Failure, Meter, STEP_UNITS};
use crate::plan::Sort;
use crate::value::order;
use std::cmp::Ordering;
use std::ops::Range;

/// So many rows are sorted together.
///
/// HEURISTIC: that takes some hundredths of a second, and merging a few runs less than many. In tests a few rows are several runs.
pub(super) const RUN_ROWS: usize = if cfg!(test) { 32 } else { 1 << 16 };

/// So few rows that agree in a beginning are compared.
const COMPARED_ROWS: usize = 8;

/// So many rows are compared with one another before it is asked whether to go on.
const STEP_ROWS: usize = 1024;

/// A row, and the beginning of the first value that it is sorted by.
#[derive(Clone, Copy)]
pub(super) struct Ranked {
    bytes: u64,
    page: u32,
    row: u16,
    kind: u8,
    is_whole: bool,
}

impl Ranked {
    pub(super) fn new(id: RowId, Beginning { kind, bytes, is_whole }: Beginning) -> Ranked {
        Ranked { bytes, page: id.page, row: id.row, kind, is_whole }
    }

    pub(super) fn id(&self) -> RowId {
        RowId { page: self.page, row: self.row }
    }

    pub(super) fn set_id(&mut self, id: RowId) {
        (self.page, self.row) = (id.page, id.row);
    }

    /// What rows are compared by first.
    pub(super) fn key(&self) -> (u8, u64) {
        (self.kind, self.bytes)
    }
}

/// An order of rows, in which equal ones stay as they came.
pub(super) struct RowOrder<'r> {
    pub(super) sort: &'r [Sort],
    pub(super) rows: &'r HeldRows,
}

/// Rows of a run that agree in all columns before this one.
struct Tie {
    rows: Range<usize>,
    column: usize,
    /// In how many bytes of plain text they agree in this column; none where they are to be compared.
    agreed: Option<usize>,
}

impl RowOrder<'_> {
    pub(super) fn compare(&self, a: &Ranked, b: &Ranked) -> Ordering {
        let agreed = usize::from(a.is_whole && b.is_whole);
        a.key().cmp(&b.key()).then_with(|| self.compare_from(agreed, a.id(), b.id()))
    }

    /// The order of two rows that agree in so many columns.
    fn compare_from(&self, agreed: usize, a: RowId, b: RowId) -> Ordering {
        for by in self.sort.iter().skip(agreed) {
            let value = |id: RowId| value_of(self.rows.json(id, by.column));
            let unequal = order(&value(a), &value(b), by.ci);
            if unequal.is_ne() {
                return if by.descending { unequal.reverse() } else { unequal };
            }
        }
        a.cmp(&b)
    }

    /// Sorts a run.
    pub(super) fn sort(&self, run: &mut [Ranked], meter: &mut Meter<'_>) -> Result<(), Failure> {
        run.sort_unstable_by_key(|row| (row.key(), row.id()));
        let mut ties = Vec::new();
        self.find_ties(run, 0, 0, &mut ties, meter)?;
        let mut keys: Vec<Ranked> = Vec::new();
        while let Some(Tie { rows, column, agreed }) = ties.pop() {
            let (Some(by), Some(tied)) = (self.sort.get(column), run.get_mut(rows.clone())) else { continue };
            let Some(agreed) = agreed.filter(|_| tied.len() > COMPARED_ROWS) else {
                self.sort_compared(tied, column, meter)?;
                continue;
            };
            keys.clear();
            keys.extend(tied.iter().map(|row| Ranked::new(row.id(), self.beginning(row.id(), by, agreed))));
            keys.sort_unstable_by_key(|row| (row.key(), row.id()));
            // All of them have the same beginning in the first column.
            for (row, sorted) in tied.iter_mut().zip(&keys) {
                row.set_id(sorted.id());
            }
            self.find_ties(&keys, rows.start, column, &mut ties, meter)?;
        }
        Ok(())
    }

    /// Finds the rows that agree in their beginnings in a column. `start` is the place of the first of them in the run.
    fn find_ties(
        &self,
        rows: &[Ranked],
        start: usize,
        column: usize,
        ties: &mut Vec<Tie>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Failure> {
        let Some(by) = self.sort.get(column) else { return Ok(()) };
        let mut start = start;
        for tied in rows.chunk_by(|a, b| a.key() == b.key()) {
            meter.charge(STEP_UNITS * tied.len())?;
            let rows = start..start + tied.len();
            start = rows.end;
            if tied.len() == 1 {
                continue;
            }
            if tied.iter().all(|row| row.is_whole) {
                if column + 1 < self.sort.len() {
                    ties.push(Tie { rows, column: column + 1, agreed: Some(0) });
                }
            } else {
                ties.push(Tie { rows, column, agreed: self.agreement(tied, by, meter)? });
            }
        }
        Ok(())
    }

    /// In how many bytes the texts of some rows agree; none where one of them is no plain text.
    fn agreement(&self, rows: &[Ranked], by: &Sort, meter: &mut Meter<'_>) -> Result<Option<usize>, Failure> {
        if rows.len() <= COMPARED_ROWS {
            return Ok(None);
        }
        let mut texts = rows.iter().map(|row| plain_text(self.rows.json(row.id(), by.column), by));
        let Some(mut common) = texts.next().flatten() else { return Ok(None) };
        for text in texts {
            let Some(text) = text else { return Ok(None) };
            let agreed = common.iter().zip(text).take_while(|(a, b)| a == b).count();
            common = common.get(..agreed).unwrap_or_default();
            meter.charge(agreed)?;
        }
        Ok(Some(common.len()))
    }

    /// Sorts rows that agree in all columns before one, by comparing them.
    fn sort_compared(
        &self,
        rows: &mut [Ranked],
        column: usize,
        meter: &mut Meter<'_>,
    ) -> Result<(), Failure> {
        // Parts that are sorted are merged by the stable sort, so that it can be asked in between whether to go on.
        let mut width = STEP_ROWS;
        loop {
            for part in rows.chunks_mut(width) {
                meter.charge(STEP_UNITS * part.len())?;
                part.sort_by(|a, b| self.compare_from(column, a.id(), b.id()));
            }
            if width >= rows.len() {
                return Ok(());
            }
            width *= 2;
        }
    }

    /// The beginning of a row's value behind so many bytes of its text.
    fn beginning(&self, id: RowId, by: &Sort, agreed: usize) -> Beginning {
        let json = self.rows.json(id, by.column);
        match plain_text(json, by).filter(|_| agreed > 0) {
            Some(text) => Beginning::of_rest(text.get(agreed..).unwrap_or_default(), by),
            None => Beginning::of_json(json, by),
        }
    }
}

/// The rows, and which comes next.
pub(crate) struct SortedRows {
    rows: HeldRows,
    sort: Box<[Sort]>,
    ranked: Vec<Ranked>,
    /// What is left of each run, as a heap: that of which the first row comes next is the first.
    runs: Vec<Range<usize>>,
}

impl SortedRows {
    /// Of runs of rows that are sorted each.
    pub(super) fn new(rows: HeldRows, sort: &[Sort], ranked: Vec<Ranked>) -> SortedRows {
        let starts = (0..ranked.len()).step_by(RUN_ROWS);
        let runs = starts.map(|start| start..(start + RUN_ROWS).min(ranked.len())).collect();
        let mut sorted = SortedRows { rows, sort: sort.into(), ranked, runs };
        (0..sorted.runs.len() / 2).rev().for_each(|at| sorted.sink(at));
        sorted
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Option<RowId> {
        let run = self.runs.first_mut()?;
        let next = self.ranked.get(run.start).map(Ranked::id);
        run.start += 1;
        if run.start >= run.end {
            self.runs.swap_remove(0);
        }
        self.sink(0);
        next
    }

    /// The page of a row, and its place there.
    pub(crate) fn chunk(&self, id: RowId) -> Option<(Chunk<'_>, usize)> {
        self.rows.chunk(id)
    }

    /// Moves a run down the heap to where none below it comes before it.
    fn sink(&mut self, mut at: usize) {
        let order = RowOrder { sort: &self.sort, rows: &self.rows };
        let first = |runs: &[Range<usize>], at: usize| self.ranked.get(runs.get(at)?.start).copied();
        loop {
            let mut next = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if let (Some(a), Some(b)) = (first(&self.runs, child), first(&self.runs, next))
                    && order.compare(&a, &b).is_lt()
                {
                    next = child;
                }
            }
            if next == at {
                return;
            }
            self.runs.swap(at, next);
            at = next;
        }
    }
}
