//! The first rows of an order: of a block no more of them are wanted than of all blocks together, and of those no more than come before what blocks before had.

use super::best::{BEST_MAX, Beginning};
use super::compile::ColumnPlan;
use super::evaluate::Evaluator;
use super::found::Passing;
use super::range::Range;
use super::reckoned::Reckoned;
use super::whole::{gather, gather_decimals};
use crate::ast::Comparison;
use crate::chunk::{DecimalValues, Decimals, ESTIMATE_ERROR, Mantissas, value_of};
use crate::column_block::{Coded, MixedColumn, PathColumn};
use crate::expr::{Computed, Expr};
use crate::value::{Number, Value, beginning_of};
use rust_decimal::Decimal;
use std::sync::Arc;

/// Longer texts are not kept. Without one, more rows are made than need be.
const KEPT_BYTES_MAX: usize = 256;

/// What rows are sorted by.
enum First<'c> {
    Numbers(Arc<Mantissas>, Option<&'c MixedColumn>),
    /// Numbers that are told apart by what is near to them. Rows without a number may have null.
    Estimated {
        decimals: Arc<Decimals>,
        are_null: bool,
    },
    Texts(&'c Coded),
}

/// Leaves out those rows that so many others precede, and tells the values of the rows that stay. They come in the block's order. All of them stay where the order
/// is not that of a column, or values are computed, which may fail.
pub(super) fn cut(plan: &ColumnPlan, evaluator: &Evaluator<'_>, rows: &mut Vec<u32>) -> Vec<Value<'static>> {
    let Some(by) = plan.beginning else { return Vec::new() };
    let Some(first) = plan.outputs.get(by.output).map(|output| &output.expr) else { return Vec::new() };
    let is_told = |expr: &Expr| match expr {
        // A message may become too long.
        Expr::BuiltIn(computed) => !matches!(computed, Computed::Message { .. }),
        expr => evaluator.as_column(expr).is_some(),
    };
    // Arithmetic of numbers over a whole column has not failed where it is told.
    let calculated = match first {
        Expr::Arithmetic(..) if evaluator.are_many(rows.len()) => evaluator.reckoned(first),
        _ => None,
    };
    let is_calculated = |nth: usize| nth == by.output && calculated.is_some();
    let mut outputs = plan.outputs.iter().enumerate();
    if !outputs.all(|(nth, output)| is_calculated(nth) || is_told(&output.expr)) {
        return Vec::new();
    }
    let bound = plan.best.bound(by);
    let Some(first) = First::of(by, first, calculated, evaluator) else { return Vec::new() };
    let passing = std::mem::take(rows);
    match first {
        First::Numbers(numbers, mixed) => {
            // Rows with something else than a number stay, wherever the order has them.
            let others = mixed.map_or(&[][..], |column| column.others.rows.as_slice());
            let passing = Passing::Some(Arc::new(passing));
            let numbers = gather(&numbers, &passing, evaluator.rows());
            by.numbers(&numbers, others, bound.as_ref(), &passing, None, rows)
        }
        First::Estimated { decimals, are_null } => {
            let passing = Passing::Some(Arc::new(passing));
            let Decimals { rows: with_one, values } = gather_decimals(&decimals, &passing);
            if are_null && with_one.is_some() {
                // Null is something else than a number that is missing.
                *rows = passing.places().collect();
                return Vec::new();
            }
            let keys = values.estimates().into_iter().map(key).collect();
            let keys = Mantissas { rows: with_one, values: keys, ..Mantissas::default() };
            by.numbers(&keys, &[], bound.as_ref(), &passing, Some(&values), rows)
        }
        First::Texts(coded) => by.texts(coded, bound.as_ref(), &passing, rows),
    }
}

impl<'c> First<'c> {
    /// What an expression comes to, which may have been calculated; none where that tells no order.
    fn of(
        by: Beginning,
        first: &Expr,
        calculated: Option<Reckoned>,
        evaluator: &'c Evaluator<'_>,
    ) -> Option<First<'c>> {
        match calculated {
            Some(Reckoned::Numbers(numbers)) => return Some(First::Numbers(numbers, None)),
            Some(Reckoned::Decimals(decimals)) => {
                return Some(First::Estimated { decimals, are_null: false });
            }
            Some(Reckoned::Constant { .. }) | None => {}
        }
        if let Some(column) = evaluator.mixed(first) {
            return Some(First::Numbers(column.numbers.clone(), Some(column)));
        }
        if let Some(numbers) = evaluator.numbers(first) {
            return Some(First::Numbers(numbers.clone(), None));
        }
        let column = &**evaluator.as_column(first)??;
        if let PathColumn::Coded(coded) = column
            && let Some(numbers) = coded.numbers().filter(|numbers| numbers.are_null)
        {
            let (decimals, are_null) = (numbers.decimals.clone(), !numbers.are_all);
            return Some(First::Estimated { decimals, are_null });
        }
        column.texts().filter(|_| by.limit <= BEST_MAX).map(First::Texts)
    }
}

/// A whole number that rises with a binary one.
fn key(number: f64) -> i64 {
    flipped(number.to_bits() as i64)
}

/// The bits of a negative number in the order of its value, or back.
fn flipped(bits: i64) -> i64 {
    bits ^ (bits >> 63 & i64::MAX)
}

/// The key of an estimate that the numbers of no others behind it reach, where `last` is that of a number which is wanted.
fn loosened(last: i64, descending: bool) -> i64 {
    let number = f64::from_bits(flipped(last) as u64);
    // Both may be off, and quotients are rounded to 28 places.
    const ROUNDING: f64 = 1e-27;
    let slack = number.abs() * 4.0 * ESTIMATE_ERROR + ROUNDING;
    key(if descending { number - slack } else { number + slack })
}

impl Beginning {
    /// The rows that stay of those that pass, by their numbers: where the values of `others` are, these are something else. Where numbers are estimated,
    /// `numbers` are the keys of their estimates.
    fn numbers(
        self,
        numbers: &Mantissas,
        others: &[u32],
        bound: Option<&Value<'_>>,
        passing: &Passing,
        estimated: Option<&DecimalValues>,
        rows: &mut Vec<u32>,
    ) -> Vec<Value<'static>> {
        let Beginning { descending, limit, .. } = self;
        // What has no number comes before all numbers.
        let missing = passing.len() - numbers.values.len();
        let before = if descending || !others.is_empty() { 0 } else { missing };
        let wanted = limit.saturating_sub(before);
        let loosened = |last: i64| if estimated.is_some() { loosened(last, descending) } else { last };
        let last = wanted.checked_sub(1).and_then(|place| nth(&numbers.values, place, descending));
        let last = last.map(loosened);
        let range = bound.map(|bound| match bound {
            Value::Number(number) => {
                let op = if descending { Comparison::GreaterOrEqual } else { Comparison::LessOrEqual };
                let range = match estimated {
                    None => Range::of(op, number, numbers.scale),
                    Some(_) => {
                        let nearest = number.text().parse().unwrap_or(f64::NAN);
                        let bound = Decimal::from(loosened(key(nearest)));
                        Range::of(op, &Number::Decimal(bound), 0)
                    }
                };
                range.ok_or(true)
            }
            other => Err(self.has(&Value::Number(Number::Decimal(Decimal::ZERO)), Some(other))),
        });
        let is_before_bound = |value: i64| match range {
            None => true,
            Some(Ok(range)) => range.has(value),
            Some(Err(all)) => all,
        };
        let keeps_number = |value: i64| {
            is_before_bound(value)
                && match (last, descending) {
                    (Some(last), true) => value >= last,
                    (Some(last), false) => value <= last,
                    (None, _) => wanted > 0,
                }
        };
        let keeps_missing = (!descending || last.is_none()) && self.has(&Value::Undefined, bound);
        let value = |place: usize, value: i64| match estimated {
            Some(values) => values.value(place).into_static(),
            None => {
                let number = Decimal::try_from_i128_with_scale(value.into(), numbers.scale.into());
                number.map_or(Value::Undefined, |number| Value::Number(Number::Decimal(number)))
            }
        };
        let mut kept = Vec::new();
        let mut next = 0;
        for (nth, row) in (0..).zip(passing.places()) {
            let has_one = numbers.rows.as_ref().is_none_or(|with_one| with_one.get(next) == Some(&nth));
            let place = next;
            let number = numbers.values.get(place).copied().filter(|_| has_one);
            next += usize::from(has_one);
            match number {
                Some(number) if keeps_number(number) => {
                    rows.push(row);
                    if kept.len() < 2 * limit {
                        kept.push(value(place, number));
                    }
                }
                None if keeps_missing && others.is_empty() => {
                    rows.push(row);
                    if kept.len() < 2 * limit {
                        kept.push(Value::Undefined);
                    }
                }
                None if keeps_missing || others.binary_search(&row).is_ok() => rows.push(row),
                Some(_) | None => {}
            }
        }
        kept
    }

    /// The same by the entries of a dictionary.
    fn texts(
        self,
        coded: &Coded,
        bound: Option<&Value<'_>>,
        passing: &[u32],
        rows: &mut Vec<u32>,
    ) -> Vec<Value<'static>> {
        const LEFT_OUT: i64 = -1;
        let mut values: Vec<(Value<'_>, u32)> = self
            .candidates(coded, bound, passing)
            .into_iter()
            .map(|entry| (value_of(coded.dictionary.get(entry)), entry))
            .collect();
        values.retain(|(value, _)| self.has(value, bound));
        values.sort_by(|(a, _), (b, _)| self.order(a, b));
        // Values that are equal have the same rank.
        let mut ranks = vec![LEFT_OUT; coded.dictionary.len()];
        let (mut rank, mut before) = (0, None);
        for (value, entry) in &values {
            rank += i64::from(before.is_some_and(|before| self.order(before, value).is_ne()));
            before = Some(value);
            if let Some(place) = ranks.get_mut(*entry as usize) {
                *place = rank;
            }
        }
        let rank = |row: &u32| ranks.get(coded.code(*row as usize) as usize).copied().unwrap_or(LEFT_OUT);
        let of_rows: Vec<i64> = passing.iter().map(rank).filter(|rank| *rank != LEFT_OUT).collect();
        let last =
            self.limit.checked_sub(1).and_then(|place| nth(&of_rows, place, false)).unwrap_or(i64::MAX);
        rows.extend(passing.iter().filter(|row| (0..=last).contains(&rank(row))));
        let kept =
            rows.iter().take(2 * self.limit).map(|row| coded.dictionary.get(coded.code(*row as usize)));
        kept.filter(|json| json.len() <= KEPT_BYTES_MAX).map(|json| value_of(json).into_static()).collect()
    }
}

impl Beginning {
    /// The entries of some rows that what they begin with does not tell to come behind as many as are wanted, or behind the bound.
    fn candidates(self, coded: &Coded, bound: Option<&Value<'_>>, passing: &[u32]) -> Vec<u32> {
        let mut is_asked = vec![false; coded.dictionary.len()];
        for row in passing {
            if let Some(is_asked) = is_asked.get_mut(coded.code(*row as usize) as usize) {
                *is_asked = true;
            }
        }
        let entries = (0..).zip(&is_asked).filter(|(_, is_asked)| **is_asked).map(|(entry, _)| entry);
        if self.ci {
            return entries.collect();
        }
        let mut keys = vec![None; coded.dictionary.len()];
        for entry in entries.clone() {
            if let Some(key) = keys.get_mut(entry as usize) {
                *key = text_key(coded.dictionary.get(entry));
            }
        }
        let key = |entry: u32| keys.get(entry as usize).copied().flatten();
        let of_rows: Vec<i64> = passing.iter().filter_map(|row| key(coded.code(*row as usize))).collect();
        let last = self.limit.checked_sub(1).and_then(|place| nth(&of_rows, place, self.descending));
        let of_bound = match bound {
            Some(Value::Text(text)) => Some(beginning_key(text.text().as_bytes())),
            _ => None,
        };
        let is_wanted = |key: i64| {
            let mut lasts = last.into_iter().chain(of_bound);
            lasts.all(|last| if self.descending { key >= last } else { key <= last })
        };
        entries.filter(|entry| key(*entry).is_none_or(is_wanted)).collect()
    }
}

/// A number that rises with what a string begins with; none of another value, or where that is escaped.
fn text_key(json: &[u8]) -> Option<i64> {
    let text = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let beginning = text.get(..size_of::<u64>()).unwrap_or(text);
    (!beginning.contains(&b'\\')).then(|| beginning_key(text))
}

/// The same of a text.
fn beginning_key(text: &[u8]) -> i64 {
    // The greater half of the unsigned numbers is that of the positive ones.
    (beginning_of(text) ^ 1 << 63) as i64
}

/// So many values are looked at before those are left out that are not wanted.
const TOGETHER: usize = 1024;

/// The value that so many others precede in an order; none where they are fewer.
fn nth(values: &[i64], place: usize, descending: bool) -> Option<i64> {
    // An order's other direction is that of the complements.
    let turned = |value: i64| if descending { !value } else { value };
    let mut first: Vec<i64> = Vec::new();
    let mut bound = i64::MAX;
    for some in values.chunks(TOGETHER) {
        first.extend(some.iter().map(|value| turned(*value)).filter(|value| *value <= bound));
        if first.len() > place.saturating_add(1).saturating_mul(2) {
            bound = *first.select_nth_unstable(place).1;
            first.truncate(place + 1);
        }
    }
    let last = (place < first.len()).then(|| *first.select_nth_unstable(place).1);
    last.map(turned)
}
