//! Values that were computed: as text, or as numbers where they are nothing else.

use super::compile::makes_texts;
use super::evaluate::Evaluator;
use super::found::Passing;
use super::reckoned::Reckoned;
use super::whole::at_places;
use crate::chunk::{Decimals, Digits, FewDigits, Mantissas, few_digits_of, scalar_of};
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::Dictionary;
use crate::expr::Expr;
use crate::value::{Number, Value, write_json};
use std::sync::Arc;

/// Values as text, as many as take little memory.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    is_full: bool,
}

/// Values of a block that take more bytes than this together are made row by row. HEURISTIC: two thousand bytes a row of a full block.
pub(super) const BYTES_MAX: usize = 32 << 20;

impl Texts {
    pub(super) fn add(&mut self, value: &Value<'_>) {
        if self.is_full {
            return;
        }
        write_json(value, &mut self.bytes);
        self.ends.push(self.bytes.len() as u32);
        self.is_full = self.bytes.len() > BYTES_MAX;
    }

    /// Adds what is written, if that can be told: whether it is, or there is no room for it anyway.
    pub(super) fn add_told(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        if self.is_full {
            return true;
        }
        let is_told = write(&mut self.bytes);
        self.ends.push(self.bytes.len() as u32);
        self.is_full = self.bytes.len() > BYTES_MAX;
        is_told
    }

    /// Adds what is written.
    pub(super) fn add_written(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.add_told(|bytes| {
            write(bytes);
            true
        });
    }

    /// Adds what parts are joined to, each spelled as strings have it; undefined where one is no string.
    pub(super) fn add_joined<'t>(&mut self, parts: impl Iterator<Item = Option<&'t [u8]>>) {
        if self.is_full {
            return;
        }
        let begin = self.bytes.len();
        self.bytes.push(b'"');
        for part in parts {
            match part {
                Some(text) => self.bytes.extend_from_slice(text),
                None => {
                    self.bytes.truncate(begin);
                    break;
                }
            }
        }
        if self.bytes.len() > begin {
            self.bytes.push(b'"');
        }
        self.ends.push(self.bytes.len() as u32);
        self.is_full = self.bytes.len() > BYTES_MAX;
    }

    /// A column of computed numbers; none if their texts are too long.
    pub(super) fn of_decimals(decimals: &Decimals, rows: usize) -> Option<Arc<PathColumn>> {
        let mut texts = Texts::default();
        for (row, decimal) in decimals.each() {
            texts.ends.resize(row, texts.bytes.len() as u32);
            texts.add(&Value::Number(Number::Decimal(decimal)));
        }
        if texts.is_full {
            return None;
        }
        texts.ends.resize(rows, texts.bytes.len() as u32);
        Some(Arc::new(PathColumn::Coded(Coded::of_texts(Dictionary::new(texts.bytes, texts.ends)))))
    }

    /// The values of some rows, of so many; none if they were too many.
    pub(super) fn into_column(self, rows: &[u32], of: usize) -> Option<Arc<PathColumn>> {
        let Texts { bytes, ends, is_full } = self;
        (!is_full).then(|| Arc::new(PathColumn::of_rows(Dictionary::new(bytes, ends), rows, of)))
    }

    /// All that were added; none if they were too many.
    pub(super) fn into_dictionary(self) -> Option<Arc<Dictionary>> {
        (!self.is_full).then(|| Arc::new(Dictionary::new(self.bytes, self.ends)))
    }
}

impl Evaluator<'_> {
    /// The numbers that functions of strings make for some rows of entries that are fewer, as these are reckoned; none of another expression, or where they are no
    /// mantissas.
    pub(super) fn numbers_of_entries(
        &self,
        rows: &Passing,
        expr: &Expr,
        reckon: impl FnOnce(&Evaluator<'_>) -> Option<Reckoned>,
    ) -> Option<Arc<Mantissas>> {
        // How long texts are is kept for all rows.
        let is_kept = self.measures(expr) && !makes_texts(expr);
        if is_kept || !self.is_mapped(expr) || self.numbers(expr).is_some() {
            return None;
        }
        let (slot, coded) = self.entries(expr)?;
        let entries = coded.dictionary.len();
        // One entry may be that of rows that have none.
        if entries > rows.len() + 1 {
            return None;
        }
        let reckoned = reckon(&self.of_entries(slot, coded)?)?;
        let codes = rows.places().map(|row| coded.code(row as usize));
        Some(Arc::new(at_codes(reckoned.numbers()?, entries, codes, rows.len())))
    }
}

/// The numbers of so many rows, by the entry of each, of those of so many entries.
fn at_codes(
    of_entries: &Mantissas,
    entries: usize,
    codes: impl Iterator<Item = u32>,
    count: usize,
) -> Mantissas {
    // Where the number of each entry stands, and behind all where it has none.
    let nowhere = of_entries.values.len() as u32;
    let mut place_of = vec![nowhere; entries];
    match &of_entries.rows {
        None => (0..).zip(&mut place_of).for_each(|(place, of)| *of = place),
        Some(rows) => {
            for (place, entry) in (0..).zip(rows) {
                if let Some(of) = place_of.get_mut(*entry as usize) {
                    *of = place;
                }
            }
        }
    }
    // Written always, and kept where the row has a number: a branch could not be foretold.
    let (mut places, mut rows, mut found) = (vec![0; count], vec![0; count], 0);
    for (row, code) in (0..).zip(codes) {
        let place = place_of.get(code as usize).copied().unwrap_or(nowhere);
        if let (Some(places), Some(rows)) = (places.get_mut(found), rows.get_mut(found)) {
            (*places, *rows) = (place, row);
        }
        found += usize::from(place != nowhere);
    }
    places.truncate(found);
    rows.truncate(found);
    at_places(of_entries, &places, (found != count).then_some(rows))
}

/// The numbers among values.
#[derive(Default)]
pub(super) struct FewNumbers {
    few: Vec<FewDigits>,
    /// How many values there were.
    len: u32,
    /// Whether there is a number of many digits, a string or a Boolean.
    has_others: bool,
}

impl FewNumbers {
    pub(super) fn add(&mut self, value: &Value<'_>) {
        let at = self.len;
        self.len += 1;
        match value {
            Value::Undefined | Value::Null | Value::Array(_) | Value::Object(_) => {}
            Value::Bool(_) | Value::Text(_) => self.has_others = true,
            Value::Number(number) => match few_digits_of(number) {
                Some((significand, scale)) => self.few.push(FewDigits { significand, scale, at }),
                None => self.has_others = true,
            },
        }
    }

    /// The numbers of some rows of a column, if it has nothing else that counts and entries are fewer than rows.
    pub(super) fn of_entries(coded: &Coded, rows: &Passing) -> Option<Arc<Mantissas>> {
        let dictionary = &coded.dictionary;
        if dictionary.len() > rows.len() {
            return None;
        }
        let mut made = FewNumbers::default();
        for entry in 0..dictionary.len() as u32 {
            made.add(&scalar_of(dictionary.get(entry)));
            if made.has_others {
                return None;
            }
        }
        let of_entries = made.into_mantissas()?;
        Some(Arc::new(at_codes(
            &of_entries,
            dictionary.len(),
            rows.places().map(|row| coded.code(row as usize)),
            rows.len(),
        )))
    }

    /// The numbers in one scale; none where one would have too many digits, or there is something else to be told.
    pub(super) fn into_mantissas(self) -> Option<Arc<Mantissas>> {
        let FewNumbers { few, len, has_others } = self;
        if has_others {
            return None;
        }
        let scale = few.iter().map(|few| few.scale).max().unwrap_or(0);
        let mut values = Vec::with_capacity(few.len());
        for number in &few {
            let power = 10i64.checked_pow(scale - number.scale)?;
            values.push(number.significand.checked_mul(power)?);
        }
        let is_uniform = few.iter().all(|few| few.scale == scale);
        let spelled = |few: &FewDigits| u8::try_from(few.scale).ok();
        let spelled = match is_uniform {
            true => Digits::InFull,
            false => Digits::Each(few.iter().map(spelled).collect::<Option<_>>()?),
        };
        let rows = (few.len() != len as usize).then(|| few.iter().map(|few| few.at).collect());
        Some(Arc::new(Mantissas { rows, values, scale: u8::try_from(scale).ok()?, spelled }))
    }
}
