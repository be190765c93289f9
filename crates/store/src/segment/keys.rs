//! Keys and statistics of blocks, made while the documents of the next ones are written.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use crate::event::Statistics;
use crate::format::checksum;
use crate::run::Run;

/// Longer statistics are not kept.
const STATISTICS_BYTES_MAX: usize = 16 << 20;

/// So many blocks may wait for their keys: each keeps its documents in memory.
const BLOCKS_AHEAD: usize = 2;

/// What follows the documents of a block.
pub(super) struct Made {
    /// Instants, arrival numbers and ends.
    pub(super) keys: Vec<u8>,
    pub(super) key_checksum: u32,
    /// What the program above says of the block.
    pub(super) statistics: Vec<u8>,
    pub(super) statistics_checksum: u32,
}

impl Made {
    fn of(run: &Run, seed: u32, source: &dyn Statistics) -> Made {
        let columns = [&run.instants, &run.arrivals].map(|column| column.as_flattened());
        let keys = [columns[0], columns[1], run.ends.as_flattened()].concat();
        let ends: Vec<u32> = run.ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
        let mut statistics = Vec::new();
        source.collect(&run.documents, &ends, &mut statistics);
        if statistics.len() > STATISTICS_BYTES_MAX {
            statistics.clear();
        }
        let (key_checksum, statistics_checksum) = (checksum(seed, &[&keys]), checksum(seed, &[&statistics]));
        Made { keys, key_checksum, statistics, statistics_checksum }
    }
}

/// Takes blocks, and gives what is made of them in the same order.
pub(super) struct KeyMaker<'a> {
    source: &'a dyn Statistics,
    seed: u32,
    made: VecDeque<Made>,
    /// Where the work is left to a [`Helper`].
    helper: Option<Line>,
}

/// Blocks on their way to a helper, and back from it, emptied.
struct Line {
    to_do: SyncSender<Run>,
    done: Receiver<(Run, Made)>,
}

/// The other end of a [`KeyMaker`]'s helper: to be run in a thread of its own.
pub(super) struct Helper<'a> {
    source: &'a dyn Statistics,
    seed: u32,
    runs: Receiver<Run>,
    made: Sender<(Run, Made)>,
}

impl Helper<'_> {
    /// Works until the other end is done.
    pub(super) fn run(self) {
        for run in self.runs {
            let made = Made::of(&run, self.seed, self.source);
            if self.made.send((run.emptied(), made)).is_err() {
                return;
            }
        }
    }
}

impl<'a> KeyMaker<'a> {
    /// Does the work itself.
    pub(super) fn new(source: &'a dyn Statistics, seed: u32) -> KeyMaker<'a> {
        KeyMaker { source, seed, made: VecDeque::new(), helper: None }
    }

    /// Leaves the work to a helper, which somebody has to run.
    pub(super) fn with_helper(source: &'a dyn Statistics, seed: u32) -> (KeyMaker<'a>, Helper<'a>) {
        let (to_do, runs) = sync_channel(BLOCKS_AHEAD);
        let (made, done) = channel();
        let maker = KeyMaker { helper: Some(Line { to_do, done }), ..KeyMaker::new(source, seed) };
        (maker, Helper { source, seed, runs, made })
    }

    /// Takes a block; gives an empty run, with the room that another had if there is one.
    pub(super) fn add(&mut self, run: Run) -> Run {
        let Some(Line { to_do, done }) = &self.helper else {
            self.made.push_back(Made::of(&run, self.seed, self.source));
            return run.emptied();
        };
        // If the helper is gone it panicked, and its panic will be passed on.
        let _ = to_do.send(run);
        match done.try_recv() {
            Ok((spare, made)) => {
                self.made.push_back(made);
                spare
            }
            Err(_) => Run::default(),
        }
    }

    /// What was made of all blocks.
    pub(super) fn finish(mut self) -> VecDeque<Made> {
        if let Some(Line { to_do, done }) = self.helper.take() {
            drop(to_do);
            self.made.extend(done.into_iter().map(|(_, made)| made));
        }
        self.made
    }
}
