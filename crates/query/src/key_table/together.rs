//! Many keys looked up together, so that the processor waits for memory once for several of them.

use super::packed::Form;
use super::slots::Glance;
use super::texts::TextPlace;
use super::{Entry, Found, KeyTable, Sought, is_same, whole};

/// A key that is looked up beside others.
#[derive(Clone, Copy, Default)]
struct Looked<'k> {
    sought: Sought<'k>,
    /// What it is among small whole numbers, which are in no slot.
    whole: Option<usize>,
    hash: u32,
    /// How it is known in this spelling, but for zeros at its end.
    known: Option<Known>,
}

/// The number of a key, and the zeros at the end of its spelling.
#[derive(Clone, Copy, Default)]
struct Known {
    number: u32,
    zeros: u8,
}

/// What there is to know of the entry that a key most likely has.
#[derive(Clone, Copy, Default)]
struct Likely {
    known: Known,
    /// Whether all is alike but for the text, where there is one.
    is_alike: bool,
    /// Where that begins, and how long it is.
    text: (TextPlace, usize),
}

/// Fewer than any text has that is not packed.
const LAST_BYTES: usize = 8;

impl Entry {
    /// What is to be known of it if it is to be what is sought.
    #[inline]
    fn as_likely(&self, Sought { packed, owner, .. }: &Sought<'_>) -> Likely {
        let is_text = packed.form == Form::TEXT;
        let is_alike = self.form == packed.form && self.owner == *owner;
        let is_packed_alike = is_text | (self.bits == packed.bits.to_ne_bytes());
        Likely {
            known: Known { number: self.number, zeros: self.zeros },
            is_alike: is_alike & is_packed_alike,
            text: if is_alike & is_text { self.place() } else { (TextPlace::default(), 0) },
        }
    }
}

/// So many keys are looked up together.
const TOGETHER: usize = 32;

impl KeyTable {
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
            known.extend(some.iter().take(count).map(|looked| match (looked.whole, looked.known) {
                (Some(whole), _) => self.wholes.get(whole).copied().unwrap_or_default(),
                (None, Some(known)) if known.zeros == looked.sought.zeros => known.number.saturating_add(1),
                (None, _) => 0,
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
            for Looked { sought, whole, hash, known } in some.iter().take(count) {
                let found = match (whole, known) {
                    (Some(whole), _) => self.find_whole(*whole, sought),
                    (None, Some(known)) => {
                        self.has_others |= known.zeros != sought.zeros;
                        Found::Known(known.number)
                    }
                    // It may be one of those before it, and have been added in the meantime.
                    (None, None) => self.find_hashed(*hash, sought, ci),
                };
                each(self, found);
            }
        }
    }

    /// Looks the next keys of an owner up: how many there were.
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
            let sought = match whole {
                Some(_) => Sought { text: key, ..Sought::default() },
                None => Sought::new(owner, key),
            };
            let hash = if whole.is_none() { self.hash(&sought) } else { 0 };
            *looked = Looked { sought, whole, hash, known: None };
            count += 1;
        }
        self.look_up_all(some.get_mut(..count).unwrap_or_default());
        count
    }

    /// Looks up keys of which the hashes are told, [`TOGETHER`] at most. Each step reads for all of them what the one before has told, in a loop so short that
    /// the processor looks far ahead in it: these reads do not wait for one another.
    #[inline]
    fn look_up_all(&self, some: &mut [Looked<'_>]) {
        let mut glances = [Glance::default(); TOGETHER];
        for (glance, looked) in glances.iter_mut().zip(&*some) {
            *glance = self.slots.glance(looked.hash);
        }
        let mut all = [Likely::default(); TOGETHER];
        for ((likely, glance), looked) in all.iter_mut().zip(&glances).zip(&*some) {
            let entry = self.slots.likely(*glance).and_then(|place| self.entries.get(place as usize));
            if let Some(entry) = entry {
                *likely = entry.as_likely(&looked.sought);
            }
        }
        let mut last = [[0; LAST_BYTES]; TOGETHER];
        for (last, likely) in last.iter_mut().zip(&all) {
            *last = self.texts.last(likely.text.0, likely.text.1);
        }
        for ((looked, likely), last) in some.iter_mut().zip(&all).zip(&last) {
            let Sought { text, packed, .. } = &looked.sought;
            let is_same = packed.form != Form::TEXT
                || text.last_chunk() == Some(last)
                    && is_same(self.texts.get(likely.text.0, likely.text.1), text);
            looked.known = (likely.is_alike && is_same).then_some(likely.known);
        }
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
            let (mut some, mut numbers, mut count) = ([Looked::default(); TOGETHER], [0; TOGETHER], 0);
            for ((looked, number), entry) in some.iter_mut().zip(&mut numbers).zip(firsts.by_ref()) {
                let sought = other.sought(entry, owner_of(entry.owner));
                *looked = Looked { sought, hash: self.hash(&sought), ..Looked::default() };
                *number = entry.number;
                count += 1;
            }
            self.look_up_all(some.get_mut(..count).unwrap_or_default());
            for (Looked { sought, hash, known, .. }, number) in some.iter().zip(&numbers).take(count) {
                // One of those before it may have been added in the meantime.
                let known = known.map(|known| known.number);
                let found = match known.or_else(|| self.look_up(*hash, sought)) {
                    Some(known) => Found::Known(known),
                    None => {
                        let next = self.next();
                        self.insert(*hash, sought, next);
                        Found::New(next)
                    }
                };
                each(self, sought.owner, *number, found)?;
            }
        }
        Ok(())
    }
}
