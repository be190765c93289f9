//! Where values of a key stand.

/// A value of the key: where it stands in the documents, from `start` up to `end`, and in which event. Of an object or array only the
/// start is told.
#[derive(Clone, Copy)]
pub(super) struct Occurrence {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) event: u32,
}

impl Occurrence {
    /// Where the text of a string begins and ends; none of another value.
    #[inline(always)]
    pub(super) fn inside_quotes(&self, documents: &[u8]) -> Option<(usize, usize)> {
        let start = self.start as usize;
        (documents.get(start) == Some(&b'"')).then(|| (start + 1, (self.end as usize).wrapping_sub(1)))
    }
}
