//! Lines that were rejected: told on standard error, and kept in a file if there is one for them.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;

use crate::entries::{COMMENT, Content, Entry, Unit};
use crate::failure::Failure;
use crate::output_file::check_outside;
use crate::source::Source;
use crate::start::Start;
use crate::tell::tell;
use crate::units::printable_line;

/// So many rejected lines are told one by one.
const TOLD_MAX: u64 = 20;

#[derive(Debug)]
pub(crate) struct Rejects {
    count: u64,
    file: Option<Kept>,
}

/// The file that keeps them.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    file: BufWriter<File>,
    /// Whether something was written that a loss of power could take.
    is_dirty: bool,
}

/// What comments say of lines of a source, up to their number and from their place on; and where its reading begins.
type Named<'a> = (String, String, &'a Start);

impl Rejects {
    /// Whether rejected lines can be kept there: in none of the sources, and not in the store, where they would take the place
    /// of a file.
    pub(crate) fn check(path: &Path, sources: &[Source], store: &Path) -> Result<(), Failure> {
        if let Ok(there) = Handle::from_path(path) {
            let same = |source: &Source| match source {
                Source::Stdin => Handle::stdin().is_ok_and(|source| source == there),
                // Opening a pipe may have to wait; it has nothing to lose.
                Source::Pipe(_) => false,
                Source::File { path, .. } => Handle::from_path(path).is_ok_and(|source| source == there),
            };
            if sources.iter().any(same) {
                let path = path.display();
                return Err(Failure::Usage(format!(
                    "{path} cannot be both an input and the file for rejected lines"
                )));
            }
        }
        check_outside(path, store)
    }

    /// Keeps rejected lines in the file, if there is one for them. A file that is there is added to, if it is one of rejected
    /// lines; what it has of lines that are about to be read again is taken out first.
    pub(crate) fn open(
        path: Option<&Path>,
        sources: &[Source],
        starts: &[Start],
    ) -> Result<Rejects, Failure> {
        let Some(path) = path else { return Ok(Rejects { count: 0, file: None }) };
        let failed = |error| Failure::file(path, &error);
        if fs::metadata(path).is_ok_and(|data| data.is_file()) {
            // What cannot be read again is something new each time. Of a file of rejects nobody can tell whether it is the one of before, or where lines of it were mended.
            let is_same = |start: &Start| !start.is_other && start.mended.is_none();
            let same = sources.iter().zip(starts).filter(|(_, start)| is_same(start));
            let again = same.filter_map(|(source, start)| {
                let begin = format!("{}, ", printable_line(&source.name()));
                Some((begin, of_file(source.origin()?), start))
            });
            take_out(path, &again.collect::<Vec<Named<'_>>>())?;
        }
        let file = File::options().append(true).create(true).open(path).map_err(failed)?;
        let kept = Kept { path: path.to_owned(), file: BufWriter::new(file), is_dirty: false };
        Ok(Rejects { count: 0, file: Some(kept) })
    }

    /// Whether they are kept in a file.
    pub(crate) fn keeps(&self) -> bool {
        self.file.is_some()
    }

    /// Makes sure that everything rejected so far is on disk, before a position behind it is.
    pub(crate) fn sync(&mut self) -> Result<(), Failure> {
        let Some(kept) = self.file.as_mut().filter(|kept| kept.is_dirty) else { return Ok(()) };
        let failed = |error| Failure::file(&kept.path, &error);
        kept.file.flush().map_err(failed)?;
        let file = kept.file.get_ref();
        // A pipe or a device has no disk.
        if file.metadata().is_ok_and(|data| data.is_file()) {
            file.sync_data().map_err(failed)?;
        }
        kept.is_dirty = false;
        Ok(())
    }

    /// Tells and keeps one.
    pub(crate) fn add(
        &mut self,
        source: &str,
        origin: Option<&str>,
        entry: &Entry<'_>,
        reason: &str,
    ) -> Result<(), Failure> {
        self.count += 1;
        let Entry { unit, number, offset, content } = entry;
        let reason = printable_line(reason);
        let place = format!("{}, {unit} {number}, from byte {offset}", printable_line(source));
        if self.count <= TOLD_MAX {
            tell!("rejected: {place}: {reason}");
        }
        let Some(kept) = &mut self.file else { return Ok(()) };
        kept.is_dirty = true;
        let file = &mut kept.file;
        let text = match (content, unit) {
            (Content::TooLong { .. }, _) => Cow::Borrowed(&b""[..]),
            (Content::Bytes(bytes), Unit::Line) => Cow::Owned([bytes, &b"\n"[..]].concat()),
            // A line feed in there is white space, or what is wrong with it.
            (Content::Bytes(bytes), Unit::Element) => {
                let line = bytes.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
                // Nothing but our own line looks like one.
                let indent = bytes.starts_with(COMMENT).then_some(b' ');
                Cow::Owned(indent.into_iter().chain(line).chain([b'\n']).collect())
            }
        };
        let written = file
            .write_all(COMMENT)
            .and_then(|()| writeln!(file, "{place}{}: {reason}", origin.map(of_file).unwrap_or_default()))
            .and_then(|()| file.write_all(&text));
        written.map_err(|error| Failure::file(&kept.path, &error))
    }

    /// Tells how many more there were, and how many they are in all.
    pub(crate) fn finish(mut self) -> Result<u64, Failure> {
        let more = self.count.saturating_sub(TOLD_MAX);
        let lines = if more == 1 { "line" } else { "lines" };
        match &self.file {
            _ if more == 0 => {}
            Some(kept) => tell!("rejected: {more} more {lines}, in {}", kept.path.display()),
            None => {
                tell!("rejected: {more} more {lines}; use --rejects FILE to save them all with the reasons")
            }
        }
        self.sync()?;
        Ok(self.count)
    }
}

/// Takes out of a file of rejects what it holds of lines that are read again. A kill may also have cut its
/// end. Until the new file stands in its place the old one stays as it is.
fn take_out(path: &Path, starts: &[Named<'_>]) -> Result<(), Failure> {
    let failed = |error| Failure::file(path, &error);
    // Not a link to it, which would be replaced.
    let path_itself = path.canonicalize().map_err(failed)?;
    let folder = path_itself.parent().unwrap_or(Path::new("."));
    let before = File::open(path).map_err(failed)?;
    let permissions = before.metadata().map_err(failed)?.permissions();
    let mut before = BufReader::new(before);
    let mut after = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut to = BufWriter::new(after.as_file_mut());
    let (mut line, mut is_out, mut is_changed, mut is_first) = (Vec::new(), false, false, true);
    while before.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        let whole = line.ends_with(b"\n");
        if line.starts_with(COMMENT) {
            is_out = !whole || is_read_again(&line, starts);
        } else if !whole && COMMENT.starts_with(&line) {
            is_out = true;
        } else if is_first {
            let path = path.display();
            return Err(Failure::Usage(format!(
                "{path} is not a file of rejected lines; name another file, or delete it"
            )));
        }
        is_first = false;
        if is_out {
            is_changed = true;
        } else {
            if !whole {
                line.push(b'\n');
                is_changed = true;
            }
            to.write_all(&line).map_err(failed)?;
        }
        line.clear();
    }
    if !is_changed {
        return Ok(());
    }
    to.flush().map_err(failed)?;
    drop(to);
    after.as_file().set_permissions(permissions).map_err(failed)?;
    after.as_file().sync_all().map_err(failed)?;
    after.persist(&path_itself).map_err(|error| failed(error.error))?;
    Ok(())
}

/// What tells the lines of a file from those of others by the same name, in another folder or in its place before: a checksum of its origin.
fn of_file(origin: &str) -> String {
    format!(" ({:08x})", crc32fast::hash(origin.as_bytes()))
}

/// Whether a line before a rejected one, `# rejected: NAME, line 3, from byte 77 (1a2b3c4d): …`, names a place that is read
/// again: at or behind the start of its source, or rejected by an earlier run and tried again.
fn is_read_again(comment: &[u8], starts: &[Named<'_>]) -> bool {
    let text = String::from_utf8_lossy(comment.get(COMMENT.len()..).unwrap_or_default());
    starts.iter().any(|(begin, file, start)| {
        let place = text.strip_prefix(begin.as_str()).and_then(|place| place.split_once(", from byte "));
        let offset = place.and_then(|(_, rest)| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (offset, rest) = rest.split_at(digits);
            rest.strip_prefix(file.as_str())?.starts_with(':').then(|| offset.parse::<u64>().ok())?
        });
        offset.is_some_and(|offset| offset >= start.position.unwrap_or(0) || start.rejected.will_try(offset))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Source {
        Source::File { path: path.into(), bytes: 0, origin: Some("file".to_owned()) }
    }

    #[test]
    fn what_is_read_again_is_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad");
        let text = "# rejected: a, line 1, from byte 0 (8c9f3610): no\nx\n\
            # rejected: a, line 9, from byte 100 (8c9f3610): the line has 9 bytes, too many\n\
            # rejected: b, line 1, from byte 0 (8c9f3610): no\ny\n\
            # rejected: a, element 9, from byte 101 (8c9f3610): no, from byte 7: x\nz\n\
            # rejected: a, from byte 200, line 9, from byte 3 (8c9f3610): no\nz\n\
            # rejected: standard input, line 9, from byte 101: no\nz\n\
            # rejected: a, line 9, from byte 100 (8c9f3611): another file was there\nx\n";
        let mended = "{\"a\":1}\n";
        let check = |text: &str, expected: &str| {
            fs::write(&path, text).unwrap();
            let sources = [file("a"), file("b"), Source::Stdin];
            let starts = [Some(100), None, None].map(|position| Start { position, ..Start::default() });
            Rejects::open(Some(&path), &sources, &starts).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        };
        let kept: String =
            [0, 1, 7, 8, 9, 10, 11, 12].map(|at| text.lines().nth(at).unwrap().to_owned() + "\n").concat();
        check(text, &kept);
        check(&kept, &kept);
        // Cut by a kill, in the comment or in the line.
        let cut = |end: usize| format!("{kept}{}", &text[..end]);
        check(&cut(3), &kept);
        check(&cut(20), &kept);
        let whole = format!("{kept}{mended}");
        check(whole.trim_end(), &whole);
        check("", "");
    }

    #[test]
    fn what_is_no_file_of_rejects_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("letter");
        fs::write(&path, "Dear Sirs\n").unwrap();
        let source = file("a");
        // Where files were read from their starts it used to be emptied.
        for position in [Some(1), None] {
            let starts = [Start { position, ..Start::default() }];
            let sources = std::slice::from_ref(&source);
            assert!(matches!(Rejects::open(Some(&path), sources, &starts), Err(Failure::Usage(_))));
            assert_eq!(fs::read_to_string(&path).unwrap(), "Dear Sirs\n");
        }
    }
}
