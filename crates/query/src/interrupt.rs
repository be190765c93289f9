//! Cancellation and deadlines of a query. Code that works charges its work to a [`Meter`], which checks for them now and then.

use crate::error::ExecError;
use crate::value::VALUE_BYTES_MAX;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// A handle that cancels a running query from another thread.
#[derive(Clone, Debug, Default)]
pub struct CancelHandle(Arc<AtomicBool>);

impl CancelHandle {
    /// Ends the query with [`ExecError::Cancelled`] within a tenth of a second, or after the function call that it is evaluating.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag that cancels the query when it is set to true: for signal handlers, which can do little more than set a flag.
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

/// The conditions that end a query early, to be checked now and then.
pub(crate) struct Interrupt {
    pub(crate) handle: CancelHandle,
    deadline: Option<Instant>,
    /// Whether the results of the other threads are no longer needed.
    pub(crate) is_abandoned: AtomicBool,
    /// How many results were too large for a decimal, and so undefined.
    pub(crate) too_large: AtomicU64,
    /// After this many checks the query counts as cancelled.
    #[cfg(test)]
    questions: Option<std::sync::atomic::AtomicUsize>,
}

impl Interrupt {
    pub(crate) fn new(deadline: Option<Instant>) -> Interrupt {
        Interrupt {
            handle: CancelHandle::default(),
            deadline,
            is_abandoned: AtomicBool::new(false),
            too_large: AtomicU64::new(0),
            #[cfg(test)]
            questions: None,
        }
    }

    /// Ends the query after this many checks.
    #[cfg(test)]
    pub(crate) fn after(questions: usize) -> Interrupt {
        Interrupt { questions: Some(questions.into()), ..Interrupt::new(None) }
    }

    /// Fails once the query is cancelled or its deadline has passed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        #[cfg(test)]
        if let Some(questions) = &self.questions
            && questions.fetch_sub(1, Ordering::Relaxed) == 1
        {
            self.handle.cancel();
        }
        if self.handle.0.load(Ordering::Relaxed) || self.is_abandoned.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Failure::DeadlineExceeded),
            _ => Ok(()),
        }
    }
}

/// The units of work between two checks.
///
/// HEURISTIC: a unit is about one byte read, so that these take some ten microseconds, and a check some ten nanoseconds.
const UNITS_UNCHECKED: usize = 1 << 16;

/// The units of one step of a loop (an element, a row, a group) in addition to the bytes it reads.
pub(crate) const STEP_UNITS: usize = 64;

/// Counts work where it is done, and checks now and then whether to go on.
#[derive(Clone, Copy)]
pub(crate) struct Meter<'i> {
    /// `None` if there is nothing to check.
    interrupt: Option<&'i Interrupt>,
    /// The units that are left until the next check.
    left: usize,
}

impl<'i> Meter<'i> {
    /// A meter that checks at once, and then now and then.
    pub(crate) fn new(interrupt: &'i Interrupt) -> Meter<'i> {
        Meter { interrupt: Some(interrupt), left: 0 }
    }

    /// A meter that never checks.
    pub(crate) fn unasked() -> Meter<'i> {
        Meter { interrupt: None, left: usize::MAX }
    }

    /// A meter that continues with the units left by another.
    pub(crate) fn resumed(interrupt: Option<&'i Interrupt>, left: usize) -> Meter<'i> {
        interrupt.map_or(Meter::unasked(), |interrupt| Meter { interrupt: Some(interrupt), left })
    }

    /// The units that are left until the next check.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Counts units of work. Fails once the query is cancelled or its deadline has passed.
    #[inline]
    pub(crate) fn charge(&mut self, units: usize) -> Result<(), Failure> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.ask(),
        }
    }

    /// Notes a result that is too large for a decimal.
    pub(crate) fn note_too_large(&self) {
        if let Some(interrupt) = self.interrupt {
            interrupt.too_large.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a step of a loop.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), Failure> {
        self.charge(STEP_UNITS)
    }

    #[cold]
    fn ask(&mut self) -> Result<(), Failure> {
        self.left = UNITS_UNCHECKED;
        self.interrupt.map_or(Ok(()), Interrupt::check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_meter_asks_once_for_so_many_units_however_they_are_charged() {
        let asked = |charge: usize| {
            let interrupt = Interrupt::after(4);
            let mut meter = Meter::new(&interrupt);
            (1..).find(|_| meter.charge(charge).is_err()).unwrap_or(0)
        };
        assert_eq!(asked(UNITS_UNCHECKED), 1 + 3 * 2);
        assert_eq!(asked(STEP_UNITS), 1 + 3 * (UNITS_UNCHECKED / STEP_UNITS + 1));
        assert_eq!(asked(usize::MAX), 4);
        assert_eq!(Meter::unasked().charge(usize::MAX), Ok(()));
    }

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
