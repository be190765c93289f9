//! The files in the folder: which manifest is current, and which files no manifest lists.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Failure, OpenError, Operation, unless_refused};
use crate::format::{
    FileKind, Header, LOCK_NAME, NUMBER_MAX, QUARANTINE_NAME, RECEIPTS_NAME, REQUESTS_NAME, RESERVE_NAME,
    SCRUB_NAME, SPARE_NAME, VERSION, WRITER_NAME, parse_unfinished,
};
use crate::io::{Directory, NameKind};
use crate::manifest::{Manifest, ManifestFault};
use crate::named::unfinished;
use crate::retire;
use crate::segment::Segment;

/// The folder, for messages.
pub(crate) fn folder(directory: &dyn Directory) -> PathBuf {
    directory.path("").components().collect()
}

/// Fails where there is no such folder; one that the system does not let this user look at is not missing.
pub(crate) fn require_folder(folder: &Path) -> Result<(), OpenError> {
    let path = folder.to_path_buf();
    match std::fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(Failure { path, operation: Operation::Open, source: Arc::new(error) }.into())
        }
        _ => Err(OpenError::Missing { folder: path }),
    }
}

/// The names in the folder.
pub(crate) fn list(directory: &dyn Directory) -> Result<Vec<String>, Failure> {
    directory.list().map_err(Failure::during(directory, "", Operation::List))
}

/// That there is no store here.
pub(crate) fn missing(directory: &dyn Directory) -> OpenError {
    OpenError::Missing { folder: folder(directory) }
}

/// The numbers of all manifests among these names, the highest first.
fn manifests(names: &[String]) -> Vec<u64> {
    let numbers = names.iter().filter_map(|name| match FileKind::parse(name) {
        Some((FileKind::Manifest, number)) => Some(number),
        _ => None,
    });
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    numbers
}

/// A number for the next manifest: all that are there have lower ones, whatever they are.
pub(crate) fn next_manifest(names: &[String], current: u64) -> u64 {
    manifests(names).first().map_or(current, |highest| current.max(*highest)) + 1
}

/// The number for the next log or segment. Those of files that a crash left unnamed are not used again, so that a reader cannot take
/// one file for another. Fails where a name, of a manifest too, leaves no numbers for more files: no store comes to that by itself.
pub(crate) fn next_file(directory: &dyn Directory, manifest: &Manifest) -> Result<u64, Failure> {
    let names = list(directory)?;
    let mut next = manifest.next_file;
    for name in &names {
        let Some((kind, number)) = FileKind::parse(name).or_else(|| parse_unfinished(name)) else { continue };
        if number >= NUMBER_MAX / 2 {
            let used_up =
                io::Error::other("its number leaves none for later files; move it out of the store");
            return Err(Failure::during(directory, name, Operation::Open)(used_up));
        }
        if kind != FileKind::Manifest {
            next = next.max(number + 1);
        }
    }
    Ok(next)
}

/// Which manifest counts, as seen from one that counted before.
pub(crate) enum Current {
    /// The known one still.
    Same,
    /// A higher one of the same store.
    Newer(Box<Manifest>),
    /// The known one is gone, and no higher one of its store is there.
    Gone,
    /// The writer replaced a manifest while this one looked.
    Overtaken,
}

/// Looks for a manifest that has taken the place of a known one. Costs a listing, and reads only what is higher. One that cannot be read, as a later version of the
/// program writes it, is no reason to go on with the known one: what opening the store would say of it is said.
pub(crate) fn current(directory: &dyn Directory, known: &Manifest) -> Result<Current, OpenError> {
    let mut numbers = manifests(&list_twice(directory)?);
    let there = numbers.contains(&known.number);
    numbers.retain(|number| *number > known.number);
    let mut is_doubtful = false;
    for number in numbers {
        match Manifest::read(directory, number) {
            Ok(newer) if newer.store == known.store => return Ok(Current::Newer(Box::new(newer))),
            Ok(_) => {}
            // One that is gone was the newest a moment ago: a yet newer one has come, and to pass over it would be to lose what it names.
            Err(fault) => {
                let name = FileKind::Manifest.name(number);
                let kind =
                    directory.kind(&name).map_err(Failure::during(directory, &name, Operation::Open))?;
                match (kind, fault) {
                    (None, _) => return Ok(Current::Overtaken),
                    (Some(NameKind::File(_)), ManifestFault::Failure(failure)) => return Err(failure.into()),
                    (Some(_), _) => is_doubtful = true,
                }
            }
        }
    }
    if is_doubtful {
        find_manifest(directory, false)?;
    }
    Ok(if there { Current::Same } else { Current::Gone })
}

/// The names in the folder, and those that came while it was listed: a long listing is not of one moment, so that a manifest that came meanwhile may be missing in it,
/// with the one before already gone.
fn list_twice(directory: &dyn Directory) -> Result<Vec<String>, Failure> {
    let mut names = list(directory)?;
    if names.len() > LISTED_AT_ONCE {
        names.extend(list(directory)?);
        names.sort_unstable();
        names.dedup();
    }
    Ok(names)
}

/// HEURISTIC: systems list some hundred names at once; Linux fills 32 KiB, some 680 of these names.
const LISTED_AT_ONCE: usize = 500;

/// All manifests of a folder.
pub(crate) struct Found {
    /// The highest whole one of each store.
    pub(crate) whole: BTreeMap<u128, Manifest>,
    /// Those that are not whole, with the store that they still name.
    pub(crate) damaged: Vec<(u64, Option<u128>)>,
}

impl Found {
    /// Reads them. Fails on one of a newer version, unless a higher one can be read.
    pub(crate) fn among(directory: &dyn Directory, names: &[String]) -> Result<Found, OpenError> {
        let mut found = Found { whole: BTreeMap::new(), damaged: Vec::new() };
        for number in manifests(names) {
            let name = FileKind::Manifest.name(number);
            let file = directory.path(&name);
            // A link or a pipe of that name is none.
            let irregular = matches!(directory.kind(&name), Ok(Some(NameKind::Folder | NameKind::Other)));
            match Manifest::read(directory, number) {
                Ok(manifest) => drop(found.whole.entry(manifest.store).or_insert(manifest)),
                Err(ManifestFault::Version(version)) if found.whole.is_empty() => {
                    return Err(OpenError::Version { file, found: version, known: VERSION });
                }
                Err(ManifestFault::Section(section)) if found.whole.is_empty() => {
                    return Err(OpenError::Section { file, section });
                }
                // The writer has removed it since the listing, as it does with those below the one that counts.
                Err(ManifestFault::Failure(failure))
                    if failure.is_missing_file() && !found.whole.is_empty() => {}
                Err(ManifestFault::Failure(failure)) if !irregular => return Err(failure.into()),
                Err(ManifestFault::Version(_) | ManifestFault::Section(_)) => {}
                Err(ManifestFault::Failure(_)) => found.damaged.push((number, None)),
                Err(ManifestFault::Damaged) => {
                    let store = retire::belongs(directory, &name, FileKind::Manifest)?;
                    found.damaged.push((number, store));
                }
            }
        }
        Ok(found)
    }

    /// The manifest that counts. Of those of several stores it is the one whose files are here, if those of the others are not.
    pub(crate) fn choose(
        &self,
        directory: &dyn Directory,
        names: &[String],
    ) -> Result<Option<&Manifest>, OpenError> {
        if let (Some(manifest), true) = (self.whole.values().next(), self.whole.len() == 1) {
            // Where one of its files is here those of other stores do not count, and need not be looked into.
            if matches!(is_at_home(directory, manifest), Ok(true)) {
                return Ok(Some(manifest));
            }
            return match self.of_another_store(directory, names, manifest)? {
                Some(other) if manifest.names().next().is_none() => Err(OpenError::ForeignFiles {
                    file: directory.path(&other),
                    manifest: directory.path(&manifest.name()),
                }),
                Some(other) if !is_at_home(directory, manifest)? => Err(OpenError::TwoStores {
                    file: directory.path(&manifest.name()),
                    other: directory.path(&other),
                }),
                _ => Ok(Some(manifest)),
            };
        }
        if self.whole.is_empty() {
            return Ok(None);
        }
        let mut at_home = Vec::new();
        for manifest in self.whole.values() {
            if is_at_home(directory, manifest)? {
                at_home.push(manifest);
            }
        }
        match at_home[..] {
            [manifest] => Ok(Some(manifest)),
            _ => {
                let mut names: Vec<String> = self.whole.values().map(Manifest::name).collect();
                names.sort();
                let path = |index: usize| directory.path(names.get(index).map_or("", String::as_str));
                Err(OpenError::TwoStores { file: path(1), other: path(0) })
            }
        }
    }

    /// A file of the folder that belongs to another store than this manifest.
    fn of_another_store(
        &self,
        directory: &dyn Directory,
        names: &[String],
        manifest: &Manifest,
    ) -> Result<Option<String>, Failure> {
        for name in names {
            let Some((kind, _)) = FileKind::parse(name) else { continue };
            if retire::belongs(directory, name, kind)?.is_some_and(|store| store != manifest.store) {
                return Ok(Some(name.clone()));
            }
        }
        Ok(None)
    }

    /// A damaged manifest that was the newest one of the store, as far as can be told.
    pub(crate) fn damaged_after(
        &self,
        directory: &dyn Directory,
        names: &[String],
        manifest: &Manifest,
    ) -> Result<Option<u64>, Failure> {
        for (number, store) in self.damaged.iter().filter(|(number, _)| *number > manifest.number) {
            let is_own = match store {
                Some(store) => *store == manifest.store,
                // It may be anything: where the rest fits together it does not count.
                None => !is_complete(directory, names, manifest)?,
            };
            if is_own {
                return Ok(Some(*number));
            }
        }
        Ok(None)
    }
}

/// Whether a file that the manifest names is here, and says that it is of its store. An error where none does and one cannot be looked into: it may be the one.
fn is_at_home(directory: &dyn Directory, manifest: &Manifest) -> Result<bool, Failure> {
    let mut refused = None;
    for name in manifest.names() {
        let kind = FileKind::parse(&name).map_or(FileKind::Segment, |(kind, _)| kind);
        for name in [unfinished(&name), name] {
            match retire::header(directory, &name, kind) {
                Ok(Some(header)) if header.store == manifest.store => return Ok(true),
                Ok(_) => {}
                Err(failure) => refused = Some(failure),
            }
        }
    }
    refused.map_or(Ok(false), Err)
}

/// Whether all files are here that the manifest names, and none that only a later one can have named.
fn is_complete(directory: &dyn Directory, names: &[String], manifest: &Manifest) -> Result<bool, Failure> {
    let there: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let has = |name: &str| there.contains(name) || there.contains(unfinished(name).as_str());
    for name in names {
        let Some((kind @ (FileKind::Log | FileKind::Segment), number)) = FileKind::parse(name) else {
            continue;
        };
        if number >= manifest.next_file && retire::belongs(directory, name, kind)? == Some(manifest.store) {
            return Ok(false);
        }
    }
    Ok(manifest.names().all(|name| has(&name)))
}

/// Reads the current manifest; `None` if the folder holds nothing of a store yet. `strict` refuses a folder with foreign files and no store.
pub(crate) fn find_manifest(directory: &dyn Directory, strict: bool) -> Result<Option<Manifest>, OpenError> {
    // A writer may replace the manifest between the listing and the reading, again and again.
    for _ in 0..LOOKS {
        match look_for_manifest(directory, strict) {
            Err(OpenError::Failure(failure)) if failure.is_missing_file() => {}
            // It may have been replaced while the folder was listed.
            Err(OpenError::ManifestMissing { .. }) => {}
            found => return found,
        }
    }
    look_for_manifest(directory, strict)
}

/// How often a manifest is looked for that is gone when it is to be read.
const LOOKS: usize = 20;

fn look_for_manifest(directory: &dyn Directory, strict: bool) -> Result<Option<Manifest>, OpenError> {
    let names = list_twice(directory)?;
    let found = Found::among(directory, &names)?;
    let damaged =
        |number| OpenError::ManifestDamaged { file: directory.path(&FileKind::Manifest.name(number)) };
    if let Some(manifest) = found.choose(directory, &names)? {
        return match found.damaged_after(directory, &names, manifest)? {
            Some(number) => Err(damaged(number)),
            None => Ok(Some(manifest.clone())),
        };
    }
    if let Some((number, _)) = found.damaged.first() {
        return Err(damaged(*number));
    }
    if let Some(name) = names.iter().find(|name| FileKind::parse(name).is_some()) {
        return Err(OpenError::ManifestMissing { folder: folder(directory), name: name.clone() });
    }
    let own = |name: &str| {
        let files = [LOCK_NAME, WRITER_NAME, SPARE_NAME, RESERVE_NAME, SCRUB_NAME];
        let folders = [QUARANTINE_NAME, REQUESTS_NAME, RECEIPTS_NAME];
        files.contains(&name) || folders.contains(&name) || parse_unfinished(name).is_some()
    };
    match names.into_iter().find(|name| strict && !own(name)) {
        Some(name) => Err(OpenError::NotAStore { folder: folder(directory), name }),
        None => Ok(None),
    }
}

/// Sizes in bytes of the files in a store's folder, by their purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Segments.
    pub segments: u64,
    /// Logs.
    pub logs: u64,
    /// Manifests, and the space reserved: for the next one, and where [`WhenFull::RemoveOldest`](crate::WhenFull) is set for sealing the log on a full disk.
    pub manifests: u64,
    /// Files that are being written, or were when a process ended.
    pub unfinished: u64,
    /// Files removed from the store that are deleted when nobody reads them any more.
    pub retired: u64,
    /// Files that no manifest lists: see [`Unnamed`].
    pub unnamed: u64,
    /// Damaged files kept in the quarantine. A file that is hard-linked there is counted here too.
    pub quarantine: u64,
}

impl Usage {
    /// The size limited by [`Settings::max_bytes`](crate::Settings::max_bytes): all except retired and unnamed files and the quarantine.
    pub fn bounded(&self) -> u64 {
        let Usage { segments, logs, manifests, unfinished, retired: _, unnamed: _, quarantine: _ } = *self;
        [segments, logs, manifests, unfinished].into_iter().fold(0, u64::saturating_add)
    }

    /// Looks at each file of a folder in which this manifest counts, but not at the quarantine.
    pub(crate) fn of(directory: &dyn Directory, manifest: &Manifest) -> Result<Usage, Failure> {
        let segments = manifest.segments.iter().map(|entry| entry.file_bytes).fold(0, u64::saturating_add);
        let mut usage = Usage { segments, ..Usage::default() };
        let live: BTreeSet<String> = manifest.names().collect();
        for name in list(directory)? {
            // What is gone by now takes no room, and of what cannot be looked at it is unknown.
            let bytes = unless_refused(bytes_of(directory, &name).map(Some))?.unwrap_or(0);
            let sum = match (FileKind::parse(&name), parse_unfinished(&name)) {
                (Some((FileKind::Manifest, _)), _)
                    if name == manifest.name() || manifest.retired.contains(&name) =>
                {
                    &mut usage.manifests
                }
                (Some((FileKind::Segment, _)), _) if live.contains(&name) => continue,
                (Some(_), _) if live.contains(&name) => &mut usage.logs,
                (Some(_), _) if manifest.retired.contains(&name) => &mut usage.retired,
                (Some(_), _) => &mut usage.unnamed,
                (None, Some((kind, number))) if !live.contains(&kind.name(number)) => {
                    match retire::belongs(directory, &name, kind)? {
                        Some(store) if store == manifest.store => &mut usage.unfinished,
                        _ => &mut usage.unnamed,
                    }
                }
                (None, Some((FileKind::Log, _))) => &mut usage.logs,
                (None, Some(_)) => continue,
                (None, None) if [SPARE_NAME, RESERVE_NAME].contains(&name.as_str()) => &mut usage.manifests,
                (None, None) => continue,
            };
            *sum = sum.saturating_add(bytes);
        }
        Ok(usage)
    }

    /// The same with the quarantine.
    pub(crate) fn of_all(directory: &dyn Directory, manifest: &Manifest) -> Result<Usage, Failure> {
        let mut usage = Usage::of(directory, manifest)?;
        let fail = |operation| Failure::during(directory, QUARANTINE_NAME, operation);
        if let Some(NameKind::Folder) = directory.kind(QUARANTINE_NAME).map_err(fail(Operation::Open))? {
            let quarantine = directory.folder(QUARANTINE_NAME).map_err(fail(Operation::Open))?;
            let names = quarantine.list().map_err(fail(Operation::List))?;
            for name in names {
                let bytes = unless_refused(bytes_of(&*quarantine, &name).map(Some))?.unwrap_or(0);
                usage.quarantine = usage.quarantine.saturating_add(bytes);
            }
        }
        Ok(usage)
    }
}

/// The length of a regular file; 0 for anything else.
pub(crate) fn bytes_of(directory: &dyn Directory, name: &str) -> Result<u64, Failure> {
    match directory.kind(name).map_err(Failure::during(directory, name, Operation::Open))? {
        Some(NameKind::File(bytes)) => Ok(bytes),
        _ => Ok(0),
    }
}

/// A file in the folder of a store that its manifest does not list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unnamed {
    /// Its path.
    pub file: PathBuf,
    /// Its length in bytes; 0 if it is not a regular file.
    pub bytes: u64,
    /// The kind of file.
    pub kind: UnnamedKind,
}

/// The kind of a file that a store's manifest does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnnamedKind {
    /// A segment or log of this store. It may hold events that the store has lost: [`Repair`](crate::Repair) takes them in.
    Events,
    /// A manifest of this store that is not the current one, or is damaged.
    Manifest,
    /// A file that was being written when its process ended. It is removed when the store is opened for writing.
    Unfinished,
    /// A file that belongs to another store.
    Foreign,
    /// A file named like one of the store's files, but without their header.
    Unreadable,
    /// A file removed from the store. It is deleted when nobody reads it any more, at the next opening for writing at the latest.
    Retired,
    /// A link, a folder, a pipe or a device instead of a file. It is never followed or opened.
    Irregular,
    /// A receipt that knows of later events than the manifest and the logs do: an older manifest was put in the place of the newest. Opening the store for writing, or
    /// [`Repair`](crate::Repair), gives none of their arrival numbers to new events; what else the newer manifest named is not known.
    Receipt,
    /// A receipt that is damaged or cannot be read, or the folder of receipts, which cannot be listed: nobody knows which events were erased by it, so
    /// [`Repair`](crate::Repair) takes no unnamed file in.
    UnreadableReceipt,
}

/// The files that the manifest neither names nor retires, in order of their names. Other names than those of the store's files are nobody's
/// business. The listing must not be younger than the manifest: a file has its final name only once a manifest names it, so what a writer
/// had made by then this manifest names, or has retired.
pub(crate) fn unnamed(
    directory: &dyn Directory,
    mut names: Vec<String>,
    manifest: &Manifest,
) -> Result<Vec<Unnamed>, Failure> {
    let named: BTreeSet<String> = manifest.names().chain([manifest.name()]).collect();
    names.sort();
    let mut unnamed = Vec::new();
    for name in names {
        let found = directory.kind(&name).map_err(Failure::during(directory, &name, Operation::Open));
        let found = match found {
            // It was here a moment ago: the writer has removed it.
            Ok(None) => continue,
            Ok(Some(found)) => Some(found),
            // It is there, and nobody can look at it.
            Err(failure) if failure.is_refused() => None,
            Err(failure) => return Err(failure),
        };
        if let Some(kind) = classify(directory, &name, found, manifest, &named)? {
            let bytes = if let Some(NameKind::File(bytes)) = found { bytes } else { 0 };
            unnamed.push(Unnamed { file: directory.path(&name), bytes, kind });
        }
    }
    Ok(unnamed)
}

/// What a file is that the manifest does not name; `found` is missing where it cannot be looked at.
fn classify(
    directory: &dyn Directory,
    name: &str,
    found: Option<NameKind>,
    manifest: &Manifest,
    named: &BTreeSet<String>,
) -> Result<Option<UnnamedKind>, Failure> {
    let is_irregular = matches!(found, Some(NameKind::Folder | NameKind::Other));
    let fixed = [LOCK_NAME, WRITER_NAME, SPARE_NAME, RESERVE_NAME].contains(&name);
    let (finished, (kind, number)) = match (FileKind::parse(name), parse_unfinished(name)) {
        (Some(parsed), _) => (true, parsed),
        (None, Some(parsed)) => (false, parsed),
        (None, None) => return Ok((fixed && is_irregular).then_some(UnnamedKind::Irregular)),
    };
    if is_irregular {
        return Ok(Some(UnnamedKind::Irregular));
    }
    if named.contains(&kind.name(number)) {
        return Ok(None);
    }
    let header = unless_refused(retire::header(directory, name, kind))?;
    if manifest.retired.contains(name) && header.is_some_and(|header| header.store == manifest.store) {
        return Ok((kind != FileKind::Manifest).then_some(UnnamedKind::Retired));
    }
    Ok(Some(match (header, kind) {
        (Some(header), _) if header.store != manifest.store => UnnamedKind::Foreign,
        (_, FileKind::Manifest) if finished => UnnamedKind::Manifest,
        (None, _) => UnnamedKind::Unreadable,
        // A crash left such files to version 1 under their final names.
        (Some(Header { version: 1, number, .. }), FileKind::Segment) => {
            match Segment::examine(directory, manifest.store, number, name) {
                Err(failure) if !failure.is_refused() => return Err(failure),
                Ok(Some(_)) | Err(_) if finished => UnnamedKind::Events,
                _ => UnnamedKind::Unfinished,
            }
        }
        (Some(_), _) if finished => UnnamedKind::Events,
        (Some(_), _) => UnnamedKind::Unfinished,
    }))
}
