//! Tokens → AST, by recursive descent. A query has one reading: nothing is guessed, and every error has a place.

mod expr;
mod habits;

pub(crate) use habits::function_advice;

use crate::ast::{Column, Explain, Expr, Group, Name, Order, OrderBy, Query, Unnest};
use crate::error::Flaw;
use crate::lexer::{Kind, Lexer, Token, duration};
use crate::span::Span;

/// The longest text of a query, in bytes.
pub const QUERY_BYTES_MAX: usize = 64 * 1024;

/// How deep the expressions of a query may nest: brackets, calls, and operators one in another.
pub const EXPRESSION_DEPTH_MAX: usize = 128;

/// Names that cannot stand for a property; `@Properties['…']` reaches a property that is called so.
const RESERVED: [&str; 22] = [
    "and", "or", "not", "like", "in", "is", "null", "true", "false", "ci", "if", "then", "else", "let",
    "select", "from", "where", "group", "having", "order", "limit", "as",
];

pub(crate) fn parse_query(text: &str) -> Result<Query, Flaw> {
    let mut parser = Parser::new(text)?;
    let query = parser.query()?;
    parser.end("the end of the query")?;
    Ok(query)
}

/// Parses an expression that stands alone.
pub(crate) fn parse_expression(text: &str) -> Result<Expr, Flaw> {
    let mut parser = Parser::new(text)?;
    let expr = parser.expr()?;
    parser.end("an operator or the end of the expression")?;
    Ok(expr)
}

struct Parser<'q> {
    query: &'q str,
    lexer: Lexer<'q>,
    /// The token that comes next; the lexer stands behind it.
    token: Token,
    /// The end of the last token taken.
    taken: usize,
    depth: usize,
}

impl<'q> Parser<'q> {
    fn new(query: &'q str) -> Result<Parser<'q>, Flaw> {
        if query.len() > QUERY_BYTES_MAX {
            let start = query.floor_char_boundary(QUERY_BYTES_MAX);
            let message =
                format!("the query is longer than {QUERY_BYTES_MAX} bytes, the limit of a query's text");
            return Err(Flaw::new(Span::new(start, start + 1), message));
        }
        let mut lexer = Lexer::new(query);
        let token = lexer.next()?;
        Ok(Parser { query, lexer, token, taken: 0, depth: 0 })
    }

    fn query(&mut self) -> Result<Query, Flaw> {
        let explain = match self.take_keyword("explain")? {
            Some(_) => Some(match self.take_keyword("analyze")? {
                Some(_) => Explain::Analyze,
                None => Explain::Plan,
            }),
            None => None,
        };
        if self.take_keyword("select")?.is_none() {
            return Err(self.unexpected("`select`").suggest(self.text(), ["select", "explain"]));
        }
        self.check_select_habits()?;
        let columns = self.list(Self::column)?;
        let from = match self.take_keyword("from")? {
            Some(_) => Some(self.from()?),
            None => None,
        };
        let filter = self.clause("where", Self::expr)?;
        let groups = match self.take_keyword("group")? {
            Some(_) => {
                self.keyword("by")?;
                self.list(Self::group)?
            }
            None => Vec::new(),
        };
        let having = self.clause("having", Self::expr)?;
        let order = match self.take_keyword("order")? {
            Some(_) => {
                self.keyword("by")?;
                self.list(Self::order)?
            }
            None => Vec::new(),
        };
        let limit = self.clause("limit", Self::limit)?;
        if self.token.kind != Kind::End {
            return Err(self.unexpected_clause());
        }
        Ok(Query { explain, columns, from, filter, groups, having, order, limit })
    }

    fn column(&mut self) -> Result<Column, Flaw> {
        if self.at_symbol("*") {
            return Ok(Column::All(self.advance()?));
        }
        Ok(Column::Expr { expr: self.expr()?, alias: self.alias()? })
    }

    fn alias(&mut self) -> Result<Option<Name>, Flaw> {
        self.clause("as", |parser| parser.name("a name"))
    }

    fn from(&mut self) -> Result<Vec<Unnest>, Flaw> {
        if self.take_keyword("stream")?.is_none() {
            let flaw = self.unexpected("`stream`");
            return Err(flaw.hint("all events are in `stream`: `select … from stream where …`"));
        }
        let mut unnests = Vec::new();
        while self.take_keyword("lateral")?.is_some() {
            self.keyword("unnest")?;
            self.symbol("(")?;
            let collection = self.expr()?;
            self.symbol(")")?;
            self.keyword("as")?;
            unnests.push(Unnest { collection, name: self.name("a name for the elements")? });
        }
        Ok(unnests)
    }

    fn group(&mut self) -> Result<Group, Flaw> {
        if self.at_keyword("time") && self.followed_by("(") {
            let start = self.advance()?;
            self.symbol("(")?;
            let interval = match (self.token.kind, duration(self.text())) {
                (Kind::Duration, Some(ns)) => {
                    u64::try_from(ns / 100).ok().filter(|&ticks| ns % 100 == 0 && ticks > 0)
                }
                _ => return Err(self.unexpected("a duration, as in time(1h)")),
            };
            let Some(interval) = interval else {
                return Err(Flaw::new(self.token.span, "an interval is one or more whole ticks of 100 ns"));
            };
            self.advance()?;
            return Ok(Group::Time { interval, span: start.to(self.symbol(")")?) });
        }
        Ok(Group::Expr { expr: self.expr()?, ci: self.take_keyword("ci")?.is_some(), alias: self.alias()? })
    }

    fn order(&mut self) -> Result<Order, Flaw> {
        let start = self.token.span;
        let by = if self.at_keyword("time") && self.stands_alone()? {
            self.advance()?;
            OrderBy::Time
        } else {
            OrderBy::Expr(self.expr()?)
        };
        let ci = self.take_keyword("ci")?.is_some();
        let descending = match self.take_keyword("desc")? {
            Some(_) => true,
            None => {
                self.take_keyword("asc")?;
                false
            }
        };
        Ok(Order { by, ci, descending, span: start.to(Span::new(self.taken, self.taken)) })
    }

    /// Whether the next token is an expression by itself: neither an operator nor a path goes on behind it.
    fn stands_alone(&self) -> Result<bool, Flaw> {
        let next = self.lexer.clone().next()?;
        let operators = ["and", "or", "like", "in", "not", "is"];
        Ok(match next.kind {
            Kind::Symbol(symbol) => symbol == ",",
            Kind::Name => !operators.iter().any(|name| next.span.text(self.query).eq_ignore_ascii_case(name)),
            _ => true,
        })
    }

    fn limit(&mut self) -> Result<u64, Flaw> {
        match self.text().parse() {
            Ok(limit) if self.token.kind == Kind::Number => {
                self.advance()?;
                Ok(limit)
            }
            _ => Err(self.unexpected("a whole number of rows below 2^64")),
        }
    }

    fn clause<T>(
        &mut self,
        keyword: &str,
        read: impl FnOnce(&mut Parser<'q>) -> Result<T, Flaw>,
    ) -> Result<Option<T>, Flaw> {
        match self.take_keyword(keyword)? {
            Some(_) => read(self).map(Some),
            None => Ok(None),
        }
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Parser<'q>) -> Result<T, Flaw>) -> Result<Vec<T>, Flaw> {
        let mut list = vec![read(self)?];
        while self.take_symbol(",")? {
            list.push(read(self)?);
        }
        Ok(list)
    }

    // Tokens.

    fn text(&self) -> &'q str {
        self.token.span.text(self.query)
    }

    /// Takes the next token: its place.
    fn advance(&mut self) -> Result<Span, Flaw> {
        let span = self.token.span;
        self.taken = span.end;
        self.token = self.lexer.next()?;
        Ok(span)
    }

    fn at_symbol(&self, symbol: &str) -> bool {
        matches!(self.token.kind, Kind::Symbol(s) if s == symbol)
    }

    fn at_keyword(&self, keyword: &str) -> bool {
        self.token.kind == Kind::Name && self.text().eq_ignore_ascii_case(keyword)
    }

    /// Whether `symbol` stands behind the next token.
    fn followed_by(&self, symbol: &str) -> bool {
        matches!(self.lexer.clone().next(), Ok(Token { kind: Kind::Symbol(s), .. }) if s == symbol)
    }

    fn take_symbol(&mut self, symbol: &str) -> Result<bool, Flaw> {
        let there = self.at_symbol(symbol);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    fn take_keyword(&mut self, keyword: &str) -> Result<Option<Span>, Flaw> {
        if self.at_keyword(keyword) { self.advance().map(Some) } else { Ok(None) }
    }

    fn symbol(&mut self, symbol: &str) -> Result<Span, Flaw> {
        if self.at_symbol(symbol) { self.advance() } else { Err(self.unexpected(format!("`{symbol}`"))) }
    }

    fn keyword(&mut self, keyword: &str) -> Result<Span, Flaw> {
        if self.at_keyword(keyword) { self.advance() } else { Err(self.unexpected(format!("`{keyword}`"))) }
    }

    fn is_reserved(text: &str) -> bool {
        RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word))
    }

    fn name(&mut self, expected: &str) -> Result<Name, Flaw> {
        if self.token.kind != Kind::Name {
            return Err(self.unexpected(expected));
        }
        let text = self.text().to_owned();
        if Self::is_reserved(&text) {
            return Err(self.unexpected(expected).hint(format!("`{text}` is a keyword")));
        }
        Ok(Name { text, span: self.advance()? })
    }

    fn end(&mut self, expected: &str) -> Result<(), Flaw> {
        if self.token.kind == Kind::End { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Counts a level of nesting in what `read` reads.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Parser<'q>) -> Result<T, Flaw>) -> Result<T, Flaw> {
        if self.depth >= EXPRESSION_DEPTH_MAX {
            return Err(too_deep(self.token.span));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}

fn too_deep(span: Span) -> Flaw {
    let message =
        format!("the expression nests deeper than {EXPRESSION_DEPTH_MAX} levels, the limit of a query");
    Flaw::new(span, message).hint("`and`, `or`, Concat and lists take any number of terms on one level")
}
