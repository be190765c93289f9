//! `benchtool info`

use std::io::Write;

use comfy_table::{CellAlignment, Table, presets};
use tamias::{Cause, HistoryEntry, Housekeeping, Info, Instant, Segment, Store, Traffic, Usage};
use tamias_json::write_json_string;

use crate::cli::{InfoArgs, InfoFormat};
use crate::commands::settings;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &InfoArgs) -> Result<(), Failure> {
    let store = Store::open_read_only(&args.store)?;
    super::warn_of_unnamed(&store)?;
    let housekeeping = store.housekeeping()?;
    let info = store.info()?;
    let name = args.store.display().to_string();
    let text = match (args.history, args.format) {
        (true, _) => history(&housekeeping.history),
        (false, InfoFormat::Text) => text(&name, &info, &housekeeping),
        (false, InfoFormat::Json) => json(&name, &info, &housekeeping, &store)?,
    };
    let mut out = output::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

fn table(head: &[&str], numbers: std::ops::RangeInclusive<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(head);
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// The name of a segment's file, and none for what is not sealed yet.
fn file_name(segment: &Segment) -> Option<String> {
    let name = segment.file.as_ref().and_then(|file| file.file_name());
    name.map(|name| name.to_string_lossy().into_owned())
}

fn text(name: &str, info: &Info, housekeeping: &Housekeeping) -> String {
    let range = info.time_range.map_or("none".to_owned(), |(first, last)| format!("{first} to {last}"));
    let head = ["file", "bytes", "events", "value data (bytes)", "blocks", "in columns", "first", "last"];
    let mut table = table(&head, 1..=5);
    let (mut file_bytes, mut column_bytes) = (0, 0);
    for segment in &info.segments {
        let (first, last) = segment.time_range;
        file_bytes += segment.file_bytes;
        if segment.column_blocks > 0 {
            column_bytes += segment.file_bytes;
        }
        table.add_row([
            file_name(segment).unwrap_or_else(|| "(not sealed yet)".to_owned()),
            segment.file_bytes.to_string(),
            segment.events.to_string(),
            segment.bytes.to_string(),
            segment.blocks.to_string(),
            segment.column_blocks.to_string(),
            first.to_string(),
            last.to_string(),
        ]);
    }
    let Usage { retired, quarantine, unnamed, .. } = housekeeping.usage;
    let written = housekeeping.traffic.written();
    format!(
        "store: \"{name}\"\nevents (count): {}\nvalue data (bytes): {}\nfiles (bytes): {file_bytes}, those with columns: {column_bytes}\n\
         timestamp range: {range}\nsettings: {}\n\
         store (bytes): {}, beside it held by readers: {retired}, in quarantine: {quarantine}, unnamed: {unnamed}\n\
         written (bytes): {written}, per byte appended: {}\n\n{table}\n",
        info.events,
        info.bytes,
        settings::text(&housekeeping.settings),
        housekeeping.usage.bounded(),
        per_byte(&housekeeping.traffic).map_or("unknown".to_owned(), |times| format!("{times:.2}")),
    )
}

/// Bytes written for each that was appended; nothing where none was counted.
fn per_byte(traffic: &Traffic) -> Option<f64> {
    (traffic.appended > 0).then(|| traffic.written() as f64 / traffic.appended as f64)
}

fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Asked => "asked",
        Cause::Age => "age",
        Cause::Size => "size",
        Cause::FullMedium => "full-disk",
    }
}

fn history(entries: &[HistoryEntry]) -> String {
    let head = ["from", "to", "why", "removals", "files", "bytes", "events", "first", "last"];
    let mut table = table(&head, 3..=6);
    for entry in entries {
        table.add_row([
            entry.times.0.to_string(),
            entry.times.1.to_string(),
            cause(entry.cause).to_owned(),
            entry.removals.to_string(),
            entry.files.to_string(),
            entry.file_bytes.to_string(),
            entry.events.to_string(),
            entry.time_range.0.to_string(),
            entry.time_range.1.to_string(),
        ]);
    }
    format!("{table}\n")
}

/// A JSON object, member by member.
struct Object(String);

impl Object {
    fn new() -> Object {
        Object("{".to_owned())
    }

    /// Adds a member whose value is this JSON text.
    fn with(mut self, name: &str, json: &str) -> Object {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&string(name));
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    fn numbers(self, members: &[(&str, u64)]) -> Object {
        members.iter().fold(self, |object, (name, number)| object.with(name, &number.to_string()))
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

fn string(text: &str) -> String {
    let mut json = Vec::new();
    write_json_string(text, &mut json);
    String::from_utf8_lossy(&json).into_owned()
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn times((first, last): (Instant, Instant)) -> String {
    array([first, last].iter().map(|instant| string(&instant.to_string())))
}

fn or_null<T>(value: Option<T>, json: impl FnOnce(T) -> String) -> String {
    value.map_or("null".to_owned(), json)
}

fn json(name: &str, info: &Info, housekeeping: &Housekeeping, store: &Store) -> Result<String, Failure> {
    let Housekeeping { settings, history, traffic, usage } = housekeeping;
    let Usage { segments, logs, manifests, unfinished, retired, unnamed, quarantine } = *usage;
    let Traffic { appended, logs: to_logs, sealed, rewritten, manifests: to_manifests } = *traffic;
    let damage = store.known_damage()?;
    let bounds = Object::new()
        .with("max_age_seconds", &or_null(settings.max_age, |age| age.as_secs_f64().to_string()))
        .with("max_bytes", &or_null(settings.max_bytes, |bytes| bytes.to_string()))
        .with("remove_oldest_when_full", &(settings.when_full == tamias::WhenFull::RemoveOldest).to_string());
    let usage = Object::new().numbers(&[
        ("bounded", usage.bounded()),
        ("segments", segments),
        ("logs", logs),
        ("manifests", manifests),
        ("unfinished", unfinished),
        ("retired", retired),
        ("unnamed", unnamed),
        ("quarantine", quarantine),
    ]);
    let traffic = Object::new()
        .numbers(&[
            ("appended", appended),
            ("logs", to_logs),
            ("sealed", sealed),
            ("rewritten", rewritten),
            ("manifests", to_manifests),
        ])
        .with("per_byte_appended", &or_null(per_byte(traffic), |times| times.to_string()));
    let history = history.iter().map(|entry| {
        let object =
            Object::new().with("times", &times(entry.times)).with("cause", &string(cause(entry.cause)));
        let numbers = [("files", entry.files), ("file_bytes", entry.file_bytes), ("events", entry.events)];
        let object = object.numbers(&[("removals", u64::from(entry.removals))]).numbers(&numbers);
        object.with("time_range", &times(entry.time_range)).end()
    });
    let segments = info.segments.iter().map(|segment| {
        let numbers = [
            ("file_bytes", segment.file_bytes),
            ("events", segment.events),
            ("bytes", segment.bytes),
            ("blocks", segment.blocks),
            ("column_blocks", segment.column_blocks),
        ];
        let object = Object::new().with("file", &or_null(file_name(segment), |name| string(&name)));
        object.numbers(&numbers).with("time_range", &times(segment.time_range)).end()
    });
    let object = Object::new()
        .with("store", &string(name))
        .numbers(&[("events", info.events), ("bytes", info.bytes), ("known_damage", damage.len() as u64)])
        .with("time_range", &or_null(info.time_range, times))
        .with("settings", &bounds.end())
        .with("usage", &usage.end())
        .with("traffic", &traffic.end())
        .with("history", &array(history))
        .with("segments", &array(segments));
    Ok(object.end() + "\n")
}
