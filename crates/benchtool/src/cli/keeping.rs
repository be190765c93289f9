//! The commands that look after a store.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::shared::{Reading, Sealing, store_folder};
use crate::instants::Zone;

/// Tell what a store holds: its events, their times, its files
///
/// Beside them: what the store keeps to by itself (`settings`), what its files take, and how many bytes were written to the medium per byte
/// appended.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool info logs
  benchtool info logs --history
  benchtool info logs --format json")]
pub(crate) struct InfoArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Tell instead which events have left the store, when and why
    #[arg(long)]
    pub(crate) history: bool,

    /// How it is written
    #[arg(long, value_enum, default_value_t = InfoFormat::Table, conflicts_with = "history")]
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
    /// One JSON object with everything, for monitoring
    Json,
}

/// Show or set what a store keeps to by itself: bounds of age and size
///
/// The settings live in the store: every program that writes to it obeys them. What is outside of the bounds is removed, whole files of
/// events first, as `remove` does it; `info --history` tells what went. What is not named stays as it is set; without any option the settings are
/// shown.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool settings logs
  benchtool settings logs --max-age 90d --max-bytes 20GB
  benchtool settings logs --max-age none --when-full remove-oldest

A process that writes to the store is asked to set them, and obeys them from then on.")]
pub(crate) struct SettingsArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Remove events that are older than this: 90d, 12h; or `none`
    ///
    /// By the machine's clock. A file goes when all of its events are too old; one at the border is written anew without them when it reaches a sixteenth of
    /// the age beyond it.
    #[arg(long, value_name = "DURATION", value_parser = max_age)]
    pub(crate) max_age: Option<Bound<Duration>>,

    /// Remove the oldest files while the store has more bytes than this: 20GB, 512MiB; or `none`
    ///
    /// Files of events, logs and files in the making count; what readers still hold and the quarantine do not. The latest file stays in any case.
    #[arg(long, value_name = "SIZE", value_parser = max_bytes)]
    pub(crate) max_bytes: Option<Bound<u64>>,

    /// What a full disk leads to
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) when_full: Option<WhenFull>,
}

/// Take a backup of a store, also while it is written to
///
/// DEST is a new folder, or one with an earlier backup of the same store, of which only what is new is copied then. Files of events get second names
/// in DEST where both are on one file system, and are copied elsewhere. Interrupted at any point DEST holds the backup that was there before, or
/// the new one. It is a store that can be read as any other; once it is written to it is no backup any more. The quarantine is not backed up.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool backup logs /mnt/backup/logs
  benchtool backup logs logs.monday --copy
  benchtool verify /mnt/backup/logs")]
pub(crate) struct BackupArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Where the backup goes
    #[arg(value_name = "DEST", value_parser = store_folder)]
    pub(crate) destination: PathBuf,

    /// Copy every file: a second name is no protection from a bad sector
    #[arg(long)]
    pub(crate) copy: bool,
}

/// Restore a backup into a new folder
///
/// The store goes on there, with all its events and their ids. Ids that were given after the backup was taken are not given again. The next backup of it
/// needs a folder of its own.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  benchtool restore /mnt/backup/logs logs")]
pub(crate) struct RestoreArgs {
    /// The backup, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) backup: PathBuf,

    /// The store to be, a folder that is new or empty
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Copy every file, where others would get second names
    #[arg(long)]
    pub(crate) copy: bool,
}

/// Write the documents of a store's events to the standard output, one a line, in the order of their times
///
/// They are as they were stored, byte for byte. `ingest` makes a store of them with ids of its own, where it finds the time in the same key; with --ids here and
/// --keep-ids there it makes an equal store.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool export logs > logs.ndjson
  benchtool export logs --where \"@Level = 'Error'\" | zstd > errors.ndjson.zst
  benchtool export logs --ids | benchtool ingest copy - --keep-ids")]
pub(crate) struct ExportArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Only events that meet this condition, as behind `where` in a query
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,

    /// Put the event's id into each document, as its first member `@Id`
    ///
    /// For `ingest --keep-ids`, which takes it out again.
    #[arg(long)]
    pub(crate) ids: bool,

    /// The time zone of times in the condition that name none
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse)]
    pub(crate) time_zone: Zone,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Make one store of several
///
/// DEST is a new folder. It gets all events of the others, in the order of their times, with ids of its own; the others stay as they are. Where this is interrupted,
/// delete DEST and begin again.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  benchtool merge-stores web.logs shop.logs --into all.logs")]
pub(crate) struct MergeStoresArgs {
    /// The stores, folders
    #[arg(value_name = "STORE", required = true, value_parser = store_folder)]
    pub(crate) stores: Vec<PathBuf>,

    /// The store to be, a folder that is new or empty
    #[arg(long, value_name = "DEST", value_parser = store_folder)]
    pub(crate) into: PathBuf,

    #[command(flatten)]
    pub(crate) sealing: Sealing,
}

/// A bound, or that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound<T>(pub(crate) Option<T>);

fn max_age(text: &str) -> Result<Bound<Duration>, String> {
    if text == "none" {
        return Ok(Bound(None));
    }
    let ticks = crate::instants::duration(text)?;
    let age = Duration::from_secs(ticks / 10_000_000) + Duration::from_nanos(ticks % 10_000_000 * 100);
    if age.is_zero() {
        return Err("an age of nothing would remove everything; write `none` for no bound".to_owned());
    }
    Ok(Bound(Some(age)))
}

fn max_bytes(text: &str) -> Result<Bound<u64>, String> {
    match text {
        "none" => Ok(Bound(None)),
        text => Ok(Bound(Some(crate::budget::bytes(text)? as u64))),
    }
}

/// What a full disk leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhenFull {
    /// What comes is refused
    Fail,
    /// The oldest files of events are removed until there is room
    RemoveOldest,
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

/// Read a whole store slowly and check it, going on where it stopped
///
/// A round reads every sealed file once, as `verify` does, at a bounded rate. How far it has come stands in the store: run again after a stop of any kind, it goes on
/// there, or begins the next round. `info` shows it. The store may be written to meanwhile. What is damaged is listed; the exit code is then 6.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool scrub logs
  benchtool scrub logs --rate 5MB/s")]
pub(crate) struct ScrubArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Read at most so much a second, on the average
    #[arg(long, value_name = "SIZE", default_value = "20MB/s", value_parser = rate)]
    pub(crate) rate: u64,
}

/// `20MB/s`, or a size alone.
fn rate(text: &str) -> Result<u64, String> {
    let bytes = crate::budget::size(text.strip_suffix("/s").unwrap_or(text))?;
    if bytes == 0 {
        return Err("at no bytes a second nothing would be read".to_owned());
    }
    Ok(bytes)
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

/// Seal what is in the log only: move it into a file of events
///
/// The store does this itself, of what is five minutes old or has become large. Sealed events are read faster, and take no memory.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  benchtool seal logs

Where another process writes to the store it is asked to do this.")]
pub(crate) struct SealArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,
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
  benchtool compact logs --segments columns

Where another process writes to the store it is asked to do this, and makes files of the kind that it makes.")]
pub(crate) struct CompactArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    #[command(flatten)]
    pub(crate) sealing: Sealing,
}

/// Delete the events that meet a condition, and erase them from the files
///
/// First they are marked: from then on no answer has them. Then each file that holds one is written anew without them, one after another, so that it takes room
/// for one file at a time. When no file holds any of them the whole store is read: no event and no text may be left
/// that only they had. Then a receipt is written into it (`receipts`). Readers that hold a file
/// keep it until they end: then nothing is told to be erased, and the command is to be run again, without --where. Backups and the quarantine are not reached.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool delete logs --where \"User.Email = 'eve@example.com'\" --dry-run
  benchtool delete logs --where \"User.Email = 'eve@example.com'\"
  benchtool delete logs

Where another process writes to the store it is asked to do this. The exit code is 5 where files are held, 6 where one is damaged, cannot be told to be the
store's, or holds a text that no event has.")]
pub(crate) struct DeleteArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// The events that meet this condition, as behind `where` in a query; without it, go on with erasing
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,

    /// Change nothing, and tell how many events would be deleted
    #[arg(long, requires = "condition")]
    pub(crate) dry_run: bool,

    /// The time zone of times in the condition that name none
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse)]
    pub(crate) time_zone: Zone,

    #[command(flatten)]
    pub(crate) sealing: Sealing,
}

/// List the receipts for what was erased from a store, and check them
///
/// A receipt tells how many events were erased, when, how many texts of the files were looked at for what only they had, and a hash of all events that stayed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool receipts logs
  benchtool receipts logs --check

The exit code is 6 where a receipt is damaged, or a check finds an erased event, a text that no event has, or other events than those that stayed.")]
pub(crate) struct ReceiptsArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Read the whole store: is one of the erased events there, and are those that stayed what they were?
    #[arg(long)]
    pub(crate) check: bool,
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
  benchtool remove logs --before 2024-05-01

Where another process writes to the store it is asked to do this.")]
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
