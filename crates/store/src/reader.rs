//! Reading a store that another process may be writing to.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::codec::Codec;
use crate::error::{Damage, Failure, OpenError, Operation};
use crate::history::Untold;
use crate::housekeeping::Housekeeping;
use crate::inventory::{self, Current, Unnamed, UnnamedKind};
use crate::io::{Directory, Disk, Lock, LockKind};
use crate::log::LogReader;
use crate::manifest::{LogEntry, Manifest, mark};
use crate::options::Options;
use crate::receipt::Receipts;
use crate::removal::{Removed, Retention};
use crate::replay::{self, Replayed};
use crate::scrub::{self, Scrub};
use crate::segment::{Environment, Segment};
use crate::settings::Settings;
use crate::snapshot::{Segments, Snapshot, State};

/// How long a reader lets the writer overtake it. HEURISTIC: beside a writer that seals every other batch, on tmpfs, in a folder of 1,400
/// segments, it took 74 ms at most, and 237 ms with the opening (both processors taken ten times over).
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it waits for a manifest that is locked by somebody else: the writer needs a moment only, to remove it.
const LOCK_PATIENCE: Duration = Duration::from_millis(100);

/// The longest pause between two looks.
const PAUSE_MAX: Duration = Duration::from_millis(2);

/// Looks again, until it has taken too long; each pause is longer than the one before.
struct Patience {
    end: Instant,
    pause: Duration,
}

impl Patience {
    fn new(time: Duration) -> Patience {
        Patience { end: Instant::now() + time, pause: Duration::from_micros(20) }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    fn pause(&mut self) {
        std::thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }
}

/// Where no lock can be had: then the manifest itself tells whether it is still the one that was read.
#[derive(Debug)]
struct NoLock {
    directory: Arc<dyn Directory>,
    number: u64,
    /// The store, and the line of it.
    of: (u128, u64),
}

impl Lock for NoLock {
    fn holds(&self) -> bool {
        let found = Manifest::read(&*self.directory, self.number);
        found.is_ok_and(|manifest| (manifest.store, manifest.line) == self.of)
    }
}

/// What a copy of a store consists of. No file of it goes meanwhile.
pub(crate) struct Moment {
    /// Its logs are closed where they are read to, but for damaged ones.
    pub(crate) manifest: Manifest,
    /// Of each log that is there, how many bytes belong to it.
    pub(crate) log_bytes: Vec<(u64, u64)>,
    /// Arrival numbers below this one are used.
    pub(crate) next_arrival: u64,
    _lock: Arc<dyn Lock>,
}

/// A store opened for reading only, beside a writing process too. Nothing is written, no server is needed.
///
/// ```
/// use std::sync::Arc;
/// use tamias_store::{Event, Options, Reader, Store};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
/// let reader = Reader::open(folder.path(), Options::default(), Arc::new(()))?;
/// let before = reader.snapshot()?;
/// store.append(&[Event { instant: 1, bytes: b"{}" }])?;
/// assert_eq!((before.events(), reader.snapshot()?.events()), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reader {
    directory: Arc<dyn Directory>,
    options: Options,
    codec: Arc<dyn Codec>,
    held: Mutex<Held>,
}

/// The manifest that is being read, with everything already known from it.
#[derive(Debug)]
struct Held {
    manifest: Manifest,
    environment: Arc<Environment>,
    segments: Arc<Segments>,
    logs: Vec<(u64, LogReader)>,
    missing: Vec<Damage>,
    replayed: Replayed,
    /// As long as it is held, here or by a snapshot, the writer removes nothing that the manifest names.
    lock: Arc<dyn Lock>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("folder", &inventory::folder(&*self.directory)).finish_non_exhaustive()
    }
}

impl Reader {
    /// Opens a store that exists; `codec` reads its blocks in columns.
    pub fn open(folder: &Path, options: Options, codec: Arc<dyn Codec>) -> Result<Reader, OpenError> {
        inventory::require_folder(folder)?;
        Reader::open_on(Arc::new(Disk::new(folder)), options, codec)
    }

    /// Opens a store in any kind of folder.
    pub fn open_on(
        directory: Arc<dyn Directory>,
        options: Options,
        codec: Arc<dyn Codec>,
    ) -> Result<Reader, OpenError> {
        options.check()?;
        let held = Held::take(&directory, &options, &codec, None)?;
        Ok(Reader { directory, options, codec, held: Mutex::new(held) })
    }

    /// The store as it is now: everything acknowledged before this call, and perhaps a batch about to be.
    ///
    /// # Errors
    /// If the store cannot be read, or if its writer overtakes this call for ten seconds on end.
    pub fn snapshot(&self) -> Result<Snapshot, OpenError> {
        let directory = &*self.directory;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut patience = Patience::new(PATIENCE);
        loop {
            // A writer may put a batch into a segment, which a newer manifest names, and the next one into the log. So the logs are read up to
            // where they reached while this manifest still counted: then no batch is missing before the last one. The reading may take its time.
            held.see_logs(directory)?;
            let next = match inventory::current(directory, &held.manifest)? {
                // Another store may have come into the folder, with a manifest of the same number.
                Current::Same if !held.lock.holds() => {
                    Some(Held::take(&self.directory, &self.options, &self.codec, Some(&held))?)
                }
                Current::Same => {
                    held.read_on(directory, self.options.block_bytes)?;
                    return Ok(held.snapshot(directory));
                }
                Current::Newer(manifest) => {
                    Held::hold(&self.directory, &self.options, &self.codec, &manifest, Some(&held))?
                }
                Current::Gone => Some(Held::take(&self.directory, &self.options, &self.codec, Some(&held))?),
                Current::Overtaken => None,
            };
            if patience.is_over() {
                return Err(OpenError::Restless { folder: inventory::folder(directory) });
            }
            match next {
                Some(mut next) => {
                    next.carry_over(&mut held);
                    *held = next;
                }
                None => patience.pause(),
            }
        }
    }

    /// Where a source stood with the last batch that named it, as of the last snapshot.
    pub fn source_position(&self, name: &str) -> Option<u64> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.replayed.sources.get(name).map(|mark| mark.position)
    }

    /// The note that was left with a source by the last batch that named it, as of the last snapshot; empty where there is none.
    pub fn source_note(&self, name: &str) -> Arc<[u8]> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.replayed.sources.get(name).map(|mark| Arc::clone(&mark.note)).unwrap_or_default()
    }

    /// The names of all sources that are known, in order, as of the last snapshot. Takes time linear in their number.
    pub fn source_names(&self) -> Vec<String> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.replayed.sources.keys().cloned().collect()
    }

    /// What a copy of the store consists of, as of now.
    pub(crate) fn moment(&self) -> Result<Moment, OpenError> {
        self.snapshot()?;
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut manifest = held.manifest.clone();
        let mut log_bytes = Vec::new();
        for entry in &mut manifest.logs {
            let Some((_, log)) = held.logs.iter().find(|(number, _)| *number == entry.number) else {
                continue;
            };
            if log.damage.is_empty() {
                // The batches that a snapshot has. To the copy nobody appends.
                *entry = LogEntry { length: log.lasting_bytes(), ended: true, ..*entry };
            }
            let bytes = if log.damage.is_empty() { log.lasting_bytes() } else { log.seen_bytes() };
            log_bytes.push((entry.number, bytes));
        }
        let next_arrival = held.replayed.next_arrival;
        Ok(Moment { manifest, log_bytes, next_arrival, _lock: Arc::clone(&held.lock) })
    }

    /// Reads all segments again, slowly, as [`Store::scrub`](crate::Store::scrub) does. Where the folder cannot be written, how far it has come is not remembered.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn scrub(
        &self,
        bytes_per_second: u64,
        may_go_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Damage),
    ) -> Result<Scrub, OpenError> {
        scrub::round(&*self.directory, &|| self.snapshot(), bytes_per_second, may_go_on, found)
    }

    /// What [`Store::remove`](crate::Store::remove) would remove now.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn plan_removal(&self, retention: Retention) -> Result<Removed, OpenError> {
        self.snapshot()?;
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Removed::of(&retention.outside(&held.manifest.shown()), &*self.directory))
    }

    /// What would be removed now if the store kept to these settings.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn plan_settings(&self, settings: Settings) -> Result<Removed, OpenError> {
        self.snapshot()?;
        let manifest = self.held.lock().unwrap_or_else(PoisonError::into_inner).manifest.clone();
        Ok(manifest.plan_bounds(&*self.directory, settings)?)
    }

    /// What the store has done and keeps to, as of now.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn housekeeping(&self) -> Result<Housekeeping, OpenError> {
        self.snapshot()?;
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut manifest = held.manifest.clone();
        // From their beginning again: what was read before this manifest was not told by the one before.
        for entry in &held.manifest.logs {
            if let Ok(mut log) = replay::open_log(&*self.directory, manifest.store, entry)? {
                log.read(&*self.directory, |_| ())?;
                if log.damage.is_empty() {
                    let closing = log.offset - log.lasting_bytes();
                    manifest.traffic.count(log.untold);
                    manifest.traffic.count(Untold { bytes: closing, document_bytes: 0 });
                }
            }
        }
        Ok(Housekeeping::of(&*self.directory, &manifest)?)
    }

    /// Whether it was lost where this source stood, as of the last snapshot; see [`Store::is_source_lost`](crate::Store::is_source_lost).
    pub fn is_source_lost(&self, name: &str) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        Manifest::has_lost(held.replayed.sources_lost_before, &held.replayed.sources, name)
    }

    /// The files in the folder that are none of the store's now, though they have names like its own. Those that hold its events
    /// are a sign that the manifest is not the newest one there was.
    ///
    /// # Errors
    /// If the folder cannot be listed, or the store not be read.
    pub fn unnamed(&self) -> Result<Vec<Unnamed>, OpenError> {
        let names = inventory::list(&*self.directory)?;
        // A receipt is written after the events that it knows of.
        let store = self.held.lock().unwrap_or_else(PoisonError::into_inner).manifest.store;
        let receipts = Receipts::of(&*self.directory, store)?;
        self.snapshot()?;
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (manifest, next_arrival) = (held.manifest.clone(), held.replayed.next_arrival);
        drop(held);
        let mut unnamed = inventory::unnamed(&*self.directory, names, &manifest)?;
        if let Some((_, file)) = receipts.reach().filter(|(below, _)| next_arrival < *below) {
            unnamed.push(Unnamed { file: file.to_owned(), bytes: 0, kind: UnnamedKind::Receipt });
        }
        let kind = UnnamedKind::UnreadableReceipt;
        unnamed.extend(receipts.unread().map(|file| Unnamed { file: file.to_owned(), bytes: 0, kind }));
        Ok(unnamed)
    }
}

impl Held {
    /// Finds the manifest that counts, and gets hold of it.
    fn take(
        directory: &Arc<dyn Directory>,
        options: &Options,
        codec: &Arc<dyn Codec>,
        before: Option<&Held>,
    ) -> Result<Held, OpenError> {
        let mut patience = Patience::new(PATIENCE);
        let mut overwritten = false;
        let mut found = None;
        loop {
            // To find it takes a look at every file. Once it is known which store this is, a newer one is found at a glance.
            found = match found {
                None => match inventory::find_manifest(&**directory, false) {
                    Ok(Some(manifest)) => Some(manifest),
                    Ok(None) => return Err(inventory::missing(&**directory)),
                    // It was replaced and removed in between.
                    Err(OpenError::Failure(failure)) if failure.is_missing_file() => None,
                    // Its room was used for the next one while it was read, unless it is so the second time as well.
                    Err(OpenError::ManifestDamaged { .. }) if !overwritten => {
                        overwritten = true;
                        None
                    }
                    Err(error) => return Err(error),
                },
                Some(manifest) => match inventory::current(&**directory, &manifest)? {
                    Current::Newer(newer) => Some(*newer),
                    Current::Same | Current::Overtaken => Some(manifest),
                    Current::Gone => None,
                },
            };
            if let Some(manifest) = &found
                && let Some(held) = Held::hold(directory, options, codec, manifest, before)?
            {
                return Ok(held);
            }
            if patience.is_over() {
                return Err(OpenError::Restless { folder: inventory::folder(&**directory) });
            }
            patience.pause();
        }
    }

    /// Gets hold of a manifest; `None` if the writer has removed it.
    fn hold(
        directory: &Arc<dyn Directory>,
        options: &Options,
        codec: &Arc<dyn Codec>,
        manifest: &Manifest,
        before: Option<&Held>,
    ) -> Result<Option<Held>, OpenError> {
        let name = manifest.name();
        let mut patience = Patience::new(LOCK_PATIENCE);
        let lock: Box<dyn Lock> = loop {
            match directory.lock(&name, LockKind::Shared) {
                Ok(Some(lock)) => break lock,
                // Somebody who is not the writer locks it all the time. It is read without a lock: what the writer removes then shows as
                // missing, and the next snapshot finds the newer manifest.
                Ok(None) if patience.is_over() => {
                    let of = (manifest.store, manifest.line);
                    let (directory, number) = (Arc::clone(directory), manifest.number);
                    break Box::new(NoLock { directory, number, of });
                }
                // The writer is about to remove it.
                Ok(None) => patience.pause(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(Failure::during(&**directory, &name, Operation::Lock)(error).into()),
            }
        };
        // If it is still there now, the writer finds the lock before it removes it.
        let there = directory.kind(&name).map_err(Failure::during(&**directory, &name, Operation::Open))?;
        match there {
            Some(_) => {
                Held::begin(directory, options, codec, manifest.clone(), Arc::from(lock), before).map(Some)
            }
            None => Ok(None),
        }
    }

    fn begin(
        directory: &Arc<dyn Directory>,
        options: &Options,
        codec: &Arc<dyn Codec>,
        manifest: Manifest,
        lock: Arc<dyn Lock>,
        before: Option<&Held>,
    ) -> Result<Held, OpenError> {
        // What was read of anything else is no part of this.
        let before = before.filter(|before| manifest.follows(&before.manifest));
        let environment = match before {
            Some(before) => Arc::clone(&before.environment),
            None => {
                let directory = Arc::clone(directory);
                Arc::new(Environment::new(directory, manifest.store, options, Arc::clone(codec)))
            }
        };
        // Segments that were open stay open, and verified.
        let known: HashMap<u64, &Arc<Segment>> = before
            .iter()
            .flat_map(|before| &before.segments.list)
            .map(|segment| (segment.entry.number, segment))
            .collect();
        let list = manifest.segments.iter().map(|entry| match known.get(&entry.number) {
            Some(segment) if segment.entry == *entry && segment.is_marked_as(&manifest) => {
                Arc::clone(segment)
            }
            _ => Arc::new(Segment::of(*entry, &manifest, Arc::clone(&environment))),
        });
        let segments = Arc::new(Segments::new(list.collect()));
        let (mut logs, mut missing) = (Vec::new(), Vec::new());
        for entry in &manifest.logs {
            match replay::open_log(&**directory, manifest.store, entry)? {
                Ok(log) => logs.push((entry.number, log)),
                Err(damage) => missing.push(damage),
            }
        }
        if before.is_some() {
            environment.close_all_but(&manifest.segments);
        }
        let replayed = Replayed::begin(&manifest);
        Ok(Held { manifest, environment, segments, logs, missing, replayed, lock })
    }

    /// Takes what was read of the logs from the manifest before, if all of them are still there.
    fn carry_over(&mut self, before: &mut Held) {
        let numbers = |manifest: &Manifest| manifest.logs.iter().map(|log| log.number).collect::<Vec<_>>();
        if !self.manifest.follows(&before.manifest)
            || !before.missing.is_empty()
            || !numbers(&self.manifest).starts_with(&numbers(&before.manifest))
        {
            return;
        }
        for ((_, log), (_, mut known)) in self.logs.iter_mut().zip(before.logs.drain(..)) {
            known.learn_from(log);
            *log = known;
        }
        self.replayed.memtable = std::mem::take(&mut before.replayed.memtable);
        for (name, position) in &before.replayed.sources {
            mark(&mut self.replayed.sources, name, position.clone());
        }
        self.replayed.next_arrival = self.replayed.next_arrival.max(before.replayed.next_arrival);
    }

    /// Lets the logs be read up to where they reach now. The newest comes first: nothing is appended to the others once it has begun, so that what
    /// they are seen to have is all that came before.
    fn see_logs(&mut self, directory: &dyn Directory) -> Result<(), Failure> {
        self.logs.iter_mut().rev().try_for_each(|(_, log)| log.see(directory))
    }

    /// Takes in the batches that have come since the last time, as far as they were seen.
    fn read_on(&mut self, directory: &dyn Directory, block_bytes: usize) -> Result<(), OpenError> {
        for (_, log) in &mut self.logs {
            log.read(directory, |batch| self.replayed.take(batch, block_bytes))?;
        }
        Ok(())
    }

    fn snapshot(&self, directory: &dyn Directory) -> Snapshot {
        let damage = self.logs.iter().flat_map(|(_, log)| replay::log_damage(directory, log));
        Snapshot {
            state: Arc::new(State {
                environment: Arc::clone(&self.environment),
                segments: Arc::clone(&self.segments),
                memtable: self.replayed.memtable.runs.clone(),
                log_bytes: self.logs.iter().map(|(_, log)| log.offset).sum(),
                damage: self.missing.iter().cloned().chain(damage).collect(),
                lock: Arc::clone(&self.lock),
            }),
        }
    }
}
