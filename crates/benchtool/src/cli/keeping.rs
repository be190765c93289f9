//! The commands that look after a store.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::shared::{Sealing, store_folder};
use crate::instants::Zone;

/// Tell what a store holds: its events, their times, its files
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool info logs
  benchtool info logs --format json")]
pub(crate) struct InfoArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// How it is written
    #[arg(long, value_enum, default_value_t = InfoFormat::Table)]
    pub(crate) format: InfoFormat,

    /// The time zone of times in the table
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse)]
    pub(crate) time_zone: Zone,
}

/// How it is written what a store holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    /// A few lines, and a table of the files
    Table,
    /// A JSON object
    Json,
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

    /// Check as well what the bytes mean: each document, and each block's statistics
    ///
    /// Statistics are what a block says of its own documents, so that a query need not read them. --deep compares them with the
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

/// Compact a store: make few files of its many small ones
///
/// What is in the log only is sealed before. A store that is written to is compacted in the background too, but leaves some small
/// files; after this all but one here and there are more than half full (64 MiB). With `--segments columns` files of text become files of
/// columns, full ones too. Others may read the store meanwhile.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool compact logs
  benchtool compact logs --segments columns")]
pub(crate) struct CompactArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    #[command(flatten)]
    pub(crate) sealing: Sealing,
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
  benchtool remove logs --older-than 30d --max-bytes 100GB
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

    /// The oldest files, until the others take at most this size, as in 20GB
    #[arg(long, value_name = "SIZE", group = "which", value_parser = crate::budget::size)]
    pub(crate) max_bytes: Option<u64>,

    /// Change nothing, and tell what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}
