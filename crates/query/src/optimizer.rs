//! Plan → plan, the same answers for less work: an ordered list of rules.

use crate::ast::Comparison;
use crate::expr::{Expr, Item, Member, Scope};
use crate::plan::{Input, Key, Output, Plan};
use crate::value::Value;
use tamias_json::number::Bound;

/// A rule rewrites one expression, whose parts it has rewritten already.
type Rule = fn(Expr) -> Expr;

pub(crate) const RULES: [(&str, Rule); 3] =
    [("constant folding", fold_constant), ("logic", simplify_logic), ("number bounds", prepare_bound)];

/// The largest value that is computed ahead, in bytes: more is better made where it is used.
const FOLDED_BYTES_MAX: usize = 64 * 1024;

pub(crate) fn optimize(mut plan: Plan) -> Plan {
    for (_, rule) in RULES {
        apply(&mut plan, rule);
    }
    plan
}

fn apply(plan: &mut Plan, rule: Rule) {
    if let Input::Events(events) = &mut plan.input {
        events.unnest.iter_mut().for_each(|expr| rewrite(expr, rule));
    }
    plan.filter.iter_mut().for_each(|expr| rewrite(expr, rule));
    match &mut plan.output {
        Output::Rows { cells, .. } => cells.iter_mut().for_each(|expr| rewrite(expr, rule)),
        Output::Groups(grouping) => {
            for key in &mut grouping.keys {
                if let Key::Expr { expr, .. } = key {
                    rewrite(expr, rule);
                }
            }
            let arguments = grouping.aggregates.iter_mut().map(|aggregate| &mut aggregate.argument);
            arguments
                .chain(&mut grouping.having)
                .chain(&mut grouping.cells)
                .for_each(|expr| rewrite(expr, rule));
        }
    }
}

/// Applies every rule to an expression that stands alone.
pub(crate) fn optimize_expression(mut expr: Expr) -> Expr {
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

fn rewrite(expr: &mut Expr, rule: Rule) {
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
    let foldable = match &expr {
        Expr::Member(of, _) | Expr::Negate(of) | Expr::Not(of) | Expr::IsNull(of, _) => is_constant(of),
        Expr::Element(a, b)
        | Expr::Arithmetic(_, a, b)
        | Expr::Compare { left: a, right: b, .. }
        | Expr::In { left: a, right: b, .. } => is_constant(a) && is_constant(b),
        Expr::Like { left, .. }
        | Expr::MatchWhole { left, .. }
        | Expr::Match { left, .. }
        | Expr::IndexOfMatch { left, .. }
        | Expr::ReplaceMatch { left, .. }
        | Expr::CompareNumber { left, .. } => is_constant(left),
        Expr::Call { function, arguments, .. } => function.is_pure && arguments.iter().all(is_constant),
        Expr::And(list) | Expr::Or(list) | Expr::Concat(list) | Expr::Coalesce(list) => {
            list.iter().all(is_constant)
        }
        Expr::Array(items) => items.iter().all(|(Item::One(e) | Item::Spread(e))| is_constant(e)),
        Expr::Object(members) => {
            members.iter().all(|(Member::Named(_, e) | Member::Spread(e))| is_constant(e))
        }
        Expr::If(parts) => is_constant(&parts.0),
        _ => false,
    };
    if !foldable {
        return expr;
    }
    if let Expr::If(parts) = expr {
        let (condition, then, otherwise) = *parts;
        return if matches!(condition, Expr::Constant(Value::Bool(true))) { then } else { otherwise };
    }
    let mut scope = Scope::new(0);
    let value = expr.eval(&mut scope);
    if scope.failure.is_some() || value.weight() > FOLDED_BYTES_MAX {
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
            (Expr::And(_), true) | (Expr::Or(_), false) => {
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
