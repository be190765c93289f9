//! Comparisons and calls: functions are found, their arguments counted, patterns compiled.

use super::aggregate;
use super::resolve::{Grouped, Resolver};
use crate::ast::{self, Arguments, ArrayItem, Comparison, Node, ParsedExpr, Quantifier};
use crate::builtin::BuiltIn;
use crate::error::Flaw;
use crate::expr::{Expr, Like, Pattern, Replacement};
use crate::functions::{self, ScalarFunction};
use crate::instants;
use crate::span::Span;
use crate::value::{Kind, Text, Value};
use crate::warning::{Compared, Warning};
use crate::zone;

impl Resolver<'_> {
    pub(super) fn comparison(
        &mut self,
        op: Comparison,
        left: &ParsedExpr,
        right: &ParsedExpr,
        ci: bool,
    ) -> Result<Expr, Flaw> {
        use Comparison::{Equal, In, Like as IsLike, NotEqual, NotIn, NotLike};
        if let (Equal | NotEqual, Node::Regex(source)) = (op, &right.node) {
            let pattern = self.pattern(source, ci, true, right.span)?;
            return Ok(Expr::MatchWhole {
                left: Box::new(self.expr(left)?),
                pattern,
                negated: op == NotEqual,
            });
        }
        if let Node::Regex(_) = right.node {
            return Err(Flaw::new(right.span, format!("a regular expression cannot follow `{}`", op.sign()))
                .hint("write `x = /…/` for the whole text, `IsMatch(x, /…/)` for a part of it"));
        }
        Ok(match op {
            In | NotIn => {
                let (of, left, right) = (left, self.expr(left)?, self.compared(right, left)?);
                if let Expr::Array(items) = &right
                    && let Some(ArrayItem::One(first)) = items.first()
                    && items.iter().all(|item| matches!(item, ArrayItem::One(Expr::Constant(Value::Text(_)))))
                {
                    self.warn_of_kinds(op.sign(), (of, &left), first);
                }
                Expr::In { left: Box::new(left), right: Box::new(right), negated: op == NotIn, ci }
            }
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
                let (first, second) = (left, right);
                let (left, right) = (self.compared(left, right)?, self.compared(right, left)?);
                self.warn_of_kinds(op.sign(), (first, &left), &right);
                self.warn_of_kinds(op.flipped().sign(), (second, &right), &left);
                Expr::Compare { op, left: Box::new(left), right: Box::new(right), ci }
            }
        })
    }

    /// Whether an expression is an instant wherever it has a value, as far as that is written here or where a name was given.
    pub(super) fn is_instant(&self, expr: &ParsedExpr) -> bool {
        instants::is_instant(expr, &|name| match self.local(name) {
            Some(local) => self.locals.get(local).is_some_and(|local| local.is_instant),
            None => self.grouped.as_ref().is_some_and(|grouped| grouped.instants.contains(name)),
        })
    }

    /// Whether an expression is a key of the event or a path from one, and no name for something else.
    fn is_property(&self, expr: &ParsedExpr) -> bool {
        match &expr.node {
            Node::Name(name) => self.grouped.is_none() && self.local(name).is_none(),
            Node::Member(of, _) => self.is_property(of),
            _ => false,
        }
    }

    /// Warns of an expression that always gives a number, compared with a text.
    fn warn_of_kinds(&mut self, operator: &'static str, (expr, resolved): (&ParsedExpr, &Expr), with: &Expr) {
        let groups = self.grouped.as_ref().map(Grouped::kinds).unwrap_or_default();
        let is_number =
            !matches!(resolved, Expr::Constant(_)) && resolved.kind(&groups) == Some(Kind::Number);
        let is_text = matches!(with, Expr::Constant(Value::Text(_)));
        // Arithmetic on keys is told of by itself, and a text that should be an instant as such.
        let is_arithmetic = self.grouped.is_none() && matches!(resolved, Expr::Arithmetic(..));
        if is_number && is_text && !is_arithmetic && !self.is_instant(expr) {
            self.warnings.push(Warning::NeverCompared {
                key: expr.span.text(self.text).to_owned(),
                operator,
                with: Compared::Text,
                only: Some(Kind::Number),
            });
        }
    }

    /// What is compared with another expression: where that is an instant, texts that tell one are that.
    fn compared(&mut self, expr: &ParsedExpr, with: &ParsedExpr) -> Result<Expr, Flaw> {
        let resolved = self.expr(expr)?;
        if looks_like_date(expr.span.text(self.text)) && self.is_instant(with) {
            self.warnings.push(Warning::NumberForDate { text: expr.span.text(self.text).to_owned() });
        }
        if let Node::Duration(ticks) = expr.node
            && self.is_property(with)
        {
            let text = |expr: &ParsedExpr| expr.span.text(self.text).to_owned();
            self.warnings.push(Warning::DurationForNumber { text: text(expr), ticks, key: text(with) });
        }
        let is_given = matches!(&expr.node, Node::Text(_) | Node::Parameter(_) | Node::Array(_));
        if !is_given || !self.is_instant(with) {
            return Ok(resolved);
        }
        let zone = self.parameters.zone();
        let instant = |text: &Text<'_>| zone::instant_in(zone, &text.text()).map(Value::from);
        let texts = match &resolved {
            Expr::Constant(Value::Text(text)) => vec![text.text().into_owned()],
            Expr::Constant(Value::Array(array)) => array.iter().filter_map(text_of).collect(),
            Expr::Array(items) => items
                .iter()
                .filter_map(|item| match item {
                    ArrayItem::One(Expr::Constant(value)) => text_of(value.reborrow()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let none = texts.into_iter().find(|text| zone::instant_in(zone, text).is_none());
        self.warnings.extend(none.map(|text| Warning::NoInstant { text }));
        Ok(match resolved {
            Expr::Constant(Value::Text(text)) => Expr::Constant(instant(&text).unwrap_or(Value::Text(text))),
            Expr::Constant(Value::Array(array)) => {
                let values = array.iter().map(|value| match value {
                    Value::Text(text) => instant(&text).unwrap_or(Value::Text(text)),
                    other => other,
                });
                Expr::Constant(Value::array(values.collect()))
            }
            Expr::Array(mut items) => {
                for item in &mut items {
                    if let ArrayItem::One(Expr::Constant(value)) = item
                        && let Value::Text(text) = value
                        && let Some(instant) = instant(text)
                    {
                        *value = instant;
                    }
                }
                Expr::Array(items)
            }
            other => other,
        })
    }

    pub(super) fn call(
        &mut self,
        call: &ParsedExpr,
        name: &ast::Name,
        arguments: &Arguments,
        ci: bool,
    ) -> Result<Expr, Flaw> {
        let Some(function) = functions::named(&name.text) else {
            if aggregate::is_name(&name.text) {
                return Err(Flaw::new(name.span, format!("the aggregate `{}` has no value here", name.text)));
            }
            let flaw = Flaw::new(name.span, format!("there is no function called `{}`", name.text));
            return Err(match functions::advice(&name.text) {
                Some(advice) => flaw.hint(advice),
                None => flaw.suggest(&name.text, functions::names().chain(aggregate::names())),
            });
        };
        let list = argument_list(function, call.span, arguments)?;
        match (function.name, list) {
            ("Some", [collection, lambda]) => self.lambda(function, Quantifier::Any, collection, lambda),
            ("Every", [collection, lambda]) => self.lambda(function, Quantifier::All, collection, lambda),
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
            ("HasText", [text]) => {
                self.needs_event(call.span)?;
                let arguments = vec![self.built_in(BuiltIn::Data), self.expr(text)?];
                Ok(Expr::Call { function, arguments, ci })
            }
            ("Coalesce", list) => Ok(Expr::Coalesce(self.list(list)?)),
            ("Concat", list) => Ok(Expr::Concat(self.list(list)?)),
            (_, list) => Ok(Expr::Call { function, arguments: self.list(list)?, ci }),
        }
    }

    /// A call of `Some` or `Every`.
    fn lambda(
        &mut self,
        function: &ScalarFunction,
        quantifier: Quantifier,
        collection: &ParsedExpr,
        lambda: &ParsedExpr,
    ) -> Result<Expr, Flaw> {
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

    /// A regular expression, as a literal or a constant text.
    fn regex(&mut self, expr: &ParsedExpr, ci: bool) -> Result<Pattern, Flaw> {
        if let Node::Regex(source) = &expr.node {
            return self.pattern(source, ci, false, expr.span);
        }
        match self.constant(expr)? {
            Some(Value::Text(source)) => self.pattern(&source.text(), ci, false, expr.span),
            _ => Err(Flaw::new(expr.span, "a regular expression is a literal /…/ or a constant text")
                .hint("Contains(text, part) searches for what a property holds")),
        }
    }

    /// Compiles a regular expression. All those of a query together take no more than some hundred megabytes.
    fn pattern(&mut self, source: &str, ci: bool, whole: bool, span: Span) -> Result<Pattern, Flaw> {
        if self.patterns == PATTERNS_MAX {
            return Err(Flaw::new(
                span,
                format!("the query has more than {PATTERNS_MAX} regular expressions, the limit"),
            )
            .hint("put several into one, as in /a|b|c/"));
        }
        let bytes_max = if self.patterns < LARGE_PATTERNS { 10 << 20 } else { 1 << 20 };
        self.patterns += 1;
        Pattern::new(source, ci, whole, bytes_max)
            .map_err(|reason| Flaw::new(span, format!("this is not a valid regular expression: {reason}")))
    }
}

fn text_of(value: Value<'_>) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.text().into_owned()),
        _ => None,
    }
}

/// A number that is written like a date, as `2024-05-30` and `20240530` are.
fn looks_like_date(text: &str) -> bool {
    let digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').map(str::trim).collect();
    match parts.as_slice() {
        [date] => digits(date, 8) && ("1900".."2200").contains(&date.get(..4).unwrap_or_default()),
        [year, month, day] => digits(year, 4) && digits(month, 2) && digits(day, 2),
        _ => false,
    }
}

/// How many regular expressions a query may have.
const PATTERNS_MAX: usize = 256;

/// So many of them may take 10 MiB compiled, the others one.
const LARGE_PATTERNS: usize = 8;

/// The arguments of a call, if they are as many as the function takes.
fn argument_list<'e>(
    function: &ScalarFunction,
    span: Span,
    arguments: &'e Arguments,
) -> Result<&'e [ParsedExpr], Flaw> {
    let list = match arguments {
        Arguments::Star => return Err(Flaw::new(span, "`*` is an argument of `count` only")),
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
        return Err(Flaw::new(span, format!("`{}` takes {wanted}, not {}", function.name, list.len())));
    }
    Ok(list)
}
