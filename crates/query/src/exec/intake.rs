//! The hits of a window taken into groups together, from their stored values: nothing is evaluated for each.
//!
//! First each hit is told its group, then each aggregate goes through its values, those of a group in one go.

use super::columns::{Cells, Columns};
use super::combined::Combined;
use super::group::Groups;
use super::scan::{Hit, Window};
use super::spellings::Spelling;
use crate::expr::Expr;
use crate::plan::{Grouping, Key};
use std::ops::Range;

/// What groups are made of, where that is simple enough, and allocations that stay.
pub(super) struct Intake {
    by: By,
    columns: Columns,
    /// The hits that are taken.
    indices: Vec<u32>,
    runs: Vec<Run>,
    sorting: Sorting,
}

/// What tells the groups apart.
enum By {
    /// Nothing: there is one.
    Nothing,
    /// The interval of so many ticks.
    Time(u64),
    /// The value of a slot. The group of the events without one is known once there is one.
    Slot { slot: usize, ci: bool, absent: Option<usize> },
    /// Several of these.
    Several(Combined),
}

/// Hits of one group, one after another: their places among those that are taken.
pub(super) struct Run {
    pub(super) group: usize,
    pub(super) hits: Range<usize>,
}

impl Intake {
    /// None where something has to be evaluated.
    pub(super) fn of(grouping: &Grouping) -> Option<Intake> {
        let by = match grouping.keys.as_slice() {
            [] => By::Nothing,
            [Key::Time(interval)] => By::Time(*interval),
            [Key::Expr { expr: Expr::Slot(slot), ci }] => By::Slot { slot: *slot, ci: *ci, absent: None },
            [Key::Expr { .. }] => return None,
            keys => By::Several(Combined::of(keys)?),
        };
        let columns = Columns::of(grouping)?;
        Some(Intake { by, columns, indices: Vec::new(), runs: Vec::new(), sorting: Sorting::default() })
    }

    /// Takes those hits of which all is known into the groups, and leaves the others.
    pub(super) fn take(&mut self, groups: &mut Groups<'_>, window: &Window<'_, '_>, hits: &mut Vec<Hit>) {
        let is_known = |hit: &Hit| hit.is_certain && window.finder.knows_output(hit.index);
        self.indices.clear();
        self.indices.extend(hits.iter().filter(|hit| is_known(hit)).map(|hit| hit.index));
        if self.indices.len() == hits.len() {
            hits.clear();
        } else {
            hits.retain(|hit| !is_known(hit));
        }
        if self.indices.is_empty() {
            return;
        }
        self.assign(groups, window);
        self.columns.add(groups, window, &self.indices, &self.runs);
    }

    /// Finds the groups of the hits.
    fn assign(&mut self, groups: &mut Groups<'_>, window: &Window<'_, '_>) {
        let Intake { by, indices, runs, sorting, .. } = self;
        runs.clear();
        match by {
            By::Nothing => runs.push(Run { group: 0, hits: 0..indices.len() }),
            By::Time(interval) => {
                // The events of a block come in the order of their instants.
                let mut first = 0;
                while let Some(index) = indices.get(first) {
                    let order = window.order(*index);
                    let begin = order.0 - order.0 % *interval;
                    let end = begin.saturating_add(*interval);
                    let hits = indices.get(first..).unwrap_or_default();
                    let hits = hits.partition_point(|index| window.order(*index).0 < end).max(1);
                    let group = groups.at_interval(begin, order);
                    runs.push(Run { group, hits: first..first + hits });
                    first += hits;
                }
            }
            By::Slot { slot, ci, absent } => {
                let cells = Cells::of(window, *slot);
                // If the first event is no group's first, neither are those after it, but of groups that they begin.
                let is_later = indices.first().is_none_or(|index| groups.is_later(window.order(*index)));
                for index in indices.iter().copied() {
                    let value = || cells.value(index);
                    let (spelling, found) = match cells.place(index) {
                        None => (None, *absent),
                        Some((start, end)) => {
                            let spelling = Spelling::at(cells.bytes, start, end);
                            (Some(spelling), groups.known.get(spelling))
                        }
                    };
                    let group = found.unwrap_or_else(|| {
                        let group = groups.of_value(&value(), *ci, window.order(index));
                        match spelling {
                            Some(spelling) => groups.known.put(spelling, group),
                            None => *absent = Some(group),
                        }
                        group
                    });
                    if !is_later {
                        groups.meet(group, window.order(index), || vec![value().into_static()]);
                    }
                    sorting.push(group);
                }
                sorting.sort(indices, runs);
            }
            By::Several(keys) => {
                let is_later = indices.first().is_none_or(|index| groups.is_later(window.order(*index)));
                for index in indices.iter().copied() {
                    let group = keys.group(groups, window, index);
                    if !is_later {
                        groups.meet(group, window.order(index), || keys.shown(window, index));
                    }
                    sorting.push(group);
                }
                sorting.sort(indices, runs);
            }
        }
    }
}

/// Sorts hits by their groups, so that each group's are taken in one go.
#[derive(Default)]
struct Sorting {
    /// The group of each hit.
    groups: Vec<usize>,
    /// Those groups, in the order in which they first come.
    present: Vec<usize>,
    /// How many hits each of all groups has, then where the next one goes: 0 but for those that are present.
    places: Vec<usize>,
    sorted: Vec<u32>,
}

impl Sorting {
    /// Adds the group of the next hit.
    #[inline]
    fn push(&mut self, group: usize) {
        if group >= self.places.len() {
            self.places.resize(group + 1, 0);
        }
        if let Some(count) = self.places.get_mut(group) {
            if *count == 0 {
                self.present.push(group);
            }
            *count += 1;
            self.groups.push(group);
        }
    }

    /// Sorts the hits; those of a group stay in their order. It begins anew then.
    fn sort(&mut self, indices: &mut Vec<u32>, runs: &mut Vec<Run>) {
        let Sorting { groups, present, places, sorted } = self;
        let mut next = 0;
        for group in &*present {
            let Some(place) = places.get_mut(*group) else { continue };
            let count = std::mem::replace(place, next);
            runs.push(Run { group: *group, hits: next..next + count });
            next += count;
        }
        sorted.clear();
        sorted.resize(indices.len(), 0);
        for (index, group) in indices.iter().zip(&*groups) {
            let Some(place) = places.get_mut(*group) else { continue };
            if let Some(sorted) = sorted.get_mut(*place) {
                *sorted = *index;
            }
            *place += 1;
        }
        std::mem::swap(indices, sorted);
        for group in present.drain(..) {
            if let Some(place) = places.get_mut(group) {
                *place = 0;
            }
        }
        groups.clear();
    }
}
