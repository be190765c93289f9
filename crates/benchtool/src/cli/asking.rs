//! The commands that ask for events.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use tamias::EventId;

use super::shared::{OnDamage, Parameter, Period, Reading, Showing, event_id, store_folder};

/// Ask a store for events, or for numbers about them
///
/// `select COLUMNS from stream where CONDITION group by KEYS order by COLUMN limit N`, where all behind the columns may be left
/// out, and `stream` are the events of the store. Keys of events go by their names, `benchtool keys` lists them; of one that an
/// event does not have, the value is undefined, which is no error. `@Timestamp`, `@Level` and `@Message` are known of each
/// event, `@Data` is the whole of it, `*` its time, id and data. docs/query-language.md describes the language.
///
/// The standard output gets NDJSON or, on a terminal, a table or lines of a log, unless --format says otherwise. In the
/// formats other than JSON a string is shown without its quotes, every other value as JSON, and an undefined one as nothing.
/// Times are ISO 8601 text, unless --ticks asks for numbers. On a terminal control characters in events are spelt out.
///
/// On a terminal, a query without `where`, `group by` and `limit` shows the latest 1000 rows and says so; everything else,
/// and every query whose output is no terminal, gives all rows.
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
  benchtool query logs \"select @Timestamp, Message from stream\" --from yesterday --to today --time-zone local
  benchtool query logs \"select count(*) from stream group by time(1h)\" --format chart
  benchtool query logs \"select * from stream\" --limit 100
  benchtool query logs \"select * from stream\" --limit 100 --after 08dc7fc93a25fc000000000000000007
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

    #[command(flatten)]
    pub(crate) showing: Showing,

    /// At most so many rows, and tell on the standard error how to get the next ones
    ///
    /// For queries without a `limit`, whose rows are those of events in the order of time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    /// Go on where an earlier page of rows ended, with the ID that it told
    #[arg(long, value_name = "ID", value_parser = event_id, requires = "limit")]
    pub(crate) after: Option<EventId>,

    /// Write rows into this file, which is replaced atomically on success
    ///
    /// In parquet and arrow a column has one type: instants are timestamps in nanoseconds where all of the column lie in
    /// the years 1678 to 2261, numbers 64-bit integers or binary64 (to which a fraction is rounded), Booleans are Booleans,
    /// and everything else, also a column of several types or of longer numbers, is text as in csv. To find the types, the
    /// query is run twice, over the same events.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// What to do where stored data is damaged
    #[arg(long, value_enum, default_value_t = OnDamage::Fail)]
    pub(crate) on_damage: OnDamage,

    /// End with exit code 1 where there are no rows
    #[arg(long)]
    pub(crate) exit_status: bool,

    /// Report value types per key: how many were numbers, strings, missing and so on
    ///
    /// After the rows the standard error gets a table: for each name how many values were numbers, strings and so on,
    /// and how many were missing; and how many values each aggregate passed over. The query is slower so.
    #[arg(long)]
    pub(crate) stats: bool,

    /// Look at each event by itself: no searching in blocks, nothing concluded from their statistics
    ///
    /// The rows are the same, and come more slowly: to find out whether a short cut is at fault.
    #[arg(long)]
    pub(crate) plain: bool,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// End the query with an error if it takes longer, as in 5s, 200ms or 2m
    #[arg(long, value_name = "TIME", value_parser = crate::budget::time)]
    pub(crate) deadline: Option<Duration>,

    /// Memory limit for grouping, distinct values and sorting, as in 256MB or 1GiB; 256MiB unless given
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

/// Ask one query after another, at a prompt
///
/// Enter runs a query that is complete; one that is not goes on in the next line, at the prompt `…>`, which Ctrl-C leaves. A
/// semicolon or an empty line ends a query in any case. Tab completes words of the language and the keys of the store's first
/// and last events; the arrow keys bring back earlier queries for this store, also those of other days. Ctrl-C cancels a
/// running query, Ctrl-D leaves, `.help` lists the commands. What was typed is kept, a file for each store, in the folder
/// `tamias` under $XDG_STATE_HOME, or ~/.local/state without it.
///
/// If the standard input is not a terminal, queries are read from it, each ended by a semicolon or an empty line. The first
/// error ends the shell with the exit code that `query` would have.
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

    /// Look at every Nth event only
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

/// Evaluate expressions of the query language
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
