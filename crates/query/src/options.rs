//! How a query may run: its deadline, memory and threads.

use std::num::NonZeroUsize;
use std::time::Instant;

/// The memory for groups and for rows to be sorted, unless another budget is given: 256 MiB.
pub const MEMORY_BYTES: usize = 256 << 20;

/// A query has no more threads than these.
pub const THREADS_MAX: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// How a query may run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// When it has to be done. Later it ends within a tenth of a second, or one function of one value.
    pub deadline: Option<Instant>,
    /// What groups, distinct values and rows to be sorted may take together, in bytes, as their allocations take it. A query ends before
    /// it holds a fifth more. Rows that stream take none of it, nor do blocks, nor the events that are looked at together, some megabytes a
    /// thread. The [cache](crate::Cache) of its source counts in it, but gives way.
    pub memory_bytes: usize,
    /// How many threads find events and make rows of them, that of the caller included: one, unless it is told otherwise, and
    /// [`THREADS_MAX`] at most.
    ///
    /// One, since whoever embeds a store knows what else the processors have to do, and several queries at a time keep them busy
    /// as well as one. The rows are the same, in the same order, whatever their number. What it costs: each thread has groups of
    /// its own until the end, so that the [budget](RunOptions::memory_bytes) may be used up sooner, and rows are made some
    /// blocks (four a thread) ahead of the one that is given, of each no more than about 4 MiB, and of all an eighth of the budget. The
    /// threads are started when the query has read some blocks, and end with it; each evaluates whole blocks, so that a query that
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
