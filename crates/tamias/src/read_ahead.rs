//! Groups of blocks that a thread of its own reads before they are asked for.
//!
//! A medium takes some tenths of a millisecond for each request, and many at once. So the thread asks for what is read of many blocks before the first of them is
//! needed, in two steps, since only statistics and directories tell which frames that is. It evaluates nothing but what decides on that.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use tamias_query::{Interest, SourceError};

use crate::groups::{Group, GroupReader, in_columns};

/// So many groups are ahead at most.
const GROUPS_MAX: usize = 16;

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
    /// Whether nobody wants what the thread still may read.
    is_over: Arc<AtomicBool>,
}

/// The ends of the channels that the query has.
struct Ends {
    /// Each lets the thread read one group more.
    permits: Sender<()>,
    groups: Receiver<Result<Option<Group>, SourceError>>,
}

impl ReadAhead {
    /// Goes on reading groups of which a query has taken so many. Where the system gives no thread, the reader comes back.
    pub(crate) fn start(
        groups: GroupReader,
        interest: Interest,
        taken: usize,
    ) -> Result<ReadAhead, Box<(GroupReader, Interest)>> {
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
        Ok(ReadAhead { ends, thread: Some(thread), permitted: 0, taken, is_over })
    }

    /// The next group. Some more are read ahead: no more than twice as many as were taken, since a limit may spare the others.
    pub(crate) fn next(&mut self) -> Result<Option<Group>, SourceError> {
        let wanted = GROUPS_MAX.min(2 * self.taken.fetch_add(1, Relaxed)).max(1);
        let Some(Ends { permits, groups }) = &self.ends else { return Ok(None) };
        while self.permitted < wanted && permits.send(()).is_ok() {
            self.permitted += 1;
        }
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
    /// Reads a group for each permit, and those of the permits that come together side by side.
    fn run(mut self, permits: &Receiver<()>, read: &Sender<Result<Option<Group>, SourceError>>) {
        while permits.recv().is_ok() && !self.is_over.load(Relaxed) {
            let mut groups = VecDeque::from([self.first()]);
            while !self.is_over.load(Relaxed) && permits.try_recv().is_ok() {
                groups.push_back(self.first());
            }
            for group in groups {
                if self.is_over.load(Relaxed) {
                    return;
                }
                self.rest(&group);
                if read.send(group).is_err() {
                    return;
                }
            }
        }
    }

    /// Whether columns are read at all, and not mostly statistics.
    fn reads_columns(&self) -> bool {
        2 * self.groups.openings() >= self.taken.load(Relaxed)
    }

    /// Reads a group, and asks for what is read of it first.
    fn first(&mut self) -> Result<Option<Group>, SourceError> {
        let group = self.groups.read()?;
        let reads_columns = self.reads_columns();
        for block in in_columns(group.as_deref().unwrap_or_default()) {
            block.ask_for_first(&self.interest, reads_columns);
        }
        Ok(group)
    }

    /// Asks for what else is read.
    fn rest(&mut self, group: &Result<Option<Group>, SourceError>) {
        let reads_columns = self.reads_columns();
        let group = group.as_ref().ok().and_then(Option::as_deref);
        for block in in_columns(group.unwrap_or_default()) {
            if reads_columns {
                block.ask_for_columns(&mut self.interest);
            } else if self.interest.reads_statistics() {
                block.read_statistics();
            }
        }
    }
}
