//! The parts of a block: its documents, and where and when its events are.

use crate::chunk::Order;
use crate::expr::Event;
use crate::stored::Times;
use std::ops::Range;

/// The parts of a block.
#[derive(Clone, Copy)]
pub(super) struct Parts<'b> {
    pub(super) documents: &'b [u8],
    pub(super) ends: &'b [[u8; 4]],
    pub(super) times: Times<'b>,
}

impl<'b> Parts<'b> {
    /// An event of which no more is known than its place in time.
    pub(super) fn event(&self, index: usize) -> Event<'b> {
        let (instant, arrival) = self.order(index);
        Event { document: None, instant, arrival }
    }

    /// The place in time of an event.
    #[inline]
    pub(super) fn order(&self, index: usize) -> Order {
        self.times.order(index)
    }

    /// The places in time of some events of a window, by their places in it.
    pub(super) fn orders<'i>(
        &self,
        window: Range<usize>,
        indices: &'i [u32],
    ) -> impl Iterator<Item = Order> + use<'i, 'b> {
        let times = self.times;
        indices.iter().map(move |index| times.order(window.start + *index as usize))
    }

    /// The document of an event, without its line feed.
    pub(super) fn document(&self, index: usize) -> Option<&'b [u8]> {
        let start = match index.checked_sub(1) {
            Some(before) => u32::from_le_bytes(*self.ends.get(before)?) as usize + 1,
            None => 0,
        };
        self.documents.get(start..u32::from_le_bytes(*self.ends.get(index)?) as usize)
    }
}
