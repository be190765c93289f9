//! A block in columns: parts with names, which the program's codec makes times and documents of.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::keys::{ends_fit, times_fit};
use super::loaded::{Loaded, Reopen};
use crate::codec::{BlockId, DecodeError, Documents, OwnedDocuments, OwnedTimes, Parts, Times};
use crate::error::{Damage, Failure, Operation, ReadError};
use crate::format::{BlockEntry, Key, part};
use crate::marks::{self, Stretch};
use crate::run::Run;

/// A block in columns. Nothing of it is read before it is asked for, and nothing but what is asked for. Cheap to clone; what was decoded
/// is kept by all clones together.
///
/// Its parts are read plainly, never by a map: a bad sector is an error, and no signal.
#[derive(Clone)]
pub struct ColumnBlock(Arc<Inner>);

impl Parts for ColumnBlock {
    fn id(&self) -> BlockId {
        self.0.id
    }

    fn events(&self) -> usize {
        self.0.entry.events as usize
    }

    fn document_bytes(&self) -> usize {
        self.0.entry.document_bytes as usize
    }

    fn part(&self, name: &str) -> Result<Option<Vec<u8>>, ReadError> {
        Bare(self).part(name).map_err(|error| self.told(error))
    }
}

/// A block whose codec is asking what a part of it holds: it is not asked again, should another part be damaged too.
struct Bare<'b>(&'b ColumnBlock);

impl Parts for Bare<'_> {
    fn id(&self) -> BlockId {
        self.0.id()
    }

    fn events(&self) -> usize {
        self.0.events()
    }

    fn document_bytes(&self) -> usize {
        self.0.document_bytes()
    }

    fn part(&self, name: &str) -> Result<Option<Vec<u8>>, ReadError> {
        self.0.0.segment.load()?.part(self.0.0.id.block as usize, name)
    }
}

struct Inner {
    segment: Arc<dyn Reopen>,
    id: BlockId,
    entry: BlockEntry,
    statistics: OnceLock<Vec<u8>>,
    times: OnceLock<OwnedTimes>,
    documents: OnceLock<OwnedDocuments>,
}

impl ColumnBlock {
    pub(super) fn new(segment: Arc<dyn Reopen>, id: BlockId, entry: BlockEntry) -> ColumnBlock {
        ColumnBlock(Arc::new(Inner {
            segment,
            id,
            entry,
            statistics: OnceLock::new(),
            times: OnceLock::new(),
            documents: OnceLock::new(),
        }))
    }

    /// The keys of the first and the last event.
    pub fn range(&self) -> (Key, Key) {
        (self.0.entry.first, self.0.entry.last)
    }

    /// Whether its columns can be read without waiting for the medium, as far as the system tells of two parts that lie apart.
    pub fn is_in_memory(&self) -> bool {
        let loaded = self.0.segment.load();
        loaded.is_ok_and(|loaded| loaded.is_in_memory(self.0.id.block as usize))
    }

    /// How many parts it has; none where the segment cannot be opened.
    pub fn part_count(&self) -> usize {
        let loaded = self.0.segment.load();
        loaded.map_or(0, |loaded| loaded.index().parts_of(&self.0.entry).len())
    }

    /// Its parts, by name, and how many bytes they have, in the order in which they were written.
    ///
    /// # Errors
    /// If the segment cannot be opened.
    pub fn parts(&self) -> Result<Vec<(String, u32)>, ReadError> {
        let loaded = self.0.segment.load()?;
        let index = loaded.index();
        let parts = index.parts_of(&self.0.entry).iter();
        let named = parts.map(|part| (index.name_of(part).to_owned(), part.length()));
        Ok(named.collect())
    }

    /// The damage that a codec finds in a part whose bytes are those that were written: for errors of its own.
    pub fn damage(&self, found: &'static str) -> Damage {
        let entry = &self.0.entry;
        let bytes = self.0.segment.load().map_or(0..0, |loaded| loaded.range_of(self.0.id.block as usize));
        Damage {
            file: self.file(),
            bytes,
            part: None,
            keys: Some((entry.first, entry.last)),
            events: Some(u64::from(entry.events)),
            found,
        }
    }

    /// Its file, open.
    pub(super) fn loaded(&self) -> Result<Arc<Loaded>, ReadError> {
        self.0.segment.load()
    }

    /// Its place in the index of its segment.
    pub(super) fn number(&self) -> usize {
        self.0.id.block as usize
    }

    pub(super) fn file(&self) -> PathBuf {
        self.0.segment.path()
    }

    /// What was collected from it; empty where that is damaged.
    pub(super) fn statistics(&self) -> &[u8] {
        self.0.statistics.get_or_init(|| self.read_statistics())
    }

    /// The same, read anew and not kept.
    pub fn read_statistics(&self) -> Vec<u8> {
        self.part(part::STATISTICS).ok().flatten().unwrap_or_default()
    }

    /// Whether these are the times of its events: they rise from its first key to its last, as the index tells them.
    pub fn times_fit(
        &self,
        instants: &[[u8; 8]],
        arrivals: impl ExactSizeIterator<Item = u64> + Clone,
    ) -> bool {
        times_fit(instants, arrivals, &self.0.entry)
    }

    /// Whether these may be its documents: as many and as long as the index tells, each with its line feed.
    pub fn documents_fit(&self, documents: Documents<'_>) -> bool {
        ends_fit(documents.ends, &self.0.entry) && documents.stand(&self.0.entry)
    }

    /// Decoded at the first use.
    pub(super) fn times(&self) -> Result<Times<'_>, ReadError> {
        if let Some(times) = self.0.times.get() {
            return Ok(times.lent());
        }
        let times = self.0.segment.codec().times(self).map_err(|error| self.failed(error))?;
        if !times.lent().fit(&self.0.entry) {
            return Err(ReadError::Damaged(self.damage("its times are not those that the index tells")));
        }
        Ok(self.0.times.get_or_init(|| times).lent())
    }

    /// Decoded at the first use.
    pub(super) fn documents(&self) -> Result<Documents<'_>, ReadError> {
        if let Some(documents) = self.0.documents.get() {
            return Ok(documents.lent());
        }
        let documents = self.0.segment.codec().documents(self).map_err(|error| self.failed(error))?;
        if !self.documents_fit(documents.lent()) {
            return Err(ReadError::Damaged(self.damage("its documents are not those that the index tells")));
        }
        Ok(self.0.documents.get_or_init(|| documents).lent())
    }

    /// One document: from all of them, if they are there already.
    pub(super) fn document(&self, index: usize) -> Result<Option<Cow<'_, [u8]>>, ReadError> {
        if let Some(documents) = self.0.documents.get() {
            return Ok(documents.lent().get(index).map(Cow::Borrowed));
        }
        if index >= self.events() {
            return Ok(None);
        }
        let document = self.0.segment.codec().document(self, index).map_err(|error| self.failed(error))?;
        match document {
            Some(document) => Ok(Some(Cow::Owned(document))),
            None => Err(ReadError::Damaged(self.damage("it has fewer documents than the index tells"))),
        }
    }

    /// The events that are whole although parts of the block are damaged, in order, without those that are deleted.
    pub(super) fn whole_events(&self, deleted: &[Stretch]) -> Result<Run, ReadError> {
        let times = self.times()?;
        let documents = self.0.segment.codec().whole_documents(self).map_err(|error| self.failed(error))?;
        let mut run = Run::default();
        for (index, document) in documents.into_iter().enumerate() {
            let (Some(document), Some(key)) = (document, times.key(index)) else { continue };
            if !marks::are_at(deleted, index) {
                run.push(key, &document);
            }
        }
        Ok(run)
    }

    /// Reads every part again, and decodes all of it. What is told first is what loses events: statistics, which lose none, come last.
    pub(super) fn verify(&self) -> Result<(), ReadError> {
        let loaded = self.0.segment.load()?;
        let (statistics, others): (Vec<&str>, Vec<&str>) =
            loaded.index().names_of(&self.0.entry).partition(|name| part::is_of_statistics(name));
        for name in others {
            self.part(name)?;
        }
        self.times()?;
        self.documents()?;
        statistics.into_iter().try_for_each(|name| self.part(name).map(drop))
    }

    /// Damage of a part, with what the codec says of it.
    fn told(&self, error: ReadError) -> ReadError {
        match error {
            ReadError::Damaged(mut damage) => {
                if let Some(part) = &mut damage.part {
                    part.holds = self.0.segment.codec().holds(&Bare(self), &part.name);
                }
                ReadError::Damaged(damage)
            }
            failure @ ReadError::Failure(_) => failure,
        }
    }

    pub(super) fn failed(&self, error: DecodeError) -> ReadError {
        match error {
            DecodeError::Read(error) => error,
            DecodeError::Malformed(found) => ReadError::Damaged(self.damage(found)),
            DecodeError::Unknown => {
                let source = std::io::Error::new(std::io::ErrorKind::Unsupported, error);
                let source = Arc::new(source);
                ReadError::Failure(Failure { path: self.file(), operation: Operation::Decode, source })
            }
        }
    }
}

impl std::fmt::Debug for ColumnBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnBlock").field("id", &self.0.id).finish_non_exhaustive()
    }
}
