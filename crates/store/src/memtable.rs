//! The memtable: the events that are in the logs only, in memory. Few runs, each in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::run::Run;

/// The number of the last run that a memtable of this process took in.
static LAST_RUN: AtomicU64 = AtomicU64::new(0);

/// Runs that never change, so that a snapshot is a list of references.
#[derive(Debug, Default)]
pub(crate) struct Memtable {
    pub(crate) runs: Vec<Arc<Run>>,
    pub(crate) document_bytes: usize,
}

impl Memtable {
    /// Adds a run. Runs at the end are merged while the last is less than twice the new one, up to the size of a block: so an event is
    /// copied a number of times that grows with the logarithm of the block's size, and there are as few small runs.
    pub(crate) fn push(&mut self, run: Run, block_bytes: usize) {
        self.document_bytes += run.documents.len();
        let mut run = run;
        while let Some(last) = self.runs.last() {
            let (before, now) = (last.documents.len(), run.documents.len());
            if before >= now * 2 || before + now > block_bytes {
                break;
            }
            run = last.merge(&run);
            self.runs.pop();
        }
        run.number = LAST_RUN.fetch_add(1, Relaxed) + 1;
        self.runs.push(Arc::new(run));
    }

    /// Takes all of another memtable.
    pub(crate) fn extend(&mut self, other: Memtable) {
        self.document_bytes += other.document_bytes;
        self.runs.extend(other.runs);
    }
}
