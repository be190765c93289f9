//! What a running query watches for beside its rows, to warn of what is in no event that it looks at: told from statistics, and
//! where a block has none, from its bytes.

use crate::ast::{Arithmetic, Comparison};
use crate::builtin::property_name;
use crate::error::closest;
use crate::expr::{Computed, DEFAULT_LEVEL, Expr, Like, LikeForm, Printed, property};
use crate::plan::{Aggregate, Input, Key as GroupKey, Output, Plan};
use crate::source::Block;
use crate::statistics::{Key, Statistics, spelled};
use crate::value::{Kind, Text, Value};
use crate::warning::{Compared, Warning};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// What is watched for.
#[derive(Debug)]
enum Sought {
    /// A key, by any of the names that it may have: of a dotted path there are several.
    Key {
        text: String,
        names: Vec<Box<str>>,
        /// What was probably meant, if there is no such key.
        meant: Option<String>,
    },
    /// A value of a key that can be compared.
    Value {
        key: String,
        name: Box<str>,
        operator: &'static str,
        with: Compared,
        /// The text that it is compared with, if that is a number in quotes: then only such texts can be compared.
        quoted: Option<String>,
    },
    /// A number as the value of a key that an aggregate takes; or a text that is none, where the aggregate ranks values.
    Number { aggregate: String, key: String, name: Box<str>, ranks: bool },
    /// A key whose name is what the query subtracts, and the keys of the parts.
    Hyphens { name: Box<str>, parts: Vec<String> },
    /// A level, or those that fit a pattern; and which levels events have instead.
    Level { given: GivenLevel, is_excluded: bool, met: Mutex<Levels> },
}

/// A level as a query names it.
#[derive(Debug)]
enum GivenLevel {
    Text(String),
    Like(Box<GivenLike>),
}

/// A pattern, and the same in any case.
#[derive(Debug)]
struct GivenLike {
    pattern: Like,
    in_any_case: Option<Like>,
}

impl GivenLevel {
    fn text(&self) -> &str {
        match self {
            GivenLevel::Text(text) => text,
            GivenLevel::Like(given) => given.pattern.source(),
        }
    }

    fn is_match(&self, level: &str) -> bool {
        match self {
            GivenLevel::Text(text) => text == level,
            GivenLevel::Like(given) => given.pattern.is_match(&Text::from(level)),
        }
    }

    fn is_match_in_other_case(&self, level: &str) -> bool {
        match self {
            GivenLevel::Text(text) => text.eq_ignore_ascii_case(level),
            GivenLevel::Like(given) => {
                given.in_any_case.as_ref().is_some_and(|pattern| pattern.is_match(&Text::from(level)))
            }
        }
    }
}

/// Levels that events have, none of which is the one that is sought.
#[derive(Debug, Default)]
struct Levels {
    /// One that differs only in case.
    in_other_case: Option<String>,
    all: BTreeSet<String>,
}

#[derive(Debug)]
struct Watched {
    sought: Sought,
    /// It was found, or cannot be told: nothing is to be said of it.
    is_settled: AtomicBool,
    /// Events have the key of a value that is sought.
    is_there: AtomicBool,
    /// And such values there.
    has_texts: AtomicBool,
    has_booleans: AtomicBool,
    has_numbers: AtomicBool,
    has_arrays: AtomicBool,
    has_objects: AtomicBool,
}

/// All that a query watches for, on all of its threads.
#[derive(Debug)]
pub(crate) struct Watch {
    watched: Vec<Watched>,
    /// How many of them are not settled.
    open: AtomicUsize,
    has_looked: AtomicBool,
    /// Keys that events have, to suggest one.
    names: Mutex<BTreeSet<String>>,
    blocks_named: AtomicUsize,
}

/// HEURISTIC: a name that is meant is among the keys of the first blocks.
const BLOCKS_NAMED: usize = 16;
/// Most names that are remembered.
const NAMES_MAX: usize = 10_000;

/// What is known of the values of a key in a block.
#[derive(Clone, Copy, Default)]
struct Known {
    is_there: bool,
    /// Whether there are numbers, and texts; or whether there may be.
    numbers: bool,
    texts: bool,
    booleans: bool,
    arrays: bool,
    objects: bool,
    /// Whether there are texts that do not read as numbers, or may be.
    words: bool,
    /// Whether there are texts that do, or may be.
    digits: bool,
}

impl Watch {
    /// What a plan has to be watched for.
    pub(crate) fn new(plan: &Plan) -> Watch {
        let mut watched = Vec::new();
        if let Input::Events(events) = &plan.input {
            let mut exprs: Vec<&Expr> = events.unnest.iter().chain(&plan.filter).collect();
            match &plan.output {
                Output::Rows { cells, .. } => exprs.extend(cells),
                Output::Groups(grouping) => {
                    exprs.extend(grouping.keys.iter().filter_map(|key| match key {
                        GroupKey::Time(_) => None,
                        GroupKey::Expr { expr, .. } => Some(expr),
                    }));
                    exprs.extend(grouping.aggregates.iter().map(|aggregate| &aggregate.argument));
                }
            }
            let aggregates = match &plan.output {
                Output::Rows { .. } => &[],
                Output::Groups(grouping) => grouping.aggregates.as_slice(),
            };
            let shown: Vec<String> = events.names.iter().map(|name| property(name)).collect();
            let mut collected = Collected { names: &events.names, shown: &shown, found: Vec::new() };
            exprs.into_iter().for_each(|expr| collected.expr(expr));
            aggregates.iter().for_each(|aggregate| collected.aggregate(aggregate));
            watched = collected.found;
        }
        let watched: Vec<Watched> = watched
            .into_iter()
            .map(|sought| Watched {
                sought,
                is_settled: AtomicBool::new(false),
                is_there: AtomicBool::new(false),
                has_texts: AtomicBool::new(false),
                has_booleans: AtomicBool::new(false),
                has_numbers: AtomicBool::new(false),
                has_arrays: AtomicBool::new(false),
                has_objects: AtomicBool::new(false),
            })
            .collect();
        Watch {
            // Hyphens matter only where a key is not found.
            open: AtomicUsize::new(
                watched.iter().filter(|watched| !matches!(watched.sought, Sought::Hyphens { .. })).count(),
            ),
            watched,
            has_looked: AtomicBool::new(false),
            names: Mutex::default(),
            blocks_named: AtomicUsize::new(0),
        }
    }

    /// Looks at a block whose events are within the query's time. Costs nothing once all is settled.
    pub(crate) fn look(&self, block: &dyn Block, statistics: Option<&Statistics<'_>>) {
        self.has_looked.store(true, Relaxed);
        if self.open.load(Relaxed) == 0 {
            return;
        }
        let own = if statistics.is_none() { Statistics::with_deleted(block) } else { None };
        match statistics.or(own.as_ref()) {
            Some(statistics) => self.look_with(&Told(statistics)),
            // What is in columns, or damaged, is not read for a warning.
            None => {
                let is_text = matches!(block.columns(), Ok(None));
                match is_text.then(|| block.documents()) {
                    Some(Ok(Some(documents))) => {
                        self.look_with(&Searched { bytes: documents.bytes, events: block.len() });
                    }
                    Some(Ok(None) | Err(_)) | None => {
                        self.watched.iter().for_each(|watched| self.settle(watched));
                    }
                }
            }
        }
    }

    fn settle(&self, watched: &Watched) {
        if matches!(watched.sought, Sought::Hyphens { .. }) {
            return;
        }
        if !watched.is_settled.swap(true, Relaxed) {
            self.open.fetch_sub(1, Relaxed);
        }
    }

    fn look_with(&self, block: &impl Look) {
        let mut lacks_name = false;
        for watched in self.watched.iter().filter(|watched| !watched.is_settled.load(Relaxed)) {
            match &watched.sought {
                Sought::Key { names, .. } => {
                    if names.iter().any(|name| block.known(name).is_none_or(|known| known.is_there)) {
                        self.settle(watched);
                    } else {
                        lacks_name = true;
                    }
                }
                Sought::Value { name, with, quoted, .. } => match block.known(name) {
                    None => self.settle(watched),
                    Some(known @ Known { numbers, texts, digits, .. }) => {
                        watched.note(known);
                        let is_found = match with {
                            Compared::Number => numbers,
                            Compared::Text => texts && (quoted.is_none() || digits),
                        };
                        if is_found {
                            self.settle(watched);
                        }
                    }
                },
                Sought::Number { name, ranks, .. } => match block.known(name) {
                    Some(known) if !(known.numbers || *ranks && known.words) => watched.note(known),
                    _ => self.settle(watched),
                },
                Sought::Hyphens { name, .. } => {
                    if lacks_name && let Some(known) = block.known(name) {
                        watched.note(known);
                    }
                }
                Sought::Level { given, met, .. } => {
                    let is_known = block.levels(&mut |level, kind| {
                        let is_text = kind == Kind::String;
                        if is_text && given.is_match(level) {
                            return self.settle(watched);
                        }
                        let mut met = met.lock().unwrap_or_else(PoisonError::into_inner);
                        if is_text && met.in_other_case.is_none() && given.is_match_in_other_case(level) {
                            met.in_other_case = Some(level.to_owned());
                        }
                        if met.all.len() < LEVELS_MAX {
                            met.all.insert(if is_text { format!("'{level}'") } else { level.to_owned() });
                        }
                    });
                    if !is_known {
                        self.settle(watched);
                    }
                }
            }
        }
        if lacks_name && self.blocks_named.fetch_add(1, Relaxed) < BLOCKS_NAMED {
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            block.names(&mut |name| {
                if names.len() < NAMES_MAX && !names.contains(name) {
                    names.insert(name.to_owned());
                }
            });
        }
    }

    /// What there is to warn of, as far as events were looked at.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        if !self.has_looked.load(Relaxed) {
            return Vec::new();
        }
        let open = || self.watched.iter().filter(|watched| !watched.is_settled.load(Relaxed));
        let is_open = |part: &String| {
            open().any(|watched| matches!(&watched.sought, Sought::Key { text, .. } if text == part))
        };
        let hyphens = || {
            open().filter_map(|watched| match &watched.sought {
                Sought::Hyphens { name, parts }
                    if watched.is_there.load(Relaxed) && parts.iter().any(is_open) =>
                {
                    Some((name, parts))
                }
                _ => None,
            })
        };
        // Where one of the query's levels is there, the query speaks of levels as the events do.
        let has_found_level = self.watched.iter().any(|watched| {
            matches!(watched.sought, Sought::Level { .. }) && watched.is_settled.load(Relaxed)
        });
        open()
            .filter_map(|watched| match &watched.sought {
                Sought::Key { text, .. } if hyphens().any(|(_, parts)| parts.contains(text)) => None,
                Sought::Key { text, names, meant } => {
                    let known = self.names.lock().unwrap_or_else(PoisonError::into_inner);
                    // The longest name is the one that was meant for a flat key: `id.orig_h`, and not `id`.
                    let mut names: Vec<&str> = names.iter().map(|name| &**name).collect();
                    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
                    let near = names.iter().find_map(|name| closest(name, known.iter().map(String::as_str)));
                    let near = near.map(as_written).or_else(|| meant.clone());
                    let near = near.or_else(|| match names.as_slice() {
                        [only] => built_in(only).map(str::to_owned),
                        _ => None,
                    });
                    Some(Warning::UnknownKey { key: text.clone(), near })
                }
                Sought::Value { key, quoted: Some(text), .. } if watched.has_texts.load(Relaxed) => {
                    let has_numbers = watched.has_numbers.load(Relaxed);
                    has_numbers.then(|| Warning::NumberInQuotes { key: key.clone(), text: text.clone() })
                }
                Sought::Value { key, name, operator, with, .. } => {
                    // An event without a level has one all the same.
                    let is_there = watched.is_there.load(Relaxed) || &**name == LEVEL;
                    is_there.then(|| Warning::NeverCompared {
                        key: key.clone(),
                        operator,
                        with: *with,
                        only: watched.only_kind(),
                    })
                }
                Sought::Number { aggregate, key, ranks, .. } => watched.has_texts.load(Relaxed).then(|| {
                    Warning::NumbersInText { aggregate: aggregate.clone(), key: key.clone(), ranks: *ranks }
                }),
                Sought::Hyphens { name, .. } => hyphens()
                    .any(|(known, _)| known == name)
                    .then(|| Warning::Hyphens { key: name.to_string() }),
                Sought::Level { given, is_excluded, met } => {
                    let met = met.lock().unwrap_or_else(PoisonError::into_inner);
                    // Nothing is wrong with leaving out what is not there.
                    let is_fine = *is_excluded || met.all.is_empty() || has_found_level;
                    let text = given.text().to_owned();
                    match &met.in_other_case {
                        Some(stored) => Some(Warning::LevelCase { given: text, stored: stored.clone() }),
                        None if is_fine || is_absent_only(given, &met.all) => None,
                        None => {
                            let levels = met.all.iter().cloned().collect();
                            Some(Warning::UnknownLevel { given: text, levels })
                        }
                    }
                }
            })
            .collect()
    }
}

impl Watched {
    fn note(&self, known: Known) {
        for (kind, is_there) in [
            (&self.is_there, known.is_there),
            (&self.has_texts, known.texts),
            (&self.has_booleans, known.booleans),
            (&self.has_numbers, known.numbers),
            (&self.has_arrays, known.arrays),
            (&self.has_objects, known.objects),
        ] {
            if is_there {
                kind.store(true, Relaxed);
            }
        }
    }

    /// The only kind of values that was met.
    fn only_kind(&self) -> Option<Kind> {
        let kinds = [
            (&self.has_texts, Kind::String),
            (&self.has_booleans, Kind::Boolean),
            (&self.has_numbers, Kind::Number),
            (&self.has_arrays, Kind::Array),
            (&self.has_objects, Kind::Object),
        ];
        let mut met = kinds.into_iter().filter(|(is_there, _)| is_there.load(Relaxed));
        match (met.next(), met.next()) {
            (Some((_, kind)), None) => Some(kind),
            _ => None,
        }
    }
}

/// Collects what is to be watched for in expressions, each once.
struct Collected<'p> {
    names: &'p [Box<str>],
    /// The names as the language writes them.
    shown: &'p [String],
    found: Vec<Sought>,
}

impl Collected<'_> {
    fn expr(&mut self, expr: &Expr) {
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
    fn aggregate(&mut self, aggregate: &Aggregate) {
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
const LEVELS_MAX: usize = 20;

/// The levels of CLEF.
const CLEF_LEVELS: [&str; 6] = ["Verbose", "Debug", "Information", "Warning", "Error", "Fatal"];

/// Whether a level is one of those that events have others of: nothing is wrong where no event has just that one.
fn is_absent_only(given: &GivenLevel, levels: &BTreeSet<String>) -> bool {
    CLEF_LEVELS.iter().any(|level| given.is_match(level))
        && levels.iter().any(|level| CLEF_LEVELS.contains(&level.trim_matches('\'')))
}

/// A text that is a number in quotes.
fn quoted(text: &Text<'_>) -> Option<String> {
    let text = text.text();
    is_number(text.as_bytes()).then(|| text.into_owned())
}

/// The name of a key as people write it: a flat key with points as a path.
fn as_written(name: &str) -> String {
    let is_name = |part: &str| property(part) == part;
    if name.contains('.') && name.split('.').all(is_name) { name.to_owned() } else { property(name) }
}

/// The built-in that a key of this name is in other logs.
fn built_in(name: &str) -> Option<&'static str> {
    let known = [
        ("@Timestamp", &["timestamp", "time", "ts", "date"][..]),
        ("@Level", &["level", "severity", "loglevel"]),
        ("@Message", &["message", "msg"]),
        ("@Exception", &["exception", "error", "stacktrace"]),
        ("@TraceId", &["traceid", "trace_id"]),
        ("@SpanId", &["spanid", "span_id"]),
        ("@Id", &["id"]),
        ("Now()", &["now"]),
    ];
    let found = known.iter().find(|(_, names)| names.iter().any(|known| name.eq_ignore_ascii_case(known)));
    found.map(|(built_in, _)| *built_in)
}

/// What can be told of a block.
trait Look {
    /// What is known of a key; none where that is nothing.
    fn known(&self, name: &str) -> Option<Known>;
    /// Gives each level that events have, and its kind, of texts and numbers: whether those are all.
    fn levels(&self, each: &mut dyn FnMut(&str, Kind)) -> bool;
    /// Gives the names of keys.
    fn names(&self, each: &mut dyn FnMut(&str));
}

/// The key of an event's level.
const LEVEL: &str = "@l";

/// Told by statistics.
struct Told<'s, 'b>(&'s Statistics<'b>);

impl Look for Told<'_, '_> {
    fn known(&self, name: &str) -> Option<Known> {
        match self.0.key(name) {
            Key::Unknown => None,
            Key::Absent => Some(Known::default()),
            Key::Present(facts) => match facts.values {
                Some(values) => {
                    let is_any = |is_sought: fn(&[u8]) -> bool| match values.listed_strings {
                        Some(mut listed) => listed.any(|(text, _)| is_sought(text)),
                        None => values.strings > 0,
                    };
                    Some(Known {
                        is_there: true,
                        numbers: values.numbers > 0,
                        texts: values.strings > 0,
                        booleans: values.truth.count > 0 || values.falsehood.count > 0,
                        arrays: values.arrays > 0,
                        objects: values.maps > 0,
                        words: is_any(|text| !is_number(text)),
                        digits: is_any(is_number),
                    })
                }
                // An event has it twice.
                None => Some(Known {
                    is_there: true,
                    numbers: true,
                    texts: true,
                    booleans: true,
                    arrays: true,
                    objects: true,
                    words: true,
                    digits: true,
                }),
            },
        }
    }

    fn levels(&self, each: &mut dyn FnMut(&str, Kind)) -> bool {
        match self.0.key(LEVEL) {
            Key::Unknown => false,
            Key::Absent => {
                each(DEFAULT_LEVEL, Kind::String);
                true
            }
            Key::Present(facts) => {
                let Some(values) = facts.values else { return false };
                if values.missing.count > 0 {
                    each(DEFAULT_LEVEL, Kind::String);
                }
                let (Some(texts), Some(numbers)) = (values.listed_strings, values.listed_numbers) else {
                    return false;
                };
                texts.for_each(|(level, _)| each(&String::from_utf8_lossy(level), Kind::String));
                numbers.for_each(|(level, _)| each(&String::from_utf8_lossy(level), Kind::Number));
                true
            }
        }
    }

    fn names(&self, each: &mut dyn FnMut(&str)) {
        self.0.keys().flatten().for_each(|(name, _)| each(&String::from_utf8_lossy(name)));
    }
}

/// Searched for in a block's bytes. What looks like a key may be nested, or stand in a text: then nothing is said of it.
struct Searched<'b> {
    bytes: &'b [u8],
    events: usize,
}

impl Searched<'_> {
    /// What stands behind each place that looks like a key.
    fn behind(&self, name: &str) -> Option<impl Iterator<Item = &[u8]>> {
        let needle = [b"\"", &*spelled(name)?, b"\":"].concat();
        let mut from = 0;
        Some(std::iter::from_fn(move || {
            let rest = self.bytes.get(from..)?;
            from += memchr::memmem::find(rest, &needle)? + needle.len();
            self.bytes.get(from..)
        }))
    }
}

impl Look for Searched<'_> {
    fn known(&self, name: &str) -> Option<Known> {
        let mut known = Known::default();
        for value in self.behind(name)? {
            known.is_there = true;
            match value.first() {
                Some(b'"') => {
                    known.texts = true;
                    let end = value.get(1..).and_then(|text| memchr::memchr(b'"', text));
                    let text = end.and_then(|end| value.get(1..=end));
                    let is_number = text.is_some_and(is_number);
                    known.words |= !is_number;
                    known.digits |= is_number;
                }
                Some(b'-' | b'0'..=b'9') => known.numbers = true,
                Some(b't' | b'f') => known.booleans = true,
                Some(b'[') => known.arrays = true,
                Some(b'{') => known.objects = true,
                _ => {}
            }
            if known.words && known.digits && known.numbers {
                break;
            }
        }
        Some(known)
    }

    fn levels(&self, each: &mut dyn FnMut(&str, Kind)) -> bool {
        let mut count = 0;
        for value in self.behind(LEVEL).into_iter().flatten() {
            count += 1;
            let (text, kind) = match value.strip_prefix(b"\"") {
                Some(text) => (text.get(..memchr::memchr(b'"', text).unwrap_or(0)), Kind::String),
                None => {
                    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    (value.get(..digits), Kind::Number)
                }
            };
            let text = text.filter(|text| !text.is_empty());
            text.iter().for_each(|text| each(&String::from_utf8_lossy(text), kind));
        }
        if count < self.events {
            each(DEFAULT_LEVEL, Kind::String);
        }
        true
    }

    fn names(&self, each: &mut dyn FnMut(&str)) {
        let mut offsets = tamias_json::Offsets::new();
        for document in self.bytes.split(|byte| *byte == b'\n').take(DOCUMENTS_NAMED) {
            if let Ok(document) = offsets.scan_trusted(document) {
                document.entries().for_each(|(key, _)| each(&key.text()));
            }
        }
    }
}

/// Whether a text reads as a number. One that begins with zeros is rather a name made of digits.
fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let may_be = match digits {
        [b'0', second, ..] => !second.is_ascii_digit(),
        [first, ..] => first.is_ascii_digit(),
        [] => false,
    };
    may_be && std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Of so many documents of a block the keys are remembered.
const DOCUMENTS_NAMED: usize = 100;
