//! Where bytes go that cannot be used: a folder in the store, from which nothing is ever removed.

use std::ops::Range;
use std::path::PathBuf;

use crate::error::{Failure, Operation};
use crate::format::QUARANTINE_NAME;
use crate::io::{Directory, File, read_full_at, write_all_at};

/// How much is copied at once.
const PIECE_BYTES: usize = 256 * 1024;

/// Where the bytes of a file would be kept.
pub(crate) fn path(directory: &dyn Directory, name: &str) -> PathBuf {
    directory.path(QUARANTINE_NAME).join(name)
}

/// Copies some bytes of a file into the quarantine, under the name `kept` or, where that is taken by other bytes, with a number behind
/// it. When this returns the copy and its name are durable. What an interrupted attempt has left is used or replaced.
pub(crate) fn keep(
    directory: &dyn Directory,
    name: &str,
    bytes: Range<u64>,
    kept: &str,
) -> Result<PathBuf, Failure> {
    let fail = |operation| Failure::during(directory, name, operation);
    let file = directory.open(name).map_err(fail(Operation::Open))?;
    let quarantine = directory.folder(QUARANTINE_NAME).map_err(Failure::during(
        directory,
        QUARANTINE_NAME,
        Operation::CreateFolder,
    ))?;
    directory.flush().map_err(Failure::during(directory, QUARANTINE_NAME, Operation::FlushFolder))?;
    let mut target = kept.to_owned();
    for number in 2u32.. {
        let fail = |operation| Failure::during(&*quarantine, &target, operation);
        if !quarantine.exists(&target).map_err(fail(Operation::Open))? {
            copy(&*file, bytes, directory, name, &*quarantine, &target)?;
            break;
        }
        let there = quarantine.open(&target).map_err(fail(Operation::Open))?;
        if same(&*file, bytes.clone(), &*there).map_err(fail(Operation::Read))? {
            // It was flushed before it got this name, the name perhaps not.
            quarantine.flush().map_err(fail(Operation::FlushFolder))?;
            break;
        }
        target = format!("{kept}.{number}");
    }
    Ok(quarantine.path(&target))
}

fn copy(
    file: &dyn File,
    bytes: Range<u64>,
    directory: &dyn Directory,
    name: &str,
    quarantine: &dyn Directory,
    target: &str,
) -> Result<(), Failure> {
    let unfinished = format!("{target}.tmp");
    let fail = |operation| Failure::during(quarantine, target, operation);
    let copy = quarantine.create(&unfinished).map_err(fail(Operation::Create))?;
    let mut piece = Vec::new();
    let (mut from, mut to) = (bytes.start, 0);
    while from < bytes.end {
        read_piece(file, from..bytes.end, &mut piece).map_err(Failure::during(
            directory,
            name,
            Operation::Read,
        ))?;
        if piece.is_empty() {
            break;
        }
        write_all_at(&*copy, to, &piece).map_err(fail(Operation::Write))?;
        from += piece.len() as u64;
        to += piece.len() as u64;
    }
    copy.flush().map_err(fail(Operation::Flush))?;
    quarantine.rename(&unfinished, target).map_err(fail(Operation::Rename))?;
    quarantine.flush().map_err(fail(Operation::FlushFolder))
}

/// Whether a kept file holds these bytes and no others.
fn same(file: &dyn File, bytes: Range<u64>, kept: &dyn File) -> std::io::Result<bool> {
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

/// Reads the beginning of a range, at most a piece of it, and nothing at the end of the file.
fn read_piece(file: &dyn File, range: Range<u64>, piece: &mut Vec<u8>) -> std::io::Result<()> {
    let length = range.end.saturating_sub(range.start).min(PIECE_BYTES as u64) as usize;
    piece.resize(length, 0);
    let read = read_full_at(file, range.start, piece)?;
    piece.truncate(read);
    Ok(())
}
