use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Segment;
use crate::block::{Block, Columns, ReadBlock};
use crate::error::{Damage, Failure, Operation, ReadError};
use crate::format::{BlockEntry, Key, checksum};
use crate::io::{Directory, File, Mapping, read_full_at};

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

/// A segment's bytes.
pub(super) enum SegmentBytes {
    Mapped(Mapping),
    Read(Arc<dyn File>),
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded").field("name", &self.name).field("blocks", &self.index.len()).finish()
    }
}

impl Loaded {
    pub(super) fn new(
        directory: Arc<dyn Directory>,
        name: String,
        seed: u32,
        index: Arc<[BlockEntry]>,
        bytes: SegmentBytes,
    ) -> Loaded {
        let verified = index.iter().map(|_| Verified::default()).collect();
        Loaded { directory, name, seed, index, bytes, verified }
    }

    /// The name of its file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

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
    pub(super) fn verify(&self, number: usize) -> Result<(), ReadError> {
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
