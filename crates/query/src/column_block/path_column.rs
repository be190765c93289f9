//! The values at a path in all events of a block.

use super::coded::{Coded, held_by_numbers};
use super::piece_column::PieceColumn;
use crate::dictionary::Dictionary;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use tamias_shred::{AtPath, Digits, Mixed, Numbers, SomeTexts, Texts};

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

/// Numbers, which are also made into text where that is asked for.
#[derive(Debug)]
pub(crate) struct NumberColumn {
    pub(crate) numbers: Arc<Numbers>,
    rows: usize,
    coded: OnceLock<Coded>,
    may_repeat: OnceLock<bool>,
    /// In how many queries they were keys.
    were_keys: AtomicU32,
}

/// Numbers, and what other rows have.
#[derive(Debug)]
pub(crate) struct MixedColumn {
    /// All values that are numbers.
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) others: Others,
    rows: usize,
    coded: OnceLock<Coded>,
    may_repeat: OnceLock<bool>,
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

impl PathColumn {
    /// The column of a block of so many rows.
    pub(super) fn new(at: AtPath, rows: usize) -> PathColumn {
        match at {
            AtPath::Nothing => PathColumn::Nothing,
            AtPath::Unknown => PathColumn::Unknown,
            AtPath::Coded(coded) => {
                PathColumn::Coded(Coded::new(Some(coded.codes), Arc::new(coded.entries.into())))
            }
            AtPath::Texts(SomeTexts { rows: None, texts }) => match long_wholes(&texts) {
                Some(numbers) => PathColumn::of_numbers(numbers, rows),
                None => PathColumn::Coded(Coded::of_texts(texts.into())),
            },
            AtPath::Texts(SomeTexts { rows: Some(with_one), texts }) => {
                PathColumn::Coded(Coded::of_some_texts(texts.into(), &with_one, rows))
            }
            AtPath::Numbers(numbers) => PathColumn::of_numbers(numbers, rows),
            AtPath::Mixed(Mixed { numbers, rows: others, texts }) => {
                PathColumn::of_mixed(numbers, others, texts.into(), rows)
            }
            AtPath::Pieces(pieces) => PathColumn::Pieces(PieceColumn::new(pieces)),
        }
    }

    /// Texts of some rows, of a block of so many. Entry 0 is that of the others.
    pub(crate) fn of_rows(texts: Dictionary, of: &[u32], rows: usize) -> PathColumn {
        let each_its_own = 0..texts.len() as u32;
        PathColumn::Coded(Coded::of_rows(texts, each_its_own, of, rows))
    }

    /// Whether it was made of some rows with these among them.
    pub(crate) fn tells(&self, rows: &[u32]) -> bool {
        matches!(self, PathColumn::Coded(coded) if rows.iter().all(|row| coded.code(*row as usize) != 0))
    }

    /// Numbers of a block of so many rows.
    pub(crate) fn of_numbers(numbers: impl Into<Arc<Numbers>>, rows: usize) -> PathColumn {
        let (coded, may_repeat) = (OnceLock::new(), OnceLock::new());
        let were_keys = AtomicU32::new(0);
        PathColumn::Numbers(NumberColumn { numbers: numbers.into(), rows, coded, may_repeat, were_keys })
    }

    /// All values of so many rows that are numbers, and the other rows that have a value, with its text.
    pub(crate) fn of_mixed(numbers: Numbers, others: Vec<u32>, texts: Dictionary, rows: usize) -> PathColumn {
        PathColumn::Mixed(MixedColumn::new(numbers, others, texts, rows))
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

    /// How many characters the texts have, if that was counted.
    pub(crate) fn known_lengths(&self) -> Option<&Arc<Numbers>> {
        match self {
            PathColumn::Coded(coded) => coded.known_lengths(),
            PathColumn::Pieces(column) => {
                column.known_coded().and_then(Coded::known_lengths).or_else(|| column.known_lengths())
            }
            PathColumn::Nothing | PathColumn::Numbers(_) | PathColumn::Mixed(_) | PathColumn::Unknown => None,
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

    /// The values by dictionary, where entries are so few that what is asked of rows had better be asked of them. Numbers are not spelled to learn that they are not.
    pub(crate) fn repeating(&self) -> Option<&Coded> {
        let may_repeat = match self {
            PathColumn::Numbers(column) => {
                numbers_may_repeat(&column.may_repeat, &column.numbers, column.rows)
            }
            PathColumn::Mixed(column) => numbers_may_repeat(&column.may_repeat, &column.numbers, column.rows),
            PathColumn::Nothing | PathColumn::Unknown | PathColumn::Coded(_) | PathColumn::Pieces(_) => true,
        };
        if may_repeat { self.coded().filter(|coded| coded.repeats()) } else { None }
    }

    /// Takes note that its texts, if they are there, will be keys again: they stay from query to query, or their numbers do.
    pub(crate) fn will_be_keys(&self) {
        if let Some(coded) = known_coded(self) {
            coded.dictionary.are_keys_again();
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

/// The values of a column by dictionary, where they are no numbers and are there.
pub(super) fn known_coded(column: &PathColumn) -> Option<&Coded> {
    match column {
        PathColumn::Coded(coded) => Some(coded),
        PathColumn::Pieces(column) => column.known_coded(),
        PathColumn::Nothing | PathColumn::Numbers(_) | PathColumn::Mixed(_) | PathColumn::Unknown => None,
    }
}

fn held_by_coded(coded: &OnceLock<Coded>) -> usize {
    coded.get().map_or(0, Coded::held_bytes)
}

fn numbers_may_repeat(told: &OnceLock<bool>, numbers: &Numbers, rows: usize) -> bool {
    *told.get_or_init(|| Coded::numbers_may_repeat(numbers, rows))
}

impl NumberColumn {
    /// How many rows its block has.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The numbers by their texts.
    pub(crate) fn coded(&self) -> &Coded {
        self.coded.get_or_init(|| Coded::of_numbers(&self.numbers, self.rows))
    }

    /// Appends the text of a row's number: whether it has one.
    pub(crate) fn write(&self, row: u32, out: &mut Vec<u8>) -> bool {
        let before = out.len();
        write_number(&self.numbers, row, out);
        out.len() > before
    }

    /// Whether keys are told apart by the numbers themselves, of which all rows have one, equal ones are spelled alike, and few repeat; takes note of a query that asks.
    /// The second one is given texts, to which numbers that outlive queries may be given, and others as well if these were.
    pub(crate) fn become_keys(&self) -> bool {
        let are_alike = self.numbers.rows.is_none() && !matches!(self.numbers.spelled, Digits::Each(_));
        if !are_alike || numbers_may_repeat(&self.may_repeat, &self.numbers, self.rows) {
            return false;
        }
        match self.were_keys.fetch_add(1, Relaxed) {
            0 => true,
            1 => {
                self.coded().dictionary.are_keys_again();
                false
            }
            _ => self.coded.get().is_none_or(|coded| !coded.dictionary.has_numbers()),
        }
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
    /// The column of a block of so many rows: all values that are numbers, and the other rows that have a value, with its text.
    pub(super) fn new(numbers: Numbers, others: Vec<u32>, texts: Dictionary, rows: usize) -> MixedColumn {
        let values = Coded::of_texts(texts);
        let are_null =
            (0..values.dictionary.len() as u32).all(|entry| values.dictionary.get(entry) == b"null");
        let others = Others { rows: others, values, are_null };
        MixedColumn::with(numbers, others, rows)
    }

    fn with(numbers: Numbers, others: Others, rows: usize) -> MixedColumn {
        let (coded, may_repeat) = (OnceLock::new(), OnceLock::new());
        MixedColumn { numbers: Arc::new(numbers), others, rows, coded, may_repeat }
    }

    /// The same of some rows, of which these are the numbers, by their places among them.
    pub(crate) fn of_rows(&self, numbers: Numbers, rows: &[u32]) -> MixedColumn {
        self.spread((0..).zip(rows.iter().copied()), numbers, rows.len())
    }

    /// The same of other rows, of so many: each that has something with the row here that it has it of, and the numbers of these, by the other rows. Both come in
    /// ascending order.
    pub(crate) fn spread(
        &self,
        of: impl Iterator<Item = (u32, u32)>,
        numbers: Numbers,
        rows: usize,
    ) -> MixedColumn {
        let place = |row: &u32| self.others.rows.binary_search(row).ok();
        let places = of.filter_map(|(own, row)| Some((own, place(&row)? as u32)));
        let (others, places): (Vec<u32>, Vec<u32>) = places.unzip();
        let values = self.others.values.gathered(&places);
        let others = Others { rows: others, values, are_null: self.others.are_null };
        MixedColumn::with(numbers, others, rows)
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

/// The whole numbers that texts are, where all are: of nineteen digits, as nanoseconds since 1970 have, which are more than each number of so many digits has
/// room for.
fn long_wholes(texts: &Texts<'_>) -> Option<Numbers> {
    let (mut rows, mut values) = (Vec::new(), Vec::with_capacity(texts.len()));
    for (row, text) in (0..).zip(texts.iter()).filter(|(_, text)| !text.is_empty()) {
        values.push(long_whole(text)?);
        rows.push(row);
    }
    let rows = (rows.len() != texts.len()).then_some(rows);
    (!values.is_empty()).then(|| Numbers { rows, values, ..Numbers::default() })
}

/// The whole number that a text spells as a mantissa is spelled, and whose other sign has room too.
fn long_whole(text: &[u8]) -> Option<i64> {
    let is_plain = match text {
        [b'0'] => true,
        [b'-', b'1'..=b'9', rest @ ..] | [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let whole = std::str::from_utf8(text).ok().filter(|_| is_plain)?.parse().ok();
    whole.filter(|whole| *whole != i64::MIN)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_nineteen_digits_are_spelled_back() {
        for (text, whole) in [
            ("0", Some(0)),
            ("1772366400123456789", Some(1_772_366_400_123_456_789)),
            ("-9223372036854775807", Some(-i64::MAX)),
            ("-9223372036854775808", None),
            ("9223372036854775808", None),
            ("-0", None),
            ("01", None),
            ("1e18", None),
            ("1.0", None),
            ("", None),
            ("-", None),
            ("\"1\"", None),
        ] {
            assert_eq!(long_whole(text.as_bytes()), whole, "{text}");
        }
    }
}
