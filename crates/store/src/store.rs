//! The writer: appending, flushing, sealing.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::codec::Codec;
use crate::deletion::{Deleted, Erased};
use crate::error::{AppendError, Damage, DeleteError, Failure, OpenError, Operation, SealError};
use crate::event::Event;
use crate::format::Key;
use crate::hold::{self, Hold};
use crate::housekeeping::Housekeeping;
use crate::inventory::{Unnamed, UnnamedKind};
use crate::io::{Directory, Disk};
use crate::log::{EncodedBatch, LogWriter, SourcePosition};
use crate::manifest::Manifest;
use crate::options::{Durability, FlushStats, Options};
use crate::recovery::Leftover;
use crate::removal::{Removed, Retention};
use crate::scrub::{self, Scrub};
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::upkeep::Threads;
use crate::writer::{Inner, Pending, Writer, check_numbers};
use crate::{inventory, recovery, removal, run};

/// When sealing fails again and again, for lack of room say, appending goes on until the memtable has as many segments' worth of bytes.
const MEMTABLE_SEGMENTS_MAX: usize = 4;

/// A store opened for writing. A clone is another handle on the same one; the last handle closes it.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
    /// Dropped after `inner`, with the last handle.
    _threads: Arc<Threads>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("folder", &inventory::folder(&*self.inner.directory)).finish()
    }
}

impl Store {
    /// Opens a store for writing, and creates it, with its folder, where there is none. One process at a time can have it open like
    /// this. `codec` describes the blocks that are formed from now on, makes columns of them if the options say so, and reads those that are there.
    pub fn open(folder: &Path, options: Options, codec: Arc<dyn Codec>) -> Result<Store, OpenError> {
        let disk = Disk::create(folder).map_err(|error| Failure {
            path: folder.to_path_buf(),
            operation: Operation::CreateFolder,
            source: Arc::new(error),
        })?;
        Store::open_on(Arc::new(disk), options, codec)
    }

    /// Opens a store in any kind of folder.
    pub fn open_on(
        directory: Arc<dyn Directory>,
        options: Options,
        codec: Arc<dyn Codec>,
    ) -> Result<Store, OpenError> {
        options.check()?;
        let options = options.with(&*codec);
        // Before the lock file is made in what may be somebody else's folder.
        let manifest = inventory::find_manifest(&*directory, true)?;
        let hold = Hold::new(hold::lock_writer(&*directory, manifest.as_ref())?);
        let recovered = loop {
            match recovery::recover(&directory, &options, &codec) {
                Err(error) if error.is_full_medium() && removal::make_room(&*directory)? => {}
                recovered => break recovered?,
            }
        };
        let settings = options.settings;
        let inner = Arc::new(Inner::new(directory, options, codec, recovered, hold));
        if let Some(settings) = settings {
            inner.set_settings(settings)?;
        }
        let threads = Threads::start(&inner).map_err(|error| Failure {
            path: inventory::folder(&*inner.directory),
            operation: Operation::StartThread,
            source: Arc::new(error),
        })?;
        Ok(Store { inner, _threads: Arc::new(threads) })
    }

    /// Stores a batch, whole or not at all, and returns the arrival numbers of its events. With [`Durability::Sync`] they survive any
    /// crash from then on. Takes one flush, shared with other threads that append at the same time.
    pub fn append(&self, events: &[Event<'_>]) -> Result<Range<u64>, AppendError> {
        self.append_from(events, None)
    }

    /// [`append`](Store::append), and keeps with the batch where its source stood after it: both or neither are stored. The batch may be empty.
    pub fn append_from(
        &self,
        events: &[Event<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> Result<Range<u64>, AppendError> {
        self.inner.check(events, source)?;
        self.inner.with_room(AppendError::is_full_medium, || self.append_once(events, source))
    }

    fn append_once(
        &self,
        events: &[Event<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> Result<Range<u64>, AppendError> {
        let mut runs = run::sort(events, self.inner.options.block_bytes);
        let batch = EncodedBatch::new(events, source);

        let mut writer = self.inner.lock();
        if writer.unsealed_bytes() / MEMTABLE_SEGMENTS_MAX >= self.inner.options.segment_bytes {
            // Sealing fails, or does not keep up.
            drop(writer);
            self.inner.seal()?;
            writer = self.inner.lock();
        }
        writer.check()?;
        if events.is_empty() && source.is_none() {
            let next = writer.replayed.next_arrival;
            return Ok(next..next);
        }
        check_numbers(writer.replayed.next_arrival, events)?;
        self.inner.check_hold(&mut writer)?;
        while writer.log.is_none() {
            drop(writer);
            self.inner.begin_log()?;
            writer = self.inner.lock();
            writer.check()?;
        }
        let first = writer.replayed.next_arrival;
        check_numbers(first, events)?;
        let Writer { log: Some(log), .. } = &mut *writer else {
            unreachable!("it was made if there was none")
        };
        if let Err(failure) = log.write(&*self.inner.directory, batch, first) {
            return Err(writer.fail(failure).into());
        }
        let next = first + events.len() as u64;
        writer.replayed.next_arrival = next;
        for run in &mut runs {
            run::number(run, first);
        }
        let source = source.map(|source| (source.name.to_owned(), source.mark(next)));
        writer.pending.push_back(Pending { runs, source });
        writer.ticket += 1;
        let ticket = writer.ticket;
        if self.inner.options.durability == Durability::Sync {
            writer = self.inner.wait_until_durable(writer, ticket)?;
        } else {
            self.inner.show(&mut writer, ticket);
        }
        self.inner.check_hold(&mut writer)?;
        // The batch itself is stored, so a failure of what follows is none of the append; a final one ends the next append.
        let due = writer.is_due(&self.inner.options);
        drop(writer);
        match due {
            true if self.inner.has_upkeep.load(Relaxed) => self.inner.signal.wake(),
            true => self.inner.seal_if_due(),
            false => {}
        }
        Ok(first..next)
    }

    /// As [`append_from`](Store::append_from), but writes the events straight into sealed segments instead of the log: for much data at a
    /// time, some tens of megabytes a batch. Durable when it returns, whatever the durability. Takes four flushes. Others append meanwhile,
    /// and their events are seen before these; another such batch, and sealing, wait. Where it fails, its arrival numbers stay unused.
    pub fn append_sealed(
        &self,
        events: &[Event<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> Result<Range<u64>, AppendError> {
        if events.is_empty() {
            return self.append_from(events, source);
        }
        self.inner.check(events, source)?;
        self.inner.with_room(AppendError::is_full_medium, || self.inner.seal_batch(events, source))
    }

    /// Seals the memtable now, or what of it could not be sealed before. Does nothing if it is empty. Others append meanwhile.
    pub fn seal(&self) -> Result<(), SealError> {
        self.inner.seal()
    }

    /// Compacts: merges small segments that are neighbours in time, until those left are more than half full, but for one here and there. Removes what is too old for the store's settings, too. Works in
    /// steps of at most a full segment, between which others go on; reads and writes the small segments once. With [`Layout::Columns`](crate::Layout) the
    /// segments of text that are left become columns, one after another, full ones too.
    pub fn compact(&self) -> Result<(), SealError> {
        self.inner.compact_all(&|| true).map(drop)
    }

    /// Removes whole segments that need not be kept; with `dry_run` only tells which. Snapshots that were taken before still hold
    /// them, in other processes too: a file goes when nobody reads its generation any more. Numbers of events and positions of sources stay used.
    pub fn remove(&self, retention: Retention, dry_run: bool) -> Result<Removed, SealError> {
        self.inner.remove(retention, dry_run)
    }

    /// Deletes the events with these keys, all of them or none: they are gone from all answers when it returns, and marked in the files that hold them. What is
    /// in the log only is sealed before. Snapshots that were taken before still have them. [`erase`](Store::erase) takes them out of the files. Reads the blocks
    /// that hold one. A manifest takes 12 bytes and more for each, until they are erased: so a million at a time.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tamias_store::{Event, Key, Options, Store};
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
    /// store.append(&[Event { instant: 1, bytes: b"a" }, Event { instant: 2, bytes: b"b" }])?;
    /// assert_eq!(store.delete(&[Key { instant: 1, arrival: 0 }])?.events, 1);
    /// assert_eq!(store.snapshot().events(), 1);
    /// let receipt = store.erase()?.receipt.expect("nobody reads the files");
    /// assert_eq!((receipt.events, receipt.stays.events), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where a block with one of them is damaged, or something cannot be read or written. Then none is deleted, unless the store failed for good: then that shows when it is opened again.
    pub fn delete(&self, keys: &[Key]) -> Result<Deleted, DeleteError> {
        self.inner.delete(keys)
    }

    /// Reads all segments again, at most so many bytes a second on the average, and tells of each damaged part: a round, or the rest of one that was interrupted. How far it
    /// has come stands in the store. It ends early once `may_go_on` says so.
    ///
    /// # Errors
    /// Where the operating system refuses to read.
    pub fn scrub(
        &self,
        bytes_per_second: u64,
        may_go_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Damage),
    ) -> Result<Scrub, OpenError> {
        scrub::round(&*self.inner.directory, &|| Ok(self.snapshot()), bytes_per_second, may_go_on, found)
    }

    /// Takes deleted events out of the files: writes each segment that holds any anew without them, one after another. It takes room for one
    /// segment at a time. Once no file has ever held one, the whole store is read, and a receipt written. To be called again where it was interrupted,
    /// or files are held.
    ///
    /// # Errors
    /// Where something cannot be read or written; what was erased before stays so.
    pub fn erase(&self) -> Result<Erased, DeleteError> {
        self.inner.erase(&|| true)
    }

    /// What the store keeps to by itself.
    pub fn settings(&self) -> Settings {
        self.inner.settings()
    }

    /// What [`set_settings`](Store::set_settings) would remove at once.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn plan_settings(&self, settings: Settings) -> Result<Removed, Failure> {
        self.inner.plan_settings(settings)
    }

    /// Lets the store keep to other settings from now on, whoever opens it for writing. What is outside of their bounds by now is removed in the same step, as
    /// [`remove`](Store::remove) does it.
    ///
    /// # Errors
    /// Where it cannot be written: then the settings are as before, unless [that is unknown](SealError::is_unknown).
    pub fn set_settings(&self, settings: Settings) -> Result<(), SealError> {
        self.inner.set_settings(settings)
    }

    /// What the store has done and keeps to: its settings, what left it, what was written, what its files take.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn housekeeping(&self) -> Result<Housekeeping, Failure> {
        let writer = self.inner.lock();
        let mut manifest = writer.manifest.clone();
        manifest.traffic.count(writer.log.as_ref().map(LogWriter::uncounted).unwrap_or_default());
        drop(writer);
        Housekeeping::of(&*self.inner.directory, &manifest)
    }

    /// Makes everything durable that was appended before this call, whatever the durability.
    pub fn flush(&self) -> Result<(), SealError> {
        self.inner.flush()
    }

    /// The store as it is now. Cheap: it copies nothing.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { state: self.inner.state() }
    }

    /// Where a source stood with the last batch stored that named it.
    pub fn source_position(&self, name: &str) -> Option<u64> {
        self.inner.lock().replayed.sources.get(name).map(|mark| mark.position)
    }

    /// The note that the last batch stored that named a source has left with it; empty where there is none.
    pub fn source_note(&self, name: &str) -> Arc<[u8]> {
        let writer = self.inner.lock();
        writer.replayed.sources.get(name).map(|mark| Arc::clone(&mark.note)).unwrap_or_default()
    }

    /// The names of all sources that are known, in order. Takes time linear in their number.
    pub fn source_names(&self) -> Vec<String> {
        self.inner.lock().replayed.sources.keys().cloned().collect()
    }

    /// Whether it was lost where this source stood: a manifest was lost, or an older one was put in its place, and events of the source
    /// may be stored of which nothing tells. Whoever goes on with it may store some twice. It ends with the next batch that names the source.
    pub fn is_source_lost(&self, name: &str) -> bool {
        let writer = self.inner.lock();
        Manifest::has_lost(writer.replayed.sources_lost_before, &writer.replayed.sources, name)
    }

    /// Takes all positions of sources for right from now on, those that were lost included: to be called by whoever has looked.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn accept_source_positions(&self) -> Result<(), SealError> {
        self.inner.accept_source_positions()
    }

    /// What opening the store found behind the ends of its logs, and set aside.
    pub fn leftovers(&self) -> &[Leftover] {
        &self.inner.leftovers
    }

    /// The files in the folder that are none of the store's now, though they have names like its own.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn unnamed(&self) -> Result<Vec<Unnamed>, Failure> {
        let names = inventory::list(&*self.inner.directory)?;
        // Not one that another takes the place of just now, whose files have their names already.
        let manifest = self.inner.lock_manifest().manifest.clone();
        let mut unnamed = inventory::unnamed(&*self.inner.directory, names, &manifest)?;
        // This process is writing them.
        unnamed.retain(|file| file.kind != UnnamedKind::Unfinished);
        Ok(unnamed)
    }

    /// How much flushing there was.
    pub fn flush_stats(&self) -> FlushStats {
        self.inner.lock().stats
    }
}
