//! Opening: from whatever a crash left behind to the same events each time.
//!
//! What is read here may lie in the operating system's cache only, left by a writer whose flush failed. So the logs are copied into
//! a new one, which is flushed, and a new manifest is written, before anything is shown; only then is the old removed. A crash on the way
//! leaves the old manifest with all that it names, and the next opening does the same again. A log of which the manifest knows that it
//! was durable to its end is not copied: it was closed.

use std::fmt;
use std::fs::Permissions;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::adopt;
use crate::error::{Damage, Failure, OpenError, Operation};
use crate::format::{self, FileKind, LOCK_NAME, VERSION, WRITER_NAME, parse_unfinished};
use crate::inventory::{self, find_manifest, folder, list, next_manifest};
use crate::io::{Directory, Lock, LockKind, read_full_at, write_all_at};
use crate::log::{LogCopy, LogReader, LogWriter, StoredBatch};
use crate::manifest::{LogEntry, Manifest, SourceMark, Sources, mark};
use crate::memtable::Memtable;
use crate::options::Options;
use crate::quarantine;
use crate::retire;
use crate::run::Run;

/// What the logs of a manifest hold.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    pub(crate) memtable: Memtable,
    pub(crate) sources: Sources,
    /// As in the manifest, or while there are files of events that it does not name.
    pub(crate) sources_lost_before: u64,
    pub(crate) next_arrival: u64,
}

impl Replayed {
    pub(crate) fn begin(manifest: &Manifest) -> Replayed {
        Replayed {
            memtable: Memtable::default(),
            sources: manifest.sources.clone(),
            sources_lost_before: manifest.sources_lost_before,
            next_arrival: manifest.next_arrival,
        }
    }

    /// Takes a batch in.
    pub(crate) fn take(&mut self, batch: &StoredBatch<'_>, block_bytes: usize) {
        for run in batch.runs(block_bytes) {
            self.memtable.push(run, block_bytes);
        }
        let behind = batch.frame.first_arrival + u64::from(batch.frame.events);
        if let Some((name, position)) = batch.source_mark() {
            self.mark(name, position);
        }
        self.next_arrival = self.next_arrival.max(behind);
    }

    /// Notes where a source stood, unless a later batch is known.
    pub(crate) fn mark(&mut self, name: &str, position: SourceMark) {
        mark(&mut self.sources, name, position);
    }
}

/// What followed the last batch of a log that counts, when the store was opened: a batch that was being written when the process or the
/// system ended, or more that was never known to be durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The log.
    pub file: PathBuf,
    /// The bytes of it.
    pub bytes: Range<u64>,
    /// How many events the whole batches among these bytes hold.
    pub events: u64,
    /// Where the bytes are kept.
    pub kept: PathBuf,
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.bytes;
        write!(f, "{} ended with bytes {start} to {end}, which do not count: ", self.file.display())?;
        match self.events {
            0 => f.write_str(
                "a batch that was being written, or the last one, if it is damaged: nobody can tell",
            )?,
            1 => f.write_str("they hold 1 event behind a gap, and nothing says that it was durable")?,
            events => {
                write!(f, "they hold {events} events behind a gap, and nothing says that they were durable")?;
            }
        }
        write!(f, "; they are kept in {}", self.kept.display())
    }
}

/// A store that was opened for writing.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) manifest: Manifest,
    /// Keeps what the manifest names for snapshots.
    pub(crate) generation: Arc<dyn Lock>,
    pub(crate) log: Option<LogWriter>,
    /// Logs that were closed: they stay as they are until they are sealed.
    pub(crate) ended: Vec<LogEntry>,
    pub(crate) replayed: Replayed,
    /// What damaged logs still hold.
    pub(crate) salvaged: Vec<Arc<Run>>,
    /// Bytes of these logs.
    pub(crate) salvaged_bytes: u64,
    pub(crate) damage: Vec<Damage>,
    pub(crate) leftovers: Vec<Leftover>,
}

/// The permissions that the store's files have: those of the manifest, or else the strictest of any of them.
fn permissions(directory: &dyn Directory, manifest: Option<&Manifest>) -> Option<Permissions> {
    let of = |name: &str| directory.open(name).and_then(|file| file.permissions()).ok().flatten();
    manifest.and_then(|manifest| of(&manifest.name())).or_else(|| {
        let names = directory.list().unwrap_or_default();
        let own = names.iter().filter(|name| FileKind::parse(name).is_some());
        own.filter_map(|name| of(name)).min_by_key(openness)
    })
}

/// The greater, the more others may do with a file.
fn openness(permissions: &Permissions) -> u32 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        permissions.mode() & 0o777
    }
    #[cfg(not(unix))]
    {
        u32::from(!permissions.readonly())
    }
}

/// How often the writer's lock is asked for, and how long it waits between.
const LOCK_ATTEMPTS: usize = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Makes this process the writer of a store with this manifest, if it has one, until the lock is dropped. Files that are created from then on get
/// the permissions of the manifest, so that what was private stays so.
pub(crate) fn lock_writer(
    directory: &dyn Directory,
    manifest: Option<&Manifest>,
) -> Result<Arc<dyn Lock>, OpenError> {
    directory.create_with(permissions(directory, manifest));
    let fail = || Failure::during(directory, LOCK_NAME, Operation::Lock);
    match directory.create(LOCK_NAME) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(fail()(error).into()),
        _ => {}
    }
    // A process that is being started by the last writer holds the lock as well for a moment, until it runs a program of its own.
    let mut lock = None;
    for attempt in 0..LOCK_ATTEMPTS {
        lock = directory.lock(LOCK_NAME, LockKind::Exclusive).map_err(fail())?;
        if lock.is_some() {
            break;
        }
        if attempt + 1 < LOCK_ATTEMPTS {
            std::thread::sleep(LOCK_PAUSE);
        }
    }
    let Some(lock) = lock else {
        let writer = read_writer(directory).unwrap_or_else(|| "another process".to_owned());
        return Err(OpenError::Locked { folder: folder(directory), writer });
    };
    tell_writer(directory);
    Ok(Arc::from(lock))
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
    entry: &LogEntry,
) -> Result<Result<LogReader, Damage>, OpenError> {
    let file = directory.path(&FileKind::Log.name(entry.number));
    let found = match LogReader::open(directory, store, entry) {
        Ok(LogReader { newer: Some(found), .. }) => {
            return Err(OpenError::Version { file, found, known: VERSION });
        }
        Ok(log) => return Ok(Ok(log)),
        Err(failure) => match failure.source.kind() {
            io::ErrorKind::NotFound => "the file is missing",
            io::ErrorKind::InvalidInput => "it is not a regular file",
            _ => return Err(failure.into()),
        },
    };
    Ok(Err(Damage { file, bytes: 0..0, keys: None, events: None, found }))
}

/// The number for the next log or segment. Those of files that a crash left unnamed are not used again, so that a reader cannot take
/// one file for another.
pub(crate) fn next_file(directory: &dyn Directory, manifest: &Manifest) -> Result<u64, Failure> {
    let names = list(directory)?;
    let numbers = names.iter().filter_map(|name| FileKind::parse(name).or_else(|| parse_unfinished(name)));
    let used =
        numbers.filter(|(kind, _)| *kind != FileKind::Manifest).map(|(_, number)| number).max().unwrap_or(0);
    Ok(manifest.next_file.max(used.saturating_add(1)))
}

/// An arrival number that none of the events has which were lost behind this one, however many they were: it stays theirs.
pub(crate) fn beyond_lost(next_arrival: u64) -> u64 {
    // More events than a log ever holds, and few enough for four million such losses.
    next_arrival.saturating_add(1 << 40).min(format::NUMBER_MAX - 1)
}

/// Opens a store for writing, creating it where there is none. The caller holds the writer's lock.
pub(crate) fn recover(directory: &Arc<dyn Directory>, options: &Options) -> Result<Recovered, OpenError> {
    let old = find_manifest(&**directory, true)?.unwrap_or_else(|| Manifest::empty(random_identity()));
    let names = list(&**directory)?;
    retire::finish_names(&**directory, &names, &old)?;
    let mut replay = Replay::of(&**directory, &old, options.block_bytes)?;
    replay.read_logs()?;
    let mut log = replay.copy_logs()?;
    // After the copy, which takes more room: what fails first leaves nothing behind.
    replay.keep_rests().inspect_err(|_| {
        if let Some(log) = &log {
            log.remove_unfinished(&**directory);
        }
    })?;
    let Replay { mut replayed, next_file, kept, ended, salvaged, salvaged_bytes, damage, leftovers, .. } =
        replay;
    // Numbers of events that only a later manifest named stay theirs.
    let stale = adopt::beyond_unnamed(directory, &old, options, &mut replayed)?;
    let mut manifest = Manifest {
        number: next_manifest(&names, old.number),
        next_file,
        next_arrival: if stale { replayed.next_arrival } else { old.next_arrival },
        logs: kept
            .into_iter()
            .chain(ended.iter().copied())
            .chain(log.as_ref().map(LogWriter::entry))
            .collect(),
        ..old.clone()
    };
    manifest.replaces(&old, &**directory)?;
    let generation = publish(&**directory, &manifest, log.as_mut()).inspect_err(|failure| {
        // Unless nobody knows whether the manifest names it.
        if let Some(log) = log.as_ref().filter(|_| !failure.is_final()) {
            log.remove_unfinished(&**directory);
        }
    })?;
    // Only now: a writer that has lost its lock cannot publish any more, and name one of them.
    retire::sweep_unfinished(&**directory, &names, &manifest);
    // What is to go may hold what a file that is missing held.
    if inventory::has_all_files(&**directory, &manifest) {
        retire::sweep(&**directory, &manifest);
    }
    Ok(Recovered { manifest, generation, log, ended, replayed, salvaged, salvaged_bytes, damage, leftovers })
}

/// Publishes the manifest, and gives the log that it names its final name.
fn publish(
    directory: &dyn Directory,
    manifest: &Manifest,
    log: Option<&mut LogWriter>,
) -> Result<Arc<dyn Lock>, Failure> {
    let generation = manifest.publish(directory)?;
    if let Some(log) = log
        && log.rename(directory)?
    {
        directory.flush().map_err(Failure::during(directory, "", Operation::FlushFolder))?;
    }
    Ok(generation)
}

/// So many closed logs stay as they are; more are copied into one.
const ENDED_LOGS_MAX: usize = 8;

/// The logs of a manifest on their way into memory.
struct Replay<'a> {
    directory: &'a dyn Directory,
    old: &'a Manifest,
    block_bytes: usize,
    next_file: u64,
    replayed: Replayed,
    /// Damaged logs: they stay as evidence, and for whoever repairs them.
    kept: Vec<LogEntry>,
    /// Those that were closed, and are whole.
    ended: Vec<LogEntry>,
    /// Those that are whole, to be copied.
    whole: Vec<(LogEntry, u64)>,
    /// The same, read up to their last batch.
    rests: Vec<(u64, LogReader)>,
    salvaged: Vec<Arc<Run>>,
    salvaged_bytes: u64,
    damage: Vec<Damage>,
    leftovers: Vec<Leftover>,
}

impl<'a> Replay<'a> {
    fn of(
        directory: &'a dyn Directory,
        old: &'a Manifest,
        block_bytes: usize,
    ) -> Result<Replay<'a>, Failure> {
        Ok(Replay {
            directory,
            old,
            block_bytes,
            next_file: next_file(directory, old)?,
            replayed: Replayed::begin(old),
            kept: Vec::new(),
            ended: Vec::new(),
            whole: Vec::new(),
            rests: Vec::new(),
            salvaged: Vec::new(),
            salvaged_bytes: 0,
            damage: Vec::new(),
            leftovers: Vec::new(),
        })
    }

    /// Reads the logs.
    fn read_logs(&mut self) -> Result<(), OpenError> {
        let mut least_arrival = 0;
        let many = self.old.logs.len() > ENDED_LOGS_MAX;
        for entry in &self.old.logs {
            let mut reader = match open_log(self.directory, self.old.store, entry)? {
                Ok(reader) => reader,
                Err(missing) => {
                    self.damage.push(missing);
                    self.kept.push(*entry);
                    self.replayed.next_arrival = beyond_lost(self.replayed.next_arrival);
                    continue;
                }
            };
            reader.least_arrival = least_arrival;
            let before = std::mem::take(&mut self.replayed.memtable);
            let (replayed, block_bytes) = (&mut self.replayed, self.block_bytes);
            reader.read(self.directory, |batch| replayed.take(batch, block_bytes))?;
            let memtable = std::mem::replace(&mut self.replayed.memtable, before);
            let from = std::mem::replace(&mut least_arrival, reader.least_arrival);
            if !reader.damage.is_empty() {
                self.salvaged.extend(memtable.runs);
                self.salvaged_bytes += reader.offset;
                if reader.damage.iter().any(|part| part.events.is_none()) {
                    self.replayed.next_arrival = beyond_lost(self.replayed.next_arrival);
                }
                self.damage.extend(log_damage(self.directory, entry.number, &reader));
                self.kept.push(*entry);
                continue;
            }
            self.replayed.memtable.extend(memtable);
            // Logs are in the order of their age, and stay so.
            if entry.ended && self.whole.is_empty() && !many {
                self.ended.push(*entry);
                continue;
            }
            self.whole.push((*entry, from));
            self.rests.push((entry.number, reader));
        }
        Ok(())
    }

    /// Keeps what follows the last batch. Perhaps it never was acknowledged; perhaps it was, and is damaged: nobody can tell.
    fn keep_rests(&mut self) -> Result<(), Failure> {
        for (number, reader) in std::mem::take(&mut self.rests) {
            self.keep_rest(reader, number)?;
        }
        Ok(())
    }

    fn keep_rest(&mut self, mut reader: LogReader, number: u64) -> Result<(), Failure> {
        let Some(rest) = reader.rest(self.directory)? else { return Ok(()) };
        let name = FileKind::Log.name(number);
        let kept_name = format!("{name}.{}-{}", rest.bytes.start, rest.bytes.end);
        let kept = quarantine::keep_bytes(self.directory, &name, rest.bytes.clone(), &kept_name)?;
        let file = self.directory.path(&name);
        self.leftovers.push(Leftover { file, bytes: rest.bytes, events: rest.events, kept: kept.path });
        Ok(())
    }

    /// Copies the batches of all whole logs into a new one, durable under its unfinished name.
    fn copy_logs(&mut self) -> Result<Option<LogWriter>, Failure> {
        let mut copy: Option<LogCopy> = None;
        for (entry, least_arrival) in &self.whole {
            let mut reader = LogReader::open(self.directory, self.old.store, entry)?;
            reader.least_arrival = *least_arrival;
            let mut copied = Ok(());
            let read = reader.read(self.directory, |batch| {
                if copied.is_ok() {
                    copied =
                        copy_batch(self.directory, self.old.store, &mut self.next_file, &mut copy, batch);
                }
            });
            if let Err(failure) = read.and(copied) {
                if let Some(copy) = &copy {
                    copy.remove(self.directory);
                }
                return Err(failure);
            }
        }
        copy.map(|copy| copy.finish(self.directory)).transpose()
    }
}

fn copy_batch(
    directory: &dyn Directory,
    store: u128,
    next_file: &mut u64,
    copy: &mut Option<LogCopy>,
    batch: &StoredBatch<'_>,
) -> Result<(), Failure> {
    if batch.frame.events == 0 && batch.source().is_none() {
        // It bore witness to the old log.
        return Ok(());
    }
    let log = match copy {
        Some(log) => log,
        None => {
            *next_file += 1;
            copy.insert(LogCopy::begin(directory, store, *next_file - 1)?)
        }
    };
    log.push(directory, batch)
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
    // Whatever has this name goes, a link without what it points to.
    let _ = directory.remove(WRITER_NAME);
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
