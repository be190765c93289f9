//! Arguments that several commands have.

use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use tamias::{EventId, Layout, Options};

use crate::instants::Zone;

/// The folder of a store. What is none was meant for another argument: `-`, a file and a query.
pub(crate) fn store_folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.symlink_metadata() {
        _ if text == "-" => {
            Err("the store, a folder, comes first; write ./- for a folder named -".to_owned())
        }
        Ok(data)
            if data.is_symlink()
                && path.metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) =>
        {
            Err("it is a link to something that does not exist".to_owned())
        }
        Ok(_) if path.is_file() => Err("it is a file; the store, a folder, comes first".to_owned()),
        Err(_) if text.trim_start().get(..7).is_some_and(|word| word.eq_ignore_ascii_case("select ")) => {
            Err("it is a query; the store, a folder, comes first".to_owned())
        }
        _ => Ok(path),
    }
}

/// A number of something that there has to be.
pub(crate) fn at_least_one<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "write a whole number from 1 on".to_owned())
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
    /// Adds `@Timestamp >= TIME` to the query's `where`. TIME is 2024-05-29, 2024-05-29T10:56:01, or with an offset
    /// 2024-05-29T10:56:01.5+02:00; `yesterday` or `today` (at midnight), `09:30` (today), or `-2h` (two hours ago). A time
    /// without an offset is in --time-zone.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,

    /// Only events before this time
    ///
    /// Adds `@Timestamp < TIME` to the query's `where`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,

    /// Only events of the last 15m, 1d12h and so on, or since a time as for --from
    #[arg(long, value_name = "DURATION", conflicts_with = "from", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,

    /// The time zone of --from and --to, of the query, and of times in the output: UTC, local, +02:00, Europe/Berlin
    ///
    /// In a query, the days of `group by time(1d)` begin at midnight there, and so does the day in `@Timestamp > '2024-05-29'`.
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse, allow_hyphen_values = true)]
    pub(crate) time_zone: Zone,
}

/// How rows are shown.
#[derive(Debug, Clone, Args)]
pub(crate) struct Showing {
    /// Output format; by default `log` for events and `table` for all else on a terminal, otherwise `ndjson`
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,

    /// Write times as numbers: ticks of 100 ns since the year 1
    ///
    /// By default, times (@Timestamp, the intervals of `group by time(…)`, their min and max) are ISO 8601 text in all formats.
    #[arg(long)]
    pub(crate) ticks: bool,

    #[command(flatten)]
    pub(crate) paging: Paging,
}

/// Whether long output is shown through a pager.
#[derive(Debug, Clone, Args)]
pub(crate) struct Paging {
    /// Do not show long output through a pager
    ///
    /// On a terminal, output longer than the screen goes through the program in the environment variable PAGER, or `less`.
    /// Where the latest events come last, `less` begins with them.
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
    /// Mapped into memory, without copying; if another program truncates a file meanwhile, this program crashes
    Map,
    /// Block by block; if another program changes a file, that is reported as damage
    Plain,
}

/// What sealed files consist of.
#[derive(Debug, Clone, Args)]
pub(crate) struct Sealing {
    /// Layout of the files that are written from now on
    ///
    /// Existing files can be read whatever their layout.
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
    /// Documents, one after another: faster to write, about as large as the JSON
    Text,
    /// Values by path: about a twentieth of the size, slower to write
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
    /// Stop the query with exit code 6
    Fail,
    /// Leave it out, and report on standard error what is missing
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
    /// One event per line: time, level, source, message, then the keys that are not in the message
    Log,
    /// One key per line
    Vertical,
    /// A bar for each row: the first column is the label, columns of numbers are the bars. Several columns over time are lines on one scale
    Chart,
    /// One JSON object per line, with column names as keys; undefined values are left out
    Ndjson,
    /// The same objects as one JSON array
    Json,
    /// Comma-separated values, with column names in the first line
    Csv,
    /// Only the text of the first column, one line per row
    Raw,
    /// A Markdown table; control characters are escaped
    Markdown,
    #[cfg_attr(not(feature = "columnar"), value(hide = true))]
    /// A Parquet file (needs --output, and a build with the feature `columnar`)
    Parquet,
    #[cfg_attr(not(feature = "columnar"), value(hide = true))]
    /// An Arrow IPC file (likewise)
    Arrow,
}
