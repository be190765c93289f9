//! `ToNumber` over a dictionary: the numbers that texts spell, as mantissas.

use super::characters::Untold;
use super::evaluate::Evaluator;
use super::mapped::{TextOf, Told};
use super::reckoned::Reckoned;
use super::texts::unquoted;
use crate::chunk::{Mantissas, few_digits_of};
use crate::column_block::{MixedColumn, PathColumn};
use crate::expr::Expr;
use crate::value::{Number, Value};
use std::sync::Arc;
use tamias_shred::Digits;
use tamias_simd::decimal::Digits as AtOnce;

/// A number that was read.
#[derive(Clone, Copy, Default)]
struct Read {
    mantissa: i64,
    scale: u8,
    /// How many digits it is shown with behind the point: of one that a text spells there are no zeros at the end.
    digits: u8,
}

impl Read {
    /// A number that a text spells.
    fn of_text(mantissa: i64, scale: u8) -> Read {
        Read { mantissa, scale, digits: Digits::shortest(mantissa, scale) }
    }
}

/// Texts of more bytes are left to the evaluation.
const BYTES_MAX: usize = 20;

/// No mantissa has more digits behind the point.
const SCALE_MAX: u8 = 15;

impl Evaluator<'_> {
    /// The numbers that the texts of a column spell, or what functions of strings make of them, by the rows that have one; none where the
    /// bytes of one do not tell.
    pub(super) fn read_numbers(&self, of: &Expr) -> Option<Reckoned> {
        let text = TextOf::of(of, &|leaf: &Expr| self.as_column(leaf).flatten().is_some())?;
        let slot = self.only(of)??;
        let column = self.column(slot)?;
        let is_stored = text.is_stored();
        if let PathColumn::Mixed(mixed) = &**column {
            return if is_stored { read_mixed(mixed, self.rows()) } else { None };
        }
        let coded = column.texts()?;
        let text = text.over(coded.dictionary.spelling());
        let entries = 0..coded.dictionary.len() as u32;
        let mut no_texts = Vec::new();
        let mut read = |entry: u32| -> Option<Option<Read>> {
            match (coded.dictionary.get(entry), is_stored) {
                (json @ [b'-' | b'0'..=b'9', ..], true) => read_number(json).map(Some),
                (json @ [b'"', ..], _) => match text.tell(unquoted(json)?) {
                    Ok(Some(text)) => read(&text).ok(),
                    Ok(None) => Some(None),
                    Err(Untold) => None,
                },
                ([], _) | (_, true) => Some(None),
                (_, false) => {
                    no_texts.push(entry);
                    Some(None)
                }
            }
        };
        // Those that have none are zeros here.
        let mut are_there = vec![false; coded.dictionary.len()];
        let mut all = Vec::with_capacity(coded.dictionary.len());
        for (entry, is_there) in entries.zip(&mut are_there) {
            let told = read(entry)?;
            *is_there = told.is_some();
            all.push(told.unwrap_or_default());
        }
        // Of what is no text most functions of strings make nothing.
        let mut are_without = true;
        let is_without = |value: Value<'_>| matches!(value, Value::Undefined | Value::Null);
        self.each_entry(of, slot, coded, no_texts, |_, value| are_without &= is_without(value)).ok()?;
        if !are_without {
            return None;
        }
        if coded.codes().is_none() && !are_there.contains(&false) {
            return reckoned(None, &all);
        }
        let (mut rows, mut of_rows) = (Vec::with_capacity(self.rows()), Vec::with_capacity(self.rows()));
        for row in 0..self.rows() {
            let code = coded.code(row) as usize;
            if let (Some(read), Some(true)) = (all.get(code), are_there.get(code)) {
                rows.push(row as u32);
                of_rows.push(*read);
            }
        }
        let rows = (rows.len() != self.rows()).then_some(rows);
        reckoned(rows, &of_rows)
    }
}

/// The numbers of a column of so many rows, and those that other values spell. None where a number is spelled otherwise than by its digits, or one does not tell.
fn read_mixed(MixedColumn { numbers, others, .. }: &MixedColumn, of: usize) -> Option<Reckoned> {
    let row =
        |place: usize| numbers.rows.as_ref().map_or(Some(place as u32), |rows| rows.get(place).copied());
    let count = numbers.values.len() + others.rows.len();
    let (mut rows, mut all, mut next) = (Vec::with_capacity(count), Vec::with_capacity(count), 0);
    let json = |nth: usize| others.values.dictionary.get(others.values.code(nth));
    let mut others = others.rows.iter().enumerate().map(|(nth, row)| (*row, json(nth))).peekable();
    loop {
        let number = numbers.values.get(next).and_then(|mantissa| Some((row(next)?, *mantissa)));
        let other = others.next_if(|(row, _)| number.is_none_or(|(own, _)| *row <= own));
        let (row, read) = match (other, number) {
            (Some((row, json)), _) => {
                let told = match json {
                    // It is among the numbers, too.
                    [b'-' | b'0'..=b'9', ..] => return None,
                    [b'"', ..] => read(unquoted(json)?).ok()?,
                    _ => None,
                };
                let Some(told) = told else { continue };
                (row, told)
            }
            (None, Some((row, mantissa))) => {
                next += 1;
                (row, Read { mantissa, scale: numbers.scale, digits: numbers.digits(next - 1)? })
            }
            (None, None) => return reckoned((rows.len() != of).then_some(rows), &all),
        };
        rows.push(row);
        all.push(read);
    }
}

/// Numbers as mantissas of one scale; none where these have no room for them.
fn reckoned(rows: Option<Vec<u32>>, all: &[Read]) -> Option<Reckoned> {
    let scale = all.iter().map(|read| read.scale).max().unwrap_or(0);
    let raised = |read: &Read| match scale - read.scale {
        0 => Some(read.mantissa),
        times => read.mantissa.checked_mul(10i64.checked_pow(times.into())?),
    };
    let values = all.iter().map(raised).collect::<Option<Vec<i64>>>()?;
    let is_short = |read: &Read| read.digits == Digits::shortest(read.mantissa, read.scale);
    if scale == 0 || all.iter().all(is_short) {
        return Some(Reckoned::computed(rows, values, scale));
    }
    let spelled = Digits::of(all.iter().map(|read| read.digits).collect(), scale);
    Some(Reckoned::Numbers(Arc::new(Mantissas { rows, values, scale, spelled })))
}

/// A number that is stored, which is shown as it is spelled; none where its digits do not tell that.
fn read_number(json: &[u8]) -> Option<Read> {
    let number = Number::Stored(std::str::from_utf8(json).ok()?);
    let (mantissa, scale) = few_digits_of(&number)?;
    let scale = u8::try_from(scale).ok()?;
    Some(Read { mantissa, scale, digits: scale })
}

/// The number that a text spells: none where it spells none.
fn read(text: &[u8]) -> Told<Read> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if let Some((mantissa, scale)) = read_at_once(digits) {
        let mantissa = if digits.len() < text.len() { -mantissa } else { mantissa };
        return Ok(Some(Read::of_text(mantissa, scale)));
    }
    match text {
        // Quotes and backslashes begin no number either.
        [] | [b'\\', b'"' | b'\\', ..] => return Ok(None),
        [b'-' | b'0'..=b'9', ..] if text.len() <= BYTES_MAX => {}
        // Whatever else is printed in ASCII begins no number; space around a text is cut off before it is read.
        [b'!'..=b'~', ..] if !matches!(text, [b'-' | b'0'..=b'9' | b'\\', ..]) => return Ok(None),
        _ if has_other_than_numbers(text) => return Ok(None),
        _ => return Err(Untold),
    }
    let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        None => (digits, None),
        Some(point) => {
            let (whole, fraction) = digits.split_at(point);
            (whole, fraction.get(1..))
        }
    };
    let all = whole.iter().chain(fraction.unwrap_or_default());
    if whole.is_empty() || fraction == Some(b"") || !all.clone().all(u8::is_ascii_digit) {
        // Without an exponent, and a space at its end that is cut off, it is none.
        let may_be_told = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'e' | b'E' | b'\\');
        let is_none = text.iter().all(may_be_told) && !text.ends_with(b" ");
        return if is_none { Ok(None) } else { Err(Untold) };
    }
    let mantissa = all
        .copied()
        .try_fold(0i64, |mantissa, digit| mantissa.checked_mul(10)?.checked_add(i64::from(digit - b'0')));
    let mantissa = mantissa.ok_or(Untold)?;
    let mantissa = if digits.len() < text.len() { -mantissa } else { mantissa };
    let scale = u8::try_from(fraction.map_or(0, <[u8]>::len)).ok().filter(|scale| *scale <= SCALE_MAX);
    Ok(Some(Read::of_text(mantissa, scale.ok_or(Untold)?)))
}

/// Whether a printed character that no number has stands before any escape. Space is not judged, since it is cut off around a text.
fn has_other_than_numbers(text: &[u8]) -> bool {
    let plain = text.iter().take_while(|byte| **byte != b'\\');
    let mut shown = plain.filter(|byte| matches!(byte, b'!'..=b'~'));
    shown.any(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

/// What digits come to, with a point among them or without, where they are spelled as numbers are.
fn read_at_once(digits: &[u8]) -> Option<(i64, u8)> {
    let begins = matches!(digits, [b'0'..=b'9', ..]);
    let ends = matches!(digits, [.., b'0'..=b'9']);
    let (mantissa, scale) = AtOnce::of(digits).filter(|_| begins && ends)?.value();
    Some((i64::try_from(mantissa).ok()?, u8::try_from(scale).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn texts_are_the_numbers_that_json_has_behind_zeros(text in "-?[0-9.]{1,4}|-?[0-9]{15,20}|-?[0-9]{9}\\.[0-9]{6,12}|-?[0-9]{1,9}\\.?[0-9]{0,8}|[0-9.e -]{0,17}|[0-9.+Ev=é\u{a0}\u{1}\t -]{0,9}") {
            // Zeros before the first digit count for nothing.
            let unsigned = text.strip_prefix('-').unwrap_or(&text);
            let rest = unsigned.trim_start_matches('0');
            let zero = if rest.len() < unsigned.len() && !rest.starts_with(|next: char| next.is_ascii_digit()) { "0" } else { "" };
            let number = format!("{}{zero}{rest}", if unsigned.len() < text.len() { "-" } else { "" });
            let is_number = serde_json::from_str::<f64>(&number).is_ok() && text.trim() == text;
            let plain = is_number.then_some(number.as_str());
            match read(text.as_bytes()) {
                Ok(told) => {
                    let spelled = told.map(|Read { mantissa, scale, .. }| rust_decimal::Decimal::new(mantissa, scale.into()));
                    let json = plain.and_then(tamias_json::number::to_decimal);
                    prop_assert_eq!(spelled, json, "{}", text);
                }
                // What the bytes do not tell is told by an evaluation.
                Err(Untold) => prop_assert!(plain.is_none() || text.contains(['e', 'E']) || text.len() > 16),
            }
        }
    }
}
