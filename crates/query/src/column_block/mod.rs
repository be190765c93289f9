//! A block that is stored in columns: what stands at a path, decoded when it is asked for first and kept.

mod path_column;

pub(crate) use path_column::{Coded, PathColumn};

use crate::source::{SourceError, Times};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tamias_shred::{DecodeError, Frames, Group};
use thiserror::Error;

/// Reads the frames of a group.
pub trait ReadFrame: Send + Sync {
    /// The stored bytes of a frame.
    ///
    /// # Errors
    /// Whatever keeps them from being read.
    fn frame(&self, number: u32) -> Result<Vec<u8>, SourceError>;
}

/// Why a column cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// A frame cannot be read.
    #[error(transparent)]
    Read(SourceError),
    /// What was read is not what was written.
    #[error("{0}")]
    Decode(#[from] DecodeError),
}

/// Events in columns. It keeps what it has decoded, and may be shared by queries.
pub struct ColumnBlock {
    group: Group,
    frames: Fetched,
    paths: Mutex<HashMap<Box<[Box<str>]>, Arc<PathColumn>>>,
    times: OnceLock<OwnTimes>,
    /// What the columns take that were decoded, in bytes.
    decoded_bytes: AtomicUsize,
}

/// Instants and arrival numbers.
struct OwnTimes {
    instants: Vec<[u8; 8]>,
    arrivals: Vec<[u8; 8]>,
}

/// Documents put together, as a block of text has them.
#[derive(Debug, Default)]
pub struct OwnDocuments {
    /// The documents, each followed by a line feed.
    pub bytes: Vec<u8>,
    /// For each event the offset just past its document, as a little-endian `u32`.
    pub ends: Vec<[u8; 4]>,
}

/// The frames that were read.
struct Fetched {
    source: Box<dyn ReadFrame>,
    frames: Vec<OnceLock<Vec<u8>>>,
    failure: Mutex<Option<SourceError>>,
    bytes: AtomicUsize,
}

impl Frames for Fetched {
    fn frame(&self, frame: u32) -> Option<&[u8]> {
        let place = self.frames.get(frame as usize)?;
        if let Some(bytes) = place.get() {
            return Some(bytes);
        }
        match self.source.frame(frame) {
            Ok(bytes) => {
                let length = bytes.len();
                let kept = place.get_or_init(|| {
                    self.bytes.fetch_add(length, Relaxed);
                    bytes
                });
                Some(kept)
            }
            Err(error) => {
                lock(&self.failure).get_or_insert(error);
                None
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is locked is never half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ColumnBlock {
    /// A block by its directory, which is read at once, and its frames, which are read when they are needed. Takes time and memory linear in the
    /// directory.
    ///
    /// # Errors
    /// If the directory is not what was written.
    pub fn open(directory: &[u8], frames: Box<dyn ReadFrame>) -> Result<ColumnBlock, DecodeError> {
        let group = Group::open(directory)?;
        let frames = Fetched {
            source: frames,
            frames: (0..group.frames()).map(|_| OnceLock::new()).collect(),
            failure: Mutex::new(None),
            bytes: AtomicUsize::new(0),
        };
        Ok(ColumnBlock {
            group,
            frames,
            paths: Mutex::default(),
            times: OnceLock::new(),
            decoded_bytes: AtomicUsize::new(0),
        })
    }

    /// How many events it has.
    pub fn len(&self) -> usize {
        self.group.events()
    }

    /// Whether it has no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it keeps in memory, in bytes, about: frames that were read, and columns that were decoded.
    pub fn held_bytes(&self) -> usize {
        self.frames.bytes.load(Relaxed) + self.decoded_bytes.load(Relaxed)
    }

    /// Bytes of frames that were read.
    pub fn read_bytes(&self) -> usize {
        self.frames.bytes.load(Relaxed)
    }

    /// The instants and arrival numbers.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn times(&self) -> Result<Times<'_>, ColumnError> {
        let times = match self.times.get() {
            Some(times) => times,
            None => {
                let mut reader = self.group.read(&self.frames);
                let instants = reader.instants().map_err(|error| self.failed(error))?;
                let arrivals = reader.arrivals().map_err(|error| self.failed(error))?;
                let bytes = |numbers: Vec<u64>| numbers.into_iter().map(u64::to_le_bytes).collect();
                let times = OwnTimes { instants: bytes(instants), arrivals: bytes(arrivals) };
                self.times.get_or_init(|| {
                    self.decoded_bytes.fetch_add(16 * times.instants.len(), Relaxed);
                    times
                })
            }
        };
        Ok(Times { instants: &times.instants, arrivals: &times.arrivals })
    }

    /// All documents, put together anew.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn documents(&self) -> Result<OwnDocuments, ColumnError> {
        let documents = self.group.read(&self.frames).documents().map_err(|error| self.failed(error))?;
        let mut own = OwnDocuments {
            bytes: Vec::with_capacity(documents.bytes().len() + documents.len()),
            ends: Vec::with_capacity(documents.len()),
        };
        for document in documents.iter() {
            own.bytes.extend_from_slice(document);
            own.ends.push((own.bytes.len() as u32).to_le_bytes());
            own.bytes.push(b'\n');
        }
        Ok(own)
    }

    /// One document, put together without the others; empty where there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn document(&self, index: usize) -> Result<Vec<u8>, ColumnError> {
        if index >= self.len() {
            return Ok(Vec::new());
        }
        self.group.read(&self.frames).document(index).map_err(|error| self.failed(error))
    }

    /// What stands at a path of keys, as documents spell them.
    pub(crate) fn at(&self, path: &[Box<str>]) -> Result<Arc<PathColumn>, ColumnError> {
        if let Some(column) = lock(&self.paths).get(path) {
            return Ok(column.clone());
        }
        let keys: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
        let at = self.group.read(&self.frames).at(&keys).map_err(|error| self.failed(error))?;
        let column = Arc::new(PathColumn::new(at, self.len()));
        let mut paths = lock(&self.paths);
        let kept = paths.entry(path.into()).or_insert_with(|| {
            self.decoded_bytes.fetch_add(column.held_bytes(), Relaxed);
            column
        });
        Ok(kept.clone())
    }

    /// Why something could not be decoded: since a frame could not be read, or the bytes are wrong.
    fn failed(&self, error: DecodeError) -> ColumnError {
        lock(&self.frames.failure).take().map_or(ColumnError::Decode(error), ColumnError::Read)
    }
}

impl std::fmt::Debug for ColumnBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnBlock").field("events", &self.len()).finish_non_exhaustive()
    }
}
