//! The AST as text of the language, in one spelling: single blanks, keywords in lower case, parentheses only where they
//! are needed. What is read from that text is equal to what was written.

use super::{
    Arguments, Arithmetic, Column, Explain, Expr, Group, Item, Member, Node, Order, OrderBy, Quantifier,
    Query,
};
use crate::builtin::BuiltIn;
use crate::functions;
use crate::lexer::{duration_literal, is_name};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use std::fmt::{self, Display};

/// How tightly an expression binds; `Whole` is anything at all, as between brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
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
struct Printer {
    out: String,
}

/// Whether a `ci` that follows would be taken by what was written.
type TakesCi = bool;

impl Printer {
    fn text(&mut self, text: impl Display) {
        use fmt::Write;
        // Writing to a string does not fail.
        let _ = write!(self.out, "{text}");
    }

    fn whole(&mut self, expr: &Expr) -> TakesCi {
        self.expr(expr, Binding::Whole, Behind::End)
    }

    fn parentheses(&mut self, expr: &Expr) -> TakesCi {
        self.text('(');
        self.whole(expr);
        self.text(')');
        false
    }

    /// Writes what a `ci` follows that is not its own.
    fn before_ci(&mut self, expr: &Expr, least: Binding) {
        let start = self.out.len();
        if self.expr(expr, least, Behind::End) {
            self.enclose(start);
        }
    }

    /// Puts what was written from `start` on into parentheses. Writing it anew would take time exponential in its depth.
    fn enclose(&mut self, start: usize) {
        self.out.insert(start, '(');
        self.out.push(')');
    }

    /// Writes an operand that has to bind at least as tightly as `least`.
    fn expr(&mut self, expr: &Expr, least: Binding, behind: Behind) -> TakesCi {
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
            Node::And(terms) | Node::Or(terms) => {
                let sign = if binding == Binding::And { " and " } else { " or " };
                let mut takes_ci = false;
                for (index, term) in terms.iter().enumerate() {
                    self.text(if index > 0 { sign } else { "" });
                    let behind = if index + 1 < terms.len() { Behind::More } else { behind };
                    takes_ci = self.expr(term, binding.next(), behind);
                }
                return takes_ci;
            }
            Node::Arithmetic(op, a, b) => {
                self.expr(a, binding, Behind::More);
                self.text(format_args!(" {} ", op.sign()));
                return self.expr(b, binding.next(), behind);
            }
            Node::Compare { op, left, right, ci } => {
                self.expr(left, binding, Behind::More);
                self.text(format_args!(" {} ", op.sign()));
                if !ci {
                    self.expr(right, binding.next(), behind);
                    return true;
                }
                self.before_ci(right, binding.next());
                self.text(" ci");
            }
            Node::Call { name, arguments, ci } => {
                self.text(format_args!("{}(", name.text));
                match arguments {
                    Arguments::Star => self.text('*'),
                    Arguments::List(list) => self.list(list, |printer, expr| {
                        printer.whole(expr);
                    }),
                }
                self.text(if *ci { ") ci" } else { ")" });
                return !ci && functions::named(&name.text).is_some_and(|function| function.takes_ci);
            }
            Node::Array(items) => {
                self.text('[');
                self.list(items, |printer, item| {
                    let (spread, expr) = match item {
                        Item::One(expr) => ("", expr),
                        Item::Spread(expr) => ("..", expr),
                    };
                    printer.text(spread);
                    printer.whole(expr);
                });
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
                self.text("let |");
                self.list(bindings, |printer, (name, value)| {
                    printer.text(format_args!("{}: ", name.text));
                    printer.whole(value);
                });
                self.text("| ");
                return self.whole(body);
            }
            Node::Lambda(names, body) => {
                self.text('|');
                self.list(names, |printer, name| printer.text(&name.text));
                self.text("| ");
                return self.whole(body);
            }
        }
        false
    }

    fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Printer, &T)) {
        for (index, item) in list.iter().enumerate() {
            self.text(if index > 0 { ", " } else { "" });
            write(self, item);
        }
    }

    fn member(&mut self, member: &Member) {
        match member {
            Member::Spread(expr) => {
                self.text("..");
                self.whole(expr);
            }
            Member::Named(name, Expr { node: Node::Name(same), .. }) if name == same => self.text(name),
            Member::Named(name, Expr { node: Node::BuiltIn(same), .. })
                if BuiltIn::named(name) == Some(*same) =>
            {
                self.text(name)
            }
            Member::Named(name, expr) => {
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

    fn query(&mut self, query: &Query) {
        match query.explain {
            None => {}
            Some(Explain::Plan) => self.text("explain "),
            Some(Explain::Analyze) => self.text("explain analyze "),
        }
        self.text("select ");
        self.list(&query.columns, |printer, column| match column {
            Column::All(_) => printer.text('*'),
            Column::Expr { expr, alias } => {
                printer.whole(expr);
                alias.iter().for_each(|alias| printer.text(format_args!(" as {}", alias.text)));
            }
        });
        for (index, unnest) in query.from.iter().flatten().enumerate() {
            self.text(if index > 0 { " lateral unnest(" } else { " from stream lateral unnest(" });
            self.whole(&unnest.collection);
            self.text(format_args!(") as {}", unnest.name.text));
        }
        self.text(if query.from.as_ref().is_some_and(Vec::is_empty) { " from stream" } else { "" });
        for (clause, condition) in [(" where ", &query.filter), (" having ", &query.having)] {
            if clause == " having " && !query.groups.is_empty() {
                self.text(" group by ");
                self.list(&query.groups, Printer::group);
            }
            if let Some(condition) = condition {
                self.text(clause);
                self.whole(condition);
            }
        }
        if !query.order.is_empty() {
            self.text(" order by ");
            self.list(&query.order, Printer::order);
        }
        query.limit.iter().for_each(|limit| self.text(format_args!(" limit {limit}")));
    }

    fn group(&mut self, group: &Group) {
        match group {
            Group::Time { interval, .. } => {
                self.text(format_args!("time({})", duration_literal(u128::from(*interval) * 100)));
            }
            Group::Expr { expr, ci, alias } => {
                let start = self.out.len();
                if *ci {
                    self.before_ci(expr, Binding::Whole);
                } else {
                    self.whole(expr);
                }
                // A call of that name would be read as an interval.
                if self.out.get(start..).is_some_and(|text| begins_with(text, "time(")) {
                    self.enclose(start);
                }
                self.text(if *ci { " ci" } else { "" });
                alias.iter().for_each(|alias| self.text(format_args!(" as {}", alias.text)));
            }
        }
    }

    fn order(&mut self, order: &Order) {
        match &order.by {
            OrderBy::Time => self.text("time"),
            OrderBy::Expr(expr) if matches!(&expr.node, Node::Name(name) if begins_with(name, "time") && name.len() == 4) =>
            {
                self.parentheses(expr);
            }
            OrderBy::Expr(expr) if order.ci => self.before_ci(expr, Binding::Whole),
            OrderBy::Expr(expr) => {
                self.whole(expr);
            }
        }
        self.text(if order.ci { " ci" } else { "" });
        self.text(if order.descending { " desc" } else { "" });
    }
}

fn begins_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

impl Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        printer.whole(self);
        f.write_str(&printer.out)
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        printer.query(self);
        f.write_str(&printer.out)
    }
}

#[cfg(test)]
mod tests {
    use crate::parser::{parse_expression, parse_query};

    /// Prints an expression, and reads it again.
    #[track_caller]
    fn check(text: &str, printed: &str) {
        let expr = parse_expression(text).unwrap_or_else(|flaw| panic!("{}", flaw.locate(text)));
        assert_eq!(expr.to_string(), printed);
        let again = parse_expression(printed).unwrap_or_else(|flaw| panic!("{}", flaw.locate(printed)));
        assert_eq!(again, expr, "{printed}");
    }

    #[track_caller]
    fn check_query(text: &str, printed: &str) {
        let query = parse_query(text).unwrap_or_else(|flaw| panic!("{}", flaw.locate(text)));
        assert_eq!(query.to_string(), printed);
        let again = parse_query(printed).unwrap_or_else(|flaw| panic!("{}", flaw.locate(printed)));
        assert_eq!(again, query, "{printed}");
    }

    #[test]
    fn literals() {
        check("NULL", "null");
        check(
            "[True,FALSE , 007.50,0xfF,'it''s',/a\\/b\\\\\\/[\\]]/]",
            "[true, false, 7.5, 0xFF, 'it''s', /a\\/b\\\\\\/[\\]]/]",
        );
        check("90m", "1h30m");
        check("0s + 1ns + 1d2h3m4s5ms6us7ns", "0ns + 1ns + 1d2h3m4s5ms6us7ns");
        check("0xffffffffffffffffffffffff", "0xFFFFFFFFFFFFFFFFFFFFFFFF");
        check("$p", "$p");
        check("//", "//");
    }

    #[test]
    fn operators_have_the_parentheses_they_need() {
        check("((a))", "a");
        check("a+b*c^d", "a + b * c ^ d");
        check("((a+b)*c)^d", "((a + b) * c) ^ d");
        check("(a-b)-(c-d)", "a - b - (c - d)");
        check("- - a", "- -a");
        check("-(a)^-b", "-a ^ -b");
        check("-(a ^ b)", "-(a ^ b)");
        check("not(a)is null", "not a is null");
        check("(not a) is null", "(not a) is null");
        check("- a is null is not null", "(-a is null) is not null");
        check("(a is null) is null", "(a is null) is null");
        check("a and (b or c) and (d and e)", "a and (b or c) and (d and e)");
        check("a or b and c or (d or e)", "a or b and c or (d or e)");
        check("not (a = b)", "not (a = b)");
        check("(a = b) = (c = d)", "a = b = (c = d)");
        check("a NOT  LIKE 'x' and b not in [..c,1]", "a not like 'x' and b not in [..c, 1]");
    }

    #[test]
    fn paths_and_objects() {
        check("a . b [ 0 ] ['c'] [ ? ].d[*]", "a.b[0]['c'][?].d[*]");
        check("(a + b).c", "(a + b).c");
        check("(-a).c", "(-a).c");
        check("1.a", "1.a");
        check(
            "{a, 'b': b, @l, '@l': @Level, 'odd name': 1, c: d, ..e, null, 'null': null}",
            "{a, b, @l, @l, 'odd name': 1, c: d, ..e, null, null: null}",
        );
    }

    #[test]
    fn open_ends() {
        check("if a then b else c + 1", "if a then b else c + 1");
        check("(if a then b else c) + 1", "(if a then b else c) + 1");
        check("1 + (if a then b else c)", "1 + if a then b else c");
        check("-(let |a: 1, b: |x| x| a).b", "-(let |a: 1, b: |x| x| a).b");
        check("Some(a, | | true) and Every(b, |x,y| x = y)", "Some(a, || true) and Every(b, |x, y| x = y)");
        check("if if a then b else c then d else e", "if if a then b else c then d else e");
    }

    #[test]
    fn ci_belongs_to_whom_it_belonged() {
        check("a = b CI = c", "a = b ci = c");
        check("a = StartsWith(b, c) ci", "a = StartsWith(b, c) ci");
        check("a = (StartsWith(b, c)) ci", "a = (StartsWith(b, c)) ci");
        check("a = StartsWith(b, c) ci ci", "a = StartsWith(b, c) ci ci");
        check("a = (1 + (IndexOf(b, c))) ci", "a = (1 + IndexOf(b, c)) ci");
        check("a = (if b then c else d) ci", "a = if b then c else d ci");
        check("a = (if b then c else (d = e)) ci", "a = (if b then c else d = e) ci");
        check("a = Length(b) ci", "a = Length(b) ci");
        check_query(
            "select a from stream group by (a = b) ci, a = b ci, (a = b ci) ci as c order by (a = b) ci desc, a ci asc",
            "select a from stream group by (a = b) ci, a = b ci, a = b ci ci as c order by (a = b) ci desc, a ci",
        );
    }

    #[test]
    fn many_of_them_in_one_another_take_no_time() {
        let text = "a = (StartsWith(".repeat(25) + "a" + &", b)) ci".repeat(25);
        check(&text, &text);
    }

    #[test]
    fn queries() {
        check_query("explain  analyze select 1", "explain analyze select 1");
        check_query(
            "EXPLAIN select *, a as b, count ( * ) FROM stream lateral unnest(a)as x lateral unnest(x) as y -- c\nwhere x>0 limit 010",
            "explain select *, a as b, count(*) from stream lateral unnest(a) as x lateral unnest(x) as y where x > 0 limit 10",
        );
        check_query(
            "select sum(a) from stream group by time(100ms), (time(1h)), time.a having sum(a) > 1 order by TIME desc",
            "select sum(a) from stream group by time(100ms), (time(1h)), time.a having sum(a) > 1 order by time desc",
        );
        check_query(
            "select time from stream order by (time), time.x, -time",
            "select time from stream order by (time), time.x, -time",
        );
    }
}
