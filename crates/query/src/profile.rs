//! What is counted and timed of a running query, beside its rows, if it is asked for.

use crate::aggregate::Function;
use crate::column_block::{ColumnBlock, ColumnError};
use crate::expr::{Computed, Expr, Printed, Scope, property};
use crate::options::RunOptions;
use crate::plan::{Input, Key, Output, Plan};
use crate::source::{Block, Source};
use crate::stored;
use crate::stored::SourceError;
use crate::value::{Kind, Value};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many values of each kind there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounts([u64; KINDS]);

const KINDS: usize = 7;

/// The kinds in the order of their counts.
const ORDER: [Kind; KINDS] =
    [Kind::Undefined, Kind::Null, Kind::Boolean, Kind::Number, Kind::String, Kind::Array, Kind::Object];

impl KindCounts {
    /// The values of a kind; the missing ones are those of [`Kind::Undefined`].
    pub fn of(&self, kind: Kind) -> u64 {
        self.0.get(kind as usize).copied().unwrap_or_default()
    }

    /// All values, the missing ones too.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// The values that a path of a query had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathKinds {
    /// The path as the language writes it, as in `Actor.Name`.
    pub path: String,
    /// Whether these are the values that the condition after `where`, or `unnest`, was given; else they are those of the
    /// events that passed.
    pub is_tested: bool,
    /// How many there were of each kind.
    pub counts: KindCounts,
}

/// The values that an aggregate was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AggregateKinds {
    /// The aggregate, as in `sum(Elapsed)`.
    pub aggregate: String,
    /// How many there were of each kind.
    pub counts: KindCounts,
    /// How many of them it passed over: they were missing, or of a kind that it does not take.
    pub passed_over: u64,
}

/// What [`RunOptions::count_kinds`] has counted so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindReport {
    /// Each path of the query, those of its conditions first.
    pub paths: Vec<PathKinds>,
    /// Each aggregate that takes values, each once.
    pub aggregates: Vec<AggregateKinds>,
}

/// An expression that is watched.
#[derive(Debug)]
struct Watched {
    text: String,
    expr: Expr,
    counts: [AtomicU64; KINDS],
    passed_over: AtomicU64,
}

impl Watched {
    fn new(text: String, expr: Expr) -> Watched {
        Watched { text, expr, counts: Default::default(), passed_over: AtomicU64::new(0) }
    }

    fn counts(&self) -> KindCounts {
        KindCounts(ORDER.map(|kind| self.counts.get(kind as usize).map_or(0, |count| count.load(Relaxed))))
    }

    fn count<'a>(&'a self, scope: &mut Scope<'a>) -> Value<'a> {
        let value = self.expr.eval(scope);
        if let Some(count) = self.counts.get(value.kind() as usize) {
            count.fetch_add(1, Relaxed);
        }
        value
    }
}

/// The kinds of values that a query meets.
#[derive(Debug)]
pub(crate) struct KindWatch {
    tested: Vec<Watched>,
    passed: Vec<Watched>,
    aggregates: Vec<(Function, Watched)>,
}

impl KindWatch {
    fn new(plan: &Plan) -> Option<KindWatch> {
        let Input::Events(events) = &plan.input else { return None };
        let slots: Vec<String> = events.names.iter().map(|name| property(name)).collect();
        let mut paths = Paths { slots: &slots, locals: &events.unnest_names, found: Vec::new() };
        events.unnest.iter().chain(&plan.filter).for_each(|expr| paths.collect(expr));
        let tested = std::mem::take(&mut paths.found);
        let mut aggregates: Vec<(Function, Watched)> = Vec::new();
        match &plan.output {
            Output::Rows { cells, .. } => cells.iter().for_each(|cell| paths.collect(cell)),
            Output::Groups(grouping) => {
                for key in &grouping.keys {
                    if let Key::Expr { expr, .. } = key {
                        paths.collect(expr);
                    }
                }
                for aggregate in &grouping.aggregates {
                    paths.collect(&aggregate.argument);
                    if !matches!(aggregate.argument, Expr::Constant(_)) {
                        let text = aggregate.text(&slots, &events.unnest_names);
                        aggregates.push((aggregate.function, Watched::new(text, aggregate.argument.clone())));
                    }
                }
            }
        }
        Some(KindWatch { tested, passed: paths.found, aggregates })
    }

    /// What the condition is given.
    pub(crate) fn tested<'a>(&'a self, scope: &mut Scope<'a>) {
        for watched in &self.tested {
            watched.count(scope);
        }
    }

    /// What passed.
    pub(crate) fn passed<'a>(&'a self, scope: &mut Scope<'a>) {
        for watched in &self.passed {
            watched.count(scope);
        }
        for (function, watched) in &self.aggregates {
            let kind = watched.count(scope).kind();
            watched.passed_over.fetch_add(u64::from(!function.takes(kind)), Relaxed);
        }
    }

    fn report(&self) -> KindReport {
        let paths = |watched: &[Watched], is_tested| -> Vec<PathKinds> {
            let path = |watched: &Watched| PathKinds {
                path: watched.text.clone(),
                is_tested,
                counts: watched.counts(),
            };
            watched.iter().map(path).collect()
        };
        let aggregates = self.aggregates.iter().map(|(_, watched)| AggregateKinds {
            aggregate: watched.text.clone(),
            counts: watched.counts(),
            passed_over: watched.passed_over.load(Relaxed),
        });
        KindReport {
            paths: [paths(&self.tested, true), paths(&self.passed, false)].concat(),
            aggregates: aggregates.collect(),
        }
    }
}

/// Collects the paths of expressions, each once, and each as far as it leads.
struct Paths<'p> {
    slots: &'p [String],
    /// The names of what is unnested. Locals within an expression have many values for an event, and are left out.
    locals: &'p [String],
    found: Vec<Watched>,
}

impl Paths<'_> {
    fn is_path(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Slot(_) | Expr::Path(_) => true,
            Expr::Local(local) => *local < self.locals.len(),
            Expr::BuiltIn(computed) => match computed {
                Computed::Level { .. }
                | Computed::Message { .. }
                | Computed::EventType { .. }
                | Computed::Start { .. }
                | Computed::Elapsed { .. } => true,
                // Of one kind in every event, or the beginning of a path only.
                Computed::Timestamp
                | Computed::Id
                | Computed::Arrived
                | Computed::Properties
                | Computed::Data => false,
            },
            Expr::Member(of, _) => {
                self.is_path(of) || matches!(**of, Expr::BuiltIn(Computed::Properties | Computed::Data))
            }
            Expr::Element(of, index) => self.is_path(of) && matches!(**index, Expr::Constant(_)),
            _ => false,
        }
    }

    fn collect(&mut self, expr: &Expr) {
        if self.is_path(expr) {
            let text = Printed { expr, slots: self.slots, locals: self.locals }.to_string();
            if !self.found.iter().any(|known| known.text == text) {
                self.found.push(Watched::new(text, expr.clone()));
            }
            return;
        }
        expr.children().into_iter().for_each(|child| self.collect(child));
    }
}

/// What a query's steps took on all of its threads together, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// Reading blocks, and checking them.
    source: Arc<AtomicU64>,
    /// Making rows of hits, or taking them into groups, as far as it was timed.
    output: AtomicU64,
    /// How many hits have been timed.
    timed: AtomicU64,
    /// Taking rows into groups.
    taken: AtomicU64,
    /// Sorting, and making rows of groups.
    held: AtomicU64,
    /// All of it, and what of that a thread waited for others.
    all: AtomicU64,
    waited: AtomicU64,
}

/// One hit in so many is timed, since telling the time takes longer than most hits do.
const HITS_UNTIMED: u64 = 16;

/// What is counted and timed beside the rows.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    pub(crate) kinds: Option<KindWatch>,
    pub(crate) times: Option<Times>,
    /// Groups found, before `having`.
    pub(crate) groups: AtomicU64,
    /// For each aggregate the numbers that it met of too many digits.
    pub(crate) too_long: Box<[AtomicU64]>,
    /// Rows held, before the limit.
    pub(crate) held: AtomicU64,
    /// The columns that were read, where that is to be told.
    columns: Mutex<BTreeSet<String>>,
    /// Whether other threads were started.
    pub(crate) has_others: AtomicBool,
}

impl Profile {
    pub(crate) fn new(plan: &Plan, options: &RunOptions) -> Profile {
        let aggregates = match &plan.output {
            Output::Rows { .. } => 0,
            Output::Groups(grouping) => grouping.aggregates.len(),
        };
        Profile {
            too_long: std::iter::repeat_with(AtomicU64::default).take(aggregates).collect(),
            kinds: options.count_kinds.then(|| KindWatch::new(plan)).flatten(),
            times: options.measure.then(Times::default),
            ..Profile::default()
        }
    }

    pub(crate) fn kind_report(&self) -> Option<KindReport> {
        self.kinds.as_ref().map(KindWatch::report)
    }

    /// Times what is done with a hit, the `number`th of them.
    pub(crate) fn hit<T>(&self, number: u64, act: impl FnOnce() -> T) -> T {
        match &self.times {
            Some(times) if number % HITS_UNTIMED == 1 => {
                times.timed.fetch_add(1, Relaxed);
                timed(&times.output, act)
            }
            _ => act(),
        }
    }

    /// Times what is done with so many hits together.
    pub(crate) fn hits<T>(&self, hits: u64, act: impl FnOnce() -> T) -> T {
        match &self.times {
            Some(times) => {
                times.timed.fetch_add(hits, Relaxed);
                timed(&times.output, act)
            }
            None => act(),
        }
    }

    /// Notes the columns that were read of a block.
    pub(crate) fn columns(&self, names: impl FnOnce() -> Vec<String>) {
        if self.times.is_some() {
            self.columns.lock().unwrap_or_else(PoisonError::into_inner).extend(names());
        }
    }

    /// The columns that were read, of all blocks.
    pub(crate) fn column_names(&self) -> Vec<String> {
        self.columns.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Times taking rows into groups.
    pub(crate) fn taken<T>(&self, act: impl FnOnce() -> T) -> T {
        match &self.times {
            Some(times) => timed(&times.taken, act),
            None => act(),
        }
    }

    /// The present time, if that is asked for.
    pub(crate) fn start(&self) -> Option<Instant> {
        self.times.is_some().then(Instant::now)
    }

    /// Takes the time since `started`, in which a thread waited for others, out of that of the whole query.
    pub(crate) fn waited(&self, started: Option<Instant>) {
        if let (Some(times), Some(started)) = (&self.times, started) {
            times.waited.fetch_add(nanoseconds(started), Relaxed);
        }
    }

    /// Adds the time since `started` to that of the whole query.
    pub(crate) fn took(&self, started: Option<Instant>) {
        if let (Some(times), Some(started)) = (&self.times, started) {
            times.all.fetch_add(nanoseconds(started), Relaxed);
        }
    }

    /// Times what is done with rows that are held.
    pub(crate) fn held<T>(&self, act: impl FnOnce() -> T) -> T {
        match &self.times {
            Some(times) => timed(&times.held, act),
            None => act(),
        }
    }

    /// The source, timed if that is asked for.
    pub(crate) fn source(&self, source: Box<dyn Source>) -> Box<dyn Source> {
        match &self.times {
            Some(times) => Box::new(Timed { of: source, nanoseconds: times.source.clone() }),
            None => source,
        }
    }
}

impl Times {
    /// What the steps took, of so many hits.
    pub(crate) fn steps(&self, hits: u64) -> StepTimes {
        let nanoseconds = |of: &AtomicU64| Duration::from_nanos(of.load(Relaxed));
        let timed = self.timed.load(Relaxed).max(1);
        let output = u128::from(self.output.load(Relaxed)) * u128::from(hits) / u128::from(timed);
        let output =
            Duration::from_nanos(u64::try_from(output).unwrap_or(u64::MAX)) + nanoseconds(&self.taken);
        let (source, held, all) =
            (nanoseconds(&self.source), nanoseconds(&self.held), nanoseconds(&self.all));
        let all = all.saturating_sub(nanoseconds(&self.waited));
        StepTimes { source, scan: all.saturating_sub(source + output + held), output, held, all }
    }
}

/// What the steps of a query took.
pub(crate) struct StepTimes {
    pub(crate) source: Duration,
    /// All that nothing else takes: looking into events, and testing them.
    pub(crate) scan: Duration,
    pub(crate) output: Duration,
    pub(crate) held: Duration,
    pub(crate) all: Duration,
}

fn timed<T>(to: &AtomicU64, act: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = act();
    to.fetch_add(nanoseconds(started), Relaxed);
    result
}

/// The nanoseconds since.
fn nanoseconds(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// A source, or a block of one, and the time that reading takes.
struct Timed<T> {
    of: T,
    nanoseconds: Arc<AtomicU64>,
}

impl Source for Timed<Box<dyn Source>> {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        let group = timed(&self.nanoseconds, || self.of.next_group())?;
        let share =
            |block| Arc::new(Timed { of: block, nanoseconds: self.nanoseconds.clone() }) as Arc<dyn Block>;
        Ok(group.map(|blocks| blocks.into_iter().map(share).collect()))
    }
}

impl Block for Timed<Arc<dyn Block>> {
    fn len(&self) -> usize {
        self.of.len()
    }
    fn range(&self) -> ((u64, u64), (u64, u64)) {
        self.of.range()
    }
    fn times(&self) -> Result<Option<stored::Times<'_>>, SourceError> {
        timed(&self.nanoseconds, || self.of.times())
    }
    fn documents(&self) -> Result<Option<stored::Documents<'_>>, SourceError> {
        timed(&self.nanoseconds, || self.of.documents())
    }
    fn columns(&self) -> Result<Option<&ColumnBlock>, SourceError> {
        timed(&self.nanoseconds, || self.of.columns())
    }
    fn leave_out(&self, error: ColumnError) -> Result<(), SourceError> {
        self.of.leave_out(error)
    }
    fn statistics(&self) -> Option<&[u8]> {
        self.of.statistics()
    }
}
