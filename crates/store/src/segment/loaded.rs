//! An open segment, and its blocks within reach.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::keys::{Keys, ends_fit};
use crate::codec::{BlockId, Codec, Documents};
use crate::error::{Damage, DamagedPart, Failure, Operation, ReadError};
use crate::format::{BlockEntry, HEADER_BYTES, Index, Part, aligned, checksum, part};
use crate::io::{Directory, File, Mapping, NameKind};

/// An open segment: its index, and its bytes within reach.
pub(crate) struct Loaded {
    directory: Arc<dyn Directory>,
    name: String,
    seed: u32,
    index: Arc<Index>,
    bytes: SegmentBytes,
    /// Per block; only maps remember, what is read is new each time.
    verified: Vec<Verified>,
}

/// Which parts of a block were found whole in this process.
#[derive(Default)]
struct Verified(AtomicU8);

impl Verified {
    const KEYS: u8 = 1;
    const DOCUMENTS: u8 = 2;
    /// The statistics are not whole: they are not used, and nothing is lost with them.
    const NO_STATISTICS: u8 = 4;

    fn has(&self, what: u8) -> bool {
        self.0.load(Ordering::Relaxed) & what != 0
    }

    fn add(&self, what: u8) {
        self.0.fetch_or(what, Ordering::Relaxed);
    }
}

/// A segment's bytes.
pub(super) enum SegmentBytes {
    Mapped(Box<dyn Mapping>),
    Read(Arc<dyn File>),
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded").field("name", &self.name).field("blocks", &self.index.blocks.len()).finish()
    }
}

/// Where the parts of a block lie, in the map or in what was read.
#[derive(Clone)]
pub(super) struct Places {
    /// Instants, arrival numbers and ends.
    pub(super) keys: Range<usize>,
    pub(super) statistics: Range<usize>,
    pub(super) events: usize,
}

/// A block, as it is within reach: of one of text the keys were verified.
pub(super) enum Found {
    /// In columns: nothing was read.
    Columns { entry: BlockEntry },
    /// In the map, as the documents are.
    Mapped { parts: Places, documents: Range<usize> },
    /// Read into memory, without the documents.
    Read { parts: Places, bytes: Vec<u8> },
}

/// So many of the bytes between two parts are read at once. There should be fewer than eight.
const GAP_BYTES: u64 = 64 << 10;

/// Opens a file again that may have been closed meanwhile.
pub(super) trait Reopen: Send + Sync {
    /// The file, open.
    fn load(&self) -> Result<Arc<Loaded>, ReadError>;
    /// Where it lies, for messages.
    fn path(&self) -> PathBuf;
    /// What names a block of it.
    fn id_of(&self, block: u32) -> BlockId;
    /// What decodes its blocks in columns.
    fn codec(&self) -> &dyn Codec;
}

/// Where the parts of a block of text lie in the file.
struct Place<'a> {
    entry: &'a BlockEntry,
    verified: &'a Verified,
    documents: Range<u64>,
    document_checksum: u32,
    keys: Range<u64>,
    key_checksum: u32,
    /// With its checksum; in version 1 it is the end of the keys.
    statistics: Option<(Range<u64>, u32)>,
}

impl Loaded {
    pub(super) fn new(
        directory: Arc<dyn Directory>,
        name: String,
        seed: u32,
        index: Arc<Index>,
        bytes: SegmentBytes,
    ) -> Loaded {
        let verified = index.blocks.iter().map(|_| Verified::default()).collect();
        Loaded { directory, name, seed, index, bytes, verified }
    }

    /// The name of its file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where its file lies, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path(&self.name)
    }

    pub(crate) fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// A range of the mapped file; empty where the file is not mapped.
    pub(crate) fn mapped(&self, range: &Range<usize>) -> &[u8] {
        match &self.bytes {
            SegmentBytes::Mapped(map) => map.bytes().get(range.clone()).unwrap_or_default(),
            SegmentBytes::Read(_) => &[],
        }
    }

    /// Whether the file is mapped, and so need not stay open.
    pub(super) fn is_mapped(&self) -> bool {
        matches!(self.bytes, SegmentBytes::Mapped(_))
    }

    /// The block at a place in the index. The keys of one of text are verified: at the first use in this process if the file is mapped, at
    /// each use if it is read.
    pub(super) fn block(&self, number: usize) -> Result<Found, ReadError> {
        if let Some(entry) = self.index.blocks.get(number).filter(|entry| self.index.is_columns(entry)) {
            return Ok(Found::Columns { entry: *entry });
        }
        let place = self.place(number)?;
        let events = place.entry.events as usize;
        match &self.bytes {
            SegmentBytes::Mapped(map) => {
                let known = place.verified.has(Verified::KEYS);
                self.fetch(&**map, place.entry, &place.keys, known)?;
                let keys = within(&place.keys);
                if !known {
                    self.check_keys(&place, self.mapped(&keys))?;
                    if self.statistics(&place).is_err() {
                        place.verified.add(Verified::NO_STATISTICS);
                    }
                    place.verified.add(Verified::KEYS);
                }
                let statistics = match &place.statistics {
                    _ if place.verified.has(Verified::NO_STATISTICS) => 0..0,
                    Some((range, _)) => {
                        self.fetch(&**map, place.entry, range, known)?;
                        within(range)
                    }
                    None => keys.start + events * 20..keys.end,
                };
                let parts = Places { keys, statistics, events };
                Ok(Found::Mapped { parts, documents: within(&place.documents) })
            }
            SegmentBytes::Read(_) => {
                let mut bytes = self.read(place.entry, &place.keys)?;
                self.check_keys(&place, &bytes)?;
                let statistics_at = if place.statistics.is_some() { bytes.len() } else { events * 20 };
                bytes.extend(self.statistics(&place).unwrap_or_default());
                let parts = Places { keys: 0..statistics_at, statistics: statistics_at..bytes.len(), events };
                Ok(Found::Read { parts, bytes })
            }
        }
    }

    /// The statistics where they are a part of their own, verified.
    fn statistics(&self, place: &Place<'_>) -> Result<Vec<u8>, ReadError> {
        let Some((range, expected)) = &place.statistics else { return Ok(Vec::new()) };
        let bytes = self.read(place.entry, range)?;
        if checksum(self.seed, &[&bytes]) == *expected {
            return Ok(bytes);
        }
        let found = "the checksum of its statistics does not hold";
        Err(ReadError::Damaged(Damage { events: Some(0), ..self.damage(place.entry, range, found) }))
    }

    /// The documents of a block of a mapped file, verified at the first use in this process; empty where the file is not mapped.
    pub(crate) fn documents(&self, number: usize) -> Result<&[u8], ReadError> {
        let place = self.place(number)?;
        if let SegmentBytes::Mapped(map) = &self.bytes {
            let known = place.verified.has(Verified::DOCUMENTS);
            self.fetch(&**map, place.entry, &place.documents, known)?;
        }
        let documents = self.mapped(&within(&place.documents));
        if !place.verified.has(Verified::DOCUMENTS) {
            self.check_documents(&place, self.mapped(&within(&place.keys)), documents)?;
            place.verified.add(Verified::DOCUMENTS);
        }
        Ok(documents)
    }

    /// The documents of a block, read anew and verified against its keys.
    pub(crate) fn read_documents(&self, number: usize, keys: &[u8]) -> Result<Vec<u8>, ReadError> {
        let place = self.place(number)?;
        let documents = self.read(place.entry, &place.documents)?;
        self.check_documents(&place, keys, &documents)?;
        Ok(documents)
    }

    /// Verifies a block of text, whatever is known of it already, and says what is damaged: nothing, or one part of it.
    pub(super) fn verify(&self, number: usize) -> Result<(), ReadError> {
        let place = self.place(number)?;
        let keys = self.read(place.entry, &place.keys)?;
        self.check_keys(&place, &keys)?;
        self.read_documents(number, &keys)?;
        self.statistics(&place).map(drop)
    }

    /// Verifies the statistics of a block alone.
    pub(crate) fn check_statistics(&self, number: usize) -> Result<(), ReadError> {
        let Some(entry) = self.index.blocks.get(number).filter(|entry| self.index.is_columns(entry)) else {
            return self.statistics(&self.place(number)?).map(drop);
        };
        let mut statistics = self.index.names_of(entry).filter(|name| part::is_of_statistics(name));
        statistics.try_for_each(|name| self.part(number, name).map(drop))
    }

    /// A part of a block in columns, read anew and verified; `None` if it has none of that name.
    pub(super) fn part(&self, number: usize, name: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(entry) = self.index.blocks.get(number) else { return Ok(None) };
        let Some(found) = self.index.part_of(entry, name) else { return Ok(None) };
        let named = |damage: Damage| {
            // Of damaged statistics nothing is lost but time.
            let events = if part::is_of_statistics(name) { Some(0) } else { damage.events };
            let part = DamagedPart { name: name.to_owned(), holds: Vec::new() };
            ReadError::Damaged(Damage { part: Some(Box::new(part)), events, ..damage })
        };
        let range = found.range();
        let bytes = self.read(entry, &range).map_err(|error| match error {
            ReadError::Damaged(damage) => named(damage),
            ReadError::Failure(failure) => ReadError::Failure(failure),
        })?;
        if checksum(self.seed, &[&bytes]) != found.checksum {
            return Err(named(self.damage(entry, &range, "its checksum does not hold")));
        }
        Ok(Some(bytes))
    }

    /// The file, unless it is mapped.
    pub(super) fn file(&self) -> Option<&Arc<dyn File>> {
        match &self.bytes {
            SegmentBytes::Mapped(_) => None,
            SegmentBytes::Read(file) => Some(file),
        }
    }

    /// Where the parts of a block lie whose names are wanted.
    pub(super) fn places_of(&self, number: usize, is_wanted: &dyn Fn(&str) -> bool) -> Vec<Range<u64>> {
        let parts = self.index.parts_at(number).iter();
        parts.filter(|part| is_wanted(self.index.name_of(part))).map(Part::range).collect()
    }

    /// Tells the system of a mapped file that most of it will be read. A hint.
    pub(super) fn expect_whole(&self) {
        if let SegmentBytes::Mapped(map) = &self.bytes {
            map.expect_whole();
        }
    }

    /// Whether one of two parts of a block is in memory, as far as the system tells: its first, or the one in its middle.
    pub(super) fn is_in_memory(&self, number: usize) -> bool {
        let SegmentBytes::Read(file) = &self.bytes else { return true };
        let parts = self.index.parts_at(number);
        let asked = [parts.first(), parts.get(parts.len() / 2)];
        asked.into_iter().flatten().any(|part| file.is_in_memory(part.range().start))
    }

    /// From where to where the parts of a block lie that stand side by side: all but those that stand with those of other blocks.
    pub(super) fn range_of(&self, number: usize) -> Range<u64> {
        let parts = self.index.parts_at(number).iter();
        let mut own = parts.filter(|part| !part::is_of_statistics(self.index.name_of(part))).map(Part::range);
        let Some(first) = own.next() else { return 0..0 };
        own.fold(first, |together, next| match next.start == aligned(together.end) {
            true => together.start..next.end,
            false => together,
        })
    }

    /// How many bytes the parts of a block have.
    pub(super) fn bytes_of_block(&self, number: usize) -> u64 {
        self.index.parts_at(number).iter().map(|part| u64::from(part.length())).sum()
    }

    /// The first bytes that belong to no part and are not zeros, between the header and `end`, where the index begins; or those behind the end of the file as it was written.
    pub(super) fn between_parts(&self, end: u64, file_bytes: u64) -> Result<Option<Range<u64>>, Failure> {
        let mut parts: Vec<Range<u64>> = self.index.parts.iter().map(|part| part.range()).collect();
        parts.sort_unstable_by_key(|range| range.start);
        let mut at = HEADER_BYTES as u64;
        for part in parts.into_iter().chain(std::iter::once(end..end)) {
            while at < part.start {
                let gap = at..part.start.min(at + GAP_BYTES);
                if self.bytes_of(&gap)?.iter().any(|byte| *byte != 0) {
                    return Ok(Some(gap));
                }
                at = gap.end;
            }
            at = at.max(part.end);
        }
        let there = match self.directory.kind(&self.name).map_err(self.failure())? {
            Some(NameKind::File(bytes)) => bytes,
            _ => file_bytes,
        };
        Ok((there > file_bytes).then_some(file_bytes..there))
    }

    /// The bytes of a part that the segment has as a whole, if it has it and it is as it was written.
    pub(super) fn own_part(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let Some(part) = self.index.own_part(name) else { return Ok(None) };
        let bytes = match self.bytes_of(&part.range()) {
            Err(failure) if failure.is_unreadable() => return Ok(None),
            bytes => bytes?,
        };
        Ok((checksum(self.seed, &[&bytes]) == part.checksum).then_some(bytes))
    }

    fn place(&self, number: usize) -> Result<Place<'_>, Failure> {
        let place = || {
            let entry = self.index.blocks.get(number)?;
            // The index was refused where one of these is missing.
            let documents = self.index.part_of(entry, part::DOCUMENTS)?;
            let keys = self.index.part_of(entry, part::KEYS)?;
            let statistics = self.index.part_of(entry, part::STATISTICS);
            Some(Place {
                entry,
                verified: self.verified.get(number)?,
                documents: documents.range(),
                document_checksum: documents.checksum,
                keys: keys.range(),
                key_checksum: keys.checksum,
                statistics: statistics.map(|part| (part.range(), part.checksum)),
            })
        };
        place().ok_or_else(|| self.failure()(io::ErrorKind::InvalidInput.into()))
    }

    fn failure(&self) -> impl FnOnce(io::Error) -> Failure + use<> {
        Failure::during(&*self.directory, &self.name, Operation::Read)
    }

    /// Brings a part of the map into memory, so that a bad sector or a file cut short is an error and no signal.
    fn fetch(
        &self,
        map: &dyn Mapping,
        entry: &BlockEntry,
        range: &Range<u64>,
        known: bool,
    ) -> Result<(), ReadError> {
        let fetched = if known { map.fetch_again(within(range)) } else { map.fetch(within(range)) };
        fetched.map_err(self.failure()).map_err(|failure| self.unreadable(entry, range, failure))
    }

    /// Reads a part of the file, or what there is of it.
    fn read(&self, entry: &BlockEntry, range: &Range<u64>) -> Result<Vec<u8>, ReadError> {
        self.bytes_of(range).map_err(|failure| self.unreadable(entry, range, failure))
    }

    fn bytes_of(&self, range: &Range<u64>) -> Result<Vec<u8>, Failure> {
        match &self.bytes {
            SegmentBytes::Mapped(map) => {
                map.fetch(within(range)).map_err(self.failure())?;
                Ok(self.mapped(&within(range)).to_vec())
            }
            SegmentBytes::Read(file) => {
                let length = (range.end - range.start) as usize;
                file.read_range(range.start, length).map_err(self.failure())
            }
        }
    }

    /// What the medium does not give back is damage like any other.
    fn unreadable(&self, entry: &BlockEntry, range: &Range<u64>, failure: Failure) -> ReadError {
        if failure.is_unreadable() {
            ReadError::Damaged(self.damage(entry, range, "the medium does not give it back"))
        } else {
            ReadError::Failure(failure)
        }
    }

    fn damage(&self, entry: &BlockEntry, bytes: &Range<u64>, found: &'static str) -> Damage {
        Damage {
            file: self.path(),
            bytes: bytes.clone(),
            part: None,
            keys: Some((entry.first, entry.last)),
            events: Some(u64::from(entry.events)),
            found,
        }
    }

    fn check_keys(&self, place: &Place<'_>, keys: &[u8]) -> Result<(), ReadError> {
        let damaged = |found| Err(ReadError::Damaged(self.damage(place.entry, &place.keys, found)));
        if checksum(self.seed, &[keys]) != place.key_checksum {
            return damaged("the checksum of its columns does not hold");
        }
        if !is_consistent(place.entry, keys) {
            return damaged("its parts do not fit together");
        }
        Ok(())
    }

    /// The keys have been checked.
    fn check_documents(&self, place: &Place<'_>, keys: &[u8], documents: &[u8]) -> Result<(), ReadError> {
        let damaged = |found| Err(ReadError::Damaged(self.damage(place.entry, &place.documents, found)));
        if checksum(self.seed, &[documents]) != place.document_checksum {
            return damaged("the checksum of its documents does not hold");
        }
        let keys = Keys::of(keys, place.entry.events as usize).unwrap_or(Keys::NONE);
        if !(Documents { bytes: documents, ends: keys.ends }).stand(place.entry) {
            return damaged("its documents do not end where its columns say");
        }
        Ok(())
    }
}

/// A range of the file as one of the map: the index was held against the length of the file, which is mapped whole.
fn within(range: &Range<u64>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Whether the keys fit together and to the entry, so that whoever uses them need not doubt them.
fn is_consistent(entry: &BlockEntry, keys: &[u8]) -> bool {
    Keys::of(keys, entry.events as usize)
        .is_some_and(|keys| keys.times.fit(entry) && ends_fit(keys.ends, entry))
}
