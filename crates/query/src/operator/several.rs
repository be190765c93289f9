//! Groups by several keys: each value by the number that it has among those of its key, and a group by the numbers of its values. So a value is looked at
//! once for each dictionary that has it, and rows are told by numbers.

use crate::chunk::{Chunk, Column, value_of};
use crate::dictionary::Dictionary;
use crate::key_numbers::KeptKeys;
use crate::key_table::{Found, Spelling, Tuples};
use crate::keys::{KeyTexts, Keys, Taken};
use crate::outputs::KeyColumn;
use crate::value::{Value, write_json};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// The keys of groups, and the combinations of their values that are groups.
#[derive(Default)]
pub(super) struct SeveralKeys {
    keys: Vec<KeyValues>,
    tuples: Tuples,
    /// For each key the numbers of the values of a chunk's rows.
    columns: Vec<Vec<u32>>,
    /// The same, one row after another.
    rows: Vec<u32>,
    /// For each combination of values one more than its group, 0 where it was not met in a chunk. Used where there are few combinations.
    few: Vec<u32>,
    /// For each row of a chunk its combination, by its place in that.
    places: Vec<u32>,
    found: Vec<Found>,
}

/// The values of a key.
struct KeyValues {
    values: Keys,
    /// Whether a value came in another spelling too.
    has_others: bool,
    /// The interval of the last row and its number, of a key of time.
    interval: (Range<u64>, u32),
    /// The dictionary that values came from last, and for each of its entries the number, or [`UNKNOWN`].
    texts: KeyTexts,
    entries: Vec<u32>,
    scratch: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;

/// Up to so many combinations have a place each: about as many as a chunk has rows.
const FEW: usize = 1 << 14;

impl SeveralKeys {
    /// No groups yet; for each key there may be keys that outlive the query.
    pub(super) fn new(keys: &[KeyColumn], kept: &[Option<Arc<KeptKeys>>]) -> SeveralKeys {
        let kept = kept.iter().cloned().chain(std::iter::repeat(None));
        SeveralKeys {
            keys: keys.iter().zip(kept).map(|(key, kept)| KeyValues::new(key.keys(kept))).collect(),
            tuples: Tuples::new(keys.len()),
            ..SeveralKeys::default()
        }
    }

    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Adds the group of each row of a chunk. `meet` is told of the rows of groups that may be their first: of all, unless the chunk is in the order of time.
    pub(super) fn find_rows(
        &mut self,
        chunk: &Chunk<'_>,
        keys: &[KeyColumn],
        is_sorted: bool,
        groups: &mut Vec<u32>,
        mut meet: impl FnMut(&SeveralKeys, usize, Found),
    ) {
        let mut columns = std::mem::take(&mut self.columns);
        columns.resize_with(self.keys.len(), Vec::new);
        for ((key, values), numbers) in keys.iter().zip(&mut self.keys).zip(&mut columns) {
            numbers.clear();
            numbers.resize(chunk.len(), 0);
            match key {
                KeyColumn::Time(intervals) => {
                    for (number, order) in numbers.iter_mut().zip(chunk.orders().iter()) {
                        if !values.interval.0.contains(&order.0) {
                            let interval = intervals.around(order.0);
                            values.interval = (interval.clone(), values.find_instant(interval.start));
                        }
                        *number = values.interval.1;
                    }
                }
                KeyColumn::Value { column, .. } => values.find_column(chunk, *column, numbers),
            }
        }
        match self.combinations().filter(|combinations| *combinations <= FEW && is_sorted) {
            None => self.find_tuples(&columns, chunk.len(), |own, row, found| {
                groups.push(found.number());
                meet(own, row, found);
            }),
            Some(combinations) => self.find_few(&columns, chunk.len(), combinations, groups, meet),
        }
        self.columns = columns;
    }

    /// The same where so few combinations of values may be that each has a place.
    fn find_few(
        &mut self,
        columns: &[Vec<u32>],
        rows: usize,
        combinations: usize,
        groups: &mut Vec<u32>,
        mut meet: impl FnMut(&SeveralKeys, usize, Found),
    ) {
        let (mut few, mut places) = (std::mem::take(&mut self.few), std::mem::take(&mut self.places));
        few.clear();
        few.resize(combinations, 0);
        places.clear();
        places.resize(rows, 0);
        // Key by key, which takes less than row by row.
        for (numbers, key) in columns.iter().zip(&self.keys) {
            let values = key.values.len() as u32;
            places.iter_mut().zip(numbers).for_each(|(place, number)| *place = *place * values + number);
        }
        let mut tuple = Vec::with_capacity(columns.len());
        for (row, place) in places.iter().enumerate() {
            if let Some(known @ 0) = few.get_mut(*place as usize) {
                tuple.clear();
                tuple.extend(columns.iter().filter_map(|numbers| numbers.get(row)));
                let found = self.tuples.find(&tuple);
                *known = found.number().saturating_add(1);
                meet(self, row, found);
            }
        }
        let group = |place: &u32| few.get(*place as usize).map_or(0, |known| known.saturating_sub(1));
        groups.extend(places.iter().map(group));
        (self.few, self.places) = (few, places);
    }

    /// How many combinations of the values there may be.
    fn combinations(&self) -> Option<usize> {
        self.keys.iter().try_fold(1usize, |size, key| size.checked_mul(key.values.len()))
    }

    /// The group of each row, by the numbers of its values.
    fn find_tuples(
        &mut self,
        columns: &[Vec<u32>],
        rows: usize,
        mut each: impl FnMut(&SeveralKeys, usize, Found),
    ) {
        let mut tuples = std::mem::take(&mut self.rows);
        let width = columns.len().max(1);
        tuples.clear();
        tuples.resize(rows * width, 0);
        for (nth, numbers) in columns.iter().enumerate() {
            let places = tuples.iter_mut().skip(nth).step_by(width);
            places.zip(numbers).for_each(|(place, number)| *place = *number);
        }
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.tuples.find_all(&tuples, |one| found.push(one));
        for (row, found) in found.iter().enumerate() {
            each(self, row, *found);
        }
        (self.rows, self.found) = (tuples, found);
    }

    /// The group of values as JSON text.
    pub(super) fn find<'j>(&mut self, values: impl Iterator<Item = &'j [u8]>) -> Found {
        self.rows.clear();
        self.rows.extend(self.keys.iter_mut().zip(values).map(|(key, json)| key.find(json)));
        self.tuples.find(&self.rows)
    }

    /// The values of a group, each in its first spelling.
    pub(super) fn values(&self, group: u32) -> impl Iterator<Item = Spelling<'_>> {
        let numbers = self.tuples.get(group).iter();
        self.keys.iter().zip(numbers).map(|(key, number)| key.values.first(*number))
    }

    /// Whether these, as far as they are told, are the values of a group in their first spellings.
    pub(super) fn are_first<J: Deref<Target = [u8]>>(
        &self,
        group: u32,
        values: impl Iterator<Item = Option<J>>,
    ) -> bool {
        let has_others = self.keys.iter().any(|key| key.has_others);
        let numbers = self.tuples.get(group).iter();
        let is_told = |((key, number), json): ((&KeyValues, &u32), Option<J>)| {
            json.is_none_or(|json| key.values.is_told(*number, &json))
        };
        !has_others || self.keys.iter().zip(numbers).zip(values).all(is_told)
    }

    /// Takes in the groups of others, as long as `each` does not fail, which is told of each of these.
    pub(super) fn try_merge<E>(
        &mut self,
        other: &SeveralKeys,
        mut each: impl FnMut(Taken<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Of each key the numbers here of the other's values. They are looked up as groups come to them, so that `each` may end it between.
        let mut numbers: Vec<Vec<u32>> =
            other.keys.iter().map(|key| vec![UNKNOWN; key.values.len()]).collect();
        let mut tuple = Vec::new();
        for group in 0..other.tuples.len() as u32 {
            tuple.clear();
            let keys = self.keys.iter_mut().zip(&other.keys).zip(&mut numbers);
            for (number, ((key, other), numbers)) in other.tuples.get(group).iter().zip(keys) {
                let Some(known) = numbers.get_mut(*number as usize) else { continue };
                if *known == UNKNOWN {
                    *known = key.find(&other.values.first(*number));
                }
                tuple.push(*known);
            }
            let found = self.tuples.find(&tuple);
            let is_alike = self.are_first(found.number(), other.values(group).map(Some));
            each(Taken { there: group, found, is_alike, bytes: &|| self.bytes() })?;
        }
        Ok(())
    }

    /// Forgets how groups are found: their values are all that is asked for from now on.
    pub(super) fn close(&mut self) {
        self.tuples.close();
        self.keys.iter_mut().for_each(|key| key.values.close());
    }

    /// What it holds once it is closed, in bytes.
    pub(super) fn closed_bytes(&self) -> usize {
        self.tuples.closed_bytes() + self.keys.iter().map(|key| key.values.closed_bytes()).sum::<usize>()
    }

    /// What it holds, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.tuples.bytes() + self.keys.iter().map(|key| key.values.bytes()).sum::<usize>()
    }
}

impl KeyValues {
    fn new(values: Keys) -> KeyValues {
        KeyValues {
            values,
            has_others: false,
            interval: (0..0, 0),
            texts: KeyTexts::default(),
            entries: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The number of a value as JSON text.
    fn find(&mut self, json: &[u8]) -> u32 {
        let number = self.values.find(json).found.number();
        self.note(number, json);
        number
    }

    /// Takes note of a spelling in which a value comes.
    fn note(&mut self, number: u32, json: &[u8]) {
        self.has_others = self.has_others || !self.values.is_told(number, json);
    }

    fn find_instant(&mut self, instant: u64) -> u32 {
        let mut json = Vec::new();
        write_json(&Value::from(instant), &mut json);
        self.find(&json)
    }

    /// The number of each row's value in a column.
    fn find_column(&mut self, chunk: &Chunk<'_>, column: usize, places: &mut [u32]) {
        match chunk.column(column) {
            Column::Entries(entries) => {
                if !self.texts.is_of(&entries.dictionary) {
                    self.look_up(&entries.dictionary, entries.codes.len());
                }
                for (place, code) in places.iter_mut().zip(&entries.codes) {
                    *place = match self.entries.get(*code as usize) {
                        Some(known) if *known != UNKNOWN => *known,
                        _ => self.find_entry(*code, entries.dictionary.get(*code)),
                    };
                }
            }
            Column::Values(cells) => {
                let mut known = std::mem::take(&mut self.scratch);
                self.values.look_texts_ahead(cells.iter().map(|cell| chunk.json(*cell)), &mut known);
                for ((place, cell), known) in places.iter_mut().zip(cells).zip(&known) {
                    *place = known.checked_sub(1).unwrap_or_else(|| self.find(chunk.json(*cell)));
                }
                self.scratch = known;
            }
            Column::Nothing | Column::Numbers(_) | Column::Mantissas(_) | Column::Decimals(_) => {
                let missing = self.find(&[]);
                places.fill(missing);
            }
        }
    }

    /// The number of an entry of which it is not known yet.
    fn find_entry(&mut self, code: u32, json: &[u8]) -> u32 {
        let mut number = 0;
        self.values.find_entries(&self.texts, std::iter::once(code), |met| number = met.found.number());
        if let Some(entry) = self.entries.get_mut(code as usize) {
            *entry = number;
        }
        if !self.values.are_all_told(&self.texts) {
            self.note(number, json);
        }
        number
    }

    /// Takes a dictionary up, of which so many rows have entries now: all are looked up at once if they are not many more.
    fn look_up(&mut self, dictionary: &Arc<Dictionary>, rows: usize) {
        self.texts = self.values.texts_of(dictionary);
        // A number tells the key in whatever spelling.
        self.has_others |= self.texts.are_numbered() && !self.values.are_all_told(&self.texts);
        self.entries.clear();
        if dictionary.len() / 4 <= rows {
            self.values.look_ahead(&self.texts, &mut self.entries);
            self.entries.iter_mut().for_each(|known| *known = known.wrapping_sub(1));
        }
        self.entries.resize(dictionary.len(), UNKNOWN);
    }
}

/// The values of a row's keys as JSON text, a time as the beginning of its interval.
pub(super) fn values_of_row(chunk: &Chunk<'_>, keys: &[KeyColumn], row: usize) -> Box<[Value<'static>]> {
    let values = keys.iter().map(|key| match key {
        KeyColumn::Time(intervals) => Value::from(intervals.around(chunk.order(row).0).start),
        KeyColumn::Value { column, .. } => value_of(chunk.json_at(*column, row)).into_static(),
    });
    values.collect()
}
