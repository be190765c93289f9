//! Texts by number: the different values of a column of a block, or one for each of its rows.

use memchr::memmem::Finder;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tamias_shred::Texts;

/// JSON texts by number; empty for undefined.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    spelled: OnceLock<Spelled>,
    /// Where the texts are spelled once they are asked for, unless they are there from the beginning.
    in_table: Option<InTable>,
    /// Whether all is ASCII without escapes.
    is_plain: OnceLock<bool>,
    /// Whether they were keys of groups before.
    were_keys: AtomicBool,
    /// For each of them a number by which keys are shared out.
    shares: OnceLock<Arc<[u8]>>,
    numbers: Mutex<Option<Arc<EntryNumbers>>>,
}

/// Texts one after another.
#[derive(Debug, Default)]
struct Spelled {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
}

/// A table that has the texts of a dictionary, by the numbers of these.
#[derive(Debug)]
struct InTable {
    keys: Arc<dyn SpellsKeys>,
    numbers: Arc<EntryNumbers>,
}

/// What spells keys by their numbers.
pub(crate) trait SpellsKeys: std::fmt::Debug + Send + Sync {
    /// Calls for each of some keys with its text. The table is locked meanwhile, for reading: whoever has locked it must not ask for texts that it is to spell.
    fn spell(&self, numbers: &[u32], each: &mut dyn FnMut(&[u8]));
}

/// A dictionary as it is kept where memory is short, once its texts have numbers in a table of keys that is kept as well: without the texts.
#[derive(Debug)]
pub(crate) struct NumberedTexts {
    numbers: Arc<EntryNumbers>,
    shares: Option<Arc<[u8]>>,
}

/// The numbers that a table of keys gives to the texts of a dictionary.
#[derive(Debug)]
pub(crate) struct EntryNumbers {
    /// Tells the table from all others.
    pub(crate) table: u64,
    /// Whether that is given up.
    pub(crate) is_given_up: Arc<AtomicBool>,
    /// The table's keys, as long as they are there.
    pub(crate) keys: Weak<dyn SpellsKeys>,
    pub(crate) numbers: Box<[u32]>,
    /// The first byte of each text; 0 of an empty one.
    pub(crate) firsts: Box<[u8]>,
    /// The texts that are spelled otherwise than the table spells their keys, in ascending order.
    pub(crate) spelled_otherwise: Box<[u32]>,
}

impl EntryNumbers {
    fn is_given_up(&self) -> bool {
        self.is_given_up.load(Relaxed)
    }

    fn held_bytes(&self) -> usize {
        let EntryNumbers { numbers, firsts, spelled_otherwise, .. } = self;
        size_of_val(&**numbers) + firsts.len() + size_of_val(&**spelled_otherwise)
    }
}

impl NumberedTexts {
    /// The dictionary, whose texts are spelled if they are asked for; none where the table of keys is given up.
    pub(crate) fn dictionary(&self) -> Option<Dictionary> {
        let NumberedTexts { numbers, shares } = self;
        let keys = numbers.keys.upgrade().filter(|_| !numbers.is_given_up())?;
        Some(Dictionary {
            in_table: Some(InTable { keys, numbers: numbers.clone() }),
            were_keys: true.into(),
            shares: shares.clone().map_or_else(OnceLock::new, OnceLock::from),
            numbers: Mutex::new(Some(numbers.clone())),
            ..Dictionary::default()
        })
    }

    /// Whether the table that has its texts is given up.
    pub(crate) fn are_left_in_table(&self) -> bool {
        self.numbers.is_given_up()
    }

    /// Whether it knows how keys are shared out.
    pub(crate) fn has_shares(&self) -> bool {
        self.shares.is_some()
    }

    /// What it takes in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.numbers.held_bytes() + self.shares.as_ref().map_or(0, |shares| shares.len())
    }
}

/// Texts of fewer bytes are kept though a table of keys has them.
const NUMBERED_BYTES_MIN: usize = 4096;

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
        Dictionary { spelled: OnceLock::from(Spelled { bytes, ends }), ..Dictionary::default() }
    }

    /// The texts, which are spelled if they are not there.
    #[inline]
    fn spelled(&self) -> &Spelled {
        self.spelled.get_or_init(|| {
            let mut spelled = Spelled::default();
            if let Some(InTable { keys, numbers }) = &self.in_table {
                spelled.ends.reserve_exact(numbers.numbers.len());
                keys.spell(&numbers.numbers, &mut |text| {
                    spelled.bytes.extend_from_slice(text);
                    spelled.ends.push(spelled.bytes.len() as u32);
                });
            }
            spelled
        })
    }

    /// Spells the texts, if they are not there.
    pub(crate) fn spell(&self) {
        self.spelled();
    }

    /// The texts themselves.
    fn into_spelled(self) -> Spelled {
        self.spelled();
        self.spelled.into_inner().unwrap_or_default()
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
        let (own, other) = (self.spelled(), other.spelled());
        if own.bytes.len() + other.bytes.len() > bytes_max {
            return None;
        }
        let behind = own.bytes.len() as u32;
        let ends = own.ends.iter().copied().chain(other.ends.iter().map(|end| behind + end));
        Some(Dictionary::new([&*own.bytes, &*other.bytes].concat(), ends.collect()))
    }

    /// These texts behind an empty one.
    pub(crate) fn with_nothing_first(self) -> Dictionary {
        let Spelled { bytes, mut ends } = self.into_spelled();
        ends.insert(0, 0);
        Dictionary::new(bytes, ends)
    }

    /// A text for each of so many rows: these for some, in ascending order, and empty ones for the others.
    pub(crate) fn spread(self, with_one: &[u32], rows: usize) -> Dictionary {
        let own = self.into_spelled();
        let mut ends = Vec::with_capacity(rows);
        let mut end = 0;
        for (row, own) in with_one.iter().zip(&own.ends) {
            ends.resize((*row as usize).min(rows), end);
            ends.push(*own);
            end = *own;
        }
        ends.resize(rows, end);
        Dictionary::new(own.bytes, ends)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match (self.spelled.get(), &self.in_table) {
            (None, Some(InTable { numbers, .. })) => numbers.numbers.len(),
            (spelled, _) => spelled.map_or(0, |spelled| spelled.ends.len()),
        }
    }

    /// A text; empty where there is none.
    #[inline]
    pub(crate) fn get(&self, code: u32) -> &[u8] {
        let Spelled { bytes, ends } = self.spelled();
        let code = code as usize;
        let end = ends.get(code).copied().unwrap_or_default();
        let start = code.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or_default();
        bytes.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Each text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len() as u32).map(|text| self.get(text))
    }

    /// The first byte of each text.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = Option<u8>> {
        (0..self.len() as u32).map(|text| self.first(text))
    }

    /// The first byte of a text.
    #[inline]
    pub(crate) fn first(&self, text: u32) -> Option<u8> {
        match (self.spelled.get(), &self.in_table) {
            (None, Some(InTable { numbers, .. })) => {
                numbers.firsts.get(text as usize).copied().filter(|first| *first != 0)
            }
            _ => self.get(text).first().copied(),
        }
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
        let Spelled { bytes, ends } = self.spelled();
        let (mut from, mut text) = (0, 0);
        while let Some(found) = bytes.get(from..).and_then(&find) {
            let at = from + found;
            // The text that it lies in is not far where many have one, and else the search takes longer.
            while ends.get(text).is_some_and(|end| *end as usize <= at) {
                text += 1;
            }
            let Some(end) = ends.get(text) else { return };
            act(text, bytes.get(..at).unwrap_or_default());
            from = *end as usize;
        }
    }

    /// Marks the texts that are so.
    pub(crate) fn mark_each(&self, marks: &mut [bool], is_so: impl Fn(&[u8]) -> bool) {
        let Spelled { bytes, ends } = self.spelled();
        let mut start = 0;
        for (mark, end) in marks.iter_mut().zip(ends) {
            let end = *end as usize;
            *mark |= bytes.get(start..end).is_some_and(&is_so);
            start = end;
        }
    }

    /// Whether all texts are ASCII without escapes.
    pub(crate) fn is_plain(&self) -> bool {
        *self.is_plain.get_or_init(|| is_plain(&self.spelled().bytes))
    }

    /// Whether there are no other values than strings.
    pub(crate) fn has_strings_only(&self) -> bool {
        self.firsts().all(|first| matches!(first, None | Some(b'"')))
    }

    /// Whether a text may be found in one of them: or else where one ends and the next begins.
    pub(crate) fn has(&self, finder: &Finder<'_>) -> bool {
        finder.find(&self.spelled().bytes).is_some()
    }

    /// Whether a byte of the texts is so.
    pub(crate) fn has_byte(&self, is_so: impl Fn(u8) -> bool) -> bool {
        /// Looked at without a branch.
        const TOGETHER: usize = 1024;
        let mut some = self.spelled().bytes.chunks(TOGETHER);
        some.any(|some| some.iter().fold(false, |found, byte| found | is_so(*byte)))
    }

    /// Whether there are escapes in a text.
    pub(crate) fn has_escapes(&self) -> bool {
        has_escapes(&self.spelled().bytes)
    }

    /// Whether each text has the one spelling that strings which read alike share: what is escaped has to be.
    pub(crate) fn has_needed_escapes_only(&self) -> bool {
        has_needed_escapes_only(&self.spelled().bytes)
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

    /// Whether it was told how they are shared out.
    pub(crate) fn has_shares(&self) -> bool {
        self.shares.get().is_some()
    }

    /// The numbers that a table of keys has given them.
    pub(crate) fn numbers(&self) -> Option<Arc<EntryNumbers>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a table of keys that is still kept has given them numbers.
    pub(crate) fn has_numbers(&self) -> bool {
        self.numbers().is_some_and(|numbers| !numbers.is_given_up())
    }

    /// Keeps the numbers that a table of keys has given them, instead of those of another table.
    pub(crate) fn keep_numbers(&self, numbers: &Arc<EntryNumbers>) {
        *self.numbers.lock().unwrap_or_else(PoisonError::into_inner) = Some(numbers.clone());
    }

    /// The same without its texts, where a table of keys that is kept has them in these spellings.
    pub(crate) fn numbered(&self) -> Option<NumberedTexts> {
        let is_in_table = self.in_table.is_some() || self.text_bytes() >= NUMBERED_BYTES_MIN;
        let numbers = self.numbers().filter(|_| is_in_table)?;
        let is_alike = numbers.spelled_otherwise.is_empty() && !numbers.is_given_up();
        is_alike.then(|| NumberedTexts { numbers, shares: self.shares.get().cloned() })
    }

    /// The same with its texts, if a table of keys has them.
    pub(crate) fn without_table(&self) -> Option<Dictionary> {
        self.in_table.as_ref()?;
        let Spelled { bytes, ends } = self.spelled();
        Some(Dictionary {
            were_keys: self.were_keys().into(),
            shares: self.shares.clone(),
            numbers: Mutex::new(self.numbers()),
            ..Dictionary::new(bytes.clone(), ends.clone())
        })
    }

    /// Whether a table of keys spells its texts.
    pub(crate) fn is_in_table(&self) -> bool {
        self.in_table.is_some()
    }

    /// Whether its texts are to be spelled by a table of keys that is given up.
    pub(crate) fn is_left_in_table(&self) -> bool {
        self.in_table.as_ref().is_some_and(|table| table.numbers.is_given_up())
    }

    /// How many bytes all texts have.
    pub(crate) fn text_bytes(&self) -> usize {
        self.spelled().bytes.len()
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
        let numbers = self.numbers().map_or(0, |numbers| numbers.held_bytes());
        let shares = self.shares.get().map_or(0, |shares| shares.len());
        let spelled = self.spelled.get();
        let spelled = spelled
            .map_or(0, |Spelled { bytes, ends }| bytes.capacity() + ends.capacity() * size_of::<u32>());
        spelled + numbers + shares
    }
}
