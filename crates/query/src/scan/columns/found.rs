//! What a scan of columns has found in a block, to be given in portions.

use crate::column_block::PathColumn;
use crate::dictionary::Dictionary;
use std::sync::Arc;

/// The rows of a block that pass, and their values.
#[derive(Debug)]
pub(crate) struct Found {
    /// Places in the block, in the query's direction.
    pub(super) rows: Vec<u32>,
    pub(super) outputs: Vec<Values>,
    /// How many events were looked at.
    pub(super) events: usize,
}

/// The values of an output.
#[derive(Debug)]
pub(super) enum Values {
    Nothing,
    /// By the places of rows in the block.
    Path(Arc<PathColumn>),
    /// By the entries of a path, for each of which the value is known.
    Entries {
        of: Arc<PathColumn>,
        values: Arc<Dictionary>,
    },
    /// By the rows that pass.
    Rows(Arc<Dictionary>),
    /// The lengths of the strings at a path.
    Lengths(Arc<PathColumn>),
    Undefined,
}
