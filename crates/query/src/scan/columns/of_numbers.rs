//! What functions make of a column of numbers: their texts without an evaluation, and all else once for each number, where numbers repeat.

use super::computed::Texts;
use super::evaluate::Evaluator;
use super::reckoned::Reckoned;
use crate::chunk::{Digits, Mantissas};
use crate::column_block::{Coded, PathColumn};
use crate::expr::Expr;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

/// So many rows are looked at to tell whether numbers repeat.
const PROBE: usize = 1024;

impl Evaluator<'_> {
    /// The texts of numbers, as `ToString` and `ToHexString` give them; none for another expression, or where there is something else beside numbers.
    pub(super) fn number_texts(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let Expr::Call { function, arguments, .. } = expr else { return None };
        let (is_hex, of) = match (function.name, arguments.as_slice()) {
            ("ToString", [of]) => (false, of),
            ("ToHexString", [of]) => (true, of),
            _ => return None,
        };
        if self.mixed(of).is_some() {
            return None;
        }
        let Reckoned::Numbers(numbers) = self.reckoned(of)? else { return None };
        if is_hex && numbers.scale > 0 {
            return None;
        }
        let mut texts = Texts::default();
        if let Some((codes, firsts)) = told_apart(&numbers, self.rows()) {
            for row in firsts {
                let place = match &numbers.rows {
                    None => Some(row as usize),
                    Some(rows) => rows.binary_search(&row).ok(),
                };
                texts.add_told(|bytes| {
                    place.into_iter().for_each(|place| write_text(&numbers, place, is_hex, bytes));
                    true
                });
            }
            return Some(Arc::new(PathColumn::Coded(Coded::new(Some(codes), texts.into_dictionary()?))));
        }
        let mut next = 0;
        for row in 0..self.rows() as u32 {
            let has_one = numbers.rows.as_ref().is_none_or(|rows| rows.get(next) == Some(&row));
            texts.add_told(|bytes| {
                if has_one {
                    write_text(&numbers, next, is_hex, bytes);
                }
                true
            });
            next += usize::from(has_one);
        }
        Some(Arc::new(PathColumn::Coded(Coded::new(None, texts.into_dictionary()?))))
    }

    /// What an expression that depends on one path of numbers comes to, once for each of them; none where most rows have one of their own.
    pub(super) fn by_numbers(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let slot = self.only(expr)??;
        let PathColumn::Numbers(column) = &**self.column(slot)? else { return None };
        let (codes, firsts) = told_apart(&column.numbers, self.rows())?;
        let mut made = Texts::default();
        self.each(expr, firsts, |_, value| made.add(&value)).ok()?;
        Some(Arc::new(PathColumn::Coded(Coded::new(Some(codes), made.into_dictionary()?))))
    }
}

/// Writes the text of a number at a place, as `ToString` or `ToHexString` give it; nothing where they give none.
fn write_text(numbers: &Mantissas, place: usize, is_hex: bool, bytes: &mut Vec<u8>) {
    let Some(number) = numbers.values.get(place).filter(|number| !is_hex || **number >= 0) else { return };
    bytes.push(b'"');
    match is_hex {
        true => write_hex(number.unsigned_abs(), bytes),
        false => numbers.write(place, bytes),
    }
    bytes.push(b'"');
}

fn write_hex(number: u64, bytes: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.extend_from_slice(b"0x");
    let digits = number.checked_ilog2().map_or(1, |bits| bits / 4 + 1);
    let digit = |nth: u32| DIGITS[(number >> (4 * nth) & 0xf) as usize];
    bytes.extend((0..digits).rev().map(digit));
}

/// For each of so many rows which number it has, those that have none together, and for each of these the first row; none where most have one of their own, or equal
/// numbers are spelled in several ways.
fn told_apart(numbers: &Mantissas, rows: usize) -> Option<(Vec<u32>, Vec<u32>)> {
    if let Digits::Each(_) = numbers.spelled {
        return None;
    }
    let mut known: HashMap<Option<i64>, u32, RandomState> = HashMap::default();
    let (mut codes, mut firsts) = (Vec::with_capacity(rows), Vec::new());
    let mut next = 0;
    for row in 0..rows as u32 {
        let has_one = numbers.rows.as_ref().is_none_or(|with_one| with_one.get(next) == Some(&row));
        let number = numbers.values.get(next).copied().filter(|_| has_one);
        next += usize::from(has_one);
        let code = *known.entry(number).or_insert_with(|| {
            firsts.push(row);
            firsts.len() as u32 - 1
        });
        codes.push(code);
        if codes.len() == PROBE && firsts.len() > PROBE / 2 {
            return None;
        }
    }
    (firsts.len() * 2 <= rows + 8).then_some((codes, firsts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_digits_are_as_few_as_it_takes() {
        for number in [0, 1, 0xf, 0x10, 0xabc, u64::MAX] {
            let mut bytes = Vec::new();
            write_hex(number, &mut bytes);
            assert_eq!(String::from_utf8(bytes).unwrap(), format!("{number:#x}"));
        }
    }

    #[test]
    fn rows_without_a_number_are_told_from_zero() {
        let numbers = Mantissas { rows: Some(vec![0, 2, 3]), values: vec![7, 0, 7], ..Mantissas::default() };
        assert_eq!(told_apart(&numbers, 6), Some((vec![0, 1, 2, 0, 1, 1], vec![0, 1, 2])));
        let each = Mantissas { rows: None, values: (0..4000).collect(), ..Mantissas::default() };
        assert_eq!(told_apart(&each, 4000), None);
    }
}
