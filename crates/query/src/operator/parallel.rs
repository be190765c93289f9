//! The blocks of a query, shared among threads that take their hits into groups.
//!
//! Each thread has its own groups, and takes the next block whenever it is done with one, so that none waits for another
//! before the end. The groups are merged then: what depends on the order of events remembers it, so that it does not
//! matter which thread saw which. Where the first rows tell that groups are very many, they are [shared out](super::parts) by their keys instead. Where groups take much memory a thread does not go on with ones of its own, of which the others have many as well:
//! it adds them to those of all, and takes its rows in there, one thread after another. So several threads hold hardly more than one would.

use super::answer::Answerable;
use super::group::Groups;
use super::kept::KeptOf;
use super::parts::{Parts, Sharing};
use super::threads::{NAME, lock};
use crate::chunk::{Chunk, Columns};
use crate::control::Control;
use crate::error::ExecError;
use crate::outputs::columns;
use crate::plan::Grouping;
use crate::scan::{self, Position, Pruned, Run, Worker};
use crate::source::{Block, Source};
use crate::stats::Stats;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// The groups of all hits of a source.
///
/// Fails as a single thread would: blocks are handed out in order, so that of the errors the first block's is known.
pub(crate) fn groups<'p>(
    run: Run<'p>,
    grouping: &'p Grouping,
    source: &mut dyn Source,
    worker: &mut Worker,
    stats: &mut Stats,
) -> Result<Groups<'p>, ExecError> {
    let feed = Feed {
        source,
        group: Vec::new().into_iter(),
        is_alone: false,
        handed: 0,
        is_settled: false,
        is_over: false,
        failure: None,
    };
    let feed = Mutex::new(feed);
    let kept = KeptOf::of(grouping, &run.events.names, run.control);
    let (all, parts) = (Mutex::new(Groups::new(grouping, &kept)), OnceLock::new());
    let shared = Shared { run, grouping, kept: &kept, all: &all, parts: &parts };
    let mut intake = Intake::new(shared);
    // For some blocks that have to be read this thread is alone: there may be no others, or these may be enough.
    let mut has_more = true;
    while has_more && stats.blocks < ALONE_BLOCKS {
        has_more = intake.take_block(&feed, worker, stats);
    }
    if has_more {
        thread::scope(|scope| {
            let help = || {
                let mut intake = Intake::new(shared);
                let (mut worker, mut stats) = (Worker::new(run.plan, run.control), Stats::default());
                let started = run.control.profile.start();
                while intake.take_block(&feed, &mut worker, &mut stats) {}
                run.control.profile.took(started);
                (intake.own, stats)
            };
            // A thread that the system does not give is done without.
            let others: Vec<_> = (1..run.control.options.threads.get())
                .map_while(|_| thread::Builder::new().name(NAME.to_owned()).spawn_scoped(scope, help).ok())
                .collect();
            run.control.profile.has_others.store(!others.is_empty(), Relaxed);
            while intake.take_block(&feed, worker, stats) {}
            let waiting = run.control.profile.start();
            let others: Vec<_> = others.into_iter().map(thread::ScopedJoinHandle::join).collect();
            run.control.profile.waited(waiting);
            for other in others {
                let (others, counted) = other.unwrap_or_else(|panic| resume_unwind(panic));
                stats.add(&counted);
                if lock(&feed).failure.is_none()
                    && let Some(others) = others
                    && let Err(error) = intake.merge(others)
                {
                    lock(&feed).fail(u64::MAX, error);
                }
            }
        });
    }
    if let Some((_, error)) = lock(&feed).failure.take() {
        return Err(error);
    }
    let own = intake.own.take();
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(parts) = parts.into_inner().flatten() {
        // Blocks that were answered by their statistics have groups beside them.
        let is_all = all.are_untouched() && own.as_ref().is_none_or(Groups::are_untouched);
        if let Some(of_parts) = parts.into_groups(is_all, run.control)? {
            if is_all {
                return Ok(of_parts);
            }
            let beside = std::mem::replace(&mut all, of_parts);
            all.merge(beside, run.control)?;
        }
    }
    let Some(own) = own else { return Ok(all) };
    // Other threads may have added theirs to those of all while this one's stayed small.
    let (mut groups, others) = if all.held_bytes() > own.held_bytes() { (all, own) } else { (own, all) };
    groups.merge(others, run.control)?;
    Ok(groups)
}

/// All threads together may take this part of what the query may hold for groups of their own, and each of them one in [`OWN_PART`].
const ALL_OWN_PART: usize = 8;

/// A thread whose groups take this part of what the query may hold, and the threads' part too, has none of its own any more.
const OWN_PART: usize = 32;

/// So many blocks are read before other threads are started.
///
/// HEURISTIC: they take a few milliseconds, and starting a thread on a busy machine up to one.
pub(super) const ALONE_BLOCKS: u64 = 4;

/// What the threads share.
#[derive(Clone, Copy)]
struct Shared<'g, 'p> {
    run: Run<'p>,
    grouping: &'p Grouping,
    kept: &'g KeptOf,
    all: &'g Mutex<Groups<'p>>,
    /// The groups in parts, if the first rows have told that they are very many.
    parts: &'g OnceLock<Option<Parts<'p>>>,
}

impl<'g, 'p> Shared<'g, 'p> {
    /// The groups in parts, as the rows of a chunk tell it if they are the first.
    fn parts(&self, chunk: &Chunk<'_>) -> Option<&'g Parts<'p>> {
        let Shared { run, grouping, kept, parts, .. } = self;
        // Of the rows of one event it is the order in which they came that tells the groups apart, which parts do not know.
        let threads = if run.events.unnest.is_empty() { run.control.options.threads.get() } else { 1 };
        parts.get_or_init(|| Parts::of(threads, grouping, kept, chunk)).as_ref()
    }
}

/// The groups that a thread takes rows into, and the columns that these come in.
struct Intake<'g, 'p> {
    shared: Shared<'g, 'p>,
    /// Its own, as long as they are small.
    own: Option<Groups<'p>>,
    columns: Columns,
    sharing: Sharing,
}

impl<'g, 'p> Intake<'g, 'p> {
    fn new(shared: Shared<'g, 'p>) -> Intake<'g, 'p> {
        let Shared { run, grouping, kept, .. } = shared;
        let own = Some(Groups::new(grouping, kept));
        Intake { shared, own, columns: columns(run.outputs), sharing: Sharing::new(columns(run.outputs)) }
    }

    /// Takes in the groups of another thread.
    fn merge(&mut self, others: Groups<'p>) -> Result<(), ExecError> {
        let Shared { run, all, .. } = self.shared;
        with_groups(&mut self.own, all, |groups| groups.merge(others, run.control))
    }

    /// Adds its own groups to those of all, if they are large and other threads have some too.
    fn share(&mut self) -> Result<(), ExecError> {
        let Shared { run, all, .. } = self.shared;
        let Control { options, .. } = run.control;
        let (memory, threads) = (options.memory_bytes, options.threads.get());
        let most = (memory / ALL_OWN_PART / threads).max(memory / OWN_PART);
        let is_large = |own: &mut Groups<'p>| own.held_bytes() > most;
        match self.own.take_if(|own| threads > 1 && is_large(own)) {
            Some(own) => lock(all).merge(own, run.control),
            None => Ok(()),
        }
    }

    /// Takes the rows of the next block: whether there was one, and another may be wanted.
    fn take_block(&mut self, feed: &Mutex<Feed<'_>>, worker: &mut Worker, stats: &mut Stats) -> bool {
        let Some(Handed { number, block, is_alone }) = lock(feed).next() else { return false };
        match self.take(&*block, is_alone, worker, stats).and_then(|()| self.share()) {
            Ok(()) => {
                let Shared { run, all, .. } = self.shared;
                if with_groups(&mut self.own, all, |groups| groups.is_settled(run.plan)) {
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

    /// Takes what is known of a block, or else its rows.
    fn take(
        &mut self,
        block: &dyn Block,
        is_alone: bool,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<(), ExecError> {
        let Intake { shared, own, columns, sharing } = self;
        let Shared { run, all, .. } = *shared;
        let control = run.control;
        control.check()?;
        let count = block.len();
        let Pruned { mut part, all_pass, statistics } = worker.prune(block, stats)?;
        part.is_alone = is_alone;
        if part.events.is_empty() {
            return Ok(());
        }
        if let Some(pruner) = &mut worker.pruner
            && part.events.len() == count
        {
            let of = Answerable { block, statistics: statistics.as_ref(), all_pass, is_alone };
            let answered =
                with_groups(own, all, |groups| groups.take_statistics(run.events, pruner, of, control));
            if let Some(hits) = answered? {
                stats.blocks_answered += 1;
                stats.events_answered += count as u64;
                stats.hits += hits;
                return Ok(());
            }
        }
        stats.blocks += 1;
        let Some(mut scan) = scan::open(run, worker, block, &part, statistics.as_ref(), Position::default())?
        else {
            return Ok(());
        };
        let mut has_more = true;
        while has_more {
            columns.clear();
            has_more = scan.next(columns, u64::MAX, stats)?;
            let chunk = Chunk::new(columns, scan.documents().unwrap_or_default());
            if chunk.len() == 0 {
                continue;
            }
            control.profile.taken(|| match shared.parts(&chunk) {
                Some(parts) => parts.take(&chunk, sharing, control),
                None => with_groups(own, all, |groups| groups.take(&chunk, control)),
            })?;
        }
        Ok(())
    }
}

/// Acts on the groups that a thread takes rows into.
fn with_groups<'p, T>(
    own: &mut Option<Groups<'p>>,
    all: &Mutex<Groups<'p>>,
    act: impl FnOnce(&mut Groups<'p>) -> T,
) -> T {
    match own {
        Some(own) => act(own),
        None => act(&mut lock(all)),
    }
}

/// Hands out the blocks of a source, one by one and in order.
struct Feed<'s> {
    source: &'s mut dyn Source,
    /// What is left of the present group.
    group: std::vec::IntoIter<Arc<dyn Block>>,
    /// Whether the group was a single block.
    is_alone: bool,
    /// How many blocks have been handed out.
    handed: u64,
    /// Whether no other group is wanted.
    is_settled: bool,
    is_over: bool,
    /// The first block that failed, and why.
    failure: Option<(u64, ExecError)>,
}

/// A block that is handed out.
struct Handed {
    /// How many were handed out with it.
    number: u64,
    block: Arc<dyn Block>,
    /// Whether no other block has events between its own.
    is_alone: bool,
}

impl Feed<'_> {
    /// The next block.
    fn next(&mut self) -> Option<Handed> {
        while !self.is_over {
            if let Some(block) = self.group.next() {
                self.handed += 1;
                return Some(Handed { number: self.handed, block, is_alone: self.is_alone });
            }
            if self.is_settled {
                break;
            }
            match self.source.next_group() {
                Ok(Some(group)) => {
                    self.is_alone = group.len() == 1;
                    self.group = group.into_iter();
                }
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
