//! Numbers of keys that outlive a query: who groups by a path again need not look its texts up again.
//!
//! Of a path that comes a second time as a group's key there is a table of its keys over all blocks, and each dictionary that stays in memory from query to query
//! has the numbers of its texts in it. Keys are added and never changed, so that no number is ever wrong; what comes with new blocks is added when these come.

use crate::allocated::Pages;
use crate::dictionary::{Dictionary, EntryNumbers, SpellsKeys};
use crate::key_table::{Found, Kept, KeyTable, Spelling, is_its_canonical_text};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, Weak};

/// The tables of keys that queries of a source share, by path, up to a number of bytes. It belongs to the source's cache, and counts as part of it.
#[derive(Debug)]
pub struct KeyNumbers(Arc<Tables>);

#[derive(Debug)]
struct Tables {
    bytes_max: usize,
    by_path: Mutex<HashMap<Box<str>, Asked>>,
    held_bytes: AtomicUsize,
    /// What tables take that are given up and that queries use yet.
    left_bytes: AtomicUsize,
    /// How often a path was asked for.
    turns: AtomicU64,
}

/// A path that was asked for.
#[derive(Debug)]
struct Asked {
    table: Table,
    used: u64,
}

#[derive(Debug)]
enum Table {
    /// There is none yet.
    Once,
    Kept(Arc<KeptKeys>),
    /// It took too much memory.
    TooLarge,
}

/// The most paths, which bounds the memory; a further one takes the place of the one used longest ago.
const PATHS_MAX: usize = 64;

/// The memory that a path takes beside its keys.
const PATH_BYTES: usize = 256;

/// The keys of a path.
#[derive(Debug)]
pub(crate) struct KeptKeys {
    /// Tells it from all others.
    id: u64,
    /// Who uses the table has all of this; dictionaries whose texts stand in it have its keys only.
    keys: Arc<SharedKeys>,
    held_bytes: AtomicUsize,
    /// Whether the memory is needed otherwise: nothing is added any more, and whoever uses it ends that soon.
    is_given_up: Arc<AtomicBool>,
    tables: Weak<Tables>,
}

/// The keys themselves, as long as anybody uses them.
#[derive(Debug)]
struct SharedKeys {
    keys: RwLock<Arc<NumberedKeys>>,
    /// What they take once their table is given up.
    left_bytes: AtomicUsize,
    tables: Weak<Tables>,
}

/// Keys by number.
#[derive(Clone, Default)]
pub(crate) struct NumberedKeys {
    table: KeyTable,
    /// The spelling in which each came first.
    firsts: Pages<Kept>,
    /// Whether that is its canonical text, which is no other's.
    are_canonical: Pages<bool>,
}

impl KeyNumbers {
    /// Tables of at most so many bytes together.
    pub fn new(bytes_max: usize) -> KeyNumbers {
        KeyNumbers(Arc::new(Tables {
            bytes_max,
            by_path: Mutex::default(),
            held_bytes: AtomicUsize::new(0),
            left_bytes: AtomicUsize::new(0),
            turns: AtomicU64::new(0),
        }))
    }

    /// What they take, in bytes.
    pub fn held_bytes(&self) -> usize {
        self.0.held_bytes.load(Relaxed) + self.0.left_bytes.load(Relaxed)
    }

    /// Gives up tables until the others take at most so many bytes, those first that were used longest ago. Those that queries use now go only where all take more than
    /// `in_use_max`, which is no less: the queries would have to hold their keys themselves.
    pub fn shrink(&self, bytes_max: usize, in_use_max: usize) {
        let mut by_path = self.0.lock();
        // What is known of paths without a table stays as well, which takes little.
        self.0.shrink(&mut by_path, bytes_max, |table| !table.is_unused());
        self.0.shrink(&mut by_path, in_use_max, |_| false);
    }

    /// Takes note that a query groups by a path: its keys, if that was so before and they may be kept.
    pub(crate) fn ask(&self, path: &str) -> Option<Arc<KeptKeys>> {
        let Tables { bytes_max, turns, .. } = &*self.0;
        if *bytes_max == 0 {
            return None;
        }
        let turn = turns.fetch_add(1, Relaxed);
        let mut by_path = self.0.lock();
        if let Some(asked) = by_path.get_mut(path) {
            asked.used = turn;
            if matches!(asked.table, Table::Once) {
                asked.table = Table::Kept(Arc::new(KeptKeys::new(Arc::downgrade(&self.0))));
            }
            return match &asked.table {
                Table::Kept(table) => Some(table.clone()),
                Table::Once | Table::TooLarge => None,
            };
        }
        if by_path.len() >= PATHS_MAX {
            let oldest = by_path.iter().min_by_key(|(_, asked)| asked.used).map(|(path, _)| path.clone());
            self.0.remove(&mut by_path, &oldest?);
        }
        self.0.held_bytes.fetch_add(PATH_BYTES + path.len(), Relaxed);
        by_path.insert(path.into(), Asked { table: Table::Once, used: turn });
        None
    }
}

impl Tables {
    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Asked>> {
        // The map is never left half changed.
        self.by_path.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up tables, but none that is to be spared. What is known of paths without a table goes last: it takes little.
    fn shrink(
        &self,
        by_path: &mut HashMap<Box<str>, Asked>,
        bytes_max: usize,
        is_spared: impl Fn(&Table) -> bool,
    ) {
        while self.held_bytes.load(Relaxed) > bytes_max {
            let others = by_path.iter().filter(|(_, asked)| !is_spared(&asked.table));
            let rank = |asked: &Asked| (!matches!(asked.table, Table::Kept(_)), asked.used);
            let oldest = others.min_by_key(|(_, asked)| rank(asked)).map(|(path, _)| path.clone());
            let Some(oldest) = oldest else { return };
            match by_path.get_mut(&oldest) {
                Some(asked) if asked.table.is_too_large(bytes_max) => self.give_up(asked),
                _ => self.remove(by_path, &oldest),
            }
        }
    }

    fn remove(&self, by_path: &mut HashMap<Box<str>, Asked>, path: &str) {
        let Some(asked) = by_path.remove(path) else { return };
        self.held_bytes.fetch_sub(PATH_BYTES + path.len() + asked.table.give_up(), Relaxed);
    }

    /// Gives a table up for good: it would be begun by each query again, and never be complete.
    fn give_up(&self, asked: &mut Asked) {
        let given_up = std::mem::replace(&mut asked.table, Table::TooLarge);
        self.held_bytes.fetch_sub(given_up.give_up(), Relaxed);
    }

    /// Makes room for a table that has grown. One that takes too much by itself is given up.
    fn make_room_for(&self, table: &KeptKeys) {
        if self.held_bytes.load(Relaxed) <= self.bytes_max {
            return;
        }
        let mut by_path = self.lock();
        let is_it = |other: &Table| matches!(other, Table::Kept(kept) if kept.id == table.id);
        self.shrink(&mut by_path, self.bytes_max, is_it);
        if self.held_bytes.load(Relaxed) > self.bytes_max
            && let Some(asked) = by_path.values_mut().find(|asked| is_it(&asked.table))
        {
            self.give_up(asked);
        }
    }
}

impl Table {
    /// Whether it has no room by itself beside what the very query takes that uses it.
    fn is_too_large(&self, bytes_max: usize) -> bool {
        match self {
            Table::Kept(table) => table.held_bytes.load(Relaxed) > bytes_max && !self.is_unused(),
            Table::Once | Table::TooLarge => false,
        }
    }

    /// Whether there is one that no query uses now.
    fn is_unused(&self) -> bool {
        matches!(self, Table::Kept(table) if Arc::strong_count(table) == 1)
    }

    /// Nothing is added any more: how many bytes are free once nobody reads it.
    fn give_up(&self) -> usize {
        match self {
            Table::Kept(table) => table.give_up(),
            Table::Once | Table::TooLarge => 0,
        }
    }
}

impl KeptKeys {
    fn new(tables: Weak<Tables>) -> KeptKeys {
        static IDS: AtomicU64 = AtomicU64::new(0);
        KeptKeys {
            id: IDS.fetch_add(1, Relaxed),
            keys: Arc::new(SharedKeys {
                keys: RwLock::default(),
                left_bytes: AtomicUsize::new(0),
                tables: tables.clone(),
            }),
            held_bytes: AtomicUsize::new(0),
            is_given_up: Arc::default(),
            tables,
        }
    }

    /// Whether whoever uses it is to do without.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Relaxed)
    }

    /// Nothing is added from now on: how many bytes it takes, which are free once nobody reads it.
    fn give_up(&self) -> usize {
        let _nobody_adds = self.keys.keys.write();
        self.is_given_up.store(true, Relaxed);
        let bytes = self.held_bytes.swap(0, Relaxed);
        if let Some(tables) = self.tables.upgrade() {
            tables.left_bytes.fetch_add(bytes, Relaxed);
            self.keys.left_bytes.fetch_add(bytes, Relaxed);
        }
        bytes
    }

    /// The keys as they are now, while others may add to them.
    pub(crate) fn snapshot(&self) -> Arc<NumberedKeys> {
        self.read().clone()
    }

    /// The keys, to which nothing is added meanwhile.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Arc<NumberedKeys>> {
        self.keys.read()
    }

    /// The numbers of a dictionary's texts. They are given once it comes again, since one that is made for each query anew would never be asked again; none where they are not
    /// given.
    pub(crate) fn numbers_of(&self, dictionary: &Dictionary, is_again: bool) -> Option<Arc<EntryNumbers>> {
        let known = dictionary.numbers().filter(|numbers| numbers.table == self.id);
        if known.is_some() || !is_again {
            return known;
        }
        let tables = self.tables.upgrade()?;
        // Another table may have to spell its texts: never while this one is locked.
        dictionary.spell();
        let mut keys = self.keys.keys.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
        let known = dictionary.numbers().filter(|numbers| numbers.table == self.id);
        if known.is_some() || self.is_given_up() {
            return known;
        }
        let own = Arc::make_mut(&mut keys);
        let (numbers, spelled_otherwise) = own.add(dictionary);
        let bytes = own.held_bytes();
        let before = self.held_bytes.swap(bytes, Relaxed);
        // Less where it was copied, as somebody reads what it was: a copy has no room to spare. Both wrap alike.
        tables.held_bytes.fetch_add(bytes.wrapping_sub(before), Relaxed);
        let is_given_up = self.is_given_up.clone();
        let firsts = dictionary.firsts().map(Option::unwrap_or_default).collect();
        let keys_of = Arc::downgrade(&self.keys);
        let numbers = Arc::new(EntryNumbers {
            table: self.id,
            is_given_up,
            keys: keys_of,
            numbers,
            firsts,
            spelled_otherwise,
        });
        dictionary.keep_numbers(&numbers);
        drop(keys);
        tables.make_room_for(self);
        Some(numbers)
    }
}

impl SharedKeys {
    fn read(&self) -> RwLockReadGuard<'_, Arc<NumberedKeys>> {
        // Keys are added one by one, so that what panics leaves fewer at worst.
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpellsKeys for SharedKeys {
    fn spell(&self, numbers: &[u32], each: &mut dyn FnMut(&[u8])) {
        let keys = self.read();
        numbers.iter().for_each(|number| each(&keys.first(*number)));
    }
}

impl Drop for SharedKeys {
    fn drop(&mut self) {
        if let Some(tables) = self.tables.upgrade() {
            tables.left_bytes.fetch_sub(*self.left_bytes.get_mut(), Relaxed);
        }
    }
}

impl NumberedKeys {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.firsts.len()
    }

    /// The spelling in which a key came first.
    pub(crate) fn first(&self, number: u32) -> Spelling<'_> {
        let first = self.kept_first(number);
        first.map_or(Spelling::Text(&[]), |(table, first)| table.spelling(first))
    }

    /// The same as it is kept in a table.
    #[inline]
    pub(crate) fn kept_first(&self, number: u32) -> Option<(&KeyTable, Kept)> {
        self.firsts.get(number as usize).map(|first| (&self.table, *first))
    }

    /// The number of a key in any spelling, if it has one.
    pub(crate) fn known(&self, json: &[u8]) -> Option<u32> {
        self.table.known(0, json, false)
    }

    /// For each of some texts one more than the number of its key, where that is known in this spelling; 0 for all others.
    pub(crate) fn look_ahead<'t>(&self, texts: impl Iterator<Item = &'t [u8]>, known: &mut Vec<u32>) {
        self.table.look_ahead(0, texts, known);
    }

    fn held_bytes(&self) -> usize {
        self.table.held_bytes() + self.firsts.bytes() + self.are_canonical.bytes()
    }

    /// Adds the texts of a dictionary: their numbers, and which of them are spelled otherwise than before.
    fn add(&mut self, dictionary: &Dictionary) -> (Box<[u32]>, Box<[u32]>) {
        let NumberedKeys { table, firsts, are_canonical } = self;
        let mut numbers = Vec::with_capacity(dictionary.len());
        let mut otherwise = Vec::new();
        let texts = (0..dictionary.len() as u32).map(|entry| dictionary.get(entry));
        table.find_all(0, false, texts, |table, found| {
            let entry = numbers.len() as u32;
            let text = dictionary.get(entry);
            // A key in its canonical text need not be looked at again where that came first.
            let is_canonical = is_its_canonical_text(text, false);
            match found {
                Found::New(_) => {
                    firsts.push(table.last_spelling());
                    are_canonical.push(is_canonical);
                }
                Found::Known(number) => {
                    let is_first_canonical = are_canonical.get(number as usize) == Some(&true);
                    let first = || firsts.get(number as usize).map(|first| table.spelling(*first));
                    if !(is_canonical && is_first_canonical) && first().is_none_or(|first| *first != *text) {
                        otherwise.push(entry);
                    }
                }
            }
            numbers.push(found.number());
        });
        (numbers.into(), otherwise.into())
    }
}

impl std::fmt::Debug for NumberedKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NumberedKeys").field("keys", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(keys: std::ops::Range<u32>) -> Dictionary {
        let texts: Vec<String> = keys.map(|key| format!("\"the key of the number {key}\"")).collect();
        Dictionary::of(texts.iter().map(|text| text.as_bytes()))
    }

    #[test]
    fn a_table_that_is_copied_while_it_is_read_is_counted_as_it_is() {
        let numbers = KeyNumbers::new(1 << 20);
        let kept = number(&numbers, "a", 0..1000).unwrap();
        for keys in 0..20 {
            let _snapshot = kept.snapshot();
            // A key more, in a copy that has no room to spare.
            let dictionary = dictionary(1000 + keys..1001 + keys);
            assert!(
                kept.numbers_of(&dictionary, false).is_none() && kept.numbers_of(&dictionary, true).is_some()
            );
        }
        let of_paths = numbers.held_bytes() - kept.held_bytes.load(Relaxed);
        assert_eq!(of_paths, PATH_BYTES + 1);
    }

    /// Numbers the keys of a path, as the second query that groups by it.
    fn number(numbers: &KeyNumbers, path: &str, keys: std::ops::Range<u32>) -> Option<Arc<KeptKeys>> {
        numbers.ask(path);
        let kept = numbers.ask(path)?;
        let dictionary = dictionary(keys);
        assert!(kept.numbers_of(&dictionary, false).is_none(), "it comes the first time");
        kept.numbers_of(&dictionary, true).map(|_| kept)
    }

    fn check_sum(numbers: &KeyNumbers) {
        let by_path = numbers.0.lock();
        let of = |asked: &Asked| match &asked.table {
            Table::Kept(kept) => kept.held_bytes.load(Relaxed),
            Table::Once | Table::TooLarge => 0,
        };
        let bytes = by_path.iter().map(|(path, asked)| PATH_BYTES + path.len() + of(asked));
        let held_bytes = numbers.0.held_bytes.load(Relaxed);
        assert_eq!(held_bytes, bytes.sum::<usize>());
        assert!(held_bytes <= numbers.0.bytes_max);
    }

    #[test]
    fn equal_keys_of_dictionaries_have_a_number_in_common() {
        let numbers = KeyNumbers::new(1 << 20);
        let kept = number(&numbers, "a", 0..100).unwrap();
        let other = dictionary(50..150);
        kept.numbers_of(&other, true);
        let of_other = kept.numbers_of(&other, true).unwrap();
        assert!(of_other.numbers.iter().copied().eq(50..150));
        assert!(of_other.spelled_otherwise.is_empty());
        assert!(other.held_bytes() > dictionary(50..150).held_bytes(), "numbers count as part of it");
        let spelled = Dictionary::of([&b"1"[..], b"1.0", b"2", b"1.00"].into_iter());
        kept.numbers_of(&spelled, true);
        let numbered = kept.numbers_of(&spelled, true).unwrap();
        assert_eq!(
            (&*numbered.numbers, &*numbered.spelled_otherwise),
            (&[150, 150, 151, 150][..], &[1, 3][..])
        );
        assert_eq!(kept.snapshot().known(b"1e0"), Some(150));
        check_sum(&numbers);
    }

    #[test]
    fn a_dictionary_without_its_texts_has_them_from_the_table_until_that_is_given_up() {
        let numbers = KeyNumbers::new(1 << 20);
        let kept = number(&numbers, "a", 0..100).unwrap();
        let with_texts = dictionary(50..250).with_nothing_first();
        assert!(with_texts.numbered().is_none(), "no table has them yet");
        kept.numbers_of(&with_texts, true).unwrap();
        let numbered = with_texts.numbered().unwrap();
        assert!(numbered.held_bytes() < with_texts.held_bytes() / 3);
        let without = numbered.dictionary().unwrap();
        assert_eq!(without.len(), with_texts.len());
        assert!(without.firsts().eq(with_texts.firsts()));
        assert!(kept.numbers_of(&without, false).is_some(), "it has its numbers");
        let before = without.held_bytes();
        assert!((0..201).all(|text| without.get(text) == with_texts.get(text)));
        assert!(without.held_bytes() > before, "texts are spelled once they are asked for");
        // Another spelling of a key would be lost.
        let otherwise = [r#""\u0074he key of the number 7""#.to_owned(), format!("\"{}\"", "x".repeat(5000))];
        let otherwise = Dictionary::of(otherwise.iter().map(|text| text.as_bytes()));
        kept.numbers_of(&otherwise, true).unwrap();
        assert!(otherwise.numbered().is_none());
        numbers.shrink(0, 0);
        assert!(numbered.dictionary().is_none() && numbered.are_left_in_table());
        // Who has it already reads on, and what that takes is counted.
        drop(kept);
        assert!(without.is_left_in_table() && numbers.held_bytes() > 0);
        assert_eq!(without.get(200), with_texts.get(200));
        drop(without);
        assert_eq!(numbers.held_bytes(), 0);
    }

    #[test]
    fn tables_that_were_used_longest_ago_make_room_and_one_that_is_too_large_is_given_up() {
        let alone = KeyNumbers::new(1 << 20);
        number(&alone, "a", 0..1000);
        let numbers = KeyNumbers::new(alone.held_bytes() / 2 * 5);
        let a = number(&numbers, "a", 0..1000).unwrap();
        let b = number(&numbers, "b", 0..1000).unwrap();
        assert!(!a.is_given_up() && !b.is_given_up());
        numbers.ask("a");
        let c = number(&numbers, "c", 0..1000).unwrap();
        assert!(!a.is_given_up() && b.is_given_up() && !c.is_given_up());
        check_sum(&numbers);
        let large = number(&numbers, "large", 0..10_000).unwrap();
        assert!(large.is_given_up() && numbers.ask("large").is_none());
        check_sum(&numbers);
        // Whoever uses it still reads what it has, and adds nothing.
        assert_eq!(large.read().len(), 10_000);
        let new = dictionary(0..5);
        new.are_keys_again();
        assert!(large.numbers_of(&new, true).is_none());
        numbers.shrink(0, 0);
        check_sum(&numbers);
        // What is given up is counted as long as somebody uses it.
        assert!(numbers.held_bytes() > alone.held_bytes());
        drop((a, b, c, large));
        assert_eq!(numbers.held_bytes(), 0);
        assert!(numbers.ask("c").is_none() && numbers.ask("c").is_some(), "it begins anew");
    }

    #[test]
    fn a_table_that_its_own_query_has_no_room_for_is_not_begun_again() {
        let numbers = KeyNumbers::new(1 << 20);
        let kept = number(&numbers, "a", 0..1000).unwrap();
        let room = numbers.held_bytes() / 2;
        numbers.shrink(room, room);
        assert!(kept.is_given_up() && numbers.ask("a").is_none() && numbers.ask("a").is_none());
        check_sum(&numbers);
        // What nobody uses may have room when it is asked for again.
        drop(number(&numbers, "b", 0..1000));
        numbers.shrink(room, room);
        assert!(numbers.ask("b").is_none() && numbers.ask("b").is_some());
        check_sum(&numbers);
    }

    #[test]
    fn a_table_that_a_query_uses_is_given_up_last() {
        let numbers = KeyNumbers::new(1 << 20);
        let used = number(&numbers, "used", 0..1000).unwrap();
        drop(number(&numbers, "unused", 0..1000));
        numbers.ask("once");
        let both = numbers.held_bytes();
        numbers.shrink(both / 4, both);
        assert!(!used.is_given_up() && numbers.held_bytes() > both / 4);
        assert!(numbers.ask("once").is_some(), "that it was asked for takes nearly nothing");
        assert!(numbers.ask("unused").is_none());
        numbers.shrink(both / 4, both / 4);
        assert!(used.is_given_up() && numbers.held_bytes() > both / 4);
        drop(used);
        assert!(numbers.held_bytes() <= both / 4);
        check_sum(&numbers);
    }

    #[test]
    fn paths_without_end_take_no_memory() {
        let numbers = KeyNumbers::new(1 << 20);
        (0..1000).for_each(|path| _ = numbers.ask(&path.to_string()));
        assert_eq!(numbers.0.lock().len(), PATHS_MAX);
        check_sum(&numbers);
        assert!(numbers.ask("999").is_some() && numbers.ask("0").is_none());
        assert!(KeyNumbers::new(0).ask("a").is_none());
    }
}
