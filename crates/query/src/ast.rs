//! What a query says, before names mean anything.

use crate::builtin::BuiltIn;
use crate::span::Span;

#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) explain: Option<Explain>,
    pub(crate) columns: Vec<Column>,
    /// The unnested collections after `from stream`; none without `from`.
    pub(crate) from: Option<Vec<Unnest>>,
    pub(crate) filter: Option<Expr>,
    pub(crate) groups: Vec<Group>,
    pub(crate) having: Option<Expr>,
    pub(crate) order: Vec<Order>,
    pub(crate) limit: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explain {
    Plan,
    Analyze,
}

#[derive(Debug)]
pub(crate) enum Column {
    All(Span),
    Expr { expr: Expr, alias: Option<Name> },
}

#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Unnest {
    pub(crate) collection: Expr,
    pub(crate) name: Name,
}

#[derive(Debug)]
pub(crate) enum Group {
    /// `time(duration)`, the duration in ticks.
    Time {
        interval: u64,
        span: Span,
    },
    Expr {
        expr: Expr,
        ci: bool,
        alias: Option<Name>,
    },
}

#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) by: OrderBy,
    pub(crate) ci: bool,
    pub(crate) descending: bool,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum OrderBy {
    Time,
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) node: Node,
    pub(crate) span: Span,
    /// How deep the expression nests: what walks it may recurse.
    pub(crate) depth: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// A number as JSON text.
    Number(String),
    /// A duration or hexadecimal number, already a count.
    Decimal(rust_decimal::Decimal),
    Text(String),
    Regex(String),
    Parameter(String),
    Name(String),
    BuiltIn(BuiltIn),
    Member(Box<Expr>, String),
    Element(Box<Expr>, Box<Expr>),
    Wildcard(Box<Expr>, Quantifier),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    IsNull(Box<Expr>, bool),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    Compare {
        op: Comparison,
        left: Box<Expr>,
        right: Box<Expr>,
        ci: bool,
    },
    Call {
        name: Name,
        arguments: Arguments,
        ci: bool,
    },
    Array(Vec<Item>),
    Object(Vec<Member>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Let(Vec<(Name, Expr)>, Box<Expr>),
    Lambda(Vec<Name>, Box<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) enum Arguments {
    /// `count(*)`.
    Star,
    List(Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    One(Expr),
    Spread(Expr),
}

#[derive(Clone, Debug)]
pub(crate) enum Member {
    Named(String, Expr),
    Spread(Expr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    Any,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

impl Arithmetic {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Remainder => "%",
            Arithmetic::Power => "^",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
    NotLike,
    In,
    NotIn,
}

impl Comparison {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::Like => "like",
            Comparison::NotLike => "not like",
            Comparison::In => "in",
            Comparison::NotIn => "not in",
        }
    }
}

impl Expr {
    /// The expressions directly inside this one.
    pub(crate) fn children(&self) -> Vec<&Expr> {
        match &self.node {
            Node::Null
            | Node::Bool(_)
            | Node::Number(_)
            | Node::Decimal(_)
            | Node::Text(_)
            | Node::Regex(_)
            | Node::Parameter(_)
            | Node::Name(_)
            | Node::BuiltIn(_) => Vec::new(),
            Node::Member(of, _) | Node::Wildcard(of, _) => vec![of],
            Node::Negate(of) | Node::Not(of) | Node::IsNull(of, _) | Node::Lambda(_, of) => vec![of],
            Node::Element(a, b) | Node::Arithmetic(_, a, b) | Node::Compare { left: a, right: b, .. } => {
                vec![a, b]
            }
            Node::And(terms) | Node::Or(terms) => terms.iter().collect(),
            Node::Call { arguments: Arguments::Star, .. } => Vec::new(),
            Node::Call { arguments: Arguments::List(list), .. } => list.iter().collect(),
            Node::Array(items) => items.iter().map(|(Item::One(e) | Item::Spread(e))| e).collect(),
            Node::Object(members) => {
                members.iter().map(|(Member::Named(_, e) | Member::Spread(e))| e).collect()
            }
            Node::If(a, b, c) => vec![a, b, c],
            Node::Let(bindings, body) => bindings.iter().map(|(_, e)| e).chain([&**body]).collect(),
        }
    }
}
