//! What there is to watch for in the expressions of a query.

use super::block::is_number;
use super::level::{GivenLevel, GivenLike, LEVELS_MAX};
use super::place::Place;
use super::sought::{Ranks, Reading, Sought, TakesNumbers};
use crate::ast::{Arithmetic, Comparison};
use crate::builtin::{BuiltIn, property_name};
use crate::calendar::TICKS_PER_DAY;
use crate::expr::{Computed, Expr, Like, LikeForm, Printed, Set};
use crate::plan::Aggregate;
use crate::time::UNIX_EPOCH;
use crate::value::{Kind, Text, Value};
use crate::warning::Compared;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use std::ops::Range;
use std::sync::Mutex;

/// Functions that look for something in a text, and are undefined for all else.
const TAKE_TEXT: [&str; 4] = ["Contains", "StartsWith", "EndsWith", "IndexOf"];

/// Collects what is to be watched for in expressions, each once.
pub(super) struct Collected<'p> {
    pub(super) names: &'p [Box<str>],
    /// The names as the language writes them.
    pub(super) shown: &'p [String],
    pub(super) found: Vec<Sought>,
    /// Keys whose kinds the expression itself tells apart, by `TypeOf`.
    pub(super) told_apart: Vec<Place>,
}

impl Collected<'_> {
    /// An expression with all that is in it.
    pub(super) fn whole(&mut self, expr: &Expr) {
        let before = self.found.len();
        self.expr(expr);
        let told_apart = std::mem::take(&mut self.told_apart);
        let mut own = self.found.split_off(before);
        own.retain(|sought| !told_apart.iter().any(|place| sought.is_of_kind(place)));
        self.found.append(&mut own);
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Call { function, arguments, .. } if function.name == "TypeOf" => {
                self.told_apart.extend(arguments.iter().filter_map(|of| Place::of(of, self.names)));
            }
            Expr::Call { function, arguments, .. } if TAKE_TEXT.contains(&function.name) => {
                if let Some(of) = arguments.first() {
                    self.value(of, function.name, Compared::Text, None);
                }
            }
            Expr::Match { left, .. } => self.value(left, "IsMatch", Compared::Text, None),
            Expr::Slot(_) => {
                self.key(expr, None);
                let stored = self.slot(expr).and_then(|(name, _)| BuiltIn::named(&name));
                stored.into_iter().for_each(|built_in| self.built_in(built_in, &[]));
            }
            Expr::BuiltIn(computed) => self.computed(*computed),
            Expr::Path(_) => return self.key(expr, None),
            Expr::CompareNumber { op, left, number, .. } => {
                let may_be_instant = number.decimal().is_some_and(is_instant);
                let with = if may_be_instant { Compared::Instant } else { Compared::Number };
                self.value(left, op.sign(), with, None);
                if may_be_instant {
                    self.with_instant(left);
                }
            }
            Expr::Compare { op, left, right, ci } => self.compared(*op, left, right, *ci),
            Expr::InSet { left, set, negated } => self.in_set(left, set, *negated),
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
            Expr::Arithmetic(op, a, b) => {
                let is_text = |of: &Expr| matches!(of, Expr::Constant(Value::Text(_)));
                let is_joined = matches!(op, Arithmetic::Add) && (is_text(a) || is_text(b));
                let joined = is_joined.then(|| format!("Concat({}, {})", self.text(a), self.text(b)));
                self.operands(expr, &[a, b], matches!(op, Arithmetic::Add | Arithmetic::Subtract), joined);
                // `headers.User-Agent`: the parts behind the first are keys of the top level here.
                if let Some((name, first, parts)) = self.hyphenated(expr)
                    && let Expr::Path(_) = first
                    && let Some((of, name)) = name.rsplit_once('.')
                {
                    let meant = format!("{of}['{name}']");
                    parts.into_iter().for_each(|part| self.key(part, Some(meant.clone())));
                }
            }
            Expr::Negate(of) => self.operands(expr, &[of], false, None),
            Expr::Member(of, _) | Expr::Element(of, _) => self.within(of, self.text(expr)),
            Expr::Quantified { collection, .. } => {
                self.within(collection, format!("{}[?]", self.text(collection)));
            }
            _ => {}
        }
        expr.children().into_iter().for_each(|child| self.expr(child));
        // Behind the keys of its parts.
        if let Expr::Arithmetic(..) = expr
            && let Some((name, Expr::Slot(_), _)) = self.hyphenated(expr)
        {
            let mut parts = Vec::new();
            crate::plan::collect_slots(expr, &mut parts);
            let parts = parts.iter().filter_map(|slot| self.shown.get(*slot).cloned()).collect();
            self.push(Sought::Hyphens { name: name.into(), parts });
        }
    }

    fn computed(&mut self, computed: Computed) {
        match computed {
            Computed::Message { .. } => self.built_in(BuiltIn::Message, &[TEMPLATE]),
            Computed::EventType { .. } => self.built_in(BuiltIn::EventType, &[TEMPLATE]),
            Computed::Start { .. } | Computed::Elapsed { .. } => self.built_in(BuiltIn::Start, &[]),
            // Levels are told of by themselves, and the others every event has.
            Computed::Level { .. }
            | Computed::Timestamp
            | Computed::Id
            | Computed::Arrived
            | Computed::Properties
            | Computed::Data => {}
        }
    }

    fn in_set(&mut self, left: &Expr, set: &Set, negated: bool) {
        let is_level = matches!(left, Expr::BuiltIn(Computed::Level { .. }));
        for value in set.values().iter().take(LEVELS_MAX) {
            let Value::Text(text) = value else { continue };
            let given = GivenLevel::of(text, set.ci());
            match is_level {
                true => self.level(given, negated),
                // Of more texts it would not be known which spellings are named.
                false if set.values().len() <= LEVELS_MAX => self.spelt(left, given),
                false => {}
            }
        }
        if is_level || set.values().is_empty() {
            return;
        }
        let operator = if negated { "not in" } else { "in" };
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

    /// Of `a.b - c / d` the name that it is together, `a.b-c/d`, what it begins with, and the other parts.
    fn hyphenated<'e>(&self, expr: &'e Expr) -> Option<(String, &'e Expr, Vec<&'e Expr>)> {
        match expr {
            Expr::Slot(slot) => Some((self.names.get(*slot)?.to_string(), expr, Vec::new())),
            Expr::Path(_) => Some((self.text(expr), expr, Vec::new())),
            Expr::Arithmetic(op @ (Arithmetic::Subtract | Arithmetic::Divide), a, b) => {
                let ((a, first, mut parts), (b, second, others)) = (self.hyphenated(a)?, self.hyphenated(b)?);
                parts.push(second);
                parts.extend(others);
                Some((format!("{a}{}{b}", op.sign()), first, parts))
            }
            _ => None,
        }
    }

    fn compared(&mut self, op: Comparison, left: &Expr, right: &Expr, ci: bool) {
        match (left, right) {
            (Expr::BuiltIn(Computed::Level { .. }), Expr::Constant(Value::Text(text)))
            | (Expr::Constant(Value::Text(text)), Expr::BuiltIn(Computed::Level { .. })) => {
                if let Comparison::Equal | Comparison::NotEqual = op {
                    self.level(GivenLevel::of(text, ci), op == Comparison::NotEqual);
                }
            }
            (of, Expr::Constant(Value::Text(text))) => {
                self.value(of, op.sign(), Compared::Text, quoted(text));
                if let Comparison::Equal | Comparison::NotEqual = op {
                    self.spelt(of, GivenLevel::of(text, ci));
                }
            }
            (key, instant) | (instant, key)
                if gives_instant(instant) && Place::of(key, self.names).is_some() =>
            {
                self.with_instant(key);
            }
            (text @ Expr::Constant(Value::Text(_)), of) => {
                self.compared(op.flipped(), of, text, ci);
            }
            // `Application = Shop`: a text without its quotes reads as a key.
            (of, key @ (Expr::Slot(_) | Expr::Path(_))) => {
                if matches!(of, Expr::Slot(_) | Expr::Path(_)) {
                    self.key(of, None);
                }
                self.pair(of, key, op.sign());
                let text = self.text(key);
                self.key(key, (!text.contains('\'')).then(|| format!("'{text}'")));
            }
            _ => {}
        }
    }

    /// Keys that are compared with each other.
    fn pair(&mut self, left: &Expr, right: &Expr, operator: &'static str) {
        if let (Some((left, left_key)), Some((right, right_key))) = (self.place(left), self.place(right)) {
            let (places, keys) = ([left, right], [left_key, right_key]);
            self.push(Sought::Pair { keys, places, operator, met: Mutex::default() });
        }
    }

    /// Keys that have to be numbers.
    fn operands(&mut self, expr: &Expr, operands: &[&Expr], is_sum: bool, joined: Option<String>) {
        for operand in operands {
            if let Some((place, key)) = self.place(operand) {
                let text = self.text(expr);
                let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
                let expression = inner.unwrap_or(&text).to_owned();
                let of = TakesNumbers::Arithmetic { expression, is_sum, joined: joined.clone() };
                self.push(Sought::Number { of, key, place });
            }
        }
    }

    /// What lies within the value of a key: `log['level']`, `Tags[0]`, `Tags[?]`.
    fn within(&mut self, of: &Expr, text: String) {
        if let Some((name, _)) = self.slot(of)
            && property_name(&name).is_some()
        {
            let readings = vec![Reading { name, is_within: true }];
            self.push(Sought::Key { text, readings, meant: None });
        }
    }

    /// The name of a slot, and the same as the language writes it.
    fn slot(&self, expr: &Expr) -> Option<(Box<str>, String)> {
        let Expr::Slot(slot) = expr else { return None };
        Some((self.names.get(*slot)?.clone(), self.shown.get(*slot)?.clone()))
    }

    /// What an expression reads, where it does nothing else, and the same as the language writes it.
    fn place(&self, expr: &Expr) -> Option<(Place, String)> {
        Some((Place::of(expr, self.names)?, self.text(expr)))
    }

    fn text(&self, expr: &Expr) -> String {
        Printed { expr, slots: self.shown, locals: &[] }.to_string()
    }

    /// An aggregate of numbers, or one that ranks values.
    pub(super) fn aggregate(&mut self, number: usize, aggregate: &Aggregate) {
        let function = aggregate.function;
        let takes_texts = function.takes(Kind::String);
        let Some((place, key)) = self.place(&aggregate.argument) else { return };
        let text = function.text(&key);
        if !takes_texts && function.takes(Kind::Number) {
            self.push(Sought::Number { of: TakesNumbers::Aggregate(text), key, place });
        } else if takes_texts && !function.takes(Kind::Array) && !function.takes(Kind::Null) {
            self.ranked(Ranks::Aggregate { text, number }, key, place);
        }
    }

    /// What rows are sorted by first.
    pub(super) fn order(&mut self, by: &Expr) {
        if let Some((place, key)) = self.place(by) {
            self.ranked(Ranks::Order, key, place);
        }
    }

    fn ranked(&mut self, by: Ranks, key: String, place: Place) {
        self.push(Sought::Ranked { by, key, place, texts: Mutex::default() });
    }

    /// A built-in, which is stored under its key, or follows from one of these.
    fn built_in(&mut self, built_in: BuiltIn, others: &[&str]) {
        let keys = built_in.key().into_iter().chain(others.iter().copied());
        self.push(Sought::BuiltIn { built_in, keys: keys.map(Box::from).collect() });
    }

    /// A key of events: none that stands for a built-in.
    fn key(&mut self, expr: &Expr, meant: Option<String>) {
        let readings = match expr {
            Expr::Path(readings) => readings.as_slice(),
            other => std::slice::from_ref(other),
        };
        let reading = |reading: &Expr| {
            let is_within = !matches!(reading, Expr::Slot(_));
            Some(Reading { name: self.name(reading)?, is_within })
        };
        let readings: Vec<Reading> = readings.iter().filter_map(reading).collect();
        if readings.iter().all(|reading| property_name(&reading.name).is_some()) && !readings.is_empty() {
            self.push(Sought::Key { text: self.text(expr), readings, meant });
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
        let found = match of {
            Expr::BuiltIn(Computed::Level { level }) => {
                self.names.get(*level).map(|name| (Place::key(name.clone()), "@Level".to_owned()))
            }
            of => self.place(of),
        };
        if let Some((place, key)) = found {
            self.push(Sought::Value { key, place, operator, with, quoted });
        }
    }

    /// A key that is compared with an instant.
    fn with_instant(&mut self, of: &Expr) {
        if let Some((place, key)) = self.place(of) {
            self.push(Sought::Instant { key, place, unit: Mutex::default() });
        }
    }

    /// A text that a key is compared with.
    fn spelt(&mut self, of: &Expr, given: GivenLevel) {
        if let Some((place, key)) = self.place(of) {
            self.push(Sought::Text { key, place, given, otherwise: Mutex::default() });
        }
    }

    fn level(&mut self, given: GivenLevel, is_excluded: bool) {
        self.push(Sought::Level { given, is_excluded, met: Mutex::default() });
    }

    fn push(&mut self, sought: Sought) {
        let is_same = |known: &Sought| match (known, &sought) {
            (Sought::Key { text, .. }, Sought::Key { text: other, .. }) => text == other,
            (Sought::Level { given, .. }, Sought::Level { given: other, .. }) => given.is_same(other),
            (Sought::Text { place, given, .. }, Sought::Text { place: other, given: other_given, .. }) => {
                place == other && given.is_same(other_given)
            }
            (
                Sought::Value { place, operator, with, .. },
                Sought::Value { place: other, operator: other_operator, with: other_with, .. },
            ) => place == other && operator == other_operator && with == other_with,
            (Sought::Number { of, place, .. }, Sought::Number { of: other, place: other_place, .. }) => {
                of == other && place == other_place
            }
            (Sought::Ranked { by, .. }, Sought::Ranked { by: other, .. }) => by == other,
            (Sought::Pair { keys, operator, .. }, Sought::Pair { keys: other, operator: sign, .. }) => {
                keys == other && operator == sign
            }
            (Sought::Instant { place, .. }, Sought::Instant { place: other, .. }) => place == other,
            (Sought::Hyphens { name, .. }, Sought::Hyphens { name: other, .. }) => name == other,
            (Sought::BuiltIn { built_in, .. }, Sought::BuiltIn { built_in: other, .. }) => built_in == other,
            _ => false,
        };
        if self.found.len() < WATCHED_MAX && !self.found.iter().any(is_same) {
            self.found.push(sought);
        }
    }
}

/// What messages are rendered from, and types of events told by.
const TEMPLATE: &str = "@mt";

/// Most things that a query watches for.
const WATCHED_MAX: usize = 100;

/// Whether a number is an instant rather than anything else. HEURISTIC: of the years from 1970 to 2199.
fn is_instant(number: Decimal) -> bool {
    const YEARS: Range<i64> = UNIX_EPOCH..UNIX_EPOCH + 230 * 365 * TICKS_PER_DAY as i64;
    number.to_i64().is_some_and(|ticks| YEARS.contains(&ticks))
}

/// Whether an expression is an instant, wherever it has a value.
fn gives_instant(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Value::Number(number)) => number.decimal().is_some_and(is_instant),
        Expr::BuiltIn(computed) => {
            matches!(computed, Computed::Timestamp | Computed::Start { .. } | Computed::Arrived)
        }
        Expr::Call { function, .. } => matches!(function.name, "Now" | "DateTime"),
        // A time and a duration; the difference of two times is a duration.
        Expr::Arithmetic(Arithmetic::Add | Arithmetic::Subtract, a, b) => {
            gives_instant(a) && !gives_instant(b)
        }
        _ => false,
    }
}

/// A text that is a number in quotes.
fn quoted(text: &Text<'_>) -> Option<String> {
    let text = text.text();
    is_number(text.as_bytes()).then(|| text.into_owned())
}
