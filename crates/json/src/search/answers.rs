//! What a search tells of each document: yes, no or maybe.

use std::ops::Not;

/// Where the value of a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The document has no such key at its top level.
    Absent,
    /// It takes a scan of the document to know: the key is repeated, or its value is an object or an array.
    Unsure,
    /// A string, number, `true`, `false` or `null`: from the first offset in the block's bytes up to the second, that one
    /// excluded.
    Value(u32, u32),
}

/// Whether a document is one that is looked for. In the order of their certainty: the lesser of two answers is that to both
/// questions at once, the greater that to either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It is not.
    No,
    /// It takes a scan of the document to know.
    Maybe,
    /// It is.
    Yes,
}

impl Not for Match {
    type Output = Match;

    #[inline(always)]
    fn not(self) -> Match {
        match self {
            Match::No => Match::Yes,
            Match::Maybe => Match::Maybe,
            Match::Yes => Match::No,
        }
    }
}
