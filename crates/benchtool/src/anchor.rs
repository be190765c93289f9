//! The entry behind which the reading of a file goes on: by it the file is seen to be the one that was read.

use std::io::{self, Read};

use crate::entries::{Entry, LINE_BYTES_MAX};
use crate::splitter::Splitter;

/// The last entry that was read: where it began, and a checksum of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Anchor {
    offset: u64,
    checksum: u32,
}

/// Bytes of an anchor in a note.
const ANCHOR_BYTES: usize = 12;

impl Anchor {
    pub(crate) fn of(entry: &Entry<'_>) -> Anchor {
        Anchor { offset: entry.offset, checksum: entry.checksum() }
    }

    /// What a note begins with: the offset (8) and the checksum (4), little-endian.
    pub(crate) fn to_bytes(self) -> [u8; ANCHOR_BYTES] {
        let mut bytes = [0; ANCHOR_BYTES];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// The anchor that a note begins with, and what follows. Notes of earlier versions have none: what they hold is nothing, or 4
    /// bytes and then some times 16.
    pub(crate) fn split(note: &[u8]) -> (Option<Anchor>, &[u8]) {
        let read = || {
            let (offset, rest) = note.split_first_chunk()?;
            let (checksum, rest) = rest.split_first_chunk()?;
            let offset = u64::from_le_bytes(*offset);
            Some((Some(Anchor { offset, checksum: u32::from_le_bytes(*checksum) }), rest))
        };
        let has_one = matches!(note.len() % 16, ANCHOR_BYTES | 0);
        has_one.then(read).flatten().unwrap_or((None, note))
    }
}

/// Whether reading has come to this position with this entry: it ends there, and is what was read, as far as that is known. Positions
/// of earlier versions may lie in the white space behind it.
pub(crate) fn ends_at(entry: &Entry<'_>, position: u64, anchor: Option<Anchor>) -> bool {
    (entry.end()..=entry.whole_end()).contains(&position)
        && anchor.is_none_or(|anchor| anchor == Anchor::of(entry))
}

/// Whether a text is the one that was read up to this position; `unread` where it cannot be read so far.
pub(crate) fn holds(mut text: impl Read, position: u64, anchor: Option<Anchor>, unread: bool) -> bool {
    let mut splitter = Splitter::new(LINE_BYTES_MAX);
    let mut chunk = vec![0; 256 << 10];
    let found = |entry: Entry<'_>| match entry.event() {
        Some(_) if entry.whole_end() >= position => Err(ends_at(&entry, position, anchor)),
        _ => Ok(()),
    };
    loop {
        match text.read(&mut chunk) {
            Ok(0) => return splitter.finish(found).err().unwrap_or(false),
            Ok(read) => match splitter.feed(&chunk[..read], found) {
                Ok(()) => {}
                Err(holds) => return holds,
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return unread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::io::Cursor;

    /// Where the last entry of a text ends, and its anchor.
    fn last(text: &str) -> (u64, Option<Anchor>) {
        let mut splitter = Splitter::new(LINE_BYTES_MAX);
        let mut last = (0, None);
        let mut each = |entry: Entry<'_>| {
            if entry.event().is_some() {
                last = (entry.end(), Some(Anchor::of(&entry)));
            }
            Ok::<(), Infallible>(())
        };
        splitter.feed(text.as_bytes(), &mut each).unwrap();
        splitter.finish(&mut each).unwrap();
        last
    }

    #[track_caller]
    fn check(before: &str, after: &str, expected: bool) {
        let (position, anchor) = last(before);
        assert_eq!(
            holds(Cursor::new(after.to_owned()), position, anchor, true),
            expected,
            "{before:?} {after:?}"
        );
    }

    #[test]
    fn a_text_that_grows_stays_what_it_is() {
        for (before, after) in [
            ("{\"a\":1}\n", "{\"a\":1}\n{\"a\":2}\n"),
            ("{\"a\":1}", "{\"a\":1}\r\n{\"a\":2}\r\n"),
            ("{\"a\":1} \n\n", "{\"a\":1}\n"),
            ("[\n{\"a\":1}\n]", "[\n{\"a\":1},\n{\"a\":2}\n]"),
            ("[{\"a\":1}", "[{\"a\":1}\n,{\"a\":2}]"),
        ] {
            check(before, after, true);
            check(before, before, true);
        }
    }

    #[test]
    fn a_text_with_the_same_beginning_is_another_where_its_entries_are_others() {
        let before = "{\"a\":1}\n{\"a\":2}\n";
        for after in [
            "{\"a\":1}\n{\"a\":3}\n",
            "{\"a\":1}\n",
            "{\"a\":1}\n{\"a\":2},no\n",
            "",
            "{\"a\":12}\n\"a\":2}\n",
        ] {
            check(before, after, false);
        }
    }

    #[test]
    fn notes_of_earlier_versions_have_no_anchor() {
        let anchor = Anchor { offset: u64::MAX - 1, checksum: 7 };
        for ranges in [0, 4 + 16, 4 + 32, 4 + 1000 * 16] {
            let old = vec![3; ranges];
            assert_eq!(Anchor::split(&old), (None, &old[..]));
            let new = [&anchor.to_bytes()[..], &old].concat();
            assert_eq!(Anchor::split(&new), (Some(anchor), &old[..]));
        }
        // An earlier version took the white space behind an entry for a part of it.
        let text = "[{\"a\":1} \n]";
        for (position, expected) in [(7, false), (8, true), (9, true), (10, true), (11, false)] {
            assert_eq!(holds(Cursor::new(text), position, None, true), expected, "{position}");
        }
    }
}
