//! Texts as they are: lengths, and bytes one after another, compressed where that pays.

use std::borrow::Cow;

use crate::bytes::Reader;
use crate::encoding::Window;
use crate::encoding::ints::Ints;
use crate::error::{DecodeError, malformed};
use crate::frame::{Content, Effort, FrameInfo, FrameReader, FrameWriter, Part};
use crate::texts::TextList;

/// Compression must save a tenth of texts, else they are stored as they are. HEURISTIC: random identifiers in hex shrink by half,
/// in base 64 by a quarter; below a tenth it was noise.
const COMPRESSED_SHARE: (usize, usize) = (9, 10);

/// Compression is tried on so many bytes at most.
const SAMPLE_BYTES: usize = 4 << 10;

/// Texts, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strings {
    pub(crate) lengths: Ints,
    pub(crate) bytes: Part,
}

impl Strings {
    pub(crate) fn encode(texts: &TextList, content: Content, frames: &mut FrameWriter) -> Strings {
        let lengths: Vec<i64> = texts.lengths().map(|length| length as i64).collect();
        let bytes = texts.bytes();
        let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
        let limit = sample.len() * COMPRESSED_SHARE.0 / COMPRESSED_SHARE.1;
        // Short texts have little in common with themselves, but may with those that share their frame.
        let pays = sample.len() < SAMPLE_BYTES
            || frames.effort() == Effort::Low
            || frames.compressed_length(sample) < limit;
        let content = if pays { content } else { Content::Dense };
        Strings { lengths: Ints::encode(&lengths, frames), bytes: frames.add(bytes, content) }
    }

    /// The texts of a window: decodes all lengths, and of the bytes the chunks that the texts lie in.
    pub(crate) fn decode<'f>(
        &self,
        window: Window,
        frames: &mut FrameReader<'f>,
    ) -> Result<Texts<'f>, DecodeError> {
        let mut ends = self.ends(window.count, frames)?;
        ends.truncate(window.to);
        let start = window.from.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
        let end = ends.last().copied().unwrap_or(0).max(start);
        ends.drain(..window.from);
        ends.iter_mut().for_each(|end| *end -= start);
        Ok(Texts { ends, bytes: frames.range(self.bytes, start as usize, end as usize)? })
    }

    /// Some texts, which may lie far apart.
    pub(crate) fn some(
        &self,
        count: usize,
        wanted: &[u32],
        frames: &mut FrameReader<'_>,
    ) -> Result<Texts<'static>, DecodeError> {
        let ends = self.ends(count, frames)?;
        let mut texts = Vec::with_capacity(wanted.len());
        for index in wanted {
            let index = *index as usize;
            let end = *ends.get(index).ok_or(malformed("a code that stands for nothing"))?;
            let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
            texts.push(frames.range(self.bytes, start as usize, end as usize)?);
        }
        Ok(Texts::of(&texts))
    }

    /// Where each text ends.
    fn ends(&self, count: usize, frames: &mut FrameReader<'_>) -> Result<Vec<u32>, DecodeError> {
        let lengths = self.lengths.decode(Window::whole(count), frames)?;
        let total = i64::from(self.bytes.length);
        let mut end = 0i64;
        let mut ends = Vec::with_capacity(count);
        for length in lengths {
            if length < 0 || length > total - end {
                return Err(malformed("texts that are longer than their bytes"));
            }
            end += length;
            ends.push(end as u32);
        }
        if end != total {
            return Err(malformed("texts that are shorter than their bytes"));
        }
        Ok(ends)
    }

    /// The parts that hold them.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        self.lengths.part().into_iter().chain([self.bytes])
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.lengths.write(out);
        self.bytes.write(out);
    }

    pub(crate) fn read(reader: &mut Reader<'_>, frames: &[FrameInfo]) -> Result<Strings, DecodeError> {
        Ok(Strings { lengths: Ints::read(reader, frames)?, bytes: Part::read(reader, frames)? })
    }
}

/// Texts that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts<'f> {
    ends: Vec<u32>,
    bytes: Cow<'f, [u8]>,
}

impl<'f> Texts<'f> {
    /// Texts of one length, one after another; bytes too many are left.
    pub(crate) fn of_length(length: usize, count: usize, bytes: Vec<u8>) -> Texts<'static> {
        Texts::of_parts((1..=count).map(|nth| (nth * length) as u32).collect(), bytes)
    }

    /// Where each ends, and their bytes.
    pub fn into_parts(self) -> (Vec<u32>, Cow<'f, [u8]>) {
        (self.ends, self.bytes)
    }

    /// Texts that were put together.
    pub(crate) fn of(texts: &[impl AsRef<[u8]>]) -> Texts<'static> {
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(texts.len());
        for text in texts {
            bytes.extend_from_slice(text.as_ref());
            ends.push(bytes.len() as u32);
        }
        Texts { ends, bytes: Cow::Owned(bytes) }
    }

    /// Texts one after another, and where each ends.
    pub(crate) fn of_parts(ends: Vec<u32>, bytes: Vec<u8>) -> Texts<'static> {
        Texts { ends, bytes: Cow::Owned(bytes) }
    }

    /// All of them, one after another with nothing between.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where each ends in the bytes.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A text by its index.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { *self.ends.get(index - 1)? };
        self.bytes.get(start as usize..end as usize)
    }

    /// The texts in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index).unwrap_or_default())
    }
}
