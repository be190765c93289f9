//! What all files have in common: limits, keys, checksums, and fields one after another.

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

    /// Whether a part of a block in columns is one of its statistics: `summary`, or `summary.` and something.
    pub fn is_of_statistics(name: &str) -> bool {
        name.strip_prefix(STATISTICS).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// Length of the header that every file of a store begins with. Its layout is the same in all versions.
pub const HEADER_BYTES: usize = 48;
/// Length of the fixed part of a batch in a log.
pub const FRAME_BYTES: usize = 56;

/// Batches, columns and blocks begin at multiples of this many bytes.
pub const ALIGNMENT: u64 = 8;

/// Longest name of a source, in bytes.
pub const SOURCE_NAME_BYTES_MAX: usize = 4096;

/// The longest note that is kept with a source.
pub const SOURCE_NOTE_BYTES_MAX: usize = 32 << 10;
/// Longest manifest that is read: more than ten million segments.
pub const MANIFEST_BYTES_MAX: u64 = 1 << 30;
/// Most document bytes in one batch or one block, line feeds included: their ends are 32-bit numbers.
pub const DOCUMENT_BYTES_MAX: usize = (u32::MAX - 1) as usize;

/// Numbers of files and arrival numbers stay below this, so that counting on never overflows.
pub const NUMBER_MAX: u64 = 1 << 62;

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

/// Appends a key's 16 bytes.
pub(crate) fn encode_key(key: Key, out: &mut Vec<u8>) {
    out.extend_from_slice(&key.instant.to_le_bytes());
    out.extend_from_slice(&key.arrival.to_le_bytes());
}

/// Fills a fixed array from its start; what does not fit is a mistake of this module.
pub(super) struct Writer<'a> {
    pub(super) out: &'a mut [u8],
    pub(super) at: usize,
}

impl Writer<'_> {
    pub(super) fn put(&mut self, bytes: &[u8]) {
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

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
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
