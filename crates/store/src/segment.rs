//! Immutable files of events in order of time: checksummed blocks, then their columns, then an index.

mod block;
mod columns;
mod keys;
mod loaded;
mod numbers;
mod reader;
mod salvage;
mod writer;

pub use block::Block;
pub(crate) use numbers::Numbers;
pub(crate) use reader::{Environment, Segment};
pub(crate) use salvage::Salvaged;
pub(crate) use writer::{Sealed, Written, write_sorted};
