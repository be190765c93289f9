//! The clauses of a query, in their one order.

use super::tokens::Parser;
use crate::ast::{Explain, GroupItem, Name, OrderBy, OrderItem, Select, SelectItem, Unnest};
use crate::error::Flaw;
use crate::lexer::{TokenKind, duration};
use crate::span::Span;

impl Parser<'_> {
    pub(super) fn query(&mut self) -> Result<Select, Flaw> {
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
        if self.token.kind != TokenKind::End {
            return Err(self.unexpected_clause(from.is_none()));
        }
        Ok(Select { explain, columns, from, filter, groups, having, order, limit })
    }

    fn column(&mut self) -> Result<SelectItem, Flaw> {
        if self.at_symbol("*") {
            return Ok(SelectItem::All(self.advance()?));
        }
        Ok(SelectItem::Expr { expr: self.expr()?, alias: self.alias()? })
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

    fn group(&mut self) -> Result<GroupItem, Flaw> {
        if self.at_keyword("time") && self.followed_by("(") {
            let start = self.advance()?;
            self.symbol("(")?;
            let interval = match (self.token.kind, duration(self.text())) {
                (TokenKind::Duration, Some(ns)) => {
                    u64::try_from(ns / 100).ok().filter(|&ticks| ns % 100 == 0 && ticks > 0)
                }
                _ => return Err(self.unexpected("a duration, as in time(1h)")),
            };
            let Some(interval) = interval else {
                return Err(Flaw::new(self.token.span, "an interval is one or more whole ticks of 100 ns"));
            };
            self.advance()?;
            let zone = match self.take_symbol(",")? {
                true => Some(self.expr()?),
                false => None,
            };
            let span = start.to(self.symbol(")")?);
            if self.at_keyword("as") {
                let flaw = self.unexpected("`,`, the next clause or the end");
                return Err(flaw.hint("the column of the intervals is always called `time`"));
            }
            return Ok(GroupItem::Time { interval, zone, span });
        }
        Ok(GroupItem::Expr {
            expr: self.expr()?,
            ci: self.take_keyword("ci")?.is_some(),
            alias: self.alias()?,
        })
    }

    fn order(&mut self) -> Result<OrderItem, Flaw> {
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
        Ok(OrderItem { by, ci, descending, span: start.to(Span::new(self.taken, self.taken)) })
    }

    /// Whether the next token is an expression by itself: neither an operator nor a path goes on behind it.
    fn stands_alone(&self) -> Result<bool, Flaw> {
        let next = self.lexer.clone().next()?;
        let operators = ["and", "or", "like", "in", "not", "is"];
        Ok(match next.kind {
            TokenKind::Symbol(symbol) => symbol == ",",
            TokenKind::Name => {
                !operators.iter().any(|name| next.span.text(self.query).eq_ignore_ascii_case(name))
            }
            _ => true,
        })
    }

    fn limit(&mut self) -> Result<u64, Flaw> {
        match self.text().parse() {
            Ok(limit) if self.token.kind == TokenKind::Number => {
                self.advance()?;
                Ok(limit)
            }
            _ => Err(self.unexpected("a whole number of rows below 2^64")),
        }
    }
}
