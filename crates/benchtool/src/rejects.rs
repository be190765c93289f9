//! Lines that were rejected: told on standard error, and kept in a file if there is one for them.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;

use crate::entries::{Content, Entry, Unit};
use crate::failure::Failure;
use crate::units::printable_line;

/// How the line begins that stands before each line in the file. Ingest takes it for a comment, so that the file can be
/// mended and ingested as it is.
pub(crate) const COMMENT: &[u8] = b"# rejected: ";

/// So many rejected lines are told one by one.
const TOLD_MAX: u64 = 20;

#[derive(Debug)]
pub(crate) struct Rejects {
    count: u64,
    file: Option<(PathBuf, BufWriter<File>)>,
}

impl Rejects {
    /// Keeps rejected lines in the file, which is made anew and must be none of the sources.
    ///
    /// It must not lie in the store either: it would take the place of a file there.
    pub(crate) fn new(path: Option<&Path>, sources: &[PathBuf], store: &Path) -> Result<Rejects, Failure> {
        let Some(path) = path else { return Ok(Rejects { count: 0, file: None }) };
        if let Ok(there) = Handle::from_path(path) {
            let same = |source: &PathBuf| match source.to_str() {
                Some("-") => Handle::stdin().is_ok_and(|source| source == there),
                _ => Handle::from_path(source).is_ok_and(|source| source == there),
            };
            let from_stdin = sources.is_empty() && Handle::stdin().is_ok_and(|source| source == there);
            if from_stdin || sources.iter().any(same) {
                let path = path.display();
                return Err(Failure::Usage(format!(
                    "{path} cannot be read from and keep the rejected lines at once"
                )));
            }
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let (Ok(folder), Ok(store)) = (folder.canonicalize(), store.canonicalize())
            && folder.starts_with(&store)
        {
            return Err(Failure::Usage(format!(
                "{} lies in the store; name a file elsewhere",
                path.display()
            )));
        }
        let file = File::create(path).map_err(|error| Failure::file(path, &error))?;
        Ok(Rejects { count: 0, file: Some((path.to_owned(), BufWriter::new(file))) })
    }

    /// Tells and keeps one.
    pub(crate) fn add(&mut self, source: &str, entry: &Entry<'_>, reason: &str) -> Result<(), Failure> {
        self.count += 1;
        let Entry { unit, number, offset, content } = entry;
        let reason = printable_line(reason);
        let told = format!("{}, {unit} {number}, from byte {offset}: {reason}", printable_line(source));
        if self.count <= TOLD_MAX {
            eprintln!("rejected: {told}");
        }
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let text = match (content, unit) {
            (Content::TooLong { .. }, _) => Cow::Borrowed(&b""[..]),
            (Content::Bytes(bytes), Unit::Line) => Cow::Owned([bytes, &b"\n"[..]].concat()),
            // A line feed in there is white space, or what is wrong with it.
            (Content::Bytes(bytes), Unit::Element) => {
                let line = bytes.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
                Cow::Owned(line.chain([b'\n']).collect())
            }
        };
        let written = file
            .write_all(COMMENT)
            .and_then(|()| writeln!(file, "{told}"))
            .and_then(|()| file.write_all(&text));
        written.map_err(|error| Failure::file(path, &error))
    }

    /// Tells how many more there were, and how many they are in all.
    pub(crate) fn finish(mut self) -> Result<u64, Failure> {
        match self.count.saturating_sub(TOLD_MAX) {
            0 => {}
            1 => eprintln!("rejected: 1 more line"),
            more => eprintln!("rejected: {more} more lines"),
        }
        if let Some((path, file)) = &mut self.file {
            file.flush().map_err(|error| Failure::file(path, &error))?;
        }
        Ok(self.count)
    }
}
