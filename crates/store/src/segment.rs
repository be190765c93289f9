//! Immutable files of events in order of time: checksummed blocks of text or columns, then what readers look at first, then an index.

mod block;
mod column_block;
mod expected;
mod keys;
mod loaded;
mod maker;
mod numbers;
mod reader;
mod salvage;
mod writer;

pub use block::Block;
pub use column_block::ColumnBlock;
pub use expected::Expected;
pub(crate) use numbers::Numbers;
pub(crate) use reader::{Beside, Environment, Segment};
pub(crate) use salvage::Salvaged;
pub(crate) use writer::{Sealed, Unwritten, Written, write_sorted};
