//! The list of live files. Each change writes a new one under the next number; the highest number counts.
//!
//! A manifest is written under another name, flushed, renamed and the folder flushed, so the highest one is always whole. It names
//! the files that it retires until they are gone; see [`retire`](crate::retire).

mod sections;
mod v1;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use crate::error::{Failure, Operation};
use crate::format::{
    FileKind, HEADER_BYTES, Header, HeaderFault, Key, MANIFEST_BYTES_MAX, NUMBER_MAX, SPARE_NAME, Trailer,
    VERSION, checksum,
};
use crate::io::{Directory, File, Lock, LockKind, NameKind, read_full_at, write_all_at};

pub(crate) use sections::{decode_sources, encode_sources};

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
        }
    }
}

/// Where a source stood after the latest batch that named it, and the first arrival number after that batch: of two marks the one with
/// the higher number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourceMark {
    pub(crate) position: u64,
    pub(crate) next_arrival: u64,
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
    /// Names of files that were live once, and are to be removed.
    pub(crate) retired: BTreeSet<String>,
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
            retired: BTreeSet::new(),
            unknown: Vec::new(),
        }
    }

    pub(crate) fn name(&self) -> String {
        FileKind::Manifest.name(self.number)
    }

    fn encode(&self) -> Vec<u8> {
        let header =
            Header { kind: FileKind::Manifest, version: VERSION, store: self.store, number: self.number };
        let mut out = header.encode().to_vec();
        sections::encode(self, &mut out);
        let body = out.get(HEADER_BYTES..).unwrap_or_default();
        let sum = checksum(header.seed(), &[body]);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    fn decode(number: u64, bytes: &[u8]) -> Result<Manifest, ManifestFault> {
        let header = Header::decode(FileKind::Manifest, bytes).map_err(|fault| match fault {
            HeaderFault::Version(version) => ManifestFault::Version(version),
            HeaderFault::Damaged | HeaderFault::Foreign => ManifestFault::Damaged,
        })?;
        let body = bytes
            .get(HEADER_BYTES..)
            .and_then(|rest| rest.split_last_chunk::<4>())
            .filter(|(body, sum)| checksum(header.seed(), &[body]) == u32::from_le_bytes(**sum));
        let (body, _) = body.filter(|_| header.number == number).ok_or(ManifestFault::Damaged)?;
        let manifest = Manifest { number, version: header.version, ..Manifest::empty(header.store) };
        let manifest = match header.version {
            1 => v1::decode(manifest, body).ok_or(ManifestFault::Damaged)?,
            _ => sections::decode(manifest, body)?,
        };
        let logs = manifest.logs.iter().map(|log| log.number);
        let numbers = logs.chain(manifest.segments.iter().map(|segment| segment.number));
        let sane = manifest.next_arrival < NUMBER_MAX
            && manifest.next_file < NUMBER_MAX
            && numbers.into_iter().all(|number| number < manifest.next_file)
            && manifest.names().all(|name| !manifest.retired.contains(&name));
        if sane { Ok(manifest) } else { Err(ManifestFault::Damaged) }
    }

    /// Reads the manifest of this number.
    pub(crate) fn read(directory: &dyn Directory, number: u64) -> Result<Manifest, ManifestFault> {
        let name = FileKind::Manifest.name(number);
        let fail = |operation| Failure::during(directory, &name, operation);
        let read = || {
            let file = directory.open(&name).map_err(fail(Operation::Open))?;
            let length = file.length().map_err(fail(Operation::Read))?;
            let mut bytes = vec![0; length.min(MANIFEST_BYTES_MAX) as usize];
            let read = read_full_at(&*file, 0, &mut bytes).map_err(fail(Operation::Read))?;
            bytes.truncate(read);
            Ok::<_, Failure>(bytes)
        };
        match read() {
            Ok(bytes) => Manifest::decode(number, &bytes),
            Err(failure) if failure.is_unreadable() => Err(ManifestFault::Damaged),
            Err(failure) => Err(ManifestFault::Failure(failure)),
        }
    }

    /// Writes this manifest and makes it the current one. What it names is kept as long as the lock is held. When flushing or renaming fails
    /// nobody can tell which one is current after a crash. On any other failure nothing has changed.
    pub(crate) fn publish(&self, directory: &dyn Directory) -> Result<Arc<dyn Lock>, Failure> {
        let name = self.name();
        let unfinished = FileKind::Manifest.unfinished_name(self.number);
        let fail = |operation| Failure::during(directory, &name, operation);
        clear_name(directory, &unfinished)?;
        let bytes = self.encode();
        let written = write_new(directory, &unfinished, &bytes).or_else(|failure| {
            if failure.operation != Operation::Create {
                let _ = directory.remove(&unfinished);
            }
            if failure.is_lack_of_room() {
                write_over_spare(directory, &unfinished, &bytes).ok_or(failure)
            } else {
                Err(failure)
            }
        });
        let prepared = written.and_then(|file| {
            file.flush().map_err(fail(Operation::Flush))?;
            // Before it can be seen, so that nobody comes first, and a refusal changes nothing.
            let lock = directory.lock(&unfinished, LockKind::Shared).map_err(fail(Operation::Lock))?;
            lock.ok_or(io::ErrorKind::WouldBlock.into()).map_err(fail(Operation::Lock))
        });
        let lock = prepared.inspect_err(|_| {
            let _ = directory.remove(&unfinished);
        })?;
        let placed = place(directory, &unfinished, &name).inspect_err(|_| {
            // Unless it was renamed all the same it is of no use to anybody.
            let _ = directory.remove(&unfinished);
        });
        placed.map_err(fail(Operation::Rename))?;
        directory.flush().map_err(fail(Operation::FlushFolder))?;
        Ok(Arc::from(lock))
    }

    /// The names of all files that this manifest keeps alive.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> + '_ {
        let logs = self.logs.iter().map(|log| FileKind::Log.name(log.number));
        logs.chain(self.segments.iter().map(SegmentEntry::name))
    }

    /// Whether where a source stands was lost with an earlier manifest.
    pub(crate) fn has_lost(lost_before: u64, sources: &Sources, name: &str) -> bool {
        lost_before > 0 && sources.get(name).is_none_or(|mark| mark.next_arrival <= lost_before)
    }
}

/// Gives a manifest its final name, unless another process has just done so with one of its own: of two writers of which one has lost its
/// lock, only one gets any further.
fn place(directory: &dyn Directory, unfinished: &str, name: &str) -> io::Result<()> {
    let taken = || io::Error::new(io::ErrorKind::AlreadyExists, "another process has written it meanwhile");
    match directory.link(unfinished, name) {
        Ok(()) => {
            // It has two names now. The unfinished one is taken away the next time at the latest.
            let _ = directory.remove(unfinished);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(taken()),
        // Without second names, or room for one (tmpfs counts them), it is a matter of the moment between.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::Unsupported | io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ) =>
        {
            match directory.kind(name)? {
                None => directory.rename(unfinished, name),
                Some(_) => Err(taken()),
            }
        }
        Err(error) => Err(error),
    }
}

/// Takes away what an interrupted attempt, or somebody else, has left under a name that is needed now.
fn clear_name(directory: &dyn Directory, name: &str) -> Result<(), Failure> {
    match directory.kind(name).map_err(Failure::during(directory, name, Operation::Open))? {
        None => Ok(()),
        Some(_) => directory.remove(name).map_err(Failure::during(directory, name, Operation::Remove)),
    }
}

fn write_new(directory: &dyn Directory, name: &str, bytes: &[u8]) -> Result<Arc<dyn File>, Failure> {
    let file = directory.create(name).map_err(Failure::during(directory, name, Operation::Create))?;
    write_all_at(&*file, 0, bytes).map_err(Failure::during(directory, name, Operation::Write))?;
    Ok(file)
}

/// Gives the spare file this name and these bytes, which takes no room that it does not have already.
fn write_over_spare(directory: &dyn Directory, name: &str, bytes: &[u8]) -> Option<Arc<dyn File>> {
    let fits = matches!(directory.kind(SPARE_NAME), Ok(Some(NameKind::File(length))) if length >= bytes.len() as u64);
    if !fits || directory.has_other_names(SPARE_NAME) || directory.rename(SPARE_NAME, name).is_err() {
        return None;
    }
    let write = || {
        let file = directory.open_for_writing(name)?;
        write_all_at(&*file, 0, bytes)?;
        file.set_length(bytes.len() as u64)?;
        Ok::<_, io::Error>(file)
    };
    write().inspect_err(|_| drop(directory.rename(name, SPARE_NAME))).ok()
}

/// Keeps room for the next manifest, so that the oldest events can be removed when there is no byte left. Nothing depends on it,
/// so it may fail.
pub(crate) fn keep_spare(directory: &dyn Directory, manifest: &Manifest) {
    const ROOM_BYTES: u64 = 8192;
    let Ok(Some(NameKind::File(length))) = directory.kind(&manifest.name()) else { return };
    let needed = (length + ROOM_BYTES / 2).next_multiple_of(ROOM_BYTES);
    let (file, from) = match directory.kind(SPARE_NAME) {
        Ok(None) => (directory.create(SPARE_NAME), 0),
        Ok(Some(NameKind::File(length))) if length < needed && !directory.has_other_names(SPARE_NAME) => {
            (directory.open_for_writing(SPARE_NAME), length)
        }
        _ => return,
    };
    // The bytes are written, not only claimed: a hole has no room.
    let Ok(file) = file else { return };
    if write_all_at(&*file, from, &vec![0; (needed - from) as usize]).is_err() && from == 0 {
        let _ = directory.remove(SPARE_NAME);
    }
}
