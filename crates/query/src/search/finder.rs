//! A search at work: window by window.

use super::Search;
use super::condition::Condition;
use crate::ast::Comparison;
use crate::expr::Scope;
use crate::summary::Summary;
use std::ops::Range;
use tamias_json::search::{
    Documents, FewDigits, Held, Match, Needle, Occurrences as Places, Span as Place, Wanted,
};
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

/// Does a search, and keeps what it needs for that from one window to the next.
pub(crate) struct Finder {
    search: Search,
    isa: Isa,
    is_tuned: bool,
    /// For each name.
    keys: Vec<Key>,
    scratch: Scratch,
    matches: Vec<Match>,
    /// The present block's events are better scanned.
    is_wide: bool,
    /// How many windows are evaluated one by one before searching is tried again.
    pause: usize,
}

/// What is known of a key in the present window.
#[derive(Default)]
struct Key {
    /// In which documents of the present block it is plain, as far as is known: a bit for each.
    plain: Vec<u8>,
    is_found: bool,
    places: Places,
    values: Vec<Place>,
}

/// Allocations that stay.
#[derive(Default)]
struct Scratch {
    matches: Vec<Vec<Match>>,
    places: Places,
    /// The numbers of those that are kept.
    kept: Vec<u32>,
}

impl Finder {
    pub(crate) fn new(search: &Search) -> Finder {
        Finder {
            keys: search.keys.iter().map(|_| Key::default()).collect(),
            search: search.clone(),
            isa: Isa::best(),
            is_tuned: false,
            scratch: Scratch::default(),
            matches: Vec::new(),
            is_wide: false,
            pause: 0,
        }
    }

    /// Begins with a block of events that have these `ends`, of which the summary is known, or is not. `names` are those of the plan.
    pub(crate) fn begin(&mut self, names: &[Box<str>], ends: &[[u8; 4]], summary: Option<&Summary<'_>>) {
        let few = if self.search.condition.is_some() { WIDE_KEYS_FILTERED } else { WIDE_KEYS };
        self.is_wide = self.keys.len() > few && mean_bytes(ends) >= WIDE_BYTES;
        for (key, name) in self.keys.iter_mut().zip(names) {
            key.plain.clear();
            if let Some(summary) = summary {
                summary.plain(name, &mut key.plain);
            }
        }
    }

    /// Finds the events of a window: of each whether it passes.
    pub(crate) fn find(&mut self, documents: Documents<'_>) -> &[Match] {
        if !self.is_tuned {
            self.is_tuned = true;
            self.tune(documents.bytes());
        }
        for key in &mut self.keys {
            key.is_found = false;
            key.values.clear();
            key.values.resize(documents.len(), Place::Unsure);
        }
        let mut matches = std::mem::take(&mut self.matches);
        match &self.search.condition {
            Some(condition) => {
                let mut search = Window {
                    search: &self.search,
                    isa: self.isa,
                    documents,
                    keys: &mut self.keys,
                    scratch: &mut self.scratch,
                };
                search.evaluate(condition, &mut matches);
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
            (0..self.search.condition_names).for_each(|slot| self.fill(slot, documents, indices));
        }
    }

    /// Finds the values that rows are made of, for some events of the window.
    pub(crate) fn fill_output(&mut self, documents: Documents<'_>, indices: &[u32]) {
        if !indices.is_empty() {
            for at in 0..self.search.output_slots.len() {
                self.fill(self.search.output_slots[at], documents, indices);
            }
        }
    }

    fn fill(&mut self, slot: usize, documents: Documents<'_>, indices: &[u32]) {
        let (Some(needle), Some(key)) = (self.search.keys.get(slot), self.keys.get_mut(slot)) else { return };
        // Searching through all is quicker than beginning anew for each of many.
        if indices.len() * 2 > documents.len() {
            key.find(self.isa, needle, documents);
            documents.with_plain(&key.plain).values(self.isa, needle, &key.places, &mut key.values);
        } else {
            documents.with_plain(&key.plain).values_of(self.isa, needle, indices, &mut key.values);
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
        (0..self.search.condition_names).all(|slot| self.read(slot, index, documents, scope))
    }

    /// Whether the values that a row is made of were all found, or found to be missing: not where that takes a scan.
    #[inline]
    pub(crate) fn knows_output(&self, index: u32) -> bool {
        let knows = |slot: &usize| {
            let place = self.keys.get(*slot).and_then(|key| key.values.get(index as usize));
            !matches!(place, None | Some(Place::Unsure))
        };
        self.search.output_slots.iter().all(knows)
    }

    /// Gives the scope the values that a row is made of.
    #[inline]
    pub(crate) fn read_output<'d>(&self, index: u32, documents: Documents<'d>, scope: &mut Scope<'d>) {
        for slot in &self.search.output_slots {
            self.read(*slot, index, documents, scope);
        }
    }

    /// How many characters the strings of a slot have together for some events, and how many strings that are. Those of the events
    /// that take another look replace what `left` holds.
    pub(crate) fn lengths(
        &self,
        slot: usize,
        documents: Documents<'_>,
        indices: &[u32],
        left: &mut Vec<u32>,
    ) -> (u64, u64) {
        documents.lengths(self.isa, self.values(slot), indices, left)
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
    pub(crate) fn values(&self, slot: usize) -> &[Place] {
        self.keys.get(slot).map_or(&[], |key| &key.values)
    }

    /// Where the value of a slot stands.
    #[inline]
    pub(crate) fn place(&self, slot: usize, index: u32) -> Option<(u32, u32)> {
        match self.keys.get(slot)?.values.get(index as usize)? {
            Place::Value(start, end) => Some((*start, *end)),
            Place::Absent | Place::Unsure => None,
        }
    }

    #[inline]
    fn read<'d>(&self, slot: usize, index: u32, documents: Documents<'d>, scope: &mut Scope<'d>) -> bool {
        let place = self.keys.get(slot).and_then(|key| key.values.get(index as usize));
        match place.copied().unwrap_or(Place::Unsure) {
            Place::Absent => scope.set(slot, None),
            Place::Unsure => return false,
            Place::Value(start, end) => {
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
        self.search.keys.iter_mut().for_each(|needle| needle.tune(isa, sample));
        if let Some(condition) = &mut self.search.condition {
            condition.needles(&mut |needle| needle.tune(isa, sample));
        }
    }
}

impl Key {
    /// All places of the key in the window.
    fn find(&mut self, isa: Isa, needle: &Needle, documents: Documents<'_>) {
        if !self.is_found {
            self.is_found = true;
            documents.find(isa, needle, &mut self.places);
        }
    }
}

impl Condition {
    fn needles(&mut self, each: &mut impl FnMut(&mut Needle)) {
        match self {
            Condition::All(conditions) | Condition::Any(conditions) => {
                conditions.iter_mut().for_each(|condition| condition.needles(each));
            }
            Condition::Not(condition) => condition.needles(each),
            Condition::Value { needle, .. } | Condition::Contains { needle, .. } => each(needle),
            Condition::Mentions { needles } => needles.iter_mut().for_each(each),
            _ => {}
        }
    }
}

/// The window that is searched.
struct Window<'w> {
    search: &'w Search,
    isa: Isa,
    documents: Documents<'w>,
    keys: &'w mut Vec<Key>,
    scratch: &'w mut Scratch,
}

/// Where fewer events than one in so many are left, what else must hold of them is evaluated one by one.
const FEW: usize = 16;

impl Window<'_> {
    fn evaluate(&mut self, condition: &Condition, matches: &mut Vec<Match>) {
        match condition {
            Condition::All(conditions) => self.all(conditions, matches),
            Condition::Any(conditions) => {
                self.begin(Match::No, matches);
                for condition in conditions {
                    self.join(matches, Match::max, |window, others| window.evaluate(condition, others));
                }
            }
            Condition::Not(condition) => {
                self.evaluate(condition, matches);
                matches.iter_mut().for_each(|found| *found = !*found);
            }
            Condition::Number { slot, op, bound } => {
                self.decide(*slot, matches, |isa, documents, needle, places, kept| {
                    documents.compare(isa, needle, places, bound, wanted(*op), kept);
                });
            }
            Condition::NumberOneOf { slot, bounds } => {
                self.decide(*slot, matches, |isa, documents, needle, places, kept| {
                    documents.equals_any(isa, needle, places, bounds, kept);
                });
            }
            Condition::Defined { slot } => self.compare(*slot, |_| true, matches),
            Condition::NotNull { slot } => {
                self.compare(*slot, |value| value.first() != Some(&b'n'), matches);
            }
            Condition::OneOf { slot, values } => {
                self.compare(*slot, |text| values.iter().any(|value| text.starts_with(value)), matches);
            }
            Condition::Value { slot, needle, value, is_whole: true } => {
                self.holds(*slot, needle, Held::Whole(value), matches);
            }
            Condition::Value { slot, needle, value, is_whole: false } => {
                self.holds(*slot, needle, Held::First(value), matches);
            }
            Condition::Contains { slot, needle } => {
                self.holds(*slot, needle, Held::Within(needle.bytes().len()), matches);
            }
            Condition::Mentions { needles } => {
                self.begin(Match::No, matches);
                for needle in needles {
                    self.join(matches, Match::max, |window, others| window.mark(needle, others));
                }
            }
            Condition::Unknown => self.unknown(matches),
        }
    }

    /// Begins with the same answer for all events.
    fn begin(&self, answer: Match, matches: &mut Vec<Match>) {
        matches.clear();
        matches.resize(self.documents.len(), answer);
    }

    fn unknown(&self, matches: &mut Vec<Match>) {
        self.begin(Match::Maybe, matches);
    }

    /// Joins the answers with those of `evaluate`.
    fn join(
        &mut self,
        matches: &mut [Match],
        joined: impl Fn(Match, Match) -> Match,
        evaluate: impl FnOnce(&mut Self, &mut Vec<Match>),
    ) {
        let mut others = self.scratch.matches.pop().unwrap_or_default();
        evaluate(self, &mut others);
        matches.iter_mut().zip(&others).for_each(|(own, other)| *own = joined(*own, *other));
        self.scratch.matches.push(others);
    }

    fn all(&mut self, conditions: &[Condition], matches: &mut Vec<Match>) {
        self.begin(Match::Yes, matches);
        let mut left = self.documents.len();
        for condition in conditions {
            if left == 0 {
                return;
            }
            let are_few = left * FEW < self.documents.len();
            self.join(matches, Match::min, |window, others| match are_few {
                true => window.unknown(others),
                false => window.evaluate(condition, others),
            });
            left = matches.iter().filter(|found| **found != Match::No).count();
        }
    }

    /// The events that have the key at a place that is kept: `decide` tells for each of its places whether it is.
    fn decide(
        &mut self,
        slot: usize,
        matches: &mut Vec<Match>,
        decide: impl FnOnce(Isa, Documents<'_>, &Needle, &Places, &mut Vec<u32>),
    ) {
        let (Some(needle), Some(key)) = (self.search.keys.get(slot), self.keys.get_mut(slot)) else {
            return self.unknown(matches);
        };
        key.find(self.isa, needle, self.documents);
        let kept = &mut self.scratch.kept;
        decide(self.isa, self.documents, needle, &key.places, kept);
        self.documents.with_plain(&key.plain).matches(self.isa, needle, &key.places, kept, matches);
    }

    /// The events of which a key's value begins as it should.
    fn compare(&mut self, slot: usize, holds: impl Fn(&[u8]) -> bool, matches: &mut Vec<Match>) {
        self.decide(slot, matches, |isa, documents, needle, places, kept| {
            documents.keep(isa, needle, places, kept, holds);
        });
    }

    /// The events that have the needle: maybe.
    fn mark(&mut self, needle: &Needle, matches: &mut Vec<Match>) {
        let places = &mut self.scratch.places;
        self.documents.find(self.isa, needle, places);
        self.documents.mentions(self.isa, places, matches);
    }

    /// The events of which a key's value has a text.
    fn holds(&mut self, slot: usize, text: &Needle, held: Held<'_>, matches: &mut Vec<Match>) {
        let (Some(needle), Some(key)) = (self.search.keys.get(slot), self.keys.get_mut(slot)) else {
            return self.unknown(matches);
        };
        let places = &mut self.scratch.places;
        self.documents.find(self.isa, text, places);
        let documents = self.documents.with_plain(&key.plain);
        documents.holds(self.isa, needle, held, places, &mut key.values, matches);
    }
}

/// The values that pass, as they stand to the number that they are compared with.
fn wanted(op: Comparison) -> Wanted {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    Wanted {
        less: matches!(op, Less | LessOrEqual | NotEqual),
        equal: matches!(op, Equal | LessOrEqual | GreaterOrEqual),
        greater: matches!(op, Greater | GreaterOrEqual | NotEqual),
        others: op == NotEqual,
    }
}
