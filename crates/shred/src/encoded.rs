//! The input and output of encoding.

/// An event to be encoded: its document, instant and arrival number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'d> {
    /// When it happened, in ticks of 100 ns since 0001-01-01T00:00:00Z.
    pub instant: u64,
    /// Its arrival number.
    pub arrival: u64,
    /// The document. A minified JSON object is stored in columns, anything else as text; either decodes to the same bytes.
    pub document: &'d [u8],
}

/// An encoded group: a directory, and frames that are read on demand.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The directory, for [`Group::open`](crate::Group::open).
    pub directory: Vec<u8>,
    /// The frames, by number.
    pub frames: Vec<Vec<u8>>,
    /// The number of bytes of documents that are stored as text, because of too many keys, too many shapes, or invalid JSON.
    pub text_bytes: usize,
    /// Whether the columns did not decode to the same documents, so that all documents are stored as text. This is a bug of this crate
    /// that should be reported; no data is lost.
    pub fell_back: bool,
}

impl Encoded {
    /// The total size of the directory and all frames in bytes.
    pub fn len(&self) -> usize {
        self.directory.len() + self.frames.iter().map(Vec::len).sum::<usize>()
    }

    /// Always false: a group has a directory.
    pub fn is_empty(&self) -> bool {
        false
    }
}
