//! Expression → expression, the same value for less work: an ordered list of rules.

use super::scope::Scope;
use super::tree::Expr;
use crate::ast::Comparison;
use crate::interrupt::Interrupt;
use crate::value::Value;
use std::sync::atomic::Ordering::Relaxed;
use tamias_json::number::Bound;

/// A rule rewrites one expression, whose parts it has rewritten already.
pub(crate) type Rule = fn(Expr) -> Expr;

pub(crate) const RULES: [(&str, Rule); 3] =
    [("constant folding", fold_constant), ("logic", simplify_logic), ("number bounds", prepare_bound)];

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
    let mut scope = Scope::heeding(0, &interrupt);
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

/// Prepares the constants that numbers are compared with.
fn prepare_bound(expr: Expr) -> Expr {
    let Expr::Compare { op, left, right, ci } = expr else {
        return expr;
    };
    match (*left, *right) {
        (Expr::Constant(Value::Number(number)), right) if !is_constant(&right) => Expr::CompareNumber {
            op: flip(op),
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

fn flip(op: Comparison) -> Comparison {
    match op {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        symmetric => symmetric,
    }
}
