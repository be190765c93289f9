//! Events in order of their keys, in memory: what a memtable consists of and what a block is made from.

use crate::codec::{Documents, Times};
use crate::event::Event;
use crate::format::Key;

/// Events sorted by key, in the layout of a block.
#[derive(Debug, Default, Clone)]
pub(crate) struct Run {
    pub(crate) documents: Vec<u8>,
    pub(crate) ends: Vec<[u8; 4]>,
    pub(crate) instants: Vec<[u8; 8]>,
    pub(crate) arrivals: Vec<[u8; 8]>,
    /// Tells it from all other runs of memtables of this process; 0 where it is in none.
    pub(crate) number: u64,
}

impl Run {
    /// An empty run with room.
    pub(crate) fn with_capacity(events: usize, document_bytes: usize) -> Run {
        Run {
            documents: Vec::with_capacity(document_bytes),
            ends: Vec::with_capacity(events),
            instants: Vec::with_capacity(events),
            arrivals: Vec::with_capacity(events),
            number: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all events, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        let Run { documents, ends, instants, arrivals, number } = self;
        *number = 0;
        documents.clear();
        ends.clear();
        instants.clear();
        arrivals.clear();
    }

    /// Whether it has memory already.
    pub(crate) fn has_room(&self) -> bool {
        self.documents.capacity() > 0
    }

    /// Appends an event that comes after all others; the document has no line feed. The caller keeps the documents below 4 GiB.
    pub(crate) fn push(&mut self, key: Key, document: &[u8]) {
        debug_assert!(self.last().is_none_or(|last| last < key), "events come in order");
        self.documents.extend_from_slice(document);
        self.ends.push((self.documents.len() as u32).to_le_bytes());
        self.documents.push(b'\n');
        self.instants.push(key.instant.to_le_bytes());
        self.arrivals.push(key.arrival.to_le_bytes());
    }

    pub(crate) fn key(&self, index: usize) -> Option<Key> {
        self.times().key(index)
    }

    pub(crate) fn first(&self) -> Option<Key> {
        self.key(0)
    }

    pub(crate) fn last(&self) -> Option<Key> {
        self.key(self.len().checked_sub(1)?)
    }

    /// The document at an index, without its line feed.
    pub(crate) fn document(&self, index: usize) -> &[u8] {
        self.lent().get(index).unwrap_or_default()
    }

    /// When they happened and came.
    pub(crate) fn times(&self) -> Times<'_> {
        Times { instants: &self.instants, arrivals: &self.arrivals }
    }

    /// The documents.
    pub(crate) fn lent(&self) -> Documents<'_> {
        Documents { bytes: &self.documents, ends: &self.ends }
    }

    /// Both runs as one.
    pub(crate) fn merge(&self, other: &Run) -> Run {
        let mut merged =
            Run::with_capacity(self.len() + other.len(), self.documents.len() + other.documents.len());
        let (mut left, mut right) = (0, 0);
        loop {
            match (self.key(left), other.key(right)) {
                (Some(a), Some(b)) if a < b => {
                    merged.push(a, self.document(left));
                    left += 1;
                }
                (Some(a), None) => {
                    merged.push(a, self.document(left));
                    left += 1;
                }
                (_, Some(b)) => {
                    merged.push(b, other.document(right));
                    right += 1;
                }
                (None, None) => return merged,
            }
        }
    }
}

/// Events that came in one after another, as runs of about `block_bytes`, each in order, and all of them one after another in order.
/// The arrival numbers count from 0: [`number`] makes them final.
pub(crate) fn sort(events: &[Event<'_>], block_bytes: usize) -> Vec<Run> {
    let mut order: Vec<u32> = (0..events.len() as u32).collect();
    let instant = |index: u32| events.get(index as usize).map_or(0, |event| event.instant);
    if !events.is_sorted_by_key(|event| event.instant) {
        order.sort_by_key(|&index| instant(index));
    }
    let mut runs = Vec::new();
    let mut run = Run::default();
    for index in order {
        let Some(event) = events.get(index as usize) else { continue };
        if !run.is_empty() && run.documents.len() + event.bytes.len() + 1 > block_bytes {
            runs.push(std::mem::take(&mut run));
        }
        run.push(Key { instant: event.instant, arrival: u64::from(index) }, event.bytes);
    }
    if !run.is_empty() {
        runs.push(run);
    }
    runs
}

/// Adds the number of a batch's first event to all its arrival numbers.
pub(crate) fn number(run: &mut Run, first_arrival: u64) {
    for arrival in &mut run.arrivals {
        *arrival = (u64::from_le_bytes(*arrival) + first_arrival).to_le_bytes();
    }
}
