//! The columns of a block of text: what stands at paths that queries before have asked for, made of its documents and kept.

use crate::column_block::{ColumnError, PathColumn};
use crate::dictionary::Dictionary;
use crate::places::Places;
use crate::source::Block;
use crate::stored::Times;
use std::cell::Cell;
use std::sync::Arc;
use tamias_json::search::{Documents, Needle, Place, Span};
use tamias_json::{Isa, Offsets, Value};

/// The columns of a block of text.
///
/// A query that asks for a path for the first time searches the documents; only from the second on its column is made, which then spares looking at
/// documents at all.
pub(crate) struct TextColumns<'b> {
    block: &'b dyn Block,
    times: Times<'b>,
    kept: Arc<Places>,
    /// The bytes of the documents, if columns were made of them.
    read_bytes: Cell<u64>,
}

/// HEURISTIC: of texts that take more than one byte in so many of the documents, and do not repeat, no column is kept: it takes much memory, and the documents
/// are searched nearly as fast.
const TEXTS_SHARE: usize = 4;

impl<'b> TextColumns<'b> {
    /// The columns of a block of text whose events happened at these times.
    pub(crate) fn new(block: &'b dyn Block, times: Times<'b>, kept: Arc<Places>) -> TextColumns<'b> {
        TextColumns { block, times, kept, read_bytes: Cell::new(0) }
    }

    pub(super) fn len(&self) -> usize {
        self.block.len()
    }

    /// The bytes of documents that were read since this was asked last.
    pub(super) fn take_read_bytes(&self) -> u64 {
        self.read_bytes.take()
    }

    pub(super) fn times(&self) -> Times<'b> {
        self.times
    }

    pub(super) fn has(&self, path: &[Box<str>]) -> bool {
        self.kept.columns().all(path).is_some_and(|known| !matches!(*known, PathColumn::Unknown))
    }

    /// What stands at a path of keys, as documents spell them. Unknown where texts would take too much memory, or there are no documents.
    pub(super) fn at(&self, path: &[Box<str>]) -> Result<Arc<PathColumn>, ColumnError> {
        if let Some(known) = self.kept.columns().all(path) {
            return Ok(known);
        }
        let Some(documents) = self.documents()? else { return Ok(Arc::new(PathColumn::Unknown)) };
        let column = texts(documents, path, None).map_or(PathColumn::Unknown, PathColumn::of_texts);
        let is_small = match &column {
            PathColumn::Coded(coded) => {
                coded.repeats() || column.held_bytes() <= documents.bytes().len() / TEXTS_SHARE
            }
            _ => true,
        };
        Ok(self.kept.columns().keep_all(path, if is_small { column } else { PathColumn::Unknown }))
    }

    /// The same where some rows are looked at: texts are taken out for these alone.
    pub(super) fn at_rows(&self, path: &[Box<str>], rows: &[u32]) -> Result<Arc<PathColumn>, ColumnError> {
        let columns = self.kept.columns();
        match (columns.all(path), columns.some(path)) {
            (Some(known), _) if !matches!(*known, PathColumn::Unknown) => return Ok(known),
            (_, Some(known)) if known.tells(rows) => return Ok(known),
            _ => {}
        }
        let Some(documents) = self.documents()? else { return Ok(Arc::new(PathColumn::Unknown)) };
        let column = texts(documents, path, Some(rows));
        let column = column.map(|texts| PathColumn::of_rows(texts, rows, self.len()));
        Ok(columns.keep_some(path, column.unwrap_or(PathColumn::Unknown)))
    }

    /// The documents of some rows, each an entry.
    pub(super) fn documents_of(&self, rows: &[u32]) -> Result<Dictionary, ColumnError> {
        let Some(documents) = self.documents()? else { return Ok(Dictionary::default()) };
        let document = |row: &u32| documents.bytes().get(documents.range(*row as usize)).unwrap_or_default();
        Ok(Dictionary::of(rows.iter().map(document)))
    }

    /// The documents; none where they are damaged, or not those of all events.
    fn documents(&self) -> Result<Option<Documents<'b>>, ColumnError> {
        let Some(documents) = self.block.documents().map_err(ColumnError::Read)? else { return Ok(None) };
        let is_whole = documents.ends.len() == self.len();
        self.read_bytes.set(documents.bytes.len() as u64);
        Ok(Documents::new(documents.bytes, documents.ends).filter(|_| is_whole))
    }
}

/// The JSON text at a path, of all events or of some; empty for those that have none. None where that cannot be told of each. Takes time linear in
/// the documents.
fn texts(documents: Documents<'_>, path: &[Box<str>], rows: Option<&[u32]>) -> Option<Dictionary> {
    let names: Vec<String> = path.iter().map(|key| read(key)).collect::<Option<_>>()?;
    let (first, below) = names.split_first()?;
    let below: Vec<&str> = below.iter().map(String::as_str).collect();
    let isa = Isa::best();
    let mut needle = Needle::key(first)?;
    needle.tune(isa, documents.bytes());
    let places = match rows {
        None => documents.places(isa, &needle, first),
        Some(rows) => documents.places_of(isa, &needle, first, rows),
    };
    // What is kept has no room to spare.
    let length = |place: &Place| text_at(documents.bytes(), *place).map_or(0, <[u8]>::len);
    let whole = if below.is_empty() { places.iter().map(length).sum() } else { 0 };
    let (mut bytes, mut ends) = (Vec::with_capacity(whole), Vec::with_capacity(places.len()));
    let mut offsets = Offsets::new();
    for place in places {
        let text = text_at(documents.bytes(), place)?;
        match below.as_slice() {
            [] => bytes.extend_from_slice(text),
            below if text.first() == Some(&b'{') => {
                let object = Value::scan_trusted(text, &mut offsets).ok()?.as_map()?;
                bytes.extend_from_slice(object.path(below).map_or(&[], |value| value.raw()));
            }
            _ => {}
        }
        ends.push(bytes.len() as u32);
    }
    bytes.shrink_to_fit();
    Some(Dictionary::new(bytes, ends))
}

/// What a key reads as that documents spell so.
fn read(key: &str) -> Option<String> {
    let quoted = format!("\"{key}\"");
    Some(Value::of_scalar(quoted.as_bytes()).as_str()?.text().into_owned())
}

/// The text at a place, empty where nothing is; none where that is not known.
fn text_at(bytes: &[u8], place: Place) -> Option<&[u8]> {
    match (place.span(), place.nested()) {
        (Span::Value(start, end), _) => bytes.get(start as usize..end as usize),
        (Span::Absent, _) => Some(&[]),
        (Span::Unsure, nested) => bytes.get(nested?),
    }
}
