//! Columns of the elements of a collection: a row for each, with what its event has in the other columns.

use super::evaluate::Evaluator;
use super::whole::gather_some;
use crate::column_block::{Coded, ColumnError, PathColumn};
use crate::dictionary::Dictionary;
use crate::error::ExecError;
use crate::expr::Expr;
use std::ops::Range;
use std::sync::Arc;
use tamias_json::Offsets;

/// Of a block with more elements, or more bytes of them, documents are looked at one by one.
const ELEMENTS_MAX: usize = 1 << 17;
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
    /// Adds those of a value, if it is an array.
    fn add(&mut self, json: &[u8], offsets: &mut Offsets) -> Option<()> {
        if json.first() != Some(&b'[') {
            return Some(());
        }
        let array = tamias_json::Value::scan_trusted(json, offsets).ok()?.as_array()?;
        for element in array.iter() {
            self.bytes.extend_from_slice(element.raw());
            self.ends.push(u32::try_from(self.bytes.len()).ok()?);
        }
        Some(())
    }
}

impl Evaluator<'_> {
    /// Gives each element of a collection, in the events of a range, a row of its own: whether columns can tell that. The elements are the values of the slot
    /// behind those of all paths.
    pub(super) fn unnest(&mut self, collection: &Expr, events: Range<usize>) -> Result<bool, ExecError> {
        let Some(collection) = self.as_column(collection) else { return Ok(false) };
        let Some((origins, elements)) = collection.cloned().map_or_else(
            || self.elements(&PathColumn::Nothing, 0..0),
            |collection| self.elements(&collection, events),
        )?
        else {
            return Ok(false);
        };
        if self.is_too_much_repeated(&origins) {
            return Ok(false);
        }
        self.repeat(&origins);
        if let Some(place) = self.columns.get_mut(self.paths.len()) {
            *place = Some(Arc::new(PathColumn::Coded(elements)));
        }
        self.origins = Some(origins.into());
        Ok(true)
    }

    /// Gives each element what its event has.
    pub(super) fn repeat(&mut self, origins: &[u32]) {
        for column in self.columns.iter_mut().flatten() {
            let of_elements = column.gathered(origins);
            if let PathColumn::Pieces(pieces) = &**column
                && let Some(error) = pieces.failure()
            {
                self.broken.borrow_mut().get_or_insert(ColumnError::Decode(error));
            }
            *column = Arc::new(of_elements);
        }
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

    /// The elements of the arrays in a column, and the event of each; none where they are many. Those of arrays that are one entry are
    /// entries that its events share.
    fn elements(
        &self,
        collection: &PathColumn,
        events: Range<usize>,
    ) -> Result<Option<(Vec<u32>, Coded)>, ExecError> {
        let none = || Coded::new(None, Arc::new(Dictionary::new(Vec::new(), Vec::new())));
        let Some(coded) = collection.coded() else { return Ok(Some((Vec::new(), none()))) };
        let (mut origins, mut places) = (Vec::new(), Vec::new());
        let (mut elements, mut offsets) = (Elements::default(), Offsets::new());
        // Of each entry the places of its elements, once they are known.
        let mut known: Vec<Option<Range<u32>>> = vec![None; coded.dictionary.len()];
        for row in events {
            let code = coded.code(row);
            let Some(known) = known.get_mut(code as usize) else { continue };
            let of_entry = match known {
                Some(known) => known.clone(),
                None => {
                    let begin = elements.ends.len() as u32;
                    if elements.add(coded.dictionary.get(code), &mut offsets).is_none() {
                        return Ok(None);
                    }
                    known.insert(begin..elements.ends.len() as u32).clone()
                }
            };
            origins.extend(std::iter::repeat_n(row as u32, of_entry.len()));
            places.extend(of_entry);
            if places.len() > ELEMENTS_MAX || elements.bytes.len() > BYTES_MAX {
                return Ok(None);
            }
            if row.is_multiple_of(CHECKED_ROWS) {
                self.check()?;
            }
        }
        let elements = Coded::of_texts(Dictionary::new(elements.bytes, elements.ends));
        Ok(Some((origins, elements.gathered(&places))))
    }
}

/// After so many rows it is asked whether to go on.
const CHECKED_ROWS: usize = 1024;

impl PathColumn {
    /// The values of some rows of a block, which come in its order, some more than once.
    pub(super) fn gathered(&self, rows: &[u32]) -> PathColumn {
        match self {
            PathColumn::Nothing => PathColumn::Nothing,
            PathColumn::Unknown => PathColumn::Unknown,
            PathColumn::Coded(coded) => PathColumn::Coded(coded.gathered(rows)),
            PathColumn::Mixed(column) => PathColumn::Coded(column.coded().gathered(rows)),
            PathColumn::Pieces(column) => PathColumn::Coded(column.coded().gathered(rows)),
            PathColumn::Numbers(column) => {
                let numbers = gather_some(&column.numbers, rows.iter().copied(), rows.len());
                PathColumn::of_numbers(numbers, rows.len())
            }
        }
    }
}
