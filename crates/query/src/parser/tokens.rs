//! The parser and its tokens: what comes next, what is taken, how deep it is.

use crate::ast::Name;
use crate::error::Flaw;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::span::Span;

/// The maximum length of a query's text, in bytes.
pub const QUERY_BYTES_MAX: usize = 1024 * 1024;

/// The maximum nesting depth of a query's expressions, counting brackets, calls and operators.
pub const EXPRESSION_DEPTH_MAX: usize = 128;

/// Names that cannot stand for a property; `@Properties['…']` reaches a property that is called so.
const RESERVED: [&str; 22] = [
    "and", "or", "not", "like", "in", "is", "null", "true", "false", "ci", "if", "then", "else", "let",
    "select", "from", "where", "group", "having", "order", "limit", "as",
];

pub(super) struct Parser<'q> {
    pub(super) query: &'q str,
    pub(super) lexer: Lexer<'q>,
    /// The token that comes next; the lexer stands behind it.
    pub(super) token: Token,
    /// The end of the last token taken.
    pub(super) taken: usize,
    depth: usize,
}

impl<'q> Parser<'q> {
    pub(super) fn new(query: &'q str) -> Result<Parser<'q>, Flaw> {
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

    pub(super) fn text(&self) -> &'q str {
        self.token.span.text(self.query)
    }

    /// Takes the next token: its place.
    pub(super) fn advance(&mut self) -> Result<Span, Flaw> {
        let span = self.token.span;
        self.taken = span.end;
        self.token = self.lexer.next()?;
        Ok(span)
    }

    pub(super) fn at_symbol(&self, symbol: &str) -> bool {
        matches!(self.token.kind, TokenKind::Symbol(s) if s == symbol)
    }

    pub(super) fn at_keyword(&self, keyword: &str) -> bool {
        self.token.kind == TokenKind::Name && self.text().eq_ignore_ascii_case(keyword)
    }

    /// Whether `symbol` stands behind the next token.
    pub(super) fn followed_by(&self, symbol: &str) -> bool {
        matches!(self.lexer.clone().next(), Ok(Token { kind: TokenKind::Symbol(s), .. }) if s == symbol)
    }

    pub(super) fn take_symbol(&mut self, symbol: &str) -> Result<bool, Flaw> {
        let there = self.at_symbol(symbol);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    pub(super) fn take_keyword(&mut self, keyword: &str) -> Result<Option<Span>, Flaw> {
        if self.at_keyword(keyword) { self.advance().map(Some) } else { Ok(None) }
    }

    pub(super) fn symbol(&mut self, symbol: &str) -> Result<Span, Flaw> {
        if self.at_symbol(symbol) { self.advance() } else { Err(self.unexpected(format!("`{symbol}`"))) }
    }

    pub(super) fn keyword(&mut self, keyword: &str) -> Result<Span, Flaw> {
        if self.at_keyword(keyword) { self.advance() } else { Err(self.unexpected(format!("`{keyword}`"))) }
    }

    pub(super) fn is_reserved(text: &str) -> bool {
        RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word))
    }

    pub(super) fn name(&mut self, expected: &str) -> Result<Name, Flaw> {
        if self.token.kind != TokenKind::Name {
            return Err(self.unexpected(expected));
        }
        let text = self.text().to_owned();
        if Self::is_reserved(&text) {
            return Err(self.unexpected(expected).hint(format!("`{text}` is a keyword")));
        }
        Ok(Name { text, span: self.advance()? })
    }

    pub(super) fn end(&mut self, expected: &str) -> Result<(), Flaw> {
        if self.token.kind == TokenKind::End { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Counts a level of nesting in what `read` reads.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Parser<'q>) -> Result<T, Flaw>,
    ) -> Result<T, Flaw> {
        if self.depth >= EXPRESSION_DEPTH_MAX {
            return Err(too_deep(self.token.span));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    pub(super) fn clause<T>(
        &mut self,
        keyword: &str,
        read: impl FnOnce(&mut Parser<'q>) -> Result<T, Flaw>,
    ) -> Result<Option<T>, Flaw> {
        match self.take_keyword(keyword)? {
            Some(_) => read(self).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Parser<'q>) -> Result<T, Flaw>,
    ) -> Result<Vec<T>, Flaw> {
        let mut list = vec![read(self)?];
        while self.take_symbol(",")? {
            list.push(read(self)?);
        }
        Ok(list)
    }
}

pub(super) fn too_deep(span: Span) -> Flaw {
    let message =
        format!("the expression nests deeper than {EXPRESSION_DEPTH_MAX} levels, the limit of a query");
    Flaw::new(span, message).hint("`and`, `or`, Concat and lists take any number of terms on one level")
}
