//! The log, the memtable and the manifest, which one thread at a time touches.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use memchr::memchr;

use crate::codec::Codec;
use crate::error::{AppendError, Failure, SealError};
use crate::event::Event;
use crate::format::{NUMBER_MAX, SOURCE_NAME_BYTES_MAX, SOURCE_NOTE_BYTES_MAX};
use crate::history::Untold;
use crate::hold::Hold;
use crate::io::{Directory, Lock};
use crate::log::{LogWriter, SourcePosition};
use crate::manifest::{Manifest, SourceMark, Sources};
use crate::options::{FlushStats, Options};
use crate::recovery::{Leftover, Recovered};
use crate::replay::Replayed;
use crate::reserve::Reserve;
use crate::retire;
use crate::run::Run;
use crate::segment::{Environment, Numbers, Segment};
use crate::settings::WhenFull;
use crate::signal::Signal;
use crate::snapshot::{Segments, State};

/// What all handles of a store share.
pub(crate) struct Inner {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) options: Options,
    pub(crate) environment: Arc<Environment>,
    /// Numbers of files, and which of them are being written.
    pub(crate) numbers: Numbers,
    /// Held by the one that seals the memtable or a batch; taken before `writer`.
    pub(crate) sealing: Mutex<()>,
    /// Held by the one that compacts or removes segments; taken before `writer`.
    pub(crate) compacting: Mutex<Passed>,
    /// Held by a compaction as long as it holds the files that it reads; taken after `compacting`. Whoever makes room on a full medium waits for it.
    pub(crate) reading: Mutex<()>,
    /// Held by the one that puts another manifest in the place of the present one; taken after those two, and before `writer`.
    pub(crate) publishing: Mutex<()>,
    writer: Mutex<Writer>,
    /// A flush has ended.
    pub(crate) flushed: Condvar,
    state: RwLock<Arc<State>>,
    /// What damaged logs still hold. It stays there, so it is never sealed.
    salvaged: Vec<Arc<Run>>,
    /// Bytes of these logs.
    salvaged_bytes: u64,
    /// Wakes the thread that seals and compacts.
    pub(crate) signal: Arc<Signal>,
    /// Whether there is such a thread.
    pub(crate) has_upkeep: AtomicBool,
    /// What opening set aside.
    pub(crate) leftovers: Vec<Leftover>,
    pub(crate) hold: Hold,
    /// How often room was made on a full medium.
    pub(crate) rooms_made: AtomicU64,
    /// Bytes of documents of a full segment: fewer than the options say where [bounds](crate::bounds) leave no room for several such.
    pub(crate) segment_bytes: AtomicUsize,
}

/// What only one thread at a time touches.
pub(crate) struct Writer {
    pub(crate) manifest: Manifest,
    /// Keeps what the manifest names for the snapshots taken from it.
    generation: Arc<dyn Lock>,
    pub(crate) log: Option<LogWriter>,
    /// The log that takes the place of this one when it is sealed: named by the manifest already, and empty.
    pub(crate) next_log: Option<LogWriter>,
    /// Logs that were closed before: their events are in the memtable as well.
    pub(crate) ended: Ended,
    pub(crate) replayed: Replayed,
    /// What is being sealed, or could not be.
    pub(crate) frozen: Option<Frozen>,
    /// Written to the log, not yet known to be durable, so not shown.
    pub(crate) pending: VecDeque<Pending>,
    /// Counts batches; those up to `done` are durable, or as durable as was asked for.
    pub(crate) ticket: u64,
    pub(crate) done: u64,
    pub(crate) flushing: bool,
    poison: Option<Failure>,
    /// The memtable is sealed when it has as many bytes; more after a failed attempt.
    pub(crate) seal_at: usize,
    /// Since when the memtable holds something, or since it could not be sealed.
    pub(crate) since: Option<Instant>,
    pub(crate) stats: FlushStats,
    pub(crate) reserve: Reserve,
}

/// Segments that compaction passes over, by number.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// Those that could not be read.
    pub(crate) unreadable: Vec<u64>,
    /// Those that were to become columns, and of which the codec made none.
    pub(crate) text: Vec<u64>,
}

/// Logs that take no more batches.
#[derive(Default)]
pub(crate) struct Ended {
    pub(crate) logs: Vec<u64>,
    pub(crate) bytes: u64,
}

/// A memtable whose log takes no more batches.
#[derive(Default)]
pub(crate) struct Frozen {
    pub(crate) runs: Vec<Arc<Run>>,
    pub(crate) document_bytes: usize,
    pub(crate) logs: Vec<u64>,
    pub(crate) log_bytes: u64,
    /// Nobody else may go on with these logs while a manifest names them.
    pub(crate) locks: Vec<Arc<dyn Lock>>,
    pub(crate) next_arrival: u64,
    pub(crate) sources: Sources,
}

pub(crate) struct Pending {
    pub(crate) runs: Vec<Run>,
    pub(crate) source: Option<(String, SourceMark)>,
}

/// HEURISTIC: a manifest is written at closing if the log has become so many times as long as it takes.
const TOLD_PART: u64 = 16;

/// Names and notes of all sources together take at most so many bytes, as each manifest holds them.
const SOURCES_BYTES_MAX: usize = 64 << 20;

/// That there are numbers for these events.
pub(crate) fn check_numbers(first: u64, events: &[Event<'_>]) -> Result<(), AppendError> {
    if first + events.len() as u64 >= NUMBER_MAX { Err(AppendError::NumbersUsedUp) } else { Ok(()) }
}

impl Writer {
    pub(crate) fn check(&self) -> Result<(), SealError> {
        match &self.poison {
            Some(failure) => Err(SealError::Poisoned(failure.clone())),
            None => Ok(()),
        }
    }

    /// Checks that there is room for a source beside the others.
    pub(crate) fn check_source(&self, source: Option<SourcePosition<'_>>) -> Result<(), AppendError> {
        let Some(SourcePosition { name, note, .. }) = source else { return Ok(()) };
        let Replayed { source_bytes, .. } = self.replayed;
        let (before, now) = (self.replayed.bytes_of_source(name), name.len() + note.len());
        let bytes = source_bytes.saturating_sub(before) + now;
        // One that takes no more than before is always kept.
        if now > before && bytes > SOURCES_BYTES_MAX {
            return Err(AppendError::SourcesTooLarge { bytes, most: SOURCES_BYTES_MAX });
        }
        Ok(())
    }

    /// Remembers a failure after which nobody knows what the medium holds.
    pub(crate) fn fail(&mut self, failure: Failure) -> Failure {
        if failure.is_final() {
            self.poison.get_or_insert_with(|| failure.clone());
        }
        failure
    }

    /// A manifest as it follows the present one: under the next number, with the log as it is now.
    pub(crate) fn following(&mut self, manifest: Manifest, next_file: u64) -> Manifest {
        let untold = self.count_log();
        let mut manifest = Manifest { number: self.manifest.number + 1, next_file, ..manifest };
        if let Some(log) = &self.log {
            let own = manifest.logs.iter_mut().filter(|entry| entry.number == log.number);
            own.for_each(|entry| *entry = log.entry());
        }
        manifest.traffic.count(untold);
        manifest
    }

    /// Keeps to a manifest that was published.
    pub(crate) fn install(&mut self, manifest: Manifest, generation: Arc<dyn Lock>) {
        self.generation = generation;
        self.manifest = manifest;
    }

    /// Publishes a manifest, while nobody else has the writer.
    fn replace_manifest(
        &mut self,
        directory: &dyn Directory,
        hold: &Hold,
        next_file: u64,
        manifest: Manifest,
    ) -> Result<(), Failure> {
        hold.check(directory)?;
        let mut manifest = self.following(manifest, next_file);
        manifest.replaces(&self.manifest, directory)?;
        let generation = manifest.publish(directory)?;
        self.install(manifest, generation);
        Ok(())
    }

    /// Makes everything durable, and leaves word of it in the log: then the next process goes on with it. The manifest gets to know how long the log is if that is little beside what
    /// was appended: then nothing that is lost later can pass for never written.
    fn close(&mut self, directory: &dyn Directory, hold: &Hold, next_file: u64) -> Result<(), Failure> {
        hold.check(directory)?;
        let next_arrival = self.replayed.next_arrival;
        let Some(log) = &mut self.log else { return Ok(()) };
        if log.flushed < log.written {
            log.flush(directory)?;
        }
        let now = log.entry();
        let told = self.manifest.logs.iter().find(|entry| entry.number == now.number);
        let grown = now.length.saturating_sub(told.map_or(0, |entry| entry.length));
        if grown / TOLD_PART >= self.manifest.encoded_bytes() {
            let manifest = self.manifest.clone();
            self.replace_manifest(directory, hold, next_file, manifest)?;
        }
        // It takes no more batches.
        match self.log.take() {
            Some(mut log) if !log.is_closed_at(self.manifest.number) => {
                log.close(directory, self.manifest.number, next_arrival)
            }
            _ => Ok(()),
        }
    }

    /// Bytes of the logs whose events are in no segment.
    pub(crate) fn unsealed_log_bytes(&self) -> u64 {
        let frozen = self.frozen.as_ref().map_or(0, |frozen| frozen.log_bytes);
        self.ended.bytes + frozen + self.log.as_ref().map_or(0, LogWriter::bytes)
    }

    /// Bytes of segments, logs and the reserve.
    pub(crate) fn bytes(&self) -> u64 {
        let segments = self.manifest.segments.iter().map(|entry| entry.file_bytes);
        segments.fold(self.unsealed_log_bytes() + self.reserve.bytes(), u64::saturating_add)
    }

    /// Counts what was appended to the log.
    pub(crate) fn count_log(&mut self) -> Untold {
        let untold = self.log.as_mut().map(LogWriter::take_uncounted).unwrap_or_default();
        self.manifest.traffic.count(untold);
        untold
    }

    /// Bytes of documents that are in logs only.
    pub(crate) fn unsealed_bytes(&self) -> usize {
        self.replayed.memtable.document_bytes + self.frozen.as_ref().map_or(0, |frozen| frozen.document_bytes)
    }
}

impl Inner {
    pub(crate) fn new(
        directory: Arc<dyn Directory>,
        options: Options,
        codec: Arc<dyn Codec>,
        recovered: Recovered,
        hold: Hold,
    ) -> Inner {
        let Recovered {
            manifest,
            generation,
            log,
            ended,
            replayed,
            salvaged,
            salvaged_bytes,
            damage,
            leftovers,
        } = recovered;
        let ended = Ended {
            logs: ended.iter().map(|log| log.number).collect(),
            bytes: ended.iter().map(|log| log.length).sum(),
        };
        let environment = Arc::new(Environment::new(Arc::clone(&directory), manifest.store, &options, codec));
        let segments = manifest.segments.iter();
        let segments =
            segments.map(|entry| Arc::new(Segment::of(*entry, &manifest, Arc::clone(&environment))));
        let state = State {
            environment: Arc::clone(&environment),
            segments: Arc::new(Segments::new(segments.collect())),
            memtable: [&*salvaged, &*replayed.memtable.runs].concat(),
            log_bytes: salvaged_bytes + ended.bytes + log.as_ref().map_or(0, LogWriter::bytes),
            damage: damage.into(),
            lock: Arc::clone(&generation),
        };
        let mut writer = Writer {
            generation,
            log,
            next_log: None,
            ended,
            replayed,
            frozen: None,
            pending: VecDeque::new(),
            ticket: 0,
            done: 0,
            flushing: false,
            poison: None,
            seal_at: options.segment_bytes,
            since: None,
            stats: FlushStats::default(),
            reserve: Reserve::default(),
            manifest,
        };
        if !writer.replayed.memtable.runs.is_empty() {
            writer.since = Some(Instant::now());
        }
        let segment_bytes = AtomicUsize::new(options.segment_bytes);
        let inner = Inner {
            directory,
            options,
            environment,
            numbers: Numbers::new(writer.manifest.next_file),
            sealing: Mutex::default(),
            compacting: Mutex::default(),
            reading: Mutex::default(),
            publishing: Mutex::default(),
            writer: Mutex::new(writer),
            flushed: Condvar::new(),
            state: RwLock::new(Arc::new(state)),
            salvaged,
            salvaged_bytes,
            signal: Arc::default(),
            has_upkeep: AtomicBool::new(false),
            leftovers,
            hold,
            rooms_made: AtomicU64::new(0),
            segment_bytes,
        };
        inner.fit_segments(&mut inner.lock());
        inner
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a batch may be stored.
    pub(crate) fn check(
        &self,
        events: &[Event<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> Result<(), AppendError> {
        let mut bytes = 0usize;
        for (index, event) in events.iter().enumerate() {
            let most = self.options.event_bytes_max;
            if event.bytes.len() > most {
                return Err(AppendError::EventTooLong { index, bytes: event.bytes.len(), most });
            }
            if event.bytes.is_empty() {
                return Err(AppendError::EventMalformed { index, found: "empty" });
            }
            if memchr(b'\n', event.bytes).is_some() {
                return Err(AppendError::EventMalformed { index, found: "more than one line" });
            }
            bytes = bytes.saturating_add(event.bytes.len() + 1);
        }
        if bytes > self.options.batch_bytes_max {
            return Err(AppendError::BatchTooLarge { bytes, most: self.options.batch_bytes_max });
        }
        let (name, note) = source.map_or((0, 0), |source| (source.name.len(), source.note.len()));
        if name > SOURCE_NAME_BYTES_MAX {
            return Err(AppendError::SourceNameTooLong { bytes: name, most: SOURCE_NAME_BYTES_MAX });
        }
        if note > SOURCE_NOTE_BYTES_MAX {
            return Err(AppendError::SourceNoteTooLong { bytes: note, most: SOURCE_NOTE_BYTES_MAX });
        }
        Ok(())
    }

    /// That nobody else can have become the writer: asked before a batch is acknowledged.
    pub(crate) fn check_hold(&self, writer: &mut Writer) -> Result<(), SealError> {
        Ok(self.hold.check(&*self.directory).map_err(|failure| writer.fail(failure))?)
    }

    pub(crate) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets snapshots see these segments and the writer's memtable.
    pub(crate) fn publish(&self, segments: Arc<Segments>, writer: &Writer) {
        let damage = Arc::clone(&self.state().damage);
        let frozen = writer.frozen.as_ref().map_or(&[][..], |frozen| &frozen.runs);
        let memtable = [&*self.salvaged, frozen, &*writer.replayed.memtable.runs].concat();
        let environment = Arc::clone(&self.environment);
        let lock = Arc::clone(&writer.generation);
        let log_bytes = self.salvaged_bytes + writer.unsealed_log_bytes();
        let state = Arc::new(State { environment, segments, memtable, log_bytes, damage, lock });
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut writer = self.lock();
        if writer.poison.is_some() {
            return;
        }
        let (directory, next_file) = (&*self.directory, self.numbers.next());
        let before = writer.manifest.number;
        if writer.manifest.settings.when_full == WhenFull::Fail || writer.unsealed_bytes() == 0 {
            // Opening needs it only to copy a log.
            writer.reserve.remove(directory);
        }
        // Nobody is left to be told of a failure; the next opening does what is left to do.
        let mut closed = Ok(());
        if retire::has_gone(directory, &writer.manifest) {
            let manifest = writer.manifest.clone();
            closed = writer.replace_manifest(directory, &self.hold, next_file, manifest);
        }
        if closed.is_ok() {
            closed = writer.close(directory, &self.hold, next_file);
        }
        if closed.is_ok() && writer.manifest.number > before {
            // The last snapshot of this process lets the manifests before go.
            self.publish(Arc::clone(&self.state().segments), &writer);
            retire::sweep(directory, &writer.manifest);
        }
    }
}
