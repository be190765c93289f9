//! An append-only store of opaque, timed byte strings in plain files.
//!
//! An [`Event`] is an instant and a document: bytes without a line feed. [`Store::append`] makes a batch of events durable in the
//! write-ahead log, called the log; the memtable holds them in memory. Once there are enough, they are sealed into an immutable
//! segment, in order of time. A [`Snapshot`] returns the events
//! as [`Block`]s, in groups in ascending or descending order of time. While one process writes, any number of other processes can read, each through
//! a [`Reader`].
//!
//! The store does not interpret documents. When it forms a block it asks a [`Codec`] for opaque statistics to keep with it, and for
//! the block's columns, if [`Options::segments`] says so.
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
//!         assert_eq!(block.documents()?.bytes, b"{\"n\":1}\n{\"n\":2}\n");
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The guarantees, and the assumptions about the disk, are in `docs/reliability.md`; every byte of the files is specified in
//! `docs/store-format.md`. With the feature `simulated` the module [`io`] has a folder in memory that fails on demand, for tests.

mod adopt;
mod backup;
mod bounds;
mod codec;
mod compaction;
mod deletion;
mod error;
mod event;
mod flushing;
pub mod format;
mod history;
mod hold;
mod housekeeping;
mod import;
mod inventory;
pub mod io;
mod log;
mod manifest;
mod marks;
mod memtable;
mod named;
mod options;
mod pieces;
mod publishing;
mod quarantine;
mod reader;
mod receipt;
mod recovery;
mod removal;
mod repair;
mod replay;
mod request;
mod reserve;
mod retire;
mod run;
mod scrub;
mod sealing;
mod segment;
mod serving;
mod settings;
mod signal;
mod snapshot;
mod store;
mod upkeep;
mod writer;

pub use backup::{Backup, BackupError};
pub use codec::{
    BlockId, BlockTexts, Codec, DecodeError, Documents, NamedPart, OwnedDocuments, OwnedTimes, Parts,
    STATISTICS_PART, Stray, Times,
};
pub use deletion::{Deleted, Erased};
pub use error::{
    AppendError, Damage, DamagedPart, DeleteError, Failure, OpenError, Operation, ReadError, SealError,
    StrayText,
};
pub use event::Event;
pub use format::Key;
pub use history::{Cause, HistoryEntry, Traffic};
pub use housekeeping::Housekeeping;
pub use import::{Import, ImportError};
pub use inventory::{Unnamed, UnnamedKind, Usage};
pub use log::SourcePosition;
pub use options::{Durability, FlushStats, Layout, Options, ReadMode};
pub use pieces::Pieces;
pub use reader::Reader;
pub use receipt::{Receipt, ReceiptCheck, Stays};
pub use recovery::Leftover;
pub use removal::{Removed, Retention};
pub use repair::{LeftFile, Rebuilt, RegainedFile, Repair, RepairedFile};
pub use request::{DELETED_MAX, Reply, Request, RequestError, RequestProgress};
pub use scrub::Scrub;
pub use segment::{Block, ColumnBlock, Expected};
pub use settings::{Settings, WhenFull};
pub use snapshot::{Direction, Groups, SegmentInfo, Snapshot};
pub use store::Store;
