//! Queries as text, with no more parentheses than the grammar asks for.

use crate::ast::{By, Column, Comparison, Expr, Group, Item, Pair, Query};
use crate::value::quote;

impl Comparison {
    fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::In => "in",
            Comparison::NotIn => "not in",
        }
    }
}

/// How tightly the levels of the grammar bind.
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 3;
const SUM: u8 = 4;
const TERM: u8 = 5;
const POWER: u8 = 6;
const OPERAND: u8 = 7;
const PATH: u8 = 8;

impl Expr {
    /// The expression as text, with no more parentheses than the grammar asks for.
    pub(crate) fn print(&self) -> String {
        self.print_at(0)
    }

    fn level(&self) -> u8 {
        match self {
            Expr::If(..) | Expr::Let(..) => 0,
            Expr::Or(_) => OR,
            Expr::And(_) => AND,
            Expr::Compare(..) | Expr::Like(..) | Expr::Matches(..) => COMPARE,
            Expr::Arithmetic('+' | '-', ..) => SUM,
            Expr::Arithmetic('^', ..) => POWER,
            Expr::Arithmetic(..) => TERM,
            Expr::Negate(_) | Expr::Not(_) | Expr::IsNull(..) => OPERAND,
            _ => PATH,
        }
    }

    fn print_at(&self, level: u8) -> String {
        let text = self.print_bare();
        if self.level() < level { format!("({text})") } else { text }
    }

    fn print_bare(&self) -> String {
        match self {
            Expr::Null => "null".to_owned(),
            Expr::Bool(bool) => bool.to_string(),
            Expr::Number(text) | Expr::Spelled(text, _) | Expr::BuiltIn(text) => (*text).to_owned(),
            Expr::Text(text) => print_text(text),
            Expr::Name(name) => name.clone(),
            Expr::Member(of, name) if is_identifier(name) => format!("{}.{name}", of.print_base()),
            Expr::Member(of, name) => format!("{}[{}]", of.print_base(), print_text(name)),
            Expr::Element(of, index) => format!("{}[{}]", of.print_base(), index.print()),
            Expr::Wildcard(of, any) => format!("{}[{}]", of.print_base(), if *any { '?' } else { '*' }),
            Expr::Negate(of) => {
                let inner = of.print_prefixed();
                // Two signs together would begin a comment.
                format!("-{}{inner}", if inner.starts_with('-') { " " } else { "" })
            }
            Expr::Not(of) => format!("not {}", of.print_prefixed()),
            Expr::IsNull(of, is) => {
                // `-x is null` and `not x is null` take the test first.
                let least = if matches!(**of, Expr::Negate(_) | Expr::Not(_) | Expr::IsNull(..)) {
                    PATH
                } else {
                    OPERAND
                };
                format!("{} is {}null", of.print_at(least), if *is { "" } else { "not " })
            }
            Expr::And(terms) => join(terms.iter().map(|term| term.print_at(COMPARE)), " and "),
            Expr::Or(terms) => join(terms.iter().map(|term| term.print_at(AND)), " or "),
            Expr::Arithmetic(op, a, b) => {
                let level = self.level();
                format!("{} {op} {}", a.print_at(level), b.print_at(level + 1))
            }
            Expr::Compare(op, a, b, ci) => {
                // A `ci` behind a call would be that call's.
                let least = if *ci && b.ends_in_call() { 9 } else { SUM };
                format!("{} {} {}{}", a.print_at(COMPARE), op.sign(), b.print_in(least), print_ci(*ci))
            }
            Expr::Like(of, pattern, negated, ci) => {
                let not = if *negated { "not " } else { "" };
                format!("{} {not}like {}{}", of.print_at(COMPARE), print_text(pattern), print_ci(*ci))
            }
            Expr::Matches(of, regex, negated, ci) => {
                let sign = if *negated { "<>" } else { "=" };
                format!("{} {sign} {}{}", of.print_at(COMPARE), print_regex(regex), print_ci(*ci))
            }
            Expr::Regex(regex) => print_regex(regex),
            Expr::Call(name, arguments, ci) => format!("{name}({}){}", print_list(arguments), print_ci(*ci)),
            Expr::Array(items) => format!("[{}]", join(items.iter().map(Item::print), ", ")),
            Expr::Object(pairs) => format!("{{{}}}", join(pairs.iter().map(Pair::print), ", ")),
            Expr::If(condition, then, otherwise) => {
                format!("if {} then {} else {}", condition.print(), then.print(), otherwise.print())
            }
            Expr::Let(bindings, body) => {
                let bindings = bindings.iter().map(|(name, expr)| format!("{name}: {}", expr.print()));
                format!("let |{}| {}", join(bindings, ", "), body.print())
            }
            Expr::Quantified(some, collection, name, body) => {
                let word = if *some { "Some" } else { "every" };
                format!("{word}({}, |{name}| {})", collection.print(), body.print())
            }
            Expr::Aggregate("count", arguments) if arguments.is_empty() => "count(*)".to_owned(),
            Expr::Aggregate(name, arguments) => format!("{name}({})", print_list(arguments)),
            Expr::CountDistinct(of) => format!("count(distinct({}))", of.print()),
        }
    }

    /// As the operand of a prefix.
    fn print_prefixed(&self) -> String {
        self.print_at(OPERAND)
    }

    /// As what a path begins with. A number would join with the point.
    fn print_base(&self) -> String {
        match self {
            Expr::Number(_) | Expr::Spelled(..) => format!("({})", self.print()),
            other => other.print_at(PATH),
        }
    }

    fn print_in(&self, least: u8) -> String {
        if least > PATH { format!("({})", self.print()) } else { self.print_at(least) }
    }

    /// Whether a `ci` behind the text might be taken by a call at its end.
    fn ends_in_call(&self) -> bool {
        match self {
            Expr::Call(..) | Expr::Quantified(..) => true,
            Expr::Negate(of) | Expr::Not(of) | Expr::Arithmetic(_, _, of) => of.ends_in_call(),
            _ => false,
        }
    }
}

impl Item {
    fn print(&self) -> String {
        match self {
            Item::One(expr) => expr.print(),
            Item::Spread(expr) => format!("..{}", expr.print()),
        }
    }
}

impl Pair {
    fn print(&self) -> String {
        match self {
            Pair::Named(name, expr) if is_identifier(name) => format!("{name}: {}", expr.print()),
            Pair::Named(name, expr) => format!("{}: {}", print_text(name), expr.print()),
            Pair::Same(expr) => expr.print(),
            Pair::Spread(expr) => format!("..{}", expr.print()),
        }
    }
}

impl Query {
    /// The query as text.
    pub(crate) fn print(&self) -> String {
        let columns = self.columns.iter().map(|column| match column {
            Column::Star => "*".to_owned(),
            Column::Expr(expr, alias) => format!("{}{}", expr.print(), print_alias(alias)),
        });
        let mut text = format!("select {}", join(columns, ", "));
        if let Some(unnests) = &self.from {
            text.push_str(" from stream");
            for (collection, name) in unnests {
                text.push_str(&format!(" lateral unnest({}) as {name}", collection.print()));
            }
        }
        if let Some(filter) = &self.filter {
            text.push_str(&format!(" where {}", filter.print()));
        }
        if !self.groups.is_empty() {
            let groups = self.groups.iter().map(|group| match group {
                Group::Time(interval, ..) => format!("time({interval})"),
                Group::Expr { expr, ci: true, alias } => {
                    format!("({}) ci{}", expr.print(), print_alias(alias))
                }
                Group::Expr { expr, ci: false, alias } => format!("{}{}", expr.print(), print_alias(alias)),
            });
            text.push_str(&format!(" group by {}", join(groups, ", ")));
        }
        if let Some(having) = &self.having {
            text.push_str(&format!(" having {}", having.print()));
        }
        if !self.order.is_empty() {
            let order = self.order.iter().map(|order| {
                let by = match order.by {
                    By::Time => "time".to_owned(),
                    By::Column(index) => self.order_text(index),
                };
                let direction = match order.descending {
                    None => "",
                    Some(true) => " desc",
                    Some(false) => " asc",
                };
                format!("{by}{}{direction}", if order.ci { " ci" } else { "" })
            });
            text.push_str(&format!(" order by {}", join(order, ", ")));
        }
        if let Some(limit) = self.limit {
            text.push_str(&format!(" limit {limit}"));
        }
        text
    }

    /// A column as `order by` names it: by its alias, else by its expression again.
    fn order_text(&self, index: usize) -> String {
        let (expr, alias) = match self.groups.get(index) {
            Some(Group::Time(..)) => return "time".to_owned(),
            Some(Group::Expr { expr, ci: true, alias: None }) => return format!("({})", expr.print()),
            Some(Group::Expr { expr, alias, .. }) => (expr, alias),
            None => match &self.columns[index - self.groups.len()] {
                Column::Expr(expr, alias) => (expr, alias),
                Column::Star => return "time".to_owned(),
            },
        };
        match alias {
            Some(alias) => alias.clone(),
            None => expr.print(),
        }
    }

    /// The names of the row's columns.
    pub(crate) fn names(&self) -> Vec<String> {
        let groups = self.groups.iter().map(|group| match group {
            Group::Time(..) => "time".to_owned(),
            Group::Expr { expr, ci, alias } => alias.clone().unwrap_or_else(|| match ci {
                true => format!("({})", expr.print()),
                false => expr.print(),
            }),
        });
        let columns = self.columns.iter().flat_map(|column| match column {
            Column::Star => ["@Timestamp", "@Id", "@Data"].map(str::to_owned).to_vec(),
            Column::Expr(expr, alias) => vec![alias.clone().unwrap_or_else(|| expr.print())],
        });
        let mut names: Vec<String> = Vec::new();
        for name in groups.chain(columns) {
            let mut unique = name.clone();
            let mut count = 1;
            while names.contains(&unique) {
                count += 1;
                unique = format!("{name} ({count})");
            }
            names.push(unique);
        }
        names
    }
}

fn join(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}

fn print_list(list: &[Expr]) -> String {
    join(list.iter().map(Expr::print), ", ")
}

fn print_ci(ci: bool) -> &'static str {
    if ci { " ci" } else { "" }
}

fn print_alias(alias: &Option<String>) -> String {
    alias.as_ref().map_or(String::new(), |alias| format!(" as {alias}"))
}

fn print_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn print_regex(regex: &str) -> String {
    format!("/{}/", regex.replace('/', "\\/"))
}

pub(crate) fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.eq_ignore_ascii_case("null")
}

#[test]
fn prints_with_few_parentheses() {
    let name = |name: &str| Box::new(Expr::Name(name.to_owned()));
    let sum = Expr::Arithmetic('+', name("a"), name("b"));
    let product = Expr::Arithmetic('*', Box::new(sum.clone()), name("c"));
    assert_eq!(product.print(), "(a + b) * c");
    assert_eq!(Expr::Negate(Box::new(Expr::Negate(name("a")))).print(), "- -a");
    assert_eq!(Expr::IsNull(Box::new(Expr::Not(name("a"))), false).print(), "(not a) is not null");
    assert_eq!(Expr::Not(Box::new(Expr::IsNull(name("a"), true))).print(), "not a is null");
    let call = Expr::Call("IndexOf", vec![*name("a"), Expr::Text("it's".to_owned())], false);
    let compare = Expr::Compare(Comparison::Equal, name("x"), Box::new(call), true);
    assert_eq!(compare.print(), "x = (IndexOf(a, 'it''s')) ci");
    assert_eq!(quote("é\u{1}"), "\"é\\u0001\"");
}
