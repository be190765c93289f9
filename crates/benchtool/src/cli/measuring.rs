//! The commands that measure.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::shared::{Reading, Segments, at_least_one, store_folder};

/// The number of events of the demo, and of the published figures.
pub(crate) const DEMO_EVENTS: u64 = 1_369_670;

/// Measure queries, and compare with an earlier run
///
/// Runs each query of a file several times, after one warm-up run that brings the data into memory and verifies its
/// checksums (--from measures without it). Every row is produced and its values are copied. Prints one line per query while it runs, then a table: the time
/// at the percentile (nearest rank), with the distance to the slowest and the fastest run; tp (events), events of the
/// whole store per second; tp (hits), hits per second; hits, as a share of all events; tp (data), bytes of stored
/// events per second. Hits are the events that passed `where`, of the blocks that had to be looked at. MB and GB are powers of ten.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool bench --cases queries.txt --percentile 90 logs
  benchtool bench --cases queries.txt --save before.ndjson logs     with one version, or on one machine
  benchtool bench --cases queries.txt --compare before.ndjson logs  with another
  benchtool bench --cases queries.txt --from opening logs           as a program that has just started

where queries.txt is
  -- one query per line; blank lines and comments are skipped
  select Message from stream where Elapsed > 200
  select Message from stream where match(Message, '/api/customers')")]
pub(crate) struct BenchArgs {
    /// A file with one query per line
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: PathBuf,

    /// The percentile of the runs to report, from 0 (the fastest) to 100 (the slowest)
    #[arg(long, value_name = "P", default_value = "50", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) percentile: u8,

    /// Number of runs of each query
    #[arg(long, value_name = "N", default_value = "10", value_parser = at_least_one::<NonZeroU32>)]
    pub(crate) runs: NonZeroU32,

    /// Evaluate each event by itself, without optimisations, as `query --plain` does
    #[arg(long)]
    pub(crate) plain: bool,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Number of threads, 256 at most; the header shows it if it is more than one
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::budget::threads)]
    pub(crate) threads: NonZeroUsize,

    /// Which time is measured
    #[arg(long, value_enum, default_value = "wall")]
    pub(crate) clock: Clock,

    /// Where a run begins; the header shows it if it is not warm
    #[arg(long, value_enum, default_value = "warm")]
    pub(crate) from: FromWhere,

    /// Save the time of every run in this file, as NDJSON with an event for each query
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Compare with the results in this file, which an earlier run saved
    ///
    /// Prints a second table. A case is `faster` or `slower` if the times of nine in ten runs of both do not overlap, and lie more than
    /// 5 % apart; otherwise it is the `same`. On a busy machine use more --runs.
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,

    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,
}

/// Where a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FromWhere {
    /// The store is open, and was asked the same before
    Warm,
    /// Opening the store, which counts: nothing is verified or decoded yet, as for a program that has just started
    Opening,
    /// The same, after the system was told to forget the store's files: they are read from the disk again
    #[cfg(target_os = "linux")]
    Disk,
}

impl FromWhere {
    /// As the option spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FromWhere::Warm => "warm",
            FromWhere::Opening => "opening",
            #[cfg(target_os = "linux")]
            FromWhere::Disk => "disk",
        }
    }
}

/// What the time of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clock {
    /// Elapsed time
    Wall,
    /// Processor time of all threads, which stays comparable on a busy machine; the header shows it
    #[cfg(unix)]
    Processor,
}

impl Clock {
    /// As the option spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            #[cfg(unix)]
            Clock::Processor => "processor",
        }
    }
}

/// Build stores of generated events and measure two queries on them
///
/// The first store holds documents as text (about 550 MB), the second holds columns (about 30 MB). Both are in temporary folders
/// and removed at the end, unless --keep names a folder for one of them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool demo
  benchtool demo --keep shop-logs
  benchtool demo --keep shop-logs --segments columns
  benchtool demo --events 100000")]
pub(crate) struct DemoArgs {
    /// Keep a store in this folder: the one with columns unless --segments says otherwise. If the folder already holds a store with that many events, it is measured
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,

    /// Number of events to generate
    #[arg(long, value_name = "N", default_value_t = DEMO_EVENTS, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) events: u64,

    /// Measure only a store with this layout; by default one of each
    #[arg(long, value_enum)]
    pub(crate) segments: Option<Segments>,
}

/// Show how a file of events splits into columns, and the size of each
///
/// The file holds one JSON object per line, optionally compressed with gzip or zstd. Nothing is stored. Each path and type of value
/// is a column, shown with its encoding, its number of values and of distinct values (summed over groups of up to 16,384
/// events or 8 MiB), its size as text and as stored, and its share of the total. Columns that share a compressed frame are
/// charged their part of it. The totals come last, with the size that zstd gives for the same documents, and the speed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool shred events.clef
  benchtool generate --events 100000 | benchtool shred -")]
pub(crate) struct ShredArgs {
    /// The file; `-` means standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}
