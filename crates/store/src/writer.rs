//! The log, the memtable and the manifest, which one thread at a time touches; flushes are shared between those that wait.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use crate::error::{AppendError, Failure, Operation, SealError};
use crate::format::{FileKind, LOCK_NAME, SOURCE_NAME_BYTES_MAX};
use crate::io::{Directory, Lock};
use crate::log::{LogWriter, SourcePosition};
use crate::manifest::{LogEntry, Manifest, SourceMark, Sources};
use crate::options::{FlushStats, Options};
use crate::recovery::{Leftover, Recovered, Replayed};
use crate::retire;
use crate::run::Run;
use crate::segment::{Environment, Numbers, Segment};
use crate::snapshot::{Segments, State};
use crate::upkeep::Signal;
use crate::{Event, Statistics};

/// What all handles of a store share.
pub(crate) struct Inner {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) options: Options,
    pub(crate) statistics: Arc<dyn Statistics>,
    pub(crate) environment: Arc<Environment>,
    /// Numbers of files, and which of them are being written.
    pub(crate) numbers: Numbers,
    /// Held by the one that seals; taken before `writer`.
    pub(crate) sealing: Mutex<()>,
    /// Held by the one that compacts or removes segments, with the numbers of those that could not be compacted; taken before `writer`.
    pub(crate) compacting: Mutex<Vec<u64>>,
    writer: Mutex<Writer>,
    /// A flush has ended.
    flushed: Condvar,
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
}

/// What makes this process the only one that writes.
pub(crate) struct Hold {
    lock: Arc<dyn Lock>,
    process: u32,
}

impl Hold {
    pub(crate) fn new(lock: Arc<dyn Lock>) -> Hold {
        Hold { lock, process: std::process::id() }
    }

    /// Whether this is the process that opened the store, and not one forked from it.
    pub(crate) fn check_process(&self, directory: &dyn Directory) -> Result<(), Failure> {
        if std::process::id() == self.process {
            return Ok(());
        }
        let found = "this process was forked from the one that opened the store; open it again here, once that one has closed it";
        Err(Failure::during(directory, LOCK_NAME, Operation::KeepLock)(std::io::Error::other(found)))
    }

    /// Whether nobody else can have become the writer. Asked before anything is acknowledged: what is written is read by whoever opens the
    /// store after this has held.
    pub(crate) fn check(&self, directory: &dyn Directory) -> Result<(), Failure> {
        self.check_process(directory)?;
        if self.lock.holds() {
            return Ok(());
        }
        let found =
            "it was removed or replaced, so another process may be writing; this one writes nothing more";
        Err(Failure::during(directory, LOCK_NAME, Operation::KeepLock)(std::io::Error::other(found)))
    }
}

/// What only one thread at a time touches.
pub(crate) struct Writer {
    pub(crate) manifest: Manifest,
    /// Keeps what the manifest names for the snapshots taken from it.
    generation: Arc<dyn Lock>,
    pub(crate) log: Option<LogWriter>,
    /// Logs that were closed before: their events are in the memtable as well.
    pub(crate) ended: Ended,
    pub(crate) replayed: Replayed,
    /// What is being sealed, or could not be.
    pub(crate) frozen: Option<Frozen>,
    /// Written to the log, not yet known to be durable, so not shown.
    pub(crate) pending: VecDeque<Pending>,
    /// Counts batches; those up to `done` are durable, or as durable as was asked for.
    pub(crate) ticket: u64,
    done: u64,
    flushing: bool,
    poison: Option<Failure>,
    /// The memtable is sealed when it has as many bytes; more after a failed attempt.
    pub(crate) seal_at: usize,
    /// When the memtable is sealed for its age, once it holds something.
    pub(crate) seal_time: Option<Instant>,
    pub(crate) stats: FlushStats,
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
    pub(crate) next_arrival: u64,
    pub(crate) sources: Sources,
}

pub(crate) struct Pending {
    pub(crate) runs: Vec<Run>,
    pub(crate) source: Option<(String, SourceMark)>,
}

impl Writer {
    pub(crate) fn check(&self) -> Result<(), SealError> {
        match &self.poison {
            Some(failure) => Err(SealError::Poisoned(failure.clone())),
            None => Ok(()),
        }
    }

    /// Remembers a failure after which nobody knows what the medium holds.
    pub(crate) fn fail(&mut self, failure: Failure) -> Failure {
        if failure.is_final() {
            self.poison.get_or_insert_with(|| failure.clone());
        }
        failure
    }

    /// Publishes a manifest under the next number.
    fn replace_manifest(
        &mut self,
        directory: &dyn Directory,
        hold: &Hold,
        next_file: u64,
        manifest: Manifest,
    ) -> Result<(), Failure> {
        hold.check(directory)?;
        let mut manifest = Manifest { number: self.manifest.number + 1, next_file, ..manifest };
        if let Some(log) = &self.log {
            let own = manifest.logs.iter_mut().filter(|entry| entry.number == log.number);
            own.for_each(|entry| *entry = log.entry());
        }
        manifest.replaces(&self.manifest, directory)?;
        self.generation = manifest.publish(directory)?;
        self.manifest = manifest;
        Ok(())
    }

    /// Makes everything durable, and leaves word of it in the log and in the manifest: then nothing that is lost later can pass for never
    /// written, and the log need not be copied when the store is opened again.
    fn close(&mut self, directory: &dyn Directory, hold: &Hold, next_file: u64) -> Result<(), Failure> {
        hold.check(directory)?;
        let next_arrival = self.replayed.next_arrival;
        let Some(log) = &mut self.log else { return Ok(()) };
        if log.flushed < log.written {
            log.flush(directory)?;
        }
        log.bear_witness(directory, next_arrival)?;
        if log.flushed < log.written {
            log.flush(directory)?;
        }
        let mut manifest = self.manifest.clone();
        let ended = LogEntry { ended: true, ..log.entry() };
        manifest
            .logs
            .iter_mut()
            .filter(|entry| entry.number == ended.number)
            .for_each(|entry| *entry = ended);
        // It takes no more batches, whatever becomes of the manifest.
        self.log = None;
        self.replace_manifest(directory, hold, next_file, manifest)
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
        statistics: Arc<dyn Statistics>,
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
        let environment = Arc::new(Environment::new(Arc::clone(&directory), manifest.store, &options));
        let segments = manifest.segments.iter();
        let segments = segments.map(|entry| Arc::new(Segment::new(*entry, Arc::clone(&environment))));
        let state = State {
            environment: Arc::clone(&environment),
            segments: Arc::new(Segments::new(segments.collect())),
            memtable: [&*salvaged, &*replayed.memtable.runs].concat(),
            log_bytes: salvaged_bytes + ended.bytes + log.as_ref().map_or(0, |log| log.written),
            damage: damage.into(),
            lock: Arc::clone(&generation),
        };
        let mut writer = Writer {
            generation,
            log,
            ended,
            replayed,
            frozen: None,
            pending: VecDeque::new(),
            ticket: 0,
            done: 0,
            flushing: false,
            poison: None,
            seal_at: options.segment_bytes,
            seal_time: None,
            stats: FlushStats::default(),
            manifest,
        };
        if !writer.replayed.memtable.runs.is_empty() {
            writer.seal_time = Instant::now().checked_add(options.seal_age);
        }
        Inner {
            directory,
            options,
            statistics,
            environment,
            numbers: Numbers::new(writer.manifest.next_file),
            sealing: Mutex::default(),
            compacting: Mutex::default(),
            writer: Mutex::new(writer),
            flushed: Condvar::new(),
            state: RwLock::new(Arc::new(state)),
            salvaged,
            salvaged_bytes,
            signal: Arc::default(),
            has_upkeep: AtomicBool::new(false),
            leftovers,
            hold,
        }
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
    pub(crate) fn log<'w>(&self, writer: &'w mut Writer) -> Result<&'w mut LogWriter, Failure> {
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
        let number = self.numbers.take_free(&*self.directory, FileKind::Log);
        let mut log = LogWriter::create(&*self.directory, writer.manifest.store, number)?;
        let mut manifest = writer.manifest.clone();
        manifest.next_arrival = writer.replayed.next_arrival;
        manifest.logs.push(log.entry());
        if let Err(failure) = self.replace_manifest(writer, manifest) {
            if !failure.is_final() {
                log.remove_unfinished(&*self.directory);
            }
            return Err(failure);
        }
        log.rename(&*self.directory)?;
        self.directory.flush().map_err(Failure::during(&*self.directory, "", Operation::FlushFolder))?;
        let segments = Arc::clone(&self.state().segments);
        self.publish(segments, writer);
        retire::sweep(&*self.directory, &writer.manifest);
        Ok(log)
    }

    /// Publishes a manifest under the next number. Its generation is held for the snapshots that will be taken from it.
    pub(crate) fn replace_manifest(&self, writer: &mut Writer, manifest: Manifest) -> Result<(), Failure> {
        writer.replace_manifest(&*self.directory, &self.hold, self.numbers.next(), manifest)
    }

    /// Returns when the batch with this ticket is durable. One of the waiting threads flushes for all that have written by then.
    pub(crate) fn wait_until_durable<'w>(
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
    pub(crate) fn flush_log<'w>(
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

    /// Flushes and shows everything, and leaves word in the log that it was durable.
    pub(crate) fn flush(&self) -> Result<(), SealError> {
        let mut writer = self.flush_log(self.lock())?;
        self.check_hold(&mut writer)?;
        let next_arrival = writer.replayed.next_arrival;
        let Writer { log, pending, .. } = &mut *writer;
        if let Some(log) = log.as_mut().filter(|_| pending.is_empty())
            && let Err(failure) = log.bear_witness(&*self.directory, next_arrival)
            && failure.is_final()
        {
            return Err(writer.fail(failure).into());
        }
        // Without room for it nothing is lost but the word.
        Ok(())
    }

    /// Flushes and shows everything, while no other thread can write.
    pub(crate) fn settle<'w>(
        &'w self,
        mut writer: MutexGuard<'w, Writer>,
    ) -> Result<MutexGuard<'w, Writer>, SealError> {
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

    /// Takes the batches up to a ticket into the memtable, and lets snapshots see them.
    pub(crate) fn show(&self, writer: &mut Writer, ticket: u64) {
        while writer.done < ticket {
            writer.done += 1;
            let Some(Pending { runs, source }) = writer.pending.pop_front() else { continue };
            for run in runs {
                writer.replayed.memtable.push(run, self.options.block_bytes);
            }
            if let Some((name, mark)) = source {
                writer.replayed.mark(&name, mark);
            }
            if writer.seal_time.is_none() {
                writer.seal_time = Instant::now().checked_add(self.options.seal_age);
                self.signal.wake();
            }
        }
        let segments = Arc::clone(&self.state().segments);
        self.publish(segments, writer);
    }

    /// Forgets that positions of sources were lost.
    pub(crate) fn accept_source_positions(&self) -> Result<(), SealError> {
        let mut writer = self.lock();
        writer.check()?;
        writer.replayed.sources_lost_before = 0;
        if writer.manifest.sources_lost_before > 0 {
            let manifest = Manifest { sources_lost_before: 0, ..writer.manifest.clone() };
            self.replace_manifest(&mut writer, manifest).map_err(|failure| writer.fail(failure))?;
            let segments = Arc::clone(&self.state().segments);
            self.publish(segments, &writer);
            retire::sweep(&*self.directory, &writer.manifest);
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
        let log_bytes = self.salvaged_bytes
            + writer.frozen.as_ref().map_or(0, |frozen| frozen.log_bytes)
            + writer.ended.bytes
            + writer.log.as_ref().map_or(0, |log| log.written);
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
        // Nobody is left to be told of a failure; the next opening does what is left to do.
        let mut closed = writer.close(directory, &self.hold, next_file);
        if closed.is_ok() && retire::has_gone(directory, &writer.manifest) {
            let manifest = writer.manifest.clone();
            closed = writer.replace_manifest(directory, &self.hold, next_file, manifest);
        }
        if closed.is_ok() && writer.manifest.number > before {
            // The last snapshot of this process lets the manifests before go.
            self.publish(Arc::clone(&self.state().segments), &writer);
            retire::sweep(directory, &writer.manifest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{LockKind, Simulated};

    #[test]
    fn a_forked_process_writes_nothing() {
        let folder = Simulated::new();
        folder.create(LOCK_NAME).unwrap();
        let lock = folder.lock(LOCK_NAME, LockKind::Exclusive).unwrap().unwrap();
        let mut hold = Hold::new(Arc::from(lock));
        hold.check(&folder).unwrap();
        // A fork shares the lock, and has a number of its own.
        hold.process ^= 1;
        let error = hold.check(&folder).unwrap_err();
        assert!(error.is_final());
        assert_eq!(
            error.to_string(),
            "cannot keep the lock on simulated/lock: this process was forked from the one that opened the store; open it \
             again here, once that one has closed it"
        );
    }
}
