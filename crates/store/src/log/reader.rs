//! Reading a log, past what is damaged in it.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::batch::{StoredBatch, WINDOW_BYTES};
use crate::error::{Failure, Operation};
use crate::format::{
    ALIGNMENT, DOCUMENT_BYTES_MAX, FRAME_BYTES, FileKind, Frame, HEADER_BYTES, Header, HeaderFault,
    NUMBER_MAX, SOURCE_NAME_BYTES_MAX, SOURCE_NOTE_BYTES_MAX, Word, aligned, checksum,
};
use crate::history::Untold;
use crate::io::{Directory, File, read_past, write_all_at};
use crate::manifest::LogEntry;
use crate::named;

/// A stretch of a log that cannot be used though it was flushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogDamage {
    pub(crate) bytes: Range<u64>,
    pub(crate) events: Option<u64>,
    pub(crate) found: &'static str,
}

/// What follows the last batch of a log that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rest {
    pub(crate) bytes: Range<u64>,
    /// How many events the whole batches in it hold.
    pub(crate) events: u64,
}

impl Rest {
    /// What it is called in quarantine.
    pub(crate) fn kept_name(&self, log: &str) -> String {
        format!("{log}.{}-{}", self.bytes.start, self.bytes.end)
    }
}

/// How a log ends that nothing follows but whole batches.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(super) header: Header,
    /// The end of the last batch, without the one that closed the log.
    pub(crate) length: u64,
    /// Up to here the log is known to have been flushed. All of it, if it was closed.
    pub(super) durable: u64,
    /// The manifest that counted when the log was closed, if it was. Its writer writes nothing more to it.
    pub(crate) closed_at: Option<u64>,
    /// The stamp of the process that wrote to it last; 0 if there is none.
    stamp: u64,
}

impl Ending {
    /// Whether this manifest counted, and was durable, when the log was left.
    pub(crate) fn was_left_at(&self, manifest: u64, directory: &dyn Directory) -> bool {
        self.closed_at.map_or_else(|| self.has_stamp(manifest, directory), |closed| closed == manifest)
    }

    /// Whether the last process that wrote to the log locked it, while this manifest counted, and the system was not restarted since.
    pub(crate) fn has_stamp(&self, manifest: u64, directory: &dyn Directory) -> bool {
        directory.boot().is_some_and(|boot| self.stamp == stamp(boot, manifest))
    }
}

/// What a process that writes to a log leaves in it: it holds the lock on the log, and this manifest is durable, in this boot of the system.
pub(super) fn stamp(boot: u64, manifest: u64) -> u64 {
    boot ^ manifest
}

/// A log being read, batch by batch, from where it was left the last time.
#[derive(Debug)]
pub(crate) struct LogReader {
    header: Header,
    file: Arc<dyn File>,
    name: String,
    /// Just behind the last batch that was taken.
    pub(crate) offset: u64,
    /// Up to here the manifest says that it was durable.
    known: u64,
    /// As far as the manifest that it was opened by knows it.
    told: u64,
    /// What came after that, without the batch with which it is closed.
    pub(crate) untold: Untold,
    /// The batch that was taken last, if the log was closed with it.
    closing: Option<Frame>,
    /// Up to here a batch, or the manifest, says that the log was flushed.
    flushed: u64,
    /// The latest stamp; 0 if there is none.
    stamp: u64,
    /// The log was closed there: nothing behind it counts.
    end: Option<u64>,
    /// Nothing behind it is looked at, though a writer may have written more.
    seen: u64,
    /// The arrival number that follows, once a batch was taken.
    next_arrival: Option<u64>,
    /// Arrival numbers below this one have been in this log: no batch begins there.
    pub(crate) least_arrival: u64,
    pub(crate) damage: Vec<LogDamage>,
    /// What the medium did not give.
    unreadable: Vec<Range<u64>>,
    /// Bytes that one reading may still look at in search of batches. A crafted file could have a long body read for each of many frames, or all that follows
    /// for each of many holes.
    budget: u64,
    /// The header says that a newer version wrote this.
    pub(crate) newer: Option<u32>,
}

impl LogReader {
    /// Opens a log as a manifest names it, in a file that may have another name than its own.
    pub(crate) fn open(
        directory: &dyn Directory,
        store: u128,
        entry: &LogEntry,
        name: String,
    ) -> Result<LogReader, Failure> {
        let file = named::open_named(directory, &name).map_err(Failure::during(
            directory,
            &name,
            Operation::Open,
        ))?;
        let header = Header { kind: FileKind::Log, version: entry.version, store, number: entry.number };
        let mut reader = LogReader {
            header,
            file,
            name,
            offset: HEADER_BYTES as u64,
            known: entry.length.min(NUMBER_MAX),
            told: entry.length,
            untold: Untold::default(),
            closing: None,
            flushed: entry.length.max(HEADER_BYTES as u64),
            stamp: 0,
            end: entry.ended.then_some(entry.length.min(NUMBER_MAX)),
            seen: u64::MAX,
            next_arrival: None,
            least_arrival: 0,
            damage: Vec::new(),
            unreadable: Vec::new(),
            budget: 0,
            newer: None,
        };
        let mut bytes = [0; HEADER_BYTES];
        let read = read_past(&*reader.file, 0, &mut bytes, &mut reader.unreadable)
            .map_err(Failure::during(directory, &reader.name, Operation::Read))?;
        // The header was durable before a manifest named the log, so it is never torn.
        match header.expect(bytes.get(..read).unwrap_or_default()) {
            Ok(()) => {}
            Err(HeaderFault::Version(version)) => reader.newer = Some(version),
            Err(HeaderFault::Damaged) => reader.report(0, "its header is not whole"),
            Err(HeaderFault::Foreign) => reader.report(0, "its header is that of another file"),
        }
        Ok(reader)
    }

    /// Where it lies, for messages.
    pub(crate) fn path(&self, directory: &dyn Directory) -> PathBuf {
        directory.path(&self.name)
    }

    /// Takes over what a newer manifest knows of the same log.
    pub(crate) fn learn_from(&mut self, newer: &LogReader) {
        self.known = self.known.max(newer.known);
        self.end = newer.end;
    }

    /// The length of what counts of the file.
    fn length(&self) -> std::io::Result<u64> {
        let length = self.file.length()?.min(self.seen);
        Ok(self.end.map_or(length, |end| end.min(length)))
    }

    /// How the log ends. None if bytes follow the last whole batch. Call this once it was read to its end.
    pub(crate) fn ending(&self, directory: &dyn Directory) -> Result<Option<Ending>, Failure> {
        let file_bytes = self.length().map_err(Failure::during(directory, &self.name, Operation::Read))?;
        let length = self.lasting_bytes();
        let ending = Ending {
            header: self.header,
            length,
            durable: if self.closing.is_some() { length } else { self.flushed.min(length) },
            closed_at: self.closing.map(|frame| frame.source_position),
            stamp: self.stamp,
        };
        Ok((self.end.is_none() && file_bytes == self.offset).then_some(ending))
    }

    /// Makes durable what a killed process has left in this log. After a failed flush the system may hold batches in its cache only and take them for written, so that another flush would not
    /// write them. So every batch that nothing calls flushed is written again, in its own place and with the same bytes, and then the file is flushed. Returns how many bytes of batches with
    /// events or sources these were. The caller holds the lock on the log.
    pub(crate) fn secure(
        &self,
        directory: &dyn Directory,
        entry: &LogEntry,
        ending: &Ending,
    ) -> Result<u64, Failure> {
        let file = directory.open_for_writing(&self.name);
        let file = file.map_err(Failure::during(directory, &self.name, Operation::Open))?;
        let (mut at, mut bytes, mut again) = (HEADER_BYTES as u64, Vec::new(), 0);
        let mut written = Ok(());
        if ending.durable < ending.length {
            self.read_again(directory, entry, |batch| {
                let end = at + batch.frame.total_bytes();
                if end > ending.durable && written.is_ok() {
                    bytes.clear();
                    batch.write_to(&mut bytes, &batch.frame, self.header.seed());
                    written = write_all_at(&*file, at, &bytes);
                    again += if batch.is_witness() { 0 } else { bytes.len() as u64 };
                }
                at = end;
            })?;
        }
        written.map_err(Failure::during(directory, &self.name, Operation::Write))?;
        file.flush().map_err(Failure::during(directory, &self.name, Operation::Flush))?;
        Ok(again)
    }

    /// What was read of it, but for the batch with which it is closed: whoever goes on with it writes another one in the place of that.
    pub(crate) fn lasting_bytes(&self) -> u64 {
        self.offset - self.closing.map_or(0, |frame| frame.total_bytes())
    }

    /// Up to where it is looked at.
    pub(crate) fn seen_bytes(&self) -> u64 {
        self.seen
    }

    /// Lets the next reading end where the file ends now.
    pub(crate) fn see(&mut self, directory: &dyn Directory) -> Result<(), Failure> {
        let length = self.file.length();
        self.seen = length.map_err(Failure::during(directory, &self.name, Operation::Read))?;
        Ok(())
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

    /// Reads a log that was read to its end before, for a copy of it. Fails unless all is as it was then: the copy may be all that stays.
    pub(crate) fn read_again(
        &self,
        directory: &dyn Directory,
        entry: &LogEntry,
        take: impl FnMut(&StoredBatch<'_>),
    ) -> Result<(), Failure> {
        let mut again = LogReader::open(directory, self.header.store, entry, self.name.clone())?;
        again.read(directory, take)?;
        if again.offset == self.offset && again.damage == self.damage {
            return Ok(());
        }
        let changed = io::Error::other("it does not read as it did a moment ago; try again");
        Err(Failure::during(directory, &self.name, Operation::Read)(changed))
    }

    /// What follows the last batch that was taken, if it is more than zeros.
    pub(crate) fn rest(&mut self, directory: &dyn Directory) -> Result<Option<Rest>, Failure> {
        self.rest_inner().map_err(Failure::during(directory, &self.name, Operation::Read))
    }

    fn rest_inner(&mut self) -> std::io::Result<Option<Rest>> {
        let length = self.length()?;
        let mut window = vec![0; WINDOW_BYTES];
        let mut at = self.offset;
        let mut zeros = true;
        while at < length && zeros {
            let read = read_past(&*self.file, at, &mut window, &mut self.unreadable)?;
            if read == 0 {
                break;
            }
            zeros = window.iter().take(read).all(|byte| *byte == 0);
            at += read as u64;
        }
        if zeros {
            return Ok(None);
        }
        self.begin_searches(length);
        let (mut events, mut search) = (0, Search::new(self.offset, length));
        while let Some((_, frame)) = self.next_whole(&mut search)? {
            events += u64::from(frame.events);
        }
        Ok(Some(Rest { bytes: self.offset..length, events }))
    }

    fn read_inner(&mut self, take: &mut impl FnMut(&StoredBatch<'_>)) -> std::io::Result<()> {
        let mut window = Window::default();
        self.begin_searches(self.length()?);
        loop {
            if self.take_batch(&mut window, take)? {
                window.least_bytes = WINDOW_BYTES;
                continue;
            }
            let Some(hole) = self.find_hole()? else { return Ok(()) };
            // A writer may have completed the batch since it was tried: what was flushed is whole by now.
            window = Window { least_bytes: SEARCH_BYTES, ..Window::default() };
            if self.take_batch(&mut window, take)? {
                window.least_bytes = WINDOW_BYTES;
                continue;
            }
            let events = hole.arrival.zip(self.next_arrival).and_then(|(next, last)| next.checked_sub(last));
            self.damage.push(LogDamage { bytes: self.offset..hole.end, events, found: hole.found });
            self.offset = hole.end;
        }
    }

    /// An honest file needs a search from each hole to the batch that tells of it, and stands for all holes between: once over the file, and the bodies
    /// in it, besides those that turn out not to be whole.
    fn begin_searches(&mut self, length: u64) {
        self.budget = length.saturating_mul(8).saturating_add(WINDOW_BYTES as u64);
    }

    /// Whether there is no whole batch at the current offset though there was one once: then up to where.
    fn find_hole(&mut self) -> std::io::Result<Option<Hole>> {
        let length = self.length()?;
        let mut search = Search::new(self.offset, length);
        let mut next = None;
        while let Some((offset, frame)) = self.next_whole(&mut search)? {
            let (end, arrival) = *next.get_or_insert((offset, frame.first_arrival));
            let found = if self.is_unreadable(end) {
                "the medium does not give it back"
            } else if self.known > self.offset {
                "a batch in it is not whole, though it was durable"
            } else if frame.flushed > self.offset {
                // It stands for all holes before it: they need no search of their own.
                self.known = self.known.max(frame.flushed.min(length));
                "a batch in it is not whole, though a later one says it was flushed"
            } else {
                continue;
            };
            return Ok(Some(Hole { end, arrival: Some(arrival), found }));
        }
        let end = aligned(length).max(self.known);
        let found = if self.offset >= end {
            return Ok(None);
        } else if self.is_unreadable(end) {
            "the medium does not give it back"
        } else if self.budget == 0 {
            "what follows looks like so many batches that it cannot be told whether it was flushed"
        } else if self.known > length {
            "it was cut short"
        } else if self.known > self.offset {
            // What follows the known length was never acknowledged, as far as anybody knows.
            return Ok(Some(Hole {
                end: self.known,
                arrival: None,
                found: "a batch in it is not whole, though it was durable",
            }));
        } else {
            return Ok(None);
        };
        Ok(Some(Hole { end, arrival: None, found }))
    }

    /// Whether something between the current offset and that one cannot be read.
    fn is_unreadable(&self, end: u64) -> bool {
        self.unreadable.iter().any(|range| range.start < end && self.offset < range.end)
    }

    /// Takes the batch at the current offset; false if there is no whole one.
    fn take_batch(
        &mut self,
        window: &mut Window,
        take: &mut impl FnMut(&StoredBatch<'_>),
    ) -> std::io::Result<bool> {
        if self.end.is_some_and(|end| self.offset >= end) {
            return Ok(false);
        }
        let head = window.get(&*self.file, self.offset, FRAME_BYTES as u64, &mut self.unreadable)?;
        let frame = match head.first_chunk() {
            Some(bytes) => Frame::decode(self.header.seed(), bytes),
            None => None,
        };
        let Some(frame) = frame else { return Ok(false) };
        let offset = self.offset;
        if self.budget == 0 {
            return Ok(false);
        }
        let Some(batch) = self.batch_at(offset, frame, window)? else {
            let there = self.length()?.saturating_sub(offset);
            self.budget = self.budget.saturating_sub(frame.body_bytes().min(there));
            return Ok(false);
        };
        let end = offset + FRAME_BYTES as u64 + frame.body_bytes();
        if frame.first_arrival < self.least_arrival || end > self.seen {
            return Ok(false);
        }
        take(&batch);
        if offset >= self.told {
            self.untold.count(&frame);
        }
        self.closing = (frame.word == Word::Closed).then_some(frame);
        self.flushed = self.flushed.max(frame.flushed);
        if matches!(frame.word, Word::Resumed | Word::Stamp) {
            self.stamp = frame.source_position;
        }
        self.least_arrival = frame.first_arrival + u64::from(frame.events);
        self.next_arrival = Some(self.least_arrival);
        self.offset += frame.total_bytes();
        Ok(true)
    }

    /// The batch of a frame, if it is whole and as it was written.
    fn batch_at<'w>(
        &mut self,
        offset: u64,
        frame: Frame,
        window: &'w mut Window,
    ) -> std::io::Result<Option<StoredBatch<'w>>> {
        let sane = frame.document_bytes as usize <= DOCUMENT_BYTES_MAX
            && usize::from(frame.source_name_bytes) <= SOURCE_NAME_BYTES_MAX
            && usize::from(frame.source_note_bytes) <= SOURCE_NOTE_BYTES_MAX;
        if !sane {
            return Ok(None);
        }
        let begin = offset + FRAME_BYTES as u64;
        let body = window.get(&*self.file, begin, frame.body_bytes(), &mut self.unreadable)?;
        let whole = body.len() as u64 == frame.body_bytes() && checksum(0, &[body]) == frame.body_checksum;
        Ok(if whole { StoredBatch::parse(frame, body) } else { None })
    }

    /// The next whole batch behind where the search stands.
    fn next_whole(&mut self, search: &mut Search) -> std::io::Result<Option<(u64, Frame)>> {
        while search.at + FRAME_BYTES as u64 <= search.length && self.budget > 0 {
            self.budget = self.budget.saturating_sub(ALIGNMENT);
            let head = search.heads.get(&*self.file, search.at, FRAME_BYTES as u64, &mut self.unreadable)?;
            let offset = search.at;
            search.at += ALIGNMENT;
            let Some(head) = head.first_chunk::<FRAME_BYTES>().filter(|head| Frame::begins(*head)) else {
                continue;
            };
            let Some(frame) = Frame::decode(self.header.seed(), head) else { continue };
            if frame.body_bytes() > search.length - offset - FRAME_BYTES as u64 {
                continue;
            }
            self.budget = self.budget.saturating_sub(frame.body_bytes());
            if self.budget > 0 && self.batch_at(offset, frame, &mut search.bodies)?.is_some() {
                search.at = offset + frame.total_bytes();
                return Ok(Some((offset, frame)));
            }
        }
        Ok(None)
    }
}

/// A stretch of a log without a whole batch, where there was one.
struct Hole {
    end: u64,
    /// The first arrival number behind it, where a batch follows.
    arrival: Option<u64>,
    found: &'static str,
}

/// A search for whole batches.
struct Search {
    at: u64,
    length: u64,
    heads: Window,
    bodies: Window,
}

impl Search {
    fn new(from: u64, length: u64) -> Search {
        Search {
            at: from + ALIGNMENT,
            length,
            heads: Window { least_bytes: SEARCH_BYTES, ..Window::default() },
            bodies: Window { least_bytes: SEARCH_BYTES, ..Window::default() },
        }
    }
}

/// A stretch of a file in memory.
#[derive(Debug)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
    /// So many are read at once, if there are as many.
    least_bytes: usize,
}

impl Default for Window {
    fn default() -> Window {
        Window { start: 0, bytes: Vec::new(), least_bytes: WINDOW_BYTES }
    }
}

/// A search may be short, and there may be many of them.
const SEARCH_BYTES: usize = 8 << 10;

impl Window {
    /// These bytes of the file, fewer at its end. Takes no more memory than a window, or than the file has bytes.
    fn get(
        &mut self,
        file: &dyn File,
        offset: u64,
        length: u64,
        unreadable: &mut Vec<Range<u64>>,
    ) -> std::io::Result<&[u8]> {
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
        self.bytes.resize(length.max(self.least_bytes as u64).min(there) as usize, 0);
        let read = read_past(file, offset, &mut self.bytes, unreadable)?;
        self.bytes.truncate(read);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok(self.bytes.get(..length.min(read)).unwrap_or_default())
    }
}
