//! A block as columns: which of its events pass, and what an operator asks of those. Nothing above a scan knows how it finds them.

mod event;
mod text;

pub(crate) use text::{PLAIN, TextScan};

use crate::chunk::{Columns, Order};
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::Spare;
use crate::operator::Output;
use crate::plan::{Events, Plan};
use crate::pushdown::{FIRST_WINDOW_EVENTS, Finder, Pruner, Settled, Verdict};
use crate::source::{Block, Direction, event_count};
use crate::statistics::Statistics;
use crate::stats::Stats;
use std::ops::Range;
use tamias_json::Offsets;
use text::Buffers;

/// Finds the rows of a block, in the plan's direction.
pub(crate) trait BlockScan {
    /// Adds the rows of the next events that pass to columns for the scan's outputs: whether there are more events.
    ///
    /// It ends early where the columns have as many rows as are wanted, or much text, even within an event of many rows; the next call goes on
    /// behind the last row.
    ///
    /// # Errors
    /// If the events cannot be read or evaluated, or a limit of the query is exceeded.
    fn next(&mut self, columns: &mut Columns, wanted: u64, stats: &mut Stats) -> Result<bool, ExecError>;

    /// How far it is, to go on with another scan of the block later.
    fn position(&self) -> Position;
}

/// How far a block is scanned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// So many of its events are done, in the plan's direction.
    pub(crate) events: usize,
    /// Of each collection of the next event that is unnested the element to go on with; empty where that event is not begun.
    within: Vec<usize>,
}

impl Position {
    /// The end of a part.
    pub(crate) fn at_end(part: &Part) -> Position {
        Position { events: part.events.len(), within: Vec::new() }
    }

    /// Whether nothing was scanned yet.
    pub(crate) fn is_start(&self) -> bool {
        self.events == 0 && self.within.is_empty()
    }
}

/// What is run.
#[derive(Clone, Copy)]
pub(crate) struct Run<'r> {
    pub(crate) plan: &'r Plan,
    pub(crate) events: &'r Events,
    /// The columns that are wanted of each event that passes.
    pub(crate) outputs: &'r [Output],
    pub(crate) control: &'r Control,
}

/// What a thread keeps from one block to the next.
pub(crate) struct Worker {
    offsets: Offsets,
    spare: Spare,
    now: u64,
    finder: Option<Box<Finder>>,
    buffers: Buffers,
    /// The most events of the next window.
    window_events: usize,
    /// None where nothing shall be concluded.
    pub(crate) pruner: Option<Pruner>,
}

/// The events of a block that are to be scanned, by their places in it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) events: Range<usize>,
    /// What is known of all of them.
    settled: Settled,
}

impl Part {
    fn unsettled(events: Range<usize>) -> Part {
        Part { events, settled: Settled::default() }
    }

    /// The place of the `number`th of them in a direction.
    pub(crate) fn index(&self, number: usize, direction: Direction) -> Option<usize> {
        let left = self.events.len().checked_sub(number + 1)?;
        Some(self.events.start + if direction == Direction::Ascending { number } else { left })
    }
}

/// What is known of a block before a document is read.
pub(crate) struct Pruned<'b> {
    /// The events that may pass.
    pub(crate) part: Part,
    /// Whether all events of the block surely pass.
    pub(crate) all_pass: bool,
    pub(crate) statistics: Option<Statistics<'b>>,
}

impl Worker {
    /// A worker that, unless it shall go the plain way, concludes from what is known of blocks, and searches, if there is something
    /// to search for.
    pub(crate) fn new(plan: &Plan, control: &Control) -> Worker {
        let (now, is_plain) = (control.now, control.options.plain);
        let pushdown = plan.pushdown.as_ref().filter(|_| !is_plain);
        Worker {
            offsets: Offsets::new(),
            spare: Spare::default(),
            now,
            finder: pushdown.and_then(Finder::new).map(Box::new),
            buffers: Buffers::default(),
            window_events: FIRST_WINDOW_EVENTS,
            pruner: pushdown.map(|pushdown| Pruner::new(pushdown, now)),
        }
    }

    /// Which events of a block may pass.
    pub(crate) fn prune<'b>(&mut self, block: &'b dyn Block, stats: &mut Stats) -> Pruned<'b> {
        let count = event_count(block);
        let Some(pruner) = &mut self.pruner else {
            return Pruned { part: Part::unsettled(0..count), all_pass: false, statistics: None };
        };
        let statistics = Statistics::of(block);
        let Verdict { events, passes, settled } = pruner.of(block, statistics.as_ref());
        if passes == Some(false) {
            stats.blocks_skipped += 1;
            stats.events_skipped += count as u64;
            return Pruned { part: Part::unsettled(0..0), all_pass: false, statistics };
        }
        stats.events_skipped += (count - events.len()) as u64;
        let all_pass = passes == Some(true) && events.len() == count;
        Pruned { part: Part { events, settled }, all_pass, statistics }
    }
}

/// The instant and arrival number of an event.
#[inline]
pub(crate) fn order_of(block: &dyn Block, index: usize) -> Order {
    order_at(block.instants(), block.arrivals(), index)
}

#[inline]
fn order_at(instants: &[[u8; 8]], arrivals: &[[u8; 8]], index: usize) -> Order {
    let number = |numbers: &[[u8; 8]]| numbers.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes));
    (number(instants), number(arrivals))
}
