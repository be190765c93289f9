//! Which events are deleted, as long as files still hold them.

use crate::format::Key;

/// Deleted events of a block that stand one behind another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) block: u32,
    /// The place of the first one in the block.
    pub(crate) first: u32,
    pub(crate) events: u32,
}

impl Stretch {
    /// Whether it may stand behind another one.
    fn follows(&self, before: &Stretch) -> bool {
        let end = before.first.checked_add(before.events);
        before.block < self.block || (before.block == self.block && end.is_some_and(|end| end <= self.first))
    }
}

/// The deleted events of a segment: not all of its events, and at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marks {
    /// How many there are.
    pub(crate) events: u64,
    /// Bytes of their documents with line feeds.
    pub(crate) document_bytes: u64,
    /// The keys of the first and the last event that stays.
    pub(crate) stay: (Key, Key),
    /// Where they stand, in order.
    pub(crate) stretches: Vec<Stretch>,
}

impl Marks {
    /// Those of a block.
    pub(crate) fn of_block(&self, block: usize) -> &[Stretch] {
        let start = self.stretches.partition_point(|stretch| (stretch.block as usize) < block);
        let end = self.stretches.partition_point(|stretch| stretch.block as usize <= block);
        self.stretches.get(start..end).unwrap_or_default()
    }

    /// Whether the stretches are in order and come to as many events as there are.
    pub(crate) fn are_sound(&self) -> bool {
        let events = self.stretches.iter().map(|stretch| u64::from(stretch.events)).sum::<u64>();
        let in_order = self.stretches.is_sorted_by(|before, after| after.follows(before));
        self.events > 0 && events == self.events && in_order && self.stay.0 <= self.stay.1
    }
}

/// How many events these are.
pub(crate) fn events_of(stretches: &[Stretch]) -> u64 {
    stretches.iter().map(|stretch| u64::from(stretch.events)).sum()
}

/// Whether the event at a place in the block is among these, which are all of one block.
pub(crate) fn are_at(stretches: &[Stretch], place: usize) -> bool {
    let next = stretches.partition_point(|stretch| stretch.first as usize <= place);
    let stretch = next.checked_sub(1).and_then(|index| stretches.get(index));
    stretch.is_some_and(|stretch| place - (stretch.first as usize) < stretch.events as usize)
}

/// Makes stretches of places in a block that rise.
pub(crate) fn stretches(block: u32, places: impl Iterator<Item = u32>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for place in places {
        match stretches.last_mut() {
            Some(last) if last.first + last.events == place => last.events += 1,
            _ => stretches.push(Stretch { block, first: place, events: 1 }),
        }
    }
    stretches
}

/// A set of arrival numbers: stretches of them, in order, none touching the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arrivals {
    /// The first, and how many.
    pub(crate) stretches: Vec<(u64, u64)>,
}

impl Arrivals {
    /// Those of a list, in any order.
    pub(crate) fn of(mut numbers: Vec<u64>) -> Arrivals {
        numbers.sort_unstable();
        numbers.dedup();
        let mut arrivals = Arrivals::default();
        numbers.into_iter().for_each(|number| arrivals.push(number, 1));
        arrivals
    }

    /// Adds numbers behind all others, or touching the last.
    fn push(&mut self, first: u64, count: u64) {
        match self.stretches.last_mut() {
            Some((begin, known)) if *begin + *known >= first => {
                *known = (*known).max(first + count - *begin);
            }
            _ => self.stretches.push((first, count)),
        }
    }

    /// Takes others in.
    pub(crate) fn add(&mut self, others: &Arrivals) {
        let mut all = [&*self.stretches, &*others.stretches].concat();
        all.sort_unstable();
        self.stretches.clear();
        all.into_iter().for_each(|(first, count)| self.push(first, count));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        let next = self.stretches.partition_point(|(first, _)| *first <= number);
        let stretch = next.checked_sub(1).and_then(|index| self.stretches.get(index));
        stretch.is_some_and(|(first, count)| number - first < *count)
    }

    /// Whether all of these are among them.
    pub(crate) fn contain(&self, others: &Arrivals) -> bool {
        let mut all = self.clone();
        all.add(others);
        all.len() == self.len()
    }

    pub(crate) fn len(&self) -> u64 {
        self.stretches.iter().map(|(_, count)| count).sum()
    }

    /// Whether they are in order, none empty, and all below a number.
    pub(crate) fn are_sound(&self, below: u64) -> bool {
        let ends = |(first, count): &(u64, u64)| first.checked_add(*count);
        self.stretches.iter().all(|stretch| stretch.1 > 0 && ends(stretch).is_some_and(|end| end <= below))
            && self.stretches.is_sorted_by(|before, after| ends(before).is_some_and(|end| end < after.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_stretches() {
        let places = [0u32, 1, 2, 7, 9, 10];
        let stretches = stretches(3, places.into_iter());
        assert_eq!(stretches.len(), 3);
        for place in 0..20u32 {
            assert_eq!(are_at(&stretches, place as usize), places.contains(&place), "{place}");
        }
        let stay = (Key { instant: 1, arrival: 1 }, Key { instant: 2, arrival: 2 });
        let marks = Marks { events: 6, document_bytes: 0, stay, stretches };
        assert!(marks.are_sound());
        assert_eq!((marks.of_block(2).len(), marks.of_block(3).len(), marks.of_block(4).len()), (0, 3, 0));
        let mut turned = marks.clone();
        turned.stretches.reverse();
        assert!(!turned.are_sound());
        assert!(!Marks { events: 5, ..marks }.are_sound());
    }

    #[test]
    fn arrival_numbers_are_a_set() {
        let mut arrivals = Arrivals::of(vec![5, 3, 4, 9, 3]);
        assert_eq!(arrivals.stretches, [(3, 3), (9, 1)]);
        assert!(arrivals.contain(&Arrivals::of(vec![3, 5, 9])) && arrivals.contain(&Arrivals::default()));
        assert!(!arrivals.contain(&Arrivals::of(vec![3, 6])));
        arrivals.add(&Arrivals::of(vec![6, 7, 8, 20]));
        assert_eq!(arrivals.stretches, [(3, 7), (20, 1)]);
        assert_eq!(arrivals.len(), 8);
        for number in 0..30 {
            assert_eq!(arrivals.contains(number), (3..10).contains(&number) || number == 20);
        }
        assert!(arrivals.are_sound(21) && !arrivals.are_sound(20));
        assert!(!Arrivals { stretches: vec![(3, 1), (4, 1)] }.are_sound(100), "they touch");
        assert!(!Arrivals { stretches: vec![(3, u64::MAX)] }.are_sound(u64::MAX));
    }
}
