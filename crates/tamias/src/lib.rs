//! Tamias is an embedded event store with its own query engine.
//!
//! A program writes its structured log events, JSON objects with a time, to a [`Store`], which is a folder of plain files. Once
//! [`append`](Store::append) has returned, its events survive crashes and power loss. Queries run directly on the stored
//! documents, in time order:
//!
//! ```
//! use tamias::Store;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?; // yours would be a path such as "logs"
//!     let store = Store::open(folder.path())?;
//!
//!     store.append([
//!         r#"{"@t":"2024-05-29T10:56:01.1Z","Message":"GET /api/customers","Elapsed":203.5}"#,
//!         r#"{"@t":"2024-05-29T10:56:01.7Z","Message":"GET /favicon.ico","Elapsed":4}"#,
//!     ])?;
//!
//!     let mut rows = store.query("select Message, Elapsed from stream where Elapsed > 200")?;
//!     while let Some(row) = rows.next_row()? {
//!         let message = row.get(0).and_then(|cell| cell.text().map(|text| text.into_owned()));
//!         assert_eq!(message.as_deref(), Some("GET /api/customers"));
//!     }
//!     Ok(())
//! }
//! ```
//!
//! - Use a [`Batch`] for lines of other people's files: it reports what is wrong with each bad line. [`EventFormat`] says
//!   where their time is.
//! - Reading from a file or a queue can continue after a crash where it stopped: see
//!   [`append_batch_from`](Store::append_batch_from).
//! - Each event has an [`EventId`], by which you find it and its neighbours; [`page`](Store::page) returns all events page by page.
//! - Queries that must see the same events, whatever is stored meanwhile, run on one [`Snapshot`].
//! - [`Store`] and [`Query`] are `Send`, `Sync` and cheap to clone; [`Rows`] are `Send`. Any number of threads may
//!   append and query at once, and other processes may [read](Store::open_read_only) while one writes.
//! - Under a file size limit (`ulimit -f`) the system kills a process that reaches it with `SIGXFSZ`. A program that may run
//!   under such a limit should ignore that signal, for instance with the crate `signal-hook`; an append then fails as on a full disk.
//! - A program that logs through `tracing` stores its log with the crate `tamias-tracing` of the same repository.
//! - `docs/query-language.md` in the repository describes the language.

mod blocks;
mod codec;
mod column_cache;
mod damage;
mod deep;
mod deletion;
mod event;
mod gathered;
mod groups;
mod housekeeping;
mod import;
mod ingest;
mod keys;
mod merge;
mod read_ahead;
mod request;
mod snapshot;
mod source;
mod store;
mod time_format;
mod time_key;
mod upkeep;

pub use damage::{Damage, LeftOut, ReadError, RegainedFile, Repair, RepairedFile};
pub use deep::Contradiction;
pub use deletion::{DeleteError, delete_in_rounds};
pub use event::{Continuation, EventId, IdError, Page, Start, StoredEvent};
pub use housekeeping::{HistoryEntry, Housekeeping};
pub use import::{Import, ImportError, LINE_ID_BYTES, push_line};
pub use ingest::{Batch, EventFormat, Rejection};
pub use keys::{Key, Keys};
pub use merge::MergeError;
pub use request::{Reply, Request};
pub use rust_decimal::Decimal;
pub use snapshot::{Info, Segment, Snapshot};
pub use store::{AppendError, Appended, COLUMN_CACHE_BYTES, StartError, Store};
pub use tamias_json::validate::{Reason, ValidateError};
pub use tamias_query::{
    AggregateKinds, CancelHandle, Cell, Compared, EvalError, ExecError, Expression, Held, Instant,
    InstantError, Kind, KindCounts, KindReport, OwnedRow, Parameters, PathKinds, QUERY_BYTES_MAX, Query,
    QueryError, Row, RowBatch, Rows, RunOptions, SourceError, Span, Statement, Stats, Technique, TypedColumn,
    TypedValue, UnixUnit, UnknownZone, Warning, Word, closest, eval, vocabulary,
};
pub use tamias_store::AppendError as StoreError;
pub use tamias_store::DeleteError as StoreDeleteError;
pub use tamias_store::{
    Backup, BackupError, Cause, DELETED_MAX, Deleted, Durability, Erased, Failure, Layout, LeftFile,
    Leftover, OpenError, Operation, Options, ReadMode, Rebuilt, Receipt, ReceiptCheck, RequestError,
    RequestProgress, Scrub, Settings, SourcePosition, Stays, StrayText, Traffic, Unnamed, UnnamedKind, Usage,
    WhenFull,
};
pub use time_format::{TimeError, TimeFormat, TimeFormatError};
pub use time_key::{TimeCandidate, TimeKeys};
pub use upkeep::{Removed, Retention};

/// The README's program compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
