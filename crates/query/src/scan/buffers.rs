//! What a scan finds in a window of events, in allocations that stay.

use crate::chunk::FewDigits;
use tamias_json::search::Match;

/// Allocations that stay.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) hits: Vec<Hit>,
    pub(super) indices: Vec<u32>,
    pub(super) few: Vec<FewDigits>,
    pub(super) others: Vec<u32>,
    /// The columns whose values are more than stored ones.
    pub(super) computed: Vec<usize>,
}

/// An event of a window that passes, or may.
#[derive(Clone, Copy, Default)]
pub(super) struct Hit {
    pub(super) index: u32,
    /// Whether it passes for sure.
    pub(super) is_certain: bool,
}

/// The events that pass, or may.
pub(super) fn collect(hits: &mut Vec<Hit>, matches: &[Match]) {
    // Which are hits is not to be guessed: each is written, and overwritten if it is none.
    hits.clear();
    hits.resize(matches.len() + 1, Hit::default());
    let mut count = 0;
    for (index, found) in (0..).zip(matches) {
        if let Some(place) = hits.get_mut(count) {
            *place = Hit { index, is_certain: *found == Match::Yes };
        }
        count += usize::from(*found != Match::No);
    }
    hits.truncate(count);
}
