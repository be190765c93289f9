//! The blocks of a snapshot, as the query engine sees them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use tamias_query::{
    Arrivals, Block, ColumnBlock, ColumnError, Documents, Interest, Places, ReadFrame, SourceError, Times,
};
use tamias_store::{BlockId, Expected, Key, OwnedTimes, Parts};

use crate::codec;
use crate::column_cache::{Cached, Turn};
use crate::{LeftOut, ReadError};

/// A block as the query engine sees it, and once more if it is in columns.
pub(crate) type SharedBlock = (Arc<dyn Block>, Option<Arc<StoredColumns>>);

/// Hands a block of the store to the query engine. What it is known by goes to `turn`, damage to `left_out` if the query goes past it, and what the query
/// uses of it to `uses`.
pub(crate) fn share(
    block: tamias_store::Block,
    turn: &Turn,
    left_out: Option<&LeftOut>,
    uses: &Arc<Uses>,
) -> SharedBlock {
    let left_out = left_out.cloned();
    let columns = match block.columns_of_all() {
        Some((parts, deleted)) => Some((parts.clone(), deleted)),
        None => block.columns().map(|parts| (parts.clone(), Vec::new())),
    };
    match columns {
        None => {
            let kept = block.id().map(|id| Kept::new(id, turn));
            (Arc::new(TextBlock { block, kept, left_out }), None)
        }
        Some((parts, deleted)) => {
            let mut columns = StoredColumns::new(block, parts, turn, left_out);
            columns.deleted = deleted;
            columns.uses = uses.clone();
            let columns = Arc::new(columns);
            (columns.clone(), Some(columns))
        }
    }
}

/// Takes note of damage that the query shall go past.
fn leave_out(error: tamias_store::ReadError, left_out: Option<&LeftOut>) -> Result<(), SourceError> {
    match (error, left_out) {
        (tamias_store::ReadError::Damaged(damage), Some(left_out)) => {
            left_out.add(damage);
            Ok(())
        }
        (error, _) => Err(ReadError::of_store(error).into()),
    }
}

/// The range of a block, as the query engine has it.
fn order_range((first, last): (Key, Key)) -> ((u64, u64), (u64, u64)) {
    ((first.instant, first.arrival), (last.instant, last.arrival))
}

/// A block of text, as the query engine sees it.
struct TextBlock {
    block: tamias_store::Block,
    /// Nothing is kept of a block that is not always the same.
    kept: Option<Kept>,
    /// Takes the damage that the query goes past; it fails where there is none to take it.
    left_out: Option<LeftOut>,
}

impl Block for TextBlock {
    fn len(&self) -> usize {
        self.block.len()
    }

    fn range(&self) -> ((u64, u64), (u64, u64)) {
        order_range(self.block.range())
    }

    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        match self.block.times() {
            Ok(times) => {
                Ok(Some(Times { instants: times.instants, arrivals: Arrivals::Each(times.arrivals) }))
            }
            Err(error) => leave_out(error, self.left_out.as_ref()).map(|()| None),
        }
    }

    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError> {
        match self.block.documents() {
            Ok(documents) => Ok(Some(Documents { bytes: documents.bytes, ends: documents.ends })),
            Err(error) => leave_out(error, self.left_out.as_ref()).map(|()| None),
        }
    }

    fn places(&self) -> Option<Arc<Places>> {
        self.kept.as_ref().map(|kept| kept.cached.places().clone())
    }

    fn statistics(&self) -> Option<&[u8]> {
        self.block.statistics()
    }
}

/// What is kept of a block. The cache is told once the block is done with.
struct Kept {
    id: BlockId,
    cached: Arc<Cached>,
    turn: Turn,
}

impl Kept {
    fn new(id: BlockId, turn: &Turn) -> Kept {
        Kept { id, cached: turn.get(id), turn: turn.clone() }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if !self.cached.is_empty() {
            self.turn.note(self.id, &self.cached);
        }
    }
}

/// A block in columns, as the query engine sees it. What is decoded of it stays in the store's cache.
pub(crate) struct StoredColumns {
    block: tamias_store::Block,
    parts: tamias_store::ColumnBlock,
    kept: Kept,
    columns: OnceLock<ColumnBlock>,
    /// Places of deleted events among those of the columns: the block is what stays.
    deleted: Vec<Range<u32>>,
    /// The times of what stays, where events are deleted.
    times: OnceLock<OwnedTimes>,
    /// The arrival numbers, listed, where the columns only count them.
    arrivals: OnceLock<Vec<[u8; 8]>>,
    left_out: Option<LeftOut>,
    /// What is used of the blocks of its source, and whether it is among those that were opened, and whose filter was asked.
    uses: Arc<Uses>,
    is_opened: AtomicBool,
    is_filter_asked: AtomicBool,
}

/// What a query has used so far of blocks in columns.
#[derive(Default)]
pub(crate) struct Uses {
    openings: AtomicUsize,
    filters: AtomicUsize,
    /// How many frames were read, and how many parts the blocks have of which these are.
    frames: AtomicUsize,
    parts: AtomicUsize,
    /// The paths that a thread asks for ahead, where the medium has to be waited for.
    ahead: OnceLock<Vec<Box<[Box<str>]>>>,
}

impl Uses {
    /// How many blocks it has opened.
    pub(crate) fn openings(&self) -> usize {
        self.openings.load(Relaxed)
    }

    /// Takes note that the medium has to be waited for, and that these paths are asked for ahead.
    pub(crate) fn wait(&self, ahead: &[Box<[Box<str>]>]) {
        self.ahead.get_or_init(|| ahead.to_vec());
    }

    /// Of how many it has asked the filter.
    pub(crate) fn filters(&self) -> usize {
        self.filters.load(Relaxed)
    }

    /// Whether nearly all columns of a block are read, as where documents are put together: of small blocks a quarter of the parts are no columns.
    pub(crate) fn are_all_columns(&self) -> bool {
        let frames = self.frames.load(Relaxed);
        frames > 0 && 4 * frames >= 3 * self.parts.load(Relaxed)
    }
}

/// Reads frames as parts of a block.
struct PartFrames {
    block: tamias_store::ColumnBlock,
    uses: Arc<Uses>,
    /// Whether one was read.
    is_read: AtomicBool,
}

impl ReadFrame for PartFrames {
    fn frame(&self, number: u32) -> Result<Vec<u8>, SourceError> {
        self.uses.frames.fetch_add(1, Relaxed);
        if !self.is_read.swap(true, Relaxed) {
            self.uses.parts.fetch_add(self.block.part_count(), Relaxed);
        }
        match self.block.part(&codec::frame_name(number)) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(tamias_store::ReadError::Damaged(self.block.damage("it lacks a frame")).into()),
            Err(error) => Err(error.into()),
        }
    }

    fn has_to_wait(&self, path: &[Box<str>]) -> bool {
        self.uses.ahead.get().is_some_and(|ahead| ahead.iter().all(|own| **own != *path))
    }

    fn expect(&self, frames: &[u32]) {
        let is_read = |frame: u32| frames.binary_search(&frame).is_ok();
        let mut expected = Expected::default();
        expected.add(&self.block, &|name| codec::frame_of(name).is_some_and(is_read));
        expected.ask();
    }

    fn times_fit(&self, times: Times<'_>) -> bool {
        let events = times.instants.len();
        times.arrivals.are_of(events) && self.block.times_fit(times.instants, times.arrivals.of(0..events))
    }

    fn documents_fit(&self, documents: Documents<'_>) -> bool {
        self.block.documents_fit(tamias_store::Documents { bytes: documents.bytes, ends: documents.ends })
    }
}

impl StoredColumns {
    pub(crate) fn new(
        block: tamias_store::Block,
        parts: tamias_store::ColumnBlock,
        turn: &Turn,
        left_out: Option<LeftOut>,
    ) -> StoredColumns {
        StoredColumns {
            kept: Kept::new(parts.id(), turn),
            block,
            parts,
            columns: OnceLock::new(),
            deleted: Vec::new(),
            times: OnceLock::new(),
            arrivals: OnceLock::new(),
            left_out,
            uses: Arc::default(),
            is_opened: AtomicBool::new(false),
            is_filter_asked: AtomicBool::new(false),
        }
    }

    /// The documents, put together if they are not there.
    pub(crate) fn own_documents(&self) -> Result<Documents<'_>, tamias_store::ReadError> {
        if let Ok(documents) = self.open()?.documents() {
            return Ok(documents);
        }
        // The store tells best what is damaged.
        let documents = self.block.documents()?;
        Ok(Documents { bytes: documents.bytes, ends: documents.ends })
    }

    /// One document; put together without the others, unless many are asked for one by one.
    pub(crate) fn document(&self, index: usize) -> Result<Cow<'_, [u8]>, tamias_store::ReadError> {
        let columns = self.open()?;
        if columns.has_documents() || self.kept.cached.ask_for_document(self.block.len()) {
            columns.decoded().documents_are_asked_for();
            let Documents { bytes, ends } = self.own_documents()?;
            let documents = tamias_store::Documents { bytes, ends };
            return Ok(documents.get(index).map(Cow::Borrowed).unwrap_or_default());
        }
        match columns.document(index) {
            Ok(document) => Ok(Cow::Owned(document)),
            // The store tells best what is damaged.
            Err(_) => Ok(self.block.document(index)?.unwrap_or_default()),
        }
    }

    /// When the events happened, and in which order they came.
    pub(crate) fn event_times(&self) -> Result<tamias_store::Times<'_>, tamias_store::ReadError> {
        match self.open()?.times() {
            Ok(Times { instants, arrivals: Arrivals::Each(arrivals) }) => {
                Ok(tamias_store::Times { instants, arrivals })
            }
            Ok(Times { instants, arrivals }) => {
                let arrivals = self.arrivals.get_or_init(|| codec::listed(arrivals, instants.len()));
                Ok(tamias_store::Times { instants, arrivals })
            }
            // The store tells best what is damaged.
            Err(_) => self.block.times(),
        }
    }

    /// Whether its columns need not be waited for, as far as is known. Two parts that lie apart are asked for, since an answer may be wrong where the
    /// processor was taken away meanwhile.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.kept.cached.decoded().is_some() || self.parts.is_in_memory()
    }

    /// What is read first of it, unless it was read before: the directory only if columns are read, too, and the filter only if it is asked.
    pub(crate) fn expect_first(
        &self,
        expected: &mut Expected,
        interest: &Interest,
        columns: bool,
        filter: bool,
    ) {
        if self.kept.cached.decoded().is_some() {
            return;
        }
        let statistics = interest.reads_statistics();
        expected.add(&self.parts, &|name| match name {
            codec::DIRECTORY => columns,
            codec::STATISTICS => statistics,
            codec::FILTER => statistics && filter,
            _ => false,
        });
    }

    /// The columns that are read, if events may pass.
    pub(crate) fn expect_columns(&self, expected: &mut Expected, interest: &mut Interest) {
        // What cannot be read is told when it is needed.
        if !interest.may_pass(self) {
            return;
        }
        if interest.reads_documents() || self.uses.are_all_columns() {
            expected.add(&self.parts, &|name| codec::frame_of(name).is_some());
        } else if let Ok(columns) = self.opened() {
            let frames = interest.frames_of(columns);
            let is_read = |frame| frames.binary_search(&frame).is_ok();
            expected.add(&self.parts, &|name| codec::frame_of(name).is_some_and(is_read));
        }
    }

    /// Reads the statistics.
    pub(crate) fn read_statistics(&self) {
        self.statistics_of_all();
    }

    fn open(&self) -> Result<&ColumnBlock, tamias_store::ReadError> {
        if !self.is_opened.swap(true, Relaxed) {
            self.uses.openings.fetch_add(1, Relaxed);
        }
        self.opened()
    }

    fn opened(&self) -> Result<&ColumnBlock, tamias_store::ReadError> {
        if let Some(columns) = self.columns.get() {
            return Ok(columns);
        }
        let (block, uses) = (self.parts.clone(), self.uses.clone());
        let frames = Box::new(PartFrames { block, uses, is_read: AtomicBool::new(false) });
        let columns = match self.kept.cached.decoded() {
            Some(decoded) => ColumnBlock::sharing(decoded, frames),
            None => {
                let damaged = |found| tamias_store::ReadError::Damaged(self.parts.damage(found));
                let directory =
                    self.parts.part(codec::DIRECTORY)?.ok_or_else(|| damaged("it lacks a directory"))?;
                let columns =
                    ColumnBlock::open(&directory, frames).map_err(|error| damaged(codec::found(error)))?;
                codec::fits(columns.len(), columns.document_bytes(), &self.parts).map_err(damaged)?;
                self.kept.cached.keep(columns.decoded());
                columns
            }
        };
        let columns = || columns.in_turn(self.kept.turn.number).without(self.deleted.clone());
        Ok(self.columns.get_or_init(columns))
    }

    /// Those of the events that are not deleted.
    fn staying(&self, times: Times<'_>) -> OwnedTimes {
        let Times { instants, arrivals } = times;
        let (mut staying, mut next) = (OwnedTimes::default(), 0);
        let end = instants.len() as u32;
        for deleted in self.deleted.iter().chain([&(end..end)]) {
            let stay = next..deleted.start as usize;
            if let Some(instants) = instants.get(stay.clone()) {
                staying.instants.extend_from_slice(instants);
                staying.arrivals.extend(arrivals.of(stay).map(u64::to_le_bytes));
            }
            next = deleted.end as usize;
        }
        staying
    }

    fn statistics_of_all(&self) -> &[u8] {
        self.kept.cached.statistics(|| tamias_query::unpack_statistics(self.parts.read_statistics()))
    }

    /// The reason why columns could not be read, as the store says it.
    fn reason(&self, error: ColumnError) -> Result<tamias_store::ReadError, SourceError> {
        match error {
            ColumnError::Decode(error) => {
                Ok(tamias_store::ReadError::Damaged(self.parts.damage(codec::found(error))))
            }
            ColumnError::Read(error) => error.downcast::<tamias_store::ReadError>().map(|error| *error),
            other => Err(other.into()),
        }
    }
}

impl Block for StoredColumns {
    fn len(&self) -> usize {
        self.block.len()
    }

    fn range(&self) -> ((u64, u64), (u64, u64)) {
        order_range(self.block.range())
    }

    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        let columns = match self.open() {
            Ok(columns) => columns,
            Err(error) => return leave_out(error, self.left_out.as_ref()).map(|()| None),
        };
        match columns.times() {
            Ok(times) if self.deleted.is_empty() => Ok(Some(times)),
            Ok(times) => {
                let OwnedTimes { instants, arrivals } = self.times.get_or_init(|| self.staying(times));
                Ok(Some(Times { instants, arrivals: Arrivals::Each(arrivals) }))
            }
            Err(error) => self.leave_out(error).map(|()| None),
        }
    }

    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError> {
        let documents = match self.deleted.is_empty() {
            true => self.own_documents(),
            false => self.block.documents().map(|all| Documents { bytes: all.bytes, ends: all.ends }),
        };
        match documents {
            Ok(documents) => Ok(Some(documents)),
            Err(error) => leave_out(error, self.left_out.as_ref()).map(|()| None),
        }
    }

    fn columns(&self) -> Result<Option<&ColumnBlock>, SourceError> {
        match self.open() {
            Ok(columns) => Ok(Some(columns)),
            // The documents are tried next, and found damaged likewise.
            Err(tamias_store::ReadError::Damaged(_)) if self.left_out.is_some() => Ok(None),
            Err(error) => Err(ReadError::of_store(error).into()),
        }
    }

    fn leave_out(&self, error: ColumnError) -> Result<(), SourceError> {
        leave_out(self.reason(error)?, self.left_out.as_ref())
    }

    fn statistics(&self) -> Option<&[u8]> {
        self.deleted.is_empty().then(|| self.statistics_of_all())
    }

    fn filter(&self) -> Option<&[u8]> {
        if !self.is_filter_asked.swap(true, Relaxed) {
            self.uses.filters.fetch_add(1, Relaxed);
        }
        Some(self.kept.cached.filter(|| self.parts.part(codec::FILTER).ok().flatten().unwrap_or_default()))
    }

    fn statistics_with_deleted(&self) -> Option<&[u8]> {
        (!self.deleted.is_empty()).then(|| self.statistics_of_all())
    }
}
