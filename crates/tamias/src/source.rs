//! What a query reads: a snapshot of the store, as groups of blocks.

use std::sync::Arc;

use tamias_query::{Block, Source, SourceError};
use tamias_store::Groups;

use crate::{LeftOut, ReadError};

/// The blocks of a snapshot, group by group.
pub(crate) struct SnapshotSource {
    groups: Groups,
    left_out: Option<LeftOut>,
}

impl SnapshotSource {
    /// Blocks that fail where one is damaged.
    pub(crate) fn whole(groups: Groups) -> SnapshotSource {
        SnapshotSource { groups, left_out: None }
    }

    /// Blocks without the damaged ones, which `left_out` will tell of.
    pub(crate) fn past_damage(groups: Groups, left_out: LeftOut) -> SnapshotSource {
        SnapshotSource { groups: groups.skip_damaged(), left_out: Some(left_out) }
    }
}

impl Source for SnapshotSource {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        let group = self.groups.next().transpose().map_err(ReadError::from)?;
        if let Some(left_out) = &self.left_out {
            left_out.update(self.groups.left_out());
        }
        let share = |block| Arc::new(StoredBlock(block)) as Arc<dyn Block>;
        Ok(group.map(|blocks| blocks.into_iter().map(share).collect()))
    }
}

/// A block of the store, as the query engine sees it.
struct StoredBlock(tamias_store::Block);

impl Block for StoredBlock {
    fn documents(&self) -> &[u8] {
        self.0.documents()
    }

    fn ends(&self) -> &[[u8; 4]] {
        self.0.ends()
    }

    fn instants(&self) -> &[[u8; 8]] {
        self.0.instants()
    }

    fn arrivals(&self) -> &[[u8; 8]] {
        self.0.arrivals()
    }

    fn summary(&self) -> Option<&[u8]> {
        self.0.summary()
    }
}
