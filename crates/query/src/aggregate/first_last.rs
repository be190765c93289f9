//! `first(x)` and `last(x)`: the value of the earliest and of the latest event that has one.

use super::state::{Accumulators, Aggregate, Groups, Known, States, each_json, grow_states};
use crate::allocated::ALLOCATION_BYTES;
use crate::chunk::{Chunk, Column, Order};
use crate::expr::Certain;
use crate::value::{Kind, Value, json, parse};
use smallvec::SmallVec;

/// The value of the event at one end of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AtEnd<const FIRST: bool>;

pub(crate) type First = AtEnd<true>;
pub(crate) type Last = AtEnd<false>;

impl<const FIRST: bool> Aggregate for AtEnd<FIRST> {
    const NAME: &'static str = if FIRST { "first" } else { "last" };
    // Of several events with one value only the first is told, where statistics tell of them.
    const TAKES_REPEATED: bool = FIRST;
    const DEPENDS_ON_ORDER: bool = true;
    type State = Ends<FIRST>;

    fn with_constants(_: &[f64]) -> Result<Self, (usize, String)> {
        Ok(AtEnd)
    }

    fn kind(self, argument: Certain) -> Certain {
        argument
    }

    fn takes(self, kind: Kind) -> bool {
        kind != Kind::Undefined
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        if FIRST { by.has_each() } else { matches!(by, Known::Absent) }
    }

    fn state(self) -> Ends<FIRST> {
        Ends { ends: States::default(), seen: Vec::new() }
    }
}

pub(crate) struct Ends<const FIRST: bool> {
    ends: States<Option<End>>,
    /// The groups that have been met in a column.
    seen: Vec<bool>,
}

/// The value as JSON text, and its event.
struct End {
    order: Order,
    json: Json,
}

/// Most values are short, and take no allocation.
type Json = SmallVec<[u8; 24]>;

/// What it takes beside itself, in bytes.
fn beside(json: &Json) -> usize {
    if json.spilled() { json.capacity() + ALLOCATION_BYTES } else { 0 }
}

impl<const FIRST: bool> Ends<FIRST> {
    fn take(&mut self, group: u32, json: &[u8], order: Order) -> usize {
        let Some(end) = self.ends.get_mut(group as usize).filter(|_| !json.is_empty()) else { return 0 };
        match end {
            None => {
                let json = Json::from_slice(json);
                let grown = beside(&json);
                *end = Some(End { order, json });
                grown
            }
            // Of several values of one event the first, and the last.
            Some(end) if if FIRST { order < end.order } else { order >= end.order } => {
                let before = beside(&end.json);
                end.order = order;
                end.json.clear();
                end.json.extend_from_slice(json);
                beside(&end.json) - before
            }
            Some(_) => 0,
        }
    }
}

impl<const FIRST: bool> Accumulators for Ends<FIRST> {
    fn grow(&mut self, groups: usize) -> usize {
        grow_states(&mut self.ends, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let mut grown = 0;
        let entries = match column {
            Column::Entries(entries) if chunk.orders().is_sorted() => entries,
            _ => {
                each_json(groups, column, chunk, |group, json, order| grown += self.take(group, json, order));
                return grown;
            }
        };
        // In the order of time the first value of each group that is met, from the end that is wanted, is the only one that counts.
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        seen.resize(self.ends.len(), false);
        let mut left = seen.len();
        let mut meet = |row: usize, code: u32| {
            let group = groups.of(row);
            let Some(seen) = seen.get_mut(group as usize).filter(|seen| !**seen) else { return true };
            let json = entries.dictionary.get(code);
            if !json.is_empty() {
                (*seen, left) = (true, left - 1);
                grown += self.take(group, json, chunk.order(row));
            }
            left > 0
        };
        let mut rows = entries.codes.iter().copied().enumerate();
        match FIRST {
            true => rows.all(|(row, code)| meet(row, code)),
            false => rows.rev().all(|(row, code)| meet(row, code)),
        };
        self.seen = seen;
        grown
    }

    fn add(&mut self, group: u32, value: Value<'_>, order: Order, _: u64) -> usize {
        json(&value).map_or(0, |json| self.take(group, &json, order))
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        let mut grown = 0;
        by.for_each(|value, order| grown += self.add(group, value, order, 1));
        grown
    }

    fn merge(&mut self, other: Self, group_of: &[u32]) -> usize {
        let each = group_of.iter().zip(other.ends);
        each.filter_map(|(group, end)| Some((group, end?)))
            .map(|(group, end)| self.take(*group, &end.json, end.order))
            .sum()
    }

    fn finish(&self, group: u32) -> Value<'_> {
        let end = self.ends.get(group as usize).and_then(Option::as_ref);
        end.map_or(Value::Undefined, |end| parse(&end.json))
    }
}
