//! What stands in the JSON that texts spell, which is read once for all that is asked of it, and kept.

use super::coded::Coded;
use super::kept::Path;
use super::path_column::PathColumn;
use super::{ColumnBlock, ColumnError};
use crate::chunk::value_of;
use crate::dictionary::Dictionary;
use crate::functions::JsonReader;
use crate::value::{Value, write_json};
use std::sync::Arc;

/// What is made of the texts of a block may take so many bytes together: more than its documents do.
const BYTES_MAX: usize = 32 << 20;

/// One text in so many, or fewer, are read alone.
const READ_SHARE: usize = 16;

impl ColumnBlock {
    /// Whether what stands at a path in the JSON of texts was read before.
    pub(crate) fn has_in_json(&self, path: &Path, below: &Path) -> bool {
        let known = self.decoded.in_json(path, below, self.turn);
        known.is_some_and(|column| !matches!(*column, PathColumn::Unknown))
    }

    /// What stands at some paths in the JSON that the texts at a path spell. Where some rows are looked at, in ascending order, others may seem to have nothing: few texts
    /// are read for these rows alone, and more of them the first time. None where columns cannot tell it, or it takes much memory.
    pub(crate) fn in_json(
        &self,
        path: &Path,
        below: &[Path],
        rows: Option<&[u32]>,
    ) -> Result<Option<Vec<Arc<PathColumn>>>, ColumnError> {
        let known = |below: &Path| self.decoded.in_json(path, below, self.turn);
        let known: Option<Vec<Arc<PathColumn>>> = below.iter().map(known).collect();
        let is_untold = |column: &Arc<PathColumn>| matches!(**column, PathColumn::Unknown);
        match (known, rows) {
            (Some(all), _) if !all.iter().any(is_untold) => Ok(Some(all)),
            (Some(_), None) => Ok(None),
            // They are too large to be kept.
            (Some(_), Some(rows)) => self.some_in_json(path, below, rows),
            (None, Some(rows)) if self.are_read_alone(path, rows.len()) => {
                self.some_in_json(path, below, rows)
            }
            (None, _) => self.all_in_json(path, below),
        }
    }

    /// Whether so many texts of a path had better be read without the others: few always, and some the first time.
    fn are_read_alone(&self, path: &Path, rows: usize) -> bool {
        rows * READ_SHARE <= self.len() || !self.decoded.json_is_asked_for(path)
    }

    fn some_in_json(
        &self,
        path: &Path,
        below: &[Path],
        rows: &[u32],
    ) -> Result<Option<Vec<Arc<PathColumn>>>, ColumnError> {
        let column = self.at_rows(path, rows)?;
        if matches!(*column, PathColumn::Unknown) {
            return Ok(None);
        }
        let texts = rows.iter().map(|row| column.json(*row as usize));
        let Some(made) = read_all(texts, rows.len(), below) else { return Ok(None) };
        let column = |texts| Arc::new(PathColumn::of_rows(texts, rows, self.len()));
        Ok(Some(made.into_iter().map(column).collect()))
    }

    fn all_in_json(&self, path: &Path, below: &[Path]) -> Result<Option<Vec<Arc<PathColumn>>>, ColumnError> {
        let column = self.at(path)?;
        let coded = match &*column {
            PathColumn::Unknown => return Ok(None),
            PathColumn::Nothing | PathColumn::Numbers(_) => None,
            PathColumn::Coded(_) | PathColumn::Mixed(_) | PathColumn::Pieces(_) => column.coded(),
        };
        let keep = |below: &Path, made| self.decoded.keep_in_json(path, below, Arc::new(made), self.turn);
        // No number spells a value.
        let Some(coded) = coded else {
            return Ok(Some(below.iter().map(|below| keep(below, PathColumn::Nothing)).collect()));
        };
        let entries = coded.dictionary.len();
        let texts = (0..entries as u32).map(|entry| coded.dictionary.get(entry));
        let Some(made) = read_all(texts, entries, below) else {
            // Nor are they read again.
            below.iter().for_each(|below| _ = keep(below, PathColumn::Unknown));
            return Ok(None);
        };
        let columns = below.iter().zip(made).map(|(below, texts)| {
            // Rows share what they share texts for.
            let made = match coded.codes() {
                Some(_) => PathColumn::Coded(Coded::mapped(coded, texts)),
                None => PathColumn::of_texts(texts),
            };
            keep(below, made)
        });
        Ok(Some(columns.collect()))
    }
}

/// What so many values have at some paths in the JSON that they spell, where they are strings; none where that takes much memory.
fn read_all<'t>(
    values: impl Iterator<Item = &'t [u8]>,
    count: usize,
    below: &[Path],
) -> Option<Vec<Dictionary>> {
    let mut reader = JsonReader::default();
    let mut made: Vec<(Vec<u8>, Vec<u32>)> = vec![(Vec::new(), Vec::with_capacity(count)); below.len()];
    let mut bytes_left = BYTES_MAX;
    for json in values {
        let value = if json.first() == Some(&b'"') { value_of(json) } else { Value::Undefined };
        let root = match &value {
            Value::Text(text) => reader.read(text),
            _ => None,
        };
        for (below, (bytes, ends)) in below.iter().zip(&mut made) {
            if let Some(root) = &root {
                let begin = bytes.len();
                match below.iter().fold(root.clone(), |of, name| of.member(name)) {
                    // Of a key that comes twice the last one counts.
                    value @ (Value::Object(_) | Value::Array(_)) => write_json(&value.into_static(), bytes),
                    value => write_json(&value, bytes),
                }
                bytes_left = bytes_left.checked_sub(bytes.len() - begin)?;
            }
            ends.push(u32::try_from(bytes.len()).ok()?);
        }
    }
    Some(made.into_iter().map(|(bytes, ends)| Dictionary::new(bytes, ends)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamias_shred::{Event, encode};

    #[test]
    fn few_texts_are_read_alone_and_some_of_them_the_first_time() {
        let documents: Vec<String> =
            (0..100).map(|n| format!(r#"{{"t":"{{\"a\":{n},\"b\":[{n}]}}"}}"#)).collect();
        let documents = documents.iter().map(String::as_bytes);
        let events: Vec<Event<'_>> =
            documents.map(|document| Event { instant: 0, arrival: 0, document }).collect();
        let encoded = encode(&events).unwrap();
        let block = ColumnBlock::open(&encoded.directory, Box::new(encoded.frames)).unwrap().in_turn(1);
        let (text, below): (Path, [Path; 2]) =
            ([Box::from("t")].into(), ["a", "b"].map(|key| [key.into()].into()));
        let read = |rows: Option<&[u32]>| block.in_json(&text, &below, rows).unwrap().unwrap();
        let few = read(Some(&[3, 5]));
        assert_eq!((few[0].json(3), few[1].json(5), few[0].json(4)), (&b"3"[..], &b"[5]"[..], &b""[..]));
        assert!(!block.has_in_json(&text, &below[0]));
        let some: Vec<u32> = (0..30).collect();
        assert_eq!(read(Some(&some))[1].json(29), b"[29]");
        assert_eq!(read(Some(&[4]))[0].json(4), b"4");
        assert!(!block.has_in_json(&text, &below[0]));
        let all = read(Some(&some));
        assert!(block.has_in_json(&text, &below[1]) && matches!(*all[0], PathColumn::Numbers(_)));
        assert!(Arc::ptr_eq(&all[1], &read(None)[1]) && Arc::ptr_eq(&all[1], &read(Some(&[4]))[1]));
        assert!(block.decoded.used_since(2).held_bytes() < block.decoded.held_bytes());
    }
}
