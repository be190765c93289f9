//! What a thread of the store waits for.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a thread waits for.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    flags: Mutex<Flags>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Flags {
    work: bool,
    stop: bool,
}

impl Signal {
    /// Tells the thread that there may be something to do.
    pub(crate) fn wake(&self) {
        self.flags.lock().unwrap_or_else(PoisonError::into_inner).work = true;
        self.changed.notify_all();
    }

    /// Tells the thread to end.
    pub(crate) fn stop(&self) {
        self.flags.lock().unwrap_or_else(PoisonError::into_inner).stop = true;
        self.changed.notify_all();
    }

    /// Whether it has been told to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.flags.lock().unwrap_or_else(PoisonError::into_inner).stop
    }

    /// Waits until it is woken, or that time; false if the thread has to end.
    pub(crate) fn wait_until(&self, time: Option<Instant>) -> bool {
        let mut flags = self.flags.lock().unwrap_or_else(PoisonError::into_inner);
        while !flags.stop && !flags.work {
            flags = match time.map(|time| time.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => break,
                Some(left) => {
                    self.changed.wait_timeout(flags, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(flags).unwrap_or_else(PoisonError::into_inner),
            };
        }
        flags.work = false;
        !flags.stop
    }
}
