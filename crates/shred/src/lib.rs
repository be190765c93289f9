//! Documents taken apart into columns by their shape, and put together again byte for byte.
#![forbid(unsafe_code)]

mod ask;
mod bytes;
mod choose;
mod column;
mod directory;
mod dissect;
mod encode;
mod encoding;
mod error;
#[cfg(feature = "checked")]
pub mod forge;
mod frame;
mod group;
mod grouping;
mod hash;
mod learn;
mod limits;
mod number;
mod order;
mod output;
mod path;
mod point;
mod program;
mod refer;
mod render;
mod shape;
mod walk;

pub use column::ColumnValues;
pub use encode::{Encoded, Event, encode, group_len};
pub use encoding::dictionary::Coded;
pub use encoding::fraction::{Decimals, Scales};
pub use encoding::instants::Times;
pub use encoding::positions::Spelled;
pub use encoding::simple::Values;
pub use encoding::strings::Texts;
pub use encoding::templates::Templated;
pub use error::{DecodeError, EncodeError};
pub use frame::Frames;
pub use group::{ColumnInfo, Documents, Group, GroupReader};
pub use limits::{DOCUMENT_BYTES_MAX, EVENTS_MAX, GROUP_BYTES_MAX, PATHS_MAX, SHAPES_MAX};
pub use shape::Leaf;
