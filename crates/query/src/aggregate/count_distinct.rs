//! `count(distinct(x))`: how many values differ, null being one of them.

use super::identifiers::{Identifier, Identifiers, identifier};
use super::state::{Accumulators, Aggregate, Groups, Known, Most, each_distinct, grow};
use crate::chunk::{Chunk, Column, Entries, Order, value_of};
use crate::expr::Certain;
use crate::key_numbers::KeptKeys;
use crate::key_table::{Found, KeyTable};
use crate::keys::Keys;
use crate::value::{Kind, Value, json};
use std::convert::Infallible;
use std::sync::Arc;

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
    values: Values,
    most: Most,
    seen: Vec<bool>,
}

/// The values that are told apart.
enum Values {
    /// Those of the one group there is, which may be keys that outlive the query.
    OfOne(Keys),
    OfEach(Tables),
}

impl Default for Values {
    fn default() -> Values {
        Values::OfEach(Tables::default())
    }
}

/// The values of all groups.
#[derive(Default)]
struct Tables {
    /// All but identifiers: these are not to be shown, and need no order.
    others: KeyTable,
    identifiers: Identifiers,
    /// The identifiers of a chunk; none between two.
    met: Vec<Identifier>,
}

impl Tables {
    /// Takes in values of a group: how many are new.
    fn take_all<'j>(&mut self, group: u32, texts: impl Iterator<Item = &'j [u8]>) -> u64 {
        let Tables { others, identifiers, met } = self;
        let texts = texts.filter(|json| match identifier_of(json) {
            Some(identifier) => {
                met.push(identifier);
                false
            }
            None => !json.is_empty(),
        });
        let mut new = 0;
        others.find_all(group, false, texts, |_, found| new += u64::from(matches!(found, Found::New(_))));
        new += identifiers.insert_all(group, met);
        met.clear();
        new
    }

    /// Takes in a value of a group, which is there: whether it is new.
    #[inline]
    fn take(&mut self, group: u32, json: &[u8]) -> bool {
        match identifier_of(json) {
            Some(identifier) => self.identifiers.insert(group, identifier),
            None => matches!(self.others.find(group, json, false), Found::New(_)),
        }
    }
}

impl DistinctCounts {
    /// Of a single group, whose values may be keys that outlive the query.
    pub(super) fn of_one_group(kept: Arc<KeptKeys>) -> DistinctCounts {
        DistinctCounts { values: Values::OfOne(Keys::new(false, Some(kept))), ..DistinctCounts::default() }
    }

    /// By how many bytes it has grown.
    fn grown(&mut self) -> usize {
        self.most.grown(match &self.values {
            Values::OfOne(keys) => keys.bytes(),
            Values::OfEach(tables) => tables.others.bytes() + tables.identifiers.bytes(),
        })
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
            |code: &u32| seen.get_mut(*code as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        let codes = codes.iter().copied().filter(is_new);
        match &mut self.values {
            Values::OfOne(keys) => {
                let texts = keys.texts_of(dictionary);
                let codes = codes.filter(|code| !dictionary.get(*code).is_empty());
                keys.find_entries(&texts, codes, |_| {});
            }
            Values::OfEach(tables) => {
                dictionary.are_keys_again();
                let new = tables.take_all(group, codes.map(|code| dictionary.get(code)));
                self.add_to(group, new);
            }
        }
        self.seen = seen;
    }

    /// Takes in the values of rows of one group.
    fn take_all<'j>(&mut self, group: u32, texts: impl Iterator<Item = &'j [u8]>) {
        match &mut self.values {
            Values::OfOne(keys) => keys.find_all(texts.filter(|json| !json.is_empty()), |_| {}),
            Values::OfEach(tables) => {
                let new = tables.take_all(group, texts);
                self.add_to(group, new);
            }
        }
    }

    #[inline]
    fn take(&mut self, group: u32, json: &[u8]) {
        match &mut self.values {
            _ if json.is_empty() => {}
            Values::OfOne(keys) => _ = keys.find(json),
            Values::OfEach(tables) => {
                let is_new = tables.take(group, json);
                self.add_to(group, u64::from(is_new));
            }
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
        let DistinctCounts { counts, values, .. } = self;
        let mut count = |owner: u32| {
            if let Some(count) = counts.get_mut(owner as usize) {
                *count += 1;
            }
        };
        match (values, other.values) {
            (Values::OfEach(own), Values::OfEach(tables)) => {
                own.others.merge(&tables.others, owner_of, |owner, _, found| {
                    if let Found::New(_) = found {
                        count(owner);
                    }
                });
                for (group, identifier) in tables.identifiers.iter() {
                    let owner = owner_of(group);
                    if own.identifiers.insert(owner, identifier) {
                        count(owner);
                    }
                }
            }
            (Values::OfOne(own), Values::OfOne(keys)) => {
                let merged = own.try_merge(&keys, |_| Ok::<(), Infallible>(()));
                match merged {
                    Ok(()) => {}
                }
            }
            // The states of two threads are those of one plan.
            (Values::OfEach(_), Values::OfOne(_)) | (Values::OfOne(_), Values::OfEach(_)) => {}
        }
        self.grown()
    }

    fn finish(&mut self, group: u32) -> Value<'static> {
        Value::from(self.whole(group).unwrap_or_default())
    }

    fn whole(&self, group: u32) -> Option<u64> {
        match &self.values {
            Values::OfOne(keys) => Some(keys.len() as u64),
            Values::OfEach(_) => self.counts.get(group as usize).copied(),
        }
    }
}
