//! An append-only store of opaque, timed byte strings in plain files.
//!
//! An [`Event`] is an instant and a document: bytes without a line feed. [`Store::append`] makes a batch of them durable in the
//! write-ahead log, the log for short; the memtable has them in memory. Once enough has come in, they are sealed into an immutable
//! segment, in order of time. A [`Snapshot`] hands the events out
//! as [`Block`]s, in groups that come in order of time, either way. Any number of other processes can read beside the one that writes, each through
//! a [`Reader`].
//!
//! The store knows nothing of what the documents mean. When it forms a block it asks [`Statistics`] for opaque bytes to keep with it.
//!
//! ```
//! use std::sync::Arc;
//! use tamias_store::{Direction, Event, Options, Store};
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
//! store.append(&[
//!     Event { instant: 638_525_697_610_000_000, bytes: br#"{"n":2}"# },
//!     Event { instant: 638_525_697_600_000_000, bytes: br#"{"n":1}"# },
//! ])?;
//! for group in store.snapshot().groups(0..=u64::MAX, Direction::Ascending) {
//!     for block in group? {
//!         assert_eq!(block.documents()?, b"{\"n\":1}\n{\"n\":2}\n");
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is promised, and under which assumptions about the medium, is said in `docs/reliability.md`; every byte of the files in
//! `docs/store-format.md`.

mod adopt;
mod block;
mod compaction;
mod error;
pub mod format;
mod inventory;
pub mod io;
mod log;
mod manifest;
mod memtable;
mod options;
mod quarantine;
mod reader;
mod recovery;
mod removal;
mod repair;
mod retire;
mod run;
mod sealing;
mod segment;
mod snapshot;
mod store;
mod upkeep;
mod writer;

pub use block::Block;
pub use error::{AppendError, Damage, Failure, OpenError, Operation, ReadError, SealError};
pub use format::Key;
pub use inventory::{Unnamed, UnnamedKind};
pub use log::SourcePosition;
pub use options::{Durability, FlushStats, Options, ReadMode};
pub use reader::Reader;
pub use recovery::Leftover;
pub use removal::{Removed, Retention};
pub use repair::{Rebuilt, RegainedFile, Repair, RepairedFile};
pub use snapshot::{Direction, Groups, SegmentInfo, Snapshot};
pub use store::Store;

/// An event as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// When it happened: ticks of 100 ns since 0001-01-01T00:00:00Z. Any value is accepted.
    pub instant: u64,
    /// The document: at least one byte, none of them a line feed.
    pub bytes: &'a [u8],
}

/// Says what a block holds, in bytes that the store keeps and does not look into.
pub trait Statistics: Send + Sync {
    /// Appends the statistics of a block. `documents` are the documents, each ended by a line feed; `ends` are the offsets of these line
    /// feeds. They have at most 16 MiB: of longer ones nothing is kept.
    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>);
}

/// No statistics.
impl Statistics for () {
    fn collect(&self, _: &[u8], _: &[u32], _: &mut Vec<u8>) {}
}
