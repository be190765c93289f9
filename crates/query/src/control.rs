//! What may end a query early: its caller, its deadline, its memory.

use crate::error::{ExecError, Held};
use crate::expr::Failure;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::time;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// The memory for groups and for rows to be sorted, unless another budget is given: 256 MiB.
pub const MEMORY_BYTES: usize = 256 << 20;

/// A query has no more threads than these.
pub const THREADS_MAX: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// How a query may run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// When it has to be done.
    pub deadline: Option<Instant>,
    /// What groups, distinct values and rows to be sorted may take together, in bytes. Rows that stream take none of it.
    pub memory_bytes: usize,
    /// How many threads find events and make rows of them, that of the caller included: one, unless it is told otherwise, and
    /// [`THREADS_MAX`] at most.
    ///
    /// One, since whoever embeds a store knows what else the processors have to do, and several queries at a time keep them busy
    /// as well as one. The rows are the same, in the same order, whatever their number. What it costs: each thread has groups of
    /// its own until the end, so that the [budget](RunOptions::memory_bytes) may be used up sooner, and rows are made some
    /// blocks (four a thread) ahead of the one that is given, of each no more than about 4 MiB. The threads are started
    /// when the query goes on to its second block, and end with it; each evaluates whole blocks, so that a query that
    /// reads few of them gains little.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use tamias_query::RunOptions;
    /// let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    /// let options = RunOptions { threads, ..RunOptions::default() };
    /// # assert!(options.threads.get() >= 1);
    /// ```
    pub threads: NonZeroUsize,
    /// Whether each event is looked at by itself, none found by searching in its block, none passed over with it: the same
    /// rows, more slowly. To find out whether a short cut is at fault.
    pub plain: bool,
    /// Whether it is counted of what kinds the values of the query's paths are, for
    /// [`Rows::kinds`](crate::Rows::kinds). It takes the plain path.
    pub count_kinds: bool,
    /// Whether the steps are timed, for [`Rows::analysis`](crate::Rows::analysis).
    pub measure: bool,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            deadline: None,
            memory_bytes: MEMORY_BYTES,
            threads: NonZeroUsize::MIN,
            plain: false,
            count_kinds: false,
            measure: false,
        }
    }
}

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

pub(crate) struct Control {
    pub(crate) options: RunOptions,
    pub(crate) handle: CancelHandle,
    pub(crate) profile: Profile,
    /// The instant of `Now()`, in ticks: one for the whole query.
    pub(crate) now: u64,
    /// What the groups of all threads take, about, in bytes.
    groups_bytes: AtomicUsize,
}

impl Control {
    pub(crate) fn new(plan: &Plan, mut options: RunOptions) -> Control {
        // Counting needs to see every event.
        options.plain |= options.count_kinds;
        options.threads = options.threads.min(THREADS_MAX);
        Control {
            profile: Profile::new(plan, &options),
            options,
            handle: CancelHandle::default(),
            now: time::now(),
            groups_bytes: AtomicUsize::new(0),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.handle.0.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        match self.options.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Failure::DeadlineExceeded),
            _ => Ok(()),
        }
    }

    /// Takes `bytes` more for groups. Errs if that is more than the query may hold.
    pub(crate) fn hold_groups(&self, bytes: usize) -> Result<(), ExecError> {
        let before = self.groups_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.check_memory(before.saturating_add(bytes))
    }

    /// Errs if the `used_bytes` of groups are more than the query may hold.
    pub(crate) fn check_memory(&self, used_bytes: usize) -> Result<(), ExecError> {
        self.check_held(used_bytes, Held::Groups)
    }

    /// Errs if the `used_bytes` are more than the query may hold.
    pub(crate) fn check_held(&self, used_bytes: usize, held: Held) -> Result<(), ExecError> {
        let limit_bytes = self.options.memory_bytes;
        if used_bytes <= limit_bytes { Ok(()) } else { Err(ExecError::MemoryExceeded { limit_bytes, held }) }
    }
}
