//! Which events of a snapshot are new to somebody who follows a store: each of them once.

use std::ops::Range;

use roaring::RoaringTreemap;
use tamias::{Parameters, RunOptions, Snapshot, Statement};

use crate::failure::Failure;

/// How far back the first snapshot is searched for numbers that are missing: more events than others store while one batch is sealed.
const FIRST_LOOK: u64 = 1 << 22;

/// What has been seen of a store, by the arrival numbers of its events.
///
/// Batches show up in the order of these numbers, but for large ones: they take their numbers first, and are shown once they are sealed,
/// later than what others have stored meanwhile. One such batch is written at a time. So of the numbers that are missing in a
/// snapshot only the last stretch can still show up; the others belong to batches that failed, or to events that were removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Following {
    /// From here on nothing has been seen.
    next: u64,
    /// The last stretch before it that was missing.
    awaited: Option<Range<u64>>,
}

impl Following {
    /// Everything in the snapshot has been seen.
    pub(crate) fn behind(snapshot: &Snapshot, options: &RunOptions) -> Result<Following, Failure> {
        let newest = numbers(snapshot, "select max(@Arrived) from stream", options)?.max().unwrap_or(0);
        let mut following = Following { next: newest.saturating_sub(FIRST_LOOK), awaited: None };
        following.advance(snapshot, options)?;
        Ok(following)
    }

    /// The condition that an event is new.
    pub(crate) fn condition(&self) -> String {
        let Following { next, awaited } = self;
        match awaited {
            Some(Range { start, end }) => {
                format!("(@Arrived >= {next} or @Arrived >= {start} and @Arrived < {end})")
            }
            None => format!("@Arrived >= {next}"),
        }
    }

    /// From now on everything in the snapshot has been seen; false if nothing of it is new.
    pub(crate) fn advance(&mut self, snapshot: &Snapshot, options: &RunOptions) -> Result<bool, Failure> {
        let query = format!("select @Arrived from stream where {}", self.condition());
        let new = numbers(snapshot, &query, options)?;
        self.see(&new);
        Ok(!new.is_empty())
    }

    fn see(&mut self, new: &RoaringTreemap) {
        if self.awaited.as_ref().is_some_and(|awaited| new.range_cardinality(awaited.clone()) > 0) {
            self.awaited = None;
        }
        let Some(newest) = new.max().filter(|newest| *newest >= self.next) else { return };
        // The least number from which on none is missing.
        let (mut low, mut whole) = (self.next, newest);
        while low < whole {
            let middle = low + (whole - low) / 2;
            if new.range_cardinality(middle..=newest) == newest - middle + 1 {
                whole = middle;
            } else {
                low = middle + 1;
            }
        }
        if whole > self.next {
            let before = new.rank(whole - 1).checked_sub(1).and_then(|rank| new.select(rank));
            let begin = before.map_or(self.next, |before| self.next.max(before + 1));
            self.awaited = Some(begin..whole);
        }
        self.next = newest + 1;
    }
}

/// The numbers that a query's only column gives.
fn numbers(snapshot: &Snapshot, query: &str, options: &RunOptions) -> Result<RoaringTreemap, Failure> {
    let query = Statement::parse(query)?.bind(&Parameters::new())?;
    let mut rows = snapshot.run(&query, options.clone());
    let mut numbers = RoaringTreemap::new();
    while let Some(row) = rows.next_row()? {
        let number = row.get(0).and_then(|cell| cell.json());
        numbers.extend(number.and_then(|number| std::str::from_utf8(number).ok()?.parse::<u64>().ok()));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in a fixed order that looks like none.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    /// A store whose large batches come late, one at a time, or never.
    #[test]
    fn each_event_is_new_once_however_late_its_batch_is_shown() {
        for seed in 0..500 {
            let mut chance = Chance(seed);
            let mut shown = RoaringTreemap::new();
            let (mut next, mut large) = (chance.below(3), None::<Range<u64>>);
            let mut following = Following::default();
            following.see(&shown);
            let mut seen = RoaringTreemap::new();
            for _ in 0..200 {
                match chance.below(6) {
                    0 | 1 => {
                        let events = 1 + chance.below(4);
                        shown.insert_range(next..next + events);
                        next += events;
                    }
                    2 if large.is_none() => {
                        let events = 1 + chance.below(50);
                        large = Some(next..next + events);
                        next += events;
                    }
                    3 => _ = large.take().map(|large| shown.insert_range(large)),
                    4 if chance.below(4) == 0 => large = None,
                    _ => {
                        let is_new = |number: &u64| {
                            *number >= following.next
                                || following.awaited.as_ref().is_some_and(|awaited| awaited.contains(number))
                        };
                        let new: RoaringTreemap = shown.iter().filter(is_new).collect();
                        assert!(new.is_disjoint(&seen), "seed {seed}: seen twice");
                        seen |= &new;
                        assert_eq!(seen, shown, "seed {seed}: passed over");
                        following.see(&new);
                    }
                }
            }
        }
    }
}
