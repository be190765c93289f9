//! `first(x)` and `last(x)`: the value of the earliest and of the latest event that has one.

use super::state::{Accumulators, Aggregate, Groups, Known, grow};
use crate::chunk::{Chunk, Column, Order};
use crate::expr::Certain;
use crate::value::{Kind, Value, parse, write_json};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct First;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Last;

impl Aggregate for First {
    const NAME: &'static str = "first";
    const TAKES_REPEATED: bool = true;
    type State = Ends;

    fn with_constants(_: &[f64]) -> Result<First, (usize, String)> {
        Ok(First)
    }

    fn kind(self, argument: Certain) -> Certain {
        argument
    }

    fn takes(self, kind: Kind) -> bool {
        kind != Kind::Undefined
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        by.has_each()
    }

    fn state(self) -> Ends {
        Ends { is_first: true, ends: Vec::new(), scratch: Vec::new() }
    }
}

impl Aggregate for Last {
    const NAME: &'static str = "last";
    // Of several events with one value only the first is told, where statistics tell of them.
    const TAKES_REPEATED: bool = false;
    type State = Ends;

    fn with_constants(_: &[f64]) -> Result<Last, (usize, String)> {
        Ok(Last)
    }

    fn kind(self, argument: Certain) -> Certain {
        argument
    }

    fn takes(self, kind: Kind) -> bool {
        kind != Kind::Undefined
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        matches!(by, Known::Absent)
    }

    fn state(self) -> Ends {
        Ends { is_first: false, ends: Vec::new(), scratch: Vec::new() }
    }
}

pub(crate) struct Ends {
    is_first: bool,
    ends: Vec<Option<End>>,
    scratch: Vec<u8>,
}

/// The value as JSON text, in an allocation that stays, and its event.
struct End {
    order: Order,
    json: Vec<u8>,
}

impl Ends {
    fn take(&mut self, group: u32, json: &[u8], order: Order) -> usize {
        let is_first = self.is_first;
        let Some(end) = self.ends.get_mut(group as usize).filter(|_| !json.is_empty()) else { return 0 };
        match end {
            None => {
                *end = Some(End { order, json: json.to_vec() });
                json.len()
            }
            // Of several values of one event the first, and the last.
            Some(end) if (is_first && order < end.order) || (!is_first && order >= end.order) => {
                let before = end.json.capacity();
                end.order = order;
                end.json.clear();
                end.json.extend_from_slice(json);
                end.json.capacity() - before
            }
            Some(_) => 0,
        }
    }
}

impl Accumulators for Ends {
    fn grow(&mut self, groups: usize) -> usize {
        grow(&mut self.ends, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let mut grown = 0;
        match column {
            Column::Values(cells) => {
                for (row, cell) in cells.iter().enumerate() {
                    grown += self.take(groups.of(row), chunk.json(*cell), chunk.order(row));
                }
            }
            Column::Nothing | Column::Numbers(_) => {
                super::state::each(groups, column, chunk, |group, value, order| {
                    grown += self.add(group, value, order, 1);
                });
            }
        }
        grown
    }

    fn add(&mut self, group: u32, value: Value<'_>, order: Order, _: u64) -> usize {
        let mut json = std::mem::take(&mut self.scratch);
        json.clear();
        write_json(&value, &mut json);
        let grown = self.take(group, &json, order);
        self.scratch = json;
        grown
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        let mut grown = 0;
        by.for_each(|value, order| grown += self.add(group, value, order, 1));
        grown
    }

    fn merge(&mut self, other: Ends, group_of: &[u32]) -> usize {
        let each = group_of.iter().zip(other.ends);
        each.filter_map(|(group, end)| Some((group, end?)))
            .map(|(group, end)| self.take(*group, &end.json, end.order))
            .sum()
    }

    fn finish(&mut self, group: u32) -> Value<'static> {
        let end = self.ends.get_mut(group as usize).and_then(Option::take);
        end.map_or(Value::Undefined, |end| parse(&end.json))
    }
}
