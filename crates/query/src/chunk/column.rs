//! A column of a chunk: the values of an expression, one a row, in the form in which a scan has them.

use super::cell::{CellText, FEW_MAX, SCALE_FEW_MAX};
use super::decimals::Decimals;
use crate::dictionary::Dictionary;
use crate::value::telling_digits;
use std::sync::Arc;

/// A number of few digits, and its row.
pub(crate) type FewDigits = tamias_json::search::FewDigits;

/// The form in which an operator wants the values of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Not at all: every row counts.
    Nothing,
    /// Each row's value.
    Values,
    /// The same, or numbers as such where each row has one and all are spelled alike, to be told apart.
    Keys,
    /// Those values that are numbers, strings or Booleans, numbers of few digits apart.
    Numbers,
}

/// Numbers of one scale by their rows, as columns of blocks have them.
pub(crate) type Mantissas = tamias_shred::Numbers;
pub(crate) use tamias_shred::Digits;

/// The values of an expression, one a row.
#[derive(Debug)]
pub(crate) enum Column {
    Nothing,
    Values(Vec<CellText>),
    /// Each row's value is an entry of one dictionary.
    Entries(Entries),
    Numbers(Numbers),
    /// Those rows that have a number have one of these, and no row has a string or a Boolean.
    Mantissas(Arc<Mantissas>),
    /// Each row has one of these numbers, of which equal ones are equal mantissas, and spelled alike.
    Keys(Arc<Mantissas>),
    /// The same as [mantissas](Column::Mantissas) of numbers for which one scale has no room.
    Decimals(Arc<Decimals>),
}

/// Entries of a dictionary, one a row.
#[derive(Debug)]
pub(crate) struct Entries {
    /// That of the column, for the values of blocks to come.
    pub(crate) form: Form,
    pub(crate) dictionary: Arc<Dictionary>,
    pub(crate) codes: Vec<u32>,
}

/// The numbers, strings and Booleans among the values of a column. Rows that are in neither list have another value.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// Those of few digits, by their rows. Its digits and scale give back the text of each: a negative zero is none of them.
    pub(crate) few: Vec<FewDigits>,
    /// All others, by their rows.
    pub(crate) others: Vec<(u32, CellText)>,
}

impl Column {
    pub(super) fn new(form: Form) -> Column {
        match form {
            Form::Nothing => Column::Nothing,
            Form::Values | Form::Keys => Column::Values(Vec::new()),
            Form::Numbers => Column::Numbers(Numbers::default()),
        }
    }

    /// Forgets all values: the codes, emptied, to be used again.
    pub(super) fn clear(&mut self) -> Option<Vec<u32>> {
        match self {
            Column::Nothing => {}
            Column::Values(cells) => cells.clear(),
            Column::Entries(Entries { form, codes, .. }) => {
                let mut codes = std::mem::take(codes);
                codes.clear();
                *self = Column::new(*form);
                return Some(codes);
            }
            Column::Numbers(numbers) => {
                numbers.few.clear();
                numbers.others.clear();
            }
            Column::Mantissas(_) | Column::Decimals(_) => *self = Column::new(Form::Numbers),
            Column::Keys(_) => *self = Column::new(Form::Keys),
        }
        None
    }

    /// An empty column of the same form, with room for as many cells.
    pub(super) fn successor(&self) -> Column {
        match self {
            Column::Nothing => Column::Nothing,
            Column::Values(cells) => Column::Values(Vec::with_capacity(cells.len())),
            Column::Entries(entries) => Column::new(entries.form),
            Column::Keys(_) => Column::new(Form::Keys),
            Column::Numbers(_) | Column::Mantissas(_) | Column::Decimals(_) => Column::new(Form::Numbers),
        }
    }

    /// What its allocations take, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        match self {
            Column::Nothing | Column::Mantissas(_) | Column::Keys(_) | Column::Decimals(_) => 0,
            Column::Values(cells) => cells.capacity() * size_of::<CellText>(),
            Column::Entries(entries) => entries.codes.capacity() * size_of::<u32>(),
            Column::Numbers(numbers) => {
                numbers.few.capacity() * size_of::<FewDigits>()
                    + numbers.others.capacity() * size_of::<(u32, CellText)>()
            }
        }
    }
}

impl Entries {
    /// The JSON text of a row's value; empty for undefined.
    #[inline]
    pub(crate) fn json(&self, row: usize) -> &[u8] {
        self.codes.get(row).map_or(&[], |code| self.dictionary.get(*code))
    }

    /// What is told of each entry, for each row.
    pub(crate) fn by_row<T: Copy + Default>(
        &self,
        mut tell: impl FnMut(&[u8]) -> T,
    ) -> impl Iterator<Item = T> {
        let entries = 0..self.dictionary.len() as u32;
        let told: Vec<T> = entries.map(|entry| tell(self.dictionary.get(entry))).collect();
        self.codes.iter().map(move |code| told.get(*code as usize).copied().unwrap_or_default())
    }
}

impl Numbers {
    /// Adds a row's value from its JSON text, if that is a number, a string or a Boolean; `cell` is where the text stands.
    pub(crate) fn push(&mut self, row: u32, json: &[u8], cell: CellText) {
        let few = match json.first() {
            None | Some(b'n' | b'[' | b'{') => return,
            Some(b'"' | b't' | b'f') => None,
            Some(_) => telling_digits(json),
        };
        match few {
            Some((significand, scale)) => self.few.push(FewDigits { significand, scale, at: row }),
            None => self.others.push((row, cell)),
        }
    }
}

/// The numbers with their rows, each by the significand and the scale that it is spelled with.
pub(crate) fn each_spelled(numbers: &Mantissas) -> impl Iterator<Item = FewDigits> {
    (0..numbers.values.len()).filter_map(|place| {
        let (significand, scale) = numbers.get(place)?;
        let at = numbers.rows.as_ref().map_or(Some(place as u32), |rows| rows.get(place).copied())?;
        Some(FewDigits { significand, scale: scale.into(), at })
    })
}

/// Whether a number is one of few digits.
pub(crate) fn is_few(number: &FewDigits) -> bool {
    number.significand.unsigned_abs() < FEW_MAX && number.scale <= SCALE_FEW_MAX
}
