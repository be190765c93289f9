//! What may end a query early: its caller, its deadline, its memory.

use crate::error::{ExecError, Held};
use crate::exec::Watch;
use crate::expr::Failure;
use crate::plan::Plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The memory for groups and for rows to be sorted, unless another budget is given: 256 MiB.
pub const MEMORY_BYTES: usize = 256 << 20;

/// How a query may run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// When it has to be done.
    pub deadline: Option<Instant>,
    /// What groups, distinct values and rows to be sorted may take together, in bytes. Rows that stream take none of it.
    pub memory_bytes: usize,
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
}

pub(crate) struct Control {
    pub(crate) options: RunOptions,
    pub(crate) handle: CancelHandle,
    pub(crate) watch: Watch,
}

impl Control {
    pub(crate) fn new(plan: &Plan, mut options: RunOptions) -> Control {
        // Counting needs to see every event.
        options.plain |= options.count_kinds;
        Control { watch: Watch::new(plan, &options), options, handle: CancelHandle::default() }
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
