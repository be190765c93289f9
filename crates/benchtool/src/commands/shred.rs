//! `benchtool shred`

use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use tamias_json::validate::{Limits, minify_object};
use tamias_shred::{EncodeError, Encoded, Encoder, Event, Group, group_len};

use crate::cli::ShredArgs;
use crate::failure::Failure;
use crate::output;
use crate::source::Source;
use crate::units;

/// Documents one after another, minified.
#[derive(Default)]
struct Documents {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    rejected: usize,
}

/// What a column came to, over all groups.
#[derive(Clone, Debug, Default)]
struct Row {
    path: String,
    kind: String,
    encodings: Vec<&'static str>,
    values: usize,
    distinct: usize,
    bytes_in: usize,
    stored: f64,
}

#[derive(Default)]
struct Totals {
    rows: Vec<Row>,
    stored: usize,
    directories: usize,
    text: usize,
    groups: usize,
    fell_back: usize,
    encoding: Duration,
    decoding: Duration,
}

pub(crate) fn run(args: &ShredArgs) -> Result<(), Failure> {
    let documents = read(args)?;
    if documents.ends.is_empty() {
        return Err(Failure::Input(format!("{} contains no event", args.file.display())));
    }
    let starts = std::iter::once(0).chain(documents.ends.iter().copied());
    let events: Vec<Event<'_>> = starts
        .zip(&documents.ends)
        .zip(0..)
        .map(|((start, end), arrival)| Event { instant: 0, arrival, document: &documents.bytes[start..*end] })
        .collect();
    let failed = |error: EncodeError| Failure::Input(error.to_string());
    let mut encoder = Encoder::new().map_err(failed)?;
    let mut totals = Totals::default();
    let mut rest = events.as_slice();
    while !rest.is_empty() {
        let (group, after) = rest.split_at(group_len(rest));
        rest = after;
        let begin = Instant::now();
        let encoded = encoder.encode(group).map_err(failed)?;
        totals.encoding += begin.elapsed();
        totals.add(&encoded).map_err(|error| Failure::Damage(error.to_string()))?;
    }
    let compressed = compressed(&documents).map_err(|error| Failure::Io(error.to_string()))?;
    print(&totals, &documents, compressed).map_err(|error| Failure::output(&error))
}

/// The events of the file, each minified as the store would keep it.
fn read(args: &ShredArgs) -> Result<Documents, Failure> {
    let mut documents = Documents::default();
    for source in Source::all(std::slice::from_ref(&args.file))? {
        let name = source.name();
        let mut lines = BufReader::with_capacity(1 << 20, source.reader(Arc::default()));
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = lines.read_until(b'\n', &mut line);
            if length.map_err(|error| Failure::Io(format!("{name}: {error}")))? == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            match minify_object(&line, &Limits::default(), &mut documents.bytes) {
                Ok(()) => documents.ends.push(documents.bytes.len()),
                Err(_) => documents.rejected += 1,
            }
        }
    }
    Ok(documents)
}

/// Bytes of all documents, one a line, compressed by zstd at level 3.
fn compressed(documents: &Documents) -> std::io::Result<usize> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3)?;
    let mut start = 0;
    for end in &documents.ends {
        encoder.write_all(&documents.bytes[start..*end])?;
        encoder.write_all(b"\n")?;
        start = *end;
    }
    Ok(encoder.finish()?.len())
}

impl Totals {
    fn add(&mut self, encoded: &Encoded) -> Result<(), tamias_shred::DecodeError> {
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
            let known = self.rows.iter().position(|row| row.path == column.path && row.kind == kind);
            let index = known.unwrap_or(self.rows.len());
            if known.is_none() {
                self.rows.push(Row { path: column.path, kind, ..Row::default() });
            }
            let row = &mut self.rows[index];
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
}

fn print(totals: &Totals, documents: &Documents, compressed: usize) -> std::io::Result<()> {
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
    let mut rows = totals.rows.clone();
    rows.sort_by(|a, b| b.stored.total_cmp(&a.stored).then_with(|| a.path.cmp(&b.path)));
    for row in &rows {
        table.add_row([
            units::printable(&row.path).to_string(),
            row.kind.clone(),
            row.encodings.join(", "),
            row.values.to_string(),
            row.distinct.to_string(),
            row.bytes_in.to_string(),
            format!("{:.0}", row.stored),
            format!("{:.2}%", row.stored * 100.0 / totals.stored as f64),
        ]);
    }
    let bytes = documents.bytes.len();
    let share = |part: usize| part as f64 * 100.0 / bytes as f64;
    let speed = |time: Duration| bytes as f64 / time.as_secs_f64() / 1e6;
    let mut out = output::stdout();
    write!(
        out,
        "{table}\n\nevents (count): {}\nrejected lines: {}\ngroups: {}, of them as text: {}\ndocuments (bytes): {bytes}\n\
         columns (bytes): {} ({:.3}%), of them directories: {} ({:.3}%)\nkept as text (bytes of documents): {} ({:.3}%)\n\
         zstd -3 (bytes): {compressed} ({:.3}%); columns take {:.3} of that\nencoded with proof: {:.0} MB/s, decoded: {:.0} MB/s\n",
        documents.ends.len(),
        documents.rejected,
        totals.groups,
        totals.fell_back,
        totals.stored,
        share(totals.stored),
        totals.directories,
        share(totals.directories),
        totals.text,
        share(totals.text),
        share(compressed),
        totals.stored as f64 / compressed as f64,
        speed(totals.encoding),
        speed(totals.decoding),
    )?;
    out.flush()
}
