//! Removal: the oldest segments leave the store, whole.

use std::path::PathBuf;
use std::sync::PoisonError;

use crate::error::SealError;
use crate::format::FileKind;
use crate::manifest::SegmentEntry;
use crate::segment::Written;
use crate::writer::Inner;

/// Which segments may stay. Events that are not sealed yet always do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// A segment goes if all of its events are before this instant, in ticks.
    pub before: Option<u64>,
    /// Segments go, those with the earliest last event first, until the files of the others have at most so many bytes.
    pub file_bytes_max: Option<u64>,
}

/// What was removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    /// The files of the segments.
    pub files: Vec<PathBuf>,
    /// Their bytes.
    pub file_bytes: u64,
    /// How many events they hold.
    pub events: u64,
    /// The first and the last instant of these, in ticks.
    pub instants: Option<(u64, u64)>,
}

impl Retention {
    /// Those that have to go.
    fn outside(&self, segments: &[SegmentEntry]) -> Vec<SegmentEntry> {
        let mut oldest_first = segments.to_vec();
        oldest_first.sort_unstable_by_key(|entry| entry.last);
        let mut bytes = oldest_first.iter().map(|entry| entry.file_bytes).fold(0, u64::saturating_add);
        let goes = |entry: &SegmentEntry| {
            let old = self.before.is_some_and(|before| entry.last.instant < before);
            let much = self.file_bytes_max.is_some_and(|most| bytes > most);
            bytes = bytes.saturating_sub(entry.file_bytes);
            old || much
        };
        let (mut goes, mut outside) = (goes, oldest_first);
        let count = outside.iter().take_while(|entry| goes(entry)).count();
        outside.truncate(count);
        outside
    }
}

impl Inner {
    pub(crate) fn remove(&self, retention: Retention, dry_run: bool) -> Result<Removed, SealError> {
        // What is being merged is not removed before it is done.
        let _no_merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = self.lock();
        let outside = retention.outside(&writer.manifest.segments);
        let mut removed = Removed::default();
        for entry in &outside {
            removed.files.push(self.directory.path(&FileKind::Segment.name(entry.number)));
            removed.file_bytes = removed.file_bytes.saturating_add(entry.file_bytes);
            removed.events = removed.events.saturating_add(entry.events);
            let (first, last) = (entry.first.instant, entry.last.instant);
            let joined = removed.instants.map_or((first, last), |(a, b)| (a.min(first), b.max(last)));
            removed.instants = Some(joined);
        }
        if outside.is_empty() || dry_run {
            return Ok(removed);
        }
        let numbers: Vec<u64> = outside.iter().map(|entry| entry.number).collect();
        let manifest = writer.manifest.clone();
        self.replace_segments(&mut writer, manifest, &numbers, Written::default(), |_| ())?;
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Key;

    #[test]
    fn the_oldest_go_first() {
        let entry = |number: u64, last: u64| SegmentEntry {
            number,
            file_bytes: 100,
            events: 1,
            document_bytes: 10,
            first: Key { instant: 0, arrival: 0 },
            last: Key { instant: last, arrival: 0 },
            blocks: 1,
            index_checksum: 0,
        };
        let segments = [entry(1, 30), entry(2, 10), entry(3, 20)];
        let outside = |before, file_bytes_max| {
            let outside = Retention { before, file_bytes_max }.outside(&segments);
            outside.iter().map(|entry| entry.number).collect::<Vec<_>>()
        };
        assert_eq!(outside(None, None), []);
        assert_eq!(outside(Some(10), None), []);
        assert_eq!(outside(Some(11), None), [2]);
        assert_eq!(outside(Some(u64::MAX), None), [2, 3, 1]);
        assert_eq!(outside(None, Some(300)), []);
        assert_eq!(outside(None, Some(299)), [2]);
        assert_eq!(outside(None, Some(99)), [2, 3, 1]);
        assert_eq!(outside(Some(21), Some(250)), [2, 3]);
    }
}
