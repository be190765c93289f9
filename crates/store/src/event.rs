//! Events as they are appended.

/// An event as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// When it happened: ticks of 100 ns since 0001-01-01T00:00:00Z. Any value is accepted.
    pub instant: u64,
    /// The document: at least one byte, none of them a line feed.
    pub bytes: &'a [u8],
}
