//! Opening: from whatever a crash left behind to the same events each time.
//!
//! What is read here may lie in the operating system's cache only, left by a writer whose flush failed. So the logs are copied into
//! a new one, which is flushed, and a new manifest is written, before anything is shown; only then is the old removed. A crash on the way
//! leaves the old manifest with all that it names, and the next opening does the same again.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Damage, Failure, OpenError, Operation};
use crate::format::{self, FileKind, HEADER_BYTES, Header, LOCK_NAME, VERSION, WRITER_NAME, is_unfinished};
use crate::io::{Directory, Lock, LockKind, read_full_at, write_all_at};
use crate::log::{LogCopy, LogReader, LogWriter, StoredBatch};
use crate::manifest::{Manifest, ManifestFault, SourceMark};
use crate::quarantine;
use crate::run::Run;
use crate::tail::Tail;

/// What the logs of a manifest hold.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    pub(crate) tail: Tail,
    pub(crate) sources: BTreeMap<String, SourceMark>,
    pub(crate) next_arrival: u64,
}

impl Replayed {
    pub(crate) fn begin(manifest: &Manifest) -> Replayed {
        Replayed {
            tail: Tail::default(),
            sources: manifest.sources.clone(),
            next_arrival: manifest.next_arrival,
        }
    }

    /// Takes a batch in.
    pub(crate) fn take(&mut self, batch: &StoredBatch<'_>, block_bytes: usize) {
        for run in batch.runs(block_bytes) {
            self.tail.push(run, block_bytes);
        }
        let behind = batch.frame.first_arrival + u64::from(batch.frame.events);
        if let Some(source) = batch.source() {
            self.mark(source.name, SourceMark { position: source.position, next_arrival: behind });
        }
        self.next_arrival = self.next_arrival.max(behind);
    }

    /// Notes where a source stood, unless a later batch is known.
    pub(crate) fn mark(&mut self, name: &str, position: SourceMark) {
        mark(&mut self.sources, name, position);
    }
}

/// Notes where a source stood, unless a later batch is known.
pub(crate) fn mark(sources: &mut BTreeMap<String, SourceMark>, name: &str, mark: SourceMark) {
    if sources.get(name).is_none_or(|known| known.next_arrival <= mark.next_arrival) {
        sources.insert(name.to_owned(), mark);
    }
}

/// A store that was opened for writing.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) manifest: Manifest,
    /// Keeps what the manifest names for snapshots.
    pub(crate) generation: Arc<dyn Lock>,
    pub(crate) log: Option<LogWriter>,
    pub(crate) replayed: Replayed,
    /// What damaged logs still hold.
    pub(crate) salvaged: Vec<Arc<Run>>,
    /// Bytes of these logs.
    pub(crate) salvaged_bytes: u64,
    pub(crate) damage: Vec<Damage>,
}

/// The folder, for messages.
pub(crate) fn folder(directory: &dyn Directory) -> PathBuf {
    directory.path("").components().collect()
}

/// Makes this process the writer, until the lock is dropped.
pub(crate) fn lock_writer(directory: &dyn Directory) -> Result<Box<dyn Lock>, OpenError> {
    let lock = directory.lock(LOCK_NAME, LockKind::Exclusive).map_err(Failure::during(
        directory,
        LOCK_NAME,
        Operation::Lock,
    ))?;
    let Some(lock) = lock else {
        let writer = read_writer(directory).unwrap_or_else(|| "another process".to_owned());
        return Err(OpenError::Locked { folder: folder(directory), writer });
    };
    tell_writer(directory);
    Ok(lock)
}

/// The names in the folder.
pub(crate) fn list(directory: &dyn Directory) -> Result<Vec<String>, Failure> {
    directory.list().map_err(Failure::during(directory, "", Operation::List))
}

/// The number of the current manifest among these names.
fn current(names: &[String]) -> Option<u64> {
    let numbers = names.iter().filter_map(|name| match FileKind::parse(name) {
        Some((FileKind::Manifest, number)) => Some(number),
        _ => None,
    });
    numbers.max()
}

/// That there is no store here.
pub(crate) fn missing(directory: &dyn Directory) -> OpenError {
    OpenError::Missing { folder: folder(directory) }
}

/// The number of the current manifest.
pub(crate) fn find_manifest_number(directory: &dyn Directory) -> Result<Option<u64>, Failure> {
    Ok(current(&list(directory)?))
}

/// Reads the current manifest; `None` if the folder holds nothing of a store yet. `strict` refuses a folder with foreign files and no store.
pub(crate) fn find_manifest(directory: &dyn Directory, strict: bool) -> Result<Option<Manifest>, OpenError> {
    let names = list(directory)?;
    if let Some(number) = current(&names) {
        let file = directory.path(&FileKind::Manifest.name(number));
        return match Manifest::read(directory, number) {
            Ok(manifest) => Ok(Some(manifest)),
            Err(ManifestFault::Failure(failure)) => Err(failure.into()),
            Err(ManifestFault::Damaged | ManifestFault::Foreign) => Err(OpenError::ManifestDamaged { file }),
            Err(ManifestFault::Version(found)) => Err(OpenError::Version { file, found, known: VERSION }),
        };
    }
    if let Some(name) = names.iter().find(|name| FileKind::parse(name).is_some()) {
        return Err(OpenError::ManifestMissing { folder: folder(directory), name: name.clone() });
    }
    let own = |name: &str| name == LOCK_NAME || name == WRITER_NAME || is_unfinished(name);
    match names.into_iter().find(|name| strict && !own(name)) {
        Some(name) => Err(OpenError::NotAStore { folder: folder(directory), name }),
        None => Ok(None),
    }
}

/// A log's damage, in the words of its users.
pub(crate) fn log_damage(directory: &dyn Directory, number: u64, log: &LogReader) -> Vec<Damage> {
    let file = directory.path(&FileKind::Log.name(number));
    let damage = log.damage.iter().map(|damage| Damage {
        file: file.clone(),
        bytes: damage.bytes.clone(),
        keys: None,
        events: damage.events,
        found: damage.found,
    });
    damage.collect()
}

/// Opens a log; a missing one is damage, as a manifest names a log only once its file is durable.
pub(crate) fn open_log(
    directory: &dyn Directory,
    store: u128,
    number: u64,
) -> Result<Result<LogReader, Damage>, OpenError> {
    let file = directory.path(&FileKind::Log.name(number));
    match LogReader::open(directory, store, number) {
        Ok(LogReader { version: Some(found), .. }) => Err(OpenError::Version { file, found, known: VERSION }),
        Ok(log) => Ok(Ok(log)),
        Err(failure) if failure.source.kind() == io::ErrorKind::NotFound => {
            Ok(Err(Damage { file, bytes: 0..0, keys: None, events: None, found: "the file is missing" }))
        }
        Err(failure) => Err(failure.into()),
    }
}

/// The number for the next log or segment. Those of files that a crash left unnamed are not used again, so that a reader cannot take
/// one file for another.
pub(crate) fn next_file(directory: &dyn Directory, manifest: &Manifest) -> Result<u64, Failure> {
    let used = list(directory)?
        .iter()
        .filter_map(|name| FileKind::parse(name))
        .fold(0, |used, (kind, number)| if kind == FileKind::Manifest { used } else { used.max(number) });
    Ok(manifest.next_file.max(used.saturating_add(1)))
}

/// An arrival number that none of the events has which were lost behind this one, however many they were: it stays theirs.
pub(crate) fn beyond_lost(next_arrival: u64) -> u64 {
    // More events than a log ever holds, and few enough for four million such losses.
    next_arrival.saturating_add(1 << 40).min(format::NUMBER_MAX - 1)
}

/// Opens a store for writing, creating it where there is none. The caller holds the writer's lock.
pub(crate) fn recover(directory: &dyn Directory, block_bytes: usize) -> Result<Recovered, OpenError> {
    let old = match find_manifest(directory, true)? {
        Some(manifest) => manifest,
        None => Manifest {
            store: random_identity(),
            number: 0,
            next_file: 1,
            next_arrival: 0,
            logs: Vec::new(),
            segments: Vec::new(),
            sources: BTreeMap::new(),
        },
    };
    let mut next_file = next_file(directory, &old)?;
    let mut replayed = Replayed::begin(&old);
    let (mut salvaged, mut salvaged_bytes, mut damage) = (Vec::new(), 0, Vec::new());
    let mut kept = Vec::new();
    let mut least_arrival = 0;
    let mut copy: Option<LogCopy> = None;
    for &number in &old.logs {
        let mut reader = match open_log(directory, old.store, number)? {
            Ok(reader) => reader,
            Err(missing) => {
                damage.push(missing);
                kept.push(number);
                replayed.next_arrival = beyond_lost(replayed.next_arrival);
                continue;
            }
        };
        let mut intact = LogReader::open(directory, old.store, number)?;
        (reader.least_arrival, intact.least_arrival) = (least_arrival, least_arrival);
        let before = std::mem::take(&mut replayed.tail);
        reader.read(directory, |batch| replayed.take(batch, block_bytes))?;
        let tail = std::mem::replace(&mut replayed.tail, before);
        least_arrival = reader.least_arrival;
        if !reader.damage.is_empty() {
            salvaged.extend(tail.runs);
            salvaged_bytes += reader.offset;
            if reader.damage.iter().any(|part| part.events.is_none()) {
                replayed.next_arrival = beyond_lost(replayed.next_arrival);
            }
            // It stays as evidence, and for whoever repairs it.
            damage.extend(log_damage(directory, number, &reader));
            kept.push(number);
            continue;
        }
        replayed.tail.extend(tail);
        if let Some(rest) = reader.rest(directory)? {
            // Perhaps it never was acknowledged; perhaps it was, and is damaged. Nobody can tell, so it is kept.
            let name = FileKind::Log.name(number);
            let kept = format!("{name}.{}-{}", rest.start, rest.end);
            quarantine::keep(directory, &name, rest, &kept)?;
        }
        let mut failed = Ok(());
        intact.read(directory, |batch| {
            if failed.is_ok() {
                failed = copy_batch(directory, old.store, &mut next_file, &mut copy, batch);
            }
        })?;
        failed?;
    }
    let log = copy.map(|copy| copy.finish(directory)).transpose()?;
    let manifest = Manifest {
        number: old.number + 1,
        next_file,
        logs: kept.into_iter().chain(log.as_ref().map(|log| log.number)).collect(),
        ..old
    };
    let generation = manifest.publish(directory)?;
    sweep(directory, &manifest, |_| false);
    Ok(Recovered { manifest, generation, log, replayed, salvaged, salvaged_bytes, damage })
}

fn copy_batch(
    directory: &dyn Directory,
    store: u128,
    next_file: &mut u64,
    copy: &mut Option<LogCopy>,
    batch: &StoredBatch<'_>,
) -> Result<(), Failure> {
    let log = match copy {
        Some(log) => log,
        None => {
            *next_file += 1;
            copy.insert(LogCopy::begin(directory, store, *next_file - 1)?)
        }
    };
    log.push(directory, batch)
}

/// Removes older manifests that no reader holds, and the store's files that no remaining manifest names and that are not in the making. What
/// cannot be removed now is removed another time.
pub(crate) fn sweep(directory: &dyn Directory, manifest: &Manifest, in_the_making: impl Fn(&str) -> bool) {
    let Ok(names) = directory.list() else { return };
    let mut live: BTreeSet<String> = manifest.names().collect();
    for name in &names {
        let Some((FileKind::Manifest, number)) = FileKind::parse(name) else { continue };
        if number == manifest.number {
            continue;
        }
        match directory.lock(name, LockKind::Exclusive) {
            Ok(Some(_lock)) => {
                let _ = directory.remove(name);
            }
            Ok(None) | Err(_) => match Manifest::read(directory, number) {
                Ok(held) => live.extend(held.names()),
                // Nobody knows what it names.
                Err(_) => return,
            },
        }
    }
    for name in &names {
        let orphan = match FileKind::parse(name) {
            Some((FileKind::Manifest, _)) => false,
            Some((kind, _)) => !live.contains(name) && !is_foreign(directory, name, kind, manifest.store),
            None => is_unfinished(name),
        };
        if orphan && !in_the_making(name) {
            let _ = directory.remove(name);
        }
    }
}

/// Whether a file says that it belongs to another store.
fn is_foreign(directory: &dyn Directory, name: &str, kind: FileKind, store: u128) -> bool {
    let Ok(file) = directory.open(name) else { return true };
    let mut bytes = [0; HEADER_BYTES];
    match read_full_at(&*file, 0, &mut bytes) {
        Ok(HEADER_BYTES) => Header::decode(kind, &bytes).is_ok_and(|header| header.store != store),
        Ok(_) => false,
        Err(_) => true,
    }
}

/// A number that no other store has.
fn random_identity() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let half = || u128::from(RandomState::new().hash_one(std::process::id()));
    (half() << 64) | half()
}

/// Who holds the lock, as far as the advisory file tells.
fn read_writer(directory: &dyn Directory) -> Option<String> {
    let file = directory.open(WRITER_NAME).ok()?;
    let mut bytes = [0; 200];
    let read = read_full_at(&*file, 0, &mut bytes).ok()?;
    let text = std::str::from_utf8(bytes.get(..read)?).ok()?.trim();
    let plain = !text.is_empty() && !text.contains(char::is_control);
    plain.then(|| text.to_owned())
}

/// Says who the writer is. Nothing depends on it, so it may fail.
fn tell_writer(directory: &dyn Directory) {
    let text = format!("process {} on host {}\n", std::process::id(), host());
    if let Ok(file) = directory.create(WRITER_NAME) {
        let _ = write_all_at(&*file, 0, text.as_bytes());
    }
}

#[cfg(target_os = "linux")]
fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "unknown".into(), |name| name.trim().into())
}

#[cfg(not(target_os = "linux"))]
fn host() -> String {
    let name = std::env::var("COMPUTERNAME").or_else(|_| std::env::var("HOSTNAME"));
    name.unwrap_or_else(|_| "unknown".into())
}

const _: () = assert!(format::VERSION == 1, "older versions have to be read as well");
