//! Aggregates over the scopes of a group, which come in time order.

use crate::ast::Expr;
use crate::eval::{Scope, eval, from};
use crate::number::Number;
use crate::value::Value;
use std::cmp::Ordering;

fn values(argument: &Expr, rows: &[Scope<'_>]) -> Vec<Value> {
    rows.iter().map(|row| eval(argument, row)).filter(|value| !value.is_undefined()).collect()
}

pub(crate) fn numbers(argument: &Expr, rows: &[Scope<'_>]) -> Vec<Number> {
    values(argument, rows)
        .into_iter()
        .filter_map(|value| match value {
            Value::Number(number) => Some(number),
            _ => None,
        })
        .collect()
}

pub(crate) fn aggregate(name: &str, arguments: &[Expr], rows: &[Scope<'_>]) -> Value {
    let Some(argument) = arguments.first() else {
        return Value::integer(rows.len() as i64);
    };
    match name {
        "count" => {
            let counted = values(argument, rows).into_iter().filter(|value| !matches!(value, Value::Null));
            Value::integer(counted.count() as i64)
        }
        "sum" => from(Number::sum(&numbers(argument, rows))),
        "min" => extreme(values(argument, rows), Ordering::Less),
        "max" => extreme(values(argument, rows), Ordering::Greater),
        "mean" => from(Number::mean(&numbers(argument, rows))),
        "variance" => from(Number::spread(&numbers(argument, rows), false)),
        "stddev" => from(Number::spread(&numbers(argument, rows), true)),
        // What is undefined is no value, so it is neither the first nor the last.
        "first" => values(argument, rows).into_iter().next().unwrap_or(Value::Undefined),
        "last" => values(argument, rows).into_iter().next_back().unwrap_or(Value::Undefined),
        "any" => Value::Bool(values(argument, rows).iter().any(Value::is_true)),
        "all" => Value::Bool(values(argument, rows).iter().all(Value::is_true)),
        other => panic!("no aggregate {other}"),
    }
}

/// Of the numbers, if there are some, else of the strings and Booleans. Of equal ones in several spellings the first met is shown.
fn extreme(mut values: Vec<Value>, wanted: Ordering) -> Value {
    if values.iter().any(|value| matches!(value, Value::Number(_))) {
        values.retain(|value| matches!(value, Value::Number(_)));
    }
    let values = values
        .into_iter()
        .filter(|value| matches!(value, Value::Number(_) | Value::Text(_) | Value::Bool(_)));
    let best = values.reduce(|best, value| if value.order(&best, false) == wanted { value } else { best });
    best.unwrap_or(Value::Undefined)
}

/// So many numbers are ranked exactly.
const RANKED_MAX: usize = 4096;

/// The numbers between which a percentile or a median lies, and whether it is told exactly.
pub(crate) struct Ranked {
    pub(crate) low: Number,
    pub(crate) high: Number,
    pub(crate) is_exact: bool,
}

fn sorted(argument: &Expr, rows: &[Scope<'_>]) -> Vec<Number> {
    let mut numbers = numbers(argument, rows);
    numbers.sort_by(Number::compare);
    numbers
}

/// The number at the nearest rank; none without numbers.
pub(crate) fn percentile(argument: &Expr, p: &str, rows: &[Scope<'_>]) -> Option<Ranked> {
    let numbers = sorted(argument, rows);
    let at = numbers.get(Number::rank_of(p, numbers.len().max(1)) - 1)?.computed();
    Some(Ranked { low: at.clone(), high: at, is_exact: numbers.len() <= RANKED_MAX })
}

/// The two numbers in the middle, which may be one; none without numbers.
pub(crate) fn median(argument: &Expr, rows: &[Scope<'_>]) -> Option<Ranked> {
    let numbers = sorted(argument, rows);
    let low = numbers.get(numbers.len().checked_sub(1)? / 2)?.clone();
    let high = numbers.get(numbers.len() / 2)?.clone();
    Some(Ranked { low, high, is_exact: numbers.len() <= RANKED_MAX })
}

/// The values that differ, each as it was first met.
pub(crate) fn distinct(argument: &Expr, rows: &[Scope<'_>]) -> Vec<Value> {
    let mut distinct: Vec<Value> = Vec::new();
    for value in values(argument, rows) {
        if distinct.iter().all(|known| known.order(&value, false) != Ordering::Equal) {
            distinct.push(value);
        }
    }
    distinct
}

/// The first or the last `count` values, in time order.
pub(crate) fn ends(argument: &Expr, first: bool, count: usize, rows: &[Scope<'_>]) -> Vec<Value> {
    let values = values(argument, rows);
    let count = count.min(values.len());
    if first { values[..count].to_vec() } else { values[values.len() - count..].to_vec() }
}
