//! What a thread keeps from block to block, and what it learns of a block before it reads it.

use super::block_scan::Part;
use super::buffers::Buffers;
use super::columns::ColumnPlan;
use super::first_rows::FirstRows;
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::Spare;
use crate::outputs::outputs;
use crate::plan::{Input, Output as PlanOutput, Plan};
use crate::pushdown::{FIRST_WINDOW_EVENTS, Finder, Pruner, Verdict};
use crate::source::{Block, Interest};
use crate::statistics::Statistics;
use crate::stats::Stats;
use crate::watch::Watch;
use std::sync::Arc;
use tamias_json::Offsets;

/// What a thread keeps from one block to the next.
pub(crate) struct Worker {
    pub(super) offsets: Offsets,
    pub(super) spare: Spare,
    pub(super) now: u64,
    pub(super) finder: Option<Box<Finder>>,
    pub(super) buffers: Buffers,
    /// The most events of the next window.
    pub(super) window_events: usize,
    /// What is asked of blocks in columns; none where documents have to be looked at.
    pub(super) columns: Option<Arc<ColumnPlan>>,
    /// Of an order of which only the first rows are wanted.
    first_rows: Option<FirstRows>,
    /// How many parts it has made.
    parts: u64,
    /// The part that the finder has begun with.
    pub(super) begun: Option<u64>,
    /// None where nothing shall be concluded.
    pub(crate) pruner: Option<Pruner>,
    watch: Arc<Watch>,
}

/// What is known of a block before a document is read.
pub(crate) struct Pruned<'b> {
    /// The events that may pass.
    pub(crate) part: Part,
    /// Whether all events of the block surely pass.
    pub(crate) all_pass: bool,
    /// None where they tell of deleted events too.
    pub(crate) statistics: Option<Statistics<'b>>,
}

impl Worker {
    /// A worker that, unless it shall go the plain way, concludes from what is known of blocks, and searches, if there is something
    /// to search for.
    pub(crate) fn new(plan: &Plan, control: &Control) -> Worker {
        let columns = match &plan.input {
            Input::Events(events) if !control.options.plain => ColumnPlan::of(plan, events, &outputs(plan)),
            Input::Events(_) | Input::Nothing => None,
        };
        Worker::with(plan, control, columns.map(Arc::new))
    }

    /// A worker of another thread, which evaluates blocks of the same query: of an order of which only the first rows are wanted both know what either has found.
    pub(crate) fn with(plan: &Plan, control: &Control, columns: Option<Arc<ColumnPlan>>) -> Worker {
        let (now, is_plain) = (control.now, control.options.plain);
        let pushdown = plan.pushdown.as_ref().filter(|_| !is_plain);
        let first_rows = match (&plan.input, &columns) {
            (Input::Events(events), Some(columns)) => FirstRows::of(plan, events, columns),
            _ => None,
        };
        Worker {
            columns,
            first_rows,
            offsets: Offsets::new(),
            spare: Spare::default(),
            now,
            finder: pushdown.and_then(Finder::new).map(Box::new),
            buffers: Buffers::default(),
            window_events: FIRST_WINDOW_EVENTS,
            parts: 0,
            begun: None,
            pruner: pushdown.map(|pushdown| Pruner::new(pushdown, now, &control.interrupt)),
            watch: control.watch.clone(),
        }
    }

    /// What is asked of blocks in columns.
    pub(crate) fn columns(&self) -> Option<Arc<ColumnPlan>> {
        self.columns.clone()
    }

    /// What is read of blocks.
    pub(crate) fn interest(&self, plan: &Plan, control: &Control) -> Interest {
        let columns = self.columns.as_ref();
        let paths = columns.map(|columns| columns.paths_ahead(plan)).unwrap_or_default();
        let reads_times = columns.is_some_and(|columns| columns.reads_times());
        let pushdown = plan.pushdown.as_ref().filter(|_| self.pruner.is_some());
        let mut pruner = pushdown.map(|pushdown| Pruner::new(pushdown, self.now, &control.interrupt));
        let reads_statistics = pruner.as_ref().is_some_and(Pruner::names_keys);
        let may_pass = move |block: &dyn Block| {
            let Some(pruner) = &mut pruner else { return true };
            let statistics = if reads_statistics { Statistics::with_deleted(block) } else { None };
            pruner.of(block, statistics.as_ref()).is_ok_and(|verdict| verdict.passes != Some(false))
        };
        let (reads_documents, may_pass) = (columns.is_none(), Box::new(may_pass));
        let reads_all = match &plan.output {
            PlanOutput::Groups(_) => true,
            PlanOutput::Rows { sort, .. } => !sort.is_empty() || plan.limit.is_none(),
        };
        Interest { paths, reads_times, reads_statistics, reads_documents, reads_all, may_pass }
    }

    /// Whether none of a block's events is wanted, since as many others that were found come before all of them.
    pub(crate) fn wants_none_of(&self, block: &dyn Block) -> bool {
        self.first_rows.as_ref().is_some_and(|first| first.come_before(block))
    }

    /// Which events of a block may pass.
    ///
    /// # Errors
    /// If the block's times are needed and cannot be read.
    pub(crate) fn prune<'b>(
        &mut self,
        block: &'b dyn Block,
        stats: &mut Stats,
    ) -> Result<Pruned<'b>, ExecError> {
        let count = block.len();
        self.parts += 1;
        let number = self.parts;
        let Some(pruner) = &mut self.pruner else {
            self.watch.look(block, None);
            return Ok(Pruned { part: Part::unsettled(0..count, number), all_pass: false, statistics: None });
        };
        // Where no key is named they tell nothing, and need not be read.
        let known = if pruner.names_keys() { Statistics::with_deleted(block) } else { None };
        self.watch.look(block, known.as_ref());
        let Verdict { events, passes, settled } = pruner.of(block, known.as_ref())?;
        let statistics = known.filter(|known| !known.tell_deleted());
        if passes == Some(false) {
            stats.blocks_skipped += 1;
            stats.events_skipped += count as u64;
            return Ok(Pruned { part: Part::unsettled(0..0, number), all_pass: false, statistics });
        }
        stats.events_skipped += (count - events.len()) as u64;
        let all_pass = passes == Some(true) && events.len() == count;
        Ok(Pruned { part: Part { events, number, settled, is_alone: false }, all_pass, statistics })
    }
}
