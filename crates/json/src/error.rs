//! Errors of scanning a document, and of attaching an offset list.

use std::fmt;

use crate::limits::{BYTES_MAX, DEPTH_MAX};

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
    /// A closing bracket does not match the open one.
    Unbalanced {
        /// Its offset.
        offset: usize,
    },
    /// Something follows the end of the outermost value.
    Trailing {
        /// Offset of its first byte.
        offset: usize,
    },
    /// A string is not closed.
    OpenString {
        /// Offset of its opening quote.
        offset: usize,
    },
    /// The document ends before its brackets are closed.
    Truncated {
        /// The number of open brackets.
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

/// Why an offset list does not match the bytes it was to be attached to.
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
