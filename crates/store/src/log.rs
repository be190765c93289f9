//! The write-ahead log, where batches become durable: each is appended to the current log and flushed before it is acknowledged.
//!
//! A batch carries how far the log had been flushed when it was written. That tells damage from a crash: bytes that some later,
//! whole batch says were flushed must be whole too; without such a witness the log simply ends before them.

mod batch;
mod reader;
mod writer;

pub use batch::SourcePosition;
pub(crate) use batch::StoredBatch;
pub(crate) use reader::{Ending, LogReader};
pub(crate) use writer::{EncodedBatch, LogCopies, LogWriter, NewLogs};
