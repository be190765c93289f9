//! The hits of a group of blocks, merged by (instant, arrival).

use super::project::Cursor;
use super::scan::{Run, Worker};
use super::stats::Stats;
use crate::error::ExecError;
use crate::row::Row;
use crate::source::{Direction, Source};
use std::collections::BinaryHeap;

pub(super) struct Merge {
    width: usize,
    /// The blocks of the present group.
    cursors: Vec<Cursor>,
    /// The cursors that may have rows left, but for the present one, by what comes next in each: a row, or an event that is
    /// not evaluated yet. The first in the query's direction is the greatest.
    queue: BinaryHeap<(u64, u64, usize)>,
    /// The cursor whose row is the present one.
    current: Option<usize>,
    /// That row's number in its batch.
    row: usize,
}

impl Merge {
    pub(super) fn new(width: usize) -> Merge {
        Merge { width, cursors: Vec::new(), queue: BinaryHeap::new(), current: None, row: 0 }
    }

    /// Goes on to the next row: whether there is one. At most `wanted` rows will be asked for.
    ///
    /// A block is evaluated when one of its events may come next, so that a limit reads no more than it needs, however
    /// many blocks overlap.
    pub(super) fn advance(
        &mut self,
        run: Run<'_>,
        wanted: u64,
        source: &mut dyn Source,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<bool, ExecError> {
        let mut next = self.current.take();
        // Most groups are a single block, which nothing has to be compared with.
        if self.queue.is_empty()
            && let Some(cursor) = next
            && self.take_row(cursor)
        {
            return Ok(true);
        }
        loop {
            if let Some(cursor) = next.take() {
                self.enqueue(cursor, run);
            }
            let Some((.., cursor)) = self.queue.pop() else {
                if !self.next_group(run, source, worker, stats)? {
                    return Ok(false);
                }
                continue;
            };
            if self.take_row(cursor) {
                return Ok(true);
            }
            if let Some(filled) = self.cursors.get_mut(cursor) {
                filled.fill(run, wanted, worker, stats)?;
                next = Some(cursor);
            }
        }
    }

    /// Makes the next row of a cursor the present one, if it has one made.
    fn take_row(&mut self, cursor: usize) -> bool {
        match self.cursors.get_mut(cursor) {
            Some(from) if from.at < from.batch.len() => {
                self.current = Some(cursor);
                self.row = from.at;
                from.at += 1;
                true
            }
            _ => false,
        }
    }

    fn enqueue(&mut self, cursor: usize, run: Run<'_>) {
        let direction = run.events.direction;
        if let Some((instant, arrival)) = self.cursors.get(cursor).and_then(|from| from.next_order(direction))
        {
            self.queue.push(match direction {
                Direction::Ascending => (!instant, !arrival, cursor),
                Direction::Descending => (instant, arrival, cursor),
            });
        }
    }

    /// Whether there is another group.
    fn next_group(
        &mut self,
        run: Run<'_>,
        source: &mut dyn Source,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<bool, ExecError> {
        run.control.check()?;
        let Some(blocks) = source.next_group().map_err(ExecError::Source)? else {
            return Ok(false);
        };
        self.cursors.clear();
        for block in blocks {
            let part = worker.begin(run, &*block, None, stats)?;
            if !part.events.is_empty() {
                self.cursors.push(Cursor::new(block, part, self.width));
            }
        }
        for cursor in 0..self.cursors.len() {
            self.enqueue(cursor, run);
        }
        Ok(true)
    }

    /// The present row.
    pub(super) fn row<'r>(&'r self, columns: &'r [String]) -> Option<Row<'r>> {
        self.cursors.get(self.current?)?.batch.row(columns, self.row)
    }
}
