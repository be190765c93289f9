//! Rows in an order.
//!
//! They are sorted by the beginnings of their values, and those that agree there by what comes behind, a few bytes at a time (multikey
//! quicksort, Bentley and Sedgewick 1997, with words for characters): each row's text is looked at a few times, and not at each
//! comparison.

use super::beginning::{Beginning, ascii_of, text_of};
use super::held::{HeldRows, RowId};
use crate::chunk::{Chunk, value_of};
use crate::interrupt::{Failure, Meter, STEP_UNITS};
use crate::plan::Sort;
use crate::value::order;
use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::Range;

/// So few rows that agree in a beginning are compared.
const COMPARED_ROWS: usize = 8;

/// So many rows are sorted before it is asked whether to go on. In tests they are few, for there to be several parts.
const STEP_ROWS: usize = if cfg!(test) { 32 } else { 4096 };

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

    /// Whether another row of this [key](Self::key) that is so too has an equal first value.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// What rows are compared by first.
    pub(super) fn key(&self) -> (u8, u64) {
        (self.kind, self.bytes)
    }
}

/// An order of rows, in which equal ones stay as they came.
pub(super) struct RowOrder<'r> {
    sort: &'r [Sort],
    rows: &'r HeldRows,
    /// The bytes that comparisons went over since they were last charged.
    work: Cell<usize>,
}

/// Rows that stand together and agree in all columns before this one.
struct Tie {
    rows: Range<usize>,
    column: usize,
    /// In how many bytes of text they agree in this column; none where they are to be compared.
    agreed: Option<usize>,
    /// How often few of the rows have differed since they were more.
    levels: u8,
}

impl Tie {
    /// So many rows of which nothing is known.
    fn all(rows: usize) -> Tie {
        Tie { rows: 0..rows, column: 0, agreed: None, levels: 0 }
    }
}

/// So often most rows of a tie may agree again. Where each few bytes tell only few rows apart, comparing them is quicker.
const LEVELS_MAX: u8 = 16;

impl<'r> RowOrder<'r> {
    pub(super) fn new(sort: &'r [Sort], rows: &'r HeldRows) -> RowOrder<'r> {
        RowOrder { sort, rows, work: Cell::new(0) }
    }

    pub(super) fn compare(&self, a: &Ranked, b: &Ranked) -> Ordering {
        let agreed = usize::from(a.is_whole && b.is_whole);
        a.key().cmp(&b.key()).then_with(|| self.compare_from(agreed, a.id(), b.id()))
    }

    /// The order of two rows that agree in so many columns.
    fn compare_from(&self, agreed: usize, a: RowId, b: RowId) -> Ordering {
        for by in self.sort.iter().skip(agreed) {
            let json = |id: RowId| self.rows.json(id, by.column);
            let unequal = match (json(a), json(b)) {
                (a, b) if a == b => Ordering::Equal,
                (a, b) => match ascii_of(a, by).zip(ascii_of(b, by)) {
                    Some((a, b)) => a.cmp(b),
                    None => {
                        self.work.set(self.work.get().saturating_add(a.len() + b.len()));
                        order(&value_of(a), &value_of(b), by.ci)
                    }
                },
            };
            if unequal.is_ne() {
                return if by.descending { unequal.reverse() } else { unequal };
            }
        }
        a.cmp(&b)
    }

    /// Sorts rows.
    pub(super) fn sort(&self, rows: &mut [Ranked], meter: &mut Meter<'_>) -> Result<(), Failure> {
        let (mut ties, mut keys) = (Vec::new(), Vec::new());
        sort_in_steps(rows, STEP_ROWS, meter, &self.work, compare_keys)?;
        self.find_ties(rows, 0, &Tie::all(rows.len()), &mut ties, meter)?;
        while let Some(tie) = ties.pop() {
            let column = tie.column;
            let (Some(by), Some(tied)) = (self.sort.get(column), rows.get_mut(tie.rows.clone())) else {
                continue;
            };
            let Some(agreed) = tie.agreed.filter(|_| tied.len() > COMPARED_ROWS) else {
                let compare = |a: &Ranked, b: &Ranked| self.compare_from(column, a.id(), b.id());
                sort_in_steps(tied, COMPARED_ROWS, meter, &self.work, compare)?;
                continue;
            };
            keys.clear();
            for row in &*tied {
                // Of most texts a few bytes are looked at; in upper case, or with escapes, one is made whole.
                let json = self.rows.json(row.id(), by.column);
                meter.charge(STEP_UNITS + if ascii_of(json, by).is_some() { 0 } else { json.len() })?;
                keys.push(Ranked::new(row.id(), self.beginning(row.id(), by, agreed)));
            }
            sort_in_steps(&mut keys, STEP_ROWS, meter, &self.work, compare_keys)?;
            // All of them have the same beginning in the first column.
            for (row, sorted) in tied.iter_mut().zip(&keys) {
                row.set_id(sorted.id());
            }
            self.find_ties(&keys, tie.rows.start, &tie, &mut ties, meter)?;
        }
        Ok(())
    }

    /// Finds the rows of a tie that agree further on. `start` is the place of the first of them.
    fn find_ties(
        &self,
        rows: &[Ranked],
        start: usize,
        of: &Tie,
        ties: &mut Vec<Tie>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Failure> {
        let column = of.column;
        let Some(by) = self.sort.get(column) else { return Ok(()) };
        let mut start = start;
        for tied in rows.chunk_by(|a, b| a.key() == b.key()) {
            meter.charge(STEP_UNITS)?;
            let rows = start..start + tied.len();
            start = rows.end;
            if tied.len() == 1 {
                continue;
            }
            if tied.iter().all(|row| row.is_whole) {
                if column + 1 < self.sort.len() {
                    ties.push(Tie { rows, column: column + 1, agreed: Some(0), levels: 0 });
                }
            } else {
                let levels = if rows.len() > of.rows.len() / 2 { of.levels + 1 } else { 0 };
                let agreed = match levels < LEVELS_MAX {
                    true => self.agreement(tied, by, of.agreed.unwrap_or(0), meter)?,
                    false => None,
                };
                ties.push(Tie { rows, column, agreed, levels });
            }
        }
        Ok(())
    }

    /// In how many bytes the texts of some rows agree that are known to agree in so many; none where one of them is no text, or they
    /// are few.
    fn agreement(
        &self,
        rows: &[Ranked],
        by: &Sort,
        known: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, Failure> {
        if rows.len() <= COMPARED_ROWS {
            return Ok(None);
        }
        let mut texts = rows.iter().map(|row| text_of(self.rows.json(row.id(), by.column), by));
        let Some(first) = texts.next().flatten() else { return Ok(None) };
        let mut common = first.get(known..).unwrap_or_default();
        for text in texts {
            let Some(text) = text else { return Ok(None) };
            let rest = text.get(known..).unwrap_or_default();
            let agreed = common.iter().zip(rest).take_while(|(a, b)| a == b).count();
            common = common.get(..agreed).unwrap_or_default();
            // A text with escapes, or in upper case, was made for this.
            let made = if let Cow::Owned(made) = &text { made.len() } else { 0 };
            meter.charge(STEP_UNITS + agreed + made)?;
        }
        Ok(Some(known + common.len()))
    }

    /// The beginning of a row's value behind so many bytes of its text.
    fn beginning(&self, id: RowId, by: &Sort, agreed: usize) -> Beginning {
        let json = self.rows.json(id, by.column);
        match text_of(json, by).filter(|_| agreed > 0) {
            Some(text) => Beginning::of_rest(text.get(agreed..).unwrap_or_default(), by),
            None => Beginning::of_json(json, by),
        }
    }
}

/// The order of rows by their beginnings alone.
fn compare_keys(a: &Ranked, b: &Ranked) -> Ordering {
    (a.key(), a.id()).cmp(&(b.key(), b.id()))
}

/// Sorts rows by an order in which none are equal: in parts of so many that are merged, so that it can be asked in between whether to
/// go on. `work` is what comparisons add their own to.
///
/// The rows are in no order, and some are missing, where it fails.
fn sort_in_steps(
    rows: &mut [Ranked],
    step: usize,
    meter: &mut Meter<'_>,
    work: &Cell<usize>,
    compare: impl Fn(&Ranked, &Ranked) -> Ordering,
) -> Result<(), Failure> {
    for part in rows.chunks_mut(step) {
        meter.charge(STEP_UNITS * part.len() + work.take())?;
        part.sort_unstable_by(&compare);
    }
    let mut left = Vec::new();
    let mut width = step;
    while width < rows.len() {
        for pair in rows.chunks_mut(2 * width).filter(|pair| pair.len() > width) {
            merge(pair, width, &mut left, meter, work, &compare)?;
        }
        width *= 2;
    }
    Ok(())
}

/// Merges rows of which the first so many are in order, and the others. `left` is an allocation to use.
fn merge(
    rows: &mut [Ranked],
    width: usize,
    left: &mut Vec<Ranked>,
    meter: &mut Meter<'_>,
    work: &Cell<usize>,
    compare: impl Fn(&Ranked, &Ranked) -> Ordering,
) -> Result<(), Failure> {
    let are_in_order =
        rows.get(width - 1).zip(rows.get(width)).is_none_or(|(last, first)| compare(last, first).is_lt());
    if are_in_order {
        return Ok(());
    }
    left.clear();
    left.extend_from_slice(rows.get(..width).unwrap_or_default());
    let (mut from, mut right) = (left.iter().copied().peekable(), width);
    for at in 0..rows.len() {
        meter.charge(MERGED_UNITS + work.take())?;
        // What is left on the right when the left is done stands where it belongs.
        let Some(first) = from.peek() else { break };
        let row = match rows.get(right).filter(|row| compare(row, first).is_lt()) {
            Some(row) => {
                right += 1;
                *row
            }
            None => match from.next() {
                Some(first) => first,
                None => break,
            },
        };
        if let Some(place) = rows.get_mut(at) {
            *place = row;
        }
    }
    Ok(())
}

/// The units of work that merging takes a row.
const MERGED_UNITS: usize = 16;

/// Rows in their order.
pub(crate) struct SortedRows {
    rows: HeldRows,
    order: Vec<Ranked>,
}

impl SortedRows {
    pub(super) fn new(rows: HeldRows, order: Vec<Ranked>) -> SortedRows {
        SortedRows { rows, order }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The page of a row, and its place there.
    #[inline]
    pub(crate) fn chunk(&self, row: usize) -> Option<(Chunk<'_>, usize)> {
        self.rows.chunk(self.order.get(row)?.id())
    }
}
