//! What is learnt of a block's keys in one walk over its documents.
//!
//! The documents are gone over a window at a time. First the places of all structural bytes are found, then from place to place the members
//! of each document, whose values are noted by key, and only then the values of each key are looked at, one after another: loops
//! over like things, where no step waits for the one before.

use super::facts::Facts;
use super::names::Names;
use super::occurrence::Occurrence;
use super::strings::Recent;
use tamias_json::search::Structure;

/// HEURISTIC: the documents of a window, their places and their values' places shall stay in the second level of the cache.
const WINDOW_BYTES: usize = 256 << 10;

/// Room for values at first.
const PLACES: usize = 64;

/// The keys of a block, in the order in which they first came.
pub(super) struct Keys<'d> {
    names: Names<'d>,
    states: Vec<State<'d>>,
    recent: Recent,
    /// Names were left out, for want of room.
    pub(super) has_others: bool,
    /// A document holds an object or array.
    pub(super) is_nested: bool,
    /// A bit for each event: whether it is flat. It holds no object, no key more than once, and none with a backslash.
    pub(super) flat: Vec<u8>,
}

/// A name, as a key of the top level and elsewhere.
struct State<'d> {
    name: &'d [u8],
    /// The events in which the bytes `"name":` are found in other places than as this key; none where that may be any.
    elsewhere: Option<Vec<u32>>,
    /// There is a backslash in it.
    is_escaped: bool,
    /// The values of the window.
    occurrences: Vec<Occurrence>,
    facts: Option<Box<Facts<'d>>>,
}

/// Neighbouring documents.
struct Window<'d, 'p> {
    /// The first of them, and all that follow in the block.
    documents: &'d [u8],
    /// The structural bytes.
    places: &'p [u32],
}

impl<'d> Keys<'d> {
    /// The keys of the documents that have these `ends`; none where they are no objects.
    pub(super) fn of(documents: &'d [u8], ends: &[u32]) -> Option<Keys<'d>> {
        let mut keys = Keys {
            names: Names::new(),
            states: Vec::new(),
            recent: Recent::new(),
            has_others: false,
            is_nested: false,
            flat: vec![u8::MAX; ends.len().div_ceil(8)],
        };
        if let (Some(last), 1..) = (keys.flat.last_mut(), ends.len() % 8) {
            *last = !(u8::MAX << (ends.len() % 8));
        }
        let mut structure = Structure::new();
        let mut first = 0;
        let mut base = 0;
        while first < ends.len() {
            let later = ends.get(first..)?;
            let count = later.partition_point(|&end| (end as usize) < base + WINDOW_BYTES).max(1);
            let now = later.get(..count)?;
            let end = *now.last()? as usize;
            let places = structure.scan_trusted(documents.get(base..end)?);
            let window = Window { documents: documents.get(base..)?, places };
            keys.add(&window, first as u32, now, base as u32)?;
            keys.settle(documents.get(base..)?);
            first += count;
            base = end + 1;
        }
        Some(keys)
    }

    /// Notes the members of the window's documents, the first of which is event number `first` and begins at `base`. None where they are
    /// no objects.
    #[inline(never)]
    fn add(&mut self, window: &Window<'d, '_>, first: u32, ends: &[u32], base: u32) -> Option<()> {
        let &Window { documents, places } = window;
        let mut at = 0;
        let mut start = 0;
        for (event, &end) in (first..).zip(ends) {
            // An object reaches from the document's first byte to its last.
            let last = end.wrapping_sub(base).wrapping_sub(1);
            if *places.get(at)? != start || *documents.get(start as usize)? != b'{' {
                return None;
            }
            let mut next = *places.get(at + 1)?;
            if next == last {
                at += 1;
            }
            while next < last {
                let &[open, colon, behind] = places.get(at..)?.first_chunk()?;
                (at, next) = (at + 2, behind);
                if next == colon + 1 {
                    at = self.step_over(window, at, event)?;
                    next = *places.get(at)?;
                }
                let (start, end) = (open as usize + 2, (colon as usize).wrapping_sub(1));
                let known = self.names.recent(documents, start, end);
                match known.and_then(|number| self.states.get_mut(number)) {
                    Some(state) => state.occurrences.push(Occurrence { start: colon + 1, end: next, event }),
                    None => self.begin_with(documents, (open, colon, next), event),
                }
            }
            if next != last {
                return None;
            }
            at += 1;
            start = last + 2;
        }
        Some(())
    }

    /// Steps over the object or array that begins at the structural byte with this number, and notes the keys in it. Gives the number
    /// of the one behind.
    #[inline(never)]
    fn step_over(&mut self, window: &Window<'d, '_>, at: usize, event: u32) -> Option<usize> {
        let Window { documents, places } = *window;
        let (mut at, mut before) = (at, 0);
        let mut depth = 0i32;
        let mut has_object = false;
        loop {
            let place = *places.get(at)? as usize;
            let byte = *documents.get(place)?;
            if byte == b':' {
                self.mark(documents, before + 2, place.wrapping_sub(1), Some(event));
            } else {
                // '{' 7B, '}' 7D, '[' 5B, ']' 5D, and ',' 2C: which one it is is not to be guessed.
                let is_bracket = i32::from(byte >= b'[');
                let is_closing = i32::from(byte >> 2 & 1);
                depth += is_bracket - 2 * (is_bracket & is_closing);
                has_object |= byte == b'{';
            }
            at += 1;
            if depth <= 0 {
                break;
            }
            before = place;
        }
        self.is_nested = true;
        if has_object {
            self.set_not_flat(event);
        }
        Some(at)
    }

    /// Takes in the values of the window, whose documents these are, and all that follow.
    fn settle(&mut self, documents: &'d [u8]) {
        let Keys { states, recent, flat, .. } = self;
        for state in states {
            if state.occurrences.is_empty() {
                continue;
            }
            if state.is_escaped {
                state.occurrences.iter().for_each(|occurrence| set_not_flat(flat, occurrence.event));
            }
            let facts = state.facts.get_or_insert_with(|| Box::new(Facts::new(state.name)));
            facts.add(documents, &mut state.occurrences, recent, |event| set_not_flat(flat, event));
            state.occurrences.clear();
        }
    }

    #[inline(always)]
    fn set_not_flat(&mut self, event: u32) {
        set_not_flat(&mut self.flat, event);
    }

    /// Notes the value from a colon up to the next place, of a name that is new perhaps, or that there is no room for.
    #[inline(never)]
    fn begin_with(&mut self, documents: &'d [u8], (open, colon, next): (u32, u32, u32), event: u32) {
        let number = self.names.number(documents, open as usize + 2, (colon as usize).wrapping_sub(1));
        self.begin();
        match number.and_then(|number| self.states.get_mut(number)) {
            Some(state) => {
                if state.occurrences.is_empty() {
                    state.occurrences.reserve(PLACES);
                }
                state.occurrences.push(Occurrence { start: colon + 1, end: next, event });
            }
            None => {
                self.has_others = true;
                self.set_not_flat(event);
            }
        }
    }

    /// Makes states of the names that have none.
    #[cold]
    fn begin(&mut self) {
        while let Some(name) = self.names.name(self.states.len()) {
            // After a closing quote stands one of these, so `"` and the name might be one that closes and what follows it.
            let is_doubtful = matches!(name.first(), None | Some(b',' | b':' | b']' | b'}'));
            let is_escaped = memchr::memchr(b'\\', name).is_some();
            let elsewhere = (!is_doubtful && !is_escaped).then(Vec::new);
            self.states.push(State { name, elsewhere, is_escaped, occurrences: Vec::new(), facts: None });
            if is_escaped && let Some(quote) = memchr::memrchr(b'"', name) {
                // What follows an escaped quote looks like a key as well.
                self.mark(name, quote + 1, name.len(), None);
            }
        }
    }

    /// Notes that the name from `start` up to `end` is found elsewhere in an event, or may be in any.
    #[inline(always)]
    fn mark(&mut self, documents: &'d [u8], start: usize, end: usize, event: Option<u32>) {
        let known = self.names.recent(documents, start, end);
        match known.and_then(|number| self.states.get_mut(number)) {
            Some(state) => state.mark(event),
            None => self.begin_elsewhere(documents, (start, end), event),
        }
    }

    /// The same of a new name perhaps, or one that there is no room for.
    #[inline(never)]
    fn begin_elsewhere(&mut self, documents: &'d [u8], (start, end): (usize, usize), event: Option<u32>) {
        let number = self.names.number(documents, start, end);
        self.begin();
        match number.and_then(|number| self.states.get_mut(number)) {
            Some(state) => state.mark(event),
            None => self.has_others = true,
        }
    }

    /// The keys of the top level, and the events in which each is found elsewhere: none where that may be any.
    pub(super) fn into_facts(self) -> impl Iterator<Item = (&'d [u8], Option<Vec<u32>>, Box<Facts<'d>>)> {
        let is_doubtful = self.has_others;
        self.states.into_iter().filter_map(move |state| {
            let facts = state.facts?;
            let elsewhere = state.elsewhere.filter(|_| !is_doubtful && !facts.is_repeated);
            Some((state.name, elsewhere, facts))
        })
    }
}

/// HEURISTIC: where a key is found elsewhere in more events than these, it is not worth telling in which.
const ELSEWHERE_MAX: usize = 1024;

impl State<'_> {
    /// Notes that the name is found elsewhere.
    #[inline(always)]
    fn mark(&mut self, event: Option<u32>) {
        let Some(elsewhere) = &mut self.elsewhere else { return };
        match event {
            Some(event) if elsewhere.last() == Some(&event) => {}
            Some(event) if elsewhere.len() < ELSEWHERE_MAX => elsewhere.push(event),
            _ => self.elsewhere = None,
        }
    }
}

#[inline(always)]
fn set_not_flat(flat: &mut [u8], event: u32) {
    if let Some(bits) = flat.get_mut(event as usize / 8) {
        *bits &= !(1 << (event % 8));
    }
}
