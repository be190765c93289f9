//! `min(x)` and `max(x)`: the least and the greatest number, in the spelling of the first event that has it.

use super::state::{Accumulators, Aggregate, Groups, Known, each_other, grow};
use crate::chunk::{Chunk, Column, Order};
use crate::expr::Certain;
use crate::value::{Kind, Number, Value, compare_few};
use std::cmp::Ordering;

/// The number at one end of their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extreme<const LEAST: bool>;

pub(crate) type Min = Extreme<true>;
pub(crate) type Max = Extreme<false>;

/// Whether the range of the numbers is told, or there are none.
fn is_range_known(by: &Known<'_>) -> bool {
    match by {
        Known::Constant { .. } => false,
        Known::Absent => true,
        Known::Values { numbers, range, .. } => *numbers == 0 || range.is_some(),
    }
}

impl<const LEAST: bool> Aggregate for Extreme<LEAST> {
    const NAME: &'static str = if LEAST { "min" } else { "max" };
    const TAKES_REPEATED: bool = true;
    type State = Extremes<LEAST>;

    fn with_constants(_: &[f64]) -> Result<Self, (usize, String)> {
        Ok(Extreme)
    }

    fn kind(self, _: Certain) -> Certain {
        Some(Kind::Number)
    }

    fn takes(self, kind: Kind) -> bool {
        kind == Kind::Number
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        is_range_known(by)
    }

    fn state(self) -> Extremes<LEAST> {
        Extremes { best: Vec::new() }
    }
}

pub(crate) struct Extremes<const LEAST: bool> {
    best: Vec<Option<Best>>,
}

/// The best number so far, and the first event that has it.
struct Best {
    number: Held,
    order: Order,
}

/// Numbers of few digits are held without an allocation.
enum Held {
    Few(i64, u32),
    Other(Number<'static>),
}

impl Held {
    fn compare(&self, other: &Held) -> Ordering {
        match (self, other) {
            (Held::Few(a, scale), Held::Few(b, other)) => compare_few((*a, *scale), (*b, *other)),
            (Held::Few(a, scale), Held::Other(b)) => Number::few(*a, *scale).compare(b),
            (Held::Other(a), Held::Few(b, scale)) => a.compare(&Number::few(*b, *scale)),
            (Held::Other(a), Held::Other(b)) => a.compare(b),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Held::Few(..) => 0,
            Held::Other(number) => number.weight(),
        }
    }
}

impl<const LEAST: bool> Extremes<LEAST> {
    /// How a better number stands to the best.
    const WANTED: Ordering = if LEAST { Ordering::Less } else { Ordering::Greater };

    /// By how many bytes it grew, about.
    #[inline]
    fn take(&mut self, group: u32, number: Held, order: Order) -> usize {
        let Some(best) = self.best.get_mut(group as usize) else { return 0 };
        let is_better = best.as_ref().is_none_or(|best| match number.compare(&best.number) {
            Ordering::Equal => order < best.order,
            unequal => unequal == Self::WANTED,
        });
        if !is_better {
            return 0;
        }
        let before = best.as_ref().map_or(0, |best| best.number.weight());
        let grown = number.weight().saturating_sub(before);
        *best = Some(Best { number, order });
        grown
    }

    fn take_number(&mut self, group: u32, number: Number<'_>, order: Order) -> usize {
        self.take(group, Held::Other(number.into_static()), order)
    }
}

impl<const LEAST: bool> Accumulators for Extremes<LEAST> {
    fn grow(&mut self, groups: usize) -> usize {
        grow(&mut self.best, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let mut grown = 0;
        let Column::Numbers(numbers) = column else {
            super::state::each(groups, column, chunk, |group, value, order| {
                grown += self.add(group, value, order, 1);
            });
            return grown;
        };
        match groups {
            Groups::One(group) => {
                // Of equal ones the first counts.
                let best = numbers.few.iter().reduce(|best, next| {
                    let [a, b] = [next, best].map(|few| (few.significand, few.scale));
                    let order = |few: &crate::chunk::FewDigits| chunk.order(few.at as usize);
                    match compare_few(a, b) {
                        Ordering::Equal if order(next) < order(best) => next,
                        unequal if unequal == Self::WANTED => next,
                        _ => best,
                    }
                });
                if let Some(few) = best {
                    let order = chunk.order(few.at as usize);
                    grown += self.take(group, Held::Few(few.significand, few.scale), order);
                }
            }
            Groups::Each(_) => {
                for few in &numbers.few {
                    let (row, number) = (few.at as usize, Held::Few(few.significand, few.scale));
                    grown += self.take(groups.of(row), number, chunk.order(row));
                }
            }
        }
        each_other(groups, &numbers.others, chunk, |group, number, order| {
            grown += self.take_number(group, number, order);
        });
        grown
    }

    fn add(&mut self, group: u32, value: Value<'_>, order: Order, _: u64) -> usize {
        match value {
            Value::Number(number) => self.take_number(group, number, order),
            _ => 0,
        }
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        let Known::Values { range: Some((least, greatest)), range_orders, .. } = by else { return 0 };
        let (extreme, order) = if LEAST { (least, range_orders.0) } else { (greatest, range_orders.1) };
        self.take_number(group, Number::Stored(extreme.text), order)
    }

    fn merge(&mut self, other: Self, group_of: &[u32]) -> usize {
        let each = group_of.iter().zip(other.best);
        each.filter_map(|(group, best)| Some((group, best?)))
            .map(|(group, Best { number, order })| self.take(*group, number, order))
            .sum()
    }

    fn finish(&mut self, group: u32) -> Value<'static> {
        let best = self.best.get_mut(group as usize).and_then(Option::take);
        Value::from_option(best.map(|best| match best.number {
            Held::Few(significand, scale) => Number::few(significand, scale),
            Held::Other(number) => number,
        }))
    }
}
