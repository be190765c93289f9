//! The manifest of version 1, which is read only.

use super::content::{LogEntry, Manifest, SegmentEntry};
use super::sections;
use crate::format::{Fields, HEADER_BYTES, Trailer};

/// Bytes of a segment's entry.
const SEGMENT_BYTES: usize = 72;

/// Reads what follows the header, without the checksum.
pub(super) fn decode(mut manifest: Manifest, body: &[u8]) -> Option<Manifest> {
    let mut at = Fields(body);
    manifest.next_file = at.u64()?;
    manifest.next_arrival = at.u64()?;
    let (logs, segments, sources) = (at.u32()? as usize, at.u32()? as usize, at.u32()? as usize);
    let reserved = at.u32()?;
    // Counts are checked against the bytes that are there before anything is allocated for them.
    let least = logs.checked_mul(8)?.checked_add(segments.checked_mul(SEGMENT_BYTES)?)?;
    if reserved != 0 || least.checked_add(sources.checked_mul(20)?)? > at.0.len() {
        return None;
    }
    for _ in 0..logs {
        // Nothing is known of what was durable in it but that its header was.
        manifest.logs.push(LogEntry {
            number: at.u64()?,
            version: 1,
            length: HEADER_BYTES as u64,
            ended: false,
        });
    }
    for _ in 0..segments {
        let (number, file_bytes) = (at.u64()?, at.u64()?);
        let (events, document_bytes, first, last) = (at.u64()?, at.u64()?, at.key()?, at.key()?);
        let (blocks, index_checksum) = (at.u32()?, at.u32()?);
        let index_bytes = Trailer::index_bytes_v1(blocks);
        let arrivals = (0, u64::MAX);
        let trailer = Trailer {
            blocks,
            index_checksum,
            index_bytes,
            events,
            document_bytes,
            first,
            last,
            arrivals,
            column_blocks: 0,
        };
        manifest.segments.push(SegmentEntry::of(number, 1, file_bytes, &trailer));
    }
    for _ in 0..sources {
        let (name, mark) = sections::take_source(&mut at)?;
        manifest.sources.insert(name, mark);
    }
    at.0.is_empty().then_some(manifest)
}
