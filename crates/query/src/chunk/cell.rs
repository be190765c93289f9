//! Cells: where the JSON text of a value stands, and how it gets there.

use crate::value::{Array, Number, Object, Text, Value, parse, telling_digits, write_json};
use tamias_json::Value as Stored;

/// Where the JSON text of a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellText {
    Undefined,
    /// In the block's documents.
    Block {
        start: u32,
        end: u32,
    },
    /// In the text that the columns have of their own.
    Own {
        start: u32,
        end: u32,
    },
    /// In one of the dictionaries that the columns share with others.
    Entry {
        dictionary: u32,
        code: u32,
    },
}

/// The value of JSON text; undefined where there is none. A scalar borrows the text.
#[inline]
pub(crate) fn value_of(json: &[u8]) -> Value<'_> {
    match json.first() {
        None => Value::Undefined,
        Some(b'[' | b'{') => parse(json),
        Some(_) => Value::stored(Stored::of_scalar(json)),
    }
}

/// The same where objects and arrays do not count: they are not read, and undefined.
pub(crate) fn scalar_of(json: &[u8]) -> Value<'_> {
    match json.first() {
        Some(b'[' | b'{') => Value::Undefined,
        _ => value_of(json),
    }
}

/// The digits and scale of a number of few, if they give back its text.
pub(crate) fn few_digits_of(number: &Number<'_>) -> Option<(i64, u32)> {
    match number {
        Number::Decimal(decimal) => {
            let plain = crate::value::plain(*decimal);
            let few = i64::try_from(plain.mantissa()).ok()?;
            let is_few = few.unsigned_abs() < FEW_MAX && plain.scale() <= SCALE_FEW_MAX;
            (is_few && (few != 0 || !number.text().starts_with('-'))).then_some((few, plain.scale()))
        }
        Number::Stored(text) => telling_digits(text.as_bytes()),
        Number::Shared(text) => telling_digits(text.as_bytes()),
    }
}

/// The same of a constant that may have as many digits as 64 bits have room for, as instants have. Of a computed one zeros at its end are left out, as it is written without
/// them.
pub(crate) fn mantissa_of(number: &Number<'_>) -> Option<(i64, u32)> {
    few_digits_of(number).or_else(|| {
        let (value, scale) = match number {
            Number::Decimal(decimal) => {
                let plain = crate::value::plain(*decimal);
                (i64::try_from(plain.mantissa()).ok()?, plain.scale())
            }
            // A whole number is spelled back.
            Number::Stored(text) => (text.parse().ok()?, 0),
            Number::Shared(text) => (text.parse().ok()?, 0),
        };
        // A zero may have a sign, and the least number of 64 bits has no positive counterpart.
        (value != 0 && value != i64::MIN && scale <= SCALE_FEW_MAX).then_some((value, scale))
    })
}

/// One more than the greatest significand of few digits, and their greatest scale.
pub(in crate::chunk) const FEW_MAX: u64 = 10u64.pow(16);
pub(in crate::chunk) const SCALE_FEW_MAX: u32 = 15;

/// A cell for a value: a part of the documents, or else written to `text`.
pub(super) fn cell(value: &Value<'_>, documents: &[u8], text: &mut Vec<u8>) -> CellText {
    let raw = match value {
        Value::Undefined => return CellText::Undefined,
        Value::Number(Number::Stored(text)) => text.as_bytes(),
        Value::Text(Text::Stored(text)) => text.raw_quoted(),
        Value::Array(Array::Stored(array)) => array.raw(),
        Value::Object(Object::Stored(map)) => map.raw(),
        _ => &[],
    };
    if let Some(place) = within(documents, raw) {
        return place;
    }
    let start = text.len();
    write_json(value, text);
    written(text, start)
}

/// A cell for text that is copied.
#[inline]
pub(super) fn own(text: &mut Vec<u8>, json: &[u8]) -> CellText {
    let start = text.len();
    text.extend_from_slice(json);
    written(text, start)
}

/// The cell of what was written from `start` on.
fn written(text: &[u8], start: usize) -> CellText {
    match (u32::try_from(start), u32::try_from(text.len())) {
        (Ok(start), Ok(end)) => CellText::Own { start, end },
        // Four gigabytes of text: each cell is limited, and columns are full long before.
        _ => CellText::Undefined,
    }
}

/// Where `raw` lies in `documents`, if it is a part of them.
pub(super) fn within(documents: &[u8], raw: &[u8]) -> Option<CellText> {
    let start = (raw.as_ptr() as usize).checked_sub(documents.as_ptr() as usize)?;
    let end = start + raw.len();
    if raw.is_empty() || end > documents.len() {
        return None;
    }
    Some(CellText::Block { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? })
}
