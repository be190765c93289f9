//! The places in time of a chunk's rows.

use crate::stored::{Order, Times};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use tamias_shred::Arrivals;
use tamias_simd::numbers::are_in_order;

/// The instants and arrival numbers of the events of a block.
#[derive(Debug)]
pub(crate) struct OwnTimes {
    pub(crate) instants: Vec<[u8; 8]>,
    pub(crate) arrivals: Arrivals<Vec<[u8; 8]>>,
    is_sorted: OnceLock<bool>,
}

impl OwnTimes {
    pub(crate) fn new(instants: Vec<[u8; 8]>, arrivals: Arrivals<Vec<[u8; 8]>>) -> OwnTimes {
        OwnTimes { instants, arrivals, is_sorted: OnceLock::new() }
    }

    pub(crate) fn times(&self) -> Times<'_> {
        Times { instants: &self.instants, arrivals: self.arrivals.lent() }
    }

    /// The place of an event; zeros if there is none.
    #[inline]
    pub(crate) fn order(&self, event: usize) -> Order {
        self.times().order(event)
    }

    /// Whether the events are in the order of time; looked at once.
    pub(crate) fn is_sorted(&self) -> bool {
        *self.is_sorted.get_or_init(|| match &self.arrivals {
            Arrivals::Counted(_) => self.has_instants_in_order(),
            Arrivals::Each(arrivals) => are_in_order(&self.instants, arrivals),
        })
    }

    /// Whether no instant comes before the one of the event before.
    pub(crate) fn has_instants_in_order(&self) -> bool {
        are_in_order(&self.instants, &self.instants)
    }

    /// What it takes in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        size_of_val(self.instants.as_slice()) + self.arrivals.held_bytes()
    }
}

/// The places in time of the events of a block.
#[derive(Clone, Debug)]
pub(crate) enum BlockOrders {
    /// Where their times say.
    Timed(Arc<OwnTimes>),
    /// One behind the other from a place on.
    Counted(Order),
}

impl BlockOrders {
    /// That of an event.
    #[inline]
    pub(crate) fn order(&self, event: usize) -> Order {
        match self {
            BlockOrders::Timed(times) => times.order(event),
            BlockOrders::Counted((instant, arrival)) => (*instant, arrival.saturating_add(event as u64)),
        }
    }

    fn is_sorted(&self) -> bool {
        match self {
            BlockOrders::Timed(times) => times.is_sorted(),
            BlockOrders::Counted(_) => true,
        }
    }
}

/// Rows of a block, each an event.
#[derive(Debug)]
pub(crate) enum EventRows {
    All(Range<u32>),
    Some(Arc<Vec<u32>>),
}

impl EventRows {
    fn len(&self) -> usize {
        match self {
            EventRows::All(events) => events.len(),
            EventRows::Some(events) => events.len(),
        }
    }

    #[inline]
    pub(super) fn event(&self, row: usize) -> usize {
        match self {
            EventRows::All(events) => events.start as usize + row,
            EventRows::Some(events) => events.get(row).map_or(usize::MAX, |event| *event as usize),
        }
    }

    fn is_sorted(&self) -> bool {
        match self {
            EventRows::All(_) => true,
            EventRows::Some(events) => events.is_sorted(),
        }
    }
}

/// For each row its event's place in time: mostly few of them are asked for.
#[derive(Debug)]
pub(crate) enum Orders {
    Each(Vec<Order>),
    OfBlock { events: BlockOrders, rows: EventRows },
}

impl Default for Orders {
    fn default() -> Orders {
        Orders::Each(Vec::new())
    }
}

impl Orders {
    pub(crate) fn len(&self) -> usize {
        match self {
            Orders::Each(orders) => orders.len(),
            Orders::OfBlock { rows, .. } => rows.len(),
        }
    }

    /// That of a row.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<Order> {
        match self {
            Orders::Each(orders) => orders.get(row).copied(),
            Orders::OfBlock { events, rows } => (row < rows.len()).then(|| events.order(rows.event(row))),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Order> {
        (0..self.len()).filter_map(|row| self.get(row))
    }

    /// Whether the rows are in the order of time.
    pub(crate) fn is_sorted(&self) -> bool {
        match self {
            Orders::Each(orders) => orders.is_sorted(),
            Orders::OfBlock { events, rows } => events.is_sorted() && rows.is_sorted(),
        }
    }

    /// The first row from one on of which something does not hold; it holds of none behind that where rows are in the order of time.
    pub(crate) fn first_without(&self, from: usize, is_sorted: bool, holds: impl Fn(Order) -> bool) -> usize {
        let holds = |row: usize| self.get(row).is_some_and(&holds);
        if !is_sorted {
            return (from..self.len()).find(|row| !holds(*row)).unwrap_or(self.len());
        }
        // It is mostly near, or far: steps become longer until one is too long.
        let (mut from, mut step) = (from, 1);
        while from + step <= self.len() && holds(from + step - 1) {
            (from, step) = (from + step, 2 * step);
        }
        let mut to = self.len().min(from + step);
        while from < to {
            let middle = from + (to - from) / 2;
            if holds(middle) { from = middle + 1 } else { to = middle }
        }
        from
    }

    pub(super) fn clear(&mut self) {
        match self {
            Orders::Each(orders) => orders.clear(),
            Orders::OfBlock { .. } => *self = Orders::default(),
        }
    }

    pub(super) fn push(&mut self, order: Order) {
        self.extend(std::iter::once(order));
    }

    pub(super) fn extend(&mut self, more: impl Iterator<Item = Order>) {
        match self {
            Orders::Each(orders) => orders.extend(more),
            Orders::OfBlock { .. } => *self = Orders::Each(self.iter().chain(more).collect()),
        }
    }

    pub(super) fn shrink(&mut self) {
        if let Orders::Each(orders) = self {
            orders.shrink_to_fit();
        }
    }

    /// What it takes in memory beside the times of the block, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        match self {
            Orders::Each(orders) => orders.capacity() * size_of::<Order>(),
            Orders::OfBlock { .. } => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_of_a_block_are_where_its_events_are(
            times in prop::collection::vec((0u64..5, 0u64..5), 0..20),
            picked in prop::collection::vec(0usize..20, 0..10),
            of_all: bool,
        ) {
            let bytes = |part: fn(&Order) -> u64| times.iter().map(|order| part(order).to_le_bytes()).collect();
            let own = Arc::new(OwnTimes::new(bytes(|order| order.0), Arrivals::Each(bytes(|order| order.1))));
            let picked: Vec<u32> = picked.into_iter().filter(|row| *row < times.len()).map(|row| row as u32).collect();
            let (rows, expected): (_, Vec<Order>) = match of_all {
                true => (EventRows::All(0..times.len() as u32), times.clone()),
                false => {
                    let expected = picked.iter().map(|row| times[*row as usize]).collect();
                    (EventRows::Some(Arc::new(picked)), expected)
                }
            };
            let mut orders = Orders::OfBlock { events: BlockOrders::Timed(own), rows };
            prop_assert_eq!(orders.len(), expected.len());
            prop_assert!(orders.iter().eq(expected.iter().copied()));
            prop_assert!(!orders.is_sorted() || expected.is_sorted());
            prop_assert_eq!(orders.get(expected.len()), None);
            let is_early = |order: Order| order.0 < 3;
            for from in 0..expected.len() {
                let first = (from..expected.len()).find(|row| !is_early(expected[*row])).unwrap_or(expected.len());
                prop_assert_eq!(orders.first_without(from, expected.is_sorted(), is_early), first);
            }
            orders.push((7, 7));
            prop_assert!(orders.iter().eq(expected.iter().copied().chain([(7, 7)])));
        }
    }

    /// The first and the last place of a block, and one of an event within.
    #[test]
    fn events_that_are_counted_stay_within_their_block() {
        // Of one instant the arrival numbers rise, by one at least.
        let at_once = BlockOrders::Counted((7, 100));
        assert!((0..5).all(|event| (7, 100) <= at_once.order(event) && at_once.order(event) <= (7, 104)));
        // Of several, any number comes before the last instant.
        let later = BlockOrders::Counted((7, 100));
        assert!(later.order(16_383) < (8, 0) && later.order(0) >= (7, 100));
        assert_eq!(BlockOrders::Counted((7, u64::MAX)).order(3), (7, u64::MAX));
    }
}
