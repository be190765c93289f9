//! What a query reads: a snapshot of the store, as groups of blocks.

use std::sync::Arc;

use tamias_query::{Block, Source, SourceError};
use tamias_store::Groups;

/// The blocks of a snapshot, group by group.
pub(crate) struct SnapshotSource(pub(crate) Groups);

impl Source for SnapshotSource {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        let Some(group) = self.0.next().transpose()? else { return Ok(None) };
        Ok(Some(group.into_iter().map(|block| Arc::new(StoredBlock(block)) as Arc<dyn Block>).collect()))
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
