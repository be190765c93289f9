//! Rows: stored values borrow from their block, computed values have text of their own.

use crate::chunk::Chunk;
use crate::value::Kind;
use rust_decimal::Decimal;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use tamias_json::{Offsets, write_json_string};

/// A row of a result, borrowed until the next one is requested.
#[derive(Clone, Copy)]
pub struct Row<'r> {
    columns: &'r [String],
    chunk: Chunk<'r>,
    row: usize,
}

impl<'r> Row<'r> {
    /// A row of a chunk, and the names of its columns.
    #[inline]
    pub(crate) fn new(columns: &'r [String], chunk: Chunk<'r>, row: usize) -> Row<'r> {
        Row { columns, chunk, row }
    }

    /// The number of cells, which is the number of the query's columns.
    #[expect(clippy::len_without_is_empty, reason = "a row has at least one cell")]
    #[inline]
    pub fn len(&self) -> usize {
        self.chunk.width()
    }

    /// The cell of a column, counted from 0; `None` beyond the last.
    #[inline]
    pub fn get(&self, column: usize) -> Option<Cell<'r>> {
        let is_there = column < self.len();
        is_there.then(|| Cell { json: self.chunk.json_at(column, self.row) })
    }

    /// The cells in the order of the columns.
    #[inline]
    pub fn cells(&self) -> impl Iterator<Item = Cell<'r>> + use<'r> {
        let row = *self;
        (0..row.len()).map_while(move |column| row.get(column))
    }

    /// Appends the row as one JSON object, keyed by the names of the columns, and a line feed. Undefined cells are left out.
    pub fn write_ndjson(&self, out: &mut Vec<u8>) {
        write_ndjson(self.columns, self.cells(), out);
    }

    /// A copy of the row that borrows nothing.
    pub fn to_owned(&self) -> OwnedRow {
        let mut text = Vec::new();
        let ends = self.cells().map(|cell| {
            text.extend_from_slice(cell.json);
            text.len()
        });
        let ends = ends.collect();
        OwnedRow(Arc::new(Owned { columns: self.columns.into(), text, ends }))
    }
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cells()).finish()
    }
}

/// A row that borrows nothing: it can be kept, and sent to another thread.
#[derive(Clone)]
pub struct OwnedRow(Arc<Owned>);

struct Owned {
    columns: Arc<[String]>,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl OwnedRow {
    /// The number of cells, which is the number of the query's columns.
    #[expect(clippy::len_without_is_empty, reason = "a row has at least one cell")]
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.0.columns
    }

    /// The cell of a column, counted from 0; `None` beyond the last.
    pub fn get(&self, column: usize) -> Option<Cell<'_>> {
        let end = *self.0.ends.get(column)?;
        let start = column.checked_sub(1).and_then(|before| self.0.ends.get(before)).copied().unwrap_or(0);
        Some(Cell { json: self.0.text.get(start..end)? })
    }

    /// The cells in the order of the columns.
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        (0..self.len()).map_while(|column| self.get(column))
    }

    /// Appends the row as one JSON object, as [`Row::write_ndjson`] does.
    pub fn write_ndjson(&self, out: &mut Vec<u8>) {
        write_ndjson(&self.0.columns, self.cells(), out);
    }
}

fn write_ndjson<'c>(columns: &[String], cells: impl Iterator<Item = Cell<'c>>, out: &mut Vec<u8>) {
    out.push(b'{');
    let mut is_first = true;
    for (name, cell) in columns.iter().zip(cells) {
        if let Some(json) = cell.json() {
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            write_json_string(name, out);
            out.push(b':');
            out.extend_from_slice(json);
        }
    }
    out.extend_from_slice(b"}\n");
}

/// Rows are equal if their cells have the same text.
impl PartialEq for OwnedRow {
    fn eq(&self, other: &OwnedRow) -> bool {
        self.0.columns == other.0.columns && self.0.ends == other.0.ends && self.0.text == other.0.text
    }
}

impl fmt::Debug for OwnedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cells()).finish()
    }
}

/// A value in a row: undefined, or JSON text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cell<'r> {
    /// Empty for undefined.
    json: &'r [u8],
}

impl<'r> Cell<'r> {
    /// A cell with a value given as JSON, for programs that have kept the [JSON](Cell::json) of a cell. Empty text is undefined. If the text is not a
    /// valid JSON value, the results of the cell's methods are unspecified.
    ///
    /// ```
    /// use tamias_query::{Cell, Kind};
    /// assert_eq!(Cell::of_json(b"12.5").kind(), Kind::Number);
    /// assert_eq!(Cell::of_json(b"").json(), None);
    /// ```
    pub fn of_json(json: &'r [u8]) -> Cell<'r> {
        Cell { json }
    }

    /// Whether the cell is undefined: it has no value.
    #[inline]
    pub fn is_undefined(&self) -> bool {
        self.json.is_empty()
    }

    /// The value as minified JSON, a stored value exactly as it is stored; `None` for undefined.
    #[inline]
    pub fn json(&self) -> Option<&'r [u8]> {
        (!self.is_undefined()).then_some(self.json)
    }

    /// The kind of the value.
    pub fn kind(&self) -> Kind {
        Kind::of_first(self.json.first().copied())
    }

    /// The unescaped text of a string, borrowed if it has no escapes; `None` for other values.
    pub fn text(&self) -> Option<Cow<'r, str>> {
        let inner = self.json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        if memchr::memchr(b'\\', inner).is_none() {
            return Some(String::from_utf8_lossy(inner));
        }
        match tamias_json::Value::scan_trusted(self.json, &mut Offsets::new()) {
            Ok(tamias_json::Value::String(text)) => Some(Cow::Owned(text.text().into_owned())),
            _ => None,
        }
    }

    /// The value of a number that fits a decimal exactly; `None` for other numbers and values.
    pub fn to_decimal(&self) -> Option<Decimal> {
        match self.kind() {
            Kind::Number => tamias_json::number::to_decimal(std::str::from_utf8(self.json).ok()?),
            _ => None,
        }
    }

    /// The value of a Boolean; `None` for other values.
    pub fn as_bool(&self) -> Option<bool> {
        match self.json {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }
}

impl fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.json() {
            Some(json) => std::str::from_utf8(json).unwrap_or("(not UTF-8)"),
            None => "undefined",
        })
    }
}
