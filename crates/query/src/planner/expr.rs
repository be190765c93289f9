//! Expressions: names become slots and locals, what is written becomes what is evaluated.

use super::resolve::{Local, Resolver};
use super::{aggregate, wildcard};
use crate::ast::{Name, Node, ParsedExpr, Quantifier};
use crate::error::Flaw;
use crate::expr::{Computed, Expr, bind, fold};
use crate::span::Span;
use crate::value::{Number, Value};
use rust_decimal::Decimal;
use std::sync::Arc;

/// How many different keys a query may name, the readings of dotted paths included.
const KEYS_MAX: usize = 4096;

/// How many wildcards a comparison may have, those of the comparisons within it included: each is a loop within the one before.
const WILDCARDS_MAX: usize = 16;

/// How many levels of arrays and objects a value bound by `let` may have. What is built around it adds no more than an
/// expression has, so that no computed value nests deeper than values are walked.
const LEVELS_MAX: usize = 128;

impl Resolver<'_> {
    /// A column of a grouped query: it says something of the group as a whole.
    pub(super) fn column(&mut self, expr: &ParsedExpr) -> Result<Expr, Flaw> {
        if let Some(grouped) = &self.grouped
            && aggregate::find(expr).is_none()
            && grouped.key(expr).is_some()
        {
            let shown = expr.span.text(self.text);
            return Err(Flaw::new(
                expr.span,
                format!("`{shown}` is a group key, and group keys are always the first columns"),
            )
            .hint(format!("leave `{shown}` out of the select list")));
        }
        self.expr(expr)
    }

    /// What an aggregate takes in: an expression over the event again, with the locals that the event has.
    pub(super) fn aggregated(&mut self, expr: &ParsedExpr) -> Result<Expr, Flaw> {
        let Some(grouped) = self.grouped.take() else {
            return self.expr(expr);
        };
        let around = std::mem::replace(&mut self.locals, grouped.unnested.clone());
        let hidden = std::mem::replace(&mut self.hidden, around);
        let resolved = self.expr(expr);
        self.locals = std::mem::replace(&mut self.hidden, hidden);
        self.grouped = Some(grouped);
        resolved
    }

    /// The value of an expression that takes nothing from an event; none if it takes something.
    pub(super) fn constant(&mut self, expr: &ParsedExpr) -> Result<Option<Value<'static>>, Flaw> {
        if self.mentions_local(expr) {
            return Ok(None);
        }
        let (names, flat_names) = (self.names.len(), self.flat_names);
        let resolved = self.aggregated(expr)?;
        self.names.truncate(names);
        self.flat_names = flat_names;
        Ok(match fold(resolved) {
            Expr::Constant(value) => Some(value),
            _ => None,
        })
    }

    pub(super) fn expr(&mut self, expr: &ParsedExpr) -> Result<Expr, Flaw> {
        if self.names.len() > KEYS_MAX {
            return Err(Flaw::new(
                expr.span,
                format!("the query names more than {KEYS_MAX} keys, the limit"),
            ));
        }
        self.warn_of_habits(expr);
        if let Some(resolved) = self.behind_grouping(expr)? {
            return Ok(resolved);
        }
        if let Some(quantified) = self.wildcards(expr)? {
            return Ok(quantified);
        }
        let boxed = |resolver: &mut Self, expr: &ParsedExpr| resolver.expr(expr).map(Box::new);
        Ok(match &expr.node {
            Node::Null => Expr::Constant(Value::Null),
            Node::Bool(bool) => Expr::constant(*bool),
            Node::Number(text) => Expr::Constant(Value::Number(number(text))),
            Node::Duration(ticks) => Expr::constant(*ticks),
            Node::Hex(number) => Expr::constant(Decimal::from(*number)),
            Node::Text(text) => Expr::constant(text.clone()),
            Node::Regex(_) => {
                return Err(Flaw::new(expr.span, "a regular expression is not allowed here")
                    .hint("use it after `=` or `<>`, or in IsMatch, IndexOfMatch and Replace"));
            }
            Node::Parameter(name) => self.parameter(name, expr.span)?,
            Node::Name(name) => self.name(name, expr.span)?,
            Node::BuiltIn(built_in) => {
                self.needs_event(expr.span)?;
                self.built_in(*built_in)
            }
            Node::Member(of, name) => match self.dotted(expr) {
                Some(names) => {
                    self.needs_event(expr.span)?;
                    self.path(&names)
                }
                None => self.member(of, name)?,
            },
            Node::Element(of, index) => match &index.node {
                Node::Text(name) => self.member(of, name)?,
                _ => Expr::Element(boxed(self, of)?, boxed(self, index)?),
            },
            Node::Wildcard(..) => {
                return Err(Flaw::new(
                    expr.span,
                    "a wildcard is used in a comparison, which then holds for some or all elements",
                )
                .hint("as in `Tags[?] = 'a'`; `Some` and `Every` take any condition"));
            }
            Node::Negate(of) => Expr::Negate(boxed(self, of)?),
            Node::Not(of) => Expr::Not(boxed(self, of)?),
            Node::IsNull(of, negated) => Expr::IsNull(boxed(self, of)?, *negated),
            Node::And(terms) => Expr::And(self.list(terms)?),
            Node::Or(terms) => Expr::Or(self.list(terms)?),
            Node::Arithmetic(op, a, b) => Expr::Arithmetic(*op, boxed(self, a)?, boxed(self, b)?),
            Node::Compare { op, left, right, ci } => self.comparison(*op, left, right, *ci)?,
            Node::Call { name, arguments, ci } => self.call(expr, name, arguments, *ci)?,
            Node::Array(items) => {
                let items = items.iter().map(|item| item.try_map(|expr| self.expr(expr)));
                Expr::Array(items.collect::<Result<_, Flaw>>()?)
            }
            Node::Object(members) => {
                let members = members.iter().map(|member| member.try_map(|expr| self.expr(expr)));
                Expr::Object(members.collect::<Result<_, Flaw>>()?)
            }
            Node::If(a, b, c) => Expr::If(Box::new((self.expr(a)?, self.expr(b)?, self.expr(c)?))),
            Node::Let(bindings, body) => self.bindings(bindings, body)?,
            Node::Lambda(..) => {
                return Err(Flaw::new(expr.span, "a lambda is an argument of Some or Every only"));
            }
        })
    }

    /// A comparison with wildcards, as quantifiers; none where there is no wildcard.
    fn wildcards(&mut self, expr: &ParsedExpr) -> Result<Option<Expr>, Flaw> {
        if !wildcard::is_comparison(expr) {
            return Ok(None);
        }
        let placeholder = format!("[{}]", self.locals.len());
        let Some((quantifier, collection, body)) = wildcard::take(expr, &placeholder) else {
            return Ok(None);
        };
        if self.wildcards == WILDCARDS_MAX {
            return Err(Flaw::new(
                expr.span,
                format!("a comparison has more than {WILDCARDS_MAX} wildcards, the limit"),
            ));
        }
        self.wildcards += 1;
        let quantified = self.quantified(quantifier, &collection, placeholder, &body);
        self.wildcards -= 1;
        quantified.map(Some)
    }

    fn parameter(&self, name: &str, span: Span) -> Result<Expr, Flaw> {
        match self.parameters.get(name) {
            Some(value) => Ok(Expr::Constant(value.clone())),
            None => Err(Flaw::new(span, format!("the parameter `${name}` has no value"))
                .hint(format!("bind it; on the command line with `--param {name}=…`"))
                .suggest(name, self.parameters.names())),
        }
    }

    /// A local, else a property of the event.
    fn name(&mut self, name: &str, span: Span) -> Result<Expr, Flaw> {
        match self.local(name) {
            Some(local) => Ok(Expr::Local(local)),
            None if self.is_hidden(name) => Err(Flaw::new(
                span,
                format!("`{name}` has no value inside an aggregate, which is computed from events"),
            )
            .hint("bind it inside the aggregate's brackets")),
            None => {
                self.needs_event(span)?;
                Ok(Expr::Slot(self.slot(name)))
            }
        }
    }

    /// `let`: each value becomes the next local, or stands where it is used.
    fn bindings(&mut self, bindings: &[(Name, ParsedExpr)], body: &ParsedExpr) -> Result<Expr, Flaw> {
        let depth = self.locals.len();
        let mut values = Vec::new();
        for (name, value) in bindings {
            let resolved = self.expr(value)?;
            let levels = self.levels_of(&resolved, value.span)?;
            values.push(resolved);
            let is_instant = self.is_instant(value);
            self.locals.push(Local { name: name.text.clone(), levels, is_instant });
        }
        let body = self.expr(body)?;
        self.locals.truncate(depth);
        Ok(bind(values, body, depth))
    }

    /// How many levels of arrays and objects a value that gets a name can have.
    pub(super) fn levels_of(&self, value: &Expr, span: Span) -> Result<usize, Flaw> {
        match self.levels(value, &mut Vec::new()) {
            levels @ 0..=LEVELS_MAX => Ok(levels),
            _ => Err(Flaw::new(
                span,
                format!("arrays and objects are built more than {LEVELS_MAX} levels deep, the limit"),
            )),
        }
    }

    /// How many levels of arrays and objects the expression can build at most. `inner` has those of the locals within it.
    fn levels(&self, expr: &Expr, inner: &mut Vec<usize>) -> usize {
        let known = inner.len();
        let mut most = 0;
        for child in expr.children() {
            let levels = self.levels(child, inner);
            most = most.max(levels);
            // A binding, or a collection, is what the next local has.
            if let Expr::Let(..) | Expr::Quantified { .. } = expr {
                inner.push(levels);
            }
        }
        inner.truncate(known);
        match expr {
            Expr::Local(local) => match local.checked_sub(self.locals.len()) {
                None => self.locals.get(*local).map_or(0, |local| local.levels),
                Some(local) => inner.get(local).copied().unwrap_or(0),
            },
            Expr::Array(_) | Expr::Object(_) => most + 1,
            _ => most,
        }
    }

    pub(super) fn list(&mut self, list: &[ParsedExpr]) -> Result<Vec<Expr>, Flaw> {
        list.iter().map(|expr| self.expr(expr)).collect()
    }

    fn member(&mut self, of: &ParsedExpr, name: &str) -> Result<Expr, Flaw> {
        let used_document = self.uses_document;
        let of = self.expr(of)?;
        let is_key = match &of {
            Expr::BuiltIn(Computed::Properties) => !name.starts_with('@'),
            other => matches!(other, Expr::BuiltIn(Computed::Data)),
        };
        if is_key {
            // One key is read, and not all of them.
            self.uses_document = used_document;
            return Ok(Expr::Slot(self.slot(name)));
        }
        Ok(Expr::Member(Box::new(of), name.into()))
    }

    /// The names of a dotted path that begins with a property of the event.
    fn dotted<'e>(&self, expr: &'e ParsedExpr) -> Option<Vec<&'e str>> {
        match &expr.node {
            // Behind a grouping, it begins with a key of that.
            Node::Name(name)
                if self.grouped.is_none() && self.local(name).is_none() && !self.is_hidden(name) =>
            {
                Some(vec![name])
            }
            Node::Member(of, name) => {
                let mut names = self.dotted(of)?;
                names.push(name);
                Some(names)
            }
            _ => None,
        }
    }

    /// `a.b.c` is a member of `a`; or else what the longest of the keys `a.b.c` and `a.b` leads to.
    fn path(&mut self, names: &[&str]) -> Expr {
        self.slot(names.first().copied().unwrap_or_default());
        let known = self.names.len();
        let lengths = [1].into_iter().chain((2..=names.len()).rev());
        let readings = lengths.map(|length| {
            let (key, members) = names.split_at(length.min(names.len()));
            let slot = Expr::Slot(self.slot(&key.join(".")));
            members.iter().fold(slot, |of, name| Expr::Member(Box::new(of), (*name).into()))
        });
        let readings = readings.collect();
        self.flat_names += self.names.len() - known;
        Expr::Path(readings)
    }

    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        collection: &ParsedExpr,
        name: String,
        body: &ParsedExpr,
    ) -> Result<Expr, Flaw> {
        let collection = Box::new(self.expr(collection)?);
        let levels = self.levels(&collection, &mut Vec::new());
        self.locals.push(Local { name, levels, is_instant: false });
        let body = self.expr(body);
        self.locals.pop();
        Ok(Expr::Quantified { quantifier, collection, body: Box::new(body?) })
    }
}

/// A number literal, which is JSON text.
fn number(text: &str) -> Number<'static> {
    match tamias_json::number::to_decimal(text) {
        Some(decimal) => Number::Decimal(decimal),
        None => Number::Shared(Arc::from(text)),
    }
}
