//! The numbers that files get.

use std::sync::atomic::{AtomicU64, Ordering};

/// Gives each number once.
#[derive(Debug)]
pub(crate) struct Numbers(AtomicU64);

impl Numbers {
    pub(crate) fn new(next: u64) -> Numbers {
        Numbers(AtomicU64::new(next))
    }

    /// All numbers given so far are below this one.
    pub(crate) fn next(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// A number for a file.
    pub(crate) fn take(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}
