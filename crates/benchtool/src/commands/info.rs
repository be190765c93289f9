//! `benchtool info`

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use tamias::{Cause, HistoryEntry, Housekeeping, Info, Instant, Scrub, Segment, Store, Traffic, Usage};

use crate::cli::{InfoArgs, InfoFormat};
use crate::commands::settings;
use crate::failure::Failure;
use crate::json_object::{JsonObject, json_array, or_null};
use crate::output::{self, Field, json_string};
use crate::pager::Out;
use crate::screen::Screen;
use crate::units;
use crate::wrap::wrap;

pub(crate) fn run(args: &InfoArgs) -> Result<(), Failure> {
    let screen = Screen::of_stdout();
    let store = Store::open_read_only(&args.store)?;
    super::warn_of_unnamed(&store)?;
    let housekeeping = store.housekeeping()?;
    let info = store.info()?;
    let text = match (args.history, args.format) {
        (true, _) => history(args, &housekeeping.history),
        (false, InfoFormat::Table) => table(args, &info, &housekeeping, screen.columns()),
        (false, InfoFormat::Json) => json(args, &info, &housekeeping, &store)?,
    };
    // A store may have hundreds of files.
    let mut out = Out::open(&screen, !args.paging.no_pager);
    let written = output::write_line(&mut out, &text);
    out.finish(written).map(drop)
}

/// The bytes of all files, and of those among them that have columns.
fn file_bytes(info: &Info) -> (u64, u64) {
    let bytes = |segment: &Segment| segment.file_bytes;
    let with_columns = info.segments.iter().filter(|segment| segment.column_blocks > 0);
    (info.segments.iter().map(bytes).sum(), with_columns.map(bytes).sum())
}

/// Where the texts of the head begin.
const HEAD_INDENT: usize = 10;

fn time(args: &InfoArgs, instant: &Instant) -> String {
    args.time_zone.text(instant.ticks()).unwrap_or_else(|| instant.to_string())
}

fn table(args: &InfoArgs, info: &Info, housekeeping: &Housekeeping, columns: Option<usize>) -> String {
    let time = |instant| time(args, instant);
    let range = info.time_range.as_ref();
    let range = range.map_or("none".to_owned(), |(first, last)| format!("{} to {}", time(first), time(last)));
    let (file_bytes, column_bytes) = file_bytes(info);
    let Usage { retired, quarantine, unnamed, .. } = housekeeping.usage;
    let beside = [("waiting for removal", retired), ("in quarantine", quarantine), ("unnamed", unnamed)];
    let beside = beside.iter().filter(|(_, bytes)| *bytes > 0);
    let beside: String = beside.map(|(what, bytes)| format!("\n  {what}: {}", size(*bytes))).collect();
    let written = per_byte(&housekeeping.traffic);
    let unerased = match housekeeping.unerased {
        0 => String::new(),
        events => format!(
            "\ndeleted:  {events} events that files may hold still; `delete` without a condition erases them"
        ),
    };
    let kept =
        format!("{unerased}{}", housekeeping.scrub.map_or(String::new(), |scrub| scrubbing(args, &scrub)));
    let head = format!(
        "store:    {}\nevents:   {}\ntimes:    {range}\ndata:     {}\nfiles:    {}, of these {} in columns\n\
         all:      {}{beside}\nwritten:  {}\nsettings: {}{kept}",
        args.store.display(),
        info.events,
        size(info.bytes),
        size(file_bytes),
        size(column_bytes),
        size(housekeeping.usage.bounded()),
        written.map_or("unknown".to_owned(), |times| format!("{times:.2} bytes per byte appended")),
        settings::text(&housekeeping.settings),
    );
    let head = match columns {
        Some(columns) => wrap(&head, columns, HEAD_INDENT),
        None => head,
    };
    if info.segments.is_empty() {
        return head;
    }
    let names = ["file", "bytes", "events", "data bytes", "blocks", "in columns", "first", "last"];
    let rows: Vec<Vec<Field>> = info
        .segments
        .iter()
        .map(|segment| {
            let (first, last) = &segment.time_range;
            vec![
                Field::text(&name(segment).unwrap_or_else(|| "(not sealed yet)".to_owned())),
                Field::number(&segment.file_bytes.to_string()),
                Field::number(&segment.events.to_string()),
                Field::number(&segment.bytes.to_string()),
                Field::number(&segment.blocks.to_string()),
                Field::number(&segment.column_blocks.to_string()),
                Field::whole(&time(first)),
                Field::whole(&time(last)),
            ]
        })
        .collect();
    format!("{head}\n{}", output::fitted(&names.map(str::to_owned), &rows))
}

/// How far scrubbing has come.
fn scrubbing(args: &InfoArgs, scrub: &Scrub) -> String {
    let time = |ticks| Instant::from_ticks(ticks).map_or(String::new(), |instant| time(args, &instant));
    let Scrub { began, ended, bytes, damaged, .. } = *scrub;
    let ended = ended.map_or("not finished".to_owned(), |ended| format!("to {}", time(ended)));
    format!(
        "\nscrubbed: from {} {ended}, {}, {}",
        time(began),
        size(bytes),
        units::counted(damaged, "damaged part")
    )
}

/// `1234567 bytes (1.23 MB)`
fn size(bytes: u64) -> String {
    format!("{bytes} bytes ({})", units::bytes(bytes))
}

fn name(segment: &Segment) -> Option<String> {
    Some(segment.file.as_ref()?.file_name()?.to_string_lossy().into_owned())
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
        Cause::Deleted => "deleted",
    }
}

fn history(args: &InfoArgs, entries: &[HistoryEntry]) -> String {
    if entries.is_empty() {
        return "nothing has been removed".to_owned();
    }
    let names = ["from", "to", "why", "removals", "files", "bytes", "events", "first", "last"];
    let rows = entries.iter().map(|entry| {
        let number = |number: u64| Field::number(&number.to_string());
        let time = |instant| Field::whole(&time(args, instant));
        vec![
            time(&entry.times.0),
            time(&entry.times.1),
            Field::text(cause(entry.cause)),
            number(entry.removals.into()),
            number(entry.files),
            number(entry.file_bytes),
            number(entry.events),
            time(&entry.time_range.0),
            time(&entry.time_range.1),
        ]
    });
    output::fitted(&names.map(str::to_owned), &rows.collect::<Vec<_>>())
}

fn times((first, last): (Instant, Instant)) -> String {
    json_array([first, last].iter().map(|instant| json_string(&instant.to_string())))
}

fn scrubbed(scrub: Scrub) -> String {
    let time = |ticks| or_null(Instant::from_ticks(ticks), |instant| json_string(&instant.to_string()));
    let object = JsonObject::new().with("began", &time(scrub.began));
    let object = object.with("ended", &scrub.ended.map_or("null".to_owned(), time));
    object.numbers(&[("bytes", scrub.bytes), ("damaged", scrub.damaged)]).done()
}

/// When one of the store's files was written last. Of one that a process appends to it is when the latest batch was flushed, unless it has chosen another durability.
fn last_written(folder: &Path) -> Option<Instant> {
    let names = fs::read_dir(folder).ok()?.flatten();
    let own = names.filter(|entry| {
        let ending = Path::new(&entry.file_name()).extension().map(ToOwned::to_owned);
        ending.is_some_and(|ending| ["log", "segment", "manifest"].iter().any(|own| ending == *own))
    });
    let times =
        own.filter_map(|entry| entry.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    Instant::from_unix_text(&times.max()?.as_nanos().to_string()).ok()
}

fn json(args: &InfoArgs, info: &Info, housekeeping: &Housekeeping, store: &Store) -> Result<String, Failure> {
    let Housekeeping { settings, history, traffic, usage, unerased, scrub } = housekeeping;
    let Usage { segments, logs, manifests, unfinished, retired, unnamed, quarantine } = *usage;
    let Traffic { appended, logs: to_logs, sealed, rewritten, manifests: to_manifests } = *traffic;
    let (file_bytes, column_file_bytes) = file_bytes(info);
    // What this process has met, or what the last scrub found: each of the two may know less.
    let damaged = (store.known_damage()?.len() as u64).max(scrub.map_or(0, |scrub| scrub.damaged));
    let bounds = JsonObject::new()
        .with("max_age_seconds", &or_null(settings.max_age, |age| age.as_secs_f64().to_string()))
        .with("max_bytes", &or_null(settings.max_bytes, |bytes| bytes.to_string()))
        .with("remove_oldest_when_full", &(settings.when_full == tamias::WhenFull::RemoveOldest).to_string());
    let usage = JsonObject::new().numbers(&[
        ("bounded", usage.bounded()),
        ("segments", segments),
        ("logs", logs),
        ("manifests", manifests),
        ("unfinished", unfinished),
        ("retired", retired),
        ("unnamed", unnamed),
        ("quarantine", quarantine),
    ]);
    let traffic = JsonObject::new()
        .numbers(&[
            ("appended", appended),
            ("logs", to_logs),
            ("sealed", sealed),
            ("rewritten", rewritten),
            ("manifests", to_manifests),
        ])
        .with("per_byte_appended", &or_null(per_byte(traffic), |times| times.to_string()));
    let history = history.iter().map(|entry| {
        let object = JsonObject::new()
            .with("times", &times(entry.times))
            .with("cause", &json_string(cause(entry.cause)));
        let numbers = [("files", entry.files), ("file_bytes", entry.file_bytes), ("events", entry.events)];
        let object = object.numbers(&[("removals", u64::from(entry.removals))]).numbers(&numbers);
        object.range(Some(entry.time_range)).done()
    });
    let segments = info.segments.iter().map(|segment| {
        let numbers = [
            ("file_bytes", segment.file_bytes),
            ("events", segment.events),
            ("bytes", segment.bytes),
            ("blocks", segment.blocks),
            ("column_blocks", segment.column_blocks),
        ];
        let object = JsonObject::new().with("file", &or_null(name(segment), |name| json_string(&name)));
        object.numbers(&numbers).range(Some(segment.time_range)).done()
    });
    let object = JsonObject::new()
        .with("store", &json_string(&args.store.display().to_string()))
        .numbers(&[("events", info.events), ("bytes", info.bytes)])
        .numbers(&[("file_bytes", file_bytes), ("column_file_bytes", column_file_bytes)])
        .numbers(&[("known_damage", damaged), ("unerased", *unerased)])
        .range(info.time_range)
        .with("last_written", &or_null(last_written(&args.store), |time| json_string(&time.to_string())))
        .with("settings", &bounds.done())
        .with("scrub", &or_null(*scrub, scrubbed))
        .with("usage", &usage.done())
        .with("traffic", &traffic.done())
        .with("history", &json_array(history))
        .with("segments", &json_array(segments));
    Ok(object.done())
}
