use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::loaded::{Loaded, SegmentBytes};
use crate::block::Block;
use crate::error::{Damage, Failure, Operation, ReadError};
use crate::format::{
    BLOCK_ENTRY_BYTES, BlockEntry, FileKind, HEADER_BYTES, Header, Key, TRAILER_BYTES, Trailer, aligned,
    checksum,
};
use crate::io::{Directory, File, read_full_at};
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

    /// Closes the segments that are no longer live, once nobody reads them: a file that is still mapped takes room though it was removed.
    pub(crate) fn close_all_but(&self, live: &[SegmentEntry]) {
        let live: HashSet<String> = live.iter().map(|entry| FileKind::Segment.name(entry.number)).collect();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|loaded| live.contains(loaded.name()));
    }
}

/// What has to be as it was written for a segment to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Demand {
    /// Header, length, index and trailer.
    Everything,
    /// The index: it is enough to find the blocks.
    Index,
}

/// A segment that the manifest names; its file is opened when it is needed.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) entry: SegmentEntry,
    pub(super) environment: Arc<Environment>,
    loaded: Mutex<Weak<Loaded>>,
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

    /// The block at a place in the index, its columns verified.
    pub(crate) fn block(self: &Arc<Segment>, number: usize) -> Result<Block, ReadError> {
        self.load()?.block(self, number)
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
        match self.open(Demand::Everything) {
            Ok(opened) => {
                for number in 0..opened.index().len() {
                    if let Err(error) = opened.verify(number) {
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
        let opened = Arc::new(self.open(Demand::Everything)?);
        *loaded = Arc::downgrade(&opened);
        let mut open = self.environment.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.len() >= self.environment.open_max {
            open.pop_front();
        }
        open.push_back(Arc::clone(&opened));
        Ok(opened)
    }

    /// The segment opened although something is wrong with it, if its index is whole.
    pub(super) fn load_despite_damage(&self) -> Result<Arc<Loaded>, ReadError> {
        let opened = Arc::new(self.open(Demand::Index)?);
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&opened);
        Ok(opened)
    }

    fn open(&self, demand: Demand) -> Result<Loaded, ReadError> {
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
        if length > self.entry.file_bytes && demand == Demand::Everything {
            return Err(self.damage("the file has grown"));
        }
        let header =
            Header { kind: FileKind::Segment, store: self.environment.store, number: self.entry.number };
        let index = self.read_index(&*file, header, demand).map_err(fail(Operation::Read))?;
        let index = index.map_err(|found| self.damage(found))?;
        let bytes = match self.environment.mode {
            ReadMode::Map => {
                SegmentBytes::Mapped(file.map(self.entry.file_bytes).map_err(fail(Operation::Map))?)
            }
            ReadMode::Plain => SegmentBytes::Read(file),
        };
        let directory = Arc::clone(&self.environment.directory);
        Ok(Loaded::new(directory, name, header.seed(), index.into(), bytes))
    }

    /// Reads header, trailer and index; the inner error says what is wrong with them.
    fn read_index(
        &self,
        file: &dyn File,
        header: Header,
        demand: Demand,
    ) -> io::Result<Result<Vec<BlockEntry>, &'static str>> {
        let entry = &self.entry;
        let mut head = [0; HEADER_BYTES];
        let read = read_full_at(file, 0, &mut head)?;
        let expected = header.expect(head.get(..read).unwrap_or_default()).is_ok();
        if !expected && demand == Demand::Everything {
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
        Ok(decode_index(entry, header.seed(), start, &end, demand)
            .ok_or("its index is not the one that was written"))
    }
}

/// Takes the index and the trailer apart, and holds every figure against the layout that the others demand.
fn decode_index(
    entry: &SegmentEntry,
    seed: u32,
    start: u64,
    end: &[u8],
    demand: Demand,
) -> Option<Vec<BlockEntry>> {
    let (index, trailer) = end.split_last_chunk::<TRAILER_BYTES>()?;
    let trailer = Trailer::decode(seed, trailer);
    let expected = Trailer {
        blocks: entry.blocks,
        index_checksum: entry.index_checksum,
        events: entry.events,
        document_bytes: entry.document_bytes,
        first: entry.first,
        last: entry.last,
    };
    let complete = trailer == Some(expected) || demand == Demand::Index;
    if !complete || checksum(seed, &[index]) != entry.index_checksum {
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
