//! Removal of the oldest segments, as a whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{OpenError, SealError};
use crate::history::{self, Cause, HistoryEntry};
use crate::hold;
use crate::inventory::{self, bytes_of, list, next_manifest};
use crate::io::{Directory, Disk};
use crate::manifest::{Manifest, SegmentEntry};
use crate::reserve;
use crate::retire;
use crate::segment::Written;
use crate::settings::{self, Settings, WhenFull};
use crate::writer::Inner;

/// Which segments are kept. Events that are not sealed yet are always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// Remove each segment whose events are all before this instant, in ticks.
    pub before: Option<u64>,
    /// Remove segments until the files of the others have at most this many bytes. Segments whose last event is earliest are removed first.
    pub file_bytes_max: Option<u64>,
}

/// What was removed, or would be in a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    /// The files of the segments.
    pub files: Vec<PathBuf>,
    /// Their total size in bytes.
    pub file_bytes: u64,
    /// The number of events in them.
    pub events: u64,
    /// The instants of the first and the last of these events, in ticks.
    pub instants: Option<(u64, u64)>,
}

impl Retention {
    /// Those that have to go.
    pub(crate) fn outside(&self, segments: &[SegmentEntry]) -> Vec<SegmentEntry> {
        let mut oldest_first = segments.to_vec();
        oldest_first.sort_unstable_by_key(|entry| entry.last);
        let mut bytes = oldest_first.iter().map(|entry| entry.file_bytes).fold(0, u64::saturating_add);
        let goes = |entry: &SegmentEntry| {
            let old = self.before.is_some_and(|before| entry.last.instant < before);
            let much = self.file_bytes_max.is_some_and(|most| bytes > most);
            bytes = bytes.saturating_sub(entry.file_bytes);
            old || much
        };
        let (mut goes, mut outside) = (goes, oldest_first);
        let count = outside.iter().take_while(|entry| goes(entry)).count();
        outside.truncate(count);
        outside
    }
}

impl Removed {
    pub(crate) fn of(outside: &[SegmentEntry], directory: &dyn Directory) -> Removed {
        let mut removed = Removed::default();
        for entry in outside {
            removed.files.push(directory.path(&entry.name()));
            removed.file_bytes = removed.file_bytes.saturating_add(entry.file_bytes);
            removed.events = removed.events.saturating_add(entry.events);
            let (first, last) = (entry.first.instant, entry.last.instant);
            let joined = removed.instants.map_or((first, last), |(a, b)| (a.min(first), b.max(last)));
            removed.instants = Some(joined);
        }
        removed
    }

    /// Removes whole segments from a store that no process is writing to, without fully opening it: the logs are unchanged, and no disk
    /// space is needed at all. For a full disk, on which [`Store::open`](crate::Store::open) may fail.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tamias_store::{Event, Options, Removed, Retention, Store};
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
    /// store.append_sealed(&[Event { instant: 1, bytes: b"{}" }], None)?;
    /// drop(store);
    /// let removed = Removed::from(folder.path(), Retention { before: Some(2), file_bytes_max: None }, false)?;
    /// assert_eq!(removed.events, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for opening the store.
    pub fn from(folder: &Path, retention: Retention, dry_run: bool) -> Result<Removed, OpenError> {
        inventory::require_folder(folder)?;
        Removed::from_on(Arc::new(Disk::new(folder)), retention, dry_run)
    }

    /// Removes segments from a store in any kind of folder.
    ///
    /// # Errors
    /// As for [`from`](Removed::from).
    pub fn from_on(
        directory: Arc<dyn Directory>,
        retention: Retention,
        dry_run: bool,
    ) -> Result<Removed, OpenError> {
        let directory = &*directory;
        let find =
            || inventory::find_manifest(directory, false)?.ok_or_else(|| inventory::missing(directory));
        let _lock = hold::lock_writer(directory, Some(&find()?))?;
        let old = find()?;
        let outside = retention.outside(&old.shown());
        let removed = Removed::of(&outside, directory);
        if outside.is_empty() || dry_run {
            return Ok(removed);
        }
        take_out(directory, &old, old.settings, &outside, Cause::Asked)?;
        Ok(removed)
    }
}

/// Takes segments out of a store whose lock this process holds, and that it has not opened further, and leaves it these settings. Needs no room.
fn take_out(
    directory: &dyn Directory,
    old: &Manifest,
    settings: Settings,
    outside: &[SegmentEntry],
    cause: Cause,
) -> Result<(), OpenError> {
    let names = list(directory)?;
    retire::finish_names(directory, &names, old)?;
    let number = next_manifest(&names, old.number);
    let mut manifest = Manifest { number, settings, ..old.clone() };
    manifest.take_out(outside, cause, settings::now());
    manifest.replaces(old, directory)?;
    drop(manifest.publish(directory)?);
    retire::sweep(directory, &manifest);
    retire::forget_gone(directory, &manifest);
    Ok(())
}

/// Makes room on a full medium, before a store can be opened: takes its oldest segment out, if its settings say so, or those that it is to be opened with. False if they do not, there is
/// none, or it takes up its room still.
pub(crate) fn make_room(directory: &dyn Directory, settings: Option<Settings>) -> Result<bool, OpenError> {
    let Some(old) = inventory::find_manifest(directory, true)? else { return Ok(false) };
    let settings = settings.unwrap_or(old.settings);
    let manifest = Manifest { settings, ..old.clone() };
    if settings.when_full == WhenFull::Fail {
        return Ok(false);
    }
    // First what was kept free for this, and what was retired before.
    if reserve::remove(directory) || retire::sweep(directory, &manifest) {
        return Ok(true);
    }
    let Some(oldest) = manifest.oldest_to_go() else { return Ok(false) };
    if !oldest.frees_its_room(directory, &manifest) {
        return Ok(false);
    }
    take_out(directory, &old, settings, &[oldest], Cause::FullMedium)?;
    Ok(bytes_of(directory, &oldest.name())? == 0)
}

impl SegmentEntry {
    /// Whether its bytes go with its file: not where that has another name, as of a backup, or stays for a missing one that may have been made
    /// from it.
    pub(crate) fn frees_its_room(&self, directory: &dyn Directory, manifest: &Manifest) -> bool {
        let stays = retire::newest_missing(directory, manifest).is_some_and(|missing| self.number < missing);
        !(stays || cfg!(unix) && directory.has_other_names(&self.name()))
    }
}

impl Manifest {
    /// Forgets these segments, and notes when and why.
    pub(crate) fn take_out(&mut self, outside: &[SegmentEntry], cause: Cause, now: u64) {
        let whole = outside.iter().map(|entry| HistoryEntry {
            began: now,
            ended: now,
            cause,
            removals: 1,
            segments: 1,
            file_bytes: entry.file_bytes,
            events: entry.events,
            instants: (entry.first.instant, entry.last.instant),
        });
        let removed = whole.reduce(|mut all, more| {
            all.join(&more);
            all
        });
        if let Some(removed) = removed {
            // However many segments, it is one removal.
            history::note(&mut self.history, HistoryEntry { removals: 1, ..removed });
            // By their numbers: what is deleted of one may have changed its figures.
            self.segments.retain(|entry| outside.iter().all(|gone| gone.number != entry.number));
        }
    }

    /// The segment that goes first when the medium is full, if the settings let it go.
    pub(crate) fn oldest_to_go(&self) -> Option<SegmentEntry> {
        match self.settings.when_full {
            WhenFull::Fail => None,
            WhenFull::RemoveOldest => self.shown().into_iter().min_by_key(|entry| entry.last),
        }
    }
}

impl Inner {
    pub(crate) fn remove(&self, retention: Retention, dry_run: bool) -> Result<Removed, SealError> {
        let mut writer = self.lock_manifest();
        let outside = retention.outside(&writer.manifest.shown());
        let removed = Removed::of(&outside, &*self.directory);
        if outside.is_empty() || dry_run {
            return Ok(removed);
        }
        let mut manifest = writer.manifest.clone();
        manifest.take_out(&outside, Cause::Asked, settings::now());
        self.replace_segments(&mut writer, manifest, &[], Written::default(), |_| ())?;
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Key;

    #[test]
    fn the_oldest_go_first() {
        let entry = |number: u64, last: u64| SegmentEntry {
            file_bytes: 100,
            document_bytes: 10,
            last: Key { instant: last, arrival: 0 },
            ..SegmentEntry::example(number)
        };
        let segments = [entry(1, 30), entry(2, 10), entry(3, 20)];
        let outside = |before, file_bytes_max| {
            let outside = Retention { before, file_bytes_max }.outside(&segments);
            outside.iter().map(|entry| entry.number).collect::<Vec<_>>()
        };
        assert_eq!(outside(None, None), []);
        assert_eq!(outside(Some(10), None), []);
        assert_eq!(outside(Some(11), None), [2]);
        assert_eq!(outside(Some(u64::MAX), None), [2, 3, 1]);
        assert_eq!(outside(None, Some(300)), []);
        assert_eq!(outside(None, Some(299)), [2]);
        assert_eq!(outside(None, Some(99)), [2, 3, 1]);
        assert_eq!(outside(Some(21), Some(250)), [2, 3]);
    }
}
