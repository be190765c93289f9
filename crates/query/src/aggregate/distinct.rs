//! `distinct(x)`: each value once, in the order in which they first come.

use super::state::{Accumulators, Aggregate, Groups, Known, States, each_distinct, grow_states};
use crate::allocated::{ALLOCATION_BYTES, vec_bytes};
use crate::chunk::{Chunk, Column, Order};
use crate::expr::Certain;
use crate::key_table::{Found, KeyTable};
use crate::value::{Kind, Value, json, parse};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Distinct;

impl Aggregate for Distinct {
    const NAME: &'static str = "distinct";
    const GIVES_ROWS: bool = true;
    const TAKES_REPEATED: bool = true;
    const DEPENDS_ON_ORDER: bool = true;
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
    groups: States<Vec<u32>>,
    /// The values of all groups, by their numbers in the table.
    values: Vec<First>,
    table: KeyTable,
    /// What the texts of the values take, and their numbers in the groups, in bytes, about.
    listed_bytes: usize,
    /// No value was first seen later.
    latest: Order,
    added: u64,
    seen: Vec<bool>,
}

/// A value in the spelling of the first event that has it. The count tells values of one event apart.
struct First {
    at: (Order, u64),
    json: Box<[u8]>,
}

/// What a value takes beside its text, about: another allocation, and its number in a list that may have just grown.
const LISTED_BYTES: usize = ALLOCATION_BYTES + 2 * size_of::<u32>();

impl DistinctValues {
    /// What the values take, in bytes. It never becomes less.
    fn bytes(&self) -> usize {
        self.table.bytes() + vec_bytes(&self.values) + self.listed_bytes
    }

    #[inline]
    fn take(&mut self, group: u32, json: &[u8], order: Order) {
        if json.is_empty() {
            return;
        }
        let found = self.table.find(group, json, false);
        match found {
            // Nothing that is known was first seen later.
            Found::Known(_) if order >= self.latest => {}
            found => {
                self.added += 1;
                let at = (order, self.added);
                self.meet(group, found, at, json)
            }
        }
    }

    fn meet(&mut self, group: u32, found: Found, at: (Order, u64), json: &[u8]) {
        match found {
            Found::Known(number) => {
                if let Some(first) = self.values.get_mut(number as usize)
                    && at < first.at
                {
                    self.listed_bytes += json.len().saturating_sub(first.json.len());
                    *first = First { at, json: json.into() };
                }
            }
            Found::New(number) => {
                self.latest = self.latest.max(at.0);
                self.values.push(First { at, json: json.into() });
                if let Some(values) = self.groups.get_mut(group as usize) {
                    values.push(number);
                }
                self.listed_bytes += json.len() + LISTED_BYTES;
            }
        }
    }
}

impl Accumulators for DistinctValues {
    fn grow(&mut self, groups: usize) -> usize {
        grow_states(&mut self.groups, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let before = self.bytes();
        let mut seen = std::mem::take(&mut self.seen);
        let take = |group: u32, json: &[u8], order| self.take(group, json, order);
        each_distinct(groups, column, chunk, &mut seen, take);
        self.seen = seen;
        self.bytes() - before
    }

    fn add(&mut self, group: u32, value: Value<'_>, order: Order, _: u64) -> usize {
        let before = self.bytes();
        if let Some(json) = json(&value) {
            self.take(group, &json, order);
        }
        self.bytes() - before
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        let mut grown = 0;
        by.for_each(|value, order| grown += self.add(group, value, order, 1));
        grown
    }

    fn merge(&mut self, other: DistinctValues, group_of: &[u32]) -> usize {
        let before = self.bytes();
        let owner_of = |group: u32| group_of.get(group as usize).copied().unwrap_or_default();
        let mut table = std::mem::take(&mut self.table);
        table.merge(&other.table, owner_of, |owner, number, found| {
            if let Some(first) = other.values.get(number as usize) {
                self.meet(owner, found, first.at, &first.json);
            }
        });
        self.table = table;
        self.latest = self.latest.max(other.latest);
        self.bytes() - before
    }

    fn is_settled(&self, wanted: usize) -> bool {
        self.groups.get(0).is_some_and(|values| values.len() >= wanted)
    }

    fn finish(&self, _: u32) -> Value<'_> {
        Value::Undefined
    }

    fn rows(&self, group: u32) -> Box<dyn Iterator<Item = Value<'static>> + '_> {
        let numbers = self.groups.get(group as usize);
        let mut firsts: Vec<&First> =
            numbers.into_iter().flatten().filter_map(|number| self.values.get(*number as usize)).collect();
        firsts.sort_by_key(|first| first.at);
        Box::new(firsts.into_iter().map(|first| parse(&first.json)))
    }
}
