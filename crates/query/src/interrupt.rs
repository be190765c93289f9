//! Whether a query may go on: it can be cancelled, and its deadline can pass.

use crate::error::ExecError;
use crate::value::VALUE_BYTES_MAX;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Ends a running query from another thread.
#[derive(Clone, Debug, Default)]
pub struct CancelHandle(Arc<AtomicBool>);

impl CancelHandle {
    /// Ends the query with [`ExecError::Cancelled`], within some hundred events.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag that ends the query once it is true, for signal handlers, which may do little else than set one.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// What stops a query in the middle of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// What made the value.
    ValueTooLarge(&'static str),
    Cancelled,
    DeadlineExceeded,
}

impl From<Failure> for ExecError {
    fn from(failure: Failure) -> ExecError {
        match failure {
            Failure::ValueTooLarge(by) => {
                ExecError::ValueTooLarge { limit_bytes: VALUE_BYTES_MAX, by, arrival: None }
            }
            Failure::Cancelled => ExecError::Cancelled,
            Failure::DeadlineExceeded => ExecError::DeadlineExceeded,
        }
    }
}

/// Whom to ask, every now and then, whether to go on.
pub(crate) struct Interrupt {
    pub(crate) handle: CancelHandle,
    deadline: Option<Instant>,
    /// How many results were too large for a decimal, and so undefined.
    pub(crate) too_large: AtomicU64,
}

impl Interrupt {
    pub(crate) fn new(deadline: Option<Instant>) -> Interrupt {
        Interrupt { handle: CancelHandle::default(), deadline, too_large: AtomicU64::new(0) }
    }

    /// Errs once the query is cancelled or its deadline has passed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.handle.0.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Failure::DeadlineExceeded),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_query_goes_on_until_it_is_cancelled_or_late() {
        let interrupt = Interrupt::new(None);
        assert_eq!(interrupt.check(), Ok(()));
        interrupt.handle.clone().cancel();
        assert_eq!(interrupt.check(), Err(Failure::Cancelled));

        let now = Instant::now();
        assert_eq!(Interrupt::new(Some(now + Duration::from_secs(3600))).check(), Ok(()));
        let late = Interrupt::new(Some(now));
        assert_eq!(late.check(), Err(Failure::DeadlineExceeded));
        late.handle.flag().store(true, Ordering::Relaxed);
        assert_eq!(late.check(), Err(Failure::Cancelled));
    }
}
