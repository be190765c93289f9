//! The group of each row of a chunk, by its keys.

use super::group::Groups;
use super::several::{SeveralKeys, values_of_row};
use crate::chunk::{Chunk, Column, Entries, Order, value_of};
use crate::key_table::{Found, Kept};
use crate::outputs::KeyColumn;
use crate::value::{Value, write_json};
use crate::zone::Intervals;

/// Where entries repeat so often, all of them are looked up before it is looked which of them rows have.
const REPEATED: usize = 8;

impl Groups<'_> {
    /// Finds the group of each row.
    pub(super) fn assign(&mut self, chunk: &Chunk<'_>, numbers: &mut Vec<u32>) {
        let keys = std::mem::take(&mut self.keys);
        match keys.as_slice() {
            [] => {}
            [KeyColumn::Time(intervals)] => self.assign_by_time(chunk, intervals, numbers),
            [KeyColumn::Value { column, ci }] => self.assign_by_value(chunk, *column, *ci, numbers),
            keys => self.assign_by_several(chunk, keys, numbers),
        }
        self.keys = keys;
    }

    fn assign_by_time(&mut self, chunk: &Chunk<'_>, intervals: &Intervals, numbers: &mut Vec<u32>) {
        let (orders, mut row) = (chunk.orders(), 0);
        let is_sorted = orders.is_sorted();
        // Most rows come in the order of time, so that those of an interval stand together.
        while let Some(first) = orders.get(row) {
            let interval = intervals.around(first.0);
            let number = self.of_interval(interval.start, first);
            let is_in = |order: Order| order >= first && interval.contains(&order.0);
            let next = orders.first_without(row + 1, is_sorted, is_in);
            numbers.extend(std::iter::repeat_n(number, next - row));
            row = next;
        }
    }

    fn assign_by_value(&mut self, chunk: &Chunk<'_>, column: usize, ci: bool, numbers: &mut Vec<u32>) {
        let orders = chunk.orders();
        // If the rows come in the order of time, and the first of them is no group's first, then neither are others.
        let is_sorted = orders.is_sorted();
        let are_later = is_sorted && orders.get(0).is_some_and(|first| first >= self.latest);
        match chunk.column(column) {
            Column::Values(cells) => {
                let values = cells.iter().map(|cell| chunk.json(*cell)).enumerate();
                self.of_values(chunk, values, ci, are_later, |_, number| numbers.push(number));
            }
            Column::Entries(Entries { dictionary, codes, .. }) => {
                let mut known = std::mem::take(&mut self.known);
                known.clear();
                // Where no row is a known group's first, those that are known need not be met.
                if are_later && dictionary.len() <= codes.len() / REPEATED {
                    let texts = (0..dictionary.len() as u32).map(|code| dictionary.get(code));
                    self.tables.table.look_ahead(0, texts, &mut known);
                }
                known.resize(dictionary.len(), 0);
                if known.contains(&0) {
                    // Of rows in the order of time that share an entry, the first is all that its group may not know.
                    let mut met: Vec<u32> =
                        if is_sorted { Vec::new() } else { (0..codes.len() as u32).collect() };
                    if is_sorted {
                        for (row, code) in (0..).zip(codes) {
                            if let Some(known @ 0) = known.get_mut(*code as usize) {
                                *known = u32::MAX;
                                met.push(row);
                            }
                        }
                    }
                    let code = |row: usize| codes.get(row).copied().unwrap_or_default();
                    let values = met.iter().map(|row| (*row as usize, dictionary.get(code(*row as usize))));
                    self.of_values(chunk, values, ci, are_later, |row, number| {
                        if let Some(known) = known.get_mut(code(row) as usize) {
                            *known = number.saturating_add(1);
                        }
                    });
                }
                let number =
                    |code: &u32| known.get(*code as usize).map_or(0, |known| known.saturating_sub(1));
                numbers.extend(codes.iter().map(number));
                self.known = known;
            }
            Column::Nothing | Column::Numbers(_) | Column::Mantissas(_) | Column::Decimals(_) => {}
        }
    }

    /// Finds the groups of rows by their values as JSON text: `each` is told the number of each. The rows are met.
    fn of_values<'v>(
        &mut self,
        chunk: &Chunk<'_>,
        values: impl Iterator<Item = (usize, &'v [u8])> + Clone,
        ci: bool,
        are_later: bool,
        mut each: impl FnMut(usize, u32),
    ) {
        let mut table = std::mem::take(&mut self.tables.table);
        let mut rows = values.clone();
        table.find_all(0, ci, values.map(|(_, json)| json), |table, found| {
            let Some((row, json)) = rows.next() else { return };
            match found {
                Found::New(number) => {
                    self.begin(number, chunk.order(row), Some(table.last_spelling()), Box::default);
                }
                Found::Known(_) if are_later => {}
                Found::Known(_) => {
                    self.meet(found, chunk.order(row), || Box::new([value_of(json).into_static()]));
                }
            }
            each(row, found.number());
        });
        self.tables.table = table;
    }

    fn assign_by_several(&mut self, chunk: &Chunk<'_>, keys: &[KeyColumn], numbers: &mut Vec<u32>) {
        let orders = chunk.orders();
        let is_sorted = orders.is_sorted();
        let are_later = is_sorted && orders.get(0).is_some_and(|first| first >= self.latest);
        let mut several = std::mem::take(&mut self.tables.several);
        several.find_rows(chunk, keys, is_sorted, numbers, |several, row, found| match found {
            Found::Known(_) if are_later => {}
            Found::Known(_) => self.meet(found, chunk.order(row), || values_of_row(chunk, keys, row)),
            Found::New(group) => {
                let kept = has_first(several, group, chunk, keys, row).then_some(Kept::TUPLE);
                self.begin(group, chunk.order(row), kept, || values_of_row(chunk, keys, row));
            }
        });
        self.tables.several = several;
    }

    /// The group of the interval that begins at an instant, of which an event is met.
    pub(super) fn of_interval(&mut self, begin: u64, order: Order) -> u32 {
        let mut json = std::mem::take(&mut self.text);
        json.clear();
        write_json(&Value::from(begin), &mut json);
        let found = self.tables.table.find(0, &json, false);
        match found {
            Found::New(number) => {
                let kept = self.tables.table.last_spelling();
                self.begin(number, order, Some(kept), Box::default);
            }
            Found::Known(_) => self.meet(found, order, || Box::new([value_of(&json).into_static()])),
        }
        self.text = json;
        found.number()
    }
}

/// Whether a row has the keys of a group as the tables spell them.
fn has_first(several: &SeveralKeys, group: u32, chunk: &Chunk<'_>, keys: &[KeyColumn], row: usize) -> bool {
    let values = keys.iter().map(|key| match key {
        // An instant has one spelling.
        KeyColumn::Time(_) => None,
        KeyColumn::Value { column, .. } => Some(chunk.json_at(*column, row)),
    });
    several.are_first(group, values)
}
