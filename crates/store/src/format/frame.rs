//! The fixed part of a batch in a log.

use super::fields::{FRAME_BYTES, Fields, NUMBER_MAX, Writer, aligned, checksum};

const FRAME_MAGIC: [u8; 8] = *b"\x89TMbatch";

/// What a batch says of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Word {
    /// Nothing.
    #[default]
    None,
    /// Its writer has closed it with this batch, which is empty: all before it was flushed, and that process writes nothing more. In place of the position of a source it has the number
    /// of the manifest that counted then.
    Closed,
    /// A later process continues a log that was closed: this batch, which is empty, has replaced the one that closed the log. It has a stamp as well, or 0.
    Resumed,
    /// A process writes to the log from here on, and holds a lock on it. In place of the position of a source this batch, which is empty, has a stamp: the number of the manifest that counts, and was
    /// durable, combined with the boot id of the system by exclusive or.
    Stamp,
}

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
    /// What it says of the log.
    pub word: Word,
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
        at.put(&(self.word as u32).to_le_bytes());
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
            word: match at.u32()? {
                0 => Word::None,
                1 => Word::Closed,
                2 => Word::Resumed,
                3 => Word::Stamp,
                _ => return None,
            },
        };
        let sane = frame.word == Word::None || frame.body_bytes() == 0;
        (sane && frame.first_arrival < NUMBER_MAX).then_some(frame)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_batch_closes_a_log() {
        let empty = Frame {
            body_checksum: 0,
            document_bytes: 0,
            events: 0,
            flushed: 48,
            first_arrival: 7,
            source_position: 3,
            source_name_bytes: 0,
            source_note_bytes: 0,
            word: Word::Closed,
        };
        for word in [Word::None, Word::Closed, Word::Resumed, Word::Stamp] {
            let frame = Frame { word, ..empty };
            assert_eq!(Frame::decode(5, &frame.encode(5)), Some(frame));
            let filled = [
                Frame { events: 1, document_bytes: 2, ..frame },
                Frame { document_bytes: 2, ..frame },
                Frame { source_name_bytes: 3, ..frame },
            ];
            for frame in filled {
                let expected = (word == Word::None).then_some(frame);
                assert_eq!(Frame::decode(5, &frame.encode(5)), expected);
            }
        }
    }
}
