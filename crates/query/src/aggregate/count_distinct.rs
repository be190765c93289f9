//! `count(distinct(x))`: how many values differ, null being one of them.

use super::identifiers::{Identifier, Identifiers, identifier};
use super::state::{Accumulators, Aggregate, Groups, Known, Most, each_distinct, grow};
use crate::chunk::{Chunk, Column, Entries, Order, value_of};
use crate::expr::Certain;
use crate::key_table::{Found, KeyTable};
use crate::value::{Kind, Value, json};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CountDistinct;

impl Aggregate for CountDistinct {
    // Two words, which no name is: the planner puts them together.
    const NAME: &'static str = "count distinct";
    const TAKES_REPEATED: bool = true;
    const DEPENDS_ON_ORDER: bool = false;
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
    /// The values of all groups, but for identifiers: these are not to be shown, and need no order.
    values: KeyTable,
    identifiers: Identifiers,
    most: Most,
    seen: Vec<bool>,
    /// The identifiers of a chunk; none between two.
    met: Vec<Identifier>,
}

impl DistinctCounts {
    /// By how many bytes it has grown.
    fn grown(&mut self) -> usize {
        self.most.grown(self.values.bytes() + self.identifiers.bytes())
    }

    fn add_to(&mut self, group: u32, count: u64) {
        if let Some(of) = self.counts.get_mut(group as usize) {
            *of += count;
        }
    }

    /// Takes in the entries of a dictionary that rows of one group have.
    fn take_entries(&mut self, group: u32, Entries { dictionary, codes, .. }: &Entries) {
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        seen.resize(dictionary.len(), false);
        let is_new =
            |code: &&u32| seen.get_mut(**code as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        self.take_all(group, codes.iter().filter(is_new).map(|code| dictionary.get(*code)));
        self.seen = seen;
    }

    /// Takes in the values of rows of one group.
    fn take_all<'j>(&mut self, group: u32, texts: impl Iterator<Item = &'j [u8]>) {
        let mut identifiers = std::mem::take(&mut self.met);
        let others = texts.filter(|json| match identifier_of(json) {
            Some(identifier) => {
                identifiers.push(identifier);
                false
            }
            None => !json.is_empty(),
        });
        let mut new = 0;
        self.values
            .find_all(group, false, others, |_, found| new += u64::from(matches!(found, Found::New(_))));
        new += self.identifiers.insert_all(group, &identifiers);
        self.add_to(group, new);
        identifiers.clear();
        self.met = identifiers;
    }

    #[inline]
    fn take(&mut self, group: u32, json: &[u8]) {
        if json.is_empty() {
            return;
        }
        if let Some(identifier) = identifier_of(json) {
            let is_new = self.identifiers.insert(group, identifier);
            return self.add_to(group, u64::from(is_new));
        }
        if let Found::New(_) = self.values.find(group, json, false) {
            self.add_to(group, 1);
        }
    }
}

/// The identifier that a string is, however it is spelled.
#[inline]
fn identifier_of(json: &[u8]) -> Option<Identifier> {
    identifier(json).or_else(|| {
        // What has escapes is longer.
        let escaped = Some(json).filter(|json| json.len() > IDENTIFIER_BYTES)?;
        memchr::memchr(b'\\', escaped)?;
        let Value::Text(text) = value_of(escaped) else { return None };
        identifier(&crate::value::json(&Value::from(text.text().into_owned()))?)
    })
}

/// The most bytes of an identifier without escapes, with its quotes.
const IDENTIFIER_BYTES: usize = 38;

impl Accumulators for DistinctCounts {
    fn grow(&mut self, groups: usize) -> usize {
        grow(&mut self.counts, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        if let (Column::Entries(entries), Groups::One(group)) = (column, groups) {
            self.take_entries(group, entries);
            return self.grown();
        }
        if let (Column::Values(cells), Groups::One(group)) = (column, groups) {
            self.take_all(group, cells.iter().map(|cell| chunk.json(*cell)));
            return self.grown();
        }
        let mut seen = std::mem::take(&mut self.seen);
        each_distinct(groups, column, chunk, &mut seen, |group, json, _| self.take(group, json));
        self.seen = seen;
        self.grown()
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, _: u64) -> usize {
        if let Some(json) = json(&value) {
            self.take(group, &json);
        }
        self.grown()
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        let mut grown = 0;
        by.for_each(|value, order| grown += self.add(group, value, order, 1));
        grown
    }

    fn merge(&mut self, other: DistinctCounts, group_of: &[u32]) -> usize {
        let owner_of = |group: u32| group_of.get(group as usize).copied().unwrap_or_default();
        let DistinctCounts { counts, values, identifiers, .. } = self;
        let mut count = |owner: u32| {
            if let Some(count) = counts.get_mut(owner as usize) {
                *count += 1;
            }
        };
        values.merge(&other.values, owner_of, |owner, _, found| {
            if let Found::New(_) = found {
                count(owner);
            }
        });
        for (group, identifier) in other.identifiers.iter() {
            let owner = owner_of(group);
            if identifiers.insert(owner, identifier) {
                count(owner);
            }
        }
        self.grown()
    }

    fn finish(&mut self, group: u32) -> Value<'static> {
        Value::from(self.whole(group).unwrap_or_default())
    }

    fn whole(&self, group: u32) -> Option<u64> {
        self.counts.get(group as usize).copied()
    }
}
