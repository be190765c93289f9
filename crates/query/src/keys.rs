//! The keys of a query, told apart: by numbers that outlive queries where there are some, and else by their texts.

mod by_mantissa;

use crate::allocated::Pages;
use crate::chunk::Mantissas;
use crate::dictionary::{Dictionary, EntryNumbers};
use crate::key_numbers::{KeptKeys, NumberedKeys};
use crate::key_table::{Found, Kept, KeyTable, Spelling, TOGETHER};
use crate::value::{Value, write_json};
use by_mantissa::MantissaKeys;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Keys, each with the number of how many came before it.
///
/// Those of dictionaries that stay in memory are found by [their numbers](KeptKeys) without a look at their texts. What has no number is looked up by its text, and
/// from the first such key on all new ones are in a table of the query's own, too.
#[derive(Default)]
pub(crate) struct Keys {
    ci: bool,
    kept: Option<KnownHere>,
    /// Of the first keys their numbers among those that are kept: no other table has these.
    numbers: Pages<u32>,
    /// The keys as long as all of them are numbers of one scale: no other table has these, and there are no others.
    mantissas: MantissaKeys,
    /// The keys behind those that have numbers.
    own: KeyTable,
    /// The first spelling of each of these.
    firsts: Pages<Kept>,
    /// How many texts were looked up while keys had numbers only.
    texts: usize,
    /// Whether they are some of the keys of a query: others take the same dictionaries up.
    are_part: bool,
}

/// Keys that outlive queries, with what they are called here.
struct KnownHere {
    keys: Arc<KeptKeys>,
    /// For each of their numbers one more than the number here; 0 where it was not met.
    here: Vec<u32>,
    /// As they are once all keys are met.
    closed: OnceLock<Arc<NumberedKeys>>,
}

/// The texts of a dictionary, with the numbers that they have as keys.
#[derive(Clone, Default)]
pub(crate) struct KeyTexts {
    dictionary: Arc<Dictionary>,
    numbers: Option<Arc<EntryNumbers>>,
}

/// A key that was looked up.
#[derive(Clone, Copy)]
pub(crate) struct Met {
    pub(crate) found: Found,
    /// Whether it is spelled as it will be [told](Keys::first); of one that was known, false where that takes longer to say.
    pub(crate) is_told: bool,
}

/// A key that was taken in from others.
pub(crate) struct Taken<'t> {
    /// Its number there.
    pub(crate) there: u32,
    pub(crate) found: Found,
    /// Whether it is [told](Keys::first) here as it is there.
    pub(crate) is_alike: bool,
    /// What the keys here take by now.
    pub(crate) bytes: &'t dyn Fn() -> usize,
}

/// So many mantissas are spelled before their texts are looked up together.
const SPELLED_TOGETHER: usize = 1024;

/// Where so many texts are looked up for a key that has a number only, all keys had better be found by their texts.
const TEXTS_SHARE: usize = 4;

impl KnownHere {
    fn new(keys: Arc<KeptKeys>) -> KnownHere {
        let here = vec![0; keys.read().len()];
        KnownHere { keys, here, closed: OnceLock::new() }
    }

    #[inline]
    fn get(&self, number: u32) -> Option<u32> {
        self.here.get(number as usize).and_then(|here| here.checked_sub(1))
    }

    fn set(&mut self, number: u32, here: u32) {
        if number as usize >= self.here.len() {
            self.here.resize(number as usize + 1, 0);
        }
        if let Some(place) = self.here.get_mut(number as usize) {
            *place = here.saturating_add(1);
        }
    }

    fn closed(&self) -> &NumberedKeys {
        self.closed.get_or_init(|| self.keys.snapshot())
    }
}

impl KeyTexts {
    pub(crate) fn is_of(&self, dictionary: &Arc<Dictionary>) -> bool {
        Arc::ptr_eq(&self.dictionary, dictionary)
    }

    pub(crate) fn are_numbered(&self) -> bool {
        self.numbers.is_some()
    }
}

impl Met {
    /// What was found in a table of a query's own.
    #[inline]
    fn of(found: Found, table: &KeyTable) -> Met {
        Met { found, is_told: matches!(found, Found::New(_)) || !table.has_others() }
    }
}

impl Keys {
    /// None yet. With `ci` the case of letters makes no difference: several numbers may be one key, which is in the own table.
    pub(crate) fn new(ci: bool, kept: Option<Arc<KeptKeys>>) -> Keys {
        Keys { ci, kept: kept.map(KnownHere::new), ..Keys::default() }
    }

    /// Makes them a part of the keys of a query.
    pub(crate) fn be_part(&mut self) {
        self.are_part = true;
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() + self.mantissas.len() + self.firsts.len()
    }

    /// Takes a dictionary up.
    pub(crate) fn texts_of(&mut self, dictionary: &Arc<Dictionary>) -> KeyTexts {
        if self.kept.as_ref().is_some_and(|kept| kept.keys.is_given_up()) {
            self.take_all_in();
            self.kept = None;
        }
        // Of parts, who shares the rows out takes note of it.
        let are_again = if self.are_part { dictionary.were_keys() } else { dictionary.are_keys_again() };
        let numbers = self.kept.as_ref().and_then(|kept| kept.keys.numbers_of(dictionary, are_again));
        KeyTexts { dictionary: dictionary.clone(), numbers }
    }

    /// For each text of a dictionary one more than its number; 0 where it is not known, or it would take longer to tell.
    pub(crate) fn look_ahead(&self, texts: &KeyTexts, known: &mut Vec<u32>) {
        known.clear();
        let KeyTexts { dictionary, numbers } = texts;
        match (numbers, &self.kept) {
            (Some(numbers), Some(kept)) => {
                let here = |number: &u32| kept.here.get(*number as usize).copied().unwrap_or_default();
                known.extend(numbers.numbers.iter().map(here));
            }
            _ => {
                self.look_texts_ahead((0..dictionary.len() as u32).map(|entry| dictionary.get(entry)), known)
            }
        }
    }

    /// The same of some texts of a dictionary that have numbers, of more than these.
    pub(crate) fn look_numbers_ahead(&self, texts: &KeyTexts, entries: &[u32], known: &mut [u32]) {
        let (Some(numbers), Some(kept)) = (&texts.numbers, &self.kept) else { return };
        for entry in entries {
            let number = numbers.numbers.get(*entry as usize).copied().unwrap_or(u32::MAX);
            if let Some(known) = known.get_mut(*entry as usize) {
                *known = kept.here.get(number as usize).copied().unwrap_or_default();
            }
        }
    }

    /// The same of texts that stand by themselves: none is known that did not come in this spelling.
    pub(crate) fn look_texts_ahead<'t>(&self, texts: impl Iterator<Item = &'t [u8]>, known: &mut Vec<u32>) {
        match self.numbers.len() {
            0 => self.own.look_ahead(0, texts, known),
            _ => {
                known.clear();
                known.extend(texts.map(|_| 0));
            }
        }
    }

    /// Finds the keys that are texts of a dictionary.
    pub(crate) fn find_entries(
        &mut self,
        texts: &KeyTexts,
        entries: impl Iterator<Item = u32>,
        mut each: impl FnMut(Met),
    ) {
        self.spell_mantissas();
        let KeyTexts { dictionary, numbers } = texts;
        let Some(numbers) = numbers else {
            return self.find_all(entries.map(|entry| dictionary.get(entry)), each);
        };
        for entry in entries {
            let number = numbers.numbers.get(entry as usize).copied().unwrap_or_default();
            let is_told = || numbers.spelled_otherwise.binary_search(&entry).is_err();
            each(self.find_number(number, || dictionary.get(entry), is_told));
        }
    }

    /// Finds keys by their texts, which are empty for undefined.
    pub(crate) fn find_all<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>, mut each: impl FnMut(Met)) {
        self.spell_mantissas();
        if self.numbers.len() == 0 {
            let firsts = &mut self.firsts;
            self.own.find_all(0, self.ci, texts, |table, found| {
                if let Found::New(_) = found {
                    firsts.push(table.last_spelling());
                }
                each(Met::of(found, table));
            });
            return;
        }
        texts.for_each(|text| each(self.find(text)));
    }

    /// Finds keys that are numbers, one a row, and spelled alike where they are equal.
    pub(crate) fn find_numbers(&mut self, numbers: &Mantissas, mut each: impl FnMut(Met)) {
        if self.are_mantissas() && self.mantissas.takes(numbers) {
            return self.mantissas.find_all(numbers, |found| each(Met { found, is_told: true }));
        }
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(numbers.values.len()));
        for place in 0..numbers.values.len() {
            numbers.write(place, &mut bytes);
            ends.push(bytes.len() as u32);
        }
        let texts = Dictionary::new(bytes, ends);
        self.find_all((0..texts.len() as u32).map(|text| texts.get(text)), each);
    }

    /// Finds an instant, in ticks.
    pub(crate) fn find_instant(&mut self, instant: u64) -> Met {
        if self.are_mantissas()
            && let Some(found) =
                i64::try_from(instant).ok().and_then(|whole| self.mantissas.find_whole(whole))
        {
            return Met { found, is_told: true };
        }
        let mut json = Vec::new();
        write_json(&Value::from(instant), &mut json);
        self.find(&json)
    }

    /// Whether all there are are numbers of one scale, of which others may come.
    fn are_mantissas(&self) -> bool {
        self.numbers.len() + self.firsts.len() == 0
    }

    /// Takes the keys that are numbers of one scale into the own table, as others come.
    #[inline]
    fn spell_mantissas(&mut self) {
        if self.mantissas.len() > 0 {
            self.spell_all_mantissas();
        }
    }

    #[cold]
    fn spell_all_mantissas(&mut self) {
        let mantissas = std::mem::take(&mut self.mantissas);
        let (mut spellings, mut some) = (mantissas.spellings(), Vec::with_capacity(SPELLED_TOGETHER));
        loop {
            some.clear();
            some.extend(spellings.by_ref().take(SPELLED_TOGETHER));
            if some.is_empty() {
                return;
            }
            let (texts, firsts) = (some.iter().map(|spelling| &**spelling), &mut self.firsts);
            self.own.find_all(0, self.ci, texts, |table, _| firsts.push(table.last_spelling()));
        }
    }

    /// The same of one.
    pub(crate) fn find(&mut self, json: &[u8]) -> Met {
        self.spell_mantissas();
        if self.numbers.len() == 0 {
            return self.meet_own(json);
        }
        self.texts += 1;
        if self.texts > self.numbers.len() / TEXTS_SHARE {
            self.take_all_in();
            return self.find(json);
        }
        let Some(kept) = &self.kept else { return self.meet_own(json) };
        let keys = kept.keys.clone();
        let keys = keys.read();
        match keys.known(json) {
            None => self.meet_own(json),
            Some(number) => self.find_number(number, || json, || *keys.first(number) == *json),
        }
    }

    /// Finds a key by its number among those that are kept. Its text is asked for if that does not tell, and whether it is the first spelling there.
    #[inline]
    fn find_number<T: Deref<Target = [u8]>>(
        &mut self,
        number: u32,
        text: impl FnOnce() -> T,
        is_told: impl FnOnce() -> bool,
    ) -> Met {
        if let Some(here) = self.kept.as_ref().and_then(|kept| kept.get(number)) {
            let is_told = (here as usize) < self.numbers.len() && is_told();
            return Met { found: Found::Known(here), is_told };
        }
        let met = match self.firsts.len() {
            0 if !self.ci => {
                self.numbers.push(number);
                Met { found: Found::New(self.numbers.len() as u32 - 1), is_told: is_told() }
            }
            _ => self.meet_own(&text()),
        };
        if let Some(kept) = &mut self.kept {
            kept.set(number, met.found.number());
        }
        met
    }

    /// Finds a key of others: by its number where both have it from the same keys that outlive queries.
    pub(crate) fn find_of(&mut self, other: &Keys, there: u32) -> Met {
        if self.are_mantissas()
            && let Some(found) = self.mantissas.find_of(&other.mantissas, there)
        {
            return Met { found, is_told: true };
        }
        self.spell_mantissas();
        let are_same = self.has_same_kept(other);
        match other.numbers.get(there as usize) {
            Some(number) if are_same => self.find_number(*number, || other.first(there), || true),
            Some(_) | None => self.find(&other.first(there)),
        }
    }

    /// Finds a key that has no number, or none yet that tells it, and whether it is told so.
    fn meet_own(&mut self, json: &[u8]) -> Met {
        let found = self.find_own(json);
        Met::of(found, &self.own)
    }

    /// The same by what it is.
    fn find_own(&mut self, json: &[u8]) -> Found {
        let before = self.numbers.len() as u32;
        match self.own.find(0, json, self.ci) {
            Found::Known(number) => Found::Known(before + number),
            Found::New(number) => {
                self.firsts.push(self.own.last_spelling());
                Found::New(before + number)
            }
        }
    }

    /// Takes the keys that have numbers only into the own table, with those behind them.
    fn take_all_in(&mut self) {
        let Some(kept) = self.kept.as_mut().filter(|_| self.numbers.len() > 0) else { return };
        let (mut own, mut firsts) = (KeyTable::default(), Pages::default());
        let keys = kept.keys.read();
        let spellings = self.numbers.iter().map(|number| keys.first(*number));
        for spelling in spellings.chain(self.firsts.iter().map(|first| self.own.spelling(*first))) {
            own.find(0, &spelling, self.ci);
            firsts.push(own.last_spelling());
        }
        drop(keys);
        (self.own, self.firsts, self.numbers) = (own, firsts, Pages::default());
    }

    /// The spelling in which a key came first, most likely. Asked once all keys are met.
    #[inline]
    pub(crate) fn first(&self, number: u32) -> Spelling<'_> {
        if let Some(spelling) = self.mantissas.spelling(number) {
            return spelling;
        }
        self.kept_first(number).map_or(Spelling::Text(&[]), |(table, first)| table.spelling(first))
    }

    /// The same as it is kept in a table.
    #[inline]
    fn kept_first(&self, number: u32) -> Option<(&KeyTable, Kept)> {
        match (self.numbers.get(number as usize), &self.kept) {
            (Some(number), Some(kept)) => kept.closed().kept_first(*number),
            _ => {
                let first = (number as usize).wrapping_sub(self.numbers.len());
                self.firsts.get(first).map(|first| (&self.own, *first))
            }
        }
    }

    /// Reads what tells the first spellings of some keys, [`TOGETHER`] at most: all of them at once, where who asks for one after the other waits for memory each time.
    pub(crate) fn read_ahead(&self, numbers: &[u32]) {
        let mut firsts = [None; TOGETHER];
        for (first, number) in firsts.iter_mut().zip(numbers) {
            *first = self.kept_first(*number);
        }
        let begins = firsts.map(|first| first.map(|(table, first)| (table, table.text_begin(first))));
        let read = begins.iter().flatten().fold(0, |all, (table, begin)| all ^ table.byte_at(*begin));
        std::hint::black_box(read);
    }

    /// Whether a text is the spelling that is [told](Keys::first) of its key.
    pub(crate) fn is_told(&self, number: u32, json: &[u8]) -> bool {
        match (self.numbers.get(number as usize), &self.kept) {
            (Some(number), Some(kept)) => *kept.keys.read().first(*number) == *json,
            _ => *self.first(number) == *json,
        }
    }

    /// Whether all texts of a dictionary that have these numbers are spelled as they are told.
    pub(crate) fn are_all_told(&self, texts: &KeyTexts) -> bool {
        let numbers = texts.numbers.as_ref();
        !self.ci
            && self.firsts.len() == 0
            && numbers.is_some_and(|numbers| numbers.spelled_otherwise.is_empty())
    }

    /// Takes in the keys of others, to which nothing is added any more, as long as `each` does not fail, which is told of each of these.
    pub(crate) fn try_merge<E>(
        &mut self,
        other: &Keys,
        mut each: impl FnMut(Taken<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mantissas = self.mantissas.len() + other.mantissas.len();
        if self.numbers.len() + other.numbers.len() + mantissas == 0 {
            let Keys { own, firsts, .. } = self;
            return own.try_merge(
                &other.own,
                |owner| owner,
                |table, _, there, found| {
                    if let Found::New(_) = found {
                        firsts.push(table.last_spelling());
                    }
                    let spelling = firsts.get(found.number() as usize).map(|first| table.spelling(*first));
                    let is_alike = spelling.is_some_and(|spelling| *spelling == *other.first(there));
                    each(Taken { there, found, is_alike, bytes: &|| table.bytes() + firsts.bytes() })
                },
            );
        }
        for there in 0..other.len() as u32 {
            let Met { found, is_told } = self.find_of(other, there);
            let is_alike = match found {
                Found::New(_) => is_told,
                Found::Known(number) => is_told || self.is_told(number, &other.first(there)),
            };
            each(Taken { there, found, is_alike, bytes: &|| self.bytes() })?;
        }
        Ok(())
    }

    /// Takes in keys that are none of these, behind them: false, and nothing done, where they have to be looked up for that. Keys are not found any more.
    pub(crate) fn append(&mut self, other: &mut Keys) -> bool {
        if self.are_mantissas() && other.are_mantissas() && self.mantissas.append(&mut other.mantissas) {
            return true;
        }
        self.spell_mantissas();
        other.spell_mantissas();
        let (numbers, texts) =
            (self.numbers.len() + other.numbers.len(), self.firsts.len() + other.firsts.len());
        if numbers == 0 {
            let before = self.own.append(std::mem::take(&mut other.own));
            other.firsts.iter().for_each(|first| self.firsts.push(first.behind(before)));
            return true;
        }
        let are_same = self.has_same_kept(other) && texts == 0;
        if are_same {
            other.numbers.iter().for_each(|number| self.numbers.push(*number));
        }
        are_same
    }

    /// Whether both have numbers from the same keys that outlive queries.
    fn has_same_kept(&self, other: &Keys) -> bool {
        match (&self.kept, &other.kept) {
            (Some(own), Some(kept)) => Arc::ptr_eq(&own.keys, &kept.keys),
            _ => false,
        }
    }

    /// Forgets how keys are found: their numbers and spellings are all that is asked for from now on.
    pub(crate) fn close(&mut self) {
        self.own.close();
        self.mantissas.close();
        if let Some(kept) = &mut self.kept {
            kept.closed();
            kept.here = Vec::new();
        }
    }

    /// What it holds once it is closed, in bytes.
    pub(crate) fn closed_bytes(&self) -> usize {
        self.own.closed_bytes() + self.numbers.bytes() + self.mantissas.closed_bytes() + self.firsts.bytes()
    }

    /// What it has held in memory at most, in bytes; soon before it grows also what it will hold while it does.
    pub(crate) fn bytes(&self) -> usize {
        // It is as long as what is kept from the beginning.
        let here = self.kept.as_ref().map_or(0, |kept| kept.here.capacity() * size_of::<u32>());
        self.own.bytes() + self.numbers.bytes() + self.mantissas.bytes() + self.firsts.bytes() + here
    }
}

#[cfg(test)]
mod tests;
