//! Whether a value is one of a few, as comparisons of which one is true: each is told of columns by itself.

use crate::ast::{ArrayItem, Comparison};
use crate::expr::{Expr, Set};
use crate::value::Value;

/// So many values at most.
const VALUES_MAX: usize = 8;

/// The comparisons of a value with a set of few texts whose case makes no difference.
pub(super) fn any_of(left: &Expr, set: &Set) -> Option<Expr> {
    let values = set.values();
    let are_texts = values.iter().all(|value| matches!(value, Value::Text(_)));
    if !set.ci() || !are_texts || !(1..=VALUES_MAX).contains(&values.len()) {
        return None;
    }
    Some(Expr::Or(values.iter().map(|value| equals(left, Expr::Constant(value.clone()), true)).collect()))
}

/// The same of what stands at a path, and the values of an array that is written out.
pub(super) fn any_element(left: &Expr, right: &Expr, ci: bool) -> Option<Expr> {
    let Expr::Array(items) = right else { return None };
    if !matches!(left, Expr::Slot(_) | Expr::Path(_)) || !(1..=VALUES_MAX).contains(&items.len()) {
        return None;
    }
    let is_equal = |item: &ArrayItem<Expr>| match item {
        ArrayItem::One(value) => Some(equals(left, value.clone(), ci)),
        ArrayItem::Spread(_) => None,
    };
    Some(Expr::Or(items.iter().map(is_equal).collect::<Option<_>>()?))
}

fn equals(left: &Expr, right: Expr, ci: bool) -> Expr {
    Expr::Compare { op: Comparison::Equal, left: Box::new(left.clone()), right: Box::new(right), ci }
}
