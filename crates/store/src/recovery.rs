//! Opening: from whatever a crash left behind to the same events each time.
//!
//! What is read here may lie in the operating system's cache only, left by a writer whose flush failed. So the logs are copied into
//! a new one, which is flushed, and a new manifest is written, before anything is shown; only then is the old removed. A crash on the way
//! leaves the old manifest with all that it names, and the next opening does the same again. Two kinds of logs are not copied
//! but continued by the next writer, so that a program that is started again and again writes little but what it appends:
//!
//! - A log that was closed. It was durable before its writer said so, by its last batch.
//! - The log of a killed process, while the system keeps running. Each batch says up to where the log was flushed before it. The batches behind that, usually one, are written again in their
//!   places and flushed.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::adopt;
use crate::codec::Codec;
use crate::error::{Damage, Failure, OpenError, Operation};
use crate::format::{FRAME_BYTES, FileKind, RECEIPTS_NAME, VERSION, parse_unfinished};
use crate::history::Untold;
use crate::inventory::{find_manifest, list, next_file, next_manifest};
use crate::io::{Directory, Lock, LockKind};
use crate::log::{Ending, LogCopies, LogReader, LogWriter, NewLogs};
use crate::manifest::{LogEntry, Manifest};
use crate::options::Options;
use crate::quarantine;
use crate::receipt::Receipts;
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
    // Before anything is written: a log that was taken over is not to be left for that.
    let receipts = Receipts::of(&**directory, old.store)?;
    retire::finish_names(&**directory, &names, &old)?;
    let mut replay = Replay::of(&**directory, &old, options.block_bytes)?;
    replay.read_logs()?;
    let mut copies = replay.copy_logs()?;
    let resumed = if copies.logs.is_empty() { replay.resume_log() } else { None };
    replay.end_durable();
    // After the copy, which takes more room: what fails first leaves nothing behind.
    replay.keep_rests()?;
    let Replay {
        mut replayed,
        next_file,
        kept,
        mut ended,
        untold,
        salvaged,
        salvaged_bytes,
        damage,
        leftovers,
        ..
    } = replay;
    // The last one goes on.
    let older = copies.logs.split_last().map_or(&[][..], |(_, older)| older);
    ended.extend(older.iter().map(|log| LogEntry { ended: true, ..log.entry() }));
    // Numbers of events that only a later manifest named stay theirs, and so do those that a receipt says were erased.
    let mut stale = adopt::beyond_unnamed(directory, &old, options, codec, &mut replayed)?;
    let before = replayed.next_arrival;
    let beyond = beyond_receipts(&receipts, &old, &mut replayed);
    stale |= replayed.next_arrival > before;
    let mut manifest = Manifest {
        number: next_manifest(&names, old.number),
        next_file,
        next_arrival: if stale { replayed.next_arrival } else { old.next_arrival },
        beyond,
        logs: kept
            .into_iter()
            .chain(ended.iter().copied())
            .chain(copies.logs.last().map(LogWriter::entry))
            .chain(resumed.iter().map(|resumed| resumed.log.entry()))
            .collect(),
        ..old.clone()
    };
    manifest.traffic.count(untold);
    let is_of_old = resumed.as_ref().is_some_and(|resumed| resumed.is_of_old);
    let kept = match is_of_old && is_as_left(&old, &manifest, &names) {
        true => keep_manifest(&**directory, &old)?,
        false => None,
    };
    let has_written = !copies.logs.is_empty() || resumed.as_ref().is_some_and(|log| log.written_again > 0);
    let resumed = resumed.map(|log| log.log);
    let (generation, mut log) = match kept {
        Some(generation) => {
            // Its file still tells of the logs what it did.
            manifest = Manifest { number: old.number, logs: old.logs.clone(), ..manifest };
            (generation, resumed)
        }
        None => {
            for log in &mut copies.logs {
                manifest.traffic.count(log.take_uncounted());
            }
            manifest.replaces(&old, &**directory)?;
            let (generation, mut logs) = publish(&**directory, &manifest, copies)?;
            // Only now: a writer that has lost its lock cannot publish any more, and name one of them.
            retire::sweep_unfinished(&**directory, &names, &manifest);
            (generation, logs.pop().or(resumed))
        }
    };
    retire::sweep(&**directory, &manifest);
    // If this process is killed before it appends anything, the next one need not copy or write the same again. Without room for the witness it does.
    if let Some(log) = log.as_mut().filter(|_| has_written)
        && let Err(failure) = log.write_witness(&**directory, manifest.number, replayed.next_arrival)
        && failure.is_final()
    {
        return Err(failure.into());
    }
    Ok(Recovered { manifest, generation, log, ended, replayed, salvaged, salvaged_bytes, damage, leftovers })
}

/// Moves the next arrival number beyond those that receipts know of, once for each one that cannot be read: when it can be read again, `repair` takes for erased what has a number in it. Gives the
/// names of these.
fn beyond_receipts(receipts: &Receipts, old: &Manifest, replayed: &mut Replayed) -> BTreeSet<String> {
    let reach = receipts.reach().map_or(0, |(below, _)| below);
    replayed.next_arrival = replayed.next_arrival.max(reach);
    let names = receipts.unread().filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()));
    let mut unread: BTreeSet<String> = names.collect();
    if !unread.is_subset(&old.beyond) {
        replayed.next_arrival = beyond_lost(replayed.next_arrival);
    }
    // Of the folder it is not remembered: nobody knows which receipts it has another time.
    unread.remove(RECEIPTS_NAME);
    unread
}

/// Whether a manifest would say the same as the present one, but for how long the logs are, and nothing is left of another process. If the log was left while that one counted, and so was
/// durable, none is published, and a program that is started again and again writes what it appends.
fn is_as_left(old: &Manifest, new: &Manifest, names: &[String]) -> bool {
    let unfinished = || names.iter().any(|name| parse_unfinished(name).is_some());
    let logs = |manifest: &Manifest| {
        manifest.logs.iter().map(|log| (log.number, log.version, log.ended)).collect::<Vec<_>>()
    };
    let same = logs(new) == logs(old) && new.next_arrival == old.next_arrival;
    // Whoever changes a backup, or a store of an earlier version, makes another one of it.
    let own = old.version == VERSION && old.backup.is_none();
    same && own && new.number == old.number + 1 && !unfinished()
}

/// Keeps what the present manifest names, as publishing one does; `None` where another one has to be published to see why that cannot be. In a folder that was copied nothing may have been
/// flushed yet.
fn keep_manifest(directory: &dyn Directory, manifest: &Manifest) -> Result<Option<Arc<dyn Lock>>, Failure> {
    let name = manifest.name();
    // Whoever could not seal later is told now.
    let probe = FileKind::Manifest.unfinished_name(manifest.number + 1);
    if directory.create(&probe).and_then(|_| directory.remove(&probe)).is_err() {
        return Ok(None);
    }
    let Ok(Some(lock)) = directory.lock(&name, LockKind::Shared) else { return Ok(None) };
    let Ok(file) = directory.open(&name) else { return Ok(None) };
    file.flush().map_err(Failure::during(directory, &name, Operation::Flush))?;
    directory.flush().map_err(Failure::during(directory, "", Operation::FlushFolder))?;
    Ok(Some(Arc::from(lock)))
}

/// Publishes the manifest, and gives the new logs that it names their final names.
fn publish(
    directory: &dyn Directory,
    manifest: &Manifest,
    logs: NewLogs<'_>,
) -> Result<(Arc<dyn Lock>, Vec<LogWriter>), Failure> {
    let (generation, mut logs) = logs.named(manifest.publish(directory))?;
    for log in &mut logs {
        log.rename(directory)?;
    }
    if !logs.is_empty() {
        directory.flush().map_err(Failure::during(directory, "", Operation::FlushFolder))?;
    }
    Ok((generation, logs))
}

/// So many closed logs stay as they are; more are copied into one.
pub(crate) const ENDED_LOGS_MAX: usize = 8;

/// A log that was opened, or why it cannot be.
struct LockedLog {
    /// If nobody else can go on with it now.
    lock: Option<Arc<dyn Lock>>,
    log: Result<LogReader, Damage>,
}

/// A log that is durable as it is: it was closed, or what was in doubt was written again.
struct DurableLog {
    entry: LogEntry,
    ending: Ending,
    /// How many bytes of it were written again.
    written_again: u64,
    lock: Option<Arc<dyn Lock>>,
}

/// A log that this process continues.
struct ResumedLog {
    log: LogWriter,
    /// It was left while the present manifest counted, which was durable then.
    is_of_old: bool,
    written_again: u64,
}

/// The logs of a manifest on their way into memory.
struct Replay<'a> {
    directory: &'a dyn Directory,
    old: &'a Manifest,
    block_bytes: usize,
    next_file: u64,
    replayed: Replayed,
    /// Damaged logs: they stay as evidence, and for whoever repairs them.
    kept: Vec<LogEntry>,
    /// Those that were closed, as the manifest says, and are whole.
    ended: Vec<LogEntry>,
    /// Those that need not be copied.
    durable: Vec<DurableLog>,
    /// What came since the manifest was written.
    untold: Untold,
    /// Those that are whole, to be copied, and read up to their last batch.
    whole: Vec<(LogEntry, LogReader)>,
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
            durable: Vec::new(),
            untold: Untold::default(),
            whole: Vec::new(),
            salvaged: Vec::new(),
            salvaged_bytes: 0,
            damage: Vec::new(),
            leftovers: Vec::new(),
        })
    }

    /// Reads the logs.
    fn read_logs(&mut self) -> Result<(), OpenError> {
        let many = self.old.logs.len() > ENDED_LOGS_MAX;
        for entry in &self.old.logs {
            let LockedLog { lock, log } = self.open_locked(entry)?;
            let mut reader = match log {
                Ok(reader) => reader,
                Err(missing) => {
                    self.damage.push(missing);
                    self.kept.push(*entry);
                    self.replayed.next_arrival = beyond_lost(self.replayed.next_arrival);
                    continue;
                }
            };
            let before = std::mem::take(&mut self.replayed.memtable);
            let (replayed, block_bytes) = (&mut self.replayed, self.block_bytes);
            reader.read(self.directory, |batch| replayed.take(batch, block_bytes))?;
            let memtable = std::mem::replace(&mut self.replayed.memtable, before);
            if !reader.damage.is_empty() {
                self.salvaged.extend(memtable.runs);
                self.salvaged_bytes += reader.offset;
                if reader.damage.iter().any(|part| part.events.is_none()) {
                    self.replayed.next_arrival = beyond_lost(self.replayed.next_arrival);
                }
                self.damage.extend(log_damage(self.directory, &reader));
                self.kept.push(*entry);
                continue;
            }
            self.replayed.memtable.extend(memtable);
            self.untold.add(reader.untold);
            // Logs are in the order of their age, and stay so.
            if entry.ended && self.whole.is_empty() && !many {
                self.ended.push(*entry);
                continue;
            }
            let may_stay = self.whole.is_empty() && !many;
            match if may_stay { self.make_durable(entry, &reader, lock)? } else { None } {
                Some(durable) => self.durable.push(durable),
                None => self.whole.push((*entry, reader)),
            }
        }
        Ok(())
    }

    /// Makes a log durable in place. None if it has to be copied: because its writer may live, because the system was restarted, or because writing to it fails.
    fn make_durable(
        &self,
        entry: &LogEntry,
        reader: &LogReader,
        lock: Option<Arc<dyn Lock>>,
    ) -> Result<Option<DurableLog>, Failure> {
        let Some(ending) = reader.ending(self.directory)? else { return Ok(None) };
        let written_again = if ending.closed_at.is_some() {
            Some(0)
        } else if lock.is_some() && ending.has_stamp(self.old.number, self.directory) {
            reader.secure(self.directory, entry, &ending).ok()
        } else {
            None
        };
        Ok(written_again.map(|written_again| DurableLog { entry: *entry, ending, written_again, lock }))
    }

    /// Opens a log, and keeps others from going on with it, where that can be; before it is read, as whoever has it may be appending.
    fn open_locked(&self, entry: &LogEntry) -> Result<LockedLog, OpenError> {
        let open = || open_log(self.directory, self.old.store, entry);
        if let Some(lock) = self.lock_log(entry)
            && let Ok(log) = open()
        {
            return Ok(LockedLog { lock: Some(lock), log });
        }
        // There are systems where a lock keeps others from reading, readers of this store as well.
        Ok(LockedLog { lock: None, log: open()? })
    }

    /// Keeps others from going on with a log. None where somebody else does, and where the file has other names, as in a copy of the folder made of such: what is
    /// written to it would be in the copy as well.
    fn lock_log(&self, entry: &LogEntry) -> Option<Arc<dyn Lock>> {
        let name = FileKind::Log.name(entry.number);
        let may_go_on = !entry.ended && entry.version == VERSION && !self.directory.has_other_names(&name);
        let lock = || self.directory.lock(&name, LockKind::Exclusive).ok().flatten().map(Arc::from);
        may_go_on.then(lock).flatten()
    }

    /// Continues the last log, unless another process does.
    fn resume_log(&mut self) -> Option<ResumedLog> {
        let DurableLog { ending, written_again, lock, .. } = self.durable.last()?;
        let (lock, written_again) = (Arc::clone(lock.as_ref()?), *written_again);
        let stamped = ending.has_stamp(self.old.number, self.directory).then_some(self.old.number);
        let mut log = LogWriter::resume(self.directory, ending, stamped, lock).ok()?;
        log.count_again(written_again);
        let is_of_old = ending.was_left_at(self.old.number, self.directory);
        self.durable.pop();
        Some(ResumedLog { log, is_of_old, written_again })
    }

    /// The others take no more batches.
    fn end_durable(&mut self) {
        for DurableLog { entry, ending, written_again, .. } in self.durable.drain(..) {
            // The batch with which it was closed may be in the cache only: it is left out.
            self.ended.push(LogEntry { length: ending.length, ended: true, ..entry });
            let closing = if ending.closed_at.is_some() { FRAME_BYTES as u64 } else { 0 };
            self.untold.bytes += written_again + closing;
        }
    }

    /// Keeps what follows the last batch. Perhaps it never was acknowledged; perhaps it was, and is damaged: nobody can tell.
    fn keep_rests(&mut self) -> Result<(), Failure> {
        for (entry, reader) in std::mem::take(&mut self.whole) {
            self.keep_rest(reader, entry.number)?;
        }
        Ok(())
    }

    fn keep_rest(&mut self, mut reader: LogReader, number: u64) -> Result<(), Failure> {
        let Some(rest) = reader.rest(self.directory)? else { return Ok(()) };
        let name = FileKind::Log.name(number);
        let kept = rest.kept_name(&name);
        let kept = quarantine::keep_bytes(self.directory, &name, rest.bytes.clone(), &kept)?;
        let file = self.directory.path(&name);
        self.leftovers.push(Leftover { file, bytes: rest.bytes, events: rest.events, kept: kept.path });
        Ok(())
    }

    /// Copies the batches of all whole logs into new ones, durable under their unfinished names.
    fn copy_logs(&mut self) -> Result<NewLogs<'a>, Failure> {
        let mut copies = LogCopies::new(self.directory);
        for (entry, reader) in &self.whole {
            let mut copied = Ok(());
            let read = reader.read_again(self.directory, entry, |batch| {
                if copied.is_ok() {
                    copied = copies.push(self.old.store, batch, || {
                        self.next_file += 1;
                        self.next_file - 1
                    });
                }
            });
            read.and(copied)?;
        }
        copies.finish()
    }
}

/// A number that no other store has.
pub(crate) fn random_identity() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let half = || u128::from(RandomState::new().hash_one(std::process::id()));
    (half() << 64) | half()
}
