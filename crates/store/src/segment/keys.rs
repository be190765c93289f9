//! The part `keys` of a block of text, and what must hold of the keys and ends of any block.

use crate::codec::{Documents, Times};
use crate::format::{BlockEntry, Key, NUMBER_MAX};

/// The part `keys` taken apart.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    pub(crate) times: Times<'a>,
    pub(crate) ends: &'a [[u8; 4]],
}

impl<'a> Keys<'a> {
    /// None of them.
    pub(crate) const NONE: Keys<'static> = Keys { times: Times { instants: &[], arrivals: &[] }, ends: &[] };

    /// `None` if there are fewer bytes than `events` need.
    pub(crate) fn of(bytes: &'a [u8], events: usize) -> Option<Keys<'a>> {
        let (instants, rest) = bytes.split_at_checked(events.checked_mul(8)?)?;
        let (arrivals, rest) = rest.split_at_checked(events.checked_mul(8)?)?;
        let (ends, _) = rest.split_at_checked(events.checked_mul(4)?)?;
        let times = Times { instants: instants.as_chunks().0, arrivals: arrivals.as_chunks().0 };
        Some(Keys { times, ends: ends.as_chunks().0 })
    }
}

/// A number and the next one.
type Pair<'a> = (&'a [u8; 8], &'a [u8; 8]);

fn neighbours(numbers: &[[u8; 8]]) -> impl Iterator<Item = Pair<'_>> {
    numbers.iter().zip(numbers.get(1..).unwrap_or_default())
}

/// Whether these are the times of the events of that block, so many instants and for each an arrival number: they rise from its first key to its last.
pub(super) fn times_fit(
    instants: &[[u8; 8]],
    arrivals: impl ExactSizeIterator<Item = u64> + Clone,
    entry: &BlockEntry,
) -> bool {
    let number = |own: &[u8; 8]| u64::from_le_bytes(*own);
    // All are gone over, whatever the first ones are: as good as always they fit, and so it is done without branches.
    let rises = |all: bool, ((instant, later), (arrival, next)): (Pair<'_>, (u64, u64))| {
        let (instant, later) = (number(instant), number(later));
        all & ((instant < later) | ((instant == later) & (arrival < next)))
    };
    let key = |instant: Option<&[u8; 8]>, arrival: Option<u64>| {
        Some(Key { instant: number(instant?), arrival: arrival? })
    };
    let following = arrivals.clone().zip(arrivals.clone().skip(1));
    let (are_small, last) =
        arrivals.clone().fold((true, None), |(all, _), own| (all & (own < NUMBER_MAX), Some(own)));
    instants.len() == entry.events as usize
        && arrivals.len() == instants.len()
        && neighbours(instants).zip(following).fold(true, rises)
        && are_small
        && key(instants.first(), arrivals.clone().next()) == Some(entry.first)
        && key(instants.last(), last) == Some(entry.last)
}

impl Times<'_> {
    /// Whether these are the times of the events of that block.
    pub(super) fn fit(&self, entry: &BlockEntry) -> bool {
        times_fit(self.instants, self.arrivals.iter().map(|own| u64::from_le_bytes(*own)), entry)
    }
}

/// Whether these are the ends of that block: they rise, and the last stands where the documents end.
pub(super) fn ends_fit(ends: &[[u8; 4]], entry: &BlockEntry) -> bool {
    let mut start = 0;
    let rising = ends.iter().all(|end| {
        let end = u64::from(u32::from_le_bytes(*end));
        let rises = end > start;
        start = end + 1;
        rises
    });
    rising && ends.len() == entry.events as usize && start == u64::from(entry.document_bytes)
}

impl Documents<'_> {
    /// Whether each document ends where its end says; the ends have been checked.
    pub(super) fn stand(&self, entry: &BlockEntry) -> bool {
        let stands = |end: &[u8; 4]| self.bytes.get(u32::from_le_bytes(*end) as usize) == Some(&b'\n');
        self.bytes.len() == entry.document_bytes as usize && self.ends.iter().all(stands)
    }
}
