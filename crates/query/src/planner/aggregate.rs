//! Aggregates: told apart from functions, and planned.

use super::resolve::Resolver;
use crate::aggregate::{self, Function, Parameter};
use crate::ast::{Arguments, Node, ParsedExpr};
use crate::error::Flaw;
use crate::plan::Aggregate;
use crate::value::Value;
use crate::warning::Warning;
use rust_decimal::prelude::ToPrimitive;

/// The aggregates' names, and that of an interval's length, which stands where they do.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    aggregate::names().chain([INTERVAL])
}

/// Whether a name is one of those.
pub(super) fn is_name(name: &str) -> bool {
    names().any(|known| name.eq_ignore_ascii_case(known))
}

const INTERVAL: &str = "interval";

fn is_named(expr: &ParsedExpr, is_known: impl Fn(&str) -> bool) -> bool {
    matches!(&expr.node, Node::Call { name, .. } if is_known(&name.text))
}

/// The first aggregate in `expr`.
pub(super) fn find(expr: &ParsedExpr) -> Option<&ParsedExpr> {
    if is_named(expr, is_name) { Some(expr) } else { expr.children().into_iter().find_map(find) }
}

/// The first aggregate in `expr` that gives several rows.
pub(super) fn find_rows(expr: &ParsedExpr) -> Option<&ParsedExpr> {
    if is_named(expr, |name| name.eq_ignore_ascii_case("count")) {
        return None;
    }
    if is_named(expr, aggregate::gives_rows) {
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
    let is_count = name.text.eq_ignore_ascii_case("count");
    let list = match arguments {
        Arguments::Star if is_count => {
            let argument = crate::expr::Expr::constant(true);
            return Ok(Some(Aggregate { function: Function::COUNT, argument }));
        }
        Arguments::Star => {
            return Err(Flaw::new(
                call.span,
                format!("`*` is an argument of `count` only, not of `{}`", name.text),
            ));
        }
        Arguments::List(list) => list,
    };
    let parameters = aggregate::parameters(&name.text);
    check_number(call, &name.text, list.len(), parameters)?;
    let Some((parameters, argument)) = parameters.zip(list.first()) else {
        // The length of an interval.
        return Ok(None);
    };
    let inner = match &argument.node {
        Node::Call { name, arguments: Arguments::List(inner), .. }
            if is_count && name.text.eq_ignore_ascii_case("distinct") && inner.len() == 1 =>
        {
            inner.first()
        }
        _ => None,
    };
    let aggregated = inner.unwrap_or(argument);
    if let Some(nested) = find(aggregated) {
        return Err(Flaw::new(nested.span, "an aggregate cannot be used inside another")
            .hint("only `count(distinct(x))` combines two"));
    }
    let function = match inner {
        Some(_) => Function::COUNT_DISTINCT,
        None => {
            let given = list.get(1..).unwrap_or_default();
            let constants = constants(resolver, given, parameters)?;
            warn_of_small(resolver, call, &name.text, &constants);
            match aggregate::with_constants(&name.text, &constants) {
                Some(Ok(function)) => function,
                Some(Err((place, message))) => {
                    return Err(Flaw::new(given.get(place).map_or(call.span, |expr| expr.span), message));
                }
                None => return Ok(None),
            }
        }
    };
    Ok(Some(Aggregate { function, argument: resolver.aggregated(aggregated)? }))
}

/// Users of other languages tell percentiles as fractions.
fn warn_of_small(resolver: &mut Resolver<'_>, call: &ParsedExpr, name: &str, constants: &[f64]) {
    if let Some(p) = constants.first().copied().filter(|p| *p > 0.0 && *p < 1.0)
        && name.eq_ignore_ascii_case("percentile")
    {
        // Rounded, since 0.07 * 100 is not 7 in binary.
        let meant = (p * 1e8).round() / 1e6;
        let warning = Warning::SmallPercentile {
            aggregate: call.span.text(resolver.text).to_owned(),
            meant: meant.to_string(),
        };
        if !resolver.warnings.contains(&warning) {
            resolver.warnings.push(warning);
        }
    }
}

/// Whether an aggregate can have so many arguments.
fn check_number(
    call: &ParsedExpr,
    name: &str,
    given: usize,
    parameters: Option<&[Parameter]>,
) -> Result<(), Flaw> {
    let (least, most) = match parameters {
        Some(parameters) => {
            let needed = parameters.iter().filter(|parameter| parameter.default.is_none()).count();
            (1 + needed, 1 + parameters.len())
        }
        None => (0, 0),
    };
    if (least..=most).contains(&given) {
        return Ok(());
    }
    let wanted = match (least, most) {
        (0, _) => "no argument".to_owned(),
        (1, _) => "one argument".to_owned(),
        (2, 2) => "two arguments".to_owned(),
        _ => format!("{least} or {most} arguments"),
    };
    let flaw = Flaw::new(call.span, format!("`{name}` takes {wanted}, not {given}"));
    let is_count = name.eq_ignore_ascii_case("count");
    Err(if is_count { flaw.hint("`count(*)` counts events") } else { flaw })
}

/// The constants that stand behind the argument, or else what they are where they are not given.
fn constants(
    resolver: &mut Resolver<'_>,
    given: &[ParsedExpr],
    parameters: &[Parameter],
) -> Result<Vec<f64>, Flaw> {
    let mut constants = Vec::with_capacity(parameters.len());
    for (index, parameter) in parameters.iter().enumerate() {
        let constant = match given.get(index) {
            None => parameter.default,
            Some(expr) => {
                let constant = match resolver.constant(expr)? {
                    Some(Value::Number(number)) => number.decimal().and_then(|decimal| decimal.to_f64()),
                    _ => None,
                };
                let flaw = || Flaw::new(expr.span, format!("{} is a constant number", parameter.what));
                Some(constant.ok_or_else(flaw)?)
            }
        };
        constants.extend(constant);
    }
    Ok(constants)
}
