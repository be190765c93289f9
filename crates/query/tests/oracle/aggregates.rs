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
        "min" => extreme(numbers(argument, rows), Ordering::Less),
        "max" => extreme(numbers(argument, rows), Ordering::Greater),
        "mean" => {
            let numbers = numbers(argument, rows);
            let count = Number::integer(numbers.len() as i64);
            from(Number::sum(&numbers).and_then(|sum| sum.divide(&count)))
        }
        // What is undefined is no value, so it is neither the first nor the last.
        "first" => values(argument, rows).into_iter().next().unwrap_or(Value::Undefined),
        "last" => values(argument, rows).into_iter().next_back().unwrap_or(Value::Undefined),
        "any" => Value::Bool(values(argument, rows).iter().any(Value::is_true)),
        "all" => Value::Bool(values(argument, rows).iter().all(Value::is_true)),
        other => panic!("no aggregate {other}"),
    }
}

/// Of equal numbers in several spellings the first met is shown.
fn extreme(numbers: Vec<Number>, wanted: Ordering) -> Value {
    let best = numbers
        .into_iter()
        .reduce(|best, number| if number.compare(&best) == wanted { number } else { best });
    best.map_or(Value::Undefined, Value::Number)
}

/// The numbers between which a percentile lies: the nearest ranks below and above it.
pub(crate) fn percentile(argument: &Expr, p: f64, rows: &[Scope<'_>]) -> Option<(Number, Number)> {
    let mut numbers = numbers(argument, rows);
    numbers.sort_by(Number::compare);
    let rank = p / 100.0 * (numbers.len().checked_sub(1)? as f64);
    // One definition counts from the ends of the list, another from the shares that each number has of it.
    let share = (p / 100.0 * numbers.len() as f64 - 1.0).max(0.0);
    let low = (rank.floor() as usize).min(share.floor() as usize);
    let high = (rank.ceil() as usize).max(share.ceil() as usize).min(numbers.len() - 1);
    Some((numbers[low].clone(), numbers[high].clone()))
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
