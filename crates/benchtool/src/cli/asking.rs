//! The commands that ask for events.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use tamias::EventId;

use super::shared::{
    OnDamage, Paging, Parameter, Period, Reading, Showing, at_least_one, event_id, store_folder,
};

/// Run a query
///
/// `select COLUMNS from stream where CONDITION group by KEYS order by COLUMN limit N`. Only `select COLUMNS` is required, and
/// `stream` means the events of the store. Refer to the keys of events by name; `benchtool keys` lists them. If an event does
/// not have a key, its value is undefined, which is not an error. Every event has `@Timestamp`, `@Level` and `@Message`;
/// `@Data` is the whole document, and `*` stands for time, id and document. docs/query-language.md describes the language.
///
/// Output is NDJSON, or on a terminal a table or log lines, unless --format says otherwise. Formats other than JSON show strings
/// without quotes, other values as JSON, and undefined values as nothing. Times are ISO 8601 text unless --ticks is given.
/// On a terminal, control characters in events are escaped.
///
/// On a terminal, a query without `where`, `group by` and `limit` shows the latest 1000 rows and says so. All other queries,
/// and all queries whose output is not a terminal, give every row.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool query logs \"select Message from stream where Elapsed > 200 limit 10\"
  benchtool query logs \"select count(*), max(Elapsed) as Slowest from stream\"
  benchtool query logs \"select * from stream where @Level = 'Error' order by time desc limit 5\" --format csv
  benchtool query logs 'select Message from stream where CustomerId = $id' --param id=4711
  benchtool query logs \"select * from stream\" --since 1d --format parquet --output logs.parquet
  benchtool query logs \"select mean(Elapsed) from stream group by Path\" --stats --deadline 10s
  benchtool query logs \"select count(*) from stream group by @Level\" --since 15m
  benchtool query logs \"select @Timestamp, Message from stream\" --from yesterday --to today --time-zone local
  benchtool query logs \"select count(*) from stream group by time(1h)\" --format chart
  benchtool query logs \"select * from stream\" --limit 100
  benchtool query logs \"select * from stream\" --limit 100 --after 08dc7fc93a25fc000000000000000007
  benchtool query logs \"explain analyze select Message from stream where Elapsed > 200\"")]
pub(crate) struct QueryArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// The query, or `-` to read it from standard input
    ///
    /// Put `explain` before it to see the plan, or `explain analyze` to run it and see counts and times of each step.
    pub(crate) query: String,

    /// The value of `$NAME` in the query; may be repeated
    ///
    /// A value that is valid JSON (12.5, true, null, "text", {"a":1}) is used as JSON, everything else as a string.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<Parameter>,

    #[command(flatten)]
    pub(crate) period: Period,

    #[command(flatten)]
    pub(crate) showing: Showing,

    /// Print at most N rows, and print on standard error how to get the next page
    ///
    /// For queries without a `limit` that give one row per event, in order of time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    /// Continue after an earlier page, with the ID that it printed
    #[arg(long, value_name = "ID", value_parser = event_id, requires = "limit")]
    pub(crate) after: Option<EventId>,

    /// Write rows into this file, which is replaced atomically on success
    ///
    /// The extension of the file selects the format (csv, json, ndjson, md, parquet, arrow and so on) unless --format is given.
    ///
    /// In parquet and arrow each column has one type: times are timestamps in nanoseconds (if all of them are between 1678 and
    /// 2261), numbers are 64-bit integers or 64-bit floating point (fractions are rounded to it), Booleans are Booleans, and
    /// everything else is text as in csv, including columns of mixed types or longer numbers. The
    /// types are known only at the end: until then the rows are kept in a temporary file (in the folder that TMPDIR names, else /tmp), for
    /// which there must be room, about as much as for the rows as text.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// What to do if stored data is damaged
    #[arg(long, value_enum, default_value_t = OnDamage::Fail)]
    pub(crate) on_damage: OnDamage,

    /// Exit with code 1 if there are no rows
    #[arg(long)]
    pub(crate) exit_status: bool,

    /// Report value types per key: how many were numbers, strings, missing and so on
    ///
    /// Prints a table on standard error after the rows: for each key how many values were numbers, strings and so on, and how
    /// many were missing; and how many values each aggregate ignored. The query takes longer.
    #[arg(long)]
    pub(crate) stats: bool,

    /// Evaluate each event by itself, without optimisations
    ///
    /// Gives the same rows more slowly; a query that exceeds a limit may fail where the optimised one does not, or the other way round. Use it to check whether an optimisation is at fault.
    #[arg(long)]
    pub(crate) plain: bool,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Stop the query with an error if it takes longer, as in 5s, 200ms or 2m
    #[arg(long, value_name = "TIME", value_parser = crate::budget::time)]
    pub(crate) deadline: Option<Duration>,

    /// Memory limit for grouping, distinct values and sorting, as in 256MB or 1GiB; 256MiB by default
    ///
    /// A query that needs more stops with an error. Nothing is written to disk. Rows that are not sorted need none of it.
    #[arg(long, value_name = "SIZE", value_parser = crate::budget::bytes)]
    pub(crate) memory: Option<usize>,

    /// Number of threads, 256 at most; the number of processors by default
    ///
    /// The rows are the same, in the same order. Each thread keeps its own groups until the end, which takes memory.
    #[arg(long, value_name = "N", value_parser = crate::budget::threads)]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Run queries interactively
///
/// Enter runs a complete query. An incomplete one continues on the next line, at the prompt `…>`; Ctrl-C abandons it. A
/// semicolon or an empty line always ends a query. Tab completes keywords and the keys of the store's first and last events.
/// The arrow keys recall earlier queries on this store, also from earlier sessions. Ctrl-C cancels a running query, Ctrl-D
/// quits, and `.help` lists the commands. The history is kept in a file per store, in the folder `tamias` under
/// $XDG_STATE_HOME, or under ~/.local/state if that is not set.
///
/// If standard input is not a terminal, queries are read from it, each ended by a semicolon or an empty line. The shell stops
/// at the first error, with the exit code that `query` would have.
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

    #[command(flatten)]
    pub(crate) showing: Showing,
}

/// List the keys of events, with counts, types and examples
///
/// Keys are written as in a query: `Elapsed`, `Actor.Name`, `Tags[?]` for the elements of an array,
/// `@Properties['odd name']`. Output is a table on a terminal and one JSON object per line elsewhere. At most 20,000 keys are
/// distinguished. Standard error says how many events were read, and which.
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

    /// Maximum depth; 1 is the top level only. The elements of an array are a level of their own
    #[arg(long, value_name = "N", default_value = "3", value_parser = at_least_one::<NonZeroU32>)]
    pub(crate) depth: NonZeroU32,

    /// Read only the first N events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Read only every Nth event
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one::<NonZeroU64>)]
    pub(crate) every: NonZeroU64,

    #[command(flatten)]
    pub(crate) period: Period,

    /// Output format
    #[arg(long, value_enum)]
    pub(crate) format: Option<KeysFormat>,

    #[command(flatten)]
    pub(crate) paging: Paging,
}

/// How keys are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeysFormat {
    /// A table
    Table,
    /// One JSON object per line
    Ndjson,
}

/// Evaluate expressions of the query language
///
/// Writes the value of an expression as JSON, `undefined` if it has none. Without an expression on the command line, reads one
/// per line from standard input and writes one line for each: `error: …` if it is malformed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool eval '1 + 2'
  benchtool eval \"ToIsoString(Now())\"
  echo 'Elapsed * $factor' | benchtool eval --event '{\"Elapsed\": 1.5}' --param factor=2")]
pub(crate) struct EvalArgs {
    /// The expression
    pub(crate) expression: Option<String>,

    /// The event that the expressions refer to, a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}", hide_default_value = true)]
    pub(crate) event: String,

    /// The value of `$NAME` in the expressions; may be repeated
    ///
    /// A value that is valid JSON (12.5, true, null, "text", {"a":1}) is used as JSON, everything else as a string.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<Parameter>,
}
