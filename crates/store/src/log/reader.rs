use std::ops::Range;
use std::sync::Arc;

use super::{StoredBatch, WINDOW_BYTES};
use crate::error::{Failure, Operation};
use crate::format::{
    ALIGNMENT, DOCUMENT_BYTES_MAX, FRAME_BYTES, FileKind, Frame, HEADER_BYTES, Header, HeaderFault,
    SOURCE_NAME_BYTES_MAX, aligned, checksum,
};
use crate::io::{Directory, File, read_full_at};

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
