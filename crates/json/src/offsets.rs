//! The flat list of a document, kept apart from its bytes.

use std::fmt;

use crate::document::{Map, View};
use crate::isa::Isa;
use crate::scan::{self, BYTES_MAX, DEPTH_MAX};
use crate::value::Value;

/// One delimiter outside strings, and the text before it: that begins just past the delimiter of the entry before.
///
/// `docs/offset-list.md` specifies the list, and how it is walked.
///
/// ```
/// let mut offsets = tamias_json::Offsets::new();
/// let bytes = br#"{"a":[1],"b":2}"#;
/// offsets.scan_trusted(bytes)?;
/// let [object, array, element, comma, last] = offsets.entries() else { panic!("five delimiters") };
/// assert_eq!((object.step(), array.opens(), array.value(), array.end()), (6, true, 5, 5));
/// assert_eq!(&bytes[element.value()..element.end()], b"1");
/// assert_eq!(comma.value(), comma.end());
/// assert_eq!(&bytes[last.value()..last.end()], b"2");
/// # Ok::<(), tamias_json::ScanError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Entry {
    /// Just past the last structural byte before: the offset of the text's value if that is a colon, else that of the text.
    /// In the entry of an opening bracket instead [`OPENS`], and the distance to the entry of the closing one.
    value: u32,
    /// Offset of the delimiter.
    end: u32,
}

/// Offsets and distances stay below it: [`BYTES_MAX`] is smaller.
const OPENS: u32 = 1 << 31;

impl Entry {
    #[inline(always)]
    pub(crate) fn new(value: u32, end: u32) -> Entry {
        Entry { value, end }
    }

    /// Makes this the entry of an opening bracket, whose closing one is so many entries away.
    #[inline(always)]
    pub(crate) fn link(&mut self, distance: u32) {
        self.value = OPENS | distance;
    }

    /// Whether the delimiter is an opening bracket.
    #[inline(always)]
    pub fn opens(&self) -> bool {
        self.value & OPENS != 0
    }

    /// Offset of the delimiter.
    #[inline(always)]
    pub fn end(&self) -> usize {
        self.end as usize
    }

    /// Offset of the value; of a text without a colon, that of the text.
    #[inline(always)]
    pub fn value(&self) -> usize {
        if self.opens() { self.end as usize } else { self.value as usize }
    }

    /// How many entries further the next sibling is: past the closing bracket and the comma after it, if this one opens.
    #[inline(always)]
    pub fn step(&self) -> usize {
        if self.opens() { (self.value & !OPENS) as usize + 2 } else { 1 }
    }
}

/// The offset list of a document, owned and reusable, without the document's bytes.
///
/// A list that is scanned into again keeps its allocation, so that scanning event after event allocates nothing.
///
/// ```
/// use tamias_json::Offsets;
///
/// let mut offsets = Offsets::new();
/// let mut sum = 0.0;
/// for event in [&br#"{"ms":12.5}"#[..], br#"{"ms":30}"#] {
///     let root = offsets.scan_trusted(event)?;
///     sum += root.get("ms").and_then(|ms| ms.as_number()).map_or(0.0, |ms| ms.to_f64());
/// }
/// assert_eq!(sum, 42.5);
/// # Ok::<(), tamias_json::ScanError>(())
/// ```
#[derive(Clone, Default)]
pub struct Offsets {
    entries: Vec<Entry>,
    /// Length of the bytes that were scanned: every offset in the list is below it.
    bytes_len: usize,
}

impl Offsets {
    /// An empty list; allocates nothing.
    pub const fn new() -> Offsets {
        Offsets { entries: Vec::new(), bytes_len: 0 }
    }

    /// Scans a minified JSON object and gives its outermost map. Takes time linear in the length of `bytes`, and
    /// memory for one entry of 8 bytes per delimiter.
    ///
    /// # Errors
    /// See [`ScanError`]. The list is empty then.
    #[inline]
    pub fn scan_trusted<'d>(&'d mut self, bytes: &'d [u8]) -> Result<Map<'d>, ScanError> {
        self.scan_trusted_with(bytes, Isa::best())
    }

    /// [`scan_trusted`](Offsets::scan_trusted) by a given kernel.
    ///
    /// # Errors
    /// See [`ScanError`]. The list is empty then.
    #[inline]
    pub fn scan_trusted_with<'d>(&'d mut self, bytes: &'d [u8], isa: Isa) -> Result<Map<'d>, ScanError> {
        self.scan_object(bytes, isa)?;
        Ok(Map::new(self.view(bytes, false)))
    }

    /// [`scan_trusted`](Offsets::scan_trusted) of text: its strings are known to be UTF-8 and are not checked again when they are
    /// asked for.
    ///
    /// # Errors
    /// See [`ScanError`]. The list is empty then.
    #[inline]
    pub fn scan_trusted_str<'d>(&'d mut self, text: &'d str) -> Result<Map<'d>, ScanError> {
        self.scan_object(text.as_bytes(), Isa::best())?;
        Ok(Map::new(self.view(text.as_bytes(), true)))
    }

    /// How many entries the list of these bytes would have, at 8 bytes each: to know the memory before it is taken.
    /// Makes no list; several documents one after another count together.
    ///
    /// ```
    /// assert_eq!(tamias_json::Offsets::count(br#"{"a":1,"b":[2,3]}"#), 6);
    /// ```
    pub fn count(bytes: &[u8]) -> usize {
        Offsets::count_with(bytes, Isa::best())
    }

    /// [`count`](Offsets::count) by a given kernel.
    pub fn count_with(bytes: &[u8], isa: Isa) -> usize {
        scan::count(isa, bytes)
    }

    /// The entries, in the order of the document: what there is for a walk over all of it that makes no values.
    #[inline]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Scans an object; the list then is that of `bytes`, with at least two entries.
    #[inline]
    pub(crate) fn scan_object(&mut self, bytes: &[u8], isa: Isa) -> Result<(), ScanError> {
        if bytes.first() != Some(&b'{') {
            self.clear();
            return Err(ScanError::NotAnObject);
        }
        self.scan_any(bytes, isa)
    }

    /// Scans any JSON value.
    pub(crate) fn scan_value<'d>(&'d mut self, bytes: &'d [u8]) -> Result<Value<'d>, ScanError> {
        if bytes.is_empty() {
            self.clear();
            return Err(ScanError::Truncated { open: 0 });
        }
        self.scan_any(bytes, Isa::best())?;
        Ok(match bytes[0] {
            b'{' => Value::Map(Map::new(self.view(bytes, false))),
            b'[' => Value::Array(crate::document::Array::new(self.view(bytes, false))),
            _ => Value::scalar(bytes, false),
        })
    }

    #[inline]
    fn scan_any(&mut self, bytes: &[u8], isa: Isa) -> Result<(), ScanError> {
        if bytes.len() > BYTES_MAX {
            self.clear();
            return Err(ScanError::TooLong { bytes: bytes.len() });
        }
        self.bytes_len = bytes.len();
        if !scan::run(isa, bytes, &mut self.entries) {
            self.clear();
            return Err(scan::fault(bytes));
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.bytes_len = 0;
    }

    /// The list beside bytes that are as long as those it was scanned from.
    #[inline]
    pub(crate) fn view<'d>(&'d self, bytes: &'d [u8], utf8: bool) -> View<'d> {
        debug_assert_eq!(bytes.len(), self.bytes_len);
        View { bytes, entries: &self.entries, utf8 }
    }

    /// Whether the list can stand beside these bytes: every offset lies inside, and on a delimiter of the right kind.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<(), AttachError> {
        if self.entries.is_empty() {
            return Err(AttachError::Empty);
        }
        if bytes.len() != self.bytes_len {
            return Err(AttachError::Length { bytes: bytes.len(), scanned: self.bytes_len });
        }
        for entry in &self.entries {
            let byte = bytes.get(entry.end());
            let fits = if entry.opens() {
                matches!(byte, Some(b'{' | b'['))
            } else {
                matches!(byte, Some(b',' | b'}' | b']'))
            };
            if !fits {
                return Err(AttachError::Bytes { offset: entry.end() });
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Offsets {
    /// Where the entries lie; the table with the texts is that of [`Document`](crate::Document) and [`Map`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offsets")
            .field("bytes", &self.bytes_len)
            .field("entries", &self.entries.len())
            .finish()
    }
}

/// Why a document could not be scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanError {
    /// The first byte is not `{`.
    NotAnObject,
    /// More than [`BYTES_MAX`] bytes.
    TooLong {
        /// Length of the document.
        bytes: usize,
    },
    /// Nested deeper than [`DEPTH_MAX`].
    TooDeep {
        /// Offset of the bracket that opens one level too many.
        offset: usize,
    },
    /// A closing bracket that does not fit the one that is open.
    Unbalanced {
        /// Its offset.
        offset: usize,
    },
    /// Something follows the end of the outermost value.
    Trailing {
        /// Offset of the first byte of it.
        offset: usize,
    },
    /// A string is not closed.
    OpenString {
        /// Offset of its opening quote.
        offset: usize,
    },
    /// The document ends before its brackets are closed.
    Truncated {
        /// How many are open.
        open: usize,
    },
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScanError::NotAnObject => write!(f, "the document does not begin with '{{' at byte 0"),
            ScanError::TooLong { bytes } => {
                write!(f, "the document has {bytes} bytes, more than the limit of {BYTES_MAX}")
            }
            ScanError::TooDeep { offset } => {
                write!(f, "nested deeper than the limit of {DEPTH_MAX} at byte {offset}")
            }
            ScanError::Unbalanced { offset } => write!(f, "unexpected closing bracket at byte {offset}"),
            ScanError::Trailing { offset } => write!(f, "text after the end of the value at byte {offset}"),
            ScanError::OpenString { offset } => {
                write!(f, "the string that begins at byte {offset} is not closed")
            }
            ScanError::Truncated { open } => write!(f, "the document ends with {open} brackets still open"),
        }
    }
}

impl std::error::Error for ScanError {}

/// Why a kept list does not belong to some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttachError {
    /// The list is empty: nothing was scanned, or the scan failed.
    Empty,
    /// The list was made from a document of another length.
    Length {
        /// Length of the bytes offered.
        bytes: usize,
        /// Length of the bytes scanned.
        scanned: usize,
    },
    /// The bytes have no delimiter where the list has one.
    Bytes {
        /// Offset of that place.
        offset: usize,
    },
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachError::Empty => f.write_str("the offset list is empty: scan a document into it first"),
            AttachError::Length { bytes, scanned } => {
                write!(f, "the offset list was made from {scanned} bytes and cannot be attached to {bytes}")
            }
            AttachError::Bytes { offset } => {
                write!(
                    f,
                    "the offset list was made from other bytes: no delimiter of its kind at byte {offset}"
                )
            }
        }
    }
}

impl std::error::Error for AttachError {}
