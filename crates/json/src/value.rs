//! Values of a document. Objects and arrays are views of the bytes and the offset list.

use std::iter::FusedIterator;

use tamias_simd::Entry;

use crate::scalar::{Kind, Number, Source, Str};
use crate::unescape::unescape;

/// A value of a document, not parsed yet.
///
/// The kind is determined by the first byte. Text that is not the beginning of a JSON value, which no valid document has, counts as null.
#[derive(Clone, Copy, Debug)]
pub enum Value<'d> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as its text
    Number(Number<'d>),
    /// A string, as stored
    String(Str<'d>),
    /// An array
    Array(Array<'d>),
    /// An object
    Map(Map<'d>),
}

impl<'d> Value<'d> {
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
        Value::scalar(Source::Bytes(text))
    }

    /// The value of text that is neither object nor array.
    #[inline]
    pub(crate) fn scalar(text: Source<'d>) -> Value<'d> {
        match text.bytes().first() {
            Some(b'"') => Value::String(Str::new(text)),
            Some(b'-' | b'0'..=b'9') => Value::Number(Number::new(text.bytes())),
            Some(b't') => Value::Bool(true),
            Some(b'f') => Value::Bool(false),
            _ => Value::Null,
        }
    }

    /// The kind of the value.
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
            Value::Number(number) => number.raw(),
            Value::String(string) => string.raw_quoted(),
            Value::Array(array) => array.raw(),
            Value::Map(map) => map.raw(),
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The Boolean, if this is one.
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

/// A container's part of the list, from the entry that opens it to the one that closes it, and the document's bytes.
#[derive(Clone, Copy)]
pub(crate) struct View<'d> {
    pub(crate) source: Source<'d>,
    /// Never empty.
    pub(crate) entries: &'d [Entry],
}

/// A text between two delimiters, with the entry that ends it.
#[derive(Clone, Copy)]
pub(crate) struct Text<'d> {
    /// Index of the entry.
    index: usize,
    entry: &'d Entry,
    /// Offset of the text: of a member's key with its quote, or of an element.
    start: usize,
    /// Length of the key with its quotes and the colon; 0 where there is no colon.
    key_len: usize,
}

impl<'d> View<'d> {
    /// Bytes of the document; the empty slice rather than a panic, should the ends not fit.
    #[inline]
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'d [u8] {
        self.source.bytes().get(from..to).unwrap_or_default()
    }

    #[inline]
    fn raw(&self) -> &'d [u8] {
        match self.entries {
            [open, .., close] => self.slice(open.end(), close.end() + 1),
            _ => &[],
        }
    }

    #[inline]
    fn value(&self, text: Text<'d>) -> Value<'d> {
        let Text { index, entry, .. } = text;
        if !entry.opens() {
            return Value::scalar(self.source.part(entry.value(), entry.end()));
        }
        let entries = self.entries.get(index..index + entry.step() - 1).unwrap_or_default();
        let view = View { entries, ..*self };
        match self.source.bytes().get(entry.end()) {
            Some(b'{') => Value::Map(Map(view)),
            _ => Value::Array(Array(view)),
        }
    }

    #[inline]
    fn key(&self, text: Text<'d>) -> Str<'d> {
        let end = (text.start + text.key_len).saturating_sub(1);
        Str::new(self.source.part(text.start, end))
    }

    #[inline]
    fn key_len(&self, start: usize, entry: &Entry) -> usize {
        // An opening bracket's entry does not say where a colon is, but that can only be right before it.
        if entry.opens() && self.source.bytes().get(entry.end().wrapping_sub(1)) != Some(&b':') {
            return 0;
        }
        entry.value().saturating_sub(start)
    }

    /// The next text that is not empty, looking from the entry with index `at` (at least 1) on; moves `at` past it and
    /// what it opens.
    #[inline]
    fn advance(&self, at: &mut usize) -> Option<Text<'d>> {
        loop {
            let index = *at;
            let [before, entry] = self.entries.get(index - 1..)?.first_chunk()?;
            *at += entry.step();
            let start = before.end() + 1;
            // Nothing stands before the closing bracket of an empty container.
            if start < entry.end() || entry.opens() {
                return Some(Text { index, entry, start, key_len: self.key_len(start, entry) });
            }
        }
    }
}

/// An object.
///
/// Its `Debug` is a table of its part of the offset list, a line an entry: index, kind of the value, the text with the
/// delimiter that ends it, index of the next sibling; `{:#?}` adds the two numbers that make the entry.
///
/// ```
/// let document = tamias_json::Document::scan_trusted(br#"{"a":[1,2],"b":"x"}"#)?;
/// let table = "\
/// index  kind    text      next
///     0  map     {            7
///     1  array   \"a\":[        5
///     2  number  1,           3
///     3  number  2]           4
///     4  -       ,            5
///     5  string  \"b\":\"x\"}     6";
/// assert_eq!(format!("{:?}", document.root()), table);
/// # Ok::<(), tamias_json::ScanError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Map<'d>(pub(crate) View<'d>);

impl<'d> Map<'d> {
    pub(crate) fn new(view: View<'d>) -> Map<'d> {
        Map(view)
    }

    /// The members in the order of the document, duplicates included.
    ///
    /// ```
    /// use tamias_json::Document;
    ///
    /// let document = Document::scan_trusted(br#"{"a":1,"b":"x"}"#)?;
    /// let keys: Vec<_> = document.root().entries().map(|(key, _)| key.text()).collect();
    /// assert_eq!(keys, ["a", "b"]);
    /// # Ok::<(), tamias_json::ScanError>(())
    /// ```
    #[inline]
    pub fn entries(&self) -> Entries<'d> {
        Entries { view: self.0, at: 1 }
    }

    /// The number of members, including duplicates. Takes time linear in it.
    pub fn len(&self) -> usize {
        self.entries().count()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.entries().next().is_none()
    }

    /// The value of a key; if several members have this key, that of the last. Keys are compared unescaped.
    ///
    /// Takes time linear in the number of members.
    ///
    /// ```
    /// use tamias_json::Document;
    ///
    /// let document = Document::scan_trusted(br#"{"a":1,"\u0061":2}"#)?;
    /// assert_eq!(document.root().get("a").unwrap().raw(), b"2");
    /// assert!(document.root().get("A").is_none());
    /// # Ok::<(), tamias_json::ScanError>(())
    /// ```
    #[inline]
    pub fn get(&self, key: &str) -> Option<Value<'d>> {
        let view = &self.0;
        let first = key.as_bytes().first().copied().unwrap_or(b'"');
        let mut at = 1;
        let mut found = None;
        while let Some(text) = view.advance(&mut at) {
            // One branch that is seldom taken, before all that tells keys apart: an escaped spelling of the key is longer, and
            // begins as the key does or with its escape.
            let byte = view.source.bytes().get(text.start + 1).copied().unwrap_or_default();
            let may = (text.key_len >= key.len() + 3) & ((byte == first) | (byte == b'\\'));
            if may && has_key(view, text, key) {
                found = Some(text);
            }
        }
        found.map(|text| view.value(text))
    }

    /// The value at the end of a path of keys through nested objects; with an empty path, this object.
    ///
    /// ```
    /// use tamias_json::Document;
    ///
    /// let document = Document::scan_trusted(br#"{"user":{"name":"Ada"}}"#)?;
    /// let root = document.root();
    /// assert_eq!(root.path(&["user", "name"]).unwrap().raw(), br#""Ada""#);
    /// assert!(root.path(&["user", "name", "first"]).is_none());
    /// # Ok::<(), tamias_json::ScanError>(())
    /// ```
    pub fn path(&self, keys: &[&str]) -> Option<Value<'d>> {
        keys.iter().try_fold(Value::Map(*self), |value, key| value.as_map()?.get(key))
    }

    /// The object's JSON text, braces included.
    #[inline]
    pub fn raw(&self) -> &'d [u8] {
        self.0.raw()
    }
}

/// Whether a member's key is this one, decoded.
fn has_key(view: &View<'_>, text: Text<'_>, key: &str) -> bool {
    let raw = view.key(text).raw();
    match memchr::memchr(b'\\', raw) {
        None => raw == key.as_bytes(),
        Some(_) => unescape(raw) == key,
    }
}

/// The members of a [`Map`].
#[derive(Clone)]
pub struct Entries<'d> {
    view: View<'d>,
    at: usize,
}

impl<'d> Iterator for Entries<'d> {
    type Item = (Str<'d>, Value<'d>);

    #[inline]
    fn next(&mut self) -> Option<(Str<'d>, Value<'d>)> {
        loop {
            let text = self.view.advance(&mut self.at)?;
            if text.key_len > 0 {
                return Some((self.view.key(text), self.view.value(text)));
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.view.entries.len().saturating_sub(self.at)))
    }
}

impl FusedIterator for Entries<'_> {}

/// An array.
#[derive(Clone, Copy)]
pub struct Array<'d>(pub(crate) View<'d>);

impl<'d> Array<'d> {
    pub(crate) fn new(view: View<'d>) -> Array<'d> {
        Array(view)
    }

    /// The elements.
    #[inline]
    pub fn iter(&self) -> Elements<'d> {
        Elements { view: self.0, at: 1 }
    }

    /// The element at an index, counted from 0. Takes time linear in the index.
    pub fn get(&self, index: usize) -> Option<Value<'d>> {
        self.iter().nth(index)
    }

    /// The number of elements. Takes time linear in it.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The array's JSON text, brackets included.
    #[inline]
    pub fn raw(&self) -> &'d [u8] {
        self.0.raw()
    }
}

impl<'d> IntoIterator for Array<'d> {
    type Item = Value<'d>;
    type IntoIter = Elements<'d>;

    fn into_iter(self) -> Elements<'d> {
        self.iter()
    }
}

impl<'d> IntoIterator for Map<'d> {
    type Item = (Str<'d>, Value<'d>);
    type IntoIter = Entries<'d>;

    fn into_iter(self) -> Entries<'d> {
        self.entries()
    }
}

/// The elements of an [`Array`].
#[derive(Clone)]
pub struct Elements<'d> {
    view: View<'d>,
    at: usize,
}

impl<'d> Iterator for Elements<'d> {
    type Item = Value<'d>;

    #[inline]
    fn next(&mut self) -> Option<Value<'d>> {
        let text = self.view.advance(&mut self.at)?;
        Some(self.view.value(text))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.view.entries.len().saturating_sub(self.at)))
    }
}

impl FusedIterator for Elements<'_> {}
