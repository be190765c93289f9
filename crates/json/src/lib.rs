//! A sparse JSON scanner: trusted documents become flat lists of offsets.
//!
//! A document is scanned once, 64 bytes at a time, into an offset list: one small entry for each
//! delimiter outside strings, with a link to the next sibling. Nothing is parsed at this point. Looking up a key walks
//! the entries of one object and compares lengths and raw bytes. A string is unescaped, or a number
//! parsed, only when that value is read.
//!
//! ```
//! use tamias_json::Document;
//!
//! let event = br#"{"user":{"name":"Ada"},"tags":["a","b"],"ms":12.5}"#;
//! let document = Document::scan_trusted(event)?;
//! let root = document.root();
//! assert_eq!(root.path(&["user", "name"]).and_then(|v| v.as_str()).map(|s| s.text()), Some("Ada".into()));
//! assert_eq!(root.get("ms").and_then(|v| v.as_number()).map(|n| n.text()), Some("12.5"));
//! # Ok::<(), tamias_json::ScanError>(())
//! ```
//!
//! *Trusted* means: results are correct only for a valid minified JSON object. Any other bytes are safe too: no undefined
//! behaviour, no panic, linear time and bounded memory. Pass bytes from outside through [`validate`]
//! first, which checks them strictly and minifies them.

#![forbid(unsafe_code)]

mod carry;
mod document;
mod error;
mod limits;
pub mod number;
mod offsets;
mod scalar;
mod scan;
pub mod search;
mod table;
pub mod unescape;
pub mod validate;
mod value;
mod write;

pub use document::Document;
pub use error::{AttachError, ScanError};
pub use limits::{BYTES_MAX, DEPTH_MAX};
pub use offsets::Offsets;
pub use scalar::{Kind, Number, Str};
pub use tamias_simd::{Entry, Isa};
pub use value::{Array, Elements, Entries, Map, Value};
pub use write::{write_escaped, write_json_string};
