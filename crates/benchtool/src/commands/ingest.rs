//! `benchtool ingest`

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use tamias::{Batch, EventFormat, Store};

use crate::chunks::{Chunks, Waited};
use crate::cli::{IngestArgs, OnInvalid};
use crate::entries::{Content, Entry, Unit};
use crate::failure::Failure;
use crate::rejects::{COMMENT, Rejects};
use crate::source::Source;
use crate::splitter::Splitter;
use crate::writer::Writer;
use crate::{interrupt, output, progress};

/// The longest line that is taken; longer ones are rejected without being held in memory.
const LINE_BYTES_MAX: usize = 16 << 20;

/// How often it looks for Ctrl-C while it waits for input, and how long events from the standard input wait for those
/// that may follow before they are stored.
const PATIENCE: Duration = Duration::from_millis(250);

/// Ingesting so many bytes of events seals them in the end.
const SEAL_BYTES_MIN: usize = 1 << 20;

pub(crate) fn run(args: &IngestArgs) -> Result<(), Failure> {
    let sources = Source::open_all(&args.files)?;
    let mut rejects = Rejects::new(args.rejects.as_deref(), &args.files, &args.store)?;
    let store = Store::open(&args.store)?;
    interrupt::catch()?;

    let progress = progress::bytes("ingesting", sources.iter().map(Source::bytes).sum());
    let mut ingest = Ingest {
        writer: Writer::new(store.clone()),
        format: EventFormat::time_key(&args.time_key).event_bytes_max(LINE_BYTES_MAX),
        on_invalid: args.on_invalid,
        batch_bytes: args.batch_bytes as usize,
        batch: Batch::new(),
        stored_bytes: 0,
        tally: Tally { rejected: 0, lines: 0, bytes: 0, started: Instant::now() },
        progress,
        bytes_read: Arc::default(),
        rejects: &mut rejects,
    };
    // Whatever ends it: what has come is stored, and what was stored is told.
    let mut sources = sources.into_iter();
    let done = sources.try_for_each(|source| ingest.source(source)).and(ingest.finish());
    // Sealed events are read faster, and each block of them has its checksum. A few may wait for more.
    let done = match ingest.stored_bytes {
        0..SEAL_BYTES_MIN => done,
        _ => done.and_then(|()| Ok(store.seal()?)),
    };
    ingest.progress.finish_and_clear();
    output::write_line(&mut io::stdout(), &ingest.tally.line(ingest.writer.stored()))?;
    let rejected = rejects.finish()?;
    if done.is_err() {
        for source in sources {
            eprintln!("not read: {}", source.name());
        }
    }
    done?;
    match rejected {
        0 => Ok(()),
        1 => Err(Failure::Input("1 line was rejected; all others are stored".to_owned())),
        more => Err(Failure::Input(format!("{more} lines were rejected; all others are stored"))),
    }
}

/// What became of the lines.
struct Tally {
    rejected: u64,
    lines: u64,
    bytes: u64,
    started: Instant,
}

impl Tally {
    fn line(&self, stored: u64) -> String {
        let Tally { rejected, lines, bytes, started } = self;
        let seconds = started.elapsed().as_secs_f64();
        format!(
            "stored: {stored}, rejected: {rejected}, lines: {lines}, bytes: {bytes}, seconds: {seconds:.3}"
        )
    }
}

struct Ingest<'a> {
    writer: Writer,
    format: EventFormat,
    on_invalid: OnInvalid,
    batch_bytes: usize,
    batch: Batch,
    /// Of the documents handed over to be stored.
    stored_bytes: usize,
    tally: Tally,
    progress: ProgressBar,
    /// Of all sources, packed as they may be.
    bytes_read: Arc<AtomicU64>,
    rejects: &'a mut Rejects,
}

impl Ingest<'_> {
    fn source(&mut self, source: Source) -> Result<(), Failure> {
        let name = source.name();
        // A file has its next lines ready; another program may take its time.
        let may_wait = matches!(source, Source::Stdin);
        let chunks = Chunks::read(source.into_reader(Arc::clone(&self.bytes_read)));
        let mut splitter = Splitter::new(LINE_BYTES_MAX);
        loop {
            let waited = chunks.next(PATIENCE);
            if interrupt::requested() {
                let (unit, number) = splitter.next();
                return Err(Failure::Interrupted(format!(
                    "interrupted in {name} before {unit} {number}; what came before is stored"
                )));
            }
            match waited {
                Ok(Waited::Chunk(chunk)) => {
                    self.tally.bytes += chunk.len() as u64;
                    self.progress.set_position(self.bytes_read.load(Ordering::Relaxed));
                    splitter.feed(&chunk, |entry| self.entry(&name, &entry))?;
                }
                Ok(Waited::Nothing) if may_wait => self.store_batch()?,
                Ok(Waited::Nothing) => {}
                Ok(Waited::End) => {
                    return match splitter.finish(|entry| self.entry(&name, &entry))? {
                        true => Ok(()),
                        false => Err(Failure::Input(format!(
                            "{name}: the JSON array has no end; the input may be cut"
                        ))),
                    };
                }
                Err(error) => {
                    return Err(match error.kind() {
                        io::ErrorKind::InvalidData => Failure::Input(format!("{name}: {error}")),
                        _ => Failure::file(Path::new(&name), &error),
                    });
                }
            }
        }
    }

    fn entry(&mut self, source: &str, entry: &Entry<'_>) -> Result<(), Failure> {
        let bytes = match entry.content {
            Content::Bytes(bytes) => bytes,
            Content::TooLong { bytes } => {
                self.tally.lines += 1;
                let unit = entry.unit;
                let reason =
                    format!("the {unit} has {bytes} bytes, more than the {LINE_BYTES_MAX} it may have");
                return self.reject(source, entry, &reason);
            }
        };
        // A byte order mark is no part of the first event.
        let bytes =
            if entry.offset == 0 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        if entry.unit == Unit::Line && (bytes.trim_ascii().is_empty() || bytes.starts_with(COMMENT)) {
            return Ok(());
        }
        self.tally.lines += 1;
        match self.batch.push(bytes, &self.format) {
            Err(rejection) => self.reject(source, entry, &rejection.to_string()),
            Ok(()) if self.batch.bytes() >= self.batch_bytes => self.store_batch(),
            Ok(()) => Ok(()),
        }
    }

    fn reject(&mut self, source: &str, entry: &Entry<'_>, reason: &str) -> Result<(), Failure> {
        self.tally.rejected += 1;
        let rejects = &mut self.rejects;
        self.progress.suspend(|| rejects.add(source, entry, reason))?;
        match self.on_invalid {
            OnInvalid::Skip => Ok(()),
            OnInvalid::Fail => {
                let Entry { unit, number, .. } = entry;
                Err(Failure::Input(format!(
                    "stopped at {unit} {number} of {source}, which was rejected; what came before is stored"
                )))
            }
        }
    }

    /// Hands the batch over to be stored.
    fn store_batch(&mut self) -> Result<(), Failure> {
        self.stored_bytes = self.stored_bytes.saturating_add(self.batch.bytes());
        self.writer.store(&mut self.batch)
    }

    /// Stores the batch, and waits until it is.
    fn finish(&mut self) -> Result<(), Failure> {
        self.store_batch().and_then(|()| self.writer.settle())
    }
}
