//! Arguments that several commands have.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use tamias::{Layout, Options};

use crate::instants::Zone;

/// The folder of a store. `-` is none: it was meant for an input.
pub(crate) fn store_folder(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("the store comes first, a folder; write ./- for one of that name".to_owned()),
        text => Ok(PathBuf::from(text)),
    }
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

    /// The time zone of --from and --to, of the query, and of instants in tables: UTC, local, +02:00, Europe/Berlin
    ///
    /// In a query, the days of `group by time(1d)` begin there, and `@Timestamp > '2024-05-29'` means its midnight there.
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
