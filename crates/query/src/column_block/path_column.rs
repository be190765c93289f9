//! The values at a path in all events of a block.

use super::piece_column::PieceColumn;
use crate::chunk::{DecimalValues, Decimals, StoredNumbers, value_of};
use crate::dictionary::Dictionary;
use crate::time::parse_instant;
use crate::value::Value;
use rust_decimal::Decimal;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tamias_json::number::to_decimal;
use tamias_shred::{AtPath, Digits, Mixed, Numbers, Texts};

/// What the events of a block have at a path.
#[derive(Debug)]
pub(crate) enum PathColumn {
    /// No event has anything there.
    Nothing,
    Coded(Coded),
    /// Numbers, and nothing else.
    Numbers(NumberColumn),
    /// Numbers, and fewer other values.
    Mixed(MixedColumn),
    /// Texts by template, and nothing else.
    Pieces(PieceColumn),
    /// Columns cannot tell.
    Unknown,
}

/// Values by dictionary: an entry for each row, or few that many rows share.
#[derive(Debug)]
pub(crate) struct Coded {
    /// For each row its entry; none where the entries are as many as the rows, in their order.
    codes: Option<Arc<[u32]>>,
    pub(crate) dictionary: Arc<Dictionary>,
    lengths: OnceLock<Option<Arc<Numbers>>>,
    instants: OnceLock<Option<Arc<Numbers>>>,
    numbers: OnceLock<Option<TextNumbers>>,
}

/// The numbers among texts, as decimals.
#[derive(Debug)]
pub(crate) struct TextNumbers {
    pub(crate) decimals: Arc<Decimals>,
    /// Whether the rows without a number have nothing.
    pub(crate) are_all: bool,
    /// Whether they have nothing, or null.
    pub(crate) are_null: bool,
}

/// Numbers, which are also made into text where that is asked for.
#[derive(Debug)]
pub(crate) struct NumberColumn {
    pub(crate) numbers: Arc<Numbers>,
    rows: usize,
    coded: OnceLock<Coded>,
}

/// Numbers, and what other rows have.
#[derive(Debug)]
pub(crate) struct MixedColumn {
    /// All values that are numbers.
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) others: Others,
    rows: usize,
    coded: OnceLock<Coded>,
}

/// The values that are no numbers, and the numbers that are spelled otherwise than by their mantissa and scale.
#[derive(Debug)]
pub(crate) struct Others {
    /// The rows that have one, in ascending order.
    pub(crate) rows: Vec<u32>,
    /// For each of these rows its value.
    pub(crate) values: Coded,
    /// Whether all of them are null.
    pub(crate) are_null: bool,
}

/// Numbers within a range of so many times as many are close.
const CLOSE_SHARE: usize = 8;

/// So many numbers, or texts, are looked at to tell whether they repeat.
const PROBE: usize = 1024;

/// Where more of the texts are distinct, as identifiers are, each gets an entry of its own without being looked up.
const DISTINCT_SHARE: (usize, usize) = (15, 16);

impl PathColumn {
    /// The column of a block of so many rows.
    pub(super) fn new(at: AtPath, rows: usize) -> PathColumn {
        match at {
            AtPath::Nothing => PathColumn::Nothing,
            AtPath::Unknown => PathColumn::Unknown,
            AtPath::Coded(coded) => {
                let (ends, bytes) = coded.entries.into_parts();
                let dictionary = Arc::new(Dictionary::new(bytes.into_owned(), ends));
                PathColumn::Coded(Coded::new(Some(coded.codes), dictionary))
            }
            AtPath::Texts(texts) => {
                let (ends, bytes) = texts.into_parts();
                PathColumn::Coded(Coded::of_texts(Dictionary::new(bytes.into_owned(), ends)))
            }
            AtPath::Numbers(numbers) => PathColumn::of_numbers(numbers, rows),
            AtPath::Mixed(mixed) => PathColumn::Mixed(MixedColumn::new(mixed, rows)),
            AtPath::Pieces(pieces) => PathColumn::Pieces(PieceColumn::new(pieces)),
        }
    }

    /// Texts of some rows, of a block of so many. Entry 0 is that of the others.
    pub(super) fn of_rows(texts: Texts<'_>, of: &[u32], rows: usize) -> PathColumn {
        let (mut ends, bytes) = texts.into_parts();
        ends.insert(0, 0);
        let mut codes = vec![0u32; rows];
        for (entry, row) in (1..ends.len() as u32).zip(of) {
            if let Some(code) = codes.get_mut(*row as usize) {
                *code = entry;
            }
        }
        PathColumn::Coded(Coded::new(Some(codes), Arc::new(Dictionary::new(bytes.into_owned(), ends))))
    }

    /// Whether it was made of some rows with these among them.
    pub(super) fn tells(&self, rows: &[u32]) -> bool {
        matches!(self, PathColumn::Coded(coded) if rows.iter().all(|row| coded.code(*row as usize) != 0))
    }

    /// Numbers of a block of so many rows.
    pub(crate) fn of_numbers(numbers: impl Into<Arc<Numbers>>, rows: usize) -> PathColumn {
        PathColumn::Numbers(NumberColumn { numbers: numbers.into(), rows, coded: OnceLock::new() })
    }

    /// What it takes in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            PathColumn::Nothing | PathColumn::Unknown => 0,
            PathColumn::Coded(coded) => coded.held_bytes(),
            PathColumn::Numbers(column) => held_by_numbers(&column.numbers) + held_by_coded(&column.coded),
            PathColumn::Mixed(column) => {
                let others = column.others.rows.len() * size_of::<u32>() + column.others.values.held_bytes();
                held_by_numbers(&column.numbers) + held_by_coded(&column.coded) + others
            }
            PathColumn::Pieces(column) => column.held_bytes(),
        }
    }

    /// The values by dictionary; none where there is nothing, or nothing known.
    pub(crate) fn coded(&self) -> Option<&Coded> {
        match self {
            PathColumn::Nothing | PathColumn::Unknown => None,
            PathColumn::Coded(coded) => Some(coded),
            PathColumn::Numbers(column) => Some(column.coded()),
            PathColumn::Mixed(column) => Some(column.coded()),
            PathColumn::Pieces(column) => Some(column.coded()),
        }
    }

    /// The texts by dictionary, where there is nothing that is no text of its own.
    pub(crate) fn texts(&self) -> Option<&Coded> {
        match self {
            PathColumn::Coded(coded) => Some(coded),
            PathColumn::Pieces(column) => Some(column.coded()),
            PathColumn::Nothing | PathColumn::Numbers(_) | PathColumn::Mixed(_) | PathColumn::Unknown => None,
        }
    }

    /// The JSON text of a row's value; empty where it has none.
    #[inline]
    pub(crate) fn json(&self, row: usize) -> &[u8] {
        match self {
            PathColumn::Mixed(column) => column.json(row),
            other => other.coded().map_or(&[], |coded| coded.dictionary.get(coded.code(row))),
        }
    }

    /// The texts of some rows, each once and in their order, where they have to be made; none where those of all rows are there already, or had better be.
    pub(crate) fn texts_of(&self, rows: &[u32]) -> Option<Dictionary> {
        let (numbers, others, coded) = match self {
            PathColumn::Numbers(column) => (&column.numbers, None, &column.coded),
            PathColumn::Mixed(column) => (&column.numbers, Some(&column.others), &column.coded),
            PathColumn::Pieces(column) => return column.texts_of(rows),
            PathColumn::Nothing | PathColumn::Coded(_) | PathColumn::Unknown => return None,
        };
        if coded.get().is_some() {
            return None;
        }
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(rows.len()));
        for row in rows {
            match others.and_then(|others| others.json(*row)) {
                Some(json) => bytes.extend_from_slice(json),
                None => write_number(numbers, *row, &mut bytes),
            }
            ends.push(bytes.len() as u32);
        }
        Some(Dictionary::new(bytes, ends))
    }
}

/// What numbers take in memory, in bytes.
pub(super) fn held_by_numbers(numbers: &Numbers) -> usize {
    let with_one = numbers.rows.as_ref().map_or(0, |rows| rows.len() * size_of::<u32>());
    let spelled = match &numbers.spelled {
        Digits::Each(digits) => digits.len(),
        Digits::InFull | Digits::Shortest => 0,
    };
    numbers.values.len() * size_of::<i64>() + with_one + spelled
}

fn held_by_coded(coded: &OnceLock<Coded>) -> usize {
    coded.get().map_or(0, Coded::held_bytes)
}

impl NumberColumn {
    /// The numbers by their texts.
    pub(crate) fn coded(&self) -> &Coded {
        self.coded.get_or_init(|| Coded::of_numbers(&self.numbers, self.rows))
    }
}

impl Others {
    /// The JSON text of a row's value, if it has one of these.
    pub(crate) fn json(&self, row: u32) -> Option<&[u8]> {
        let place = self.rows.binary_search(&row).ok()?;
        Some(self.values.dictionary.get(self.values.code(place)))
    }

    /// For each of the rows what is told of its entry.
    pub(crate) fn told<'t, T: Copy>(&'t self, entries: &'t [T]) -> impl Iterator<Item = (usize, T)> {
        let told = |(place, row): (usize, &u32)| {
            Some((*row as usize, *entries.get(self.values.code(place) as usize)?))
        };
        self.rows.iter().enumerate().filter_map(told)
    }

    /// Puts what is told of its entry in the place of each of the rows.
    pub(crate) fn put<T: Copy>(&self, entries: &[T], of_rows: &mut [T]) {
        for (row, told) in self.told(entries) {
            if let Some(place) = of_rows.get_mut(row) {
                *place = told;
            }
        }
    }
}

impl MixedColumn {
    /// The column of a block of so many rows.
    pub(super) fn new(mixed: Mixed, rows: usize) -> MixedColumn {
        let (ends, bytes) = mixed.texts.into_parts();
        let values = Coded::of_texts(Dictionary::new(bytes.into_owned(), ends));
        let are_null =
            (0..values.dictionary.len() as u32).all(|entry| values.dictionary.get(entry) == b"null");
        let others = Others { rows: mixed.rows, values, are_null };
        MixedColumn { numbers: Arc::new(mixed.numbers), others, rows, coded: OnceLock::new() }
    }

    /// The same of some rows, of which these are the numbers, by their places among them.
    pub(crate) fn of_rows(&self, numbers: Numbers, rows: &[u32]) -> MixedColumn {
        let place = |row: &u32| self.others.rows.binary_search(row).ok();
        let places = (0..).zip(rows).filter_map(|(nth, row)| Some((nth, place(row)? as u32)));
        let (others, places): (Vec<u32>, Vec<u32>) = places.unzip();
        let values = self.others.values.gathered(&places);
        let others = Others { rows: others, values, are_null: self.others.are_null };
        MixedColumn { numbers: Arc::new(numbers), others, rows: rows.len(), coded: OnceLock::new() }
    }

    /// All values by dictionary.
    pub(crate) fn coded(&self) -> &Coded {
        self.coded.get_or_init(|| {
            let numbers = Coded::of_numbers(&self.numbers, self.rows);
            let behind = numbers.dictionary.len() as u32;
            let mut codes: Vec<u32> = (0..self.rows).map(|row| numbers.code(row)).collect();
            for (place, row) in self.others.rows.iter().enumerate() {
                if let Some(code) = codes.get_mut(*row as usize) {
                    *code = behind + self.others.values.code(place);
                }
            }
            // What a block holds is bounded far below.
            let dictionary =
                numbers.dictionary.followed_by(&self.others.values.dictionary, u32::MAX as usize);
            Coded::new(Some(codes), Arc::new(dictionary.unwrap_or_default()))
        })
    }

    /// The JSON text of a row's value; empty where it has none.
    pub(crate) fn json(&self, row: usize) -> &[u8] {
        let other = if self.coded.get().is_none() { self.others.json(row as u32) } else { None };
        other.unwrap_or_else(|| {
            let coded = self.coded();
            coded.dictionary.get(coded.code(row))
        })
    }
}

/// The instant that a string without escapes tells.
fn instant_of(text: &[u8]) -> Option<i64> {
    i64::try_from(parse_instant(std::str::from_utf8(text).ok()?)?).ok()
}

/// How many characters a string has; none if it is none.
pub(super) fn characters_of(json: &[u8]) -> Option<i64> {
    match json.first() {
        Some(b'"') if memchr::memchr(b'\\', json).is_none() => {
            // Each character begins with a byte that continues no other.
            Some(json.iter().filter(|byte| !(0x80..0xc0).contains(*byte)).count() as i64 - 2)
        }
        Some(b'"') => match value_of(json) {
            Value::Text(text) => Some(text.characters() as i64),
            _ => None,
        },
        Some(_) | None => None,
    }
}

/// Numbers with the entries that spell them; none where a significand has more than 64 bits.
fn stored_numbers(
    values: &[Decimal],
    codes: Vec<u32>,
    dictionary: &Arc<Dictionary>,
) -> Option<StoredNumbers> {
    let significands = values.iter().map(|value| i64::try_from(value.mantissa()).ok());
    Some(StoredNumbers {
        significands: significands.collect::<Option<_>>()?,
        scales: values.iter().map(|value| value.scale() as u8).collect(),
        codes,
        dictionary: dictionary.clone(),
    })
}

/// Appends the text of a row's number, if it has one.
fn write_number(numbers: &Numbers, row: u32, out: &mut Vec<u8>) {
    let place = match &numbers.rows {
        None => Some(row as usize),
        Some(with_one) => with_one.binary_search(&row).ok(),
    };
    if let Some(place) = place {
        numbers.write(place, out);
    }
}

impl Coded {
    /// Entries of a dictionary, one a row; without codes each row has its own.
    pub(crate) fn new(codes: Option<Vec<u32>>, dictionary: Arc<Dictionary>) -> Coded {
        Coded {
            codes: codes.map(Arc::from),
            dictionary,
            lengths: OnceLock::new(),
            instants: OnceLock::new(),
            numbers: OnceLock::new(),
        }
    }

    /// The same rows with other values: for each entry another.
    pub(crate) fn mapped(of: &Coded, dictionary: impl Into<Arc<Dictionary>>) -> Coded {
        Coded {
            codes: of.codes.clone(),
            dictionary: dictionary.into(),
            lengths: OnceLock::new(),
            instants: OnceLock::new(),
            numbers: OnceLock::new(),
        }
    }

    /// The values of some rows.
    pub(crate) fn gathered(&self, rows: &[u32]) -> Coded {
        let codes = rows.iter().map(|row| self.code(*row as usize)).collect();
        Coded::new(Some(codes), self.dictionary.clone())
    }

    /// The same values, of which the numbers are known.
    pub(crate) fn with_numbers(self, numbers: TextNumbers) -> Coded {
        Coded { numbers: OnceLock::from(Some(numbers)), ..self }
    }

    /// Whether the numbers among the values were read before.
    pub(crate) fn has_numbers(&self) -> bool {
        self.numbers.get().is_some()
    }

    /// Texts, one for each row: those that repeat become entries that rows share.
    pub(crate) fn of_texts(texts: Dictionary) -> Coded {
        // Whoever writes events chooses the texts, and must not choose how they collide.
        let mut known: Option<HashMap<&[u8], u32, foldhash::fast::RandomState>> = Some(HashMap::default());
        let mut codes = Vec::with_capacity(texts.len());
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let mut missing = None;
        let mut last: (&[u8], Option<u32>) = (&[], None);
        for row in 0..texts.len() {
            let text = texts.get(row as u32);
            let next = ends.len() as u32;
            let code = match (text, last) {
                // Many rows have none.
                ([], _) => *missing.get_or_insert(next),
                // Equal ones often follow one another.
                (text, (before, Some(code))) if before == text => code,
                (text, _) => match &mut known {
                    Some(known) => *known.entry(text).or_insert(next),
                    None => next,
                },
            };
            last = (text, Some(code));
            if code == next {
                bytes.extend_from_slice(text);
                ends.push(bytes.len() as u32);
            }
            codes.push(code);
            if row == PROBE {
                if ends.len() > PROBE / 2 {
                    break;
                }
                let rows = codes.iter().filter(|code| missing != Some(**code)).count();
                // A few values tell nothing.
                let is_told = rows >= PROBE / 4;
                known = known
                    .filter(|known| !is_told || known.len() * DISTINCT_SHARE.1 <= rows * DISTINCT_SHARE.0);
                if let Some(known) = &mut known {
                    known.reserve(texts.len() / PROBE * ends.len());
                }
            }
        }
        if codes.len() < texts.len() || ends.len() * 2 > codes.len() + 8 {
            return Coded::new(None, Arc::new(texts));
        }
        Coded::new(Some(codes), Arc::new(Dictionary::new(bytes, ends)))
    }

    /// How many characters the strings among the values have; none where there are arrays too, which have lengths of their own.
    pub(crate) fn lengths(&self) -> Option<&Arc<Numbers>> {
        self.lengths.get_or_init(|| self.count_lengths().map(Arc::new)).as_ref()
    }

    /// The instants that the strings among the values tell; none where one has escapes, which are to be read first.
    pub(crate) fn instants(&self) -> Option<&Arc<Numbers>> {
        self.instants.get_or_init(|| self.read_instants().map(Arc::new)).as_ref()
    }

    /// The numbers among the values; none where there are none, or one has more digits than a decimal.
    pub(crate) fn numbers(&self) -> Option<&TextNumbers> {
        self.numbers.get_or_init(|| self.read_numbers()).as_ref()
    }

    fn read_numbers(&self) -> Option<TextNumbers> {
        let entries = 0..self.dictionary.len() as u32;
        let (mut are_all, mut are_null) = (true, true);
        let by_entry = entries.map(|entry| match self.dictionary.get(entry) {
            [] => Some(None),
            json @ [b'-' | b'0'..=b'9', ..] => Some(Some(to_decimal(std::str::from_utf8(json).ok()?)?)),
            json => {
                are_all = false;
                are_null &= json == b"null";
                Some(None)
            }
        });
        let by_entry = by_entry.collect::<Option<Vec<Option<Decimal>>>>()?;
        let rows = self.codes.as_ref().map_or(by_entry.len(), |codes| codes.len());
        let told = (0..rows as u32).filter_map(|row| {
            Some((row, by_entry.get(self.code(row as usize) as usize).copied().flatten()?))
        });
        let (with_one, values): (Vec<u32>, Vec<Decimal>) = told.unzip();
        if values.is_empty() {
            return None;
        }
        let codes = with_one.iter().map(|row| self.code(*row as usize)).collect();
        let rows = (with_one.len() != rows).then_some(with_one);
        let values = match stored_numbers(&values, codes, &self.dictionary) {
            Some(stored) => DecimalValues::Stored(stored),
            None => DecimalValues::Decimals(values),
        };
        Some(TextNumbers { decimals: Arc::new(Decimals { rows, values }), are_all, are_null })
    }

    fn read_instants(&self) -> Option<Numbers> {
        let entries = 0..self.dictionary.len() as u32;
        let by_entry = entries.map(|entry| match self.dictionary.get(entry) {
            [b'"', text @ .., b'"'] if memchr::memchr(b'\\', text).is_some() => None,
            [b'"', text @ .., b'"'] => Some(instant_of(text)),
            _ => Some(None),
        });
        let by_entry = by_entry.collect::<Option<Vec<Option<i64>>>>()?;
        let rows = self.codes.as_ref().map_or(by_entry.len(), |codes| codes.len());
        let told = (0..rows as u32).filter_map(|row| {
            Some((row, by_entry.get(self.code(row as usize) as usize).copied().flatten()?))
        });
        let (with_one, values): (Vec<u32>, Vec<i64>) = told.unzip();
        Some(Numbers { values, rows: (with_one.len() != rows).then_some(with_one), ..Numbers::default() })
    }

    fn count_lengths(&self) -> Option<Numbers> {
        const NONE: i64 = -1;
        let mut by_entry = Vec::with_capacity(self.dictionary.len());
        for entry in 0..self.dictionary.len() {
            let json = self.dictionary.get(entry as u32);
            by_entry.push(match json.first() {
                Some(b'[') => return None,
                Some(_) | None => characters_of(json).unwrap_or(NONE),
            });
        }
        let rows = self.codes.as_ref().map_or(by_entry.len(), |codes| codes.len());
        let length = |row: usize| by_entry.get(self.code(row) as usize).copied().unwrap_or(NONE);
        let with_one: Vec<u32> = (0..rows as u32).filter(|row| length(*row as usize) != NONE).collect();
        let values = with_one.iter().map(|row| length(*row as usize)).collect();
        Some(Numbers { values, rows: (with_one.len() != rows).then_some(with_one), ..Numbers::default() })
    }

    /// For each row its entry, where rows share entries.
    pub(crate) fn codes(&self) -> Option<&[u32]> {
        self.codes.as_deref()
    }

    /// The texts of numbers. Entry 0 is that of rows that have none.
    fn of_numbers(numbers: &Numbers, rows: usize) -> Coded {
        let (mut bytes, mut ends) = (Vec::new(), vec![0u32]);
        let mut codes = vec![0u32; rows];
        if let Some(coded) = Coded::of_close_numbers(numbers, rows) {
            return coded;
        }
        let mut known: Option<HashMap<(i64, u8), u32, foldhash::fast::RandomState>> =
            Some(HashMap::default());
        for place in 0..numbers.values.len() {
            let row =
                numbers.rows.as_ref().map_or(place, |rows| rows.get(place).map_or(0, |row| *row as usize));
            let next = ends.len() as u32;
            let code = match (&mut known, numbers.get(place)) {
                (Some(known), Some(number)) => *known.entry(number).or_insert(next),
                (None, _) | (_, None) => next,
            };
            if code == next {
                numbers.write(place, &mut bytes);
                ends.push(bytes.len() as u32);
            }
            if let Some(place) = codes.get_mut(row) {
                *place = code;
            }
            if place == PROBE && ends.len() > PROBE / 2 {
                known = None;
            }
        }
        Coded::new(Some(codes), Arc::new(Dictionary::new(bytes, ends)))
    }

    /// The same of numbers that lie close together and are spelled alike: each has a place of its own.
    fn of_close_numbers(numbers: &Numbers, rows: usize) -> Option<Coded> {
        let (least, greatest) = (numbers.values.iter().min()?, numbers.values.iter().max()?);
        let span = usize::try_from(greatest.checked_sub(*least)?).ok()?;
        if numbers.spelled != Digits::InFull || span > CLOSE_SHARE * numbers.values.len() {
            return None;
        }
        let mut known = vec![0u32; span + 1];
        let (mut bytes, mut ends) = (Vec::new(), vec![0u32]);
        let mut code = |place: usize, value: i64| {
            let Some(known) = known.get_mut((value - least) as usize) else { return 0 };
            if *known == 0 {
                numbers.write(place, &mut bytes);
                *known = ends.len() as u32;
                ends.push(bytes.len() as u32);
            }
            *known
        };
        let values = numbers.values.iter().copied().enumerate();
        let codes = match &numbers.rows {
            None => values.map(|(place, value)| code(place, value)).collect(),
            Some(with_one) => {
                let mut codes = vec![0u32; rows];
                for ((place, value), row) in values.zip(with_one) {
                    if let Some(of_row) = codes.get_mut(*row as usize) {
                        *of_row = code(place, value);
                    }
                }
                codes
            }
        };
        Some(Coded::new(Some(codes), Arc::new(Dictionary::new(bytes, ends))))
    }

    pub(super) fn held_bytes(&self) -> usize {
        let codes = self.codes.as_ref().map_or(0, |codes| codes.len() * size_of::<u32>());
        let told = [&self.lengths, &self.instants].into_iter().filter_map(|told| told.get()?.as_deref());
        let decimals = self.numbers.get().and_then(|numbers| Some(numbers.as_ref()?.decimals.held_bytes()));
        let told = told.map(held_by_numbers).sum::<usize>() + decimals.unwrap_or_default();
        codes + self.dictionary.held_bytes() + told
    }

    /// The entry of a row.
    #[inline]
    pub(crate) fn code(&self, row: usize) -> u32 {
        match &self.codes {
            Some(codes) => codes.get(row).copied().unwrap_or_default(),
            None => row as u32,
        }
    }

    /// Whether entries are so few that what is asked of rows had better be asked of them.
    pub(crate) fn repeats(&self) -> bool {
        self.codes.as_ref().is_some_and(|codes| self.dictionary.len() * 2 <= codes.len() + 8)
    }
}
