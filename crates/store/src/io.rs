//! The one door to the medium: every byte that the store reads or writes goes through these two traits.
//!
//! [`Disk`] is a folder of a real file system, [`Simulated`] one in memory that can fail any call and can be asked
//! what a crash would leave behind. Names hold no separators; the one folder within a store's is a directory of its own.

mod disk;
mod medium;
mod simulated;

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use disk::Disk;
pub use medium::{Chance, Change, Crash, Medium};
pub use simulated::{Fault, FaultKind, Simulated};

/// A folder that holds one store.
pub trait Directory: Send + Sync + Debug {
    /// The names in the folder, in no particular order; names that are not Unicode are left out.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Creates a file for reading and writing; one that exists under this name is emptied.
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>>;
    /// Opens a file for reading.
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>>;
    /// Whether a file of this name exists.
    fn exists(&self, name: &str) -> io::Result<bool>;
    /// Renames a file; one that exists under the new name is replaced in the same step.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renamings and removals durable.
    fn flush(&self) -> io::Result<()>;
    /// Locks a file until the returned value is dropped or the process ends; `None` if another holder excludes it.
    /// An exclusive lock creates the file where it is missing.
    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>>;
    /// The folder of this name within this one, created where it is missing: it is durable once this one is flushed.
    fn folder(&self, name: &str) -> io::Result<Arc<dyn Directory>>;
    /// Where a file lies, for messages.
    fn path(&self, name: &str) -> PathBuf;
}

/// Whether a lock excludes all others or only exclusive ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// One holder.
    Exclusive,
    /// Any number of holders.
    Shared,
}

/// A held lock, given back by dropping it.
pub trait Lock: Send + Sync + Debug {}

/// An open file. Writes may be short, as the operating system's are: use [`write_all_at`].
pub trait File: Send + Sync + Debug {
    /// The length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Reads at `offset` and returns how many bytes were read; 0 at the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes at `offset` and returns how many bytes were written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts or grows the file.
    fn set_length(&self, length: u64) -> io::Result<()>;
    /// Makes contents and length durable.
    fn flush(&self) -> io::Result<()>;
    /// The first `length` bytes as memory, mapped where that is possible.
    fn map(&self, length: u64) -> io::Result<Mapping>;
}

/// Bytes of a file as a slice.
pub type Mapping = Box<dyn AsRef<[u8]> + Send + Sync>;

/// Writes all bytes, going on after short and interrupted writes.
pub fn write_all_at(file: &dyn File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(offset, bytes) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::WriteZero, "the file takes no more bytes")),
            Ok(written) => {
                offset += written as u64;
                bytes = bytes.get(written..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Fills the buffer as far as the file goes, and returns how far that was.
pub fn read_full_at(file: &dyn File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(offset + filled as u64, rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
