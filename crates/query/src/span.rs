//! A place in a query's text.

/// A range of bytes in the query's text, both ends on character boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// The span from the beginning of `self` to the end of `other`.
    pub(crate) fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }

    pub(crate) fn text(self, query: &str) -> &str {
        query.get(self.start..self.end).unwrap_or_default()
    }
}
