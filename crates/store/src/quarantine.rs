//! The quarantine: a folder in the store that keeps unusable bytes, and from which nothing is ever removed.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Failure, Operation};
use crate::format::QUARANTINE_NAME;
use crate::io::{Directory, File, NameKind, read_past, write_all_at};
use crate::named::{open_named, unfinished};

/// How much is copied at once.
const PIECE_BYTES: usize = 256 * 1024;

/// Where the bytes of a file would be kept.
pub(crate) fn path(directory: &dyn Directory, name: &str) -> PathBuf {
    directory.path(QUARANTINE_NAME).join(name)
}

/// The folder, durable.
fn folder(directory: &dyn Directory) -> Result<Arc<dyn Directory>, Failure> {
    let fail = |operation| Failure::during(directory, QUARANTINE_NAME, operation);
    let quarantine = directory.folder(QUARANTINE_NAME).map_err(fail(Operation::CreateFolder))?;
    directory.flush().map_err(fail(Operation::FlushFolder))?;
    Ok(quarantine)
}

/// Keeps a file as it is, under the name `kept` or, where that is taken by other bytes, with a number behind it. When this returns the
/// name is durable. It is the same file under a second name, which takes no room and keeps what cannot be read; a copy where the file system has
/// no such thing.
pub(crate) fn keep_file(directory: &dyn Directory, name: &str, kept: &str) -> Result<Kept, Failure> {
    // Only where its bytes are asked for: what cannot be opened can have a second name.
    let open = || {
        let fail = |operation| Failure::during(directory, name, operation);
        let file = directory.open(name).map_err(fail(Operation::Open))?;
        let length = file.length().map_err(fail(Operation::Read))?;
        Ok::<_, Failure>((file, 0..length))
    };
    let quarantine = folder(directory)?;
    let is_same = |there: &dyn File| match open() {
        Ok((file, bytes)) => {
            is_same(&*file, bytes, there).map_err(Failure::during(directory, name, Operation::Read))
        }
        Err(failure) if failure.is_unreadable() => Ok(false),
        Err(failure) => Err(failure),
    };
    keep(directory, &*quarantine, is_same, kept, |target| {
        match directory.link(name, &format!("{QUARANTINE_NAME}/{target}")) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let (file, bytes) = open()?;
                copy(&*file, bytes, &*quarantine, target)
            }
            linked => linked.map_err(Failure::during(&*quarantine, target, Operation::Create)),
        }
    })
}

/// Whether a copy of a file is kept, byte for byte.
pub(crate) fn has_copy(directory: &dyn Directory, name: &str) -> bool {
    // The folder is not made for a look.
    if !matches!(directory.kind(QUARANTINE_NAME), Ok(Some(NameKind::Folder))) {
        return false;
    }
    let look = || {
        let (file, quarantine) = (directory.open(name)?, directory.folder(QUARANTINE_NAME)?);
        let bytes = 0..file.length()?;
        for kept in quarantine.list()?.iter().filter(|kept| kept.starts_with(name)) {
            if is_same(&*file, bytes.clone(), &*quarantine.open(kept)?)? {
                return Ok(true);
            }
        }
        Ok::<_, io::Error>(false)
    };
    look().unwrap_or(false)
}

/// Copies some bytes of a file into the quarantine, under the name `kept` or, where that is taken by other bytes, with a number behind
/// it. When this returns the copy and its name are durable. What an interrupted attempt has left is used or replaced.
pub(crate) fn keep_bytes(
    directory: &dyn Directory,
    name: &str,
    bytes: Range<u64>,
    kept: &str,
) -> Result<Kept, Failure> {
    let opened = open_named(directory, name);
    let file = opened.map_err(Failure::during(directory, name, Operation::Open))?;
    let quarantine = folder(directory)?;
    let is_same = |there: &dyn File| {
        is_same(&*file, bytes.clone(), there).map_err(Failure::during(directory, name, Operation::Read))
    };
    keep(directory, &*quarantine, is_same, kept, |target| copy(&*file, bytes.clone(), &*quarantine, target))
}

/// Finds a name that is free, or has these bytes already, and makes what `put` puts there durable.
fn keep(
    directory: &dyn Directory,
    quarantine: &dyn Directory,
    is_same: impl Fn(&dyn File) -> Result<bool, Failure>,
    kept: &str,
    put: impl FnOnce(&str) -> Result<(), Failure>,
) -> Result<Kept, Failure> {
    let mut target = kept.to_owned();
    let mut is_new = false;
    for number in 2u32.. {
        let fail = |operation| Failure::during(quarantine, &target, operation);
        if quarantine.kind(&target).map_err(fail(Operation::Open))?.is_none() {
            put(&target)?;
            is_new = true;
            break;
        }
        // One that cannot be opened any more is another.
        let there = match quarantine.open(&target).map_err(fail(Operation::Open)) {
            Err(failure) if failure.is_unreadable() => None,
            there => Some(there?),
        };
        let same = there.map_or(Ok(false), |there| is_same(&*there));
        if same? {
            // It was flushed before it got this name, the name perhaps not.
            break;
        }
        target = format!("{kept}.{number}");
    }
    quarantine.flush().map_err(Failure::during(directory, QUARANTINE_NAME, Operation::FlushFolder))?;
    Ok(Kept { path: quarantine.path(&target), name: target, is_new })
}

/// Takes back what an operation has kept that failed in the end: it is in its old place still.
pub(crate) fn take_back(directory: &dyn Directory, kept: &[Kept]) {
    let Ok(quarantine) = directory.folder(QUARANTINE_NAME) else { return };
    for kept in kept.iter().filter(|kept| kept.is_new) {
        let _ = quarantine.remove(&kept.name);
    }
}

/// What is kept.
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    name: String,
    /// It was not there before.
    is_new: bool,
}

fn copy(file: &dyn File, bytes: Range<u64>, quarantine: &dyn Directory, target: &str) -> Result<(), Failure> {
    let unfinished = unfinished(target);
    let fail = |operation| Failure::during(quarantine, target, operation);
    // What was private stays so.
    quarantine.create_with(file.permissions().map_err(fail(Operation::Read))?);
    let _ = quarantine.remove(&unfinished);
    let copy = quarantine.create(&unfinished).map_err(fail(Operation::Create))?;
    let write = || {
        let mut piece = Vec::new();
        let (mut from, mut to) = (bytes.start, 0);
        while from < bytes.end {
            read_piece(file, from..bytes.end, &mut piece).map_err(fail(Operation::Read))?;
            if piece.is_empty() {
                break;
            }
            write_all_at(&*copy, to, &piece).map_err(fail(Operation::Write))?;
            from += piece.len() as u64;
            to += piece.len() as u64;
        }
        copy.flush().map_err(fail(Operation::Flush))
    };
    write().inspect_err(|_| drop(quarantine.remove(&unfinished)))?;
    quarantine.rename(&unfinished, target).map_err(fail(Operation::Rename))
}

/// Whether a kept file holds these bytes and no others.
fn is_same(file: &dyn File, bytes: Range<u64>, kept: &dyn File) -> io::Result<bool> {
    let length = kept.length()?;
    let (mut piece, mut there) = (Vec::new(), Vec::new());
    let mut at = 0;
    while bytes.start + at < bytes.end {
        read_piece(file, bytes.start + at..bytes.end, &mut piece)?;
        read_piece(kept, at..length, &mut there)?;
        if piece.is_empty() {
            break;
        }
        if piece != there {
            return Ok(false);
        }
        at += piece.len() as u64;
    }
    Ok(at == length)
}

/// Reads the beginning of a range, at most a piece of it, and nothing at the end of the file. What cannot be read is zeros.
fn read_piece(file: &dyn File, range: Range<u64>, piece: &mut Vec<u8>) -> io::Result<()> {
    let length = range.end.saturating_sub(range.start).min(PIECE_BYTES as u64) as usize;
    piece.resize(length, 0);
    let read = read_past(file, range.start, piece, &mut Vec::new())?;
    piece.truncate(read);
    Ok(())
}
