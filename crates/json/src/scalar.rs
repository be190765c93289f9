//! Scalars as their text: kinds, strings and numbers.

use std::borrow::Cow;
use std::fmt;

use rust_decimal::Decimal;
use tamias_simd::utf8;

use crate::number;
use crate::unescape::unescape;

/// The six kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Map,
}

/// A document's bytes, or a part of them; as text, where they came as text.
#[derive(Clone, Copy)]
pub(crate) enum Source<'d> {
    /// Bytes that may be no UTF-8.
    Bytes(&'d [u8]),
    /// Text.
    Text(&'d str),
}

impl<'d> Source<'d> {
    #[inline]
    pub(crate) fn bytes(self) -> &'d [u8] {
        match self {
            Source::Bytes(bytes) => bytes,
            Source::Text(text) => text.as_bytes(),
        }
    }

    /// A part of it: bytes, where a malformed document's text is cut within a character; nothing rather than a panic, should the ends not
    /// fit.
    #[inline]
    pub(crate) fn part(self, from: usize, to: usize) -> Source<'d> {
        if let Source::Text(text) = self
            && let Some(part) = text.get(from..to)
        {
            return Source::Text(part);
        }
        Source::Bytes(self.bytes().get(from..to).unwrap_or_default())
    }
}

/// A string or key as it is stored, including escapes.
///
/// ```
/// use tamias_json::Document;
///
/// let document = Document::scan_trusted(br#"{"m":"a\tb"}"#)?;
/// let m = document.root().get("m").and_then(|m| m.as_str()).unwrap();
/// assert_eq!((m.raw(), m.raw_quoted()), (&br"a\tb"[..], &br#""a\tb""#[..]));
/// assert!(m.has_escapes());
/// assert_eq!(m.text(), "a\tb");
/// # Ok::<(), tamias_json::ScanError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Str<'d>(Source<'d>);

impl<'d> Str<'d> {
    /// From the text with its quotes.
    #[inline]
    pub(crate) fn new(quoted: Source<'d>) -> Str<'d> {
        Str(quoted)
    }

    /// The bytes between the quotes.
    #[inline]
    pub fn raw(&self) -> &'d [u8] {
        let quoted = self.raw_quoted();
        let raw = quoted.strip_prefix(b"\"").unwrap_or(quoted);
        raw.strip_suffix(b"\"").unwrap_or(raw)
    }

    /// The bytes with their quotes.
    #[inline]
    pub fn raw_quoted(&self) -> &'d [u8] {
        self.0.bytes()
    }

    /// Whether there is a backslash. Looks at every byte.
    pub fn has_escapes(&self) -> bool {
        memchr::memchr(b'\\', self.raw_quoted()).is_some()
    }

    /// The unescaped text, borrowed if nothing is escaped. Unpaired surrogates and invalid
    /// UTF-8 read as U+FFFD.
    #[inline]
    pub fn text(&self) -> Cow<'d, str> {
        match self.0 {
            Source::Text(quoted) if !self.has_escapes() => {
                let text = quoted.strip_prefix('"').unwrap_or(quoted);
                Cow::Borrowed(text.strip_suffix('"').unwrap_or(text))
            }
            Source::Text(_) | Source::Bytes(_) => unescape(self.raw()),
        }
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// A number as it is stored.
///
/// ```
/// use tamias_json::Document;
///
/// let document = Document::scan_trusted(br#"{"ms":12.50}"#)?;
/// let ms = document.root().get("ms").and_then(|ms| ms.as_number()).unwrap();
/// assert_eq!(ms.text(), "12.50");
/// assert_eq!(ms.to_f64(), 12.5);
/// assert_eq!(ms.to_decimal().unwrap().to_string(), "12.5");
/// # Ok::<(), tamias_json::ScanError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Number<'d>(&'d [u8]);

impl<'d> Number<'d> {
    /// From the number's text.
    #[inline]
    pub(crate) fn new(text: &'d [u8]) -> Number<'d> {
        Number(text)
    }

    /// The number's bytes, as stored.
    #[inline]
    pub(crate) fn raw(&self) -> &'d [u8] {
        self.0
    }

    /// The number's text, as stored.
    #[inline]
    pub fn text(&self) -> &'d str {
        // Numbers are ASCII; of bytes that are no number, what is UTF-8.
        utf8::ascii(self.0).unwrap_or_else(|| self.0.utf8_chunks().next().map_or("", |chunk| chunk.valid()))
    }

    /// The exact value; `None` if a decimal of 96 bits and 28 places cannot hold it.
    pub fn to_decimal(&self) -> Option<Decimal> {
        number::to_decimal(self.text())
    }

    /// The nearest binary64; infinite beyond its range, NaN if the text is not a number.
    pub fn to_f64(&self) -> f64 {
        self.text().parse().unwrap_or(f64::NAN)
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use crate::Offsets;

    #[test]
    fn a_key_of_malformed_text_may_end_within_a_character() {
        // No colon stands before the inner brace, so the key is cut one byte short.
        let mut offsets = Offsets::new();
        let root = offsets.scan_trusted_str("{:4\u{feff}{\"a\":1}2e10}").unwrap();
        for (key, _) in root.entries() {
            assert!(key.text().ends_with('\u{fffd}') || key.text().is_ascii());
        }
    }
}
