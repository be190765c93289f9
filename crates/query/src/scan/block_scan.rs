//! What a scan of a block is: its trait, what it is given, and how far it is.

use super::columns::Found;
use crate::chunk::Columns;
use crate::control::Control;
use crate::error::ExecError;
use crate::outputs::Output;
use crate::plan::{Events, Plan};
use crate::pushdown::Settled;
use crate::source::Direction;
use crate::stats::Stats;
use std::ops::Range;
use std::sync::Arc;

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

    /// The documents that cells point into; none where cells have nothing of them.
    fn documents(&self) -> Option<&[u8]>;

    /// How far it is, to go on with another scan of the block later.
    fn position(&self) -> Position;
}

/// How far a block is scanned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// So many of its events are done, in the plan's direction.
    pub(crate) events: usize,
    /// What was found in its columns, and how many of those rows were given.
    pub(super) found: Option<Arc<Found>>,
    pub(super) rows: usize,
    /// Of each collection of the next event that is unnested the element to go on with; empty where that event is not begun.
    pub(super) within: Vec<usize>,
}

impl Position {
    /// The end of a part.
    pub(crate) fn at_end(part: &Part) -> Position {
        Position { events: part.events.len(), ..Position::default() }
    }

    /// Whether nothing was scanned yet.
    pub(crate) fn is_start(&self) -> bool {
        self.events == 0 && self.within.is_empty() && self.rows == 0
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

/// The events of a block that are to be scanned, by their places in it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) events: Range<usize>,
    /// Tells it from the other parts that its worker made.
    pub(super) number: u64,
    /// What is known of all of them.
    pub(super) settled: Settled,
    /// Whether no other block has events between those of the block.
    pub(crate) is_alone: bool,
}

impl Part {
    pub(super) fn unsettled(events: Range<usize>, number: u64) -> Part {
        Part { events, number, settled: Settled::default(), is_alone: false }
    }

    /// The place of the `number`th of them in a direction.
    pub(crate) fn index(&self, number: usize, direction: Direction) -> Option<usize> {
        let left = self.events.len().checked_sub(number + 1)?;
        Some(self.events.start + if direction == Direction::Ascending { number } else { left })
    }
}
