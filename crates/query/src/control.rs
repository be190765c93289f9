//! What may end a query early: its caller, its deadline, its memory.

use crate::error::ExecError;
use crate::expr::Failure;
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
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions { deadline: None, memory_bytes: MEMORY_BYTES }
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
}

impl Control {
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.handle.0.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        match self.options.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Failure::DeadlineExceeded),
            _ => Ok(()),
        }
    }

    /// Errs if `used_bytes` are more than the query may hold.
    pub(crate) fn check_memory(&self, used_bytes: usize) -> Result<(), ExecError> {
        let limit_bytes = self.options.memory_bytes;
        if used_bytes <= limit_bytes { Ok(()) } else { Err(ExecError::MemoryExceeded { limit_bytes }) }
    }
}
