//! Logs read into memory: what they hold, what is wrong with them, and which arrival numbers are used up by what they lost.

use std::io;
use std::path::PathBuf;

use crate::error::{Damage, OpenError};
use crate::format::{self, VERSION};
use crate::io::Directory;
use crate::log::{LogReader, StoredBatch};
use crate::manifest::{LogEntry, Manifest, SourceMark, Sources, mark};
use crate::memtable::Memtable;

/// What the logs of a manifest hold.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    pub(crate) memtable: Memtable,
    pub(crate) sources: Sources,
    /// Bytes of their names and notes.
    pub(crate) source_bytes: usize,
    /// As in the manifest, or while there are files of events that it does not name.
    pub(crate) sources_lost_before: u64,
    pub(crate) next_arrival: u64,
}

impl Replayed {
    pub(crate) fn begin(manifest: &Manifest) -> Replayed {
        Replayed {
            memtable: Memtable::default(),
            source_bytes: manifest.sources.iter().map(|(name, mark)| name.len() + mark.note.len()).sum(),
            sources: manifest.sources.clone(),
            sources_lost_before: manifest.sources_lost_before,
            next_arrival: manifest.next_arrival,
        }
    }

    /// Takes a batch in.
    pub(crate) fn take(&mut self, batch: &StoredBatch<'_>, block_bytes: usize) {
        for run in batch.runs(block_bytes) {
            self.memtable.push(run, block_bytes);
        }
        let behind = batch.frame.first_arrival + u64::from(batch.frame.events);
        if let Some((name, position)) = batch.source_mark() {
            self.mark(name, position);
        }
        self.next_arrival = self.next_arrival.max(behind);
    }

    /// Notes where a source stood, unless a later batch is known.
    pub(crate) fn mark(&mut self, name: &str, position: SourceMark) {
        let before = self.bytes_of_source(name);
        mark(&mut self.sources, name, position);
        self.source_bytes = self.source_bytes + self.bytes_of_source(name) - before;
    }

    /// Bytes of a source's name and note, if it is known.
    pub(crate) fn bytes_of_source(&self, name: &str) -> usize {
        self.sources.get(name).map_or(0, |mark| name.len() + mark.note.len())
    }
}

/// A log's damage, in the words of its users.
pub(crate) fn log_damage(directory: &dyn Directory, log: &LogReader) -> Vec<Damage> {
    let file = log.path(directory);
    let damage = log.damage.iter().map(|damage| Damage {
        file: file.clone(),
        bytes: damage.bytes.clone(),
        part: None,
        keys: None,
        events: damage.events,
        found: damage.found,
    });
    damage.collect()
}

/// Opens a log; one that the medium does not give is damaged.
pub(crate) fn open_log(
    directory: &dyn Directory,
    store: u128,
    entry: &LogEntry,
) -> Result<Result<LogReader, Damage>, OpenError> {
    match open_log_as(directory, store, entry, entry.name()) {
        Err(OpenError::Failure(failure)) if failure.is_unreadable() => {
            Ok(Err(lost_log(failure.path, "the medium does not give it back")))
        }
        opened => opened,
    }
}

/// Damage of a log as a whole.
fn lost_log(file: PathBuf, found: &'static str) -> Damage {
    Damage { file, bytes: 0..0, part: None, keys: None, events: None, found }
}

/// Opens a log, which may have another name than its own; a missing one is damage, as a manifest names a log only once its file is durable.
pub(crate) fn open_log_as(
    directory: &dyn Directory,
    store: u128,
    entry: &LogEntry,
    name: String,
) -> Result<Result<LogReader, Damage>, OpenError> {
    let file = directory.path(&name);
    let found = match LogReader::open(directory, store, entry, name) {
        Ok(LogReader { newer: Some(found), .. }) => {
            return Err(OpenError::Version { file, found, known: VERSION });
        }
        Ok(log) => return Ok(Ok(log)),
        Err(failure) => match failure.source.kind() {
            io::ErrorKind::NotFound => "the file is missing",
            io::ErrorKind::InvalidInput => "it is not a regular file",
            _ => return Err(failure.into()),
        },
    };
    Ok(Err(lost_log(file, found)))
}

/// An arrival number that none of the events has which were lost behind this one, however many they were: it stays theirs.
pub(crate) fn beyond_lost(next_arrival: u64) -> u64 {
    // More events than a log ever holds, and few enough for four million such losses.
    next_arrival.saturating_add(1 << 40).min(format::NUMBER_MAX - 1)
}
