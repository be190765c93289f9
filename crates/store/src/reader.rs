//! Reading a store that another process may be writing to.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::error::{Damage, Failure, OpenError, Operation};
use crate::format::FileKind;
use crate::inventory::{self, Unnamed};
use crate::io::{Directory, Disk, Lock, LockKind};
use crate::log::LogReader;
use crate::manifest::{Manifest, mark};
use crate::options::Options;
use crate::recovery::{self, Replayed};
use crate::segment::{Environment, Segment};
use crate::snapshot::{Segments, Snapshot, State};

/// How often a reader tries to get hold of a manifest before the writer replaces it.
const ATTEMPTS: usize = 100;

/// How long it waits where the manifest is locked by somebody else.
const PAUSE: Duration = Duration::from_millis(2);

/// Where no lock can be had.
#[derive(Debug)]
struct NoLock;

impl Lock for NoLock {
    fn holds(&self) -> bool {
        false
    }
}

/// A store opened for reading only, beside a writing process too. Nothing is written, no server is needed.
///
/// ```
/// use std::sync::Arc;
/// use tamias_store::{Event, Options, Reader, Store};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
/// let reader = Reader::open(folder.path(), Options::default())?;
/// let before = reader.snapshot()?;
/// store.append(&[Event { instant: 1, bytes: b"{}" }])?;
/// assert_eq!((before.events(), reader.snapshot()?.events()), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    directory: Arc<dyn Directory>,
    options: Options,
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

impl Reader {
    /// Opens a store that exists.
    pub fn open(folder: &Path, options: Options) -> Result<Reader, OpenError> {
        if !folder.is_dir() {
            return Err(OpenError::Missing { folder: folder.to_path_buf() });
        }
        Reader::open_on(Arc::new(Disk::new(folder)), options)
    }

    /// Opens a store in any kind of folder.
    pub fn open_on(directory: Arc<dyn Directory>, options: Options) -> Result<Reader, OpenError> {
        options.check()?;
        let held = Held::take(&directory, &options, None)?;
        Ok(Reader { directory, options, held: Mutex::new(held) })
    }

    /// The store as it is now: everything acknowledged before this call, and perhaps a batch about to be.
    pub fn snapshot(&self) -> Result<Snapshot, OpenError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..ATTEMPTS {
            let current = inventory::current_number(&*self.directory, &held.manifest)?;
            if current != Some(held.manifest.number) {
                let mut next = Held::take(&self.directory, &self.options, Some(&held))?;
                next.carry_over(&mut held);
                *held = next;
            }
            held.read_on(&*self.directory, self.options.block_bytes)?;
            // A batch may meanwhile have gone into a segment and the next one into the log: then the first would be missing.
            if inventory::current_number(&*self.directory, &held.manifest)? == Some(held.manifest.number) {
                return Ok(held.snapshot(&*self.directory));
            }
        }
        Err(OpenError::Restless { folder: inventory::folder(&*self.directory) })
    }

    /// Where a source stood with the last batch that named it, as of the last snapshot.
    pub fn source_position(&self, name: &str) -> Option<u64> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.replayed.sources.get(name).map(|mark| mark.position)
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
    /// Where the folder cannot be listed, or the store not be read.
    pub fn unnamed(&self) -> Result<Vec<Unnamed>, OpenError> {
        for _ in 0..ATTEMPTS {
            self.snapshot()?;
            let manifest = self.held.lock().unwrap_or_else(PoisonError::into_inner).manifest.clone();
            let unnamed = inventory::unnamed(&*self.directory, &manifest)?;
            // A writer may have published another one meanwhile, which names some of them.
            if inventory::current_number(&*self.directory, &manifest)? == Some(manifest.number) {
                return Ok(unnamed);
            }
        }
        Err(OpenError::Restless { folder: inventory::folder(&*self.directory) })
    }
}

impl Held {
    /// Gets hold of the current manifest.
    fn take(
        directory: &Arc<dyn Directory>,
        options: &Options,
        before: Option<&Held>,
    ) -> Result<Held, OpenError> {
        for attempt in 0..ATTEMPTS {
            let manifest = match inventory::find_manifest(&**directory, false) {
                // It was replaced and removed in between.
                Err(OpenError::Failure(failure)) if failure.source.kind() == std::io::ErrorKind::NotFound => {
                    continue;
                }
                // Its room was used for the next one while it was read.
                Err(OpenError::ManifestDamaged { .. }) if attempt == 0 => continue,
                Ok(None) => return Err(inventory::missing(&**directory)),
                found => found?.ok_or_else(|| inventory::missing(&**directory))?,
            };
            let name = FileKind::Manifest.name(manifest.number);
            let lock = match directory.lock(&name, LockKind::Shared) {
                Ok(Some(lock)) => lock,
                // Somebody who is not the writer locks it all the time. It is read without a lock: what the writer removes then shows as
                // missing, and the next snapshot finds the newer manifest.
                Ok(None) if attempt >= ATTEMPTS / 2 => Box::new(NoLock),
                // The writer is about to remove it.
                Ok(None) => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Failure::during(&**directory, &name, Operation::Lock)(error).into()),
            };
            // If it is still there now, the writer finds the lock before it removes it.
            let there = directory.kind(&name);
            if there.map_err(Failure::during(&**directory, &name, Operation::Open))?.is_none() {
                continue;
            }
            return Held::begin(directory, options, manifest, Arc::from(lock), before);
        }
        Err(OpenError::Restless { folder: inventory::folder(&**directory) })
    }

    fn begin(
        directory: &Arc<dyn Directory>,
        options: &Options,
        manifest: Manifest,
        lock: Arc<dyn Lock>,
        before: Option<&Held>,
    ) -> Result<Held, OpenError> {
        let environment = match before {
            Some(before) => Arc::clone(&before.environment),
            None => Arc::new(Environment::new(Arc::clone(directory), manifest.store, options)),
        };
        // Segments that were open stay open, and verified.
        let known: HashMap<u64, &Arc<Segment>> = before
            .iter()
            .flat_map(|before| &before.segments.list)
            .map(|segment| (segment.entry.number, segment))
            .collect();
        let list = manifest.segments.iter().map(|entry| match known.get(&entry.number) {
            Some(segment) if segment.entry == *entry => Arc::clone(segment),
            _ => Arc::new(Segment::new(*entry, Arc::clone(&environment))),
        });
        let segments = Arc::new(Segments::new(list.collect()));
        let (mut logs, mut missing) = (Vec::new(), Vec::new());
        for entry in &manifest.logs {
            match recovery::open_log(&**directory, manifest.store, entry)? {
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
        if !before.missing.is_empty() || !numbers(&self.manifest).starts_with(&numbers(&before.manifest)) {
            return;
        }
        for ((_, log), (_, mut known)) in self.logs.iter_mut().zip(before.logs.drain(..)) {
            known.learn_from(log);
            *log = known;
        }
        self.replayed.tail = std::mem::take(&mut before.replayed.tail);
        for (name, position) in &before.replayed.sources {
            mark(&mut self.replayed.sources, name, *position);
        }
        self.replayed.next_arrival = self.replayed.next_arrival.max(before.replayed.next_arrival);
    }

    /// Takes in the batches that have come since the last time.
    fn read_on(&mut self, directory: &dyn Directory, block_bytes: usize) -> Result<(), OpenError> {
        let mut least_arrival = 0;
        for (_, log) in &mut self.logs {
            log.least_arrival = log.least_arrival.max(least_arrival);
            log.read(directory, |batch| self.replayed.take(batch, block_bytes))?;
            least_arrival = log.least_arrival;
        }
        Ok(())
    }

    fn snapshot(&self, directory: &dyn Directory) -> Snapshot {
        let damage = self.logs.iter().flat_map(|(number, log)| recovery::log_damage(directory, *number, log));
        Snapshot {
            state: Arc::new(State {
                environment: Arc::clone(&self.environment),
                segments: Arc::clone(&self.segments),
                tail: self.replayed.tail.runs.clone(),
                log_bytes: self.logs.iter().map(|(_, log)| log.offset).sum(),
                damage: self.missing.iter().cloned().chain(damage).collect(),
                lock: Arc::clone(&self.lock),
            }),
        }
    }
}
