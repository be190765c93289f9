//! The hits of a window taken into groups together, from their stored values: nothing is evaluated for each.
//!
//! First each hit is told its group, then each aggregate goes through its values, those of a group that follow each other in one go.

use super::aggregate::Aggregator;
use super::group::Groups;
use super::scan::{Hit, Window};
use super::spellings::{Spelling, Spellings};
use crate::expr::Expr;
use crate::plan::{Aggregate, Grouping, Key};
use crate::value::{Value, compare_few, nearest};
use std::cmp::Ordering;
use std::ops::Range;
use tamias_json::Value as Stored;
use tamias_json::number::few_digits_at;
use tamias_json::search::Place;

/// What groups are made of, where that is simple enough, and allocations that stay.
pub(super) struct Intake {
    by: By,
    columns: Vec<Column>,
    /// The hits that are taken.
    indices: Vec<u32>,
    runs: Vec<Run>,
    /// Those that take a second look.
    left: Vec<u32>,
}

/// What tells the groups apart.
enum By {
    /// Nothing: there is one.
    Nothing,
    /// The interval of so many ticks.
    Time(u64),
    /// The value of a slot.
    Slot { slot: usize, ci: bool, absent: Option<usize> },
}

/// What an aggregate takes in.
struct Column {
    argument: Argument,
    /// Where there is one group: values that a `distinct` has seen.
    seen: Option<Spellings>,
}

#[derive(Clone, Copy)]
enum Argument {
    /// True, for every event.
    Event,
    Slot(usize),
    /// The number of a string's characters.
    Length(usize),
}

/// Hits of one group that follow each other.
struct Run {
    group: usize,
    hits: Range<usize>,
}

impl Intake {
    pub(super) fn of(grouping: &Grouping) -> Option<Intake> {
        let by = match grouping.keys.as_slice() {
            [] => By::Nothing,
            [Key::Time(interval)] => By::Time(*interval),
            [Key::Expr { expr: Expr::Slot(slot), ci }] => By::Slot { slot: *slot, ci: *ci, absent: None },
            _ => return None,
        };
        let argument = |aggregate: &Aggregate| match &aggregate.argument {
            Expr::Constant(Value::Bool(true)) => Some(Argument::Event),
            Expr::Slot(slot) => Some(Argument::Slot(*slot)),
            Expr::Call { function, arguments, .. } if function.name == "Length" => match arguments.as_slice()
            {
                [Expr::Slot(slot)] => Some(Argument::Length(*slot)),
                _ => None,
            },
            _ => None,
        };
        let is_one = matches!(by, By::Nothing);
        let column = |aggregate| {
            Some(Column { argument: argument(aggregate)?, seen: is_one.then(Spellings::default) })
        };
        Some(Intake {
            by,
            columns: grouping.aggregates.iter().map(column).collect::<Option<_>>()?,
            indices: Vec::new(),
            runs: Vec::new(),
            left: Vec::new(),
        })
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
        for (number, column) in self.columns.iter_mut().enumerate() {
            for run in &self.runs {
                let Some(group) = groups.groups.get_mut(run.group) else { continue };
                let Some(aggregator) = group.aggregators.get_mut(number) else { continue };
                let Some(indices) = self.indices.get(run.hits.clone()) else { continue };
                groups.bytes += column.add(aggregator, window, indices, &mut self.left, &mut groups.key);
            }
        }
    }

    /// Finds the groups of the hits.
    fn assign(&mut self, groups: &mut Groups<'_>, window: &Window<'_, '_>) {
        let Intake { by, indices, runs, .. } = self;
        runs.clear();
        let hits = indices.iter().copied().enumerate();
        match by {
            By::Nothing => runs.push(Run { group: 0, hits: 0..indices.len() }),
            By::Time(interval) => {
                let mut present = 0..0;
                let mut group = 0;
                for (hit, index) in hits {
                    let order = window.order(index);
                    let begin = order.0 - order.0 % *interval;
                    let shown = || vec![Value::from(begin)];
                    if !present.contains(&order.0) {
                        present = begin..begin.saturating_add(*interval);
                        group = groups.at_interval(begin, order);
                    }
                    groups.meet(group, order, shown);
                    push(runs, hit, group);
                }
            }
            By::Slot { slot, ci, absent } => {
                let cells = Cells::of(window, *slot);
                for (hit, index) in hits {
                    let order = window.order(index);
                    let value = || cells.value(index);
                    let (spelling, found) = match cells.place(index) {
                        None => (None, *absent),
                        Some((start, end)) => {
                            let spelling = Spelling::at(cells.bytes, start, end);
                            (Some(spelling), groups.known.get(spelling))
                        }
                    };
                    let group = found.unwrap_or_else(|| {
                        let group = groups.of_value(&value(), *ci, order);
                        match spelling {
                            Some(spelling) => groups.known.put(spelling, group),
                            None => *absent = Some(group),
                        }
                        group
                    });
                    groups.meet(group, order, || vec![value().into_static()]);
                    push(runs, hit, group);
                }
            }
        }
    }
}

/// Adds a hit to the runs.
#[inline]
fn push(runs: &mut Vec<Run>, hit: usize, group: usize) {
    match runs.last_mut() {
        Some(last) if last.group == group => last.hits.end = hit + 1,
        _ => runs.push(Run { group, hits: hit..hit + 1 }),
    }
}

impl Column {
    /// Gives an aggregator the values of some hits: by how many bytes it grew, about.
    fn add(
        &mut self,
        aggregator: &mut Aggregator,
        window: &Window<'_, '_>,
        indices: &[u32],
        left: &mut Vec<u32>,
        scratch: &mut Vec<u8>,
    ) -> usize {
        let slot = match self.argument {
            Argument::Slot(slot) => slot,
            Argument::Event => return add_events(aggregator, window, indices, scratch),
            Argument::Length(slot) => {
                return add_lengths(aggregator, window, slot, indices, left, scratch);
            }
        };
        let cells = Cells::of(window, slot);
        let mut bytes = 0;
        match aggregator {
            Aggregator::Sum(sum) | Aggregator::Mean(sum) => {
                for index in indices {
                    match cells.number(*index) {
                        Cell::Few(digits) => sum.add_few(digits),
                        Cell::Other => {
                            if let Value::Number(number) = cells.value(*index) {
                                sum.add(&number);
                            }
                        }
                        Cell::Absent => {}
                    }
                }
            }
            Aggregator::Percentile { sketch, .. } => {
                for index in indices {
                    let number = match cells.number(*index) {
                        Cell::Few(digits) => nearest(digits),
                        Cell::Other => None,
                        Cell::Absent => continue,
                    };
                    if let Some(number) = number {
                        bytes += sketch.add(number);
                    } else if let Value::Number(number) = cells.value(*index) {
                        bytes += sketch.add(number.to_f64());
                    }
                }
            }
            Aggregator::Extreme { wanted, .. } => {
                let wanted = *wanted;
                let mut best = None;
                for index in indices {
                    match cells.number(*index) {
                        Cell::Few(digits) => {
                            let order = window.order(*index);
                            let is_better =
                                best.is_none_or(|(best, at, _)| match compare_few(digits, best) {
                                    Ordering::Equal => order < at,
                                    unequal => unequal == wanted,
                                });
                            if is_better {
                                best = Some((digits, order, *index));
                            }
                        }
                        Cell::Other => {
                            bytes += aggregator.add(cells.value(*index), window.order(*index), scratch);
                        }
                        Cell::Absent => {}
                    }
                }
                if let Some((_, order, index)) = best {
                    bytes += aggregator.add(cells.value(index), order, scratch);
                }
            }
            Aggregator::CountDistinct(_) | Aggregator::Distinct { .. } => {
                for index in indices {
                    let Some((start, end)) = cells.place(*index) else { continue };
                    let order = window.order(*index);
                    let spelling = Spelling::at(cells.bytes, start, end);
                    let is_seen = self.seen.as_ref().is_some_and(|seen| seen.get(spelling).is_some());
                    if is_seen && aggregator.ignores_repeated(order) {
                        continue;
                    }
                    bytes += aggregator.add(cells.value(*index), order, scratch);
                    if let Some(seen) = &mut self.seen {
                        seen.put(spelling, 0);
                    }
                }
            }
            _ => {
                for index in indices {
                    bytes += aggregator.add(cells.value(*index), window.order(*index), scratch);
                }
            }
        }
        bytes
    }
}

fn add_events(
    aggregator: &mut Aggregator,
    window: &Window<'_, '_>,
    indices: &[u32],
    scratch: &mut Vec<u8>,
) -> usize {
    if let Aggregator::Count(count) = aggregator {
        *count += indices.len() as u64;
        return 0;
    }
    let add = |index: &u32| aggregator.add(Value::Bool(true), window.order(*index), scratch);
    indices.iter().map(add).sum()
}

fn add_lengths(
    aggregator: &mut Aggregator,
    window: &Window<'_, '_>,
    slot: usize,
    indices: &[u32],
    left: &mut Vec<u32>,
    scratch: &mut Vec<u8>,
) -> usize {
    let cells = Cells::of(window, slot);
    let length = |index: u32| match cells.value(index) {
        Value::Text(text) => Value::from(text.characters()),
        _ => Value::Undefined,
    };
    if let Aggregator::Sum(sum) | Aggregator::Mean(sum) = aggregator {
        let (total, count) = window.finder.lengths(slot, window.documents, indices, left);
        for index in left {
            if let Value::Number(number) = length(*index) {
                sum.add(&number);
            }
        }
        sum.add_integers(total, count);
        return 0;
    }
    let add = |index: &u32| aggregator.add(length(*index), window.order(*index), scratch);
    indices.iter().map(add).sum()
}

/// The values of a slot.
struct Cells<'w, 'd> {
    places: &'w [Place],
    bytes: &'d [u8],
}

/// A value where numbers are wanted.
enum Cell {
    Absent,
    /// A significand and a scale.
    Few((i64, u32)),
    /// Another number, or none.
    Other,
}

impl<'w, 'd> Cells<'w, 'd> {
    fn of(window: &Window<'w, 'd>, slot: usize) -> Cells<'w, 'd> {
        Cells { places: window.finder.values(slot), bytes: window.documents.bytes() }
    }

    /// From where to where the value stands.
    #[inline]
    fn place(&self, index: u32) -> Option<(usize, usize)> {
        match self.places.get(index as usize)? {
            Place::Value(start, end) => Some((*start as usize, *end as usize)),
            Place::Absent | Place::Unsure => None,
        }
    }

    #[inline]
    fn number(&self, index: u32) -> Cell {
        match self.place(index) {
            None => Cell::Absent,
            Some((start, end)) => few_digits_at(self.bytes, start, end).map_or(Cell::Other, Cell::Few),
        }
    }

    fn value(&self, index: u32) -> Value<'d> {
        let text = self.place(index).and_then(|(start, end)| self.bytes.get(start..end));
        Value::maybe(text.map(Stored::of_scalar))
    }
}
