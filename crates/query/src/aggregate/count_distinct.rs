//! `count(distinct(x))`: how many values differ, null being one of them.

use super::state::{Accumulators, Aggregate, Groups, Known, Most, each_json, grow};
use crate::chunk::{Chunk, Column, Order};
use crate::expr::Certain;
use crate::key_table::{Found, KeyTable, Spelling};
use crate::value::{Kind, Value, json};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CountDistinct;

impl Aggregate for CountDistinct {
    // Two words, which no name is: the planner puts them together.
    const NAME: &'static str = "count distinct";
    const TAKES_REPEATED: bool = true;
    type State = DistinctCounts;

    fn with_constants(_: &[f64]) -> Result<CountDistinct, (usize, String)> {
        Ok(CountDistinct)
    }

    fn text(self, argument: &str) -> String {
        format!("count(distinct({argument}))")
    }

    fn kind(self, _: Certain) -> Certain {
        Some(Kind::Number)
    }

    fn takes(self, kind: Kind) -> bool {
        kind != Kind::Undefined
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        by.has_each()
    }

    fn state(self) -> DistinctCounts {
        DistinctCounts::default()
    }
}

#[derive(Default)]
pub(crate) struct DistinctCounts {
    counts: Vec<u64>,
    /// The values of all groups.
    values: KeyTable,
    most: Most,
}

impl DistinctCounts {
    #[inline]
    fn take(&mut self, group: u32, json: &[u8]) {
        if json.is_empty() {
            return;
        }
        if let Found::New(_) = self.values.find(group, Spelling::Value { json, ci: false })
            && let Some(count) = self.counts.get_mut(group as usize)
        {
            *count += 1;
        }
    }
}

impl Accumulators for DistinctCounts {
    fn grow(&mut self, groups: usize) -> usize {
        grow(&mut self.counts, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        each_json(groups, column, chunk, |group, json, _| self.take(group, json));
        self.most.grown(self.values.bytes())
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, _: u64) -> usize {
        if let Some(json) = json(&value) {
            self.take(group, &json);
        }
        self.most.grown(self.values.bytes())
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        let mut grown = 0;
        by.for_each(|value, order| grown += self.add(group, value, order, 1));
        grown
    }

    fn merge(&mut self, other: DistinctCounts, group_of: &[u32]) -> usize {
        let DistinctCounts { counts, values, most } = self;
        let owner_of = |group: u32| group_of.get(group as usize).copied().unwrap_or_default();
        values.merge(&other.values, owner_of, |owner, _, found| {
            if let (Found::New(_), Some(count)) = (found, counts.get_mut(owner as usize)) {
                *count += 1;
            }
        });
        most.grown(values.bytes())
    }

    fn finish(&mut self, group: u32) -> Value<'static> {
        Value::from(self.counts.get(group as usize).copied().unwrap_or_default())
    }
}
