//! Columns for stores under attack, as plain as may be: the times of a block in one part, its documents in another, every byte turned over.

use std::sync::{Arc, Mutex, PoisonError};

use tamias_store::{
    Codec, DecodeError, Documents, Layout, NamedPart, OwnedDocuments, OwnedTimes, Parts, Times,
};

use crate::plant::Plant;

/// Which kind of segments a writer makes that begins with this number.
pub(crate) fn layout(seed: u64) -> Layout {
    if seed.is_multiple_of(2) { Layout::Text } else { Layout::Columns }
}

/// What every store is opened with.
pub(crate) fn codec(plant: Option<Plant>) -> Arc<dyn Codec> {
    Arc::new(Turned { stale: (plant == Some(Plant::StaleBlock)).then(Mutex::default) })
}

struct Turned {
    /// With this fault planted: the lines of the block that was read last.
    stale: Option<Mutex<Vec<u8>>>,
}

impl Turned {
    /// The lines of a block, or with the fault: one of them as it stands in the block before.
    fn lines(&self, block: &dyn Parts) -> Result<Vec<u8>, DecodeError> {
        let lines = part(block, LINES)?;
        let Some(stale) = &self.stale else { return Ok(lines) };
        let before =
            std::mem::replace(&mut *stale.lock().unwrap_or_else(PoisonError::into_inner), lines.clone());
        let first = |lines: &[u8]| lines.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (head, tail) = (before.get(..first(&before)), lines.get(first(&lines)..));
        match (head, tail) {
            (Some(head), Some(tail)) if !head.is_empty() => Ok([head, tail].concat()),
            _ => Ok(lines),
        }
    }
}

const TIMES: &str = "times";
const LINES: &str = "lines";

/// Bytes as they stand in columns, or from there.
pub(crate) fn turned(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}

fn part(block: &dyn Parts, name: &str) -> Result<Vec<u8>, DecodeError> {
    block.part(name)?.map(|bytes| turned(&bytes)).ok_or(DecodeError::Malformed("it lacks a part"))
}

impl Codec for Turned {
    fn makes_columns(&self) -> bool {
        true
    }

    fn collect(&self, _: &[u8], _: &[u32], _: &mut Vec<u8>) {}

    fn encode(&self, times: Times<'_>, documents: Documents<'_>) -> Option<Vec<NamedPart>> {
        let numbers = [times.instants.as_flattened(), times.arrivals.as_flattened()].concat();
        let parts = [(TIMES, &*numbers), (LINES, documents.bytes)];
        Some(parts.map(|(name, bytes)| NamedPart { name: name.to_owned(), bytes: turned(bytes) }).into())
    }

    fn times(&self, block: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
        let bytes = part(block, TIMES)?;
        let (instants, arrivals) =
            bytes.as_chunks::<8>().0.split_at_checked(block.events()).unwrap_or_default();
        Ok(OwnedTimes { instants: instants.to_vec(), arrivals: arrivals.to_vec() })
    }

    fn documents(&self, block: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
        let mut documents = OwnedDocuments::default();
        let lines = self.lines(block)?;
        lines.split_inclusive(|byte| *byte == b'\n').for_each(|line| {
            documents.push(line.strip_suffix(b"\n").unwrap_or(line));
        });
        Ok(documents)
    }
}
