//! Rows as columns of typed values, for programs that process many at a time.

use crate::error::ExecError;
use crate::row::{Cell, Row};
use crate::rows::Rows;
use crate::value::{Kind, telling_digits};
use rust_decimal::Decimal;
use std::fmt;

/// A batch ends early when its texts have this many bytes. A single row may have more.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// Rows of a query as columns of typed values: numbers are parsed, strings unescaped. Pass the same batch to [`Rows::next_batch`] again and again to
/// reuse its memory.
///
/// ```
/// use tamias_query::{Query, RowBatch, TypedValue};
/// # use tamias_query::{Source, SourceError};
/// # struct NoEvents;
/// # impl Source for NoEvents {
/// #     fn next_group(&mut self) -> Result<Option<Vec<std::sync::Arc<dyn tamias_query::Block>>>, SourceError> { Ok(None) }
/// # }
/// # let source = Box::new(NoEvents);
/// let mut rows = Query::prepare("select 1.50 as price, 'a\tb' as text")?.run(source);
/// let mut batch = RowBatch::new();
/// while rows.next_batch(1024, &mut batch)? {
///     let [price, text] = batch.columns() else { unreachable!() };
///     assert_eq!(price.get(0), TypedValue::Number { mantissa: 15, scale: 1 });
///     assert_eq!(text.get(0), TypedValue::String("a\tb"));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct RowBatch {
    columns: Vec<TypedColumn>,
    rows: usize,
}

/// A column of a [`RowBatch`]: one value per row.
#[derive(Debug, Default)]
pub struct TypedColumn {
    kinds: Vec<Kind>,
    /// For short numbers the mantissa, for Booleans 0 or 1; else 0.
    mantissas: Vec<i64>,
    /// For short numbers the scale; for other values [`NOT_SHORT`].
    scales: Vec<u8>,
    /// The texts of all other values, one after another, and where that of each row ends.
    text: String,
    ends: Vec<usize>,
}

/// The scale that marks values that are not short numbers.
const NOT_SHORT: u8 = u8::MAX;

/// A value of a [`TypedColumn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedValue<'b> {
    /// No value at all.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// `mantissa` / 10^`scale`: a number of at most 16 digits without an exponent. Trailing zeros are kept: `4.10` has mantissa 410 and scale 2.
    Number {
        /// Less than 10^16, whatever its sign.
        mantissa: i64,
        /// At most 15.
        scale: u32,
    },
    /// The JSON text of any other number.
    LongNumber(&'b str),
    /// An unescaped string. A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD.
    String(&'b str),
    /// An array, as minified JSON.
    Array(&'b str),
    /// An object, as minified JSON.
    Object(&'b str),
}

impl TypedValue<'_> {
    /// The kind of the value.
    pub fn kind(&self) -> Kind {
        match self {
            TypedValue::Undefined => Kind::Undefined,
            TypedValue::Null => Kind::Null,
            TypedValue::Boolean(_) => Kind::Boolean,
            TypedValue::Number { .. } | TypedValue::LongNumber(_) => Kind::Number,
            TypedValue::String(_) => Kind::String,
            TypedValue::Array(_) => Kind::Array,
            TypedValue::Object(_) => Kind::Object,
        }
    }

    /// The value of a number that fits a decimal exactly; `None` for other numbers and values.
    pub fn to_decimal(&self) -> Option<Decimal> {
        match self {
            TypedValue::Number { mantissa, scale } => Decimal::try_new(*mantissa, *scale).ok(),
            TypedValue::LongNumber(text) => tamias_json::number::to_decimal(text),
            TypedValue::Undefined
            | TypedValue::Null
            | TypedValue::Boolean(_)
            | TypedValue::String(_)
            | TypedValue::Array(_)
            | TypedValue::Object(_) => None,
        }
    }
}

/// Writes a string without quotes, nothing for undefined, and other values as JSON.
impl fmt::Display for TypedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TypedValue::Undefined => Ok(()),
            TypedValue::Null => f.write_str("null"),
            TypedValue::Boolean(it) => it.fmt(f),
            TypedValue::Number { mantissa, scale: 0 } => mantissa.fmt(f),
            TypedValue::Number { mantissa, scale } => {
                let sign = if mantissa < 0 { "-" } else { "" };
                let power = 10_u64.checked_pow(scale).unwrap_or(u64::MAX);
                let (whole, fraction) = (mantissa.unsigned_abs() / power, mantissa.unsigned_abs() % power);
                write!(f, "{sign}{whole}.{fraction:0>width$}", width = scale as usize)
            }
            TypedValue::LongNumber(text)
            | TypedValue::String(text)
            | TypedValue::Array(text)
            | TypedValue::Object(text) => f.write_str(text),
        }
    }
}

impl RowBatch {
    /// An empty batch. Allocates nothing.
    pub fn new() -> RowBatch {
        RowBatch::default()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The columns, in the order of the query's columns; empty before the batch is first filled.
    pub fn columns(&self) -> &[TypedColumn] {
        &self.columns
    }

    fn clear(&mut self, width: usize) {
        self.rows = 0;
        self.columns.resize_with(width, TypedColumn::default);
        self.columns.iter_mut().for_each(TypedColumn::clear);
    }

    fn push(&mut self, row: &Row<'_>) {
        self.rows += 1;
        self.columns.iter_mut().zip(row.cells()).for_each(|(column, cell)| column.push(cell));
    }

    fn is_full(&self) -> bool {
        self.columns.iter().map(|column| column.text.len()).sum::<usize>() >= TEXT_BYTES_MAX
    }
}

impl TypedColumn {
    /// The number of values, which is the number of rows of the batch.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The kinds of the values, one per row.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The value of a row, counted from 0; undefined beyond the last.
    pub fn get(&self, row: usize) -> TypedValue<'_> {
        let mantissa = self.mantissas.get(row).copied().unwrap_or_default();
        match self.kinds.get(row) {
            None | Some(Kind::Undefined) => TypedValue::Undefined,
            Some(Kind::Null) => TypedValue::Null,
            Some(Kind::Boolean) => TypedValue::Boolean(mantissa != 0),
            Some(Kind::Number) => match self.scales.get(row) {
                Some(&scale) if scale != NOT_SHORT => TypedValue::Number { mantissa, scale: scale.into() },
                _ => TypedValue::LongNumber(self.text(row)),
            },
            Some(Kind::String) => TypedValue::String(self.text(row)),
            Some(Kind::Array) => TypedValue::Array(self.text(row)),
            Some(Kind::Object) => TypedValue::Object(self.text(row)),
        }
    }

    /// The values, one per row.
    pub fn values(&self) -> impl ExactSizeIterator<Item = TypedValue<'_>> {
        (0..self.len()).map(|row| self.get(row))
    }

    fn text(&self, row: usize) -> &str {
        let end = self.ends.get(row).copied().unwrap_or_default();
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.text.get(start..end).unwrap_or_default()
    }

    fn clear(&mut self) {
        self.kinds.clear();
        self.mantissas.clear();
        self.scales.clear();
        self.text.clear();
        self.ends.clear();
    }

    fn push(&mut self, cell: Cell<'_>) {
        let (kind, json) = (cell.kind(), cell.json().unwrap_or_default());
        let (mut mantissa, mut scale) = (0, NOT_SHORT);
        match kind {
            Kind::Undefined | Kind::Null => {}
            Kind::Boolean => mantissa = cell.as_bool().unwrap_or_default().into(),
            Kind::String => self.text.push_str(&cell.text().unwrap_or_default()),
            Kind::Number => match telling_digits(json) {
                // Of at most 15.
                Some((digits, places)) => (mantissa, scale) = (digits, places as u8),
                None => self.text.push_str(&String::from_utf8_lossy(json)),
            },
            Kind::Array | Kind::Object => self.text.push_str(&String::from_utf8_lossy(json)),
        }
        self.kinds.push(kind);
        self.mantissas.push(mantissa);
        self.scales.push(scale);
        self.ends.push(self.text.len());
    }
}

impl Rows {
    /// Fills a batch with the next rows and returns whether there were any. The batch gets at most `rows_max` rows, and fewer if their texts reach
    /// 16 MiB. Its previous content is replaced.
    ///
    /// Takes time linear in the size of the cells.
    ///
    /// # Errors
    /// As for [`next_row`](Rows::next_row). The batch has the rows that came before the error.
    pub fn next_batch(&mut self, rows_max: usize, batch: &mut RowBatch) -> Result<bool, ExecError> {
        batch.clear(self.columns().len());
        while batch.rows < rows_max && !batch.is_full() {
            let Some(row) = self.next_row()? else { break };
            batch.push(&row);
        }
        Ok(!batch.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use crate::source::NoEvents;
    use proptest::prelude::*;

    /// The JSON that a value stands for.
    fn json_of(value: TypedValue<'_>) -> String {
        match value {
            TypedValue::String(text) => serde_json::to_string(text).unwrap(),
            value => value.to_string(),
        }
    }

    fn column_of(cells: &[String]) -> TypedColumn {
        let mut column = TypedColumn::default();
        cells.iter().for_each(|cell| column.push(Cell::of_json(cell.as_bytes())));
        column
    }

    #[test]
    fn every_spelling_comes_back() {
        let cells = [
            "",
            "null",
            "true",
            "false",
            "0",
            "-0",
            "-0.0",
            "0.00",
            "4.10",
            "-12.50",
            "1E3",
            "1e400",
            "9999999999999999",
            "10000000000000000",
            "1.1102230246251565e-16",
            "\"\"",
            "\"a\\tb\\\"\"",
            "\"\u{20ac}\"",
            "[1,{}]",
            "{\"a\":[]}",
        ];
        let cells = cells.map(str::to_owned);
        let column = column_of(&cells);
        assert_eq!(column.len(), cells.len());
        for (row, (cell, value)) in cells.iter().zip(column.values()).enumerate() {
            assert_eq!(json_of(value), *cell);
            assert_eq!(Some(&value.kind()), column.kinds().get(row));
            assert_eq!(
                value.to_decimal(),
                Cell::of_json(cell.as_bytes()).to_decimal().map(|it| it.normalize()),
                "{cell}"
            );
        }
        assert_eq!(column.get(cells.len()), TypedValue::Undefined);
        assert_eq!(column_of(&["\"\\ud800x\"".into()]).get(0), TypedValue::String("\u{fffd}x"));
    }

    proptest! {
        #[test]
        fn any_number_comes_back(digits in "-?(0|[1-9][0-9]{0,18})(\\.[0-9]{1,18})?([eE][-+]?[0-9]{1,3})?") {
            prop_assert_eq!(json_of(column_of(std::slice::from_ref(&digits)).get(0)), digits);
        }
    }

    #[test]
    fn no_rows_are_asked_for_where_none_are_wanted() {
        let mut rows = Query::prepare("select 1").unwrap().run(Box::new(NoEvents));
        assert!(!rows.next_batch(0, &mut RowBatch::new()).unwrap());
        assert!(rows.next_batch(1, &mut RowBatch::new()).unwrap());
    }
}
