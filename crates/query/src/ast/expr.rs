//! Expressions as they are written.

use super::item::{ArrayItem, ObjectMember};
use super::operator::{Arithmetic, Comparison, Quantifier};
use crate::builtin::BuiltIn;
use crate::span::Span;

#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// An expression with its place.
#[derive(Clone, Debug)]
pub(crate) struct ParsedExpr {
    pub(crate) node: Node,
    pub(crate) span: Span,
    /// How deep the expression nests: what walks it may recurse.
    pub(crate) depth: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// A number as JSON text.
    Number(String),
    /// A duration, in ticks.
    Duration(rust_decimal::Decimal),
    /// A hexadecimal number.
    Hex(u128),
    Text(String),
    Regex(String),
    Parameter(String),
    Name(String),
    BuiltIn(BuiltIn),
    Member(Box<ParsedExpr>, String),
    Element(Box<ParsedExpr>, Box<ParsedExpr>),
    Wildcard(Box<ParsedExpr>, Quantifier),
    Negate(Box<ParsedExpr>),
    Not(Box<ParsedExpr>),
    IsNull(Box<ParsedExpr>, bool),
    And(Vec<ParsedExpr>),
    Or(Vec<ParsedExpr>),
    Arithmetic(Arithmetic, Box<ParsedExpr>, Box<ParsedExpr>),
    Compare {
        op: Comparison,
        left: Box<ParsedExpr>,
        right: Box<ParsedExpr>,
        ci: bool,
    },
    Call {
        name: Name,
        arguments: Arguments,
        ci: bool,
    },
    Array(Vec<ArrayItem<ParsedExpr>>),
    Object(Vec<ObjectMember<ParsedExpr>>),
    If(Box<ParsedExpr>, Box<ParsedExpr>, Box<ParsedExpr>),
    Let(Vec<(Name, ParsedExpr)>, Box<ParsedExpr>),
    Lambda(Vec<Name>, Box<ParsedExpr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    /// `count(*)`.
    Star,
    List(Vec<ParsedExpr>),
}

// Places are no part of what is said.

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.text == other.text
    }
}

impl PartialEq for ParsedExpr {
    fn eq(&self, other: &ParsedExpr) -> bool {
        self.node == other.node
    }
}

/// What stands directly inside an expression: one definition for looking at it and for changing it.
macro_rules! children {
    ($(#[$doc:meta])* $name:ident, $iter:ident $(, $mutable:tt)?) => {
        $(#[$doc])*
        pub(crate) fn $name(&$($mutable)? self) -> Vec<&$($mutable)? ParsedExpr> {
            match &$($mutable)? self.node {
                Node::Null
                | Node::Bool(_)
                | Node::Number(_)
                | Node::Duration(_)
                | Node::Hex(_)
                | Node::Text(_)
                | Node::Regex(_)
                | Node::Parameter(_)
                | Node::Name(_)
                | Node::BuiltIn(_)
                | Node::Call { arguments: Arguments::Star, .. } => Vec::new(),
                Node::Member(of, _)
                | Node::Wildcard(of, _)
                | Node::Negate(of)
                | Node::Not(of)
                | Node::IsNull(of, _)
                | Node::Lambda(_, of) => vec![of],
                Node::Element(a, b) | Node::Arithmetic(_, a, b) | Node::Compare { left: a, right: b, .. } => {
                    vec![a, b]
                }
                Node::And(terms) | Node::Or(terms) => terms.$iter().collect(),
                Node::Call { arguments: Arguments::List(list), .. } => list.$iter().collect(),
                Node::Array(items) => items.$iter().map(|(ArrayItem::One(e) | ArrayItem::Spread(e))| e).collect(),
                Node::Object(members) => {
                    members.$iter().map(|(ObjectMember::Named(_, e) | ObjectMember::Spread(e))| e).collect()
                }
                Node::If(a, b, c) => vec![a, b, c],
                Node::Let(bindings, body) => {
                    bindings.$iter().map(|(_, e)| e).chain([&$($mutable)? **body]).collect()
                }
            }
        }
    };
}

impl ParsedExpr {
    children!(
        /// The expressions directly inside this one.
        children, iter
    );

    children!(
        /// The same, to be changed.
        children_mut, iter_mut, mut
    );
}
