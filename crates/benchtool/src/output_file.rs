//! A file of output, which takes its place only when it is whole.

use std::fs::{self, File, Metadata};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::program;

/// Where output goes that somebody gave a path for.
#[derive(Debug)]
pub(crate) enum OutputFile {
    /// A file beside the one that is asked for, under a name of its own; and what there was before in its place.
    Beside { path: PathBuf, before: Option<Box<Metadata>>, file: BufWriter<NamedTempFile> },
    /// A pipe or a device, which nothing can take the place of.
    Itself { path: PathBuf, file: BufWriter<File> },
}

impl OutputFile {
    /// Output to this path, outside of the folder of the store.
    pub(crate) fn create(path: &Path, store: &Path) -> Result<OutputFile, Failure> {
        check_outside(path, store)?;
        let failed = |error| Failure::file(path, &error);
        // A link stays, and what it leads to is written.
        let (path, before) = match fs::metadata(path) {
            // What a process has open already goes on there.
            Ok(data) if data.is_file() && !path.starts_with("/dev") && !path.starts_with("/proc") => {
                (path.canonicalize().map_err(failed)?, Some(Box::new(data)))
            }
            Err(_) if !path.is_symlink() => (path.to_owned(), None),
            _ => {
                let file = File::options().append(true).create(true).open(path).map_err(failed)?;
                return Ok(OutputFile::Itself { path: path.to_owned(), file: BufWriter::new(file) });
            }
        };
        let mut builder = tempfile::Builder::new();
        let prefix = format!(".{}-", program::name());
        builder.prefix(&prefix);
        // Others may read it where they may read other files.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder
            .tempfile_in(folder_of(&path))
            .map_err(|error| Failure::file(&path, &of_system(&error)))?;
        Ok(OutputFile::Beside { path, before, file: BufWriter::new(file) })
    }

    /// Lets the file take its place.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {
            OutputFile::Beside { path, before, file } => {
                let failed = |error: &std::io::Error| Failure::file(&path, error);
                let file = file.into_inner().map_err(|error| failed(error.error()))?;
                if let Some(before) = before {
                    take_after(file.as_file(), &before).map_err(|error| failed(&error))?;
                }
                file.persist(&path).map_err(|error| failed(&error.error))?;
            }
            OutputFile::Itself { path, file } => {
                file.into_inner().map_err(|error| Failure::file(&path, error.error()))?;
            }
        }
        Ok(())
    }
}

/// What the system says, without the name of a file that nobody has asked for.
fn of_system(error: &std::io::Error) -> std::io::Error {
    let text = error.to_string();
    let said = text.split_once(" at path ").map_or(text.as_str(), |(said, _)| said);
    std::io::Error::new(error.kind(), said)
}

/// Gives a file the owner, as far as the system lets us, and the permissions of another.
fn take_after(file: &File, before: &Metadata) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // Who may not give files away may still give them to a group of his own.
        if fchown(file, Some(before.uid()), Some(before.gid())).is_err() {
            let _ = fchown(file, None, Some(before.gid()));
        }
    }
    file.set_permissions(before.permissions())
}

/// That a file or a folder is not in the folder of the store, where it might take the place of one of its own.
pub(crate) fn check_outside(path: &Path, store: &Path) -> Result<(), Failure> {
    // What is there of it, if it is to be made.
    let there = path.ancestors().map(|part| if part == Path::new("") { Path::new(".") } else { part });
    let there = there.filter_map(|part| part.canonicalize().ok()).next();
    // A store that is not there yet will be where its name says.
    let is_inside = match (there, store.canonicalize()) {
        (Some(there), Ok(store)) => there.starts_with(&store),
        _ => match (std::path::absolute(path), std::path::absolute(store)) {
            (Ok(path), Ok(store)) => path.starts_with(&store),
            _ => false,
        },
    };
    match is_inside {
        true => Err(Failure::Usage(format!(
            "{} is inside the store; choose a place outside of it",
            path.display()
        ))),
        false => Ok(()),
    }
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            OutputFile::Beside { file, .. } => file.write(bytes),
            OutputFile::Itself { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            OutputFile::Beside { file, .. } => file.flush(),
            OutputFile::Itself { file, .. } => file.flush(),
        }
    }
}
