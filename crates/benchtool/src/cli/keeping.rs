//! The commands that look after a store.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::shared::{Paging, Period, Reading, Sealing, store_folder};
use crate::instants::Zone;

/// Show what a store holds: events, period, files
///
/// Also shows its retention settings (`settings`), the size of its files, and how many bytes were written to disk per
/// byte appended.
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

    /// Show instead which events have been removed, when and why
    #[arg(long)]
    pub(crate) history: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = InfoFormat::Table, conflicts_with = "history")]
    pub(crate) format: InfoFormat,

    /// The time zone of times in the table
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse, allow_hyphen_values = true)]
    pub(crate) time_zone: Zone,

    #[command(flatten)]
    pub(crate) paging: Paging,
}

/// In which form `info` is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    /// A summary, and a table of the files
    Table,
    /// One JSON object, for monitoring; `known_damage` counts the damaged parts that the last scrub found, or that opening the store met
    Json,
}

/// Show or set a store's retention: maximum age and size
///
/// The settings are kept in the store, and every program that writes to it obeys them. Events beyond the limits are removed at
/// once, in whole files; --dry-run shows what would go. `info --history` shows what was removed. Options that are not given keep
/// their values; without any option the settings are shown.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool settings logs
  benchtool settings logs --max-age 90d --max-bytes 20GB --dry-run
  benchtool settings logs --max-age 90d --max-bytes 20GB
  benchtool settings logs --max-age none --when-full remove-oldest

If another process is writing to the store, it applies the settings and obeys them from then on.")]
pub(crate) struct SettingsArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Remove events older than this: 90d, 12h; or `none`
    ///
    /// By the machine's clock. A file is removed when all of its events are too old. A file with some older events is rewritten
    /// without them once they exceed the age by a sixteenth.
    #[arg(long, value_name = "DURATION", value_parser = max_age)]
    pub(crate) max_age: Option<Bound<Duration>>,

    /// Remove the oldest files while the store is larger than this: 20GB, 512MiB; or `none`
    ///
    /// Event files, logs and unfinished files count; files that readers still hold and the quarantine do not. The latest file is
    /// always kept.
    #[arg(long, value_name = "SIZE", value_parser = max_bytes)]
    pub(crate) max_bytes: Option<Bound<u64>>,

    /// What to do when the disk is full
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) when_full: Option<WhenFull>,

    /// Change nothing, only show what would be removed at once
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Set limits by which all events would go at once
    #[arg(long)]
    pub(crate) force: bool,
}

/// Back up a store, even while it is being written to
///
/// DEST is a new folder, or one with an earlier backup of the same store; then only what is new is copied. On the same file
/// system, files of events are hard-linked instead of copied. If interrupted, DEST holds either the earlier backup or
/// the new one. A backup is a store and can be read like any other; once something writes to it, it is no longer a backup. The
/// quarantine is not backed up.
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

    /// Copy every file: a hard link does not protect from a bad sector
    #[arg(long)]
    pub(crate) copy: bool,
}

/// Restore a backup into a new folder
///
/// The restored store has all events with their ids, and can be written to. Ids that were given after the backup was taken are
/// not used again. Its next backup needs a new folder.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  benchtool restore /mnt/backup/logs logs")]
pub(crate) struct RestoreArgs {
    /// The backup, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) backup: PathBuf,

    /// The new store, a folder that does not exist or is empty
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Copy every file instead of hard-linking
    #[arg(long)]
    pub(crate) copy: bool,
}

/// Write the documents of a store to standard output as NDJSON, in order of time
///
/// Documents are written exactly as they are stored. `ingest` reads them and gives new ids. With `export --ids` and `ingest --keep-ids` the new
/// store has the same ids.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool export logs > logs.ndjson
  benchtool export logs --since 1d > day.ndjson
  benchtool export logs --where \"@Level = 'Error'\" | zstd > errors.ndjson.zst
  benchtool export logs --ids | benchtool ingest copy - --keep-ids")]
pub(crate) struct ExportArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Only events that meet this condition, as after `where` in a query
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,

    /// Put the event's id into each document, as its first member `@Id`
    ///
    /// For `ingest --keep-ids`, which takes it out again.
    #[arg(long)]
    pub(crate) ids: bool,

    #[command(flatten)]
    pub(crate) period: Period,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Merge several stores into a new one
///
/// DEST is a new folder. It gets all events of the other stores, in order of time, with new ids; the other stores do not change.
/// DEST has no event before it has all of them: if this is interrupted, run it again.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  benchtool merge-stores web.logs shop.logs --into all.logs")]
pub(crate) struct MergeStoresArgs {
    /// The stores, folders
    #[arg(value_name = "STORE", required = true, value_parser = store_folder)]
    pub(crate) stores: Vec<PathBuf>,

    /// The new store, a folder that does not exist or is empty
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
        return Err("an age of zero would remove everything; write `none` for no limit".to_owned());
    }
    Ok(Bound(Some(age)))
}

fn max_bytes(text: &str) -> Result<Bound<u64>, String> {
    match text {
        "none" => Ok(Bound(None)),
        text => Ok(Bound(Some(crate::budget::bytes(text)? as u64))),
    }
}

/// What to do when the disk is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhenFull {
    /// Refuse new events
    Fail,
    /// Remove the oldest files of events until there is room
    RemoveOldest,
}

/// Check a whole store: every checksum, and the order of events
///
/// Damage is listed with file, position, period and number of events; the exit code is then 6.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool verify logs
  benchtool verify logs --deep")]
pub(crate) struct VerifyArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Also check the content: each document, and the statistics of each block
    ///
    /// Statistics summarise the documents of a block, so that a query can skip it. --deep compares them with the
    /// documents, and checks that these are minified JSON. Blocks that fail are listed with file, period and the
    /// reason; the exit code is then 6. Such a block was written by a faulty program. Takes many times as long.
    #[arg(long)]
    pub(crate) deep: bool,
}

/// Check a store slowly in the background, and resume where it stopped
///
/// A round reads every sealed file once, as `verify` does, at a limited rate. Progress is kept in the store: the next run
/// resumes there, or starts the next round. `info` shows it. The store may be written to meanwhile. Damage is listed; the exit
/// code is then 6.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool scrub logs
  benchtool scrub logs --rate 5MB/s")]
pub(crate) struct ScrubArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Average rate of reading, at most
    #[arg(long, value_name = "SIZE", default_value = "20MB/s", value_parser = rate)]
    pub(crate) rate: u64,
}

/// `20MB/s`, or a size alone.
fn rate(text: &str) -> Result<u64, String> {
    let bytes = crate::budget::size(text.strip_suffix("/s").unwrap_or(text))?;
    if bytes == 0 {
        return Err("at zero bytes per second nothing would be read".to_owned());
    }
    Ok(bytes)
}

/// Repair a damaged store
///
/// Reads the whole store. Each damaged file is copied into the folder `quarantine` in the store, what is intact in it is
/// written to a new file, and then the damaged file is removed. Nothing is deleted before it is copied, and an interrupted repair
/// can be run again. No other process may write to the store meanwhile; others may read it.
///
/// Each damaged part is listed with file, position, period and number of events, and each file with what was kept and where
/// its bytes are. To undo a repair, for example because the disk failed only for a while, move the files from `quarantine` back into the store under
/// their own names, and repair again.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool repair logs --dry-run
  benchtool repair logs

The exit code is 6 if events are lost, if a file could not be repaired, or if a dry run found damage. Run again, it is 0 if the store is intact.")]
pub(crate) struct RepairArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Change nothing, only show what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Move events from the write-ahead log into a sealed file
///
/// The store does this by itself after five minutes, or when the log gets large. Sealed events are faster to read and take no
/// memory.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  benchtool seal logs

If another process is writing to the store, it does this instead.")]
pub(crate) struct SealArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,
}

/// Compact a store: merge small files into larger ones
///
/// Seals the log first. A store that is written to is also compacted in the background, but keeps some small files; after this
/// almost all files are more than half full (64 MiB). With `--segments columns`, text files become files of columns, full ones
/// too. Other processes may read the store meanwhile.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool compact logs
  benchtool compact logs --segments columns

If another process is writing to the store, it does this instead, with its own file layout.")]
pub(crate) struct CompactArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    #[command(flatten)]
    pub(crate) sealing: Sealing,
}

/// Delete the events that meet a condition, and erase them from the files
///
/// A condition of which `query` warns, such as one that names a key that no event has, is refused if it is true of any event; see --force.
/// The events are first marked as deleted: queries no longer return them. Then each file that contains some is rewritten without them,
/// one file at a time, so there must be space for one file. Finally the whole store is read, to check that nothing of them is left, and a
/// receipt is written (see `receipts`): the line `erased:` tells that, and the receipt follows. While another process reads an old file there is no receipt: run the command again later, without --where.
/// Backups and the quarantine are not changed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool delete logs --where \"User.Email = 'eve@example.com'\" --dry-run
  benchtool delete logs --where \"User.Email = 'eve@example.com'\"
  benchtool delete logs

If another process is writing to the store, it does this instead. The exit code is 2 if the condition was refused, 5 if another process still reads an old file, and 6 if a file is damaged, foreign, or holds text of no event.")]
pub(crate) struct DeleteArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Delete the events that meet this condition, as after `where` in a query; without it, continue an unfinished deletion
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,

    /// Change nothing, only show how many events would be deleted
    #[arg(long, requires = "condition")]
    pub(crate) dry_run: bool,

    /// Delete the events even if there are warnings of the condition
    #[arg(long, requires = "condition")]
    pub(crate) force: bool,

    /// The time zone of times in the condition that name none
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse, allow_hyphen_values = true)]
    pub(crate) time_zone: Zone,

    #[command(flatten)]
    pub(crate) sealing: Sealing,
}

/// List the receipts for what was erased from a store, and check them
///
/// A receipt says how many events were erased and when, how many stored texts were checked, and the hash of all remaining events.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool receipts logs
  benchtool receipts logs --check

The exit code is 6 if a receipt is damaged, if a check fails, or if --check finds an unfinished erasure or no receipts.")]
pub(crate) struct ReceiptsArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Read the whole store, and check that no erased event is in it and that the remaining events are unchanged
    #[arg(long)]
    pub(crate) check: bool,
}

/// Remove the oldest events of a store, in whole files
///
/// Removes a file if all of its events are older than the given time, or, with --max-bytes, the oldest files until the rest is
/// small enough. Seals the log first. Processes that are reading the store can finish; files are deleted when nobody
/// reads them any more. Removed events cannot be recovered.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(true), after_long_help = "\
Examples:
  benchtool remove logs --older-than 30d --dry-run
  benchtool remove logs --older-than 30d --max-bytes 100GB
  benchtool remove logs --before 2024-05-01

If another process is writing to the store, it does this instead.")]
pub(crate) struct RemoveArgs {
    /// The store, a folder
    #[arg(value_parser = store_folder)]
    pub(crate) store: PathBuf,

    /// Files with events only before this time: ISO 8601, in UTC unless it has an offset
    #[arg(long, value_name = "TIME", group = "which", conflicts_with = "older_than")]
    pub(crate) before: Option<String>,

    /// Files with only events older than this: 30d, 12h
    #[arg(long, value_name = "DURATION", group = "which")]
    pub(crate) older_than: Option<String>,

    /// The oldest files, until the rest takes at most this size, as in 20GB
    ///
    /// All files go if the latest one is larger by itself; `settings --max-bytes` keeps that one.
    #[arg(long, value_name = "SIZE", group = "which", value_parser = crate::budget::size)]
    pub(crate) max_bytes: Option<u64>,

    /// Change nothing, only show what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}
