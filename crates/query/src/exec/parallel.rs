//! The blocks of a query, shared among threads that take their hits into groups.
//!
//! Each thread has its own groups, and takes the next block whenever it is done with one, so that none waits for another
//! before the end. The groups are merged then: what depends on the order of events remembers it, so that it does not
//! matter which thread saw which.

use super::group::Groups;
use super::scan::{Run, Worker};
use super::stats::Stats;
use crate::error::ExecError;
use crate::plan::Grouping;
use crate::source::{Block, Source};
use std::panic::resume_unwind;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The groups of all hits of a source.
///
/// Fails as a single thread would: blocks are handed out in order, so that of the errors the first block's is known.
pub(super) fn groups<'p>(
    run: Run<'p>,
    grouping: &'p Grouping,
    source: &mut dyn Source,
    worker: &mut Worker,
    stats: &mut Stats,
) -> Result<Groups<'p>, ExecError> {
    let feed = Feed {
        source,
        group: Vec::new().into_iter(),
        handed: 0,
        is_settled: false,
        is_over: false,
        failure: None,
    };
    let feed = Mutex::new(feed);
    let mut groups = Groups::new(grouping);
    // Up to the first block that has to be read this thread is alone: there may be no other, or it may be enough.
    let mut has_more = true;
    while has_more && stats.blocks == 0 {
        has_more = take_block(&feed, run, &mut groups, worker, stats);
    }
    if has_more {
        thread::scope(|scope| {
            let help = || {
                let mut groups = Groups::new(grouping);
                let (mut worker, mut stats) = (Worker::new(run.plan, run.control), Stats::default());
                let started = run.control.watch.start();
                while take_block(&feed, run, &mut groups, &mut worker, &mut stats) {}
                run.control.watch.took(started);
                (groups, stats)
            };
            // A thread that the system does not give is done without.
            let others: Vec<_> = (1..run.control.options.threads.get())
                .map_while(|_| thread::Builder::new().name(NAME.to_owned()).spawn_scoped(scope, help).ok())
                .collect();
            run.control.watch.has_others.store(!others.is_empty(), Relaxed);
            while take_block(&feed, run, &mut groups, worker, stats) {}
            let waiting = run.control.watch.start();
            let others: Vec<_> = others.into_iter().map(thread::ScopedJoinHandle::join).collect();
            run.control.watch.waited(waiting);
            for other in others {
                let (others, counted) = other.unwrap_or_else(|panic| resume_unwind(panic));
                groups.merge(others);
                stats.add(&counted);
            }
        });
    }
    match lock(&feed).failure.take() {
        Some((_, error)) => Err(error),
        None => Ok(groups),
    }
}

/// What the threads of a query are called.
pub(super) const NAME: &str = "tamias-query";

/// Takes the hits of the next block: whether there was one, and another may be wanted.
fn take_block(
    feed: &Mutex<Feed<'_>>,
    run: Run<'_>,
    groups: &mut Groups<'_>,
    worker: &mut Worker,
    stats: &mut Stats,
) -> bool {
    let Some((number, block)) = lock(feed).next() else { return false };
    match take_in(&*block, run, groups, worker, stats) {
        Ok(()) => {
            if groups.is_settled(run.plan) {
                lock(feed).is_settled = true;
            }
            true
        }
        Err(error) => {
            lock(feed).fail(number, error);
            false
        }
    }
}

/// Takes the hits of a block into groups, or what is known of it.
fn take_in(
    block: &dyn Block,
    run: Run<'_>,
    groups: &mut Groups<'_>,
    worker: &mut Worker,
    stats: &mut Stats,
) -> Result<(), ExecError> {
    run.control.check()?;
    let part = worker.begin(run, block, Some(groups), stats)?;
    if !part.events.is_empty() {
        stats.blocks += 1;
        worker.scan(run, block, &part, 0, &mut groups.sink(run.control), stats)?;
    }
    Ok(())
}

/// Hands out the blocks of a source, one by one and in order.
struct Feed<'s> {
    source: &'s mut dyn Source,
    /// What is left of the present group.
    group: std::vec::IntoIter<Arc<dyn Block>>,
    /// How many blocks have been handed out.
    handed: u64,
    /// Whether no other group is wanted.
    is_settled: bool,
    is_over: bool,
    /// The first block that failed, and why.
    failure: Option<(u64, ExecError)>,
}

impl Feed<'_> {
    /// The next block and its number.
    fn next(&mut self) -> Option<(u64, Arc<dyn Block>)> {
        while !self.is_over {
            if let Some(block) = self.group.next() {
                self.handed += 1;
                return Some((self.handed, block));
            }
            if self.is_settled {
                break;
            }
            match self.source.next_group() {
                Ok(Some(group)) => self.group = group.into_iter(),
                Ok(None) => self.is_over = true,
                Err(error) => self.fail(self.handed + 1, ExecError::Source(error)),
            }
        }
        None
    }

    /// Ends the query. All blocks before the one that failed have been handed out, and may fail too.
    fn fail(&mut self, number: u64, error: ExecError) {
        self.is_over = true;
        if self.failure.as_ref().is_none_or(|(first, _)| number < *first) {
            self.failure = Some((number, error));
        }
    }
}

/// Locks what no thread leaves half changed when it panics.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
