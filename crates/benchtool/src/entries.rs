//! What is taken for an event: a line, or an element of an array; cut out of chunks of bytes in bounded memory.

use std::fmt;

/// The longest line that is taken; longer ones are rejected without being held in memory.
pub(crate) const LINE_BYTES_MAX: usize = 16 << 20;

/// A piece of a source that should be an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) unit: Unit,
    /// From 1.
    pub(crate) number: u64,
    /// Of its first byte in the source.
    pub(crate) offset: u64,
    pub(crate) content: Content<'a>,
}

impl<'a> Entry<'a> {
    /// Where it ends in the source, without white space: what follows it there may change when the source grows.
    pub(crate) fn end(&self) -> u64 {
        match self.content {
            Content::Bytes(bytes) => self.offset + bytes.trim_ascii_end().len() as u64,
            Content::TooLong { bytes } => self.offset + bytes,
        }
    }

    /// Where it ends with the white space behind it.
    pub(crate) fn whole_end(&self) -> u64 {
        match self.content {
            Content::Bytes(bytes) => self.offset + bytes.len() as u64,
            Content::TooLong { bytes } => self.offset + bytes,
        }
    }

    /// A checksum of its text, or of the length of one that was not kept.
    pub(crate) fn checksum(&self) -> u32 {
        match self.content {
            Content::Bytes(bytes) => crc32fast::hash(bytes.trim_ascii_end()),
            Content::TooLong { bytes } => crc32fast::hash(&bytes.to_le_bytes()),
        }
    }

    /// Whether it is a line of a file of rejects that tells where the next one came from.
    pub(crate) fn is_comment(&self) -> bool {
        self.unit == Unit::Line && matches!(self.content, Content::Bytes(bytes) if bytes.starts_with(COMMENT))
    }

    /// What should be an event; `None` for a line that only keeps others apart, or is a comment of a file of rejects.
    pub(crate) fn event(&self) -> Option<Content<'a>> {
        let Content::Bytes(bytes) = self.content else { return Some(self.content) };
        // A byte order mark is no part of the first event.
        let bytes = match self.offset {
            0 => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            _ => bytes,
        };
        let is_event =
            self.unit == Unit::Element || !(bytes.trim_ascii().is_empty() || bytes.starts_with(COMMENT));
        is_event.then_some(Content::Bytes(bytes))
    }
}

/// How the line begins that stands before each line in a file of rejects. Ingest takes it for a comment, so that the file
/// can be mended and ingested as it is.
pub(crate) const COMMENT: &[u8] = b"# rejected: ";

/// How entries are parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Line,
    Element,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    Bytes(&'a [u8]),
    /// Longer than the limit; its bytes were not kept.
    TooLong {
        bytes: u64,
    },
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Line => "line",
            Unit::Element => "element",
        })
    }
}

/// The beginning of an entry whose end has not come yet, and the place.
#[derive(Debug)]
pub(crate) struct Carry {
    unit: Unit,
    bytes_max: usize,
    /// Empty where the entry is too long already.
    bytes: Vec<u8>,
    /// The bytes of the entry so far, kept or not.
    pending: u64,
    number: u64,
    offset: u64,
}

impl Carry {
    pub(crate) fn new(unit: Unit, bytes_max: usize, number: u64, offset: u64) -> Carry {
        Carry { unit, bytes_max, bytes: Vec::new(), pending: 0, number, offset }
    }

    /// Whether nothing of an entry has come yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// The number of the entry whose end has not come yet.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Where the next byte stands.
    pub(crate) fn offset(&self) -> u64 {
        self.offset + self.pending
    }

    /// Goes past bytes between two entries.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.offset += bytes as u64;
    }

    /// More of the entry, but not its end.
    pub(crate) fn keep(&mut self, piece: &[u8]) {
        self.pending += piece.len() as u64;
        if self.pending <= self.bytes_max as u64 {
            self.bytes.extend_from_slice(piece);
        } else {
            self.bytes = Vec::new();
        }
    }

    /// Hands on the entry that ends with this piece.
    pub(crate) fn emit<E>(
        &mut self,
        piece: &[u8],
        each: &mut impl FnMut(Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.pending == 0 && piece.len() <= self.bytes_max {
            // The usual case: all of it lies in the chunk, and is not copied.
            self.pending = piece.len() as u64;
            return each(self.next(Content::Bytes(piece)));
        }
        self.keep(piece);
        let mut bytes = std::mem::take(&mut self.bytes);
        let pending = self.pending;
        let content = if pending <= self.bytes_max as u64 {
            Content::Bytes(&bytes)
        } else {
            Content::TooLong { bytes: pending }
        };
        let emitted = each(self.next(content));
        bytes.clear();
        self.bytes = bytes;
        emitted
    }

    fn next<'a>(&mut self, content: Content<'a>) -> Entry<'a> {
        let entry = Entry { unit: self.unit, number: self.number, offset: self.offset, content };
        self.number += 1;
        self.offset += self.pending;
        self.pending = 0;
        entry
    }
}
