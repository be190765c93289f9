//! How many of what an operation takes at a time.

/// Bytes in a vector: what an operation takes at a time, whatever the CPU's registers hold.
pub const VECTOR: usize = 64;

/// Numbers that are counted at a time.
pub const NUMBERS: usize = 16;

/// Numbers that are compared together.
pub const SEVERAL: usize = 8;

/// The most characters of a short decimal, the minus not counted.
pub const DIGITS: usize = 16;
