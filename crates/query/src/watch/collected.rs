//! What there is to watch for in the expressions of a query.

use super::block::is_number;
use super::level::{GivenLevel, GivenLike, LEVELS_MAX};
use super::sought::Sought;
use crate::ast::{Arithmetic, Comparison};
use crate::builtin::property_name;
use crate::expr::{Computed, Expr, Like, LikeForm, Printed};
use crate::plan::Aggregate;
use crate::value::{Kind, Text, Value};
use crate::warning::Compared;
use std::sync::Mutex;

/// Collects what is to be watched for in expressions, each once.
pub(super) struct Collected<'p> {
    pub(super) names: &'p [Box<str>],
    /// The names as the language writes them.
    pub(super) shown: &'p [String],
    pub(super) found: Vec<Sought>,
}

impl Collected<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Slot(_) => self.key(expr, None),
            Expr::Path(_) => return self.key(expr, None),
            Expr::CompareNumber { op, left, .. } => self.value(left, op.sign(), Compared::Number, None),
            Expr::Compare { op, left, right, ci } => match (&**left, &**right) {
                (Expr::BuiltIn(Computed::Level { .. }), Expr::Constant(Value::Text(text)))
                | (Expr::Constant(Value::Text(text)), Expr::BuiltIn(Computed::Level { .. })) => {
                    let given = GivenLevel::Text(text.text().into_owned());
                    match op {
                        Comparison::Equal if !ci => self.level(given, false),
                        Comparison::NotEqual if !ci => self.level(given, true),
                        _ => {}
                    }
                }
                (of, Expr::Constant(Value::Text(text))) => {
                    self.value(of, op.sign(), Compared::Text, quoted(text));
                }
                (Expr::Constant(Value::Text(text)), of) => {
                    self.value(of, op.flipped().sign(), Compared::Text, quoted(text));
                }
                // `Application = Shop`: a text without its quotes reads as a key.
                (of, key @ (Expr::Slot(_) | Expr::Path(_))) => {
                    if matches!(of, Expr::Slot(_) | Expr::Path(_)) {
                        self.key(of, None);
                    }
                    let text = self.text(key);
                    self.key(key, (!text.contains('\'')).then(|| format!("'{text}'")));
                }
                _ => {}
            },
            Expr::InSet { left, set, negated } if matches!(**left, Expr::BuiltIn(Computed::Level { .. })) => {
                for value in set.values().iter().take(LEVELS_MAX) {
                    if let Value::Text(text) = value
                        && !set.ci()
                    {
                        self.level(GivenLevel::Text(text.text().into_owned()), *negated);
                    }
                }
            }
            Expr::InSet { left, set, negated } if !set.values().is_empty() => {
                let operator = if *negated { "not in" } else { "in" };
                if set.values().iter().all(|value| matches!(value, Value::Text(_))) {
                    let mut all = set.values().iter().map(|value| match value {
                        Value::Text(text) => quoted(text),
                        _ => None,
                    });
                    let first = all.next().flatten().filter(|_| all.all(|other| other.is_some()));
                    self.value(left, operator, Compared::Text, first);
                } else if set.values().iter().all(|value| matches!(value, Value::Number(_))) {
                    self.value(left, operator, Compared::Number, None);
                }
            }
            Expr::Like { left, pattern, negated }
                if matches!(**left, Expr::BuiltIn(Computed::Level { .. })) && !pattern.ci() =>
            {
                let in_any_case = Like::new(pattern.source(), true).ok();
                let given = GivenLike { pattern: pattern.clone(), in_any_case };
                self.level(GivenLevel::Like(Box::new(given)), *negated);
            }
            Expr::Like { left, pattern, .. } if !matches!(pattern.form(), LikeForm::Exact(_)) => {
                self.value(left, "like", Compared::Text, None);
            }
            // `headers.User-Agent`: the parts behind the first are keys of the top level here.
            Expr::Arithmetic(..) => {
                if let Some((of, name, parts)) = self.hyphenated(expr) {
                    let meant = format!("{of}['{name}']");
                    parts.into_iter().for_each(|part| self.key(part, Some(meant.clone())));
                }
            }
            _ => {}
        }
        expr.children().into_iter().for_each(|child| self.expr(child));
        // Behind the keys of its parts.
        if let Expr::Arithmetic(..) = expr
            && let Some(parts) = self.subtracted(expr)
        {
            let name = |slot: &usize| self.names.get(*slot).map(|name| &**name);
            let name = parts.iter().filter_map(name).collect::<Vec<&str>>().join("-").into();
            let parts = parts.iter().filter_map(|slot| self.shown.get(*slot).cloned()).collect();
            self.push(Sought::Hyphens { name, parts });
        }
    }

    /// The slots of `a - b - c`.
    fn subtracted(&self, expr: &Expr) -> Option<Vec<usize>> {
        match expr {
            Expr::Slot(slot) => Some(vec![*slot]),
            Expr::Arithmetic(Arithmetic::Subtract, a, b) => {
                let Expr::Slot(last) = **b else { return None };
                let mut slots = self.subtracted(a)?;
                slots.push(last);
                Some(slots)
            }
            _ => None,
        }
    }

    /// Of `a.b - c - d` the path of the object, `a`, the name that the rest is together, `b-c-d`, and the parts that are read as keys.
    fn hyphenated<'e>(&self, expr: &'e Expr) -> Option<(String, String, Vec<&'e Expr>)> {
        match expr {
            Expr::Path(_) => {
                let text = self.text(expr);
                let (of, name) = text.rsplit_once('.')?;
                Some((of.to_owned(), name.to_owned(), Vec::new()))
            }
            Expr::Arithmetic(Arithmetic::Subtract, a, b) => {
                let Expr::Slot(last) = **b else { return None };
                let (of, name, mut parts) = self.hyphenated(a)?;
                parts.push(b);
                Some((of, format!("{name}-{}", self.names.get(last)?), parts))
            }
            _ => None,
        }
    }

    fn text(&self, expr: &Expr) -> String {
        Printed { expr, slots: self.shown, locals: &[] }.to_string()
    }

    /// An aggregate of numbers, or one that ranks values.
    pub(super) fn aggregate(&mut self, aggregate: &Aggregate) {
        let function = aggregate.function;
        let takes_texts = function.takes(Kind::String);
        let ranks = takes_texts && !function.takes(Kind::Array) && !function.takes(Kind::Null);
        if let Expr::Slot(slot) = aggregate.argument
            && (ranks || !takes_texts && function.takes(Kind::Number))
            && let (Some(name), Some(key)) = (self.names.get(slot), self.shown.get(slot))
        {
            let (key, name) = (key.clone(), name.clone());
            self.push(Sought::Number { aggregate: function.text(&key), key, name, ranks });
        }
    }

    /// A key of events: none that stands for a built-in, since most events lack some of those.
    fn key(&mut self, expr: &Expr, meant: Option<String>) {
        let readings = match expr {
            Expr::Path(readings) => readings.as_slice(),
            other => std::slice::from_ref(other),
        };
        let names: Vec<Box<str>> = readings.iter().filter_map(|reading| self.name(reading)).collect();
        if names.iter().all(|name| property_name(name).is_some()) && !names.is_empty() {
            self.push(Sought::Key { text: self.text(expr), names, meant });
        }
    }

    fn name(&self, reading: &Expr) -> Option<Box<str>> {
        match reading {
            Expr::Slot(slot) => self.names.get(*slot).cloned(),
            Expr::Member(of, _) => self.name(of),
            _ => None,
        }
    }

    fn value(&mut self, of: &Expr, operator: &'static str, with: Compared, quoted: Option<String>) {
        let (slot, key) = match of {
            Expr::Slot(slot) => (slot, self.shown.get(*slot).cloned()),
            Expr::BuiltIn(Computed::Level { level }) => (level, Some("@Level".to_owned())),
            _ => return,
        };
        if let (Some(name), Some(key)) = (self.names.get(*slot).cloned(), key) {
            self.push(Sought::Value { key, name, operator, with, quoted });
        }
    }

    fn level(&mut self, given: GivenLevel, is_excluded: bool) {
        self.push(Sought::Level { given, is_excluded, met: Mutex::default() });
    }

    fn push(&mut self, sought: Sought) {
        let is_same = |known: &Sought| match (known, &sought) {
            (Sought::Key { text, .. }, Sought::Key { text: other, .. }) => text == other,
            (Sought::Level { given, .. }, Sought::Level { given: other, .. }) => given.text() == other.text(),
            (
                Sought::Value { name, operator, with, .. },
                Sought::Value { name: other, operator: other_operator, with: other_with, .. },
            ) => name == other && operator == other_operator && with == other_with,
            (Sought::Number { aggregate, .. }, Sought::Number { aggregate: other, .. }) => aggregate == other,
            (Sought::Hyphens { name, .. }, Sought::Hyphens { name: other, .. }) => name == other,
            _ => false,
        };
        if self.found.len() < WATCHED_MAX && !self.found.iter().any(is_same) {
            self.found.push(sought);
        }
    }
}

/// Most things that a query watches for.

const WATCHED_MAX: usize = 100;
/// Most levels of one set that are watched for.

/// A text that is a number in quotes.
fn quoted(text: &Text<'_>) -> Option<String> {
    let text = text.text();
    is_number(text.as_bytes()).then(|| text.into_owned())
}
