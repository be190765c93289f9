//! Values by dictionary.

use crate::chunk::{DecimalValues, Decimals, StoredNumbers, value_of};
use crate::dictionary::{Dictionary, characters};
use crate::elements::each_element;
use crate::time::{parse_duration, parse_instant};
use crate::value::{Value, WHOLE_POWERS};
use rust_decimal::Decimal;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tamias_json::number::to_decimal;
use tamias_shred::{Digits, Numbers};
use tamias_simd::decimal::Digits as AtOnce;

/// Values by dictionary: an entry for each row, or few that many rows share.
#[derive(Debug)]
pub(crate) struct Coded {
    /// For each row its entry; none where the entries are as many as the rows, in their order.
    codes: Option<Arc<Vec<u32>>>,
    pub(crate) dictionary: Arc<Dictionary>,
    lengths: OnceLock<Arc<Numbers>>,
    instants: OnceLock<Option<Arc<Numbers>>>,
    durations: OnceLock<Option<Arc<Numbers>>>,
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
    /// The same as mantissas, once they were reckoned with; none where these have no room for them.
    mantissas: OnceLock<Option<Arc<Numbers>>>,
}

impl TextNumbers {
    pub(crate) fn new(decimals: Arc<Decimals>, are_all: bool, are_null: bool) -> TextNumbers {
        TextNumbers { decimals, are_all, are_null, mantissas: OnceLock::new() }
    }

    /// The numbers as mantissas of one scale, however they are spelled; none where these have no room for them.
    pub(crate) fn mantissas(&self) -> Option<&Arc<Numbers>> {
        self.mantissas.get_or_init(|| self.raised().map(Arc::new)).as_ref()
    }

    fn raised(&self) -> Option<Numbers> {
        let DecimalValues::Stored(stored) = &self.decimals.values else { return None };
        let scale = stored.scales.iter().copied().max().filter(|scale| *scale <= SCALE_MAX)?;
        let raise = |(significand, own): (&i64, &u8)| {
            significand.checked_mul(*WHOLE_POWERS.get(usize::from(scale - own))?)
        };
        let values = stored.significands.iter().zip(&stored.scales).map(raise).collect::<Option<_>>()?;
        Some(Numbers { rows: self.decimals.rows.clone(), values, scale, spelled: Digits::Shortest })
    }

    fn held_bytes(&self) -> usize {
        let mantissas = self.mantissas.get().and_then(Option::as_ref);
        self.decimals.held_bytes() + mantissas.map_or(0, |mantissas| held_by_numbers(mantissas))
    }
}

/// No mantissa has more digits behind the point.
const SCALE_MAX: u8 = 15;

/// Numbers within a range of so many times as many are close.
pub(super) const CLOSE_SHARE: usize = 8;

/// So many numbers, or texts, are looked at to tell whether they repeat.
pub(super) const PROBE: usize = 1024;

/// No string of so many digits is taken for a number of its own.
const DIGITS_MAX: usize = 9;

/// Where more of the texts are distinct, as identifiers are, each gets an entry of its own without being looked up.
const DISTINCT_SHARE: (usize, usize) = (15, 16);

/// What numbers take in memory, in bytes.
pub(super) fn held_by_numbers(numbers: &Numbers) -> usize {
    let with_one = numbers.rows.as_ref().map_or(0, |rows| rows.len() * size_of::<u32>());
    numbers.values.len() * size_of::<i64>() + with_one + held_by_digits(&numbers.spelled)
}

/// The same of how many digits they are spelled with.
pub(super) fn held_by_digits(spelled: &Digits) -> usize {
    match spelled {
        Digits::Each(digits) => digits.len(),
        Digits::InFull | Digits::Shortest => 0,
    }
}

/// Whether entries are so few that what is asked of so many rows had better be asked of them.
pub(super) fn are_few(entries: usize, rows: usize) -> bool {
    entries * 2 <= rows + 8
}

/// Whether of so many rows a quarter or fewer may be distinct, where so many of the first ones are: if each row drew one of as many values as a quarter of the rows, so
/// many of them would be expected among the first [`PROBE`].
fn may_repeat(distinct: usize, rows: usize) -> bool {
    let values = (rows / 4).max(1) as f64;
    distinct <= PROBE / 2 || (distinct as f64) < values * (1.0 - (-(PROBE as f64) / values).exp())
}

/// The instant that a string without escapes tells.
fn instant_of(text: &[u8]) -> Option<i64> {
    i64::try_from(parse_instant(std::str::from_utf8(text).ok()?)?).ok()
}

/// The same of a duration.
fn duration_of(text: &[u8]) -> Option<i64> {
    parse_duration(std::str::from_utf8(text).ok()?)
}

/// How many characters a string has, or elements an array; none of another value.
fn length_of(json: &[u8]) -> Option<i64> {
    let mut elements = 0;
    let is_array = each_element(json, |_| elements += 1);
    if is_array { Some(elements) } else { characters_of(json) }
}

/// How many characters a string has; none if it is none.
pub(super) fn characters_of(json: &[u8]) -> Option<i64> {
    let [b'"', text @ .., b'"'] = json else { return None };
    if let Some(characters) = characters(text) {
        return Some(characters as i64);
    }
    match value_of(json) {
        Value::Text(text) => Some(text.characters() as i64),
        _ => None,
    }
}

/// The number that a string of digits spells.
fn digits_of(json: &[u8]) -> Option<u32> {
    let [b'"', digits @ .., b'"'] = json else { return None };
    let may_be_number = digits.len() <= DIGITS_MAX && matches!(digits, [.., b'0'..=b'9']);
    match AtOnce::of(digits).filter(|_| may_be_number)?.value() {
        (number, 0) => u32::try_from(number).ok(),
        _ => None,
    }
}

/// Texts as entries that they share, and for each its entry.
type Shared = (Vec<u32>, Dictionary);

/// Texts, one for each row, as entries that rows share: where all are strings of digits, as many in each, whose numbers lie close together. Each then has a place of its
/// own, and none is looked up. Within, none where entries are not few for so many rows.
fn close_texts(texts: &Dictionary, rows: usize) -> Option<Option<Shared>> {
    let all = || (0..texts.len() as u32).map(|row| texts.get(row));
    let length = all().map(<[u8]>::len).find(|length| *length > 0)?;
    let mut numbers = Vec::with_capacity(texts.len());
    let (mut least, mut greatest) = (u32::MAX, 0);
    for text in all() {
        if text.is_empty() {
            numbers.push(None);
            continue;
        }
        let number = digits_of(text).filter(|_| text.len() == length)?;
        (least, greatest) = (least.min(number), greatest.max(number));
        numbers.push(Some(number));
    }
    let range = (greatest - least) as usize;
    if range > CLOSE_SHARE * texts.len() {
        return None;
    }
    // The first place is that of what is missing.
    let mut known = vec![0u32; range + 2];
    let (mut codes, mut bytes, mut ends) = (Vec::with_capacity(texts.len()), Vec::new(), Vec::new());
    for (text, number) in all().zip(&numbers) {
        let known = known.get_mut(number.map_or(0, |number| (number - least) as usize + 1))?;
        if *known == 0 {
            bytes.extend_from_slice(text);
            ends.push(bytes.len() as u32);
            if !are_few(ends.len(), rows) {
                return Some(None);
            }
            *known = ends.len() as u32;
        }
        codes.push(*known - 1);
    }
    Some(Some((codes, Dictionary::new(bytes, ends))))
}

/// Texts as entries that they share; none where these are not few for so many rows.
fn shared(texts: &Dictionary, rows: usize) -> Option<Shared> {
    if let Some(close) = close_texts(texts, rows) {
        return close;
    }
    // Whoever writes events chooses the texts, and must not choose how they collide.
    let mut known: Option<HashMap<&[u8], u32, foldhash::fast::RandomState>> = Some(HashMap::default());
    let mut codes = Vec::with_capacity(texts.len());
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    let mut missing = None;
    let mut last: (&[u8], Option<u32>) = (&[], None);
    for nth in 0..texts.len() {
        let text = texts.get(nth as u32);
        let next = ends.len() as u32;
        let code = match (text, last) {
            // Many rows may have none.
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
            if !are_few(ends.len(), rows) {
                return None;
            }
        }
        codes.push(code);
        if nth == PROBE {
            let with_one = codes.iter().filter(|code| missing != Some(**code)).count();
            // A few values tell nothing.
            let hardly_repeat =
                with_one >= PROBE / 4 && ends.len() * DISTINCT_SHARE.1 > with_one * DISTINCT_SHARE.0;
            // Where few rows have a text, entries are few even if most are one text's own.
            let may_be_few = match are_few(texts.len(), rows) {
                true => !hardly_repeat,
                false => may_repeat(ends.len(), texts.len()),
            };
            if !may_be_few {
                return None;
            }
            known = known.filter(|_| !hardly_repeat);
            if let Some(known) = &mut known {
                known.reserve(texts.len() / PROBE * ends.len());
            }
        }
    }
    Some((codes, Dictionary::new(bytes, ends)))
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

impl Coded {
    /// Entries of a dictionary, one a row; without codes each row has its own.
    pub(crate) fn new(codes: Option<Vec<u32>>, dictionary: Arc<Dictionary>) -> Coded {
        Coded {
            codes: codes.map(|mut codes| {
                codes.shrink_to_fit();
                Arc::new(codes)
            }),
            dictionary,
            lengths: OnceLock::new(),
            instants: OnceLock::new(),
            durations: OnceLock::new(),
            numbers: OnceLock::new(),
        }
    }

    /// The same rows with other values: for each entry another.
    pub(crate) fn mapped(of: &Coded, dictionary: impl Into<Arc<Dictionary>>) -> Coded {
        Coded { codes: of.codes.clone(), ..Coded::new(None, dictionary.into()) }
    }

    /// The same where other values may repeat though entries do not: those that do become entries that rows share.
    pub(crate) fn mapped_and_shared(of: &Coded, dictionary: Dictionary) -> Coded {
        let of_entries = Coded::of_texts(dictionary);
        match (of.codes(), of_entries.codes()) {
            (None, _) => of_entries,
            (Some(_), None) => Coded::mapped(of, of_entries.dictionary),
            (Some(codes), Some(_)) => of_entries.gathered(codes),
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
        match shared(&texts, texts.len()) {
            Some((codes, entries)) => Coded::new(Some(codes), Arc::new(entries)),
            None => Coded::new(None, Arc::new(texts)),
        }
    }

    /// The same of some rows, in ascending order, of so many: the others have nothing.
    pub(crate) fn of_some_texts(texts: Dictionary, with_one: &[u32], rows: usize) -> Coded {
        let shared = shared(&texts, rows);
        // Beside the entries there is one for nothing.
        let entries = shared.as_ref().map_or(texts.len(), |(_, entries)| entries.len());
        if !are_few(entries + 1, rows) {
            return Coded::new(None, Arc::new(texts.spread(with_one, rows)));
        }
        match shared {
            Some((codes, entries)) => Coded::of_rows(entries, codes.into_iter(), with_one, rows),
            None => {
                let each_its_own = 0..texts.len() as u32;
                Coded::of_rows(texts, each_its_own, with_one, rows)
            }
        }
    }

    /// The entries of some rows, of so many. Entry 0 is that of the others, so that each of these comes one later.
    pub(crate) fn of_rows(
        entries: Dictionary,
        codes: impl Iterator<Item = u32>,
        with_one: &[u32],
        rows: usize,
    ) -> Coded {
        let mut of_rows = vec![0u32; rows];
        for (row, code) in with_one.iter().zip(codes) {
            if let Some(of_row) = of_rows.get_mut(*row as usize) {
                *of_row = code + 1;
            }
        }
        Coded::new(Some(of_rows), Arc::new(entries.with_nothing_first()))
    }

    /// How many characters the strings among the values have, and elements the arrays.
    pub(crate) fn lengths(&self) -> &Arc<Numbers> {
        self.lengths.get_or_init(|| Arc::new(self.count_lengths()))
    }

    /// The same, if they were counted.
    pub(super) fn known_lengths(&self) -> Option<&Arc<Numbers>> {
        self.lengths.get()
    }

    /// The instants that the strings among the values tell; none where one has escapes, which are to be read first.
    pub(crate) fn instants(&self) -> Option<&Arc<Numbers>> {
        self.instants.get_or_init(|| self.read_ticks(instant_of).map(Arc::new)).as_ref()
    }

    /// The same of durations.
    pub(crate) fn durations(&self) -> Option<&Arc<Numbers>> {
        self.durations.get_or_init(|| self.read_ticks(duration_of).map(Arc::new)).as_ref()
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
        let (with_one, values) = self.by_rows(&by_entry);
        if values.is_empty() {
            return None;
        }
        let codes = with_one.iter().map(|row| self.code(*row as usize)).collect();
        let rows = (with_one.len() != self.rows()).then_some(with_one);
        let values = match stored_numbers(&values, codes, &self.dictionary) {
            Some(stored) => DecimalValues::Stored(stored),
            None => DecimalValues::Decimals(values),
        };
        Some(TextNumbers::new(Arc::new(Decimals { rows, values }), are_all, are_null))
    }

    fn read_ticks(&self, of: impl Fn(&[u8]) -> Option<i64>) -> Option<Numbers> {
        let entries = 0..self.dictionary.len() as u32;
        let by_entry = entries.map(|entry| match self.dictionary.get(entry) {
            [b'"', text @ .., b'"'] if memchr::memchr(b'\\', text).is_some() => None,
            [b'"', text @ .., b'"'] => Some(of(text)),
            _ => Some(None),
        });
        let by_entry = by_entry.collect::<Option<Vec<Option<i64>>>>()?;
        let (with_one, values) = self.by_rows(&by_entry);
        let rows = (with_one.len() != self.rows()).then_some(with_one);
        Some(Numbers { values, rows, ..Numbers::default() })
    }

    fn count_lengths(&self) -> Numbers {
        const NONE: i64 = -1;
        let entries = 0..self.dictionary.len() as u32;
        let by_entry: Vec<i64> =
            entries.map(|entry| length_of(self.dictionary.get(entry)).unwrap_or(NONE)).collect();
        let length = |row: usize| by_entry.get(self.code(row) as usize).copied().unwrap_or(NONE);
        let with_one: Vec<u32> =
            (0..self.rows() as u32).filter(|row| length(*row as usize) != NONE).collect();
        let values = with_one.iter().map(|row| length(*row as usize)).collect();
        let rows = (with_one.len() != self.rows()).then_some(with_one);
        Numbers { values, rows, ..Numbers::default() }
    }

    /// How many rows there are.
    fn rows(&self) -> usize {
        self.codes.as_ref().map_or(self.dictionary.len(), |codes| codes.len())
    }

    /// The rows whose entries have something, and what.
    fn by_rows<T: Copy>(&self, by_entry: &[Option<T>]) -> (Vec<u32>, Vec<T>) {
        let told = |row: u32| Some((row, by_entry.get(self.code(row as usize) as usize).copied().flatten()?));
        (0..self.rows() as u32).filter_map(told).unzip()
    }

    /// For each row its entry, where rows share entries.
    pub(crate) fn codes(&self) -> Option<&[u32]> {
        self.codes.as_deref().map(Vec::as_slice)
    }

    pub(super) fn held_bytes(&self) -> usize {
        let codes = self.codes.as_ref().map_or(0, |codes| codes.len() * size_of::<u32>());
        let ticks = [&self.instants, &self.durations].into_iter().filter_map(|told| told.get()?.as_deref());
        let told = self.lengths.get().map(AsRef::as_ref).into_iter().chain(ticks);
        let decimals = self.numbers.get().and_then(|numbers| Some(numbers.as_ref()?.held_bytes()));
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
        self.codes.as_ref().is_some_and(|codes| are_few(self.dictionary.len(), codes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_of_some_rows_are_those_of_all_where_the_others_have_nothing(
            texts in prop::collection::vec(prop::option::of("[0-9]{2}|[a-c]{1,3}"), 0..40),
            // So that those with a text are few, too.
            nothing in 0usize..100,
        ) {
            let rows = texts.len() + nothing;
            let json = |text: &String| format!("\"{text}\"");
            let all: Vec<String> = texts.iter().map(|text| text.as_ref().map(json).unwrap_or_default()).collect();
            let all = all.into_iter().chain(std::iter::repeat_n(String::new(), nothing)).collect::<Vec<_>>();
            let with_one: Vec<u32> = (0..).zip(&texts).filter_map(|(row, text)| text.as_ref().map(|_| row)).collect();
            let some = all.iter().filter(|text| !text.is_empty()).map(String::as_bytes);
            let some = Coded::of_some_texts(Dictionary::of(some), &with_one, rows);
            prop_assert_eq!(some.rows(), rows);
            for (row, text) in all.iter().enumerate() {
                prop_assert_eq!(some.dictionary.get(some.code(row)), text.as_bytes());
            }
        }
    }

    #[test]
    fn texts_of_which_most_come_again_share_entries_though_few_of_the_first_ones_do() {
        let texts = |values: u64| {
            let mixed = |row: u64| {
                let mixed = (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
            };
            let text = |row: u64| format!("\"text {}\"", mixed(row) % values);
            let texts: Vec<String> = (0..16_384).map(text).collect();
            Coded::of_texts(Dictionary::of(texts.iter().map(String::as_bytes)))
        };
        assert!(texts(2_048).repeats() && !texts(1 << 20).repeats());
        let told = |values: f64| (values * (1.0 - (-(PROBE as f64) / values).exp())) as usize;
        assert!(may_repeat(told(3_000.0), 16_384) && !may_repeat(told(6_000.0), 16_384));
    }
}
