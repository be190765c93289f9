//! What a query says, before names mean anything.
//!
//! Two of these are equal if they say the same: blanks, comments, needless parentheses and the case of keywords do not count.

mod print;

use crate::builtin::BuiltIn;
use crate::span::Span;

#[derive(Clone, Debug, PartialEq)]
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

#[derive(Clone, Debug)]
pub(crate) enum Column {
    All(Span),
    Expr { expr: Expr, alias: Option<Name> },
}

#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unnest {
    pub(crate) collection: Expr,
    pub(crate) name: Name,
}

#[derive(Clone, Debug)]
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

#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) by: OrderBy,
    pub(crate) ci: bool,
    pub(crate) descending: bool,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
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

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    /// `count(*)`.
    Star,
    List(Vec<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    One(Expr),
    Spread(Expr),
}

#[derive(Clone, Debug, PartialEq)]
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

// Places are no part of what is said.

impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        match (self, other) {
            (Column::All(_), Column::All(_)) => true,
            (Column::Expr { expr: a, alias: a_alias }, Column::Expr { expr: b, alias: b_alias }) => {
                a == b && a_alias == b_alias
            }
            _ => false,
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.text == other.text
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        match (self, other) {
            (Group::Time { interval: a, .. }, Group::Time { interval: b, .. }) => a == b,
            (
                Group::Expr { expr: a, ci: a_ci, alias: a_alias },
                Group::Expr { expr: b, ci: b_ci, alias: b_alias },
            ) => a == b && a_ci == b_ci && a_alias == b_alias,
            _ => false,
        }
    }
}

impl PartialEq for Order {
    fn eq(&self, other: &Order) -> bool {
        self.by == other.by && self.ci == other.ci && self.descending == other.descending
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.node == other.node
    }
}

impl Query {
    /// The expressions of the clauses, in the order of the text.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        let columns = self.columns.iter().filter_map(|column| match column {
            Column::All(_) => None,
            Column::Expr { expr, .. } => Some(expr),
        });
        let groups = self.groups.iter().filter_map(|group| match group {
            Group::Time { .. } => None,
            Group::Expr { expr, .. } => Some(expr),
        });
        let order = self.order.iter().filter_map(|order| match &order.by {
            OrderBy::Time => None,
            OrderBy::Expr(expr) => Some(expr),
        });
        let unnests = self.from.iter().flatten().map(|unnest| &unnest.collection);
        columns.chain(unnests).chain(&self.filter).chain(groups).chain(&self.having).chain(order).collect()
    }
}

/// What stands directly inside an expression: one definition for looking at it and for changing it.
macro_rules! children {
    ($(#[$doc:meta])* $name:ident, $iter:ident $(, $mutable:tt)?) => {
        $(#[$doc])*
        pub(crate) fn $name(&$($mutable)? self) -> Vec<&$($mutable)? Expr> {
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
                Node::Array(items) => items.$iter().map(|(Item::One(e) | Item::Spread(e))| e).collect(),
                Node::Object(members) => {
                    members.$iter().map(|(Member::Named(_, e) | Member::Spread(e))| e).collect()
                }
                Node::If(a, b, c) => vec![a, b, c],
                Node::Let(bindings, body) => {
                    bindings.$iter().map(|(_, e)| e).chain([&$($mutable)? **body]).collect()
                }
            }
        }
    };
}

impl Expr {
    children!(
        /// The expressions directly inside this one.
        children, iter
    );

    children!(
        /// The same, to be changed.
        children_mut, iter_mut, mut
    );
}
