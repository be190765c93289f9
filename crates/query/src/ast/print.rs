//! The AST as text of the language, in one spelling: single blanks, keywords in lower case, parentheses only where they
//! are needed. What is read from that text is equal to what was written.

use super::expr::{Arguments, Name, Node, ParsedExpr};
use super::item::{ArrayItem, ObjectMember};
use super::operator::{Arithmetic, Comparison, Quantifier};
use crate::builtin::BuiltIn;
use crate::functions;
use crate::lexer::{duration_literal, is_name};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use std::fmt::{self, Display};

/// How tightly an expression binds; `Whole` is anything at all, as between brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    Whole,
    And,
    Compare,
    Sum,
    Product,
    Power,
    Operand,
    Path,
    Factor,
}

impl Binding {
    fn of(node: &Node) -> Binding {
        match node {
            Node::Or(_) => Binding::Whole,
            Node::And(_) => Binding::And,
            Node::Compare { .. } => Binding::Compare,
            Node::Arithmetic(Arithmetic::Add | Arithmetic::Subtract, ..) => Binding::Sum,
            Node::Arithmetic(Arithmetic::Power, ..) => Binding::Power,
            Node::Arithmetic(..) => Binding::Product,
            Node::Negate(_) | Node::Not(_) | Node::IsNull(..) => Binding::Operand,
            Node::Member(..) | Node::Element(..) | Node::Wildcard(..) => Binding::Path,
            _ => Binding::Factor,
        }
    }

    /// What an operand on the right of such an operator has to bind like: all of them group to the left.
    fn next(self) -> Binding {
        match self {
            Binding::Whole => Binding::And,
            Binding::And => Binding::Compare,
            Binding::Compare => Binding::Sum,
            Binding::Sum => Binding::Product,
            Binding::Product => Binding::Power,
            Binding::Power => Binding::Operand,
            Binding::Operand => Binding::Path,
            Binding::Path | Binding::Factor => Binding::Factor,
        }
    }
}

/// What stands behind an expression, and so what its end must leave alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// A bracket, a comma, a keyword: nothing that an expression takes.
    End,
    /// An operator or a path: an open end, as that of `if`, would take it for its own.
    More,
}

#[derive(Default)]
pub(super) struct Printer {
    pub(super) out: String,
}

/// Whether a `ci` that follows would be taken by what was written.
pub(super) type TakesCi = bool;

impl Printer {
    pub(super) fn text(&mut self, text: impl Display) {
        use fmt::Write;
        // Writing to a string does not fail.
        let _ = write!(self.out, "{text}");
    }

    pub(super) fn whole(&mut self, expr: &ParsedExpr) -> TakesCi {
        self.expr(expr, Binding::Whole, Behind::End)
    }

    pub(super) fn parentheses(&mut self, expr: &ParsedExpr) -> TakesCi {
        self.text('(');
        self.whole(expr);
        self.text(')');
        false
    }

    /// Writes what a `ci` follows that is not its own.
    pub(super) fn before_ci(&mut self, expr: &ParsedExpr, least: Binding) {
        let start = self.out.len();
        if self.expr(expr, least, Behind::End) {
            self.enclose(start);
        }
    }

    /// Puts what was written from `start` on into parentheses. Writing it anew would take time exponential in its depth.
    pub(super) fn enclose(&mut self, start: usize) {
        self.out.insert(start, '(');
        self.out.push(')');
    }

    /// Writes an operand that has to bind at least as tightly as `least`.
    fn expr(&mut self, expr: &ParsedExpr, least: Binding, behind: Behind) -> TakesCi {
        let binding = Binding::of(&expr.node);
        let is_open = matches!(expr.node, Node::If(..) | Node::Let(..) | Node::Lambda(..));
        if binding < least || (is_open && behind == Behind::More) {
            return self.parentheses(expr);
        }
        match &expr.node {
            Node::Null => self.text("null"),
            Node::Bool(bool) => self.text(bool),
            Node::Number(number) => self.text(number),
            Node::Duration(ticks) => self.duration(*ticks),
            Node::Hex(number) => self.text(format_args!("{number:#X}")),
            Node::Text(text) => self.quoted(text),
            Node::Regex(pattern) => self.regex(pattern),
            Node::Parameter(name) => self.text(format_args!("${name}")),
            Node::Name(name) => self.text(name),
            Node::BuiltIn(built_in) => self.text(built_in),
            Node::Member(of, name) => {
                self.expr(of, Binding::Path, Behind::More);
                self.text(format_args!(".{name}"));
            }
            Node::Element(of, index) => {
                self.expr(of, Binding::Path, Behind::More);
                self.text('[');
                self.whole(index);
                self.text(']');
            }
            Node::Wildcard(of, quantifier) => {
                self.expr(of, Binding::Path, Behind::More);
                self.text(if *quantifier == Quantifier::Any { "[?]" } else { "[*]" });
            }
            Node::Negate(of) => {
                // Two signs without a blank would begin a comment.
                self.text(if matches!(of.node, Node::Negate(_)) { "- " } else { "-" });
                return self.expr(of, Binding::Operand, behind);
            }
            Node::Not(of) => {
                self.text("not ");
                return self.expr(of, Binding::Operand, behind);
            }
            Node::IsNull(of, negated) => {
                self.expr(of, Binding::Path, Behind::More);
                self.text(if *negated { " is not null" } else { " is null" });
            }
            Node::And(terms) | Node::Or(terms) => return self.terms(terms, binding, behind),
            Node::Arithmetic(op, a, b) => {
                self.expr(a, binding, Behind::More);
                self.text(format_args!(" {} ", op.sign()));
                return self.expr(b, binding.next(), behind);
            }
            Node::Compare { op, left, right, ci } => return self.comparison(*op, (left, right), *ci, behind),
            Node::Call { name, arguments, ci } => return self.call(name, arguments, *ci),
            Node::Array(items) => {
                self.text('[');
                self.list(items, Printer::item);
                self.text(']');
            }
            Node::Object(members) => {
                self.text('{');
                self.list(members, Printer::member);
                self.text('}');
            }
            Node::If(condition, then, otherwise) => {
                self.text("if ");
                self.whole(condition);
                self.text(" then ");
                self.whole(then);
                self.text(" else ");
                return self.whole(otherwise);
            }
            Node::Let(bindings, body) => {
                self.text("let ");
                return self.bound(bindings, Printer::binding, body);
            }
            Node::Lambda(names, body) => {
                return self.bound(names, |printer, name| printer.text(&name.text), body);
            }
        }
        false
    }

    /// Names between bars, and the expression in which they have a meaning.
    fn bound<T>(&mut self, names: &[T], write: impl FnMut(&mut Printer, &T), body: &ParsedExpr) -> TakesCi {
        self.text('|');
        self.list(names, write);
        self.text("| ");
        self.whole(body)
    }

    fn binding(&mut self, (name, value): &(Name, ParsedExpr)) {
        self.text(format_args!("{}: ", name.text));
        self.whole(value);
    }

    fn terms(&mut self, terms: &[ParsedExpr], binding: Binding, behind: Behind) -> TakesCi {
        let sign = if binding == Binding::And { " and " } else { " or " };
        let mut takes_ci = false;
        for (index, term) in terms.iter().enumerate() {
            self.text(if index > 0 { sign } else { "" });
            let behind = if index + 1 < terms.len() { Behind::More } else { behind };
            takes_ci = self.expr(term, binding.next(), behind);
        }
        takes_ci
    }

    fn comparison(
        &mut self,
        op: Comparison,
        (left, right): (&ParsedExpr, &ParsedExpr),
        ci: bool,
        behind: Behind,
    ) -> TakesCi {
        self.expr(left, Binding::Compare, Behind::More);
        self.text(format_args!(" {} ", op.sign()));
        if !ci {
            self.expr(right, Binding::Compare.next(), behind);
            return true;
        }
        self.before_ci(right, Binding::Compare.next());
        self.text(" ci");
        false
    }

    fn call(&mut self, name: &Name, arguments: &Arguments, ci: bool) -> TakesCi {
        self.text(format_args!("{}(", name.text));
        match arguments {
            Arguments::Star => self.text('*'),
            Arguments::List(list) => self.list(list, |printer, expr| {
                printer.whole(expr);
            }),
        }
        self.text(if ci { ") ci" } else { ")" });
        !ci && functions::named(&name.text).is_some_and(|function| function.takes_ci)
    }

    pub(super) fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Printer, &T)) {
        for (index, item) in list.iter().enumerate() {
            self.text(if index > 0 { ", " } else { "" });
            write(self, item);
        }
    }

    fn item(&mut self, item: &ArrayItem<ParsedExpr>) {
        let (spread, expr) = match item {
            ArrayItem::One(expr) => ("", expr),
            ArrayItem::Spread(expr) => ("..", expr),
        };
        self.text(spread);
        self.whole(expr);
    }

    fn member(&mut self, member: &ObjectMember<ParsedExpr>) {
        match member {
            ObjectMember::Spread(expr) => {
                self.text("..");
                self.whole(expr);
            }
            ObjectMember::Named(name, ParsedExpr { node: Node::Name(same), .. }) if **name == **same => {
                self.text(name)
            }
            ObjectMember::Named(name, ParsedExpr { node: Node::BuiltIn(same), .. })
                if BuiltIn::named(name) == Some(*same) =>
            {
                self.text(name)
            }
            ObjectMember::Named(name, expr) => {
                if is_name(name) {
                    self.text(name)
                } else {
                    self.quoted(name)
                };
                self.text(": ");
                self.whole(expr);
            }
        }
    }

    fn quoted(&mut self, text: &str) {
        self.text(format_args!("'{}'", text.replace('\'', "''")));
    }

    /// Each `/` gets back the backslash that reading it took away; all other escapes are the pattern's own.
    fn regex(&mut self, pattern: &str) {
        self.text('/');
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            match character {
                '/' => self.text("\\/"),
                '\\' => {
                    self.text('\\');
                    characters.next().into_iter().for_each(|escaped| self.text(escaped));
                }
                other => self.text(other),
            }
        }
        self.text('/');
    }

    fn duration(&mut self, ticks: Decimal) {
        let nanoseconds = ticks.checked_mul(Decimal::ONE_HUNDRED).and_then(|ns| ns.to_u128());
        self.text(duration_literal(nanoseconds.unwrap_or_default()));
    }
}

impl Display for ParsedExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        printer.whole(self);
        f.write_str(&printer.out)
    }
}
