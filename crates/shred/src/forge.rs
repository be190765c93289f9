//! Groups with right checksums and anything inside, for tests and fuzzing: only with the feature `checked`.

use crate::bytes::{Reader, put};
use crate::column::Encoding;
use crate::directory::{self, Directory};
use crate::encoding::ints::Ints;
use crate::encoding::simple::Simple;
use crate::error::DecodeError;
use crate::frame::FrameWriter;

/// What a directory holds, unpacked: how many bytes are read first, these, and those of templates.
///
/// # Errors
/// See [`DecodeError`].
pub fn unpacked(directory: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let (first, late) = directory::unpacked(directory)?;
    let mut unpacked = Vec::new();
    put(&mut unpacked, first.len() as u64);
    unpacked.extend(first);
    unpacked.extend(late);
    Ok(unpacked)
}

/// A directory that says what `unpacked` says, but for the lengths and checksums of the frames, which are those of `frames`. So what
/// is wrong with it is found after the checksums were right.
///
/// Gives nothing where `unpacked` ends before the frames are told.
pub fn directory(unpacked: &[u8], frames: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut reader = Reader(unpacked);
    let length = reader.number().ok()?;
    // Where there is less, all of it is read first.
    let (first, late) = reader.0.split_at(reader.0.len().min(usize::try_from(length).ok()?));
    reader.0 = first;
    let mut out = Vec::new();
    // Events, bytes of documents, frames.
    for _ in 0..2 {
        put(&mut out, reader.number().ok()?);
    }
    let count = reader.number().ok()?;
    put(&mut out, count);
    for index in 0..count {
        put(&mut out, reader.number().ok()?);
        let stored = reader.number().ok()?;
        let checksum = reader.take(4).ok()?;
        match usize::try_from(index).ok().and_then(|index| frames.get(index)) {
            Some(frame) => {
                put(&mut out, frame.len() as u64);
                out.extend(crc32fast::hash(frame).to_le_bytes());
            }
            None => {
                put(&mut out, stored);
                out.extend(checksum);
            }
        }
    }
    out.extend(reader.0);
    directory::pack(&out, late, &mut FrameWriter::new().ok()?).ok()
}

/// What a directory of the first version would hold, unpacked, that says the same.
///
/// # Errors
/// See [`DecodeError`].
pub fn unpacked_of_first_version(directory: &[u8]) -> Result<Vec<u8>, DecodeError> {
    Ok(Directory::read(directory)?.unpacked_1())
}

/// A directory of the first version that says this. Nothing where there is no memory to compress it.
pub fn directory_of_first_version(unpacked: &[u8]) -> Option<Vec<u8>> {
    directory::pack_1(unpacked, &mut FrameWriter::new().ok()?).ok()
}

/// A directory in which each value of the first dictionary is its first entry, as if the events that had the others were forgotten, and their texts were not.
/// Documents are as long as before where the entries are equally long. Nothing where there is no dictionary.
pub fn forgotten(directory: &[u8]) -> Option<Vec<u8>> {
    let mut directory = Directory::read(directory).ok()?;
    let dictionary = directory.columns.iter_mut().find_map(|column| match &mut column.encoding {
        Encoding::Simple(Simple::Dictionary(dictionary)) => Some(dictionary),
        Encoding::Simple(_) | Encoding::Templates(_) => None,
    })?;
    dictionary.codes = Ints::Constant(0);
    directory.write(&mut FrameWriter::new().ok()?).ok()
}
