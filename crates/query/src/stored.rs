//! The data of a block that a source provides.

use tamias_shred::Arrivals;

/// An event's (instant, arrival): its place in time.
pub(crate) type Order = (u64, u64);

/// The instants and arrival numbers of the events of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times<'b> {
    /// For each event its instant: ticks of 100 ns since 0001-01-01T00:00:00Z, as a little-endian `u64`.
    pub instants: &'b [[u8; 8]],
    /// The arrival numbers.
    pub arrivals: Arrivals<&'b [[u8; 8]]>,
}

/// The documents of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Documents<'b> {
    /// The documents, each followed by a line feed.
    pub bytes: &'b [u8],
    /// For each event the offset just past its document, as a little-endian `u32`.
    pub ends: &'b [[u8; 4]],
}

impl<'b> Documents<'b> {
    /// The document of an event, without its line feed; empty if there is none.
    pub(crate) fn get(&self, index: usize) -> &'b [u8] {
        let end_of = |index: usize| self.ends.get(index).map(|end| u32::from_le_bytes(*end) as usize);
        let start = index.checked_sub(1).and_then(end_of).map_or(0, |end| end + 1);
        let end = end_of(index).unwrap_or_default();
        self.bytes.get(start..end).unwrap_or_default()
    }
}

impl Times<'_> {
    /// The instant and arrival number of the first event, and of the last; zeros if there are none.
    pub fn range(&self) -> ((u64, u64), (u64, u64)) {
        (self.order(0), self.order(self.instants.len().saturating_sub(1)))
    }

    /// The instant and arrival number of an event; zeros if there is none.
    #[inline]
    pub(crate) fn order(&self, index: usize) -> Order {
        match self.instants.get(index) {
            Some(instant) => (u64::from_le_bytes(*instant), self.arrivals.get(index)),
            None => (0, 0),
        }
    }
}

/// The error of a source that cannot be read further.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;
