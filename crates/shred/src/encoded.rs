//! What is encoded, and what becomes of it.

/// An event to be stored: a minified JSON object, when it happened, and when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'d> {
    /// Ticks of 100 ns since 0001-01-01T00:00:00Z.
    pub instant: u64,
    /// Its number in the order of arrival.
    pub arrival: u64,
    /// The document. Any bytes at all come back as they are; a minified JSON object comes into columns.
    pub document: &'d [u8],
}

/// A group as it is stored: a directory, and frames that are read when they are needed.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// What [`Group::open`](crate::Group::open) reads.
    pub directory: Vec<u8>,
    /// The frames, by number.
    pub frames: Vec<Vec<u8>>,
    /// Bytes of documents, or of parts of them, that are stored as text: too many keys, too many shapes, or no JSON.
    pub text_bytes: usize,
    /// Whether the columns did not decode to the same documents, so that all of them are stored as text. A fault of this crate,
    /// to be reported; nothing is lost.
    pub fell_back: bool,
}

impl Encoded {
    /// Bytes of the directory and all frames.
    pub fn len(&self) -> usize {
        self.directory.len() + self.frames.iter().map(Vec::len).sum::<usize>()
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        false
    }
}
