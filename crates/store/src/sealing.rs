//! Sealing: the memtable, or a large batch, becomes segments.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{AppendError, Failure, SealError};
use crate::event::Event;
use crate::format::Key;
use crate::history::Traffic;
use crate::log::{LogWriter, SourcePosition};
use crate::manifest::{Manifest, SourceMark, Sources, mark};
use crate::memtable::Memtable;
use crate::options::{FlushStats, Options};
use crate::publishing::Publishing;
use crate::segment::{Sealed, Segment, Unwritten, Written, write_sorted};
use crate::settings::{self, Settings};
use crate::snapshot::Segments;
use crate::writer::{Frozen, Inner, Writer, check_numbers};

impl Writer {
    /// Takes the memtable and its log aside, behind what could not be sealed before. All of it is durable.
    fn freeze(&mut self) {
        let untold = self.log.as_ref().map(LogWriter::uncounted).unwrap_or_default();
        self.manifest.traffic.count(untold);
        let Memtable { runs, document_bytes } = std::mem::take(&mut self.replayed.memtable);
        let frozen = self.frozen.get_or_insert_default();
        frozen.runs.extend(runs);
        frozen.document_bytes += document_bytes;
        let ended = std::mem::take(&mut self.ended);
        frozen.logs.extend(ended.logs);
        frozen.log_bytes += ended.bytes;
        if let Some(log) = self.log.take() {
            frozen.logs.push(log.number);
            frozen.log_bytes += log.bytes();
            // As long as it cannot be sealed manifests name it.
            let closed = log.entry();
            let own = self.manifest.logs.iter_mut().filter(|entry| entry.number == closed.number);
            own.for_each(|entry| *entry = closed);
            frozen.locks.extend(log.into_lock());
        }
        self.log = self.next_log.take();
        frozen.next_arrival = self.replayed.next_arrival;
        frozen.sources.clone_from(&self.replayed.sources);
        self.since = None;
    }
}

impl Inner {
    /// Seals the memtable. Others append meanwhile; on failure nothing has changed for them, and the next attempt takes the same events
    /// with those that came since. Where the medium is full, room is made if the settings say so.
    pub(crate) fn seal(&self) -> Result<(), SealError> {
        self.with_room(SealError::is_full_medium, || self.seal_once())
    }

    fn seal_once(&self) -> Result<(), SealError> {
        let _one_at_a_time = self.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        match self.seal_now() {
            Err(error) if error.is_full_medium() && self.lock().reserve.lend(&*self.directory) => {
                let sealed = self.seal_now();
                self.lock().reserve.take_back();
                sealed
            }
            sealed => sealed,
        }
    }

    /// Seals the memtable, while nobody else does.
    fn seal_now(&self) -> Result<(), SealError> {
        // What is sealed was durable before, so that a failure on the way takes nothing back; and nothing is left in the log. All of it is
        // flushed while others append, then what these have appended, and little is left for which they have to wait.
        let writer = self.flush_log(self.lock())?;
        if writer.log.is_some() && writer.replayed.memtable.document_bytes >= writer.seal_at {
            // More will come.
            drop(writer);
            self.prepare_log()?;
        } else {
            drop(writer);
        }
        let writer = self.flush_log(self.lock())?;
        let mut writer = self.settle(writer)?;
        if !writer.replayed.memtable.runs.is_empty() {
            writer.freeze();
        }
        let Some(Frozen { runs, sources, .. }) = &writer.frozen else {
            writer.since = None;
            return Ok(());
        };
        let (runs, sources) = (runs.clone(), sources.clone());
        drop(writer);
        let mut events: Vec<(Key, &[u8])> = Vec::with_capacity(runs.iter().map(|run| run.len()).sum());
        for run in &runs {
            events.extend((0..run.len()).filter_map(|index| Some((run.key(index)?, run.document(index)))));
        }
        // The runs are in order each: this sort finds and merges them.
        events.sort_by_key(|(key, _)| *key);
        let mut stats = FlushStats::default();
        let written = self.write_segments(&events, &sources, &mut stats);
        // Who waits for the manifest is to know of a failure first.
        let written = written.map_err(|failure| self.lock().fail(failure))?;
        let mut writer = self.lock_manifest();
        writer.stats.add(&stats);
        let mut manifest = writer.manifest.clone();
        if let Some(frozen) = &writer.frozen {
            manifest.logs.retain(|log| !frozen.logs.contains(&log.number));
            manifest.next_arrival = manifest.next_arrival.max(frozen.next_arrival);
            for (name, position) in &frozen.sources {
                mark(&mut manifest.sources, name, position.clone());
            }
        }
        self.replace_segments(&mut writer, manifest, &[], written, |writer| {
            writer.frozen = None;
            if writer.replayed.memtable.runs.is_empty() {
                writer.since = None;
            }
        })
    }

    /// Seals the memtable if it is large or old enough. A failure that is not final is no harm: it is tried again when more has come, or
    /// as much time has passed.
    pub(crate) fn seal_if_due(&self) {
        if !self.lock().is_due(&self.options) {
            return;
        }
        if self.seal().is_err() {
            let mut writer = self.lock();
            let more = self.segment_bytes() / 4;
            writer.seal_at = writer.replayed.memtable.document_bytes.saturating_add(more);
            writer.since = Some(Instant::now());
        }
    }

    /// Writes the events of a batch straight into segments. Others append meanwhile: the arrival numbers are taken first, and no lock of
    /// theirs is held while blocks are made and written.
    pub(crate) fn seal_batch(
        &self,
        events: &[Event<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> Result<Range<u64>, AppendError> {
        let _one_at_a_time = self.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        // Batches that came before are durable, and shown, before.
        let mut writer = self.flush_log(self.lock())?;
        let first = writer.replayed.next_arrival;
        check_numbers(first, events)?;
        writer.check_source(source)?;
        let next = first + events.len() as u64;
        writer.replayed.next_arrival = next;
        let sources = writer.replayed.sources.clone();
        drop(writer);
        let mut sorted: Vec<(Key, &[u8])> = (first..next)
            .zip(events)
            .map(|(arrival, event)| (Key { instant: event.instant, arrival }, event.bytes))
            .collect();
        if !sorted.is_sorted_by_key(|(key, _)| *key) {
            sorted.sort_unstable_by_key(|(key, _)| *key);
        }
        let source = source.map(|source| (source.name, source.mark(next)));
        self.seal_sorted(&sorted, next, sources, source)?;
        Ok(first..next)
    }

    /// Writes events that have their numbers straight into segments; whatever comes later gets `next` and higher ones. False if the store would not have given
    /// `expected`, as somebody has appended.
    pub(crate) fn seal_numbered(
        &self,
        sorted: &[(Key, &[u8])],
        expected: u64,
        next: u64,
    ) -> Result<bool, AppendError> {
        let _one_at_a_time = self.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = self.flush_log(self.lock())?;
        if writer.replayed.next_arrival != expected {
            return Ok(false);
        }
        writer.replayed.next_arrival = next;
        let sources = writer.replayed.sources.clone();
        drop(writer);
        self.seal_sorted(sorted, next, sources, None)?;
        Ok(true)
    }

    /// Writes events, sorted by key, whose numbers are taken already, and publishes them. `sources` is where these stood when the numbers were taken: what came
    /// since is in no segment.
    fn seal_sorted(
        &self,
        sorted: &[(Key, &[u8])],
        next: u64,
        mut sources: Sources,
        source: Option<(&str, SourceMark)>,
    ) -> Result<(), AppendError> {
        if let Some((name, place)) = &source {
            mark(&mut sources, name, place.clone());
        }
        let mut stats = FlushStats::default();
        let written = self.write_segments(sorted, &sources, &mut stats);
        let written = written.map_err(|failure| self.lock().fail(failure))?;
        let mut writer = self.lock_manifest();
        writer.stats.add(&stats);
        let mut manifest = writer.manifest.clone();
        manifest.traffic.append(sorted.iter().map(|(_, document)| *document));
        manifest.next_arrival = manifest.next_arrival.max(next);
        if let Some((name, place)) = &source {
            mark(&mut manifest.sources, name, place.clone());
        }
        self.replace_segments(&mut writer, manifest, &[], written, |writer| {
            if let Some((name, place)) = source {
                writer.replayed.mark(name, place);
            }
        })?;
        self.check_hold(&mut writer)?;
        drop(writer);
        self.signal.wake();
        Ok(())
    }

    /// Writes events, sorted by key, into segments that are durable, and that no manifest names yet.
    pub(crate) fn write_segments(
        &self,
        events: &[(Key, &[u8])],
        sources: &Sources,
        stats: &mut FlushStats,
    ) -> Result<Written, Failure> {
        match self.write_segments_while(events, sources, stats, &|| true)? {
            Some(written) => Ok(written),
            None => unreachable!("it may always go on"),
        }
    }

    /// The same as long as it may go on; none if it may not.
    pub(crate) fn write_segments_while(
        &self,
        events: &[(Key, &[u8])],
        sources: &Sources,
        stats: &mut FlushStats,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Written>, Failure> {
        let to = Sealed {
            directory: &*self.directory,
            store: self.environment.store,
            options: &self.options,
            segment_bytes: self.segment_bytes(),
            codec: &*self.environment.codec,
            numbers: &self.numbers,
            sources,
            may_go_on,
        };
        // Before a file is made that another writer may be making.
        self.hold.check(&*self.directory)?;
        let begun = Instant::now();
        let written = write_sorted(&to, events, stats);
        stats.segment_time += begun.elapsed();
        match written {
            Ok(written) => Ok(Some(written)),
            Err(Unwritten::Stopped) => Ok(None),
            Err(Unwritten::Failure(failure)) => Err(failure),
        }
    }

    /// Publishes a manifest in which new segments stand for others, or for none, without what is outside of the bounds by now, and shows it after
    /// `then` has told the writer. Others append while it is flushed. On failure nothing has changed, or it is final.
    pub(crate) fn replace_segments(
        &self,
        writer: &mut Publishing<'_>,
        manifest: Manifest,
        replaced: &[u64],
        written: Written,
        then: impl FnOnce(&mut Writer),
    ) -> Result<(), SealError> {
        let begun = Instant::now();
        let mut manifest = manifest;
        let place = manifest.segments.iter().position(|entry| replaced.contains(&entry.number));
        manifest.segments.retain(|entry| !replaced.contains(&entry.number));
        let place = place.unwrap_or(manifest.segments.len());
        manifest.segments.splice(place..place, written.entries.iter().copied());
        let new_bytes: u64 = written.entries.iter().map(|entry| entry.file_bytes).sum();
        let Traffic { sealed, rewritten, .. } = &mut manifest.traffic;
        let sum = if replaced.is_empty() { sealed } else { rewritten };
        *sum = sum.saturating_add(new_bytes);
        let published = writer.check().and_then(|()| {
            let kept = manifest.keep_bounds(&*self.directory, settings::now());
            kept.map_err(|failure| writer.fail(failure))?;
            Ok(writer.publish(manifest)?)
        });
        let published = match published {
            Ok(published) => published,
            Err(error) => {
                if !matches!(&error, SealError::Failure(failure) if failure.is_final()) {
                    // No manifest will ever name them.
                    written.remove(&*self.directory);
                }
                return Err(error);
            }
        };
        let (named, outside) = written.named_by(&published.manifest.segments);
        let finished = writer.unlocked(|| {
            outside.remove(&*self.directory);
            named.finish(&*self.directory)
        });
        // All at once: what is shown from now on is held by the new generation.
        writer.keep_to(published);
        finished.map_err(|failure| writer.fail(failure))?;
        then(writer);
        self.fit_segments(writer);
        // Not the whole state: that would hold the files that go.
        let before = Arc::clone(&self.state().segments);
        let known: HashMap<u64, &Arc<Segment>> =
            before.list.iter().map(|segment| (segment.entry.number, segment)).collect();
        let list = writer.manifest.segments.iter().map(|entry| match known.get(&entry.number) {
            Some(segment) if segment.is_marked_as(&writer.manifest) => Arc::clone(segment),
            _ => Arc::new(Segment::of(*entry, &writer.manifest, Arc::clone(&self.environment))),
        });
        self.publish(Arc::new(Segments::new(list.collect())), writer);
        if writer.manifest.segments.len() < known.len() + named.entries.len() {
            self.environment.close_all_but(&writer.manifest.segments);
        }
        writer.sweep();
        writer.stats.segment_time += begun.elapsed();
        Ok(())
    }
}

impl Writer {
    /// Whether the memtable is to be sealed.
    pub(crate) fn is_due(&self, options: &Options) -> bool {
        let old = self.seal_time(options).is_some_and(|time| time <= Instant::now());
        self.check().is_ok() && (old || self.replayed.memtable.document_bytes >= self.seal_at)
    }

    /// Whether the memtable is worth a segment.
    pub(crate) fn is_worth_a_segment(&self, options: &Options) -> bool {
        self.is_worth_within(options, &self.manifest.settings)
    }

    /// The same by other settings.
    pub(crate) fn is_worth_within(&self, options: &Options, settings: &Settings) -> bool {
        // HEURISTIC: a small part of a bounded store, so that the log takes the room of little else.
        let bound = settings.max_bytes.unwrap_or(u64::MAX) / 16;
        let least = (options.least_sealed_bytes() as u64).min(bound);
        // Of small batches a log has more than of documents.
        let log_bytes = self.ended.bytes + self.log.as_ref().map_or(0, LogWriter::bytes);
        self.replayed.memtable.document_bytes as u64 >= least || log_bytes >= least.saturating_mul(4)
    }

    /// When the memtable is sealed for its age, if it holds something.
    pub(crate) fn seal_time(&self, options: &Options) -> Option<Instant> {
        let age = options.seal_age;
        let wait = if self.is_worth_a_segment(options) {
            age
        } else {
            // HEURISTIC: a day, unless set; and what is to go soon does not wait for it.
            let soon = self.manifest.settings.max_age.unwrap_or(Duration::MAX) / 16;
            age.saturating_mul(288).min(soon).max(age)
        };
        self.since?.checked_add(wait)
    }
}
