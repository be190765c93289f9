//! Resolved expressions: every name is a slot of the event or a local, every pattern compiled.

mod arithmetic;
mod eval;
mod kind;
mod pattern;
mod print;
mod scope;

pub(crate) use arithmetic::calculate;
pub(crate) use eval::{element, holds, unlike};
pub(crate) use kind::Certain;
pub(crate) use pattern::{Like, LikeForm, Pattern, Replacement};
pub(crate) use print::{Printed, property};
pub(crate) use scope::{Event, Failure, Scope, Spare};

use crate::ast::{Arithmetic, Comparison, Quantifier};
use crate::functions::Function;
use crate::value::{Number, Value};
use tamias_json::number::Bound;

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Constant(Value<'static>),
    /// A key of the document's top level, by its number in the plan's list.
    Slot(usize),
    /// Behind a grouping: a key, or an aggregate.
    Group(usize),
    /// A value bound by `let`, a lambda or `unnest`.
    Local(usize),
    BuiltIn(Computed),
    Member(Box<Expr>, Box<str>),
    Element(Box<Expr>, Box<Expr>),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    IsNull(Box<Expr>, bool),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    /// `=` to `>=`.
    Compare {
        op: Comparison,
        left: Box<Expr>,
        right: Box<Expr>,
        ci: bool,
    },
    /// A comparison with a constant number.
    CompareNumber {
        op: Comparison,
        left: Box<Expr>,
        bound: Box<Bound>,
        number: Number<'static>,
    },
    In {
        left: Box<Expr>,
        right: Box<Expr>,
        negated: bool,
        ci: bool,
    },
    Like {
        left: Box<Expr>,
        pattern: Like,
        negated: bool,
    },
    /// `= /re/`: the whole string matches.
    MatchWhole {
        left: Box<Expr>,
        pattern: Pattern,
        negated: bool,
    },
    /// `IsMatch(left, pattern)`.
    Match {
        left: Box<Expr>,
        pattern: Pattern,
    },
    IndexOfMatch {
        left: Box<Expr>,
        pattern: Pattern,
    },
    ReplaceMatch {
        left: Box<Expr>,
        pattern: Pattern,
        replacement: Box<Replacement>,
    },
    Call {
        function: &'static Function,
        arguments: Vec<Expr>,
        ci: bool,
    },
    Coalesce(Vec<Expr>),
    Concat(Vec<Expr>),
    Array(Vec<Item>),
    Object(Vec<Member>),
    If(Box<(Expr, Expr, Expr)>),
    /// Each value becomes the next local.
    Let(Vec<Expr>, Box<Expr>),
    /// `Some` and `Every`: the element becomes the next local.
    Quantified {
        quantifier: Quantifier,
        collection: Box<Expr>,
        body: Box<Expr>,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    One(Expr),
    Spread(Expr),
}

#[derive(Clone, Debug)]
pub(crate) enum Member {
    Named(Box<str>, Expr),
    Spread(Expr),
}

/// A built-in that is more than a stored value. The numbers are slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Computed {
    Timestamp,
    Level { level: usize },
    Message { message: usize, template: usize, renderings: usize },
    EventType { event_type: usize, template: usize },
    Start { start: usize },
    Elapsed { start: usize },
    Id,
    Arrived,
    Properties,
    Data,
}

impl Computed {
    /// The slots that it is computed from.
    pub(crate) fn slots(self) -> Vec<usize> {
        match self {
            Computed::Level { level } => vec![level],
            Computed::Message { message, template, renderings } => vec![message, template, renderings],
            Computed::EventType { event_type, template } => vec![event_type, template],
            Computed::Start { start } | Computed::Elapsed { start } => vec![start],
            Computed::Timestamp
            | Computed::Id
            | Computed::Arrived
            | Computed::Properties
            | Computed::Data => Vec::new(),
        }
    }
}

/// What stands directly inside an expression: one definition for looking at it and for changing it.
macro_rules! children {
    ($(#[$doc:meta])* $name:ident, $iter:ident $(, $mutable:tt)?) => {
        $(#[$doc])*
        pub(crate) fn $name(&$($mutable)? self) -> Vec<&$($mutable)? Expr> {
            match self {
                Expr::Constant(_) | Expr::Slot(_) | Expr::Group(_) | Expr::Local(_) | Expr::BuiltIn(_) => {
                    Vec::new()
                }
                Expr::Member(of, _) | Expr::Negate(of) | Expr::Not(of) | Expr::IsNull(of, _) => vec![of],
                Expr::CompareNumber { left, .. }
                | Expr::Like { left, .. }
                | Expr::MatchWhole { left, .. }
                | Expr::Match { left, .. }
                | Expr::IndexOfMatch { left, .. }
                | Expr::ReplaceMatch { left, .. } => vec![left],
                Expr::Element(a, b)
                | Expr::Arithmetic(_, a, b)
                | Expr::Compare { left: a, right: b, .. }
                | Expr::In { left: a, right: b, .. }
                | Expr::Quantified { collection: a, body: b, .. } => vec![a, b],
                Expr::And(list) | Expr::Or(list) | Expr::Coalesce(list) | Expr::Concat(list) => {
                    list.$iter().collect()
                }
                Expr::Call { arguments, .. } => arguments.$iter().collect(),
                Expr::Array(items) => items.$iter().map(|(Item::One(e) | Item::Spread(e))| e).collect(),
                Expr::Object(members) => {
                    members.$iter().map(|(Member::Named(_, e) | Member::Spread(e))| e).collect()
                }
                Expr::If(parts) => {
                    let (condition, then, otherwise) = &$($mutable)? **parts;
                    vec![condition, then, otherwise]
                }
                Expr::Let(values, body) => values.$iter().chain([&$($mutable)? **body]).collect(),
            }
        }
    };
}

impl Expr {
    pub(crate) fn constant(value: impl Into<Value<'static>>) -> Expr {
        Expr::Constant(value.into())
    }

    children!(
        /// The expressions directly inside this one.
        children, iter
    );

    children!(
        /// The same, to be changed.
        children_mut, iter_mut, mut
    );
}
