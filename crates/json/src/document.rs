//! A document: its bytes and its offset list.

use std::fmt;

use tamias_simd::Isa;

use crate::error::{AttachError, ScanError};
use crate::offsets::Offsets;
use crate::scalar::Source;
use crate::value::Map;

/// A scanned document: its bytes and their offset list.
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
    source: Source<'a>,
    offsets: Offsets,
}

impl<'a> Document<'a> {
    /// Scans a minified JSON object. [`Offsets::scan_trusted`] does the same into a list that is reused.
    ///
    /// # Errors
    /// See [`ScanError`].
    pub fn scan_trusted(bytes: &'a [u8]) -> Result<Document<'a>, ScanError> {
        let mut offsets = Offsets::new();
        offsets.scan_object(bytes, Isa::best())?;
        Ok(Document { source: Source::Bytes(bytes), offsets })
    }

    /// [`scan_trusted`](Document::scan_trusted) of text, whose strings are known to be UTF-8 and not checked again.
    ///
    /// # Errors
    /// See [`ScanError`].
    pub fn scan_trusted_str(text: &'a str) -> Result<Document<'a>, ScanError> {
        let document = Document::scan_trusted(text.as_bytes())?;
        Ok(Document { source: Source::Text(text), ..document })
    }

    /// The outermost object.
    pub fn root(&self) -> Map<'_> {
        Map::new(self.offsets.view(self.source))
    }

    /// The bytes that were scanned.
    pub fn bytes(&self) -> &'a [u8] {
        self.source.bytes()
    }

    /// Returns the list without the bytes, to attach it to them again or to reuse its allocation.
    pub fn detach(self) -> Offsets {
        self.offsets
    }

    /// Attaches an offset list to the bytes it was made from, without scanning them again. Takes time linear in the
    /// length of the list.
    ///
    /// Safe for any bytes: different bytes with the same length and the same delimiters give their own values.
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
        Ok(Document { source: Source::Bytes(bytes), offsets })
    }
}

impl fmt::Debug for Document<'_> {
    /// The table of the offset list, as [`Map`] shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root().fmt(f)
    }
}
