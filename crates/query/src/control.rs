//! A running query as all of its threads see it: its options, whether it may go on, what it holds, what is counted of it.

use crate::interrupt::{Failure, Interrupt};
use crate::memory::Budget;
use crate::options::{RunOptions, THREADS_MAX};
use crate::plan::Plan;
use crate::profile::Profile;
use crate::source::Cache;
use crate::time;
use crate::watch::Watch;
use std::sync::Arc;

pub(crate) struct Control {
    pub(crate) options: RunOptions,
    pub(crate) interrupt: Arc<Interrupt>,
    pub(crate) profile: Profile,
    pub(crate) watch: Arc<Watch>,
    /// The instant of `Now()`, in ticks: one for the whole query.
    pub(crate) now: u64,
    /// The memory limit for the groups and rows of all threads together.
    pub(crate) budget: Budget,
    /// What outlives the query.
    pub(crate) cache: Option<Arc<dyn Cache>>,
}

impl Control {
    pub(crate) fn new(plan: &Plan, mut options: RunOptions, cache: Option<Arc<dyn Cache>>) -> Control {
        // Counting needs to see every event.
        options.plain |= options.count_kinds;
        options.threads = options.threads.min(THREADS_MAX);
        Control {
            profile: Profile::new(plan, &options),
            watch: Arc::new(Watch::new(plan)),
            interrupt: Arc::new(Interrupt::new(options.deadline)),
            budget: Budget::new(options.memory_bytes, cache.clone()),
            options,
            now: time::now(),
            cache,
        }
    }

    /// Fails once the query is cancelled or its deadline has passed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.interrupt.check()
    }
}
