//! Parquet and Arrow files. A column has one type there, which its values tell: so the rows are kept in a file until all were seen.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, TimestampNanosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use tamias::{Cell, Kind, Rows};

use crate::failure::Failure;
use crate::output::cell_text;

/// The formats of such files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Parquet,
    Arrow,
}

/// Rows are written whenever so many have come together.
const BATCH_ROWS: usize = 8192;

/// Ticks from the year 1 to 1970-01-01T00:00:00Z.
const UNIX_TICKS: i128 = 621_355_968_000_000_000;

/// What a column is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Boolean,
    /// UTC, in nanoseconds since 1970, which reach from the year 1678 to 2261.
    Instant,
    Whole,
    Binary,
    /// As CSV has it.
    Text,
}

/// What the values of a column are, all of them.
#[derive(Clone, Copy, Debug)]
struct Seen {
    any: bool,
    boolean: bool,
    instant: bool,
    whole: bool,
    binary: bool,
}

impl Seen {
    fn new(is_instant: bool) -> Seen {
        Seen { any: false, boolean: true, instant: is_instant, whole: true, binary: true }
    }

    fn add(&mut self, cell: Cell<'_>) {
        if matches!(cell.kind(), Kind::Undefined | Kind::Null) {
            return;
        }
        self.any = true;
        self.boolean &= cell.as_bool().is_some();
        self.instant &= nanoseconds(cell).is_some();
        self.whole &= whole(cell).is_some();
        self.binary &= binary(cell).is_some();
    }

    fn as_type(&self) -> Type {
        match self {
            Seen { any: false, .. } => Type::Text,
            Seen { boolean: true, .. } => Type::Boolean,
            Seen { instant: true, .. } => Type::Instant,
            Seen { whole: true, .. } => Type::Whole,
            Seen { binary: true, .. } => Type::Binary,
            _ => Type::Text,
        }
    }
}

fn number<'r>(cell: Cell<'r>) -> Option<&'r str> {
    let json = cell.json().filter(|_| cell.kind() == Kind::Number)?;
    std::str::from_utf8(json).ok()
}

fn whole(cell: Cell<'_>) -> Option<i64> {
    number(cell)?.parse().ok()
}

/// The nearest binary64 of a fraction; a whole number has to be one exactly.
fn binary(cell: Cell<'_>) -> Option<f64> {
    let text = number(cell)?;
    let value: f64 = text.parse().ok()?;
    let is_exact = text.contains(['.', 'e', 'E']) || value.abs() <= (1_u64 << 53) as f64;
    (value.is_finite() && is_exact).then_some(value)
}

fn nanoseconds(cell: Cell<'_>) -> Option<i64> {
    let ticks: u64 = number(cell)?.parse().ok()?;
    i64::try_from((i128::from(ticks) - UNIX_TICKS) * 100).ok()
}

/// Writes the rows of a query as a file of columns, and tells how many there were. `is_instant` tells of which columns the numbers are
/// instants.
pub(crate) fn write(
    rows: &mut Rows,
    is_instant: &[bool],
    format: FileFormat,
    out: impl Write + Send,
) -> Result<u64, Failure> {
    let (columns, mut kept) = Columns::see(rows, is_instant)?;
    columns.write(&mut kept, format, out)
}

/// Rows in a file that has no name, and is gone with the process.
struct Kept {
    file: BufReader<File>,
    rows: u64,
    width: usize,
    /// The JSON of a row's cells, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

fn unkept(error: std::io::Error) -> Failure {
    Failure::Io(format!(
        "rows cannot be kept in a temporary file: {error}; TMPDIR names another folder for it"
    ))
}

impl Kept {
    /// Goes on to the next row: whether there is one.
    fn next(&mut self) -> Result<bool, Failure> {
        let Some(left) = self.rows.checked_sub(1) else { return Ok(false) };
        self.rows = left;
        self.bytes.clear();
        self.ends.clear();
        for _ in 0..self.width {
            let mut length = [0; 4];
            self.file.read_exact(&mut length).map_err(unkept)?;
            let start = self.bytes.len();
            self.bytes.resize(start + u32::from_le_bytes(length) as usize, 0);
            self.file.read_exact(self.bytes.get_mut(start..).unwrap_or_default()).map_err(unkept)?;
            self.ends.push(self.bytes.len());
        }
        Ok(true)
    }

    /// The cells of the present row.
    fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| Cell::of_json(self.bytes.get(start..*end).unwrap_or_default()))
    }
}

/// The names and the types of a query's columns.
#[derive(Debug)]
struct Columns {
    names: Vec<String>,
    types: Vec<Type>,
}

impl Columns {
    /// Goes through all rows, keeps them, and sees what the values of each column have in common.
    fn see(rows: &mut Rows, is_instant: &[bool]) -> Result<(Columns, Kept), Failure> {
        let names = rows.columns().to_vec();
        let is_instant = is_instant.iter().copied().chain(std::iter::repeat(false));
        let mut seen: Vec<Seen> = names.iter().zip(is_instant).map(|(_, it)| Seen::new(it)).collect();
        let mut file = BufWriter::new(tempfile::tempfile().map_err(unkept)?);
        let mut count = 0;
        while let Some(row) = rows.next_row()? {
            count += 1;
            for (seen, cell) in seen.iter_mut().zip(row.cells()) {
                seen.add(cell);
                let json = cell.json().unwrap_or_default();
                // A value has 16 MiB at most.
                file.write_all(&(json.len() as u32).to_le_bytes()).map_err(unkept)?;
                file.write_all(json).map_err(unkept)?;
            }
        }
        let mut file = file.into_inner().map_err(|error| unkept(error.into_error()))?;
        file.rewind().map_err(unkept)?;
        let width = names.len();
        let kept =
            Kept { file: BufReader::new(file), rows: count, width, bytes: Vec::new(), ends: Vec::new() };
        Ok((Columns { names, types: seen.iter().map(Seen::as_type).collect() }, kept))
    }

    /// Writes the rows, and tells how many there were.
    fn write(&self, rows: &mut Kept, format: FileFormat, out: impl Write + Send) -> Result<u64, Failure> {
        let broken = |error: &dyn std::fmt::Display| Failure::Io(format!("cannot write the file: {error}"));
        let schema = Arc::new(self.schema());
        let mut count = 0;
        match format {
            FileFormat::Parquet => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))
                    .map_err(|error| broken(&error))?;
                while let Some(batch) = self.batch(rows, &schema)? {
                    count += batch.num_rows() as u64;
                    writer.write(&batch).map_err(|error| broken(&error))?;
                }
                writer.close().map_err(|error| broken(&error))?;
            }
            FileFormat::Arrow => {
                let mut writer = FileWriter::try_new(out, &schema).map_err(|error| broken(&error))?;
                while let Some(batch) = self.batch(rows, &schema)? {
                    count += batch.num_rows() as u64;
                    writer.write(&batch).map_err(|error| broken(&error))?;
                }
                writer.finish().map_err(|error| broken(&error))?;
            }
        }
        Ok(count)
    }

    fn schema(&self) -> Schema {
        let fields = self.names.iter().zip(&self.types).map(|(name, of)| {
            let data_type = match of {
                Type::Boolean => DataType::Boolean,
                Type::Instant => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
                Type::Whole => DataType::Int64,
                Type::Binary => DataType::Float64,
                Type::Text => DataType::Utf8,
            };
            Field::new(name, data_type, true)
        });
        Schema::new(fields.collect::<Vec<Field>>())
    }

    /// The next rows; none after the last.
    fn batch(&self, rows: &mut Kept, schema: &Arc<Schema>) -> Result<Option<RecordBatch>, Failure> {
        let mut builders: Vec<Builder> = self.types.iter().map(|of| Builder::new(*of)).collect();
        let mut count = 0;
        while count < BATCH_ROWS && rows.next()? {
            count += 1;
            builders.iter_mut().zip(rows.cells()).for_each(|(builder, cell)| builder.push(cell));
        }
        if count == 0 {
            return Ok(None);
        }
        let arrays = builders.into_iter().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(schema), arrays);
        batch.map(Some).map_err(|error| Failure::Io(format!("cannot write the file: {error}")))
    }
}

/// A column of a batch.
enum Builder {
    Boolean(BooleanBuilder),
    Instant(TimestampNanosecondBuilder),
    Whole(Int64Builder),
    Binary(Float64Builder),
    Text(StringBuilder),
}

impl Builder {
    fn new(of: Type) -> Builder {
        match of {
            Type::Boolean => Builder::Boolean(BooleanBuilder::new()),
            Type::Instant => Builder::Instant(TimestampNanosecondBuilder::new().with_timezone("UTC")),
            Type::Whole => Builder::Whole(Int64Builder::new()),
            Type::Binary => Builder::Binary(Float64Builder::new()),
            Type::Text => Builder::Text(StringBuilder::new()),
        }
    }

    /// All values are of the type, or none.
    fn push(&mut self, cell: Cell<'_>) {
        match self {
            Builder::Boolean(builder) => builder.append_option(cell.as_bool()),
            Builder::Instant(builder) => builder.append_option(nanoseconds(cell)),
            Builder::Whole(builder) => builder.append_option(whole(cell)),
            Builder::Binary(builder) => builder.append_option(binary(cell)),
            Builder::Text(builder) => {
                let is_null = matches!(cell.kind(), Kind::Undefined | Kind::Null);
                builder.append_option((!is_null).then(|| cell_text(cell)));
            }
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Builder::Boolean(mut builder) => Arc::new(builder.finish()),
            Builder::Instant(mut builder) => Arc::new(builder.finish()),
            Builder::Whole(mut builder) => Arc::new(builder.finish()),
            Builder::Binary(mut builder) => Arc::new(builder.finish()),
            Builder::Text(mut builder) => Arc::new(builder.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamias::{Query, Store};

    #[test]
    fn a_query_runs_once_and_its_rows_are_those_that_were_seen() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.append([r#"{"@t":"2024-05-29T10:56:01Z","N":1}"#, r#"{"@t":"2024-05-29T10:56:02Z"}"#]).unwrap();
        // It gives another value each time it runs.
        let query = Query::prepare("select N, Now() as now from stream").unwrap();
        for format in [FileFormat::Parquet, FileFormat::Arrow] {
            let mut rows = store.run(&query).unwrap();
            let (columns, mut kept) = Columns::see(&mut rows, &query.instant_columns()).unwrap();
            assert_eq!(columns.types, [Type::Whole, Type::Instant]);
            store.append([r#"{"@t":"2024-05-29T10:56:00Z","N":"a text"}"#]).unwrap();
            let count = columns.write(&mut kept, format, Vec::new()).unwrap();
            assert_eq!(count, rows.stats().rows);
        }
        let mut rows = store.run(&query).unwrap();
        assert_eq!(write(&mut rows, &[], FileFormat::Arrow, Vec::new()).unwrap(), 4);
    }
}
