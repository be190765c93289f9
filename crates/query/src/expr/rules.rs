//! Expression → expression, the same value for less work: an ordered list of rules.

use super::scope::Scope;
use super::set::Set;
use super::tree::Expr;
use crate::ast::{ArrayItem, Comparison};
use crate::interrupt::{Interrupt, Meter};
use crate::value::Value;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tamias_json::number::Bound;

/// A rule rewrites one expression, whose parts it has rewritten already.
pub(crate) type Rule = fn(Expr) -> Expr;

pub(crate) const RULES: [(&str, Rule); 4] = [
    ("constant folding", fold_constant),
    ("logic", simplify_logic),
    ("sets", gather_sets),
    ("number bounds", prepare_bound),
];

/// The largest value that is computed ahead, in bytes: more is better made where it is used.
const FOLDED_BYTES_MAX: usize = 64 * 1024;

/// Applies every rule to an expression that stands alone.
pub(crate) fn apply_rules(mut expr: Expr) -> Expr {
    for (_, rule) in RULES {
        rewrite(&mut expr, rule);
    }
    expr
}

/// Computes what is constant.
pub(crate) fn fold(mut expr: Expr) -> Expr {
    rewrite(&mut expr, fold_constant);
    expr
}

/// Applies a rule to an expression, its parts first.
pub(crate) fn rewrite(expr: &mut Expr, rule: Rule) {
    for child in expr.children_mut() {
        rewrite(child, rule);
    }
    let taken = std::mem::replace(expr, Expr::Constant(Value::Undefined));
    *expr = rule(taken);
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant(_))
}

fn fold_constant(expr: Expr) -> Expr {
    let parts_are_constant = || expr.children().into_iter().all(is_constant);
    let foldable = match &expr {
        Expr::Constant(_) | Expr::Slot(_) | Expr::Group(_) | Expr::Local(_) | Expr::BuiltIn(_) => false,
        // Its readings have slots.
        Expr::Path(_) => false,
        // Their bodies have locals.
        Expr::Let(..) | Expr::Quantified { .. } => false,
        Expr::If(parts) => is_constant(&parts.0),
        Expr::Call { function, .. } => function.is_pure && parts_are_constant(),
        Expr::Member(..)
        | Expr::Element(..)
        | Expr::Negate(_)
        | Expr::Not(_)
        | Expr::IsNull(..)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Arithmetic(..)
        | Expr::Compare { .. }
        | Expr::CompareNumber { .. }
        | Expr::In { .. }
        | Expr::InSet { .. }
        | Expr::Like { .. }
        | Expr::MatchWhole { .. }
        | Expr::Match { .. }
        | Expr::IndexOfMatch { .. }
        | Expr::ReplaceMatch { .. }
        | Expr::Coalesce(_)
        | Expr::Concat(_)
        | Expr::Array(_)
        | Expr::Object(_) => parts_are_constant(),
    };
    if !foldable {
        return expr;
    }
    if let Expr::If(parts) = expr {
        let (condition, then, otherwise) = *parts;
        return if matches!(condition, Expr::Constant(Value::Bool(true))) { then } else { otherwise };
    }
    let interrupt = Interrupt::new(None);
    let mut scope = Scope::metered(0, Meter::new(&interrupt));
    let value = expr.eval(&mut scope);
    // What is too large is counted when the query runs.
    let is_too_large = interrupt.too_large.load(Relaxed) > 0;
    if is_too_large || scope.failure.is_some() || value.weight() > FOLDED_BYTES_MAX {
        return expr;
    }
    let value = value.into_static();
    Expr::Constant(value)
}

/// Drops terms that decide nothing, and what follows a term that decides everything.
fn simplify_logic(expr: Expr) -> Expr {
    let (terms, is_and) = match expr {
        Expr::And(terms) => (terms, true),
        Expr::Or(terms) => (terms, false),
        other => return other,
    };
    let mut kept = Vec::with_capacity(terms.len());
    for term in terms {
        match (&term, is_and) {
            (Expr::Constant(value), _) if value.is_true() != is_and => return Expr::constant(!is_and),
            (Expr::Constant(_), _) => {}
            // Terms are asked for their truth, and that is all that a chain of one term tells of it.
            (Expr::And(inner), is_and) | (Expr::Or(inner), is_and)
                if inner.len() == 1 || matches!(term, Expr::And(_)) == is_and =>
            {
                if let Expr::And(inner) | Expr::Or(inner) = term {
                    kept.extend(inner);
                }
            }
            _ => kept.push(term),
        }
    }
    match (kept.is_empty(), is_and) {
        (true, _) => Expr::constant(is_and),
        (false, true) => Expr::And(kept),
        (false, false) => Expr::Or(kept),
    }
}

/// HEURISTIC: fewer equalities of one value are compared one by one about as quickly.
const SET_TERMS_MIN: usize = 5;

/// Makes sets of constants: of those behind `in`, and of those that one value is compared with by many terms of an `or`.
fn gather_sets(expr: Expr) -> Expr {
    match expr {
        Expr::In { left, right, negated, ci } => match constants(&right) {
            Some(values) => Expr::InSet { left, set: Arc::new(Set::new(values, ci)), negated },
            None => Expr::In { left, right, negated, ci },
        },
        Expr::Or(terms) if terms.len() >= SET_TERMS_MIN => Expr::Or(gather_terms(terms)),
        other => other,
    }
}

fn gather_terms(terms: Vec<Expr>) -> Vec<Expr> {
    // What is compared, and with what: the number of terms that do so follows from the constants.
    let mut gathered: Vec<(Expr, bool, Vec<Value<'static>>)> = Vec::new();
    for term in &terms {
        let Some((left, ci, values)) = equated(term) else { continue };
        let known = gathered.iter_mut().find(|(known, known_ci, _)| *known_ci == ci && known.is_same(left));
        if let Some((.., known)) = known {
            known.extend_from_slice(values);
        } else if gathered.len() < SETS_MAX {
            // Else a chain of terms on as many values would be looked through for each.
            gathered.push((left.clone(), ci, values.to_vec()));
        }
    }
    gathered.retain(|(.., values)| values.len() >= SET_TERMS_MIN);
    let is_gathered = |term: &Expr| {
        equated(term).is_some_and(|(left, ci, _)| {
            gathered.iter().any(|(known, known_ci, _)| *known_ci == ci && known.is_same(left))
        })
    };
    let mut kept: Vec<Expr> = terms.into_iter().filter(|term| !is_gathered(term)).collect();
    kept.extend(gathered.into_iter().map(|(left, ci, values)| Expr::InSet {
        left: Box::new(left),
        set: Arc::new(Set::new(values, ci)),
        negated: false,
    }));
    kept
}

/// Most different values of which the terms of one `or` are gathered.
const SETS_MAX: usize = 16;

/// What a term says is equal to a constant, or to one of several.
fn equated(term: &Expr) -> Option<(&Expr, bool, &[Value<'static>])> {
    match term {
        Expr::Compare { op: Comparison::Equal, left, right, ci } => match (&**left, &**right) {
            (_, Expr::Constant(Value::Undefined)) | (Expr::Constant(Value::Undefined), _) => None,
            (left, Expr::Constant(value)) | (Expr::Constant(value), left) => {
                Some((left, *ci, std::slice::from_ref(value))).filter(|(left, ..)| left.is_same(left))
            }
            _ => None,
        },
        Expr::InSet { left, set, negated: false } if left.is_same(left) => {
            Some((left, set.ci(), set.values()))
        }
        _ => None,
    }
}

/// The elements of a constant array. One that is too large to be computed ahead is constant all the same.
fn constants(array: &Expr) -> Option<Vec<Value<'static>>> {
    match array {
        Expr::Constant(Value::Array(array)) => {
            Some(array.iter().filter(|value| !value.is_undefined()).map(Value::into_static).collect())
        }
        Expr::Array(items) => {
            let constant = |item: &ArrayItem<Expr>| match item {
                ArrayItem::One(Expr::Constant(value)) => Some(value.clone()),
                ArrayItem::One(_) | ArrayItem::Spread(_) => None,
            };
            let values: Option<Vec<_>> = items.iter().map(constant).collect();
            values.map(|values| values.into_iter().filter(|value| !value.is_undefined()).collect())
        }
        _ => None,
    }
}

/// Prepares the constants that numbers are compared with.
fn prepare_bound(expr: Expr) -> Expr {
    let Expr::Compare { op, left, right, ci } = expr else {
        return expr;
    };
    match (*left, *right) {
        (Expr::Constant(Value::Number(number)), right) if !is_constant(&right) => Expr::CompareNumber {
            op: op.flipped(),
            left: Box::new(right),
            bound: Box::new(Bound::new(&number.text())),
            number,
        },
        (left, Expr::Constant(Value::Number(number))) => Expr::CompareNumber {
            op,
            left: Box::new(left),
            bound: Box::new(Bound::new(&number.text())),
            number,
        },
        (left, right) => Expr::Compare { op, left: Box::new(left), right: Box::new(right), ci },
    }
}
