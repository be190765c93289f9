//! Strings, decoded only when their characters matter.

use icu_casemap::CaseMapper;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use tamias_json::Str;

#[derive(Clone, Debug)]
pub(crate) enum Text<'a> {
    /// As it stands in a document, perhaps with escapes.
    Stored(Str<'a>),
    Borrowed(&'a str),
    Shared(Arc<str>),
    /// A JSON string with its quotes that outlives its document: one that has a surrogate without its partner, which no text has. It
    /// reads as U+FFFD, and is shown as it is stored.
    Spelled(Arc<str>),
}

/// The first eight bytes of a text as a number, with zeros behind a shorter one: where those of two texts differ, the texts stand to one another as they do.
#[inline]
pub(crate) fn beginning_of(text: &[u8]) -> u64 {
    let beginning = text.first_chunk().copied().unwrap_or_else(|| {
        let mut beginning = [0; 8];
        beginning.iter_mut().zip(text).for_each(|(place, byte)| *place = *byte);
        beginning
    });
    u64::from_be_bytes(beginning)
}

impl Text<'_> {
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Text::Stored(text) => text.text(),
            Text::Borrowed(text) => Cow::Borrowed(text),
            Text::Shared(text) => Cow::Borrowed(text),
            Text::Spelled(json) => {
                let text = tamias_json::Value::of_scalar(json.as_bytes()).as_str();
                text.map_or(Cow::Borrowed(""), |text| text.text())
            }
        }
    }

    /// The same text read once, to be compared with many.
    pub(crate) fn read(self) -> Self {
        match self {
            Text::Stored(stored) => match stored.text() {
                Cow::Borrowed(text) => Text::Borrowed(text),
                Cow::Owned(text) => Text::Shared(text.into()),
            },
            other => other,
        }
    }

    /// Its first eight bytes, with zeros behind a shorter one; none where one of them is escaped. Where those of two texts differ, the texts
    /// stand to one another as they do.
    #[inline]
    pub(crate) fn beginning(&self) -> Option<u64> {
        let text = match self {
            Text::Stored(text) => text.raw(),
            Text::Borrowed(text) => text.as_bytes(),
            Text::Shared(text) => text.as_bytes(),
            Text::Spelled(_) => return None,
        };
        let beginning = beginning_of(text);
        let is_escaped = matches!(self, Text::Stored(_)) && beginning.to_be_bytes().contains(&b'\\');
        (!is_escaped).then_some(beginning)
    }

    /// The number of Unicode scalars.
    pub(crate) fn characters(&self) -> usize {
        match self {
            // Each begins with a byte that continues no other: no need to decode them.
            Text::Stored(text) if !text.has_escapes() => {
                text.raw().iter().filter(|byte| !(0x80..0xc0).contains(*byte)).count()
            }
            text => text.text().chars().count(),
        }
    }

    pub(crate) fn weight(&self) -> usize {
        2 + match self {
            Text::Stored(text) => text.raw().len(),
            Text::Borrowed(text) => text.len(),
            Text::Shared(text) => text.len(),
            Text::Spelled(json) => json.len(),
        }
    }

    pub(crate) fn into_static(self) -> Text<'static> {
        match self {
            Text::Stored(stored) => {
                let text = stored.text();
                match std::str::from_utf8(stored.raw_quoted()) {
                    Ok(json) if text.contains(char::REPLACEMENT_CHARACTER) && stored.has_escapes() => {
                        Text::Spelled(json.into())
                    }
                    Ok(_) | Err(_) => Text::Shared(text.into()),
                }
            }
            Text::Borrowed(text) => Text::Shared(text.into()),
            Text::Shared(text) => Text::Shared(text),
            Text::Spelled(json) => Text::Spelled(json),
        }
    }

    pub(crate) fn equals(&self, other: &Text<'_>) -> bool {
        match (self, other) {
            (Text::Stored(stored), Text::Borrowed(plain)) | (Text::Borrowed(plain), Text::Stored(stored)) => {
                stored_equals(*stored, plain)
            }
            (a, b) => a.text() == b.text(),
        }
    }

    /// The order by Unicode scalar value, of the upper-cased scalars if `ci`.
    pub(crate) fn compare(&self, other: &Text<'_>, ci: bool) -> Ordering {
        // Bytes of UTF-8 are in the order of their scalar values.
        if !ci && let (Some(a), Some(b)) = (self.bytes(), other.bytes()) {
            return a.cmp(b);
        }
        let (a, b) = (self.text(), other.text());
        if ci { a.chars().map(upper).cmp(b.chars().map(upper)) } else { a.cmp(&b) }
    }

    /// The bytes of the text, where they need not be unescaped.
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Text::Stored(text) => (!text.has_escapes()).then(|| text.raw()),
            Text::Borrowed(text) => Some(text.as_bytes()),
            Text::Shared(text) => Some(text.as_bytes()),
            Text::Spelled(_) => None,
        }
    }
}

/// Whether a stored string reads as `plain`.
fn stored_equals(stored: Str<'_>, plain: &str) -> bool {
    let raw = stored.raw();
    // An escape takes more bytes than its character, so a stored string that is no longer than its text has none.
    if raw.len() <= plain.len() {
        raw == plain.as_bytes() && !plain.contains('\\')
    } else {
        stored.text() == plain
    }
}

/// The simple, one to one upper case of a character.
pub(crate) fn upper(character: char) -> char {
    if character.is_ascii() {
        character.to_ascii_uppercase()
    } else {
        const { CaseMapper::new() }.simple_uppercase(character)
    }
}

/// The simple, one to one lower case of a character.
pub(crate) fn lower(character: char) -> char {
    match character.is_ascii() {
        true => character.to_ascii_lowercase(),
        false => const { CaseMapper::new() }.simple_lowercase(character),
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::Shared(text.into())
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text::Borrowed(text)
    }
}
