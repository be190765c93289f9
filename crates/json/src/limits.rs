//! The size limits of a scanned document.

/// The maximum length of a document, in bytes: 1 GiB, so that offsets fit 32 bits.
pub const BYTES_MAX: usize = 1 << 30;

/// The maximum nesting depth of objects and arrays, including the outermost.
pub const DEPTH_MAX: usize = 1024;
