//! The command line: every command with its arguments and help.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tamias::TimeFormat;

use crate::instants::Zone;

/// The number of events of the demo, and of the published figures.
pub(crate) const DEMO_EVENTS: u64 = 1_369_670;

/// Events are stored whenever so many bytes of them have come together. HEURISTIC: so large a batch goes straight into a
/// sealed file; smaller ones are written twice, first into the log. Ingesting 493 MB took half as long as with 4 MiB.
pub(crate) const BATCH_BYTES: u32 = 48 << 20;

const EXIT_CODES: &str = "\
Exit codes:
    0  all went well
    1  there were no rows (query --exit-status only)
    2  the command line is wrong
    3  a query is malformed, or needs more time or memory than it may take
    4  some input was rejected, or is not what it should be
    5  a file or a folder could not be found, read or written
    6  stored data is damaged
  130  interrupted with Ctrl-C";

/// Store structured log events in a folder, and ask for them.
///
/// Data goes to the standard output, everything else to the standard error.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colour; `auto` is on terminals, unless the environment variable NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Generate(GenerateArgs),
    Ingest(IngestArgs),
    Query(QueryArgs),
    Shell(ShellArgs),
    Keys(KeysArgs),
    Eval(EvalArgs),
    Info(InfoArgs),
    Verify(VerifyArgs),
    Repair(RepairArgs),
    Compact(CompactArgs),
    Remove(RemoveArgs),
    Bench(BenchArgs),
    Demo(DemoArgs),
    Shred(ShredArgs),
    GenerateCompletions(CompletionsArgs),
    GenerateMan(ManArgs),
}

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
/// Each line is a JSON object in UTF-8, of at most 16 MiB and 1000 levels, with its time in the key `@t` (CLEF) or in that of
/// --time-key. Where the input begins with `[`, it is a JSON array of such objects instead, each of which counts as a
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
  benchtool ingest edits --time-key time wiki.ndjson.zst
  benchtool ingest web --time-key time --time-format '%d/%b/%Y:%H:%M:%S %z' --level-key severity access.json
  benchtool ingest logs --rejects bad.clef events.clef
  benchtool ingest logs '/var/log/shop/**/*.clef.gz'

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

    /// The top-level key that holds an event's time
    ///
    /// The document keeps it as it is. A time is kept in ticks of 100 nanoseconds beside the document; finer digits are
    /// dropped there.
    #[arg(long, value_name = "KEY", default_value = "@t")]
    pub(crate) time_key: String,

    /// How the time is written: auto, iso, unix, unix-ms, unix-us, unix-ns, or a pattern such as '%d/%b/%Y:%H:%M:%S %z'
    ///
    /// `auto` takes ISO 8601 text with T or a space between date and time, with or without a zone (then it is UTC), or a
    /// Unix time: seconds below 10^11, milliseconds below 10^14, microseconds below 10^17, nanoseconds from there. `iso`
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

    /// Store events whenever so many bytes of them have come together
    ///
    /// Fewer leave less to be repeated after a crash, more are quicker. Whatever the number, events from the standard
    /// input are stored when no others follow for a moment.
    #[arg(long, value_name = "N", default_value_t = BATCH_BYTES, value_parser = clap::value_parser!(u32).range(1..=128 << 20))]
    pub(crate) batch_bytes: u32,

    /// What a rejected line does
    #[arg(long, value_enum, default_value_t = OnInvalid::Skip)]
    pub(crate) on_invalid: OnInvalid,

    /// Read files from their beginning, whatever of them is stored already
    #[arg(long)]
    pub(crate) again: bool,

    /// Go on where the store stands in a file, although it may be further on
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
}

/// The folder of a store. `-` is none: it was meant for an input.
fn store_folder(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("the store comes first, a folder; write ./- for one of that name".to_owned()),
        text => Ok(PathBuf::from(text)),
    }
}

/// What a rejected line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnInvalid {
    /// It is told and left out, all others are stored
    Skip,
    /// It is told and ends the command, the lines before it are stored
    Fail,
}

/// Run a query
///
/// The standard output gets NDJSON or, on a terminal, a table, unless --format says otherwise. In the formats other than
/// JSON a string is shown without its quotes, every other value as JSON, and an undefined one as nothing.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool query logs \"select Message from stream where Elapsed > 200 limit 10\"
  benchtool query logs \"select count(*), max(Elapsed) as Slowest from stream\"
  benchtool query logs \"select * from stream where @Level = 'Error' order by time desc limit 5\" --format csv
  benchtool query logs \"select Message from stream where CustomerId = $id\" --param id=4711
  benchtool query logs \"select * from stream\" --since 1d --format parquet --output logs.parquet
  benchtool query logs \"select mean(Elapsed) from stream group by Path\" --stats --deadline 10s
  benchtool query logs \"select count(*) from stream group by @Level\" --since 15m
  benchtool query logs \"select @Timestamp, Message from stream\" --from 2024-05-29 --to 2024-05-30 --time-zone local
  benchtool query logs \"explain analyze select Message from stream where Elapsed > 200\"")]
pub(crate) struct QueryArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// The query's text, or `-` to read it from the standard input
    ///
    /// `explain` before it shows its plan, `explain analyze` also what running it counts and takes, step by step.
    pub(crate) query: String,

    /// The value of `$NAME` in the query, as often as needed
    ///
    /// What reads as JSON (12.5, true, null, "text", {"a":1}) is that, everything else is a string.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<Parameter>,

    #[command(flatten)]
    pub(crate) period: Period,

    /// How rows are written
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,

    /// Write rows into this file, which takes its place when it is whole
    ///
    /// In parquet and arrow a column has one type: instants are timestamps in nanoseconds where all of the column lie in
    /// the years 1678 to 2261, numbers 64-bit integers or binary64 (to which a fraction is rounded), Booleans are Booleans,
    /// and everything else, also a column of several types or of longer numbers, is text as in csv. To find the types, the
    /// query is run twice.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// What stored data that is damaged does
    #[arg(long, value_enum, default_value_t = OnDamage::Fail)]
    pub(crate) on_damage: OnDamage,

    /// End with exit code 1 where there are no rows
    #[arg(long)]
    pub(crate) exit_status: bool,

    /// Count of what kinds the values are that the query's names have
    ///
    /// After the rows the standard error gets a table: for each name how many values were numbers, strings and so on,
    /// and how many were missing; and how many values each aggregate passed over. The query is slower so.
    #[arg(long)]
    pub(crate) stats: bool,

    /// Look at each event by itself: no searching in blocks, nothing concluded from their summaries
    ///
    /// The rows are the same, and come more slowly: to find out whether a short cut is at fault.
    #[arg(long)]
    pub(crate) plain: bool,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// End the query with an error if it takes longer, as in 5s, 200ms or 2m
    #[arg(long, value_name = "TIME", value_parser = crate::budget::time)]
    pub(crate) deadline: Option<Duration>,

    /// What groups, distinct values and rows to be sorted may take together, as in 256MB or 1GiB; 256MiB unless given
    ///
    /// A query that needs more ends with an error. Nothing is put on disk, and rows that are not sorted take none of it.
    #[arg(long, value_name = "SIZE", value_parser = crate::budget::bytes)]
    pub(crate) memory: Option<usize>,

    /// On how many threads the query runs, 256 at most; as many as there are processors unless given
    ///
    /// The rows are the same, in the same order. Each thread has groups of its own until the end, which takes memory.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Whose events a query is about, and how instants are shown.
#[derive(Debug, Clone, Args)]
pub(crate) struct Period {
    /// Only events from this time on
    ///
    /// As if `@Timestamp >= TIME` were added to the query's `where`: 2024-05-29, 2024-05-29T10:56:01, or with an offset,
    /// 2024-05-29T10:56:01.5+02:00; without one it is a time of --time-zone.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,

    /// Only events before this time
    ///
    /// As if `@Timestamp < TIME` were added to the query's `where`.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,

    /// Only events that are no older than this: 15m, 1d12h
    #[arg(long, value_name = "DURATION", conflicts_with = "from", value_parser = crate::instants::duration)]
    pub(crate) since: Option<u64>,

    /// The time zone of --from and --to, and of instants in tables: UTC, local, +02:00, Europe/Berlin
    ///
    /// The formats table and markdown show columns of instants (@Timestamp, the beginnings of `group by time(…)`, their
    /// least and greatest) as ISO 8601. All other formats have the exact number, ticks of 100 ns since the year 1;
    /// `ToIsoString(@Timestamp)` is text everywhere.
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse)]
    pub(crate) time_zone: Zone,
}

/// How a store's files are read.
#[derive(Debug, Clone, Args)]
pub(crate) struct Reading {
    /// How sealed files are read
    #[arg(long, value_enum, default_value_t = ReadMode::Map)]
    pub(crate) read_mode: ReadMode,
}

/// How sealed files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadMode {
    /// As memory, without copying; a file that somebody cuts while it is being searched ends the program
    Map,
    /// Block by block; whatever is done to the files shows as damage, nothing worse
    Plain,
}

/// What stored data that is damaged does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnDamage {
    /// It ends the query with exit code 6
    Fail,
    /// It is left out, and what is missing is told on the standard error
    Skip,
}

/// Ask one query after another, at a prompt
///
/// A query ends with a semicolon or an empty line. Tab completes words of the language and the keys of the store's first and
/// last events; the arrow keys bring back earlier queries, also those of other days. Ctrl-C cancels a running query, Ctrl-D
/// leaves, `.help` lists some commands. What was typed is kept in `tamias/history` under $XDG_STATE_HOME, ~/.local/state
/// without it.
///
/// Where the standard input is no terminal, queries are read from it in the same form, and the first error ends it with the
/// exit code that `query` would have.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool shell logs
  benchtool shell logs --since 1h --time-zone local
  benchtool shell logs --format csv < queries.txt")]
pub(crate) struct ShellArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    #[command(flatten)]
    pub(crate) period: Period,

    /// How rows are written: a table on a terminal, else NDJSON
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

/// List the keys that events have: how many values, of what kinds, with examples
///
/// Each key stands there as a query names it: `Elapsed`, `Actor.Name`, `Tags[?]` for the elements of an array,
/// `@Properties['odd name']`. A table on a terminal, a JSON object a line elsewhere. At most 20,000 keys are told apart. How
/// many events were looked at, and which, goes to the standard error.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool keys logs
  benchtool keys logs --depth 1 --since 1d
  benchtool keys logs --every 100
  benchtool keys logs --format ndjson | grep StatusCode")]
pub(crate) struct KeysArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// How many levels deep; 1 is the top level only, and the elements of an array are a level
    #[arg(long, value_name = "N", default_value = "3")]
    pub(crate) depth: NonZeroU32,

    /// Look at so many events at most, the earliest
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Look at one event of so many
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) every: NonZeroU64,

    #[command(flatten)]
    pub(crate) period: Period,

    /// How keys are written
    #[arg(long, value_enum)]
    pub(crate) format: Option<KeysFormat>,
}

/// How keys are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeysFormat {
    /// A table
    Table,
    /// A JSON object a line
    Ndjson,
}

/// Evaluate expressions
///
/// Reads an expression a line from the standard input, and writes its value as JSON, a line each: `undefined` where there
/// is no value, `error: …` where the expression is malformed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  echo '1 + 2' | benchtool eval
  echo 'Elapsed * $factor' | benchtool eval --event '{\"Elapsed\": 1.5}' --param factor=2")]
pub(crate) struct EvalArgs {
    /// The event whose properties the expressions name, a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}", hide_default_value = true)]
    pub(crate) event: String,

    /// The value of `$NAME` in the expressions, as often as needed
    ///
    /// What reads as JSON (12.5, true, null, "text", {"a":1}) is that, everything else is a string.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<Parameter>,
}

/// Show what events are made of: take a file apart into columns, and tell what each of them takes
///
/// The file holds a JSON object a line, packed with gzip or zstd or not. Nothing is stored. Each path and kind of value is a
/// column: with its encoding, how many values it has, how many of them differ (summed over groups of up to 16,384 events or
/// 8 MiB), what they take as text and as stored, and its share of what all columns take. Columns that share a compressed
/// frame take their share of it. Last come the totals, beside what zstd makes of the same documents, and the speed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool shred events.clef
  benchtool generate --events 100000 | benchtool shred -")]
pub(crate) struct ShredArgs {
    /// The file; `-` is the standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Tell what a store holds: its events, their times, its files
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,
}

/// Read a whole store and check it: every checksum, and the order of the events
///
/// What is damaged is listed with its file, place, times and number of events; the exit code is then 6.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool verify logs
  benchtool verify logs --deep")]
pub(crate) struct VerifyArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Check as well what the bytes mean: each document, and each block's summary
    ///
    /// A summary is what a block says of its own documents, so that a query need not read them. --deep compares it with the
    /// documents, and checks that these are minified JSON. Each block that fails is listed with its file, its times and what is
    /// wrong; the exit code is then 6. Such a block was written by a faulty program. Takes many times as long.
    #[arg(long)]
    pub(crate) deep: bool,
}

/// Take what is damaged out of a store
///
/// Reads the whole store. Each damaged file is copied whole into the folder `quarantine` in the store, and what is whole in it
/// is written into a new file; then the damaged one leaves the store. Nothing is deleted that was not copied, and a repair
/// that is interrupted may be run again. No other process may write to the store meanwhile; others may read it.
///
/// Each damaged part is listed with its file, place, times and number of events, each file with what is kept of it and where its
/// bytes are.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool repair logs --dry-run
  benchtool repair logs

The exit code is 0 where the store is sound in the end, and 6 where a dry run found damage.")]
pub(crate) struct RepairArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Change nothing, and tell what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Merge the small files of a store into few
///
/// What is in the log only is sealed before. A store that is written to is compacted in the background too, but leaves some small
/// files; after this all but one here and there are more than half full (64 MiB). Others may read the store meanwhile.
#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,
}

/// Remove the oldest events of a store, whole files of them
///
/// A file goes if all of its events are older than asked for, or, with --max-bytes, until the others are small enough, the
/// oldest first. What is in the log only is sealed before. Other processes that read the store at this moment go on with
/// what they began with; the files are deleted when nobody reads them any more. Removed events are gone for good.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(true), after_long_help = "\
Examples:
  benchtool remove logs --older-than 30d --dry-run
  benchtool remove logs --older-than 30d --max-bytes 100000000000
  benchtool remove logs --before 2024-05-01")]
pub(crate) struct RemoveArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Files with events before this time only: ISO 8601 text, UTC unless it names an offset
    #[arg(long, value_name = "TIME", group = "which", conflicts_with = "older_than")]
    pub(crate) before: Option<String>,

    /// Files with events only that are older than this: 30d, 12h
    #[arg(long, value_name = "DURATION", group = "which")]
    pub(crate) older_than: Option<String>,

    /// The oldest files, until the others have at most so many bytes
    #[arg(long, value_name = "N", group = "which")]
    pub(crate) max_bytes: Option<u64>,

    /// Change nothing, and tell what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The value of a `$name` in a query.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Parameter, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                let name = name.strip_prefix('$').unwrap_or(name);
                Ok(Parameter { name: name.to_owned(), value: value.to_owned() })
            }
            _ => Err("write NAME=VALUE".to_owned()),
        }
    }
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table, in pieces of 1000 rows; control characters are spelt out
    Table,
    /// A JSON object a line, keyed by the names of the columns; undefined values are left out
    Ndjson,
    /// The same objects as one JSON array
    Json,
    /// Comma-separated values, with the names of the columns in the first line
    Csv,
    /// The text of the first column only, a line a row
    Raw,
    /// A table in Markdown; control characters are spelt out
    Markdown,
    /// A Parquet file (with --output, where benchtool was built with the feature `columnar`)
    Parquet,
    /// An Arrow IPC file (the same)
    Arrow,
}

/// Measure queries
///
/// Runs each query of a file several times, after one run that does not count (it brings the data into memory and
/// verifies its checksums). Every row is produced and its values are copied out. Prints a line a case while it runs,
/// then a table: the time at the percentile (nearest rank) with the distances to the slowest and the fastest run;
/// tp (events), the events of the whole store a second; tp (hits), the hits a second; hits, their share of the events;
/// tp (data), the bytes of the stored events a second. Hits are the rows, or for an aggregate the events that passed
/// `where`. MB and GB are powers of ten.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  benchtool bench --cases queries.txt --percentile 90 logs

where queries.txt is
  -- one query a line; blank lines and comments are skipped
  select Message from stream where Elapsed > 200
  select Message from stream where match(Message, '/api/customers')")]
pub(crate) struct BenchArgs {
    /// The file of queries, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: PathBuf,

    /// The percentile of the runs that counts, 0 (the fastest) to 100 (the slowest)
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) percentile: u8,

    /// How often each query runs
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) runs: NonZeroU32,

    /// Look at each event by itself, as that of `query` does
    #[arg(long)]
    pub(crate) plain: bool,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// On how many threads each query runs, 256 at most; with more than one the header tells
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) threads: NonZeroUsize,

    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,
}

/// Make a store of generated events, and measure two queries on it
///
/// The store takes some 550 MB in a temporary folder, which is removed at the end, unless --keep names a folder for it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool demo
  benchtool demo --keep shop-logs
  benchtool demo --events 100000")]
pub(crate) struct DemoArgs {
    /// Keep the store in this folder; if it holds that many events already, those are measured
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,

    /// How many events to generate
    #[arg(long, value_name = "N", default_value_t = DEMO_EVENTS, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) events: u64,
}

/// Write a completion script for a shell to the standard output
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool generate-completions bash > ~/.local/share/bash-completion/completions/benchtool
  benchtool generate-completions fish > ~/.config/fish/completions/benchtool.fish")]
pub(crate) struct CompletionsArgs {
    pub(crate) shell: clap_complete::Shell,
}

/// Write the manual page to the standard output, or a page for each command into a folder
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool generate-man | man -l -
  benchtool generate-man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Made where there is none
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
