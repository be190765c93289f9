//! Columns of JSON texts, one for each row, as documents have them.

use super::coded::Coded;
use super::path_column::{MixedColumn, PathColumn};
use crate::dictionary::Dictionary;
use tamias_json::number::few_digits;
use tamias_shred::{Digits, Numbers};

/// There may be one other value for so many numbers: what has more is a column of texts.
const OTHERS_SHARE: usize = 4;

impl PathColumn {
    /// The column of these texts, one for each row, empty where it has nothing.
    pub(crate) fn of_texts(texts: Dictionary) -> PathColumn {
        if texts.text_bytes() == 0 {
            return PathColumn::Nothing;
        }
        let rows = texts.len();
        match numbers_among(&texts) {
            None => PathColumn::Coded(Coded::of_texts(texts)),
            Some((numbers, others)) if others.is_empty() => PathColumn::of_numbers(numbers, rows),
            Some((numbers, others)) => {
                let of_others = Dictionary::of(others.iter().map(|row| texts.get(*row)));
                PathColumn::Mixed(MixedColumn::new(numbers, others, of_others, rows))
            }
        }
    }
}

/// The numbers, and the rows that have another value. None where those are many or are objects or arrays, or a number is not spelled as its digits and
/// scale would be.
fn numbers_among(texts: &Dictionary) -> Option<(Numbers, Vec<u32>)> {
    let count = texts.len();
    let (mut rows, mut others) = (Vec::with_capacity(count), Vec::new());
    let (mut values, mut digits) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for row in 0..count as u32 {
        match texts.get(row) {
            [] => {}
            text @ [b'-' | b'0'..=b'9', ..] => {
                let (significand, scale) = few_digits(text)?;
                if significand == 0 && text.first() == Some(&b'-') {
                    return None;
                }
                rows.push(row);
                values.push(significand);
                digits.push(scale as u8);
            }
            [b'{' | b'[', ..] => return None,
            _ => {
                others.push(row);
                if others.len() * OTHERS_SHARE > rows.len() + OTHERS_SHARE * PROBE {
                    return None;
                }
            }
        }
    }
    if values.is_empty() || others.len() * OTHERS_SHARE > values.len() {
        return None;
    }
    let scale = digits.iter().copied().max().unwrap_or_default();
    for (value, own) in values.iter_mut().zip(&digits).filter(|(_, own)| **own < scale) {
        *value = value.checked_mul(10i64.checked_pow(u32::from(scale - own))?)?;
    }
    // What is kept has no room to spare: few rows may have one.
    rows.shrink_to_fit();
    values.shrink_to_fit();
    digits.shrink_to_fit();
    let rows = (rows.len() != count).then_some(rows);
    Some((Numbers { rows, values, scale, spelled: Digits::of(digits, scale) }, others))
}

/// So many other values may come first.
const PROBE: usize = 16;
