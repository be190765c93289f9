//! What a scan finds in a window of events, in allocations that stay.

use crate::chunk::FewDigits;

/// Allocations that stay.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) hits: Vec<Hit>,
    pub(super) indices: Vec<u32>,
    pub(super) few: Vec<FewDigits>,
    pub(super) others: Vec<u32>,
}

/// An event of a window that passes, or may.
#[derive(Clone, Copy, Default)]
pub(super) struct Hit {
    pub(super) index: u32,
    /// Whether it passes for sure.
    pub(super) is_certain: bool,
}
