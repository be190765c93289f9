//! A block on its way to become rows, a batch at a time.

use crate::chunk::{Chunk, Columns, Order};
use crate::error::ExecError;
use crate::scan::{self, Part, Position, Run, Worker};
use crate::source::{Block, Direction};
use crate::stats::Stats;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Some rows of a block.
struct Batch {
    /// None where the rows have nothing of its documents.
    block: Option<Arc<dyn Block>>,
    columns: Columns,
}

pub(super) struct Cursor {
    block: Arc<dyn Block>,
    /// The events that may pass, and how far they are scanned.
    part: Part,
    position: Position,
    batch: Batch,
    /// The next row of the batch.
    at: usize,
    /// Batches that come after it, none of them empty, and what failed behind them.
    ahead: VecDeque<Batch>,
    failure: Option<ExecError>,
}

impl Cursor {
    pub(super) fn new(block: Arc<dyn Block>, part: Part, width: usize) -> Cursor {
        let batch = Batch { block: Some(block.clone()), columns: Columns::of_values(width) };
        Cursor {
            batch,
            block,
            part,
            position: Position::default(),
            at: 0,
            ahead: VecDeque::new(),
            failure: None,
        }
    }

    /// The place in time of what comes next: of the next row, or of the next event that is not evaluated yet, which comes no earlier. None at
    /// the end.
    pub(super) fn next_order(&self, direction: Direction) -> Option<Order> {
        let made = self.batch.columns.order(self.at).or_else(|| self.ahead.front()?.columns.order(0));
        if made.is_some() {
            return made;
        }
        let index = self.part.index(self.position.events, direction)?;
        // What the period cuts has had its times read.
        let (first, last) = self.block.range();
        let (begins, end) = match direction {
            Direction::Ascending => (first, 0),
            Direction::Descending => (last, self.block.len().saturating_sub(1)),
        };
        // The range may be wider than the events are: it tells where they begin, never where one of them stands.
        match index == end {
            true => Some(begins),
            false => Some(self.block.times().ok().flatten().map_or(begins, |times| times.order(index))),
        }
    }

    /// The next rows of the batch that are made, so many at most: the cursor goes on to the one behind them.
    pub(super) fn next_rows(&mut self, most: usize) -> Range<usize> {
        let rows = self.at..self.batch.columns.len().min(self.at.saturating_add(most));
        self.at = rows.end;
        rows
    }

    /// The rows of the batch.
    #[inline]
    pub(super) fn chunk(&self) -> Chunk<'_> {
        // The documents were given when the rows were made.
        let documents = self.batch.block.as_ref().and_then(|block| block.documents().ok().flatten());
        Chunk::new(&self.batch.columns, documents.unwrap_or_default().bytes)
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

    /// The cursor with the rows of its block made, `wanted` of them and so many bytes at most, or a batch more; and what was
    /// counted. A failure is told to who has asked for the rows before it.
    pub(super) fn evaluated_ahead(
        mut self,
        run: Run<'_>,
        mut wanted: u64,
        most_bytes: usize,
        worker: &mut Worker,
    ) -> (Cursor, Stats) {
        let (mut stats, mut bytes) = (Stats::default(), 0);
        while self.position.events < self.part.events.len() && wanted > 0 && bytes < most_bytes {
            if let Err(failure) = self.evaluate(run, wanted, worker, &mut stats) {
                self.batch.columns.clear();
                self.failure = Some(failure);
                break;
            }
            let empty = Batch { block: Some(self.block.clone()), columns: self.batch.columns.successor() };
            let mut made = std::mem::replace(&mut self.batch, empty);
            if made.block.is_some()
                && let Ok(Some(documents)) = self.block.documents()
                && made.columns.gather(documents.bytes)
            {
                made.block = None;
            }
            wanted = wanted.saturating_sub(made.columns.len() as u64);
            bytes += made.columns.bytes();
            if made.columns.len() > 0 {
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
        let columns = &mut self.batch.columns;
        columns.clear();
        self.at = 0;
        // Rows that are not made need no documents.
        self.batch.block = None;
        // Of a block that was evaluated ahead there may be no rows.
        if self.position.events >= self.part.events.len() {
            return Ok(());
        }
        if self.position.is_start() {
            if worker.wants_none_of(&*self.block) {
                stats.blocks_skipped += 1;
                stats.events_skipped += self.part.events.len() as u64;
                self.position = Position::at_end(&self.part);
                return Ok(());
            }
            stats.blocks += 1;
        }
        let position = std::mem::take(&mut self.position);
        let Some(mut scan) = scan::open(run, worker, &*self.block, &self.part, None, position)? else {
            self.position = Position::at_end(&self.part);
            return Ok(());
        };
        while scan.next(columns, wanted, stats)? && !columns.is_full() && (columns.len() as u64) < wanted {}
        self.position = scan.position();
        let has_documents = scan.documents().is_some();
        drop(scan);
        self.batch.block = has_documents.then(|| self.block.clone());
        Ok(())
    }
}
