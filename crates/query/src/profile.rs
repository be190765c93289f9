//! Optional counts and times of a running query.

use crate::aggregate::Function;
use crate::column_block::{ColumnBlock, ColumnError};
use crate::expr::{Computed, Expr, Printed, Scope, property};
use crate::options::RunOptions;
use crate::places::Places;
use crate::plan::{Input, Output, Plan};
use crate::source::{Block, Source};
use crate::stored;
use crate::stored::SourceError;
use crate::value::{Kind, Value};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The number of values of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounts([u64; KINDS]);

const KINDS: usize = 7;

/// The kinds in the order of their counts.
const ORDER: [Kind; KINDS] =
    [Kind::Undefined, Kind::Null, Kind::Boolean, Kind::Number, Kind::String, Kind::Array, Kind::Object];

impl KindCounts {
    /// The number of values of a kind; missing values count as [`Kind::Undefined`].
    pub fn of(&self, kind: Kind) -> u64 {
        self.0.get(kind as usize).copied().unwrap_or_default()
    }

    /// The number of all values, including missing ones.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// The kinds of the values of a path in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathKinds {
    /// The path as the language writes it, such as `Actor.Name`.
    pub path: String,
    /// If true, these are the values used by the condition after `where` or by `unnest`; if false, those of the
    /// events that passed.
    pub is_tested: bool,
    /// The number of values of each kind.
    pub counts: KindCounts,
}

/// The kinds of the values that an aggregate was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AggregateKinds {
    /// The aggregate, such as `sum(Elapsed)`.
    pub aggregate: String,
    /// The number of values of each kind.
    pub counts: KindCounts,
    /// The number of values that it ignored because they were missing, or of a kind that it does not accept.
    pub passed_over: u64,
}

/// The kinds of values counted so far with [`RunOptions::count_kinds`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindReport {
    /// The paths of the query, those of its conditions first.
    pub paths: Vec<PathKinds>,
    /// The aggregates that take values, each once.
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
        plan.output.exprs().into_iter().for_each(|expr| paths.collect(expr));
        if let Output::Groups(grouping) = &plan.output {
            for aggregate in &grouping.aggregates {
                if !matches!(aggregate.argument, Expr::Constant(_)) {
                    let text = aggregate.text(&slots, &events.unnest_names);
                    aggregates.push((aggregate.function, Watched::new(text, aggregate.argument.clone())));
                }
            }
        }
        Some(KindWatch { tested, passed: paths.found, aggregates })
    }

    /// The paths that a plan reads, as the language writes them, each once.
    pub(crate) fn paths(plan: &Plan) -> Vec<String> {
        let Some(KindWatch { tested, passed, .. }) = KindWatch::new(plan) else { return Vec::new() };
        let of_events = tested.into_iter().chain(passed).filter(|watched| !watched.expr.reads_local());
        let mut paths: Vec<String> = of_events.map(|watched| watched.text).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// The paths that a plan reads in the elements of arrays, as the language writes them for any element, each once.
    pub(crate) fn element_paths(plan: &Plan) -> Vec<String> {
        let Input::Events(events) = &plan.input else { return Vec::new() };
        let slots: Vec<String> = events.names.iter().map(|name| property(name)).collect();
        let mut paths = ElementPaths { slots: &slots, locals: Vec::new(), found: BTreeSet::new() };
        for collection in &events.unnest {
            paths.collect(collection);
            paths.bind_element(collection);
        }
        plan.filter.iter().chain(plan.output.exprs()).for_each(|expr| paths.collect(expr));
        paths.found.into_iter().collect()
    }

    /// Counts the values that the condition is given.
    pub(crate) fn tested<'a>(&'a self, scope: &mut Scope<'a>) {
        for watched in &self.tested {
            watched.count(scope);
        }
    }

    /// Counts the values of an event that passed.
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

/// Collects the paths that expressions read in elements.
struct ElementPaths<'p> {
    slots: &'p [String],
    /// Where each local comes from, if that is a path.
    locals: Vec<Option<String>>,
    found: BTreeSet<String>,
}

impl ElementPaths<'_> {
    /// The path of an expression; any element stands for each.
    fn path(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Slot(_) | Expr::Path(_) => {
                Some(Printed { expr, slots: self.slots, locals: &[] }.to_string())
            }
            Expr::Local(local) => self.locals.get(*local).cloned().flatten(),
            Expr::Member(of, name) => {
                let member = Expr::Member(Box::new(Expr::Local(0)), name.clone());
                Some(Printed { expr: &member, slots: &[], locals: &[self.path(of)?] }.to_string())
            }
            Expr::Element(of, index) if matches!(**index, Expr::Constant(Value::Number(_))) => {
                Some(self.path(of)? + "[?]")
            }
            _ => None,
        }
    }

    /// The next local is an element of this.
    fn bind_element(&mut self, collection: &Expr) {
        let path = self.path(collection).map(|path| path + "[?]");
        self.locals.push(path);
    }

    fn collect(&mut self, expr: &Expr) {
        if let Some(path) = self.path(expr) {
            if path.contains("[?].") {
                self.found.insert(path);
            }
            return;
        }
        let outer = self.locals.len();
        match expr {
            Expr::Quantified { collection, body, .. } => {
                self.collect(collection);
                self.bind_element(collection);
                self.collect(body);
            }
            Expr::Let(values, body) => {
                for value in values {
                    self.collect(value);
                    let path = self.path(value);
                    self.locals.push(path);
                }
                self.collect(body);
            }
            _ => expr.children().into_iter().for_each(|child| self.collect(child)),
        }
        self.locals.truncate(outer);
    }
}

/// The times of a query's steps on all of its threads together, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// Reading blocks, and checking them.
    source: Arc<AtomicU64>,
    /// Computing rows of hits, or grouping them, as far as it was timed.
    output: AtomicU64,
    /// The number of hits that were timed.
    timed: AtomicU64,
    /// Grouping rows.
    taken: AtomicU64,
    /// Sorting, and computing rows of groups.
    held: AtomicU64,
    /// The whole query, and the part of it in which a thread waited for others.
    all: AtomicU64,
    waited: AtomicU64,
}

/// One hit in this many is timed, since reading the clock takes longer than most hits.
const HITS_UNTIMED: u64 = 16;

/// Counts and times of a running query.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    pub(crate) kinds: Option<KindWatch>,
    pub(crate) times: Option<Times>,
    /// Groups found, before `having`.
    pub(crate) groups: AtomicU64,
    /// For each aggregate, the number of its inputs with too many digits.
    pub(crate) too_long: Box<[AtomicU64]>,
    /// Rows held, before the limit.
    pub(crate) held: AtomicU64,
    /// The columns that were read, if they are to be reported.
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

    /// Times the processing of the `number`th hit.
    pub(crate) fn hit<T>(&self, number: u64, act: impl FnOnce() -> T) -> T {
        match &self.times {
            Some(times) if number % HITS_UNTIMED == 1 => {
                times.timed.fetch_add(1, Relaxed);
                timed(&times.output, act)
            }
            _ => act(),
        }
    }

    /// Times the processing of several hits together.
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

    /// Times the grouping of rows.
    pub(crate) fn taken<T>(&self, act: impl FnOnce() -> T) -> T {
        match &self.times {
            Some(times) => timed(&times.taken, act),
            None => act(),
        }
    }

    /// The current time, if times are measured.
    pub(crate) fn start(&self) -> Option<Instant> {
        self.times.is_some().then(Instant::now)
    }

    /// Subtracts the time since `started`, in which a thread waited for others, from that of the whole query.
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

    /// Times the processing of held rows.
    pub(crate) fn held<T>(&self, act: impl FnOnce() -> T) -> T {
        match &self.times {
            Some(times) => timed(&times.held, act),
            None => act(),
        }
    }

    /// The source, timed if times are measured.
    pub(crate) fn source(&self, source: Box<dyn Source>) -> Box<dyn Source> {
        match &self.times {
            Some(times) => Box::new(Timed { of: source, nanoseconds: times.source.clone() }),
            None => source,
        }
    }
}

impl Times {
    /// The times of the steps, for this many hits.
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

/// The times of the steps of a query.
pub(crate) struct StepTimes {
    pub(crate) source: Duration,
    /// The remaining time: reading and testing events.
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
    fn places(&self) -> Option<Arc<Places>> {
        self.of.places()
    }
    fn statistics(&self) -> Option<&[u8]> {
        self.of.statistics()
    }
    fn filter(&self) -> Option<&[u8]> {
        self.of.filter()
    }
    fn statistics_with_deleted(&self) -> Option<&[u8]> {
        self.of.statistics_with_deleted()
    }
}
