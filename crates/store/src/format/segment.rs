use std::ops::Range;

use super::{BLOCK_ENTRY_BYTES, Fields, Key, TRAILER_BYTES, Writer, checksum, encode_key};

const TRAILER_MAGIC: [u8; 8] = *b"\x89TMindex";

/// A block as the index of its segment describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEntry {
    /// Where in the file its documents begin.
    pub document_offset: u64,
    /// Bytes of documents, line feeds included.
    pub document_bytes: u32,
    /// How many events, at least one.
    pub events: u32,
    /// Where its columns begin: instants (8 bytes an event), arrivals (8), ends (4), then the summary.
    pub column_offset: u64,
    /// Bytes of the summary.
    pub summary_bytes: u32,
    /// Checksum of the documents.
    pub document_checksum: u32,
    /// Checksum of the columns and the summary.
    pub column_checksum: u32,
    /// Its first event.
    pub first: Key,
    /// Its last event.
    pub last: Key,
}

impl BlockEntry {
    /// The entry's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.document_offset.to_le_bytes());
        out.extend_from_slice(&self.document_bytes.to_le_bytes());
        out.extend_from_slice(&self.events.to_le_bytes());
        out.extend_from_slice(&self.column_offset.to_le_bytes());
        out.extend_from_slice(&self.summary_bytes.to_le_bytes());
        out.extend_from_slice(&self.document_checksum.to_le_bytes());
        out.extend_from_slice(&self.column_checksum.to_le_bytes());
        out.extend_from_slice(&0u32.to_le_bytes());
        encode_key(self.first, out);
        encode_key(self.last, out);
    }

    /// Reads an entry; `None` if the reserved field is in use.
    pub fn decode(bytes: &[u8; BLOCK_ENTRY_BYTES]) -> Option<BlockEntry> {
        let mut at = Fields(bytes);
        let document_offset = at.u64()?;
        let document_bytes = at.u32()?;
        let events = at.u32()?;
        let column_offset = at.u64()?;
        let summary_bytes = at.u32()?;
        let document_checksum = at.u32()?;
        let column_checksum = at.u32()?;
        if at.u32()? != 0 {
            return None;
        }
        let (first, last) = (at.key()?, at.key()?);
        Some(BlockEntry {
            document_offset,
            document_bytes,
            events,
            column_offset,
            summary_bytes,
            document_checksum,
            column_checksum,
            first,
            last,
        })
    }

    /// Where in the file its documents lie.
    pub fn documents(&self) -> Range<u64> {
        self.document_offset..self.document_offset.saturating_add(u64::from(self.document_bytes))
    }

    /// Where in the file its columns and its summary lie.
    pub fn columns(&self) -> Range<u64> {
        let length = u64::from(self.events) * 20 + u64::from(self.summary_bytes);
        self.column_offset..self.column_offset.saturating_add(length)
    }
}

/// The end of a segment: what it holds altogether.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer {
    /// How many blocks, at least one.
    pub blocks: u32,
    /// Checksum of the index.
    pub index_checksum: u32,
    /// How many events.
    pub events: u64,
    /// Bytes of documents, line feeds included.
    pub document_bytes: u64,
    /// The first event.
    pub first: Key,
    /// The last event.
    pub last: Key,
}

impl Trailer {
    /// The trailer's bytes; `seed` is that of the segment.
    pub fn encode(&self, seed: u32) -> [u8; TRAILER_BYTES] {
        let mut fields = Vec::with_capacity(TRAILER_BYTES);
        fields.extend_from_slice(&TRAILER_MAGIC);
        fields.extend_from_slice(&self.blocks.to_le_bytes());
        fields.extend_from_slice(&self.index_checksum.to_le_bytes());
        fields.extend_from_slice(&self.events.to_le_bytes());
        fields.extend_from_slice(&self.document_bytes.to_le_bytes());
        encode_key(self.first, &mut fields);
        encode_key(self.last, &mut fields);
        fields.extend_from_slice(&[0; 12]);
        let sum = checksum(seed, &[&fields]);
        let mut out = [0; TRAILER_BYTES];
        let mut at = Writer { out: &mut out, at: 0 };
        at.put(&fields);
        at.put(&sum.to_le_bytes());
        out
    }

    /// Reads a trailer whose checksum holds.
    pub fn decode(seed: u32, bytes: &[u8; TRAILER_BYTES]) -> Option<Trailer> {
        let [fixed @ .., a, b, c, d] = bytes;
        let mut at = Fields(fixed);
        let magic: [u8; 8] = at.take()?;
        if magic != TRAILER_MAGIC || checksum(seed, &[fixed]) != u32::from_le_bytes([*a, *b, *c, *d]) {
            return None;
        }
        let trailer = Trailer {
            blocks: at.u32()?,
            index_checksum: at.u32()?,
            events: at.u64()?,
            document_bytes: at.u64()?,
            first: at.key()?,
            last: at.key()?,
        };
        (at.take()? == [0; 12]).then_some(trailer)
    }
}
