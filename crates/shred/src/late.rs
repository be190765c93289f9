//! The encodings by template of a directory: most of its bytes, and unpacked once one of them is needed.

use std::ops::Range;
use std::sync::OnceLock;

use crate::bytes::Reader;
use crate::column::Needs;
use crate::decompressor;
use crate::encoding::templates::{self, Hole, REFERENCE_DEPTH_MAX, Told};
use crate::error::{DecodeError, malformed};
use crate::frame::FrameInfo;

/// The encodings by template of all columns, one after another, as they were written.
#[derive(Debug)]
pub(crate) struct LateTemplates {
    stored: Stored,
    columns: Vec<Late>,
    /// What all columns need beside them.
    beside: Needs,
    unpacked: OnceLock<Result<Vec<u8>, DecodeError>>,
}

#[derive(Debug)]
enum Stored {
    Packed(Box<[u8]>),
    /// As directories of the first version have them: each with its column.
    Plain(Box<[u8]>),
}

/// A column by template.
#[derive(Debug)]
struct Late {
    number: usize,
    /// How many values it has.
    count: usize,
    range: Range<usize>,
}

/// The encodings while a directory is read.
#[derive(Default)]
pub(crate) struct Reading {
    columns: Vec<Late>,
}

impl Reading {
    /// Takes note of the next encoding, of so many bytes: where it stands.
    pub(crate) fn add(&mut self, number: usize, count: usize, bytes: usize) -> Range<usize> {
        let start = self.bytes();
        let range = start..start + bytes;
        self.columns.push(Late { number, count, range: range.clone() });
        range
    }

    /// How many bytes the encodings have.
    pub(crate) fn bytes(&self) -> usize {
        end_of(&self.columns)
    }

    /// All of them, as they are packed.
    pub(crate) fn packed(self, packed: &[u8], beside: Needs) -> LateTemplates {
        self.stored(Stored::Packed(packed.into()), beside)
    }

    /// All of them, as they are.
    pub(crate) fn plain(self, plain: Vec<u8>, beside: Needs) -> LateTemplates {
        self.stored(Stored::Plain(plain.into()), beside)
    }

    fn stored(self, stored: Stored, beside: Needs) -> LateTemplates {
        LateTemplates { stored, columns: self.columns, beside, unpacked: OnceLock::new() }
    }
}

/// Where the last encoding ends.
fn end_of(columns: &[Late]) -> usize {
    columns.last().map_or(0, |last| last.range.end)
}

impl LateTemplates {
    /// What they take in memory as they were written, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let (Stored::Packed(stored) | Stored::Plain(stored)) = &self.stored;
        stored.len() + size_of_val(self.columns.as_slice())
    }

    /// What they take beside that once they are unpacked, in bytes.
    pub(crate) fn made_bytes(&self) -> usize {
        self.unpacked.get().and_then(|unpacked| unpacked.as_ref().ok()).map_or(0, Vec::capacity)
    }

    /// The bytes of one of them. The first time, all are unpacked and gone over: what is read of any of them has to be within the limits of the group.
    pub(crate) fn get(&self, range: &Range<usize>, frames: &[FrameInfo]) -> Result<&[u8], DecodeError> {
        let unpacked = self.unpacked.get_or_init(|| self.unpack(frames)).as_ref().map_err(|error| *error)?;
        self.all(unpacked).get(range.clone()).ok_or(malformed("templates beyond the last one"))
    }

    /// The bytes of all, of which those that are packed were unpacked.
    fn all<'t>(&'t self, unpacked: &'t [u8]) -> &'t [u8] {
        match &self.stored {
            Stored::Packed(_) => unpacked,
            Stored::Plain(plain) => plain,
        }
    }

    /// Unpacks what is packed, and goes over all.
    fn unpack(&self, frames: &[FrameInfo]) -> Result<Vec<u8>, DecodeError> {
        let mut unpacked = Vec::new();
        if let Stored::Packed(packed) = &self.stored
            && !packed.is_empty()
        {
            decompressor::decompress(packed, &[], end_of(&self.columns), &mut unpacked)?;
        }
        let all = self.all(&unpacked);
        let mut needs = self.beside;
        // How often references lead on from each of these columns.
        let mut levels: Vec<usize> = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let mut reader = Reader(all.get(column.range.clone()).unwrap_or_default());
            let mut level = 0;
            let level_of = |number: usize| {
                let known = self.columns.binary_search_by_key(&number, |column| column.number);
                known.ok().and_then(|place| levels.get(place)).copied().unwrap_or_default()
            };
            let codes = templates::walk(&mut reader, column.count, frames, |told| {
                match told {
                    Told::Hole { hole: Hole::Reference(other), .. } => {
                        let other = other as usize;
                        if other >= column.number {
                            return Err(malformed("a reference to a later column"));
                        }
                        level = level.max(level_of(other) + 1);
                    }
                    Told::Hole { hole: Hole::Own(own), uses, .. } => {
                        own.each_part(&mut |part| needs.part(part));
                        needs.own_holes = needs.own_holes.saturating_add(uses);
                    }
                    Told::Template { .. } | Told::Tail(_) => {}
                }
                Ok(())
            })?;
            reader.end()?;
            if level > REFERENCE_DEPTH_MAX {
                return Err(malformed("references to references to references"));
            }
            levels.push(level);
            needs.ints([&codes]);
        }
        needs.are_met_by(frames)?;
        Ok(unpacked)
    }
}
