//! Queries as the oracle sees them. Nothing is parsed: the generator makes trees, the engine gets text.

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Null,
    Bool(bool),
    /// A decimal literal, as it is to be written.
    Number(&'static str),
    /// A literal that is written otherwise than as a decimal: the text, and the decimal that it is worth.
    Spelled(&'static str, &'static str),
    Text(String),
    /// A property, or the local of that name.
    Name(String),
    BuiltIn(&'static str),
    Member(Box<Expr>, String),
    Element(Box<Expr>, Box<Expr>),
    /// `[?]` if true, else `[*]`.
    Wildcard(Box<Expr>, bool),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    /// `is null` if true, else `is not null`.
    IsNull(Box<Expr>, bool),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Arithmetic(char, Box<Expr>, Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>, bool),
    /// `like 'pattern'`, with negation and `ci`.
    Like(Box<Expr>, String, bool, bool),
    /// `= /regex/`, with negation and `ci`.
    Matches(Box<Expr>, &'static str, bool, bool),
    /// A regular expression, as an argument of a function only.
    Regex(&'static str),
    Call(&'static str, Vec<Expr>, bool),
    Array(Vec<Item>),
    Object(Vec<Pair>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Let(Vec<(String, Expr)>, Box<Expr>),
    /// `Some(collection, |name| body)` if true, else `Every`.
    Quantified(bool, Box<Expr>, String, Box<Expr>),
    /// An aggregate with its arguments; none stands for `count(*)`.
    Aggregate(&'static str, Vec<Expr>),
    /// `count(distinct(e))`.
    CountDistinct(Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    One(Expr),
    Spread(Expr),
}

#[derive(Clone, Debug)]
pub(crate) enum Pair {
    Named(String, Expr),
    /// A name or built-in that stands for itself.
    Same(Expr),
    Spread(Expr),
}

#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) columns: Vec<Column>,
    /// What is unnested after `from stream`; none without `from`.
    pub(crate) from: Option<Vec<(Expr, String)>>,
    pub(crate) filter: Option<Expr>,
    pub(crate) groups: Vec<Group>,
    /// Names the columns by alias.
    pub(crate) having: Option<Expr>,
    pub(crate) order: Vec<Order>,
    pub(crate) limit: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Column {
    Star,
    Expr(Expr, Option<String>),
}

#[derive(Clone, Debug)]
pub(crate) enum Group {
    /// `time(…)`: what is written, the length in ticks, and how far the zone's clocks are ahead of those that the intervals are counted by.
    Time(&'static str, u64, u64),
    Expr {
        expr: Expr,
        ci: bool,
        alias: Option<String>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) by: By,
    pub(crate) ci: bool,
    /// `desc` or `asc`, if written.
    pub(crate) descending: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) enum By {
    Time,
    /// A column of the row, group keys counted first.
    Column(usize),
}

impl Expr {
    /// The expressions directly inside this one.
    pub(crate) fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Null
            | Expr::Bool(_)
            | Expr::Number(_)
            | Expr::Spelled(..)
            | Expr::Text(_)
            | Expr::Name(_)
            | Expr::BuiltIn(_)
            | Expr::Regex(_) => Vec::new(),
            Expr::Member(of, _)
            | Expr::Wildcard(of, _)
            | Expr::Negate(of)
            | Expr::Not(of)
            | Expr::IsNull(of, _)
            | Expr::Like(of, ..)
            | Expr::Matches(of, ..)
            | Expr::CountDistinct(of) => vec![of],
            Expr::Element(a, b)
            | Expr::Arithmetic(_, a, b)
            | Expr::Compare(_, a, b, _)
            | Expr::Quantified(_, a, _, b) => {
                vec![a, b]
            }
            Expr::And(list) | Expr::Or(list) | Expr::Call(_, list, _) | Expr::Aggregate(_, list) => {
                list.iter_mut().collect()
            }
            Expr::Array(items) => {
                items.iter_mut().map(|(Item::One(expr) | Item::Spread(expr))| expr).collect()
            }
            Expr::Object(pairs) => pairs
                .iter_mut()
                .map(|(Pair::Named(_, expr) | Pair::Same(expr) | Pair::Spread(expr))| expr)
                .collect(),
            Expr::If(a, b, c) => vec![a, b, c],
            Expr::Let(bindings, body) => {
                bindings.iter_mut().map(|(_, expr)| expr).chain([&mut **body]).collect()
            }
        }
    }
}
