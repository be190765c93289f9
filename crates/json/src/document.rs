//! A document and its containers: views of bytes and offset list.

use std::fmt;
use std::iter::FusedIterator;

use crate::isa::Isa;
use crate::offsets::{AttachError, Entry, Offsets, ScanError};
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

impl<'d> View<'d> {
    /// Bytes of the document; the empty slice rather than a panic, should the ends not fit.
    #[inline]
    fn slice(&self, from: u32, to: u32) -> &'d [u8] {
        self.bytes.get(from as usize..to as usize).unwrap_or_default()
    }

    #[inline]
    fn raw(&self) -> &'d [u8] {
        match self.entries {
            [open, .., close] => self.slice(open.end, close.end + 1),
            _ => &[],
        }
    }

    /// The value of the entry at index `at`.
    #[inline]
    fn value(&self, at: usize, entry: &Entry) -> Value<'d> {
        if entry.step == 1 {
            return Value::scalar(self.slice(entry.value, entry.end), self.utf8);
        }
        let entries = self.entries.get(at..at + entry.step as usize - 1).unwrap_or_default();
        let view = View { entries, ..*self };
        match self.bytes.get(entry.end as usize) {
            Some(b'{') => Value::Map(Map(view)),
            _ => Value::Array(Array(view)),
        }
    }

    /// The next entry from index `at` on that holds something, and moves `at` past it and its children.
    #[inline]
    fn advance(&self, at: &mut usize) -> Option<(usize, &'d Entry)> {
        loop {
            let here = *at;
            let entry = self.entries.get(here)?;
            *at += entry.step as usize;
            // Nothing stands before the closing bracket of an empty container.
            if entry.start < entry.end || entry.step > 1 {
                return Some((here, entry));
            }
        }
    }
}

/// An object.
///
/// Its `Debug` is a table of its part of the offset list, a line an entry: index, kind of the entry's text, the text,
/// index of the next sibling.
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
        let mut at = 1;
        let mut found = None;
        while let Some((index, entry)) = view.advance(&mut at) {
            if has_key(view, entry, key) {
                found = Some((index, entry));
            }
        }
        found.map(|(index, entry)| view.value(index, entry))
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

/// Whether the member at `entry` has this key. An entry without a colon has none.
#[inline]
fn has_key(view: &View<'_>, entry: &Entry, key: &str) -> bool {
    // Two quotes and a colon.
    let raw_len = (entry.value - entry.start).wrapping_sub(3) as usize;
    // An escaped spelling is longer than what it stands for.
    if raw_len < key.len() || entry.value == entry.start {
        return false;
    }
    let raw = key_of(view, entry).raw();
    if raw.len() == key.len() {
        raw == key.as_bytes() && !key.as_bytes().contains(&b'\\')
    } else {
        // Only a key that begins as this one does, or with an escape, can be another spelling of it.
        let may =
            matches!((raw.first(), key.as_bytes().first()), (Some(a), Some(b)) if a == b || *a == b'\\');
        may && key_of(view, entry).has_escapes() && key_of(view, entry).text() == key
    }
}

#[inline]
fn key_of<'d>(view: &View<'d>, entry: &Entry) -> Str<'d> {
    Str::new(view.slice(entry.start, entry.value.wrapping_sub(1)), view.utf8)
}

impl fmt::Debug for Map<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        table(&self.0, f)
    }
}

/// A line for each entry.
fn table(view: &View<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, entry) in view.entries.iter().enumerate() {
        if index > 0 {
            writeln!(f)?;
        }
        let text = String::from_utf8_lossy(view.slice(entry.start, entry.end + 1));
        write!(f, "{index:>5}  {text}  {}", index + entry.step as usize)?;
    }
    Ok(())
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
            let (index, entry) = self.view.advance(&mut self.at)?;
            if entry.value > entry.start {
                return Some((key_of(&self.view, entry), self.view.value(index, entry)));
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
        table(&self.0, f)
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
        let (index, entry) = self.view.advance(&mut self.at)?;
        Some(self.view.value(index, entry))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.view.entries.len().saturating_sub(self.at)))
    }
}

impl FusedIterator for Elements<'_> {}
