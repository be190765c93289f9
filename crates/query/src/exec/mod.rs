//! Plan → rows. Events stream through a block at a time; only groups, and rows to be sorted, are held.
//!
//! 1. The source yields a group of blocks whose times overlap.
//! 2. What is known of a block is asked first: it may hold no hit, or its statistics may be all that the groups need (`pushdown`,
//!    `answer`). Otherwise it is scanned, its events filtered, its hits made into a batch of rows (`scan`, `project`).
//! 3. The batches of a group are merged by (instant, arrival); a batch that runs out is filled again (`merge`).
//! 4. Or the hits are taken into groups, in any order: what depends on order remembers the event's (`group`, `intake`,
//!    `columns`, `aggregate`).
//! 5. Rows to be sorted are held, no more than a limit needs (`sort`).
//! 6. If the query has several threads, each takes whole blocks: into groups of its own (`parallel`), or to make their rows
//!    before they are wanted (`ahead`).

mod aggregate;
mod ahead;
mod answer;
mod columns;
mod combined;
mod exact;
mod group;
mod intake;
mod merge;
mod parallel;
mod project;
mod scan;
mod sketch;
mod sort;
mod spellings;
mod stats;
mod watch;

pub use stats::Stats;
pub use watch::{AggregateKinds, KindCounts, KindReport, PathKinds};
pub(crate) use watch::{StepTimes, Watch};

use crate::control::{CancelHandle, Control, RunOptions};
use crate::error::ExecError;
use crate::explain;
use crate::expr::Scope;
use crate::plan::{Input, Output, Plan};
use crate::row::{Batch, OwnedRow, Row};
use crate::source::{NoEvents, Source};
use crate::value::Value;
use ahead::Ahead;
use merge::Merge;
use scan::{Run, Worker};
use std::sync::Arc;

/// The rows of a query. They stream: a row is made when it is asked for, or shortly before; dropping `Rows` ends the query.
pub struct Rows {
    plan: Arc<Plan>,
    source: Option<Box<dyn Source>>,
    state: State,
    worker: Worker,
    stats: Stats,
    control: Arc<Control>,
}

enum State {
    /// Nothing has been read yet.
    Ready,
    /// Rows come from the events as they are read.
    Streaming(Merge),
    /// Rows that were held, the last one first.
    Held(Vec<Vec<Value<'static>>>, Batch),
    Done,
}

/// Where the row that was asked for stands.
enum Found {
    Streaming,
    Held,
    None,
}

impl Rows {
    pub(crate) fn new(plan: Arc<Plan>, source: Option<Box<dyn Source>>, options: RunOptions) -> Rows {
        let control = Arc::new(Control::new(&plan, options));
        let source = source.map(|source| control.watch.source(source));
        let worker = Worker::new(&plan, &control);
        Rows { plan, source, state: State::Ready, worker, stats: Stats::default(), control }
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.plan.columns
    }

    /// What has been read and found so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Of what kinds the values of the query's paths have been so far; none unless
    /// [`RunOptions::count_kinds`] asks for it, and for a query that reads no events.
    ///
    /// ```
    /// use tamias_query::{Kind, Query, RunOptions};
    /// # use tamias_query::{Source, SourceError};
    /// # struct NoEvents;
    /// # impl Source for NoEvents {
    /// #     fn next_group(&mut self) -> Result<Option<Vec<std::sync::Arc<dyn tamias_query::Block>>>, SourceError> { Ok(None) }
    /// # }
    /// # let source = Box::new(NoEvents);
    /// let query = Query::prepare("select sum(Elapsed) from stream where StatusCode = 500")?;
    /// let mut rows = query.run_with(source, RunOptions { count_kinds: true, ..RunOptions::default() });
    /// while rows.next_row()?.is_some() {}
    /// let report = rows.kinds().unwrap_or_default();
    /// assert_eq!(report.paths[0].path, "StatusCode");
    /// assert_eq!(report.aggregates[0].aggregate, "sum(Elapsed)");
    /// assert_eq!(report.aggregates[0].counts.of(Kind::String), 0); // those that it passed over
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kinds(&self) -> Option<KindReport> {
        self.control.watch.kind_report()
    }

    /// The plan as [`Query::explain`](crate::Query::explain) gives it, and what each of its steps has counted and, with
    /// [`RunOptions::measure`], taken so far.
    pub fn analysis(&self) -> String {
        explain::analysis(&self.plan, &self.stats, &self.control.watch)
    }

    /// A handle that ends the query from another thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.control.handle.clone()
    }

    /// The next row; none after the last, or after an error.
    ///
    /// A row of stored values allocates nothing: its cells are spans of the events.
    ///
    /// # Errors
    /// If the source fails, an event is damaged, or a limit of the query is exceeded.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, ExecError> {
        let started = self.control.watch.start();
        let found = self.advance();
        self.control.watch.took(started);
        match found {
            Ok(Found::None) => {
                self.end();
                Ok(None)
            }
            Ok(found) => {
                self.stats.rows += 1;
                let columns = &self.plan.columns;
                Ok(match (&self.state, found) {
                    (State::Streaming(merge), Found::Streaming) => merge.row(columns),
                    (State::Held(_, batch), Found::Held) => batch.row(columns, 0),
                    _ => None,
                })
            }
            Err(error) => {
                self.end();
                Err(error)
            }
        }
    }

    fn end(&mut self) {
        self.state = State::Done;
        self.source = None;
    }

    fn advance(&mut self) -> Result<Found, ExecError> {
        let left = self.plan.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.stats.rows));
        if left == 0 {
            return Ok(Found::None);
        }
        if let State::Ready = self.state {
            if self.plan.is_empty() {
                self.source = Some(Box::new(NoEvents));
            }
            let plan = self.plan.clone();
            self.state = self.start(&plan)?;
        }
        match &mut self.state {
            State::Streaming(merge) => {
                let Input::Events(events) = &self.plan.input else { return Ok(Found::None) };
                let run = Run { plan: &self.plan, events, control: &self.control };
                let there = merge.advance(run, left, &mut self.worker, &mut self.stats)?;
                Ok(if there { Found::Streaming } else { Found::None })
            }
            State::Held(rows, batch) => match rows.pop() {
                Some(row) => {
                    project::single(batch, row.iter())?;
                    Ok(Found::Held)
                }
                None => Ok(Found::None),
            },
            State::Ready | State::Done => Ok(Found::None),
        }
    }

    fn start(&mut self, plan: &Arc<Plan>) -> Result<State, ExecError> {
        let width = plan.columns.len();
        let held = |rows: Vec<Vec<Value<'static>>>| State::Held(rows, Batch::new(None, width));
        match (&plan.input, &plan.output) {
            (Input::Nothing, Output::Rows { cells, .. }) => {
                let mut scope = Scope::new(self.control.now);
                let row = cells.iter().map(|cell| cell.eval(&mut scope).into_static()).collect();
                scope.take_failure()?;
                Ok(held(vec![row]))
            }
            (Input::Nothing, Output::Groups(grouping)) => {
                Ok(held(group::Groups::new(grouping).finish(plan, &self.control)?))
            }
            (Input::Events(events), Output::Rows { sort, .. }) => {
                let Some(source) = self.source.take() else { return Ok(State::Done) };
                let mut merge = Merge::new(Ahead::new(source, plan.clone(), self.control.clone()));
                if sort.is_empty() {
                    return Ok(State::Streaming(merge));
                }
                let mut sorted = sort::Sorted::new(sort, plan.limit);
                let run = Run { plan, events, control: &self.control };
                while merge.advance(run, u64::MAX, &mut self.worker, &mut self.stats)? {
                    if let Some(row) = merge.row(&plan.columns) {
                        self.control.watch.held(|| sorted.push(&row, &self.control))?;
                    }
                }
                Ok(held(self.control.watch.held(|| sorted.finish())))
            }
            (Input::Events(events), Output::Groups(grouping)) => {
                let Some(mut source) = self.source.take() else { return Ok(State::Done) };
                let run = Run { plan, events, control: &self.control };
                let groups =
                    parallel::groups(run, grouping, &mut *source, &mut self.worker, &mut self.stats)?;
                Ok(held(self.control.watch.held(|| groups.finish(plan, &self.control))?))
            }
        }
    }
}

/// Fused: after the last row, or an error, there is nothing more.
impl Iterator for Rows {
    type Item = Result<OwnedRow, ExecError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().map(|row| row.map(|row| row.to_owned())).transpose()
    }
}

impl std::iter::FusedIterator for Rows {}
