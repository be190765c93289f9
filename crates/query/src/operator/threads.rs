//! What all threads of a query have in common.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What they are called.
pub(super) const NAME: &str = "tamias-query";

/// Locks what no thread leaves half changed when it panics.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
