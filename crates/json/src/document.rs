//! A document and its containers: views of bytes and offset list.

use std::fmt;
use std::iter::FusedIterator;

use crate::isa::Isa;
use crate::offsets::{AttachError, Entry, Offsets, ScanError};
use crate::table;
use crate::unescape::unescape;
use crate::value::{Str, Value};

/// A scanned document: its bytes, and the list that was made of them.
///
/// ```
/// use tamias_json::{Document, Kind};
///
/// let document = Document::scan_trusted(br#"{"a":1,"b":{"c":[true,"x"]}}"#)?;
/// let root = document.root();
/// assert_eq!(root.len(), 2);
/// assert_eq!(root.path(&["b", "c"]).map(|c| c.kind()), Some(Kind::Array));
/// # Ok::<(), tamias_json::ScanError>(())
/// ```
#[derive(Clone)]
pub struct Document<'a> {
    bytes: &'a [u8],
    offsets: Offsets,
    utf8: bool,
}

impl<'a> Document<'a> {
    /// Scans a minified JSON object. [`Offsets::scan_trusted`] does the same into a list that is reused.
    ///
    /// # Errors
    /// See [`ScanError`].
    pub fn scan_trusted(bytes: &'a [u8]) -> Result<Document<'a>, ScanError> {
        let mut offsets = Offsets::new();
        offsets.scan_object(bytes, Isa::best())?;
        Ok(Document { bytes, offsets, utf8: false })
    }

    /// [`scan_trusted`](Document::scan_trusted) of text, whose strings are known to be UTF-8 and not checked again.
    ///
    /// # Errors
    /// See [`ScanError`].
    pub fn scan_trusted_str(text: &'a str) -> Result<Document<'a>, ScanError> {
        let document = Document::scan_trusted(text.as_bytes())?;
        Ok(Document { utf8: true, ..document })
    }

    /// The outermost object.
    pub fn root(&self) -> Map<'_> {
        Map::new(self.offsets.view(self.bytes, self.utf8))
    }

    /// The bytes that were scanned.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Keeps the list without the bytes: to be attached to them again, or for its allocation.
    pub fn detach(self) -> Offsets {
        self.offsets
    }

    /// Joins a kept list with the bytes that it was made from, without scanning them again. Takes time linear in the
    /// length of the list.
    ///
    /// Safe for any bytes: others of the same length, with delimiters in the same places, merely give their own values.
    ///
    /// ```
    /// use tamias_json::Document;
    ///
    /// let bytes = br#"{"a":[1,2]}"#;
    /// let offsets = Document::scan_trusted(bytes)?.detach();
    /// let document = Document::attach(bytes, offsets)?;
    /// assert_eq!(document.root().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`AttachError`].
    pub fn attach(bytes: &'a [u8], offsets: Offsets) -> Result<Document<'a>, AttachError> {
        offsets.check(bytes)?;
        if bytes[0] != b'{' {
            return Err(AttachError::Bytes { offset: 0 });
        }
        Ok(Document { bytes, offsets, utf8: false })
    }
}

impl fmt::Debug for Document<'_> {
    /// The table of the offset list, as [`Map`] shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root().fmt(f)
    }
}

/// A container's part of the list, from the entry that opens it to the one that closes it, and the document's bytes.
#[derive(Clone, Copy)]
pub(crate) struct View<'d> {
    pub(crate) bytes: &'d [u8],
    /// Never empty.
    pub(crate) entries: &'d [Entry],
    pub(crate) utf8: bool,
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
        self.bytes.get(from..to).unwrap_or_default()
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
            return Value::scalar(self.slice(entry.value(), entry.end()), self.utf8);
        }
        let entries = self.entries.get(index..index + entry.step() - 1).unwrap_or_default();
        let view = View { entries, ..*self };
        match self.bytes.get(entry.end()) {
            Some(b'{') => Value::Map(Map(view)),
            _ => Value::Array(Array(view)),
        }
    }

    #[inline]
    fn key(&self, text: Text<'d>) -> Str<'d> {
        let end = (text.start + text.key_len).saturating_sub(1);
        Str::new(self.slice(text.start, end), self.utf8)
    }

    #[inline]
    fn key_len(&self, start: usize, entry: &Entry) -> usize {
        // An opening bracket's entry does not say where a colon is, but that can only be right before it.
        if entry.opens() && self.bytes.get(entry.end().wrapping_sub(1)) != Some(&b':') {
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
pub struct Map<'d>(View<'d>);

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

    /// Number of members, duplicates counted. Walks them.
    pub fn len(&self) -> usize {
        self.entries().count()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.entries().next().is_none()
    }

    /// The value of a key: of several members with this key the last. Keys are compared decoded.
    ///
    /// Walks the members.
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
            let byte = view.bytes.get(text.start + 1).copied().unwrap_or_default();
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

impl fmt::Debug for Map<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        table::write(&self.0, f)
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
pub struct Array<'d>(View<'d>);

impl<'d> Array<'d> {
    pub(crate) fn new(view: View<'d>) -> Array<'d> {
        Array(view)
    }

    /// The elements.
    #[inline]
    pub fn iter(&self) -> Elements<'d> {
        Elements { view: self.0, at: 1 }
    }

    /// The element at an index from 0. Walks the elements before it.
    pub fn get(&self, index: usize) -> Option<Value<'d>> {
        self.iter().nth(index)
    }

    /// Number of elements. Walks them.
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

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        table::write(&self.0, f)
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
