//! Which lines of a file of rejects are stored: they are mended where they stand, some today and others tomorrow, so that no position tells.

use std::collections::{HashMap, HashSet};

use crate::entries::{Content, Entry};

/// So many lines are kept with one name: 8 bytes each, of the 16 KiB that a note may have.
const LINES_MAX: usize = 2000;

/// So many notes are kept of a file.
const NOTES_MAX: usize = 50;

/// The lines of a file of rejects that are stored, by checksums of each and of the comment before it. Lines that are stored are not
/// mended again, and those that are mended are others then.
#[derive(Debug, Default)]
pub(crate) struct Mended {
    stored: HashSet<u64>,
    /// Those among them that were stored last, fewer than fit into a note, and how many notes are full.
    last: Vec<u64>,
    full: usize,
    /// The comment before the next line.
    comment: Vec<u8>,
    /// How often each line has come in this file.
    seen: HashMap<u64, u64>,
}

impl Mended {
    /// What the notes say, of which this gives one by its number; an empty one ends them.
    pub(crate) fn read<E>(mut note: impl FnMut(usize) -> Result<Vec<u8>, E>) -> Result<Mended, E> {
        let mut mended = Mended::default();
        loop {
            let bytes = note(mended.full)?;
            mended.last = bytes.as_chunks::<8>().0.iter().map(|key| u64::from_le_bytes(*key)).collect();
            mended.stored.extend(&mended.last);
            if !mended.go_on() {
                return Ok(mended);
            }
        }
    }

    /// Whether nothing is stored yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// The name of the present note, of a file of this name, and what it says.
    pub(crate) fn note(&self, origin: &str) -> (String, Vec<u8>) {
        let bytes = self.last.iter().flat_map(|key| key.to_le_bytes()).collect();
        (Mended::name(origin, self.full), bytes)
    }

    /// The name of a note by its number.
    pub(crate) fn name(origin: &str, number: usize) -> String {
        if number == 0 { origin.to_owned() } else { format!("{origin}/{number}") }
    }

    /// How many lines the present note has.
    pub(crate) fn position(&self) -> u64 {
        self.last.len() as u64
    }

    /// A comment comes, which belongs to the next line.
    pub(crate) fn comment(&mut self, entry: &Entry<'_>) {
        if let Content::Bytes(bytes) = entry.content {
            self.comment = bytes.trim_ascii_end().to_vec();
        }
    }

    /// A line comes: what it is known by; nothing if it is stored already.
    pub(crate) fn line(&mut self, entry: &Entry<'_>) -> Option<u64> {
        let Content::Bytes(bytes) = entry.content else { return Some(0) };
        let text = [&self.comment, &b"\n"[..], bytes.trim_ascii()].concat();
        let seen = self.seen.entry(checksum(text.clone())).or_default();
        *seen += 1;
        let key = checksum([&text[..], &seen.to_le_bytes()].concat());
        (!self.stored.contains(&key)).then_some(key)
    }

    /// The line that is known by this goes into the store; false if that fills the note, which must be kept before the next one comes.
    #[must_use]
    pub(crate) fn store(&mut self, key: u64) -> bool {
        self.stored.insert(key);
        self.last.push(key);
        self.last.len() < LINES_MAX
    }

    /// Whether no more lines can be kept.
    pub(crate) fn is_full(&self) -> bool {
        self.full >= NOTES_MAX
    }

    /// Begins the next note, if this one is full.
    pub(crate) fn go_on(&mut self) -> bool {
        let is_full = self.last.len() >= LINES_MAX;
        if is_full {
            self.last.clear();
            self.full += 1;
        }
        is_full
    }
}

/// Of 64 bits: of the text, and of its bytes from behind.
fn checksum(mut text: Vec<u8>) -> u64 {
    let forth = crc32fast::hash(&text);
    text.reverse();
    u64::from(forth) << 32 | u64::from(crc32fast::hash(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::Unit;
    use std::collections::HashMap;
    use std::convert::Infallible;

    fn entry(text: &str) -> Entry<'_> {
        Entry { unit: Unit::Line, number: 1, offset: 0, content: Content::Bytes(text.as_bytes()) }
    }

    /// Reads lines, of which those that are good are stored; tells how many.
    fn read(notes: &mut HashMap<String, Vec<u8>>, lines: &[(String, String)]) -> usize {
        let note = |number| {
            Ok::<_, Infallible>(notes.get(&Mended::name("bad", number)).cloned().unwrap_or_default())
        };
        let Ok(mut mended) = Mended::read(note);
        let mut stored = 0;
        for (comment, line) in lines {
            mended.comment(&entry(comment));
            if let Some(key) = mended.line(&entry(line)).filter(|_| line.starts_with("good")) {
                stored += 1;
                let is_full = !mended.store(key);
                let (name, note) = mended.note("bad");
                notes.insert(name, note);
                assert_eq!(is_full, mended.go_on());
            }
        }
        stored
    }

    #[test]
    fn each_line_is_stored_once_however_they_are_mended() {
        let mut notes = HashMap::new();
        let count = 2 * LINES_MAX + 3;
        let mut lines: Vec<(String, String)> =
            (0..count).map(|n| (format!("# rejected: a, line {n}"), format!("bad {n}"))).collect();
        assert_eq!(read(&mut notes, &lines), 0);
        let mend = |lines: &mut Vec<(String, String)>, every: usize| {
            lines.iter_mut().step_by(every).for_each(|(_, line)| *line = line.replace("bad", "good"));
        };
        mend(&mut lines, 3);
        assert_eq!(read(&mut notes, &lines), count.div_ceil(3));
        // Some go, others come before them.
        lines.drain(..5);
        lines.insert(0, ("# rejected: a, line 0".to_owned(), "good new".to_owned()));
        assert_eq!(read(&mut notes, &lines), 1);
        mend(&mut lines, 1);
        let all = read(&mut notes, &lines);
        assert_eq!(all, count - 5 - (count.div_ceil(3) - 2));
        assert_eq!((read(&mut notes, &lines), notes.len()), (0, 3));
        assert!(notes.values().all(|note| note.len() <= 16 << 10));
    }

    #[test]
    fn the_same_line_twice_is_two_events() {
        let mut notes = HashMap::new();
        let line = || ("# rejected: standard input, line 1, from byte 0: no".to_owned(), "good".to_owned());
        assert_eq!(read(&mut notes, &[line(), line()]), 2);
        assert_eq!(read(&mut notes, &[line(), line(), line()]), 1);
    }
}
