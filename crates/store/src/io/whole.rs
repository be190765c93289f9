//! Reading and writing on where a call does less than it was asked for.

use std::io;
use std::ops::Range;

use super::folder::File;
use super::unreadable::is_unreadable;

/// Writes all bytes, going on after short and interrupted writes.
pub fn write_all_at(file: &dyn File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(offset, bytes) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::WriteZero, "the file takes no more bytes")),
            Ok(written) => {
                offset += written as u64;
                bytes = bytes.get(written..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How much is copied at once.
const PIECE_BYTES: u64 = 1 << 20;

/// Copies a range of a file to the same place in another one, and tells of each piece how many bytes it had. What cannot be read is zeros there, and where the file ends the
/// copy ends; `unreadable` takes these ranges.
pub fn copy_range(
    from: &dyn File,
    range: Range<u64>,
    to: &dyn File,
    unreadable: &mut Vec<Range<u64>>,
    mut progress: impl FnMut(u64),
) -> io::Result<()> {
    let mut piece = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let bytes = (range.end - at).min(PIECE_BYTES) as usize;
        piece.clear();
        piece.resize(bytes, 0);
        let read = read_past(from, at, &mut piece, unreadable)?;
        piece.truncate(read);
        write_all_at(to, at, &piece)?;
        at += read as u64;
        progress(read as u64);
        if read < bytes {
            unreadable.push(at..range.end);
            break;
        }
    }
    Ok(())
}

/// Whether two files have the same bytes up to this length, but for those of the first that cannot be read.
pub fn begins_alike(one: &dyn File, other: &dyn File, length: u64) -> io::Result<bool> {
    let (mut piece, mut there) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < length {
        let bytes = (length - at).min(PIECE_BYTES) as usize;
        piece.resize(bytes, 0);
        there.resize(bytes, 0);
        let mut unreadable = Vec::new();
        if read_past(one, at, &mut piece, &mut unreadable)? < bytes
            || other.read_full_at(at, &mut there)? < bytes
        {
            return Ok(false);
        }
        for range in unreadable {
            let range = (range.start.saturating_sub(at)) as usize..(range.end - at) as usize;
            for side in [&mut piece, &mut there] {
                side.get_mut(range.clone()).unwrap_or_default().fill(0);
            }
        }
        if piece != there {
            return Ok(false);
        }
        at += bytes as u64;
    }
    Ok(true)
}

/// The smallest piece of a medium that is passed over when it cannot be read.
const SECTOR_BYTES: u64 = 4096;

/// [`read_full_at`](File::read_full_at), past what cannot be read: there are zeros instead, and `unreadable` takes the ranges of the file.
pub fn read_past(
    file: &dyn File,
    offset: u64,
    buffer: &mut [u8],
    unreadable: &mut Vec<Range<u64>>,
) -> io::Result<usize> {
    match file.read_full_at(offset, buffer) {
        Err(error) if is_unreadable(&error) => {}
        read => return read,
    }
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let at = offset + filled as u64;
        let to_sector = (SECTOR_BYTES - at % SECTOR_BYTES) as usize;
        let length = rest.len().min(to_sector);
        let piece = rest.get_mut(..length).unwrap_or_default();
        match file.read_full_at(at, piece) {
            Ok(read) => {
                filled += read;
                if read < length {
                    break;
                }
            }
            Err(error) if is_unreadable(&error) => {
                piece.fill(0);
                let end = at + length as u64;
                match unreadable.last_mut().filter(|last| last.end == at) {
                    Some(last) => last.end = end,
                    None => unreadable.push(at..end),
                }
                filled += length;
            }
            Err(error) => return Err(error),
        }
    }
    // A piece behind the end of the file is no part of it.
    Ok(filled.min(file.length()?.saturating_sub(offset) as usize))
}
