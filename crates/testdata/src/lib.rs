//! Made-up data for the tests, the benchmarks and the demo of Tamias.
//!
//! - [`Generator`] writes the log of a web shop, one event in the compact log event format (CLEF) a line.
//! - [`nasty_documents`] are valid JSON objects that are unkind to a reader who takes short cuts.
//! - [`spaced_documents`] are valid JSON objects with insignificant white space in every legal place.
//! - [`broken_documents`] are byte strings that no strict reader may take for a JSON object.
//! - [`data_set`] reads real events, where they are at hand.
//!
//! Everything made up here is the same bytes for the same arguments on every machine and in every build: integer
//! arithmetic only, and a random number generator of a few lines that is part of this crate.

mod broken;
mod clock;
mod generator;
mod nasty;
mod random;
mod real;
mod shop;
mod template;
mod value;

pub use broken::broken_documents;
pub use generator::Generator;
pub use nasty::{nasty_documents, spaced_documents};
pub use real::{DATA_SETS, data_set};
