//! What a file is known by, so that it is not stored twice.

use std::io::{self, Read};
use std::path::Path;

use tamias_json::validate::minify_object;

use crate::entries::{Content, Entry, LINE_BYTES_MAX};
use crate::splitter::Splitter;

/// The longest name that the store keeps a position under.
const NAME_BYTES_MAX: usize = 4096;

/// The name under which the store keeps how far a file has come: its canonical path, and a checksum of its first line that
/// is a JSON object. A file that grows stays what it is; another one in its place is hardly ever taken for it, and if it begins
/// with the same event its [`Anchor`](crate::anchor::Anchor) tells. Any line of a file of rejects may be mended, so its name has none.
///
/// `None` where there is no such line yet, or the path is too long to be kept. What the system does not give is an error: whoever went on without a name would store the file a second time.
pub(crate) fn name(path: &Path, text: impl Read) -> io::Result<Option<String>> {
    let path = path.canonicalize()?;
    let path = match path.to_str() {
        Some(path) => path.to_owned(),
        None => path.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
    };
    let name = first_event(text)?.map(|first| format!("file:{path}#{first}"));
    Ok(name.filter(|name| name.len() <= NAME_BYTES_MAX))
}

/// What stands for the first event in the name of a file of rejects.
const REJECTS: &str = "rejects";

/// Whether this is the name of a file of rejected lines.
pub(crate) fn is_of_rejects(name: &str) -> bool {
    name.rsplit_once('#').is_some_and(|(_, first)| first == REJECTS)
}

/// Whether files of these names begin with the same event: one may be the other under an earlier name, or packed.
pub(crate) fn begins_alike(name: &str, other: &str) -> bool {
    let first = |name: &str| name.strip_prefix("file:")?.rsplit_once('#').map(|(_, first)| first.to_owned());
    name != other && !is_of_rejects(name) && first(name).is_some() && first(name) == first(other)
}

/// The path in a name.
pub(crate) fn path_of(name: &str) -> &str {
    let name = name.strip_prefix("file:").unwrap_or(name);
    name.rsplit_once('#').map_or(name, |(path, _)| path)
}

/// Checksum and length of the first entry that is a JSON object: files of different events may begin with the same banner. What
/// cannot be unpacked counts as no entry: whoever reads on will tell of it.
fn first_event(mut text: impl Read) -> io::Result<Option<String>> {
    let mut splitter = Splitter::new(LINE_BYTES_MAX);
    let mut chunk = vec![0; 64 << 10];
    let mut minified = Vec::new();
    let mut found = |entry: Entry<'_>| match entry.event() {
        None if entry.offset == 0 && entry.is_comment() => Err(REJECTS.to_owned()),
        Some(Content::Bytes(bytes)) if minify_object(bytes, &Default::default(), &mut minified).is_ok() => {
            let bytes = bytes.trim_ascii();
            Err(format!("{:08x}-{}", crc32fast::hash(bytes), bytes.len()))
        }
        _ => Ok(()),
    };
    loop {
        match text.read(&mut chunk) {
            Ok(0) => return Ok(splitter.finish(&mut found).err()),
            Ok(read) => match splitter.feed(&chunk[..read], &mut found) {
                Ok(()) => {}
                Err(first) => return Ok(Some(first)),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // An error of the system has a number.
            Err(error) if error.raw_os_error().is_some() => return Err(error),
            Err(_) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn first(text: &str) -> Option<String> {
        first_event(Cursor::new(text.to_owned())).unwrap()
    }

    /// Fails with this error once it has given some bytes.
    struct Failing(Cursor<Vec<u8>>, fn() -> io::Error);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err((self.1)()),
                read => Ok(read),
            }
        }
    }

    /// It went without a name, and was stored once more.
    #[test]
    fn a_file_that_the_system_does_not_give_has_no_name() {
        let failing = |text: &str, error| first_event(Failing(Cursor::new(text.into()), error));
        assert!(failing("a banner\n", || io::Error::from_raw_os_error(5)).is_err());
        assert!(failing("{\"a\":1}\n", || io::Error::from_raw_os_error(5)).unwrap().is_some());
        assert_eq!(failing("a banner\n", || io::ErrorKind::InvalidData.into()).unwrap(), None);
        assert!(super::name(Path::new("/nowhere/at/all"), Cursor::new("{}")).is_err());
    }

    #[test]
    fn a_file_that_grows_stays_what_it_is() {
        let begun = first("\n# rejected: x\n{\"a\":1}");
        assert!(begun.is_some());
        assert_eq!(first("{\"a\":1}\n"), begun);
        assert_eq!(first("\u{feff}{\"a\":1}\n{\"a\":2}\n"), begun);
        assert_eq!(first("[{\"a\":1}, {\"a\":2}]"), begun);
        assert_ne!(first("{\"a\":2}\n{\"a\":1}\n"), begun);
        assert_eq!(first("a banner\n[]\n{\"a\":1}\n"), begun);
        assert_eq!(first("a banner\n"), None);
        assert_eq!(first(" \n\n"), None);
        assert_eq!(first(""), None);
    }

    #[test]
    fn paths_are_those_of_the_file_itself() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("e");
        std::fs::write(&file, "{}").unwrap();
        let name = |path: &Path| super::name(path, Cursor::new("{}")).unwrap().unwrap();
        assert_eq!(name(&folder.path().join("./e")), name(&file));
        std::fs::copy(&file, folder.path().join("f")).unwrap();
        assert_ne!(name(&folder.path().join("f")), name(&file));
    }
}
