//! Conditions as something to search for.

use crate::ast::Comparison;
use crate::expr::{Computed, Expr, Like, LikeForm, Pattern};
use crate::value::Value;
use tamias_json::number::Bound;
use tamias_json::search::Needle;
use tamias_json::write_json_string;

/// A condition of which each event is told yes, no or maybe.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// A key's value is a number that compares so; for `<>` also where it is something else.
    Number {
        slot: usize,
        op: Comparison,
        bound: Box<Bound>,
    },
    /// A key's value is there.
    Defined {
        slot: usize,
    },
    /// It is there, and not null.
    NotNull {
        slot: usize,
    },
    /// It begins with one of these bytes, which end a value where it has to end.
    OneOf {
        slot: usize,
        values: Vec<Box<[u8]>>,
    },
    /// It is a number that equals one of these.
    NumberOneOf {
        slot: usize,
        bounds: Vec<Bound>,
    },
    /// It is rare, and found together with its key.
    Value {
        slot: usize,
        needle: Box<Needle>,
        value: Box<[u8]>,
        is_whole: bool,
    },
    /// It is a string with this text in it, which is spelt in one way only.
    Contains {
        slot: usize,
        needle: Box<Needle>,
    },
    /// Any of these texts stands somewhere in the document: or else the event is none.
    Mentions {
        needles: Vec<Needle>,
    },
    /// Nothing to be searched for.
    Unknown,
}

/// Most values of one key that are searched for one by one: more are compared at each place of the key.
const VALUES_SEARCHED: usize = 2;
/// Most values that a place is compared with.
const VALUES_COMPARED: usize = 64;
/// A text that is shorter stands nearly everywhere.
const MENTION_BYTES_MIN: usize = 3;
const MENTIONS_MAX: usize = 4;

impl Condition {
    /// The condition of an expression's truth. `names` are those of its slots.
    pub(super) fn of(expr: &Expr, names: &[Box<str>]) -> Condition {
        match expr {
            Expr::And(terms) => Condition::All(terms.iter().map(|term| Condition::of(term, names)).collect()),
            Expr::Or(terms) => any(terms.iter().map(|term| Condition::of(term, names)).collect(), names),
            // `not` is true of what is false and of what is undefined, and conditions are nothing else than true or those.
            Expr::Not(of) => match Condition::of(of, names) {
                Condition::Unknown => Condition::Unknown,
                known => Condition::Not(Box::new(known)),
            },
            Expr::IsNull(of, negated) => match (&**of, negated) {
                (Expr::Slot(slot), true) => Condition::NotNull { slot: *slot },
                (Expr::Slot(slot), false) => Condition::Not(Box::new(Condition::NotNull { slot: *slot })),
                _ => Condition::Unknown,
            },
            Expr::CompareNumber { op, left, bound, .. } => match **left {
                Expr::Slot(slot) => Condition::Number { slot, op: *op, bound: bound.clone() },
                _ => Condition::Unknown,
            },
            Expr::Compare { op: Comparison::Equal, left, right, ci: false } => equal(left, right, names),
            Expr::Compare { op: Comparison::NotEqual, left, right, ci: false } => {
                match (equal(left, right, names), slot_of(left).or(slot_of(right))) {
                    (Condition::Unknown, _) | (_, None) => Condition::Unknown,
                    (equal, Some(slot)) => {
                        Condition::All(vec![Condition::Defined { slot }, Condition::Not(Box::new(equal))])
                    }
                }
            }
            Expr::In { left, right, negated: false, ci: false } => within(left, right, names),
            Expr::Like { left, pattern, negated: false } => like(left, pattern, names),
            Expr::Match { left, pattern } => match (&**left, pattern.literal_bytes()) {
                (Expr::Slot(slot), Some(literal)) => contains(*slot, literal),
                _ => mentions(left, pattern),
            },
            Expr::MatchWhole { left, pattern, negated: false } => mentions(left, pattern),
            _ => Condition::Unknown,
        }
    }

    /// Whether there are events that it tells no.
    pub(super) fn narrows(&self) -> bool {
        match self {
            Condition::All(conditions) => conditions.iter().any(Condition::narrows),
            Condition::Any(conditions) => conditions.iter().all(Condition::narrows),
            Condition::Unknown => false,
            _ => true,
        }
    }
}

fn slot_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Slot(slot) => Some(*slot),
        _ => None,
    }
}

fn equal(left: &Expr, right: &Expr, names: &[Box<str>]) -> Condition {
    match (left, right) {
        (Expr::Slot(slot), Expr::Constant(value)) | (Expr::Constant(value), Expr::Slot(slot)) => {
            match value {
                Value::Text(text) => value_of(*slot, &text.text(), true, names),
                Value::Bool(bool) => {
                    let text: &[u8] = if *bool { b"true" } else { b"false" };
                    Condition::OneOf { slot: *slot, values: vec![text.into()] }
                }
                _ => Condition::Unknown,
            }
        }
        // An event without a level is one of `Information`.
        (Expr::BuiltIn(Computed::Level { level }), Expr::Constant(Value::Text(text)))
        | (Expr::Constant(Value::Text(text)), Expr::BuiltIn(Computed::Level { level })) => {
            let stored = value_of(*level, &text.text(), true, names);
            match (&stored, &*text.text() == "Information") {
                (Condition::Unknown, _) => Condition::Unknown,
                (_, false) => stored,
                (_, true) => {
                    let absent = Condition::Not(Box::new(Condition::Defined { slot: *level }));
                    Condition::Any(vec![stored, absent])
                }
            }
        }
        _ => Condition::Unknown,
    }
}

/// A key's value is this string, or begins with it.
fn value_of(slot: usize, text: &str, is_whole: bool, names: &[Box<str>]) -> Condition {
    // Lone surrogates read as the replacement character, but are stored as they came.
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Condition::Unknown;
    }
    let mut bytes = Vec::new();
    let Some(name) = names.get(slot) else { return Condition::Unknown };
    write_json_string(name, &mut bytes);
    bytes.push(b':');
    let key_bytes = bytes.len();
    write_json_string(text, &mut bytes);
    if !is_whole {
        bytes.pop();
    }
    let value = bytes.get(key_bytes..).unwrap_or_default().into();
    match Needle::new(&bytes) {
        Some(needle) => Condition::Value { slot, needle: Box::new(needle), value, is_whole },
        None => Condition::Unknown,
    }
}

fn within(left: &Expr, right: &Expr, names: &[Box<str>]) -> Condition {
    let (Expr::Slot(slot), Expr::Constant(Value::Array(array))) = (left, right) else {
        return Condition::Unknown;
    };
    let each = |element: Value<'_>| match element {
        Value::Text(text) => value_of(*slot, &text.text(), true, names),
        Value::Number(number) => {
            let bound = Box::new(Bound::new(&number.text()));
            Condition::Number { slot: *slot, op: Comparison::Equal, bound }
        }
        _ => Condition::Unknown,
    };
    any(array.iter().map(each).collect(), names)
}

/// Joins conditions; many values of the same key are compared where the key stands.
fn any(conditions: Vec<Condition>, names: &[Box<str>]) -> Condition {
    let mut joined = Vec::with_capacity(conditions.len());
    for slot in 0..names.len() {
        let values: Vec<Box<[u8]>> =
            conditions.iter().filter_map(|condition| whole_value(condition, slot)).collect();
        if (VALUES_SEARCHED + 1..=VALUES_COMPARED).contains(&values.len()) {
            joined.push(Condition::OneOf { slot, values });
        } else if values.len() > VALUES_COMPARED {
            return Condition::Unknown;
        }
    }
    for slot in 0..names.len() {
        let bounds: Vec<Bound> =
            conditions.iter().filter_map(|condition| equal_number(condition, slot)).cloned().collect();
        if (2..=VALUES_COMPARED).contains(&bounds.len()) {
            joined.push(Condition::NumberOneOf { slot, bounds });
        }
    }
    let is_joined = |condition: &Condition| {
        joined.iter().any(|joined| match joined {
            Condition::OneOf { slot, .. } => whole_value(condition, *slot).is_some(),
            Condition::NumberOneOf { slot, .. } => equal_number(condition, *slot).is_some(),
            _ => false,
        })
    };
    let others: Vec<Condition> = conditions.into_iter().filter(|condition| !is_joined(condition)).collect();
    joined.extend(others);
    Condition::Any(joined)
}

/// The bytes of the value that the condition wants a key to have.
fn whole_value(condition: &Condition, wanted: usize) -> Option<Box<[u8]>> {
    match condition {
        Condition::Value { slot, value, is_whole: true, .. } if *slot == wanted => Some(value.clone()),
        _ => None,
    }
}

/// The number that the condition wants a key to have.
fn equal_number(condition: &Condition, wanted: usize) -> Option<&Bound> {
    match condition {
        Condition::Number { slot, op: Comparison::Equal, bound, .. } if *slot == wanted => Some(bound),
        _ => None,
    }
}

fn like(left: &Expr, pattern: &Like, names: &[Box<str>]) -> Condition {
    let Expr::Slot(slot) = left else { return Condition::Unknown };
    match pattern.form() {
        LikeForm::Exact(text) => value_of(*slot, text, true, names),
        LikeForm::Prefix(text) if !text.is_empty() => value_of(*slot, text, false, names),
        LikeForm::Contains(text) => contains(*slot, text),
        LikeForm::Prefix(_) | LikeForm::Other => Condition::Unknown,
    }
}

fn contains(slot: usize, literal: &[u8]) -> Condition {
    match Needle::new(literal) {
        Some(needle) => Condition::Contains { slot, needle: Box::new(needle) },
        None => Condition::Unknown,
    }
}

/// The document has one of the texts in it that a stored string needs in order to match.
fn mentions(of: &Expr, pattern: &Pattern) -> Condition {
    let literals = match of {
        Expr::Slot(_) => pattern.required(),
        _ => Vec::new(),
    };
    let rare = literals.iter().filter(|literal| literal.len() >= MENTION_BYTES_MIN);
    let needles: Vec<Needle> = rare.filter_map(|literal| Needle::new(literal)).collect();
    if needles.is_empty() || needles.len() < literals.len() || needles.len() > MENTIONS_MAX {
        return Condition::Unknown;
    }
    Condition::Mentions { needles }
}
