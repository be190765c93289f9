//! Expressions as text, for `explain`. What is written is close to the language, with every name resolved.

use super::{Computed, Expr, Item, Member};
use crate::ast::{Comparison, Quantifier};
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

    fn list(&self, f: &mut fmt::Formatter<'_>, list: &'e [Expr], between: &str) -> fmt::Result {
        for (index, expr) in list.iter().enumerate() {
            f.write_str(if index > 0 { between } else { "" })?;
            write!(f, "{}", self.of(expr))?;
        }
        Ok(())
    }
}

/// A property's name as the language writes it.
pub(crate) fn property(key: &str) -> String {
    match (is_name(key), key.starts_with('@')) {
        (true, _) => key.to_owned(),
        (_, true) => format!("@Data['{key}']"),
        _ => format!("@Properties['{}']", key.replace('\'', "''")),
    }
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let case = |ci: bool| if ci { " ci" } else { "" };
        match self.expr {
            Expr::Constant(Value::Undefined) => f.write_str("Undefined()"),
            Expr::Constant(Value::Text(text)) => write!(f, "'{}'", text.text().replace('\'', "''")),
            Expr::Constant(value) => f.write_str(&String::from_utf8_lossy(&json(value).unwrap_or_default())),
            Expr::Slot(slot) | Expr::Group(slot) => {
                f.write_str(self.slots.get(*slot).map_or("?", String::as_str))
            }
            Expr::Local(local) => match self.locals.get(*local) {
                Some(name) => f.write_str(name),
                None => write!(f, "local{local}"),
            },
            Expr::BuiltIn(computed) => f.write_str(match computed {
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
            }),
            Expr::Member(of, name) if is_name(name) => write!(f, "{}.{name}", self.of(of)),
            Expr::Member(of, name) => write!(f, "{}['{}']", self.of(of), name.replace('\'', "''")),
            Expr::Element(of, index) => write!(f, "{}[{}]", self.of(of), self.of(index)),
            Expr::Negate(of) => write!(f, "(-{})", self.of(of)),
            Expr::Not(of) => write!(f, "(not {})", self.of(of)),
            Expr::IsNull(of, negated) => {
                write!(f, "({} is {}null)", self.of(of), if *negated { "not " } else { "" })
            }
            Expr::And(terms) | Expr::Or(terms) => {
                f.write_char('(')?;
                self.list(f, terms, if matches!(self.expr, Expr::And(_)) { " and " } else { " or " })?;
                f.write_char(')')
            }
            Expr::Arithmetic(op, a, b) => write!(f, "({} {} {})", self.of(a), op.sign(), self.of(b)),
            Expr::Compare { op, left, right, ci } => {
                write!(f, "({} {} {}{})", self.of(left), op.sign(), self.of(right), case(*ci))
            }
            Expr::CompareNumber { op, left, number, .. } => {
                write!(f, "({} {} bound {})", self.of(left), op.sign(), number.text())
            }
            Expr::In { left, right, negated, ci } => {
                let op = if *negated { Comparison::NotIn } else { Comparison::In };
                write!(f, "({} {} {}{})", self.of(left), op.sign(), self.of(right), case(*ci))
            }
            Expr::Like { left, pattern, negated } => {
                let op = if *negated { Comparison::NotLike } else { Comparison::Like };
                let source = pattern.source().replace('\'', "''");
                write!(f, "({} {} '{source}'{})", self.of(left), op.sign(), case(pattern.ci()))
            }
            Expr::MatchWhole { left, pattern, negated } => {
                let op = if *negated { Comparison::NotEqual } else { Comparison::Equal };
                write!(
                    f,
                    "({} {} {}{})",
                    self.of(left),
                    op.sign(),
                    pattern.literal_text(),
                    case(pattern.ci())
                )
            }
            Expr::Match { left, pattern } => {
                let how = if pattern.is_literal() { " as text" } else { "" };
                write!(f, "IsMatch({}, {}{how}){}", self.of(left), pattern.literal_text(), case(pattern.ci()))
            }
            Expr::IndexOfMatch { left, pattern } => {
                write!(f, "IndexOfMatch({}, {}){}", self.of(left), pattern.literal_text(), case(pattern.ci()))
            }
            Expr::ReplaceMatch { left, pattern, replacement } => {
                let with = replacement.source().replace('\'', "''");
                write!(
                    f,
                    "Replace({}, {}, '{with}'){}",
                    self.of(left),
                    pattern.literal_text(),
                    case(pattern.ci())
                )
            }
            Expr::Call { function, arguments, ci } => {
                write!(f, "{}(", function.name)?;
                self.list(f, arguments, ", ")?;
                write!(f, "){}", case(*ci))
            }
            Expr::Coalesce(list) | Expr::Concat(list) => {
                f.write_str(if matches!(self.expr, Expr::Concat(_)) { "Concat(" } else { "Coalesce(" })?;
                self.list(f, list, ", ")?;
                f.write_char(')')
            }
            Expr::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    match item {
                        Item::One(expr) => write!(f, "{}", self.of(expr))?,
                        Item::Spread(expr) => write!(f, "..{}", self.of(expr))?,
                    }
                }
                f.write_char(']')
            }
            Expr::Object(members) => {
                f.write_char('{')?;
                for (index, member) in members.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    match member {
                        Member::Named(name, expr) => {
                            write!(f, "'{}': {}", name.replace('\'', "''"), self.of(expr))?
                        }
                        Member::Spread(expr) => write!(f, "..{}", self.of(expr))?,
                    }
                }
                f.write_char('}')
            }
            Expr::If(parts) => {
                let (condition, then, otherwise) = &**parts;
                write!(f, "(if {} then {} else {})", self.of(condition), self.of(then), self.of(otherwise))
            }
            Expr::Let(values, body) => {
                f.write_str("(let ")?;
                self.list(f, values, ", ")?;
                write!(f, " in {})", self.of(body))
            }
            Expr::Quantified { quantifier, collection, body } => {
                let name = if *quantifier == Quantifier::Any { "Some" } else { "Every" };
                write!(f, "{name}({}, |local| {})", self.of(collection), self.of(body))
            }
        }
    }
}
