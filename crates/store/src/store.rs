//! The writer: appending, flushing, sealing.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, mpsc};
use std::time::{Duration, Instant};

use crate::error::{AppendError, Failure, OpenError, Operation, SealError};
use crate::format::{FileKind, Key, SOURCE_NAME_BYTES_MAX};
use crate::io::{Directory, Disk, Lock};
use crate::log::{EncodedBatch, LogWriter, SourcePosition};
use crate::manifest::{Manifest, SourceMark};
use crate::options::{Durability, FlushStats, Options};
use crate::recovery::{self, Replayed};
use crate::run::{self, Run};
use crate::segment::{Environment, Sealed, Segment, write_sorted};
use crate::snapshot::{Segments, Snapshot, State};
use crate::tail::Tail;
use crate::{Event, Summarize};

/// When sealing fails again and again, for lack of room say, appending goes on until the tail has as many segments' worth of bytes.
const TAIL_SEGMENTS_MAX: usize = 4;

/// A store opened for writing. A clone is another handle on the same one; the last handle closes it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    /// Dropped after `inner`, with the last handle.
    _closing: Arc<Closing>,
}

/// The thread that flushes at intervals, if there is one: it ends, and gives the store back, when this is dropped.
struct Closing {
    end: Option<mpsc::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Closing {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Inner {
    directory: Arc<dyn Directory>,
    options: Options,
    summarize: Arc<dyn Summarize>,
    environment: Arc<Environment>,
    writer: Mutex<Writer>,
    /// A flush has ended.
    flushed: Condvar,
    state: RwLock<Arc<State>>,
    /// What damaged logs still hold. It stays there, so it is never sealed.
    salvaged: Vec<Arc<Run>>,
    _lock: Box<dyn Lock>,
}

/// What only one thread at a time touches.
struct Writer {
    manifest: Manifest,
    log: Option<LogWriter>,
    replayed: Replayed,
    /// Written to the log, not yet known to be durable, so not shown.
    pending: VecDeque<Pending>,
    /// Counts batches; those up to `done` are durable, or as durable as was asked for.
    ticket: u64,
    done: u64,
    flushing: bool,
    poison: Option<Failure>,
    /// The tail is sealed when it has as many bytes; more after a failed attempt.
    seal_at: usize,
    stats: FlushStats,
}

struct Pending {
    runs: Vec<Run>,
    source: Option<(String, SourceMark)>,
}

/// Which events become segments.
#[derive(Clone, Copy)]
enum Whose<'a> {
    /// All of the tail, whose log is done with.
    Tail,
    /// A batch that never was in a log.
    Batch { next_arrival: u64, source: Option<(&'a str, SourceMark)> },
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("folder", &recovery::folder(&*self.inner.directory)).finish()
    }
}

impl Store {
    /// Opens a store for writing, and creates it, with its folder, where there is none. One process at a time can have it open like
    /// this. `summarize` describes the blocks that are formed from now on.
    pub fn open(folder: &Path, options: Options, summarize: Arc<dyn Summarize>) -> Result<Store, OpenError> {
        let disk = Disk::create(folder).map_err(|error| Failure {
            path: folder.to_path_buf(),
            operation: Operation::CreateFolder,
            source: Arc::new(error),
        })?;
        Store::open_on(Arc::new(disk), options, summarize)
    }

    /// Opens a store in any kind of folder.
    pub fn open_on(
        directory: Arc<dyn Directory>,
        options: Options,
        summarize: Arc<dyn Summarize>,
    ) -> Result<Store, OpenError> {
        options.check()?;
        // Before the lock file is made in what may be somebody else's folder.
        recovery::find_manifest(&*directory, true)?;
        let lock = recovery::lock_writer(&*directory)?;
        let recovered = recovery::recover(&*directory, options.block_bytes)?;
        let environment =
            Arc::new(Environment::new(Arc::clone(&directory), recovered.manifest.store, &options));
        let segments = recovered.manifest.segments.iter();
        let segments = segments.map(|entry| Arc::new(Segment::new(*entry, Arc::clone(&environment))));
        let state = State {
            environment: Arc::clone(&environment),
            segments: Arc::new(Segments::new(segments.collect())),
            tail: [&*recovered.salvaged, &*recovered.replayed.tail.runs].concat(),
            damage: recovered.damage.into(),
            lock: None,
        };
        let writer = Writer {
            manifest: recovered.manifest,
            log: recovered.log,
            replayed: recovered.replayed,
            pending: VecDeque::new(),
            ticket: 0,
            done: 0,
            flushing: false,
            poison: None,
            seal_at: options.segment_bytes,
            stats: FlushStats::default(),
        };
        let durability = options.durability;
        let inner = Arc::new(Inner {
            directory,
            options,
            summarize,
            environment,
            writer: Mutex::new(writer),
            flushed: Condvar::new(),
            state: RwLock::new(Arc::new(state)),
            salvaged: recovered.salvaged,
            _lock: lock,
        });
        let closing = match durability {
            Durability::Interval(interval) => flush_at_intervals(Arc::clone(&inner), interval),
            Durability::Sync | Durability::None => Closing { end: None, thread: None },
        };
        Ok(Store { inner, _closing: Arc::new(closing) })
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
        let mut runs = run::sort(events, self.inner.options.block_bytes);
        let batch = EncodedBatch::new(events, source);

        let mut writer = self.inner.lock();
        if writer.replayed.tail.document_bytes / TAIL_SEGMENTS_MAX >= self.inner.options.segment_bytes {
            self.inner.seal(writer)?;
            writer = self.inner.lock();
        }
        writer.check()?;
        let first = writer.replayed.next_arrival;
        if events.is_empty() && source.is_none() {
            return Ok(first..first);
        }
        let log = self.inner.log(&mut writer)?;
        if let Err(failure) = log.write(&*self.inner.directory, batch, first) {
            return Err(writer.fail(failure).into());
        }
        let next = first + events.len() as u64;
        writer.replayed.next_arrival = next;
        for run in &mut runs {
            run::number(run, first);
        }
        let mark = |position| SourceMark { position, next_arrival: next };
        let source = source.map(|source| (source.name.to_owned(), mark(source.position)));
        writer.pending.push_back(Pending { runs, source });
        writer.ticket += 1;
        let ticket = writer.ticket;
        if self.inner.options.durability == Durability::Sync {
            writer = self.inner.wait_until_durable(writer, ticket)?;
        } else {
            self.inner.show(&mut writer, ticket);
        }
        if writer.replayed.tail.document_bytes >= writer.seal_at {
            // The batch itself is stored, so this is no failure of the append; a final one ends the next append.
            if self.inner.seal(writer).is_err() {
                let mut writer = self.inner.lock();
                writer.seal_at =
                    writer.replayed.tail.document_bytes.saturating_add(self.inner.options.segment_bytes / 4);
            }
        }
        Ok(first..next)
    }

    /// As [`append_from`](Store::append_from), but writes the events straight into sealed segments instead of the log: for much data at a
    /// time, some tens of megabytes a batch. Durable when it returns, whatever the durability. Takes four flushes; other appends wait meanwhile.
    pub fn append_sealed(
        &self,
        events: &[Event<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> Result<Range<u64>, AppendError> {
        if events.is_empty() {
            return self.append_from(events, source);
        }
        self.inner.check(events, source)?;
        // Batches that came before are shown before.
        let mut writer = self.inner.settle(self.inner.lock())?;
        let first = writer.replayed.next_arrival;
        let next = first + events.len() as u64;
        let mut sorted: Vec<(Key, &[u8])> = (first..next)
            .zip(events)
            .map(|(arrival, event)| (Key { instant: event.instant, arrival }, event.bytes))
            .collect();
        if !sorted.is_sorted_by_key(|(key, _)| *key) {
            sorted.sort_unstable_by_key(|(key, _)| *key);
        }
        let mark = |position| SourceMark { position, next_arrival: next };
        let source = source.map(|source| (source.name, mark(source.position)));
        self.inner.write_segments(&mut writer, &sorted, Whose::Batch { next_arrival: next, source })?;
        Ok(first..next)
    }

    /// Seals the tail now. Does nothing if it is empty.
    pub fn seal(&self) -> Result<(), SealError> {
        self.inner.seal(self.inner.lock())
    }

    /// Makes everything durable that was appended before this call, whatever the durability.
    pub fn flush(&self) -> Result<(), SealError> {
        self.inner.flush_log(self.inner.lock()).map(drop)
    }

    /// The store as it is now. Cheap: it copies nothing.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.inner.state.read().unwrap_or_else(PoisonError::into_inner);
        Snapshot { state: Arc::clone(&state) }
    }

    /// Where a source stood with the last batch stored that named it.
    pub fn source_position(&self, name: &str) -> Option<u64> {
        self.inner.lock().replayed.sources.get(name).map(|mark| mark.position)
    }

    /// How much flushing there was.
    pub fn flush_stats(&self) -> FlushStats {
        self.inner.lock().stats
    }
}

impl Writer {
    fn check(&self) -> Result<(), SealError> {
        match &self.poison {
            Some(failure) => Err(SealError::Poisoned(failure.clone())),
            None => Ok(()),
        }
    }

    /// Remembers a failure after which nobody knows what the medium holds.
    fn fail(&mut self, failure: Failure) -> Failure {
        if failure.is_final() {
            self.poison.get_or_insert_with(|| failure.clone());
        }
        failure
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, events: &[Event<'_>], source: Option<SourcePosition<'_>>) -> Result<(), AppendError> {
        let mut bytes = 0usize;
        for (index, event) in events.iter().enumerate() {
            let most = self.options.event_bytes_max;
            if event.bytes.len() > most {
                return Err(AppendError::EventTooLong { index, bytes: event.bytes.len(), most });
            }
            if event.bytes.is_empty() {
                return Err(AppendError::EventMalformed { index, found: "empty" });
            }
            if event.bytes.contains(&b'\n') {
                return Err(AppendError::EventMalformed { index, found: "more than one line" });
            }
            bytes = bytes.saturating_add(event.bytes.len() + 1);
        }
        if bytes > self.options.batch_bytes_max {
            return Err(AppendError::BatchTooLarge { bytes, most: self.options.batch_bytes_max });
        }
        match source.map(|source| source.name.len()) {
            Some(bytes) if bytes > SOURCE_NAME_BYTES_MAX => {
                Err(AppendError::SourceNameTooLong { bytes, most: SOURCE_NAME_BYTES_MAX })
            }
            _ => Ok(()),
        }
    }

    /// The log to append to, created and named by a manifest if there is none.
    fn log<'w>(&self, writer: &'w mut Writer) -> Result<&'w mut LogWriter, Failure> {
        if writer.log.is_none() {
            let created = self.create_log(writer).map_err(|failure| writer.fail(failure))?;
            writer.log = Some(created);
        }
        match &mut writer.log {
            Some(log) => Ok(log),
            None => unreachable!("it was created just now"),
        }
    }

    fn create_log(&self, writer: &mut Writer) -> Result<LogWriter, Failure> {
        let number = writer.manifest.next_file;
        let log = LogWriter::create(&*self.directory, writer.manifest.store, number)?;
        let mut manifest = writer.manifest.clone();
        manifest.number += 1;
        manifest.next_file += 1;
        manifest.next_arrival = writer.replayed.next_arrival;
        manifest.logs.push(number);
        manifest.publish(&*self.directory)?;
        writer.manifest = manifest;
        recovery::sweep(&*self.directory, &writer.manifest);
        Ok(log)
    }

    /// Returns when the batch with this ticket is durable. One of the waiting threads flushes for all that have written by then.
    fn wait_until_durable<'w>(
        &'w self,
        mut writer: MutexGuard<'w, Writer>,
        ticket: u64,
    ) -> Result<MutexGuard<'w, Writer>, AppendError> {
        loop {
            if writer.done >= ticket {
                return Ok(writer);
            }
            writer.check()?;
            if writer.flushing {
                writer = self.flushed.wait(writer).unwrap_or_else(PoisonError::into_inner);
            } else {
                writer = self.flush_log(writer)?;
            }
        }
    }

    /// Flushes what the log has now, and shows it. Other threads can write meanwhile.
    fn flush_log<'w>(
        &'w self,
        mut writer: MutexGuard<'w, Writer>,
    ) -> Result<MutexGuard<'w, Writer>, SealError> {
        while writer.flushing {
            writer = self.flushed.wait(writer).unwrap_or_else(PoisonError::into_inner);
        }
        writer.check()?;
        let ticket = writer.ticket;
        let Some(log) = writer.log.as_ref().filter(|log| log.flushed < log.written) else {
            return Ok(writer);
        };
        let (file, written) = (Arc::clone(&log.file), log.written);
        let name = log.name().to_owned();
        writer.flushing = true;
        drop(writer);
        let begun = Instant::now();
        let result = file.flush().map_err(Failure::during(&*self.directory, &name, Operation::Flush));
        let mut writer = self.lock();
        writer.flushing = false;
        writer.stats.log_flushes += 1;
        writer.stats.log_time += begun.elapsed();
        self.flushed.notify_all();
        if let Err(failure) = result {
            let failure = writer.fail(failure);
            // Nobody will ever be told that these are stored.
            writer.pending.clear();
            return Err(failure.into());
        }
        if let Some(log) = &mut writer.log {
            log.flushed = written;
        }
        self.show(&mut writer, ticket);
        Ok(writer)
    }

    /// Flushes and shows everything, while no other thread can write.
    fn settle<'w>(&'w self, mut writer: MutexGuard<'w, Writer>) -> Result<MutexGuard<'w, Writer>, SealError> {
        while writer.flushing {
            writer = self.flushed.wait(writer).unwrap_or_else(PoisonError::into_inner);
        }
        writer.check()?;
        let Writer { log, stats, .. } = &mut *writer;
        if let Some(log) = log.as_mut().filter(|log| log.flushed < log.written) {
            let begun = Instant::now();
            let result = log.flush(&*self.directory);
            stats.log_flushes += 1;
            stats.log_time += begun.elapsed();
            if let Err(failure) = result {
                writer.pending.clear();
                self.flushed.notify_all();
                return Err(writer.fail(failure).into());
            }
        }
        let ticket = writer.ticket;
        self.show(&mut writer, ticket);
        self.flushed.notify_all();
        Ok(writer)
    }

    /// Takes the batches up to a ticket into the tail, and lets snapshots see them.
    fn show(&self, writer: &mut Writer, ticket: u64) {
        while writer.done < ticket {
            writer.done += 1;
            let Some(Pending { runs, source }) = writer.pending.pop_front() else { continue };
            for run in runs {
                writer.replayed.tail.push(run, self.options.block_bytes);
            }
            if let Some((name, mark)) = source {
                writer.replayed.sources.insert(name, mark);
            }
        }
        let segments = Arc::clone(&self.state().segments);
        self.publish(segments, writer);
    }

    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn publish(&self, segments: Arc<Segments>, writer: &Writer) {
        let damage = Arc::clone(&self.state().damage);
        let tail = [&*self.salvaged, &*writer.replayed.tail.runs].concat();
        let environment = Arc::clone(&self.environment);
        let state = Arc::new(State { environment, segments, tail, damage, lock: None });
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn seal(&self, writer: MutexGuard<'_, Writer>) -> Result<(), SealError> {
        // What is sealed was durable before, so that a failure on the way takes nothing back; and nothing is left in the log.
        let mut writer = self.settle(writer)?;
        let runs = writer.replayed.tail.runs.clone();
        let mut events: Vec<(Key, &[u8])> = Vec::with_capacity(runs.iter().map(|run| run.len()).sum());
        for run in &runs {
            events.extend((0..run.len()).filter_map(|index| Some((run.key(index)?, run.document(index)))));
        }
        if events.is_empty() {
            return Ok(());
        }
        events.sort_unstable_by_key(|(key, _)| *key);
        Ok(self.write_segments(&mut writer, &events, Whose::Tail)?)
    }

    /// Writes events, sorted by key, into segments, and publishes them. On failure nothing has changed, or it is final.
    fn write_segments(
        &self,
        writer: &mut Writer,
        events: &[(Key, &[u8])],
        whose: Whose<'_>,
    ) -> Result<(), Failure> {
        let directory = &*self.directory;
        let to = Sealed {
            directory,
            store: writer.manifest.store,
            block_bytes: self.options.block_bytes,
            segment_bytes: self.options.segment_bytes,
            summarize: &*self.summarize,
        };
        let begun = Instant::now();
        let entries = write_sorted(&to, events, writer.manifest.next_file, &mut writer.stats)
            .and_then(|entries| {
                directory.flush().map_err(Failure::during(directory, "", Operation::FlushFolder))?;
                Ok(entries)
            })
            .map_err(|failure| writer.fail(failure))?;
        let mut manifest = writer.manifest.clone();
        manifest.number += 1;
        manifest.next_file += entries.len() as u64;
        manifest.segments.extend_from_slice(&entries);
        match whose {
            Whose::Tail => {
                let log = writer.log.as_ref().map(|log| log.number);
                manifest.logs.retain(|number| Some(*number) != log);
                manifest.next_arrival = writer.replayed.next_arrival;
                manifest.sources.clone_from(&writer.replayed.sources);
            }
            Whose::Batch { next_arrival, source } => {
                manifest.next_arrival = next_arrival;
                if let Some((name, mark)) = source {
                    manifest.sources.insert(name.to_owned(), mark);
                }
            }
        }
        if let Err(failure) = manifest.publish(directory) {
            let failure = writer.fail(failure);
            if !failure.is_final() {
                // No manifest will ever name them.
                for entry in &entries {
                    let _ = directory.remove(&FileKind::Segment.name(entry.number));
                }
            }
            return Err(failure);
        }
        writer.manifest = manifest;
        match whose {
            Whose::Tail => {
                writer.log = None;
                writer.replayed.tail = Tail::default();
                writer.seal_at = self.options.segment_bytes;
            }
            Whose::Batch { next_arrival, source } => {
                writer.replayed.next_arrival = next_arrival;
                if let Some((name, mark)) = source {
                    writer.replayed.sources.insert(name.to_owned(), mark);
                }
            }
        }
        let mut list = self.state().segments.list.clone();
        let new = entries.iter().map(|entry| Arc::new(Segment::new(*entry, Arc::clone(&self.environment))));
        list.extend(new);
        self.publish(Arc::new(Segments::new(list)), writer);
        recovery::sweep(directory, &writer.manifest);
        writer.stats.segment_time += begun.elapsed();
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(log)) = (&writer.poison, &mut writer.log)
            && log.flushed < log.written
        {
            // With a weaker durability; nobody is left to be told of a failure.
            let _ = log.flush(&*self.directory);
        }
    }
}

/// Flushes again and again, until the store is closed.
fn flush_at_intervals(inner: Arc<Inner>, interval: Duration) -> Closing {
    let (end, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        while ended.recv_timeout(interval) == Err(mpsc::RecvTimeoutError::Timeout) {
            if inner.flush_log(inner.lock()).is_err() {
                return;
            }
        }
    });
    Closing { end: Some(end), thread: Some(thread) }
}
