//! The commands that show events.

use std::path::PathBuf;

use clap::Args;
use tamias::EventId;

use super::shared::{Period, Showing, event_id, store_folder};
use crate::instants::Zone;

/// Show the latest events, and follow new ones
///
/// Events are shown in order of time, the latest last. With --follow, events that other processes store are shown once a second
/// until Ctrl-C: each event exactly once, whatever its time, and those of one second in order of time.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool tail logs
  benchtool tail logs -n 100 \"@Level = 'Error'\"
  benchtool tail logs -f \"Elapsed > 500\"")]
pub(crate) struct TailArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Only events that meet this condition, as after `where` in a query
    pub(crate) condition: Option<String>,

    /// Number of events
    #[arg(short = 'n', long, alias = "limit", value_name = "N", default_value_t = 20)]
    pub(crate) events: u64,

    /// Keep showing events as they are stored
    #[arg(short, long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) period: Period,

    #[command(flatten)]
    pub(crate) showing: Showing,
}

/// Find events that mention a text anywhere
///
/// Finds events in which any string, at any depth, contains the text. This is the condition `HasText('…')` of the query
/// language. Names of keys are not searched; numbers, and messages that are made of a template and other keys, only with --all.
/// If the text is only digits, the time in `@t` is not searched either. The latest events come last.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool search logs 'connection refused'
  benchtool search logs -i timeout --since 1h
  benchtool search logs 4711 --all --condition \"@Level = 'Error'\" -n 5")]
pub(crate) struct SearchArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// The text
    pub(crate) text: String,

    /// Ignore case
    #[arg(short, long)]
    pub(crate) ignore_case: bool,

    /// Search messages as they are shown, and numbers, as well
    ///
    /// A message may be made of a template, `User {Name} logged in`, and other keys of the event; this finds `User Ada`. If the
    /// text is a number, events of which a key on the top level has it as its value are found. On a store of text it takes up to twenty times as long.
    #[arg(short, long)]
    pub(crate) all: bool,

    /// Only events that meet this condition as well, as after `where` in a query
    #[arg(long, value_name = "CONDITION")]
    pub(crate) condition: Option<String>,

    /// Show only the latest N events
    #[arg(short = 'n', long, alias = "limit", value_name = "N")]
    pub(crate) events: Option<u64>,

    #[command(flatten)]
    pub(crate) period: Period,

    #[command(flatten)]
    pub(crate) showing: Showing,
}

/// Show one event
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool get logs 08dc7fc93a25fc000000000000000007
  benchtool get logs 08dc7fc93a25fc000000000000000007 --format ndjson")]
pub(crate) struct GetArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// The event's `@Id`
    #[arg(value_name = "ID", value_parser = event_id)]
    pub(crate) id: EventId,

    /// The time zone of times in the output
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse, allow_hyphen_values = true)]
    pub(crate) time_zone: Zone,

    #[command(flatten)]
    pub(crate) showing: Showing,
}

/// Show the events before and after an event
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool around logs 08dc7fc93a25fc000000000000000007
  benchtool around logs 08dc7fc93a25fc000000000000000007 --before 50 --after 5")]
pub(crate) struct AroundArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// The event's `@Id`; such an event need not exist
    #[arg(value_name = "ID", value_parser = event_id)]
    pub(crate) id: EventId,

    /// Number of events before it
    #[arg(short = 'B', long, value_name = "N", default_value_t = 10)]
    pub(crate) before: usize,

    /// Number of events after it
    #[arg(short = 'A', long, value_name = "N", default_value_t = 10)]
    pub(crate) after: usize,

    /// The time zone of times in the output
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse, allow_hyphen_values = true)]
    pub(crate) time_zone: Zone,

    #[command(flatten)]
    pub(crate) showing: Showing,
}
