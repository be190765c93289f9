//! Rows from hits, a batch at a time.

use super::scan::{Found, Part, Run, Sink, Worker, order_of};
use super::stats::Stats;
use crate::error::ExecError;
use crate::expr::{Expr, Scope};
use crate::plan::{Output, Plan};
use crate::row::Batch;
use crate::source::{Block, Direction};
use crate::value::{VALUE_BYTES_MAX, Value};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A block on its way to become rows.
pub(super) struct Cursor {
    block: Arc<dyn Block>,
    /// The events that may pass.
    part: Part,
    /// The events that have been evaluated.
    evaluated: usize,
    /// An event of which the batch took some elements and had no room for the others: it is evaluated once more.
    cut: Option<Cut>,
    pub(super) batch: Batch,
    /// The next row of the batch.
    pub(super) at: usize,
    /// Batches that come after it, none of them empty, and what failed behind them.
    ahead: VecDeque<Batch>,
    failure: Option<ExecError>,
}

/// So many bytes of rows are made ahead of a block, or a batch more.
const AHEAD_BYTES: usize = 4 << 20;

/// An event that is evaluated again.
#[derive(Clone, Copy)]
struct Cut {
    /// The hits that were made into rows.
    hits: u64,
    /// What was counted of it, which will be counted again.
    counted: Stats,
}

impl Cursor {
    pub(super) fn new(block: Arc<dyn Block>, part: Part, width: usize) -> Cursor {
        let batch = Batch::new(Some(block.clone()), width);
        Cursor { batch, block, part, evaluated: 0, cut: None, at: 0, ahead: VecDeque::new(), failure: None }
    }

    /// The place in time of what comes next: of the next row, or of the next event that is not evaluated yet. None at the
    /// end.
    pub(super) fn next_order(&self, direction: Direction) -> Option<(u64, u64)> {
        let made = self.batch.order(self.at).or_else(|| self.ahead.front()?.order(0));
        if made.is_some() {
            return made;
        }
        let index = self.part.index(self.evaluated, direction)?;
        Some(order_of(&*self.block, index))
    }

    /// The next batch of rows: one that was made ahead, or else events are evaluated until it is full, or the block at its
    /// end.
    ///
    /// At most `wanted` rows are made ahead.
    pub(super) fn fill(
        &mut self,
        run: Run<'_>,
        wanted: u64,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<(), ExecError> {
        if let Some(batch) = self.ahead.pop_front() {
            self.batch = batch;
            self.at = 0;
            return Ok(());
        }
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.evaluate(run, wanted, worker, stats),
        }
    }

    /// The cursor with the rows of its block made, `wanted` of them at most, or as many as memory is for; and what was
    /// counted. A failure is told to who has asked for the rows before it.
    pub(super) fn evaluated_ahead(
        mut self,
        run: Run<'_>,
        mut wanted: u64,
        worker: &mut Worker,
    ) -> (Cursor, Stats) {
        let (mut stats, mut bytes) = (Stats::default(), 0);
        while self.evaluated < self.part.events.len() && wanted > 0 && bytes < AHEAD_BYTES {
            if let Err(failure) = self.evaluate(run, wanted, worker, &mut stats) {
                self.batch.clear();
                self.failure = Some(failure);
                break;
            }
            let empty = self.batch.successor();
            let mut made = std::mem::replace(&mut self.batch, empty);
            made.gather();
            wanted = wanted.saturating_sub(made.len() as u64);
            bytes += made.bytes();
            if made.len() > 0 {
                self.ahead.push_back(made);
            }
        }
        (self, stats)
    }

    /// Evaluates events until a batch of rows is full, or the block at its end.
    fn evaluate(
        &mut self,
        run: Run<'_>,
        wanted: u64,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<(), ExecError> {
        stats.blocks += u64::from(self.evaluated == 0 && self.cut.is_none());
        self.batch.clear();
        self.at = 0;
        let unnests = !run.events.unnest.is_empty();
        let is_slot = |cell: &Expr| matches!(cell, Expr::Slot(_));
        let is_stored = match &run.plan.output {
            Output::Rows { cells, .. } => !unnests && cells.iter().all(is_slot),
            Output::Groups(_) => false,
        };
        let mut sink = Project {
            batch: &mut self.batch,
            wanted,
            unnests,
            is_stored,
            skipped: 0,
            event: None,
            hits: 0,
            is_cut: false,
        };
        if let Some(cut) = self.cut.take() {
            sink.skipped = cut.hits;
            stats.uncount(&cut.counted);
        }
        self.evaluated = worker.scan(run, &*self.block, &self.part, self.evaluated, &mut sink, stats)?;
        if sink.is_cut {
            self.evaluated = self.evaluated.saturating_sub(1);
            self.cut = Some(Cut { hits: sink.hits, counted: stats.since(&worker.begun) });
        }
        Ok(())
    }
}

struct Project<'b> {
    batch: &'b mut Batch,
    wanted: u64,
    /// Whether an event may give several rows.
    unnests: bool,
    /// Whether rows are nothing but stored values.
    is_stored: bool,
    /// So many hits of the first event have become rows before.
    skipped: u64,
    /// The present event, if it may give several rows, and its hits up to now.
    event: Option<(u64, u64)>,
    hits: u64,
    /// Whether the last event was left before its end.
    is_cut: bool,
}

impl Sink for Project<'_> {
    fn hit<'a>(
        &mut self,
        plan: &'a Plan,
        scope: &mut Scope<'a>,
        documents: &'a [u8],
    ) -> Result<ControlFlow<()>, ExecError> {
        let (Output::Rows { cells, .. }, Some(event)) = (&plan.output, scope.event) else {
            return Ok(ControlFlow::Continue(()));
        };
        let order = (event.instant, event.arrival);
        if self.unnests {
            if self.event != Some(order) {
                (self.event, self.hits) = (Some(order), 0);
                if self.batch.is_full() {
                    self.is_cut = true;
                    return Ok(ControlFlow::Break(()));
                }
            }
            self.hits += 1;
            if self.skipped > 0 {
                self.skipped -= 1;
                return Ok(ControlFlow::Continue(()));
            }
        }
        let before = self.batch.text_len();
        for cell in cells {
            if let Expr::Slot(slot) = cell {
                self.batch.push_stored(scope.slot(*slot), documents);
                continue;
            }
            let value = cell.eval(scope);
            self.batch.push(&value, documents);
            check_row(self.batch.text_len() - before, Some(event.arrival))?;
        }
        self.batch.end_row(order);
        // An event is not left for a small batch, since what is left is evaluated again.
        let is_full = if self.unnests { self.batch.is_overfull() } else { self.batch.has_much_text() };
        if !is_full && (self.batch.len() as u64) < self.wanted {
            return Ok(ControlFlow::Continue(()));
        }
        self.is_cut = self.unnests;
        Ok(ControlFlow::Break(()))
    }

    fn take(&mut self, plan: &Plan, found: &Found<'_>) -> Result<Option<ControlFlow<()>>, ExecError> {
        let Output::Rows { cells, .. } = &plan.output else { return Ok(None) };
        if !self.is_stored {
            return Ok(None);
        }
        for cell in cells {
            if let Expr::Slot(slot) = cell {
                self.batch.push_place(found.place(*slot));
            }
        }
        self.batch.end_row(found.order);
        let is_enough = self.batch.len() as u64 >= self.wanted;
        Ok(Some(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }))
    }

    fn is_full(&self) -> bool {
        self.batch.is_full()
    }
}

/// A row's computed cells together are limited as one value is.
pub(super) fn check_row(bytes: usize, arrival: Option<u64>) -> Result<(), ExecError> {
    if bytes <= VALUE_BYTES_MAX {
        Ok(())
    } else {
        Err(ExecError::ValueTooLarge { limit_bytes: VALUE_BYTES_MAX, by: "select", arrival })
    }
}

/// Makes `batch` hold one row of `values`.
pub(super) fn single<'v>(
    batch: &mut Batch,
    values: impl Iterator<Item = &'v Value<'static>>,
) -> Result<(), ExecError> {
    batch.clear();
    for value in values {
        batch.push(value, &[]);
        check_row(batch.text_len(), None)?;
    }
    batch.end_row((0, 0));
    Ok(())
}
