//! Opening: from whatever a crash left behind to the same events each time.
//!
//! What is read here may lie in the operating system's cache only, left by a writer whose flush failed. So the logs are copied into
//! a new one, which is flushed, and a new manifest is written, before anything is shown; only then is the old removed. A crash on the way
//! leaves the old manifest with all that it names, and the next opening does the same again. A log of which the manifest knows that it
//! was durable to its end is not copied: it was closed.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::adopt;
use crate::codec::Codec;
use crate::error::{Damage, Failure, OpenError, Operation};
use crate::format::FileKind;
use crate::inventory::{self, find_manifest, list, next_file, next_manifest};
use crate::io::{Directory, Lock};
use crate::log::{LogCopy, LogReader, LogWriter, StoredBatch};
use crate::manifest::{LogEntry, Manifest};
use crate::options::Options;
use crate::quarantine;
use crate::replay::{Replayed, beyond_lost, log_damage, open_log};
use crate::retire;
use crate::run::Run;

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

/// Opens a store for writing, creating it where there is none. The caller holds the writer's lock.
pub(crate) fn recover(
    directory: &Arc<dyn Directory>,
    options: &Options,
    codec: &Arc<dyn Codec>,
) -> Result<Recovered, OpenError> {
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
    let stale = adopt::beyond_unnamed(directory, &old, options, codec, &mut replayed)?;
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
    if let Some(log) = &mut log {
        manifest.traffic.logs = manifest.traffic.logs.saturating_add(log.take_uncounted());
    }
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
pub(crate) const ENDED_LOGS_MAX: usize = 8;

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
pub(crate) fn random_identity() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let half = || u128::from(RandomState::new().hash_one(std::process::id()));
    (half() << 64) | half()
}
