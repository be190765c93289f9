//! Where batches become durable: each is appended to the current log and flushed before it is acknowledged.
//!
//! A batch carries how far the log had been flushed when it was written. That tells damage from a crash: bytes that some later,
//! whole batch says were flushed must be whole too; without such a witness the log simply ends before them.

use std::ops::Range;
use std::sync::Arc;

use crate::Event;
use crate::error::{Failure, Operation};
use crate::format::{
    ALIGNMENT, DOCUMENT_BYTES_MAX, FRAME_BYTES, FileKind, Frame, HEADER_BYTES, Header, HeaderFault,
    SOURCE_NAME_BYTES_MAX, aligned, checksum,
};
use crate::io::{Directory, File, read_full_at, write_all_at};
use crate::run;

/// How much of a log is read or copied at once, unless a batch is longer.
const WINDOW_BYTES: usize = 256 * 1024;

/// Where a source stood after a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourcePosition<'a> {
    /// The source's name, chosen by the caller; at most 4096 bytes.
    pub name: &'a str,
    /// Where it stood, in the caller's own measure.
    pub position: u64,
}

/// A batch ready to be written, but for its place and its arrival numbers.
#[derive(Debug)]
pub(crate) struct EncodedBatch {
    /// Room for the frame, the body, the zeros.
    bytes: Vec<u8>,
    frame: Frame,
}

impl EncodedBatch {
    /// Lays out a batch. The caller has checked that the documents fit in [`DOCUMENT_BYTES_MAX`] and the name in its limit.
    pub(crate) fn new(events: &[Event<'_>], source: Option<SourcePosition<'_>>) -> EncodedBatch {
        let document_bytes: usize = events.iter().map(|event| event.bytes.len() + 1).sum();
        let name = source.map_or("", |source| source.name).as_bytes();
        let length = FRAME_BYTES + events.len() * 12 + document_bytes + name.len();
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
        let body = bytes.get(FRAME_BYTES..).unwrap_or_default();
        let frame = Frame {
            body_checksum: checksum(0, &[body]),
            document_bytes: document_bytes as u32,
            events: events.len() as u32,
            flushed: 0,
            first_arrival: 0,
            source_position: source.map_or(0, |source| source.position),
            source_name_bytes: name.len() as u32,
        };
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
        EncodedBatch { bytes, frame }
    }
}

/// The end of a log to which batches are appended.
#[derive(Debug)]
pub(crate) struct LogWriter {
    pub(crate) number: u64,
    pub(crate) file: Arc<dyn File>,
    name: String,
    seed: u32,
    /// Where the next batch goes.
    pub(crate) written: u64,
    /// Up to where the file is known to be durable.
    pub(crate) flushed: u64,
}

/// A log that is being made from others. It is durable, and can be appended to, once it is finished.
#[derive(Debug)]
pub(crate) struct LogCopy {
    log: LogWriter,
    /// Not written yet.
    bytes: Vec<u8>,
}

impl LogCopy {
    pub(crate) fn begin(directory: &dyn Directory, store: u128, number: u64) -> Result<LogCopy, Failure> {
        Ok(LogCopy { log: LogWriter::begin(directory, store, number)?, bytes: Vec::new() })
    }

    /// Adds a batch as it is, with its arrival numbers.
    pub(crate) fn push(&mut self, directory: &dyn Directory, batch: &StoredBatch<'_>) -> Result<(), Failure> {
        // By the time a manifest names the log all of it is flushed, so each batch may say so of those before it.
        let frame = Frame { flushed: self.log.written + self.bytes.len() as u64, ..batch.frame };
        self.bytes.extend_from_slice(&frame.encode(self.log.seed));
        self.bytes.extend_from_slice(batch.body);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
        if self.bytes.len() >= WINDOW_BYTES { self.write(directory) } else { Ok(()) }
    }

    fn write(&mut self, directory: &dyn Directory) -> Result<(), Failure> {
        let log = &mut self.log;
        write_all_at(&*log.file, log.written, &self.bytes).map_err(Failure::during(
            directory,
            &log.name,
            Operation::Write,
        ))?;
        log.written += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    /// Makes it durable with its name.
    pub(crate) fn finish(mut self, directory: &dyn Directory) -> Result<LogWriter, Failure> {
        self.write(directory)?;
        self.log.finish(directory)
    }
}

impl LogWriter {
    /// Creates a log, durable with its name when this returns. It counts only once a manifest names it.
    pub(crate) fn create(directory: &dyn Directory, store: u128, number: u64) -> Result<LogWriter, Failure> {
        LogWriter::begin(directory, store, number)?.finish(directory)
    }

    fn finish(mut self, directory: &dyn Directory) -> Result<LogWriter, Failure> {
        self.flush(directory)?;
        directory.flush().map_err(Failure::during(directory, &self.name, Operation::FlushFolder))?;
        Ok(self)
    }

    fn begin(directory: &dyn Directory, store: u128, number: u64) -> Result<LogWriter, Failure> {
        let name = FileKind::Log.name(number);
        let header = Header { kind: FileKind::Log, store, number };
        let file = directory.create(&name).map_err(Failure::during(directory, &name, Operation::Create))?;
        write_all_at(&*file, 0, &header.encode()).map_err(Failure::during(
            directory,
            &name,
            Operation::Write,
        ))?;
        let written = HEADER_BYTES as u64;
        Ok(LogWriter { number, file, name, seed: header.seed(), written, flushed: 0 })
    }

    /// Writes a batch behind the others; on failure the log is as before, or the failure is final.
    pub(crate) fn write(
        &mut self,
        directory: &dyn Directory,
        mut batch: EncodedBatch,
        first_arrival: u64,
    ) -> Result<(), Failure> {
        batch.frame.first_arrival = first_arrival;
        batch.frame.flushed = self.flushed;
        if let Some(place) = batch.bytes.first_chunk_mut::<FRAME_BYTES>() {
            *place = batch.frame.encode(self.seed);
        }
        if let Err(error) = write_all_at(&*self.file, self.written, &batch.bytes) {
            let failure = Failure::during(directory, &self.name, Operation::Write)(error);
            // What was written of it must not stay before a later batch.
            self.file.set_length(self.written).map_err(Failure::during(
                directory,
                &self.name,
                Operation::Cut,
            ))?;
            return Err(failure);
        }
        self.written += batch.bytes.len() as u64;
        Ok(())
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

/// A batch as it stands in a log; its parts fit together.
#[derive(Debug)]
pub(crate) struct StoredBatch<'a> {
    pub(crate) frame: Frame,
    body: &'a [u8],
    events: Vec<Event<'a>>,
    source_name: &'a str,
}

impl<'a> StoredBatch<'a> {
    /// Takes a batch apart; `None` if its parts do not fit together.
    fn parse(frame: Frame, body: &'a [u8]) -> Option<StoredBatch<'a>> {
        let count = frame.events as usize;
        let (instants, rest) = body.split_at_checked(count.checked_mul(8)?)?;
        let (ends, rest) = rest.split_at_checked(count.checked_mul(4)?)?;
        let (documents, name) = rest.split_at_checked(frame.document_bytes as usize)?;
        let source_name = std::str::from_utf8(name).ok()?;
        let mut events = Vec::with_capacity(count);
        let mut start = 0;
        for (instant, end) in instants.as_chunks::<8>().0.iter().zip(ends.as_chunks::<4>().0) {
            let end = u32::from_le_bytes(*end) as usize;
            let bytes = documents.get(start..end)?;
            if bytes.is_empty() || documents.get(end) != Some(&b'\n') {
                return None;
            }
            events.push(Event { instant: u64::from_le_bytes(*instant), bytes });
            start = end + 1;
        }
        (start == documents.len()).then_some(StoredBatch { frame, body, events, source_name })
    }

    /// Its events as runs, numbered.
    pub(crate) fn runs(&self, block_bytes: usize) -> Vec<run::Run> {
        let mut runs = run::sort(&self.events, block_bytes);
        for run in &mut runs {
            run::number(run, self.frame.first_arrival);
        }
        runs
    }

    /// The source that it names.
    pub(crate) fn source(&self) -> Option<SourcePosition<'a>> {
        let position = self.frame.source_position;
        (!self.source_name.is_empty()).then_some(SourcePosition { name: self.source_name, position })
    }
}

/// A stretch of a log that cannot be used though it was flushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogDamage {
    pub(crate) bytes: Range<u64>,
    pub(crate) events: Option<u64>,
    pub(crate) found: &'static str,
}

/// A log being read, batch by batch, from where it was left the last time.
#[derive(Debug)]
pub(crate) struct LogReader {
    header: Header,
    file: Arc<dyn File>,
    name: String,
    /// Just behind the last batch that was taken.
    pub(crate) offset: u64,
    /// The arrival number that follows, once a batch was taken.
    next_arrival: Option<u64>,
    /// Arrival numbers below this one have been: no batch begins there.
    pub(crate) least_arrival: u64,
    pub(crate) damage: Vec<LogDamage>,
    /// The header says that a newer version wrote this.
    pub(crate) version: Option<u32>,
}

impl LogReader {
    /// Opens a log that a manifest names.
    pub(crate) fn open(directory: &dyn Directory, store: u128, number: u64) -> Result<LogReader, Failure> {
        let name = FileKind::Log.name(number);
        let file = directory.open(&name).map_err(Failure::during(directory, &name, Operation::Open))?;
        let header = Header { kind: FileKind::Log, store, number };
        let mut bytes = [0; HEADER_BYTES];
        let read = read_full_at(&*file, 0, &mut bytes).map_err(Failure::during(
            directory,
            &name,
            Operation::Read,
        ))?;
        let mut reader = LogReader {
            header,
            file,
            name,
            offset: HEADER_BYTES as u64,
            next_arrival: None,
            least_arrival: 0,
            damage: Vec::new(),
            version: None,
        };
        // The header was durable before a manifest named the log, so it is never torn.
        match header.expect(bytes.get(..read).unwrap_or_default()) {
            Ok(()) => {}
            Err(HeaderFault::Version(version)) => reader.version = Some(version),
            Err(HeaderFault::Damaged) => reader.report(0, "its header is not whole"),
            Err(HeaderFault::Foreign) => reader.report(0, "its header is that of another file"),
        }
        Ok(reader)
    }

    fn report(&mut self, start: u64, found: &'static str) {
        self.damage.push(LogDamage { bytes: start..HEADER_BYTES as u64, events: None, found });
    }

    /// Hands over every whole batch from the current offset on. Stretches that were flushed and are not whole are noted as damage;
    /// the log ends before a stretch of which nothing says that it was flushed.
    pub(crate) fn read(
        &mut self,
        directory: &dyn Directory,
        mut take: impl FnMut(&StoredBatch<'_>),
    ) -> Result<(), Failure> {
        self.read_inner(&mut take).map_err(Failure::during(directory, &self.name, Operation::Read))
    }

    /// What follows the last batch that was taken, if it is more than zeros.
    pub(crate) fn rest(&self, directory: &dyn Directory) -> Result<Option<Range<u64>>, Failure> {
        self.rest_inner().map_err(Failure::during(directory, &self.name, Operation::Read))
    }

    fn rest_inner(&self) -> std::io::Result<Option<Range<u64>>> {
        let length = self.file.length()?;
        let mut window = vec![0; WINDOW_BYTES];
        let mut at = self.offset;
        while at < length {
            let read = read_full_at(&*self.file, at, &mut window)?;
            if read == 0 {
                break;
            }
            if window.iter().take(read).any(|byte| *byte != 0) {
                return Ok(Some(self.offset..length));
            }
            at += read as u64;
        }
        Ok(None)
    }

    fn read_inner(&mut self, take: &mut impl FnMut(&StoredBatch<'_>)) -> std::io::Result<()> {
        let mut window = Window::default();
        loop {
            if self.take_batch(&mut window, take)? {
                continue;
            }
            let next = match self.find_witness()? {
                Witness::Found { next, arrival } => (next, arrival),
                Witness::None => return Ok(()),
                Witness::Unclear { end } => {
                    let found = "what follows looks like so many batches that it cannot be told whether it was flushed";
                    self.damage.push(LogDamage { bytes: self.offset..end, events: None, found });
                    self.offset = end;
                    return Ok(());
                }
            };
            // A writer may have completed the batch since it was tried: what was flushed is whole by now.
            window = Window::default();
            if self.take_batch(&mut window, take)? {
                continue;
            }
            let events = self.next_arrival.and_then(|expected| next.1.checked_sub(expected));
            let found = "a batch in it is not whole, though a later one says it was flushed";
            self.damage.push(LogDamage { bytes: self.offset..next.0, events, found });
            self.offset = next.0;
        }
    }

    /// Takes the batch at the current offset; false if there is no whole one.
    fn take_batch(
        &mut self,
        window: &mut Window,
        take: &mut impl FnMut(&StoredBatch<'_>),
    ) -> std::io::Result<bool> {
        let frame = match window.get(&*self.file, self.offset, FRAME_BYTES as u64)?.first_chunk() {
            Some(bytes) => Frame::decode(self.header.seed(), bytes),
            None => None,
        };
        let Some(frame) = frame else { return Ok(false) };
        let Some(batch) = self.batch_at(self.offset, frame, window)? else { return Ok(false) };
        if frame.first_arrival < self.least_arrival {
            return Ok(false);
        }
        take(&batch);
        self.least_arrival = frame.first_arrival + u64::from(frame.events);
        self.next_arrival = Some(self.least_arrival);
        self.offset += frame.total_bytes();
        Ok(true)
    }

    /// The batch of a frame, if it is whole and as it was written.
    fn batch_at<'w>(
        &self,
        offset: u64,
        frame: Frame,
        window: &'w mut Window,
    ) -> std::io::Result<Option<StoredBatch<'w>>> {
        let sane = frame.document_bytes as usize <= DOCUMENT_BYTES_MAX
            && frame.source_name_bytes as usize <= SOURCE_NAME_BYTES_MAX;
        if !sane {
            return Ok(None);
        }
        let body = window.get(&*self.file, offset + FRAME_BYTES as u64, frame.body_bytes())?;
        let whole = body.len() as u64 == frame.body_bytes() && checksum(0, &[body]) == frame.body_checksum;
        Ok(if whole { StoredBatch::parse(frame, body) } else { None })
    }

    /// Whether a later whole batch says that the log had been flushed beyond the current offset.
    fn find_witness(&self) -> std::io::Result<Witness> {
        let length = self.file.length()?;
        // A crafted file could have a long body read for each of many frames; twice the file is enough for an honest one.
        let mut budget = length.saturating_mul(2);
        let mut window = vec![0; WINDOW_BYTES + FRAME_BYTES];
        let mut body = Window::default();
        let mut next = None;
        let mut start = self.offset + ALIGNMENT;
        while start < length {
            let read = read_full_at(&*self.file, start, &mut window)?;
            let bytes = window.get(..read).unwrap_or_default();
            for at in (0..WINDOW_BYTES.min(read)).step_by(ALIGNMENT as usize) {
                let Some(head) = bytes.get(at..).and_then(|rest| rest.first_chunk::<FRAME_BYTES>()) else {
                    break;
                };
                if !Frame::begins(head) {
                    continue;
                }
                let Some(frame) = Frame::decode(self.header.seed(), head) else { continue };
                let offset = start + at as u64;
                let Some(rest) = length.checked_sub(offset + FRAME_BYTES as u64) else { continue };
                if frame.body_bytes() > rest {
                    continue;
                }
                let Some(left) = budget.checked_sub(frame.body_bytes()) else {
                    return Ok(Witness::Unclear { end: aligned(length) });
                };
                budget = left;
                if self.batch_at(offset, frame, &mut body)?.is_none() {
                    continue;
                }
                let (next, arrival) = *next.get_or_insert((offset, frame.first_arrival));
                if frame.flushed > self.offset {
                    return Ok(Witness::Found { next, arrival });
                }
            }
            start += WINDOW_BYTES as u64;
        }
        Ok(Witness::None)
    }
}

/// What a later part of a log says of the place where no whole batch is.
enum Witness {
    /// It had been flushed: the next whole batch begins at `next`, with the event of this arrival number.
    Found { next: u64, arrival: u64 },
    /// Nothing.
    None,
    /// There is more to look at than an honest log holds.
    Unclear { end: u64 },
}

/// A stretch of a file in memory.
#[derive(Debug, Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// These bytes of the file, fewer at its end. Takes no more memory than a window, or than the file has bytes.
    fn get(&mut self, file: &dyn File, offset: u64, length: u64) -> std::io::Result<&[u8]> {
        let within = |window: &Window| {
            let start = usize::try_from(offset.checked_sub(window.start)?).ok()?;
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            (end <= window.bytes.len()).then_some(start..end)
        };
        if let Some(range) = within(self) {
            return Ok(self.bytes.get(range).unwrap_or_default());
        }
        let there = file.length()?.saturating_sub(offset);
        self.start = offset;
        self.bytes.resize(length.max(WINDOW_BYTES as u64).min(there) as usize, 0);
        let read = read_full_at(file, offset, &mut self.bytes)?;
        self.bytes.truncate(read);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok(self.bytes.get(..length.min(read)).unwrap_or_default())
    }
}
