//! The fixed part of a batch in a log.

use super::fields::{FRAME_BYTES, Fields, NUMBER_MAX, Writer, aligned, checksum};

const FRAME_MAGIC: [u8; 8] = *b"\x89TMbatch";

/// The fixed part of a batch in a log. After it come the instants (8 bytes an event), the ends (4 bytes an event, counted
/// from the first document), the documents, each ended by a line feed, the source's name and its note; then zeros up to a multiple of [`ALIGNMENT`](super::ALIGNMENT).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Checksum of everything after the frame, without the zeros.
    pub body_checksum: u32,
    /// Bytes of documents, line feeds included.
    pub document_bytes: u32,
    /// How many events.
    pub events: u32,
    /// Up to where the log had been flushed when this batch was written.
    pub flushed: u64,
    /// Arrival number of the first event; the others follow.
    pub first_arrival: u64,
    /// Where the source stood after this batch.
    pub source_position: u64,
    /// Bytes of the source's name; 0 if the batch names none.
    pub source_name_bytes: u16,
    /// Bytes of its note.
    pub source_note_bytes: u16,
    /// The writer closed the log with it: all before it was flushed, and that process appends nothing more.
    pub closing: bool,
}

impl Frame {
    /// The frame's bytes; `seed` is that of the log.
    pub fn encode(&self, seed: u32) -> [u8; FRAME_BYTES] {
        let mut out = [0; FRAME_BYTES];
        let mut at = Writer { out: &mut out, at: 0 };
        at.put(&FRAME_MAGIC);
        at.put(&0u32.to_le_bytes());
        at.put(&self.body_checksum.to_le_bytes());
        at.put(&self.document_bytes.to_le_bytes());
        at.put(&self.events.to_le_bytes());
        at.put(&self.flushed.to_le_bytes());
        at.put(&self.first_arrival.to_le_bytes());
        at.put(&self.source_position.to_le_bytes());
        at.put(&self.source_name_bytes.to_le_bytes());
        at.put(&self.source_note_bytes.to_le_bytes());
        at.put(&u32::from(self.closing).to_le_bytes());
        let [_, _, _, _, _, _, _, _, _, _, _, _, rest @ ..] = &out;
        let sum = checksum(seed, &[rest]);
        Writer { out: &mut out, at: 8 }.put(&sum.to_le_bytes());
        out
    }

    /// Whether a batch may begin with these bytes.
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&FRAME_MAGIC)
    }

    /// Reads a frame whose own checksum holds.
    pub fn decode(seed: u32, bytes: &[u8; FRAME_BYTES]) -> Option<Frame> {
        let mut at = Fields(bytes);
        let magic: [u8; 8] = at.take()?;
        let sum = at.u32()?;
        if magic != FRAME_MAGIC || checksum(seed, &[at.0]) != sum {
            return None;
        }
        let frame = Frame {
            body_checksum: at.u32()?,
            document_bytes: at.u32()?,
            events: at.u32()?,
            flushed: at.u64()?,
            first_arrival: at.u64()?,
            source_position: at.u64()?,
            source_name_bytes: at.u16()?,
            source_note_bytes: at.u16()?,
            closing: match at.u32()? {
                0 => false,
                1 => true,
                _ => return None,
            },
        };
        (frame.first_arrival < NUMBER_MAX).then_some(frame)
    }

    /// Length of what follows the frame, without the zeros.
    pub fn body_bytes(&self) -> u64 {
        let source = u64::from(self.source_name_bytes) + u64::from(self.source_note_bytes);
        u64::from(self.events) * 12 + u64::from(self.document_bytes) + source
    }

    /// Length of the batch: frame, body and zeros.
    pub fn total_bytes(&self) -> u64 {
        aligned(FRAME_BYTES as u64 + self.body_bytes())
    }
}
