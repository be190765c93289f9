//! What of a block in columns takes whole documents: they are put together for the rows alone that are asked about. And the texts of all
//! columns at once, which spares them.

use super::evaluate::{Evaluator, Mask, stored};
use super::row_documents::RowDocuments;
use super::texts::{Sought, spelled};
use crate::column_block::{Coded, ColumnError, PathColumn};
use crate::dictionary::Dictionary;
use crate::error::ExecError;
use crate::expr::{Expr, Like};
use crate::functions::any_string_has;
use crate::value::Value;
use std::sync::Arc;
use tamias_json::Offsets;

/// Of a block with more keys, documents are put together: each key takes memory for every row.
const KEYS_MAX: usize = 256;

/// A text that any string of an event may have in it.
struct Said {
    text: String,
    /// As strings spell it.
    spelled: Vec<u8>,
    ci: bool,
    like: Option<Like>,
}

impl Said {
    fn of(expr: &Expr) -> Option<Said> {
        let Expr::Call { function, arguments, ci } = expr else { return None };
        let ("HasText", [_, Expr::Constant(Value::Text(text))]) = (function.name, arguments.as_slice())
        else {
            return None;
        };
        let text = text.text().into_owned();
        let spelled = spelled(&text)?.strip_prefix(b"\"")?.strip_suffix(b"\"")?.to_vec();
        let like = ci.then(|| Like::containing(&text)).flatten();
        Some(Said { text, spelled, ci: *ci, like })
    }

    /// The entries of a dictionary that have a string with it.
    fn entries(&self, dictionary: &Dictionary) -> Vec<bool> {
        let mut marks = vec![false; dictionary.len()];
        let folded = self.like.as_ref().and_then(Sought::in_any_case);
        let sought = match self.ci {
            false => Some(Sought::contains(&self.spelled)),
            true => folded,
        };
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
                any_string_has(value, &self.text, self.ci)
            });
        }
        marks
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
        // Their documents are sooner put together than all columns are read.
        let Some(block) = self.block.stored() else { return Ok(None) };
        let are_few = |mask: &Mask| mask.iter().filter(|row| **row).nth(block.few_documents()).is_none();
        let Some(keys) = block.keys().filter(|keys| keys.len() <= KEYS_MAX && !within.is_some_and(are_few))
        else {
            return Ok(None);
        };
        let mut mask = vec![false; self.rows()];
        let rows = within.map(|within| (0..).zip(within).filter(|(_, open)| **open).map(|(row, _)| row));
        let rows = rows.map(Iterator::collect::<Vec<u32>>).filter(|rows| self.are_few(rows.len()));
        for key in keys {
            self.check()?;
            let path = [key];
            let column = match &rows {
                Some(rows) if !block.has(&path) => block.at_rows(&path, rows),
                _ => block.at(&path),
            };
            let Some(column) = self.unbroken(column) else { return Ok(None) };
            match (&*column, &rows) {
                (PathColumn::Nothing | PathColumn::Numbers(_), _) => {}
                (PathColumn::Unknown, _) => return Ok(None),
                (PathColumn::Coded(coded), Some(rows)) if rows.len() < coded.dictionary.len() => {
                    let of_rows = rows.iter().map(|row| coded.dictionary.get(coded.code(*row as usize)));
                    let texts = Dictionary::of(of_rows);
                    for (row, is_in) in rows.iter().zip(said.entries(&texts)) {
                        if let Some(mask) = mask.get_mut(*row as usize) {
                            *mask |= is_in;
                        }
                    }
                }
                (PathColumn::Coded(coded), _) => join(&mut mask, coded, &said.entries(&coded.dictionary)),
                (PathColumn::Pieces(column), Some(rows)) => {
                    for (row, is_in) in rows.iter().zip(said.entries(&column.some(rows))) {
                        if let Some(mask) = mask.get_mut(*row as usize) {
                            *mask |= is_in;
                        }
                    }
                }
                (PathColumn::Pieces(column), None) => {
                    let coded = column.coded();
                    join(&mut mask, coded, &said.entries(&coded.dictionary));
                }
                (PathColumn::Mixed(column), _) => {
                    let marks = said.entries(&column.others.values.dictionary);
                    for (row, is_in) in column.others.told(&marks) {
                        if let Some(mask) = mask.get_mut(row) {
                            *mask |= is_in;
                        }
                    }
                }
            }
            if let PathColumn::Pieces(pieces) = &*column
                && let Some(error) = pieces.failure()
            {
                self.unbroken::<()>(Err(ColumnError::Decode(error)));
                return Ok(None);
            }
        }
        Ok(Some(mask))
    }
}

/// Adds the rows whose entries are marked.
fn join(mask: &mut Mask, coded: &Coded, marks: &[bool]) {
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
    use crate::column_block::{ColumnBlock, ReadFrame};
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
