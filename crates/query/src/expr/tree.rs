//! What a resolved expression consists of.

use super::computed::Computed;
use super::like::Like;
use super::pattern::{Pattern, Replacement};
use super::set::Set;
use crate::ast::{Arithmetic, ArrayItem, Comparison, ObjectMember, Quantifier};
use crate::functions::ScalarFunction;
use crate::value::{Number, Value};
use std::sync::Arc;
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
    /// A dotted path: the first of its readings that has a value. Each begins with a slot of its own and goes on with members.
    Path(Vec<Expr>),
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
    /// A comparison with constants.
    InSet {
        left: Box<Expr>,
        set: Arc<Set>,
        negated: bool,
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
        function: &'static ScalarFunction,
        arguments: Vec<Expr>,
        ci: bool,
    },
    Coalesce(Vec<Expr>),
    Concat(Vec<Expr>),
    Array(Vec<ArrayItem<Expr>>),
    Object(Vec<ObjectMember<Expr>>),
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
                | Expr::InSet { left, .. }
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
                Expr::And(list)
                | Expr::Or(list)
                | Expr::Coalesce(list)
                | Expr::Concat(list)
                | Expr::Path(list) => list.$iter().collect(),
                Expr::Call { arguments, .. } => arguments.$iter().collect(),
                Expr::Array(items) => items.$iter().map(|(ArrayItem::One(e) | ArrayItem::Spread(e))| e).collect(),
                Expr::Object(members) => members
                    .$iter()
                    .map(|(ObjectMember::Named(_, e) | ObjectMember::Spread(e))| e)
                    .collect(),
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
    /// Whether both are surely the same value of an event: a slot, a built-in, what lies within, or what is computed of such alike.
    pub(crate) fn is_same(&self, other: &Expr) -> bool {
        let (own, others) = (self.children(), other.children());
        self.does_the_same(other)
            && own.len() == others.len()
            && own.into_iter().zip(others).all(|(own, other)| own.is_same(other))
    }

    /// Whether it surely makes the same of what stands directly inside.
    fn does_the_same(&self, other: &Expr) -> bool {
        match (self, other) {
            (Expr::Constant(Value::Number(number)), Expr::Constant(Value::Number(other))) => {
                number.text() == other.text()
            }
            (Expr::Constant(Value::Text(text)), Expr::Constant(Value::Text(other))) => {
                text.text() == other.text()
            }
            (Expr::Constant(Value::Bool(truth)), Expr::Constant(Value::Bool(other))) => truth == other,
            (Expr::Constant(Value::Null), Expr::Constant(Value::Null))
            | (Expr::Constant(Value::Undefined), Expr::Constant(Value::Undefined))
            | (Expr::Path(_), Expr::Path(_))
            | (Expr::Element(..), Expr::Element(..))
            | (Expr::Negate(_), Expr::Negate(_))
            | (Expr::Not(_), Expr::Not(_))
            | (Expr::And(_), Expr::And(_))
            | (Expr::Or(_), Expr::Or(_))
            | (Expr::Coalesce(_), Expr::Coalesce(_))
            | (Expr::Concat(_), Expr::Concat(_))
            | (Expr::If(_), Expr::If(_)) => true,
            (Expr::Slot(slot), Expr::Slot(other)) => slot == other,
            (Expr::Local(local), Expr::Local(other)) => local == other,
            (Expr::BuiltIn(computed), Expr::BuiltIn(other)) => computed == other,
            (Expr::Member(_, name), Expr::Member(_, other)) => name == other,
            (Expr::IsNull(_, negated), Expr::IsNull(_, other)) => negated == other,
            (Expr::Arithmetic(op, ..), Expr::Arithmetic(other, ..)) => op == other,
            (Expr::Compare { op, ci, .. }, Expr::Compare { op: other, ci: other_ci, .. }) => {
                (op, ci) == (other, other_ci)
            }
            (
                Expr::CompareNumber { op, number, .. },
                Expr::CompareNumber { op: other, number: other_number, .. },
            ) => op == other && number.text() == other_number.text(),
            (
                Expr::Like { pattern, negated, .. },
                Expr::Like { pattern: other, negated: other_negated, .. },
            ) => (pattern.source(), pattern.ci(), negated) == (other.source(), other.ci(), other_negated),
            (
                Expr::MatchWhole { pattern, negated, .. },
                Expr::MatchWhole { pattern: other, negated: other_negated, .. },
            ) => pattern.is_same(other) && negated == other_negated,
            (Expr::Match { pattern, .. }, Expr::Match { pattern: other, .. })
            | (Expr::IndexOfMatch { pattern, .. }, Expr::IndexOfMatch { pattern: other, .. }) => {
                pattern.is_same(other)
            }
            (
                Expr::ReplaceMatch { pattern, replacement, .. },
                Expr::ReplaceMatch { pattern: other, replacement: other_replacement, .. },
            ) => pattern.is_same(other) && replacement.source() == other_replacement.source(),
            (Expr::Call { function, ci, .. }, Expr::Call { function: other, ci: other_ci, .. }) => {
                (function.name, ci) == (other.name, other_ci)
            }
            _ => false,
        }
    }

    /// Numbers its locals from so many on.
    pub(crate) fn shift_locals(&mut self, by: usize) {
        if let Expr::Local(local) = self {
            *local += by;
        }
        self.children_mut().into_iter().for_each(|child| child.shift_locals(by));
    }

    /// Whether it reads a local: an element, or what `let` names.
    pub(crate) fn reads_local(&self) -> bool {
        matches!(self, Expr::Local(_)) || self.children().into_iter().any(Expr::reads_local)
    }

    /// Whether it is the same value wherever and whenever it is computed: locals of its own would get other numbers.
    pub(crate) fn is_alike_anywhere(&self) -> bool {
        match self {
            Expr::Let(..) | Expr::Quantified { .. } => false,
            Expr::Call { function, .. } if !function.is_pure => false,
            other => other.children().into_iter().all(Expr::is_alike_anywhere),
        }
    }

    /// The terms of a condition that had better be asked of events before their collections are unnested, and the others: those that read no local, not even one
    /// of their own, and take little time.
    pub(crate) fn split_for_events(&self) -> (Option<Expr>, Option<Expr>) {
        let terms = match self {
            Expr::And(terms) => terms.clone(),
            other => vec![other.clone()],
        };
        let together = |mut terms: Vec<Expr>| match terms.len() {
            0 | 1 => terms.pop(),
            _ => Some(Expr::And(terms)),
        };
        let (early, others) = terms.into_iter().partition(Expr::is_light);
        (together(early), together(others))
    }

    /// Whether it only compares what events have, or looks for texts in it.
    fn is_light(&self) -> bool {
        const LIGHT: [&str; 7] =
            ["Has", "StartsWith", "EndsWith", "Contains", "Length", "DatePart", "DateTime"];
        let is_light_itself = match self {
            Expr::BuiltIn(computed) => {
                !matches!(computed, Computed::Message { .. } | Computed::Data | Computed::Properties)
            }
            Expr::Call { function, .. } => LIGHT.contains(&function.name),
            Expr::Constant(_)
            | Expr::Slot(_)
            | Expr::Path(_)
            | Expr::Member(..)
            | Expr::Compare { .. }
            | Expr::CompareNumber { .. }
            | Expr::In { .. }
            | Expr::InSet { .. }
            | Expr::Like { .. }
            | Expr::Match { .. }
            | Expr::IsNull(..)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::Negate(_)
            | Expr::Arithmetic(..) => true,
            _ => false,
        };
        is_light_itself && self.children().into_iter().all(Expr::is_light)
    }

    /// How many expressions it consists of.
    pub(crate) fn count(&self) -> usize {
        1 + self.children().into_iter().map(Expr::count).sum::<usize>()
    }

    /// Whether it compares, so that its value is true, false or undefined.
    pub(crate) fn is_comparison(&self) -> bool {
        matches!(
            self,
            Expr::Compare { .. }
                | Expr::CompareNumber { .. }
                | Expr::In { .. }
                | Expr::InSet { .. }
                | Expr::Like { .. }
                | Expr::Match { .. }
                | Expr::MatchWhole { .. }
                | Expr::IsNull(..)
                | Expr::Quantified { .. }
        )
    }

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
