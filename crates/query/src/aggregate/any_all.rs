//! `any(x)` and `all(x)`: whether some value is true, and whether every one is. Missing values count for neither.

use super::state::{Accumulators, Aggregate, Groups, Known, grow};
use crate::chunk::{Chunk, Column, Order, value_of};
use crate::expr::Certain;
use crate::value::{Kind, Value};

/// Whether a value is met that is true, or one that is not: the answer is `WANTED` if one was, and else the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Truth<const WANTED: bool>;

pub(crate) type Any = Truth<true>;
pub(crate) type All = Truth<false>;

impl<const WANTED: bool> Aggregate for Truth<WANTED> {
    const NAME: &'static str = if WANTED { "any" } else { "all" };
    const TAKES_REPEATED: bool = true;
    const DEPENDS_ON_ORDER: bool = false;
    type State = Flags<WANTED>;

    fn with_constants(_: &[f64]) -> Result<Self, (usize, String)> {
        Ok(Truth)
    }

    fn kind(self, _: Certain) -> Certain {
        Some(Kind::Boolean)
    }

    fn takes(self, kind: Kind) -> bool {
        kind != Kind::Undefined
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        by.has_each()
    }

    fn state(self) -> Flags<WANTED> {
        Flags { met: Vec::new() }
    }
}

/// Whether such a value was met.
pub(crate) struct Flags<const WANTED: bool> {
    met: Vec<bool>,
}

impl<const WANTED: bool> Accumulators for Flags<WANTED> {
    fn grow(&mut self, groups: usize) -> usize {
        grow(&mut self.met, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let Column::Entries(entries) = column else {
            super::state::each(groups, column, chunk, value_of, |group, value, order| {
                self.add(group, value, order, 1);
            });
            return 0;
        };
        let meets = entries.by_row(|json| !json.is_empty() && (json == b"true") == WANTED);
        for (row, _) in meets.enumerate().filter(|(_, meets)| *meets) {
            if let Some(met) = self.met.get_mut(groups.of(row) as usize) {
                *met = true;
            }
        }
        0
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, _: u64) -> usize {
        if let Some(met) = self.met.get_mut(group as usize) {
            *met |= !value.is_undefined() && value.is_true() == WANTED;
        }
        0
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        by.for_each(|value, order| {
            self.add(group, value, order, 1);
        });
        0
    }

    fn merge(&mut self, other: Self, group_of: &[u32]) -> usize {
        for (group, other) in group_of.iter().zip(other.met) {
            if let Some(met) = self.met.get_mut(*group as usize) {
                *met |= other;
            }
        }
        0
    }

    fn finish(&self, group: u32) -> Value<'_> {
        let met = self.met.get(group as usize).copied().unwrap_or_default();
        Value::Bool(met == WANTED)
    }
}
