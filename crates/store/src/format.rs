//! Every magic, offset, length and checksum of the files. The specification in prose is `docs/store-format.md`; a test
//! keeps its worked example equal to what this module writes.
//!
//! All numbers are little-endian. A checksum is CRC-32 (IEEE, reflected, as in gzip). Those inside a file start from the checksum of
//! that file's own header, so that bytes of one file are never taken for another's.

mod envelope;
#[cfg(test)]
mod example;
mod fields;
mod frame;
mod header;
mod index;
mod names;
mod trailer;

pub(crate) use envelope::{envelope, open_envelope};
pub use fields::{
    ALIGNMENT, DOCUMENT_BYTES_MAX, FRAME_BYTES, HEADER_BYTES, Key, MANIFEST_BYTES_MAX, NUMBER_MAX,
    SOURCE_NAME_BYTES_MAX, SOURCE_NOTE_BYTES_MAX, VERSION, aligned, checksum, part,
};
pub(crate) use fields::{Fields, encode_key};
pub use frame::{Frame, Word};
pub use header::{Header, HeaderFault};
pub use index::{BlockEntry, Index, Part};
pub use names::{
    FileKind, LOCK_NAME, QUARANTINE_NAME, RECEIPTS_NAME, REQUESTS_NAME, RESERVE_NAME, SCRUB_NAME, SPARE_NAME,
    WRITER_NAME, parse_unfinished,
};
pub use trailer::Trailer;
