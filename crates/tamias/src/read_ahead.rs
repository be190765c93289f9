//! Groups of blocks that a thread of its own reads before they are asked for.
//!
//! A medium takes some tenths of a millisecond for each request, and many at once. So the thread asks for what is read of many blocks before the first of them is
//! needed, in two steps, since only statistics and directories tell which frames that is. It evaluates nothing but what decides on that.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use tamias_query::{Interest, SourceError};
use tamias_store::Expected;

use crate::blocks::StoredColumns;
use crate::groups::{Group, GroupReader, in_columns};

/// So many groups are ahead at most.
const GROUPS_MAX: usize = 16;

/// Of so many their columns are asked for together, before the query gets the first.
const GROUPS_TOGETHER: usize = 4;

/// What the thread is called.
const NAME: &str = "tamias-ahead";

/// The groups that a thread reads.
pub(crate) struct ReadAhead {
    /// None once it ends.
    ends: Option<Ends>,
    thread: Option<JoinHandle<()>>,
    /// How many groups the thread may read that were not taken yet.
    permitted: usize,
    taken: Arc<AtomicUsize>,
    /// Whether all groups are read in any case.
    reads_all: bool,
    /// Whether nobody wants what the thread still may read.
    is_over: Arc<AtomicBool>,
}

/// The ends of the channels that the query has.
struct Ends {
    /// How many groups more the thread may read.
    permits: Sender<usize>,
    groups: Receiver<Result<Option<Group>, SourceError>>,
}

impl ReadAhead {
    /// Goes on reading groups of which a query has taken so many. Where the system gives no thread, the reader comes back.
    pub(crate) fn start(
        groups: GroupReader,
        interest: Interest,
        taken: usize,
    ) -> Result<ReadAhead, Box<(GroupReader, Interest)>> {
        groups.uses().wait(interest.paths());
        let reads_all = interest.reads_all();
        let (permits, permitted) = mpsc::channel();
        let (read, ends) = mpsc::channel();
        let (hand, handed) = mpsc::channel::<Box<(GroupReader, Interest)>>();
        let taken = Arc::new(AtomicUsize::new(taken));
        let is_over = Arc::new(AtomicBool::new(false));
        let (ahead, over) = (Arc::clone(&taken), Arc::clone(&is_over));
        let run = move || {
            if let Ok(work) = handed.recv() {
                let (groups, interest) = *work;
                Reading { groups, interest, taken: ahead, is_over: over }.run(&permitted, &read);
            }
        };
        let work = Box::new((groups, interest));
        let Ok(thread) = thread::Builder::new().name(NAME.to_owned()).spawn(run) else { return Err(work) };
        // The thread waits for it.
        let _ = hand.send(work);
        let ends = Some(Ends { permits, groups: ends });
        let mut ahead = ReadAhead { ends, thread: Some(thread), permitted: 0, taken, reads_all, is_over };
        if reads_all {
            ahead.permit();
        }
        Ok(ahead)
    }

    /// Lets the thread read some groups more, unless it has many to read: no more than twice as many as were taken, where a limit may spare the others. Half of them at
    /// once, so that what lies side by side is asked for together.
    fn permit(&mut self) {
        let taken = self.taken.load(Relaxed);
        let wanted = if self.reads_all { GROUPS_MAX } else { GROUPS_MAX.min(2 * taken).max(1) };
        let Some(Ends { permits, .. }) = &self.ends else { return };
        if let more @ 1.. = wanted.saturating_sub(self.permitted)
            && self.permitted <= wanted / 2
            && permits.send(more).is_ok()
        {
            self.permitted += more;
        }
    }

    /// The next group.
    pub(crate) fn next(&mut self) -> Result<Option<Group>, SourceError> {
        self.taken.fetch_add(1, Relaxed);
        self.permit();
        let Some(Ends { groups, .. }) = &self.ends else { return Ok(None) };
        match groups.recv() {
            Ok(group) => {
                self.permitted -= 1;
                group
            }
            Err(_) => match self.end() {
                Ok(()) => Ok(None),
                Err(panic) => resume_unwind(panic),
            },
        }
    }

    /// Waits for the thread, which ends once it has read what it is about to.
    fn end(&mut self) -> thread::Result<()> {
        self.is_over.store(true, Relaxed);
        self.ends = None;
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

impl Drop for ReadAhead {
    /// The files that a query has read are no longer open once it is gone.
    fn drop(&mut self) {
        // What it panicked over was told if anybody asked.
        let _ = self.end();
    }
}

/// What the thread has.
struct Reading {
    groups: GroupReader,
    interest: Interest,
    /// How many groups the query has taken.
    taken: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Reading {
    /// Reads as many groups as it is permitted at once side by side.
    fn run(mut self, permits: &Receiver<usize>, read: &Sender<Result<Option<Group>, SourceError>>) {
        while let Ok(permitted) = permits.recv() {
            let permitted = permitted.saturating_add(permits.try_iter().sum());
            let mut groups = self.read(permitted);
            self.expect_first(&groups);
            while !groups.is_empty() {
                let rest = groups.split_off(groups.len().min(GROUPS_TOGETHER));
                self.expect_rest(&groups);
                for group in groups {
                    if self.is_over.load(Relaxed) || read.send(group).is_err() {
                        return;
                    }
                }
                groups = rest;
            }
        }
    }

    /// So many groups, fewer where they end or cannot be read.
    fn read(&mut self, permitted: usize) -> Vec<Result<Option<Group>, SourceError>> {
        let mut groups = Vec::new();
        while groups.len() < permitted && !self.is_over.load(Relaxed) {
            let group = self.groups.read();
            let is_last = !matches!(group, Ok(Some(_)));
            groups.push(group);
            if is_last {
                break;
            }
        }
        groups
    }

    /// Whether columns are read, and not mostly statistics. While the query is at its first group that is not known, and taken for granted.
    fn reads_columns(&self) -> bool {
        2 * self.groups.uses().openings() + 1 >= self.taken.load(Relaxed)
    }

    /// Whether the filter is asked of most blocks.
    fn asks_filters(&self) -> bool {
        2 * self.groups.uses().filters() >= self.taken.load(Relaxed)
    }

    /// Asks for what is read first.
    fn expect_first(&self, groups: &[Result<Option<Group>, SourceError>]) {
        let (columns, filter) = (self.reads_columns(), self.asks_filters());
        let mut expected = Expected::default();
        for block in blocks(groups) {
            block.expect_first(&mut expected, &self.interest, columns, filter);
        }
        expected.ask();
    }

    /// Asks for what else is read.
    fn expect_rest(&mut self, groups: &[Result<Option<Group>, SourceError>]) {
        let reads_columns = self.reads_columns();
        let mut expected = Expected::default();
        for block in blocks(groups) {
            if self.is_over.load(Relaxed) {
                return;
            }
            if reads_columns {
                block.expect_columns(&mut expected, &mut self.interest);
            } else if self.interest.reads_statistics() {
                block.read_statistics();
            }
        }
        expected.ask();
    }
}

/// The blocks of groups that are in columns.
fn blocks(groups: &[Result<Option<Group>, SourceError>]) -> impl Iterator<Item = &Arc<StoredColumns>> {
    groups.iter().filter_map(|group| group.as_ref().ok()?.as_deref()).flat_map(in_columns)
}
