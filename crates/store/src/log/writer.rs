//! Writing a log, batch by batch.

use std::io;
use std::sync::Arc;

use super::batch::{SourcePosition, StoredBatch, WINDOW_BYTES};
use super::reader::{Ending, stamp};
use crate::error::{Failure, Operation};
use crate::event::Event;
use crate::format::{ALIGNMENT, FRAME_BYTES, FileKind, Frame, HEADER_BYTES, Header, VERSION, Word, checksum};
use crate::history::Untold;
use crate::io::{Directory, File, Lock, LockKind, write_all_at};
use crate::manifest::LogEntry;
use crate::retire;

/// A batch ready to be written, but for its place and its arrival numbers.
#[derive(Debug)]
pub(crate) struct EncodedBatch {
    /// Room for the frame, the body, the zeros.
    bytes: Vec<u8>,
    frame: Frame,
}

impl EncodedBatch {
    /// Lays out a batch. The caller has checked that the documents fit in [`DOCUMENT_BYTES_MAX`](crate::format::DOCUMENT_BYTES_MAX) and name and note in their limits.
    pub(crate) fn new(events: &[Event<'_>], source: Option<SourcePosition<'_>>) -> EncodedBatch {
        let document_bytes: usize = events.iter().map(|event| event.bytes.len() + 1).sum();
        let name = source.map_or("", |source| source.name).as_bytes();
        let note = source.map_or(&[][..], |source| source.note);
        let length = FRAME_BYTES + events.len() * 12 + document_bytes + name.len() + note.len();
        let mut bytes = Vec::with_capacity(length + ALIGNMENT as usize);
        bytes.resize(FRAME_BYTES, 0);
        for event in events {
            bytes.extend_from_slice(&event.instant.to_le_bytes());
        }
        let mut end = 0u32;
        for event in events {
            end += event.bytes.len() as u32;
            bytes.extend_from_slice(&end.to_le_bytes());
            end += 1;
        }
        for event in events {
            bytes.extend_from_slice(event.bytes);
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(note);
        let body = bytes.get(FRAME_BYTES..).unwrap_or_default();
        let frame = Frame {
            body_checksum: checksum(0, &[body]),
            document_bytes: document_bytes as u32,
            events: events.len() as u32,
            flushed: 0,
            first_arrival: 0,
            source_position: source.map_or(0, |source| source.position),
            source_name_bytes: name.len() as u16,
            source_note_bytes: note.len() as u16,
            word: Word::None,
        };
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
        EncodedBatch { bytes, frame }
    }

    /// What it takes of the log.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// An empty batch that says something of the log.
    fn saying(word: Word, what: u64) -> EncodedBatch {
        let mut batch = EncodedBatch::new(&[], None);
        batch.frame.word = word;
        batch.frame.source_position = what;
        batch
    }
}

/// Keeps other processes from writing to a new log. None on systems where an exclusive lock blocks readers as well.
fn lock_for_writing(directory: &dyn Directory, name: &str) -> Option<Arc<dyn Lock>> {
    let lock = directory.lock(name, LockKind::Exclusive).ok().flatten()?;
    directory.open(name).and_then(|file| file.read_at(0, &mut [0])).ok()?;
    Some(Arc::from(lock))
}

/// The end of a log to which batches are appended.
#[derive(Debug)]
pub(crate) struct LogWriter {
    pub(crate) number: u64,
    /// It has its unfinished name still.
    unnamed: bool,
    pub(crate) file: Arc<dyn File>,
    name: String,
    seed: u32,
    /// Where the next batch goes.
    pub(crate) written: u64,
    /// What was written and has not been counted yet.
    uncounted: Untold,
    /// As much of it as was flushed when the latest witness was written.
    uncounted_flushed: Untold,
    /// Up to where the file is known to be durable.
    pub(crate) flushed: u64,
    /// Up to here the log itself, or its manifest, says that it was durable.
    witnessed: u64,
    /// The log was closed, while the manifest of this number counted: the batch that says so follows what is written and flushed. Before anything is written another one takes its place, and is
    /// flushed, so that no loss of power makes the log again what it was before.
    closed: Option<u64>,
    /// The manifest in the stamp that was written last.
    stamped: Option<u64>,
    /// Keeps other processes from writing to the log. None for a new log where such a lock would also block readers.
    lock: Option<Arc<dyn Lock>>,
}

/// Logs that are being made from others: one, unless the batches do not come in the order of their arrival numbers, which rise within a
/// log. They are durable, and can be appended to, once they are finished.
#[derive(Debug)]
pub(crate) struct LogCopies<'d> {
    directory: &'d dyn Directory,
    copies: Vec<LogCopy>,
}

/// New logs, durable under their unfinished names. They are taken away with this, unless a manifest may name them.
#[derive(Debug)]
pub(crate) struct NewLogs<'d> {
    directory: &'d dyn Directory,
    pub(crate) logs: Vec<LogWriter>,
}

impl<'d> NewLogs<'d> {
    pub(crate) fn none(directory: &'d dyn Directory) -> NewLogs<'d> {
        NewLogs { directory, logs: Vec::new() }
    }

    /// They stay, as a manifest that names them is published, with what that gave. They stay too where nobody knows whether it is.
    pub(crate) fn named<T>(mut self, published: Result<T, Failure>) -> Result<(T, Vec<LogWriter>), Failure> {
        let stay = published.as_ref().err().is_none_or(Failure::is_final);
        let logs = if stay { std::mem::take(&mut self.logs) } else { Vec::new() };
        published.map(|published| (published, logs))
    }
}

impl Drop for NewLogs<'_> {
    fn drop(&mut self) {
        self.logs.iter().for_each(|log| log.remove_unfinished(self.directory));
    }
}

impl Drop for LogCopies<'_> {
    fn drop(&mut self) {
        self.copies.iter().for_each(|copy| copy.log.remove_unfinished(self.directory));
    }
}

impl<'d> LogCopies<'d> {
    pub(crate) fn new(directory: &'d dyn Directory) -> LogCopies<'d> {
        LogCopies { directory, copies: Vec::new() }
    }

    /// Adds a batch as it is, with its arrival numbers, unless it only bore witness to the old log. A log that begins with it gets the number.
    pub(crate) fn push(
        &mut self,
        store: u128,
        batch: &StoredBatch<'_>,
        number: impl FnOnce() -> u64,
    ) -> Result<(), Failure> {
        if batch.is_witness() {
            return Ok(());
        }
        let directory = self.directory;
        match self.copies.last_mut().filter(|copy| copy.next_arrival <= batch.frame.first_arrival) {
            Some(copy) => copy.push(directory, batch),
            None => {
                let mut copy = LogCopy::begin(directory, store, number())?;
                let pushed = copy.push(directory, batch);
                self.copies.push(copy);
                pushed
            }
        }
    }

    /// Makes them durable.
    pub(crate) fn finish(mut self) -> Result<NewLogs<'d>, Failure> {
        let directory = self.directory;
        self.copies.iter_mut().try_for_each(|copy| copy.finish(directory))?;
        let logs = std::mem::take(&mut self.copies).into_iter().map(|copy| copy.log).collect();
        Ok(NewLogs { directory, logs })
    }
}

#[derive(Debug)]
struct LogCopy {
    log: LogWriter,
    /// What follows the arrival numbers in it.
    next_arrival: u64,
    /// Not written yet.
    bytes: Vec<u8>,
}

impl LogCopy {
    fn begin(directory: &dyn Directory, store: u128, number: u64) -> Result<LogCopy, Failure> {
        Ok(LogCopy { log: LogWriter::begin(directory, store, number)?, next_arrival: 0, bytes: Vec::new() })
    }

    fn push(&mut self, directory: &dyn Directory, batch: &StoredBatch<'_>) -> Result<(), Failure> {
        // By the time a manifest names the log all of it is flushed, so each batch may say so of those before it.
        let frame = Frame { flushed: self.log.written + self.bytes.len() as u64, ..batch.frame };
        self.next_arrival = frame.first_arrival + u64::from(frame.events);
        batch.write_to(&mut self.bytes, &frame, self.log.seed);
        if self.bytes.len() >= WINDOW_BYTES { self.write(directory) } else { Ok(()) }
    }

    fn write(&mut self, directory: &dyn Directory) -> Result<(), Failure> {
        let log = &mut self.log;
        let written = write_all_at(&*log.file, log.written, &self.bytes);
        written.map_err(Failure::during(directory, &log.name, Operation::Write))?;
        log.written += self.bytes.len() as u64;
        log.uncounted.bytes += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    fn finish(&mut self, directory: &dyn Directory) -> Result<(), Failure> {
        self.write(directory)?;
        self.log.finish(directory)
    }
}

impl LogWriter {
    /// Creates a log, durable under its unfinished name when this returns. It counts only once a manifest names it, and has its final
    /// name before a batch in it is acknowledged.
    pub(crate) fn create(directory: &dyn Directory, store: u128, number: u64) -> Result<LogWriter, Failure> {
        let mut log = LogWriter::begin(directory, store, number)?;
        let finished = log.finish(directory);
        if finished.is_err() {
            log.remove_unfinished(directory);
        }
        finished.map(|()| log)
    }

    /// Creates the file under its unfinished name.
    fn begin(directory: &dyn Directory, store: u128, number: u64) -> Result<LogWriter, Failure> {
        let (name, unfinished) = (FileKind::Log.name(number), FileKind::Log.unfinished_name(number));
        let header = Header { kind: FileKind::Log, version: VERSION, store, number };
        let created = directory.create(&unfinished);
        let file = created.map_err(Failure::during(directory, &name, Operation::Create))?;
        let written = write_all_at(&*file, 0, &header.encode());
        if let Err(error) = written {
            let _ = directory.remove(&unfinished);
            return Err(Failure::during(directory, &name, Operation::Write)(error));
        }
        let written = HEADER_BYTES as u64;
        let seed = header.seed();
        let lock = lock_for_writing(directory, &unfinished);
        Ok(LogWriter {
            number,
            unnamed: true,
            file,
            name,
            seed,
            written,
            uncounted: Untold { bytes: written, document_bytes: 0 },
            uncounted_flushed: Untold::default(),
            flushed: 0,
            witnessed: written,
            closed: None,
            stamped: None,
            lock,
        })
    }

    /// Continues a log that an earlier process has left. All of it is durable, and it was read after the lock was taken. `stamped` is the manifest in its last stamp, if that stamp still holds.
    pub(crate) fn resume(
        directory: &dyn Directory,
        ending: &Ending,
        stamped: Option<u64>,
        lock: Arc<dyn Lock>,
    ) -> Result<LogWriter, Failure> {
        let Ending { header, length, durable, closed_at, .. } = *ending;
        let (number, name) = (header.number, FileKind::Log.name(header.number));
        let file = directory.open_for_writing(&name);
        let file = file.map_err(Failure::during(directory, &name, Operation::Open))?;
        Ok(LogWriter {
            number,
            unnamed: false,
            file,
            name,
            seed: header.seed(),
            written: length,
            uncounted: Untold::default(),
            uncounted_flushed: Untold::default(),
            flushed: length,
            witnessed: durable,
            closed: closed_at,
            stamped,
            lock: Some(lock),
        })
    }

    fn finish(&mut self, directory: &dyn Directory) -> Result<(), Failure> {
        self.flush(directory)?;
        directory.flush().map_err(Failure::during(directory, &self.name, Operation::FlushFolder))?;
        self.witnessed = self.flushed;
        Ok(())
    }

    /// The log as a manifest names it now.
    pub(crate) fn entry(&self) -> LogEntry {
        LogEntry { number: self.number, version: VERSION, length: self.flushed, ended: false }
    }

    /// What it takes of the medium.
    pub(crate) fn bytes(&self) -> u64 {
        self.written + self.closing_bytes()
    }

    /// Counts bytes that were written again before the log was continued.
    pub(crate) fn count_again(&mut self, bytes: u64) {
        self.uncounted.bytes += bytes;
    }

    /// Whether nothing was written to it since it was closed, while this manifest counted.
    pub(crate) fn is_closed_at(&self, manifest: u64) -> bool {
        self.closed == Some(manifest)
    }

    /// Bytes of the batch with which it is closed.
    fn closing_bytes(&self) -> u64 {
        if self.closed.is_some() { FRAME_BYTES as u64 } else { 0 }
    }

    /// Keeps others from going on with the log, as long as it is held.
    pub(crate) fn into_lock(self) -> Option<Arc<dyn Lock>> {
        self.lock
    }

    /// Gives a new log its final name, once a manifest names it; durable when the folder is flushed. False if it has it already.
    pub(crate) fn rename(&mut self, directory: &dyn Directory) -> Result<bool, Failure> {
        if !std::mem::take(&mut self.unnamed) {
            return Ok(false);
        }
        retire::finish_name(directory, &self.name)?;
        Ok(true)
    }

    /// Takes a new log away that no manifest will name.
    pub(crate) fn remove_unfinished(&self, directory: &dyn Directory) {
        if self.unnamed {
            let _ = directory.remove(&FileKind::Log.unfinished_name(self.number));
        }
    }

    /// Whether much is durable that no batch calls durable yet.
    pub(crate) fn is_worth_a_witness(&self) -> bool {
        // HEURISTIC: a witness takes one frame. If less is unproven, the next process can as well write it again.
        self.flushed.saturating_sub(self.witnessed) >= 8 * FRAME_BYTES as u64
    }

    /// Writes an empty batch that says how far the log is durable: what is damaged before it cannot pass for the log's end. It need not be
    /// durable itself.
    pub(crate) fn bear_witness(
        &mut self,
        directory: &dyn Directory,
        manifest: u64,
        next_arrival: u64,
    ) -> Result<(), Failure> {
        if self.flushed <= self.witnessed || self.flushed != self.written {
            return Ok(());
        }
        self.write_witness(directory, manifest, next_arrival)
    }

    /// The same, whether or not anything says so already.
    pub(crate) fn write_witness(
        &mut self,
        directory: &dyn Directory,
        manifest: u64,
        next_arrival: u64,
    ) -> Result<(), Failure> {
        if self.flushed == self.written {
            self.uncounted_flushed = self.uncounted;
        }
        self.write(directory, EncodedBatch::new(&[], None), manifest, next_arrival)?;
        // The next one has to tell of more than of this one.
        self.witnessed = self.written;
        Ok(())
    }

    /// Says by an empty batch, and makes durable, that all before was durable, and so was the manifest that counts: then the next process can go on with the log. This one must not,
    /// afterwards.
    pub(crate) fn close(
        &mut self,
        directory: &dyn Directory,
        manifest: u64,
        next_arrival: u64,
    ) -> Result<(), Failure> {
        // It names the manifest itself: a stamp before it would not be durable yet when it says that all is.
        let stamped = self.stamped.replace(manifest);
        self.write(directory, EncodedBatch::saying(Word::Closed, manifest), manifest, next_arrival)
            .inspect_err(|_| self.stamped = stamped)?;
        self.flush(directory)
    }

    /// Replaces the batch that closed the log, and flushes that, before anything is written behind it.
    fn reopen(&mut self, directory: &dyn Directory, manifest: u64, next_arrival: u64) -> Result<(), Failure> {
        let stamp = self.stamp(directory, manifest).unwrap_or_default();
        self.put(&mut EncodedBatch::saying(Word::Resumed, stamp), next_arrival).map_err(Failure::during(
            directory,
            &self.name,
            Operation::Write,
        ))?;
        self.closed = None;
        self.stamped = Some(manifest);
        self.flush(directory)?;
        self.witnessed = self.flushed;
        Ok(())
    }

    /// The stamp of this process. None where no lock keeps others from the log, or the system has no boot id: the next process copies such a log.
    fn stamp(&self, directory: &dyn Directory, manifest: u64) -> Option<u64> {
        directory.boot().filter(|_| self.lock.is_some()).map(|boot| stamp(boot, manifest))
    }

    /// Writes a batch behind the others, while this manifest counts, and a stamp before it unless the last one names that manifest. On failure the log is as before, or the failure is final.
    pub(crate) fn write(
        &mut self,
        directory: &dyn Directory,
        batch: EncodedBatch,
        manifest: u64,
        first_arrival: u64,
    ) -> Result<(), Failure> {
        if self.closed.is_some() {
            self.reopen(directory, manifest, first_arrival)?;
        }
        let before = (self.written, self.stamped, self.uncounted);
        let missing = self.stamp(directory, manifest).filter(|_| self.stamped != Some(manifest));
        let stamp = missing.map(|stamp| EncodedBatch::saying(Word::Stamp, stamp));
        self.stamped = Some(manifest);
        let put =
            stamp.into_iter().chain([batch]).try_for_each(|mut batch| self.put(&mut batch, first_arrival));
        put.or_else(|error| {
            let failure = Failure::during(directory, &self.name, Operation::Write)(error);
            (self.written, self.stamped, self.uncounted) = before;
            // What was written of it must not stay before a later batch.
            self.file.set_length(self.written).map_err(Failure::during(
                directory,
                &self.name,
                Operation::Cut,
            ))?;
            Err(failure)
        })
    }

    /// Writes a batch where the next one goes.
    fn put(&mut self, batch: &mut EncodedBatch, first_arrival: u64) -> io::Result<()> {
        batch.frame.first_arrival = first_arrival;
        batch.frame.flushed = self.flushed;
        if let Some(place) = batch.bytes.first_chunk_mut::<FRAME_BYTES>() {
            *place = batch.frame.encode(self.seed);
        }
        write_all_at(&*self.file, self.written, &batch.bytes)?;
        self.written += batch.bytes.len() as u64;
        self.uncounted.count(&batch.frame);
        Ok(())
    }

    /// What was written and is in no sum yet.
    pub(crate) fn uncounted(&self) -> Untold {
        let Untold { document_bytes, bytes } = self.uncounted;
        Untold { document_bytes, bytes: bytes + self.closing_bytes() }
    }

    /// The same, but for the batch with which it is closed, to be put into a sum; what is not flushed waits for another time, as whoever opens the store may find it behind the length that the manifest knows.
    pub(crate) fn take_uncounted(&mut self) -> Untold {
        let flushed = std::mem::take(&mut self.uncounted_flushed);
        let counted = if self.flushed < self.written { flushed } else { self.uncounted };
        self.uncounted.document_bytes -= counted.document_bytes;
        self.uncounted.bytes -= counted.bytes;
        counted
    }

    /// Makes everything written so far durable.
    pub(crate) fn flush(&mut self, directory: &dyn Directory) -> Result<(), Failure> {
        self.file.flush().map_err(Failure::during(directory, &self.name, Operation::Flush))?;
        self.flushed = self.written;
        Ok(())
    }

    /// For a flush outside the writer's lock: what to flush, and what to call it when it fails.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}
