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

/// When sealing keeps failing, for instance because the disk is full, appends continue until the memtable has the size of this many segments.
const MEMTABLE_SEGMENTS_MAX: usize = 4;

/// A store opened for writing. A clone is another handle to the same store; dropping the last handle closes it.
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
    /// Opens a store for writing, and creates it, with its folder, if there is none. Only one process at a time can have it open for
    /// writing. `codec` makes the statistics of new blocks, and their columns if the options say so, and reads existing columns.
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
                Err(error)
                    if error.is_full_medium() && removal::make_room(&*directory, options.settings)? => {}
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

    /// Stores a batch atomically, and returns the arrival numbers of its events. With [`Durability::Sync`] they survive any
    /// crash once this returns. Takes one flush, shared with other threads that append at the same time.
    pub fn append(&self, events: &[Event<'_>]) -> Result<Range<u64>, AppendError> {
        self.append_from(events, None)
    }

    /// As [`append`](Store::append), and stores atomically with the batch the position that its source has reached. The batch may be empty.
    pub fn append_from(
        &self,
        events: &[Event<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> Result<Range<u64>, AppendError> {
        self.inner.check(events, source)?;
        let bytes = events.iter().map(|event| event.bytes.len() + 1).sum();
        if self.inner.is_too_much_for_log(bytes) {
            return self.append_sealed(events, source);
        }
        self.inner.with_room(AppendError::is_full_medium, || match self.append_once(events, source) {
            Err(error) if error.is_full_medium() && self.inner.seal_for_room()? => {
                self.append_once(events, source)
            }
            appended => appended,
        })
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
        writer.check_source(source)?;
        self.inner.check_hold(&mut writer)?;
        while writer.log.is_none() {
            drop(writer);
            self.inner.begin_log()?;
            writer = self.inner.lock();
            writer.check()?;
        }
        self.inner.keep_reserve(&mut writer, batch.bytes())?;
        let first = writer.replayed.next_arrival;
        check_numbers(first, events)?;
        let Writer { log: Some(log), manifest, .. } = &mut *writer else {
            unreachable!("it was made if there was none")
        };
        if let Err(failure) = log.write(&*self.inner.directory, batch, manifest.number, first) {
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

    /// As [`append_from`](Store::append_from), but writes the events straight into sealed segments instead of the log: for large batches
    /// of some tens of megabytes. Durable when it returns, whatever the durability. Takes four flushes. Other threads can append meanwhile,
    /// and their events become visible first; another such batch, and sealing, wait. If it fails, its arrival numbers stay unused.
    pub fn append_sealed(
        &self,
        events: &[Event<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> Result<Range<u64>, AppendError> {
        if events.is_empty() {
            return self.append_from(events, source);
        }
        self.inner.check(events, source)?;
        // Nothing goes in vain for what has no room anyway.
        let is_full = |error: &AppendError| error.is_full_medium() && self.inner.may_have_room_for(events);
        self.inner.with_room(is_full, || match self.inner.seal_batch(events, source) {
            Err(error) if is_full(&error) && self.inner.seal_for_room()? => {
                self.inner.seal_batch(events, source)
            }
            sealed => sealed,
        })
    }

    /// Seals the memtable now, including any part that could not be sealed before. Does nothing if it is empty. Other threads can append meanwhile.
    pub fn seal(&self) -> Result<(), SealError> {
        self.inner.seal()
    }

    /// Compacts the store: merges small segments that are neighbours in time, until nearly all are more than half full. Also removes events that are too old for the store's settings. Works in
    /// steps of at most a full segment, between which other threads can write; reads and writes each small segment once. With [`Layout::Columns`](crate::Layout)
    /// it also rewrites remaining segments of text as columns, one after another, including full ones.
    pub fn compact(&self) -> Result<(), SealError> {
        self.compact_while(&|| true, &|_, _| ()).map(drop)
    }

    /// As [`compact`](Store::compact), as long as `may_go_on` returns true; it is asked before each block. A step that is not finished then leaves nothing behind, and the steps before it stay. False if
    /// it was stopped: call it again to go on. `told` is called before each step with the bytes of documents that are done, and the total, as far as it is known.
    /// Neither of them must use the store.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tamias_store::{Event, Options, Store};
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
    /// for instant in 0..3 {
    ///     store.append_sealed(&[Event { instant, bytes: b"{}" }], None)?;
    /// }
    /// assert!(!store.compact_while(&|| false, &|_, _| ())?);
    /// assert!(store.compact_while(&|| true, &|done, of| println!("{done} of {of} bytes"))?);
    /// assert_eq!(store.snapshot().segments().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a file cannot be read or written. The store then has the same events as before.
    pub fn compact_while(
        &self,
        may_go_on: &dyn Fn() -> bool,
        told: &dyn Fn(u64, u64),
    ) -> Result<bool, SealError> {
        self.inner.compact_all(may_go_on, told)
    }

    /// Removes whole segments that exceed the `retention`; with `dry_run` only returns which. Earlier snapshots still hold
    /// them, in other processes too: a file is deleted when no snapshot needs it any more. Arrival numbers are not reused, and positions of sources are kept.
    pub fn remove(&self, retention: Retention, dry_run: bool) -> Result<Removed, SealError> {
        self.inner.remove(retention, dry_run)
    }

    /// Deletes the events with these keys, all of them or none. When it returns, new snapshots do not have them; the manifest marks them as deleted. Events that
    /// are only in the log are sealed first. Earlier snapshots still have them. [`erase`](Store::erase) removes them from the files. Reads the blocks
    /// that hold one. Until they are erased, the manifest needs at least 12 bytes for each: at most a million may be deleted and not erased.
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
    /// If a block with one of them is damaged, or a file cannot be read or written. Then none is deleted, unless the store failed permanently: open it again to find out.
    pub fn delete(&self, keys: &[Key]) -> Result<Deleted, DeleteError> {
        self.inner.delete(keys)
    }

    /// Reads all segments at a limited average rate in bytes per second, and reports each damaged part: one round, or the rest of a round that was interrupted. The
    /// progress is recorded in the store. It stops early when `may_go_on` returns false.
    ///
    /// # Errors
    /// If the operating system reports an error while reading.
    pub fn scrub(
        &self,
        bytes_per_second: u64,
        may_go_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Damage),
    ) -> Result<Scrub, OpenError> {
        scrub::round(&*self.inner.directory, &|| Ok(self.snapshot()), bytes_per_second, may_go_on, found)
    }

    /// Removes deleted events from the files: rewrites each segment that holds any without them, one after another. Needs free disk space for one
    /// segment. Once no file is left that ever held one of them, the whole store is read, and a receipt is written. Call it again if it was interrupted,
    /// or if readers still hold files.
    ///
    /// # Errors
    /// If a file cannot be read or written. Events erased before the error stay erased.
    pub fn erase(&self) -> Result<Erased, DeleteError> {
        self.erase_while(&|| true)
    }

    /// [Erases](Store::erase) until `may_go_on` returns false, which is asked before each block, and while it is proved that nothing is left. There is no receipt then.
    ///
    /// # Errors
    /// As for [`erase`](Store::erase).
    pub fn erase_while(&self, may_go_on: &dyn Fn() -> bool) -> Result<Erased, DeleteError> {
        self.inner.erase(may_go_on)
    }

    /// The retention settings that the store enforces.
    pub fn settings(&self) -> Settings {
        self.inner.settings()
    }

    /// What [`set_settings`](Store::set_settings) would remove at once.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn plan_settings(&self, settings: Settings) -> Result<Removed, Failure> {
        self.inner.plan_settings(settings)
    }

    /// Changes the settings, which apply to every program that opens the store for writing. Segments that exceed the new limits are removed in the same step, as by
    /// [`remove`](Store::remove).
    ///
    /// # Errors
    /// If the store cannot be written. The settings are then unchanged, unless [that is unknown](SealError::is_unknown).
    pub fn set_settings(&self, settings: Settings) -> Result<(), SealError> {
        self.inner.set_settings(settings)
    }

    /// The store's settings, the history of removed events, the bytes written, and the sizes of its files.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn housekeeping(&self) -> Result<Housekeeping, Failure> {
        let writer = self.inner.lock();
        let mut manifest = writer.manifest.clone();
        manifest.traffic.count(writer.log.as_ref().map(LogWriter::uncounted).unwrap_or_default());
        drop(writer);
        Housekeeping::of(&*self.inner.directory, &manifest)
    }

    /// How many bytes a batch should have at most now: what [`Options::batch_bytes_max`] allows, or no more than a full segment where the [settings](Settings) leave room for a few of those only. The oldest
    /// events have to go for as much at once.
    pub fn batch_bytes_advised(&self) -> usize {
        let (full, options) = (self.inner.segment_bytes(), &self.inner.options);
        if full < options.segment_bytes { full } else { options.batch_bytes_max }
    }

    /// Makes everything durable that was appended before this call, whatever the [`Durability`].
    pub fn flush(&self) -> Result<(), SealError> {
        self.inner.flush()
    }

    /// A view of the store as it is now. Cheap: it copies nothing.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { state: self.inner.state() }
    }

    /// The position of a source, stored with the last batch that named it.
    pub fn source_position(&self, name: &str) -> Option<u64> {
        self.inner.lock().replayed.sources.get(name).map(|mark| mark.position)
    }

    /// The note of a source, stored with the last batch that named it; empty if there is none.
    pub fn source_note(&self, name: &str) -> Arc<[u8]> {
        let writer = self.inner.lock();
        writer.replayed.sources.get(name).map(|mark| Arc::clone(&mark.note)).unwrap_or_default()
    }

    /// The names of all known sources, sorted. Takes time linear in their number.
    pub fn source_names(&self) -> Vec<String> {
        self.inner.lock().replayed.sources.keys().cloned().collect()
    }

    /// Whether the position of this source is uncertain, because a manifest was lost or replaced by an older one. The store may then hold events
    /// beyond that position, and continuing from it may store some events twice. The next batch that names the source clears this.
    pub fn is_source_lost(&self, name: &str) -> bool {
        let writer = self.inner.lock();
        Manifest::has_lost(writer.replayed.sources_lost_before, &writer.replayed.sources, name)
    }

    /// Accepts the recorded positions of all sources as correct, including those that were lost. Call it once you have checked them.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn accept_source_positions(&self) -> Result<(), SealError> {
        self.inner.accept_source_positions()
    }

    /// Data that was found after the ends of the logs when the store was opened, and set aside.
    pub fn leftovers(&self) -> &[Leftover] {
        &self.inner.leftovers
    }

    /// The files in the folder that are named like the store's own but do not belong to it now.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn unnamed(&self) -> Result<Vec<Unnamed>, Failure> {
        let names = inventory::list(&*self.inner.directory)?;
        // Not one that another takes the place of just now, whose files have their names already.
        let manifest = self.inner.lock_manifest().manifest.clone();
        let mut unnamed = inventory::unnamed(&*self.inner.directory, names, &manifest)?;
        // This process is writing them.
        unnamed.retain(|file| file.kind != UnnamedKind::Unfinished);
        Ok(unnamed)
    }

    /// Counts and times of flushes.
    pub fn flush_stats(&self) -> FlushStats {
        self.inner.lock().stats
    }
}
