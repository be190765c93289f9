//! Rows: spans of their block where a value is handed on as it is stored, text of their own where it is computed.

use crate::source::Block;
use crate::value::{Array, Kind, Number, Object, Text, Value, parse, write_json};
use rust_decimal::Decimal;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use tamias_json::{Offsets, write_json_string};

/// Where the JSON text of a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Undefined,
    /// In the block's documents.
    Block {
        start: u32,
        end: u32,
    },
    /// In the batch's own text.
    Own {
        start: u32,
        end: u32,
    },
}

/// The rows that a block gave, or some of them.
#[derive(Default)]
pub(crate) struct Batch {
    block: Option<Arc<dyn Block>>,
    text: Vec<u8>,
    places: Vec<Place>,
    /// For each row its event's (instant, arrival).
    orders: Vec<(u64, u64)>,
    width: usize,
}

/// A batch is full when it holds so many bytes of its own text, or so many rows.
const BATCH_BYTES: usize = 1 << 20;
const BATCH_ROWS: usize = 1024;
/// What a batch may take in memory where a single event gives all of its rows.
const BATCH_BYTES_MAX: usize = 16 << 20;

impl Batch {
    pub(crate) fn new(block: Option<Arc<dyn Block>>, width: usize) -> Batch {
        Batch { block, width, ..Batch::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.places.clear();
        self.orders.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.orders.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.orders.len() >= BATCH_ROWS || self.has_much_text()
    }

    /// Whether it is full for its text, whatever its rows.
    pub(crate) fn has_much_text(&self) -> bool {
        self.text.len() >= BATCH_BYTES
    }

    /// Whether the batch takes so much memory that not even the event in hand is gone on with.
    pub(crate) fn is_overfull(&self) -> bool {
        self.bytes() >= BATCH_BYTES_MAX
    }

    /// What its rows take in memory.
    pub(crate) fn bytes(&self) -> usize {
        let rows =
            self.orders.len().saturating_mul(size_of::<(u64, u64)>() + self.width * size_of::<Place>());
        rows.saturating_add(self.text.len())
    }

    /// Copies what its rows have of the block's documents, a row's cells beside those of the next. Who is given rows that another
    /// processor has made then reads on in one place, where it would fetch each cell anew.
    ///
    /// Nothing is copied where that is more than a full batch holds.
    pub(crate) fn gather(&mut self) {
        let Some(documents) = self.block.as_ref().and_then(|block| block.documents().ok().flatten()) else {
            return;
        };
        let bytes = |place: &Place| match place {
            Place::Block { start, end } => end.saturating_sub(*start) as usize,
            Place::Undefined | Place::Own { .. } => 0,
        };
        let bytes: usize = self.places.iter().map(bytes).sum();
        if self.text.len().saturating_add(bytes) > BATCH_BYTES {
            return;
        }
        self.text.reserve_exact(bytes);
        for place in &mut self.places {
            if let Place::Block { start, end } = *place {
                let from = self.text.len() as u32;
                self.text.extend_from_slice(documents.get(start as usize..end as usize).unwrap_or_default());
                *place = Place::Own { start: from, end: self.text.len() as u32 };
            }
        }
        self.block = None;
    }

    /// An empty batch for other rows of the same block.
    pub(crate) fn successor(&self) -> Batch {
        let rows = self.orders.len();
        Batch {
            places: Vec::with_capacity(rows * self.width),
            orders: Vec::with_capacity(rows),
            ..Batch::new(self.block.clone(), self.width)
        }
    }

    pub(crate) fn order(&self, row: usize) -> Option<(u64, u64)> {
        self.orders.get(row).copied()
    }

    /// Adds a cell to the row that is being made. `documents` are those of the batch's block.
    pub(crate) fn push(&mut self, value: &Value<'_>, documents: &[u8]) {
        let raw = match value {
            Value::Undefined => {
                self.places.push(Place::Undefined);
                return;
            }
            Value::Number(Number::Stored(text)) => text.as_bytes(),
            Value::Text(Text::Stored(text)) => text.raw_quoted(),
            Value::Array(Array::Stored(array)) => array.raw(),
            Value::Object(Object::Stored(map)) => map.raw(),
            _ => &[],
        };
        if let Some(place) = within(documents, raw) {
            self.places.push(place);
            return;
        }
        let start = self.text.len();
        write_json(value, &mut self.text);
        self.places.push(match (u32::try_from(start), u32::try_from(self.text.len())) {
            (Ok(start), Ok(end)) => Place::Own { start, end },
            // Four gigabytes of text in a single row: every cell is limited, and a row has a limited number of them.
            _ => Place::Undefined,
        });
    }

    /// Adds the cell of a value that stands in the block's documents.
    #[inline]
    pub(crate) fn push_place(&mut self, place: Option<(u32, u32)>) {
        self.places.push(place.map_or(Place::Undefined, |(start, end)| Place::Block { start, end }));
    }

    /// Adds the cell of a stored value.
    #[inline]
    pub(crate) fn push_stored(&mut self, value: Option<tamias_json::Value<'_>>, documents: &[u8]) {
        match value {
            None => self.places.push(Place::Undefined),
            Some(value) => match within(documents, value.raw()) {
                Some(place) => self.places.push(place),
                None => self.push(&Value::stored(value), documents),
            },
        }
    }

    /// Ends the row that is being made.
    pub(crate) fn end_row(&mut self, order: (u64, u64)) {
        self.orders.push(order);
    }

    pub(crate) fn text_len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn row<'r>(&'r self, columns: &'r [String], row: usize) -> Option<Row<'r>> {
        let places = self.places.get(row * self.width..(row + 1) * self.width)?;
        // They were given when the row was made.
        let documents = self.block.as_ref().and_then(|block| block.documents().ok().flatten());
        let documents = documents.unwrap_or_default();
        Some(Row { columns, places, documents, text: &self.text })
    }
}

/// Where `raw` lies in `documents`, if it is a part of them.
fn within(documents: &[u8], raw: &[u8]) -> Option<Place> {
    let start = (raw.as_ptr() as usize).checked_sub(documents.as_ptr() as usize)?;
    let end = start + raw.len();
    if raw.is_empty() || end > documents.len() {
        return None;
    }
    Some(Place::Block { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? })
}

/// A row of a result, for as long as the next one is not asked for.
#[derive(Clone, Copy)]
pub struct Row<'r> {
    columns: &'r [String],
    places: &'r [Place],
    documents: &'r [u8],
    text: &'r [u8],
}

impl<'r> Row<'r> {
    /// The number of cells: that of the query's columns.
    #[expect(clippy::len_without_is_empty, reason = "a row has at least one cell")]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The cell of a column, from 0; none beyond the last.
    pub fn get(&self, column: usize) -> Option<Cell<'r>> {
        let json = match *self.places.get(column)? {
            Place::Undefined => &[],
            Place::Block { start, end } => self.documents.get(start as usize..end as usize)?,
            Place::Own { start, end } => self.text.get(start as usize..end as usize)?,
        };
        Some(Cell { json })
    }

    /// The cells in the order of the columns.
    pub fn cells(&self) -> impl Iterator<Item = Cell<'r>> + use<'r> {
        let row = *self;
        (0..row.len()).map_while(move |column| row.get(column))
    }

    /// Appends the row as one JSON object, keyed by the names of the columns, and a line feed. Undefined cells are left out.
    pub fn write_ndjson(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        let mut is_first = true;
        for (name, cell) in self.columns.iter().zip(self.cells()) {
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

    pub(crate) fn values(&self) -> Vec<Value<'static>> {
        self.cells().map(|cell| cell.json().map_or(Value::Undefined, parse)).collect()
    }

    /// The row with nothing borrowed.
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

/// A row that stands for itself.
#[derive(Clone)]
pub struct OwnedRow(Arc<Owned>);

struct Owned {
    columns: Arc<[String]>,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl OwnedRow {
    /// The number of cells: that of the query's columns.
    #[expect(clippy::len_without_is_empty, reason = "a row has at least one cell")]
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.0.columns
    }

    /// The cell of a column, from 0; none beyond the last.
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
        let mut at = 0;
        let places: Vec<Place> = self
            .0
            .ends
            .iter()
            .map(|&end| {
                let start = std::mem::replace(&mut at, end);
                match (u32::try_from(start), u32::try_from(end)) {
                    (Ok(start), Ok(end)) if start < end => Place::Own { start, end },
                    _ => Place::Undefined,
                }
            })
            .collect();
        Row { columns: &self.0.columns, places: &places, documents: &[], text: &self.0.text }
            .write_ndjson(out);
    }
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
    /// Whether there is no value.
    pub fn is_undefined(&self) -> bool {
        self.json.is_empty()
    }

    /// The value as minified JSON, a stored one as it is stored; none for undefined.
    pub fn json(&self) -> Option<&'r [u8]> {
        (!self.is_undefined()).then_some(self.json)
    }

    /// The kind of the value.
    pub fn kind(&self) -> Kind {
        match self.json.first() {
            None => Kind::Undefined,
            Some(b'n') => Kind::Null,
            Some(b't' | b'f') => Kind::Boolean,
            Some(b'"') => Kind::String,
            Some(b'[') => Kind::Array,
            Some(b'{') => Kind::Object,
            Some(_) => Kind::Number,
        }
    }

    /// The text of a string, borrowed where nothing in it is escaped; none for other values.
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

    /// The value of a number that a decimal holds exactly; none for others.
    pub fn to_decimal(&self) -> Option<Decimal> {
        match self.kind() {
            Kind::Number => tamias_json::number::to_decimal(std::str::from_utf8(self.json).ok()?),
            _ => None,
        }
    }

    /// The value of a Boolean; none for other values.
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
