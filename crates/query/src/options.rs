//! Options of a running query: its deadline, memory limit and threads.

use std::num::NonZeroUsize;
use std::time::Instant;

/// The default of [`RunOptions::memory_bytes`]: 256 MiB.
pub const MEMORY_BYTES: usize = 256 << 20;

/// The maximum number of threads of a query.
pub const THREADS_MAX: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// Options for running a query.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The deadline. Once it has passed, the query ends with [`ExecError::DeadlineExceeded`](crate::ExecError::DeadlineExceeded) within a tenth of a second, or after
    /// the function call that it is evaluating. The default is none.
    pub deadline: Option<Instant>,
    /// The memory limit for grouping, distinct values and sorting, in bytes of allocated memory. A query may exceed it by at most a
    /// fifth before it ends. Streamed rows, blocks, and the events that are evaluated together (some megabytes per thread) do not
    /// count. The [cache](crate::Cache) of the source counts, but shrinks when the query needs the memory.
    pub memory_bytes: usize,
    /// The number of threads that evaluate the query, including the caller's. The default is 1, the maximum
    /// [`THREADS_MAX`].
    ///
    /// The default is 1 because only the embedding program knows what else the processors have to do, and several queries at
    /// a time use them as well. The rows and their order do not depend on the number of threads. More threads need more memory: each has groups of
    /// its own until the end, so that the [memory limit](RunOptions::memory_bytes) may be reached sooner, and rows are computed
    /// ahead: four blocks per thread, at most about 4 MiB of rows for each block, and at most an eighth of the memory limit in total. The
    /// threads are started when the query has read some blocks, and end with it. Each evaluates whole blocks, so a query that
    /// reads few blocks gains little. A source may have threads of its own, which evaluate nothing, to read ahead where its medium is slow.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use tamias_query::RunOptions;
    /// let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    /// let options = RunOptions { threads, ..RunOptions::default() };
    /// # assert!(options.threads.get() >= 1);
    /// ```
    pub threads: NonZeroUsize,
    /// Evaluate each event by itself, without searching or skipping blocks: the same
    /// rows, more slowly. Use it to find out whether a shortcut is at fault.
    pub plain: bool,
    /// Count the kinds of values per key, for
    /// [`Rows::kinds`](crate::Rows::kinds). Evaluates each event by itself, as `plain` does.
    pub count_kinds: bool,
    /// Measure the time of each step, for [`Rows::analysis`](crate::Rows::analysis).
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
