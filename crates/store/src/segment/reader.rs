use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::block::{Block, Columns, ReadBytes};
use crate::error::{Damage, Failure, Operation, ReadError};
use crate::format::{
    BLOCK_ENTRY_BYTES, BlockEntry, FileKind, HEADER_BYTES, Header, Key, TRAILER_BYTES, Trailer, aligned,
    checksum,
};
use crate::io::{Directory, File, Mapping, read_full_at};
use crate::manifest::SegmentEntry;
use crate::options::{Options, ReadMode};

/// What all segments of an open store share.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) store: u128,
    pub(crate) mode: ReadMode,
    /// How many segments stay open.
    open_max: usize,
    /// The most recently opened last.
    open: Mutex<VecDeque<Arc<Loaded>>>,
}

/// Most segments that stay mapped: a system allows some 65,000 maps to a process.
const MAPS_MAX: usize = 16_384;

impl Environment {
    pub(crate) fn new(directory: Arc<dyn Directory>, store: u128, options: &Options) -> Environment {
        let open_max = match options.read_mode {
            ReadMode::Map => MAPS_MAX,
            ReadMode::Plain => options.open_files_max,
        };
        let open = Mutex::new(VecDeque::new());
        Environment { directory, store, mode: options.read_mode, open_max, open }
    }
}

/// A segment that the manifest names; its file is opened when it is needed.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) entry: SegmentEntry,
    environment: Arc<Environment>,
    loaded: Mutex<Weak<Loaded>>,
}

/// An open segment: its index, and its bytes within reach.
pub(crate) struct Loaded {
    name: String,
    seed: u32,
    index: Arc<[BlockEntry]>,
    bytes: SegmentBytes,
    /// Per block whether its checksums held in this process; only maps remember, what is read is new each time.
    verified: Vec<AtomicBool>,
}

enum SegmentBytes {
    Mapped(Mapping),
    Read(Arc<dyn File>),
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded").field("name", &self.name).field("blocks", &self.index.len()).finish()
    }
}

impl Segment {
    pub(crate) fn new(entry: SegmentEntry, environment: Arc<Environment>) -> Segment {
        Segment { entry, environment, loaded: Mutex::new(Weak::new()) }
    }

    fn name(&self) -> String {
        FileKind::Segment.name(self.entry.number)
    }

    fn damage(&self, found: &'static str) -> ReadError {
        ReadError::Damaged(Damage {
            file: self.environment.directory.path(&self.name()),
            bytes: 0..self.entry.file_bytes,
            keys: Some((self.entry.first, self.entry.last)),
            events: Some(self.entry.events),
            found,
        })
    }

    /// The block at a place in the index, its checksums verified.
    pub(crate) fn block(&self, number: usize) -> Result<Block, ReadError> {
        self.load()?.block(&*self.environment.directory, number, false)
    }

    /// Reads everything again, whatever is known already, and says what is damaged.
    pub(crate) fn verify(&self) -> Result<Vec<Damage>, Failure> {
        let mut damage = Vec::new();
        let mut note = |error| match error {
            ReadError::Damaged(found) => {
                damage.push(found);
                Ok(())
            }
            ReadError::Failure(failure) => Err(failure),
        };
        match self.open().map(Arc::new) {
            Ok(opened) => {
                for number in 0..opened.index.len() {
                    if let Err(error) = opened.block(&*self.environment.directory, number, true) {
                        note(error)?;
                    }
                }
            }
            Err(error) => note(error)?,
        }
        Ok(damage)
    }

    /// The segment opened, its index verified.
    pub(crate) fn load(&self) -> Result<Arc<Loaded>, ReadError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = loaded.upgrade() {
            return Ok(open);
        }
        let opened = Arc::new(self.open()?);
        *loaded = Arc::downgrade(&opened);
        let mut open = self.environment.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.len() >= self.environment.open_max {
            open.pop_front();
        }
        open.push_back(Arc::clone(&opened));
        Ok(opened)
    }

    fn open(&self) -> Result<Loaded, ReadError> {
        let directory = &*self.environment.directory;
        let name = self.name();
        let fail = |operation| Failure::during(directory, &name, operation);
        let file = match directory.open(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.damage("the file is missing"));
            }
            opened => opened.map_err(fail(Operation::Open))?,
        };
        let length = file.length().map_err(fail(Operation::Read))?;
        if length < self.entry.file_bytes {
            return Err(self.damage("the file was cut short"));
        }
        if length > self.entry.file_bytes {
            return Err(self.damage("the file has grown"));
        }
        let header =
            Header { kind: FileKind::Segment, store: self.environment.store, number: self.entry.number };
        let index = self.read_index(&*file, header).map_err(fail(Operation::Read))?;
        let index = index.map_err(|found| self.damage(found))?;
        let verified = index.iter().map(|_| AtomicBool::new(false)).collect();
        let bytes = match self.environment.mode {
            ReadMode::Map => SegmentBytes::Mapped(file.map(length).map_err(fail(Operation::Map))?),
            ReadMode::Plain => SegmentBytes::Read(file),
        };
        Ok(Loaded { name, seed: header.seed(), index: index.into(), bytes, verified })
    }

    /// Reads header, trailer and index; the inner error says what is wrong with them.
    fn read_index(
        &self,
        file: &dyn File,
        header: Header,
    ) -> io::Result<Result<Vec<BlockEntry>, &'static str>> {
        let entry = &self.entry;
        let mut head = [0; HEADER_BYTES];
        let read = read_full_at(file, 0, &mut head)?;
        if header.expect(head.get(..read).unwrap_or_default()).is_err() {
            return Ok(Err("its header is not the one that was written"));
        }
        let index_bytes = u64::from(entry.blocks) * BLOCK_ENTRY_BYTES as u64;
        let end_bytes = index_bytes + TRAILER_BYTES as u64;
        // The index is smaller than the file, so no more than that is ever allocated.
        let Some(start) = entry.file_bytes.checked_sub(end_bytes) else {
            return Ok(Err("it is too short for its index"));
        };
        let mut end = vec![0; end_bytes as usize];
        if read_full_at(file, start, &mut end)? < end.len() {
            return Ok(Err("it is too short for its index"));
        }
        Ok(decode_index(entry, header.seed(), start, &end).ok_or("its index is not the one that was written"))
    }
}

/// Takes the index and the trailer apart, and holds every figure against the layout that the others demand.
fn decode_index(entry: &SegmentEntry, seed: u32, start: u64, end: &[u8]) -> Option<Vec<BlockEntry>> {
    let (index, trailer) = end.split_last_chunk::<TRAILER_BYTES>()?;
    let trailer = Trailer::decode(seed, trailer)?;
    let expected = Trailer {
        blocks: entry.blocks,
        index_checksum: entry.index_checksum,
        events: entry.events,
        document_bytes: entry.document_bytes,
        first: entry.first,
        last: entry.last,
    };
    if trailer != expected || checksum(seed, &[index]) != trailer.index_checksum {
        return None;
    }
    let blocks: Vec<BlockEntry> =
        index.as_chunks::<BLOCK_ENTRY_BYTES>().0.iter().map(BlockEntry::decode).collect::<Option<_>>()?;
    let (first, last) = (blocks.first()?, blocks.last()?);
    if first.first != entry.first || last.last != entry.last {
        return None;
    }
    let (mut documents, mut columns) = (HEADER_BYTES as u64, aligned(last.documents().end));
    let (mut events, mut document_bytes) = (0u64, 0u64);
    let mut previous: Option<Key> = None;
    for block in &blocks {
        let placed = block.document_offset == documents && block.column_offset == columns;
        let ordered = previous.is_none_or(|previous| previous < block.first) && block.first <= block.last;
        // An event has at least one byte and its line feed.
        if !placed || !ordered || block.events == 0 || block.document_bytes / 2 < block.events {
            return None;
        }
        documents = block.documents().end;
        columns = aligned(block.columns().end);
        events += u64::from(block.events);
        document_bytes += u64::from(block.document_bytes);
        previous = Some(block.last);
    }
    let complete = columns == start && events == entry.events && document_bytes == entry.document_bytes;
    complete.then_some(blocks)
}

impl Loaded {
    pub(crate) fn index(&self) -> &Arc<[BlockEntry]> {
        &self.index
    }

    /// A range of the mapped file; empty where the file is not mapped.
    pub(crate) fn mapped(&self, range: &Range<usize>) -> &[u8] {
        match &self.bytes {
            SegmentBytes::Mapped(map) => (**map).as_ref().get(range.clone()).unwrap_or_default(),
            SegmentBytes::Read(_) => &[],
        }
    }

    /// The block at a place in the index, its checksums verified: at the first use in this process if the file is mapped, at
    /// each use if it is read; with `again` in any case.
    pub(crate) fn block(
        self: &Arc<Loaded>,
        directory: &dyn Directory,
        number: usize,
        again: bool,
    ) -> Result<Block, ReadError> {
        let fail = || Failure::during(directory, &self.name, Operation::Read);
        let (Some(entry), Some(verified)) = (self.index.get(number), self.verified.get(number)) else {
            return Err(fail()(io::ErrorKind::InvalidInput.into()).into());
        };
        let damaged = |bytes, found| {
            ReadError::Damaged(Damage {
                file: directory.path(&self.name),
                bytes,
                keys: Some((entry.first, entry.last)),
                events: Some(u64::from(entry.events)),
                found,
            })
        };
        let events = entry.events as usize;
        let check = |documents: &[u8], columns: &[u8]| match check(entry, self.seed, documents, columns) {
            Ok(()) => Ok(()),
            Err(Fault::Documents(found)) => Err(damaged(entry.documents(), found)),
            Err(Fault::Columns(found)) => Err(damaged(entry.columns(), found)),
        };
        match &self.bytes {
            SegmentBytes::Mapped(_) => {
                // The index was held against the length of the file, which is mapped whole.
                let documents = entry.documents().start as usize..entry.documents().end as usize;
                let columns = entry.columns().start as usize..entry.columns().end as usize;
                if again || !verified.load(Ordering::Relaxed) {
                    check(self.mapped(&documents), self.mapped(&columns))?;
                    verified.store(true, Ordering::Relaxed);
                }
                Ok(Block::mapped(Arc::clone(self), documents, columns, events))
            }
            SegmentBytes::Read(file) => {
                let read = |range: Range<u64>| {
                    let mut bytes = vec![0; (range.end - range.start) as usize];
                    let read = read_full_at(&**file, range.start, &mut bytes).map_err(fail())?;
                    bytes.truncate(read);
                    Ok::<_, Failure>(bytes)
                };
                let bytes =
                    ReadBytes { documents: read(entry.documents())?, columns: read(entry.columns())? };
                check(&bytes.documents, &bytes.columns)?;
                Ok(Block::read(bytes, events))
            }
        }
    }
}

enum Fault {
    Documents(&'static str),
    Columns(&'static str),
}

/// Verifies a block: its checksums, and that its parts fit together, so that whoever uses the ends need not doubt them.
fn check(entry: &BlockEntry, seed: u32, documents: &[u8], columns: &[u8]) -> Result<(), Fault> {
    if checksum(seed, &[documents]) != entry.document_checksum {
        return Err(Fault::Documents("the checksum of its documents does not hold"));
    }
    if checksum(seed, &[columns]) != entry.column_checksum {
        return Err(Fault::Columns("the checksum of its columns does not hold"));
    }
    let parts = Columns::of(columns, entry.events as usize);
    let consistent = parts.is_some_and(|parts| {
        let mut keys = parts.instants.iter().zip(parts.arrivals).map(|(instant, arrival)| Key {
            instant: u64::from_le_bytes(*instant),
            arrival: u64::from_le_bytes(*arrival),
        });
        let mut start = 0;
        let ended = parts.ends.iter().all(|end| {
            let end = u32::from_le_bytes(*end) as usize;
            let holds = end > start && documents.get(end) == Some(&b'\n');
            start = end + 1;
            holds
        });
        ended
            && start == documents.len()
            && keys.clone().is_sorted_by(|a, b| a < b)
            && keys.clone().next() == Some(entry.first)
            && keys.next_back() == Some(entry.last)
    });
    if consistent { Ok(()) } else { Err(Fault::Columns("its parts do not fit together")) }
}
