//! What a query reads: a snapshot of the store, as groups of blocks.

use std::sync::Arc;

use tamias_query::{Block, Documents, Source, SourceError, Times};
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
        let told = self.groups.left_out().len();
        let group = self.groups.next().transpose().map_err(ReadError::of_store)?;
        if let Some(left_out) = &self.left_out {
            self.groups.left_out().iter().skip(told).for_each(|damage| left_out.add(damage.clone()));
        }
        let share =
            |block| Arc::new(StoredBlock { block, left_out: self.left_out.clone() }) as Arc<dyn Block>;
        Ok(group.map(|blocks| blocks.into_iter().map(share).collect()))
    }
}

/// What sealed blocks say of themselves is for the query engine to tell.
pub(crate) struct BlockStatistics;

impl tamias_store::Statistics for BlockStatistics {
    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>) {
        tamias_query::collect_statistics(documents, ends, statistics);
    }
}

/// A block of the store, as the query engine sees it.
struct StoredBlock {
    block: tamias_store::Block,
    /// Takes the damage that the query goes past; it fails where there is none to take it.
    left_out: Option<LeftOut>,
}

impl Block for StoredBlock {
    fn len(&self) -> usize {
        self.block.len()
    }

    fn range(&self) -> ((u64, u64), (u64, u64)) {
        let order = |index| self.block.key(index).map_or((0, 0), |key| (key.instant, key.arrival));
        (order(0), order(self.block.len().saturating_sub(1)))
    }

    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        Ok(Some(Times { instants: self.block.instants(), arrivals: self.block.arrivals() }))
    }

    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError> {
        match (self.block.documents(), &self.left_out) {
            (Err(tamias_store::ReadError::Damaged(damage)), Some(left_out)) => {
                left_out.add(damage);
                Ok(None)
            }
            (documents, _) => {
                let bytes = documents.map_err(ReadError::of_store)?;
                Ok(Some(Documents { bytes, ends: self.block.ends() }))
            }
        }
    }

    fn statistics(&self) -> Option<&[u8]> {
        self.block.statistics()
    }
}
