//! A column of a chunk: the values of an expression, one a row, in the form in which a scan has them.

use super::cell::{CellText, FEW_MAX, SCALE_FEW_MAX, value_of};
use super::quotient::Quotient;
use crate::dictionary::Dictionary;
use crate::value::{Number, Value, estimate, estimate_of, telling_digits};
use rust_decimal::Decimal;
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
    /// The same of numbers for which one scale has no room.
    Decimals(Arc<Decimals>),
}

/// Numbers of many scales by their rows: computed ones, or such as are stored.
#[derive(Debug)]
pub(crate) struct Decimals {
    /// The rows that have one; none where all have.
    pub(crate) rows: Option<Vec<u32>>,
    pub(crate) values: DecimalValues,
}

/// Numbers, or what they are computed of.
#[derive(Debug)]
pub(crate) enum DecimalValues {
    Decimals(Vec<Decimal>),
    Quotients(Vec<Quotient>),
    Stored(StoredNumbers),
}

/// Numbers that are stored as texts, each as its significand and a scale of its own, without zeros at its end.
#[derive(Debug, Default)]
pub(crate) struct StoredNumbers {
    pub(crate) significands: Vec<i64>,
    pub(crate) scales: Vec<u8>,
    /// For each of them the entry that spells it.
    pub(crate) codes: Vec<u32>,
    pub(crate) dictionary: Arc<Dictionary>,
}

impl StoredNumbers {
    /// Each of them, with its scale.
    pub(crate) fn each(&self) -> impl Iterator<Item = (i64, u32)> {
        self.significands
            .iter()
            .zip(&self.scales)
            .map(|(significand, scale)| (*significand, u32::from(*scale)))
    }

    /// The number at a place, with its scale.
    pub(crate) fn number(&self, place: usize) -> Option<(i64, u32)> {
        Some((*self.significands.get(place)?, (*self.scales.get(place)?).into()))
    }

    /// The JSON text of the number at a place.
    fn json(&self, place: usize) -> &[u8] {
        self.codes.get(place).map_or(&[], |code| self.dictionary.get(*code))
    }

    /// The number at a place, as it is spelled.
    pub(crate) fn value(&self, place: usize) -> Value<'_> {
        value_of(self.json(place))
    }

    /// Whether the number at a place is spelled with its significand and scale, and no more.
    pub(crate) fn is_plain(&self, place: usize) -> bool {
        let json = self.json(place);
        let has_exponent = memchr::memchr2(b'e', b'E', json).is_some();
        let ends_in_zero = json.last() == Some(&b'0') && memchr::memchr(b'.', json).is_some();
        !has_exponent && !ends_in_zero && json != b"-0"
    }
}

impl Decimals {
    /// What they take in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let rows = self.rows.as_ref().map_or(0, |rows| rows.len() * size_of::<u32>());
        rows + self.values.bytes()
    }

    /// The numbers with their rows.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, Decimal)> {
        self.rows().zip(self.values.each())
    }

    /// What there is of each number, with its row: in a loop of its own, as an iterator that knows both kinds of rows takes longer.
    pub(crate) fn for_each<T>(&self, values: impl Iterator<Item = T>, mut each: impl FnMut(usize, T)) {
        match &self.rows {
            None => values.enumerate().for_each(|(row, value)| each(row, value)),
            Some(rows) => rows.iter().zip(values).for_each(|(row, value)| each(*row as usize, value)),
        }
    }

    /// The rows that have a number.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        let all = if self.rows.is_none() { 0..self.values.len() } else { 0..0 };
        all.chain(self.rows.iter().flatten().map(|row| *row as usize))
    }
}

impl DecimalValues {
    pub(crate) fn len(&self) -> usize {
        match self {
            DecimalValues::Decimals(decimals) => decimals.len(),
            DecimalValues::Quotients(quotients) => quotients.len(),
            DecimalValues::Stored(stored) => stored.significands.len(),
        }
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = Decimal> {
        let (decimals, quotients, stored) = match self {
            DecimalValues::Decimals(decimals) => (decimals.as_slice(), &[][..], None),
            DecimalValues::Quotients(quotients) => (&[][..], quotients.as_slice(), None),
            DecimalValues::Stored(stored) => (&[][..], &[][..], Some(stored)),
        };
        let stored = stored.into_iter().flat_map(StoredNumbers::each);
        let computed = decimals.iter().copied().chain(quotients.iter().map(|quotient| quotient.decimal()));
        computed.chain(stored.map(|(significand, scale)| Decimal::new(significand, scale)))
    }

    /// The number at a place, a stored one as it is spelled.
    pub(crate) fn value(&self, place: usize) -> Value<'_> {
        match self {
            DecimalValues::Stored(stored) => stored.value(place),
            DecimalValues::Decimals(_) | DecimalValues::Quotients(_) => {
                let decimal = self.decimal(place);
                decimal.map_or(Value::Undefined, |decimal| Value::Number(Number::Decimal(decimal)))
            }
        }
    }

    /// Binary numbers near to them, within [`ESTIMATE_ERROR`](super::quotient::ESTIMATE_ERROR) of each.
    pub(crate) fn estimates(&self) -> Vec<f64> {
        match self {
            DecimalValues::Decimals(decimals) => decimals.iter().map(|value| estimate_of(*value)).collect(),
            DecimalValues::Quotients(quotients) => {
                quotients.iter().map(|quotient| quotient.estimate()).collect()
            }
            DecimalValues::Stored(stored) => {
                stored.each().map(|(significand, scale)| estimate(significand, scale)).collect()
            }
        }
    }

    /// The number at a place.
    pub(crate) fn decimal(&self, place: usize) -> Option<Decimal> {
        match self {
            DecimalValues::Decimals(decimals) => decimals.get(place).copied(),
            DecimalValues::Quotients(quotients) => quotients.get(place).map(|quotient| quotient.decimal()),
            DecimalValues::Stored(stored) => {
                let (significand, scale) = stored.number(place)?;
                Some(Decimal::new(significand, scale))
            }
        }
    }

    /// Those at some places, each of which there is.
    pub(crate) fn at(&self, places: &[u32]) -> DecimalValues {
        fn some<T: Copy>(of: &[T], places: &[u32]) -> Vec<T> {
            places.iter().filter_map(|place| of.get(*place as usize).copied()).collect()
        }
        match self {
            DecimalValues::Decimals(decimals) => DecimalValues::Decimals(some(decimals, places)),
            DecimalValues::Quotients(quotients) => DecimalValues::Quotients(some(quotients, places)),
            DecimalValues::Stored(stored) => DecimalValues::Stored(StoredNumbers {
                significands: some(&stored.significands, places),
                scales: some(&stored.scales, places),
                codes: some(&stored.codes, places),
                dictionary: stored.dictionary.clone(),
            }),
        }
    }

    /// What they take in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            DecimalValues::Decimals(decimals) => size_of_val(decimals.as_slice()),
            DecimalValues::Quotients(quotients) => size_of_val(quotients.as_slice()),
            // The dictionary is that of a column.
            DecimalValues::Stored(stored) => {
                stored.significands.len() * (size_of::<i64>() + size_of::<u8>() + size_of::<u32>())
            }
        }
    }
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
            Form::Values => Column::Values(Vec::new()),
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
        }
        None
    }

    /// An empty column of the same form, with room for as many cells.
    pub(super) fn successor(&self) -> Column {
        match self {
            Column::Nothing => Column::Nothing,
            Column::Values(cells) => Column::Values(Vec::with_capacity(cells.len())),
            Column::Entries(entries) => Column::new(entries.form),
            Column::Numbers(_) | Column::Mantissas(_) | Column::Decimals(_) => Column::new(Form::Numbers),
        }
    }

    /// What its allocations take, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        match self {
            Column::Nothing | Column::Mantissas(_) | Column::Decimals(_) => 0,
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
