//! `count(x)`: how many events have a value that is not null. `count(*)` counts the value true of all.

use super::state::{Accumulators, Aggregate, Groups, Known};
use crate::chunk::{Chunk, Column, Order};
use crate::expr::Certain;
use crate::value::{Kind, Value};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Count;

impl Aggregate for Count {
    const NAME: &'static str = "count";
    const TAKES_REPEATED: bool = true;
    const DEPENDS_ON_ORDER: bool = false;
    type State = Counts;

    fn with_constants(_: &[f64]) -> Result<Count, (usize, String)> {
        Ok(Count)
    }

    fn kind(self, _: Certain) -> Certain {
        Some(Kind::Number)
    }

    fn takes(self, kind: Kind) -> bool {
        !matches!(kind, Kind::Undefined | Kind::Null)
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        match by {
            Known::Constant { .. } | Known::Absent | Known::Values { .. } => true,
        }
    }

    fn state(self) -> Counts {
        Counts::default()
    }
}

/// For each group how many events.
#[derive(Default)]
pub(crate) struct Counts(Vec<u64>);

/// So many rows that follow one another are counted apart, so that none waits for the one before.
const LANES: usize = 4;
/// So many groups are few.
const FEW: usize = 64;

impl Counts {
    #[inline]
    fn count(&mut self, group: u32, times: u64) {
        if let Some(count) = self.0.get_mut(group as usize) {
            *count += times;
        }
    }

    /// Counts rows of few groups.
    fn count_few(&mut self, groups: &[u32]) {
        let mut lanes = [[0u64; FEW]; LANES];
        let (fours, rest) = groups.as_chunks::<LANES>();
        for four in fours {
            for (lane, group) in lanes.iter_mut().zip(four) {
                if let Some(count) = lane.get_mut(*group as usize) {
                    *count += 1;
                }
            }
        }
        for lane in &lanes {
            self.0.iter_mut().zip(lane).for_each(|(count, more)| *count += more);
        }
        rest.iter().for_each(|group| self.count(*group, 1));
    }
}

impl Accumulators for Counts {
    fn grow(&mut self, groups: usize) -> usize {
        super::state::grow(&mut self.0, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        match (column, groups) {
            (Column::Nothing, Groups::One(group)) => self.count(group, chunk.len() as u64),
            (Column::Nothing, Groups::Each(groups)) if self.0.len() <= FEW => self.count_few(groups),
            (Column::Nothing, Groups::Each(groups)) => groups.iter().for_each(|group| self.count(*group, 1)),
            (Column::Values(cells), _) => {
                for (row, cell) in cells.iter().enumerate() {
                    if !matches!(chunk.json(*cell).first(), None | Some(b'n')) {
                        self.count(groups.of(row), 1);
                    }
                }
            }
            (Column::Entries(entries), _) => {
                let counts = entries.by_row(|json| !matches!(json.first(), None | Some(b'n')));
                for (row, counts) in counts.enumerate() {
                    self.count(groups.of(row), u64::from(counts));
                }
            }
            (Column::Mantissas(numbers) | Column::Keys(numbers), Groups::One(group)) => {
                self.count(group, numbers.values.len() as u64)
            }
            (Column::Mantissas(numbers) | Column::Keys(numbers), Groups::Each(_)) => {
                super::state::rows_of(numbers).for_each(|row| self.count(groups.of(row), 1));
            }
            (Column::Decimals(decimals), _) => {
                decimals.rows().for_each(|row| self.count(groups.of(row), 1));
            }
            (Column::Numbers(numbers), _) => {
                numbers.few.iter().for_each(|few| self.count(groups.of(few.at as usize), 1));
                numbers.others.iter().for_each(|(row, _)| self.count(groups.of(*row as usize), 1));
            }
        }
        0
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, times: u64) -> usize {
        if !matches!(value, Value::Null | Value::Undefined) {
            self.count(group, times);
        }
        0
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        match by {
            Known::Constant { counts, events } => self.count(group, if *counts { *events } else { 0 }),
            Known::Absent => {}
            Known::Values { count, .. } => self.count(group, *count),
        }
        0
    }

    fn merge(&mut self, other: Counts, group_of: &[u32]) -> usize {
        group_of.iter().zip(other.0).for_each(|(group, count)| self.count(*group, count));
        0
    }

    fn append(&mut self, other: Counts, groups: usize, all: usize) -> usize {
        let grown = self.grow(all);
        let own = self.0.iter_mut().skip(groups);
        own.zip(other.0).for_each(|(count, other)| *count = other);
        grown
    }

    fn finish(&self, group: u32) -> Value<'_> {
        Value::from(self.whole(group).unwrap_or_default())
    }

    fn whole(&self, group: u32) -> Option<u64> {
        self.0.get(group as usize).copied()
    }
}
