//! A dictionary: the distinct texts in the order of their first coming, and for each value a code.

use crate::bytes::{Reader, put};
use crate::collected::Distinct;
use crate::encoding::Window;
use crate::encoding::ints::Ints;
use crate::encoding::strings::{Strings, Texts};
use crate::error::DecodeError;
use crate::frame::{Content, FrameInfo, FrameReader, FrameWriter};

/// Distinct texts, and a code for each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dictionary {
    pub(crate) size: usize,
    pub(crate) entries: Strings,
    pub(crate) codes: Ints,
}

impl Dictionary {
    pub(crate) fn encode(distinct: &Distinct<'_>, frames: &mut FrameWriter) -> Dictionary {
        Dictionary {
            size: distinct.entries.len(),
            entries: Strings::encode(distinct.entries, Content::Texts, frames),
            codes: Ints::encode(&distinct.codes, frames),
        }
    }

    /// The values of a window; if it is not the whole column, only the entries that they need.
    pub(crate) fn decode<'f>(
        &self,
        window: Window,
        places: Option<&[u32]>,
        frames: &mut FrameReader<'f>,
    ) -> Result<Coded<'f>, DecodeError> {
        let mut codes = codes(&self.codes, window, places, self.size, frames)?;
        if window == Window::whole(window.count) {
            return Ok(Coded { entries: self.entries.decode(Window::whole(self.size), frames)?, codes });
        }
        let mut wanted = codes.clone();
        wanted.sort_unstable();
        wanted.dedup();
        for code in &mut codes {
            *code = wanted.partition_point(|other| *other < *code) as u32;
        }
        Ok(Coded { entries: self.entries.some(self.size, &wanted, frames)?, codes })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, self.size as u64);
        self.entries.write(out);
        self.codes.write(out);
    }

    pub(crate) fn read(
        reader: &mut Reader<'_>,
        count: usize,
        frames: &[FrameInfo],
    ) -> Result<Dictionary, DecodeError> {
        let size = reader.at_most(count, "a dictionary of more entries than values")?;
        Ok(Dictionary { size, entries: Strings::read(reader, frames)?, codes: Ints::read(reader, frames)? })
    }
}

/// Codes below a size.
pub(crate) fn codes(
    ints: &Ints,
    window: Window,
    places: Option<&[u32]>,
    size: usize,
    frames: &mut FrameReader<'_>,
) -> Result<Vec<u32>, DecodeError> {
    ints.codes(window, places, size, frames)
}

/// A dictionary that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coded<'f> {
    /// The distinct values.
    pub entries: Texts<'f>,
    /// For each value the index of its text among the entries.
    pub codes: Vec<u32>,
}

impl Coded<'_> {
    /// A value by its index.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.entries.get(*self.codes.get(index)? as usize)
    }

    /// Whether each value passes a filter, which is asked once for each entry.
    pub fn filter(&self, mut passes: impl FnMut(&[u8]) -> bool) -> Vec<bool> {
        let by_code: Vec<bool> = self.entries.iter().map(&mut passes).collect();
        self.codes.iter().map(|code| by_code.get(*code as usize).copied().unwrap_or_default()).collect()
    }
}
