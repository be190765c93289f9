//! The prefilter at work: window by window of a block's events.

use super::condition::Form;
use super::key::Key;
use super::paths::key as reading_slot;
use super::prepared::{Prefilter, Pushdown};
use super::pruner::Settled;
use super::window::{Scratch, Window};
use crate::expr::{Expr, Scope};
use crate::places::Places;
use crate::statistics::{Key as StoredKey, Statistics};
use std::ops::Range;
use std::sync::Arc;
use tamias_json::search::{Documents, FewDigits, Match, Span};
use tamias_json::{Isa, Value};

/// Bytes of documents that are searched at a time, about: they stay in the processor's second cache from one condition to the next.
const WINDOW_BYTES: u32 = 256 * 1024;
const WINDOW_EVENTS: usize = 4096;

/// So many events are searched at first, and then twice as many each time: perhaps no more are wanted.
pub(crate) const FIRST_WINDOW_EVENTS: usize = 128;

/// HEURISTIC: where more than one byte in so many has to be scanned after all, searching gains too little.
const SCANNED_MOST: u64 = 3;
const SCANNED_FEW_BYTES: u64 = 32 * 1024;
/// So many windows are not searched then.
const PAUSE_WINDOWS: usize = 15;

/// HEURISTIC: events of so many bytes are scanned at nearly the speed of a search, and once for all keys.
const WIDE_BYTES: usize = 2048;
/// Most keys that are searched for in such events, with a condition that narrows them down and without.
const WIDE_KEYS_FILTERED: usize = 2;
const WIDE_KEYS: usize = 1;

/// HEURISTIC: keys that fewer than one event in so many has are looked for in the events that have another such key first.
const RARE: u32 = 8;

/// The events from `next` on that are searched together, of `count`, going up or down: at most `most`. `next` counts in the direction.
pub(crate) fn window(
    ends: &[[u8; 4]],
    next: usize,
    count: usize,
    is_ascending: bool,
    most: usize,
) -> Range<usize> {
    let end_of = |index: usize| ends.get(index).map_or(0, |end| u32::from_le_bytes(*end));
    let of = |events: usize| match is_ascending {
        true => next..next + events,
        false => count - next - events..count - next,
    };
    let bytes_of = |window: &Range<usize>| {
        end_of(window.end - 1).saturating_sub(window.start.checked_sub(1).map_or(0, end_of))
    };
    // As many as there would be if all were of the same size: to look for their number would touch ends all over.
    let most = most.clamp(1, WINDOW_EVENTS).min(count - next);
    let mut events = (WINDOW_BYTES as usize / mean_bytes(ends).max(1)).clamp(1, most);
    while events > 1 && bytes_of(&of(events)) > 2 * WINDOW_BYTES {
        events /= 2;
    }
    of(events)
}

/// Bytes of an event, on the average.
fn mean_bytes(ends: &[[u8; 4]]) -> usize {
    ends.last().map_or(0, |end| u32::from_le_bytes(*end) as usize / ends.len())
}

/// How many of a block's events have each key of the output, if that is known and all are rare.
fn rare_keys(statistics: &Statistics<'_>, names: &[Box<str>], slots: &[usize]) -> Vec<(usize, u32)> {
    let events = |slot: &usize| match statistics.key(names.get(*slot)?) {
        StoredKey::Absent => Some(0),
        StoredKey::Present(facts) => facts.values.map(|_| facts.events),
        StoredKey::Unknown => None,
    };
    let is_rare = |events: &u32| u64::from(*events) * u64::from(RARE) < u64::from(statistics.events());
    let rare = slots.iter().map(|slot| Some((*slot, events(slot).filter(is_rare)?)));
    rare.collect::<Option<_>>().unwrap_or_default()
}

/// Does a search, and keeps what it needs for that from one window to the next.
pub(crate) struct Finder {
    pushdown: Arc<Pushdown>,
    /// The prefilter's texts, tuned to the documents that were met first.
    texts: Prefilter,
    isa: Isa,
    is_tuned: bool,
    /// For each name.
    keys: Vec<Key>,
    scratch: Scratch,
    matches: Vec<Match>,
    /// What need not be searched for in the present block.
    settled: Settled,
    /// What queries before have found in the present block.
    places: Option<Arc<Places>>,
    /// Its events are better scanned.
    is_wide: bool,
    /// For each slot of the output how many of the block's events have the key, where all are rare and nothing is filtered; else none at all.
    rare: Vec<(usize, u32)>,
    /// How many windows are evaluated one by one before searching is tried again.
    pause: usize,
}

impl Finder {
    /// A finder of what is searched for; none where every document has to be scanned in any case.
    pub(crate) fn new(pushdown: &Arc<Pushdown>) -> Option<Finder> {
        let texts = pushdown.prefilter.clone()?;
        Some(Finder {
            keys: pushdown.names.iter().map(|name| Key::new(name)).collect(),
            texts,
            pushdown: pushdown.clone(),
            isa: Isa::best(),
            is_tuned: false,
            scratch: Scratch::default(),
            matches: Vec::new(),
            settled: Settled::default(),
            places: None,
            is_wide: false,
            rare: Vec::new(),
            pause: 0,
        })
    }

    /// Begins with a block of these documents, of which the statistics are known, or are not, some things are settled, and queries before may have
    /// left where keys stand.
    pub(crate) fn begin(
        &mut self,
        documents: Documents<'_>,
        statistics: Option<&Statistics<'_>>,
        settled: &Settled,
        places: Option<Arc<Places>>,
    ) {
        self.settled.all = settled.all;
        self.settled.terms.clone_from(&settled.terms);
        let few = if self.pushdown.condition.is_some() { WIDE_KEYS_FILTERED } else { WIDE_KEYS };
        self.places = places;
        for key in &mut self.keys {
            key.begin(statistics, self.places.as_deref());
        }
        let are_wide = documents.bytes().len() / documents.len().max(1) >= WIDE_BYTES;
        let sought = |keys: &[Key]| keys.iter().filter(|key| !key.is_absent && key.known.is_none()).count();
        self.is_wide = are_wide && sought(&self.keys) > few;
        if self.is_wide {
            (0..self.keys.len()).for_each(|slot| self.learn(slot, documents));
            self.is_wide = sought(&self.keys) > few;
        }
        self.rare.clear();
        let is_known = |slot: &usize| self.keys.get(*slot).is_some_and(|key| key.known.is_some());
        let is_sought = self.pushdown.condition.is_none() && !self.pushdown.slots.output.iter().all(is_known);
        if let Some(statistics) = statistics.filter(|_| is_sought) {
            self.rare.extend(rare_keys(statistics, &self.pushdown.names, &self.pushdown.slots.output));
        }
        self.rare.sort_by_key(|(_, events)| *events);
    }

    /// Whether a block is searched as a whole, since what is found of one key in all of it spares the search for another.
    pub(crate) fn takes_whole_blocks(&self) -> bool {
        self.rare.len() > 1
    }

    /// Finds the events of a window: of each whether it passes.
    pub(crate) fn find(&mut self, documents: Documents<'_>) -> &[Match] {
        if !self.is_tuned {
            self.is_tuned = true;
            self.tune(documents.bytes());
        }
        for key in &mut self.keys {
            key.begin_window(documents.len());
        }
        let mut matches = std::mem::take(&mut self.matches);
        match self.pushdown.condition.as_ref().filter(|_| !self.settled.all) {
            Some(condition) => {
                let mut window = Window {
                    texts: &self.texts,
                    isa: self.isa,
                    documents,
                    keys: &mut self.keys,
                    places: self.places.as_deref(),
                    scratch: &mut self.scratch,
                };
                if let Form::And(terms) = &condition.form {
                    window.all(terms, &self.settled.terms, &mut matches);
                } else {
                    window.evaluate(condition, &mut matches);
                }
            }
            None => {
                matches.clear();
                matches.resize(documents.len(), Match::Yes);
            }
        }
        self.matches = matches;
        &self.matches
    }

    /// Finds the values that the condition is made of, for some events of the window.
    pub(crate) fn fill_condition(&mut self, documents: Documents<'_>, indices: &[u32]) {
        if !indices.is_empty() {
            (0..self.pushdown.slots.condition).for_each(|slot| self.fill(slot, documents, indices));
        }
    }

    /// Finds the values that rows are made of, for some events of the window.
    pub(crate) fn fill_output(&mut self, documents: Documents<'_>, indices: &[u32]) {
        if self.takes_whole_blocks() && indices.len() == documents.len() {
            for at in 0..self.pushdown.slots.output.len() {
                self.learn(self.pushdown.slots.output[at], documents);
            }
            return self.fill_rare(documents, indices);
        }
        if !indices.is_empty() {
            for at in 0..self.pushdown.slots.output.len() {
                self.fill(self.pushdown.slots.output[at], documents, indices);
            }
        }
    }

    /// Finds the values of rare keys for all events: those of the one that most have by searching, the others in these events. If they are as
    /// many there as the block's statistics tell of all its events, no other event has the key.
    fn fill_rare(&mut self, documents: Documents<'_>, indices: &[u32]) {
        let rare = std::mem::take(&mut self.rare);
        let mut first: Option<Vec<u32>> = None;
        for (slot, events) in rare.iter().rev() {
            let Some(having) = &first else {
                self.fill(*slot, documents, indices);
                let values = self.values(*slot);
                let is_there = |index: &u32| !matches!(values.get(*index as usize), Some(Span::Absent));
                first = Some(indices.iter().copied().filter(is_there).collect());
                continue;
            };
            self.fill(*slot, documents, having);
            let Some(key) = self.keys.get_mut(*slot) else { continue };
            let value = |index: &u32| key.values.get(*index as usize);
            let found = having.iter().filter(|index| matches!(value(index), Some(Span::Value(..)))).count();
            let is_sure = !having.iter().any(|index| matches!(value(index), Some(Span::Unsure)));
            if is_sure && found == *events as usize {
                let others = key.values.iter_mut().filter(|value| **value == Span::Unsure);
                others.for_each(|value| *value = Span::Absent);
            } else {
                self.fill(*slot, documents, indices);
            }
        }
        self.rare = rare;
    }

    fn fill(&mut self, slot: usize, documents: Documents<'_>, indices: &[u32]) {
        let (Some(needle), Some(key)) = (self.texts.keys.get(slot), self.keys.get_mut(slot)) else { return };
        key.fill(self.isa, needle, documents, self.places.as_deref(), indices);
    }

    /// Where a key stands in all documents of the block, if it was asked for before.
    fn learn(&mut self, slot: usize, documents: Documents<'_>) {
        if let (Some(needle), Some(key)) = (self.texts.keys.get(slot), self.keys.get_mut(slot)) {
            key.learn(self.isa, needle, documents, self.places.as_deref());
        }
    }

    /// Gives the scope the values that the condition is made of: false where that takes a scan of the document.
    #[inline]
    pub(crate) fn read_condition<'d>(
        &self,
        index: u32,
        documents: Documents<'d>,
        scope: &mut Scope<'d>,
    ) -> bool {
        (0..self.pushdown.slots.condition).all(|slot| self.read(slot, index, documents, scope))
    }

    /// The slot of the condition whose value is an array or object, with its text, and gives the scope all others. None where that takes a scan of
    /// the document.
    pub(crate) fn read_around_nested<'d>(
        &self,
        index: u32,
        documents: Documents<'d>,
        scope: &mut Scope<'d>,
    ) -> Option<(usize, &'d [u8])> {
        let mut found = None;
        for slot in 0..self.pushdown.slots.condition {
            if self.read(slot, index, documents, scope) {
                continue;
            }
            let place = documents.part_of(self.keys.get(slot)?.known.as_deref()?).get(index as usize)?;
            let text = documents.bytes().get(place.nested()?)?;
            if found.replace((slot, text)).is_some() {
                return None;
            }
        }
        found
    }

    /// Whether the values that a row is made of were all found, or found to be missing: not where that takes a scan.
    #[inline]
    pub(crate) fn knows_output(&self, index: u32) -> bool {
        let knows = |slot: &usize| {
            let place = self.keys.get(*slot).and_then(|key| key.values.get(index as usize));
            !matches!(place, None | Some(Span::Unsure))
        };
        self.pushdown.slots.output.iter().all(knows)
    }

    /// Whether that holds for each of some events.
    pub(crate) fn knows_all_outputs(&self, indices: &[u32]) -> bool {
        let is_known =
            |values: &[Span], index: u32| !matches!(values.get(index as usize), None | Some(Span::Unsure));
        let mut slots = self.pushdown.slots.output.iter();
        slots.all(|slot| match self.keys.get(*slot) {
            // Every event is looked at, since a loop that may stop early takes longer.
            Some(key) => indices.iter().fold(true, |all, index| all & is_known(&key.values, *index)),
            None => indices.is_empty(),
        })
    }

    /// Gives the scope the values that a row is made of.
    #[inline]
    pub(crate) fn read_output<'d>(&self, index: u32, documents: Documents<'d>, scope: &mut Scope<'d>) {
        for slot in &self.pushdown.slots.output {
            self.read(*slot, index, documents, scope);
        }
    }

    /// How many characters the strings of a slot have, for some events, and those of them that take another look.
    pub(crate) fn lengths(
        &self,
        slot: usize,
        documents: Documents<'_>,
        indices: &[u32],
        lengths: &mut Vec<FewDigits>,
        left: &mut Vec<u32>,
    ) {
        documents.lengths(self.isa, self.values(slot), indices, lengths, left);
    }

    /// The numbers of few digits in a slot, for some events, and those of them that have another value.
    pub(crate) fn numbers(
        &self,
        slot: usize,
        documents: Documents<'_>,
        indices: &[u32],
        numbers: &mut Vec<FewDigits>,
        others: &mut Vec<u32>,
    ) {
        documents.numbers(self.isa, self.values(slot), indices, numbers, others);
    }

    /// Where the values of a slot stand, for each event of the window.
    #[inline]
    pub(crate) fn values(&self, slot: usize) -> &[Span] {
        self.keys.get(slot).map_or(&[], |key| &key.values)
    }

    /// The slot that has the values of a dotted path, for some events, if they all have them in one.
    pub(crate) fn only_reading(&self, readings: &[Expr], indices: &[u32]) -> Option<usize> {
        let is_missing = |reading: &&Expr| {
            let Some(key) = reading_slot(reading).and_then(|slot| self.keys.get(slot)) else { return false };
            let is_missing = |index: &u32| key.values.get(*index as usize) == Some(&Span::Absent);
            key.is_absent || indices.iter().all(is_missing)
        };
        let mut there = readings.iter().filter(|reading| !is_missing(reading));
        match (there.next(), there.next()) {
            (Some(Expr::Slot(slot)), None) => Some(*slot),
            _ => None,
        }
    }

    /// Where the value of a slot stands.
    #[inline]
    pub(crate) fn place(&self, slot: usize, index: u32) -> Option<(u32, u32)> {
        match self.keys.get(slot)?.values.get(index as usize)? {
            Span::Value(start, end) => Some((*start, *end)),
            Span::Absent | Span::Unsure => None,
        }
    }

    #[inline]
    fn read<'d>(&self, slot: usize, index: u32, documents: Documents<'d>, scope: &mut Scope<'d>) -> bool {
        let place = self.keys.get(slot).and_then(|key| key.values.get(index as usize));
        match place.copied().unwrap_or(Span::Unsure) {
            Span::Absent => scope.set(slot, None),
            Span::Unsure => return false,
            Span::Value(start, end) => {
                let text = documents.bytes().get(start as usize..end as usize);
                scope.set(slot, text.map(Value::of_scalar));
            }
        }
        true
    }

    /// Whether to search, or else to evaluate the next window event by event.
    pub(crate) fn is_worth_it(&mut self) -> bool {
        let is_worth_it = self.pause == 0 && !self.is_wide;
        self.pause = self.pause.saturating_sub(1);
        is_worth_it
    }

    /// Tells how many of the bytes of the last window had to be scanned in the end. Where they are many, searching is in vain, and
    /// rests for a while.
    pub(crate) fn note(&mut self, bytes: u64, scanned: u64) {
        if scanned > SCANNED_FEW_BYTES && scanned * SCANNED_MOST > bytes {
            self.pause = PAUSE_WINDOWS;
        }
    }

    fn tune(&mut self, bytes: &[u8]) {
        let sample = bytes.get(bytes.len() / 2..).unwrap_or_default();
        let isa = self.isa;
        let Prefilter { keys, needles } = &mut self.texts;
        keys.iter_mut().chain(needles).for_each(|needle| needle.tune(isa, sample));
    }
}
