//! Ctrl-C, for commands that end in good order.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C (or SIGTERM) only sets the flag; the second ends the process at once.
pub(crate) fn catch() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Failure::Io(format!("cannot watch for Ctrl-C: {error}")))
}

/// Whether there was a Ctrl-C.
pub(crate) fn requested() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
