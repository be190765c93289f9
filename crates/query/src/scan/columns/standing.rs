//! Where the events of a block stand in time, as far as that makes a difference.

use super::of_block::BlockColumns;
use crate::chunk::{BlockOrders, Order};
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
pub(super) enum Standing<'s> {
    /// That makes no difference.
    Anywhere,
    /// Where the times of a block of text say.
    Timed(Times<'s>),
    /// Rows of a block in columns share it.
    Shared(BlockOrders),
}

impl<'s> Standing<'s> {
    /// That of the events of a block that begins at a place. Where no other block has events between these, they count up from there: that puts them among all
    /// others like their times would, which need not be read.
    pub(super) fn of(
        block: &BlockColumns<'s>,
        begin: Order,
        is_alone: bool,
        asked: TimesAsked,
    ) -> Result<Standing<'s>, ColumnError> {
        Ok(match asked {
            TimesAsked::Nothing => Standing::Anywhere,
            TimesAsked::Order if is_alone => Standing::Shared(BlockOrders::Counted(begin)),
            TimesAsked::Order | TimesAsked::Instants => match block {
                BlockColumns::Stored(block) => {
                    Standing::Shared(BlockOrders::Timed(block.own_times()?.clone()))
                }
                BlockColumns::Text(text) => Standing::Timed(text.times()),
            },
        })
    }

    /// The times, if they were read.
    pub(super) fn times(&self) -> Times<'_> {
        match self {
            Standing::Timed(times) => *times,
            Standing::Shared(BlockOrders::Timed(times)) => times.times(),
            Standing::Anywhere | Standing::Shared(BlockOrders::Counted(_)) => Times::default(),
        }
    }

    /// The place of an event.
    #[inline]
    pub(super) fn order(&self, event: usize) -> Order {
        match self {
            Standing::Anywhere => (0, 0),
            Standing::Timed(times) => times.order(event),
            Standing::Shared(of_block) => of_block.order(event),
        }
    }
}
