//! A running query as all of its threads see it: its options, whether it may go on, what it holds, what is counted of it.

use crate::error::{ExecError, Held};
use crate::interrupt::{Failure, Interrupt};
use crate::options::{RunOptions, THREADS_MAX};
use crate::plan::Plan;
use crate::profile::Profile;
use crate::time;
use crate::watch::Watch;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct Control {
    pub(crate) options: RunOptions,
    pub(crate) interrupt: Interrupt,
    pub(crate) profile: Profile,
    pub(crate) watch: Arc<Watch>,
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
            watch: Arc::new(Watch::new(plan)),
            interrupt: Interrupt::new(options.deadline),
            options,
            now: time::now(),
            groups_bytes: AtomicUsize::new(0),
        }
    }

    /// Errs once the query is cancelled or its deadline has passed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.interrupt.check()
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
