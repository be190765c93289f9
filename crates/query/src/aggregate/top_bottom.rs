//! `top(x, n)` and `bottom(x, n)`: the first and the last so many values in time.

use super::state::{Accumulators, Aggregate, Known, Most, Parameter, States};
use crate::chunk::Order;
use crate::expr::Certain;
use crate::value::{Kind, Value};
use std::collections::BTreeMap;

/// So many values, counted from one end of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Several<const FIRST: bool>(usize);

pub(crate) type Top = Several<true>;
pub(crate) type Bottom = Several<false>;

/// The most values that are given.
const VALUES_MAX: usize = 1_000_000;

impl<const FIRST: bool> Aggregate for Several<FIRST> {
    const NAME: &'static str = if FIRST { "top" } else { "bottom" };
    const PARAMETERS: &'static [Parameter] = &[Parameter { what: "the number of values", default: None }];
    const GIVES_ROWS: bool = true;
    const TAKES_REPEATED: bool = false;
    const DEPENDS_ON_ORDER: bool = true;
    type State = Kept<FIRST>;

    fn with_constants(constants: &[f64]) -> Result<Self, (usize, String)> {
        match constants {
            [count] if count.fract() == 0.0 && (0.0..=VALUES_MAX as f64).contains(count) => {
                Ok(Several(*count as usize))
            }
            _ => Err((0, format!("the number of values is a whole number up to {VALUES_MAX}"))),
        }
    }

    fn constants(self) -> Vec<String> {
        vec![self.0.to_string()]
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

    fn state(self) -> Kept<FIRST> {
        Kept { most: self.0, groups: States::default(), added: 0 }
    }
}

pub(crate) struct Kept<const FIRST: bool> {
    most: usize,
    groups: States<Values<FIRST>>,
    /// Tells values of one event apart.
    added: u64,
}

/// The values of a group, by their places in time.
#[derive(Default)]
struct Values<const FIRST: bool> {
    kept: BTreeMap<(Order, u64), Value<'static>>,
    /// What they take, about, in bytes.
    bytes: usize,
    most: Most,
}

/// What an entry of a map costs beside its value, about.
const ENTRY_BYTES: usize = 128;

impl<const FIRST: bool> Values<FIRST> {
    /// Whether a value at this place in time is not among those that are kept.
    fn is_late(&self, most: usize, order: Order) -> bool {
        self.kept.len() >= most
            && if FIRST {
                self.kept.last_key_value().is_none_or(|((last, _), _)| order > *last)
            } else {
                self.kept.first_key_value().is_none_or(|((first, _), _)| order < *first)
            }
    }

    fn cut(&mut self, most: usize) {
        while self.kept.len() > most {
            let dropped = if FIRST { self.kept.pop_last() } else { self.kept.pop_first() };
            let dropped = dropped.map_or(0, |(_, value)| value.weight() + ENTRY_BYTES);
            self.bytes = self.bytes.saturating_sub(dropped);
        }
    }
}

impl<const FIRST: bool> Accumulators for Kept<FIRST> {
    fn grow(&mut self, groups: usize) -> usize {
        super::state::grow_states(&mut self.groups, groups)
    }

    fn add(&mut self, group: u32, value: Value<'_>, order: Order, _: u64) -> usize {
        let Kept { most, groups, added } = self;
        let Some(values) = groups.get_mut(group as usize) else { return 0 };
        if value.is_undefined() || *most == 0 || values.is_late(*most, order) {
            return 0;
        }
        let value = value.into_static();
        values.bytes += value.weight() + ENTRY_BYTES;
        values.kept.insert((order, *added), value);
        *added += 1;
        values.cut(*most);
        values.most.grown(values.bytes)
    }

    fn answer(&mut self, _: u32, _: &Known<'_>) -> usize {
        // There is no value.
        0
    }

    fn merge(&mut self, other: Self, group_of: &[u32]) -> usize {
        let mut grown = 0;
        for (group, other) in group_of.iter().zip(other.groups) {
            if let Some(values) = self.groups.get_mut(*group as usize) {
                values.bytes += other.bytes;
                values.kept.extend(other.kept);
                values.cut(self.most);
                grown += values.most.grown(values.bytes);
            }
        }
        grown
    }

    fn is_settled(&self, wanted: usize) -> bool {
        FIRST && self.groups.get(0).is_some_and(|values| values.kept.len() >= wanted.min(self.most))
    }

    fn finish(&self, _: u32) -> Value<'_> {
        Value::Undefined
    }

    fn rows(&self, group: u32) -> Box<dyn Iterator<Item = Value<'static>> + '_> {
        let values = self.groups.get(group as usize);
        Box::new(values.into_iter().flat_map(|values| values.kept.values().cloned()))
    }
}
