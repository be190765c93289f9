//! Every magic, offset, length and checksum of the files. The specification in prose is `docs/store-format.md`; a test
//! keeps its worked example equal to what this module writes.
//!
//! All numbers are little-endian. A checksum is CRC-32 (IEEE, reflected, as in gzip). Those inside a file start from the checksum of
//! that file's own header, so that bytes of one file are never taken for another's.

#[cfg(test)]
mod example;
mod index;
mod trailer;

pub use index::{BlockEntry, Index, Part};
pub use trailer::Trailer;

/// The version of the format that this library writes, and the newest that it reads; it reads all before.
pub const VERSION: u32 = 2;

/// The names of the parts that a block of text consists of.
pub mod part {
    /// The documents, each ended by a line feed.
    pub const DOCUMENTS: &str = "documents";
    /// Instants (8 bytes an event), arrival numbers (8), ends (4). In version 1 the statistics follow.
    pub const KEYS: &str = "keys";
    /// What the program above said of the block.
    pub const STATISTICS: &str = "summary";
    /// Of the segment: where sources stood when it was written.
    pub const SOURCES: &str = "sources";
}

/// Length of the header that every file of a store begins with. Its layout is the same in all versions.
pub const HEADER_BYTES: usize = 48;
/// Length of the fixed part of a batch in a log.
pub const FRAME_BYTES: usize = 56;

/// Batches, columns and blocks begin at multiples of this many bytes.
pub const ALIGNMENT: u64 = 8;

/// Longest name of a source, in bytes.
pub const SOURCE_NAME_BYTES_MAX: usize = 4096;
/// Longest manifest that is read: more than ten million segments.
pub const MANIFEST_BYTES_MAX: u64 = 1 << 30;
/// Most document bytes in one batch or one block, line feeds included: their ends are 32-bit numbers.
pub const DOCUMENT_BYTES_MAX: usize = (u32::MAX - 1) as usize;

/// Numbers of files and arrival numbers stay below this, so that counting on never overflows.
pub const NUMBER_MAX: u64 = 1 << 62;

const FRAME_MAGIC: [u8; 8] = *b"\x89TMbatch";

/// An event's place in the order of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Ticks of 100 ns since 0001-01-01T00:00:00Z.
    pub instant: u64,
    /// The event's arrival number.
    pub arrival: u64,
}

/// The checksum of `bytes`, begun from `seed`.
pub fn checksum(seed: u32, parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(seed);
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

/// The next multiple of [`ALIGNMENT`]; the greatest number where there is none, which is no offset of a file.
pub fn aligned(offset: u64) -> u64 {
    offset.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX)
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// The list of live files.
    Manifest,
    /// Batches in order of arrival.
    Log,
    /// Events in order of time.
    Segment,
}

impl FileKind {
    const ALL: [FileKind; 3] = [FileKind::Manifest, FileKind::Log, FileKind::Segment];

    fn magic(self) -> [u8; 8] {
        match self {
            FileKind::Manifest => *b"\x89TMmanif",
            FileKind::Log => *b"\x89TMlog\r\n",
            FileKind::Segment => *b"\x89TMseg\r\n",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            FileKind::Manifest => "manifest",
            FileKind::Log => "log",
            FileKind::Segment => "segment",
        }
    }

    /// The name of the file with this number: 16 hexadecimal digits and what it is.
    pub fn name(self, number: u64) -> String {
        format!("{number:016x}.{}", self.extension())
    }

    /// The name under which such a file is written until it is complete.
    pub fn unfinished_name(self, number: u64) -> String {
        format!("{number:016x}.{}.tmp", self.extension())
    }

    /// What a file of this name is, if it is one of the store's numbered files.
    pub fn parse(name: &str) -> Option<(FileKind, u64)> {
        let (digits, extension) = name.split_once('.')?;
        let kind = FileKind::ALL.into_iter().find(|kind| kind.extension() == extension)?;
        let plain = digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !plain {
            return None;
        }
        let number = u64::from_str_radix(digits, 16).ok()?;
        (number < NUMBER_MAX).then_some((kind, number))
    }
}

/// What is being written under this name, if it is that of an unfinished file.
pub fn parse_unfinished(name: &str) -> Option<(FileKind, u64)> {
    FileKind::parse(name.strip_suffix(".tmp")?)
}

/// The file whose lock makes a process the writer.
pub const LOCK_NAME: &str = "lock";
/// The file that tells who the writer is; for messages only.
pub const WRITER_NAME: &str = "writer";
/// The file whose room the next manifest takes when the medium has no other.
pub const SPARE_NAME: &str = "spare";

/// The folder within the store that keeps the bytes of damaged files.
pub const QUARANTINE_NAME: &str = "quarantine";

/// What a file says of itself at its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// What the file is.
    pub kind: FileKind,
    /// The version of the format that it is in.
    pub version: u32,
    /// The store's own random identity.
    pub store: u128,
    /// The file's number, which its name shows too.
    pub number: u64,
}

/// Why a header was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFault {
    /// Cut short, or its magic or checksum is wrong.
    Damaged,
    /// Whole, but of a version that this library does not know.
    Version(u32),
    /// Whole, but of another file: another number, another store.
    Foreign,
}

impl Header {
    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        let mut at = Writer { out: &mut out, at: 0 };
        at.put(&self.kind.magic());
        at.put(&self.version.to_le_bytes());
        at.put(&0u32.to_le_bytes());
        at.put(&self.store.to_le_bytes());
        at.put(&self.number.to_le_bytes());
        at.put(&0u32.to_le_bytes());
        let [fixed @ .., _, _, _, _] = &out;
        let sum = checksum(0, &[fixed]);
        if let Some(last) = out.last_chunk_mut::<4>() {
            *last = sum.to_le_bytes();
        }
        out
    }

    /// The seed of every other checksum in this file.
    pub fn seed(&self) -> u32 {
        let bytes = self.encode();
        bytes.last_chunk::<4>().map_or(0, |sum| u32::from_le_bytes(*sum))
    }

    /// Reads a header of a file that should be of this kind.
    pub fn decode(kind: FileKind, bytes: &[u8]) -> Result<Header, HeaderFault> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>().ok_or(HeaderFault::Damaged)?;
        let [fixed @ .., a, b, c, d] = bytes;
        let mut at = Fields(fixed);
        let magic: [u8; 8] = at.take().ok_or(HeaderFault::Damaged)?;
        let version = at.u32().ok_or(HeaderFault::Damaged)?;
        if magic != kind.magic() || checksum(0, &[fixed]) != u32::from_le_bytes([*a, *b, *c, *d]) {
            return Err(HeaderFault::Damaged);
        }
        if version == 0 || version > VERSION {
            return Err(HeaderFault::Version(version));
        }
        let mut decode = || {
            let reserved = at.u32()?;
            let store = u128::from_le_bytes(at.take()?);
            let number = at.u64()?;
            (reserved == 0 && at.u32()? == 0).then_some(Header { kind, version, store, number })
        };
        decode().ok_or(HeaderFault::Damaged)
    }

    /// Reads a header that must be equal to this one.
    pub fn expect(&self, bytes: &[u8]) -> Result<(), HeaderFault> {
        let found = Header::decode(self.kind, bytes)?;
        if found == *self { Ok(()) } else { Err(HeaderFault::Foreign) }
    }
}

/// The fixed part of a batch in a log. After it come the instants (8 bytes an event), the ends (4 bytes an event, counted
/// from the first document), the documents, each ended by a line feed, and the source's name; then zeros up to a multiple of [`ALIGNMENT`].
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
    pub source_name_bytes: u32,
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
        at.put(&0u32.to_le_bytes());
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
            source_name_bytes: at.u32()?,
        };
        let sane = frame.first_arrival < NUMBER_MAX && at.u32()? == 0;
        sane.then_some(frame)
    }

    /// Length of what follows the frame, without the zeros.
    pub fn body_bytes(&self) -> u64 {
        u64::from(self.events) * 12 + u64::from(self.document_bytes) + u64::from(self.source_name_bytes)
    }

    /// Length of the batch: frame, body and zeros.
    pub fn total_bytes(&self) -> u64 {
        aligned(FRAME_BYTES as u64 + self.body_bytes())
    }
}

/// Appends a key's 16 bytes.
pub(crate) fn encode_key(key: Key, out: &mut Vec<u8>) {
    out.extend_from_slice(&key.instant.to_le_bytes());
    out.extend_from_slice(&key.arrival.to_le_bytes());
}

/// Fills a fixed array from its start; what does not fit is a mistake of this module.
struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if let Some(place) = self.out.get_mut(self.at..end) {
            place.copy_from_slice(bytes);
        }
        self.at = end;
    }
}

/// Reads fields one after another; `None` past the end.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn key(&mut self) -> Option<Key> {
        Some(Key { instant: self.u64()?, arrival: self.u64()? })
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }
}
