//! Groups by several keys: each value by the number that it has among those of its key, and a group by the numbers of its values. So a value is looked at
//! once for each dictionary that has it, and rows are told by numbers.

use crate::allocated::vec_bytes;
use crate::chunk::{Chunk, Column, value_of};
use crate::dictionary::Dictionary;
use crate::key_table::{Found, Kept, KeyTable, Tuples};
use crate::outputs::KeyColumn;
use crate::value::{Value, write_json};
use std::ops::Range;
use std::sync::Arc;

/// The keys of groups, and the combinations of their values that are groups.
#[derive(Default)]
pub(super) struct SeveralKeys {
    keys: Vec<KeyValues>,
    tuples: Tuples,
    /// The numbers of the values of a chunk's rows, one row after another.
    rows: Vec<u32>,
    /// For each combination of values one more than its group, 0 where it was not met in a chunk. Used where there are few combinations.
    few: Vec<u32>,
    found: Vec<Found>,
}

/// The values of a key.
struct KeyValues {
    table: KeyTable,
    ci: bool,
    /// Of each value its first spelling.
    firsts: Vec<Kept>,
    /// Whether a value came in another spelling too.
    has_others: bool,
    /// The interval of the last row and its number, of a key of time.
    interval: (Range<u64>, u32),
    /// The dictionary that values came from last, and for each of its entries the number, or [`UNKNOWN`].
    dictionary: Arc<Dictionary>,
    entries: Vec<u32>,
    scratch: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;

/// Up to so many combinations have a place each: about as many as a chunk has rows.
const FEW: usize = 1 << 14;

impl SeveralKeys {
    pub(super) fn new(keys: &[KeyColumn]) -> SeveralKeys {
        let values = |key: &KeyColumn| KeyValues::new(matches!(key, KeyColumn::Value { ci: true, .. }));
        SeveralKeys {
            keys: keys.iter().map(values).collect(),
            tuples: Tuples::new(keys.len()),
            ..SeveralKeys::default()
        }
    }

    /// The group of each row of a chunk. Of rows of a group behind the first, if the chunk is in the order of time, no more may be told than the group.
    pub(super) fn find_rows(
        &mut self,
        chunk: &Chunk<'_>,
        keys: &[KeyColumn],
        mut each: impl FnMut(&SeveralKeys, usize, Found),
    ) {
        let mut rows = std::mem::take(&mut self.rows);
        let width = self.keys.len().max(1);
        rows.clear();
        rows.resize(chunk.len() * width, 0);
        for (nth, (key, values)) in keys.iter().zip(&mut self.keys).enumerate() {
            let places = rows.iter_mut().skip(nth).step_by(width);
            match key {
                KeyColumn::Time(intervals) => {
                    for (place, order) in places.zip(chunk.orders()) {
                        if !values.interval.0.contains(&order.0) {
                            let interval = intervals.around(order.0);
                            values.interval = (interval.clone(), values.find_instant(interval.start));
                        }
                        *place = values.interval.1;
                    }
                }
                KeyColumn::Value { column, .. } => values.find_column(chunk, *column, places),
            }
        }
        let is_sorted = chunk.orders().is_sorted();
        match self.combinations().filter(|combinations| *combinations <= FEW && is_sorted) {
            None => self.find_tuples(&rows, each),
            Some(combinations) => {
                let mut few = std::mem::take(&mut self.few);
                few.clear();
                few.resize(combinations, 0);
                for (row, tuple) in rows.chunks(width).enumerate() {
                    let each_key = tuple.iter().zip(&self.keys);
                    let place =
                        each_key.fold(0, |place, (number, key)| place * key.firsts.len() + *number as usize);
                    let Some(known) = few.get_mut(place) else { continue };
                    let found = match known.checked_sub(1) {
                        Some(group) => Found::Known(group),
                        None => self.tuples.find(tuple),
                    };
                    *known = found.number().saturating_add(1);
                    each(self, row, found);
                }
                self.few = few;
            }
        }
        self.rows = rows;
    }

    /// How many combinations of the values there may be.
    fn combinations(&self) -> Option<usize> {
        self.keys.iter().try_fold(1usize, |size, key| size.checked_mul(key.firsts.len()))
    }

    /// The group of each tuple, one after another.
    fn find_tuples(&mut self, rows: &[u32], mut each: impl FnMut(&SeveralKeys, usize, Found)) {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.tuples.find_all(rows, |one| found.push(one));
        for (row, found) in found.iter().enumerate() {
            each(self, row, *found);
        }
        self.found = found;
    }

    /// The group of values as JSON text.
    pub(super) fn find<'j>(&mut self, values: impl Iterator<Item = &'j [u8]>) -> Found {
        self.rows.clear();
        self.rows.extend(self.keys.iter_mut().zip(values).map(|(key, json)| key.find(json)));
        self.tuples.find(&self.rows)
    }

    /// The values of a group, each in its first spelling.
    pub(super) fn values(&self, group: u32) -> impl Iterator<Item = &[u8]> {
        let numbers = self.tuples.get(group).iter();
        self.keys.iter().zip(numbers).map(|(key, number)| key.first(*number))
    }

    /// Whether these, as far as they are told, are the values of a group in their first spellings.
    pub(super) fn are_first<'j>(&self, group: u32, values: impl Iterator<Item = Option<&'j [u8]>>) -> bool {
        let has_others = self.keys.iter().any(|key| key.has_others);
        !has_others
            || self.values(group).zip(values).all(|(first, json)| json.is_none_or(|json| json == first))
    }

    /// Takes in the groups of others: for each of these `each` is told its number there, what was found here, and whether it is spelled alike.
    pub(super) fn try_merge<E>(
        &mut self,
        other: &SeveralKeys,
        mut each: impl FnMut(&SeveralKeys, u32, Found, bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let keys = self.keys.iter_mut().zip(&other.keys);
        let numbers = keys.map(|(key, other)| {
            other.firsts.iter().map(|first| key.find(other.table.spelling(*first))).collect()
        });
        let numbers: Vec<Vec<u32>> = numbers.collect();
        let mut tuple = Vec::new();
        for group in 0..other.tuples.len() as u32 {
            tuple.clear();
            let each_number = other.tuples.get(group).iter().zip(&numbers);
            tuple.extend(each_number.filter_map(|(number, numbers)| numbers.get(*number as usize)));
            let found = self.tuples.find(&tuple);
            let are_alike = self.are_first(found.number(), other.values(group).map(Some));
            each(self, group, found, are_alike)?;
        }
        Ok(())
    }

    /// What it has held in memory at most, in bytes. It never becomes less.
    pub(super) fn bytes(&self) -> usize {
        self.tuples.bytes() + self.keys.iter().map(KeyValues::bytes).sum::<usize>()
    }
}

impl KeyValues {
    fn new(ci: bool) -> KeyValues {
        KeyValues {
            table: KeyTable::default(),
            ci,
            firsts: Vec::new(),
            has_others: false,
            interval: (0..0, 0),
            dictionary: Arc::default(),
            entries: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The number of a value as JSON text.
    fn find(&mut self, json: &[u8]) -> u32 {
        match self.table.find(0, json, self.ci) {
            Found::New(number) => {
                self.firsts.push(self.table.last_spelling());
                number
            }
            Found::Known(number) => {
                self.has_others = self.has_others || self.first(number) != json;
                number
            }
        }
    }

    fn find_instant(&mut self, instant: u64) -> u32 {
        let mut json = Vec::new();
        write_json(&Value::from(instant), &mut json);
        self.find(&json)
    }

    fn first(&self, number: u32) -> &[u8] {
        self.firsts.get(number as usize).map_or(&[], |first| self.table.spelling(*first))
    }

    /// The number of each row's value in a column.
    fn find_column<'p>(
        &mut self,
        chunk: &Chunk<'_>,
        column: usize,
        places: impl Iterator<Item = &'p mut u32>,
    ) {
        match chunk.column(column) {
            Column::Entries(entries) => {
                if !Arc::ptr_eq(&self.dictionary, &entries.dictionary) {
                    self.look_up(&entries.dictionary, entries.codes.len());
                }
                for (place, code) in places.zip(&entries.codes) {
                    *place = match self.entries.get(*code as usize) {
                        Some(known) if *known != UNKNOWN => *known,
                        _ => {
                            let number = self.find(entries.dictionary.get(*code));
                            if let Some(entry) = self.entries.get_mut(*code as usize) {
                                *entry = number;
                            }
                            number
                        }
                    };
                }
            }
            Column::Values(cells) => {
                let mut known = std::mem::take(&mut self.scratch);
                self.table.look_ahead(0, cells.iter().map(|cell| chunk.json(*cell)), &mut known);
                for ((place, cell), known) in places.zip(cells).zip(&known) {
                    *place = known.checked_sub(1).unwrap_or_else(|| self.find(chunk.json(*cell)));
                }
                self.scratch = known;
            }
            Column::Nothing | Column::Numbers(_) | Column::Mantissas(_) | Column::Decimals(_) => {
                let missing = self.find(&[]);
                places.for_each(|place| *place = missing);
            }
        }
    }

    /// Takes a dictionary up, of which so many rows have entries now: all are looked up at once if they are not many more.
    fn look_up(&mut self, dictionary: &Arc<Dictionary>, rows: usize) {
        self.dictionary = dictionary.clone();
        self.entries.clear();
        if dictionary.len() / 4 <= rows {
            let texts = (0..dictionary.len() as u32).map(|entry| dictionary.get(entry));
            self.table.look_ahead(0, texts, &mut self.entries);
            self.entries.iter_mut().for_each(|known| *known = known.wrapping_sub(1));
        }
        self.entries.resize(dictionary.len(), UNKNOWN);
    }

    fn bytes(&self) -> usize {
        self.table.bytes() + vec_bytes(&self.firsts)
    }
}

/// The value of a spelling, as one that is computed with: what is no character is the replacement character.
pub(super) fn value_of_spelling(json: &[u8]) -> Value<'_> {
    let value = value_of(json);
    let is_escaped = memchr::memchr(b'\\', json).is_some();
    if is_escaped { value.into_static() } else { value }
}

/// The values of a row's keys as JSON text, a time as the beginning of its interval.
pub(super) fn values_of_row(chunk: &Chunk<'_>, keys: &[KeyColumn], row: usize) -> Box<[Value<'static>]> {
    let values = keys.iter().map(|key| match key {
        KeyColumn::Time(intervals) => Value::from(intervals.around(chunk.order(row).0).start),
        KeyColumn::Value { column, .. } => value_of(chunk.json_at(*column, row)).into_static(),
    });
    values.collect()
}
