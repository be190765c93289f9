//! The texts of a column as they are collected: while they repeat each distinct one once, else one after another.
//!
//! Most columns have few texts that come again and again. They are told by hash while their document is in the processor's cache, and
//! nothing of them is copied but a code.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashTable;

use crate::hash;
use crate::texts::{TextList, same};

/// Texts cease to be told apart where, of so many, three in four are new. HEURISTIC: identifiers are told by then, at a sixteenth of the
/// cost; names and addresses repeat more.
const PROBE: usize = 1024;

/// HEURISTIC: so many codes are remembered by the ends of their texts, beside the table: twice as quick where values are few.
const RECENT: usize = 1 << RECENT_BITS;

const RECENT_BITS: u32 = 8;

/// Columns of fewer texts do without. HEURISTIC: where there are many of them, their tables took more of the processor's cache than their texts.
const RECENT_FROM: usize = 64;

/// The texts of a column.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// The distinct texts in the order of their first coming; or all.
    pool: TextList,
    /// For each text its place in the pool, unless that has all.
    codes: Vec<i64>,
    has_all: bool,
    known: HashTable<u32>,
    /// The code, and one more, of the text that came last of those with some ends: most texts come again soon.
    recent: Vec<u32>,
}

/// The distinct texts of a column, and for each value which of them it is.
#[derive(Debug)]
pub(crate) struct Distinct<'c> {
    pub(crate) entries: &'c TextList,
    pub(crate) codes: Cow<'c, [i64]>,
}

impl Collected {
    /// Forgets all texts, and keeps the memory. Whether texts are told apart is for the next ones to say.
    pub(crate) fn clear(&mut self) {
        self.pool.clear();
        self.codes.clear();
        self.known.clear();
        self.recent.clear();
        self.has_all = false;
    }

    /// From now on no texts are told apart.
    pub(crate) fn keep_all(&mut self) {
        if !self.codes.is_empty() {
            let all = self.all().into_owned();
            self.pool.clear();
            all.iter().for_each(|text| self.pool.push(text));
            self.codes.clear();
        }
        self.recent.clear();
        self.has_all = true;
    }

    /// How much memory it holds on to.
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.pool.capacity_bytes()
            + 8 * self.codes.capacity()
            + 8 * self.known.capacity()
            + 4 * self.recent.capacity()
    }

    /// How many texts there are.
    pub(crate) fn len(&self) -> usize {
        if self.has_all { self.pool.len() } else { self.codes.len() }
    }

    /// What all texts stand in.
    pub(crate) fn pool(&self) -> &TextList {
        &self.pool
    }

    /// For each text its place in the pool; nothing where that has all of them in order.
    pub(crate) fn codes(&self) -> Option<&[i64]> {
        (!self.has_all).then_some(&self.codes)
    }

    /// Appends the bytes of `source` from `from` on up to `to`.
    #[inline(always)]
    pub(crate) fn push_range(&mut self, source: &[u8], from: usize, to: usize) {
        if self.has_all {
            self.pool.push_range(source, from, to);
        } else {
            self.push(source.get(from..to).unwrap_or_default());
        }
    }

    /// Appends a text.
    #[inline]
    pub(crate) fn push(&mut self, text: &[u8]) {
        let place = (hash::of_ends(text) >> (u64::BITS - RECENT_BITS)) as usize;
        let code = self.recent.get(place).map_or(0, |code| *code);
        let is_known = code > 0 && self.pool.get(code as usize - 1).is_some_and(|entry| same(entry, text));
        if is_known && self.codes.len() != PROBE {
            self.codes.push(i64::from(code) - 1);
        } else {
            self.push_other(text, place);
        }
    }

    /// Appends a text that did not come just now.
    #[inline(never)]
    fn push_other(&mut self, text: &[u8], place: usize) {
        if self.codes.len() == PROBE && self.pool.len() > PROBE * 3 / 4 {
            self.keep_all();
        }
        if self.has_all {
            return self.pool.push(text);
        }
        if self.recent.is_empty() && self.codes.len() >= RECENT_FROM {
            self.recent.resize(RECENT, 0);
        }
        let Collected { pool, codes, known, recent, .. } = self;
        let equal = |code: &u32| pool.get(*code as usize).is_some_and(|entry| same(entry, text));
        let hash_of = |code: &u32| hash::of_bytes(pool.get(*code as usize).unwrap_or_default());
        let next = pool.len() as u32;
        let code = *known.entry(hash::of_bytes(text), equal, hash_of).or_insert(next).get();
        if code == next {
            pool.push(text);
        }
        if let Some(recent) = recent.get_mut(place) {
            *recent = code + 1;
        }
        codes.push(i64::from(code));
    }

    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        if self.has_all { index } else { self.codes.get(index).map_or(usize::MAX, |code| *code as usize) }
    }

    /// A text by its index.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        self.pool.get(self.place(index))
    }

    /// Where a text stands among the bytes of the pool.
    #[inline(always)]
    pub(crate) fn range(&self, index: usize) -> Option<Range<usize>> {
        self.pool.range(self.place(index))
    }

    /// What was made of each text of the pool, for each text.
    pub(crate) fn spread(&self, of_pool: Vec<i64>) -> Vec<i64> {
        if self.has_all {
            return of_pool;
        }
        self.codes.iter().map(|code| of_pool.get(*code as usize).copied().unwrap_or_default()).collect()
    }

    /// All texts in order.
    pub(crate) fn all(&self) -> Cow<'_, TextList> {
        if self.has_all {
            return Cow::Borrowed(&self.pool);
        }
        let mut all = TextList::with_room(self.codes.len(), self.bytes());
        self.repeated().for_each(|text| all.push(text));
        Cow::Owned(all)
    }

    /// The texts that the codes stand for.
    fn repeated(&self) -> impl Iterator<Item = &[u8]> {
        self.codes.iter().map(|code| self.pool.get(*code as usize).unwrap_or_default())
    }

    /// How many bytes all texts have together.
    pub(crate) fn bytes(&self) -> usize {
        if self.has_all { self.pool.bytes().len() } else { self.repeated().map(<[u8]>::len).sum() }
    }

    /// Some ranges, one behind the other, of all texts as they would stand one after another: what [`all`](Self::all) would copy for it.
    pub(crate) fn ranges(&self, ranges: &[Range<usize>]) -> Vec<u8> {
        let mut out = Vec::with_capacity(ranges.iter().map(Range::len).sum());
        if self.has_all {
            ranges
                .iter()
                .filter_map(|range| self.pool.bytes().get(range.clone()))
                .for_each(|part| out.extend_from_slice(part));
            return out;
        }
        let (mut ranges, mut start) = (ranges, 0);
        for text in self.repeated() {
            let end = start + text.len();
            while let [range, rest @ ..] = ranges
                && range.start < end
            {
                let (from, to) = (range.start.max(start), range.end.min(end));
                out.extend_from_slice(text.get(from - start..to - start).unwrap_or_default());
                if range.end > end {
                    break;
                }
                ranges = rest;
            }
            start = end;
        }
        out
    }

    /// The distinct texts; nothing where nearly all differ.
    pub(crate) fn distinct(&self) -> Option<Distinct<'_>> {
        (!self.has_all).then_some(Distinct { entries: &self.pool, codes: Cow::Borrowed(&self.codes) })
    }
}

impl<'t> FromIterator<&'t [u8]> for Collected {
    fn from_iter<I: IntoIterator<Item = &'t [u8]>>(texts: I) -> Collected {
        let mut collected = Collected::default();
        texts.into_iter().for_each(|text| collected.push(text));
        collected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_come_back_whether_they_repeat_or_not(numbers in prop::collection::vec(0..3000u32, 0..1500), few in 1..3000u32, numeric in any::<bool>()) {
            let texts: Vec<Vec<u8>> = numbers.iter().map(|n| format!("text {}", n % few).into_bytes()).collect();
            let whole = texts.concat();
            let mut collected = Collected::default();
            collected.push(b"of the group before");
            collected.clear();
            if numeric {
                collected.keep_all();
            }
            let mut from = 0;
            for text in &texts {
                collected.push_range(&whole, from, from + text.len());
                from += text.len();
            }
            prop_assert_eq!(collected.len(), texts.len());
            prop_assert!(collected.all().iter().eq(texts.iter().map(Vec::as_slice)));
            prop_assert!((0..texts.len()).all(|index| collected.get(index) == Some(&texts[index])));
            prop_assert_eq!(collected.get(texts.len()), None);
            prop_assert_eq!(collected.bytes(), whole.len());
            let (third, half) = (whole.len() / 3, whole.len() / 2);
            let ranges = [third / 2..third, half..half, half..whole.len()];
            let expected: Vec<u8> = ranges.iter().flat_map(|range| &whole[range.clone()]).copied().collect();
            prop_assert_eq!(collected.ranges(&ranges), expected);
            let lengths = collected.pool().lengths().map(|length| length as i64).collect();
            prop_assert!(collected.spread(lengths).iter().eq(texts.iter().map(|text| text.len() as i64).collect::<Vec<_>>().iter()));
            if let Some(Distinct { entries, codes }) = collected.distinct() {
                prop_assert!(codes.iter().map(|code| entries.get(*code as usize)).eq(texts.iter().map(|text| Some(text.as_slice()))));
                let sorted: std::collections::BTreeSet<&[u8]> = entries.iter().collect();
                prop_assert_eq!(sorted.len(), entries.len());
            } else {
                prop_assert!(numeric || texts.len() > PROBE);
            }
        }
    }
}
