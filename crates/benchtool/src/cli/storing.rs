//! The commands that make events and store them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tamias::TimeFormat;

use super::shared::{Sealing, store_folder};

/// Events are stored whenever so many bytes of them have come together. HEURISTIC: so large a batch goes straight into a
/// sealed file; smaller ones are written twice, first into the log. Ingesting 493 MB took half as long as with 4 MiB.
pub(crate) const BATCH_BYTES: u32 = 48 << 20;

/// Write the made-up log of a web shop to the standard output
///
/// One event in the compact log event format (CLEF) a line, about 360 bytes each, over some five days. The same number
/// of events and seed give the same bytes everywhere.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool generate --events 1000 > events.clef
  benchtool generate --events 1000000 --seed 7 | benchtool ingest logs -")]
pub(crate) struct GenerateArgs {
    /// How many events
    #[arg(long, value_name = "N")]
    pub(crate) events: u64,

    /// Another seed gives other events
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Store events from files or the standard input
///
/// Each line is a JSON object in UTF-8, of at most 16 MiB and 1000 levels, with its time in one of its keys: see --time-key.
/// Where the input begins with `[`, it is a JSON array of such objects instead, each of which counts as a
/// line. What is packed with gzip or zstd is unpacked, whatever its name. Blank lines, and lines that begin with
/// `# rejected: ` (those of a file of --rejects), are skipped and not counted. A line that is no event is rejected:
/// where it stands and why goes to the standard error (the first 20, then their number), and nothing of it is stored.
/// Line numbers and byte offsets are those of the unpacked text.
///
/// At the end one line goes to the standard output:
/// `stored: 10, rejected: 2, lines: 12, bytes: 4310, seconds: 0.012`;
/// stored and rejected together are the lines, always but where storing failed. Events are stored in batches; what the
/// line counts as stored is safe on disk. Ctrl-C stops at once, in good order.
///
/// The same command goes on where it stopped, after Ctrl-C, an error, a crash or loss of power: no event is missing and
/// none is stored twice. For that, the store keeps how far each file was read, under its full path and a checksum of its
/// first event. So a file that has grown gives its new lines, one that has not gives nothing, and one that was replaced by
/// another is read from the beginning; one that was moved counts as new. It is read over from the beginning to get there,
/// unpacked where it is packed. Nothing is kept of a file of which no line was stored, nor of the standard input and other
/// pipes. The last line then also tells `earlier lines: 7`, those that earlier runs had stored or rejected.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool ingest logs events.clef
  benchtool ingest logs monday.clef tuesday.clef
  benchtool ingest logs - < events.clef
  benchtool ingest edits wiki.ndjson.zst
  journalctl -o json | benchtool ingest system -
  benchtool ingest web --time-key time --time-format '%d/%b/%Y:%H:%M:%S %z' --level-key severity access.json
  benchtool ingest logs --rejects bad.clef events.clef
  benchtool ingest logs '/var/log/shop/**/*.clef.gz'
  benchtool ingest copy --keep-ids logs-with-ids.ndjson

The exit code is 4 where a line was rejected; the other lines are stored.")]
pub(crate) struct IngestArgs {
    /// The store, a folder; made where there is none
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Files with an event a line; `-` or none is the standard input
    ///
    /// Where there is no such file, `*`, `?`, `[a-z]` and `**` (any folders) fit names, as in a shell; they are read in the
    /// order of their names.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The key that holds an event's time; found out from the first events unless given
    ///
    /// Of several keys, as in `timestamp,time`, the first that an event has counts; `event.created` is the member `created` of
    /// `event`. Unless given, it is the first of the usual keys (`@t`, `@timestamp`, `timestamp`, `time`, `ts` and so on) under
    /// which most of the first events have a time, and is told. The document keeps it as it is. A time is kept in ticks of 100
    /// nanoseconds beside the document; finer digits are dropped there.
    #[arg(long, value_name = "KEY")]
    pub(crate) time_key: Option<String>,

    /// How the time is written: auto, iso, unix, unix-ms, unix-us, unix-ns, or a pattern such as '%d/%b/%Y:%H:%M:%S %z'
    ///
    /// `auto` takes ISO 8601 text with T or a space between date and time, with or without a zone (then it is UTC), or a
    /// Unix time, a number or its text of 10, 13, 16 or 19 digits: seconds below 10^11, milliseconds below 10^14, microseconds below 10^17, nanoseconds from there. `iso`
    /// takes the text only, the others the number, or its text, in seconds, milliseconds, microseconds or nanoseconds. A
    /// pattern has strptime's % letters and fits the whole text; without %z or %Q the time is UTC.
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) time_format: TimeFormat,

    /// Give events that have no time the time at which they are read
    ///
    /// One whose time cannot be read is rejected all the same.
    #[arg(long)]
    pub(crate) now: bool,

    /// The top-level key that holds an event's level
    ///
    /// It is stored under the name `@l`, as CLEF has it, so that @Level is it; its value stays as it is. An event that has an
    /// `@l` already stays as it is.
    #[arg(long, value_name = "KEY")]
    pub(crate) level_key: Option<String>,

    /// The top-level key that holds an event's message
    ///
    /// It is stored under the name `@m`, so that @Message is it, in the same manner.
    #[arg(long, value_name = "KEY")]
    pub(crate) message_key: Option<String>,

    /// Store events whenever so many bytes of them have come together, as in 4MiB; 48 MiB unless given, 128 MiB at most
    ///
    /// Fewer leave less to be repeated after a crash, more are quicker. Whatever the number, events from the standard
    /// input are stored when no others follow for a moment.
    #[arg(long, value_name = "SIZE", default_value_t = BATCH_BYTES, hide_default_value = true, value_parser = crate::budget::batch)]
    pub(crate) batch_bytes: u32,

    /// What to do about a line that is no event
    #[arg(long, value_enum, default_value_t = OnInvalid::Skip)]
    pub(crate) on_invalid: OnInvalid,

    /// Read files from their beginning, whatever of them is stored already
    #[arg(long)]
    pub(crate) again: bool,

    /// Go on in each file at the last place that is known, although more of it may be stored
    ///
    /// After a list of the store's files was lost, or an older one put in its place, it may not be known how much of a file is stored.
    /// Then nothing is stored without this option or --again: either may store some events twice. Given once it holds for all files, also those to
    /// come.
    #[arg(long, conflicts_with = "again")]
    pub(crate) resume: bool,

    /// Keep rejected lines in this file
    ///
    /// Each stands there whole, after a line with its place and the reason that begins with `# rejected: `; a line over
    /// 16 MiB is only named. The file can be mended and ingested as it is. It is made anew, unless ingest goes on where it
    /// stopped: then it is added to, and holds each rejected line once, as if there had been no stop.
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,

    /// Make a store equal to the one that the lines were exported from with `export --ids`
    ///
    /// Each event keeps its time, whatever key that is in, its arrival number and so its id. The store must be new. All lines are stored, or the first one that
    /// cannot be ends it: then delete the folder and begin again.
    #[arg(long, conflicts_with_all = ["time_key", "time_format", "now", "level_key", "message_key", "batch_bytes", "on_invalid", "again", "resume", "rejects"])]
    pub(crate) keep_ids: bool,

    #[command(flatten)]
    pub(crate) sealing: Sealing,
}

/// What to do about a line that is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnInvalid {
    /// Tell it, leave it out, and store all others
    Skip,
    /// Tell it and end; the lines before it are stored
    Fail,
}
