//! The documents of a block in columns, put together for those who ask for more than its columns.

use super::decoded::OwnDocuments;
use super::path_column::PathColumn;
use super::{ColumnBlock, ColumnError, DOCUMENTS_DIFFER};
use crate::dictionary::Dictionary;
use crate::stored::Documents;
use std::ops::Range;
use std::sync::Arc;
use tamias_shred::DecodeError;

/// So many documents are put together one by one. HEURISTIC: of 16,384 one takes a fiftieth of what all of a block take.
const FEW_DOCUMENTS_MAX: usize = 32;

/// One in so many: of few events one takes as long as all.
const FEW_DOCUMENTS_SHARE: usize = 512;

/// One for so many bytes, up to so many, where they are asked for the first time. HEURISTIC: so many bytes take as long among all as one document takes.
const FEW_DOCUMENTS_BYTES: usize = 192 << 10;
const FEW_LARGE_DOCUMENTS_MAX: usize = 128;

/// Documents that follow one another are put together without the others where they are one in so many, or fewer.
const RUN_SHARE: usize = 4;

/// Where the same is asked again of more than so many that follow one another, all are put together and kept.
const SHORT_RUN_MAX: usize = 8;

/// The range of rows that follow one another, in ascending order; none where there are others between, or none at all.
fn run_of(rows: &[u32]) -> Option<Range<usize>> {
    let (first, last) = (*rows.first()? as usize, *rows.last()? as usize);
    let is_run = rows.is_sorted() && last.checked_sub(first)? + 1 == rows.len();
    is_run.then_some(first..last + 1)
}

impl ColumnBlock {
    /// All documents. They are put together, and kept if that was done before: those of a block that is read through once are not.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn documents(&self) -> Result<Documents<'_>, ColumnError> {
        let own = match self.known_documents() {
            Some(own) => own,
            None => {
                let made = self.put_together()?;
                if !self.source.documents_fit(Documents { bytes: &made.bytes, ends: &made.ends }) {
                    return Err(DecodeError::Malformed { what: DOCUMENTS_DIFFER }.into());
                }
                match self.decoded.documents_are_asked_for() {
                    true => self.decoded.keep_documents(made, self.turn),
                    false => self.documents.get_or_init(|| made),
                }
            }
        };
        Ok(Documents { bytes: &own.bytes, ends: &own.ends })
    }

    /// Whether all documents are put together already.
    pub fn has_documents(&self) -> bool {
        self.known_documents().is_some()
    }

    fn known_documents(&self) -> Option<&OwnDocuments> {
        self.decoded.documents(self.turn).or_else(|| self.documents.get())
    }

    fn put_together(&self) -> Result<OwnDocuments, ColumnError> {
        let documents = self.read(|reader| reader.documents())?;
        let mut own = OwnDocuments {
            bytes: Vec::with_capacity(documents.bytes().len() + documents.len()),
            ends: Vec::with_capacity(documents.len()),
        };
        for document in documents.iter() {
            own.bytes.extend_from_slice(document);
            own.ends.push((own.bytes.len() as u32).to_le_bytes());
            own.bytes.push(b'\n');
        }
        Ok(own)
    }

    /// Documents that have of each event what it has under some keys, as documents spell them, and nothing else; none where columns cannot tell,
    /// or this handle was asked for other keys before, or events are deleted.
    pub(crate) fn partial(&self, keys: &[Box<str>]) -> Result<Option<Documents<'_>>, ColumnError> {
        if !self.deleted.is_empty() {
            return Ok(None);
        }
        if self.partial.get().is_none() {
            let mut columns = Vec::with_capacity(keys.len());
            for key in keys {
                let column = self.at(std::slice::from_ref(key))?;
                if matches!(*column, PathColumn::Unknown) {
                    return Ok(None);
                }
                columns.push((key.as_bytes(), column));
            }
            let Some(documents) = documents_of(&columns, self.len()) else { return Ok(None) };
            // Where another thread was first, its documents count.
            let _ = self.partial.set((keys.to_vec(), documents));
        }
        let made = self.partial.get().filter(|(own, _)| own == keys);
        Ok(made.map(|(_, own)| Documents { bytes: &own.bytes, ends: &own.ends }))
    }

    /// How many documents are put together one by one; more are taken from all of the block.
    pub(crate) fn few_documents(&self) -> usize {
        (self.len() / FEW_DOCUMENTS_SHARE).clamp(1, FEW_DOCUMENTS_MAX)
    }

    /// The documents of some rows, each an entry. Few are put together by themselves, and so are some that follow one another; else all of the block are.
    pub(crate) fn documents_of(&self, rows: &[u32]) -> Result<Dictionary, ColumnError> {
        if let Some(run) = run_of(rows)
            && run.len() * RUN_SHARE <= self.len()
            && !self.has_documents()
            && (run.len() <= SHORT_RUN_MAX || !self.decoded.documents_are_asked_for())
        {
            if run.len() <= SHORT_RUN_MAX {
                return self.single_documents(rows, Some(run));
            }
            let (bytes, ends) = self.read(|reader| reader.documents_in(run))?.into_parts();
            return Ok(Dictionary::new(bytes, ends));
        }
        let few_large = (self.document_bytes() / FEW_DOCUMENTS_BYTES).min(FEW_LARGE_DOCUMENTS_MAX);
        let are_few = rows.len() <= self.few_documents()
            || rows.len() <= few_large && !self.decoded.documents_are_asked_for();
        if are_few && !self.has_documents() {
            return self.single_documents(rows, None);
        }
        let all = self.documents()?;
        Ok(Dictionary::of(rows.iter().map(|row| all.get(*row as usize))))
    }

    /// The documents of some rows, put together without the others, and each kept. Those of a run are read at once.
    fn single_documents(&self, rows: &[u32], run: Option<Range<usize>>) -> Result<Dictionary, ColumnError> {
        let known = |row: &u32| self.decoded.single_document(*row, self.turn);
        let keep = |row: &u32, made| self.decoded.keep_single_document(*row, made, self.turn);
        let all: Option<Vec<Arc<Vec<u8>>>> = rows.iter().map(known).collect();
        let all = match (all, run) {
            (Some(all), _) => all,
            (None, Some(run)) => {
                let made = self.read(|reader| reader.documents_in(run))?;
                rows.iter().zip(made.iter()).map(|(row, document)| keep(row, document.to_vec())).collect()
            }
            (None, None) => self.read(|reader| {
                let document = |row: &u32| match known(row) {
                    Some(document) => Ok(document),
                    None => Ok(keep(row, reader.document(*row as usize)?)),
                };
                rows.iter().map(document).collect::<Result<Vec<_>, _>>()
            })?,
        };
        Ok(Dictionary::of(all.iter().map(|document| document.as_slice())))
    }

    /// One document, put together without the others; empty where there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn document(&self, index: usize) -> Result<Vec<u8>, ColumnError> {
        if index >= self.len() {
            return Ok(Vec::new());
        }
        self.read(|reader| reader.document(index))
    }
}

/// Documents of some keys and their values; none where they are larger than the documents of a block ever are.
fn documents_of(columns: &[(&[u8], Arc<PathColumn>)], rows: usize) -> Option<OwnDocuments> {
    let mut own = OwnDocuments { bytes: Vec::new(), ends: Vec::with_capacity(rows) };
    for row in 0..rows {
        let mut before = b"{".as_slice();
        for (key, column) in columns {
            let json = column.json(row);
            if !json.is_empty() {
                own.bytes.extend_from_slice(before);
                own.bytes.push(b'"');
                own.bytes.extend_from_slice(key);
                own.bytes.extend_from_slice(b"\":");
                own.bytes.extend_from_slice(json);
                before = b",";
            }
        }
        own.bytes.extend_from_slice(if before == b"{" { b"{}" } else { b"}" });
        own.ends.push((own.bytes.len() as u32).to_le_bytes());
        own.bytes.push(b'\n');
        if own.bytes.len() > PARTIAL_BYTES_MAX {
            return None;
        }
    }
    Some(own)
}

/// The most that partial documents of a block may take, in bytes. Its documents take 8 MiB, or one document alone 16 MiB.
const PARTIAL_BYTES_MAX: usize = 32 << 20;

#[cfg(test)]
mod tests {
    use super::super::tests::block;
    use super::*;

    #[test]
    fn documents_that_follow_one_another_are_put_together_by_themselves_the_first_time() {
        let block = block(400);
        let rows: Vec<u32> = (300..350).collect();
        for are_kept in [false, true, true] {
            let documents = block.documents_of(&rows).unwrap();
            let told: Vec<&[u8]> = (0..documents.len() as u32).map(|entry| documents.get(entry)).collect();
            let expected: Vec<String> = rows.iter().map(|row| format!(r#"{{"N":{row}}}"#)).collect();
            assert_eq!(told, expected.iter().map(String::as_bytes).collect::<Vec<_>>());
            assert_eq!(block.has_documents(), are_kept);
        }
        for (rows, run) in
            [(vec![7, 8, 9], Some(7..10)), (vec![9, 8, 7], None), (vec![7, 9], None), (vec![], None)]
        {
            assert_eq!(run_of(&rows), run, "{rows:?}");
        }
    }

    #[test]
    fn a_document_that_was_put_together_by_itself_is_kept_until_it_is_given_up() {
        let block = block(600).in_turn(3);
        let known = |of: &ColumnBlock| of.decoded.single_document(7, 3).is_some();
        let own = block.documents_of(&[7]).unwrap();
        assert!(known(&block) && !block.has_documents());
        assert_eq!(block.documents_of(&[7]).unwrap().get(0), own.get(0));
        assert!(block.decoded.used_since(4).single_document(7, 4).is_none());
        assert!(block.decoded.used_since(3).single_document(7, 3).is_some());
        assert!(block.decoded.held_bytes() > block.decoded.used_since(4).held_bytes() + 256);
    }

    #[test]
    fn of_few_events_all_documents_are_put_together_at_once() {
        assert_eq!([1, 50, 600, 2_048, 16_384].map(|events| block(events).few_documents()), [1, 1, 1, 4, 32]);
    }
}
