//! The encodings of columns, a file each: how values are written, read, and asked without being decoded.

pub(crate) mod dictionary;
pub(crate) mod fraction;
pub(crate) mod instants;
pub(crate) mod ints;
pub(crate) mod packed;
pub(crate) mod positions;
pub(crate) mod strings;
pub(crate) mod templates;
