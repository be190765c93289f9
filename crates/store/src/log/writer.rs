use std::sync::Arc;

use super::{SourcePosition, StoredBatch, WINDOW_BYTES};
use crate::Event;
use crate::error::{Failure, Operation};
use crate::format::{ALIGNMENT, FRAME_BYTES, FileKind, Frame, HEADER_BYTES, Header, checksum};
use crate::io::{Directory, File, write_all_at};

/// A batch ready to be written, but for its place and its arrival numbers.
#[derive(Debug)]
pub(crate) struct EncodedBatch {
    /// Room for the frame, the body, the zeros.
    bytes: Vec<u8>,
    frame: Frame,
}

impl EncodedBatch {
    /// Lays out a batch. The caller has checked that the documents fit in [`DOCUMENT_BYTES_MAX`](crate::format::DOCUMENT_BYTES_MAX) and the name in its limit.
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
