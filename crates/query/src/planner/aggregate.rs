//! Aggregates: told apart from functions, and planned.

use super::resolve::Resolver;
use crate::ast::{Arguments, Node, ParsedExpr};
use crate::error::Flaw;
use crate::plan::{Aggregate, Function};
use crate::value::Value;
use rust_decimal::prelude::ToPrimitive;

pub(crate) const NAMES: [&str; 14] = [
    "count",
    "sum",
    "min",
    "max",
    "mean",
    "percentile",
    "first",
    "last",
    "any",
    "all",
    "interval",
    "distinct",
    "top",
    "bottom",
];

/// The relative error of a percentile unless another is asked for, and the bounds of what may be asked for.
const ERROR: f64 = 0.01;
const ERRORS: std::ops::RangeInclusive<f64> = 0.0001..=0.5;

/// The most values that `top` and `bottom` give.
const VALUES_MAX: usize = 1_000_000;

fn is_named(expr: &ParsedExpr, names: &[&str]) -> bool {
    matches!(&expr.node, Node::Call { name, .. } if names.iter().any(|known| name.text.eq_ignore_ascii_case(known)))
}

/// The first aggregate in `expr`.
pub(super) fn find(expr: &ParsedExpr) -> Option<&ParsedExpr> {
    if is_named(expr, &NAMES) { Some(expr) } else { expr.children().into_iter().find_map(find) }
}

/// The first aggregate in `expr` that gives several rows.
pub(super) fn find_rows(expr: &ParsedExpr) -> Option<&ParsedExpr> {
    if is_named(expr, &["count"]) {
        return None;
    }
    if is_named(expr, &["distinct", "top", "bottom"]) {
        Some(expr)
    } else {
        expr.children().into_iter().find_map(find_rows)
    }
}

/// Plans the aggregate that `call` is.
pub(super) fn plan(resolver: &mut Resolver<'_>, call: &ParsedExpr) -> Result<Option<Aggregate>, Flaw> {
    let Node::Call { name, arguments, .. } = &call.node else {
        return Ok(None);
    };
    let function = name.text.to_ascii_lowercase();
    let list = match arguments {
        Arguments::Star if function == "count" => {
            return Ok(Some(Aggregate {
                function: Function::Count,
                argument: crate::expr::Expr::constant(true),
            }));
        }
        Arguments::Star => {
            return Err(Flaw::new(
                call.span,
                format!("`*` is an argument of `count` only, not of `{}`", name.text),
            ));
        }
        Arguments::List(list) => list,
    };
    let (least, most) = match function.as_str() {
        "percentile" => (2, 3),
        "top" | "bottom" => (2, 2),
        "interval" => (0, 0),
        _ => (1, 1),
    };
    if list.len() < least || list.len() > most {
        let wanted = match (least, most) {
            (0, _) => "no argument".to_owned(),
            (1, _) => "one argument".to_owned(),
            (2, 2) => "two arguments".to_owned(),
            _ => format!("{least} or {most} arguments"),
        };
        let flaw = Flaw::new(call.span, format!("`{}` takes {wanted}, not {}", name.text, list.len()));
        return Err(if function == "count" { flaw.hint("`count(*)` counts events") } else { flaw });
    }
    let Some(argument) = list.first() else {
        return Ok(None);
    };
    let inner = match &argument.node {
        Node::Call { name, arguments: Arguments::List(inner), .. }
            if function == "count" && name.text.eq_ignore_ascii_case("distinct") && inner.len() == 1 =>
        {
            inner.first()
        }
        _ => None,
    };
    let aggregated = inner.unwrap_or(argument);
    if let Some(nested) = find(aggregated) {
        return Err(Flaw::new(nested.span, "an aggregate cannot stand inside another")
            .hint("only `count(distinct(x))` combines two"));
    }
    let mut constant = |index: usize, what: &str| -> Result<f64, Flaw> {
        let Some(expr) = list.get(index) else {
            return Ok(ERROR);
        };
        match resolver.constant(expr)? {
            Some(Value::Number(number)) => number.decimal().and_then(|decimal| decimal.to_f64()),
            _ => None,
        }
        .ok_or_else(|| Flaw::new(expr.span, format!("{what} is a constant number")))
    };
    let function = match function.as_str() {
        "count" if inner.is_some() => Function::CountDistinct,
        "count" => Function::Count,
        "sum" => Function::Sum,
        "min" => Function::Min,
        "max" => Function::Max,
        "mean" => Function::Mean,
        "first" => Function::First,
        "last" => Function::Last,
        "any" => Function::Any,
        "all" => Function::All,
        "distinct" => Function::Distinct,
        "percentile" => {
            let p = constant(1, "a percentile")?;
            let error = constant(2, "a relative error")?;
            if !(0.0..=100.0).contains(&p) {
                return Err(Flaw::new(list[1].span, "a percentile is between 0 and 100"));
            }
            if !ERRORS.contains(&error) {
                let message = format!("a relative error is between {} and {}", ERRORS.start(), ERRORS.end());
                return Err(Flaw::new(list[2].span, message));
            }
            Function::Percentile { p, error }
        }
        which => {
            let count = constant(1, "the number of values")?;
            if count.fract() != 0.0 || !(0.0..=VALUES_MAX as f64).contains(&count) {
                let message = format!("the number of values is a whole number up to {VALUES_MAX}");
                return Err(Flaw::new(list[1].span, message));
            }
            if which == "top" { Function::Top(count as usize) } else { Function::Bottom(count as usize) }
        }
    };
    Ok(Some(Aggregate { function, argument: resolver.aggregated(aggregated)? }))
}
