//! The group of each row of a chunk, by its keys.

use super::group::Groups;
use super::several::{SeveralKeys, values_of_row};
use crate::chunk::{Chunk, Column, Entries, Order};
use crate::key_table::Found;
use crate::keys::Met;
use crate::outputs::KeyColumn;
use crate::value::Value;
use crate::zone::Intervals;

/// Where entries repeat so often, all of them are looked up before it is looked which of them rows have.
const REPEATED: usize = 8;

/// The same where entries have numbers.
const REPEATED_NUMBERS: usize = 1;

impl Groups<'_> {
    /// Finds the group of each row.
    pub(super) fn assign(&mut self, chunk: &Chunk<'_>, numbers: &mut Vec<u32>) {
        let keys = std::mem::take(&mut self.keys);
        match keys.as_slice() {
            [] => {}
            [KeyColumn::Time(intervals)] => self.assign_by_time(chunk, intervals, numbers),
            [KeyColumn::Value { column, .. }] => self.assign_by_value(chunk, *column, numbers),
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

    fn assign_by_value(&mut self, chunk: &Chunk<'_>, column: usize, numbers: &mut Vec<u32>) {
        let orders = chunk.orders();
        // If the rows come in the order of time, and the first of them is no group's first, then neither are others.
        let is_sorted = orders.is_sorted();
        let begun = orders.get(0).filter(|_| is_sorted).map_or(0, |first| self.begun_before(first));
        let are_later = is_sorted && begun as usize == self.len();
        match chunk.column(column) {
            Column::Values(cells) => {
                let mut single = std::mem::take(&mut self.tables.single);
                let values = cells.iter().map(|cell| chunk.json(*cell));
                let mut rows = 0..;
                single.find_all(values, |met| {
                    let row = rows.next().unwrap_or_default();
                    self.meet_value(chunk, column, row, met, are_later);
                    numbers.push(met.found.number());
                });
                self.tables.single = single;
            }
            Column::Keys(keys) => {
                let mut single = std::mem::take(&mut self.tables.single);
                let mut rows = 0..;
                single.find_numbers(keys, |met| {
                    let row = rows.next().unwrap_or_default();
                    self.meet_value(chunk, column, row, met, are_later);
                    numbers.push(met.found.number());
                });
                self.tables.single = single;
            }
            Column::Entries(entries) => {
                self.assign_by_entries(chunk, column, entries, is_sorted, begun, numbers);
            }
            Column::Nothing | Column::Numbers(_) | Column::Mantissas(_) | Column::Decimals(_) => {}
        }
    }

    fn assign_by_entries(
        &mut self,
        chunk: &Chunk<'_>,
        column: usize,
        Entries { dictionary, codes, .. }: &Entries,
        is_sorted: bool,
        begun: u32,
        numbers: &mut Vec<u32>,
    ) {
        let are_later = is_sorted && begun as usize == self.len();
        let (mut single, mut known) =
            (std::mem::take(&mut self.tables.single), std::mem::take(&mut self.known));
        let texts = single.texts_of(dictionary);
        known.clear();
        // Groups that were begun before the first row need not be met.
        let share = if texts.are_numbered() { REPEATED_NUMBERS } else { REPEATED };
        let are_all = begun > 0 && dictionary.len() <= codes.len() / share;
        if are_all {
            single.look_ahead(&texts, &mut known);
        }
        known.resize(dictionary.len(), 0);
        if begun > 0 && !are_all {
            single.look_numbers_ahead(&texts, codes, &mut known);
        }
        if !are_later {
            known.iter_mut().filter(|known| **known > begun).for_each(|known| *known = 0);
        }
        if known.contains(&0) {
            // Of rows in the order of time that share an entry, the first is all that its group may not know.
            let mut met: Vec<u32> = if is_sorted { Vec::new() } else { (0..codes.len() as u32).collect() };
            if is_sorted {
                for (row, code) in (0..).zip(codes) {
                    if let Some(known @ 0) = known.get_mut(*code as usize) {
                        *known = u32::MAX;
                        met.push(row);
                    }
                }
            }
            let code = |row: u32| codes.get(row as usize).copied().unwrap_or_default();
            let mut rows = met.iter();
            single.find_entries(&texts, met.iter().map(|row| code(*row)), |found| {
                let row = rows.next().copied().unwrap_or_default();
                self.meet_value(chunk, column, row as usize, found, are_later);
                if let Some(known) = known.get_mut(code(row) as usize) {
                    *known = found.found.number().saturating_add(1);
                }
            });
        }
        let of_entries = known.as_slice();
        let number =
            move |code: &u32| of_entries.get(*code as usize).map_or(0, |known| known.saturating_sub(1));
        numbers.extend(codes.iter().map(number));
        (self.tables.single, self.known) = (single, known);
    }

    /// Meets a row whose group was found by its value.
    #[inline]
    fn meet_value(&mut self, chunk: &Chunk<'_>, column: usize, row: usize, met: Met, are_later: bool) {
        if let (Found::Known(_), true) = (met.found, are_later) {
            return;
        }
        self.meet(met, chunk.order(row), || Box::new([chunk.own_value_at(column, row)]));
    }

    fn assign_by_several(&mut self, chunk: &Chunk<'_>, keys: &[KeyColumn], numbers: &mut Vec<u32>) {
        let orders = chunk.orders();
        let is_sorted = orders.is_sorted();
        let are_later = is_sorted && orders.get(0).is_some_and(|first| first >= self.latest);
        let mut several = std::mem::take(&mut self.tables.several);
        several.find_rows(chunk, keys, is_sorted, are_later, numbers, |several, row, found| {
            let is_told = has_first(several, found.number(), chunk, keys, row);
            self.meet(Met { found, is_told }, chunk.order(row), || values_of_row(chunk, keys, row));
        });
        self.tables.several = several;
    }

    /// The group of the interval that begins at an instant, of which an event is met.
    pub(super) fn of_interval(&mut self, begin: u64, order: Order) -> u32 {
        let met = self.tables.single.find_instant(begin);
        self.meet(met, order, || Box::new([Value::from(begin)]));
        met.found.number()
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
