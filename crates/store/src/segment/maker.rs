//! What is written of blocks: made on two threads where there is enough to do, and given in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};

use crate::codec::{Codec, NamedPart};
use crate::format::{BlockEntry, checksum, part};
use crate::options::Layout;
use crate::run::Run;

/// Longer statistics are not kept.
const STATISTICS_BYTES_MAX: usize = 16 << 20;

/// So many blocks may be made already while one before them is not.
const READY_MAX: usize = 2;

/// A part as it is written.
pub(super) struct MadePart {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) checksum: u32,
}

/// What is written of a block.
pub(super) struct Made {
    /// As the index has it, but for the parts.
    pub(super) entry: BlockEntry,
    /// The least and the greatest arrival number.
    pub(super) arrivals: (u64, u64),
    /// Whether it is in columns.
    pub(super) columns: bool,
    /// What its events consist of.
    pub(super) body: Vec<MadePart>,
    /// What stands behind the bodies of all blocks, each kind together: what is seldom read before what is read first.
    pub(super) tails: [Vec<MadePart>; TAILS],
}

/// How many kinds of parts stand behind the bodies of blocks: statistics that are seldom asked, parts of columns that are read first, keys with the other statistics.
pub(super) const TAILS: usize = 3;

/// How blocks are made.
#[derive(Clone, Copy)]
pub(super) struct Recipe<'a> {
    pub(super) codec: &'a dyn Codec,
    pub(super) layout: Layout,
    /// Of checksums.
    pub(super) seed: u32,
}

impl Recipe<'_> {
    /// What is written of a block, nothing of one without events; and the memory of its run, where that was not taken.
    fn make(&self, mut run: Run) -> (Option<Made>, Run) {
        let made = self.made(&mut run);
        run.clear();
        (made, run)
    }

    fn made(&self, run: &mut Run) -> Option<Made> {
        let (first, last) = (run.first()?, run.last()?);
        let part = |name: &str, bytes: Vec<u8>| {
            let checksum = checksum(self.seed, &[&bytes]);
            MadePart { name: name.to_owned(), bytes, checksum }
        };
        let entry = BlockEntry {
            first,
            last,
            events: run.len() as u32,
            document_bytes: run.documents.len() as u32,
            parts: (0, 0),
        };
        let numbers = || run.arrivals.iter().map(|arrival| u64::from_le_bytes(*arrival));
        let arrivals = (numbers().min()?, numbers().max()?);
        let mut encoded = match self.layout {
            Layout::Text => None,
            Layout::Columns => self.codec.encode(run.times(), run.lent()).filter(|parts| are_named(parts)),
        };
        let columns = encoded.is_some();
        let statistics = self.statistics(encoded.as_mut(), run);
        let (mut body, mut tails) = (Vec::new(), [const { Vec::new() }; TAILS]);
        let [aside, first, last] = &mut tails;
        match encoded {
            Some(parts) => {
                for NamedPart { name, bytes } in parts {
                    let kind = match () {
                        () if part::is_of_statistics(&name) => &mut *aside,
                        () if self.codec.is_read_first(&name) => &mut *first,
                        () => &mut body,
                    };
                    kind.push(part(&name, bytes));
                }
            }
            None => {
                let Run { documents, ends, instants, arrivals, .. } = std::mem::take(run);
                let keys = [instants.as_flattened(), arrivals.as_flattened(), ends.as_flattened()].concat();
                body.push(part(part::DOCUMENTS, documents));
                last.push(part(part::KEYS, keys));
            }
        }
        last.push(part(part::STATISTICS, statistics));
        Some(Made { entry, arrivals, columns, body, tails })
    }

    /// The statistics that were made with the columns, which are taken from these; or of the documents.
    fn statistics(&self, mut columns: Option<&mut Vec<NamedPart>>, run: &Run) -> Vec<u8> {
        let is_theirs = |part: &NamedPart| part.name == part::STATISTICS;
        let place = columns.as_deref().and_then(|parts| parts.iter().position(is_theirs));
        let theirs = columns.as_deref_mut().zip(place).map(|(parts, place)| parts.remove(place).bytes);
        let mut statistics = theirs.unwrap_or_else(|| {
            let ends: Vec<u32> = run.ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
            let mut statistics = Vec::new();
            self.codec.collect(&run.documents, &ends, &mut statistics);
            statistics
        });
        if statistics.len() > STATISTICS_BYTES_MAX {
            statistics.clear();
            // One part of them is nothing without the others.
            columns.into_iter().for_each(|parts| parts.retain(|part| !part::is_of_statistics(&part.name)));
        }
        statistics
    }
}

/// Whether each part can be found by its name.
fn are_named(parts: &[NamedPart]) -> bool {
    let own = [part::DOCUMENTS, part::KEYS];
    let names: BTreeSet<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    names.len() == parts.len() && names.iter().all(|name| name.len() <= 255 && !own.contains(name))
}

/// Takes blocks, and gives what is made of them in the same order. At most six blocks are in memory: two wait for the helper or are with
/// it, two are made before their turn, one is made here, and one is being filled; what a block was filled into serves the next.
pub(super) struct Maker<'a> {
    recipe: Recipe<'a>,
    /// How many were taken, and how many were given.
    taken: usize,
    given: usize,
    /// Those that are made, by their place.
    ready: BTreeMap<usize, Option<Made>>,
    /// Memory of runs that were made into blocks.
    spare: Vec<Run>,
    /// Shares the work.
    line: Option<Line>,
}

/// Blocks on their way to a helper, and what it has made of them.
struct Line {
    to_do: SyncSender<(usize, Run)>,
    done: Receiver<(usize, (Option<Made>, Run))>,
}

/// Makes blocks in a thread of its own.
pub(super) struct Helper<'a> {
    recipe: Recipe<'a>,
    to_do: Receiver<(usize, Run)>,
    done: Sender<(usize, (Option<Made>, Run))>,
}

impl Helper<'_> {
    /// Works until the other end is done.
    pub(super) fn run(self) {
        for (place, run) in self.to_do {
            if self.done.send((place, self.recipe.make(run))).is_err() {
                return;
            }
        }
    }
}

impl<'a> Maker<'a> {
    /// Does the work itself.
    pub(super) fn new(recipe: Recipe<'a>) -> Maker<'a> {
        Maker { recipe, taken: 0, given: 0, ready: BTreeMap::new(), spare: Vec::new(), line: None }
    }

    /// Shares the work with a helper, which somebody has to run.
    pub(super) fn with_helper(recipe: Recipe<'a>) -> (Maker<'a>, Helper<'a>) {
        let (sender, to_do) = sync_channel(1);
        let (done, receiver) = channel();
        let line = Some(Line { to_do: sender, done: receiver });
        (Maker { line, ..Maker::new(recipe) }, Helper { recipe, to_do, done })
    }

    /// Takes a block.
    pub(super) fn add(&mut self, run: Run) {
        let place = self.taken;
        self.taken += 1;
        let left = match &self.line {
            None => Some(run),
            Some(line) => match line.to_do.try_send((place, run)) {
                Ok(()) => None,
                Err(TrySendError::Full((_, run)) | TrySendError::Disconnected((_, run))) => Some(run),
            },
        };
        if let Some(run) = left {
            // The helper has enough to do.
            let made = self.recipe.make(run);
            self.put(place, made);
        }
    }

    /// An empty run with the memory of one that was made into a block, if there is one.
    pub(super) fn spare(&mut self) -> Option<Run> {
        self.spare.pop()
    }

    fn put(&mut self, place: usize, (made, run): (Option<Made>, Run)) {
        self.ready.insert(place, made);
        if run.has_room() {
            self.spare.push(run);
        }
    }

    /// The next block, if it is made; waits for it where too many others are.
    pub(super) fn next_made(&mut self) -> Option<Made> {
        self.next(READY_MAX)
    }

    /// The next block, waited for; nothing after the last.
    pub(super) fn next_of_rest(&mut self) -> Option<Made> {
        self.next(0)
    }

    fn next(&mut self, ready_max: usize) -> Option<Made> {
        while self.given < self.taken {
            if let Some(made) = self.ready.remove(&self.given) {
                self.given += 1;
                if made.is_some() {
                    return made;
                }
                continue;
            }
            let Line { done, .. } = self.line.as_ref()?;
            let made = if self.ready.len() >= ready_max { done.recv().ok() } else { done.try_recv().ok() };
            // If the helper is gone it panicked, and its panic will be passed on.
            let (place, made) = made?;
            self.put(place, made);
        }
        None
    }
}
