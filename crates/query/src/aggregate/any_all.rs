//! `any(x)` and `all(x)`: whether some value is true, and whether every one is. Missing values count for neither.

use super::state::{Accumulators, Aggregate, Known, grow};
use crate::chunk::Order;
use crate::expr::Certain;
use crate::value::{Kind, Value};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Any;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct All;

impl Aggregate for Any {
    const NAME: &'static str = "any";
    const TAKES_REPEATED: bool = true;
    type State = Flags;

    fn with_constants(_: &[f64]) -> Result<Any, (usize, String)> {
        Ok(Any)
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

    fn state(self) -> Flags {
        Flags { wanted: true, met: Vec::new() }
    }
}

impl Aggregate for All {
    const NAME: &'static str = "all";
    const TAKES_REPEATED: bool = true;
    type State = Flags;

    fn with_constants(_: &[f64]) -> Result<All, (usize, String)> {
        Ok(All)
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

    fn state(self) -> Flags {
        Flags { wanted: false, met: Vec::new() }
    }
}

pub(crate) struct Flags {
    /// Whether a value is looked for that is true, or one that is not. The answer is this if one was met, and else the other.
    wanted: bool,
    met: Vec<bool>,
}

impl Accumulators for Flags {
    fn grow(&mut self, groups: usize) -> usize {
        grow(&mut self.met, groups)
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, _: u64) -> usize {
        if let Some(met) = self.met.get_mut(group as usize) {
            *met |= !value.is_undefined() && value.is_true() == self.wanted;
        }
        0
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        by.for_each(|value, order| {
            self.add(group, value, order, 1);
        });
        0
    }

    fn merge(&mut self, other: Flags, group_of: &[u32]) -> usize {
        for (group, other) in group_of.iter().zip(other.met) {
            if let Some(met) = self.met.get_mut(*group as usize) {
                *met |= other;
            }
        }
        0
    }

    fn finish(&mut self, group: u32) -> Value<'static> {
        let met = self.met.get(group as usize).copied().unwrap_or_default();
        Value::Bool(met == self.wanted)
    }
}
