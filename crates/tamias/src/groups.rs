//! The groups of blocks that a query reads of a snapshot, in their order.

use std::sync::Arc;

use tamias_query::SourceError;
use tamias_store::Groups;

use crate::blocks::{SharedBlock, StoredColumns, Uses, share};
use crate::column_cache::Turn;
use crate::{LeftOut, ReadError};

/// Blocks whose times overlap.
pub(crate) type Group = Vec<SharedBlock>;

/// Reads one group after another.
pub(crate) struct GroupReader {
    groups: Groups,
    turn: Turn,
    left_out: Option<LeftOut>,
    uses: Arc<Uses>,
}

impl GroupReader {
    pub(crate) fn new(groups: Groups, turn: Turn) -> GroupReader {
        GroupReader { groups, turn, left_out: None, uses: Arc::default() }
    }

    /// The same without the damaged blocks, which `left_out` will tell of.
    pub(crate) fn past_damage(self, left_out: LeftOut) -> GroupReader {
        GroupReader { groups: self.groups.skip_damaged(), left_out: Some(left_out), ..self }
    }

    /// Whether it goes past damage.
    pub(crate) fn goes_past_damage(&self) -> bool {
        self.left_out.is_some()
    }

    /// Asks the medium for what is read first of each segment together with its index.
    pub(crate) fn expect_first(&mut self) {
        self.groups.expect_first();
    }

    /// Whether a segment was opened so that had to be waited for.
    pub(crate) fn has_waited(&self) -> bool {
        self.groups.has_waited()
    }

    /// What the query has used so far.
    pub(crate) fn uses(&self) -> &Uses {
        &self.uses
    }

    /// The next group; `None` after the last.
    pub(crate) fn read(&mut self) -> Result<Option<Group>, SourceError> {
        let told = self.groups.left_out().len();
        let group = self.groups.next().transpose().map_err(ReadError::of_store)?;
        let GroupReader { groups, turn, left_out, uses } = self;
        if let Some(left_out) = left_out {
            groups.left_out().iter().skip(told).for_each(|damage| left_out.add(damage.clone()));
        }
        let shared = |block| share(block, turn, left_out.as_ref(), uses);
        Ok(group.map(|blocks| blocks.into_iter().map(shared).collect()))
    }
}

/// Of more blocks of a group the directories would take much memory at once.
const BLOCKS_AHEAD_MAX: usize = 16;

/// The first blocks of a group that are in columns: those that are read ahead.
pub(crate) fn in_columns(group: &[SharedBlock]) -> impl Iterator<Item = &Arc<StoredColumns>> {
    group.iter().filter_map(|(_, columns)| columns.as_ref()).take(BLOCKS_AHEAD_MAX)
}
