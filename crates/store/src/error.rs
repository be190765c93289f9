//! The errors of the store, one type per operation. Every message says what is wrong, where, and what to do.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::format::Key;
use crate::io::{Directory, is_unreadable};

/// What the store was doing with a file when the operating system reported an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each name says it")]
pub enum Operation {
    Open,
    Create,
    Read,
    Decode,
    Map,
    Write,
    Cut,
    Flush,
    FlushFolder,
    Rename,
    Remove,
    List,
    Lock,
    KeepLock,
    CreateFolder,
    StartThread,
}

impl Operation {
    fn verb(self) -> &'static str {
        match self {
            Operation::Open => "open",
            Operation::Create => "create",
            Operation::Read => "read",
            Operation::Decode => "decode",
            Operation::Map => "map",
            Operation::Write => "write",
            Operation::Cut => "cut",
            Operation::Flush => "flush",
            Operation::FlushFolder => "flush the folder of",
            Operation::Rename => "rename",
            Operation::Remove => "remove",
            Operation::List => "list",
            Operation::Lock => "lock",
            Operation::KeepLock => "keep the lock on",
            Operation::CreateFolder => "create the folder",
            Operation::StartThread => "start a thread for",
        }
    }
}

/// A call to the operating system that failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot {} {}: {source}", .operation.verb(), .path.display())]
pub struct Failure {
    /// The file or folder.
    pub path: PathBuf,
    /// The operation that failed.
    pub operation: Operation,
    /// The error of the operating system.
    pub source: Arc<io::Error>,
}

impl Failure {
    /// For `map_err`: the failure of this operation on a file of the folder.
    pub(crate) fn during(
        directory: &dyn Directory,
        name: &str,
        operation: Operation,
    ) -> impl FnOnce(io::Error) -> Failure + use<> {
        let path = directory.path(name);
        move |source| Failure { path, operation, source: Arc::new(source) }
    }

    /// Whether nobody can tell any more what a crash would leave: the writer must stop.
    pub(crate) fn is_final(&self) -> bool {
        matches!(
            self.operation,
            Operation::Flush
                | Operation::FlushFolder
                | Operation::Rename
                | Operation::Cut
                | Operation::KeepLock
        )
    }

    /// Whether the medium did not give the bytes back: then they are damaged.
    pub(crate) fn is_unreadable(&self) -> bool {
        matches!(self.operation, Operation::Open | Operation::Read | Operation::Map)
            && is_unreadable(&self.source)
    }

    /// Whether a file or folder cannot be looked into, now and the next time: the medium does not give it back, or the system forbids it.
    pub(crate) fn is_refused(&self) -> bool {
        is_unreadable(&self.source) || self.source.kind() == io::ErrorKind::PermissionDenied
    }

    /// Whether a file is not there; a folder that is not is another matter.
    pub(crate) fn is_missing_file(&self) -> bool {
        self.operation != Operation::List && self.source.kind() == io::ErrorKind::NotFound
    }

    /// Whether something else has the name of a folder of the store.
    pub(crate) fn is_no_folder(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotADirectory
    }

    /// Whether what has the name is no regular file.
    pub(crate) fn is_irregular(&self) -> bool {
        self.source.kind() == io::ErrorKind::InvalidInput
    }

    /// Whether the disk is full, or the user's quota is used up.
    pub fn is_lack_of_room(&self) -> bool {
        let kind = self.source.kind();
        matches!(
            kind,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    }

    /// Whether it would help if the store took less: the limit of a single file's length stays where it is.
    pub(crate) fn is_full_medium(&self) -> bool {
        self.is_lack_of_room() && self.source.kind() != io::ErrorKind::FileTooLarge
    }
}

/// Nothing where a file cannot be looked into, now and the next time. What may pass stays an error: nothing is to be concluded from it.
pub(crate) fn unless_refused<T>(looked: Result<Option<T>, Failure>) -> Result<Option<T>, Failure> {
    match looked {
        Err(failure) if failure.is_refused() => Ok(None),
        looked => looked,
    }
}

/// A damaged part of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The range of its bytes that cannot be used.
    pub bytes: Range<u64>,
    /// The damaged part, for a block in columns.
    pub part: Option<Box<DamagedPart>>,
    /// The first and the last event lost. `None` if unknown: the events may be of any time.
    pub keys: Option<(Key, Key)>,
    /// The number of events lost, if known.
    pub events: Option<u64>,
    /// A description of the damage.
    pub found: &'static str,
}

/// A part of a block in columns that is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedPart {
    /// Its name.
    pub name: String,
    /// The names of its content, from the [codec](crate::Codec).
    pub holds: Vec<String>,
}

/// So many of the names are shown of what a part holds, unless `{:#}` asks for all.
const NAMES_SHOWN_MAX: usize = 12;

impl Damage {
    /// Of what follows the last batch of a log that counts.
    pub(crate) fn of_rest(file: PathBuf, bytes: Range<u64>) -> Damage {
        let found = "no whole batch begins there: one that was never acknowledged, or one that is damaged";
        Damage { file, bytes, part: None, keys: None, events: None, found }
    }

    /// Writes which part is damaged and what it holds, in parentheses after a space; nothing if unknown.
    pub fn fmt_part(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(DamagedPart { name, holds }) = self.part.as_deref() else { return Ok(()) };
        write!(f, " (part {name}")?;
        let most = if f.alternate() { holds.len() } else { NAMES_SHOWN_MAX };
        for (place, name) in holds.iter().take(most).enumerate() {
            write!(f, "{} {}", if place == 0 { " with" } else { "," }, name.escape_debug())?;
        }
        match holds.len().saturating_sub(most) {
            0 => f.write_str(")"),
            more => write!(f, " and {more} more)"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.bytes;
        write!(f, "{} is damaged at bytes {start} to {end}", self.file.display())?;
        self.fmt_part(f)?;
        write!(f, ": {}; ", self.found)?;
        match self.events {
            Some(1) => f.write_str("1 event is lost")?,
            Some(events) => write!(f, "{events} events are lost")?,
            None => f.write_str("an unknown number of events is lost")?,
        }
        match self.keys {
            Some((first, last)) => write!(f, " from ticks {} to {}", first.instant, last.instant),
            None => f.write_str(" of unknown times"),
        }
    }
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The operating system reported an error.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// There is no store here.
    #[error("{} holds no store; open it for writing to create one", .folder.display())]
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder is used for something else.
    #[error(
        "{} is not empty and holds no store (it has {name:?}); give an empty or a new folder", .folder.display()
    )]
    NotAStore {
        /// The folder.
        folder: PathBuf,
        /// One of the files that do not belong to a store.
        name: String,
    },
    /// The folder has files of a store, but no manifest (the list of live files).
    #[error(
        "{} holds {name} but no manifest, the list of the store's files; repairing makes a new one from segments and log",
        .folder.display()
    )]
    ManifestMissing {
        /// The folder.
        folder: PathBuf,
        /// One of the files that are there.
        name: String,
    },
    /// The list of live files cannot be read.
    #[error(
        "{}, the list of the store's files, is damaged; repairing makes a new one from segments and log", .file.display()
    )]
    ManifestDamaged {
        /// The manifest.
        file: PathBuf,
    },
    /// A receipt cannot be read, so it is unknown which events were erased: a repair that takes in unlisted files might restore them.
    #[error(
        "{} cannot be read, so it is unknown which events were erased; put it back from a backup or another copy of the store. If you move it away, `repair` can \
         bring back events that it erased", .file.display()
    )]
    ReceiptDamaged {
        /// The receipt.
        file: PathBuf,
    },
    /// A file of the store could not be opened, or the medium gives nothing any more: a repair would have to take for lost what may be read another time.
    #[error(
        "{0}; nothing was changed. Try again; if all other files can be read and this one cannot, move it out of the store and repair then"
    )]
    Unreadable(Failure),
    /// The folder has files of several stores.
    #[error(
        "{} belongs to another store than {}; move the files of one of the two to a folder of their own", .file.display(), .other.display()
    )]
    TwoStores {
        /// A file of one store.
        file: PathBuf,
        /// A file of the other.
        other: PathBuf,
    },
    /// The store is empty, and files of another store are in its folder.
    #[error(
        "{} belongs to another store than {}, which is empty; repair moves such files to quarantine. If instead the manifest of the other store was lost, move {} out of \
         the folder, and repair then", .file.display(), .manifest.display(), .manifest.display()
    )]
    ForeignFiles {
        /// A file of the other store.
        file: PathBuf,
        /// The manifest of the empty store.
        manifest: PathBuf,
    },
    /// The manifest has a section that this version of the library does not know and must not ignore.
    #[error("{} has a section {section:?} that this program does not know; use a newer one", .file.display())]
    Section {
        /// The manifest.
        file: PathBuf,
        /// The section's name.
        section: String,
    },
    /// The store was written by a newer version of this library.
    #[error("{} is of format version {found}, this program reads versions up to {known}; use a newer one", .file.display())]
    Version {
        /// The file that says so.
        file: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// Another process is writing to this store.
    #[error("{} is being written to by {writer}; open it read-only, or stop that process", .folder.display())]
    Locked {
        /// The store.
        folder: PathBuf,
        /// That process and its host, as far as known.
        writer: String,
    },
    /// An option is out of range.
    #[error("option {name} is {value}, it must lie in {least} to {most}")]
    Option {
        /// The name of the option.
        name: &'static str,
        /// The value given.
        value: usize,
        /// The least value allowed.
        least: usize,
        /// The greatest value allowed.
        most: usize,
    },
    /// A reader could not get a consistent view, because the writer replaced the manifest again and again.
    #[error("{} changes faster than it can be read; try again", .folder.display())]
    Restless {
        /// The store.
        folder: PathBuf,
    },
}

impl OpenError {
    /// Whether the disk is full, or the user's quota is used up. [`Removed::from`](crate::Removed::from) frees space.
    pub fn is_lack_of_room(&self) -> bool {
        matches!(self, OpenError::Failure(failure) if failure.is_lack_of_room())
    }

    /// Whether it would help if the store took less.
    pub(crate) fn is_full_medium(&self) -> bool {
        matches!(self, OpenError::Failure(failure) if failure.is_full_medium())
    }
}

/// Why a batch was not stored. No event of it was stored, unless [that is unknown](AppendError::is_unknown).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The operating system reported an error; the next append may work.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// An earlier error left the files in an unknown state.
    #[error("the store takes no more events since an earlier failure: {0}; open it again")]
    Poisoned(Failure),
    /// An event is too long.
    #[error("event {index} of the batch has {bytes} bytes, more than event_bytes_max = {most}")]
    EventTooLong {
        /// Its index in the batch, from 0.
        index: usize,
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// An event is empty or holds a line feed.
    #[error("event {index} of the batch is {found}")]
    EventMalformed {
        /// Its index in the batch, from 0.
        index: usize,
        /// What is wrong with it.
        found: &'static str,
    },
    /// The batch is too large.
    #[error("the batch has {bytes} bytes, more than batch_bytes_max = {most}; split it")]
    BatchTooLarge {
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// There are no arrival numbers left.
    #[error(
        "the store has no arrival numbers left: a damaged file claims the last of them; move the events to a new store"
    )]
    NumbersUsedUp,
    /// The name of the source is too long.
    #[error("the source's name has {bytes} bytes, more than {most}")]
    SourceNameTooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The names and notes of all sources together are too long. Each manifest holds them.
    #[error(
        "names and notes of all sources would take {bytes} bytes, more than {most}; use fewer sources, or shorter names and notes"
    )]
    SourcesTooLarge {
        /// What they would take.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The source's note is too long.
    #[error("the source's note has {bytes} bytes; at most {most} are kept")]
    SourceNoteTooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        most: usize,
    },
}

impl AppendError {
    /// Whether the disk is full, or the user's quota is used up.
    pub fn is_lack_of_room(&self) -> bool {
        matches!(self, AppendError::Failure(failure) if failure.is_lack_of_room())
    }

    /// Whether the batch may have been stored despite the error. Open the store again to find out: appending the
    /// batch again without checking may store its events twice. For a batch from a [source](crate::SourcePosition), the source's position shows whether it was stored.
    pub fn is_unknown(&self) -> bool {
        match self {
            AppendError::Failure(failure) => failure.is_final(),
            AppendError::Poisoned(_) => true,
            _ => false,
        }
    }

    /// Whether it would help if the store took less.
    pub(crate) fn is_full_medium(&self) -> bool {
        matches!(self, AppendError::Failure(failure) if failure.is_full_medium())
    }
}

/// Why events could not be read.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system reported an error.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// A part of the store is damaged.
    #[error("{0}")]
    Damaged(Damage),
}

/// Why events were not deleted, or not erased.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeleteError {
    /// The store's files could not be changed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The operating system reported an error; trying again may work.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The store could not be read; if it is damaged, repair it first.
    #[error("{0}; repair the store, then try again")]
    Read(#[from] ReadError),
    /// An erased event was found in a file: because of a bug in this program, or because old files were put back.
    #[error("{} still holds event {arrival}, which was erased; no receipt is given", .file.display())]
    Remains {
        /// The arrival number of the event.
        arrival: u64,
        /// The file.
        file: PathBuf,
    },
    /// A text was found that no event of its block has: a bug in the program that wrote the file.
    #[error("{0}; no receipt is given. The file is written anew from its events: erase again")]
    Stray(StrayText),
}

/// The place of a text that no event has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrayText {
    /// The file.
    pub file: PathBuf,
    /// The index of the block in the file, from 0. None if the text is in no block.
    pub block: Option<usize>,
    /// The part, if the text is in one.
    pub part: Option<String>,
    /// The kind of text. The text itself is not included.
    pub what: String,
}

impl fmt::Display for StrayText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(block) = self.block {
            write!(f, ", block {block}")?;
        }
        if let Some(part) = &self.part {
            write!(f, ", part `{part}`")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// Why the memtable was not flushed or sealed. Acknowledged events are as safe as before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The operating system reported an error; trying again may work.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// An earlier error left the files in an unknown state.
    #[error("the store writes nothing since an earlier failure: {0}; open it again")]
    Poisoned(Failure),
}

impl SealError {
    /// Whether the disk is full, or the user's quota is used up.
    pub fn is_lack_of_room(&self) -> bool {
        matches!(self, SealError::Failure(failure) if failure.is_lack_of_room())
    }

    /// Whether the operation may have been done despite the error; open the store again to find out.
    pub fn is_unknown(&self) -> bool {
        match self {
            SealError::Failure(failure) => failure.is_final(),
            SealError::Poisoned(_) => true,
        }
    }

    /// Whether it would help if the store took less.
    pub(crate) fn is_full_medium(&self) -> bool {
        matches!(self, SealError::Failure(failure) if failure.is_full_medium())
    }
}

impl From<SealError> for OpenError {
    fn from(error: SealError) -> OpenError {
        let (SealError::Failure(failure) | SealError::Poisoned(failure)) = error;
        OpenError::Failure(failure)
    }
}

impl From<SealError> for AppendError {
    fn from(error: SealError) -> AppendError {
        match error {
            SealError::Failure(failure) => AppendError::Failure(failure),
            SealError::Poisoned(failure) => AppendError::Poisoned(failure),
        }
    }
}
