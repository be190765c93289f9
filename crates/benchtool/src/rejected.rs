//! Which lines of a file were rejected: kept with its position, so that another run with better options takes them.

use std::collections::VecDeque;
use std::ops::Range;

use crate::entries::Entry;

/// So many ranges are remembered of a file. Rejected lines that follow one another are one range.
pub(crate) const RANGES_MAX: usize = 1000;

/// Bytes of the options' checksum in a note.
const OPTIONS_BYTES: usize = 4;

/// The rejected lines of a file, as ranges of its bytes, while it is read.
#[derive(Debug, Default)]
pub(crate) struct Rejected {
    /// Rejected by this run, or by earlier ones with the same options; in order.
    remembered: Vec<Range<u64>>,
    /// Rejected by earlier runs with other options, and not reached by this run yet; in order.
    untried: VecDeque<Range<u64>>,
    /// A checksum of the options that this run has, and of those with which the untried were rejected.
    options: u32,
    options_before: u32,
    /// Whether the entry before was remembered, so that the next one can join it.
    is_joinable: bool,
}

impl Rejected {
    /// What the note of an earlier run says. Its lines are tried again if the options are others than then, or if they are to be
    /// `moved` to a file of rejects.
    pub(crate) fn new(note: &[u8], options: u32, moved: bool) -> Rejected {
        let (options_before, ranges) = decode(note).unwrap_or((options, Vec::new()));
        let (remembered, untried) = match options_before != options || moved {
            true => (Vec::new(), ranges.into()),
            false => (ranges, VecDeque::new()),
        };
        Rejected { remembered, untried, options, options_before, is_joinable: false }
    }

    /// What is kept with the position: 4 bytes for the options, then 16 bytes a range, its begin and its end, little-endian. Empty
    /// where there is nothing to remember.
    pub(crate) fn note(&self) -> Vec<u8> {
        // Until all have been tried, none counts as tried.
        let options = if self.untried.is_empty() { self.options } else { self.options_before };
        let mut note = Vec::new();
        for range in self.remembered.iter().chain(&self.untried) {
            if note.is_empty() {
                note.extend_from_slice(&options.to_le_bytes());
            }
            note.extend_from_slice(&range.start.to_le_bytes());
            note.extend_from_slice(&range.end.to_le_bytes());
        }
        note
    }

    /// Whether there are any.
    pub(crate) fn is_empty(&self) -> bool {
        self.remembered.is_empty() && self.untried.is_empty()
    }

    /// Whether this entry, of those that earlier runs have read, is to be tried again. To be asked in order. One that ends behind its range is
    /// not the one that was rejected.
    pub(crate) fn is_due(&mut self, entry: &Entry<'_>) -> bool {
        while self.untried.pop_front_if(|range| range.end <= entry.offset).is_some() {}
        let holds = |range: &Range<u64>| range.contains(&entry.offset) && entry.end() <= range.end;
        let is_due = self.untried.front().is_some_and(holds);
        self.is_joinable &= is_due;
        is_due
    }

    /// Whether this run tries the entry at this offset again.
    pub(crate) fn will_try(&self, offset: u64) -> bool {
        self.untried.iter().any(|range| range.contains(&offset))
    }

    /// The entry was stored, or is kept elsewhere.
    pub(crate) fn settle(&mut self, entry: &Entry<'_>) {
        self.tried(entry);
        self.is_joinable = false;
    }

    /// Remembers a rejected entry; false if there are too many, and it cannot be remembered.
    #[must_use]
    pub(crate) fn remember(&mut self, entry: &Entry<'_>) -> bool {
        // The last of a range that is tried again makes room for itself.
        let frees = |first: &Range<u64>| first.contains(&entry.offset) && first.end <= entry.end();
        let freed = usize::from(self.untried.front().is_some_and(frees));
        let is_full = self.remembered.len() + self.untried.len() - freed >= RANGES_MAX;
        match self.remembered.last_mut().filter(|_| self.is_joinable) {
            Some(last) => last.end = entry.end(),
            None if is_full => return false,
            None => self.remembered.push(entry.offset..entry.end()),
        }
        self.tried(entry);
        self.is_joinable = true;
        true
    }

    /// The first range of the untried begins behind an entry that was tried.
    fn tried(&mut self, entry: &Entry<'_>) {
        if let Some(first) = self.untried.front_mut().filter(|first| first.contains(&entry.offset)) {
            first.start = entry.end();
            if first.is_empty() {
                self.untried.pop_front();
            }
        }
    }
}

/// The options and the ranges of a note; `None` if it is empty or not laid out as ours are.
fn decode(note: &[u8]) -> Option<(u32, Vec<Range<u64>>)> {
    let (options, ranges) = note.split_first_chunk::<OPTIONS_BYTES>()?;
    let (numbers, []) = ranges.as_chunks::<8>() else { return None };
    let (pairs, []) = numbers.as_chunks::<2>() else { return None };
    let range = |[start, end]: &[[u8; 8]; 2]| u64::from_le_bytes(*start)..u64::from_le_bytes(*end);
    Some((u32::from_le_bytes(*options), pairs.iter().map(range).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::{Content, Unit};

    /// Entries of nine bytes and a line feed.
    fn entry(number: u64) -> Entry<'static> {
        Entry { unit: Unit::Line, number, offset: number * 10, content: Content::Bytes(b"123456789") }
    }

    /// Reads so many entries, of which an earlier run has read some; tells which were taken.
    fn read(
        rejected: &mut Rejected,
        entries: Range<u64>,
        earlier: u64,
        is_bad: impl Fn(u64) -> bool,
    ) -> Vec<u64> {
        let mut taken = Vec::new();
        for number in entries {
            let entry = entry(number);
            if number < earlier && !rejected.is_due(&entry) {
                continue;
            }
            taken.push(number);
            if is_bad(number) {
                assert!(rejected.remember(&entry));
            } else {
                rejected.settle(&entry);
            }
        }
        taken
    }

    #[test]
    fn other_options_take_the_rejected_lines_and_then_what_is_new() {
        let mut first = Rejected::new(&[], 1, false);
        assert_eq!(read(&mut first, 0..10, 0, |n| [2, 3, 4, 8].contains(&n)).len(), 10);
        assert_eq!(first.note().len(), 4 + 2 * 16, "lines one behind another are one range");

        let mut same = Rejected::new(&first.note(), 1, false);
        assert_eq!(read(&mut same, 0..12, 10, |n| n == 10), [10, 11]);
        assert_eq!(same.note().len(), 4 + 3 * 16);

        let mut other = Rejected::new(&same.note(), 2, false);
        assert_eq!(read(&mut other, 0..13, 12, |n| n == 3), [2, 3, 4, 8, 10, 12]);
        assert_eq!(decode(&other.note()), Some((2, std::iter::once(30..39).collect())));

        let mut moved = Rejected::new(&other.note(), 2, true);
        assert_eq!(read(&mut moved, 0..13, 13, |_| false), [3]);
        assert!(moved.is_empty() && moved.note().is_empty());
    }

    #[test]
    fn a_full_list_is_tried_again_though_nothing_was_mended() {
        let (is_bad, entries) = (|number: u64| number.is_multiple_of(2), 2 * RANGES_MAX as u64);
        let mut first = Rejected::new(&[], 1, false);
        read(&mut first, 0..entries, 0, is_bad);
        let mut other = Rejected::new(&first.note(), 2, false);
        assert_eq!(read(&mut other, 0..entries, entries, is_bad).len(), RANGES_MAX);
        assert_eq!(other.note()[OPTIONS_BYTES..], first.note()[OPTIONS_BYTES..]);
    }

    #[test]
    fn a_run_that_stops_anywhere_leaves_what_it_has_not_tried() {
        let mut first = Rejected::new(&[], 1, false);
        let bad = |n: u64| [0, 1, 2, 5, 6].contains(&n);
        read(&mut first, 0..8, 0, bad);
        for stop in 0..8 {
            // Nothing, everything, or one in two is good with the other options.
            for keeps in [|_| false, |_| true, |n: u64| n.is_multiple_of(2)] {
                let mut cut = Rejected::new(&first.note(), 2, false);
                let taken = read(&mut cut, 0..stop, 8, keeps);
                let mut rest = Rejected::new(&cut.note(), 2, false);
                let again = read(&mut rest, 0..8, 8, keeps);
                let stored = |taken: &[u64]| taken.iter().filter(|n| !keeps(**n)).count();
                assert_eq!(stored(&taken) + stored(&again), (0..8).filter(|n| bad(*n) && !keeps(*n)).count());
                let mut last = Rejected::new(&rest.note(), 3, false);
                let left: Vec<u64> = (0..8).filter(|n| bad(*n) && keeps(*n)).collect();
                assert_eq!(read(&mut last, 0..8, 8, |_| false), left);
            }
        }
    }

    #[test]
    fn only_so_many_ranges_are_remembered() {
        let mut rejected = Rejected::new(&[], 1, false);
        for number in 0..RANGES_MAX as u64 {
            assert!(rejected.remember(&entry(2 * number)));
            rejected.settle(&entry(2 * number + 1));
        }
        let next = 2 * RANGES_MAX as u64;
        assert!(!rejected.remember(&entry(next)));
        assert_eq!(rejected.note().len(), 4 + 16 * RANGES_MAX);
    }

    #[test]
    fn what_is_no_note_of_ours_says_nothing() {
        for note in [&b""[..], b"no", &[1; 4 + 15], &[1; 4 + 8]] {
            assert!(Rejected::new(note, 1, false).is_empty());
        }
    }
}
