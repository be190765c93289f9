//! The hits of a group of blocks, merged by (instant, arrival).

use super::cursor::Cursor;
use super::read_ahead::{Coming, ReadAhead};
use crate::chunk::{Chunk, Order};
use crate::error::ExecError;
use crate::scan::{Run, Worker};
use crate::source::Direction;
use crate::stats::Stats;
use std::collections::BinaryHeap;
use std::ops::Range;

pub(crate) struct Merge {
    ahead: ReadAhead,
    /// The blocks of the present group.
    blocks: Vec<Block>,
    /// The cursors that may have rows left, but for the present one, by what comes next in each: a row, or an event that is
    /// not evaluated yet. The first in the query's direction is the greatest.
    queue: BinaryHeap<(u64, u64, usize)>,
    /// The cursor whose rows are the present ones.
    current: Option<usize>,
}

#[expect(clippy::large_enum_variant, reason = "most groups are a single block, and it is opened")]
enum Block {
    Coming(Coming),
    Open(Cursor),
}

impl Block {
    /// The place in time of what comes next; none at the end.
    fn next_order(&self, direction: Direction) -> Option<Order> {
        match self {
            Block::Coming(coming) => Some(coming.order),
            Block::Open(cursor) => cursor.next_order(direction),
        }
    }
}

impl Merge {
    pub(crate) fn new(ahead: ReadAhead) -> Merge {
        Merge { ahead, blocks: Vec::new(), queue: BinaryHeap::new(), current: None }
    }

    /// Goes on to the next rows, of those of one [chunk](Merge::chunk) that come one behind the other; none at the end. At most `wanted` rows will be asked for.
    ///
    /// A block is evaluated when one of its events may come next, so that a limit reads no more than it needs, however
    /// many blocks overlap.
    pub(crate) fn advance(
        &mut self,
        run: Run<'_>,
        wanted: u64,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<Range<usize>, ExecError> {
        let mut next = self.current.take();
        loop {
            if let Some(cursor) = next.take() {
                self.enqueue(cursor, run);
            }
            let Some((.., cursor)) = self.queue.pop() else {
                if !self.next_group(run, worker, stats)? {
                    return Ok(0..0);
                }
                continue;
            };
            let rows = self.take_rows(cursor, wanted);
            if !rows.is_empty() {
                return Ok(rows);
            }
            match self.blocks.get_mut(cursor) {
                Some(Block::Open(open)) => open.fill(run, wanted, worker, stats)?,
                Some(block) => {
                    let Block::Coming(coming) = block else { continue };
                    let Some(opened) = self.ahead.open(coming, run, wanted, worker, stats)? else { continue };
                    *block = Block::Open(opened);
                }
                None => continue,
            }
            next = Some(cursor);
        }
    }

    /// Makes the next rows of a cursor the present ones, if it has some made.
    fn take_rows(&mut self, cursor: usize, wanted: u64) -> Range<usize> {
        let Some(Block::Open(from)) = self.blocks.get_mut(cursor) else { return 0..0 };
        // Most groups are a single block, which nothing has to be compared with.
        let most = if self.queue.is_empty() { usize::try_from(wanted).unwrap_or(usize::MAX) } else { 1 };
        let rows = from.next_rows(most);
        if !rows.is_empty() {
            self.current = Some(cursor);
        }
        rows
    }

    fn enqueue(&mut self, cursor: usize, run: Run<'_>) {
        let direction = run.events.direction;
        if let Some((instant, arrival)) = self.blocks.get(cursor).and_then(|from| from.next_order(direction))
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
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<bool, ExecError> {
        let Some(blocks) = self.ahead.next_group(run, worker, stats)? else {
            return Ok(false);
        };
        self.blocks = blocks.into_iter().map(Block::Coming).collect();
        for cursor in 0..self.blocks.len() {
            self.enqueue(cursor, run);
        }
        Ok(true)
    }

    /// The chunk of the present rows.
    #[inline]
    pub(crate) fn chunk(&self) -> Option<Chunk<'_>> {
        match self.blocks.get(self.current?)? {
            Block::Open(cursor) => Some(cursor.chunk()),
            Block::Coming(_) => None,
        }
    }
}
