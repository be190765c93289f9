//! Repair: what is damaged goes to quarantine, what is whole stays in the store, and nothing is removed before both are durable.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Summarize;
use crate::error::{Damage, Failure, OpenError, Operation};
use crate::format::{FileKind, Key};
use crate::io::{Directory, Disk};
use crate::log::{LogCopy, LogReader};
use crate::manifest::{Manifest, SegmentEntry};
use crate::options::{FlushStats, Options};
use crate::segment::{Environment, Numbers, Salvaged, Sealed, Segment, write_sorted};
use crate::{quarantine, recovery};

/// What a repair has found and done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The damaged files, segments first.
    pub files: Vec<RepairedFile>,
    /// How many events the store holds afterwards.
    pub events: u64,
}

/// A damaged file, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedFile {
    /// Where it was.
    pub file: PathBuf,
    /// Where its bytes are kept, all of them as they were found; `None` if the file was missing.
    pub quarantined: Option<PathBuf>,
    /// How many of its events stay in the store.
    pub kept: u64,
    /// Its damaged parts, with the events lost in each.
    pub damage: Vec<Damage>,
}

impl Repair {
    /// Repairs the store in this folder, which no process may be writing to; readers go on undisturbed. Each damaged file is copied whole
    /// into the folder `quarantine` in the store, and what is whole in it is written into a new file; then a manifest with the new
    /// files is published, and the damaged ones are removed from the store. Interrupted at any point it leaves the store as it was or
    /// repaired, and may be run again.
    ///
    /// With `dry_run` nothing is changed, and the result tells what would be. `progress` hears now and then how many bytes of how many
    /// were read. Takes room for the damaged files once more.
    ///
    /// # Errors
    /// As opening has them; a store without a readable manifest cannot be repaired.
    pub fn run(
        folder: &Path,
        options: &Options,
        summarize: &dyn Summarize,
        dry_run: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Repair, OpenError> {
        if !folder.is_dir() {
            return Err(OpenError::Missing { folder: folder.to_path_buf() });
        }
        Repair::run_on(Arc::new(Disk::new(folder)), options, summarize, dry_run, progress)
    }

    /// Repairs a store in any kind of folder.
    ///
    /// # Errors
    /// As [`run`](Repair::run).
    pub fn run_on(
        directory: Arc<dyn Directory>,
        options: &Options,
        summarize: &dyn Summarize,
        dry_run: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Repair, OpenError> {
        options.check()?;
        let find = || {
            let manifest = recovery::find_manifest(&*directory, false)?;
            manifest.ok_or_else(|| recovery::missing(&*directory))
        };
        find()?;
        let _lock = recovery::lock_writer(&*directory)?;
        let old = find()?;
        let numbers = Numbers::new(recovery::next_file(&*directory, &old)?);
        let mut work = Work {
            directory: &*directory,
            options,
            summarize,
            dry_run,
            store: old.store,
            numbers: &numbers,
            files: Vec::new(),
        };
        let (segments, sealed) = work.segments(&old, &directory, progress)?;
        let logs = work.logs(&old)?;
        let repair = Repair { files: work.files, events: sealed + logs.events };
        if dry_run || repair.files.is_empty() {
            return Ok(repair);
        }
        let manifest = Manifest {
            number: old.number + 1,
            next_file: numbers.next(),
            next_arrival: logs.next_arrival,
            logs: logs.live,
            segments,
            ..old
        };
        manifest.publish(&*directory)?;
        recovery::sweep(&*directory, &manifest, |_| false);
        Ok(repair)
    }
}

struct Work<'a> {
    directory: &'a dyn Directory,
    options: &'a Options,
    summarize: &'a dyn Summarize,
    dry_run: bool,
    store: u128,
    numbers: &'a Numbers,
    files: Vec<RepairedFile>,
}

/// The logs after the repair.
struct Logs {
    live: Vec<u64>,
    events: u64,
    next_arrival: u64,
}

impl Work<'_> {
    /// Copies a damaged file into quarantine.
    fn keep(&self, name: &str) -> Result<Option<PathBuf>, Failure> {
        let fail = |operation| Failure::during(self.directory, name, operation);
        if !self.directory.exists(name).map_err(fail(Operation::Open))? {
            return Ok(None);
        }
        if self.dry_run {
            return Ok(Some(quarantine::path(self.directory, name)));
        }
        let length =
            self.directory.open(name).and_then(|file| file.length()).map_err(fail(Operation::Read))?;
        quarantine::keep(self.directory, name, 0..length, name).map(Some)
    }

    /// The segments after the repair, and how many events they hold.
    fn segments(
        &mut self,
        old: &Manifest,
        directory: &Arc<dyn Directory>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(Vec<SegmentEntry>, u64), OpenError> {
        let environment = Arc::new(Environment::new(Arc::clone(directory), old.store, self.options));
        let total = old.segments.iter().map(|entry| entry.file_bytes).fold(0, u64::saturating_add);
        let (mut done, mut events) = (0u64, 0u64);
        let mut segments = Vec::new();
        for entry in &old.segments {
            let salvaged = Arc::new(Segment::new(*entry, Arc::clone(&environment))).salvage()?;
            let Salvaged { blocks, damage } = &salvaged;
            let kept = blocks.iter().map(|block| block.len() as u64).sum();
            events += kept;
            if damage.is_empty() {
                segments.push(*entry);
            } else {
                let name = FileKind::Segment.name(entry.number);
                let quarantined = self.keep(&name)?;
                let file = self.directory.path(&name);
                self.files.push(RepairedFile { file, quarantined, kept, damage: damage.clone() });
                if !self.dry_run {
                    segments.extend(self.rewrite(&salvaged)?);
                }
            }
            done = done.saturating_add(entry.file_bytes);
            progress(done, total);
        }
        Ok((segments, events))
    }

    /// Writes the whole blocks of a segment into a new one.
    fn rewrite(&mut self, salvaged: &Salvaged) -> Result<Vec<SegmentEntry>, OpenError> {
        let mut events: Vec<(Key, &[u8])> = Vec::new();
        for block in &salvaged.blocks {
            for index in 0..block.len() {
                // All was verified, so all is there.
                if let (Some(key), Ok(Some(document))) = (block.key(index), block.document(index)) {
                    events.push((key, document));
                }
            }
        }
        let to = Sealed {
            directory: self.directory,
            store: self.store,
            block_bytes: self.options.block_bytes,
            segment_bytes: self.options.segment_bytes,
            summarize: self.summarize,
            numbers: self.numbers,
        };
        let entries = write_sorted(&to, &events, &mut FlushStats::default())?.entries;
        self.directory.flush().map_err(Failure::during(self.directory, "", Operation::FlushFolder))?;
        Ok(entries)
    }

    /// If a log is damaged, copies what is whole in all of them into a new one.
    fn logs(&mut self, old: &Manifest) -> Result<Logs, OpenError> {
        let mut logs = Logs { live: old.logs.clone(), events: 0, next_arrival: old.next_arrival };
        let mut readers = Vec::new();
        let mut least_arrival = 0;
        let before = self.files.len();
        for &number in &old.logs {
            let name = FileKind::Log.name(number);
            let (damage, kept) = match recovery::open_log(self.directory, old.store, number)? {
                Err(missing) => (vec![missing], 0),
                Ok(mut log) => {
                    let mut kept = 0;
                    log.least_arrival = least_arrival;
                    log.read(self.directory, |batch| kept += u64::from(batch.frame.events))?;
                    least_arrival = log.least_arrival;
                    readers.push(number);
                    (recovery::log_damage(self.directory, number, &log), kept)
                }
            };
            logs.events += kept;
            if damage.is_empty() {
                continue;
            }
            if damage.iter().any(|part| part.events.is_none()) {
                logs.next_arrival = recovery::beyond_lost(logs.next_arrival.max(least_arrival));
            }
            let quarantined = self.keep(&name)?;
            let file = self.directory.path(&name);
            self.files.push(RepairedFile { file, quarantined, kept, damage });
        }
        if self.files.len() == before || self.dry_run {
            return Ok(logs);
        }
        let mut copy = LogCopy::begin(self.directory, old.store, self.numbers.take())?;
        let mut least_arrival = 0;
        for number in readers {
            let mut log = LogReader::open(self.directory, old.store, number)?;
            log.least_arrival = least_arrival;
            let mut copied = Ok(());
            log.read(self.directory, |batch| {
                if copied.is_ok() {
                    copied = copy.push(self.directory, batch);
                }
            })?;
            copied?;
            least_arrival = log.least_arrival;
        }
        logs.live = vec![copy.finish(self.directory)?.number];
        Ok(logs)
    }
}
