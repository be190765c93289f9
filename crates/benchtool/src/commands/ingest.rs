//! `benchtool ingest`

use std::io;
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use tamias::{Batch, EventFormat, Reason, Rejection, Store, TimeFormat, ValidateError};

use crate::anchor::{self, Anchor};
use crate::chunks::{Chunks, Waited};
use crate::cli::{IngestArgs, OnInvalid};
use crate::commands::settings::warn_of_limits;
use crate::entries::{Content, Entry, LINE_BYTES_MAX};
use crate::failure::Failure;
use crate::foreign::{FROM_LATIN1, quoted, stored_from};
use crate::mended::Mended;
use crate::refusals::{Refusal, Refusals};
use crate::rejected::{RANGES_MAX, Rejected};
use crate::rejects::Rejects;
use crate::source::Source;
use crate::splitter::Splitter;
use crate::start::{self, Start};
use crate::tell::tell;
use crate::time_key::{self, Beginning, Told};
use crate::units::counted;
use crate::writer::{Place, Writer};
use crate::{output, program, progress, signals};

/// How often it looks for Ctrl-C while it waits for input, and how long events from a pipe wait for those that may follow
/// before they are stored.
const PATIENCE: Duration = Duration::from_millis(250);

/// How often events from a pipe are stored that never rests.
const FLOW: Duration = Duration::from_secs(1);

/// Ingesting so many bytes of events seals them in the end.
const SEAL_BYTES_MIN: usize = 1 << 20;

pub(crate) fn run(args: &IngestArgs) -> Result<(), Failure> {
    if args.keep_ids {
        return super::import::run(args);
    }
    let times = time_format(args)?;
    let sources = Source::all(&args.files)?;
    if let Some(path) = &args.rejects {
        Rejects::check(path, &sources, &args.store)?;
    }
    let is_new = !args.store.exists();
    let store = super::open(&args.store, args.sealing.options())?;
    for part in store.known_damage()? {
        tell!("warning: {part}; `repair` takes it out");
    }
    let limits = store.housekeeping()?;
    if args.resume {
        store.accept_source_positions()?;
    }
    let starts = sources.iter().map(|source| start::of(args, &store, source));
    let mut starts = starts.collect::<Result<Vec<Start>, Failure>>()?;
    refuse_changed(&sources, &mut starts)?;
    let mut rejects = Rejects::open(args.rejects.as_deref(), &sources, &starts)?;
    signals::catch()?;

    // Half as much again: the event that fills a batch may be long, and what is not used is never touched.
    let room = || Batch::with_capacity(args.batch_bytes as usize / 2 * 3);
    let progress = progress::bytes("ingesting", sources.iter().map(Source::bytes).sum());
    let mut ingest = Ingest {
        writer: Writer::new(store.clone(), room()),
        format: event_format(args, &times, args.time_key.as_deref().unwrap_or(time_key::CLEF)),
        times,
        args,
        on_invalid: args.on_invalid,
        batch_bytes: args.batch_bytes as usize,
        batch: room(),
        stored_bytes: 0,
        tally: Tally::default(),
        started: Instant::now(),
        progress,
        bytes_read: Arc::default(),
        rejects: &mut rejects,
        has_hinted: false,
        not_utf8: None,
        refusals: Refusals::default(),
    };
    // Whatever ends it: what has come is stored, and what was stored is told.
    let mut sources = sources.into_iter().zip(starts);
    let done = sources.try_for_each(|(source, start)| ingest.source(source, start));
    let done = done.and(ingest.writer.settle());
    // Sealed events are read faster, and each block of them has its checksum. A few may wait for more.
    let done = match ingest.stored_bytes {
        0..SEAL_BYTES_MIN => done,
        _ => done.and_then(|()| Ok(store.seal()?)),
    };
    ingest.progress.finish_and_clear();
    let stored = ingest.writer.stored();
    let done = if stored > 0 { done.and(warn_of_limits(&store, &limits)) } else { done };
    let done = done.and_then(|()| mem::take(&mut ingest.refusals).finish());
    ingest.tally.tell_of_files(args);
    let line = ingest.tally.line(stored, ingest.started);
    let others = ingest.tally.others(stored, args);
    let not_utf8 = ingest.not_utf8.take();
    let told = output::write_line(&mut io::stdout(), &line);
    let rejected = rejects.finish();
    not_utf8.iter().for_each(|name| tell_of_encoding(name, args));
    if done.is_err() {
        for (source, _) in sources {
            tell!("not read: {}", source.name());
        }
    }
    let is_refused =
        matches!(done, Err(Failure::Input(_))) || rejected.as_ref().is_ok_and(|rejected| *rejected > 0);
    if is_new && is_refused {
        remove_empty(&store, &args.store)?;
    }
    done?;
    output::unless_closed(told)?;
    match rejected? {
        0 => Ok(()),
        1 => Err(Failure::Input(format!("1 line was rejected; {others}"))),
        more => Err(Failure::Input(format!("{more} lines were rejected; {others}"))),
    }
}

/// That lines of a source may be in another encoding. The others are stored, so that only these are converted.
fn tell_of_encoding(source: &str, args: &IngestArgs) {
    let (program, store) = (program::name(), quoted(&args.store.display().to_string()));
    let convert = |rejects: &str| stored_from(&format!("{FROM_LATIN1} {rejects}"), &args.store, "");
    let how = match &args.rejects {
        Some(path) => {
            format!("; convert them, for example:{}", convert(&quoted(&path.display().to_string())))
        }
        None if Path::new(source).is_file() => format!(
            "; save and convert them, for example:\n  {program} ingest {store} {} --rejects bad.ndjson{}",
            quoted(source),
            convert("bad.ndjson")
        ),
        // What has gone by cannot be saved.
        None => String::new(),
    };
    tell!("lines that are not UTF-8 may be Windows-1252 or Latin-1{how}");
}

/// Files that have changed are left alone while others are read; if there are no others, that is the error.
fn refuse_changed(sources: &[Source], starts: &mut [Start]) -> Result<(), Failure> {
    // What was read under this name is there under another one: the log was rotated, and this one is new.
    let moved: Vec<String> = starts.iter().filter_map(|start| start.before.clone()).collect();
    for (source, start) in sources.iter().zip(&mut *starts) {
        if source.origin().is_some_and(|name| moved.iter().any(|moved| moved == name)) {
            start.refused = None;
        }
    }
    if starts.iter().all(|start| start.refused.is_some())
        && let Some(refused) = starts.first_mut().and_then(|start| start.refused.take())
    {
        return Err(Failure::Input(refused));
    }
    Ok(())
}

/// Removes the store that this process has made, where nothing came into it: whoever asks it should hear that there is none. Nobody else
/// writes to it, as long as it is open.
fn remove_empty(store: &Store, folder: &Path) -> Result<(), Failure> {
    if store.info()?.events == 0 {
        // In one step: once its lock has no name, another process may write there. It does no harm if it stays.
        let aside = folder.with_file_name(format!(".{}-{}", program::name(), std::process::id()));
        if !aside.exists() && std::fs::rename(folder, &aside).is_ok() {
            let _ = std::fs::remove_dir_all(&aside);
        }
    }
    Ok(())
}

/// That more of a source's rejected lines cannot be remembered.
fn too_scattered(name: &str, entry: &Entry<'_>) -> Failure {
    let Entry { unit, number, .. } = entry;
    Failure::Input(format!(
        "stopped at {unit} {number} of {name}: lines were rejected in more than {RANGES_MAX} places, which is the most that is remembered. \
         Run the same command with --rejects FILE to continue and save them all there; everything before it is stored"
    ))
}

/// How to retry rejected lines.
const RETRY: &str = "ingest again with other options, such as --time-key, to retry those lines, or with --rejects FILE to save them";

/// How times are written, and in which zone.
fn time_format(args: &IngestArgs) -> Result<TimeFormat, Failure> {
    let format = args.time_format.clone();
    match &args.time_zone {
        Some(zone) => format.time_zone(zone.name()).map_err(|error| Failure::Usage(error.to_string())),
        None => Ok(format),
    }
}

fn event_format(args: &IngestArgs, times: &TimeFormat, time_keys: &str) -> EventFormat {
    let mut format =
        EventFormat::time_keys(time_keys).time_format(times.clone()).event_bytes_max(LINE_BYTES_MAX);
    if args.now {
        format = format.now_without_time();
    }
    if let Some(key) = &args.level_key {
        format = format.level_key(key);
    }
    match &args.message_key {
        Some(key) => format.message_key(key),
        None => format,
    }
}

/// What became of the lines.
#[derive(Default)]
struct Tally {
    rejected: u64,
    lines: u64,
    bytes: u64,
    /// Lines that earlier runs have stored or rejected.
    earlier: u64,
    /// Files that held no others.
    unchanged: u64,
    /// Files of which rejected lines are remembered.
    remembered: u64,
}

impl Tally {
    /// Says of how many files there is something to do.
    fn tell_of_files(&self, args: &IngestArgs) {
        let renames = args.level_key.is_some() || args.message_key.is_some();
        match self.unchanged {
            0 => {}
            files if renames => tell!(
                "nothing new in {}; --level-key and --message-key apply to new lines only: to change events that are stored, ingest into a \
                 new store (--again stores them a second time)",
                counted(files, "file")
            ),
            1 => tell!("nothing new in 1 file; use --again to store it once more"),
            files => tell!("nothing new in {files} files; use --again to store them once more"),
        }
        match self.remembered {
            0 => {}
            1 => tell!("1 file has rejected lines; {RETRY}"),
            files => tell!("{files} files have rejected lines; {RETRY}"),
        }
    }

    /// What became of the lines that were not rejected, or why there are none.
    fn others(&self, stored: u64, args: &IngestArgs) -> String {
        match (stored, &args.time_key) {
            (0, None) if self.earlier == 0 => {
                "nothing was stored. A line must be a JSON object with a time, see `ingest --help`".to_owned()
            }
            (0, Some(key)) if self.earlier == 0 => format!(
                "nothing was stored. A line must be a JSON object with a time in `{key}`; if it is not ISO 8601 or a Unix time, \
                 --time-format says how it is written, see `ingest --help`"
            ),
            _ => "all others are stored".to_owned(),
        }
    }

    fn line(&self, stored: u64, started: Instant) -> String {
        let Tally { rejected, lines, bytes, earlier, .. } = self;
        let seconds = started.elapsed().as_secs_f64();
        let earlier = match earlier {
            0 => String::new(),
            lines => format!(", earlier lines: {lines}"),
        };
        format!(
            "stored: {stored}, rejected: {rejected}, lines: {lines}, bytes: {bytes}, seconds: {seconds:.3}{earlier}"
        )
    }
}

struct Ingest<'a> {
    writer: Writer,
    args: &'a IngestArgs,
    times: TimeFormat,
    /// That of the present source.
    format: EventFormat,
    on_invalid: OnInvalid,
    batch_bytes: usize,
    batch: Batch,
    /// Of the documents handed over to be stored.
    stored_bytes: usize,
    tally: Tally,
    started: Instant,
    progress: ProgressBar,
    /// Of all sources, packed as they may be.
    bytes_read: Arc<AtomicU64>,
    rejects: &'a mut Rejects,
    /// Whether it was told what one may want to know of the events.
    has_hinted: bool,
    /// The first source of which a line is not UTF-8.
    not_utf8: Option<String>,
    /// The sources that were left alone.
    refusals: Refusals,
}

/// How far a source has come.
struct Reading<'s> {
    source: &'s Source,
    name: String,
    /// What the store keeps its position under, if it can be read again.
    origin: Option<String>,
    /// What lies before was stored or rejected by an earlier run.
    start: u64,
    /// Whether the entry has come behind which an earlier run has stopped.
    has_start: bool,
    /// The end of the last entry that was stored or rejected, and what it was.
    position: u64,
    anchor: Option<Anchor>,
    /// Of a file of rejected lines, which of them are stored; where that tells, the position does not.
    mended: Option<Mended>,
    /// Those before the position that were rejected, and are to be tried again by another run, or by this one.
    rejected: Rejected,
    /// What the store has been told. It knows of no position where nothing of the source is stored, so that another
    /// attempt, with another --time-key perhaps, begins at the beginning.
    recorded: Option<Place>,
    has_new: bool,
    /// Whether lines were tried that an earlier run has rejected.
    has_retried: bool,
    /// Whether it has changed since it was opened: then nothing of it is what it seems.
    has_changed: bool,
    /// Whether it is known to be what was packed, as far as that can be known.
    is_checked: bool,
    /// Whether nothing of it is stored, as its beginning tells.
    is_refused: bool,
    /// Those behind the start, and of lines that were tried again.
    bytes: u64,
}

impl<'s> Reading<'s> {
    fn new(source: &'s Source, start: Start) -> Reading<'s> {
        let mut reading = Reading {
            source,
            name: source.name(),
            origin: source.origin().map(str::to_owned),
            start: start.position.unwrap_or(0),
            has_start: start.position.is_none(),
            position: start.position.unwrap_or(0),
            anchor: start.anchor,
            mended: start.mended,
            rejected: start.rejected,
            recorded: None,
            has_new: false,
            has_retried: false,
            has_changed: false,
            is_checked: false,
            is_refused: false,
            bytes: 0,
        };
        let is_known = match &reading.mended {
            Some(mended) => !mended.is_empty(),
            None => start.position.is_some(),
        };
        reading.recorded = reading.place().filter(|_| is_known);
        // Under its new name it is not recorded yet.
        if let (Some(recorded), Some(before)) = (&mut reading.recorded, start.before) {
            recorded.source = before;
        }
        reading
    }

    /// Where it stands; `None` if it cannot be read again.
    fn place(&self) -> Option<Place> {
        let source = self.origin.clone()?;
        if let Some(mended) = &self.mended {
            let (source, note) = mended.note(&source);
            return Some(Place { source, position: mended.position(), note });
        }
        let anchor = self.anchor.map(Anchor::to_bytes);
        let note = anchor.iter().flatten().copied().chain(self.rejected.note()).collect();
        Some(Place { source, position: self.position, note })
    }

    /// The entry was stored or rejected.
    fn advance(&mut self, entry: &Entry<'_>) {
        if entry.end() > self.position {
            self.position = entry.end();
            self.anchor = Some(Anchor::of(entry));
        }
    }

    /// Nothing is stored of packed data that is damaged: any of its lines may be wrong, and the checksum tells only at its end. Only what has new
    /// lines is read twice for that.
    fn check_data(&mut self) -> Result<(), Failure> {
        if mem::replace(&mut self.is_checked, true) {
            return Ok(());
        }
        let name = &self.name;
        self.source.check().map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => Failure::Interrupted(format!(
                "{name}: stopped while it was checked; nothing of it was stored now"
            )),
            io::ErrorKind::InvalidData => Failure::Input(format!(
                "{name}: {error}. Nothing of it was stored now, as any line may be wrong{GOES_ON_WHOLE}"
            )),
            _ => Failure::file(Path::new(name), &error),
        })
    }

    /// The source must still be what it was when its start was looked for.
    fn check_start(&mut self) -> Result<(), Failure> {
        self.has_changed = !self.has_start;
        match self.has_start {
            true => Ok(()),
            false => Err(Failure::Input(format!(
                "{} was replaced while other files were read; run the same command again to read it",
                self.name
            ))),
        }
    }
}

impl Ingest<'_> {
    /// Reads a source, and hands all that came of it over to be stored, whatever ends it.
    fn source(&mut self, source: Source, start: Start) -> Result<(), Failure> {
        if let Some(text) = start.refused {
            self.refusals.add(&source.name(), Refusal { reason: text.clone(), text });
            return Ok(());
        }
        let mut reading = Reading::new(&source, start);
        let read = self.read(&mut reading);
        let has_any = reading.has_new || reading.has_retried;
        let is_read = read.is_ok() && !reading.is_refused;
        if reading.recorded.is_some() && !has_any && is_read {
            self.tally.unchanged += 1;
        } else {
            self.tally.bytes += reading.bytes;
        }
        if is_read && reading.start + reading.bytes == 0 && !source.may_wait() {
            self.progress.suspend(|| tell!("note: {} is empty", reading.name));
        }
        if reading.has_changed {
            self.batch.clear();
            return read;
        }
        // What stopped it may say that all before it is stored. That must be known, and where it cannot be stored is why it was not.
        if !self.writer.is_broken() {
            self.store_batch(&mut reading)?;
            if read.is_err() {
                self.writer.settle()?;
            }
        }
        self.tally.remembered += u64::from(reading.recorded.is_some() && !reading.rejected.is_empty());
        read
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), Failure> {
        let may_wait = reading.source.may_wait();
        let mut chunks = Chunks::read(reading.source.reader(Arc::clone(&self.bytes_read)));
        let mut splitter = Splitter::new(LINE_BYTES_MAX);
        let mut skipped = 0;
        let mut beginning = Beginning::new(self.args, &self.times, reading.recorded.is_none());
        self.format =
            event_format(self.args, &self.times, self.args.time_key.as_deref().unwrap_or(time_key::CLEF));
        let (mut stored_at, mut patience) = (Instant::now(), FLOW);
        loop {
            let waited = chunks.next(PATIENCE);
            if signals::requested() {
                let (unit, number) = splitter.next();
                let (name, goes_on) = (&reading.name, if reading.origin.is_some() { GOES_ON } else { "" });
                return Err(Failure::Interrupted(format!(
                    "interrupted in {name} before {unit} {number}; everything before it is stored{goes_on}"
                )));
            }
            let (told, end) = match waited {
                Ok(Waited::Chunk(chunk)) => (beginning.take(&reading.name, chunk, self.args), None),
                Ok(Waited::Nothing) => {
                    patience = Duration::ZERO;
                    (beginning.rest(&reading.name, self.args), None)
                }
                Ok(Waited::End) => (beginning.end(&reading.name, self.args, true), Some(Ok(()))),
                // What came before may still be held.
                Err(error) => (beginning.end(&reading.name, self.args, false), Some(Err(error))),
            };
            let chunk = match told {
                Ok(told) => self.told(reading, told),
                Err(refusal) => return self.refuse(reading, refusal),
            };
            self.chunk(reading, &mut splitter, &mut skipped, &chunk)?;
            let name = &reading.name;
            match end {
                None => {}
                Some(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    let goes_on = if reading.origin.is_some() { GOES_ON_WHOLE } else { "" };
                    return Err(Failure::Input(format!(
                        "{name}: {error}. All lines before are stored{goes_on}"
                    )));
                }
                Some(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(Failure::Input(format!(
                        "{name}: {error}. All lines before are stored, and any of them may be wrong; a file is checked before anything is stored"
                    )));
                }
                Some(Err(error)) => return Err(Failure::file(Path::new(name), &error)),
                Some(Ok(())) => {
                    let is_whole = splitter.finish(|entry| self.entry(reading, &entry, false))?;
                    reading.check_start()?;
                    return match is_whole {
                        true => Ok(()),
                        false => Err(Failure::Input(format!(
                            "{}: the JSON array has no end; the input may be truncated",
                            reading.name
                        ))),
                    };
                }
            }
            // A file has its next lines ready; another program may take its time.
            if may_wait && stored_at.elapsed() >= patience {
                self.store_batch(reading)?;
                (stored_at, patience) = (Instant::now(), FLOW);
            }
        }
    }

    /// Leaves a source alone whose beginning tells that nothing of it can be stored; others are read.
    fn refuse(&mut self, reading: &mut Reading<'_>, refusal: Refusal) -> Result<(), Failure> {
        if self.on_invalid == OnInvalid::Fail {
            return Err(Failure::Input(refusal.text));
        }
        reading.is_refused = true;
        self.refusals.add(&reading.name, refusal);
        Ok(())
    }

    /// The bytes to be taken, with the time where the beginning of the source tells that it is.
    fn told(&mut self, reading: &Reading<'_>, told: Told) -> Vec<u8> {
        // Once, however many files there are; and not of those that are stored already.
        for hint in told.hints.iter().filter(|_| reading.recorded.is_none() && !self.has_hinted) {
            self.progress.suspend(|| tell!("note: {}: {hint}", reading.name));
        }
        self.has_hinted |= !told.hints.is_empty() && reading.recorded.is_none();
        if let Some(key) = told.key {
            self.format = event_format(self.args, &self.times, &key);
            if key != time_key::CLEF {
                self.progress.suspend(|| tell!("{}: reading the time of events from `{key}`", reading.name));
            }
        }
        told.bytes
    }

    /// Takes the next bytes of a source, of which so many were stored or rejected by earlier runs.
    fn chunk(
        &mut self,
        reading: &mut Reading<'_>,
        splitter: &mut Splitter,
        skipped: &mut u64,
        chunk: &[u8],
    ) -> Result<(), Failure> {
        let bytes = chunk.len() as u64;
        let earlier = bytes.min(reading.start - *skipped);
        *skipped += earlier;
        reading.bytes += bytes - earlier;
        self.progress.set_position(self.bytes_read.load(Ordering::Relaxed));
        splitter.feed(chunk, |entry| self.entry(reading, &entry, true))
    }

    /// Takes an entry; its end may not have come where the source ended instead.
    fn entry(&mut self, reading: &mut Reading<'_>, entry: &Entry<'_>, has_end: bool) -> Result<(), Failure> {
        let Some(content) = entry.event() else {
            if let Some(mended) = reading.mended.as_mut().filter(|_| entry.is_comment()) {
                mended.comment(entry);
            }
            return Ok(());
        };
        let mended = reading.mended.as_mut().map(|mended| mended.line(entry));
        if let Some(None) = mended {
            self.tally.earlier += 1;
            return Ok(());
        }
        if reading.mended.as_ref().is_some_and(Mended::is_full) {
            return Err(Failure::Input(format!(
                "stopped before {} {} of {}: no more of its lines can be remembered; everything before is stored. Move it and the lines \
                 behind it to another file, and ingest that",
                entry.unit, entry.number, reading.name
            )));
        }
        // An element may have no bytes, and end where it begins.
        let is_last = reading.recorded.is_some() && entry.end() == reading.start;
        if entry.offset < reading.start || is_last {
            reading.has_start = anchor::ends_at(entry, reading.start, reading.anchor);
            if !reading.rejected.is_due(entry) {
                self.tally.earlier += 1;
                return Ok(());
            }
            reading.bytes += entry.end() - entry.offset;
            if !reading.has_retried {
                reading.has_retried = true;
                let (name, Entry { unit, number, .. }) = (&reading.name, entry);
                self.progress.suspend(|| tell!("{name}: retrying rejected lines, from {unit} {number}"));
            }
        } else if !reading.has_new {
            self.begin_new(reading, entry)?;
        }
        reading.check_data()?;
        self.tally.lines += 1;
        let reason = match content {
            Content::Bytes(bytes) => match self.batch.push(bytes, &self.format) {
                Ok(()) => return self.taken(reading, entry, mended.flatten()),
                Err(rejection) => {
                    let not_utf8 = matches!(
                        rejection,
                        Rejection::Document(ValidateError { reason: Reason::NotUtf8, .. })
                    );
                    if not_utf8 {
                        self.not_utf8.get_or_insert_with(|| reading.name.clone());
                    }
                    rejection.to_string()
                }
            },
            Content::TooLong { bytes } => {
                let unit = entry.unit;
                format!("the {unit} has {bytes} bytes; at most {LINE_BYTES_MAX} are allowed")
            }
        };
        self.reject(reading, entry, &reason)?;
        // What has no end yet may get one, and is read again then.
        if !has_end && entry.offset >= reading.start {
            return Ok(());
        }
        let is_empty = entry.end() == entry.offset;
        if reading.origin.is_none() || reading.mended.is_some() || self.rejects.keeps() || is_empty {
            reading.rejected.settle(entry);
        } else if !reading.rejected.remember(entry) {
            return Err(too_scattered(&reading.name, entry));
        }
        reading.advance(entry);
        Ok(())
    }

    /// An entry is in the batch. `mended` is what a line of a better copy is known by.
    fn taken(
        &mut self,
        reading: &mut Reading<'_>,
        entry: &Entry<'_>,
        mended: Option<u64>,
    ) -> Result<(), Failure> {
        reading.advance(entry);
        reading.rejected.settle(entry);
        if let (Some(remembered), Some(key)) = (&mut reading.mended, mended)
            && !remembered.store(key)
        {
            self.store_batch(reading)?;
            reading.mended.as_mut().map(Mended::go_on);
        }
        if self.batch.bytes() >= self.batch_bytes.min(self.writer.batch_bytes()) {
            self.store_batch(reading)?;
        }
        Ok(())
    }

    /// The first entry that no earlier run has read.
    fn begin_new(&mut self, reading: &mut Reading<'_>, entry: &Entry<'_>) -> Result<(), Failure> {
        reading.has_new = true;
        reading.check_start()?;
        if reading.recorded.is_some() {
            let (name, Entry { unit, number, offset, .. }) = (&reading.name, entry);
            self.progress.suspend(|| tell!("{name}: continuing at {unit} {number}, byte {offset}"));
        }
        Ok(())
    }

    fn reject(&mut self, reading: &Reading<'_>, entry: &Entry<'_>, reason: &str) -> Result<(), Failure> {
        self.tally.rejected += 1;
        let rejects = &mut self.rejects;
        let (source, origin) = (&reading.name, reading.origin.as_deref());
        self.progress.suspend(|| rejects.add(source, origin, entry, reason))?;
        match self.on_invalid {
            OnInvalid::Skip => Ok(()),
            OnInvalid::Fail => {
                let Entry { unit, number, .. } = entry;
                Err(Failure::Input(format!(
                    "stopped at {unit} {number} of {source}, which was rejected; everything before it is stored"
                )))
            }
        }
    }

    /// Hands the batch over to be stored, with the place that its source has come to. What was rejected before that place is
    /// on disk by then.
    fn store_batch(&mut self, reading: &mut Reading<'_>) -> Result<(), Failure> {
        let has_moved = || reading.recorded.is_some() && reading.recorded != reading.place();
        let place = if !self.batch.is_empty() || has_moved() { reading.place() } else { None };
        if place.is_some() {
            self.rejects.sync()?;
            reading.recorded.clone_from(&place);
        }
        self.stored_bytes = self.stored_bytes.saturating_add(self.batch.bytes());
        self.writer.store(&mut self.batch, place)
    }
}

const GOES_ON: &str = "; run the same command to continue there";

/// A packed file is recognised by its first event, so a better copy in its place is the same file.
const GOES_ON_WHOLE: &str =
    "; put a complete copy of the file in its place and run the same command to store the rest";
