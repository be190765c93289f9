//! Opening segments, and finding their blocks.

use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::block::Block;
use super::column_block::ColumnBlock;
use super::loaded::{Loaded, Reopen, SegmentBytes};
use crate::codec::{BlockId, BlockTexts, Codec, DecodeError, Parts};
use crate::error::{Damage, Failure, Operation, ReadError};
use crate::format::{
    FileKind, HEADER_BYTES, Header, Index, Key, NUMBER_MAX, Trailer, VERSION, aligned, checksum, part,
};
use crate::io::{Directory, File, read_past};
use crate::manifest::{Manifest, SegmentEntry, Sources, decode_sources};
use crate::marks::{Marks, Stretch};
use crate::named;
use crate::options::{Options, ReadMode};

/// What all segments of an open store share.
pub(crate) struct Environment {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) store: u128,
    /// A number that no other opening has in this process.
    opening: u64,
    pub(crate) mode: ReadMode,
    /// What decodes blocks in columns.
    pub(crate) codec: Arc<dyn Codec>,
    /// How many segments that are not mapped stay open.
    files_max: usize,
    open: Mutex<Open>,
}

/// What a segment should not hold.
pub(crate) enum Beside {
    /// A part with this name, which is unknown.
    Part(String),
    /// Bytes that belong to no part.
    Bytes(Range<u64>),
}

/// Segments that stay open though nobody reads them now: the most recently opened last.
#[derive(Default)]
struct Open {
    maps: VecDeque<Arc<Loaded>>,
    files: VecDeque<Arc<Loaded>>,
}

/// Most segments that stay mapped: a system allows some 65,000 maps to a process.
const MAPS_MAX: usize = 16_384;

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl Environment {
    pub(crate) fn new(
        directory: Arc<dyn Directory>,
        store: u128,
        options: &Options,
        codec: Arc<dyn Codec>,
    ) -> Environment {
        let (mode, files_max) = (options.read_mode, options.open_files_max);
        static OPENINGS: AtomicU64 = AtomicU64::new(0);
        let opening = OPENINGS.fetch_add(1, Relaxed);
        Environment { directory, store, opening, mode, codec, files_max, open: Mutex::default() }
    }

    /// The same store, read plainly: by whoever goes through whole segments, and must survive a bad sector.
    pub(crate) fn plain(&self) -> Arc<Environment> {
        Arc::new(Environment {
            directory: Arc::clone(&self.directory),
            store: self.store,
            opening: self.opening,
            mode: ReadMode::Plain,
            codec: Arc::clone(&self.codec),
            files_max: 1,
            open: Mutex::default(),
        })
    }

    /// Keeps a segment open, and closes those that were opened long before.
    fn keep(&self, loaded: Arc<Loaded>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (list, most) = match loaded.is_mapped() {
            true => (&mut open.maps, MAPS_MAX),
            false => (&mut open.files, self.files_max),
        };
        while list.len() >= most {
            list.pop_front();
        }
        list.push_back(loaded);
    }

    /// Closes the segments that are no longer live, once nobody reads them: a file that is still mapped takes room though it was removed.
    pub(crate) fn close_all_but(&self, live: &[SegmentEntry]) {
        let live: HashSet<String> = live.iter().map(|entry| FileKind::Segment.name(entry.number)).collect();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.maps.retain(|loaded| live.contains(loaded.name()));
        open.files.retain(|loaded| live.contains(loaded.name()));
    }
}

/// A segment that the manifest names; its file is opened when it is needed.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) entry: SegmentEntry,
    /// What its file is called.
    name: String,
    /// The events of it that are deleted.
    pub(crate) marks: Option<Arc<Marks>>,
    pub(super) environment: Arc<Environment>,
    loaded: Mutex<Weak<Loaded>>,
}

/// A step of [`Segment::verify`].
pub(crate) struct Verified {
    /// So many blocks are done.
    pub(crate) blocks: usize,
    /// Bytes of the file that were read in this step.
    pub(crate) bytes: u64,
    /// What is damaged of them.
    pub(crate) damage: Option<Damage>,
}

impl Segment {
    pub(crate) fn new(
        entry: SegmentEntry,
        marks: Option<Arc<Marks>>,
        environment: Arc<Environment>,
    ) -> Segment {
        Segment { entry, name: entry.name(), marks, environment, loaded: Mutex::new(Weak::new()) }
    }

    /// The same segment in a file that has another name than its own.
    pub(crate) fn under(self, name: &str) -> Segment {
        Segment { name: name.to_owned(), ..self }
    }

    /// The segment as a manifest has it.
    pub(crate) fn of(entry: SegmentEntry, manifest: &Manifest, environment: Arc<Environment>) -> Segment {
        Segment::new(entry, manifest.deleted.get(&entry.number).cloned(), environment)
    }

    /// The same segment, read otherwise.
    pub(crate) fn read_by(&self, environment: Arc<Environment>) -> Segment {
        Segment::new(self.entry, self.marks.clone(), environment).under(&self.name)
    }

    /// Whether the manifest has the same events of it deleted.
    pub(crate) fn is_marked_as(&self, manifest: &Manifest) -> bool {
        self.marks.as_ref() == manifest.deleted.get(&self.entry.number)
    }

    /// With the figures of the events that are not deleted.
    pub(crate) fn shown(&self) -> SegmentEntry {
        self.entry.without(self.marks.as_deref())
    }

    /// The deleted events of a block.
    pub(super) fn deleted_of(&self, block: usize) -> &[Stretch] {
        self.marks.as_ref().map_or(&[], |marks| marks.of_block(block))
    }

    /// Where its file lies, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.environment.directory.path(&self.name)
    }

    fn damage(&self, found: &'static str) -> ReadError {
        ReadError::Damaged(Damage {
            file: self.path(),
            bytes: 0..self.entry.file_bytes,
            part: None,
            keys: Some((self.entry.first, self.entry.last)),
            events: Some(self.entry.events),
            found,
        })
    }

    /// The block at a place in the index; one of text with its keys verified. One with deleted events is one of text without them, read when it is asked for, and
    /// without statistics, so that nothing can be answered from what is gone; nothing where all are deleted.
    pub(crate) fn block(self: &Arc<Segment>, number: usize) -> Result<Option<Block>, ReadError> {
        let block = self.whole_block(number)?;
        match self.deleted_of(number) {
            [] => Ok(Some(block)),
            deleted => Ok(block.remaining(Arc::clone(self) as Arc<dyn Reopen>, number, deleted)),
        }
    }

    /// The block at a place in the index, deleted events and all.
    pub(crate) fn whole_block(self: &Arc<Segment>, number: usize) -> Result<Block, ReadError> {
        Block::of(&self.load()?, Arc::clone(self) as Arc<dyn Reopen>, number)
    }

    /// The name of the first part of a block that neither the store nor the codec knows.
    pub(crate) fn unknown_part(&self, number: usize, block: &Block) -> Result<Option<String>, ReadError> {
        let loaded = self.load()?;
        let index = loaded.index();
        let mut names: Vec<&str> = index.parts_at(number).iter().map(|part| index.name_of(part)).collect();
        let found = match block.columns() {
            Some(columns) => {
                names.retain(|name| *name != part::STATISTICS);
                let found = self.environment.codec.unknown_part(columns, &names);
                found.map_err(|error| columns.failed(error))?
            }
            None => {
                names.into_iter().find(|name| ![part::DOCUMENTS, part::KEYS, part::STATISTICS].contains(name))
            }
        };
        Ok(found.map(str::to_owned))
    }

    /// What its file holds besides its blocks and the positions of sources: a part with another name, bytes between the parts, or bytes behind the end.
    pub(crate) fn beside_blocks(&self) -> Result<Option<Beside>, ReadError> {
        let loaded = self.load()?;
        let index = loaded.index();
        let own = index.parts.get(..index.own_parts as usize).unwrap_or_default();
        let other = own.iter().map(|part| index.name_of(part)).find(|name| *name != part::SOURCES);
        let unused = |name: &&String| index.parts.iter().all(|part| index.name_of(part) != **name);
        if let Some(name) = other.or_else(|| index.names.iter().find(unused).map(String::as_str)) {
            return Ok(Some(Beside::Part(name.to_owned())));
        }
        let end_bytes = self.entry.index_bytes.saturating_add(Trailer::length(self.entry.version) as u64);
        let end = self.entry.file_bytes.saturating_sub(end_bytes);
        Ok(loaded.between_parts(end, self.entry.file_bytes)?.map(Beside::Bytes))
    }

    /// The texts that one of its blocks holds beside its documents. Decodes all of it.
    pub(crate) fn texts_of(&self, block: &Block) -> Result<BlockTexts, ReadError> {
        let (documents, statistics) = (block.documents()?, block.statistics().unwrap_or_default());
        let columns = block.columns();
        let parts = columns.map(|block| block as &dyn Parts);
        self.environment.codec.texts(parts, documents, statistics).map_err(|error| match (columns, error) {
            (Some(block), error) => block.failed(error),
            (None, DecodeError::Read(error)) => error,
            (None, DecodeError::Malformed(found)) => self.damage(found),
            (None, DecodeError::Unknown) => self.damage("this program does not know its statistics"),
        })
    }

    /// Reads everything again from this block on, plainly and whatever is known already, and says what is damaged. Goes on past each damage. `each`
    /// hears of what was read, and says whether to go on; last comes what belongs to no block. False if it was stopped before that.
    pub(crate) fn verify(
        self: &Arc<Segment>,
        from: usize,
        each: &mut dyn FnMut(Verified) -> bool,
    ) -> Result<bool, Failure> {
        let opened = self.open_readable().and_then(|file| self.open_in(file));
        let (opened, flaw) = match opened {
            Ok((opened, flaw)) => (Arc::new(opened), flaw),
            Err(ReadError::Damaged(damage)) => {
                each(Verified { blocks: from, bytes: 0, damage: Some(damage) });
                return Ok(true);
            }
            Err(ReadError::Failure(failure)) => return Err(failure),
        };
        let blocks = opened.index().blocks.len();
        for number in from..blocks {
            let damage = match self.verify_block(&opened, number) {
                Ok(()) => None,
                Err(ReadError::Damaged(damage)) => Some(damage),
                Err(ReadError::Failure(failure)) => return Err(failure),
            };
            if !each(Verified { blocks: number + 1, bytes: opened.bytes_of_block(number), damage }) {
                return Ok(false);
            }
        }
        let in_blocks: u64 = (0..blocks).map(|number| opened.bytes_of_block(number)).sum();
        each(Verified { blocks, bytes: self.entry.file_bytes.saturating_sub(in_blocks), damage: flaw });
        Ok(true)
    }

    fn verify_block(self: &Arc<Segment>, opened: &Arc<Loaded>, number: usize) -> Result<(), ReadError> {
        let block = Block::of(opened, Arc::clone(self) as Arc<dyn Reopen>, number)?;
        block.columns().map_or_else(|| opened.verify(number), ColumnBlock::verify)
    }

    /// The segment opened, its index verified.
    pub(crate) fn load(&self) -> Result<Arc<Loaded>, ReadError> {
        self.load_with(&mut |_| ())
    }

    /// The same for who goes through it. The statistics of blocks in columns, and what else is [read first](Codec::is_read_first), are asked for together with the index: whether
    /// these had to be waited for, as far as the system tells, or had to be before. Of blocks of text much is read at a time.
    pub(crate) fn load_to_read(&self, mut waits: bool) -> Result<(Arc<Loaded>, bool), ReadError> {
        let loaded = self.load_with(&mut |file| {
            let end = self.entry.file_bytes;
            let first = u64::from(self.entry.column_blocks) * READ_FIRST_BYTES;
            let index_at = end.saturating_sub(self.end_bytes());
            let first_at = index_at.saturating_sub(first.min(READ_FIRST_BYTES_MAX));
            // An answer may be wrong where the processor was taken away meanwhile: so two are asked for.
            let is_in_memory = || [index_at, first_at].into_iter().any(|at| file.is_in_memory(at));
            if first_at < index_at && (waits || !is_in_memory()) {
                waits = true;
                file.expect_read(first_at, end - first_at);
            }
        })?;
        loaded.expect_whole();
        Ok((loaded, waits))
    }

    /// The segment opened; `prepare` has the file if it is opened by this.
    fn load_with(&self, prepare: &mut dyn FnMut(&dyn File)) -> Result<Arc<Loaded>, ReadError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = loaded.upgrade() {
            return Ok(open);
        }
        let file = self.open_readable()?;
        // Of a segment in columns queries read little. Whoever reads plainly goes through all of it.
        if self.environment.mode == ReadMode::Map && self.entry.column_blocks > 0 {
            file.expect_scattered_reads();
        }
        prepare(&*file);
        let opened = Arc::new(self.load_in(file, self.environment.mode)?);
        *loaded = Arc::downgrade(&opened);
        self.environment.keep(Arc::clone(&opened));
        Ok(opened)
    }

    /// Opens the file.
    pub(super) fn open_file(&self) -> Result<Arc<dyn File>, ReadError> {
        let directory = &*self.environment.directory;
        match named::open_named(directory, &self.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(self.damage("the file is missing")),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Err(self.damage("it is not a regular file"))
            }
            opened => Ok(opened.map_err(Failure::during(directory, &self.name, Operation::Open))?),
        }
    }

    /// Opens the file; one that the medium does not give is damaged.
    fn open_readable(&self) -> Result<Arc<dyn File>, ReadError> {
        match self.open_file() {
            Err(ReadError::Failure(failure)) if failure.is_unreadable() => {
                Err(self.damage("the medium does not give it back"))
            }
            file => file,
        }
    }

    /// Opens the segment in its file. Its index has to be whole; what else is wrong with the file as a whole comes beside it, and takes no event away.
    /// Read plainly.
    pub(super) fn open_in(&self, file: Arc<dyn File>) -> Result<(Loaded, Option<Damage>), ReadError> {
        let length = self.length_of(&*file)?;
        let loaded = self.load_in(Arc::clone(&file), ReadMode::Plain)?;
        let flaw = match length.cmp(&self.entry.file_bytes) {
            Ordering::Less => Some("the file was cut short"),
            Ordering::Equal => self.flaw_of(&*file)?,
            Ordering::Greater => self.flaw_of(&*file)?.or(Some("the file has grown")),
        };
        let flaw = flaw.map(|found| Damage {
            file: self.path(),
            bytes: 0..length,
            part: None,
            keys: None,
            events: Some(0),
            found,
        });
        Ok((loaded, flaw))
    }

    /// Opens the segment in its file by its index alone: the manifest repeats what else the file says of itself.
    fn load_in(&self, file: Arc<dyn File>, mode: ReadMode) -> Result<Loaded, ReadError> {
        let index_end = self.entry.file_bytes.saturating_sub(Trailer::length(self.entry.version) as u64);
        if self.length_of(&*file)? < index_end {
            return Err(self.damage("the file was cut short"));
        }
        let index = self.read_index(&*file)?;
        let bytes = match mode {
            // Parts of columns are read plainly.
            ReadMode::Map if self.entry.column_blocks > 0 => SegmentBytes::Read(file),
            ReadMode::Map => match file.map(self.entry.file_bytes) {
                Ok(map) => SegmentBytes::Mapped(map),
                // There may be no room for another map.
                Err(_) => SegmentBytes::Read(file),
            },
            ReadMode::Plain => SegmentBytes::Read(file),
        };
        let directory = Arc::clone(&self.environment.directory);
        Ok(Loaded::new(directory, self.name.clone(), self.header().seed(), Arc::new(index), bytes))
    }

    fn length_of(&self, file: &dyn File) -> Result<u64, Failure> {
        file.length().map_err(Failure::during(&*self.environment.directory, &self.name, Operation::Read))
    }

    /// How many bytes stand behind the parts.
    fn end_bytes(&self) -> u64 {
        self.entry.index_bytes.saturating_add(Trailer::length(self.entry.version) as u64)
    }

    fn header(&self) -> Header {
        let (version, number) = (self.entry.version, self.entry.number);
        Header { kind: FileKind::Segment, version, store: self.environment.store, number }
    }

    /// Reads the index.
    fn read_index(&self, file: &dyn File) -> Result<Index, ReadError> {
        let entry = &self.entry;
        // The index is smaller than the file, so no more than that is ever allocated.
        let Some(start) = entry.file_bytes.checked_sub(self.end_bytes()) else {
            return Err(self.damage("it is too short for its index"));
        };
        let read = file.read_range(start, entry.index_bytes as usize);
        match read.map_err(Failure::during(&*self.environment.directory, &self.name, Operation::Read)) {
            Err(failure) if failure.is_unreadable() => {
                Err(self.damage("the medium does not give its index back"))
            }
            index => decode_index(&index?, entry, self.header().seed(), start)
                .ok_or_else(|| self.damage("its index is not the one that was written")),
        }
    }

    /// What is wrong with header and trailer: the manifest knows what stood there.
    fn flaw_of(&self, file: &dyn File) -> Result<Option<&'static str>, Failure> {
        let entry = &self.entry;
        let read = |start: u64, bytes: usize| {
            let read = file.read_range(start, bytes);
            match read.map_err(Failure::during(&*self.environment.directory, &self.name, Operation::Read)) {
                Err(failure) if failure.is_unreadable() => Ok(Vec::new()),
                read => read,
            }
        };
        if self.header().expect(&read(0, HEADER_BYTES)?).is_err() {
            return Ok(Some("its header is not the one that was written"));
        }
        let bytes = Trailer::length(entry.version);
        let end = read(entry.file_bytes.saturating_sub(bytes as u64), bytes)?;
        let is_whole = Trailer::decode(entry.version, self.header().seed(), &end) == Some(entry.trailer());
        Ok((!is_whole).then_some("its end is not the one that was written"))
    }

    /// The segment opened by an index that is not the one that was written, as far as it can be read: see [`Index::decode_damaged`].
    pub(super) fn open_damaged(&self, file: Arc<dyn File>) -> Result<Option<Loaded>, Failure> {
        let (entry, directory) = (&self.entry, &self.environment.directory);
        let end_bytes = entry.index_bytes.saturating_add(Trailer::length(entry.version) as u64);
        let fail = || Failure::during(&**directory, &self.name, Operation::Read);
        let Some(start) = entry.file_bytes.checked_sub(end_bytes) else { return Ok(None) };
        if file.length().map_err(fail())? < start + entry.index_bytes {
            return Ok(None);
        }
        let mut bytes = vec![0; entry.index_bytes as usize];
        let read = read_past(&*file, start, &mut bytes, &mut Vec::new()).map_err(fail())?;
        bytes.truncate(read);
        let index = Index::decode_damaged(entry.version, &bytes, start);
        Ok(index.map(|index| {
            let (name, seed) = (self.name.clone(), self.header().seed());
            Loaded::new(Arc::clone(directory), name, seed, Arc::new(index), SegmentBytes::Read(file))
        }))
    }

    /// Where sources stood when the segment was written; `None` if it does not tell.
    pub(crate) fn sources(&self) -> Result<Option<Sources>, Failure> {
        let part = match self.load() {
            Ok(loaded) => loaded.own_part(part::SOURCES)?,
            Err(ReadError::Damaged(_)) => None,
            Err(ReadError::Failure(failure)) => return Err(failure),
        };
        Ok(part.and_then(|part| decode_sources(&part)))
    }

    /// What a manifest would say of a segment of this store that none names, from its file, which may have another name than its own. Bytes behind its end do not count, even if they look like another end: the last one
    /// counts whose index stands before it. Where none does, it is the last one that is whole, whose damage is then told. Reads the file from its end, in most
    /// cases a few kilobytes of it; bytes that the medium does not give back are zeros.
    pub(crate) fn examine(
        directory: &dyn Directory,
        store: u128,
        number: u64,
        name: &str,
    ) -> Result<Option<SegmentEntry>, Failure> {
        let fail = |operation| Failure::during(directory, name, operation);
        let file = match directory.open(name) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => {
                return Ok(None);
            }
            file => file.map_err(fail(Operation::Open))?,
        };
        let length = file.length().map_err(fail(Operation::Read))?;
        let read = |range: Range<u64>| {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            let read = read_past(&*file, range.start, &mut bytes, &mut Vec::new());
            bytes.truncate(read.map_err(fail(Operation::Read))?);
            Ok::<_, Failure>(bytes)
        };
        let mut without_index = None;
        // Any number of ends may promise an index of the whole file.
        let mut readable = length.saturating_mul(INDEXES_MAX);
        let mut end = length;
        while end > 0 {
            let start = end.saturating_sub(EXAMINED_BYTES);
            let bytes = read(start..length.min(end + Trailer::length(VERSION) as u64))?;
            for at in memchr::memmem::rfind_iter(&bytes, &Trailer::MAGIC) {
                let trailer_at = start + at as u64;
                if trailer_at >= end {
                    // It was looked at with the bytes behind these.
                    continue;
                }
                let ends = (1..=VERSION).rev().filter_map(|version| {
                    let header = Header { kind: FileKind::Segment, version, store, number };
                    let trailer = Trailer::decode(
                        version,
                        header.seed(),
                        bytes.get(at..at + Trailer::length(version))?,
                    )?;
                    let is_known = version == 1 || trailer.arrivals.1 < NUMBER_MAX;
                    is_known.then_some((header, trailer))
                });
                for (header, trailer) in ends {
                    let file_bytes = trailer_at + Trailer::length(header.version) as u64;
                    let entry = SegmentEntry::of(number, header.version, file_bytes, &trailer);
                    let index_at = trailer_at.checked_sub(entry.index_bytes);
                    if let (Some(index_at), Some(rest)) = (index_at, readable.checked_sub(entry.index_bytes))
                    {
                        readable = rest;
                        if decode_index(&read(index_at..trailer_at)?, &entry, header.seed(), index_at)
                            .is_some()
                        {
                            return Ok(Some(entry));
                        }
                    }
                    without_index.get_or_insert(entry);
                }
            }
            end = start;
        }
        Ok(without_index)
    }
}

impl Reopen for Segment {
    fn load(&self) -> Result<Arc<Loaded>, ReadError> {
        Segment::load(self)
    }

    fn path(&self) -> PathBuf {
        Segment::path(self)
    }

    fn id_of(&self, block: u32) -> BlockId {
        BlockId { opening: self.environment.opening, segment: self.entry.number, block }
    }

    fn codec(&self) -> &dyn Codec {
        &*self.environment.codec
    }
}

/// So many bytes of each block in columns are read first.
///
/// HEURISTIC: of several kinds of events it was 6 to 20 kB. What is more is asked for once the index tells.
const READ_FIRST_BYTES: u64 = 20 << 10;
const READ_FIRST_BYTES_MAX: u64 = 1 << 20;

/// So many bytes of a file are looked through at once for the end of a segment.
const EXAMINED_BYTES: u64 = 64 << 10;

/// The indexes that are read to find the end of a segment are together at most so many times as long as the file.
const INDEXES_MAX: u64 = 16;

/// The index in these bytes, which begin at this place of the file, if it is the one that the entry is about.
fn decode_index(bytes: &[u8], entry: &SegmentEntry, seed: u32, at: u64) -> Option<Index> {
    let is_whole = checksum(seed, &[bytes]) == entry.index_checksum;
    let index = is_whole.then(|| Index::decode(entry.version, bytes)).flatten();
    index.filter(|index| is_laid_out(index, entry, at))
}

/// Whether every figure of an index agrees with the others, and the parts fill the file up to the index.
fn is_laid_out(index: &Index, entry: &SegmentEntry, end: u64) -> bool {
    let (Some(first), Some(last)) = (index.blocks.first(), index.blocks.last()) else { return false };
    let mut previous: Option<Key> = None;
    let sound = index.blocks.iter().all(|block| {
        let ordered = previous.is_none_or(|previous| previous < block.first) && block.first <= block.last;
        previous = Some(block.last);
        let bytes = |name| index.part_of(block, name).map(|part| part.range().end - part.range().start);
        let key_bytes = u64::from(block.events) * 20;
        let keys_fit = |bytes| bytes == key_bytes || (entry.version == 1 && bytes > key_bytes);
        let text_fits = bytes(part::DOCUMENTS) == Some(u64::from(block.document_bytes))
            && bytes(part::KEYS).is_some_and(keys_fit);
        // An event has at least one byte and its line feed.
        ordered
            && block.events > 0
            && block.document_bytes / 2 >= block.events
            && (text_fits || index.is_columns(block))
    });
    let column_blocks = index.blocks.iter().filter(|block| index.is_columns(block)).count();
    let mut ranges: Vec<Range<u64>> = index.parts.iter().map(|part| part.range()).collect();
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut reached = HEADER_BYTES as u64;
    let filled = ranges.iter().all(|range| {
        let fits = range.start >= reached && range.start <= aligned(reached);
        reached = range.end;
        fits
    });
    let sum = |field: fn(&crate::format::BlockEntry) -> u32| -> u64 {
        index.blocks.iter().map(|block| u64::from(field(block))).sum()
    };
    sound
        && filled
        && aligned(reached) == end
        && first.first == entry.first
        && last.last == entry.last
        && index.blocks.len() == entry.blocks as usize
        && column_blocks == entry.column_blocks as usize
        && sum(|block| block.events) == entry.events
        && sum(|block| block.document_bytes) == entry.document_bytes
}
