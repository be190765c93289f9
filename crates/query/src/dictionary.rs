//! Texts by number: the different values of a column of a block, or one for each of its rows.

use memchr::memmem::Finder;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tamias_shred::Texts;

/// JSON texts by number; empty for undefined.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
    /// Whether all is ASCII without escapes.
    is_plain: OnceLock<bool>,
    /// Whether they were keys of groups before.
    were_keys: AtomicBool,
    /// For each of them a number by which keys are shared out.
    shares: OnceLock<Box<[u8]>>,
    numbers: Mutex<Option<Arc<EntryNumbers>>>,
}

/// The numbers that a table of keys gives to the texts of a dictionary.
#[derive(Debug)]
pub(crate) struct EntryNumbers {
    /// Tells the table from all others.
    pub(crate) table: u64,
    /// Whether that is given up.
    pub(crate) is_given_up: Arc<AtomicBool>,
    pub(crate) numbers: Box<[u32]>,
    /// The texts that are spelled otherwise than the table spells their keys, in ascending order.
    pub(crate) spelled_otherwise: Box<[u32]>,
}

/// Whether text is ASCII without escapes.
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    bytes.is_ascii() && memchr::memchr(b'\\', bytes).is_none()
}

/// Whether there are escapes in a string.
pub(crate) fn has_escapes(json: &[u8]) -> bool {
    memchr::memchr(b'\\', json).is_some()
}

/// Whether every escape in a string stands for a character that is never spelled without one: half of a surrogate pair stands for none.
pub(crate) fn has_needed_escapes_only(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let escape = rest.get(at + 1..).unwrap_or_default();
        let length = match escape {
            [b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
            [b'u', b'0', b'0', b'0' | b'1', b'0'..=b'9' | b'a'..=b'f', ..] => 5,
            _ => return false,
        };
        rest = escape.get(length..).unwrap_or_default();
    }
    true
}

/// How many bytes the escape takes that some text begins with; none for one of another character than a control character, which may be half of a surrogate pair.
pub(crate) fn escape_bytes(text: &[u8]) -> Option<usize> {
    match text {
        [_, b'u', b'0', b'0', _, _, ..] => Some(r"\u0000".len()),
        [_, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Some(r"\n".len()),
        _ => None,
    }
}

/// How many characters a string has by its stored bytes, without quotes; none where an escape does not tell. Takes linear time.
pub(crate) fn characters(text: &[u8]) -> Option<usize> {
    // Each begins with a byte that continues no other.
    let mut characters = text.iter().filter(|byte| !(0x80..0xc0).contains(*byte)).count();
    let mut next = 0;
    for at in memchr::memchr_iter(b'\\', text) {
        if at >= next {
            let bytes = escape_bytes(text.get(at..).unwrap_or_default())?;
            characters = characters.saturating_sub(bytes - 1);
            next = at + bytes;
        }
    }
    Some(characters)
}

impl From<Texts<'_>> for Dictionary {
    fn from(texts: Texts<'_>) -> Dictionary {
        let (ends, bytes) = texts.into_parts();
        Dictionary::new(bytes.into_owned(), ends)
    }
}

impl Dictionary {
    /// Texts that stand one after another, and where each ends.
    pub(crate) fn new(bytes: Vec<u8>, ends: Vec<u32>) -> Dictionary {
        Dictionary { bytes, ends, ..Dictionary::default() }
    }

    /// These texts, in their order.
    pub(crate) fn of<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Dictionary {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(texts.size_hint().0));
        for text in texts {
            bytes.extend_from_slice(text);
            ends.push(bytes.len() as u32);
        }
        Dictionary::new(bytes, ends)
    }

    /// These texts and then those of another; none where that takes more bytes than so many.
    pub(crate) fn followed_by(&self, other: &Dictionary, bytes_max: usize) -> Option<Dictionary> {
        if self.bytes.len() + other.bytes.len() > bytes_max {
            return None;
        }
        let behind = self.bytes.len() as u32;
        let ends = self.ends.iter().copied().chain(other.ends.iter().map(|end| behind + end));
        Some(Dictionary::new([&*self.bytes, &*other.bytes].concat(), ends.collect()))
    }

    /// These texts behind an empty one.
    pub(crate) fn with_nothing_first(mut self) -> Dictionary {
        self.ends.insert(0, 0);
        self
    }

    /// A text for each of so many rows: these for some, in ascending order, and empty ones for the others.
    pub(crate) fn spread(self, with_one: &[u32], rows: usize) -> Dictionary {
        let mut ends = Vec::with_capacity(rows);
        let mut end = 0;
        for (row, own) in with_one.iter().zip(&self.ends) {
            ends.resize((*row as usize).min(rows), end);
            ends.push(*own);
            end = *own;
        }
        ends.resize(rows, end);
        Dictionary::new(self.bytes, ends)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A text; empty where there is none.
    #[inline]
    pub(crate) fn get(&self, code: u32) -> &[u8] {
        let code = code as usize;
        let end = self.ends.get(code).copied().unwrap_or_default();
        let start = code.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.bytes.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The first byte of each text.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = Option<u8>> {
        (0..self.ends.len() as u32).map(|text| self.get(text).first().copied())
    }

    /// Marks the texts in which something is found: the place of its beginning in the bytes that are given.
    pub(crate) fn mark(&self, marks: &mut [bool], find: impl Fn(&[u8]) -> Option<usize>) {
        self.each_found(find, |text, _| {
            if let Some(mark) = marks.get_mut(text) {
                *mark = true;
            }
        });
    }

    /// Calls for each text in which something is found, with its number and with the bytes of all texts up to the first place where it stands.
    pub(crate) fn each_found(
        &self,
        find: impl Fn(&[u8]) -> Option<usize>,
        mut act: impl FnMut(usize, &[u8]),
    ) {
        let (mut from, mut text) = (0, 0);
        while let Some(found) = self.bytes.get(from..).and_then(&find) {
            let at = from + found;
            // The text that it lies in is not far where many have one, and else the search takes longer.
            while self.ends.get(text).is_some_and(|end| *end as usize <= at) {
                text += 1;
            }
            let Some(end) = self.ends.get(text) else { return };
            act(text, self.bytes.get(..at).unwrap_or_default());
            from = *end as usize;
        }
    }

    /// Marks the texts that are so.
    pub(crate) fn mark_each(&self, marks: &mut [bool], is_so: impl Fn(&[u8]) -> bool) {
        let mut start = 0;
        for (mark, end) in marks.iter_mut().zip(&self.ends) {
            let end = *end as usize;
            *mark |= self.bytes.get(start..end).is_some_and(&is_so);
            start = end;
        }
    }

    /// Whether all texts are ASCII without escapes.
    pub(crate) fn is_plain(&self) -> bool {
        *self.is_plain.get_or_init(|| is_plain(&self.bytes))
    }

    /// Whether there are no other values than strings.
    pub(crate) fn has_strings_only(&self) -> bool {
        self.firsts().all(|first| matches!(first, None | Some(b'"')))
    }

    /// Whether a text may be found in one of them: or else where one ends and the next begins.
    pub(crate) fn has(&self, finder: &Finder<'_>) -> bool {
        finder.find(&self.bytes).is_some()
    }

    /// Whether a byte of the texts is so.
    pub(crate) fn has_byte(&self, is_so: impl Fn(u8) -> bool) -> bool {
        /// Looked at without a branch.
        const TOGETHER: usize = 1024;
        let mut some = self.bytes.chunks(TOGETHER);
        some.any(|some| some.iter().fold(false, |found, byte| found | is_so(*byte)))
    }

    /// Whether there are escapes in a text.
    pub(crate) fn has_escapes(&self) -> bool {
        has_escapes(&self.bytes)
    }

    /// Whether each text has the one spelling that strings which read alike share: what is escaped has to be.
    pub(crate) fn has_needed_escapes_only(&self) -> bool {
        has_needed_escapes_only(&self.bytes)
    }

    /// Whether equal values are spelled alike: strings are, and words, but for numbers and collections there are several spellings.
    pub(crate) fn has_one_spelling_each(&self) -> bool {
        self.firsts().all(|first| matches!(first, None | Some(b'"' | b'n' | b't' | b'f')))
            && self.has_needed_escapes_only()
    }

    /// Takes note that they are keys of groups: whether they were before, so that they most likely are again.
    pub(crate) fn are_keys_again(&self) -> bool {
        self.were_keys.swap(true, Relaxed)
    }

    /// Whether they were keys of groups before, without taking note of it.
    pub(crate) fn were_keys(&self) -> bool {
        self.were_keys.load(Relaxed)
    }

    /// For each text the number by which keys are shared out: told once, by what tells that of any text.
    pub(crate) fn shares(&self, share: impl Fn(&[u8]) -> u8) -> &[u8] {
        self.shares.get_or_init(|| (0..self.len() as u32).map(|text| share(self.get(text))).collect())
    }

    /// The numbers that a table of keys has given them.
    pub(crate) fn numbers(&self) -> Option<Arc<EntryNumbers>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a table of keys that is still kept has given them numbers.
    pub(crate) fn has_numbers(&self) -> bool {
        self.numbers().is_some_and(|numbers| !numbers.is_given_up.load(Relaxed))
    }

    /// Keeps the numbers that a table of keys has given them, instead of those of another table.
    pub(crate) fn keep_numbers(&self, numbers: &Arc<EntryNumbers>) {
        *self.numbers.lock().unwrap_or_else(PoisonError::into_inner) = Some(numbers.clone());
    }

    /// How many bytes all texts have.
    pub(crate) fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Marks the texts that have an escape, or characters beyond ASCII.
    pub(crate) fn mark_unplain(&self, marks: &mut [bool]) {
        if self.is_plain() {
            return;
        }
        for (text, mark) in marks.iter_mut().enumerate() {
            *mark |= !is_plain(self.get(text as u32));
        }
    }

    /// What it takes in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let numbers = self
            .numbers()
            .map_or(0, |numbers| size_of_val(&*numbers.numbers) + size_of_val(&*numbers.spelled_otherwise));
        let shares = self.shares.get().map_or(0, |shares| shares.len());
        self.bytes.capacity() + self.ends.capacity() * size_of::<u32>() + numbers + shares
    }
}
