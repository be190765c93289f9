//! Parquet and Arrow files. A column has one type there, so the rows are gone through twice: first to see what the values are.

use std::io::Write;
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

/// The names and the types of a query's columns.
#[derive(Debug)]
pub(crate) struct Columns {
    names: Vec<String>,
    types: Vec<Type>,
}

impl Columns {
    /// Goes through all rows, and sees what the values of each column have in common.
    pub(crate) fn see(rows: &mut Rows, is_instant: &[bool]) -> Result<Columns, Failure> {
        let names = rows.columns().to_vec();
        let is_instant = is_instant.iter().copied().chain(std::iter::repeat(false));
        let mut seen: Vec<Seen> = names.iter().zip(is_instant).map(|(_, it)| Seen::new(it)).collect();
        while let Some(row) = rows.next_row()? {
            seen.iter_mut().zip(row.cells()).for_each(|(seen, cell)| seen.add(cell));
        }
        Ok(Columns { names, types: seen.iter().map(Seen::as_type).collect() })
    }

    /// Writes the rows, which must be those that were seen, and tells how many there were. Over the same events a query gives the same
    /// rows, but for one that asks for `Now()`: a value of another type is an error.
    pub(crate) fn write(
        &self,
        rows: &mut Rows,
        format: FileFormat,
        out: impl Write + Send,
    ) -> Result<u64, Failure> {
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
    fn batch(&self, rows: &mut Rows, schema: &Arc<Schema>) -> Result<Option<RecordBatch>, Failure> {
        let mut builders: Vec<Builder> = self.types.iter().map(|of| Builder::new(*of)).collect();
        let mut count = 0;
        while count < BATCH_ROWS {
            let Some(row) = rows.next_row()? else { break };
            count += 1;
            for ((builder, cell), name) in builders.iter_mut().zip(row.cells()).zip(&self.names) {
                if !builder.push(cell) {
                    return Err(Failure::Query(format!(
                        "column '{name}' has values of another type each time the query runs; \
                         give it one type, or leave `Now()` out of it"
                    )));
                }
            }
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

    /// False where the value is of another type.
    fn push(&mut self, cell: Cell<'_>) -> bool {
        let is_null = matches!(cell.kind(), Kind::Undefined | Kind::Null);
        match self {
            Builder::Boolean(builder) => {
                let value = cell.as_bool();
                builder.append_option(value);
                value.is_some() || is_null
            }
            Builder::Instant(builder) => {
                let value = nanoseconds(cell);
                builder.append_option(value);
                value.is_some() || is_null
            }
            Builder::Whole(builder) => {
                let value = whole(cell);
                builder.append_option(value);
                value.is_some() || is_null
            }
            Builder::Binary(builder) => {
                let value = binary(cell);
                builder.append_option(value);
                value.is_some() || is_null
            }
            Builder::Text(builder) => {
                builder.append_option((!is_null).then(|| cell_text(cell)));
                true
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
    use tamias::{Query, RunOptions, Store};

    #[test]
    fn events_that_come_between_the_runs_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.append([r#"{"@t":"2024-05-29T10:56:01Z","N":1}"#]).unwrap();
        let query = Query::prepare("select N from stream").unwrap();
        let snapshot = store.snapshot().unwrap();
        let run = || snapshot.run(&query, RunOptions::default());
        for format in [FileFormat::Parquet, FileFormat::Arrow] {
            let columns = Columns::see(&mut run(), &query.instant_columns()).unwrap();
            store.append([r#"{"@t":"2024-05-29T10:56:00Z","N":"a text"}"#]).unwrap();
            assert_eq!(columns.write(&mut run(), format, Vec::new()).unwrap(), 1);
        }
        // A value of another type is told, and not lost.
        let columns = Columns { names: vec!["N".to_owned()], types: vec![Type::Whole] };
        let error =
            columns.write(&mut store.query("select N from stream").unwrap(), FileFormat::Arrow, Vec::new());
        assert!(matches!(error, Err(Failure::Query(text)) if text.contains("'N'")));
    }
}
