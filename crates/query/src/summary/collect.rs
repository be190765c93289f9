//! What is learnt of a block's keys in one walk over its documents.

use super::FILTERED_BYTES_MAX;
use super::hash::{hash, same};
use super::list::List;
use super::names::Names;
use super::numbers::Numbers;
use tamias_json::{Map, Value};

/// The keys of a block, in the order in which they first came.
pub(super) struct Keys<'d> {
    documents: &'d [u8],
    names: Names<'d>,
    states: Vec<State<'d>>,
    /// By some of their bits, hashes that were kept lately, so that a value that comes again and again is kept about once.
    recent: Vec<u64>,
    /// Names were left out, for want of room.
    pub(super) has_others: bool,
    /// A document holds an object or array.
    pub(super) is_nested: bool,
    /// A bit for each event: whether it is flat. It holds no object, no key more than once, and none with a backslash.
    pub(super) flat: Vec<u8>,
    /// Whether the present event is, as far as it is read.
    is_flat: bool,
}

/// A power of two.
const RECENT: usize = 1024;

/// A name, as a key of the top level and elsewhere.
struct State<'d> {
    /// The bytes `"name":` are found in other places than as this key, or may be.
    is_elsewhere: bool,
    /// There is a backslash in it.
    is_escaped: bool,
    facts: Option<Box<Facts<'d>>>,
    /// The number of the key that came after it last.
    successor: usize,
}

/// A key of the top level.
pub(super) struct Facts<'d> {
    /// How many events have it.
    pub(super) events: u32,
    /// Some event has it more than once: then what follows is not true of it.
    pub(super) is_repeated: bool,
    /// The event after the last that has it.
    pub(super) next: u32,
    /// The first event between others that does not have it.
    pub(super) first_missing: Option<u32>,
    pub(super) maps: u32,
    pub(super) arrays: u32,
    pub(super) null: Tally,
    pub(super) falsehood: Tally,
    pub(super) truth: Tally,
    pub(super) strings: Strings<'d>,
    pub(super) numbers: Numbers<'d>,
}

/// How many events have a value, and which is the first.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) count: u32,
    pub(super) first: u32,
}

impl Tally {
    fn add(&mut self, event: u32) {
        if self.count == 0 {
            self.first = event;
        }
        self.count += 1;
    }
}

pub(super) struct Strings<'d> {
    seed: u64,
    /// False where nobody asks for them: of the time not the text is looked at, but the instant.
    pub(super) is_wanted: bool,
    pub(super) count: u32,
    /// None once there are too many distinct ones.
    pub(super) list: Option<List<'d>>,
    /// Then the hashes of all that are not too long for the filter, a few more than once.
    pub(super) hashes: Vec<u64>,
    /// The bytes of those that were hashed.
    pub(super) bytes: usize,
}

impl<'d> Keys<'d> {
    pub(super) fn new(documents: &'d [u8]) -> Keys<'d> {
        Keys {
            documents,
            names: Names::new(),
            states: Vec::new(),
            recent: vec![0; RECENT],
            has_others: false,
            is_nested: false,
            flat: Vec::new(),
            is_flat: true,
        }
    }

    /// Takes in the members of a document, which is a part of the documents.
    #[inline]
    pub(super) fn add(&mut self, document: Map<'_>, event: u32) {
        let documents = self.documents;
        // The first key stands behind itself: few documents begin in different ways.
        let mut before = 0;
        let mut expected = 0;
        self.is_flat = true;
        for (key, value) in document.entries() {
            let name = self.part(key.raw());
            // Events from one place in a program have the same keys in the same order.
            let number = match self.names.names.get(expected) {
                Some(known) if same(known, name) => expected,
                _ => {
                    let Some(number) = self.number(name) else {
                        self.is_flat = false;
                        self.add_others(&value);
                        continue;
                    };
                    if let Some(state) = self.states.get_mut(before) {
                        state.successor = number;
                    }
                    number
                }
            };
            before = number;
            expected = self.states.get(number).map_or(0, |state| state.successor);
            let Some(state) = self.states.get_mut(number) else { continue };
            self.is_flat &= !state.is_escaped;
            let facts = state.facts.get_or_insert_with(|| Facts::new(name));
            if facts.next == event + 1 {
                facts.is_repeated = true;
                self.is_flat = false;
            } else {
                if facts.next < event && facts.first_missing.is_none() {
                    facts.first_missing = Some(facts.next);
                }
                facts.next = event + 1;
                facts.events += 1;
                match value {
                    Value::String(text) => {
                        facts.strings.add(part(documents, text.raw()), event, &mut self.recent)
                    }
                    Value::Number(_) => facts.numbers.add(part(documents, value.raw()), event),
                    Value::Bool(true) => facts.truth.add(event),
                    Value::Bool(false) => facts.falsehood.add(event),
                    Value::Null => facts.null.add(event),
                    Value::Map(_) => facts.maps += 1,
                    Value::Array(_) => facts.arrays += 1,
                }
            }
            if matches!(value, Value::Map(_) | Value::Array(_)) {
                self.add_others(&value);
            }
        }
        if event.is_multiple_of(8) {
            self.flat.push(0);
        }
        if let Some(bits) = self.flat.last_mut() {
            *bits |= u8::from(self.is_flat) << (event % 8);
        }
    }

    /// Takes in the keys within a value. Documents are not nested deeper than the scanner allows.
    fn add_others(&mut self, value: &Value<'_>) {
        match value {
            Value::Map(map) => {
                self.is_nested = true;
                self.is_flat = false;
                for (key, value) in map.entries() {
                    let name = self.part(key.raw());
                    self.mark(name);
                    self.add_others(&value);
                }
            }
            Value::Array(array) => {
                self.is_nested = true;
                array.iter().for_each(|element| self.add_others(&element));
            }
            _ => {}
        }
    }

    /// The number of a name, new or known; none where there is no room for it.
    #[inline]
    fn number(&mut self, name: &'d [u8]) -> Option<usize> {
        let number = self.names.number(name);
        match number {
            None => self.has_others = true,
            Some(number) if number >= self.states.len() => self.begin(name),
            Some(_) => {}
        }
        number
    }

    fn begin(&mut self, name: &'d [u8]) {
        // After a closing quote stands one of these, so `"` and the name might be one that closes and what follows it.
        let is_doubtful = matches!(name.first(), None | Some(b',' | b':' | b']' | b'}'));
        let is_escaped = memchr::memchr(b'\\', name).is_some();
        let is_elsewhere = is_doubtful || is_escaped;
        self.states.push(State { is_elsewhere, is_escaped, facts: None, successor: 0 });
        if is_escaped && let Some(quote) = memchr::memrchr(b'"', name) {
            // What follows an escaped quote looks like a key as well.
            self.mark(name.get(quote + 1..).unwrap_or_default());
        }
    }

    /// Notes that the name is found elsewhere.
    fn mark(&mut self, name: &'d [u8]) {
        if let Some(state) = self.number(name).and_then(|number| self.states.get_mut(number)) {
            state.is_elsewhere = true;
        }
    }

    #[inline]
    fn part(&self, text: &[u8]) -> &'d [u8] {
        part(self.documents, text)
    }

    /// The keys of the top level, and whether each is found nowhere else.
    pub(super) fn into_facts(self) -> impl Iterator<Item = (&'d [u8], bool, Box<Facts<'d>>)> {
        let is_doubtful = self.has_others;
        self.names.names.into_iter().zip(self.states).filter_map(move |(name, state)| {
            let facts = state.facts?;
            Some((name, !(is_doubtful || state.is_elsewhere || facts.is_repeated), facts))
        })
    }
}

impl<'d> Facts<'d> {
    fn new(name: &[u8]) -> Box<Facts<'d>> {
        Box::new(Facts {
            events: 0,
            is_repeated: false,
            next: 0,
            first_missing: None,
            maps: 0,
            arrays: 0,
            null: Tally::default(),
            falsehood: Tally::default(),
            truth: Tally::default(),
            strings: Strings {
                seed: hash(0, name),
                is_wanted: name != b"@t",
                count: 0,
                list: (name != b"@t").then(List::new),
                hashes: Vec::new(),
                bytes: 0,
            },
            numbers: Numbers::new(),
        })
    }
}

impl<'d> Strings<'d> {
    #[inline]
    fn add(&mut self, text: &'d [u8], event: u32, recent: &mut [u64]) {
        self.count += 1;
        if !self.is_wanted {
            return;
        }
        if let Some(list) = &mut self.list {
            if list.add(text, event) {
                return;
            }
            let listed = self.list.take().map(|list| list.entries).unwrap_or_default();
            listed.iter().for_each(|entry| self.keep(entry.text, recent));
        }
        self.keep(text, recent);
    }

    #[inline]
    fn keep(&mut self, text: &[u8], recent: &mut [u64]) {
        if text.len() > FILTERED_BYTES_MAX {
            return;
        }
        let hash = hash(self.seed, text);
        let Some(place) = recent.get_mut(hash as usize % RECENT) else { return };
        if *place != hash {
            *place = hash;
            self.hashes.push(hash);
            self.bytes += text.len();
        }
    }
}

/// The part of the documents that `text` is: it lives as long as they do, not only as long as the list of its offsets.
#[inline]
fn part<'d>(documents: &'d [u8], text: &[u8]) -> &'d [u8] {
    let start = (text.as_ptr() as usize).wrapping_sub(documents.as_ptr() as usize);
    documents.get(start..start.wrapping_add(text.len())).unwrap_or_default()
}
