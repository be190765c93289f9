//! Where the events of a block stand in time, as far as that makes a difference.

use super::of_block::BlockColumns;
use crate::chunk::Order;
use crate::column_block::ColumnError;
use crate::stored::Times;

/// What is asked of the times of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scan) enum TimesAsked {
    Nothing,
    /// Which event comes before which.
    Order,
    /// When they happened.
    Instants,
}

/// Where the events of a block stand in time.
#[derive(Clone, Copy)]
pub(super) enum Standing<'s> {
    /// That makes no difference.
    Anywhere,
    /// Where their times say.
    Timed(Times<'s>),
    /// One behind the other from the first place of the block on. Where no other block has events between these, that puts them among all others like their times would,
    /// which need not be read.
    Counted(Order),
}

impl<'s> Standing<'s> {
    /// That of the events of a block that begins at a place, and may have events of others between its own.
    pub(super) fn of(
        block: &BlockColumns<'s>,
        begin: Order,
        is_alone: bool,
        asked: TimesAsked,
    ) -> Result<Standing<'s>, ColumnError> {
        match asked {
            TimesAsked::Nothing => Ok(Standing::Anywhere),
            // Where the first events are deleted, the place may be that of a later one.
            TimesAsked::Order if is_alone && block.deleted_in(&(0..block.len())).is_empty() => {
                Ok(Standing::Counted(begin))
            }
            TimesAsked::Order | TimesAsked::Instants => block.times().map(Standing::Timed),
        }
    }

    /// The times, if they were read.
    pub(super) fn times(self) -> Times<'s> {
        match self {
            Standing::Timed(times) => times,
            Standing::Anywhere | Standing::Counted(_) => Times::default(),
        }
    }

    /// The place of an event.
    #[inline]
    pub(super) fn order(self, event: usize) -> Order {
        match self {
            Standing::Anywhere => (0, 0),
            Standing::Timed(times) => times.order(event),
            Standing::Counted((instant, arrival)) => (instant, arrival.saturating_add(event as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the last place of a block, and one of an event within.
    #[test]
    fn events_that_are_counted_stay_within_their_block() {
        // Of one instant the arrival numbers rise, by one at least.
        let at_once = Standing::Counted((7, 100));
        assert!((0..5).all(|event| (7, 100) <= at_once.order(event) && at_once.order(event) <= (7, 104)));
        // Of several, any number comes before the last instant.
        let later = Standing::Counted((7, 100));
        assert!(later.order(16_383) < (8, 0) && later.order(0) >= (7, 100));
        assert_eq!(Standing::Counted((7, u64::MAX)).order(3), (7, u64::MAX));
    }
}
