//! `benchtool shred`

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use tamias_json::validate::{Limits, minify_object};
use tamias_shred::{EVENTS_MAX, EncodeError, Encoded, Encoder, Event, GROUP_BYTES_MAX, Group};

use crate::chunks::{Chunks, Waited};
use crate::cli::ShredArgs;
use crate::entries::{Content, Entry, LINE_BYTES_MAX};
use crate::failure::Failure;
use crate::output;
use crate::source::Source;
use crate::splitter::Splitter;
use crate::units;

/// The documents of a group, one after another, minified.
#[derive(Default)]
struct Documents {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// What a column came to, over all groups.
#[derive(Clone, Debug, Default)]
struct Row {
    encodings: Vec<&'static str>,
    values: usize,
    distinct: usize,
    bytes_in: usize,
    stored: f64,
}

struct Totals {
    /// By path and kind.
    rows: HashMap<(String, String), Row>,
    events: usize,
    bytes: usize,
    rejected: usize,
    /// Packs all documents, one a line, to compare with.
    zstd: zstd::stream::write::Encoder<'static, Counted>,
    encoder: Encoder,
    stored: usize,
    directories: usize,
    text: usize,
    groups: usize,
    fell_back: usize,
    encoding: Duration,
    decoding: Duration,
}

/// Counts bytes and keeps none.
#[derive(Default)]
struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn run(args: &ShredArgs) -> Result<(), Failure> {
    let mut totals = Totals::new()?;
    let mut documents = Documents::default();
    for source in Source::all(std::slice::from_ref(&args.file))? {
        let name = source.name();
        let mut chunks = Chunks::read(source.reader(Arc::default()));
        let mut splitter = Splitter::new(LINE_BYTES_MAX);
        loop {
            match chunks.next(PATIENCE).map_err(|error| Failure::Io(format!("{name}: {error}")))? {
                Waited::Chunk(chunk) => splitter.feed(&chunk, |entry| totals.take(&entry, &mut documents))?,
                Waited::Nothing => {}
                Waited::End => {
                    splitter.finish(|entry| totals.take(&entry, &mut documents))?;
                    break;
                }
            }
        }
    }
    totals.add(&mut documents)?;
    if totals.events == 0 {
        return Err(Failure::Input(format!("{} contains no event", args.file.display())));
    }
    totals.print()
}

/// How long it waits for input at a time.
const PATIENCE: Duration = Duration::from_secs(1);

impl Totals {
    fn new() -> Result<Totals, Failure> {
        let zstd = zstd::stream::write::Encoder::new(Counted::default(), 3);
        Ok(Totals {
            rows: HashMap::new(),
            events: 0,
            bytes: 0,
            rejected: 0,
            zstd: zstd.map_err(|error| Failure::Io(error.to_string()))?,
            encoder: Encoder::new().map_err(failed)?,
            stored: 0,
            directories: 0,
            text: 0,
            groups: 0,
            fell_back: 0,
            encoding: Duration::ZERO,
            decoding: Duration::ZERO,
        })
    }

    /// Takes what may be an event, minified as a store would keep it.
    fn take(&mut self, entry: &Entry<'_>, documents: &mut Documents) -> Result<(), Failure> {
        let Some(content) = entry.event() else { return Ok(()) };
        let start = documents.bytes.len();
        let is_taken = match content {
            Content::Bytes(bytes) => minify_object(bytes, &Limits::default(), &mut documents.bytes).is_ok(),
            Content::TooLong { .. } => false,
        };
        if !is_taken {
            self.rejected += 1;
            return Ok(());
        }
        if documents.bytes.len() > GROUP_BYTES_MAX && start > 0 {
            let next = documents.bytes.split_off(start);
            self.add(documents)?;
            documents.bytes = next;
        }
        documents.ends.push(documents.bytes.len());
        if documents.ends.len() == EVENTS_MAX { self.add(documents) } else { Ok(()) }
    }

    /// Encodes the documents as a group, and leaves none.
    fn add(&mut self, documents: &mut Documents) -> Result<(), Failure> {
        let Documents { bytes, ends } = std::mem::take(documents);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let events = starts.zip(&ends).zip(self.events as u64..);
        let events: Vec<Event<'_>> = events
            .filter_map(|((start, end), arrival)| {
                Some(Event { instant: 0, arrival, document: bytes.get(start..*end)? })
            })
            .collect();
        if events.is_empty() {
            return Ok(());
        }
        self.events += events.len();
        self.bytes += bytes.len();
        for event in &events {
            let packed = self.zstd.write_all(event.document).and_then(|()| self.zstd.write_all(b"\n"));
            packed.map_err(|error| Failure::Io(error.to_string()))?;
        }
        let begin = Instant::now();
        let encoded = self.encoder.encode(&events).map_err(failed)?;
        self.encoding += begin.elapsed();
        self.add_group(&encoded).map_err(|error| Failure::Damage(error.to_string()))
    }

    fn add_group(&mut self, encoded: &Encoded) -> Result<(), tamias_shred::DecodeError> {
        let begin = Instant::now();
        let group = Group::open(&encoded.directory)?;
        std::hint::black_box(group.read(&encoded.frames).documents()?);
        self.decoding += begin.elapsed();
        self.stored += encoded.len();
        self.directories += encoded.directory.len();
        self.text += encoded.text_bytes;
        self.groups += 1;
        self.fell_back += usize::from(encoded.fell_back);
        let mut reader = group.read(&encoded.frames);
        for (number, column) in group.columns().enumerate() {
            let kind = format!("{:?}", column.kind).to_lowercase();
            let row = self.rows.entry((column.path, kind)).or_default();
            if !row.encodings.contains(&column.encoding) {
                row.encodings.push(column.encoding);
            }
            let texts = reader.texts(number)?;
            let mut distinct: Vec<&[u8]> = texts.iter().collect();
            row.bytes_in += distinct.iter().map(|text| text.len()).sum::<usize>();
            distinct.sort_unstable();
            distinct.dedup();
            row.distinct += distinct.len();
            row.values += column.values;
            row.stored += column.stored;
        }
        Ok(())
    }

    fn print(self) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::Io(error.to_string());
        let Counted(compressed) = self.zstd.finish().map_err(failed)?;
        let mut rows: Vec<(&(String, String), &Row)> = self.rows.iter().collect();
        rows.sort_by(|(a, one), (b, other)| other.stored.total_cmp(&one.stored).then_with(|| a.cmp(b)));
        let table = table(&rows, self.stored);
        let share = |part: usize| part as f64 * 100.0 / self.bytes as f64;
        let speed = |time: Duration| self.bytes as f64 / time.as_secs_f64() / 1e6;
        let mut out = output::stdout();
        let written = write!(
            out,
            "{table}\n\nevents (count): {}\nrejected lines: {}\ngroups: {}, of them as text: {}\ndocuments (bytes): {}\n\
             columns (bytes): {} ({:.3}%), of them directories: {} ({:.3}%)\nkept as text (bytes of documents): {} ({:.3}%)\n\
             zstd -3 (bytes): {compressed} ({:.3}%); columns take {:.3} of that\nencoded with proof: {:.0} MB/s, decoded: {:.0} MB/s\n",
            self.events,
            self.rejected,
            self.groups,
            self.fell_back,
            self.bytes,
            self.stored,
            share(self.stored),
            self.directories,
            share(self.directories),
            self.text,
            share(self.text),
            share(compressed),
            self.stored as f64 / compressed as f64,
            speed(self.encoding),
            speed(self.decoding),
        );
        written.and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
    }
}

fn failed(error: EncodeError) -> Failure {
    Failure::Input(error.to_string())
}

/// What each column takes.
fn table(rows: &[(&(String, String), &Row)], stored: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "path",
        "kind",
        "encoding",
        "values",
        "distinct (by group)",
        "bytes in",
        "bytes out",
        "share",
    ]);
    for column in 3..=7 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for ((path, kind), row) in rows {
        table.add_row([
            units::printable(path).to_string(),
            kind.clone(),
            row.encodings.join(", "),
            row.values.to_string(),
            row.distinct.to_string(),
            row.bytes_in.to_string(),
            format!("{:.0}", row.stored),
            format!("{:.2}%", row.stored * 100.0 / stored as f64),
        ]);
    }
    table
}
