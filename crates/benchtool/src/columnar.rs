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
use tamias::{RowBatch, Rows, TypedValue};

use crate::failure::Failure;

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

    fn add(&mut self, value: TypedValue<'_>) {
        if matches!(value, TypedValue::Undefined | TypedValue::Null) {
            return;
        }
        self.any = true;
        self.boolean &= matches!(value, TypedValue::Boolean(_));
        self.instant &= nanoseconds(value).is_some();
        self.whole &= whole(value).is_some();
        self.binary &= binary(value).is_some();
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

fn whole(value: TypedValue<'_>) -> Option<i64> {
    match value {
        TypedValue::Number { mantissa, scale: 0 } => Some(mantissa),
        TypedValue::LongNumber(text) => text.parse().ok(),
        _ => None,
    }
}

/// The nearest binary64 of a fraction; a whole number has to be one exactly.
fn binary(value: TypedValue<'_>) -> Option<f64> {
    let nearest = match value {
        TypedValue::Number { mantissa, scale: 0 } => {
            (mantissa.unsigned_abs() <= EXACT).then_some(mantissa as f64)?
        }
        // Both are exact, or else the text of the digits is read.
        TypedValue::Number { mantissa, scale } if mantissa.unsigned_abs() <= EXACT => {
            mantissa as f64 / 10_f64.powi(scale as i32)
        }
        TypedValue::Number { mantissa, scale } => format!("{mantissa}e-{scale}").parse().ok()?,
        // Whole ones have more digits than are exact.
        TypedValue::LongNumber(text) if text.contains(['.', 'e', 'E']) => text.parse().ok()?,
        _ => return None,
    };
    nearest.is_finite().then_some(nearest)
}

/// Whole numbers up to here are binary64 numbers.
const EXACT: u64 = 1 << 53;

fn nanoseconds(value: TypedValue<'_>) -> Option<i64> {
    let ticks = u64::try_from(whole(value)?).ok()?;
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

/// Values, row by row, in a file that has no name and is gone with the process.
struct Kept {
    file: BufReader<File>,
    values: u64,
    /// The text of the present value.
    text: String,
}

fn unkept(error: std::io::Error) -> Failure {
    Failure::Io(format!(
        "rows cannot be kept in a temporary file: {error}; TMPDIR names another folder for it"
    ))
}

/// Writes a value as [`Kept::next`] reads it: a byte that tells what it is, and what that has.
fn keep(value: TypedValue<'_>, out: &mut impl Write) -> std::io::Result<()> {
    let (tag, text) = match value {
        TypedValue::Undefined => return out.write_all(b"u"),
        TypedValue::Null => return out.write_all(b"z"),
        TypedValue::Boolean(false) => return out.write_all(b"f"),
        TypedValue::Boolean(true) => return out.write_all(b"t"),
        TypedValue::Number { mantissa, scale } => {
            out.write_all(b"n")?;
            out.write_all(&mantissa.to_le_bytes())?;
            return out.write_all(&scale.to_le_bytes());
        }
        TypedValue::LongNumber(text) => (b"l", text),
        TypedValue::String(text) => (b"s", text),
        TypedValue::Array(text) => (b"a", text),
        TypedValue::Object(text) => (b"o", text),
    };
    out.write_all(tag)?;
    // A value has 16 MiB at most.
    out.write_all(&(text.len() as u32).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

impl Kept {
    /// The next value; none after the last.
    fn next(&mut self) -> Result<Option<TypedValue<'_>>, Failure> {
        let Some(left) = self.values.checked_sub(1) else { return Ok(None) };
        self.values = left;
        let [tag] = self.read()?;
        Ok(Some(match tag {
            b'u' => TypedValue::Undefined,
            b'z' => TypedValue::Null,
            b'f' => TypedValue::Boolean(false),
            b't' => TypedValue::Boolean(true),
            b'n' => {
                let mantissa = i64::from_le_bytes(self.read()?);
                TypedValue::Number { mantissa, scale: u32::from_le_bytes(self.read()?) }
            }
            b'l' => TypedValue::LongNumber(self.read_text()?),
            b's' => TypedValue::String(self.read_text()?),
            b'a' => TypedValue::Array(self.read_text()?),
            b'o' => TypedValue::Object(self.read_text()?),
            _ => return Err(unkept(std::io::ErrorKind::InvalidData.into())),
        }))
    }

    fn read<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(unkept)?;
        Ok(bytes)
    }

    fn read_text(&mut self) -> Result<&str, Failure> {
        let length = u32::from_le_bytes(self.read()?);
        self.text.clear();
        let read = (&mut self.file).take(length.into()).read_to_string(&mut self.text);
        read.map_err(unkept).map(|_| self.text.as_str())
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
        let mut values = 0;
        let mut batch = RowBatch::new();
        while rows.next_batch(BATCH_ROWS, &mut batch)? {
            values += (batch.len() * names.len()) as u64;
            for row in 0..batch.len() {
                for (seen, column) in seen.iter_mut().zip(batch.columns()) {
                    let value = column.get(row);
                    seen.add(value);
                    keep(value, &mut file).map_err(unkept)?;
                }
            }
        }
        let mut file = file.into_inner().map_err(|error| unkept(error.into_error()))?;
        file.rewind().map_err(unkept)?;
        let kept = Kept { file: BufReader::new(file), values, text: String::new() };
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
        'rows: while count < BATCH_ROWS {
            for builder in &mut builders {
                match rows.next()? {
                    Some(value) => builder.push(value),
                    None => break 'rows,
                }
            }
            count += 1;
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
    fn push(&mut self, value: TypedValue<'_>) {
        match self {
            Builder::Boolean(builder) => builder.append_option(match value {
                TypedValue::Boolean(it) => Some(it),
                _ => None,
            }),
            Builder::Instant(builder) => builder.append_option(nanoseconds(value)),
            Builder::Whole(builder) => builder.append_option(whole(value)),
            Builder::Binary(builder) => builder.append_option(binary(value)),
            Builder::Text(builder) => match value {
                TypedValue::Undefined | TypedValue::Null => builder.append_null(),
                TypedValue::String(text) => builder.append_value(text),
                value => builder.append_value(value.to_string()),
            },
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
        // It gives another value each time it runs.
        let query = Query::prepare("select N, Now() as now from stream").unwrap();
        for format in [FileFormat::Parquet, FileFormat::Arrow] {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(folder.path()).unwrap();
            store
                .append([r#"{"@t":"2024-05-29T10:56:01Z","N":1}"#, r#"{"@t":"2024-05-29T10:56:02Z"}"#])
                .unwrap();
            let mut rows = store.run(&query).unwrap();
            let (columns, mut kept) = Columns::see(&mut rows, &query.instant_columns()).unwrap();
            assert_eq!(columns.types, [Type::Whole, Type::Instant]);
            store.append([r#"{"@t":"2024-05-29T10:56:00Z","N":"a text"}"#]).unwrap();
            let count = columns.write(&mut kept, format, Vec::new()).unwrap();
            assert_eq!((count, rows.stats().rows), (2, 2));
            let mut rows = store.run(&query).unwrap();
            assert_eq!(write(&mut rows, &[], format, Vec::new()).unwrap(), 3);
        }
    }

    #[test]
    fn kept_values_come_back() {
        let values = [
            TypedValue::Undefined,
            TypedValue::Null,
            TypedValue::Boolean(false),
            TypedValue::Boolean(true),
            TypedValue::Number { mantissa: -410, scale: 2 },
            TypedValue::LongNumber("1E400"),
            TypedValue::String(""),
            TypedValue::String("a\nb €"),
            TypedValue::Array("[1,null]"),
            TypedValue::Object("{}"),
        ];
        let mut file = tempfile::tempfile().unwrap();
        values.iter().for_each(|value| keep(*value, &mut file).unwrap());
        file.rewind().unwrap();
        let file = BufReader::new(file);
        let mut kept = Kept { file, values: values.len() as u64, text: String::new() };
        for value in values {
            assert_eq!(kept.next().unwrap(), Some(value));
        }
        assert_eq!(kept.next().unwrap(), None);
    }

    #[test]
    fn numbers_get_the_type_that_holds_them_all() {
        let number = |mantissa, scale| TypedValue::Number { mantissa, scale };
        for (values, expected) in [
            (&[number(1, 0), TypedValue::LongNumber("9223372036854775807")][..], Type::Whole),
            (&[number(1, 0), number(410, 2)], Type::Binary),
            (&[number(410, 2), TypedValue::LongNumber("1e300")], Type::Binary),
            (&[number(410, 2), TypedValue::LongNumber("9007199254740993")], Type::Text),
            (&[number(9_007_199_254_740_993, 0), number(5, 1)], Type::Text),
            (&[number(5, 1), TypedValue::LongNumber("1e400")], Type::Text),
            (&[number(1, 0), TypedValue::Boolean(true)], Type::Text),
            (&[TypedValue::Null], Type::Text),
        ] {
            let mut seen = Seen::new(false);
            values.iter().for_each(|value| seen.add(*value));
            assert_eq!(seen.as_type(), expected, "{values:?}");
        }
        assert_eq!(binary(number(1_234_567_890_123_456, 15)), Some(1.234567890123456));
        assert_eq!(binary(number(9_999_999_999_999_999, 15)), Some(9.999999999999999));
    }
}
