//! The one door to the medium: every byte that the store reads or writes goes through these two traits.
//!
//! [`Disk`] is a folder of a real file system. With the feature `simulated` there is `Simulated` as well, a folder in memory, for tests:
//! it can fail any call, and tells what a loss of power would leave behind. Names hold no separators; the one folder within a store's is a directory of its own.

mod disk;
#[cfg(any(test, feature = "simulated"))]
mod fault;
mod folder;
#[cfg(any(test, feature = "simulated"))]
mod medium;
#[cfg(any(test, feature = "simulated"))]
mod simulated;
mod unreadable;
mod whole;

pub use disk::Disk;
#[cfg(any(test, feature = "simulated"))]
pub use fault::{Fault, FaultKind};
pub use folder::{Directory, File, Lock, LockKind, Mapping, NameKind};
#[cfg(any(test, feature = "simulated"))]
pub use medium::{Chance, Change, Crash, Medium};
#[cfg(any(test, feature = "simulated"))]
pub use simulated::Simulated;
pub(crate) use unreadable::ask_again;
pub use unreadable::is_unreadable;
pub use whole::{begins_alike, copy_range, read_past, write_all_at};
