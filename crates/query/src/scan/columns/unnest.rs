//! Columns of the elements of a collection: a row for each, with what its event has in the other columns.

use super::computed::Texts;
use super::evaluate::{Evaluator, Mask};
use super::values::{CHECKED_ROWS, ELEMENTS_MAX, ObjectsOfMembers};
use super::whole::gather_some;
use crate::column_block::{Coded, ColumnError, PathColumn};
use crate::dictionary::Dictionary;
use crate::elements::each_element;
use crate::error::ExecError;
use crate::expr::Expr;
use crate::value::Value;
use std::ops::Range;
use std::sync::Arc;

/// Of a block with more bytes of elements, as of one with more than [`ELEMENTS_MAX`], documents are looked at one by one.
const BYTES_MAX: usize = 8 << 20;
/// Columns of events, and of elements, repeated for each element may have so many cells together, of up to twelve bytes each.
pub(super) const REPEATED_CELLS_MAX: usize = 8 << 20;
/// The same where the values of their events, repeated for each element, come to more bytes.
const REPEATED_BYTES_MAX: usize = 64 << 20;

/// Elements, one after another.
#[derive(Default)]
struct Elements {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Elements {
    /// Adds those of a value, if it is an array; none where they are too many bytes.
    fn add(&mut self, json: &[u8]) -> Option<()> {
        each_element(json, |element| {
            self.bytes.extend_from_slice(element);
            self.ends.push(self.bytes.len() as u32);
        });
        (self.bytes.len() <= BYTES_MAX).then_some(())
    }
}

impl Evaluator<'_> {
    /// Unnests one collection after the other, the first of which may be the values of `objects`, in the events of a range that stay: which rows there are then; none where columns cannot tell that.
    pub(super) fn unnest_all<'e>(
        &mut self,
        collections: impl Iterator<Item = &'e Expr>,
        objects: Option<&ObjectsOfMembers>,
        events: Range<usize>,
        stay: Option<&Mask>,
    ) -> Result<Option<Range<usize>>, ExecError> {
        let stays = |event: &usize| stay.is_none_or(|stay| stay.get(*event) == Some(&true));
        let mut rows: Vec<u32> = events.filter(stays).map(|event| event as u32).collect();
        for (nth, collection) in collections.enumerate() {
            if !self.unnest(collection, objects.filter(|_| nth == 0), nth, &rows)? {
                return Ok(None);
            }
            rows = (0..self.rows() as u32).collect();
        }
        Ok(Some(0..self.rows()))
    }

    /// Gives each element of a collection, in some rows, a row of its own: whether columns can tell that. The elements are the values of a slot, the
    /// `nth` of those behind the slots of all paths.
    fn unnest(
        &mut self,
        collection: &Expr,
        objects: Option<&ObjectsOfMembers>,
        nth: usize,
        rows: &[u32],
    ) -> Result<bool, ExecError> {
        let found = match objects {
            Some(objects) => self.values_of(objects, rows)?,
            None => match self.arrays_of(collection, rows)? {
                Some(arrays) => self.elements(&arrays, rows)?,
                None => None,
            },
        };
        let Some((origins, elements)) = found else { return Ok(false) };
        if self.is_too_much_repeated(&origins) {
            return Ok(false);
        }
        self.repeat(&origins);
        if let Some(place) = self.columns.get_mut(self.paths.len() + nth) {
            *place = Some(Arc::new(elements));
        }
        let event = |row: &u32| self.origin(*row as usize) as u32;
        self.origins = Some(origins.iter().map(event).collect());
        Ok(true)
    }

    /// The values of an expression in some rows, as far as they are arrays; none where they take much memory, or one of them fails.
    fn arrays_of(&self, collection: &Expr, rows: &[u32]) -> Result<Option<Arc<PathColumn>>, ExecError> {
        if let Some(column) = self.as_column(collection) {
            return Ok(Some(column.cloned().unwrap_or_else(|| Arc::new(PathColumn::Nothing))));
        }
        if !self.are_few(rows.len())
            && let Some(column) = self.computed(collection)
        {
            return Ok(Some(column));
        }
        let mut made = Texts::default();
        let add = |_, value: Value<'_>| {
            made.add(if matches!(value, Value::Array(_)) { &value } else { &Value::Undefined });
        };
        match self.each(collection, rows.iter().copied(), add) {
            Ok(()) => {}
            Err(ExecError::ValueTooLarge { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(made.into_column(rows, self.rows()))
    }

    /// Gives each element what its event has.
    pub(super) fn repeat(&mut self, origins: &[u32]) {
        let mut columns = std::mem::take(&mut self.columns);
        for column in columns.iter_mut().flatten() {
            *column = self.repeated(column, origins);
        }
        self.columns = columns;
    }

    /// A column of rows, by the row of each element.
    pub(super) fn repeated(&self, column: &PathColumn, origins: &[u32]) -> Arc<PathColumn> {
        let of_elements = column.gathered(origins);
        if let PathColumn::Pieces(pieces) = column
            && let Some(error) = pieces.failure()
        {
            self.broken.borrow_mut().get_or_insert(ColumnError::Decode(error));
        }
        Arc::new(of_elements)
    }

    /// Whether what events have comes to too many bytes, repeated for each of their elements by whoever takes the rows in.
    pub(super) fn is_too_much_repeated(&self, origins: &[u32]) -> bool {
        let columns = self.columns.iter().flatten().filter(|of| !matches!(***of, PathColumn::Nothing));
        if columns.count().saturating_mul(origins.len()) > REPEATED_CELLS_MAX {
            return true;
        }
        let repeated = |column: &Arc<PathColumn>| -> usize {
            let (PathColumn::Coded(_) | PathColumn::Mixed(_) | PathColumn::Pieces(_)) = &**column else {
                return 0;
            };
            let Some(coded) = column.coded() else { return 0 };
            origins.iter().map(|row| coded.dictionary.get(coded.code(*row as usize)).len()).sum()
        };
        self.columns.iter().flatten().map(repeated).sum::<usize>() > REPEATED_BYTES_MAX
    }

    /// The elements of the arrays in a column, and the row of each; none where they are many. Those of arrays that are one entry are
    /// entries that its events share.
    fn elements(
        &self,
        collection: &PathColumn,
        rows: &[u32],
    ) -> Result<Option<(Vec<u32>, PathColumn)>, ExecError> {
        let none = || Coded::new(None, Arc::new(Dictionary::new(Vec::new(), Vec::new())));
        let Some(coded) = collection.coded() else {
            return Ok(Some((Vec::new(), PathColumn::Coded(none()))));
        };
        let (mut origins, mut places) = (Vec::new(), Vec::new());
        let mut elements = Elements::default();
        // Of each entry the places of its elements, once they are known.
        let mut known: Vec<Option<Range<u32>>> = vec![None; coded.dictionary.len()];
        for (nth, row) in rows.iter().enumerate() {
            let code = coded.code(*row as usize);
            let Some(known) = known.get_mut(code as usize) else { continue };
            let of_entry = match known {
                Some(known) => known.clone(),
                None => {
                    let begin = elements.ends.len() as u32;
                    if elements.add(coded.dictionary.get(code)).is_none() {
                        return Ok(None);
                    }
                    known.insert(begin..elements.ends.len() as u32).clone()
                }
            };
            origins.extend(std::iter::repeat_n(*row, of_entry.len()));
            places.extend(of_entry);
            if places.len() > ELEMENTS_MAX {
                return Ok(None);
            }
            if nth.is_multiple_of(CHECKED_ROWS) {
                self.check()?;
            }
        }
        let elements = Coded::of_texts(Dictionary::new(elements.bytes, elements.ends));
        Ok(Some((origins, PathColumn::Coded(elements.gathered(&places)))))
    }
}

impl PathColumn {
    /// The values of some rows of a block, which come in its order, some more than once.
    pub(super) fn gathered(&self, rows: &[u32]) -> PathColumn {
        match self {
            PathColumn::Nothing => PathColumn::Nothing,
            PathColumn::Unknown => PathColumn::Unknown,
            PathColumn::Coded(coded) => PathColumn::Coded(coded.gathered(rows)),
            PathColumn::Mixed(column) => {
                let numbers = gather_some(&column.numbers, rows.iter().copied(), rows.len());
                PathColumn::Mixed(column.of_rows(numbers, rows))
            }
            PathColumn::Pieces(column) => PathColumn::Coded(column.coded().gathered(rows)),
            PathColumn::Numbers(column) => {
                let numbers = gather_some(&column.numbers, rows.iter().copied(), rows.len());
                PathColumn::of_numbers(numbers, rows.len())
            }
        }
    }
}
