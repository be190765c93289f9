//! The list of live files. Each change writes a new one under the next number; the highest number counts.
//!
//! A manifest is written under another name, flushed, renamed and the folder flushed, so the highest one is always whole. An older
//! one is removed when no reader holds a lock on it, and a file only when no manifest names it any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Failure, Operation};
use crate::format::{
    self, FileKind, HEADER_BYTES, Header, HeaderFault, Key, MANIFEST_BYTES_MAX, NUMBER_MAX,
    SEGMENT_ENTRY_BYTES, SOURCE_NAME_BYTES_MAX, checksum,
};
use crate::io::{Directory, Lock, LockKind, read_full_at, write_all_at};

/// A segment as the manifest names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentEntry {
    pub(crate) number: u64,
    pub(crate) file_bytes: u64,
    pub(crate) events: u64,
    /// Line feeds included.
    pub(crate) document_bytes: u64,
    pub(crate) first: Key,
    pub(crate) last: Key,
    pub(crate) blocks: u32,
    pub(crate) index_checksum: u32,
}

/// Where a source stood after the latest batch that named it, and the first arrival number after that batch: of two marks the one with
/// the higher number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourceMark {
    pub(crate) position: u64,
    pub(crate) next_arrival: u64,
}

/// What is live in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) store: u128,
    /// Its own number.
    pub(crate) number: u64,
    /// The next log or segment gets this number or a higher one.
    pub(crate) next_file: u64,
    /// Arrival numbers below this one are used up.
    pub(crate) next_arrival: u64,
    pub(crate) logs: Vec<u64>,
    pub(crate) segments: Vec<SegmentEntry>,
    /// Where each source stood, as far as segments hold its events.
    pub(crate) sources: BTreeMap<String, SourceMark>,
}

/// Why a manifest could not be used.
#[derive(Debug)]
pub(crate) enum ManifestFault {
    Failure(Failure),
    Damaged,
    Version(u32),
    /// It calls itself by another number than its name does.
    Foreign,
}

impl Manifest {
    fn header(&self) -> Header {
        Header { kind: FileKind::Manifest, store: self.store, number: self.number }
    }

    fn encode(&self) -> Vec<u8> {
        let header = self.header();
        let mut out = header.encode().to_vec();
        out.extend_from_slice(&self.next_file.to_le_bytes());
        out.extend_from_slice(&self.next_arrival.to_le_bytes());
        out.extend_from_slice(&(self.logs.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.segments.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.sources.len() as u32).to_le_bytes());
        out.extend_from_slice(&0u32.to_le_bytes());
        for log in &self.logs {
            out.extend_from_slice(&log.to_le_bytes());
        }
        for segment in &self.segments {
            out.extend_from_slice(&segment.number.to_le_bytes());
            out.extend_from_slice(&segment.file_bytes.to_le_bytes());
            out.extend_from_slice(&segment.events.to_le_bytes());
            out.extend_from_slice(&segment.document_bytes.to_le_bytes());
            format::encode_key(segment.first, &mut out);
            format::encode_key(segment.last, &mut out);
            out.extend_from_slice(&segment.blocks.to_le_bytes());
            out.extend_from_slice(&segment.index_checksum.to_le_bytes());
        }
        for (name, mark) in &self.sources {
            out.extend_from_slice(&mark.position.to_le_bytes());
            out.extend_from_slice(&mark.next_arrival.to_le_bytes());
            out.extend_from_slice(&(name.len() as u32).to_le_bytes());
            out.extend_from_slice(name.as_bytes());
        }
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
        if header.number != number {
            return Err(ManifestFault::Foreign);
        }
        let body = bytes
            .get(HEADER_BYTES..)
            .and_then(|rest| rest.split_last_chunk::<4>())
            .filter(|(body, sum)| checksum(header.seed(), &[body]) == u32::from_le_bytes(**sum));
        let (body, _) = body.ok_or(ManifestFault::Damaged)?;
        Manifest::decode_body(header, body).ok_or(ManifestFault::Damaged)
    }

    fn decode_body(header: Header, body: &[u8]) -> Option<Manifest> {
        let mut at = format::Fields(body);
        let next_file = at.u64()?;
        let next_arrival = at.u64()?;
        let (logs, segments, sources) = (at.u32()? as usize, at.u32()? as usize, at.u32()? as usize);
        let reserved = at.u32()?;
        // Counts are checked against the bytes that are there before anything is allocated for them.
        let least = logs.checked_mul(8)?.checked_add(segments.checked_mul(SEGMENT_ENTRY_BYTES)?)?;
        if reserved != 0 || least.checked_add(sources.checked_mul(20)?)? > at.0.len() {
            return None;
        }
        let mut manifest = Manifest {
            store: header.store,
            number: header.number,
            next_file,
            next_arrival,
            logs: Vec::with_capacity(logs),
            segments: Vec::with_capacity(segments),
            sources: BTreeMap::new(),
        };
        for _ in 0..logs {
            manifest.logs.push(at.u64()?);
        }
        for _ in 0..segments {
            manifest.segments.push(SegmentEntry {
                number: at.u64()?,
                file_bytes: at.u64()?,
                events: at.u64()?,
                document_bytes: at.u64()?,
                first: at.key()?,
                last: at.key()?,
                blocks: at.u32()?,
                index_checksum: at.u32()?,
            });
        }
        for _ in 0..sources {
            let mark = SourceMark { position: at.u64()?, next_arrival: at.u64()? };
            let length = at.u32()? as usize;
            if length > SOURCE_NAME_BYTES_MAX {
                return None;
            }
            let name = std::str::from_utf8(at.bytes(length)?).ok()?;
            manifest.sources.insert(name.to_owned(), mark);
        }
        let numbers =
            manifest.logs.iter().copied().chain(manifest.segments.iter().map(|segment| segment.number));
        let sane = manifest.next_arrival < NUMBER_MAX
            && manifest.next_file < NUMBER_MAX
            && numbers.into_iter().all(|number| number < manifest.next_file);
        (sane && at.0.is_empty()).then_some(manifest)
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
            Ok(bytes)
        };
        let bytes = read().map_err(ManifestFault::Failure)?;
        Manifest::decode(number, &bytes)
    }

    /// Writes this manifest and makes it the current one. What it names is kept as long as the lock is held. When flushing or renaming fails
    /// nobody can tell which one is current after a crash.
    pub(crate) fn publish(&self, directory: &dyn Directory) -> Result<Arc<dyn Lock>, Failure> {
        let name = FileKind::Manifest.name(self.number);
        let unfinished = FileKind::Manifest.unfinished_name(self.number);
        let fail = |operation| Failure::during(directory, &name, operation);
        let file = directory.create(&unfinished).map_err(fail(Operation::Create))?;
        write_all_at(&*file, 0, &self.encode()).map_err(fail(Operation::Write))?;
        file.flush().map_err(fail(Operation::Flush))?;
        // Before it can be seen, so that nobody comes first, and a refusal changes nothing.
        let lock = directory.lock(&unfinished, LockKind::Shared).map_err(fail(Operation::Lock))?;
        let lock = lock.ok_or(std::io::ErrorKind::WouldBlock.into()).map_err(fail(Operation::Lock))?;
        directory.rename(&unfinished, &name).map_err(fail(Operation::Rename))?;
        directory.flush().map_err(fail(Operation::FlushFolder))?;
        Ok(Arc::from(lock))
    }

    /// The names of all files that this manifest keeps alive.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> + '_ {
        let logs = self.logs.iter().map(|&number| FileKind::Log.name(number));
        logs.chain(self.segments.iter().map(|segment| FileKind::Segment.name(segment.number)))
    }
}
