//! Keys told apart: values, or several numbers together, each with the number of the entry that equal ones share.
//!
//! Equality is that of the language: `1` and `1.0` are one key. Most keys come again in the spelling in which they came before, and are
//! found by it; only a spelling that is new is evaluated.

mod found;
mod slots;
mod tuples;

pub(crate) use found::Found;
pub(crate) use tuples::Tuples;

use crate::allocated::vec_bytes;
use crate::chunk::value_of;
use crate::dictionary::has_needed_escapes_only;
use crate::value::{Value, canonical};
use foldhash::fast::RandomState;
use rust_decimal::Decimal;
use slots::{Glance, Slots};
use std::hash::{BuildHasher, Hasher};

/// A table of keys, each of some owner: the keys of two owners have nothing to do with one another.
#[derive(Default)]
pub(crate) struct KeyTable {
    slots: Slots,
    /// In the order in which they were added: of those of a key its canonical text is the first, if it has one.
    entries: Vec<Entry>,
    /// The spellings and the canonical texts of the keys.
    text: Vec<u8>,
    hasher: RandomState,
    /// How many numbers were given.
    len: u32,
    /// Of each small whole number one more than the number of its entry, of the first owner; 0 if it has none.
    wholes: Vec<u32>,
    scratch: Vec<u8>,
}

/// Whole numbers of no more digits are found without the table.
const WHOLE_DIGITS_MAX: usize = 5;

#[derive(Clone, Copy, Default)]
struct Entry {
    start: usize,
    len: u32,
    owner: u32,
    number: u32,
}

/// A spelling that a table keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept(u32);

/// A key that is looked up beside others.
#[derive(Clone, Copy, Default)]
struct Looked<'k> {
    key: &'k [u8],
    /// What it is among small whole numbers, which are in no slot.
    whole: Option<usize>,
    glance: Glance,
    /// Its number, if it is known in this spelling.
    number: Option<u32>,
}

/// Stands before a canonical text that is no spelling, and before no spelling.
const CANONICAL: u8 = 0;

impl KeyTable {
    /// How many keys there are.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.len as usize
    }

    /// Looks many keys up together, so that the processor waits for memory once for several of them: one more than the number of each that is
    /// known in this spelling, and 0 for all others.
    pub(crate) fn look_ahead<'k>(
        &self,
        owner: u32,
        mut keys: impl Iterator<Item = &'k [u8]>,
        known: &mut Vec<u32>,
    ) {
        known.clear();
        let (mut some, mut count) = ([Looked::default(); TOGETHER], TOGETHER);
        while count == TOGETHER {
            count = self.look_together(owner, &mut keys, &mut some);
            known.extend(some.iter().take(count).map(|looked| match looked.whole {
                Some(whole) => self.wholes.get(whole).copied().unwrap_or_default(),
                None => looked.number.map_or(0, |number| number.saturating_add(1)),
            }));
        }
    }

    /// Finds many keys of an owner, as [`find`](KeyTable::find) does, so that the processor waits for memory once for several of them: `each` is told what was
    /// found of them, one after the other.
    pub(crate) fn find_all<'k>(
        &mut self,
        owner: u32,
        ci: bool,
        mut keys: impl Iterator<Item = &'k [u8]>,
        mut each: impl FnMut(&KeyTable, Found),
    ) {
        let (mut some, mut count) = ([Looked::default(); TOGETHER], TOGETHER);
        while count == TOGETHER {
            // All of them before the first is added, which would keep the others waiting.
            count = self.look_together(owner, &mut keys, &mut some);
            for Looked { key, whole, glance, number } in some.iter().take(count) {
                let found = match (whole, number) {
                    (Some(whole), _) => self.find_whole(*whole, key),
                    (None, Some(number)) => Found::Known(*number),
                    // It may be one of those before it, and have been added in the meantime.
                    (None, None) => self.find_hashed(glance.hash(), owner, key, ci),
                };
                each(self, found);
            }
        }
    }

    /// Looks the next keys of an owner up: how many there were. Each step reads what the one before has told for all of them, so that these reads do not wait
    /// for one another.
    #[inline]
    fn look_together<'k>(
        &self,
        owner: u32,
        keys: &mut impl Iterator<Item = &'k [u8]>,
        some: &mut [Looked<'k>; TOGETHER],
    ) -> usize {
        let mut count = 0;
        for (looked, key) in some.iter_mut().zip(keys) {
            let whole = whole(key).filter(|_| owner == 0);
            let glance = match whole {
                Some(_) => Glance::default(),
                None => self.slots.glance(self.hash(owner, key)),
            };
            *looked = Looked { key, whole, glance, number: None };
            count += 1;
        }
        let likely = some.map(|looked| self.slots.likely(looked.glance));
        let likely = likely.map(|place| self.entries.get(place? as usize).copied());
        for (looked, likely) in some.iter_mut().zip(&likely).take(count) {
            let same = likely.as_ref().filter(|entry| self.is(entry, owner, looked.key));
            looked.number = same.map(|entry| entry.number);
        }
        count
    }

    /// The number of an owner's key, a value as JSON text that is empty for undefined: from 0 on, in the order in which they were new. With `ci` the case of
    /// letters makes no difference.
    #[inline]
    pub(crate) fn find(&mut self, owner: u32, json: &[u8], ci: bool) -> Found {
        match whole(json).filter(|_| owner == 0) {
            Some(whole) => self.find_whole(whole, json),
            None => self.find_spelled(owner, json, ci),
        }
    }

    #[inline]
    fn find_spelled(&mut self, owner: u32, json: &[u8], ci: bool) -> Found {
        self.find_hashed(self.hash(owner, json), owner, json, ci)
    }

    #[inline]
    fn find_hashed(&mut self, hash: u32, owner: u32, json: &[u8], ci: bool) -> Found {
        match self.look_up(hash, owner, json) {
            Some(number) => Found::Known(number),
            None => self.add(hash, owner, json, ci),
        }
    }

    #[inline]
    fn find_whole(&mut self, whole: usize, json: &[u8]) -> Found {
        match self.wholes.get(whole) {
            Some(known @ 1..) => Found::Known(known - 1),
            Some(0) | None => self.add_whole(whole, json),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_whole(&mut self, whole: usize, json: &[u8]) -> Found {
        let found = self.find_spelled(0, json, false);
        if whole >= self.wholes.len() {
            self.wholes.resize(whole + 1, 0);
        }
        if let Some(known) = self.wholes.get_mut(whole) {
            *known = found.number().saturating_add(1);
        }
        found
    }

    #[inline]
    fn hash(&self, owner: u32, bytes: &[u8]) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u32(owner);
        hasher.write(bytes);
        (hasher.finish() >> 32) as u32
    }

    /// Whether an entry is that of an owner's text.
    #[inline]
    fn is(&self, entry: &Entry, owner: u32, bytes: &[u8]) -> bool {
        entry.owner == owner
            && entry.len as usize == bytes.len()
            && self.text.get(entry.start..).is_some_and(|text| begins_with(text, bytes))
    }

    #[inline]
    fn look_up(&self, hash: u32, owner: u32, bytes: &[u8]) -> Option<u32> {
        let entry = |place: u32| self.entries.get(place as usize);
        let is_it = |place| entry(place).is_some_and(|entry| self.is(entry, owner, bytes));
        self.slots.find(hash, is_it).and_then(entry).map(|entry| entry.number)
    }

    /// Adds a spelling that is new: to the key that it spells, if that is known.
    #[cold]
    #[inline(never)]
    fn add(&mut self, hash: u32, owner: u32, json: &[u8], ci: bool) -> Found {
        if is_its_canonical_text(json, ci) {
            let number = self.next();
            self.insert(hash, owner, json, number);
            return Found::New(number);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let value = value_of(json);
        match plain_number(&value) {
            Some(plain) => scratch.extend_from_slice(plain.to_string().as_bytes()),
            None => {
                scratch.push(CANONICAL);
                canonical(&value, ci, &mut scratch);
            }
        }
        let canonical_hash = self.hash(owner, &scratch);
        let found = match self.look_up(canonical_hash, owner, &scratch) {
            Some(number) => Found::Known(number),
            None => {
                let number = self.next();
                self.insert(canonical_hash, owner, &scratch, number);
                Found::New(number)
            }
        };
        self.insert(hash, owner, json, found.number());
        self.scratch = scratch;
        found
    }

    fn next(&mut self) -> u32 {
        let number = self.len;
        // A key takes more than a byte: memory ends before the numbers do.
        self.len = self.len.saturating_add(1);
        number
    }

    fn insert(&mut self, hash: u32, owner: u32, bytes: &[u8], number: u32) {
        self.slots.insert(hash, self.entries.len() as u32);
        self.entries.push(Entry { start: self.text.len(), len: bytes.len() as u32, owner, number });
        self.text.extend_from_slice(bytes);
    }

    /// The spelling that was new last.
    pub(crate) fn last_spelling(&self) -> Kept {
        Kept(self.entries.len().saturating_sub(1) as u32)
    }

    /// The text of a spelling.
    pub(crate) fn spelling(&self, Kept(place): Kept) -> &[u8] {
        self.entries.get(place as usize).map_or(&[], |entry| self.text_of(entry))
    }

    fn text_of(&self, entry: &Entry) -> &[u8] {
        self.text.get(entry.start..entry.start + entry.len as usize).unwrap_or_default()
    }

    /// Forgets how keys are found: their numbers and spellings are all that is asked for from now on.
    pub(crate) fn close(&mut self) {
        (self.slots, self.wholes) = (Slots::default(), Vec::new());
    }

    /// What it holds once it is closed, in bytes.
    pub(crate) fn closed_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.text.capacity()
    }

    /// What it has held in memory at most, in bytes; soon before it grows also what it will hold while it does. It never becomes less.
    pub(crate) fn bytes(&self) -> usize {
        let wholes = self.wholes.capacity() * size_of::<u32>();
        self.slots.bytes() + vec_bytes(&self.entries) + vec_bytes(&self.text) + wholes
    }

    /// Takes in the keys of another table, whose owners are called otherwise there: for each of its keys `each` is told the
    /// owner here, the number there, and what was found here.
    pub(crate) fn merge(
        &mut self,
        other: &KeyTable,
        owner_of: impl Fn(u32) -> u32,
        mut each: impl FnMut(u32, u32, Found),
    ) {
        let merged = self.try_merge(other, owner_of, |_, owner, number, found| {
            each(owner, number, found);
            Ok::<(), std::convert::Infallible>(())
        });
        match merged {
            Ok(()) => {}
        }
    }

    /// As [`merge`](KeyTable::merge), as long as `each`, which is told the table too, does not fail.
    pub(crate) fn try_merge<E>(
        &mut self,
        other: &KeyTable,
        owner_of: impl Fn(u32) -> u32,
        mut each: impl FnMut(&KeyTable, u32, u32, Found) -> Result<(), E>,
    ) -> Result<(), E> {
        // The first entry of each key, which has a number of its own; its other spellings are found again when they come again. New keys keep their order.
        let mut next = 0;
        let firsts = other.entries.iter().filter(|entry| {
            let is_first = entry.number == next;
            next += u32::from(is_first);
            is_first
        });
        let mut firsts = firsts.peekable();
        while firsts.peek().is_some() {
            let mut some = [(Entry::default(), 0, Glance::default()); TOGETHER];
            let mut count = 0;
            for (place, entry) in some.iter_mut().zip(firsts.by_ref()) {
                let owner = owner_of(entry.owner);
                *place = (*entry, owner, self.slots.glance(self.hash(owner, other.text_of(entry))));
                count += 1;
            }
            let found = some.map(|(.., glance)| self.slots.likely(glance));
            let found = found.map(|place| self.entries.get(place? as usize).copied());
            for ((entry, owner, glance), likely) in some.iter().zip(&found).take(count) {
                let bytes = other.text_of(entry);
                let likely = likely.as_ref().filter(|likely| self.is(likely, *owner, bytes));
                // One of those before it may have been added in the meantime.
                let known = likely.map(|entry| entry.number);
                let found = match known.or_else(|| self.look_up(glance.hash(), *owner, bytes)) {
                    Some(known) => Found::Known(known),
                    None => {
                        let next = self.next();
                        self.insert(glance.hash(), *owner, bytes, next);
                        Found::New(next)
                    }
                };
                each(self, *owner, entry.number, found)?;
            }
        }
        Ok(())
    }
}

/// So many keys are looked up together.
const TOGETHER: usize = 32;

/// A small whole number without a sign, as it is written.
#[inline]
fn whole(json: &[u8]) -> Option<usize> {
    let is_whole = (1..=WHOLE_DIGITS_MAX).contains(&json.len()) && json.iter().all(u8::is_ascii_digit);
    is_whole.then(|| json.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}

/// Whether text begins so: as most keys are short, a call would take longer than comparing them.
#[inline]
fn begins_with(text: &[u8], bytes: &[u8]) -> bool {
    if bytes.len() > SHORT_BYTES {
        return text.starts_with(bytes);
    }
    let word = |bytes: &[u8], at: usize| {
        bytes.get(at..).and_then(<[u8]>::first_chunk).map(|word| u64::from_ne_bytes(*word))
    };
    match bytes.len() {
        0..8 => text.iter().zip(bytes).filter(|(a, b)| a == b).count() == bytes.len(),
        length => {
            let words = (0..length / 8).map(|word| word * 8).chain([length - 8]);
            words.fold(true, |equal, at| equal & (word(text, at) == word(bytes, at)))
        }
    }
}

/// Texts up to this length are compared in words.
const SHORT_BYTES: usize = 48;

/// Whether a text is the canonical one of its value. What reads as the replacement character may be one that is broken.
fn is_its_canonical_text(json: &[u8], ci: bool) -> bool {
    match json {
        [] | [b'n' | b't' | b'f', ..] => true,
        [b'"', ..] => {
            !ci && has_needed_escapes_only(json)
                && (json.is_ascii()
                    || std::str::from_utf8(json)
                        .is_ok_and(|text| !text.contains(char::REPLACEMENT_CHARACTER)))
        }
        [b'-', digits @ ..] => digits != b"0" && is_plain_number(digits),
        digits => is_plain_number(digits),
    }
}

/// Whether digits are a plain number without a sign: no exponent, no zeros that could be left out, and few digits.
fn is_plain_number(digits: &[u8]) -> bool {
    let point = digits.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(point) => (digits.get(..point), digits.get(point + 1..)),
        None => (Some(digits), None),
    };
    let is_whole = match whole {
        Some([b'0']) => true,
        Some([b'1'..=b'9', rest @ ..]) => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let is_fraction = match fraction {
        Some([before @ .., b'1'..=b'9']) => before.iter().all(u8::is_ascii_digit),
        Some(_) => false,
        None => true,
    };
    is_whole && is_fraction && digits.len() - usize::from(point.is_some()) <= PLAIN_DIGITS_MAX
}

/// Numbers of no more digits are canonical as they are written without exponent, the zero before a point counted.
const PLAIN_DIGITS_MAX: usize = 18;

/// The number that a value is, if it has so few digits.
fn plain_number(value: &Value<'_>) -> Option<Decimal> {
    let Value::Number(number) = value else { return None };
    let number = crate::value::plain(number.decimal()?);
    let is_plain = number.mantissa().unsigned_abs() < 10u128.pow(PLAIN_DIGITS_MAX as u32)
        && number.scale() < PLAIN_DIGITS_MAX as u32;
    // A zero has no sign.
    is_plain.then(|| if number.is_zero() { Decimal::ZERO } else { number })
}

#[cfg(test)]
mod tests;
