//! `distinct(x)`: each value once, in the order in which they first come.

use super::state::{Accumulators, Aggregate, Groups, Known, each_json, grow};
use crate::chunk::{Chunk, Column, Order};
use crate::expr::Certain;
use crate::key_table::{Found, KeyTable, Spelling};
use crate::value::{Kind, Value, json, parse};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Distinct;

impl Aggregate for Distinct {
    const NAME: &'static str = "distinct";
    const GIVES_ROWS: bool = true;
    const TAKES_REPEATED: bool = true;
    type State = DistinctValues;

    fn with_constants(_: &[f64]) -> Result<Distinct, (usize, String)> {
        Ok(Distinct)
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

    fn state(self) -> DistinctValues {
        DistinctValues::default()
    }
}

#[derive(Default)]
pub(crate) struct DistinctValues {
    /// For each group its values.
    groups: Vec<Vec<u32>>,
    /// The values of all groups, by their numbers in the table.
    values: Vec<First>,
    table: KeyTable,
    /// No value was first seen later.
    latest: Order,
    added: u64,
}

/// A value in the spelling of the first event that has it. The count tells values of one event apart.
struct First {
    at: (Order, u64),
    json: Box<[u8]>,
}

/// What a value costs beside its text, about.
const VALUE_BYTES: usize = size_of::<First>() + 2 * size_of::<u32>();

impl DistinctValues {
    /// By how many bytes the values grew, beside the table.
    #[inline]
    fn take(&mut self, group: u32, json: &[u8], order: Order) -> usize {
        if json.is_empty() {
            return 0;
        }
        let found = self.table.find(group, Spelling::Value { json, ci: false });
        match found {
            // Nothing that is known was first seen later.
            Found::Known(_) if order >= self.latest => 0,
            found => {
                self.added += 1;
                let at = (order, self.added);
                self.meet(group, found, at, json)
            }
        }
    }

    fn meet(&mut self, group: u32, found: Found, at: (Order, u64), json: &[u8]) -> usize {
        match found {
            Found::Known(number) => {
                if let Some(first) = self.values.get_mut(number as usize)
                    && at < first.at
                {
                    *first = First { at, json: json.into() };
                }
                0
            }
            Found::New(number) => {
                self.latest = self.latest.max(at.0);
                self.values.push(First { at, json: json.into() });
                if let Some(values) = self.groups.get_mut(group as usize) {
                    values.push(number);
                }
                json.len() + VALUE_BYTES
            }
        }
    }
}

impl Accumulators for DistinctValues {
    fn grow(&mut self, groups: usize) -> usize {
        grow(&mut self.groups, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let before = self.table.bytes();
        let mut grown = 0;
        each_json(groups, column, chunk, |group, json, order| grown += self.take(group, json, order));
        grown + self.table.bytes() - before
    }

    fn add(&mut self, group: u32, value: Value<'_>, order: Order, _: u64) -> usize {
        let before = self.table.bytes();
        let grown = json(&value).map_or(0, |json| self.take(group, &json, order));
        grown + self.table.bytes() - before
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        let mut grown = 0;
        by.for_each(|value, order| grown += self.add(group, value, order, 1));
        grown
    }

    fn merge(&mut self, other: DistinctValues, group_of: &[u32]) -> usize {
        let before = self.table.bytes();
        let owner_of = |group: u32| group_of.get(group as usize).copied().unwrap_or_default();
        let mut table = std::mem::take(&mut self.table);
        let mut grown = 0;
        table.merge(&other.table, owner_of, |owner, number, found| {
            if let Some(first) = other.values.get(number as usize) {
                grown += self.meet(owner, found, first.at, &first.json);
            }
        });
        self.table = table;
        self.latest = self.latest.max(other.latest);
        grown + self.table.bytes() - before
    }

    fn is_settled(&self, wanted: usize) -> bool {
        self.groups.first().is_some_and(|values| values.len() >= wanted)
    }

    fn finish(&mut self, _: u32) -> Value<'static> {
        Value::Undefined
    }

    fn rows(&mut self, group: u32) -> Vec<Value<'static>> {
        let numbers = self.groups.get_mut(group as usize).map(std::mem::take).unwrap_or_default();
        let mut firsts: Vec<&First> =
            numbers.iter().filter_map(|number| self.values.get(*number as usize)).collect();
        firsts.sort_by_key(|first| first.at);
        firsts.into_iter().map(|first| parse(&first.json)).collect()
    }
}
