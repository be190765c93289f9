//! What can end a command, and the exit code that tells which it was.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{fmt, io};

use tamias::{
    AppendError, BackupError, DeleteError, ExecError, MergeError, OpenError, QueryError, ReadError,
    RequestError,
};

use crate::program;

/// Why a command did not do all that it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line asks for something that cannot be. (clap reports what it finds itself with the same code.)
    Usage(String),
    /// The query, or one of a case file, is malformed.
    Query(String),
    /// What came in is not what it should be.
    Input(String),
    /// A file or a folder could not be found, read or written.
    Io(String),
    /// The medium is full.
    NoRoom(String),
    /// Stored data is damaged.
    Damage(String),
    /// There were no rows, and the exit code was to tell.
    NoRows,
    /// The reader of standard output has gone: nothing to tell, and nobody to tell it to.
    ClosedPipe,
    /// Ctrl-C.
    Interrupted(String),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::ClosedPipe => 0,
            Failure::NoRows => 1,
            Failure::Usage(_) => 2,
            Failure::Query(_) => 3,
            Failure::Input(_) => 4,
            Failure::Io(_) | Failure::NoRoom(_) => 5,
            Failure::Damage(_) => 6,
            // As a shell reports a process that died of SIGINT.
            Failure::Interrupted(_) => 130,
        })
    }

    /// A file that could not be worked with.
    pub(crate) fn file(path: &Path, error: &io::Error) -> Failure {
        Failure::Io(format!("{}: {error}", path.display()))
    }

    /// The standard output, or the file in its place, could not be written.
    pub(crate) fn output(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Io(format!("cannot write the output: {error}")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text)
            | Failure::Query(text)
            | Failure::Input(text)
            | Failure::Io(text)
            | Failure::NoRoom(text)
            | Failure::Damage(text)
            | Failure::Interrupted(text) => f.write_str(text),
            Failure::NoRows => f.write_str("there are no rows"),
            Failure::ClosedPipe => f.write_str("the output was closed"),
        }
    }
}

impl Error for Failure {}

impl Failure {
    /// A store could not be opened by somebody who would ask it something.
    pub(crate) fn asking(error: OpenError) -> Failure {
        match &error {
            OpenError::Missing { folder } => {
                let (folder, name) = (folder.display(), program::name());
                Failure::Io(format!(
                    "there is no store in {folder}; `{name} ingest {folder} FILE` creates one"
                ))
            }
            _ => error.into(),
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Failure {
        match error {
            OpenError::Missing { folder } => {
                Failure::Io(format!("there is no store in {}", folder.display()))
            }
            // The command line has no other way than to wait.
            OpenError::Locked { folder, writer } => {
                let folder = folder.display();
                Failure::Io(format!("{folder} is being written to by {writer}; wait until that process ends"))
            }
            OpenError::ManifestDamaged { .. } | OpenError::ManifestMissing { .. } => {
                Failure::Damage(format!("{error} (`{} repair`)", program::name()))
            }
            OpenError::ReceiptDamaged { .. } => Failure::Damage(error.to_string()),
            _ if error.is_lack_of_room() => Failure::NoRoom(error.to_string()),
            _ => Failure::Io(error.to_string()),
        }
    }
}

impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Failure {
        match error {
            BackupError::Open(error) => error.into(),
            BackupError::Failure(failure) => OpenError::Failure(failure).into(),
            BackupError::OtherStore { folder } => {
                let folder = folder.display();
                Failure::Io(format!("{folder} holds another store, or a backup of one; give another folder"))
            }
            _ => Failure::Io(error.to_string()),
        }
    }
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Failure {
        match error {
            MergeError::Open(error) => error.into(),
            MergeError::Exec(error) => error.into(),
            MergeError::NotEmpty { .. } => Failure::Usage(format!("the new store: {error}")),
            _ => Failure::Io(error.to_string()),
        }
    }
}

impl From<DeleteError> for Failure {
    fn from(error: DeleteError) -> Failure {
        match error {
            DeleteError::Query(error) => error.into(),
            DeleteError::Exec(error) => error.into(),
            DeleteError::Open(error) => error.into(),
            DeleteError::Read(_) | DeleteError::Store(tamias::StoreDeleteError::Stray(_)) => {
                Failure::Damage(error.to_string())
            }
            _ => Failure::Io(error.to_string()),
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Failure {
        match error {
            RequestError::Open(error) => error.into(),
            RequestError::Failure(failure) => OpenError::Failure(failure).into(),
            _ => Failure::Io(error.to_string()),
        }
    }
}

impl From<AppendError> for Failure {
    fn from(error: AppendError) -> Failure {
        match error.is_lack_of_room() {
            true => Failure::NoRoom(error.to_string()),
            false => Failure::Io(error.to_string()),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Failure {
        Failure::Query(error.to_string())
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        match error {
            ReadError::Damaged(_) => Failure::Damage(error.to_string()),
            _ => Failure::Io(error.to_string()),
        }
    }
}

/// What can be done about damage.
pub(crate) const DAMAGE_REMEDIES: &str =
    "`query --on-damage skip` answers from the rest, `repair` removes what is damaged";

impl From<ExecError> for Failure {
    fn from(error: ExecError) -> Failure {
        match &error {
            ExecError::Source(source) => match source.downcast_ref::<ReadError>() {
                Some(ReadError::Damaged(_)) => Failure::Damage(format!("{error}; {DAMAGE_REMEDIES}")),
                _ => Failure::Io(error.to_string()),
            },
            ExecError::Document { .. } => Failure::Damage(error.to_string()),
            ExecError::Cancelled => Failure::Interrupted(error.to_string()),
            ExecError::MemoryExceeded { .. } => Failure::Query(format!("{error}: --memory 1GiB")),
            ExecError::DeadlineExceeded => Failure::Query(format!("{error}: --deadline 1m")),
            _ => Failure::Query(error.to_string()),
        }
    }
}
