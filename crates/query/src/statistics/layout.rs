//! The fixed parts of the format, and its limits.

use std::borrow::Cow;

/// The first byte. What another version wrote is not understood, and nothing is known then.
pub(super) const VERSION: u8 = 1;
/// The first byte of those that are packed.
pub(super) const PACKED_VERSION: u8 = 2;
/// The first byte of those whose filter is apart.
pub(super) const APART_VERSION: u8 = 3;
/// The first byte of those whose filter is apart, and whose rest is packed.
pub(super) const PACKED_APART_VERSION: u8 = 4;
/// Version, flags, number of keys, number of events, bytes of the filter.
pub(super) const HEADER_BYTES: usize = 12;

/// Flags of the block.
pub(super) mod flags {
    /// There are keys that are not listed.
    pub(crate) const INCOMPLETE: u8 = 1;
    /// A document holds an object or array.
    pub(crate) const NESTED: u8 = 2;
    /// Nested paths are listed beside keys.
    pub(crate) const PATHS: u8 = 4;
    /// There are nested paths that are not listed.
    pub(crate) const PATHS_INCOMPLETE: u8 = 8;
}

/// Flags of a key.
pub(super) mod key_flags {
    /// The bytes `"key":` occur nowhere but as this key.
    pub(crate) const SIMPLE: u8 = 1;
    /// Some event has it more than once: no values are told.
    pub(crate) const REPEATED: u8 = 2;
    /// All distinct strings are listed.
    pub(crate) const STRINGS: u8 = 4;
    /// All distinct spellings of numbers are listed.
    pub(crate) const NUMBERS: u8 = 8;
    /// The least and the greatest number are told.
    pub(crate) const RANGE: u8 = 16;
    /// The sum of the numbers is told.
    pub(crate) const SUM: u8 = 32;
    /// All strings up to [`FILTERED_BYTES_MAX`](super::FILTERED_BYTES_MAX) are in the filter.
    pub(crate) const FILTER: u8 = 64;
    /// The events are told in which the bytes `"key":` occur elsewhere.
    pub(crate) const ELSEWHERE: u8 = 128;
}

/// Between the keys of a path. No key holds that byte as it is stored.
pub(super) const STEP: u8 = 0;

/// The name under which a path is listed: its keys as they are stored, with [`STEP`] between them.
pub(super) fn name_of<'k>(keys: &[&'k [u8]]) -> Cow<'k, [u8]> {
    match keys {
        [key] => Cow::Borrowed(key),
        keys => Cow::Owned(keys.join(&STEP)),
    }
}

/// The most keys that are listed, and the most nested paths.
pub(super) const KEYS_MAX: usize = 512;
/// The longest key or path that is listed, in bytes as it is stored.
pub(super) const NAME_BYTES_MAX: usize = 256;
/// HEURISTIC: the most distinct values of a kind that are listed.
pub(super) const LISTED_MAX: usize = 64;
/// The longest value that is listed.
pub(super) const LISTED_BYTES_MAX: usize = 256;
/// HEURISTIC: the longest string in the filter. Longer ones are prose, which nobody asks for as a whole.
pub(super) const FILTERED_BYTES_MAX: usize = 64;
