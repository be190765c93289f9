//! What expressions come to over values that statistics do not tell one by one.

use super::classes::Class;
use super::key_path::KeyPath;
use super::outcomes::Outcomes;
use crate::ast::Comparison;
use crate::expr::{Computed, Expr, Set, holds, unlike};
use crate::statistics::spelled;
use crate::value::{Number, Value};
use std::cmp::Ordering;

/// What an expression comes to for values that are not told one by one, of the path that it depends on.
pub(super) fn unlisted(path: &KeyPath, expr: &Expr, class: &Class<'_>) -> Outcomes {
    let is_path = |expr: &Expr| KeyPath::of(expr).as_ref() == Some(path);
    let is_value = |expr: &Expr| match expr {
        Expr::BuiltIn(Computed::Level { level }) => is_path(&Expr::Slot(*level)),
        // All other readings are in no event, where it depends on this path alone.
        Expr::Path(readings) => readings.iter().any(is_path),
        other => is_path(other),
    };
    let is_text = matches!(class, Class::Strings(_));
    match expr {
        expr if is_value(expr) => Outcomes::OTHER,
        Expr::And(terms) => Outcomes::all(terms.iter().map(|term| unlisted(path, term, class))),
        Expr::Or(terms) => Outcomes::any(terms.iter().map(|term| unlisted(path, term, class))),
        Expr::Not(of) => unlisted(path, of, class).negated(),
        Expr::Constant(value) => Outcomes::of(value),
        Expr::IsNull(of, negated) if is_value(of) => Outcomes::from(*negated),
        Expr::Call { function, arguments, .. }
            if function.name == "Has" && arguments.first().is_some_and(is_value) =>
        {
            Outcomes::TRUE
        }
        Expr::CompareNumber { op, left, bound, .. } if is_value(left) => match class {
            Class::Numbers(Some((least, greatest))) => {
                between(*op, bound.compare(least.text.as_bytes()), bound.compare(greatest.text.as_bytes()))
            }
            Class::Numbers(None) => Outcomes::BOTH,
            _ => unlike(*op).map_or(Outcomes::UNDEFINED, Outcomes::from),
        },
        Expr::Compare { op, left, right, ci } => match (&**left, &**right) {
            (value, Expr::Constant(constant)) | (Expr::Constant(constant), value) if is_value(value) => {
                let is_negated = match op {
                    Comparison::Equal => false,
                    Comparison::NotEqual => true,
                    // Two numbers or two strings are compared, everything else is not.
                    _ => return if is_text { Outcomes::ANY } else { Outcomes::BOTH | Outcomes::UNDEFINED },
                };
                match (constant, may_equal(class, constant, *ci)) {
                    (Value::Undefined, _) => Outcomes::UNDEFINED,
                    (_, true) => Outcomes::BOTH,
                    (_, false) => Outcomes::from(is_negated),
                }
            }
            _ => Outcomes::ANY,
        },
        Expr::InSet { left, set, negated } if is_value(left) => match may_be_among(class, set) {
            true => Outcomes::BOTH,
            false => Outcomes::from(*negated),
        },
        Expr::Like { left, .. } | Expr::Match { left, .. } if is_value(left) => match is_text {
            true => Outcomes::BOTH,
            false => Outcomes::UNDEFINED,
        },
        Expr::MatchWhole { left, negated, .. } if is_value(left) => match is_text {
            true => Outcomes::BOTH,
            false => Outcomes::from(*negated),
        },
        _ => Outcomes::ANY,
    }
}

/// Whether one of the values may equal a constant.
fn may_equal(class: &Class<'_>, constant: &Value<'_>, ci: bool) -> bool {
    match (class, constant) {
        (Class::Strings(values), Value::Text(text)) => {
            ci || spelled(&text.text()).is_none_or(|spelled| values.may_hold(&spelled))
        }
        (Class::Numbers(range), Value::Number(number)) => range.is_none_or(|(least, greatest)| {
            number.compare(&Number::Stored(least.text)).is_ge()
                && number.compare(&Number::Stored(greatest.text)).is_le()
        }),
        (Class::Arrays, Value::Array(_)) | (Class::Objects, Value::Object(_)) => true,
        _ => false,
    }
}

/// Whether one of the values may equal one of many constants.
fn may_be_among(class: &Class<'_>, set: &Set) -> bool {
    match class {
        Class::Numbers(Some((least, greatest))) => {
            set.has_number_within(&Number::Stored(least.text), &Number::Stored(greatest.text))
        }
        class => set.values().iter().any(|value| may_equal(class, value, set.ci())),
    }
}

/// What comparing comes to for numbers of which the least and the greatest stand to the constant as told.
pub(super) fn between(op: Comparison, least: Ordering, greatest: Ordering) -> Outcomes {
    let mut outcomes = Outcomes::NONE;
    for (order, is_possible) in [
        (Ordering::Less, least.is_lt()),
        (Ordering::Equal, least.is_le() && greatest.is_ge()),
        (Ordering::Greater, greatest.is_gt()),
    ] {
        if is_possible {
            outcomes |= Outcomes::from(holds(op, order));
        }
    }
    outcomes
}
