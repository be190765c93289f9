//! Plan → rows. Events stream through a block at a time; only groups, and rows to be sorted, are held.
//!
//! 1. The source yields a group of blocks whose times overlap.
//! 2. The block's statistics are checked first: they may show that no event passes, or contain all that the groups need
//!    (`pushdown`, `operator/answer`). Otherwise a scan finds the rows of those that pass, as columns (`scan`).
//! 3. The rows of a group of blocks are merged by (instant, arrival); a batch that runs out is filled again (`operator/merge`).
//! 4. Or they are grouped, a chunk at a time, in any order: aggregates that depend on the order of events remember it
//!    (`operator/group`, `aggregate`).
//!    Once complete, their rows are made as they are asked for, unless they are to be sorted (`operator/group_rows`).
//! 5. Rows to be sorted are held, no more than a limit needs (`operator/sort`).
//! 6. If the query has several threads, each takes whole blocks, and either groups them by itself (`operator/parallel`) or computes their
//!    rows ahead of time (`operator/read_ahead`).

use crate::control::Control;
use crate::error::ExecError;
use crate::explain;
use crate::expr::Scope;
use crate::interrupt::{CancelHandle, Meter};
use crate::operator::{self, Finished, GroupRows, Merge, ReadAhead, SortedRows, Sorter};
use crate::options::RunOptions;
use crate::outputs::{Output, outputs};
use crate::overflow::overflows;
use crate::plan::{self, Input, Plan};
use crate::profile::KindReport;
use crate::row::{OwnedRow, Row};
use crate::scan::{Run, Worker};
use crate::source::{NoEvents, Source};
use crate::stats::Stats;
use crate::warning::Warning;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The rows of a running query. They stream: a row is computed when it is requested, or shortly before. Dropping `Rows` ends the query.
pub struct Rows {
    plan: Arc<Plan>,
    source: Option<Box<dyn Source>>,
    state: State,
    worker: Worker,
    /// The columns that the operators take.
    outputs: Vec<Output>,
    stats: Stats,
    control: Arc<Control>,
    /// The rows that are made and come next, by their places: in the chunk of the state, or in the order of those that are held.
    made: Range<usize>,
}

enum State {
    /// Nothing has been read yet.
    Ready,
    /// Rows come from the events as they are read.
    Streaming(Merge),
    /// Rows that were held.
    Held(SortedRows),
    /// Rows are made of groups that are complete.
    Grouped(Box<GroupRows>),
    Done,
}

impl State {
    fn of(groups: Finished) -> State {
        match groups {
            Finished::Sorted(rows) => State::Held(rows),
            Finished::Made(rows) => State::Grouped(rows),
        }
    }
}

/// The number of held rows that are returned between two checks for cancellation.
const HELD_UNCHECKED: usize = 1024;

impl Rows {
    pub(crate) fn new(plan: Arc<Plan>, source: Option<Box<dyn Source>>, options: RunOptions) -> Rows {
        let cache = source.as_ref().and_then(|source| source.cache());
        let control = Arc::new(Control::new(&plan, options, cache));
        let worker = Worker::new(&plan, &control);
        let source = source.map(|mut source| {
            source.expect(worker.interest(&plan, &control));
            control.profile.source(source)
        });
        let outputs = outputs(&plan);
        Rows {
            plan,
            source,
            state: State::Ready,
            worker,
            outputs,
            stats: Stats::default(),
            control,
            made: 0..0,
        }
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.plan.columns
    }

    /// Counts of what was read and found so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The kinds of the values of the query's paths so far. `None` unless
    /// [`RunOptions::count_kinds`] is set, and for a query that reads no events.
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
        self.control.profile.kind_report()
    }

    /// Warnings about a probable mistake in the query, such as a misspelt key. Call it after the last row: some warnings depend on the events read so
    /// far. Warnings never change the rows.
    ///
    /// They are derived from the statistics of the query's blocks, including skipped ones; what statistics do not show causes no warning. The
    /// cost is a look-up of a few names in each block, until all of them are found.
    ///
    /// ```
    /// use tamias_query::Query;
    /// # use tamias_query::{Source, SourceError};
    /// # struct NoEvents;
    /// # impl Source for NoEvents {
    /// #     fn next_group(&mut self) -> Result<Option<Vec<std::sync::Arc<dyn tamias_query::Block>>>, SourceError> { Ok(None) }
    /// # }
    /// # let source = Box::new(NoEvents);
    /// let mut rows = Query::prepare("select percentile(Elapsed, 0.95) from stream")?.run(source);
    /// while rows.next_row()?.is_some() {}
    /// for warning in rows.warnings() {
    ///     eprintln!("warning: {warning}"); // percentiles go from 0 to 100; did you mean 95?
    /// }
    /// # assert_eq!(rows.warnings().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.plan.warnings.clone();
        warnings.append(&mut self.control.watch.warnings());
        warnings.append(&mut overflows(&self.plan, &self.control));
        warnings
    }

    /// The plan as returned by [`Query::explain`](crate::Query::explain), with the counts of each step so far and, with
    /// [`RunOptions::measure`], its time.
    pub fn analysis(&self) -> String {
        explain::analysis(&self.plan, &self.stats, &self.control.profile)
    }

    /// A handle to cancel the query from another thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.control.interrupt.handle.clone()
    }

    /// The next row; `None` after the last, or after an error.
    ///
    /// A row of stored values needs no allocation: its cells borrow from the events. Rows are made many at a time, those of one block at most, or some thousand of what
    /// is sorted: of a query that is cancelled, or whose deadline passes, the ones that are made come first.
    ///
    /// # Errors
    /// If the source fails, an event is damaged, or a limit of the query is exceeded.
    // A part of the caller, so that rows need not go through memory to get there.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, ExecError> {
        if self.made.is_empty() {
            self.make_rows()?;
        }
        let Some(row) = self.made.next() else { return Ok(None) };
        self.stats.rows += 1;
        let columns = &self.plan.columns;
        Ok(match &self.state {
            State::Streaming(merge) => merge.chunk().map(|chunk| Row::new(columns, chunk, row)),
            State::Held(rows) => rows.chunk(row).map(|(chunk, row)| Row::new(columns, chunk, row)),
            State::Grouped(rows) => Some(Row::new(columns, rows.chunk(), row)),
            State::Ready | State::Done => None,
        })
    }

    /// Makes the next rows, as long as there are some.
    #[inline(never)]
    fn make_rows(&mut self) -> Result<(), ExecError> {
        let started = self.control.profile.start();
        let made = self.advance();
        self.control.profile.took(started);
        if made.as_ref().is_ok_and(|made| !made.is_empty()) {
            self.made = made?;
            return Ok(());
        }
        self.state = State::Done;
        self.source = None;
        made.map(drop)
    }

    /// The next rows; none at the end.
    fn advance(&mut self) -> Result<Range<usize>, ExecError> {
        let left = self.plan.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.stats.rows));
        if left == 0 {
            return Ok(0..0);
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
                let Input::Events(events) = &self.plan.input else { return Ok(0..0) };
                let run = Run { plan: &self.plan, events, outputs: &self.outputs, control: &self.control };
                merge.advance(run, left, &mut self.worker, &mut self.stats)
            }
            State::Held(rows) => {
                self.control.check()?;
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                let next = self.made.end;
                Ok(next..rows.len().min(next.saturating_add(left.min(HELD_UNCHECKED))))
            }
            State::Grouped(rows) => {
                let plan::Output::Groups(grouping) = &self.plan.output else { return Ok(0..0) };
                // Groups that are cut to a limit are held.
                Ok(0..rows.advance(grouping, &self.control)?)
            }
            State::Ready | State::Done => Ok(0..0),
        }
    }

    fn start(&mut self, plan: &Arc<Plan>) -> Result<State, ExecError> {
        let Rows { source, worker, stats, control, outputs, .. } = self;
        let profile = &control.profile;
        match (&plan.input, &plan.output) {
            (Input::Nothing, plan::Output::Rows { cells, .. }) => {
                let mut scope = Scope::metered(control.now, Meter::new(&control.interrupt));
                let row: Vec<_> = cells.iter().map(|cell| cell.eval(&mut scope).into_static()).collect();
                scope.take_failure()?;
                Ok(State::Held(operator::single(&row)?))
            }
            (Input::Nothing, plan::Output::Groups(grouping)) => Ok(State::of(
                operator::Groups::new(grouping, &operator::KeptOf::default()).finish(plan, control)?,
            )),
            (Input::Events(events), plan::Output::Rows { sort, .. }) => {
                let Some(source) = source.take() else { return Ok(State::Done) };
                let mut merge = Merge::new(ReadAhead::new(source, plan.clone(), control.clone()));
                if sort.is_empty() {
                    return Ok(State::Streaming(merge));
                }
                let mut sorter = Sorter::new(sort, plan.limit, plan.columns.len());
                let run = Run { plan, events, outputs, control };
                loop {
                    let rows = merge.advance(run, u64::MAX, worker, stats)?;
                    let Some(chunk) = merge.chunk().filter(|_| !rows.is_empty()) else { break };
                    profile.held(|| {
                        rows.into_iter().try_for_each(|row| sorter.take_row(&chunk, row, control))
                    })?;
                }
                profile.held.store(sorter.taken(), Relaxed);
                Ok(State::Held(profile.held(|| sorter.finish(control))?))
            }
            (Input::Events(events), plan::Output::Groups(grouping)) => {
                let Some(mut source) = source.take() else { return Ok(State::Done) };
                let run = Run { plan, events, outputs, control };
                let groups = operator::groups(run, grouping, &mut *source, worker, stats)?;
                Ok(State::of(profile.held(|| groups.finish(plan, control))?))
            }
        }
    }
}

/// Fused: returns `None` after the last row or an error.
impl Iterator for Rows {
    type Item = Result<OwnedRow, ExecError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().map(|row| row.map(|row| row.to_owned())).transpose()
    }
}

impl std::iter::FusedIterator for Rows {}

#[cfg(test)]
mod tests;
