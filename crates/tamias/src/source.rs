//! What a query reads: a snapshot of the store, as groups of blocks.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use tamias_query::{
    Block, Cache, ColumnBlock, ColumnError, Documents, Interest, Places, ReadFrame, Source, SourceError,
    Times,
};
use tamias_store::{BlockId, Groups, Key, OwnedTimes, Parts};

use crate::codec;
use crate::column_cache::{Cached, ColumnCache, Turn};
use crate::{LeftOut, ReadError};

/// The blocks of a snapshot, group by group.
pub(crate) struct SnapshotSource {
    groups: Groups,
    cache: Arc<ColumnCache>,
    turn: Turn,
    left_out: Option<LeftOut>,
    ahead: Ahead,
}

/// Groups that were read before they were asked for, so that the medium is at work on their blocks meanwhile.
#[derive(Default)]
struct Ahead {
    interest: Option<Interest>,
    groups: VecDeque<(Result<Option<Group>, SourceError>, Stage)>,
    /// How many blocks of this source were opened.
    openings: Arc<AtomicUsize>,
}

/// The blocks of a group: as the query engine sees them, and those in columns.
type Group = Vec<(Arc<dyn Block>, Option<Arc<StoredColumns>>)>;

/// The first blocks of a group that are in columns: of more the directories would take much memory at once.
fn in_columns(group: &Result<Option<Group>, SourceError>) -> impl Iterator<Item = &Arc<StoredColumns>> {
    let blocks = group.iter().flatten().flatten();
    blocks.filter_map(|(_, columns)| columns.as_ref()).take(AHEAD_GROUPS)
}

/// How far the blocks of a group are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing has to be waited for, or nothing was asked for.
    Here,
    /// The medium was asked for what is read first: directories and statistics.
    First,
}

/// So many groups are read ahead: of twice as many as were opened, since a limit, or statistics, may spare the others.
///
/// HEURISTIC: a medium takes some tenths of a millisecond for each request, and many at once.
const AHEAD_GROUPS: usize = 16;

impl SnapshotSource {
    /// Blocks that fail where one is damaged, for a query that may hold so many bytes, the cache included.
    pub(crate) fn whole(groups: Groups, cache: Arc<ColumnCache>, budget_bytes: usize) -> SnapshotSource {
        let turn = cache.turn(budget_bytes);
        SnapshotSource { groups, cache, turn, left_out: None, ahead: Ahead::default() }
    }

    /// Blocks without the damaged ones, which `left_out` will tell of.
    pub(crate) fn past_damage(self, left_out: LeftOut) -> SnapshotSource {
        SnapshotSource { groups: self.groups.skip_damaged(), left_out: Some(left_out), ..self }
    }
}

impl Source for SnapshotSource {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        let group = match self.ahead.groups.pop_front() {
            Some((group, _)) => group,
            None => self.read_group(),
        };
        let group = group?;
        self.read_ahead();
        Ok(group.map(|blocks| blocks.into_iter().map(|(block, _)| block).collect()))
    }

    fn expect(&mut self, interest: Interest) {
        // Damage is told once the query comes to it.
        self.ahead.interest = Some(interest).filter(|_| self.left_out.is_none());
    }

    fn cache(&self) -> Option<Arc<dyn Cache>> {
        Some(self.cache.clone())
    }
}

impl SnapshotSource {
    fn read_group(&mut self) -> Result<Option<Group>, SourceError> {
        let told = self.groups.left_out().len();
        let group = self.groups.next().transpose().map_err(ReadError::of_store)?;
        if let Some(left_out) = &self.left_out {
            self.groups.left_out().iter().skip(told).for_each(|damage| left_out.add(damage.clone()));
        }
        let share = |block: tamias_store::Block| {
            let left_out = self.left_out.clone();
            let columns = match block.columns_of_all() {
                Some((parts, deleted)) => Some((parts.clone(), deleted)),
                None => block.columns().map(|parts| (parts.clone(), Vec::new())),
            };
            match columns {
                None => {
                    let kept = block.id().map(|id| Kept::new(id, &self.turn));
                    (Arc::new(TextBlock { block, kept, left_out }) as Arc<dyn Block>, None)
                }
                Some((parts, deleted)) => {
                    let mut columns = StoredColumns::new(block, parts, &self.turn, left_out);
                    columns.deleted = deleted;
                    columns.openings = self.ahead.openings.clone();
                    let columns = Arc::new(columns);
                    (columns.clone() as Arc<dyn Block>, Some(columns))
                }
            }
        };
        Ok(group.map(|blocks| blocks.into_iter().map(share).collect()))
    }

    /// Reads some groups more, and asks the medium for what will be read of their blocks, in two steps, since only their directories tell which frames those are.
    fn read_ahead(&mut self) {
        let Some(mut interest) = self.ahead.interest.take() else { return };
        let wanted = AHEAD_GROUPS.min(2 * self.ahead.openings.load(Relaxed));
        while self.ahead.groups.len() < wanted
            && !self.ahead.groups.back().is_some_and(|(group, _)| !matches!(group, Ok(Some(_))))
        {
            let group = self.read_group();
            let is_asked =
                in_columns(&group).fold(false, |asked, block| asked | block.ask_for_first(&interest));
            self.ahead.groups.push_back((group, if is_asked { Stage::First } else { Stage::Here }));
        }
        for (group, stage) in self.ahead.groups.iter_mut().take(wanted / 2) {
            if std::mem::replace(stage, Stage::Here) == Stage::First {
                in_columns(group).for_each(|block| block.ask_for_columns(&mut interest));
            }
        }
        self.ahead.interest = Some(interest);
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
            Ok(times) => Ok(Some(Times { instants: times.instants, arrivals: times.arrivals })),
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
    left_out: Option<LeftOut>,
    /// How many blocks of its source a query has opened, and whether it is one of them.
    openings: Arc<AtomicUsize>,
    is_opened: AtomicBool,
}

/// Reads frames as parts of a block.
struct PartFrames(tamias_store::ColumnBlock);

impl ReadFrame for PartFrames {
    fn frame(&self, number: u32) -> Result<Vec<u8>, SourceError> {
        match self.0.part(&codec::frame_name(number)) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(tamias_store::ReadError::Damaged(self.0.damage("it lacks a frame")).into()),
            Err(error) => Err(error.into()),
        }
    }

    fn times_fit(&self, times: Times<'_>) -> bool {
        self.0.times_fit(tamias_store::Times { instants: times.instants, arrivals: times.arrivals })
    }

    fn documents_fit(&self, documents: Documents<'_>) -> bool {
        self.0.documents_fit(tamias_store::Documents { bytes: documents.bytes, ends: documents.ends })
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
            left_out,
            openings: Arc::default(),
            is_opened: AtomicBool::new(false),
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
            Ok(times) => Ok(tamias_store::Times { instants: times.instants, arrivals: times.arrivals }),
            // The store tells best what is damaged.
            Err(_) => self.block.times(),
        }
    }

    /// Asks the medium for what is read first, unless it is in memory: whether it is waited for.
    fn ask_for_first(&self, interest: &Interest) -> bool {
        if self.kept.cached.decoded().is_some() || self.parts.is_in_memory(codec::DIRECTORY) {
            return false;
        }
        let statistics = if interest.reads_statistics() { Some(codec::STATISTICS) } else { None };
        let names: Vec<String> =
            [codec::DIRECTORY].into_iter().chain(statistics).map(str::to_owned).collect();
        self.parts.expect(&names);
        true
    }

    /// Asks the medium for the columns that are read, if events may pass.
    fn ask_for_columns(&self, interest: &mut Interest) {
        // What cannot be read is told when it is needed.
        if interest.may_pass(self)
            && let Ok(columns) = self.opened()
        {
            let frames = columns.frames_at(interest.paths());
            self.parts.expect(&frames.into_iter().map(codec::frame_name).collect::<Vec<_>>());
        }
    }

    fn open(&self) -> Result<&ColumnBlock, tamias_store::ReadError> {
        if !self.is_opened.swap(true, Relaxed) {
            self.openings.fetch_add(1, Relaxed);
        }
        self.opened()
    }

    fn opened(&self) -> Result<&ColumnBlock, tamias_store::ReadError> {
        if let Some(columns) = self.columns.get() {
            return Ok(columns);
        }
        let frames = Box::new(PartFrames(self.parts.clone()));
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
            staying.instants.extend_from_slice(instants.get(stay.clone()).unwrap_or_default());
            staying.arrivals.extend_from_slice(arrivals.get(stay).unwrap_or_default());
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
                Ok(Some(Times { instants, arrivals }))
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

    fn statistics_with_deleted(&self) -> Option<&[u8]> {
        (!self.deleted.is_empty()).then(|| self.statistics_of_all())
    }
}
