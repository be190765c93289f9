//! The commands that make events and store them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tamias::TimeFormat;

use super::shared::{Sealing, store_folder};
use crate::instants::Zone;

/// Events are stored whenever so many bytes of them have come together. HEURISTIC: so large a batch goes straight into a
/// sealed file; smaller ones are written twice, first into the log. Ingesting 493 MB took half as long as with 4 MiB.
pub(crate) const BATCH_BYTES: u32 = 48 << 20;

/// Generate the log of an imaginary web shop
///
/// Writes one event per line to standard output, in the compact log event format (CLEF): about 360 bytes each, over some five
/// days. The same number of events and the same seed always give the same bytes.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool generate --events 1000 > events.clef
  benchtool generate --events 1000000 --seed 7 | benchtool ingest logs -")]
pub(crate) struct GenerateArgs {
    /// Number of events
    #[arg(long, value_name = "N")]
    pub(crate) events: u64,

    /// Seed of the random numbers; another seed gives other events
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Store events from files or standard input
///
/// Each line is one event: a JSON object in UTF-8, at most 16 MiB long and 1000 levels deep, with its time in one of its keys
/// (see --time-key). If the input starts with `[`, it is a JSON array of such objects; each of them counts as a line. gzip and
/// zstd are recognised by content and decompressed. Of a file that was cut short the lines before the cut are stored, and a complete
/// copy in its place continues there; of one whose checksum is wrong nothing is stored, as any line may be wrong. Blank lines and lines
/// that start with `# rejected: ` (comments of a --rejects file) are skipped and not counted. An invalid line is rejected and not stored; its position and the reason are
/// printed on standard error (the first 20 lines, then a count). Line numbers and byte offsets refer to the decompressed text.
///
/// The last line of output is a summary: `stored: 10, rejected: 2, lines: 12, bytes: 4310, seconds: 0.012`. Stored plus rejected
/// is the number of lines, unless storing failed. Events are stored in batches; what the summary counts as stored is safe on
/// disk. Ctrl-C stops cleanly at any time.
///
/// Run the same command again to continue after Ctrl-C, an error, a crash or a power loss: no event is lost or stored twice. For
/// this the store remembers how far it has read each file, by full path and checksums of the first event and of the last line that
/// was read. A file that has grown gives its new lines, and an unchanged file gives nothing. A log that was rotated, renamed or packed
/// is continued under its new name. A file that begins with another event is a new one; if only the last line that was read has changed
/// or moved, ingest stops, since some of the file is stored already. The part that was read before is read again, but skipped. Nothing is
/// remembered about a file of which no line was stored, nor about standard input and pipes. The summary then also shows
/// `earlier lines: 7`, the lines that earlier runs stored or rejected.
///
/// Rejected lines of a file are remembered too, in up to 1000 places; beyond that --rejects is required. Run the command again
/// with another --time-key, --time-format, --time-zone or --now to retry the rejected lines and then read what is new. With
/// --rejects, rejected lines go to that file instead and are not remembered.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool ingest logs events.clef
  benchtool ingest logs monday.clef tuesday.clef
  benchtool ingest logs - < events.clef
  benchtool ingest edits wiki.ndjson.zst
  journalctl -o json | benchtool ingest system -
  benchtool ingest web --time-key when --time-format '%d/%m/%Y %H:%M:%S' --level-key severity access.json
  benchtool ingest app --time-zone Europe/Berlin app.ndjson
  benchtool ingest logs --rejects bad.clef events.clef
  benchtool ingest logs '/var/log/shop/**/*.clef.gz'
  benchtool ingest copy --keep-ids logs-with-ids.ndjson

The exit code is 4 if a line was rejected; all other lines are stored.")]
pub(crate) struct IngestArgs {
    /// The store, a folder; created if it does not exist
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Files with one event per line; `-` or nothing means standard input
    ///
    /// If there is no file of that name, it is a pattern as in a shell: `*`, `?`, `[a-z]`, and `**` for any folders. Matching
    /// files are read in order of their names.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The key that holds an event's time; detected from the first events by default
    ///
    /// With several keys, as in `timestamp,time`, the first one that an event has and that is not null is used; `event.created` is the member
    /// `created` of `event`. By default it is the first of the usual keys (`@t`, `@timestamp`, `timestamp`, `time`, `ts` and so
    /// on) under which most of the first events have a time, at least half of them, or else the only key or path that holds a time; the key found is printed. A key that none of the first 100 events has
    /// is an error, which names those that look like times. The document itself is not changed. The
    /// store keeps the time beside it with a precision of 100 nanoseconds.
    #[arg(long, value_name = "KEY")]
    pub(crate) time_key: Option<String>,

    /// How the time is written: auto, iso, unix, unix-ms, unix-us, unix-ns, ticks, or a pattern such as '%d/%m/%Y %H:%M:%S'
    ///
    /// `auto` accepts ISO 8601 text (with T or a space between date and time; also
    /// `2024-05-29 12:56:01 +0200` and `2024-05-29 10:56:01 UTC`), text as in web servers' logs (`29/May/2024:12:56:01 +0200`, `29/May/2024:10:56:01.123`) and in mail (`Wed, 29 May 2024 10:56:01 GMT`), and Unix times, as a number or as text of 10, 13, 16
    /// or 19 digits: below 10^11 they are seconds, below 10^14 milliseconds, below 10^17
    /// microseconds, otherwise nanoseconds. A number that is rather .NET ticks is rejected: `ticks` reads them, and times that queries
    /// write with --ticks. `iso` accepts only ISO 8601 text; the others only a number, or its text, in that unit. A
    /// pattern uses the % letters of strptime and must match the whole text. %Z cannot be read. A text that names no zone is a time of --time-zone.
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) time_format: TimeFormat,

    /// The time zone of times that name none: UTC (the default), local, +02:00, Europe/Berlin
    ///
    /// A time that names its zone, and a Unix time, stay what they are. Where the clocks go back and show an hour twice, the earlier of
    /// both is taken. Where they go forward and leave out an hour, a time in it is read as if they had not yet changed. The events themselves
    /// are not changed.
    #[arg(long, value_name = "ZONE", value_parser = Zone::parse, allow_hyphen_values = true)]
    pub(crate) time_zone: Option<Zone>,

    /// Give events without a time the current time
    ///
    /// An event whose time cannot be parsed is still rejected. With --time-key, nothing is stored of a new file whose events have
    /// their time under another usual key.
    #[arg(long)]
    pub(crate) now: bool,

    /// The top-level key that holds an event's level
    ///
    /// A member of another key, as in `log.level`, cannot be named; queries find it by its path. The key is renamed to `@l`, as in CLEF, so that queries find it as @Level; the value does not change. An event that
    /// already has `@l` is stored as it is.
    #[arg(long, value_name = "KEY")]
    pub(crate) level_key: Option<String>,

    /// The top-level key that holds an event's message
    ///
    /// The key is renamed to `@m` in the same way, so that queries find it as @Message.
    #[arg(long, value_name = "KEY")]
    pub(crate) message_key: Option<String>,

    /// Size of a batch, as in 4MiB; 48 MiB by default, 128 MiB at most
    ///
    /// Smaller batches leave less to repeat after a crash; larger ones are faster. Events from standard input are also
    /// stored whenever no more arrive for a moment.
    #[arg(long, value_name = "SIZE", default_value_t = BATCH_BYTES, hide_default_value = true, value_parser = crate::budget::batch)]
    pub(crate) batch_bytes: u32,

    /// What to do with an invalid line
    #[arg(long, value_enum, default_value_t = OnInvalid::Skip)]
    pub(crate) on_invalid: OnInvalid,

    /// Read files from the start, even if they are stored already
    #[arg(long)]
    pub(crate) again: bool,

    /// Continue each file at its last known position, although more of it may be stored
    ///
    /// If a list of the store's files was lost or replaced by an older one, the store may not know how much of a file it holds.
    /// Then ingest stores nothing without this option or --again; either may store some events twice. It is needed only once
    /// and applies to all files, including later ones.
    #[arg(long, conflicts_with = "again")]
    pub(crate) resume: bool,

    /// Save rejected lines in this file
    ///
    /// Each line is saved as it is, after a comment (`# rejected: `) with its position, a checksum of the file's path and first
    /// event, and the reason; of a line over 16 MiB only the comment is saved. Fix the file and ingest it as it is; if some lines
    /// are fixed later, ingest it again, and only these are stored. An existing file must be a rejects file. New lines are
    /// appended; lines that are read again replace their earlier copies.
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,

    /// Keep the ids of lines that `export --ids` wrote
    ///
    /// Each event keeps its time, whatever key that is in, its arrival number and so its id. The store must be new. All lines are stored, or the first one that
    /// cannot be ends it: then delete the folder and begin again.
    #[arg(long, conflicts_with_all = ["time_key", "time_format", "time_zone", "now", "level_key", "message_key", "batch_bytes", "on_invalid", "again", "resume", "rejects"])]
    pub(crate) keep_ids: bool,

    #[command(flatten)]
    pub(crate) sealing: Sealing,
}

/// What to do with an invalid line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnInvalid {
    /// Report it, leave it out, and store all others
    Skip,
    /// Report it and stop; the lines before it are stored
    Fail,
}
