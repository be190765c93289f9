//! A condition, taken apart as far as blocks and their bytes can tell of it.

use super::outcomes::Outcomes;
use crate::ast::Comparison;
use crate::expr::{Computed, Expr, Set};
use std::cmp::Ordering;
use std::sync::Arc;
use tamias_json::number::Bound;

/// A condition. It says in up to three ways what it comes to: by the period, over values that statistics tell, and by what can be
/// searched for.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) form: Form,
    /// The slot that it depends on, if it depends on nothing else; none where a condition around it has one.
    pub(super) alone: Option<Alone>,
}

#[derive(Debug)]
pub(super) enum Form {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    /// Its term never is a value that is no Boolean, but perhaps where that is opaque.
    Not(Box<Condition>),
    Constant(Outcomes),
    /// `@Timestamp` against a constant.
    Time(Time),
    /// Something that can be searched for: true, false or undefined, and nothing else.
    Sought(Sought),
    /// Nothing is known of it: it may come to anything.
    Opaque,
}

/// A condition that depends on one slot: an event with this value in it, and nothing else, tells what it comes to.
#[derive(Debug)]
pub(super) struct Alone {
    pub(super) slot: usize,
    pub(super) expr: Expr,
    /// Such conditions are numbered from 0 on.
    pub(super) number: usize,
}

/// The instants that stand to a number as wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    pub(super) op: Comparison,
    /// The first instant that is not less than the number.
    pub(super) from: u128,
    /// The first that is greater. Both may be [`INSTANTS`], which is none.
    pub(super) after: u128,
}

/// The number of instants: just past the last one.
pub(super) const INSTANTS: u128 = 1 << 64;

/// What can be searched for in the bytes of documents. Texts are told by their numbers among the prefilter's needles.
#[derive(Debug)]
pub(super) enum Sought {
    /// A key's value is a number that compares so; for `<>` also where it is something else.
    Number { slot: usize, op: Comparison, bound: Box<Bound> },
    /// A key's value is there.
    Defined { slot: usize },
    /// It is there, and not null.
    NotNull { slot: usize },
    /// It begins with one of these bytes, which end a value where it has to end.
    OneOf { slot: usize, values: Vec<Box<[u8]>> },
    /// It is a number that equals one of these.
    NumberOneOf { slot: usize, bounds: Vec<Bound> },
    /// It is one of many: it takes reading the value, up to its end.
    Among { slot: usize, set: Arc<Set> },
    /// It is rare, and found together with its key: it is these bytes, or begins with them.
    Value { slot: usize, needle: usize, value: Box<[u8]>, is_whole: bool },
    /// It is a string with this text in it, which is spelt in one way only.
    Contains { slot: usize, needle: usize },
    /// Any of these texts stands somewhere in the document: or else the condition is not true. That says no, and never yes.
    Mentions { needles: Vec<usize> },
}

impl Condition {
    /// Whether there are events that a search tells no.
    pub(super) fn narrows(&self) -> bool {
        self.form.tells(false)
    }
}

impl From<Form> for Condition {
    fn from(form: Form) -> Condition {
        Condition { form, alone: None }
    }
}

impl Form {
    /// The form of `not`.
    pub(super) fn negated(self) -> Form {
        match self {
            Form::Constant(outcomes) => Form::Constant(outcomes.negated()),
            other => Form::Not(Box::new(other.into())),
        }
    }

    /// Whether there are events that a search tells this answer for sure.
    fn tells(&self, answer: bool) -> bool {
        match self {
            Form::And(terms) if answer => terms.iter().all(|term| term.form.tells(true)),
            Form::And(terms) => terms.iter().any(|term| term.form.tells(false)),
            Form::Or(terms) if answer => terms.iter().any(|term| term.form.tells(true)),
            Form::Or(terms) => terms.iter().all(|term| term.form.tells(false)),
            Form::Not(of) => of.form.tells(!answer),
            Form::Constant(outcomes) => outcomes.passes() == Some(answer),
            Form::Sought(Sought::Mentions { .. }) => !answer,
            Form::Sought(_) => true,
            Form::Time(_) | Form::Opaque => false,
        }
    }
}

impl Time {
    pub(super) fn new(op: Comparison, bound: &Bound) -> Time {
        let order = |instant: u64| bound.compare(instant.to_string().as_bytes());
        let from = first(|instant| order(instant).is_ge());
        Time { op, from, after: first(|instant| order(instant).is_gt()) }
    }

    /// How an instant stands to the number.
    pub(super) fn order(&self, instant: u64) -> Ordering {
        match u128::from(instant) {
            instant if instant < self.from => Ordering::Less,
            instant if instant < self.after => Ordering::Equal,
            _ => Ordering::Greater,
        }
    }
}

/// The first instant that is so, where all that follow are so too; their number if none is.
fn first(is_so: impl Fn(u64) -> bool) -> u128 {
    let (mut low, mut high) = (0, INSTANTS);
    while low < high {
        let middle = low + (high - low) / 2;
        match u64::try_from(middle).is_ok_and(&is_so) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// The slot that an expression depends on, if it depends on nothing else of its event; the inner one none where it is
/// constant. What is known to be in no event is no slot.
pub(crate) fn only_slot(expr: &Expr, is_absent: &impl Fn(usize) -> bool) -> Option<Option<usize>> {
    match expr {
        Expr::Slot(slot)
        | Expr::BuiltIn(Computed::Level { level: slot } | Computed::Start { start: slot }) => {
            return Some(Some(*slot).filter(|slot| !is_absent(*slot)));
        }
        Expr::BuiltIn(_) | Expr::Group(_) => return None,
        _ => {}
    }
    let mut only = None;
    for child in expr.children() {
        match (only_slot(child, is_absent)?, only) {
            (None, _) => {}
            (Some(slot), None) => only = Some(slot),
            (Some(slot), Some(other)) if slot == other => {}
            _ => return None,
        }
    }
    Some(only)
}
