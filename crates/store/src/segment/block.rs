//! A block as a reader gets it: some megabytes of events in order of their keys.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use super::column_block::ColumnBlock;
use super::keys::Keys;
use super::loaded::{Found, Loaded, Places, Reopen};
use crate::codec::BlockId;
use crate::codec::{Documents, OwnedDocuments, OwnedTimes, Parts, Times};
use crate::error::ReadError;
use crate::format::Key;
use crate::marks::{self, Stretch};
use crate::run::Run;

/// Events in order of (instant, arrival). Cheap to clone, and independent of what happens to the store.
///
/// A block of text is mapped from a sealed file, or lies in memory: the memtable that is not sealed yet, and everything in plain mode. If it
/// is sealed its keys and statistics were verified before it was handed out; its documents are read and verified when they are first
/// asked for, so that a block that is only looked at costs no reading of documents. Of a [block in columns](ColumnBlock) nothing was
/// read; nor of one with deleted events, which is text without them once it is. Its columns, with all events, are in
/// [`columns_of_all`](Block::columns_of_all).
#[derive(Clone)]
pub struct Block {
    bytes: Bytes,
}

#[derive(Clone)]
enum Bytes {
    Memtable(Arc<Run>),
    /// `fetched` once the documents were found whole and in memory by this handle or one that it was cloned from.
    Mapped {
        file: Arc<Loaded>,
        id: BlockId,
        number: usize,
        parts: Places,
        documents: Range<usize>,
        fetched: Arc<AtomicBool>,
    },
    Read(Arc<ReadBlock>),
    Columns(ColumnBlock),
    Remaining(Arc<Remaining>),
}

/// A block some of whose events are deleted, as one of text without them. Nothing of it is read before it is asked for, and only what stays is kept then. It does
/// not keep its file open.
struct Remaining {
    segment: Arc<dyn Reopen>,
    number: usize,
    deleted: Vec<Stretch>,
    /// The block with all of its events, if it is in columns.
    columns: Option<ColumnBlock>,
    /// The first and the last key of all of its events, as the index has them.
    range: (Key, Key),
    /// How many events stay.
    events: usize,
    times: OnceLock<OwnedTimes>,
    documents: OnceLock<OwnedDocuments>,
}

impl Remaining {
    /// The block with all of its events, which is forgotten once what stays was taken from it.
    fn whole(&self) -> Result<Block, ReadError> {
        Block::of(&self.segment.load()?, Arc::clone(&self.segment), self.number)
    }

    fn stays(&self, place: usize) -> bool {
        !marks::are_at(&self.deleted, place)
    }

    fn times(&self) -> Result<Times<'_>, ReadError> {
        if let Some(times) = self.times.get() {
            return Ok(times.lent());
        }
        let whole = self.whole()?;
        let Times { instants, arrivals } = whole.times()?;
        let kept = |all: &[[u8; 8]]| {
            let kept = all.iter().enumerate().filter(|(place, _)| self.stays(*place));
            kept.map(|(_, bytes)| *bytes).collect()
        };
        let times = OwnedTimes { instants: kept(instants), arrivals: kept(arrivals) };
        Ok(self.times.get_or_init(|| times).lent())
    }

    fn documents(&self) -> Result<Documents<'_>, ReadError> {
        if let Some(documents) = self.documents.get() {
            return Ok(documents.lent());
        }
        let whole = self.whole()?;
        let all = whole.documents()?;
        let mut documents = OwnedDocuments::default();
        for place in (0..all.len()).filter(|place| self.stays(*place)) {
            documents.push(all.get(place).unwrap_or_default());
        }
        Ok(self.documents.get_or_init(|| documents).lent())
    }
}

/// A block of text read into memory, the documents once they are asked for. It does not keep its file open.
struct ReadBlock {
    segment: Arc<dyn Reopen>,
    number: usize,
    /// The keys, then the statistics.
    bytes: Vec<u8>,
    parts: Places,
    documents: OnceLock<Vec<u8>>,
}

impl ReadBlock {
    fn keys(&self) -> &[u8] {
        self.bytes.get(self.parts.keys.clone()).unwrap_or_default()
    }

    fn documents(&self) -> Result<&[u8], ReadError> {
        if let Some(documents) = self.documents.get() {
            return Ok(documents);
        }
        let documents = self.segment.load()?.read_documents(self.number, self.keys())?;
        Ok(self.documents.get_or_init(|| documents))
    }
}

impl Block {
    pub(crate) fn in_memory(run: Arc<Run>) -> Block {
        Block { bytes: Bytes::Memtable(run) }
    }

    /// The block at a place in the index of an open file; one of text with its keys verified. The segment opens the file again if it is
    /// closed before more is asked for.
    pub(super) fn of(
        file: &Arc<Loaded>,
        segment: Arc<dyn Reopen>,
        number: usize,
    ) -> Result<Block, ReadError> {
        let id = segment.id_of(number as u32);
        let bytes = match file.block(number)? {
            Found::Columns { entry } => Bytes::Columns(ColumnBlock::new(segment, id, entry)),
            Found::Mapped { parts, documents } => {
                let fetched = Arc::default();
                Bytes::Mapped { file: Arc::clone(file), id, number, parts, documents, fetched }
            }
            Found::Read { parts, bytes } => {
                let documents = OnceLock::new();
                Bytes::Read(Arc::new(ReadBlock { segment, number, bytes, parts, documents }))
            }
        };
        Ok(Block { bytes })
    }

    /// A block of a segment, at this place in its index, without the events that are deleted; nothing if these are all.
    pub(super) fn remaining(
        &self,
        segment: Arc<dyn Reopen>,
        number: usize,
        deleted: &[Stretch],
    ) -> Option<Block> {
        let stay = self.len().checked_sub(marks::events_of(deleted) as usize);
        let events = stay.filter(|events| *events > 0)?;
        let (times, documents) = (OnceLock::new(), OnceLock::new());
        let (range, deleted) = (self.range(), deleted.to_vec());
        let columns = self.columns().cloned();
        let remaining = Remaining { segment, number, deleted, columns, range, events, times, documents };
        Some(Block { bytes: Bytes::Remaining(Arc::new(remaining)) })
    }

    /// A copy in memory without deleted events; nothing if these are all. For repair, which has read the block already.
    pub(super) fn without(&self, deleted: &[Stretch]) -> Result<Option<Block>, ReadError> {
        if marks::events_of(deleted) >= self.len() as u64 {
            return Ok(None);
        }
        let mut run = Run::with_capacity(self.len(), self.documents()?.bytes.len());
        for (index, (key, document)) in self.events()?.enumerate() {
            if !marks::are_at(deleted, index) {
                run.push(key, document);
            }
        }
        Ok((!run.is_empty()).then(|| Block::in_memory(Arc::new(run))))
    }

    /// The block in columns that it is; `None` if it is text.
    pub fn columns(&self) -> Option<&ColumnBlock> {
        match &self.bytes {
            Bytes::Columns(block) => Some(block),
            Bytes::Memtable(_) | Bytes::Mapped { .. } | Bytes::Read(_) | Bytes::Remaining(_) => None,
        }
    }

    /// Of a block with deleted events: that with all of them, if it is in columns, and the places of the deleted ones in it, in order.
    pub fn columns_of_all(&self) -> Option<(&ColumnBlock, Vec<Range<u32>>)> {
        let Bytes::Remaining(block) = &self.bytes else { return None };
        let deleted = block.deleted.iter().map(|stretch| stretch.first..stretch.first + stretch.events);
        Some((block.columns.as_ref()?, deleted.collect()))
    }

    /// What names the block, for a cache of what was found in it; `None` where events of the block are deleted, so that it is not the same from
    /// snapshot to snapshot.
    pub fn id(&self) -> Option<BlockId> {
        match &self.bytes {
            Bytes::Mapped { id, .. } => Some(*id),
            Bytes::Read(block) => Some(block.segment.id_of(block.number as u32)),
            Bytes::Columns(block) => Some(block.id()),
            Bytes::Memtable(run) if run.number > 0 => {
                Some(BlockId { opening: 0, segment: run.number, block: BlockId::UNSEALED })
            }
            Bytes::Memtable(_) | Bytes::Remaining(_) => None,
        }
    }

    /// When the events happened, and when they came. Of a block of text they are there; those of one in columns are decoded at the first use,
    /// and kept.
    ///
    /// # Errors
    /// Of a block in columns: where they are not what was written, or the operating system refuses to read them. Once it succeeded it
    /// does so again.
    pub fn times(&self) -> Result<Times<'_>, ReadError> {
        match &self.bytes {
            Bytes::Memtable(run) => Ok(run.times()),
            Bytes::Mapped { file, parts, .. } => Ok(keys(file.mapped(&parts.keys), parts).times),
            Bytes::Read(block) => Ok(keys(block.keys(), &block.parts).times),
            Bytes::Columns(block) => block.times(),
            Bytes::Remaining(block) => block.times(),
        }
    }

    /// The keys of the first and the last event, without reading anything. Where events of the block are deleted they may be among these: none that stays lies
    /// outside.
    pub fn range(&self) -> (Key, Key) {
        let of = |times: Times<'_>| {
            let key = |index| times.key(index).unwrap_or(Key { instant: 0, arrival: 0 });
            (key(0), key(self.len().saturating_sub(1)))
        };
        match &self.bytes {
            Bytes::Memtable(run) => of(run.times()),
            Bytes::Mapped { file, parts, .. } => of(keys(file.mapped(&parts.keys), parts).times),
            Bytes::Read(block) => of(keys(block.keys(), &block.parts).times),
            Bytes::Columns(block) => block.range(),
            Bytes::Remaining(block) => block.range,
        }
    }

    /// The documents. Verified at the first use: in this process if the file is mapped, of this block if it is read; of a block in columns
    /// they are put together then, and kept.
    ///
    /// # Errors
    /// If they are not what was written, or the operating system refuses to read them. Once it succeeded it does so again.
    pub fn documents(&self) -> Result<Documents<'_>, ReadError> {
        match &self.bytes {
            Bytes::Memtable(run) => Ok(run.lent()),
            Bytes::Mapped { file, number, parts, documents, fetched, .. } => {
                // Rows ask for them one by one.
                if !fetched.load(Relaxed) {
                    file.documents(*number)?;
                    fetched.store(true, Relaxed);
                }
                let ends = keys(file.mapped(&parts.keys), parts).ends;
                Ok(Documents { bytes: file.mapped(documents), ends })
            }
            Bytes::Read(block) => {
                Ok(Documents { bytes: block.documents()?, ends: keys(block.keys(), &block.parts).ends })
            }
            Bytes::Columns(block) => block.documents(),
            Bytes::Remaining(block) => block.documents(),
        }
    }

    /// What the [codec](crate::Codec) collected from the block; empty where that is damaged, and `None` for the memtable, and where events of the block are
    /// deleted. Of a block in columns
    /// it is read at the first use.
    pub fn statistics(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Memtable(_) | Bytes::Remaining(_) => None,
            Bytes::Mapped { file, parts, .. } => Some(file.mapped(&parts.statistics)),
            Bytes::Read(block) => Some(block.bytes.get(block.parts.statistics.clone()).unwrap_or_default()),
            Bytes::Columns(block) => Some(block.statistics()),
        }
    }

    /// The file that it lies in; `None` for the memtable, which is not sealed yet.
    pub fn file(&self) -> Option<PathBuf> {
        match &self.bytes {
            Bytes::Memtable(_) => None,
            Bytes::Mapped { file, .. } => Some(file.path()),
            Bytes::Read(block) => Some(block.segment.path()),
            Bytes::Columns(block) => Some(block.file()),
            Bytes::Remaining(block) => Some(block.segment.path()),
        }
    }

    /// How many events, at least one.
    pub fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Memtable(run) => run.len(),
            Bytes::Mapped { parts, .. } => parts.events,
            Bytes::Read(block) => block.parts.events,
            Bytes::Columns(block) => block.events(),
            Bytes::Remaining(block) => block.events,
        }
    }

    /// Never: a block holds an event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of the event at `index`; `None` beyond the last.
    ///
    /// # Errors
    /// As for [`times`](Block::times) has them.
    pub fn key(&self, index: usize) -> Result<Option<Key>, ReadError> {
        Ok(self.times()?.key(index))
    }

    /// The document of the event at `index`, without its line feed; `None` beyond the last. Of a block in columns it is put together by itself,
    /// if not all documents are there already.
    ///
    /// # Errors
    /// As for [`documents`](Block::documents) has them.
    pub fn document(&self, index: usize) -> Result<Option<Cow<'_, [u8]>>, ReadError> {
        match &self.bytes {
            Bytes::Columns(block) => block.document(index),
            Bytes::Memtable(_) | Bytes::Mapped { .. } | Bytes::Read(_) | Bytes::Remaining(_) => {
                Ok(self.documents()?.get(index).map(Cow::Borrowed))
            }
        }
    }

    /// Where the event with this key stands, by binary search.
    ///
    /// # Errors
    /// As for [`times`](Block::times) has them.
    pub fn find(&self, key: Key) -> Result<Option<usize>, ReadError> {
        let times = self.times()?;
        let index = times.partition_point(|other| other < key);
        Ok((times.key(index) == Some(key)).then_some(index))
    }

    /// The events, in order.
    ///
    /// # Errors
    /// As for [`times`](Block::times) and [`documents`](Block::documents) have them.
    pub(crate) fn events(&self) -> Result<impl Iterator<Item = (Key, &[u8])>, ReadError> {
        let (times, documents) = (self.times()?, self.documents()?);
        Ok((0..self.len()).filter_map(move |index| Some((times.key(index)?, documents.get(index)?))))
    }
}

/// The keys of a block of text; all of them are there, as they were checked.
fn keys<'a>(bytes: &'a [u8], parts: &Places) -> Keys<'a> {
    Keys::of(bytes, parts.events).unwrap_or(Keys::NONE)
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Block").field("events", &self.len()).finish_non_exhaustive()
    }
}
