//! `sum(x)` and `mean(x)`: of all numbers, never rounded before the end. Other values do not count.

use super::exact::ExactSum;
use super::state::{Accumulators, Aggregate, Groups, Known, each_other, grow};
use crate::chunk::{Chunk, Column, Order};
use crate::expr::Certain;
use crate::value::{Kind, Value};
use rust_decimal::Decimal;

/// What is made of a sum: itself, or its share of the count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Total<const MEAN: bool>;

pub(crate) type Sum = Total<false>;
pub(crate) type Mean = Total<true>;

/// Whether the sum of the numbers is told, or there are none.
fn is_sum_known(by: &Known<'_>) -> bool {
    match by {
        Known::Constant { .. } => false,
        Known::Absent => true,
        Known::Values { numbers, sum, .. } => *numbers == 0 || sum.is_some(),
    }
}

impl<const MEAN: bool> Aggregate for Total<MEAN> {
    const NAME: &'static str = if MEAN { "mean" } else { "sum" };
    const TAKES_REPEATED: bool = false;
    type State = Sums<MEAN>;

    fn with_constants(_: &[f64]) -> Result<Self, (usize, String)> {
        Ok(Total)
    }

    fn kind(self, _: Certain) -> Certain {
        Some(Kind::Number)
    }

    fn takes(self, kind: Kind) -> bool {
        kind == Kind::Number
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        is_sum_known(by)
    }

    fn state(self) -> Sums<MEAN> {
        Sums { sums: Vec::new() }
    }
}

fn mean(sum: &ExactSum) -> Option<Decimal> {
    match sum.count() {
        0 => None,
        count => sum.total().and_then(|total| total.checked_div(Decimal::from(count))),
    }
}

pub(crate) struct Sums<const MEAN: bool> {
    sums: Vec<ExactSum>,
}

impl<const MEAN: bool> Accumulators for Sums<MEAN> {
    fn grow(&mut self, groups: usize) -> usize {
        grow(&mut self.sums, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let Column::Numbers(numbers) = column else {
            super::state::each(groups, column, chunk, |group, value, order| {
                self.add(group, value, order, 1);
            });
            return 0;
        };
        match groups {
            Groups::One(group) => {
                if let Some(sum) = self.sums.get_mut(group as usize) {
                    numbers.few.iter().for_each(|few| sum.add_few(few.significand, few.scale));
                }
            }
            Groups::Each(groups) => {
                for few in &numbers.few {
                    let group = groups.get(few.at as usize);
                    if let Some(sum) = group.and_then(|group| self.sums.get_mut(*group as usize)) {
                        sum.add_few(few.significand, few.scale);
                    }
                }
            }
        }
        each_other(groups, &numbers.others, chunk, |group, number, _| {
            if let Some(sum) = self.sums.get_mut(group as usize) {
                sum.add(&number);
            }
        });
        0
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, _: u64) -> usize {
        if let (Value::Number(number), Some(sum)) = (&value, self.sums.get_mut(group as usize)) {
            sum.add(number);
        }
        0
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        if let Known::Values { numbers, sum: Some(parts), .. } = by
            && let Some(sum) = self.sums.get_mut(group as usize)
        {
            sum.add_parts(*numbers, *parts);
        }
        0
    }

    fn merge(&mut self, other: Self, group_of: &[u32]) -> usize {
        for (group, other) in group_of.iter().zip(&other.sums) {
            if let Some(sum) = self.sums.get_mut(*group as usize) {
                sum.merge(other);
            }
        }
        0
    }

    fn finish(&mut self, group: u32) -> Value<'static> {
        let sum = self.sums.get(group as usize);
        Value::from_option(sum.and_then(|sum| if MEAN { mean(sum) } else { sum.total() }))
    }
}
