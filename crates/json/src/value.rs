//! A single value: what kind it is, its text, and what it stands for.

use std::borrow::Cow;
use std::fmt;

use rust_decimal::Decimal;

use crate::document::{Array, Map};
use crate::number;
use crate::offsets::{Offsets, ScanError};
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

/// A value of a document, not parsed yet.
///
/// The kind is told by the first byte; text that begins no JSON value, which no valid document has, counts as null.
#[derive(Clone, Copy, Debug)]
pub enum Value<'d> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, in its text
    Number(Number<'d>),
    /// A string, as stored
    String(Str<'d>),
    /// An array
    Array(Array<'d>),
    /// An object
    Map(Map<'d>),
}

impl<'d> Value<'d> {
    /// Scans any minified JSON text, a lone `"x"` or `12` too.
    ///
    /// ```
    /// use tamias_json::{Offsets, Value};
    ///
    /// let mut offsets = Offsets::new();
    /// let value = Value::scan_trusted(b"[1,2]", &mut offsets)?;
    /// assert_eq!(value.as_array().map(|array| array.len()), Some(2));
    /// # Ok::<(), tamias_json::ScanError>(())
    /// ```
    ///
    /// # Errors
    /// See [`ScanError`]; empty text counts as truncated.
    pub fn scan_trusted(bytes: &'d [u8], offsets: &'d mut Offsets) -> Result<Value<'d>, ScanError> {
        offsets.scan_value(bytes)
    }

    /// The value of minified JSON text that is neither an object nor an array, as [`search`](crate::search) finds it. Nothing is
    /// scanned.
    ///
    /// ```
    /// use tamias_json::Value;
    /// assert!(matches!(Value::of_scalar(br#""a\"b""#), Value::String(text) if text.text() == "a\"b"));
    /// assert!(matches!(Value::of_scalar(b"1.50"), Value::Number(_)));
    /// ```
    #[inline]
    pub fn of_scalar(text: &'d [u8]) -> Value<'d> {
        Value::scalar(text, false)
    }

    /// The value of text that is neither object nor array.
    #[inline]
    pub(crate) fn scalar(text: &'d [u8], utf8: bool) -> Value<'d> {
        match text.first() {
            Some(b'"') => Value::String(Str::new(text, utf8)),
            Some(b'-' | b'0'..=b'9') => Value::Number(Number(text)),
            Some(b't') => Value::Bool(true),
            Some(b'f') => Value::Bool(false),
            _ => Value::Null,
        }
    }

    /// Which kind of value this is.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Number(_) => Kind::Number,
            Value::String(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Map(_) => Kind::Map,
        }
    }

    /// The value's JSON text, quotes or brackets included.
    #[inline]
    pub fn raw(&self) -> &'d [u8] {
        match self {
            Value::Null => b"null",
            Value::Bool(true) => b"true",
            Value::Bool(false) => b"false",
            Value::Number(number) => number.0,
            Value::String(string) => string.raw_quoted(),
            Value::Array(array) => array.raw(),
            Value::Map(map) => map.raw(),
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<Number<'d>> {
        if let Value::Number(number) = self { Some(*number) } else { None }
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<Str<'d>> {
        if let Value::String(string) = self { Some(*string) } else { None }
    }

    /// The array, if this is one.
    pub fn as_array(&self) -> Option<Array<'d>> {
        if let Value::Array(array) = self { Some(*array) } else { None }
    }

    /// The object, if this is one.
    pub fn as_map(&self) -> Option<Map<'d>> {
        if let Value::Map(map) = self { Some(*map) } else { None }
    }
}

/// A string or key as it is stored, escapes and all.
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
pub struct Str<'d> {
    quoted: &'d [u8],
    /// Whether the bytes are known to be UTF-8.
    utf8: bool,
}

impl<'d> Str<'d> {
    #[inline]
    pub(crate) fn new(quoted: &'d [u8], utf8: bool) -> Str<'d> {
        Str { quoted, utf8 }
    }

    /// The bytes between the quotes.
    #[inline]
    pub fn raw(&self) -> &'d [u8] {
        let raw = self.quoted.strip_prefix(b"\"").unwrap_or(self.quoted);
        raw.strip_suffix(b"\"").unwrap_or(raw)
    }

    /// The bytes with their quotes.
    #[inline]
    pub fn raw_quoted(&self) -> &'d [u8] {
        self.quoted
    }

    /// Whether there is a backslash. Looks at every byte.
    pub fn has_escapes(&self) -> bool {
        memchr::memchr(b'\\', self.quoted).is_some()
    }

    /// The text that the string stands for: borrowed where nothing is escaped. A surrogate without its partner, and what is
    /// no UTF-8, reads as U+FFFD.
    #[inline]
    pub fn text(&self) -> Cow<'d, str> {
        // Where a document is malformed, a key need not end before a quote: it may be cut within a character.
        if self.utf8 && self.quoted.ends_with(b"\"") && !self.has_escapes() {
            return Cow::Borrowed(self.known_text());
        }
        unescape(self.raw())
    }

    /// The bytes as text, where the document came as text and the string ends with its quote.
    #[inline]
    #[expect(unsafe_code, reason = "spares the check that text has passed already")]
    fn known_text(&self) -> &'d str {
        if cfg!(feature = "checked") {
            return std::str::from_utf8(self.raw()).expect("text between ASCII bytes is text");
        }
        // SAFETY: `utf8` says that the document was a `str`; a `Str` begins behind one of its ASCII bytes, and this one ends
        // before a quote.
        unsafe { std::str::from_utf8_unchecked(self.raw()) }
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
    /// The number's text, as stored.
    #[inline]
    #[expect(unsafe_code, reason = "few bytes are quicker found to be ASCII than to be UTF-8")]
    pub fn text(&self) -> &'d str {
        if !cfg!(feature = "checked") && self.0.is_ascii() {
            // SAFETY: ASCII is UTF-8.
            return unsafe { std::str::from_utf8_unchecked(self.0) };
        }
        // Numbers are ASCII; of bytes that are no number, what is UTF-8.
        match std::str::from_utf8(self.0) {
            Ok(text) => text,
            Err(_) => self.0.utf8_chunks().next().map_or("", |chunk| chunk.valid()),
        }
    }

    /// The exact value, or nothing where a decimal of 96 bits and 28 places cannot hold it.
    pub fn to_decimal(&self) -> Option<Decimal> {
        number::to_decimal(self.text())
    }

    /// The nearest binary64; infinite beyond its range, NaN where the text is no number.
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
