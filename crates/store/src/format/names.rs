//! The names of files.

use super::fields::NUMBER_MAX;

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

    /// What such a file begins with.
    pub(super) fn magic(self) -> [u8; 8] {
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

/// The file that keeps room for the segment that the log becomes when the medium is full.
pub const RESERVE_NAME: &str = "reserve";

/// The file that tells how far scrubbing has come.
pub const SCRUB_NAME: &str = "scrub";

/// The folder within the store that keeps the receipts for what was erased.
pub const RECEIPTS_NAME: &str = "receipts";

/// The folder within the store by which other processes ask its writer for something.
pub const REQUESTS_NAME: &str = "requests";

/// The folder within the store that keeps the bytes of damaged files.
pub const QUARANTINE_NAME: &str = "quarantine";
