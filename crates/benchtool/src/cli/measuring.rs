//! The commands that measure.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::shared::{Reading, Segments, store_folder};

/// The number of events of the demo, and of the published figures.
pub(crate) const DEMO_EVENTS: u64 = 1_369_670;

/// Measure queries
///
/// Runs each query of a file several times, after one warm-up run (it brings the data into memory and
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

    /// What is measured
    #[arg(long, value_enum, default_value = "wall")]
    pub(crate) clock: Clock,

    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,
}

/// What the time of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clock {
    /// The time that passes
    Wall,
    /// What all threads use of the processors: on a machine with other work, the time that can be compared; the header tells
    #[cfg(unix)]
    Processor,
}

/// Make stores of generated events, and measure two queries on them
///
/// The first consists of documents, some 550 MB, the second of columns, some 30 MB. They stand in temporary folders, which are removed at the end,
/// unless --keep names a folder for one.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool demo
  benchtool demo --keep shop-logs
  benchtool demo --keep shop-logs --segments columns
  benchtool demo --events 100000")]
pub(crate) struct DemoArgs {
    /// Keep a store in this folder, that of columns unless --segments says otherwise; if it holds that many events already, those are measured
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,

    /// How many events to generate
    #[arg(long, value_name = "N", default_value_t = DEMO_EVENTS, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) events: u64,

    /// Measure only a store whose sealed files consist of this; without, one of each
    #[arg(long, value_enum)]
    pub(crate) segments: Option<Segments>,
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
