//! Arguments that several commands have.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use tamias::{EventId, Layout, Options};

use crate::instants::Zone;

/// The folder of a store. `-` is none: it was meant for an input.
pub(crate) fn store_folder(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("the store comes first, a folder; write ./- for one of that name".to_owned()),
        text => Ok(PathBuf::from(text)),
    }
}

/// What names an event, as `@Id` gives it.
pub(crate) fn event_id(text: &str) -> Result<EventId, String> {
    text.parse().map_err(|error: tamias::IdError| format!("{error}, as `@Id` in a query gives it"))
}

/// Whose events a query is about, and in which time zone.
#[derive(Debug, Clone, Args)]
pub(crate) struct Period {
    /// Only events from this time on
    ///
    /// As if `@Timestamp >= TIME` were added to the query's `where`: 2024-05-29, 2024-05-29T10:56:01, or with an offset
    /// 2024-05-29T10:56:01.5+02:00; `yesterday` or `today` (its midnight), `09:30` (of today), `-2h` (two hours ago). A time
    /// without an offset is one of --time-zone.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,

    /// Only events before this time
    ///
    /// As if `@Timestamp < TIME` were added to the query's `where`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,

    /// Only events that are no older than this: 15m, 1d12h, or a time as --from takes it
    #[arg(long, value_name = "DURATION", conflicts_with = "from", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,

    /// The time zone of --from and --to, of the query, and of times in the output: UTC, local, +02:00, Europe/Berlin
    ///
    /// In a query, the days of `group by time(1d)` begin there, and `@Timestamp > '2024-05-29'` means its midnight there.
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse)]
    pub(crate) time_zone: Zone,
}

/// How rows are shown.
#[derive(Debug, Clone, Args)]
pub(crate) struct Showing {
    /// How rows are written: on a terminal events as `log` and everything else as `table`, elsewhere `ndjson`
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,

    /// Write times as numbers: ticks of 100 ns since the year 1
    ///
    /// Otherwise columns of instants (@Timestamp, the intervals of `group by time(…)`, their least and greatest) are ISO 8601
    /// text in all formats.
    #[arg(long)]
    pub(crate) ticks: bool,

    /// Do not show long output through a pager
    ///
    /// On a terminal, output longer than the screen goes through the program in the environment variable PAGER, or `less`.
    #[arg(long)]
    pub(crate) no_pager: bool,
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
    /// Mapped into memory, without copying; a file that another program cuts short meanwhile ends this one
    Map,
    /// Block by block; whatever is done to the files shows as damage, nothing worse
    Plain,
}

/// What sealed files consist of.
#[derive(Debug, Clone, Args)]
pub(crate) struct Sealing {
    /// What the sealed files that are written now consist of
    ///
    /// Those that are there are read whatever they consist of.
    #[arg(long, value_enum, default_value_t = Segments::default())]
    pub(crate) segments: Segments,
}

impl Sealing {
    /// How the store is to be opened.
    pub(crate) fn options(&self) -> Options {
        self.segments.options()
    }
}

/// What sealed files consist of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Segments {
    /// Documents, one after another: less work to write, about as large as the JSON
    Text,
    /// Their values by path: a twentieth of the bytes or so, for more work
    #[default]
    Columns,
}

impl Segments {
    /// How a store is to be opened that is to seal such files.
    pub(crate) fn options(self) -> Options {
        let segments = match self {
            Segments::Text => Layout::Text,
            Segments::Columns => Layout::Columns,
        };
        Options { segments, ..Options::default() }
    }

    /// As it is given.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Segments::Text => "text",
            Segments::Columns => "columns",
        }
    }
}

/// What to do where stored data is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnDamage {
    /// End the query with exit code 6
    Fail,
    /// Leave it out, and tell on the standard error what is missing
    Skip,
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
    /// A table, in pieces of 1000 rows; on a terminal its widest columns are shortened to fit
    Table,
    /// An event a line: time, level, source, message, then the keys that the message does not tell
    Log,
    /// A key a line
    Vertical,
    /// A bar for each row: its first column is the label, its columns of numbers the bars
    Chart,
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
    /// A Parquet file (with --output, where the program was built with the feature `columnar`)
    Parquet,
    /// An Arrow IPC file (the same)
    Arrow,
}
