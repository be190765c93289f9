//! In which order the events of a group came.

use std::ops::Range;

/// The arrival numbers of the events of a group, which it has in the order in which they happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals<E> {
    /// They came in that order, and nothing came between: the first has this number, and each of the others the next.
    Counted(u64),
    /// Each has its own, as a little-endian `u64`.
    Each(E),
}

impl<E: Default> Default for Arrivals<E> {
    /// Those of no events.
    fn default() -> Arrivals<E> {
        Arrivals::Each(E::default())
    }
}

impl Arrivals<Vec<[u8; 8]>> {
    /// These numbers. To count takes no memory, and less time than to read them.
    pub(crate) fn new(numbers: &[i64]) -> Arrivals<Vec<[u8; 8]>> {
        let first = numbers.first().copied().unwrap_or_default();
        // As good as always they count, or do not from the start on: all are gone over without branches.
        let counts = numbers
            .iter()
            .zip(0..)
            .fold(true, |all, (number, nth)| all & (*number == first.wrapping_add(nth)));
        match counts && !numbers.is_empty() && first <= i64::MAX - numbers.len() as i64 {
            true => Arrivals::Counted(first.cast_unsigned()),
            false => Arrivals::Each(numbers.iter().map(|number| number.to_le_bytes()).collect()),
        }
    }
}

impl<E: AsRef<[[u8; 8]]>> Arrivals<E> {
    /// That of an event, by its place; 0 where numbers are listed and it has none.
    #[inline]
    pub fn get(&self, event: usize) -> u64 {
        match self {
            Arrivals::Counted(first) => first.wrapping_add(event as u64),
            Arrivals::Each(each) => each.as_ref().get(event).map_or(0, |own| u64::from_le_bytes(*own)),
        }
    }

    /// Those of events that follow one another.
    pub fn of(&self, events: Range<usize>) -> impl ExactSizeIterator<Item = u64> + Clone {
        events.map(|event| self.get(event))
    }

    /// Whether there is one for each of so many events.
    pub fn are_of(&self, events: usize) -> bool {
        match self {
            Arrivals::Counted(_) => true,
            Arrivals::Each(each) => each.as_ref().len() == events,
        }
    }

    /// The same, lent.
    pub fn lent(&self) -> Arrivals<&[[u8; 8]]> {
        match self {
            Arrivals::Counted(first) => Arrivals::Counted(*first),
            Arrivals::Each(each) => Arrivals::Each(each.as_ref()),
        }
    }

    /// What they take in memory, in bytes.
    pub fn held_bytes(&self) -> usize {
        match self {
            Arrivals::Counted(_) => 0,
            Arrivals::Each(each) => size_of_val(each.as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_that_count_are_told_as_those_that_are_listed(
            first in prop_oneof![0..9i64, Just(i64::MAX - 3), any::<i64>()], count in 0..9usize, gap in prop::option::of(0..9usize)
        ) {
            let number = |nth: usize| first.wrapping_add(nth as i64 + i64::from(gap.is_some_and(|gap| nth > gap)));
            let numbers: Vec<i64> = (0..count).map(number).collect();
            let arrivals = Arrivals::new(&numbers);
            let counts = numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
            prop_assert!(!matches!(arrivals, Arrivals::Counted(_)) || counts && count > 0);
            prop_assert!(arrivals.of(0..count).eq(numbers.iter().map(|number| number.cast_unsigned())));
            prop_assert!(arrivals.lent().are_of(count));
        }
    }
}
