//! The groups that can have the first rows, where rows are sorted by whole numbers: of most groups no more is asked than that number.

use super::group::Groups;
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::Expr;
use crate::plan::{Grouping, Plan};

/// So many groups are gone over before it is asked whether to go on.
const UNCHECKED: u32 = 1 << 14;

/// Beside twice as many groups as are wanted so many are kept, before those that are not wanted are left out.
const ROOM: usize = 1024;

/// Where more of the groups than this part are wanted, they are sorted as they are.
const WANTED_PART: usize = 8;

impl Groups<'_> {
    /// The numbers of some groups in the order of their first events, among which are all that have one of the first rows; none where that is not known, or they are too many.
    pub(super) fn best(&self, plan: &Plan, control: &Control) -> Result<Option<Vec<u32>>, ExecError> {
        let by = self.grouping().sorted_by_aggregate().filter(|_| !control.watch.looks_at_answers());
        let wanted = plan.limit.and_then(|limit| usize::try_from(limit).ok());
        let is_little = |wanted: &usize| (1..=self.len() / WANTED_PART).contains(wanted);
        let Some((ByAggregate { aggregate, descending, is_all }, wanted)) = by.zip(wanted.filter(is_little))
        else {
            return Ok(None);
        };
        let rank = |number: u32| {
            let whole = self.states().whole(aggregate, number)?;
            Some(if descending { !whole } else { whole })
        };
        // Groups that are alike in the number are told apart by their places, unless there is more that they are sorted by.
        let place = |number: u32| is_all.then(|| self.place_of(number));
        let mut best = Best { wanted, kept: Vec::new(), last: None };
        for number in 0..self.len() as u32 {
            if number.is_multiple_of(UNCHECKED) {
                control.check()?;
            }
            let Some(rank) = rank(number) else { return Ok(None) };
            if best.is_wanted(rank, || place(number)) && !best.take(rank, place(number), number) {
                return Ok(None);
            }
        }
        let mut numbers: Vec<u32> = best.kept.into_iter().map(|(_, _, number)| number).collect();
        numbers.sort_unstable_by_key(|number| self.place_of(*number));
        Ok(Some(numbers))
    }
}

/// The groups that come first so far, by a rank and a place.
struct Best<P> {
    wanted: usize,
    kept: Vec<(u64, P, u32)>,
    /// The last of those that are wanted, once there are more.
    last: Option<(u64, P)>,
}

impl<P: Ord + Copy> Best<P> {
    #[inline]
    fn is_wanted(&self, rank: u64, place: impl FnOnce() -> P) -> bool {
        match &self.last {
            Some((last, _)) if rank > *last => false,
            Some((last, last_place)) if rank == *last => place() <= *last_place,
            Some(_) | None => true,
        }
    }

    /// Takes a group in: false if too many have the same rank and place as the last one.
    fn take(&mut self, rank: u64, place: P, number: u32) -> bool {
        self.kept.push((rank, place, number));
        if self.kept.len() < 2 * self.wanted + ROOM {
            return true;
        }
        let (_, last, _) = self.kept.select_nth_unstable(self.wanted.saturating_sub(1));
        let last = (last.0, last.1);
        self.kept.retain(|(rank, place, _)| (*rank, *place) <= last);
        self.last = Some(last);
        self.kept.len() <= self.wanted + ROOM / 2
    }
}

/// An aggregate that rows are sorted by first.
struct ByAggregate {
    aggregate: usize,
    descending: bool,
    /// Whether they are sorted by nothing else.
    is_all: bool,
}

impl Grouping {
    /// The aggregate that the rows of all groups are sorted by, if it is one.
    fn sorted_by_aggregate(&self) -> Option<ByAggregate> {
        let (by, others) = self.sort.split_first()?;
        let gives_rows = self.aggregates.iter().any(|of| of.function.gives_rows());
        if self.having.is_some() || gives_rows {
            return None;
        }
        let Expr::Group(value) = self.cells.get(by.column.checked_sub(self.keys.len())?)? else {
            return None;
        };
        let aggregate = value.checked_sub(self.keys.len())?;
        Some(ByAggregate { aggregate, descending: by.descending, is_all: others.is_empty() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_are_among_those_that_are_kept(
            ranks in prop::collection::vec(0u64..6000, 2000..6000),
            wanted in 1usize..200,
            by_place: bool,
        ) {
            let mut best = Best { wanted, kept: Vec::new(), last: None };
            // Places that have nothing to do with the numbers.
            let place = |number: u32| by_place.then_some(number.wrapping_mul(0x9e37_79b1));
            for (number, rank) in (0..).zip(&ranks) {
                if best.is_wanted(*rank, || place(number)) {
                    prop_assert!(best.take(*rank, place(number), number));
                }
            }
            let mut all: Vec<_> = (0..).zip(&ranks).map(|(number, rank)| (*rank, place(number), number)).collect();
            all.sort_unstable();
            prop_assert!(all.iter().take(wanted).all(|first| best.kept.contains(first)));
            prop_assert!(best.kept.len() < 2 * wanted + ROOM);
        }

        #[test]
        fn groups_that_are_all_alike_are_too_many(wanted in 1usize..200) {
            let mut best = Best { wanted, kept: Vec::new(), last: None };
            let all = (0..).take(2 * wanted + ROOM).all(|number| best.take(1, (), number));
            prop_assert!(!all);
        }
    }
}
