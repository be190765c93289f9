//! A block as a reader gets it: about a megabyte of events in order of their keys, as plain slices.

use std::ops::Range;
use std::sync::Arc;

use crate::format::Key;
use crate::run::{self, Run};
use crate::segment::Loaded;

/// Events in order of (instant, arrival). Cheap to clone, and independent of what happens to the store.
///
/// The bytes are mapped from a sealed file, or lie in memory: the tail that is not sealed yet, and everything in plain mode. The
/// checksums of a sealed block were verified before it was handed out.
#[derive(Clone)]
pub struct Block {
    bytes: Bytes,
}

#[derive(Clone)]
enum Bytes {
    Tail(Arc<Run>),
    Mapped { file: Arc<Loaded>, documents: Range<usize>, columns: Range<usize>, events: usize },
    Read { bytes: Arc<ReadBytes>, events: usize },
}

/// A block's bytes read into memory.
pub(crate) struct ReadBytes {
    pub(crate) documents: Vec<u8>,
    pub(crate) columns: Vec<u8>,
}

/// A block's columns taken apart.
pub(crate) struct Columns<'a> {
    pub(crate) instants: &'a [[u8; 8]],
    pub(crate) arrivals: &'a [[u8; 8]],
    pub(crate) ends: &'a [[u8; 4]],
    pub(crate) summary: &'a [u8],
}

impl<'a> Columns<'a> {
    /// `None` if there are fewer bytes than `events` need.
    pub(crate) fn of(bytes: &'a [u8], events: usize) -> Option<Columns<'a>> {
        let (instants, rest) = bytes.split_at_checked(events.checked_mul(8)?)?;
        let (arrivals, rest) = rest.split_at_checked(events.checked_mul(8)?)?;
        let (ends, summary) = rest.split_at_checked(events.checked_mul(4)?)?;
        Some(Columns {
            instants: instants.as_chunks().0,
            arrivals: arrivals.as_chunks().0,
            ends: ends.as_chunks().0,
            summary,
        })
    }
}

impl Block {
    pub(crate) fn tail(run: Arc<Run>) -> Block {
        Block { bytes: Bytes::Tail(run) }
    }

    pub(crate) fn mapped(
        file: Arc<Loaded>,
        documents: Range<usize>,
        columns: Range<usize>,
        events: usize,
    ) -> Block {
        Block { bytes: Bytes::Mapped { file, documents, columns, events } }
    }

    pub(crate) fn read(bytes: ReadBytes, events: usize) -> Block {
        Block { bytes: Bytes::Read { bytes: Arc::new(bytes), events } }
    }

    fn columns(&self) -> Columns<'_> {
        let (bytes, events) = match &self.bytes {
            Bytes::Tail(run) => {
                let Run { ends, instants, arrivals, .. } = &**run;
                return Columns { instants, arrivals, ends, summary: &[] };
            }
            Bytes::Mapped { file, columns, events, .. } => (file.mapped(columns), *events),
            Bytes::Read { bytes, events } => (bytes.columns.as_slice(), *events),
        };
        let none = Columns { instants: &[], arrivals: &[], ends: &[], summary: &[] };
        Columns::of(bytes, events).unwrap_or(none)
    }

    /// The documents one after another, each ended by a line feed.
    pub fn documents(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Tail(run) => &run.documents,
            Bytes::Mapped { file, documents, .. } => file.mapped(documents),
            Bytes::Read { bytes, .. } => &bytes.documents,
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

    /// What [`Summarize`](crate::Summarize) said of the block; `None` for the tail.
    pub fn summary(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Tail(_) => None,
            _ => Some(self.columns().summary),
        }
    }

    /// How many events, at least one.
    pub fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Tail(run) => run.len(),
            Bytes::Mapped { events, .. } | Bytes::Read { events, .. } => *events,
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

    /// The document of the event at `index`, without its line feed.
    pub fn document(&self, index: usize) -> Option<&[u8]> {
        run::document(self.documents(), self.ends(), index)
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
        f.debug_struct("Block")
            .field("events", &self.len())
            .field("document_bytes", &self.documents().len())
            .finish()
    }
}
