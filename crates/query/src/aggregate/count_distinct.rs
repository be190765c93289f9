//! `count(distinct(x))`: how many values differ, null being one of them.

use super::identifiers::{Identifier, Identifiers, identifier};
use super::seen_keys::SeenKeys;
use super::state::{Accumulators, Aggregate, Groups, Known, Most, each_json, grow};
use crate::allocated::is_almost_full;
use crate::chunk::{Chunk, Column, Entries, Mantissas, Order, value_of};
use crate::expr::Certain;
use crate::key_numbers::KeptKeys;
use crate::key_table::Found;
use crate::keys::{Keys, Taken};
use crate::value::{Kind, Value, json};
use foldhash::fast::RandomState;
use hashbrown::HashSet;
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
    /// Those of the one group there is, where there are keys that outlive the query.
    OfOne(Box<SeenKeys>),
    OfEach(Box<Tables>),
}

impl Default for Values {
    fn default() -> Values {
        Values::OfEach(Box::default())
    }
}

/// The values of all groups.
#[derive(Default)]
struct Tables {
    /// All but identifiers: these are not to be shown, and need no order.
    others: Keys,
    /// Each group with the numbers of its values among those.
    pairs: Pairs,
    identifiers: Identifiers,
    /// The identifiers of a chunk; none between two.
    met: Vec<Identifier>,
    /// For each entry of a dictionary one more than the number of the value that it is; 0 where that is not known, or [`APART`].
    known: Vec<u32>,
    /// The entries that are met first.
    fresh: Vec<u32>,
}

/// Stands for what is not looked up for all rows: what may be an identifier, or nothing.
const APART: u32 = u32::MAX;

/// Which values each group has, by their numbers.
enum Pairs {
    /// All that there are are those of one group: so many.
    OfOne {
        group: u32,
        values: u32,
    },
    OfEach(HashSet<u64, RandomState>),
}

impl Default for Pairs {
    fn default() -> Pairs {
        Pairs::OfOne { group: 0, values: 0 }
    }
}

/// A group and the number of a value as one number.
#[inline]
fn pair(group: u32, value: u32) -> u64 {
    u64::from(group) << u32::BITS | u64::from(value)
}

impl Pairs {
    /// Gives a group a value that was found among those of all groups: whether it is new to the group.
    #[inline]
    fn insert(&mut self, group: u32, found: Found) -> bool {
        match self {
            Pairs::OfEach(pairs) => pairs.insert(pair(group, found.number())),
            Pairs::OfOne { group: own, values } if *own == group || *values == 0 => match found {
                Found::Known(_) => false,
                Found::New(number) => {
                    (*own, *values) = (group, number.saturating_add(1));
                    true
                }
            },
            Pairs::OfOne { .. } => {
                let mut pairs = self.take();
                let is_new = pairs.insert(pair(group, found.number()));
                *self = Pairs::OfEach(pairs);
                is_new
            }
        }
    }

    /// Takes the pairs out.
    #[cold]
    fn take(&mut self) -> HashSet<u64, RandomState> {
        match std::mem::take(self) {
            Pairs::OfOne { group, values } => (0..values).map(|value| pair(group, value)).collect(),
            Pairs::OfEach(pairs) => pairs,
        }
    }

    /// What they take in memory, in bytes, about.
    fn bytes(&self) -> usize {
        let Pairs::OfEach(pairs) = self else { return 0 };
        // While a table grows there is one of half the size beside it, and an eighth of it is never filled.
        let bytes = pairs.capacity() / 7 * 8 * (size_of::<u64>() + 1) / 2 * 3;
        if is_almost_full(pairs.len(), pairs.capacity()) { 2 * bytes } else { bytes }
    }
}

impl Tables {
    /// Takes in values of a group: how many are new.
    fn take_all<'j>(&mut self, group: u32, texts: impl Iterator<Item = &'j [u8]>) -> u64 {
        let Tables { others, pairs, identifiers, met, .. } = self;
        let texts = texts.filter(|json| match identifier_of(json) {
            Some(identifier) => {
                met.push(identifier);
                false
            }
            None => !json.is_empty(),
        });
        let mut new = 0;
        others.find_all(texts, |met| new += u64::from(pairs.insert(group, met.found)));
        new += identifiers.insert_all(group, met);
        met.clear();
        new
    }

    /// Takes in a value of a group, which is there: whether it is new.
    #[inline]
    fn take(&mut self, group: u32, json: &[u8]) -> bool {
        match identifier_of(json) {
            Some(identifier) => self.identifiers.insert(group, identifier),
            None => self.pairs.insert(group, self.others.find(json).found),
        }
    }

    /// Takes in entries of a dictionary that rows of many groups have: `is_new` is told the groups of those that are new. A value is looked at once for all rows that
    /// have it.
    fn take_entries(&mut self, groups: Groups<'_>, entries: &Entries, mut is_new: impl FnMut(u32)) {
        let Tables { others, pairs, identifiers, known, fresh, .. } = self;
        let Entries { dictionary, codes, .. } = entries;
        let texts = others.texts_of(dictionary);
        known.clear();
        if texts.are_numbered() {
            others.look_ahead(&texts, known);
        }
        known.resize(dictionary.len(), 0);
        fresh.clear();
        for code in codes {
            if let Some(known @ 0) = known.get_mut(*code as usize) {
                *known = APART;
                let json = dictionary.get(*code);
                if !json.is_empty() && !may_be_identifier(json) {
                    fresh.push(*code);
                }
            }
        }
        let mut places = fresh.iter();
        others.find_entries(&texts, fresh.iter().copied(), |met| {
            if let Some(known) = places.next().and_then(|code| known.get_mut(*code as usize)) {
                *known = met.found.number().saturating_add(1);
            }
        });
        let mut all = pairs.take();
        for (row, code) in codes.iter().enumerate() {
            let group = groups.of(row);
            let json = || dictionary.get(*code);
            let is_new_here = match known.get(*code as usize).copied().unwrap_or(APART) {
                APART if json().is_empty() => false,
                APART => match identifier_of(json()) {
                    Some(identifier) => identifiers.insert(group, identifier),
                    None => {
                        let mut number = 0;
                        let entry = std::iter::once(*code);
                        others.find_entries(&texts, entry, |met| number = met.found.number());
                        all.insert(pair(group, number))
                    }
                },
                number => all.insert(pair(group, number.saturating_sub(1))),
            };
            if is_new_here {
                is_new(group);
            }
        }
        *pairs = Pairs::OfEach(all);
    }

    /// What they take in memory, in bytes, about.
    fn bytes(&self) -> usize {
        self.others.bytes() + self.identifiers.bytes() + self.pairs.bytes()
    }
}

impl DistinctCounts {
    /// Of values that may be keys which outlive the query, of a single group or of many.
    pub(super) fn with(kept: Arc<KeptKeys>, is_one_group: bool) -> DistinctCounts {
        let values = match is_one_group {
            true => Values::OfOne(Box::new(SeenKeys::new(kept))),
            false => {
                let others = Keys::new(false, Some(kept));
                Values::OfEach(Box::new(Tables { others, ..Tables::default() }))
            }
        };
        DistinctCounts { values, ..DistinctCounts::default() }
    }

    /// By how many bytes it has grown.
    fn grown(&mut self) -> usize {
        self.most.grown(match &self.values {
            Values::OfOne(keys) => keys.bytes(),
            Values::OfEach(tables) => tables.bytes(),
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
            Values::OfOne(keys) => keys.take_entries(dictionary, codes),
            Values::OfEach(tables) => {
                dictionary.are_keys_again();
                let new = tables.take_all(group, codes.map(|code| dictionary.get(code)));
                self.add_to(group, new);
            }
        }
        self.seen = seen;
    }

    /// Takes in numbers, one a row.
    fn take_numbers(&mut self, groups: Groups<'_>, numbers: &Mantissas) {
        let DistinctCounts { counts, values, .. } = self;
        let Tables { others, pairs, .. } = match values {
            Values::OfOne(keys) => return keys.take_numbers(numbers),
            Values::OfEach(tables) => &mut **tables,
        };
        let mut rows = 0..;
        others.find_numbers(numbers, |met| {
            let group = groups.of(rows.next().unwrap_or_default());
            if pairs.insert(group, met.found)
                && let Some(count) = counts.get_mut(group as usize)
            {
                *count += 1;
            }
        });
    }

    /// Takes in the values of rows of one group.
    fn take_all<'j>(&mut self, group: u32, texts: impl Iterator<Item = &'j [u8]>) {
        match &mut self.values {
            Values::OfOne(keys) => keys.take_all(texts.filter(|json| !json.is_empty())),
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
            Values::OfOne(keys) => keys.take(json),
            Values::OfEach(tables) => {
                let is_new = tables.take(group, json);
                self.add_to(group, u64::from(is_new));
            }
        }
    }
}

/// Whether a text may be that of an identifier: most are not by their lengths.
#[inline]
fn may_be_identifier(json: &[u8]) -> bool {
    match json.len() {
        34 | IDENTIFIER_BYTES => true,
        _ => may_be_escaped_identifier(json),
    }
}

/// Whether a text may be that of an identifier with escapes: it is longer then, and nothing else stands in it.
#[inline]
fn may_be_escaped_identifier(json: &[u8]) -> bool {
    // The start is enough for nearly all texts.
    let may_stand_in = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'\\' | b'u');
    json.len() > IDENTIFIER_BYTES
        && json.get(1..5).is_some_and(|start| start.iter().all(may_stand_in))
        && memchr::memchr(b'\\', json).is_some()
}

/// The identifier that a string is, however it is spelled.
#[inline]
fn identifier_of(json: &[u8]) -> Option<Identifier> {
    identifier(json).or_else(|| {
        let escaped = Some(json).filter(|json| may_be_escaped_identifier(json))?;
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
        if let Column::Keys(numbers) = column {
            self.take_numbers(groups, numbers);
            return self.grown();
        }
        if let (Column::Values(cells), Groups::One(group)) = (column, groups) {
            self.take_all(group, cells.iter().map(|cell| chunk.json(*cell)));
            return self.grown();
        }
        match (column, &mut self.values) {
            (Column::Entries(entries), Values::OfEach(tables)) => {
                let counts = &mut self.counts;
                tables.take_entries(groups, entries, |group| {
                    if let Some(count) = counts.get_mut(group as usize) {
                        *count += 1;
                    }
                });
            }
            _ => each_json(groups, column, chunk, |group, json, _| self.take(group, json)),
        }
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
                let mut numbers = vec![0; tables.others.len()];
                let Tables { others, pairs, .. } = &mut **own;
                let merged = others.try_merge(&tables.others, |Taken { there, found, .. }| {
                    if let Some(number) = numbers.get_mut(there as usize) {
                        *number = found.number();
                    }
                    if let Pairs::OfOne { group, .. } = tables.pairs {
                        let owner = owner_of(group);
                        if pairs.insert(owner, found) {
                            count(owner);
                        }
                    }
                    Ok::<(), Infallible>(())
                });
                match merged {
                    Ok(()) => {}
                }
                if let Pairs::OfEach(of_others) = &tables.pairs {
                    let mut own = pairs.take();
                    for both in of_others {
                        let (owner, there) = (owner_of((both >> u32::BITS) as u32), *both as u32);
                        if let Some(number) = numbers.get(there as usize)
                            && own.insert(pair(owner, *number))
                        {
                            count(owner);
                        }
                    }
                    *pairs = Pairs::OfEach(own);
                }
                for (group, identifier) in tables.identifiers.iter() {
                    let owner = owner_of(group);
                    if own.identifiers.insert(owner, identifier) {
                        count(owner);
                    }
                }
            }
            (Values::OfOne(own), Values::OfOne(keys)) => own.merge(*keys),
            // The states of two threads are those of one plan.
            (Values::OfEach(_), Values::OfOne(_)) | (Values::OfOne(_), Values::OfEach(_)) => {}
        }
        self.grown()
    }

    fn join(&mut self, other: DistinctCounts) -> usize {
        match &self.values {
            // They are found by their numbers.
            Values::OfOne(_) => self.merge(other, &[0]),
            Values::OfEach(_) => {
                self.add_to(0, other.whole(0).unwrap_or_default());
                0
            }
        }
    }

    fn finish(&self, group: u32) -> Value<'_> {
        Value::from(self.whole(group).unwrap_or_default())
    }

    fn whole(&self, group: u32) -> Option<u64> {
        match &self.values {
            Values::OfOne(keys) => Some(keys.len()),
            Values::OfEach(_) => self.counts.get(group as usize).copied(),
        }
    }
}
