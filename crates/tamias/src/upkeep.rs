//! Maintenance of a store: verifying, repairing, backing up, compacting small files, removing old ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tamias_query::Instant;
use tamias_store::{Backup, BackupError, OpenError, Options, Scrub, Settings, Unnamed};

use crate::codec::ShreddedBlocks;
use crate::damage::instant;
use crate::store::Access;
use crate::{AppendError, Damage, Repair, Store};

/// Which files of events [`Store::remove`] keeps. Events that are not sealed yet are always kept: call [`seal`](Store::seal) first if that matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Remove each file whose events are all before this instant.
    pub before: Option<Instant>,
    /// Remove files until the others have at most this many bytes in total. Files whose last event is earliest are removed first.
    pub file_bytes_max: Option<u64>,
}

/// What was removed, or would be in a dry run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Their total size in bytes.
    pub file_bytes: u64,
    /// The number of events in them.
    pub events: u64,
    /// The instants of the first and the last of these events.
    pub time_range: Option<(Instant, Instant)>,
}

impl Store {
    /// Reads the whole store, checks every checksum and the order of all events, and lists what is damaged. Takes as long
    /// as reading its files.
    ///
    /// # Errors
    /// If the store cannot be opened, or the operating system reports an error while it is read.
    pub fn verify(&self) -> Result<Vec<Damage>, OpenError> {
        Ok(self.snapshot()?.events.verify()?.into_iter().map(Damage).collect())
    }

    /// Checks all sealed files in the background: reads them at a limited average rate in bytes per second, and reports each damaged part as it is
    /// found. One call is one round, or the rest of a round that was interrupted: the progress is recorded in the store, and shown by
    /// [`housekeeping`](Store::housekeeping). It stops early when `may_go_on` returns false. Files written meanwhile are left to the next round. See
    /// [`Options::scrub`](crate::Options::scrub) for a thread that does this.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # drop(tamias::Store::open(folder.path())?);
    /// let store = tamias::Store::open_read_only(folder.path())?;
    /// let scrub = store.scrub(20_000_000, &|| true, &mut |damage| eprintln!("{damage}"))?;
    /// assert!(scrub.ended.is_some() && scrub.damaged == 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be opened, or the operating system reports an error while it is read.
    pub fn scrub(
        &self,
        bytes_per_second: u64,
        may_go_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Damage),
    ) -> Result<Scrub, OpenError> {
        let mut found = |damage| found(Damage(damage));
        match &self.access {
            Access::Writer(store) => store.scrub(bytes_per_second, may_go_on, &mut found),
            Access::Reader(reader) => reader.scrub(bytes_per_second, may_go_on, &mut found),
        }
    }

    /// The files in the folder that are named like the store's own but are not listed in its manifest. If some hold
    /// [events](crate::UnnamedKind::Events) of the store, the manifest is probably not the newest one:
    /// [`repair`](Store::repair) takes these files in.
    ///
    /// # Errors
    /// If the store cannot be opened, or its folder cannot be listed.
    pub fn unnamed(&self) -> Result<Vec<Unnamed>, OpenError> {
        self.unnamed_files()
    }

    /// Repairs the store in the folder `path`, which no process may be writing to. Each damaged file is kept unchanged in the
    /// store's folder `quarantine`, its intact events are written to a new file, and only then is it removed from
    /// the store; nothing is deleted that is not kept there. Files that the store's manifest does not list are taken in, as far
    /// as their events are not in the store yet. A manifest that is missing or damaged is rebuilt from the files. If interrupted at any point, the store is
    /// either unchanged or repaired, and the repair can be run again. With `dry_run` nothing is changed, and the result says what would be.
    ///
    /// `progress` is called now and then with the bytes read so far and the total. Takes as long as reading the store.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # drop(tamias::Store::open(folder.path())?);
    /// let repair = tamias::Store::repair(folder.path(), false, |_read, _of| ())?;
    /// for file in &repair.files {
    ///     println!("{}: {} events kept", file.file.display(), file.kept);
    /// }
    /// # assert!(repair.files.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no store, another process is writing to it, or it cannot be read or written.
    pub fn repair(
        path: impl AsRef<Path>,
        dry_run: bool,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Repair, OpenError> {
        tamias_store::Repair::run(
            path.as_ref(),
            &Options::default(),
            Arc::new(ShreddedBlocks::default()),
            dry_run,
            &mut progress,
        )
        .map(Repair::of_store)
    }

    /// Backs up the store in the folder `path`, even while it is written to, into the folder `to`. This is a new folder, or one with an earlier
    /// backup of the same store; then only new data is copied. Event files are hard-linked if both folders are on one file system, unless
    /// `copy` is set. If interrupted at any point, `to` holds either the previous backup or the new one. A backup can be opened for reading like any
    /// store; once it is written to, it is no longer a backup.
    ///
    /// `progress` is called now and then with the bytes done so far and the total.
    ///
    /// ```
    /// use tamias::Store;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let (logs, backup, restored) = (folder.path().join("logs"), folder.path().join("b"), folder.path().join("r"));
    /// let store = Store::open(&logs)?;
    /// store.append([r#"{"@t":"2024-05-29T10:56:01Z"}"#])?;
    /// Store::backup(&logs, &backup, false, |_, _| ())?;
    /// Store::restore(&backup, &restored, false, |_, _| ())?;
    /// assert_eq!(Store::open_read_only(&restored)?.info()?.events, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a folder cannot be read or written, or `to` holds anything but a backup of the same store.
    pub fn backup(
        path: impl AsRef<Path>,
        to: impl AsRef<Path>,
        copy: bool,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Backup, BackupError> {
        Backup::take(path.as_ref(), to.as_ref(), copy, &mut progress)
    }

    /// Restores a backup into the folder `to`, which must be new or empty. The restored store has all its events with their ids. Ids that the
    /// original store assigned after the backup are not assigned again.
    ///
    /// # Errors
    /// If a folder cannot be read or written, or `to` is not empty.
    pub fn restore(
        backup: impl AsRef<Path>,
        to: impl AsRef<Path>,
        copy: bool,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Backup, BackupError> {
        Backup::restore(backup.as_ref(), to.as_ref(), copy, &mut progress)
    }

    /// The damage that is known without reading the sealed files: damaged parts of logs. Queries fail on it, or
    /// [skip it](Store::run_past_damage).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn known_damage(&self) -> Result<Vec<Damage>, OpenError> {
        Ok(self.snapshot()?.events.damage().iter().cloned().map(Damage).collect())
    }

    /// Compacts the store: merges small files that are neighbours in time, until nearly all files have more than half of the maximum
    /// size. Reads and writes each small file once; other threads can use the store meanwhile. The store also compacts in the background,
    /// but leaves some small files, to avoid rewriting events too often.
    ///
    /// # Errors
    /// If the store is open for reading only, or cannot be written. Files compacted before the error stay compacted.
    pub fn compact(&self) -> Result<(), AppendError> {
        self.compact_told(|_, _| ())
    }

    /// As [`compact`](Store::compact). `progress` is called now and then with the bytes of documents that are done, and the total, as far as it is known. It must not use the store.
    ///
    /// # Errors
    /// As for [`compact`](Store::compact).
    pub fn compact_told(&self, progress: impl Fn(u64, u64)) -> Result<(), AppendError> {
        let compacted = self.writer()?.compact_while(&|| true, &progress);
        compacted.map(drop).map_err(AppendError::of_sealing)
    }

    /// Removes whole files of events that exceed the `retention`, all of them or none; with `dry_run` only returns which. Running queries
    /// and other processes can finish reading: a file is deleted when nobody reads it any more. Removed events
    /// cannot be restored; their ids are not assigned again.
    ///
    /// ```
    /// use tamias::{Retention, Store};
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path())?;
    /// let retention = Retention { before: Some("2024-01-01T00:00:00Z".parse()?), file_bytes_max: Some(100 << 30) };
    /// let removed = store.remove(retention, false)?;
    /// println!("{} events in {} files", removed.events, removed.files.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the store is open for reading only, or it cannot be written.
    pub fn remove(&self, retention: Retention, dry_run: bool) -> Result<Removed, AppendError> {
        let removed = self.writer()?.remove(retention.of_store(), dry_run);
        removed.map(Removed::of_store).map_err(AppendError::of_sealing)
    }

    /// What [`remove`](Store::remove) would remove, in a store that may be open for reading only.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn plan_removal(&self, retention: Retention) -> Result<Removed, OpenError> {
        let removed = match &self.access {
            Access::Writer(store) => store.remove(retention.of_store(), true)?,
            Access::Reader(reader) => reader.plan_removal(retention.of_store())?,
        };
        Ok(Removed::of_store(removed))
    }

    /// What [`set_settings`](Store::set_settings) would remove at once, in a store that may be open for reading only.
    ///
    /// # Errors
    /// If the store cannot be read, or its folder cannot be listed.
    pub fn plan_settings(&self, settings: Settings) -> Result<Removed, OpenError> {
        let removed = match &self.access {
            Access::Writer(store) => store.plan_settings(settings)?,
            Access::Reader(reader) => reader.plan_settings(settings)?,
        };
        Ok(Removed::of_store(removed))
    }

    /// [Removes](Store::remove) whole files of events from the store in the folder `path`, which no process may be writing to, without fully opening
    /// it. It needs no disk space at all: use it to free space when the disk is full and [`open`](Store::open) cannot recover the store after a crash.
    ///
    /// # Errors
    /// If there is no store, another process is writing to it, or it cannot be written.
    pub fn remove_from(
        path: impl AsRef<Path>,
        retention: Retention,
        dry_run: bool,
    ) -> Result<Removed, OpenError> {
        tamias_store::Removed::from(path.as_ref(), retention.of_store(), dry_run).map(Removed::of_store)
    }
}

impl Retention {
    pub(crate) fn of_store(self) -> tamias_store::Retention {
        let Retention { before, file_bytes_max } = self;
        tamias_store::Retention { before: before.map(Instant::ticks), file_bytes_max }
    }
}

impl Removed {
    pub(crate) fn of_store(removed: tamias_store::Removed) -> Removed {
        let tamias_store::Removed { files, file_bytes, events, instants } = removed;
        let time_range = instants.map(|(first, last)| (instant(first), instant(last)));
        Removed { files, file_bytes, events, time_range }
    }
}
