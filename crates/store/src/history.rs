//! The history of a store: which events were removed, when and why, and how many bytes were written.

use crate::format::{Frame, Word};

/// The maximum number of entries of a history; beyond it the oldest two of a cause are joined.
pub(crate) const HISTORY_ENTRIES_MAX: usize = 64;

/// Removals of one cause that are no further apart than this become one entry: a day, in ticks.
const JOINED_TICKS: u64 = 86_400 * 10_000_000;

/// Why events were removed from a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A program [removed](crate::Store::remove) them.
    Asked,
    /// They were older than [`Settings::max_age`](crate::Settings::max_age).
    Age,
    /// The files had more bytes than [`Settings::max_bytes`](crate::Settings::max_bytes).
    Size,
    /// The disk was full, and [`Settings::when_full`](crate::Settings::when_full) said to make room.
    FullMedium,
    /// A program [deleted](crate::Store::delete) them individually.
    Deleted,
}

/// A removal of events, or several for the same cause that followed one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryEntry {
    /// When the first removal took place, by the system clock, in ticks.
    pub began: u64,
    /// When the last removal took place, in ticks.
    pub ended: u64,
    /// Why the events were removed.
    pub cause: Cause,
    /// The number of removals.
    pub removals: u32,
    /// The number of segments removed as a whole. Rewritten segments are not counted.
    pub segments: u64,
    /// By how many bytes the files shrank in total.
    pub file_bytes: u64,
    /// The number of events removed.
    pub events: u64,
    /// The instants of the first and the last of these events, in ticks.
    pub instants: (u64, u64),
}

impl HistoryEntry {
    /// Takes another one in.
    pub(crate) fn join(&mut self, more: &HistoryEntry) {
        self.began = self.began.min(more.began);
        self.ended = self.ended.max(more.ended);
        self.removals = self.removals.saturating_add(more.removals);
        self.segments = self.segments.saturating_add(more.segments);
        self.file_bytes = self.file_bytes.saturating_add(more.file_bytes);
        self.events = self.events.saturating_add(more.events);
        let (first, last) = more.instants;
        self.instants = (self.instants.0.min(first), self.instants.1.max(last));
    }
}

/// Notes a removal: with the latest one of its cause, if that is less than a day old.
pub(crate) fn note(history: &mut Vec<HistoryEntry>, entry: HistoryEntry) {
    let latest = history.iter_mut().rfind(|known| known.cause == entry.cause);
    match latest.filter(|known| entry.ended.saturating_sub(known.began) < JOINED_TICKS) {
        Some(known) => known.join(&entry),
        None => history.push(entry),
    }
    while history.len() > HISTORY_ENTRIES_MAX && join_oldest(history) {}
}

/// Makes one of the two oldest entries of a cause; false if there are no two.
fn join_oldest(history: &mut Vec<HistoryEntry>) -> bool {
    let pair = (0..history.len()).find_map(|first| {
        let cause = history.get(first)?.cause;
        let second = history.iter().skip(first + 1).position(|entry| entry.cause == cause)?;
        Some((first, first + 1 + second))
    });
    let Some((first, second)) = pair else { return false };
    let joined = history.remove(second);
    if let Some(known) = history.get_mut(first) {
        known.join(&joined);
    }
    true
}

/// Bytes written since the store was created. Writes by old versions that do not count them are missing, and writes after the last manifest before a
/// crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Bytes of documents that were appended, line feeds included.
    pub appended: u64,
    /// Bytes written to logs, including those copied at opening.
    pub logs: u64,
    /// Bytes of segments written for new events.
    pub sealed: u64,
    /// Bytes of segments rewritten from other segments: by compaction, and to remove events beyond the [maximum age](crate::Settings::max_age).
    pub rewritten: u64,
    /// Bytes of manifests written.
    pub manifests: u64,
}

/// What was appended to a log, and written to it, and is in no manifest's sums yet.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Untold {
    /// Of documents, line feeds included.
    pub(crate) document_bytes: u64,
    /// Of the log.
    pub(crate) bytes: u64,
}

impl Untold {
    /// Counts a batch that was written.
    pub(crate) fn count(&mut self, frame: &Frame) {
        self.document_bytes += u64::from(frame.document_bytes);
        self.bytes += match frame.word {
            Word::None | Word::Stamp => frame.total_bytes(),
            // Until it is known whether another one takes its place.
            Word::Closed => 0,
            Word::Resumed => 2 * frame.total_bytes(),
        };
    }

    /// Adds what came to another log.
    pub(crate) fn add(&mut self, other: Untold) {
        self.document_bytes += other.document_bytes;
        self.bytes += other.bytes;
    }
}

impl Traffic {
    /// Counts documents that are appended.
    pub(crate) fn append<'a>(&mut self, documents: impl Iterator<Item = &'a [u8]>) {
        let bytes: u64 = documents.map(|document| document.len() as u64 + 1).sum();
        self.appended = self.appended.saturating_add(bytes);
    }

    /// Counts what came into a log.
    pub(crate) fn count(&mut self, untold: Untold) {
        self.appended = self.appended.saturating_add(untold.document_bytes);
        self.logs = self.logs.saturating_add(untold.bytes);
    }

    /// All bytes written to disk.
    pub fn written(&self) -> u64 {
        let Traffic { appended: _, logs, sealed, rewritten, manifests } = *self;
        [logs, sealed, rewritten, manifests].into_iter().fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(time: u64, cause: Cause) -> HistoryEntry {
        let (file_bytes, events) = (10, 3);
        HistoryEntry {
            began: time,
            ended: time,
            cause,
            removals: 1,
            segments: 1,
            file_bytes,
            events,
            instants: (time, time + 1),
        }
    }

    #[test]
    fn removals_of_a_day_are_one_entry() {
        let mut history = Vec::new();
        note(&mut history, entry(5, Cause::Age));
        note(&mut history, entry(6, Cause::Size));
        note(&mut history, entry(7, Cause::Age));
        note(&mut history, entry(5 + JOINED_TICKS, Cause::Age));
        let joined = HistoryEntry {
            ended: 7,
            removals: 2,
            segments: 2,
            file_bytes: 20,
            events: 6,
            instants: (5, 8),
            ..entry(5, Cause::Age)
        };
        assert_eq!(history, [joined, entry(6, Cause::Size), entry(5 + JOINED_TICKS, Cause::Age)]);
    }

    #[test]
    fn of_too_many_the_oldest_become_one_and_nothing_is_lost() {
        let mut history = vec![entry(0, Cause::Asked)];
        for day in 1..1000 {
            note(&mut history, entry(day * 2 * JOINED_TICKS, Cause::Age));
        }
        assert_eq!(history.len(), HISTORY_ENTRIES_MAX);
        assert_eq!(history.iter().map(|entry| entry.events).sum::<u64>(), 3000);
        assert_eq!(history[0], entry(0, Cause::Asked));
        assert_eq!(history[1].removals, 1000 - 1 - 62);
        assert!(history.is_sorted_by_key(|entry| entry.began));
    }
}
