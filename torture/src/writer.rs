//! The process that writes: it works on a store by chance, or step by step as it is told, and tells on its pipe what it has done.

use std::io::{BufRead, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tamias_store::io::{Chance, Disk};
use tamias_store::{AppendError, Durability, Failure, OpenError, Operation, Options, Retention, Store};

use crate::batch::{self, Batch};
use crate::columns;
use crate::line::Line;
use crate::plant::Plant;

/// What an append waits for, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Waits {
    /// For the medium.
    Sync,
    /// For the operating system; flushed every few milliseconds.
    Interval,
    /// For the operating system.
    None,
}

/// What a writing process is started with.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// The store's folder.
    pub(crate) folder: PathBuf,
    /// The number of the first batch.
    #[arg(long, default_value_t = 0)]
    pub(crate) first: u64,
    /// The beginning of its random numbers.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// How many steps it does.
    #[arg(long, default_value_t = u64::MAX)]
    pub(crate) steps: u64,
    /// What an append waits for.
    #[arg(long, value_enum, default_value_t = Waits::Sync)]
    pub(crate) waits: Waits,
    /// A fault on the way to the medium.
    #[arg(long, value_enum)]
    pub(crate) plant: Option<Plant>,
    /// Removes nothing.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Appends by one thread only.
    #[arg(long)]
    pub(crate) alone: bool,
    /// Seals and compacts in no thread of its own.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Reads each step from the standard input.
    #[arg(long)]
    pub(crate) paced: bool,
}

/// Blocks and segments so small that a few hundred events fill several.
pub(crate) fn options(waits: Waits) -> Options {
    let durability = match waits {
        Waits::Sync => Durability::Sync,
        Waits::Interval => Durability::Interval(Duration::from_millis(5)),
        Waits::None => Durability::None,
    };
    Options { block_bytes: 2000, segment_bytes: 30_000, durability, ..Options::default() }
}

/// Opens the store of a folder, with a planted fault or without.
fn open(arguments: &Arguments) -> Result<Store, OpenError> {
    let folder = &arguments.folder;
    let segments = columns::layout(arguments.seed);
    let options = Options { background: !arguments.quiet, segments, ..options(arguments.waits) };
    match arguments.plant {
        None => Store::open(folder, options, columns::codec()),
        Some(plant) => {
            plant.before_opening(folder);
            let disk = Disk::create(folder).map_err(|error| Failure {
                path: folder.to_path_buf(),
                operation: Operation::CreateFolder,
                source: Arc::new(error),
            })?;
            let folder = plant.over(Arc::new(disk));
            Store::open_on(folder, options, columns::codec())
        }
    }
}

/// Whether nobody knows any more what is stored, and the store takes nothing more.
fn is_final(error: &AppendError) -> bool {
    use Operation::{Cut, Flush, FlushFolder, KeepLock, Rename};
    match error {
        AppendError::Poisoned(_) => true,
        AppendError::Failure(failure) => {
            matches!(failure.operation, Flush | FlushFolder | Rename | Cut | KeepLock)
        }
        _ => false,
    }
}

/// One thing that a writer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Append,
    /// Several threads append at a time.
    Burst,
    AppendSealed,
    Seal,
    Compact,
    Remove,
    Flush,
    Reopen,
    Close,
}

impl FromStr for Step {
    type Err = String;

    fn from_str(word: &str) -> Result<Step, String> {
        Ok(match word {
            "append" => Step::Append,
            "burst" => Step::Burst,
            "append-sealed" => Step::AppendSealed,
            "seal" => Step::Seal,
            "compact" => Step::Compact,
            "remove" => Step::Remove,
            "flush" => Step::Flush,
            "reopen" => Step::Reopen,
            "close" => Step::Close,
            _ => {
                return Err(format!("{word:?} is no step"));
            }
        })
    }
}

impl Step {
    /// A step by chance.
    pub(crate) fn random(chance: &mut Chance, keep: bool, alone: bool) -> Step {
        match chance.below(48) {
            0..2 => Step::Seal,
            2..4 => Step::Compact,
            4 if !keep => Step::Remove,
            5..7 => Step::Flush,
            7 => Step::Reopen,
            8..14 => Step::AppendSealed,
            14..17 if !alone => Step::Burst,
            _ => Step::Append,
        }
    }
}

/// A store that is worked on, by a process or within this one.
pub(crate) struct Work<'a> {
    /// Opens the store, again and again.
    pub(crate) open: &'a dyn Fn() -> Result<Store, OpenError>,
    /// Hears what is done.
    pub(crate) tell: &'a mut dyn FnMut(Line),
    /// The number of the next batch.
    pub(crate) next: u64,
    /// So many batches stay when old ones are removed.
    pub(crate) stay: u64,
}

impl Work<'_> {
    /// Opens the store, and tells so.
    pub(crate) fn open(&mut self) -> Option<Store> {
        match (self.open)() {
            Ok(store) => {
                (self.tell)(Line::Opened);
                Some(store)
            }
            Err(error) => {
                (self.tell)(Line::Failed(error.to_string()));
                None
            }
        }
    }

    /// Does a step. The store is gone after a failure that the store calls final, and when it is closed.
    pub(crate) fn step(&mut self, store: Store, step: Step) -> Option<Store> {
        match step {
            Step::Append => self.append(store, false),
            Step::AppendSealed => self.append(store, true),
            Step::Burst => self.burst(store),
            Step::Seal => self.other(store, "seal", |store| store.seal().map_err(|error| error.to_string())),
            Step::Compact => {
                self.other(store, "compact", |store| store.compact().map_err(|error| error.to_string()))
            }
            Step::Flush => {
                self.other(store, "flush", |store| store.flush().map_err(|error| error.to_string()))
            }
            Step::Remove => self.remove(store),
            Step::Reopen | Step::Close => {
                (self.tell)(Line::Doing("close".into()));
                drop(store);
                (self.tell)(Line::Closed);
                if step == Step::Reopen { self.open() } else { None }
            }
        }
    }

    /// The next batch, of which it is told that it is begun.
    fn begin(&mut self) -> Batch {
        let batch = Batch::new(self.next);
        self.next += 1;
        (self.tell)(Line::Begin(batch.id));
        batch
    }

    /// Tells what became of a batch; false if the store is of no use any more.
    fn told(&mut self, id: u64, stored: Result<Range<u64>, AppendError>) -> bool {
        match stored {
            Ok(numbers) => (self.tell)(Line::Stored(id, numbers.start)),
            Err(error) if is_final(&error) => {
                (self.tell)(Line::Failed(error.to_string()));
                return false;
            }
            Err(error) => (self.tell)(Line::Refused(id, error.to_string())),
        }
        true
    }

    fn append(&mut self, store: Store, sealed: bool) -> Option<Store> {
        let batch = self.begin();
        let (events, position) = (batch.events(), batch.position());
        let stored = match sealed {
            true => store.append_sealed(&events, position),
            false => store.append_from(&events, position),
        };
        let firm = sealed && stored.is_ok();
        if !self.told(batch.id, stored) {
            return None;
        }
        if firm {
            // What goes straight into a segment is durable with all that came before.
            (self.tell)(Line::Done("seal".into()));
        }
        Some(store)
    }

    fn burst(&mut self, store: Store) -> Option<Store> {
        let batches = [self.begin(), self.begin(), self.begin()];
        let stored = std::thread::scope(|scope| {
            let append = |batch: &Batch| store.append_from(&batch.events(), batch.position());
            let threads = batches.each_ref().map(|batch| scope.spawn(move || append(batch)));
            threads.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let mut alive = true;
        for (batch, stored) in batches.iter().zip(stored) {
            alive &= self.told(batch.id, stored);
        }
        alive.then_some(store)
    }

    fn other(
        &mut self,
        store: Store,
        what: &str,
        body: impl FnOnce(&Store) -> Result<(), String>,
    ) -> Option<Store> {
        (self.tell)(Line::Doing(what.into()));
        match body(&store) {
            Ok(()) => (self.tell)(Line::Done(what.into())),
            Err(why) => (self.tell)(Line::Trouble(what.into(), why)),
        }
        Some(store)
    }

    fn remove(&mut self, store: Store) -> Option<Store> {
        let before = batch::instant(self.next.saturating_sub(self.stay));
        let retention = Retention { before: Some(before), file_bytes_max: None };
        if let Ok(removed) = store.remove(retention, true) {
            crate::plant::announce(&removed.files);
        }
        (self.tell)(Line::Doing("remove".into()));
        (self.tell)(Line::Removing(before));
        match store.remove(retention, false) {
            Ok(removed) => (self.tell)(Line::Removed(removed.events)),
            Err(error) => (self.tell)(Line::Trouble("remove".into(), error.to_string())),
        }
        Some(store)
    }
}

/// The writing process.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let mut input = std::io::stdin().lock();
    // Without a listener there is nothing to do; the process ends with what it is doing.
    let mut tell = |line: Line| {
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            std::process::exit(4);
        }
    };
    let open = || open(arguments);
    let mut work = Work { open: &open, tell: &mut tell, next: arguments.first, stay: 60 };
    let mut chance = Chance(arguments.seed);
    let Some(mut store) = work.open() else { return Ok(()) };
    for _ in 0..arguments.steps {
        let step = if arguments.paced {
            (work.tell)(Line::Ready);
            let mut word = String::new();
            match input.read_line(&mut word) {
                Ok(read) if read > 0 => word.trim().parse()?,
                _ => Step::Close,
            }
        } else {
            Step::random(&mut chance, arguments.keep, arguments.alone)
        };
        match work.step(store, step) {
            Some(open) => store = open,
            None => return Ok(()),
        }
    }
    drop(store);
    (work.tell)(Line::Closed);
    Ok(())
}
