//! A condition, taken apart as far as blocks and their bytes can tell of it.

use super::key_path::KeyPath;
use super::outcomes::Outcomes;
use crate::ast::Comparison;
use crate::expr::{Expr, Set};
use crate::value::Number;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use std::cmp::Ordering;
use std::sync::Arc;
use tamias_json::number::Bound;

/// A condition. It says in up to three ways what it comes to: by the period, over values that statistics tell, and by what can be
/// searched for.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) form: Form,
    /// The value that it depends on, if it may depend on nothing else; none where a condition around it surely has one.
    pub(super) alone: Option<Alone>,
}

#[derive(Debug)]
pub(super) enum Form {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    /// Its term never is a value that is no Boolean, but perhaps where that is opaque.
    Not(Box<Condition>),
    Constant(Outcomes),
    /// What stands in an event's head against constants: any of these comparisons. It is true or false.
    Head(Head, Vec<Compared>),
    /// Something that can be searched for: true, false or undefined, and nothing else.
    Sought(Sought),
    /// Nothing is known of it: it may come to anything.
    Opaque,
}

/// A condition that depends on one value: an event with this value, and nothing else, tells what it comes to.
#[derive(Debug)]
pub(super) struct Alone {
    /// None where the block decides it: of the readings of a dotted path, most are in no event.
    pub(super) path: Option<KeyPath>,
    pub(super) expr: Expr,
    /// Such conditions are numbered from 0 on.
    pub(super) number: usize,
}

/// What is known of an event without its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// Its place in the order of all events: `@Timestamp` and `@Id`.
    Place,
    /// Its arrival number.
    Arrival,
}

/// A place in the order of events: an instant, and an arrival number among the events of that. Or a number that such are compared with.
pub(super) type Place = (u128, u64);

/// Just past the last place.
pub(super) const END: Place = (1 << 64, 0);

/// The places that stand to a constant as wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub(super) op: Comparison,
    /// The first place that is not less than the constant.
    pub(super) from: Place,
    /// The first that is greater. Both may be [`END`], which is none.
    pub(super) after: Place,
}

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
    /// It is a string of so many characters that they compare so.
    Length { slot: usize, op: Comparison, length: i64 },
    /// It is one of many: it takes reading the value, up to its end.
    Among { slot: usize, set: Arc<Set> },
    /// It is rare, and found together with its key: it is these bytes, or begins with them.
    Value { slot: usize, needle: usize, value: Box<[u8]>, is_whole: bool },
    /// It is a string with this text in it, which is spelt in one way only.
    Contains { slot: usize, needle: usize },
    /// Any of these texts stands somewhere in the document: or else the condition is not true. That says no, and never yes.
    Mentions { needles: Vec<usize> },
    /// A string anywhere among the values has this text in it.
    Said { needle: usize },
}

impl Condition {
    /// Whether there are events that a search tells no.
    pub(super) fn narrows(&self) -> bool {
        self.form.tells(false)
    }

    /// Whether arrival numbers decide a part of it.
    pub(super) fn asks_arrivals(&self) -> bool {
        match &self.form {
            Form::And(terms) | Form::Or(terms) => terms.iter().any(Condition::asks_arrivals),
            Form::Not(of) => of.asks_arrivals(),
            Form::Head(head, _) => *head == Head::Arrival,
            Form::Constant(_) | Form::Sought(_) | Form::Opaque => false,
        }
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
            Form::Head(..) | Form::Opaque => false,
        }
    }
}

impl Compared {
    /// Numbers against a number: instants, or arrival numbers.
    pub(super) fn number(op: Comparison, number: &Number<'_>) -> Compared {
        let whole = number.decimal().filter(Decimal::is_integer).and_then(|decimal| decimal.to_u64());
        if let Some(whole) = whole.map(u128::from) {
            return Compared { op, from: (whole, 0), after: (whole + 1, 0) };
        }
        let bound = Bound::new(&number.text());
        let order = |number: u128| bound.compare(number.to_string().as_bytes());
        let last = u128::from(u64::MAX);
        let place = |number: Option<u128>| number.map_or(END, |number| (number, 0));
        let from = place(first(last, |number| order(number).is_ge()));
        Compared { op, from, after: place(first(last, |number| order(number).is_gt())) }
    }

    /// Identifiers against a text.
    pub(super) fn id(op: Comparison, text: &str) -> Compared {
        let place = |id: Option<u128>| id.map_or(END, |id| (id >> 64, id as u64));
        let is_id = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if let Some(id) = u128::from_str_radix(text, 16).ok().filter(|_| is_id) {
            return Compared { op, from: place(Some(id)), after: place(id.checked_add(1)) };
        }
        let order = |id: u128| format!("{id:032x}").as_str().cmp(text);
        let from = place(first(u128::MAX, |id| order(id).is_ge()));
        Compared { op, from, after: place(first(u128::MAX, |id| order(id).is_gt())) }
    }

    /// How a place stands to the constant.
    pub(super) fn order(&self, place: Place) -> Ordering {
        match place {
            place if place < self.from => Ordering::Less,
            place if place < self.after => Ordering::Equal,
            _ => Ordering::Greater,
        }
    }
}

/// The first number up to the last that is so, where all that follow are so too.
fn first(last: u128, is_so: impl Fn(u128) -> bool) -> Option<u128> {
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_so(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low).filter(|low| is_so(*low))
}
