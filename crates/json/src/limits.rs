//! How large a document may be that is scanned.

/// The longest document, in bytes: 1 GiB, so that offsets fit 32 bits.
pub const BYTES_MAX: usize = 1 << 30;

/// The deepest nesting of objects and arrays, the outermost counted.
pub const DEPTH_MAX: usize = 1024;
