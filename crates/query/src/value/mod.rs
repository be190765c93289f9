//! The values of the language, borrowed from the document until a row owns them.

mod access;
mod kind;
mod long;
mod number;
mod object;
mod order;
mod owned;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod write;

pub use kind::Kind;
pub use long::PLACES_MAX;
pub(crate) use long::{Long, Midpoint, TooLarge};
pub(crate) use number::{
    BINARY_POWERS, Number, WHOLE_POWERS, compare_few, estimate, estimate_of, nearest, nearest_of, plain,
    telling_digits,
};
pub(crate) use order::{canonical, compare, equal, order};
pub(crate) use text::{Text, beginning_of, lower, upper};
pub use types::VALUE_BYTES_MAX;
pub(crate) use types::{Array, Object, Value};
pub(crate) use write::{json, parse, write_json};
