//! Batches whose every byte follows from their number, so that whoever knows the numbers knows what the store must hold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tamias_store::io::Chance;
use tamias_store::{Event, SourcePosition};

/// How many sources there are.
pub(crate) const SOURCES: u64 = 7;

/// How far apart the first instants of neighbouring batches are, in ticks.
pub(crate) const TICKS_BETWEEN: u64 = 100;

/// So many batches stay in memory: they are asked for again and again.
const MADE_MAX: usize = 4000;

/// A batch of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Its number.
    pub(crate) id: u64,
    /// Instant and document of each event.
    pub(crate) rows: Vec<(u64, Vec<u8>)>,
    /// The name of its source and where it stands behind this batch.
    pub(crate) source: Option<(String, u64)>,
}

/// The instant before which no event of this batch, or a later one, lies, but for those that come late.
pub(crate) fn instant(id: u64) -> u64 {
    1_000_000 + id * TICKS_BETWEEN
}

/// What a source is called.
pub(crate) fn source_name(number: u64) -> String {
    format!("source {number}")
}

impl Batch {
    /// The batch of this number. Neighbours overlap in time.
    pub(crate) fn new(id: u64) -> Arc<Batch> {
        static MADE: Mutex<BTreeMap<u64, Arc<Batch>>> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() > MADE_MAX {
            made.clear();
        }
        Arc::clone(made.entry(id).or_insert_with(|| Arc::new(Batch::make(id))))
    }

    fn make(id: u64) -> Batch {
        let mut chance = Chance(id.wrapping_mul(0x9E37_79B9) ^ 0x5EED);
        let size = if id.is_multiple_of(13) { 40 + chance.below(60) } else { 1 + chance.below(8) };
        // One in so many comes late: behind batches that are sealed, compacted, removed perhaps.
        let late = if id % 11 == 7 { chance.below(60) as u64 } else { 0 };
        let begin = instant(id.saturating_sub(late));
        let rows = (0..size).map(|n| {
            // Some are longer than a sector or a page, so that a hole in the middle shows in no other way than by the checksum.
            let length = match chance.below(12) {
                0 => 600 + chance.below(5000),
                _ => chance.below(120),
            };
            let pad: String = (0..length).map(|_| char::from(b'a' + chance.below(26) as u8)).collect();
            (begin + chance.below(3000) as u64, format!("{id}/{n}/{pad}").into_bytes())
        });
        let rows = rows.collect();
        let source = id.is_multiple_of(3).then(|| (source_name(id % SOURCES), id * 10 + 1));
        Batch { id, rows, source }
    }

    /// The events, as the store takes them.
    pub(crate) fn events(&self) -> Vec<Event<'_>> {
        self.rows.iter().map(|(instant, bytes)| Event { instant: *instant, bytes }).collect()
    }

    /// The position of its source, as the store takes it.
    pub(crate) fn position(&self) -> Option<SourcePosition<'_>> {
        self.source.as_ref().map(|(name, position)| SourcePosition { name, position: *position, note: &[] })
    }

    /// Whether a deletion takes its event at this place: a few of all, most of all, or whole batches.
    pub(crate) fn is_deleted_by(deletion: u64, id: u64, n: usize) -> bool {
        let mut chance = Chance(deletion.wrapping_mul(0xD1B5_4A32));
        let kind = chance.below(8);
        // Those of later batches it has never seen.
        id < deletion
            && match kind {
                0 => id.is_multiple_of(7),
                1 => id + 25 < deletion && !(id ^ n as u64 ^ deletion).is_multiple_of(8),
                _ => (id.wrapping_mul(31) + n as u64 + deletion).is_multiple_of(13),
            }
    }

    /// Number and place in the batch that a document tells; `None` for bytes that no batch has.
    pub(crate) fn origin(document: &[u8]) -> Option<(u64, usize)> {
        let text = std::str::from_utf8(document).ok()?;
        let mut parts = text.splitn(3, '/');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_follows_from_its_number() {
        for id in 0..100 {
            let batch = Batch::new(id);
            assert_eq!(batch, Batch::new(id));
            for (n, (at, document)) in batch.rows.iter().enumerate() {
                assert_eq!(Batch::origin(document), Some((id, n)));
                assert!(*at >= instant(id) || id % 11 == 7);
            }
        }
    }
}
