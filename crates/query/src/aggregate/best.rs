//! The best value of each group so far, as `min` and `max` have it, and the first event that has it.

use super::state::{States, grow_states};
use crate::allocated::vec_bytes;
use crate::chunk::Order;
use crate::value::{self, Kind, Number, Value, WHOLE_POWERS, compare_few};
use std::cmp::Ordering;

/// A value that may be the best. Numbers of a significand and a scale are held without an allocation.
pub(super) enum Held<'v> {
    Few(i64, u32),
    Value(Value<'v>),
}

impl Held<'_> {
    pub(super) fn is_number(&self) -> bool {
        match self {
            Held::Few(..) => true,
            Held::Value(value) => value.kind() == Kind::Number,
        }
    }

    /// The order of rows.
    pub(super) fn compare(&self, other: &Held<'_>) -> Ordering {
        let few = |significand: &i64, scale: &u32| Value::Number(Number::few(*significand, *scale));
        match (self, other) {
            (Held::Few(a, scale), Held::Few(b, other)) => compare_few((*a, *scale), (*b, *other)),
            (Held::Few(a, scale), Held::Value(b)) => value::order(&few(a, scale), b, false),
            (Held::Value(a), Held::Few(b, scale)) => value::order(a, &few(b, scale), false),
            (Held::Value(a), Held::Value(b)) => value::order(a, b, false),
        }
    }
}

/// The value of a group in so few bytes that those of many groups stay near to the processor.
#[derive(Clone, Copy, Default)]
enum Best {
    #[default]
    Nothing,
    /// A number as a column has it, and with how many digits behind the point it is spelled.
    Number { mantissa: i64, scale: u8, digits: u8 },
    /// The place of another value, and a binary number near to it; not a number where it is none, or that is not told.
    Other { place: u32, estimate: f64 },
    /// The place of a text among the other values, and [how it begins](crate::value::Text::beginning).
    Text { place: u32, beginning: u64 },
}

/// The values of all groups.
#[derive(Default)]
pub(super) struct Bests {
    best: States<Best>,
    /// For each group the first event that has its value: looked at only where values are equal.
    orders: States<Order>,
    others: Vec<Value<'static>>,
    /// Places among the others that no group has any more.
    free: Vec<u32>,
    /// What the others take in memory beside their places, in bytes, and the most that was told of it.
    other_bytes: usize,
    told_bytes: usize,
}

impl Bests {
    /// Makes room for so many groups: by how many bytes it grew.
    pub(super) fn grow(&mut self, groups: usize) -> usize {
        grow_states(&mut self.best, groups) + grow_states(&mut self.orders, groups)
    }

    /// How many groups there are.
    pub(super) fn len(&self) -> usize {
        self.best.len()
    }

    /// The value of a group.
    pub(super) fn get(&self, group: u32) -> Option<(Held<'_>, Order)> {
        let held = match *self.best.get(group as usize)? {
            Best::Nothing => return None,
            Best::Number { mantissa, scale, digits } => {
                let power = WHOLE_POWERS.get(usize::from(scale.saturating_sub(digits)));
                Held::Few(mantissa / power.copied().unwrap_or(1), digits.into())
            }
            Best::Other { place, .. } | Best::Text { place, .. } => {
                Held::Value(self.others.get(place as usize).map_or(Value::Undefined, Value::reborrow))
            }
        };
        Some((held, self.orders.get(group as usize).copied().unwrap_or_default()))
    }

    /// How the number that a group has stands to another one, which has a mantissa and a scale; none where it has another value.
    #[inline]
    pub(super) fn compare(&self, group: u32, number: i64, of: u8) -> Option<Ordering> {
        match self.best.get(group as usize)? {
            Best::Number { mantissa, scale, .. } if *scale == of => Some(mantissa.cmp(&number)),
            Best::Number { mantissa, scale, .. } => {
                Some(compare_few((*mantissa, (*scale).into()), (number, of.into())))
            }
            Best::Nothing | Best::Other { .. } | Best::Text { .. } => None,
        }
    }

    /// How the text that a group has begins; none where it has another value, or that is not told.
    #[inline]
    pub(super) fn beginning(&self, group: u32) -> Option<u64> {
        match self.best.get(group as usize)? {
            Best::Text { beginning, .. } => Some(*beginning),
            Best::Nothing | Best::Number { .. } | Best::Other { .. } => None,
        }
    }

    /// A binary number near to the number that a group has, as [`Accumulators::estimate`](super::state::Accumulators::estimate) has it; not a number where it has
    /// another value.
    #[inline]
    pub(super) fn estimate(&self, group: u32) -> f64 {
        match self.best.get(group as usize) {
            None | Some(Best::Nothing) => f64::NEG_INFINITY,
            Some(Best::Number { mantissa, scale, .. }) => value::estimate(*mantissa, (*scale).into()),
            Some(Best::Other { estimate, .. }) => *estimate,
            Some(Best::Text { .. }) => f64::NAN,
        }
    }

    /// Gives a group a number of a scale, spelled with so many digits behind the point.
    pub(super) fn set_number(&mut self, group: u32, mantissa: i64, scale: u8, digits: u8, order: Order) {
        self.set_best(group, Best::Number { mantissa, scale, digits }, order);
    }

    /// Gives a group a value: by how many bytes it grew, about.
    pub(super) fn set(&mut self, group: u32, value: Held<'_>, order: Order) -> usize {
        let value = match value {
            Held::Few(significand, scale) => {
                // A number has 28 digits behind the point at most.
                let scale = u8::try_from(scale).unwrap_or(u8::MAX);
                self.set_number(group, significand, scale, scale, order);
                return 0;
            }
            Held::Value(value) => value.into_static(),
        };
        let estimate = match &value {
            Value::Number(Number::Decimal(decimal)) => value::estimate_of(*decimal),
            _ => f64::NAN,
        };
        let beginning = match &value {
            Value::Text(text) => text.beginning(),
            _ => None,
        };
        let before = vec_bytes(&self.others);
        self.other_bytes += value.weight();
        // A value takes the place of the one before.
        let own = match self.best.get(group as usize) {
            Some(Best::Other { place, .. } | Best::Text { place, .. }) => Some(*place),
            None | Some(Best::Nothing | Best::Number { .. }) => None,
        };
        let place = own.or_else(|| self.free.pop()).unwrap_or(self.others.len() as u32);
        match self.others.get_mut(place as usize) {
            Some(other) => {
                let before = std::mem::replace(other, value);
                self.other_bytes = self.other_bytes.saturating_sub(before.weight());
            }
            None => self.others.push(value),
        }
        let best = match beginning {
            Some(beginning) => Best::Text { place, beginning },
            None => Best::Other { place, estimate },
        };
        self.put(group, best, order);
        let grown = self.other_bytes.saturating_sub(self.told_bytes);
        self.told_bytes += grown;
        vec_bytes(&self.others) - before + grown
    }

    /// Takes the value of a group out, if it has one.
    pub(super) fn take(&mut self, group: u32) -> Option<(Held<'static>, Order)> {
        let (held, order) = match self.best.get(group as usize)? {
            Best::Other { place, .. } | Best::Text { place, .. } => {
                let other = self.others.get_mut(*place as usize)?;
                let value = std::mem::replace(other, Value::Undefined);
                self.other_bytes = self.other_bytes.saturating_sub(value.weight());
                (Held::Value(value), self.orders.get(group as usize).copied()?)
            }
            Best::Nothing | Best::Number { .. } => match self.get(group)? {
                (Held::Few(significand, scale), order) => (Held::Few(significand, scale), order),
                (Held::Value(_), _) => return None,
            },
        };
        self.set_best(group, Best::Nothing, order);
        Some((held, order))
    }

    fn set_best(&mut self, group: u32, value: Best, order: Order) {
        if let Some(Best::Other { place, .. } | Best::Text { place, .. }) = self.put(group, value, order) {
            self.set_free(place);
        }
    }

    /// Puts a value in the place of that of a group.
    fn put(&mut self, group: u32, value: Best, order: Order) -> Option<Best> {
        if let Some(place) = self.orders.get_mut(group as usize) {
            *place = order;
        }
        self.best.get_mut(group as usize).map(|best| std::mem::replace(best, value))
    }

    /// No group has what is at a place among the others any more.
    #[cold]
    fn set_free(&mut self, place: u32) {
        if let Some(other) = self.others.get_mut(place as usize) {
            let before = std::mem::replace(other, Value::Undefined);
            self.other_bytes = self.other_bytes.saturating_sub(before.weight());
            self.free.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that takes an allocation.
    fn text(number: usize) -> Held<'static> {
        Held::Value(Value::Text(format!("a text of some length, {number:04}").into()))
    }

    #[test]
    fn a_group_whose_best_is_a_number_and_a_text_in_turn_holds_one_of_them() {
        let mut bests = Bests::default();
        let mut grown = bests.grow(3);
        for round in 0..1000 {
            for group in 0..3 {
                grown += bests.set(group, text(round), (1, 2));
                bests.set_number(group, 5, 1, 1, (3, 4));
            }
            grown += bests.set(0, text(round), (1, 2));
            assert!(matches!(bests.take(0), Some((Held::Value(_), (1, 2)))));
        }
        assert!(bests.others.len() <= 3 && grown < 2_000, "{} places, {grown} bytes", bests.others.len());
        assert!(matches!(bests.get(1), Some((Held::Few(5, 1), (3, 4)))) && bests.get(0).is_none());
    }
}
