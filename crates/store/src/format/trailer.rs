//! The end of a segment.

use super::fields::{Fields, Key, checksum, encode_key};

/// The end of a segment: what it holds altogether.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer {
    /// How many blocks, at least one.
    pub blocks: u32,
    /// Checksum of the index.
    pub index_checksum: u32,
    /// Bytes of the index, which stands before the trailer.
    pub index_bytes: u64,
    /// How many events.
    pub events: u64,
    /// Bytes of documents, line feeds included.
    pub document_bytes: u64,
    /// The first event.
    pub first: Key,
    /// The last event.
    pub last: Key,
    /// The least and the greatest arrival number. Version 1 does not tell: there they are 0 and 2^64 - 1.
    pub arrivals: (u64, u64),
    /// How many of the blocks are in columns. None are in version 1.
    pub column_blocks: u32,
}

/// Bytes of a block's entry in the index of version 1.
pub(super) const V1_BLOCK_BYTES: usize = 72;

impl Trailer {
    /// What it begins with.
    pub const MAGIC: [u8; 8] = *b"\x89TMindex";

    /// Length of the trailer in a version of the format.
    pub fn length(version: u32) -> usize {
        if version == 1 { 80 } else { 96 }
    }

    /// Length of the index of so many blocks in version 1.
    pub(crate) fn index_bytes_v1(blocks: u32) -> u64 {
        u64::from(blocks) * V1_BLOCK_BYTES as u64
    }

    /// The trailer's bytes in a version of the format; `seed` is that of the segment.
    pub fn encode(&self, version: u32, seed: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(Trailer::length(version));
        out.extend_from_slice(&Trailer::MAGIC);
        out.extend_from_slice(&self.blocks.to_le_bytes());
        out.extend_from_slice(&self.index_checksum.to_le_bytes());
        if version > 1 {
            out.extend_from_slice(&self.index_bytes.to_le_bytes());
        }
        out.extend_from_slice(&self.events.to_le_bytes());
        out.extend_from_slice(&self.document_bytes.to_le_bytes());
        encode_key(self.first, &mut out);
        encode_key(self.last, &mut out);
        if version > 1 {
            out.extend_from_slice(&self.arrivals.0.to_le_bytes());
            out.extend_from_slice(&self.arrivals.1.to_le_bytes());
            out.extend_from_slice(&self.column_blocks.to_le_bytes());
        }
        out.resize(Trailer::length(version) - 4, 0);
        let sum = checksum(seed, &[&out]);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads a trailer whose checksum holds.
    pub fn decode(version: u32, seed: u32, bytes: &[u8]) -> Option<Trailer> {
        let (fixed, sum) = bytes.split_last_chunk::<4>()?;
        if bytes.len() != Trailer::length(version) || checksum(seed, &[fixed]) != u32::from_le_bytes(*sum) {
            return None;
        }
        let mut at = Fields(fixed);
        if at.take()? != Trailer::MAGIC {
            return None;
        }
        let (blocks, index_checksum) = (at.u32()?, at.u32()?);
        let index_bytes = if version == 1 { Trailer::index_bytes_v1(blocks) } else { at.u64()? };
        let (events, document_bytes, first, last) = (at.u64()?, at.u64()?, at.key()?, at.key()?);
        let arrivals = if version == 1 { (0, u64::MAX) } else { (at.u64()?, at.u64()?) };
        let column_blocks = if version == 1 { 0 } else { at.u32()? };
        let reserved = at.0.iter().all(|byte| *byte == 0);
        let trailer = Trailer {
            blocks,
            index_checksum,
            index_bytes,
            events,
            document_bytes,
            first,
            last,
            arrivals,
            column_blocks,
        };
        reserved.then_some(trailer)
    }
}
