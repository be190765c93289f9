//! What a manifest says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Failure;
use crate::format::{FileKind, Key, Trailer, VERSION};
use crate::history::{HistoryEntry, Traffic};
use crate::marks::{Arrivals, Marks};
use crate::settings::Settings;

/// A log as the manifest names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogEntry {
    pub(crate) number: u64,
    pub(crate) version: u32,
    /// So many bytes of it were durable, in whole batches, when the manifest was written.
    pub(crate) length: u64,
    /// It was closed: nothing behind its length counts, and nobody writes to it any more.
    pub(crate) ended: bool,
}

impl LogEntry {
    pub(crate) fn name(&self) -> String {
        FileKind::Log.name(self.number)
    }
}

/// A segment as the manifest names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentEntry {
    pub(crate) number: u64,
    pub(crate) version: u32,
    pub(crate) file_bytes: u64,
    pub(crate) events: u64,
    /// Line feeds included.
    pub(crate) document_bytes: u64,
    pub(crate) first: Key,
    pub(crate) last: Key,
    pub(crate) blocks: u32,
    pub(crate) index_bytes: u64,
    pub(crate) index_checksum: u32,
    /// The least and the greatest arrival number; 0 and 2^64 - 1 where they are not known.
    pub(crate) arrivals: (u64, u64),
    /// How many of its blocks are in columns.
    pub(crate) column_blocks: u32,
}

impl SegmentEntry {
    /// What a segment's own end says of it.
    pub(crate) fn of(number: u64, version: u32, file_bytes: u64, trailer: &Trailer) -> SegmentEntry {
        SegmentEntry {
            number,
            version,
            file_bytes,
            events: trailer.events,
            document_bytes: trailer.document_bytes,
            first: trailer.first,
            last: trailer.last,
            blocks: trailer.blocks,
            index_bytes: trailer.index_bytes,
            index_checksum: trailer.index_checksum,
            arrivals: trailer.arrivals,
            column_blocks: trailer.column_blocks,
        }
    }

    /// The segment's end, as it must be.
    pub(crate) fn trailer(&self) -> Trailer {
        Trailer {
            blocks: self.blocks,
            index_checksum: self.index_checksum,
            index_bytes: self.index_bytes,
            events: self.events,
            document_bytes: self.document_bytes,
            first: self.first,
            last: self.last,
            arrivals: self.arrivals,
            column_blocks: self.column_blocks,
        }
    }

    pub(crate) fn name(&self) -> String {
        FileKind::Segment.name(self.number)
    }

    /// Any entry, for tests.
    #[cfg(test)]
    pub(crate) fn example(number: u64) -> SegmentEntry {
        let key = Key { instant: 0, arrival: 0 };
        SegmentEntry {
            number,
            version: VERSION,
            file_bytes: 0,
            events: 1,
            document_bytes: 2,
            first: key,
            last: key,
            blocks: 1,
            index_bytes: 0,
            index_checksum: 0,
            arrivals: (0, 0),
            column_blocks: 0,
        }
    }
}

/// Where a source stood after the latest batch that named it, and the first arrival number after that batch: of two marks the one with
/// the higher number counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceMark {
    pub(crate) position: u64,
    pub(crate) next_arrival: u64,
    pub(crate) note: Arc<[u8]>,
}

/// Where sources stood, by their names.
pub(crate) type Sources = BTreeMap<String, SourceMark>;

/// Notes where a source stood, unless a later batch is known.
pub(crate) fn mark(sources: &mut Sources, name: &str, mark: SourceMark) {
    if sources.get(name).is_none_or(|known| known.next_arrival <= mark.next_arrival) {
        sources.insert(name.to_owned(), mark);
    }
}

/// A part of a manifest that this version does not know, and need not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: [u8; 8],
    pub(crate) flags: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Which moment of a store a backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BackupMark {
    /// The store's line.
    pub(crate) line: u64,
    /// The number of the manifest that was backed up.
    pub(crate) number: u64,
    /// When that was, in ticks.
    pub(crate) time: u64,
}

/// Deleted events that files may still hold: those of one receipt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Erasing {
    /// When the first of them were deleted, in ticks.
    pub(crate) began: u64,
    /// Bytes of their documents with line feeds.
    pub(crate) document_bytes: u64,
    /// Segments that were written anew without them, or left whole.
    pub(crate) files: u64,
    /// Bytes of these.
    pub(crate) file_bytes: u64,
    /// No log or segment of this number or a higher one has ever held one.
    pub(crate) below: u64,
    /// Their arrival numbers: `repair` takes none of them in.
    pub(crate) arrivals: Arrivals,
}

/// Events of a file that have other arrival numbers in the store, where other events have theirs: the file may be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Renumbered {
    /// The SHA-256 of the keys of all events in the file, by which it is known again.
    pub(crate) file: [u8; 32],
    /// In order, of consecutive numbers: the first one in the file, how many, and the first one in the store.
    pub(crate) runs: Vec<(u64, u64, u64)>,
}

impl Renumbered {
    /// The number in the store of an event of the file.
    pub(crate) fn number(&self, arrival: u64) -> Option<u64> {
        let behind = self.runs.partition_point(|(first, ..)| *first <= arrival);
        let (first, count, new) = *self.runs.get(behind.checked_sub(1)?)?;
        (arrival - first < count).then(|| new + (arrival - first))
    }
}

/// What is live in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) store: u128,
    /// The version that it was read in; it is written in the newest.
    pub(crate) version: u32,
    /// Its own number.
    pub(crate) number: u64,
    /// The next log or segment gets this number or a higher one.
    pub(crate) next_file: u64,
    /// Arrival numbers below this one are used up.
    pub(crate) next_arrival: u64,
    pub(crate) logs: Vec<LogEntry>,
    pub(crate) segments: Vec<SegmentEntry>,
    /// Where each source stood, as far as segments hold its events.
    pub(crate) sources: Sources,
    /// Where sources stood was lost, as far as batches before this arrival number tell it; 0 if it was not.
    pub(crate) sources_lost_before: u64,
    /// Names of receipts that could not be read: `next_arrival` was moved on beyond whatever numbers they know of.
    pub(crate) beyond: BTreeSet<String>,
    /// Events that `repair` gave new arrival numbers.
    pub(crate) renumbered: Vec<Renumbered>,
    /// Names of files that were live once, and are to be removed.
    pub(crate) retired: BTreeSet<String>,
    /// What the store keeps to by itself.
    pub(crate) settings: Settings,
    /// What left the store, the earliest first.
    pub(crate) history: Vec<HistoryEntry>,
    /// What was written so far.
    pub(crate) traffic: Traffic,
    /// Per segment with deleted events which ones these are.
    pub(crate) deleted: BTreeMap<u64, Arc<Marks>>,
    /// What was deleted since the last receipt.
    pub(crate) erasing: Option<Erasing>,
    /// 0, or a random number that the store got when it was restored: what was backed up before is of another line.
    pub(crate) line: u64,
    /// It is that of a backup to which nobody has written since.
    pub(crate) backup: Option<BackupMark>,
    pub(crate) unknown: Vec<Section>,
}

/// Why a manifest could not be used.
#[derive(Debug)]
pub(crate) enum ManifestFault {
    Failure(Failure),
    Damaged,
    Version(u32),
    /// It has a section that must be known, and is not.
    Section(String),
}

impl Manifest {
    /// Whether it came of another one: of the same store, which has gone on since, and was not put back to an earlier state.
    pub(crate) fn follows(&self, before: &Manifest) -> bool {
        (self.store, self.line) == (before.store, before.line) && self.number > before.number
    }

    /// That of a store that holds nothing yet.
    pub(crate) fn empty(store: u128) -> Manifest {
        Manifest {
            store,
            version: VERSION,
            number: 0,
            next_file: 1,
            next_arrival: 0,
            logs: Vec::new(),
            segments: Vec::new(),
            sources: Sources::new(),
            sources_lost_before: 0,
            beyond: BTreeSet::new(),
            renumbered: Vec::new(),
            retired: BTreeSet::new(),
            settings: Settings::default(),
            history: Vec::new(),
            traffic: Traffic::default(),
            deleted: BTreeMap::new(),
            erasing: None,
            line: 0,
            backup: None,
            unknown: Vec::new(),
        }
    }

    pub(crate) fn name(&self) -> String {
        FileKind::Manifest.name(self.number)
    }

    /// The names of all files that this manifest keeps alive.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> + '_ {
        let logs = self.logs.iter().map(LogEntry::name);
        logs.chain(self.segments.iter().map(SegmentEntry::name))
    }

    /// Whether where a source stands was lost with an earlier manifest.
    pub(crate) fn has_lost(lost_before: u64, sources: &Sources, name: &str) -> bool {
        lost_before > 0 && sources.get(name).is_none_or(|mark| mark.next_arrival <= lost_before)
    }
}
