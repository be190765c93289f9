//! A block as a reader gets it: about a megabyte of events in order of their keys, as plain slices.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use super::columns::Columns;
use super::loaded::{Found, Loaded, Parts, Reopen};
use crate::error::ReadError;
use crate::format::Key;
use crate::run::{self, Run};

/// Events in order of (instant, arrival). Cheap to clone, and independent of what happens to the store.
///
/// The bytes are mapped from a sealed file, or lie in memory: the memtable that is not sealed yet, and everything in plain mode. Of a
/// sealed block the columns (ends, instants, arrivals, statistics) were verified before it was handed out; its documents are read
/// and verified when they are first asked for, so that a block that is only looked at costs no reading of documents.
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
        number: usize,
        parts: Parts,
        documents: Range<usize>,
        fetched: Arc<AtomicBool>,
    },
    Read(Arc<ReadBlock>),
}

/// A block read into memory, the documents once they are asked for. It does not keep its file open.
struct ReadBlock {
    segment: Arc<dyn Reopen>,
    number: usize,
    /// The keys, then the statistics.
    bytes: Vec<u8>,
    parts: Parts,
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

    /// The block at a place in the index of an open file, its columns verified. The segment opens the file again if it is closed
    /// before the documents are asked for.
    pub(super) fn of(
        file: &Arc<Loaded>,
        segment: Arc<dyn Reopen>,
        number: usize,
    ) -> Result<Block, ReadError> {
        let bytes = match file.block(number)? {
            Found::Mapped { parts, documents } => {
                Bytes::Mapped { file: Arc::clone(file), number, parts, documents, fetched: Arc::default() }
            }
            Found::Read { parts, bytes } => {
                let documents = OnceLock::new();
                Bytes::Read(Arc::new(ReadBlock { segment, number, bytes, parts, documents }))
            }
        };
        Ok(Block { bytes })
    }

    fn columns(&self) -> Columns<'_> {
        let (bytes, events) = match &self.bytes {
            Bytes::Memtable(run) => {
                let Run { ends, instants, arrivals, .. } = &**run;
                return Columns { instants, arrivals, ends };
            }
            Bytes::Mapped { file, parts, .. } => (file.mapped(&parts.keys), parts.events),
            Bytes::Read(block) => (block.keys(), block.parts.events),
        };
        Columns::of(bytes, events).unwrap_or(Columns { instants: &[], arrivals: &[], ends: &[] })
    }

    /// The documents one after another, each ended by a line feed, where [`ends`](Block::ends) says. Verified at the first use:
    /// in this process if the file is mapped, of this block if it is read. Once it succeeded it does so again.
    ///
    /// # Errors
    /// Where they are not what was written, or the operating system refuses to read them.
    pub fn documents(&self) -> Result<&[u8], ReadError> {
        match &self.bytes {
            Bytes::Memtable(run) => Ok(&run.documents),
            Bytes::Mapped { file, number, documents, fetched, .. } => {
                // Rows ask for them one by one.
                if !fetched.load(Relaxed) {
                    file.documents(*number)?;
                    fetched.store(true, Relaxed);
                }
                Ok(file.mapped(documents))
            }
            Bytes::Read(block) => block.documents(),
        }
    }

    /// Per event the offset just past its document, where its line feed stands: a little-endian `u32`.
    pub fn ends(&self) -> &[[u8; 4]] {
        self.columns().ends
    }

    /// Per event its instant in ticks: a little-endian `u64`.
    pub fn instants(&self) -> &[[u8; 8]] {
        self.columns().instants
    }

    /// Per event its arrival number: a little-endian `u64`.
    pub fn arrivals(&self) -> &[[u8; 8]] {
        self.columns().arrivals
    }

    /// What [`Statistics`](crate::Statistics) collected from the block; empty where that is damaged, and `None` for the memtable.
    pub fn statistics(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Memtable(_) => None,
            Bytes::Mapped { file, parts, .. } => Some(file.mapped(&parts.statistics)),
            Bytes::Read(block) => Some(block.bytes.get(block.parts.statistics.clone()).unwrap_or_default()),
        }
    }

    /// The file that it lies in; `None` for the memtable, which is not sealed yet.
    pub fn file(&self) -> Option<PathBuf> {
        match &self.bytes {
            Bytes::Memtable(_) => None,
            Bytes::Mapped { file, .. } => Some(file.path()),
            Bytes::Read(block) => Some(block.segment.path()),
        }
    }

    /// How many events, at least one.
    pub fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Memtable(run) => run.len(),
            Bytes::Mapped { parts, .. } => parts.events,
            Bytes::Read(block) => block.parts.events,
        }
    }

    /// Never: a block holds an event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of the event at `index`.
    pub fn key(&self, index: usize) -> Option<Key> {
        let columns = self.columns();
        let instant = u64::from_le_bytes(*columns.instants.get(index)?);
        let arrival = u64::from_le_bytes(*columns.arrivals.get(index)?);
        Some(Key { instant, arrival })
    }

    /// The document of the event at `index`, without its line feed; `None` beyond the last.
    ///
    /// # Errors
    /// As [`documents`](Block::documents) has them.
    pub fn document(&self, index: usize) -> Result<Option<&[u8]>, ReadError> {
        Ok(run::document(self.documents()?, self.ends(), index))
    }

    /// Where the event with this key stands, by binary search.
    pub fn find(&self, key: Key) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key(middle)?.cmp(&key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Block").field("events", &self.len()).finish_non_exhaustive()
    }
}
