//! The offset list of a document, without the document's bytes.

use std::fmt;

use tamias_simd::{Entry, Isa};

use crate::error::{AttachError, ScanError};
use crate::limits::BYTES_MAX;
use crate::scalar::Source;
use crate::scan;
use crate::value::{Array, Map, Value, View};

/// The offset list of a document, owned and reusable, without the document's bytes.
///
/// A list that is reused keeps its allocation, so that scanning event after event allocates nothing.
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

    /// Scans a minified JSON object and returns its outermost map. Takes time linear in the length of `bytes`, and
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
        Ok(Map::new(self.view(Source::Bytes(bytes))))
    }

    /// As [`scan_trusted`](Offsets::scan_trusted), for text: its strings are known to be UTF-8 and are not checked again when they are
    /// read.
    ///
    /// # Errors
    /// See [`ScanError`]. The list is empty then.
    #[inline]
    pub fn scan_trusted_str<'d>(&'d mut self, text: &'d str) -> Result<Map<'d>, ScanError> {
        self.scan_object(text.as_bytes(), Isa::best())?;
        Ok(Map::new(self.view(Source::Text(text))))
    }

    /// The number of entries that the list of these bytes would have, at 8 bytes each, to determine the memory needed in advance.
    /// Creates no list. Several documents one after another are counted together.
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

    /// The entries in document order, for walking the whole document without creating values.
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
    pub(crate) fn view<'d>(&'d self, source: Source<'d>) -> View<'d> {
        debug_assert_eq!(source.bytes().len(), self.bytes_len);
        View { source, entries: &self.entries }
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
        if bytes.is_empty() {
            offsets.clear();
            return Err(ScanError::Truncated { open: 0 });
        }
        offsets.scan_any(bytes, Isa::best())?;
        Ok(match bytes[0] {
            b'{' => Value::Map(Map::new(offsets.view(Source::Bytes(bytes)))),
            b'[' => Value::Array(Array::new(offsets.view(Source::Bytes(bytes)))),
            _ => Value::of_scalar(bytes),
        })
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
