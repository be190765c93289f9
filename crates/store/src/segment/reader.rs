use std::collections::{HashSet, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::block::{Block, Columns, ReadBlock};
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

    /// Closes the segments that are no longer live, once nobody reads them: a file that is still mapped takes room though it was removed.
    pub(crate) fn close_all_but(&self, live: &[SegmentEntry]) {
        let live: HashSet<String> = live.iter().map(|entry| FileKind::Segment.name(entry.number)).collect();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|loaded| live.contains(&loaded.name));
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

/// An open segment: its index, and its bytes within reach.
pub(crate) struct Loaded {
    directory: Arc<dyn Directory>,
    name: String,
    seed: u32,
    index: Arc<[BlockEntry]>,
    bytes: SegmentBytes,
    /// Per block; only maps remember, what is read is new each time.
    verified: Vec<Verified>,
}

/// Which parts of a block were found whole in this process.
#[derive(Default)]
struct Verified {
    columns: AtomicBool,
    documents: AtomicBool,
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
                for number in 0..opened.index.len() {
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
        let verified = index.iter().map(|_| Verified::default()).collect();
        let bytes = match self.environment.mode {
            ReadMode::Map => {
                SegmentBytes::Mapped(file.map(self.entry.file_bytes).map_err(fail(Operation::Map))?)
            }
            ReadMode::Plain => SegmentBytes::Read(file),
        };
        Ok(Loaded {
            directory: Arc::clone(&self.environment.directory),
            name,
            seed: header.seed(),
            index: index.into(),
            bytes,
            verified,
        })
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

    /// The block at a place in the index, its columns verified: at the first use in this process if the file is mapped, at each
    /// use if it is read.
    pub(super) fn block(
        self: &Arc<Loaded>,
        segment: &Arc<Segment>,
        number: usize,
    ) -> Result<Block, ReadError> {
        let (entry, verified) = self.place(number)?;
        let events = entry.events as usize;
        match &self.bytes {
            SegmentBytes::Mapped(_) => {
                let columns = within(entry.columns());
                if !verified.columns.load(Ordering::Relaxed) {
                    self.check_columns(entry, self.mapped(&columns))?;
                    verified.columns.store(true, Ordering::Relaxed);
                }
                Ok(Block::mapped(Arc::clone(self), number, columns, events))
            }
            SegmentBytes::Read(file) => {
                let columns = self.read(&**file, entry.columns())?;
                self.check_columns(entry, &columns)?;
                Ok(Block::read(ReadBlock::new(Arc::clone(segment), number, events, columns)))
            }
        }
    }

    /// The documents of a block of a mapped file, verified at the first use in this process; empty where the file is not mapped.
    pub(crate) fn documents(&self, number: usize) -> Result<&[u8], ReadError> {
        let (entry, verified) = self.place(number)?;
        let documents = self.mapped(&within(entry.documents()));
        if !verified.documents.load(Ordering::Relaxed) {
            self.check_documents(entry, self.mapped(&within(entry.columns())), documents)?;
            verified.documents.store(true, Ordering::Relaxed);
        }
        Ok(documents)
    }

    /// The documents of a block, read anew and verified against its columns.
    pub(crate) fn read_documents(&self, number: usize, columns: &[u8]) -> Result<Vec<u8>, ReadError> {
        let (entry, _) = self.place(number)?;
        let documents = match &self.bytes {
            SegmentBytes::Mapped(_) => self.mapped(&within(entry.documents())).to_vec(),
            SegmentBytes::Read(file) => self.read(&**file, entry.documents())?,
        };
        self.check_documents(entry, columns, &documents)?;
        Ok(documents)
    }

    /// Verifies a block, whatever is known of it already.
    fn verify(&self, number: usize) -> Result<(), ReadError> {
        let (entry, _) = self.place(number)?;
        let read;
        let columns = match &self.bytes {
            SegmentBytes::Mapped(_) => self.mapped(&within(entry.columns())),
            SegmentBytes::Read(file) => {
                read = self.read(&**file, entry.columns())?;
                &read
            }
        };
        self.check_columns(entry, columns)?;
        match &self.bytes {
            SegmentBytes::Mapped(_) => {
                self.check_documents(entry, columns, self.mapped(&within(entry.documents())))
            }
            SegmentBytes::Read(_) => self.read_documents(number, columns).map(drop),
        }
    }

    fn place(&self, number: usize) -> Result<(&BlockEntry, &Verified), Failure> {
        let failure = || self.failure()(io::ErrorKind::InvalidInput.into());
        self.index.get(number).zip(self.verified.get(number)).ok_or_else(failure)
    }

    fn failure(&self) -> impl FnOnce(io::Error) -> Failure {
        Failure::during(&*self.directory, &self.name, Operation::Read)
    }

    /// Reads a part of the file, or what there is of it.
    fn read(&self, file: &dyn File, range: Range<u64>) -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let read = read_full_at(file, range.start, &mut bytes).map_err(self.failure())?;
        bytes.truncate(read);
        Ok(bytes)
    }

    fn damaged(&self, entry: &BlockEntry, bytes: Range<u64>, found: &'static str) -> ReadError {
        ReadError::Damaged(Damage {
            file: self.directory.path(&self.name),
            bytes,
            keys: Some((entry.first, entry.last)),
            events: Some(u64::from(entry.events)),
            found,
        })
    }

    fn check_columns(&self, entry: &BlockEntry, columns: &[u8]) -> Result<(), ReadError> {
        let damaged = |found| Err(self.damaged(entry, entry.columns(), found));
        if checksum(self.seed, &[columns]) != entry.column_checksum {
            return damaged("the checksum of its columns does not hold");
        }
        if !is_consistent(entry, columns) {
            return damaged("its parts do not fit together");
        }
        Ok(())
    }

    /// The columns have been checked.
    fn check_documents(&self, entry: &BlockEntry, columns: &[u8], documents: &[u8]) -> Result<(), ReadError> {
        let damaged = |found| Err(self.damaged(entry, entry.documents(), found));
        if checksum(self.seed, &[documents]) != entry.document_checksum {
            return damaged("the checksum of its documents does not hold");
        }
        let ends_stand = Columns::of(columns, entry.events as usize).is_some_and(|columns| {
            let stands = |end: &[u8; 4]| documents.get(u32::from_le_bytes(*end) as usize) == Some(&b'\n');
            columns.ends.iter().all(stands)
        });
        if !ends_stand || documents.len() != entry.document_bytes as usize {
            return damaged("its documents do not end where its columns say");
        }
        Ok(())
    }
}

/// A range of the file as one of the map: the index was held against the length of the file, which is mapped whole.
fn within(range: Range<u64>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Whether the columns fit together and to the entry, so that whoever uses them need not doubt them: keys rise, and so do ends,
/// the last of them where the documents end.
fn is_consistent(entry: &BlockEntry, columns: &[u8]) -> bool {
    Columns::of(columns, entry.events as usize).is_some_and(|columns| {
        let mut keys = columns.instants.iter().zip(columns.arrivals).map(|(instant, arrival)| Key {
            instant: u64::from_le_bytes(*instant),
            arrival: u64::from_le_bytes(*arrival),
        });
        let mut start = 0;
        let rising = columns.ends.iter().all(|end| {
            let end = u64::from(u32::from_le_bytes(*end));
            let rises = end > start;
            start = end + 1;
            rises
        });
        rising
            && start == u64::from(entry.document_bytes)
            && keys.clone().is_sorted_by(|a, b| a < b)
            && keys.clone().next() == Some(entry.first)
            && keys.next_back() == Some(entry.last)
    })
}
