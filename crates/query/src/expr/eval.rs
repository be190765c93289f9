//! Evaluation: a walk over the expression, borrowing from the event wherever nothing is computed.

use super::arithmetic::{calculate, negate};
use super::pattern::{Pattern, Replacement};
use super::scope::Scope;
use super::tree::Expr;
use crate::ast::{ArrayItem, Comparison, ObjectMember, Quantifier};
use crate::functions::{Call, FROM_JSON, ScalarFunction, read_json};
use crate::interrupt::STEP_UNITS;
use crate::value::{Number, Text, TooLarge, VALUE_BYTES_MAX, Value, compare, equal};
use rust_decimal::Decimal;
use std::cell::Cell;
use std::cmp::Ordering;
use tamias_json as stored;
use tamias_json::number::Bound;

impl Expr {
    /// Whether the expression is true: not false, not undefined, nothing else.
    pub(crate) fn test<'a>(&'a self, scope: &mut Scope<'a>) -> bool {
        match self {
            Expr::And(terms) => terms.iter().all(|term| term.test(scope)),
            Expr::Or(terms) => terms.iter().any(|term| term.test(scope)),
            Expr::CompareNumber { .. }
            | Expr::Compare { .. }
            | Expr::InSet { .. }
            | Expr::Match { .. }
            | Expr::Like { .. } => self.condition(scope) == Some(true),
            other => other.eval(scope).is_true(),
        }
    }

    /// The answer of a comparison or match; none if it is undefined.
    fn condition<'a>(&'a self, scope: &mut Scope<'a>) -> Option<bool> {
        match self {
            Expr::CompareNumber { op, left, bound, number: constant } => {
                if let Expr::Slot(slot) = **left {
                    return compare_stored(*op, scope.slot(slot)?, bound);
                }
                match left.eval(scope) {
                    // A computed number has no text yet.
                    Value::Number(number @ Number::Decimal(_)) => Some(holds(*op, number.compare(constant))),
                    Value::Number(number) => Some(holds(*op, bound.compare(number.text().as_bytes()))),
                    Value::Undefined => None,
                    _ => unlike(*op),
                }
            }
            Expr::Compare { op, left, right, ci } => {
                let (left, right) = (left.eval(scope), right.eval(scope));
                scope.charge(left.weight().min(right.weight()));
                match op {
                    Comparison::Equal => equal(&left, &right, *ci),
                    Comparison::NotEqual => equal(&left, &right, *ci).map(|equal| !equal),
                    op => compare(&left, &right, *ci).map(|order| holds(*op, order)),
                }
            }
            Expr::In { left, right, negated, ci } => match (left.eval(scope), right.eval(scope)) {
                (Value::Undefined, _) => None,
                (left, Value::Array(array)) => {
                    let left = match left {
                        Value::Text(text) => Value::Text(text.read()),
                        other => other,
                    };
                    // A comparison goes over no more than the shorter of the two.
                    let weight = left.weight();
                    let mut elements = array.iter();
                    let is_in = elements.any(|element| {
                        !scope.charge(STEP_UNITS + weight.min(element.weight()))
                            || equal(&left, &element, *ci) == Some(true)
                    });
                    Some(is_in != *negated)
                }
                _ => None,
            },
            Expr::InSet { left, set, negated } => match left.eval(scope) {
                Value::Undefined => None,
                left => Some(set.contains(&left) != *negated),
            },
            Expr::Like { left, pattern, negated } => match left.eval(scope) {
                Value::Text(text) => Some(scope.charge(text.weight()) && pattern.is_match(&text) != *negated),
                _ => None,
            },
            Expr::MatchWhole { left, pattern, negated } => match left.eval(scope) {
                Value::Text(text) => Some(scope.charge(text.weight()) && pattern.is_match(&text) != *negated),
                Value::Undefined => None,
                _ => Some(*negated),
            },
            Expr::Match { left, pattern } => match left.eval(scope) {
                Value::Text(text) => Some(scope.charge(text.weight()) && pattern.is_match(&text)),
                _ => None,
            },
            other => match other.eval(scope) {
                Value::Bool(bool) => Some(bool),
                _ => None,
            },
        }
    }

    pub(crate) fn eval<'a>(&'a self, scope: &mut Scope<'a>) -> Value<'a> {
        match self {
            Expr::Constant(value) => value.reborrow(),
            Expr::Slot(slot) => Value::maybe(scope.slot(*slot)),
            Expr::Group(group) => scope.groups.get(*group).map_or(Value::Undefined, Value::reborrow),
            Expr::Local(local) => scope.locals.get(*local).cloned().unwrap_or(Value::Undefined),
            Expr::BuiltIn(computed) => computed.eval(scope),
            Expr::Path(readings) => {
                let mut values = readings.iter().map(|reading| reading.eval(scope));
                values.find(|value| !value.is_undefined()).unwrap_or(Value::Undefined)
            }
            Expr::Member(..) | Expr::Element(..) => match self.json_root() {
                Some(text) => self.part_of_json(text, scope),
                None => self.along(scope),
            },
            Expr::Negate(of) => match of.eval(scope) {
                Value::Number(number) => scope.computed(negate(&number).map(Some)),
                _ => Value::Undefined,
            },
            Expr::Not(of) => match of.eval(scope) {
                Value::Bool(bool) => Value::Bool(!bool),
                Value::Undefined => Value::Bool(true),
                _ => Value::Undefined,
            },
            Expr::IsNull(of, negated) => {
                Value::Bool(matches!(of.eval(scope), Value::Null | Value::Undefined) != *negated)
            }
            Expr::And(_) | Expr::Or(_) => Value::Bool(self.test(scope)),
            Expr::Arithmetic(op, a, b) => match (a.eval(scope), b.eval(scope)) {
                (Value::Number(a), Value::Number(b)) => scope.computed(calculate(*op, &a, &b)),
                _ => Value::Undefined,
            },
            Expr::Compare { .. }
            | Expr::CompareNumber { .. }
            | Expr::In { .. }
            | Expr::InSet { .. }
            | Expr::Like { .. }
            | Expr::MatchWhole { .. }
            | Expr::Match { .. } => Value::from_option(self.condition(scope)),
            Expr::IndexOfMatch { left, pattern } => match left.eval(scope) {
                Value::Text(text) if scope.charge(text.weight()) => index_of_match(pattern, &text),
                _ => Value::Undefined,
            },
            Expr::ReplaceMatch { left, pattern, replacement } => match left.eval(scope) {
                Value::Text(text) if scope.charge(text.weight()) => {
                    replace(&text.text(), pattern, replacement, scope)
                }
                _ => Value::Undefined,
            },
            Expr::Call { function, arguments, ci } => call(function, arguments, *ci, scope),
            Expr::Coalesce(arguments) => coalesce(arguments, scope),
            Expr::Concat(arguments) => concat(arguments, scope),
            Expr::Array(items) => array(items, scope),
            Expr::Object(members) => object(members, scope),
            Expr::If(parts) => {
                let (condition, then, otherwise) = &**parts;
                if condition.test(scope) { then.eval(scope) } else { otherwise.eval(scope) }
            }
            Expr::Let(values, body) => {
                let depth = scope.locals.len();
                for value in values {
                    let value = value.eval(scope);
                    scope.locals.push(value);
                }
                let result = body.eval(scope);
                scope.locals.truncate(depth);
                result
            }
            Expr::Quantified { quantifier, collection, body } => {
                quantified(*quantifier, collection.eval(scope), body, scope)
            }
        }
    }
}

/// A stored value against a number, in its text.
#[inline]
fn compare_stored(op: Comparison, value: stored::Value<'_>, bound: &Bound) -> Option<bool> {
    match value {
        stored::Value::Number(_) => Some(holds(op, bound.compare(value.raw()))),
        _ => unlike(op),
    }
}

/// The comparison of a number with a value of another kind.
pub(crate) fn unlike(op: Comparison) -> Option<bool> {
    match op {
        Comparison::Equal => Some(false),
        Comparison::NotEqual => Some(true),
        _ => None,
    }
}

#[inline]
pub(crate) fn holds(op: Comparison, order: Ordering) -> bool {
    match op {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
        Comparison::Like | Comparison::NotLike | Comparison::In | Comparison::NotIn => false,
    }
}

impl Expr {
    /// The string that is read as JSON at the root of a path.
    fn json_root(&self) -> Option<&Expr> {
        match self {
            Expr::Member(of, _) | Expr::Element(of, _) => of.json_root(),
            Expr::Call { function, arguments, .. } if function.name == FROM_JSON => arguments.first(),
            _ => None,
        }
    }

    /// What stands at a path, whose root is looked at by itself.
    fn along<'a>(&'a self, scope: &mut Scope<'a>) -> Value<'a> {
        match self {
            Expr::Member(of, name) => {
                let of = of.along(scope);
                if scope.goes_over(&of) { of.member(name) } else { Value::Undefined }
            }
            Expr::Element(of, index) => {
                let (of, index) = (of.along(scope), index.eval(scope));
                if scope.goes_over(&of) { of.element(&index) } else { Value::Undefined }
            }
            root => root.eval(scope),
        }
    }

    /// What stands at a path in a string that is JSON: nothing else of it is made.
    fn part_of_json<'a>(&'a self, text: &'a Expr, scope: &mut Scope<'a>) -> Value<'a> {
        match text.eval(scope) {
            Value::Text(text) if scope.charge(text.weight()) => {
                let part = read_json(&text, |root| self.within(&root, scope).into_static());
                scope.limit(part, FROM_JSON)
            }
            _ => Value::Undefined,
        }
    }

    /// What stands at a path below its root.
    fn within<'a, 'v>(&'a self, root: &Value<'v>, scope: &mut Scope<'a>) -> Value<'v> {
        match self {
            Expr::Member(of, name) => {
                let of = of.within(root, scope);
                if scope.goes_over(&of) { of.member(name) } else { Value::Undefined }
            }
            Expr::Element(of, index) => {
                let (of, index) = (of.within(root, scope), index.eval(scope));
                if scope.goes_over(&of) { of.element(&index) } else { Value::Undefined }
            }
            _ => root.clone(),
        }
    }
}

/// The most arguments of a function that takes a fixed number of them.
const ARGUMENTS_MAX: usize = 4;

fn call<'a>(
    function: &'static ScalarFunction,
    arguments: &'a [Expr],
    ci: bool,
    scope: &mut Scope<'a>,
) -> Value<'a> {
    let mut values = [const { Value::Undefined }; ARGUMENTS_MAX];
    for (value, argument) in values.iter_mut().zip(arguments) {
        *value = argument.eval(scope);
    }
    let count = arguments.len().min(ARGUMENTS_MAX);
    let values = values.get(..count).unwrap_or_default();
    if function.is_strict && values.iter().take(function.least).any(Value::is_undefined) {
        return Value::Undefined;
    }
    let weight = values.iter().fold(0, |sum: usize, value| sum.saturating_add(value.weight()));
    if !scope.charge(weight) {
        return Value::Undefined;
    }
    let call = Call { arguments: values, ci, now: scope.now, too_large: Cell::new(false) };
    let result = (function.body)(&call);
    if call.too_large.get() {
        return scope.computed(Err(TooLarge));
    }
    scope.limit(result, function.name)
}

/// The place of the first match in characters, -1 for none.
fn index_of_match<'a>(pattern: &Pattern, text: &Text<'_>) -> Value<'a> {
    Value::from(pattern.index_of(&text.text()).map_or(Decimal::NEGATIVE_ONE, Decimal::from))
}

/// Whether the body holds for some element, or for every one; each becomes the next local in turn.
fn quantified<'a>(
    quantifier: Quantifier,
    collection: Value<'a>,
    body: &'a Expr,
    scope: &mut Scope<'a>,
) -> Value<'a> {
    let decisive = quantifier == Quantifier::Any;
    let depth = scope.locals.len();
    let mut decides = |element: Value<'a>| {
        scope.locals.push(element);
        let result = body.test(scope);
        scope.locals.truncate(depth);
        result == decisive || !scope.step()
    };
    match &collection {
        Value::Array(array) => Value::Bool(array.iter().any(&mut decides) == decisive),
        Value::Object(object) => Value::Bool(object.iter().any(|(_, value)| decides(value)) == decisive),
        _ => Value::Undefined,
    }
}

/// The first argument that has a value, else the last one.
fn coalesce<'a>(arguments: &'a [Expr], scope: &mut Scope<'a>) -> Value<'a> {
    let mut last = Value::Undefined;
    for argument in arguments {
        last = argument.eval(scope);
        if !matches!(last, Value::Null | Value::Undefined) {
            break;
        }
    }
    last
}

fn replace<'a>(text: &str, pattern: &Pattern, with: &Replacement, scope: &mut Scope<'a>) -> Value<'a> {
    let mut may_go_on = true;
    let charge = &mut |units| {
        may_go_on = scope.charge(units);
        may_go_on
    };
    match pattern.replace(text, with, VALUE_BYTES_MAX, charge) {
        Some(replaced) => scope.limit(Value::from(replaced), "Replace"),
        None if may_go_on => scope.too_large("Replace"),
        None => Value::Undefined,
    }
}

fn concat<'a>(arguments: &'a [Expr], scope: &mut Scope<'a>) -> Value<'a> {
    let mut joined = String::new();
    for argument in arguments {
        let Value::Text(text) = argument.eval(scope) else {
            return Value::Undefined;
        };
        if joined.len() + text.weight() > VALUE_BYTES_MAX {
            return scope.too_large("Concat");
        }
        if !scope.charge(text.weight()) {
            return Value::Undefined;
        }
        joined.push_str(&text.text());
    }
    Value::from(joined)
}

fn array<'a>(items: &'a [ArrayItem<Expr>], scope: &mut Scope<'a>) -> Value<'a> {
    let mut values = Vec::with_capacity(items.len());
    let mut weight = 0usize;
    for item in items {
        match item {
            ArrayItem::One(expr) => values.push(expr.eval(scope)),
            ArrayItem::Spread(expr) => {
                if let Value::Array(array) = expr.eval(scope) {
                    weight = weight.saturating_add(array.weight());
                    if weight > VALUE_BYTES_MAX {
                        return scope.too_large("[…]");
                    }
                    if !scope.charge(array.weight()) {
                        return Value::Undefined;
                    }
                    values.extend(array.iter());
                }
            }
        }
    }
    values.retain(|value| !value.is_undefined());
    scope.limit(Value::array(values), "[…]")
}

fn object<'a>(members: &'a [ObjectMember<Expr>], scope: &mut Scope<'a>) -> Value<'a> {
    let mut pairs: Vec<(Text<'a>, Value<'a>)> = Vec::with_capacity(members.len());
    let mut weight = 0usize;
    for member in members {
        match member {
            ObjectMember::Named(name, expr) => pairs.push((Text::Borrowed(name), expr.eval(scope))),
            ObjectMember::Spread(expr) => {
                if let Value::Object(object) = expr.eval(scope) {
                    weight = weight.saturating_add(object.weight());
                    if weight > VALUE_BYTES_MAX {
                        return scope.too_large("{…}");
                    }
                    if !scope.charge(object.weight()) {
                        return Value::Undefined;
                    }
                    pairs.extend(object.iter());
                }
            }
        }
    }
    scope.limit(Value::object(pairs), "{…}")
}
