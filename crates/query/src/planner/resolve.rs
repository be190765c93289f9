//! Expressions: names become slots and locals, calls find their functions, patterns are compiled.

use super::{aggregate, normal, wildcard};
use crate::ast::{self, Arguments, Comparison, Node, Quantifier};
use crate::builtin::BuiltIn;
use crate::error::Flaw;
use crate::expr::{Computed, Expr, Item, Like, Member, Pattern, Replacement};
use crate::functions;
use crate::optimizer;
use crate::parameters::Parameters;
use crate::parser::function_advice;
use crate::plan::Aggregate;
use crate::span::Span;
use crate::value::{Number, Value};
use rust_decimal::Decimal;
use std::sync::Arc;

pub(super) struct Resolver<'q> {
    text: &'q str,
    parameters: &'q Parameters,
    /// Whether there is an event to take names from.
    has_event: bool,
    /// The slots.
    pub(super) names: Vec<Box<str>>,
    /// Whether the document is read otherwise than by its slots.
    pub(super) uses_document: bool,
    /// The names of the locals, the innermost last.
    pub(super) locals: Vec<String>,
    /// Set while expressions behind a grouping are resolved.
    pub(super) grouped: Option<Grouped>,
}

/// What can be named behind a grouping.
pub(super) struct Grouped {
    /// Each key with the texts that mean it.
    keys: Vec<Vec<String>>,
    interval: Option<u64>,
    pub(super) aggregates: Vec<Aggregate>,
    /// Each of them in full, to tell whether two are the same.
    shown: Vec<String>,
    /// The columns that have an alias, as `having` may name them.
    aliases: Vec<(String, Expr)>,
}

impl Grouped {
    pub(super) fn new(keys: Vec<Vec<String>>, interval: Option<u64>) -> Grouped {
        Grouped { keys, interval, aggregates: Vec::new(), shown: Vec::new(), aliases: Vec::new() }
    }

    fn key(&self, text: &str) -> Option<usize> {
        self.keys.iter().position(|names| names.iter().any(|name| *name == normal(text)))
    }
}

impl<'q> Resolver<'q> {
    pub(super) fn new(text: &'q str, parameters: &'q Parameters, has_event: bool) -> Resolver<'q> {
        Resolver {
            text,
            parameters,
            has_event,
            names: Vec::new(),
            uses_document: false,
            locals: Vec::new(),
            grouped: None,
        }
    }

    /// A column of a grouped query: it says something of the group as a whole.
    pub(super) fn column(&mut self, expr: &ast::Expr) -> Result<Expr, Flaw> {
        if let Some(grouped) = &self.grouped {
            let shown = expr.span.text(self.text);
            if aggregate::find(expr).is_none() && grouped.key(shown).is_some() {
                return Err(Flaw::new(
                    expr.span,
                    format!("`{shown}` is a group key, and those come first in the row anyway"),
                )
                .hint(format!("leave `{shown}` out of the select list")));
            }
        }
        self.expr(expr)
    }

    /// From here on the aliases of the columns can be named.
    pub(super) fn allow_keys(&mut self, aliases: Vec<(String, Expr)>) {
        if let Some(grouped) = &mut self.grouped {
            grouped.aliases = aliases;
        }
    }

    /// What an aggregate takes in: an expression over the event again.
    pub(super) fn aggregated(&mut self, expr: &ast::Expr) -> Result<Expr, Flaw> {
        let grouped = self.grouped.take();
        let resolved = self.expr(expr);
        self.grouped = grouped;
        resolved
    }

    /// The value of an expression that takes nothing from an event; none if it takes something.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Result<Option<Value<'static>>, Flaw> {
        let names = self.names.len();
        let resolved = self.aggregated(expr)?;
        self.names.truncate(names);
        Ok(match optimizer::fold(resolved) {
            Expr::Constant(value) => Some(value),
            _ => None,
        })
    }

    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Result<Expr, Flaw> {
        if let Some(resolved) = self.behind_grouping(expr)? {
            return Ok(resolved);
        }
        if wildcard::is_comparison(expr) {
            let placeholder = format!("[{}]", self.locals.len());
            if let Some((quantifier, collection, body)) = wildcard::take(expr, &placeholder) {
                return self.quantified(quantifier, &collection, placeholder, &body);
            }
        }
        let boxed = |resolver: &mut Self, expr: &ast::Expr| resolver.expr(expr).map(Box::new);
        Ok(match &expr.node {
            Node::Null => Expr::Constant(Value::Null),
            Node::Bool(bool) => Expr::constant(*bool),
            Node::Number(text) => {
                Expr::Constant(Value::Number(match tamias_json::number::to_decimal(text) {
                    Some(decimal) => Number::Decimal(decimal),
                    None => Number::Shared(Arc::from(text.as_str())),
                }))
            }
            Node::Duration(ticks) => Expr::constant(*ticks),
            Node::Hex(number) => Expr::constant(Decimal::from(*number)),
            Node::Text(text) => Expr::constant(text.clone()),
            Node::Regex(_) => {
                return Err(Flaw::new(expr.span, "a regular expression cannot stand here")
                    .hint("it stands behind `=` or `<>`, or in IsMatch, IndexOfMatch and Replace"));
            }
            Node::Parameter(name) => match self.parameters.get(name) {
                Some(value) => Expr::Constant(value.clone()),
                None => {
                    return Err(Flaw::new(expr.span, format!("the parameter `${name}` has no value"))
                        .hint("the caller binds it")
                        .suggest(name, self.parameters.names()));
                }
            },
            Node::Name(name) => match self.locals.iter().rposition(|local| local == name) {
                Some(local) => Expr::Local(local),
                None => {
                    self.needs_event(expr.span)?;
                    Expr::Slot(self.slot(name))
                }
            },
            Node::BuiltIn(built_in) => {
                self.needs_event(expr.span)?;
                self.built_in(*built_in)
            }
            Node::Member(of, name) => self.member(of, name)?,
            Node::Element(of, index) => match &index.node {
                Node::Text(name) => self.member(of, name)?,
                _ => Expr::Element(boxed(self, of)?, boxed(self, index)?),
            },
            Node::Wildcard(..) => {
                return Err(Flaw::new(
                    expr.span,
                    "a wildcard stands in a comparison, which then holds for some or all elements",
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
            Node::Array(items) => Expr::Array(
                items
                    .iter()
                    .map(|item| {
                        Ok(match item {
                            ast::Item::One(expr) => Item::One(self.expr(expr)?),
                            ast::Item::Spread(expr) => Item::Spread(self.expr(expr)?),
                        })
                    })
                    .collect::<Result<_, Flaw>>()?,
            ),
            Node::Object(members) => Expr::Object(
                members
                    .iter()
                    .map(|member| {
                        Ok(match member {
                            ast::Member::Named(name, expr) => {
                                Member::Named(name.as_str().into(), self.expr(expr)?)
                            }
                            ast::Member::Spread(expr) => Member::Spread(self.expr(expr)?),
                        })
                    })
                    .collect::<Result<_, Flaw>>()?,
            ),
            Node::If(a, b, c) => Expr::If(Box::new((self.expr(a)?, self.expr(b)?, self.expr(c)?))),
            Node::Let(bindings, body) => {
                let depth = self.locals.len();
                let mut values = Vec::new();
                for (name, value) in bindings {
                    values.push(self.expr(value)?);
                    self.locals.push(name.text.clone());
                }
                let body = boxed(self, body)?;
                self.locals.truncate(depth);
                Expr::Let(values, body)
            }
            Node::Lambda(..) => {
                return Err(Flaw::new(expr.span, "a lambda is an argument of Some or Every only"));
            }
        })
    }

    /// Behind a grouping: aggregates, group keys and aliases have values, events have none any more.
    fn behind_grouping(&mut self, expr: &ast::Expr) -> Result<Option<Expr>, Flaw> {
        let Some(grouped) = &self.grouped else {
            return Ok(None);
        };
        if let Node::Name(name) = &expr.node {
            if self.locals.contains(name) {
                return Ok(None);
            }
            if let Some((_, aliased)) = grouped.aliases.iter().find(|(alias, _)| alias == name) {
                return Ok(Some(aliased.clone()));
            }
        }
        if let Some(key) = grouped.key(expr.span.text(self.text))
            && !matches!(expr.node, Node::Text(_) | Node::Number(_) | Node::Null | Node::Bool(_))
        {
            return Ok(Some(Expr::Group(key)));
        }
        let keys = grouped.keys.len();
        let interval = grouped.interval;
        match &expr.node {
            Node::Call { name, .. } if name.text.eq_ignore_ascii_case("interval") => {
                aggregate::plan(self, expr)?;
                match interval {
                    Some(interval) => Ok(Some(Expr::constant(interval))),
                    None => Err(Flaw::new(
                        expr.span,
                        "`interval()` is the length of the groups' intervals, and there are none",
                    )
                    .hint("group by `time(1h)`")),
                }
            }
            Node::Call { name, .. } if aggregate::is_name(&name.text) => {
                let Some(planned) = aggregate::plan(self, expr)? else {
                    return Ok(None);
                };
                let Some(grouped) = &mut self.grouped else {
                    return Ok(None);
                };
                // What is asked for twice is aggregated once.
                let shown = format!("{planned:?}");
                let aggregate = match grouped.shown.iter().position(|known| *known == shown) {
                    Some(known) => known,
                    None => {
                        grouped.shown.push(shown);
                        grouped.aggregates.push(planned);
                        grouped.aggregates.len() - 1
                    }
                };
                Ok(Some(Expr::Group(keys + aggregate)))
            }
            Node::Name(_) | Node::BuiltIn(_) => {
                let shown = expr.span.text(self.text);
                Err(Flaw::new(
                    expr.span,
                    format!("`{shown}` has many values in a group: it is neither aggregate nor constant"),
                )
                .hint(format!("add it to `group by`, or choose a value, as in `first({shown})`")))
            }
            _ => Ok(None),
        }
    }

    fn needs_event(&self, span: Span) -> Result<(), Flaw> {
        if self.has_event {
            return Ok(());
        }
        let message = format!("`{}` is taken from an event, and this query reads none", span.text(self.text));
        Err(Flaw::new(span, message).hint("write `from stream` after the columns"))
    }

    fn list(&mut self, list: &[ast::Expr]) -> Result<Vec<Expr>, Flaw> {
        list.iter().map(|expr| self.expr(expr)).collect()
    }

    fn slot(&mut self, name: &str) -> usize {
        match self.names.iter().position(|known| **known == *name) {
            Some(slot) => slot,
            None => {
                self.names.push(name.into());
                self.names.len() - 1
            }
        }
    }

    fn stored(&mut self, built_in: BuiltIn) -> usize {
        self.slot(built_in.key().unwrap_or_default())
    }

    fn whole(&mut self, computed: Computed) -> Computed {
        self.uses_document = true;
        computed
    }

    fn built_in(&mut self, built_in: BuiltIn) -> Expr {
        Expr::BuiltIn(match built_in {
            BuiltIn::Timestamp => Computed::Timestamp,
            BuiltIn::Level => Computed::Level { level: self.stored(built_in) },
            BuiltIn::Message => {
                let message = self.stored(built_in);
                let template = self.stored(BuiltIn::MessageTemplate);
                let renderings = self.stored(BuiltIn::Renderings);
                // The template's holes may name any property.
                self.whole(Computed::Message { message, template, renderings })
            }
            BuiltIn::EventType => Computed::EventType {
                event_type: self.stored(built_in),
                template: self.stored(BuiltIn::MessageTemplate),
            },
            BuiltIn::Start => Computed::Start { start: self.stored(built_in) },
            BuiltIn::Elapsed => Computed::Elapsed { start: self.stored(BuiltIn::Start) },
            BuiltIn::Id => Computed::Id,
            BuiltIn::Arrived => Computed::Arrived,
            BuiltIn::Properties => self.whole(Computed::Properties),
            BuiltIn::Data => self.whole(Computed::Data),
            stored => return Expr::Slot(self.stored(stored)),
        })
    }

    fn member(&mut self, of: &ast::Expr, name: &str) -> Result<Expr, Flaw> {
        Ok(match self.expr(of)? {
            Expr::BuiltIn(Computed::Properties) if !name.starts_with('@') => Expr::Slot(self.slot(name)),
            Expr::BuiltIn(Computed::Data) => Expr::Slot(self.slot(name)),
            of => Expr::Member(Box::new(of), name.into()),
        })
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        collection: &ast::Expr,
        name: String,
        body: &ast::Expr,
    ) -> Result<Expr, Flaw> {
        let collection = Box::new(self.expr(collection)?);
        self.locals.push(name);
        let body = self.expr(body);
        self.locals.pop();
        Ok(Expr::Quantified { quantifier, collection, body: Box::new(body?) })
    }

    fn comparison(
        &mut self,
        op: Comparison,
        left: &ast::Expr,
        right: &ast::Expr,
        ci: bool,
    ) -> Result<Expr, Flaw> {
        use Comparison::{Equal, In, Like as IsLike, NotEqual, NotIn, NotLike};
        if let (Equal | NotEqual, Node::Regex(source)) = (op, &right.node) {
            let pattern = pattern(source, ci, true, right.span)?;
            return Ok(Expr::MatchWhole {
                left: Box::new(self.expr(left)?),
                pattern,
                negated: op == NotEqual,
            });
        }
        if let Node::Regex(_) = right.node {
            return Err(Flaw::new(
                right.span,
                format!("a regular expression cannot stand behind `{}`", op.sign()),
            )
            .hint("write `x = /…/` for the whole text, `IsMatch(x, /…/)` for a part of it"));
        }
        Ok(match op {
            In | NotIn => Expr::In {
                left: Box::new(self.expr(left)?),
                right: Box::new(self.expr(right)?),
                negated: op == NotIn,
                ci,
            },
            IsLike | NotLike => match self.constant(right)? {
                Some(Value::Text(pattern)) => {
                    let pattern =
                        Like::new(&pattern.text(), ci).map_err(|reason| Flaw::new(right.span, reason))?;
                    Expr::Like { left: Box::new(self.expr(left)?), pattern, negated: op == NotLike }
                }
                Some(_) => return Err(Flaw::new(right.span, "the pattern of `like` is a text, as in 'a%'")),
                None => {
                    return Err(Flaw::new(right.span, "the pattern of `like` is a constant text")
                        .hint("Contains, StartsWith and EndsWith compare two properties"));
                }
            },
            op => {
                Expr::Compare { op, left: Box::new(self.expr(left)?), right: Box::new(self.expr(right)?), ci }
            }
        })
    }

    fn call(
        &mut self,
        call: &ast::Expr,
        name: &ast::Name,
        arguments: &Arguments,
        ci: bool,
    ) -> Result<Expr, Flaw> {
        let Some(function) = functions::named(&name.text) else {
            if aggregate::is_name(&name.text) {
                return Err(Flaw::new(name.span, format!("the aggregate `{}` has no value here", name.text)));
            }
            let flaw = Flaw::new(name.span, format!("there is no function called `{}`", name.text));
            return Err(match function_advice(&name.text) {
                Some(advice) => flaw.hint(advice),
                None => flaw.suggest(&name.text, functions::names().chain(aggregate::names())),
            });
        };
        let list = match arguments {
            Arguments::Star => {
                return Err(Flaw::new(call.span, "`*` is an argument of `count` only"));
            }
            Arguments::List(list) => list.as_slice(),
        };
        if list.len() < function.least || list.len() > function.most {
            let wanted = match (function.least, function.most) {
                (0, 0) => "no argument".to_owned(),
                (1, 1) => "one argument".to_owned(),
                (least, usize::MAX) => format!("at least {least} argument"),
                (least, most) if least == most => format!("{least} arguments"),
                (least, most) => format!("{least} or {most} arguments"),
            };
            return Err(Flaw::new(
                call.span,
                format!("`{}` takes {wanted}, not {}", function.name, list.len()),
            ));
        }
        match (function.name, list) {
            ("Some" | "Every", [collection, lambda]) => {
                let quantifier = if function.name == "Some" { Quantifier::Any } else { Quantifier::All };
                let Node::Lambda(names, body) = &lambda.node else {
                    return Err(Flaw::new(
                        lambda.span,
                        format!("the second argument of {} is a lambda", function.name),
                    )
                    .hint("as in `Some(Tags, |tag| tag = 'a')`"));
                };
                if let Some(second) = names.get(1) {
                    return Err(Flaw::new(second.span, "this lambda takes one argument, the element"));
                }
                let name = names.first().map(|name| name.text.clone()).unwrap_or_default();
                self.quantified(quantifier, collection, name, body)
            }
            ("IsMatch" | "match" | "IndexOfMatch", [text, regex]) => {
                let pattern = self.regex(regex, ci)?;
                let left = Box::new(self.expr(text)?);
                Ok(match function.name {
                    "IndexOfMatch" => Expr::IndexOfMatch { left, pattern },
                    _ => Expr::Match { left, pattern },
                })
            }
            ("Replace", [text, part, with]) if matches!(part.node, Node::Regex(_)) => {
                let pattern = self.regex(part, ci)?;
                let Some(Value::Text(replacement)) = self.constant(with)? else {
                    return Err(Flaw::new(
                        with.span,
                        "what replaces a regular expression is a constant text",
                    ));
                };
                let replacement = Box::new(Replacement::new(&replacement.text()));
                Ok(Expr::ReplaceMatch { left: Box::new(self.expr(text)?), pattern, replacement })
            }
            ("Coalesce", list) => Ok(Expr::Coalesce(self.list(list)?)),
            ("Concat", list) => Ok(Expr::Concat(self.list(list)?)),
            (_, list) => Ok(Expr::Call { function, arguments: self.list(list)?, ci }),
        }
    }

    /// A regular expression, as a literal or a constant text.
    fn regex(&mut self, expr: &ast::Expr, ci: bool) -> Result<Pattern, Flaw> {
        if let Node::Regex(source) = &expr.node {
            return pattern(source, ci, false, expr.span);
        }
        match self.constant(expr)? {
            Some(Value::Text(source)) => pattern(&source.text(), ci, false, expr.span),
            _ => Err(Flaw::new(expr.span, "a regular expression is a literal /…/ or a constant text")
                .hint("Contains(text, part) searches for what a property holds")),
        }
    }
}

fn pattern(source: &str, ci: bool, whole: bool, span: Span) -> Result<Pattern, Flaw> {
    Pattern::new(source, ci, whole)
        .map_err(|reason| Flaw::new(span, format!("this is no regular expression: {reason}")))
}
