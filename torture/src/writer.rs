//! The process that writes: it works on a store by chance, or step by step as it is told, and tells on its pipe what it has done.

use std::io::{BufRead, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tamias_store::io::{Chance, Disk};
use tamias_store::{
    AppendError, Direction, Durability, Erased, Failure, Key, OpenError, Operation, Options, ReadError,
    Retention, SealError, Settings, Store,
};

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

/// How often events are deleted and erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Deletes {
    /// Not at all.
    Never,
    /// Now and then.
    Rarely,
    /// Every third step or so.
    Often,
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
    /// How often it deletes, and erases.
    #[arg(long, value_enum, default_value_t = Deletes::Never)]
    pub(crate) deletes: Deletes,
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
    // Of a writer that was killed while it kept to bounds, none stay.
    let settings = Some(Settings::default());
    let options = Options { background: !arguments.quiet, segments, settings, ..options(arguments.waits) };
    match arguments.plant {
        None => Store::open(folder, options, columns::codec(arguments.plant)),
        Some(plant) => {
            plant.before_opening(folder);
            let disk = Disk::create(folder).map_err(|error| Failure {
                path: folder.to_path_buf(),
                operation: Operation::CreateFolder,
                source: Arc::new(error),
            })?;
            let folder = plant.over(Arc::new(disk));
            Store::open_on(folder, options, columns::codec(arguments.plant))
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
    /// Lets the settings take out what is beyond two thirds of the store, and takes them back.
    Bound,
    Delete,
    Erase,
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
            "bound" => Step::Bound,
            "delete" => Step::Delete,
            "erase" => Step::Erase,
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
    pub(crate) fn random(chance: &mut Chance, keep: bool, alone: bool, deletes: Deletes) -> Step {
        let deleting = match deletes {
            Deletes::Never => 0,
            Deletes::Rarely => 3,
            Deletes::Often => 24,
        };
        match chance.below(48 + deleting) {
            48.. if chance.below(2) == 0 => Step::Erase,
            48.. => Step::Delete,
            0..2 => Step::Seal,
            2..4 => Step::Compact,
            4 if !keep && deletes != Deletes::Never && chance.below(3) == 0 => Step::Bound,
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
    /// A mistake that it makes.
    pub(crate) plant: Option<Plant>,
}

impl Work<'_> {
    /// Opens the store, and tells so.
    pub(crate) fn open(&mut self) -> Option<Store> {
        match (self.open)() {
            Ok(store) => {
                if let (Some(Plant::BatchTwice), Some(last)) = (self.plant, self.next.checked_sub(1)) {
                    let _ = store.append(&Batch::new(last).events());
                }
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
            Step::Bound => self.bound(store),
            Step::Delete => self.delete(store),
            Step::Erase => self.erase(store),
            Step::Reopen | Step::Close => {
                (self.tell)(Line::Doing("close".into()));
                drop(store);
                (self.tell)(Line::Closed);
                if step == Step::Reopen { self.open() } else { None }
            }
        }
    }

    /// The next batch, of which it is told that it is begun.
    fn begin(&mut self) -> Arc<Batch> {
        let batch = Batch::new(self.next);
        self.next += 1;
        (self.tell)(Line::Begin(batch.id));
        batch
    }

    /// Tells what became of a batch; false if the store is of no use any more.
    fn told(&mut self, id: u64, stored: Result<Range<u64>, AppendError>) -> bool {
        match stored {
            Ok(numbers) if self.plant == Some(Plant::NumberReused) && id.is_multiple_of(5) => {
                (self.tell)(Line::Stored(id, numbers.start.saturating_sub(1)));
            }
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

    fn bound(&mut self, store: Store) -> Option<Store> {
        let events = |store: &Store| store.snapshot().events();
        let set = |max_bytes| {
            let before = events(&store);
            store.set_settings(Settings { max_bytes, ..Settings::default() })?;
            Ok::<_, SealError>(before.saturating_sub(events(&store)))
        };
        (self.tell)(Line::Doing("bound".into()));
        (self.tell)(Line::Removing(u64::MAX));
        let bytes = store.housekeeping().map(|housekeeping| housekeeping.usage.bounded());
        let bounded = bytes.map_err(SealError::from).and_then(|bytes| set(Some(bytes / 3 * 2)));
        // What the settings say otherwise goes on.
        match bounded.and_then(|went| Ok(went + set(None)?)) {
            Ok(went) => (self.tell)(Line::Removed(went)),
            Err(error) => {
                (self.tell)(Line::Trouble("bound".into(), error.to_string()));
                // The bound may be set still: opening takes it back.
                drop(store);
                return self.open();
            }
        }
        Some(store)
    }

    fn delete(&mut self, store: Store) -> Option<Store> {
        let deletion = self.next;
        let keys = match keys_of(&store, deletion) {
            Ok(keys) => keys,
            Err(error) => {
                (self.tell)(Line::Trouble("delete".into(), error.to_string()));
                return Some(store);
            }
        };
        (self.tell)(Line::Deleting(deletion));
        (self.tell)(Line::Doing("delete".into()));
        match store.delete(&keys) {
            Ok(_) => (self.tell)(Line::Deleted(deletion)),
            Err(error) => (self.tell)(Line::Trouble("delete".into(), error.to_string())),
        }
        Some(store)
    }

    fn erase(&mut self, store: Store) -> Option<Store> {
        (self.tell)(Line::Doing("erase".into()));
        if self.plant == Some(Plant::EarlyReceipt) {
            (self.tell)(Line::Erased);
            return Some(store);
        }
        match store.erase() {
            Ok(Erased { held, damaged, .. }) if held.is_empty() && damaged.is_empty() => {
                (self.tell)(Line::Erased);
            }
            // Somebody reads it.
            Ok(Erased { held, .. }) if !held.is_empty() => (self.tell)(Line::Done("erase".into())),
            Ok(erased) => (self.tell)(Line::Trouble("erase".into(), format!("{erased:?}"))),
            Err(error) => (self.tell)(Line::Trouble("erase".into(), error.to_string())),
        }
        Some(store)
    }
}

/// The keys of the events that a deletion takes.
fn keys_of(store: &Store, deletion: u64) -> Result<Vec<Key>, ReadError> {
    let mut keys = Vec::new();
    for group in store.snapshot().groups(0..=u64::MAX, Direction::Ascending) {
        for block in group? {
            for index in 0..block.len() {
                let origin = block.document(index)?.as_deref().and_then(Batch::origin);
                if origin.is_some_and(|(id, n)| Batch::is_deleted_by(deletion, id, n)) {
                    keys.extend(block.key(index)?);
                }
            }
        }
    }
    Ok(keys)
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
    let mut work =
        Work { open: &open, tell: &mut tell, next: arguments.first, stay: 60, plant: arguments.plant };
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
            Step::random(&mut chance, arguments.keep, arguments.alone, arguments.deletes)
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
