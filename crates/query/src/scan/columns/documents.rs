//! What of a block in columns takes whole documents: they are put together for the rows alone that are asked about. And the texts of all
//! columns at once, which spares them.

use super::evaluate::{Evaluator, FEW_SHARE, Mask, stored};
use super::row_documents::RowDocuments;
use super::texts::{Sought, spelled};
use crate::column_block::{Array, Coded, ColumnBlock, ColumnError, Path, PathColumn, PieceColumn};
use crate::dictionary::Dictionary;
use crate::error::ExecError;
use crate::expr::{Expr, Like};
use crate::functions::any_string;
use crate::value::Value;
use std::sync::Arc;
use tamias_json::Offsets;
use tamias_shred::{AtArrays, Holds, TextPath};

/// Where more keys may have it, documents are put together: each key takes memory for every row.
const KEYS_MAX: usize = 256;

/// A text that any string of an event may have in it.
enum Said {
    /// As it is, and as strings spell it.
    Exact { text: String, spelled: Vec<u8> },
    /// Whatever the case of its letters.
    InAnyCase(Like),
}

impl Said {
    fn of(expr: &Expr) -> Option<Said> {
        let Expr::Call { function, arguments, ci } = expr else { return None };
        let ("HasText", [_, Expr::Constant(Value::Text(text))]) = (function.name, arguments.as_slice())
        else {
            return None;
        };
        let text = text.text().into_owned();
        // What reads as U+FFFD may be spelled otherwise.
        let spelled = spelled(&text)?.strip_prefix(b"\"")?.strip_suffix(b"\"")?.to_vec();
        if *ci { Like::containing(&text).map(Said::InAnyCase) } else { Some(Said::Exact { text, spelled }) }
    }

    /// What finds it in stored bytes; none where these do not tell it.
    fn sought(&self) -> Option<Sought<'_>> {
        match self {
            Said::Exact { spelled, .. } => Some(Sought::contains(spelled)),
            Said::InAnyCase(like) => Sought::in_any_case(like),
        }
    }

    /// Whether a value is a string with it, or has one inside.
    fn is_in(&self, value: Value<'_>) -> bool {
        match self {
            Said::Exact { text, .. } => any_string(value, |of| of.text().contains(text)),
            Said::InAnyCase(like) => any_string(value, |of| like.is_match(of)),
        }
    }

    /// The entries of a dictionary that have a string with it.
    fn entries(&self, dictionary: &Dictionary) -> Vec<bool> {
        let mut marks = vec![false; dictionary.len()];
        let sought = self.sought();
        match &sought {
            Some(sought) => sought.mark(dictionary, &mut marks),
            None => marks.fill(true),
        }
        let mut offsets = Offsets::new();
        for (entry, mark) in (0..).zip(&mut marks).filter(|(_, mark)| **mark) {
            let text = dictionary.get(entry);
            let of_string = sought.as_ref().filter(|_| text.first() == Some(&b'"'));
            let told = of_string.and_then(|sought| sought.is_in(text));
            *mark = told.unwrap_or_else(|| {
                // As it is stored: of a key that comes twice each value counts.
                let value = stored(text, &mut offsets).map_or(Value::Undefined, Value::stored);
                self.is_in(value)
            });
        }
        marks
    }

    /// Marks the rows of a column that have it; of some rows, if only these are asked about. Whether columns can tell it.
    fn mark(
        &self,
        mask: &mut [bool],
        column: &PathColumn,
        rows: Option<&[u32]>,
    ) -> Result<bool, ColumnError> {
        let mut mark = |row: u32, is_in: bool| {
            if let Some(mask) = mask.get_mut(row as usize) {
                *mask |= is_in;
            }
        };
        match (column, rows) {
            (PathColumn::Nothing | PathColumn::Numbers(_), _) => {}
            (PathColumn::Unknown, _) => return Ok(false),
            (PathColumn::Coded(coded), Some(rows)) if rows.len() < coded.dictionary.len() => {
                let of_rows = rows.iter().map(|row| coded.dictionary.get(coded.code(*row as usize)));
                let texts = Dictionary::of(of_rows);
                rows.iter().zip(self.entries(&texts)).for_each(|(row, is_in)| mark(*row, is_in));
            }
            (PathColumn::Coded(coded), _) => join(mask, coded, &self.entries(&coded.dictionary)),
            (PathColumn::Pieces(column), Some(rows)) => {
                let is_in = self.entries(&column.some(rows));
                rows.iter().zip(is_in).for_each(|(row, is_in)| mark(*row, is_in));
            }
            (PathColumn::Pieces(column), None) => {
                let sought = self.sought();
                let searched = sought.as_ref().and_then(Sought::part).and_then(|part| {
                    let found = part.search(column.searchable()?);
                    let open = part.open_rows(&found);
                    (open.len() * FEW_SHARE <= found.len()).then_some((part, found, open))
                });
                let Some((part, found, open)) = searched else {
                    // Texts of all rows are kept for the next query.
                    let coded = column.coded();
                    join(mask, coded, &self.entries(&coded.dictionary));
                    return told_by(column);
                };
                let is_told = |holds: Holds| holds == Holds::Yes && !part.leaves_open(holds);
                (0..).zip(&found).for_each(|(row, holds)| mark(row, is_told(*holds)));
                let is_in = self.entries(&column.some(&open));
                open.iter().zip(is_in).for_each(|(row, is_in)| mark(*row, is_in));
            }
            (PathColumn::Mixed(column), _) => {
                let marks = self.entries(&column.others.values.dictionary);
                column.others.told(&marks).for_each(|(row, is_in)| mark(row as u32, is_in));
            }
        }
        match column {
            PathColumn::Pieces(column) => told_by(column),
            _ => Ok(true),
        }
    }
}

impl Evaluator<'_> {
    /// The documents of some rows, kept for the next term of a condition: it is asked of the rows that the one before has left, as a rule.
    pub(super) fn kept_documents(&self, rows: &[u32]) -> Option<Arc<RowDocuments>> {
        let known = self.kept.borrow().clone();
        if let Some(known) = known.filter(|known| rows.iter().all(|row| known.place(*row).is_some())) {
            return Some(known);
        }
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let documents = self.documents(&rows)?;
        let made = Arc::new(RowDocuments::new(rows, documents));
        self.kept.replace(Some(made.clone()));
        Some(made)
    }

    /// The documents of some rows, each an entry. If they cannot be read there are none, and why is told in the end.
    pub(super) fn documents(&self, rows: &[u32]) -> Option<Dictionary> {
        self.unbroken(self.block.documents_of(rows))
    }

    /// What was read; where it cannot be, nothing that is evaluated counts.
    fn unbroken<T>(&self, read: Result<T, ColumnError>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(error) => {
                self.broken.borrow_mut().get_or_insert(error);
                None
            }
        }
    }

    /// Of each row whether any string of its event has a text in it; none for another expression, or where documents tell it sooner.
    pub(super) fn test_said(&self, expr: &Expr, within: Option<&Mask>) -> Result<Option<Mask>, ExecError> {
        let Some(said) = Said::of(expr) else { return Ok(None) };
        let Some(block) = self.block.stored() else { return Ok(None) };
        // Their documents are sooner put together than all columns are read.
        let are_few = |mask: &Mask| mask.iter().filter(|row| **row).nth(block.few_documents()).is_none();
        if within.is_some_and(are_few) {
            return Ok(None);
        }
        let Some(paths) = self.unbroken(paths_of(block, &said)).flatten() else { return Ok(None) };
        let mut mask = vec![false; self.rows()];
        let rows = within.map(|within| (0..).zip(within).filter(|(_, open)| **open).map(|(row, _)| row));
        let rows = rows.map(Iterator::collect::<Vec<u32>>).filter(|rows| self.are_few(rows.len()));
        for TextPath { keys, in_elements } in paths {
            self.check()?;
            let path = keys.into_boxed_slice();
            let is_told = match in_elements {
                None => self.unbroken(mark_said(block, &said, &mut mask, &path, rows.as_deref())),
                Some(below) => self.unbroken(mark_elements(block, &said, &mut mask, &path, &below.into())),
            };
            // What columns do not tell of a part of a key's value they may tell of all of it.
            let is_told = match (is_told, path.get(..1)) {
                (Some(false), Some(key)) => {
                    self.unbroken(mark_said(block, &said, &mut mask, key, rows.as_deref()))
                }
                (is_told, _) => is_told,
            };
            if is_told != Some(true) {
                return Ok(None);
            }
        }
        Ok(Some(mask))
    }
}

/// The paths of the strings in which a text may stand; none where columns cannot tell it, or there are too many.
fn paths_of(block: &ColumnBlock, said: &Said) -> Result<Option<Vec<TextPath>>, ColumnError> {
    let paths: Option<Vec<TextPath>> = block
        .keys()
        .map(|keys| keys.into_iter().map(|key| TextPath { keys: vec![key], in_elements: None }).collect());
    // What was decoded before is searched as it is.
    if paths.iter().flatten().all(|path| block.has(&path.keys)) {
        return Ok(paths.filter(|paths| paths.len() <= KEYS_MAX));
    }
    let sought = said.sought();
    let paths = match sought.as_ref().and_then(Sought::part) {
        Some(part) => block.paths_with(part.wanted, |bytes| part.may_be_in(bytes))?.or(paths),
        None => paths,
    };
    Ok(paths.filter(|paths| paths.len() <= KEYS_MAX))
}

/// Marks the rows that have a text at a path: whether columns can tell it.
fn mark_said(
    block: &ColumnBlock,
    said: &Said,
    mask: &mut Mask,
    path: &[Box<str>],
    rows: Option<&[u32]>,
) -> Result<bool, ColumnError> {
    let column = match rows {
        Some(rows) if !block.has(path) => block.at_rows(path, rows)?,
        _ => block.at(path)?,
    };
    said.mark(mask, &column, rows)
}

/// The same of a path in the elements of arrays.
fn mark_elements(
    block: &ColumnBlock,
    said: &Said,
    mask: &mut Mask,
    path: &Path,
    below: &Path,
) -> Result<bool, ColumnError> {
    let AtArrays::Arrays(at) = block.arrays_at(None, path) else { return Ok(false) };
    let array = Array::within(None, path, at);
    let mut of_elements = vec![false; at.elements];
    if !said.mark(&mut of_elements, &*block.in_elements(&array, below)?, None)? {
        return Ok(false);
    }
    for (origin, is_in) in block.arrays(&array)?.origins.iter().zip(of_elements) {
        if let Some(mask) = mask.get_mut(*origin as usize) {
            *mask |= is_in;
        }
    }
    Ok(true)
}

/// That texts by template told what was asked, unless they could not be put together.
fn told_by(column: &PieceColumn) -> Result<bool, ColumnError> {
    column.failure().map_or(Ok(true), |error| Err(error.into()))
}

/// Adds the rows whose entries are marked.
fn join(mask: &mut [bool], coded: &Coded, marks: &[bool]) {
    // Most keys have the text in no entry.
    if !marks.contains(&true) {
        return;
    }
    for (row, mask) in mask.iter_mut().enumerate() {
        *mask |= marks.get(coded.code(row) as usize).copied().unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::of_block::BlockColumns;
    use super::*;
    use crate::column_block::ReadFrame;
    use crate::control::Control;
    use crate::options::RunOptions;
    use crate::parameters::Parameters;
    use crate::stored::{SourceError, Times};
    use crate::{parser, planner};
    use tamias_shred::{Event, encode};

    /// A block that needs no frame.
    struct NoFrames;

    impl ReadFrame for NoFrames {
        fn frame(&self, _number: u32) -> Result<Vec<u8>, SourceError> {
            Err("no such frame".into())
        }
    }

    #[test]
    fn documents_are_put_together_once_for_all_terms_that_look_into_them() {
        let event = Event { instant: 0, arrival: 0, document: br#"{"a":1}"# };
        let encoded = encode(&[event; 5]).unwrap();
        let block = ColumnBlock::open(&encoded.directory, Box::new(NoFrames)).unwrap();
        let text = "select 1";
        let plan = planner::plan(&parser::parse_query(text).unwrap(), text, &Parameters::new()).unwrap();
        let control = Control::new(&plan, RunOptions::default(), None);
        let columns = BlockColumns::Stored(&block);
        let evaluator = Evaluator::new(&columns, &[], Times::default(), &control);
        let first = evaluator.kept_documents(&[4, 1, 2]).unwrap();
        assert_eq!((first.get(4), first.get(0)), (br#"{"a":1}"#.as_slice(), &[][..]));
        assert!(Arc::ptr_eq(&first, &evaluator.kept_documents(&[1, 4]).unwrap()));
        assert!(Arc::ptr_eq(&first, &evaluator.kept_documents(&[]).unwrap()));
        assert!(!Arc::ptr_eq(&first, &evaluator.kept_documents(&[0, 1]).unwrap()));
    }
}
