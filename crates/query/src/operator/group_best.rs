//! The groups that can have the first rows, where rows are sorted by numbers: of most groups no more is asked than a whole number, or a binary one near to theirs.

use super::group::Groups;
use crate::chunk::ESTIMATE_ERROR;
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::Expr;
use crate::plan::{Grouping, Plan};
use crate::watch::ROWS_LOOKED_AT;

/// So many groups are gone over before it is asked whether to go on.
const UNCHECKED: u32 = 1 << 14;

/// Beside twice as many groups as are wanted so many are kept, before those that are not wanted are left out.
const ROOM: usize = 1024;

/// Where more of the groups than this part are wanted, they are sorted as they are.
const WANTED_PART: usize = 8;

impl Groups<'_> {
    /// The numbers of some groups in the order of their first events, among which are all that have one of the first rows; none where that is not known, or they are too many.
    pub(super) fn best(&self, plan: &Plan, control: &Control) -> Result<Option<Vec<u32>>, ExecError> {
        let by = self.grouping().sorted_by_aggregate();
        let wanted = plan.limit.and_then(|limit| usize::try_from(limit).ok());
        let is_little = |wanted: &usize| (1..=self.len() / WANTED_PART).contains(wanted);
        let Some((ByAggregate { aggregate, descending, is_all }, wanted)) = by.zip(wanted.filter(is_little))
        else {
            return Ok(None);
        };
        let are_whole = self.states().whole(aggregate, 0).is_some();
        let rank = |number: u32| {
            let rank = match are_whole {
                true => self.states().whole(aggregate, number)?,
                false => rank_of(self.states().estimate(aggregate, number)?),
            };
            Some(if descending { !rank } else { rank })
        };
        // Groups that are alike in the number are told apart by their places, unless there is more that they are sorted by.
        let place = |number: u32| (is_all && are_whole).then(|| self.place_of(number));
        let last_of = |rank: u64| match (are_whole, descending) {
            (true, _) => rank,
            (false, false) => last_alike(rank, 1.0),
            (false, true) => !last_alike(!rank, -1.0),
        };
        let mut best = Best { wanted, kept: Vec::new(), last: None, last_of };
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
        // What tells of the values of an answer does not depend on how rows are sorted.
        let looked_at = if control.watch.looks_at_answers() { ROWS_LOOKED_AT.min(self.len()) } else { 0 };
        numbers.extend(0..looked_at as u32);
        numbers.sort_unstable_by_key(|number| self.place_of(*number));
        numbers.dedup();
        Ok(Some(numbers))
    }
}

/// The place of a binary number among all of them.
fn rank_of(number: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    let bits = number.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The rank of the last number that may be before the one of a rank, by what both are off by: of those that are greater, or less.
fn last_alike(rank: u64, towards: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    let number = f64::from_bits(if rank & SIGN == 0 { !rank } else { rank ^ SIGN });
    let last = number + towards * number.abs() * ESTIMATE_ERROR;
    if last.is_nan() { rank } else { rank_of(last) }
}

/// The groups that come first so far, by a rank and a place.
struct Best<P, L> {
    wanted: usize,
    kept: Vec<(u64, P, u32)>,
    /// The last of those that may be wanted, once there are more.
    last: Option<(u64, P)>,
    /// The last rank that may be wanted where one is.
    last_of: L,
}

impl<P: Ord + Copy, L: Fn(u64) -> u64> Best<P, L> {
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
        let last = ((self.last_of)(last.0), last.1);
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

    #[test]
    fn ranks_are_in_the_order_of_numbers() {
        let numbers = [f64::NEG_INFINITY, -1e300, -2.0, -1e-300, 0.0, 1e-300, 1.0, 3e300];
        assert!(numbers.is_sorted_by_key(|number| rank_of(*number)));
        for number in numbers {
            let near = number + number.abs() * ESTIMATE_ERROR / 2.0;
            let least = number - number.abs() * ESTIMATE_ERROR / 2.0;
            if number.is_finite() {
                assert!(last_alike(rank_of(number), 1.0) >= rank_of(near), "{number}");
                assert!(last_alike(rank_of(number), -1.0) <= rank_of(least), "{number}");
            }
        }
        assert_eq!(last_alike(rank_of(f64::NEG_INFINITY), 1.0), rank_of(f64::NEG_INFINITY));
    }

    proptest! {
        #[test]
        fn the_first_are_among_those_that_are_kept(
            ranks in prop::collection::vec(0u64..6000, 2000..6000),
            wanted in 1usize..200,
            by_place: bool,
        ) {
            let mut best = Best { wanted, kept: Vec::new(), last: None, last_of: |rank| rank };
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
            let mut best = Best { wanted, kept: Vec::new(), last: None, last_of: |rank| rank };
            let all = (0..).take(2 * wanted + ROOM).all(|number| best.take(1, (), number));
            prop_assert!(!all);
        }
    }
}
