//! What a store asks of a medium: a folder, its files, locks and maps.

use std::fmt::Debug;
use std::fs::Permissions;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::unreadable::{ask_again, is_unreadable};

/// A folder that holds one store. Of what has a name in it only regular files are opened and locked: a symbolic link is never
/// followed, a pipe never waited for.
pub trait Directory: Send + Sync + Debug {
    /// The names in the folder, in no particular order; names that are not Unicode are left out.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Creates a file for reading and writing; an error if anything has this name.
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>>;
    /// Opens a file for reading.
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>>;
    /// Opens a file for reading and writing.
    fn open_for_writing(&self, name: &str) -> io::Result<Arc<dyn File>>;
    /// What has this name, if anything has.
    fn kind(&self, name: &str) -> io::Result<Option<NameKind>>;
    /// Renames a file; one that exists under the new name is replaced in the same step.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Gives a file a second name, which must be free. `to` may lie in a folder within this one: `folder/name`. An error of the kind
    /// [`Unsupported`](io::ErrorKind::Unsupported) where the file system has no such thing.
    fn link(&self, from: &str, to: &str) -> io::Result<()>;
    /// Where the folder is, from the root.
    fn root(&self) -> PathBuf {
        self.path("")
    }
    /// Gives a file a second name in another folder, told by its [`root`](Directory::root). An error of the kind
    /// [`Unsupported`](io::ErrorKind::Unsupported) where the two are not on one file system, or it has no such thing.
    fn link_into(&self, from: &str, root: &Path, to: &str) -> io::Result<()> {
        let _ = (from, root, to);
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Whether a file has other names, in this folder or elsewhere: then what is done to it is done to them.
    fn has_other_names(&self, name: &str) -> bool;
    /// Removes a file, or a link without what it points to.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renamings and removals durable.
    fn flush(&self) -> io::Result<()>;
    /// Locks a file until the returned value is dropped or the process ends; `None` if another holder excludes it.
    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>>;
    /// The folder of this name within this one, created where it is missing: it is durable once this one is flushed.
    fn folder(&self, name: &str) -> io::Result<Arc<dyn Directory>>;
    /// Where a file lies, for messages.
    fn path(&self, name: &str) -> PathBuf;
    /// How many bytes the medium has room for beside what is there. None where the system does not tell.
    fn free_bytes(&self) -> Option<u64> {
        None
    }
    /// Gives the files that are created from now on these permissions, so that what was private stays so.
    fn create_with(&self, permissions: Option<Permissions>);
    /// A number that the operating system has had since it was started, and has never had before: as long as it is the same no power was lost, and files read as they were written. None where the
    /// system tells no such thing.
    fn boot(&self) -> Option<u64>;
}

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// A regular file of so many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A symbolic link, a pipe, a device: nothing that a store uses.
    Other,
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
pub trait Lock: Send + Sync + Debug {
    /// Whether the file that is locked still has its name. If not, somebody else may hold a lock on another file of that name.
    fn holds(&self) -> bool;
}

/// An open file. Writes may be short, as the operating system's are: use [`write_all_at`](super::write_all_at).
pub trait File: Send + Sync + Debug {
    /// The length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Tells the system that little of the file will be read, here and there, so that it reads nothing beside what is asked for. A hint.
    fn expect_scattered_reads(&self) {}
    /// Reads at `offset` and returns how many bytes were read; 0 at the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// Fills the buffer as far as the file goes, and returns how far that was. What cannot be read is asked for again before that is an error.
    fn read_full_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match ask_again(is_unreadable, || self.read_at(offset + filled as u64, rest)) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
    /// Reads `length` bytes from `offset` on, or as many as there are, as [`read_full_at`](File::read_full_at) does.
    fn read_range(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let read = self.read_full_at(offset, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }
    /// Whether the first byte of a range is in memory, as far as the system tells without reading it.
    fn is_in_memory(&self, _offset: u64) -> bool {
        true
    }
    /// Tells the system that a range will be read soon, so that it begins to read it. A hint.
    fn expect_read(&self, _offset: u64, _length: u64) {}
    /// Writes at `offset` and returns how many bytes were written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts or grows the file.
    fn set_length(&self, length: u64) -> io::Result<()>;
    /// Makes the file at least so long, with room on the medium for each of these bytes. An error of the kind [`Unsupported`](io::ErrorKind::Unsupported)
    /// where the file system has no such thing.
    fn keep_room(&self, length: u64) -> io::Result<()> {
        let _ = length;
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Makes contents and length durable.
    fn flush(&self) -> io::Result<()>;
    /// The first `length` bytes as memory, mapped where that is possible.
    fn map(&self, length: u64) -> io::Result<Box<dyn Mapping>>;
    /// Who may do what with the file, where the system knows such a thing.
    fn permissions(&self) -> io::Result<Option<Permissions>>;
}

/// Bytes of a file as a slice.
pub trait Mapping: Send + Sync {
    /// The bytes.
    fn bytes(&self) -> &[u8];
    /// Brings a range into memory. An error where the medium does not give it, or the file was cut: to touch it would end the
    /// process by a signal. Does nothing where the system cannot tell.
    fn fetch(&self, range: Range<usize>) -> io::Result<()>;
    /// Tells the system that most of the file will be read, in order, so that it reads much at a time. A hint.
    fn expect_whole(&self) {}
    /// [Fetches](Mapping::fetch) a range again that may have left memory since. Takes a fortieth of what a scan of the range does where it has
    /// not.
    fn fetch_again(&self, range: Range<usize>) -> io::Result<()> {
        self.fetch(range)
    }
}
