//! The numbers that files get.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::format::FileKind;
use crate::io::Directory;

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

    /// A number for a file of a name that nothing in the folder has.
    pub(crate) fn take_free(&self, directory: &dyn Directory, kind: FileKind) -> u64 {
        loop {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            let free = |name: String| !matches!(directory.kind(&name), Ok(Some(_)));
            if free(kind.name(number)) && free(kind.unfinished_name(number)) {
                return number;
            }
        }
    }
}
