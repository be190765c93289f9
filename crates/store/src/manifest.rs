//! The list of live files. Each change writes a new one under the next number; the highest number counts.
//!
//! A manifest is written under another name, flushed, renamed and the folder flushed, so the highest one is always whole. It names
//! the files that it retires until they are gone; see [`retire`](crate::retire).

mod content;
mod deletion;
mod sections;
mod upkeep;
mod v1;

use std::io;
use std::sync::Arc;

use crate::error::{Failure, Operation};
use crate::format::{
    FileKind, HEADER_BYTES, Header, HeaderFault, MANIFEST_BYTES_MAX, NUMBER_MAX, SPARE_NAME, VERSION,
    checksum,
};
use crate::io::{Directory, File, Lock, LockKind, NameKind, ask_again, write_all_at};

pub(crate) use content::{
    BackupMark, Erasing, LogEntry, Manifest, ManifestFault, Renumbered, SegmentEntry, SourceMark, Sources,
    mark,
};
pub(crate) use deletion::{decode_arrivals, encode_arrivals};
pub(crate) use sections::{decode_sources, encode_positions, encode_sources};
pub(crate) use upkeep::{decode_settings, encode_settings};

impl Manifest {
    fn encode(&self) -> Vec<u8> {
        let header =
            Header { kind: FileKind::Manifest, version: VERSION, store: self.store, number: self.number };
        let mut out = header.encode().to_vec();
        sections::encode(self, &mut out);
        let body = out.get(HEADER_BYTES..).unwrap_or_default();
        let sum = checksum(header.seed(), &[body]);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// How many bytes it takes.
    pub(crate) fn encoded_bytes(&self) -> u64 {
        self.encode().len() as u64
    }

    /// Counts the bytes that it takes itself.
    pub(crate) fn count_itself(&mut self) {
        self.traffic.manifests = self.traffic.manifests.saturating_add(self.encoded_bytes());
    }

    fn decode(number: u64, bytes: &[u8]) -> Result<Manifest, ManifestFault> {
        let header = Header::decode(FileKind::Manifest, bytes).map_err(|fault| match fault {
            HeaderFault::Version(version) => ManifestFault::Version(version),
            HeaderFault::Damaged | HeaderFault::Foreign => ManifestFault::Damaged,
        })?;
        let body = bytes
            .get(HEADER_BYTES..)
            .and_then(|rest| rest.split_last_chunk::<4>())
            .filter(|(body, sum)| checksum(header.seed(), &[body]) == u32::from_le_bytes(**sum));
        let (body, _) = body.filter(|_| header.number == number).ok_or(ManifestFault::Damaged)?;
        let manifest = Manifest { number, version: header.version, ..Manifest::empty(header.store) };
        let manifest = match header.version {
            1 => v1::decode(manifest, body).ok_or(ManifestFault::Damaged)?,
            _ => sections::decode(manifest, body)?,
        };
        let logs = manifest.logs.iter().map(|log| log.number);
        let numbers = logs.chain(manifest.segments.iter().map(|segment| segment.number));
        let sane = manifest.next_arrival < NUMBER_MAX
            && manifest.next_file < NUMBER_MAX
            && numbers.into_iter().all(|number| number < manifest.next_file)
            && manifest.names().all(|name| !manifest.retired.contains(&name));
        if sane { Ok(manifest) } else { Err(ManifestFault::Damaged) }
    }

    /// Reads the manifest of this number.
    pub(crate) fn read(directory: &dyn Directory, number: u64) -> Result<Manifest, ManifestFault> {
        let name = FileKind::Manifest.name(number);
        let fail = |operation| Failure::during(directory, &name, operation);
        let read = || {
            let file = directory.open(&name).map_err(fail(Operation::Open))?;
            let length = file.length().map_err(fail(Operation::Read))?;
            file.read_range(0, length.min(MANIFEST_BYTES_MAX) as usize).map_err(fail(Operation::Read))
        };
        match ask_again(Failure::is_unreadable, read) {
            // The first manifest of a store is number 1, and 0 stands for none.
            Ok(_) if number == 0 => Err(ManifestFault::Damaged),
            Ok(bytes) => Manifest::decode(number, &bytes),
            Err(failure) if failure.is_unreadable() => Err(ManifestFault::Damaged),
            Err(failure) => Err(ManifestFault::Failure(failure)),
        }
    }

    /// Writes this manifest and makes it the current one. What it names is kept as long as the lock is held. When flushing or renaming fails
    /// nobody can tell which one is current after a crash. On any other failure nothing has changed.
    pub(crate) fn publish(&self, directory: &dyn Directory) -> Result<Arc<dyn Lock>, Failure> {
        let name = self.name();
        let unfinished = FileKind::Manifest.unfinished_name(self.number);
        let fail = |operation| Failure::during(directory, &name, operation);
        clear_name(directory, &unfinished)?;
        let bytes = self.encode();
        if bytes.len() as u64 > MANIFEST_BYTES_MAX {
            // Nobody could read it: as many deleted events as that are erased first.
            return Err(fail(Operation::Write)(io::ErrorKind::FileTooLarge.into()));
        }
        if FileKind::parse(&name).is_none() || Manifest::decode(self.number, &bytes).is_err() {
            let unreadable = io::Error::other("nobody could read it; repair the store");
            return Err(fail(Operation::Write)(unreadable));
        }
        let written = write_new(directory, &unfinished, &bytes).or_else(|failure| {
            if failure.operation != Operation::Create {
                let _ = directory.remove(&unfinished);
            }
            if failure.is_lack_of_room() {
                write_over_spare(directory, &unfinished, &bytes).ok_or(failure)
            } else {
                Err(failure)
            }
        });
        let prepared = written.and_then(|file| {
            file.flush().map_err(fail(Operation::Flush))?;
            // Before it can be seen, so that nobody comes first, and a refusal changes nothing.
            let lock = directory.lock(&unfinished, LockKind::Shared).map_err(fail(Operation::Lock))?;
            lock.ok_or(io::ErrorKind::WouldBlock.into()).map_err(fail(Operation::Lock))
        });
        let lock = prepared.inspect_err(|_| {
            let _ = directory.remove(&unfinished);
        })?;
        let placed = place(directory, &unfinished, &name).inspect_err(|_| {
            // Unless it was renamed all the same it is of no use to anybody.
            let _ = directory.remove(&unfinished);
        });
        placed.map_err(fail(Operation::Rename))?;
        directory.flush().map_err(fail(Operation::FlushFolder))?;
        Ok(Arc::from(lock))
    }
}

/// Gives a manifest its final name, unless another process has just done so with one of its own: of two writers of which one has lost its
/// lock, only one gets any further.
fn place(directory: &dyn Directory, unfinished: &str, name: &str) -> io::Result<()> {
    let taken = || io::Error::new(io::ErrorKind::AlreadyExists, "another process has written it meanwhile");
    match directory.link(unfinished, name) {
        Ok(()) => {
            // It has two names now. The unfinished one is taken away the next time at the latest.
            let _ = directory.remove(unfinished);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(taken()),
        // Without second names, or room for one (tmpfs counts them), it is a matter of the moment between.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::Unsupported | io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ) =>
        {
            match directory.kind(name)? {
                None => directory.rename(unfinished, name),
                Some(_) => Err(taken()),
            }
        }
        Err(error) => Err(error),
    }
}

/// Takes away what an interrupted attempt, or somebody else, has left under a name that is needed now.
fn clear_name(directory: &dyn Directory, name: &str) -> Result<(), Failure> {
    match directory.kind(name).map_err(Failure::during(directory, name, Operation::Open))? {
        None => Ok(()),
        Some(_) => directory.remove(name).map_err(Failure::during(directory, name, Operation::Remove)),
    }
}

fn write_new(directory: &dyn Directory, name: &str, bytes: &[u8]) -> Result<Arc<dyn File>, Failure> {
    let file = directory.create(name).map_err(Failure::during(directory, name, Operation::Create))?;
    write_all_at(&*file, 0, bytes).map_err(Failure::during(directory, name, Operation::Write))?;
    Ok(file)
}

/// Gives the spare file this name and these bytes, which takes only the room that it does not have already.
fn write_over_spare(directory: &dyn Directory, name: &str, bytes: &[u8]) -> Option<Arc<dyn File>> {
    let Ok(Some(NameKind::File(length))) = directory.kind(SPARE_NAME) else { return None };
    if directory.has_other_names(SPARE_NAME) || directory.rename(SPARE_NAME, name).is_err() {
        return None;
    }
    let write = || {
        let file = directory.open_for_writing(name)?;
        write_all_at(&*file, 0, bytes)?;
        file.set_length(bytes.len() as u64)?;
        Ok::<_, io::Error>(file)
    };
    // Others can use what it took in vain.
    let give_back = |_: &io::Error| {
        let shortened = directory.open_for_writing(name).and_then(|file| file.set_length(length));
        drop((shortened, directory.rename(name, SPARE_NAME)));
    };
    write().inspect_err(give_back).ok()
}

/// Keeps room for the next manifest, so that the oldest events can be removed when there is no byte left. Nothing depends on it,
/// so it may fail.
pub(crate) fn keep_spare(directory: &dyn Directory, manifest: &Manifest) {
    const ROOM_BYTES: u64 = 8192;
    let Ok(Some(NameKind::File(length))) = directory.kind(&manifest.name()) else { return };
    let needed = (length + ROOM_BYTES / 2).next_multiple_of(ROOM_BYTES);
    let (file, from) = match directory.kind(SPARE_NAME) {
        Ok(None) => (directory.create(SPARE_NAME), 0),
        Ok(Some(NameKind::File(length))) if length < needed && !directory.has_other_names(SPARE_NAME) => {
            (directory.open_for_writing(SPARE_NAME), length)
        }
        _ => return,
    };
    // The bytes are written, not only claimed: a hole has no room.
    let Ok(file) = file else { return };
    if write_all_at(&*file, from, &vec![0; (needed - from) as usize]).is_err() && from == 0 {
        let _ = directory.remove(SPARE_NAME);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Simulated;

    /// Nothing could be removed on a full medium then, though what it lacked was there.
    #[test]
    fn a_manifest_that_has_outgrown_the_spare_takes_the_rest_of_its_room_elsewhere() {
        let folder = Simulated::new();
        let length = Manifest { number: 1, ..Manifest::empty(7) }.encoded_bytes();
        folder.create(SPARE_NAME).unwrap().write_at(0, &vec![0; length as usize - 10]).unwrap();
        for (free, is_written) in [(9, false), (10, true)] {
            folder.set_room(Some(folder.medium().bytes() + free));
            let published = Manifest { number: 1, ..Manifest::empty(7) }.publish(&folder);
            assert_eq!(published.is_ok(), is_written, "{published:?}");
            assert_eq!(folder.kind(SPARE_NAME).unwrap().is_some(), !is_written);
        }
        assert_eq!(Manifest::read(&folder, 1).unwrap().number, 1);
    }

    #[test]
    fn a_manifest_numbered_0_does_not_count() {
        let folder = Simulated::new();
        Manifest { number: 0, ..Manifest::empty(7) }.publish(&folder).unwrap();
        assert!(matches!(Manifest::read(&folder, 0), Err(ManifestFault::Damaged)));
        Manifest { number: 1, ..Manifest::empty(7) }.publish(&folder).unwrap();
        assert_eq!(Manifest::read(&folder, 1).unwrap().number, 1);
    }
}
