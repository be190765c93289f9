//! Errors of encoding and decoding groups.

use std::fmt;

/// Why documents could not be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// More than [`EVENTS_MAX`](crate::EVENTS_MAX) events.
    TooManyEvents {
        /// The number of events given.
        events: usize,
    },
    /// Several events with more than [`GROUP_BYTES_MAX`](crate::GROUP_BYTES_MAX) bytes in total, or a document of more than
    /// [`DOCUMENT_BYTES_MAX`](crate::DOCUMENT_BYTES_MAX).
    TooLong {
        /// The number of bytes given.
        bytes: usize,
    },
    /// The compressor failed, for lack of memory.
    Compressor,
    /// The encoded group did not decode to the same documents, not even as text. A bug of this crate or a fault of the machine: keep the documents.
    Proof,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::TooManyEvents { events } => {
                write!(f, "{events} events are more than a group's limit of {}", crate::EVENTS_MAX)
            }
            EncodeError::TooLong { bytes } => {
                write!(
                    f,
                    "{bytes} bytes of documents are more than a group's limit of {} ({} for a single document)",
                    crate::GROUP_BYTES_MAX,
                    crate::DOCUMENT_BYTES_MAX
                )
            }
            EncodeError::Compressor => f.write_str("the compressor failed; is there enough memory?"),
            EncodeError::Proof => {
                f.write_str("the encoded group did not decode to the same documents; keep them as they are")
            }
        }
    }
}

impl std::error::Error for EncodeError {}

/// Why a group could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The directory is damaged: its checksum is wrong.
    DirectoryChecksum,
    /// A frame is damaged: its checksum is wrong.
    FrameChecksum {
        /// The number of the frame.
        frame: u32,
    },
    /// The source has no such frame.
    MissingFrame {
        /// The number of the frame.
        frame: u32,
    },
    /// The checksums are right, but the bytes are not a valid group.
    Malformed {
        /// What is wrong.
        what: &'static str,
    },
    /// There is no such row or column.
    OutOfRange {
        /// What was requested.
        what: &'static str,
    },
}

/// Shorthand for the many places that find something malformed.
pub(crate) const fn malformed(what: &'static str) -> DecodeError {
    DecodeError::Malformed { what }
}

/// What several readers of columns find.
pub(crate) const NO_COLUMN: DecodeError = malformed("a value without a column");
pub(crate) const TOO_FEW: DecodeError = malformed("fewer values than its shapes need");
pub(crate) const NOT_AS_MANY: DecodeError =
    malformed("values by shape that are not as many as the shapes say");

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::DirectoryChecksum => f.write_str("the group's directory is damaged: wrong checksum"),
            DecodeError::FrameChecksum { frame } => {
                write!(f, "frame {frame} of the group is damaged: wrong checksum")
            }
            DecodeError::MissingFrame { frame } => write!(f, "frame {frame} of the group is missing"),
            DecodeError::Malformed { what } => write!(f, "the group is malformed: {what}"),
            DecodeError::OutOfRange { what } => write!(f, "the group has no such {what}"),
        }
    }
}

impl std::error::Error for DecodeError {}
