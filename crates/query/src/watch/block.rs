//! What can be told of a block: by its statistics, or by its bytes.

use crate::expr::DEFAULT_LEVEL;
use crate::statistics::{Key, Statistics, spelled};
use crate::value::Kind;

/// What is known of the values of a key in a block.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    pub(super) is_there: bool,
    /// Whether there are numbers, and texts; or whether there may be.
    pub(super) numbers: bool,
    pub(super) texts: bool,
    pub(super) booleans: bool,
    pub(super) arrays: bool,
    pub(super) objects: bool,
    /// Whether there are texts that do not read as numbers, or may be.
    pub(super) words: bool,
    /// Whether there are texts that do, or may be.
    pub(super) digits: bool,
}

/// What can be told of a block.
pub(super) trait Look {
    /// What is known of a key; none where that is nothing.
    fn known(&self, name: &str) -> Option<Known>;
    /// Gives each level that events have, and its kind, of texts and numbers: whether those are all.
    fn levels(&self, each: &mut dyn FnMut(&str, Kind)) -> bool;
    /// Gives the names of keys.
    fn names(&self, each: &mut dyn FnMut(&str));
}

/// The key of an event's level.
pub(super) const LEVEL: &str = "@l";

/// Told by statistics.
pub(super) struct Told<'s, 'b>(pub(super) &'s Statistics<'b>);

impl Look for Told<'_, '_> {
    fn known(&self, name: &str) -> Option<Known> {
        match self.0.key(name) {
            Key::Unknown => None,
            Key::Absent => Some(Known::default()),
            Key::Present(facts) => match facts.values {
                Some(values) => {
                    let is_any = |is_sought: fn(&[u8]) -> bool| match values.listed_strings {
                        Some(mut listed) => listed.any(|(text, _)| is_sought(text)),
                        None => values.strings > 0,
                    };
                    Some(Known {
                        is_there: true,
                        numbers: values.numbers > 0,
                        texts: values.strings > 0,
                        booleans: values.truth.count > 0 || values.falsehood.count > 0,
                        arrays: values.arrays > 0,
                        objects: values.maps > 0,
                        words: is_any(|text| !is_number(text)),
                        digits: is_any(is_number),
                    })
                }
                // An event has it twice.
                None => Some(Known {
                    is_there: true,
                    numbers: true,
                    texts: true,
                    booleans: true,
                    arrays: true,
                    objects: true,
                    words: true,
                    digits: true,
                }),
            },
        }
    }

    fn levels(&self, each: &mut dyn FnMut(&str, Kind)) -> bool {
        match self.0.key(LEVEL) {
            Key::Unknown => false,
            Key::Absent => {
                each(DEFAULT_LEVEL, Kind::String);
                true
            }
            Key::Present(facts) => {
                let Some(values) = facts.values else { return false };
                if values.missing.count > 0 {
                    each(DEFAULT_LEVEL, Kind::String);
                }
                let (Some(texts), Some(numbers)) = (values.listed_strings, values.listed_numbers) else {
                    return false;
                };
                texts.for_each(|(level, _)| each(&String::from_utf8_lossy(level), Kind::String));
                numbers.for_each(|(level, _)| each(&String::from_utf8_lossy(level), Kind::Number));
                true
            }
        }
    }

    fn names(&self, each: &mut dyn FnMut(&str)) {
        self.0.keys().flatten().for_each(|(name, _)| each(&String::from_utf8_lossy(name)));
    }
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
    fn known(&self, name: &str) -> Option<Known> {
        let mut known = Known::default();
        for value in self.behind(name)? {
            known.is_there = true;
            match value.first() {
                Some(b'"') => {
                    known.texts = true;
                    let end = value.get(1..).and_then(|text| memchr::memchr(b'"', text));
                    let text = end.and_then(|end| value.get(1..=end));
                    let is_number = text.is_some_and(is_number);
                    known.words |= !is_number;
                    known.digits |= is_number;
                }
                Some(b'-' | b'0'..=b'9') => known.numbers = true,
                Some(b't' | b'f') => known.booleans = true,
                Some(b'[') => known.arrays = true,
                Some(b'{') => known.objects = true,
                _ => {}
            }
            if known.words && known.digits && known.numbers {
                break;
            }
        }
        Some(known)
    }

    fn levels(&self, each: &mut dyn FnMut(&str, Kind)) -> bool {
        let mut count = 0;
        for value in self.behind(LEVEL).into_iter().flatten() {
            count += 1;
            let (text, kind) = match value.strip_prefix(b"\"") {
                Some(text) => (text.get(..memchr::memchr(b'"', text).unwrap_or(0)), Kind::String),
                None => {
                    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    (value.get(..digits), Kind::Number)
                }
            };
            let text = text.filter(|text| !text.is_empty());
            text.iter().for_each(|text| each(&String::from_utf8_lossy(text), kind));
        }
        if count < self.events {
            each(DEFAULT_LEVEL, Kind::String);
        }
        true
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

/// Whether a text reads as a number. One that begins with zeros is rather a name made of digits.
pub(super) fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let may_be = match digits {
        [b'0', second, ..] => !second.is_ascii_digit(),
        [first, ..] => first.is_ascii_digit(),
        [] => false,
    };
    may_be && std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Of so many documents of a block the keys are remembered.
const DOCUMENTS_NAMED: usize = 100;
