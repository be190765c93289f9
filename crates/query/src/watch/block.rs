//! What can be told of a block: by its statistics, or by its bytes.

use super::level::{LEVELS_MAX, Level};
use crate::statistics::{Key, Statistics, Values, spelled};
use crate::value::Kind;

/// What is known of the values of a key in a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) is_there: bool,
    /// Whether there are numbers, and texts; or whether there may be.
    pub(super) numbers: bool,
    pub(super) texts: bool,
    pub(super) booleans: bool,
    pub(super) arrays: bool,
    pub(super) objects: bool,
    pub(super) nulls: bool,
    /// What the texts are like, if that was asked for and is known.
    pub(super) in_text: Option<InText>,
}

impl Known {
    /// Whether there are numbers, texts, Booleans, arrays, objects.
    fn kinds(self) -> [bool; 5] {
        [self.numbers, self.texts, self.booleans, self.arrays, self.objects]
    }

    /// Takes in what is known of other events.
    pub(super) fn add(&mut self, other: Known) {
        self.is_there |= other.is_there;
        self.numbers |= other.numbers;
        self.texts |= other.texts;
        self.booleans |= other.booleans;
        self.arrays |= other.arrays;
        self.objects |= other.objects;
        self.nulls |= other.nulls;
    }

    pub(super) fn has_values(self) -> bool {
        self.kinds().contains(&true)
    }

    /// Whether there are values that are neither null nor have others within.
    pub(super) fn has_scalars(self) -> bool {
        self.texts || self.numbers || self.booleans
    }

    /// The only kind of values that is there.
    pub(super) fn only_kind(self) -> Option<Kind> {
        let kinds = [Kind::Number, Kind::String, Kind::Boolean, Kind::Array, Kind::Object];
        let mut there = kinds.into_iter().zip(self.kinds()).filter(|(_, is_there)| *is_there);
        match (there.next(), there.next()) {
            (Some((kind, _)), None) => Some(kind),
            _ => None,
        }
    }

    /// Whether some value here and one there are of one kind.
    pub(super) fn shares_kind(self, other: Known) -> bool {
        self.kinds().into_iter().zip(other.kinds()).any(|(here, there)| here && there)
    }
}

/// How many events have which texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct InText {
    pub(super) numbers: u64,
    /// Texts that are no numbers. What has neither a letter nor a digit, as `-`, only takes the place of a value.
    pub(super) others: u64,
    /// The lengths of the numbers.
    pub(super) shortest: usize,
    pub(super) longest: usize,
}

impl Default for InText {
    fn default() -> InText {
        InText { numbers: 0, others: 0, shortest: usize::MAX, longest: 0 }
    }
}

impl InText {
    fn meet(&mut self, text: &[u8], events: u64) {
        if is_number(text) {
            self.numbers += events;
            self.shortest = self.shortest.min(text.len());
            self.longest = self.longest.max(text.len());
        } else if text.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()) {
            self.others += events;
        }
    }

    pub(super) fn add(&mut self, other: InText) {
        self.numbers += other.numbers;
        self.others += other.others;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
    }
}

/// What can be told of a block.
pub(super) trait Look {
    /// What is known of the values at a path of keys, and if it is asked for, what texts are like; none where nothing is known.
    fn known(&self, keys: &[Box<str>], reads_texts: bool) -> Option<Known>;
    /// Gives each level that events have: whether those are all.
    fn levels(&self, each: &mut dyn FnMut(Level<'_>)) -> bool;
    /// The least and the greatest number that is a value there; none where that is not known, or there is none.
    fn range(&self, keys: &[Box<str>]) -> Option<(f64, f64)>;
    /// Gives each text that is a value there: whether those are all.
    fn texts(&self, keys: &[Box<str>], each: &mut dyn FnMut(&str)) -> bool;
    /// Whether a text that was given is surely a value there, and not of one that is nested.
    fn has_text(&self, keys: &[Box<str>], text: &str) -> bool;
    /// Gives the names of keys.
    fn names(&self, each: &mut dyn FnMut(&str));

    /// Whether there is such a key, or may be.
    fn has(&self, name: &str) -> bool {
        self.known(&[name.into()], false).is_none_or(|known| known.is_there)
    }
}

/// The key of an event's level.
pub(super) const LEVEL: &str = "@l";

/// Told by statistics.
pub(super) struct Told<'s, 'b>(pub(super) &'s Statistics<'b>);

impl Look for Told<'_, '_> {
    fn known(&self, keys: &[Box<str>], reads_texts: bool) -> Option<Known> {
        match self.0.path(&names_of(keys)) {
            Key::Unknown => None,
            Key::Absent => Some(Known::default()),
            Key::Present(facts) => Some(match facts.values {
                Some(values) => Known {
                    is_there: true,
                    numbers: values.numbers > 0,
                    texts: values.strings > 0,
                    booleans: values.truth.count > 0 || values.falsehood.count > 0,
                    arrays: values.arrays > 0,
                    objects: values.maps > 0,
                    nulls: values.null.count > 0,
                    in_text: if reads_texts && !self.0.tell_deleted() { in_text(&values) } else { None },
                },
                // An event has it twice.
                None => Known {
                    is_there: true,
                    numbers: true,
                    texts: true,
                    booleans: true,
                    arrays: true,
                    objects: true,
                    nulls: true,
                    in_text: None,
                },
            }),
        }
    }

    fn levels(&self, each: &mut dyn FnMut(Level<'_>)) -> bool {
        match self.0.key(LEVEL) {
            Key::Unknown => false,
            Key::Present(_) if self.0.tell_deleted() => false,
            Key::Absent => {
                each(Level::Default);
                true
            }
            Key::Present(facts) => {
                let Some(values) = facts.values else { return false };
                if values.missing.count > 0 {
                    each(Level::Default);
                }
                let (Some(texts), Some(numbers)) = (values.listed_strings, values.listed_numbers) else {
                    return false;
                };
                texts.for_each(|(level, _)| each(Level::Text(&String::from_utf8_lossy(level))));
                numbers.for_each(|(level, _)| each(Level::Number(&String::from_utf8_lossy(level))));
                true
            }
        }
    }

    fn range(&self, keys: &[Box<str>]) -> Option<(f64, f64)> {
        match self.0.path(&names_of(keys)) {
            Key::Present(facts) if !self.0.tell_deleted() => {
                let (least, greatest) = facts.values?.range?;
                Some((least.text.parse().ok()?, greatest.text.parse().ok()?))
            }
            Key::Unknown | Key::Absent | Key::Present(_) => None,
        }
    }

    fn texts(&self, keys: &[Box<str>], each: &mut dyn FnMut(&str)) -> bool {
        match self.0.path(&names_of(keys)) {
            Key::Absent => true,
            Key::Present(facts) if !self.0.tell_deleted() => {
                let Some(texts) = facts.values.and_then(|values| values.listed_strings) else { return false };
                texts.map(|(text, _)| is_given(text, each)).fold(true, |are_all, is_given| are_all & is_given)
            }
            Key::Unknown | Key::Present(_) => false,
        }
    }

    fn has_text(&self, _keys: &[Box<str>], _text: &str) -> bool {
        true
    }

    fn names(&self, each: &mut dyn FnMut(&str)) {
        // Nothing is shown of deleted events.
        let names = self.0.names().filter(|_| !self.0.tell_deleted());
        names.for_each(|name| each(&String::from_utf8_lossy(name)));
    }
}

/// The same keys, borrowed.
fn names_of(keys: &[Box<str>]) -> Vec<&str> {
    keys.iter().map(AsRef::as_ref).collect()
}

/// Gives a text as it is stored: whether that is what it says.
fn is_given(stored: &[u8], each: &mut dyn FnMut(&str)) -> bool {
    let text = std::str::from_utf8(stored).ok().filter(|text| !text.contains('\\'));
    text.inspect(|text| each(text)).is_some()
}

/// What the texts of a key are like, if they are listed.
fn in_text(values: &Values<'_>) -> Option<InText> {
    let mut texts = InText::default();
    values.listed_strings?.for_each(|(text, tally)| texts.meet(text, u64::from(tally.count)));
    Some(texts)
}

/// Searched for in a block's bytes. What looks like a key may be nested, or stand in a text: then nothing is said of it.
pub(super) struct Searched<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) events: usize,
}

impl Searched<'_> {
    /// What stands behind each place that looks like a key.
    fn behind(&self, name: &str) -> Option<impl Iterator<Item = &[u8]>> {
        let needle = [b"\"", &*spelled(name)?, b"\":"].concat();
        let mut from = 0;
        Some(std::iter::from_fn(move || {
            let rest = self.bytes.get(from..)?;
            from += memchr::memmem::find(rest, &needle)? + needle.len();
            self.bytes.get(from..)
        }))
    }
}

impl Look for Searched<'_> {
    fn known(&self, keys: &[Box<str>], reads_texts: bool) -> Option<Known> {
        let mut known = Known::default();
        let mut texts = InText::default();
        for value in self.behind(only(keys)?)? {
            known.is_there = true;
            match value.first() {
                Some(b'"') => {
                    known.texts = true;
                    if reads_texts {
                        let end = value.get(1..).and_then(|text| memchr::memchr(b'"', text));
                        texts.meet(end.and_then(|end| value.get(1..=end)).unwrap_or_default(), 1);
                    }
                }
                Some(b'-' | b'0'..=b'9') => known.numbers = true,
                Some(b't' | b'f') => known.booleans = true,
                Some(b'[') => known.arrays = true,
                Some(b'{') => known.objects = true,
                Some(b'n') => known.nulls = true,
                _ => {}
            }
            if known.numbers && texts.numbers > 0 && texts.others > 0 {
                break;
            }
        }
        known.in_text = reads_texts.then_some(texts);
        Some(known)
    }

    fn levels(&self, each: &mut dyn FnMut(Level<'_>)) -> bool {
        let mut count = 0;
        let mut seen: Vec<&[u8]> = Vec::new();
        for value in self.behind(LEVEL).into_iter().flatten() {
            count += 1;
            let level = match value.strip_prefix(b"\"") {
                Some(text) => text.get(..memchr::memchr(b'"', text).unwrap_or(0)),
                None => value.get(..value.iter().take_while(|byte| byte.is_ascii_digit()).count()),
            };
            let level = level.unwrap_or_default();
            if level.is_empty() || seen.contains(&level) {
                continue;
            }
            if seen.len() < LEVELS_MAX {
                seen.push(level);
            }
            let level = String::from_utf8_lossy(level);
            match value.first() {
                Some(b'"') => each(Level::Text(&level)),
                _ => each(Level::Number(&level)),
            }
        }
        if count < self.events {
            each(Level::Default);
        }
        true
    }

    fn range(&self, keys: &[Box<str>]) -> Option<(f64, f64)> {
        let number = |value: &[u8]| {
            let end = value.iter().position(|byte| matches!(byte, b',' | b'}')).unwrap_or(value.len());
            std::str::from_utf8(value.get(..end)?).ok()?.parse::<f64>().ok()
        };
        let numbers = self.behind(only(keys)?)?.filter_map(number);
        numbers
            .map(|number| (number, number))
            .reduce(|(least, greatest), (number, _)| (least.min(number), greatest.max(number)))
    }

    fn texts(&self, keys: &[Box<str>], each: &mut dyn FnMut(&str)) -> bool {
        let mut seen: Vec<&[u8]> = Vec::new();
        let Some(values) = only(keys).and_then(|name| self.behind(name)) else { return false };
        for text in values.filter_map(|value| value.strip_prefix(b"\"")) {
            let text = memchr::memchr(b'"', text).and_then(|end| text.get(..end)).unwrap_or_default();
            if !seen.contains(&text) {
                if seen.len() == TEXTS_MAX || !is_given(text, each) {
                    return false;
                }
                seen.push(text);
            }
        }
        true
    }

    fn has_text(&self, keys: &[Box<str>], text: &str) -> bool {
        let Some((name, key)) = only(keys).and_then(|name| Some((name, spelled(name)?))) else {
            return false;
        };
        let needle = [b"\"", &*key, b"\":\"", text.as_bytes(), b"\""].concat();
        let mut offsets = tamias_json::Offsets::new();
        memchr::memmem::find_iter(self.bytes, &needle).take(DOCUMENTS_NAMED).any(|at| {
            let (before, rest) = self.bytes.split_at_checked(at).unwrap_or_default();
            let begin = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
            let end = memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |length| at + length);
            let event = offsets.scan_trusted(self.bytes.get(begin..end).unwrap_or_default());
            event.is_ok_and(|event| {
                event.get(name).and_then(|value| value.as_str()).is_some_and(|found| found.text() == text)
            })
        })
    }

    fn names(&self, each: &mut dyn FnMut(&str)) {
        let mut offsets = tamias_json::Offsets::new();
        for document in self.bytes.split(|byte| *byte == b'\n').take(DOCUMENTS_NAMED) {
            if let Ok(document) = offsets.scan_trusted(document) {
                document.entries().for_each(|(key, _)| each(&key.text()));
            }
        }
    }
}

/// The key of the top level, where no others are behind it.
fn only(keys: &[Box<str>]) -> Option<&str> {
    match keys {
        [only] => Some(only),
        _ => None,
    }
}

/// The number that a text reads as. One that begins with zeros is rather a name made of digits.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let may_be = match digits {
        [b'0', second, ..] => !second.is_ascii_digit(),
        [first, ..] => first.is_ascii_digit(),
        [] => false,
    };
    if may_be { std::str::from_utf8(text).ok()?.parse().ok() } else { None }
}

pub(super) fn is_number(text: &[u8]) -> bool {
    number(text).is_some()
}

/// A key with more texts than this in a block is no choice of a few.
const TEXTS_MAX: usize = 64;

/// Of so many documents of a block the keys are remembered.
const DOCUMENTS_NAMED: usize = 100;
