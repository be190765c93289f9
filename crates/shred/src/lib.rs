//! Encodes documents as columns, grouped by their shape, and decodes them byte for byte.
//!
//! A group of events (up to 16,384, or 8 MiB of documents) becomes a directory and frames of bytes. The keys, their order and the
//! constants of a document are its *shape*, which is written once. The other values become columns, one for each path and kind of value, each in
//! the encoding that suits it. A text that contains other values of its event, as rendered messages do, is stored as a reference to them.
//! `docs/columns.md` specifies every byte, with a worked dump.
//!
//! ```
//! use tamias_shred::{ColumnValues, Event, Group, Values, encode};
//!
//! let documents = [
//!     r#"{"Message":"GET /basket took 12 ms","Path":"/basket","Elapsed":12}"#,
//!     r#"{"Message":"GET /orders/1608 took 250 ms","Path":"/orders/1608","Elapsed":250}"#,
//! ];
//! let events: Vec<Event> =
//!     documents.iter().zip(1..).map(|(text, n)| Event { instant: n, arrival: n, document: text.as_bytes() }).collect();
//! let encoded = encode(&events)?; // and decoded, and compared
//!
//! let group = Group::open(&encoded.directory)?;
//! let mut reader = group.read(&encoded.frames);
//! let elapsed = group.find(&["Elapsed"])[0];
//! assert_eq!(reader.column(elapsed)?, ColumnValues::Simple(Values::Whole(vec![12, 250])));
//! assert_eq!(reader.between(elapsed, 201, i64::MAX)?, [false, true]);
//! assert_eq!(reader.document(1)?, documents[1].as_bytes());
//! assert!(reader.documents()?.iter().eq(documents.iter().map(|text| text.as_bytes())));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules: `dissect` takes documents apart, `choose` finds an encoding for each column (`refer`, `learn` and `pattern` find templates),
//! `frame` and `directory` define the bytes written; `proof` decodes them and compares; `group` reads a group, `program` and `render` put documents together.
//!
//! *Invariants*: an encoded group decodes to the same bytes, or is not returned. Reading any bytes as a group gives an error or documents,
//! in bounded time and memory, without a panic. There is no unsafe code. This crate knows nothing of files, queries, or particular keys.

#![forbid(unsafe_code)]

mod apart;
mod arrays;
mod arrivals;
mod ask;
mod asked;
mod at;
mod beginnings;
mod beside;
mod bytes;
mod choose;
mod coded;
mod collected;
mod column;
mod cut;
mod decompressor;
mod differences;
mod directory;
mod dissect;
mod distinct;
mod encode;
mod encoded;
mod encoding;
mod error;
#[cfg(feature = "checked")]
pub mod forge;
mod frame;
mod group;
mod grouping;
mod hash;
mod keys;
mod late;
mod learn;
mod leftover;
mod limits;
mod mixed;
mod number;
mod numbers;
mod objects;
mod order;
mod output;
mod path;
mod pattern;
mod pieces;
mod point;
mod presence;
mod program;
mod proof;
mod questions;
mod refer;
mod render;
mod said;
mod salvage;
mod shape;
mod sites;
mod spans;
mod spared;
mod stride;
mod survey;
mod texts;
mod walk;

pub use arrays::{Arrays, ArraysAt, AtArrays};
pub use arrivals::Arrivals;
pub use at::{AtPath, AtRows, Digits, Mixed, Numbers, SomeTexts};
pub use column::ColumnValues;
pub use encode::{Encoder, encode, group_len};
pub use encoded::{Encoded, Event};
pub use encoding::dictionary::Coded;
pub use encoding::fraction::{Decimals, Scales};
pub use encoding::instants::Times;
pub use encoding::positions::Spelled;
pub use encoding::simple::Values;
pub use encoding::strings::Texts;
pub use encoding::templates::Templated;
pub use error::{DecodeError, EncodeError};
pub use frame::Frames;
pub use group::{ColumnInfo, Documents, EventTimes, Group, GroupReader, ShapeCodes};
pub use leftover::{Leftover, Leftovers};
pub use limits::{DOCUMENT_BYTES_MAX, EVENTS_MAX, GROUP_BYTES_MAX, PATHS_MAX, SHAPES_MAX};
pub use objects::AtObjects;
pub use pieces::TextPieces;
pub use questions::{Holds, Length, Wanted, Within};
pub use said::TextPath;
pub use shape::Leaf;
pub use survey::{Survey, Surveyed, SurveyedColumn, SurveyedPath, Tallied};
