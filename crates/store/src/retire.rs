//! Files that come and go: how a new one gets its name, and when an old one loses it.
//!
//! A log or segment is written under an unfinished name, made durable, named by a manifest, and renamed. Nothing is acknowledged
//! before that is durable, and nothing is removed. So an unfinished file never holds the only copy of an acknowledged event, and no file
//! of a final name is left unnamed by a crash. What a manifest no longer names it lists as retired until the file is gone; nothing else
//! is ever removed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::error::{Failure, Operation, unless_refused};
use crate::format::{FileKind, HEADER_BYTES, Header, SPARE_NAME, VERSION, parse_unfinished};
use crate::io::{Directory, LockKind, NameKind, ask_again};
use crate::manifest::{Manifest, ManifestFault, keep_spare};
use crate::named::unfinished;
use crate::quarantine;

/// Gives a file that a manifest names its final name.
pub(crate) fn finish_name(directory: &dyn Directory, name: &str) -> Result<(), Failure> {
    directory.rename(&unfinished(name), name).map_err(Failure::during(directory, name, Operation::Rename))
}

/// Finishes what a crash has left between a manifest and the renaming that follows it. Durable when the folder is flushed.
pub(crate) fn finish_names(
    directory: &dyn Directory,
    names: &[String],
    manifest: &Manifest,
) -> Result<(), Failure> {
    let there: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    for name in manifest.names() {
        if !there.contains(name.as_str()) && there.contains(unfinished(&name).as_str()) {
            finish_name(directory, &name)?;
        }
    }
    Ok(())
}

/// The segments and logs that the manifest names, by their own names, that are missing under these, or have another one there, and are here under others: somebody has renamed them, or
/// exchanged their names. Each says in its header which one it is.
pub(crate) fn misnamed(
    directory: &dyn Directory,
    names: &[String],
    manifest: &Manifest,
) -> Result<BTreeMap<String, String>, Failure> {
    let there: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let segments = manifest.segments.iter().map(|entry| (entry.name(), entry.file_bytes));
    let logs = manifest.logs.iter().map(|log| (log.name(), log.length));
    let mut missing: BTreeMap<String, u64> = BTreeMap::new();
    for (name, least) in segments.chain(logs) {
        let is_there = match there.contains(name.as_str()) {
            true => !is_another(directory, &name, manifest.store)?,
            false => there.contains(unfinished(&name).as_str()),
        };
        if !is_there {
            missing.insert(name, least);
        }
    }
    let mut misnamed: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for name in names.iter().filter(|_| !missing.is_empty()) {
        let parsed = FileKind::parse(name).or_else(|| parse_unfinished(name));
        let Some((kind @ (FileKind::Segment | FileKind::Log), number)) = parsed else { continue };
        // An unfinished name is the last one before its own, and nobody else's.
        if FileKind::parse(name).is_none() && !missing.contains_key(&kind.name(number)) {
            continue;
        }
        let header = unless_refused(header(directory, name, kind))?;
        let Some(header) = header.filter(|header| header.store == manifest.store) else { continue };
        let own = kind.name(header.number);
        let Some(least) = missing.get(&own) else { continue };
        let Ok(Some(NameKind::File(bytes))) = directory.kind(name) else { continue };
        // A copy that was cut short is not taken for the whole one, and an earlier copy of a log not for a longer one.
        let longest = misnamed.get(&own).map_or(0, |(bytes, _)| *bytes);
        if bytes >= *least && bytes > longest {
            misnamed.insert(own, (bytes, name.clone()));
        }
    }
    Ok(misnamed.into_iter().map(|(own, (_, name))| (own, name)).collect())
}

/// Whether a file is another one of the store than its name says.
fn is_another(directory: &dyn Directory, name: &str, store: u128) -> Result<bool, Failure> {
    let Some((kind, number)) = FileKind::parse(name) else { return Ok(false) };
    let header = unless_refused(header(directory, name, kind))?;
    Ok(header.is_some_and(|header| header.store == store && header.number != number))
}

impl Manifest {
    /// Takes the place of another: what only that one named is retired, and so is its own file. A file that is missing is not: whoever puts it
    /// back finds it there, and `repair` takes it in.
    pub(crate) fn replaces(&mut self, old: &Manifest, directory: &dyn Directory) -> Result<(), Failure> {
        if has_gone(directory, old) {
            // What is forgotten must not come back with a loss of power.
            directory.flush().map_err(Failure::during(directory, "", Operation::FlushFolder))?;
        }
        // Where the system does not tell, it may be there.
        let is_file = |name: &str| matches!(directory.kind(name), Ok(Some(NameKind::File(_))) | Err(_));
        let there = |name: &String| is_file(name) || is_file(&unfinished(name));
        let live: BTreeSet<String> = self.names().collect();
        let kept = old.retired.iter().filter(|name| there(name) && !live.contains(*name));
        self.retired = kept.cloned().collect();
        self.retired.extend(old.names().filter(|name| !live.contains(name) && there(name)));
        if old.number > 0 {
            self.retired.insert(old.name());
        }
        self.forget_marks(old);
        // Whoever changes a backup makes a store of its own of it.
        self.backup = None;
        self.count_itself();
        Ok(())
    }
}

/// Removes what the manifest has retired, but for files that a living reader's manifest names, or that a missing file may have been made
/// from. What cannot be removed now is removed another time. Whether a file went.
pub(crate) fn sweep(directory: &dyn Directory, manifest: &Manifest) -> bool {
    let Ok(names) = directory.list() else { return false };
    let mut went = false;
    let mut held = BTreeSet::new();
    for name in &names {
        let Some((FileKind::Manifest, number)) = FileKind::parse(name) else { continue };
        if number >= manifest.number {
            continue;
        }
        match directory.lock(name, LockKind::Exclusive) {
            Ok(Some(_lock)) if manifest.retired.contains(name) => went |= dismiss(directory, name),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => match Manifest::read(directory, number) {
                Ok(read) if read.store == manifest.store => held.extend(read.names()),
                Ok(_) | Err(ManifestFault::Version(_) | ManifestFault::Section(_)) => {}
                // Nobody knows what it names.
                Err(_) if manifest.retired.contains(name) => return went,
                Err(_) => {}
            },
        }
    }
    let mut missing = None;
    for name in &manifest.retired {
        let Some((kind @ (FileKind::Log | FileKind::Segment), number)) = FileKind::parse(name) else {
            continue;
        };
        for name in [name.clone(), unfinished(name)] {
            // Another file may have come to that name meanwhile. One whose header is damaged, or of another number or store, is in quarantine as well if
            // it is to go.
            let own = match header(directory, &name, kind) {
                Ok(Some(header)) if header.number == number && header.store == manifest.store => true,
                Ok(_) => is_kept(directory, &name),
                Err(failure) => failure.is_refused() && is_kept(directory, &name),
            };
            if !own || held.contains(&name) {
                continue;
            }
            // It may hold what a file that is missing held, if that was made later.
            let missing = *missing.get_or_insert_with(|| newest_missing(directory, manifest));
            if missing.is_none_or(|missing| missing < number) {
                went |= directory.remove(&name).is_ok();
            }
        }
    }
    keep_spare(directory, manifest);
    went
}

/// Whether a file would not be lost with this name: it has another one, or a copy of it is in quarantine.
fn is_kept(directory: &dyn Directory, name: &str) -> bool {
    directory.has_other_names(name) || quarantine::has_copy(directory, name)
}

/// The highest number of a file that the manifest names and that is not here, or shorter than it says. Files are made from such of lower
/// numbers only. Looks at each file.
pub(crate) fn newest_missing(directory: &dyn Directory, manifest: &Manifest) -> Option<u64> {
    let length = |name: &str| match directory.kind(name) {
        Ok(Some(NameKind::File(length))) => Some(length),
        _ => None,
    };
    let logs = manifest.logs.iter().map(|log| (log.number, FileKind::Log.name(log.number), log.length));
    let segments = manifest.segments.iter().map(|entry| (entry.number, entry.name(), entry.file_bytes));
    let missing = logs.chain(segments).filter(|(_, name, least)| {
        let length = length(name).or_else(|| length(&unfinished(name)));
        length.is_none_or(|length| length < *least)
    });
    missing.map(|(number, _, _)| number).max()
}

/// Whether files that the manifest retires are gone: then it has to forget them, or whoever puts one back would lose it.
pub(crate) fn has_gone(directory: &dyn Directory, manifest: &Manifest) -> bool {
    manifest.retired.iter().any(|name| {
        let gone = |name: &str| matches!(directory.kind(name), Ok(None));
        !matches!(FileKind::parse(name), Some((FileKind::Manifest, _)))
            && gone(name)
            && gone(&unfinished(name))
    })
}

/// Publishes the manifest without the names of files that are gone. Nothing depends on it now, so it may fail.
pub(crate) fn forget_gone(directory: &dyn Directory, manifest: &Manifest) {
    if !has_gone(directory, manifest) {
        return;
    }
    let mut next = Manifest { number: manifest.number + 1, ..manifest.clone() };
    if next.replaces(manifest, directory).is_ok() && next.publish(directory).is_ok() {
        sweep(directory, &next);
    }
}

/// Takes an old manifest away. Its room is kept for the next one, if none is kept yet; else it went.
fn dismiss(directory: &dyn Directory, name: &str) -> bool {
    let spare = matches!(directory.kind(SPARE_NAME), Ok(None)) && !directory.has_other_names(name);
    let kept = spare && directory.rename(name, SPARE_NAME).is_ok();
    !kept && directory.remove(name).is_ok()
}

/// Removes the unfinished files of this store that the manifest does not name, while nobody is making any. Each says by its header that it is
/// one, or has none yet, or as much of it as a loss of power has left: the header is written first, and holds before a manifest can name the file.
pub(crate) fn sweep_unfinished(directory: &dyn Directory, names: &[String], manifest: &Manifest) {
    let live: BTreeSet<String> = manifest.names().collect();
    for name in names {
        let Some((kind, number)) = parse_unfinished(name) else { continue };
        if live.contains(&kind.name(number)) {
            continue;
        }
        let own = match head(directory, name) {
            Ok(Some(bytes)) if is_left_of_header(&bytes, kind, manifest.store, number) => true,
            Ok(Some(bytes)) => {
                Header::decode(kind, &bytes).is_ok_and(|header| header.store == manifest.store)
            }
            Ok(None) | Err(_) => false,
        };
        if own {
            let _ = directory.remove(name);
        }
    }
}

/// Whether these bytes are the header of such a file, but for some that were never written.
fn is_left_of_header(bytes: &[u8; HEADER_BYTES], kind: FileKind, store: u128, number: u64) -> bool {
    let whole = Header { kind, version: VERSION, store, number }.encode();
    bytes.iter().zip(whole).all(|(byte, own)| *byte == own || *byte == 0)
}

/// The identity of the store that a file says it belongs to; `None` if it cannot be told: the file has no header, or one that the medium or the system keeps from
/// being read. What may pass, such as too many open files, is an error.
pub(crate) fn belongs(
    directory: &dyn Directory,
    name: &str,
    kind: FileKind,
) -> Result<Option<u128>, Failure> {
    let header = unless_refused(header(directory, name, kind))?;
    Ok(header.map(|header| header.store))
}

/// The header of a file, if it has one.
pub(crate) fn header(
    directory: &dyn Directory,
    name: &str,
    kind: FileKind,
) -> Result<Option<Header>, Failure> {
    let head = ask_again(Failure::is_unreadable, || head(directory, name))?;
    Ok(head.and_then(|bytes| Header::decode(kind, &bytes).ok()))
}

/// The first bytes of a regular file, as many as a header has; fewer are filled up with zeros.
fn head(directory: &dyn Directory, name: &str) -> Result<Option<[u8; HEADER_BYTES]>, Failure> {
    let fail = |operation| Failure::during(directory, name, operation);
    if !matches!(directory.kind(name).map_err(fail(Operation::Open))?, Some(NameKind::File(_))) {
        return Ok(None);
    }
    let file = match directory.open(name) {
        // It went, or another file took its name, since it was looked at.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => {
            return Ok(None);
        }
        file => file.map_err(fail(Operation::Open))?,
    };
    let mut bytes = [0; HEADER_BYTES];
    // The system would read some pages more, of each file.
    file.expect_scattered_reads();
    file.read_full_at(0, &mut bytes).map_err(fail(Operation::Read))?;
    Ok(Some(bytes))
}
