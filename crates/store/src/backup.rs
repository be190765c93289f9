//! Backups: a second store with the same events, taken while a process may write, and updated by taking it again.
//!
//! A backup is a store with the same identity and the same files: segments are hard-linked, or copied if the file system cannot link them,
//! and logs are copied up to the last batch of a snapshot. It is written like a store: first the files, durable, under unfinished names;
//! then the manifest that names them. So at any moment it is either the previous backup or the new one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Damage, Failure, OpenError, Operation, unless_refused};
use crate::format::{FileKind, NUMBER_MAX};
use crate::hold::{self, Hold};
use crate::inventory::{self, bytes_of, list, next_manifest};
use crate::io::{Directory, Disk, begins_alike, copy_range};
use crate::manifest::{BackupMark, LogEntry, Manifest, SegmentEntry};
use crate::named;
use crate::options::Options;
use crate::reader::{Moment, Reader};
use crate::receipt::Receipt;
use crate::recovery;
use crate::replay::beyond_lost;
use crate::retire;
use crate::settings;

/// The result of taking or restoring a backup.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Backup {
    /// The number of segments that an earlier backup already had.
    pub kept: u64,
    /// The number of segments that were hard-linked: they take no disk space of their own.
    pub linked: u64,
    /// The number of segments that were copied.
    pub copied: u64,
    /// The number of bytes that were copied, including logs.
    pub copied_bytes: u64,
    /// The number of events in segments.
    pub sealed_events: u64,
    /// Parts that could not be read. They are zeros in the copy, or missing: `verify` of the copy lists the events lost, and a later backup into the same folder does not change them.
    /// Linked files are not read.
    pub damage: Vec<Damage>,
}

/// Why a store was not backed up, or a backup was not restored. Existing files are unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// One of the two stores could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The operating system reported an error.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The folder holds another store.
    #[error("{} holds a backup of another store; give another folder", .folder.display())]
    OtherStore {
        /// The folder for the backup.
        folder: PathBuf,
    },
    /// The folder holds a store that is not a backup, or no longer one.
    #[error("{} holds a store that was written to, not a backup; give another folder", .folder.display())]
    Written {
        /// The folder for the backup.
        folder: PathBuf,
    },
    /// The backup is of a later state, or of a store that was restored from an older backup and has changed since.
    #[error(
        "{} does not fit the store: it is a backup of a later state, or of one that went another way since it was restored; give another folder",
        .file.display()
    )]
    Diverged {
        /// A file of the backup.
        file: PathBuf,
    },
    /// Files cannot be read whose data the earlier backup may still hold, in files that the store has replaced.
    #[error(
        "{}{}; {} stays as it is, as it may have what is lost here: give another folder, or repair the store first",
        .damage.first().map(ToString::to_string).unwrap_or_default(),
        if .damage.len() > 1 { format!(", and {} more parts are damaged", .damage.len() - 1) } else { String::new() },
        .folder.display()
    )]
    Damaged {
        /// The folder for the backup.
        folder: PathBuf,
        /// What could not be read.
        damage: Vec<Damage>,
    },
    /// The destination is not empty.
    #[error("{} holds a store; restore into an empty or a new folder", .folder.display())]
    NotEmpty {
        /// The folder to restore to.
        folder: PathBuf,
    },
}

/// The state of the store that a manifest is of: a backup has that of its store, whatever its own number is.
fn state(manifest: &Manifest) -> u64 {
    manifest.backup.map_or(manifest.number, |mark| mark.number)
}

impl Backup {
    /// Backs up the store in the folder `from`, which a process may be writing to, into the folder `to`: a new one, or one with an
    /// earlier backup of the same store. An earlier backup is updated, and only new data is copied. With `copy` no file is hard-linked: links protect
    /// against what the store does, but not against a failing disk.
    ///
    /// The backup holds a snapshot. It can be opened for reading like any store; once it is written to, it is a store of its own and no longer a backup. The
    /// quarantine is not backed up. `progress` is called now and then with the bytes done so far and the total.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tamias_store::{Backup, Event, Options, Reader, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let (logs, copy) = (folder.path().join("logs"), folder.path().join("backup"));
    /// let store = Store::open(&logs, Options::default(), Arc::new(()))?;
    /// store.append(&[Event { instant: 1, bytes: b"{}" }])?;
    /// Backup::take(&logs, &copy, false, &mut |_, _| ())?;
    /// let backup = Reader::open(&copy, Options::default(), Arc::new(()))?;
    /// assert_eq!(backup.snapshot()?.events(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If one of the folders cannot be read or written, or `to` holds anything but a matching backup of the same store. Unreadable parts of files are
    /// not an error but [reported](Backup::damage), unless updating an earlier backup would remove files that may still hold that data: then it is left unchanged.
    pub fn take(
        from: &Path,
        to: &Path,
        copy: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Backup, BackupError> {
        Backup::take_on(existing(from)?, &created(to)?, copy, progress)
    }

    /// Takes a backup between any two implementations of folders.
    ///
    /// # Errors
    /// As for [`take`](Backup::take).
    pub fn take_on(
        from: Arc<dyn Directory>,
        to: &dyn Directory,
        copy: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Backup, BackupError> {
        let reader = Reader::open_on(Arc::clone(&from), Options::default(), Arc::new(()))?;
        let hold = Hold::new(hold::lock_writer(to, inventory::find_manifest(to, true)?.as_ref())?);
        // After the lock: what another backup has put there is known then, and is older.
        let (moment, receipts) = moment_with_receipts(&reader, &*from)?;
        let old = inventory::find_manifest(to, true)?;
        let old = match old {
            None => Manifest::empty(moment.manifest.store),
            Some(old) if old.store != moment.manifest.store => {
                return Err(BackupError::OtherStore { folder: inventory::folder(to) });
            }
            Some(old) => match old.backup {
                None => return Err(BackupError::Written { folder: inventory::folder(to) }),
                Some(BackupMark { line, number, .. })
                    if line != moment.manifest.line || number > state(&moment.manifest) =>
                {
                    return Err(BackupError::Diverged { file: to.path(&old.name()) });
                }
                Some(_) => old,
            },
        };
        let (line, number) = (moment.manifest.line, state(&moment.manifest));
        let mark = Some(BackupMark { line, number, time: settings::now() });
        let manifest = moment.manifest.clone();
        Copying { from: &*from, to, hold, copy, old, moment, receipts, done: Backup::default() }
            .run(manifest, mark, progress)
    }

    /// Restores a backup, or copies any store, into the folder `to`, which must be new or empty. Arrival numbers that the original store assigned after the
    /// backup are not assigned again.
    ///
    /// # Errors
    /// If one of the two folders cannot be read or written, or `to` is not empty.
    pub fn restore(
        from: &Path,
        to: &Path,
        copy: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Backup, BackupError> {
        Backup::restore_on(existing(from)?, &created(to)?, copy, progress)
    }

    /// Restores a backup between any two implementations of folders.
    ///
    /// # Errors
    /// As for [`restore`](Backup::restore).
    pub fn restore_on(
        from: Arc<dyn Directory>,
        to: &dyn Directory,
        copy: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Backup, BackupError> {
        let reader = Reader::open_on(Arc::clone(&from), Options::default(), Arc::new(()))?;
        if inventory::find_manifest(to, true)?.is_some() {
            return Err(BackupError::NotEmpty { folder: inventory::folder(to) });
        }
        let hold = Hold::new(hold::lock_writer(to, None)?);
        if inventory::find_manifest(to, true)?.is_some() {
            return Err(BackupError::NotEmpty { folder: inventory::folder(to) });
        }
        let (moment, receipts) = moment_with_receipts(&reader, &*from)?;
        let manifest = Manifest {
            next_arrival: beyond_lost(moment.next_arrival),
            next_file: beyond_line(moment.manifest.next_file),
            line: recovery::random_identity() as u64 | 1,
            ..moment.manifest.clone()
        };
        let old = Manifest::empty(manifest.store);
        Copying { from: &*from, to, hold, copy, old, moment, receipts, done: Backup::default() }
            .run(manifest, None, progress)
    }
}

/// A moment of the store, and the receipts of what was erased by then; none in place of one that is damaged or cannot be read.
fn moment_with_receipts(reader: &Reader, from: &dyn Directory) -> Result<(Moment, Receipts), BackupError> {
    let store = reader.moment()?.manifest.store;
    loop {
        let receipts = Receipt::list_of(from, store)?;
        let moment = reader.moment()?;
        // An erasure may have ended in between.
        if Receipt::list_of(from, store)? == receipts {
            return Ok((moment, receipts));
        }
    }
}

/// Receipts with their files.
type Receipts = Vec<(PathBuf, Option<Receipt>)>;

/// A number that no file has of the line that was lost, so that none of them can pass for one of the restored store.
fn beyond_line(number: u64) -> u64 {
    // More files than a store ever makes, and few enough for millions of such losses.
    number.max(number.saturating_add(1 << 32).min(NUMBER_MAX / 4))
}

fn existing(folder: &Path) -> Result<Arc<dyn Directory>, OpenError> {
    inventory::require_folder(folder)?;
    Ok(Arc::new(Disk::new(folder)))
}

fn created(folder: &Path) -> Result<Disk, Failure> {
    Disk::create(folder).map_err(|error| Failure {
        path: folder.to_path_buf(),
        operation: Operation::CreateFolder,
        source: Arc::new(error),
    })
}

/// The files of a store on their way into another folder.
struct Copying<'a> {
    from: &'a dyn Directory,
    to: &'a dyn Directory,
    hold: Hold,
    /// Nothing is linked.
    copy: bool,
    /// What the other folder holds.
    old: Manifest,
    moment: Moment,
    receipts: Receipts,
    done: Backup,
}

impl Copying<'_> {
    fn run(
        mut self,
        manifest: Manifest,
        backup: Option<BackupMark>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Backup, BackupError> {
        let to = self.to;
        let names = list(to)?;
        retire::finish_names(to, &names, &self.old)?;
        retire::sweep_unfinished(to, &names, &self.old);
        let name = self.moment.manifest.name();
        let permissions = self.from.open(&name).and_then(|file| file.permissions());
        to.create_with(permissions.map_err(Failure::during(self.from, &name, Operation::Open))?);
        let log_bytes: u64 = self.moment.log_bytes.iter().map(|(_, bytes)| *bytes).sum();
        let segment_bytes: u64 = manifest.segments.iter().map(|entry| entry.file_bytes).sum();
        let (total, mut at) = (log_bytes.saturating_add(segment_bytes), 0u64);
        let mut tell = |bytes: u64| {
            at = at.saturating_add(bytes);
            progress(at, total);
        };
        let mut new = Vec::new();
        let sealed = manifest.shown().iter().map(|entry| entry.events).fold(0, u64::saturating_add);
        self.done.sealed_events = sealed;
        for entry in &manifest.segments {
            new.extend(self.segment(entry, &mut tell)?);
        }
        for entry in &manifest.logs {
            new.extend(self.log(entry, &mut tell)?);
        }
        if !self.done.damage.is_empty() && self.would_lose(&manifest) {
            let (folder, damage) = (inventory::folder(to), std::mem::take(&mut self.done.damage));
            return Err(BackupError::Damaged { folder, damage });
        }
        self.receipts(manifest.store)?;
        to.flush().map_err(Failure::during(to, "", Operation::FlushFolder))?;
        let least = if backup.is_some() { 0 } else { beyond_line(manifest.number) };
        let number = next_manifest(&names, self.old.number).max(least);
        let mut manifest = Manifest { number, ..manifest };
        manifest.replaces(&self.old, to)?;
        manifest.backup = backup;
        self.hold.check(to)?;
        let lock = manifest.publish(to)?;
        for name in &new {
            retire::finish_name(to, name)?;
        }
        to.flush().map_err(Failure::during(to, "", Operation::FlushFolder))?;
        drop(lock);
        retire::sweep(to, &manifest);
        Ok(self.done)
    }

    /// Puts the receipts there. Without them a repair of the restored store would take erased events in again that it finds in an older file.
    fn receipts(&mut self, store: u128) -> Result<(), Failure> {
        let there = Receipt::list_of(self.to, store)?;
        for (path, receipt) in std::mem::take(&mut self.receipts) {
            match receipt {
                // An earlier backup has it whole.
                None if there
                    .iter()
                    .any(|(file, known)| known.is_some() && file.file_name() == path.file_name()) => {}
                None => self.note(path, std::iter::once(0..0)),
                Some(receipt) if there.iter().any(|(_, there)| there.as_ref() == Some(&receipt)) => {}
                Some(receipt) => receipt.write(self.to, store)?,
            }
        }
        Ok(())
    }

    /// Whether a file of the earlier backup would leave it.
    fn would_lose(&self, manifest: &Manifest) -> bool {
        let logs = |log: &LogEntry| manifest.logs.iter().any(|stays| stays.number == log.number);
        let segments =
            |entry: &SegmentEntry| manifest.segments.iter().any(|stays| stays.number == entry.number);
        !self.old.logs.iter().all(logs) || !self.old.segments.iter().all(segments)
    }

    /// Puts a segment there, durable but for its name, and returns that if it is new.
    fn segment(
        &mut self,
        entry: &SegmentEntry,
        tell: &mut dyn FnMut(u64),
    ) -> Result<Option<String>, BackupError> {
        let name = entry.name();
        // One that is shorter than it should be may be as short in the store.
        let there = bytes_of(self.to, &name)?;
        let is_as_short = || {
            let from = unless_refused(bytes_of(self.from, &name).map(Some))?;
            Ok::<_, Failure>(there > 0 && from.is_some_and(|from| there >= from))
        };
        let is_all = there >= entry.file_bytes || is_as_short()?;
        if self.old.segments.contains(entry) && is_all {
            self.done.kept += 1;
            tell(entry.file_bytes);
            return Ok(None);
        }
        let unfinished = FileKind::Segment.unfinished_name(entry.number);
        // One that was cut short, or is missing, takes its place again; whoever reads it goes on with what was there.
        if self.old.segments.contains(entry) {
            // What an attempt has left that was interrupted: nobody else removes it.
            let _ = self.to.remove(&unfinished);
        } else {
            self.check_free(&name)?;
        }
        if !self.copy && self.link(&name, &unfinished)? {
            self.done.linked += 1;
            tell(entry.file_bytes);
            return Ok(Some(name));
        }
        let copied = self.copy_file(&name, &unfinished, 0..entry.file_bytes, tell)?;
        self.done.copied += u64::from(copied);
        Ok(copied.then_some(name))
    }

    /// Puts a log there up to where it counts. One that is there already is written on: up to now nothing behind its end counts.
    fn log(&mut self, entry: &LogEntry, tell: &mut dyn FnMut(u64)) -> Result<Option<String>, BackupError> {
        let name = FileKind::Log.name(entry.number);
        let bytes = self.moment.log_bytes.iter().find(|(number, _)| *number == entry.number);
        // One that is missing is missing there as well.
        let Some((_, bytes)) = bytes.copied() else { return Ok(None) };
        let Some(known) = self.old.logs.iter().find(|known| known.number == entry.number) else {
            self.check_free(&name)?;
            let unfinished = FileKind::Log.unfinished_name(entry.number);
            let copied = self.copy_file(&name, &unfinished, 0..bytes, tell)?;
            return Ok(copied.then_some(name));
        };
        let fail = |operation| Failure::during(self.to, &name, operation);
        let file = named::open_named(self.from, &name).map_err(Failure::during(
            self.from,
            &name,
            Operation::Open,
        ))?;
        let there = self.to.open_for_writing(&name).map_err(fail(Operation::Open))?;
        let alike = known.length <= bytes;
        if !alike || !begins_alike(&*file, &*there, known.length).map_err(fail(Operation::Read))? {
            return Err(BackupError::Diverged { file: self.to.path(&name) });
        }
        tell(known.length);
        let mut unreadable = Vec::new();
        copy_range(&*file, known.length..bytes, &*there, &mut unreadable, &mut *tell)
            .map_err(fail(Operation::Write))?;
        there.set_length(bytes).map_err(fail(Operation::Cut))?;
        there.flush().map_err(fail(Operation::Flush))?;
        self.done.copied_bytes += bytes - known.length;
        self.note(self.from.path(&name), unreadable);
        Ok(None)
    }

    /// That no file has this name: it would be one of another line of the store.
    fn check_free(&self, name: &str) -> Result<(), BackupError> {
        match self.to.kind(name).map_err(Failure::during(self.to, name, Operation::Open))? {
            None => Ok(()),
            Some(_) => Err(BackupError::Diverged { file: self.to.path(name) }),
        }
    }

    /// Gives a file a second name; false where that cannot be.
    fn link(&self, name: &str, to: &str) -> Result<bool, Failure> {
        let root = self.to.root();
        let link = |name: &str| self.from.link_into(name, &root, to);
        let linked = match link(name) {
            // The writer may be about to give it its final name.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                link(&named::unfinished(name)).or_else(|_| link(name))
            }
            linked => linked,
        };
        match linked {
            Ok(()) => Ok(true),
            // One that is missing is told by the copy.
            Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::NotFound) => {
                Ok(false)
            }
            Err(error) => Err(Failure::during(self.from, name, Operation::Open)(error)),
        }
    }

    /// Copies a file, past what cannot be read of it; false where nothing of it can.
    fn copy_file(
        &mut self,
        name: &str,
        unfinished: &str,
        range: std::ops::Range<u64>,
        tell: &mut dyn FnMut(u64),
    ) -> Result<bool, Failure> {
        let fail = |operation| Failure::during(self.to, unfinished, operation);
        let opened = named::open_named(self.from, name);
        let file = match opened.map_err(Failure::during(self.from, name, Operation::Open)) {
            // Then it is missing in the copy as well.
            Err(failure) if failure.is_unreadable() || failure.is_missing_file() => {
                self.note(self.from.path(name), [range]);
                return Ok(false);
            }
            file => file?,
        };
        let copy = self.to.create(unfinished).map_err(fail(Operation::Create))?;
        let mut unreadable = Vec::new();
        let mut bytes = 0;
        let copied = copy_range(&*file, range, &*copy, &mut unreadable, |piece| {
            bytes += piece;
            tell(piece);
        });
        let copied = copied
            .map_err(fail(Operation::Write))
            .and_then(|()| copy.flush().map_err(fail(Operation::Flush)));
        copied.inspect_err(|_| drop(self.to.remove(unfinished)))?;
        self.done.copied_bytes += bytes;
        self.note(self.from.path(name), unreadable);
        Ok(true)
    }

    /// Notes what could not be read of a file.
    fn note(&mut self, file: PathBuf, unreadable: impl IntoIterator<Item = std::ops::Range<u64>>) {
        let found = "it cannot be read, so that the copy lacks it";
        let damage = unreadable.into_iter().map(|bytes| Damage {
            file: file.clone(),
            bytes,
            part: None,
            keys: None,
            events: None,
            found,
        });
        self.done.damage.extend(damage);
    }
}
