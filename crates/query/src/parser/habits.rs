//! What people write who come from other languages, and the answer that helps them on.

use super::tokens::Parser;
use crate::ast::{Arguments, Node, ParsedExpr};
use crate::error::Flaw;
use crate::lexer::{TokenKind, foreign_advice};
use crate::span::Span;

/// Words that mean something elsewhere, where an operator or the next clause may stand here.
const WORDS: [(&str, &str); 25] = [
    ("between", "write `x >= a and x <= b`"),
    ("ilike", "write `x like 'a%' ci`"),
    ("rlike", "write `IsMatch(x, /…/)`, or `x = /…/` for the whole text"),
    ("regexp", "write `IsMatch(x, /…/)`, or `x = /…/` for the whole text"),
    ("matches", "write `IsMatch(x, /…/)`, or `x = /…/` for the whole text"),
    ("contains", "write `Contains(x, 'a')`"),
    ("escape", "`like` needs none: `%%` and `__` stand for the signs themselves"),
    ("offset", "there is no `offset`; to continue, use `where @Id > …` with the last row's @Id"),
    ("union", "run two queries, or join their conditions with `or`"),
    (
        "join",
        "there are no joins; `from stream lateral unnest(Items) as item` gives one row for each element",
    ),
    ("over", "there are no window functions; group with `group by time(1h)`"),
    ("filter", "write the condition into the aggregate: `sum(if Ok then 1 else 0)`"),
    ("div", "write `Round(a / b - 0.5, 0)`"),
    ("mod", "write `a % b`"),
    ("xor", "write `a <> b`"),
    ("fetch", "write `limit 10`"),
    ("show", "queries begin with `select`; the command `keys` lists the keys of a store"),
    ("describe", "queries begin with `select`; the command `keys` lists the keys of a store"),
    ("delete", "queries only read; the command `delete` deletes events"),
    ("insert", "queries only read; the command `ingest` stores events"),
    ("update", "queries only read, and stored events never change"),
    ("create", "queries only read; the command `ingest` makes a store"),
    ("drop", "queries only read; the command `remove` removes events"),
    ("with", "there are no subqueries; `let |x: …| …` names a value"),
    ("nulls", "undefined and null come first in ascending order, and last in descending"),
];

impl Parser<'_> {
    /// The next token is not what the grammar allows here.
    pub(super) fn unexpected(&self, expected: impl Into<String>) -> Flaw {
        let message = match self.token.kind {
            TokenKind::End => "the text ends here".to_owned(),
            _ => format!("`{}` is not allowed here", shorten(self.text())),
        };
        let flaw = Flaw::new(self.token.span, message).expected(expected);
        if self.token.kind == TokenKind::Name
            && let Some((_, advice)) = WORDS.iter().find(|(word, _)| self.text().eq_ignore_ascii_case(word))
        {
            return flaw.hint(*advice);
        }
        if self.at_symbol("|") && self.followed_by("|") {
            return flaw.hint(foreign_advice("||").unwrap_or_default());
        }
        match self.colon_in_name() {
            Some(meant) if self.at_symbol(":") => flaw.hint(meant),
            _ => flaw,
        }
    }

    /// What may be meant by `client:port`, where the colon is the next token: a comparison, as elsewhere, or the name of a key.
    fn colon_in_name(&self) -> Option<String> {
        let is_part = |part: char| part.is_alphanumeric() || "_.:-/".contains(part);
        let (before, behind) = self.query.split_at_checked(self.token.span.start)?;
        let is_first = |part: char| is_part(part) || part == '@';
        let before = before.get(before.rfind(|part| !is_first(part)).map_or(0, |at| at + 1)..)?;
        let behind = behind.get(..behind.find(|part| !is_part(part)).unwrap_or(behind.len()))?;
        let value = behind.strip_prefix(':').filter(|value| !value.is_empty() && !value.starts_with(':'))?;
        if before.is_empty() {
            return None;
        }
        let is_number = value.bytes().all(|digit| digit.is_ascii_digit());
        let quote = if is_number { "" } else { "'" };
        let key = match before.rsplit_once('.') {
            Some((of, name)) => format!("{of}['{name}{behind}']"),
            None => format!("@Properties['{before}{behind}']"),
        };
        Some(format!(
            "a comparison is written `{before} = {quote}{value}{quote}`; a key called `{before}{behind}` is {key}"
        ))
    }

    /// Behind the last clause that was read stands something else than the end. Up to `from` that is the list of columns.
    pub(super) fn unexpected_clause(&self, is_among_columns: bool) -> Flaw {
        let flaw = self.unexpected("an operator, the next clause or the end");
        if flaw.hint.is_some() || self.token.kind != TokenKind::Name {
            return flaw;
        }
        let text = self.text();
        if ["from", "where", "group", "having", "order", "limit"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word))
        {
            return flaw.hint(
                "the clauses must be in the order from, where, group by, having, order by, limit, each once",
            );
        }
        if text.eq_ignore_ascii_case("explain") || text.eq_ignore_ascii_case("select") {
            return flaw.hint("a text holds one query");
        }
        let before = self.query.get(..self.token.span.start).unwrap_or_default();
        let is_unit = ["ms", "sec", "min", "hour", "day", "week"]
            .iter()
            .any(|unit| text.to_ascii_lowercase().starts_with(unit));
        let flaw = if before.ends_with('\'') {
            flaw.hint("a quote inside a text is written twice, as in 'it''s'")
        } else if is_unit && before.trim_end().ends_with(|last: char| last.is_ascii_digit()) {
            flaw.hint("durations are written as in 5m, 1h30m and 7d")
        } else if text.eq_ignore_ascii_case("as") && !is_among_columns {
            flaw.hint("columns and group keys can be named, the stream cannot")
        } else if is_among_columns {
            flaw.hint("columns are separated by `,`, and a column is named with `as`")
        } else {
            flaw
        };
        flaw.suggest(
            text,
            [
                "from", "where", "group by", "having", "order by", "limit", "and", "or", "like", "in",
                "is null", "as", "ci",
            ],
        )
    }

    /// `select distinct x`, `select top 10 x`.
    pub(super) fn check_select_habits(&self) -> Result<(), Flaw> {
        for (word, advice) in [
            ("distinct", "write `select distinct(x) from stream`"),
            ("top", "write `limit 10` at the end; `top(x, 10)` gives the first ten values of x"),
            ("all", "leave `all` out"),
        ] {
            let next = self.lexer.clone().next();
            let follows = matches!(next, Ok(token) if matches!(token.kind, TokenKind::Name | TokenKind::Number | TokenKind::BuiltIn)
                && !Self::is_reserved(token.span.text(self.query)));
            if self.at_keyword(word) && follows {
                let message = format!("`{word}` is a function of this language");
                return Err(Flaw::new(self.token.span, message).hint(advice));
            }
        }
        Ok(())
    }

    /// Behind `is` stands something else than `null`.
    pub(super) fn unexpected_is(&self) -> Flaw {
        let flaw = self.unexpected("`null` or `not null`");
        match self.text().to_ascii_lowercase().as_str() {
            "missing" | "undefined" | "empty" | "none" | "nan" => flaw.hint(
                "`x is null` is true for null and for what is not there; `Has(x)` tells whether it is there",
            ),
            "true" | "false" => flaw.hint(format!("write `x = {}`", self.text())),
            "like" | "in" => flaw.hint(format!("leave `is` out: `x {} …`", self.text())),
            _ => flaw.hint("write `x = …` to compare"),
        }
    }

    /// `(a, b)` where an expression in parentheses ends.
    pub(super) fn unexpected_in_parentheses(&self, open: Span) -> Flaw {
        let flaw = self.unexpected("an operator or `)`");
        if self.at_symbol(",") {
            let before = self.query.get(..open.start).unwrap_or_default().trim_end();
            return flaw.hint(match before.len().checked_sub(2).and_then(|at| before.get(at..)) {
                Some(word) if word.eq_ignore_ascii_case("if") => "write `if x then a else b`",
                _ => "a list is written in brackets: [1, 2]",
            });
        }
        if self.token.kind == TokenKind::End {
            return Flaw::new(open, "this `(` is never closed").expected("`)`");
        }
        flaw
    }

    /// Behind an argument stands something else than `,` or `)`: `cast(x as int)`, `count(distinct x)`.
    pub(super) fn unexpected_argument(&self, function: &str, arguments: &Arguments) -> Flaw {
        let flaw = self.unexpected("an operator, `,` or `)`");
        let is_call = |name: &str| function.eq_ignore_ascii_case(name);
        if self.at_keyword("ci") {
            return flaw.hint("write `ci` after the `)`");
        }
        if self.at_keyword("as") && (is_call("cast") || is_call("convert") || is_call("try_cast")) {
            return flaw.hint("write `ToNumber(x)`, `ToString(x)` or `DateTime(x)`");
        }
        match arguments {
            Arguments::List(list) if is_call("count") && self.token.kind != TokenKind::End => {
                match list.as_slice() {
                    [ParsedExpr { node: Node::Name(name), .. }] if name.eq_ignore_ascii_case("distinct") => {
                        flaw.hint(format!("write `count(distinct({}))`", shorten(self.text())))
                    }
                    _ => flaw,
                }
            }
            _ => flaw,
        }
    }

    /// A keyword where an operand should begin.
    pub(super) fn unexpected_operand(&self) -> Flaw {
        let start = self.token.span.start;
        if self.at_symbol("*") && self.query.get(..start).is_some_and(|before| before.ends_with('/')) {
            return foreign_comment(Span::new(start - 1, start + 1));
        }
        let flaw = self.unexpected("an expression");
        if flaw.hint.is_some() {
            return flaw;
        }
        let text = self.text();
        match text.to_ascii_lowercase().as_str() {
            "from" | "where" | "limit" | "having" if self.taken > 0 && !self.is_followed_as_operand() => flaw,
            "select" => flaw.hint("there are no subqueries"),
            _ if self.token.kind == TokenKind::Name => {
                flaw.hint(format!("`{text}` is a keyword; a property of that name is @Properties['{text}']"))
            }
            _ => flaw,
        }
    }
}

impl Parser<'_> {
    /// Whether what follows the next token can follow an operand, and begins no clause: `select Limit from stream`.
    fn is_followed_as_operand(&self) -> bool {
        let Ok(next) = self.lexer.clone().next() else { return false };
        match next.kind {
            TokenKind::Symbol(symbol) => {
                [",", ")", "=", "<>", "<", "<=", ">", ">=", ".", "%"].contains(&symbol)
            }
            TokenKind::Name => {
                let text = next.span.text(self.query);
                ["from", "as", "like", "in", "is", "and", "or", "group", "order", "asc", "desc"]
                    .iter()
                    .any(|word| text.eq_ignore_ascii_case(word))
            }
            _ => false,
        }
    }
}

/// `/* … */` where it can be nothing else: no operand begins with `*`, and no regular expression.
pub(super) fn foreign_comment(span: Span) -> Flaw {
    Flaw::new(span, "`/*` does not start a comment in this language")
        .hint("a comment starts with `--` and ends with the line")
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(40).chain(['…']).collect() }
}
