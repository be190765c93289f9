//! What aggregates take in of a window's hits: for each a column of stored values.

use super::aggregate::Aggregator;
use super::group::Groups;
use super::intake::Run;
use super::scan::Window;
use super::spellings::{Spelling, Spellings};
use crate::expr::Expr;
use crate::plan::{Aggregate, Grouping};
use crate::value::{Kind, Value, compare_few, nearest};
use std::ops::Range;
use tamias_json::Value as Stored;
use tamias_json::search::{FewDigits, Span as Place};

/// What the aggregates take in, and allocations that stay.
pub(super) struct Columns {
    columns: Vec<Column>,
    /// The numbers of each slot that any column has numbers of.
    numbers: Vec<Numbers>,
    scratch: Scratch,
}

/// What an aggregate takes in.
enum Column {
    /// True, for every event.
    Events,
    /// The values of a slot.
    Values(usize),
    /// The same for a `distinct` where there is one group: with spellings that it has seen.
    Distinct(usize, Spellings),
    /// The numbers of a slot; other values do not count.
    Numbers(usize),
    /// How many characters the strings of a slot have.
    Lengths(usize),
}

/// The numbers of a slot in the present window.
struct Numbers {
    slot: usize,
    few: Vec<FewDigits>,
    /// Which hits have another value.
    others: Vec<u32>,
}

#[derive(Default)]
struct Scratch {
    key: Vec<u8>,
    /// Events that take a second look.
    left: Vec<u32>,
    numbers: Vec<f64>,
}

impl Columns {
    /// None where something has to be evaluated.
    pub(super) fn of(grouping: &Grouping) -> Option<Columns> {
        let mut numbers: Vec<Numbers> = Vec::new();
        let mut column = |Aggregate { function, argument }: &Aggregate| match argument {
            Expr::Constant(Value::Bool(true)) => Some(Column::Events),
            Expr::Slot(slot) if !function.takes(Kind::String) => {
                let known = numbers.iter().position(|numbers| numbers.slot == *slot);
                Some(Column::Numbers(known.unwrap_or_else(|| {
                    numbers.push(Numbers { slot: *slot, few: Vec::new(), others: Vec::new() });
                    numbers.len() - 1
                })))
            }
            Expr::Slot(slot) if grouping.keys.is_empty() && function.is_distinct() => {
                Some(Column::Distinct(*slot, Spellings::default()))
            }
            Expr::Slot(slot) => Some(Column::Values(*slot)),
            Expr::Call { function, arguments, .. } if function.name == "Length" => match arguments.as_slice()
            {
                [Expr::Slot(slot)] => Some(Column::Lengths(*slot)),
                _ => None,
            },
            _ => None,
        };
        let columns = grouping.aggregates.iter().map(&mut column).collect::<Option<_>>()?;
        Some(Columns { columns, numbers, scratch: Scratch::default() })
    }

    /// Gives the aggregators the values of a window's hits.
    pub(super) fn add(
        &mut self,
        groups: &mut Groups<'_>,
        window: &Window<'_, '_>,
        indices: &[u32],
        runs: &[Run],
    ) {
        let Columns { columns, numbers, scratch } = self;
        for Numbers { slot, few, others } in &mut *numbers {
            window.finder.numbers(*slot, window.documents, indices, few, others);
        }
        for (number, column) in columns.iter_mut().enumerate() {
            let mut numbers = match column {
                Column::Numbers(at) => numbers.get(*at).map(Numbers::all),
                _ => None,
            };
            for Run { group, hits } in runs {
                let Some(group) = groups.groups.get_mut(*group) else { continue };
                let Some(aggregator) = group.aggregators.get_mut(number) else { continue };
                let hits = Hits { window, indices, range: hits.clone() };
                groups.bytes += match (&mut *column, &mut numbers) {
                    (Column::Events, _) => add_events(aggregator, &hits, scratch),
                    (Column::Values(slot), _) => {
                        let cells = Cells::of(window, *slot);
                        hits.each()
                            .map(|index| hits.add(aggregator, cells.value(index), index, scratch))
                            .sum()
                    }
                    (Column::Distinct(slot, seen), _) => {
                        add_distinct(aggregator, &hits, &Cells::of(window, *slot), seen, scratch)
                    }
                    (Column::Lengths(slot), _) => add_lengths(aggregator, &hits, *slot, scratch),
                    (Column::Numbers(_), Some(numbers)) => {
                        let numbers = numbers.up_to(hits.range.end);
                        add_numbers(aggregator, &hits, numbers, scratch)
                    }
                    (Column::Numbers(_), None) => 0,
                };
            }
        }
    }
}

/// Some of a window's hits, all of one group.
struct Hits<'h, 'w, 'd> {
    window: &'h Window<'w, 'd>,
    indices: &'h [u32],
    range: Range<usize>,
}

impl Hits<'_, '_, '_> {
    /// The events' numbers in the window.
    fn indices(&self) -> &[u32] {
        self.indices.get(self.range.clone()).unwrap_or_default()
    }

    fn each(&self) -> impl Iterator<Item = u32> {
        self.indices().iter().copied()
    }

    /// Gives an aggregator a value of an event: by how many bytes it grew, about.
    fn add(&self, aggregator: &mut Aggregator, value: Value<'_>, index: u32, scratch: &mut Scratch) -> usize {
        aggregator.add(value, self.window.order(index), &mut scratch.key)
    }
}

fn add_events(aggregator: &mut Aggregator, hits: &Hits<'_, '_, '_>, scratch: &mut Scratch) -> usize {
    if let Aggregator::Count(count) = aggregator {
        *count += hits.range.len() as u64;
        return 0;
    }
    hits.each().map(|index| hits.add(aggregator, Value::Bool(true), index, scratch)).sum()
}

fn add_distinct(
    aggregator: &mut Aggregator,
    hits: &Hits<'_, '_, '_>,
    cells: &Cells<'_, '_>,
    seen: &mut Spellings,
    scratch: &mut Scratch,
) -> usize {
    // If a value that comes again matters no more with the first of the hits, it does not with those after it.
    let Some(first) = hits.each().next() else { return 0 };
    let ignores_repeated = aggregator.ignores_repeated(hits.window.order(first));
    let mut bytes = 0;
    for index in hits.each() {
        let Some((start, end)) = cells.place(index) else { continue };
        let spelling = Spelling::at(cells.bytes, start, end);
        if ignores_repeated && seen.get(spelling).is_some() {
            continue;
        }
        bytes += hits.add(aggregator, cells.value(index), index, scratch);
        seen.put(spelling, 0);
    }
    bytes
}

fn add_lengths(
    aggregator: &mut Aggregator,
    hits: &Hits<'_, '_, '_>,
    slot: usize,
    scratch: &mut Scratch,
) -> usize {
    let cells = Cells::of(hits.window, slot);
    let length = |index: u32| match cells.value(index) {
        Value::Text(text) => Value::from(text.characters()),
        _ => Value::Undefined,
    };
    if let Aggregator::Sum(sum) | Aggregator::Mean(sum) = aggregator {
        let Window { finder, documents, .. } = hits.window;
        let (total, count) = finder.lengths(slot, *documents, hits.indices(), &mut scratch.left);
        for index in &scratch.left {
            if let Value::Number(number) = length(*index) {
                sum.add(&number);
            }
        }
        sum.add_integers(total, count);
        return 0;
    }
    hits.each().map(|index| hits.add(aggregator, length(index), index, scratch)).sum()
}

fn add_numbers(
    aggregator: &mut Aggregator,
    hits: &Hits<'_, '_, '_>,
    numbers: Part<'_>,
    scratch: &mut Scratch,
) -> usize {
    let cells = Cells::of(hits.window, numbers.slot);
    // The event that has the value, and the value.
    let event = |at: u32| hits.indices.get(at as usize).map(|index| (*index, cells.value(*index)));
    let mut bytes = 0;
    for (index, value) in numbers.others.iter().filter_map(|at| event(*at)) {
        bytes += hits.add(aggregator, value, index, scratch);
    }
    match aggregator {
        Aggregator::Sum(sum) | Aggregator::Mean(sum) => {
            numbers.few.iter().for_each(|number| sum.add_few(number.significand, number.scale));
        }
        Aggregator::Percentile { sketch, .. } => {
            scratch.numbers.clear();
            for few in numbers.few {
                if let Some(number) = nearest(few.significand, few.scale) {
                    scratch.numbers.push(number);
                } else if let Some((_, Value::Number(number))) = event(few.at) {
                    scratch.numbers.push(number.to_f64());
                }
            }
            bytes += sketch.add_all(&scratch.numbers);
        }
        Aggregator::Extreme { wanted, .. } => {
            // Of equal ones the first counts.
            let best = numbers.few.iter().reduce(|best, next| {
                let [a, b] = [next, best].map(|few| (few.significand, few.scale));
                if compare_few(a, b) == *wanted { next } else { best }
            });
            if let Some((index, value)) = best.and_then(|best| event(best.at)) {
                bytes += hits.add(aggregator, value, index, scratch);
            }
        }
        _ => {}
    }
    bytes
}

/// Some of the numbers of a slot.
#[derive(Clone, Copy)]
struct Part<'n> {
    slot: usize,
    few: &'n [FewDigits],
    others: &'n [u32],
}

impl Numbers {
    fn all(&self) -> Part<'_> {
        Part { slot: self.slot, few: &self.few, others: &self.others }
    }
}

impl<'n> Part<'n> {
    /// Those of the hits before `end`, which are taken away.
    fn up_to(&mut self, end: usize) -> Part<'n> {
        let few = self.few.iter().take_while(|few| (few.at as usize) < end).count();
        let others = self.others.iter().take_while(|at| (**at as usize) < end).count();
        let (few, later) = self.few.split_at(few);
        let (others, other_later) = self.others.split_at(others);
        (self.few, self.others) = (later, other_later);
        Part { few, others, ..*self }
    }
}

/// The values of a slot.
pub(super) struct Cells<'w, 'd> {
    places: &'w [Place],
    pub(super) bytes: &'d [u8],
}

impl<'w, 'd> Cells<'w, 'd> {
    pub(super) fn of(window: &Window<'w, 'd>, slot: usize) -> Cells<'w, 'd> {
        Cells { places: window.finder.values(slot), bytes: window.documents.bytes() }
    }

    /// From where to where the value stands.
    #[inline]
    pub(super) fn place(&self, index: u32) -> Option<(usize, usize)> {
        match self.places.get(index as usize)? {
            Place::Value(start, end) => Some((*start as usize, *end as usize)),
            Place::Absent | Place::Unsure => None,
        }
    }

    pub(super) fn value(&self, index: u32) -> Value<'d> {
        let text = self.place(index).and_then(|(start, end)| self.bytes.get(start..end));
        Value::maybe(text.map(Stored::of_scalar))
    }
}
