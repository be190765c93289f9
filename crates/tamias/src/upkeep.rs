//! Looking after a store: verifying, repairing, compacting small files, removing old ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tamias_query::Instant;
use tamias_store::{Backup, BackupError, OpenError, Options, Scrub, Settings, Unnamed};

use crate::codec::ShreddedBlocks;
use crate::damage::instant;
use crate::store::Access;
use crate::{AppendError, Damage, Repair, Store};

/// Which files of events may stay. Events that are not sealed yet always do: [`seal`](Store::seal) first where that matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// A file goes if all of its events are before this instant.
    pub before: Option<Instant>,
    /// Files go, those with the earliest last event first, until the others have at most so many bytes.
    pub file_bytes_max: Option<u64>,
}

/// What was removed, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Their bytes.
    pub file_bytes: u64,
    /// How many events they hold.
    pub events: u64,
    /// The instants of the first and the last of these.
    pub time_range: Option<(Instant, Instant)>,
}

impl Store {
    /// Reads the whole store again, every checksum and the order of all events, and lists what is damaged. Takes as long
    /// as reading its files does.
    ///
    /// # Errors
    /// Where the store cannot be opened, or the operating system refuses to read it.
    pub fn verify(&self) -> Result<Vec<Damage>, OpenError> {
        Ok(self.snapshot()?.events.verify()?.into_iter().map(Damage).collect())
    }

    /// Reads all sealed files again, at most so many bytes a second on the average, and tells of each damaged part, as [`verify`](Store::verify) does of
    /// all of them at once. One call is a round, or the rest of one that was interrupted: how far it has come stands in the store, and in
    /// [`housekeeping`](Store::housekeeping). It ends early once `may_go_on` says so. What is written meanwhile is left to the next round. See
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
    /// Where the store cannot be opened, or the operating system refuses to read it.
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

    /// The files in the folder that have names like the store's own, and that its list does not name. Those that hold
    /// [events](crate::UnnamedKind::Events) of the store are a sign that the list is not the newest one there was:
    /// [`repair`](Store::repair) takes them in.
    ///
    /// # Errors
    /// Where the store cannot be opened, or its folder not be listed.
    pub fn unnamed(&self) -> Result<Vec<Unnamed>, OpenError> {
        self.unnamed_files()
    }

    /// Repairs the store in the folder `path`, which no process may be writing to. Each damaged file is kept whole in the
    /// folder `quarantine` in the store, what is whole in it is written into a new file, and only then is it taken out of
    /// the store; nothing is ever deleted that is not kept there. Files of the store that its list (the manifest) does not name are taken in, as far
    /// as their events are not there yet, and a list that is missing or damaged is made anew from them. Interrupted at any point it leaves the store as it was or
    /// repaired, and may be run again. With `dry_run` nothing is changed, and the result tells what would be.
    ///
    /// `progress` hears now and then how many bytes of how many were read. Takes as long as reading the store does.
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
    /// Where there is no store, another process writes to it, or it cannot be read or written.
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

    /// Takes a backup of the store in the folder `path`, also while it is written to, into the folder `to`: a new one, or one with an earlier
    /// backup of the same store, of which only what is new is copied. Files of events get second names where both are on one file system, unless
    /// `copy` is set. Interrupted at any point `to` holds the backup of before, or the new one. It can be read as any store; once it is written to, it is no backup
    /// any more.
    ///
    /// `progress` hears now and then how many bytes of how many are done.
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
    /// Where one of the two cannot be read or written, and where `to` holds anything but a backup that fits the store.
    pub fn backup(
        path: impl AsRef<Path>,
        to: impl AsRef<Path>,
        copy: bool,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Backup, BackupError> {
        Backup::take(path.as_ref(), to.as_ref(), copy, &mut progress)
    }

    /// Restores a backup into the folder `to`, which must be new or empty. The store goes on there, with all its events and their ids; those that were
    /// given after the backup are not given again.
    ///
    /// # Errors
    /// Where one of the two cannot be read or written, or `to` is not empty.
    pub fn restore(
        backup: impl AsRef<Path>,
        to: impl AsRef<Path>,
        copy: bool,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Backup, BackupError> {
        Backup::restore(backup.as_ref(), to.as_ref(), copy, &mut progress)
    }

    /// What is known to be damaged without reading the sealed files: parts of logs. Queries fail on it, or
    /// [leave it out](Store::run_past_damage).
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn known_damage(&self) -> Result<Vec<Damage>, OpenError> {
        Ok(self.snapshot()?.events.damage().iter().cloned().map(Damage).collect())
    }

    /// Compacts: merges small files that are neighbours in time, until those left are more than half as large as they get, but for one here
    /// and there. Reads and writes the small ones once; other threads go on meanwhile. The store compacts in the background too,
    /// but leaves some small files, so that it need not write events too often.
    ///
    /// # Errors
    /// Where the store is open for reading only, or it cannot be written. What was compacted before stays so.
    pub fn compact(&self) -> Result<(), AppendError> {
        self.writer()?.compact().map_err(AppendError::of_sealing)
    }

    /// Removes whole files of events that need not be kept, all of them or none; with `dry_run` only tells which. Queries that run,
    /// and other processes, still read what they began with: a file goes when nobody does any more. What was removed
    /// is gone; ids of its events are not given again.
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
    /// Where the store is open for reading only, or it cannot be written.
    pub fn remove(&self, retention: Retention, dry_run: bool) -> Result<Removed, AppendError> {
        let removed = self.writer()?.remove(retention.of_store(), dry_run);
        removed.map(Removed::of_store).map_err(AppendError::of_sealing)
    }

    /// What [`remove`](Store::remove) would remove, in a store that may be open for reading only.
    ///
    /// # Errors
    /// Where the store cannot be read.
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
    /// Where the store cannot be read, or its folder not be listed.
    pub fn plan_settings(&self, settings: Settings) -> Result<Removed, OpenError> {
        let removed = match &self.access {
            Access::Writer(store) => store.plan_settings(settings)?,
            Access::Reader(reader) => reader.plan_settings(settings)?,
        };
        Ok(Removed::of_store(removed))
    }

    /// [Removes](Store::remove) whole files of events from the store in the folder `path`, which no process may be writing to, without opening
    /// it further. It needs no room, not even for a byte: where the medium is full, and [`open`](Store::open) cannot put in order what a crash left
    /// behind, this makes room.
    ///
    /// # Errors
    /// Where there is no store, another process writes to it, or it cannot be written.
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
