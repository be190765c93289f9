//! Expressions as text, for `explain`. What is written is close to the language, with every name resolved.

use super::computed::Computed;
use super::pattern::Pattern;
use super::set::Set;
use super::tree::Expr;
use crate::ast::{ArrayItem, Comparison, ObjectMember, Quantifier};
use crate::lexer::is_name;
use crate::value::{Value, json};
use std::fmt::{self, Write};

/// An expression with the names of its slots.
pub(crate) struct Printed<'e> {
    pub(crate) expr: &'e Expr,
    pub(crate) slots: &'e [String],
    /// The names of the outermost locals: of what is unnested.
    pub(crate) locals: &'e [String],
}

impl<'e> Printed<'e> {
    fn of(&self, expr: &'e Expr) -> Printed<'e> {
        Printed { expr, ..*self }
    }

    fn list<T>(
        &self,
        f: &mut fmt::Formatter<'_>,
        list: &'e [T],
        between: &str,
        write: impl Fn(&Self, &mut fmt::Formatter<'_>, &'e T) -> fmt::Result,
    ) -> fmt::Result {
        for (index, item) in list.iter().enumerate() {
            f.write_str(if index > 0 { between } else { "" })?;
            write(self, f, item)?;
        }
        Ok(())
    }

    fn exprs(&self, f: &mut fmt::Formatter<'_>, exprs: &'e [Expr], between: &str) -> fmt::Result {
        self.list(f, exprs, between, |printed, f, expr| write!(f, "{}", printed.of(expr)))
    }

    /// A call of a function that has a pattern among its arguments; `more` stands behind the pattern.
    fn matching(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &str,
        left: &'e Expr,
        pattern: &Pattern,
        more: &str,
    ) -> fmt::Result {
        write!(f, "{name}({}, {}{more}){}", self.of(left), pattern.literal_text(), case(pattern.ci()))
    }

    /// A path by its reading of nested members.
    fn dotted(&self, f: &mut fmt::Formatter<'_>, nested: &'e Expr) -> fmt::Result {
        if let Expr::Member(of, name) = nested {
            self.dotted(f, of)?;
            return write!(f, ".{name}");
        }
        write!(f, "{}", self.of(nested))
    }

    fn comparison(
        &self,
        f: &mut fmt::Formatter<'_>,
        left: &'e Expr,
        op: Comparison,
        right: impl fmt::Display,
        ci: bool,
    ) -> fmt::Result {
        write!(f, "({} {} {right}{})", self.of(left), op.sign(), case(ci))
    }

    fn among(&self, f: &mut fmt::Formatter<'_>, left: &'e Expr, set: &Set, negated: bool) -> fmt::Result {
        let values = set.values().iter().map(|value| json(value).unwrap_or_default());
        let values: Vec<String> = values.map(|json| String::from_utf8_lossy(&json).into_owned()).collect();
        let op = either(negated, Comparison::NotIn, Comparison::In);
        self.comparison(f, left, op, format_args!("[{}]", values.join(",")), set.ci())
    }

    fn items(&self, f: &mut fmt::Formatter<'_>, items: &'e [ArrayItem<Expr>]) -> fmt::Result {
        f.write_char('[')?;
        self.list(f, items, ", ", |printed, f, item| match item {
            ArrayItem::One(expr) => write!(f, "{}", printed.of(expr)),
            ArrayItem::Spread(expr) => write!(f, "..{}", printed.of(expr)),
        })?;
        f.write_char(']')
    }

    fn members(&self, f: &mut fmt::Formatter<'_>, members: &'e [ObjectMember<Expr>]) -> fmt::Result {
        f.write_char('{')?;
        self.list(f, members, ", ", |printed, f, member| match member {
            ObjectMember::Named(name, expr) => write!(f, "{}: {}", quoted(name), printed.of(expr)),
            ObjectMember::Spread(expr) => write!(f, "..{}", printed.of(expr)),
        })?;
        f.write_char('}')
    }
}

impl Computed {
    fn name(self) -> &'static str {
        match self {
            Computed::Timestamp => "@Timestamp",
            Computed::Level { .. } => "@Level",
            Computed::Message { .. } => "@Message",
            Computed::EventType { .. } => "@EventType",
            Computed::Start { .. } => "@Start",
            Computed::Elapsed { .. } => "@Elapsed",
            Computed::Id => "@Id",
            Computed::Arrived => "@Arrived",
            Computed::Properties => "@Properties",
            Computed::Data => "@Data",
        }
    }
}

fn begins_with_slot(expr: &Expr) -> bool {
    match expr {
        Expr::Member(of, _) => begins_with_slot(of),
        other => matches!(other, Expr::Slot(_)),
    }
}

/// A text as the language writes it.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn either(negated: bool, then: Comparison, otherwise: Comparison) -> Comparison {
    if negated { then } else { otherwise }
}

fn case(ci: bool) -> &'static str {
    if ci { " ci" } else { "" }
}

/// A property's name as the language writes it.
pub(crate) fn property(key: &str) -> String {
    match (is_name(key), key.starts_with('@')) {
        (true, _) => key.to_owned(),
        (_, true) => format!("@Data['{key}']"),
        _ => format!("@Properties[{}]", quoted(key)),
    }
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.expr {
            Expr::Constant(Value::Undefined) => f.write_str("Undefined()"),
            Expr::Constant(Value::Text(text)) => f.write_str(&quoted(&text.text())),
            Expr::Constant(value) => f.write_str(&String::from_utf8_lossy(&json(value).unwrap_or_default())),
            Expr::Slot(slot) | Expr::Group(slot) => {
                f.write_str(self.slots.get(*slot).map_or("?", String::as_str))
            }
            Expr::Local(local) => match self.locals.get(*local) {
                Some(name) => f.write_str(name),
                None => write!(f, "local{local}"),
            },
            Expr::BuiltIn(computed) => f.write_str(computed.name()),
            Expr::Path(readings) => readings.iter().take(1).try_for_each(|nested| self.dotted(f, nested)),
            // What begins with a slot and is no path is written so that it is none.
            Expr::Member(of, name) if is_name(name) && !begins_with_slot(of) => {
                write!(f, "{}.{name}", self.of(of))
            }
            Expr::Member(of, name) => write!(f, "{}[{}]", self.of(of), quoted(name)),
            Expr::Element(of, index) => write!(f, "{}[{}]", self.of(of), self.of(index)),
            Expr::Negate(of) => write!(f, "(-{})", self.of(of)),
            Expr::Not(of) => write!(f, "(not {})", self.of(of)),
            Expr::IsNull(of, true) => write!(f, "({} is not null)", self.of(of)),
            Expr::IsNull(of, false) => write!(f, "({} is null)", self.of(of)),
            Expr::And(terms) | Expr::Or(terms) => {
                f.write_char('(')?;
                self.exprs(f, terms, if matches!(self.expr, Expr::And(_)) { " and " } else { " or " })?;
                f.write_char(')')
            }
            Expr::Arithmetic(op, a, b) => write!(f, "({} {} {})", self.of(a), op.sign(), self.of(b)),
            Expr::Compare { op, left, right, ci } => self.comparison(f, left, *op, self.of(right), *ci),
            Expr::CompareNumber { op, left, number, .. } => {
                self.comparison(f, left, *op, format_args!("bound {}", number.text()), false)
            }
            Expr::In { left, right, negated, ci } => {
                let op = either(*negated, Comparison::NotIn, Comparison::In);
                self.comparison(f, left, op, self.of(right), *ci)
            }
            Expr::InSet { left, set, negated } => self.among(f, left, set, *negated),
            Expr::Like { left, pattern, negated } => {
                let op = either(*negated, Comparison::NotLike, Comparison::Like);
                self.comparison(f, left, op, quoted(pattern.source()), pattern.ci())
            }
            Expr::MatchWhole { left, pattern, negated } => {
                let op = either(*negated, Comparison::NotEqual, Comparison::Equal);
                self.comparison(f, left, op, pattern.literal_text(), pattern.ci())
            }
            Expr::Match { left, pattern } => {
                let how = if pattern.is_literal() { " as text" } else { "" };
                self.matching(f, "IsMatch", left, pattern, how)
            }
            Expr::IndexOfMatch { left, pattern } => self.matching(f, "IndexOfMatch", left, pattern, ""),
            Expr::ReplaceMatch { left, pattern, replacement } => {
                self.matching(f, "Replace", left, pattern, &format!(", {}", quoted(replacement.source())))
            }
            Expr::Call { function, arguments, ci } => {
                write!(f, "{}(", function.name)?;
                self.exprs(f, arguments, ", ")?;
                write!(f, "){}", case(*ci))
            }
            Expr::Coalesce(list) | Expr::Concat(list) => {
                f.write_str(if matches!(self.expr, Expr::Concat(_)) { "Concat(" } else { "Coalesce(" })?;
                self.exprs(f, list, ", ")?;
                f.write_char(')')
            }
            Expr::Array(items) => self.items(f, items),
            Expr::Object(members) => self.members(f, members),
            Expr::If(parts) => {
                let (condition, then, otherwise) = &**parts;
                write!(f, "(if {} then {} else {})", self.of(condition), self.of(then), self.of(otherwise))
            }
            Expr::Let(values, body) => {
                f.write_str("(let ")?;
                self.exprs(f, values, ", ")?;
                write!(f, " in {})", self.of(body))
            }
            Expr::Quantified { quantifier, collection, body } => {
                let name = if *quantifier == Quantifier::Any { "Some" } else { "Every" };
                write!(f, "{name}({}, |local| {})", self.of(collection), self.of(body))
            }
        }
    }
}
