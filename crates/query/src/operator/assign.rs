//! The group of each row of a chunk, by its keys.

use super::group::Groups;
use super::shown::Shown;
use crate::chunk::{CellText, Chunk, Column, Entries, Order, value_of};
use crate::key_table::{Found, Parts, Spelling};
use crate::outputs::KeyColumn;
use crate::value::Value;
use crate::zone::Intervals;

impl Groups<'_> {
    /// Finds the group of each row.
    pub(super) fn assign(&mut self, chunk: &Chunk<'_>, numbers: &mut Vec<u32>) {
        let keys = std::mem::take(&mut self.keys);
        match keys.as_slice() {
            [] => {}
            [KeyColumn::Time(intervals)] => self.assign_by_time(chunk, intervals, numbers),
            [KeyColumn::Value { column, ci }] => self.assign_by_value(chunk, *column, *ci, numbers),
            keys => self.assign_by_parts(chunk, keys, numbers),
        }
        self.keys = keys;
    }

    fn assign_by_time(&mut self, chunk: &Chunk<'_>, intervals: &Intervals, numbers: &mut Vec<u32>) {
        let mut orders = chunk.orders();
        // Most rows come in the order of time, so that those of an interval stand together.
        while let Some(first) = orders.first() {
            let interval = intervals.around(first.0);
            let number = self.of_interval(interval.start, *first);
            let is_in = |order: &Order| *order >= *first && interval.contains(&order.0);
            let run = orders.iter().position(|order| !is_in(order)).unwrap_or(orders.len()).max(1);
            numbers.extend(std::iter::repeat_n(number, run));
            orders = orders.get(run..).unwrap_or_default();
        }
    }

    fn assign_by_value(&mut self, chunk: &Chunk<'_>, column: usize, ci: bool, numbers: &mut Vec<u32>) {
        let orders = chunk.orders();
        // If the rows come in the order of time, and the first of them is no group's first, then neither are others.
        let is_sorted = orders.is_sorted();
        let are_later = is_sorted && orders.first().is_some_and(|first| *first >= self.latest);
        match chunk.column(column) {
            Column::Values(cells) => {
                let mut known = std::mem::take(&mut self.known);
                known.clear();
                // Where no row is a known group's first, those that are known need not be met.
                if are_later {
                    self.table.look_ahead(0, cells.iter().map(|cell| chunk.json(*cell)), &mut known);
                }
                known.resize(cells.len(), 0);
                let mut absent = None;
                for ((row, cell), known) in cells.iter().enumerate().zip(&known) {
                    let absent_too = absent.filter(|_| *cell == CellText::Undefined);
                    let number = known
                        .checked_sub(1)
                        .or(absent_too)
                        .unwrap_or_else(|| self.of_value(chunk.json(*cell), ci, chunk.order(row), are_later));
                    if are_later && *cell == CellText::Undefined {
                        absent = Some(number);
                    }
                    numbers.push(number);
                }
                self.known = known;
            }
            Column::Entries(Entries { dictionary, codes, .. }) => {
                let mut known = std::mem::take(&mut self.known);
                known.clear();
                // Where no row is a known group's first, those that are known need not be met.
                if are_later && dictionary.len() <= codes.len() {
                    let texts = (0..dictionary.len() as u32).map(|code| dictionary.get(code));
                    self.table.look_ahead(0, texts, &mut known);
                }
                known.resize(dictionary.len(), 0);
                if !known.is_empty() && !known.contains(&0) {
                    let number = |code: &u32| known.get(*code as usize).map_or(0, |known| known - 1);
                    numbers.extend(codes.iter().map(number));
                    self.known = known;
                    return;
                }
                for (row, code) in codes.iter().enumerate() {
                    // Of rows in the order of time that share an entry, the first is all that its group may not know.
                    let number = known.get(*code as usize).and_then(|known| known.checked_sub(1));
                    numbers.push(number.unwrap_or_else(|| {
                        let number = self.of_value(dictionary.get(*code), ci, chunk.order(row), are_later);
                        if let Some(known) = known.get_mut(*code as usize).filter(|_| is_sorted) {
                            *known = number.saturating_add(1);
                        }
                        number
                    }));
                }
                self.known = known;
            }
            Column::Nothing | Column::Numbers(_) | Column::Mantissas(_) | Column::Decimals(_) => {}
        }
    }

    /// The group of a value as JSON text, of which an event is met.
    fn of_value(&mut self, json: &[u8], ci: bool, order: Order, is_later: bool) -> u32 {
        let found = self.table.find(0, Spelling::Value { json, ci });
        match found {
            Found::New(_) => self.begin(order, Shown::Spelled(self.table.last_spelling())),
            Found::Known(_) if is_later => {}
            Found::Known(_) => self.meet(found, order, || Box::new([value_of(json).into_static()])),
        }
        found.number()
    }

    fn assign_by_parts(&mut self, chunk: &Chunk<'_>, keys: &[KeyColumn], numbers: &mut Vec<u32>) {
        if self.assign_met(chunk, keys, numbers) {
            return;
        }
        let (mut combined, mut parts) = (std::mem::take(&mut self.combined), std::mem::take(&mut self.parts));
        let is_combined = combined.begin(chunk, keys);
        let intervals = keys.iter().find_map(|key| match key {
            KeyColumn::Time(intervals) => Some(intervals),
            KeyColumn::Value { .. } => None,
        });
        let mut interval = 0..0;
        for (row, order) in chunk.orders().iter().enumerate() {
            if let Some(group) = combined.group(row).filter(|_| is_combined) {
                numbers.push(group);
                continue;
            }
            if let Some(intervals) = intervals.filter(|_| !interval.contains(&order.0)) {
                interval = intervals.around(order.0);
            }
            let group = self.of_parts(chunk, keys, row, interval.start, &mut parts);
            if is_combined {
                combined.set(row, group);
            }
            numbers.push(group);
        }
        (self.combined, self.parts) = (combined, parts);
    }

    /// Finds the groups by the combinations that were met before, where no row is a known group's first: whether that could be done.
    fn assign_met(&mut self, chunk: &Chunk<'_>, keys: &[KeyColumn], numbers: &mut Vec<u32>) -> bool {
        let orders = chunk.orders();
        let are_later = orders.is_sorted() && orders.first().is_some_and(|first| *first >= self.latest);
        let mut met = std::mem::take(&mut self.met);
        let can = are_later && met.begin(chunk, keys);
        if can {
            let mut parts = std::mem::take(&mut self.parts);
            let begin_of = |order: &Order| {
                keys.iter().find_map(|key| match key {
                    KeyColumn::Time(intervals) => Some(intervals.around(order.0).start),
                    KeyColumn::Value { .. } => None,
                })
            };
            for (row, order) in orders.iter().enumerate() {
                let group = met.group(row).unwrap_or_else(|| {
                    let begin = begin_of(order).unwrap_or_default();
                    let group = self.of_parts(chunk, keys, row, begin, &mut parts);
                    met.set(row, group);
                    group
                });
                numbers.push(group);
            }
            self.parts = parts;
        }
        self.met = met;
        can
    }

    /// The group of a row by its keys, of which times are those of an interval.
    fn of_parts(
        &mut self,
        chunk: &Chunk<'_>,
        keys: &[KeyColumn],
        row: usize,
        begin: u64,
        parts: &mut Parts,
    ) -> u32 {
        parts.clear();
        for key in keys {
            match key {
                KeyColumn::Time(_) => parts.push_number(begin),
                KeyColumn::Value { column, ci } => parts.push_value(chunk.json_at(*column, row), *ci),
            }
        }
        let found = self.table.find(0, Spelling::Parts(parts));
        self.meet(found, chunk.order(row), || {
            let shown = keys.iter().map(|key| match key {
                KeyColumn::Time(_) => Value::from(begin),
                KeyColumn::Value { column, .. } => value_of(chunk.json_at(*column, row)).into_static(),
            });
            shown.collect()
        });
        found.number()
    }

    /// The group of the interval that begins at an instant, of which an event is met.
    pub(super) fn of_interval(&mut self, begin: u64, order: Order) -> u32 {
        self.parts.clear();
        self.parts.push_number(begin);
        let found = self.table.find(0, Spelling::Parts(&self.parts));
        self.meet(found, order, || Box::new([Value::from(begin)]));
        found.number()
    }
}
