//! Frames: the bytes that are stored beside the directory, each with its checksum; written and read in parts.
//!
//! A frame holds one part, or many small ones that share it. It is stored as it is, or compressed in chunks of 64 KiB, each by
//! itself, so that a part in the middle is read without what stands before it.

use std::borrow::Cow;

use zstd::bulk::{Compressor, Decompressor};

use crate::bytes::{Reader, put};
use crate::error::{DecodeError, EncodeError, malformed};
use crate::limits::{CHUNK_BYTES, LONG_CHUNK_BYTES};

/// Parts below this size share a frame. HEURISTIC: a frame for itself costs some 20 bytes in directory and headers, and gives up
/// what it has in common with others; on sets of few events and many columns (800 events of 755) shared frames took half the space.
const SHARED_PART_BYTES: usize = 64 << 10;

/// A shared frame is closed when it has this size.
const SHARED_FRAME_BYTES: usize = 1 << 20;

/// HEURISTIC: over columns the level matters little: generated events took 4.98% of the JSON at levels 1, 2 and 3, wiki 10.1, 9.8 and 9.7%.
const LEVEL: i32 = 2;

/// Where some bytes stand: in which frame, and from where to where once it is decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Part {
    pub(crate) frame: u32,
    pub(crate) offset: u32,
    pub(crate) length: u32,
}

impl Part {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, u64::from(self.frame));
        put(out, u64::from(self.offset));
        put(out, u64::from(self.length));
    }

    pub(crate) fn read(reader: &mut Reader<'_>, frames: &[FrameInfo]) -> Result<Part, DecodeError> {
        let frame = reader.at_most(frames.len().saturating_sub(1), "a part of a frame that is not there")?;
        let length = frames.get(frame).map_or(0, |frame| frame.length as usize);
        let offset = reader.at_most(length, "a part outside its frame")?;
        let size = reader.at_most(length - offset, "a part outside its frame")?;
        Ok(Part { frame: frame as u32, offset: offset as u32, length: size as u32 })
    }
}

/// What the directory says of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameInfo {
    /// Bytes once decompressed.
    pub(crate) length: u32,
    /// Bytes as stored.
    pub(crate) stored: u32,
    pub(crate) packing: Packing,
    /// CRC-32 of the stored bytes.
    pub(crate) checksum: u32,
}

/// How the bytes of a frame are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// As they are: packed numbers, random bytes.
    Plain,
    /// Compressed, in chunks of [`CHUNK_BYTES`].
    Compressed,
    /// Compressed, in chunks of [`LONG_CHUNK_BYTES`]: large texts that repeat.
    Long,
}

impl Packing {
    /// How many bytes are compressed together; nothing where none are.
    fn chunk_bytes(self) -> Option<usize> {
        match self {
            Packing::Plain => None,
            Packing::Compressed => Some(CHUNK_BYTES),
            Packing::Long => Some(LONG_CHUNK_BYTES),
        }
    }
}

/// Collects parts into frames.
pub(crate) struct FrameWriter {
    drafts: Vec<(Packing, Vec<u8>)>,
    /// The shared frames that are still open, by packing.
    open: [Option<usize>; 2],
    compressor: Compressor<'static>,
    scratch: Vec<u8>,
}

impl FrameWriter {
    pub(crate) fn new() -> Result<FrameWriter, EncodeError> {
        let compressor = Compressor::new(LEVEL).map_err(|_| EncodeError::Compressor)?;
        Ok(FrameWriter { drafts: Vec::new(), open: [None; 2], compressor, scratch: Vec::new() })
    }

    /// How many bytes these would take compressed by themselves. Used to choose between encodings.
    pub(crate) fn compressed_length(&mut self, bytes: &[u8]) -> usize {
        self.scratch.clear();
        self.scratch.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
        self.compressor.compress_to_buffer(bytes, &mut self.scratch).unwrap_or(usize::MAX)
    }

    /// Adds a part.
    pub(crate) fn add(&mut self, bytes: &[u8], packing: Packing) -> Part {
        let open = &mut self.open[usize::from(packing == Packing::Compressed)];
        let frame = match *open {
            Some(frame) if bytes.len() < SHARED_PART_BYTES => frame,
            _ => {
                self.drafts.push((packing, Vec::new()));
                let frame = self.drafts.len() - 1;
                if bytes.len() < SHARED_PART_BYTES {
                    *open = Some(frame);
                }
                frame
            }
        };
        let draft = &mut self.drafts[frame].1;
        let part = Part { frame: frame as u32, offset: draft.len() as u32, length: bytes.len() as u32 };
        draft.extend_from_slice(bytes);
        if draft.len() >= SHARED_FRAME_BYTES && *open == Some(frame) {
            *open = None;
        }
        part
    }

    /// Compresses what is to be, and gives what is to be stored. What is added after that belongs to the next group.
    pub(crate) fn finish(&mut self) -> Result<(Vec<FrameInfo>, Vec<Vec<u8>>), EncodeError> {
        let mut infos = Vec::with_capacity(self.drafts.len());
        let mut frames = Vec::with_capacity(self.drafts.len());
        self.open = [None; 2];
        for (packing, draft) in std::mem::take(&mut self.drafts) {
            let length = draft.len() as u32;
            let (packing, stored) = match packing {
                Packing::Plain => (packing, draft),
                _ => self.compress(&draft)?,
            };
            let checksum = crc32fast::hash(&stored);
            infos.push(FrameInfo { length, stored: stored.len() as u32, packing, checksum });
            frames.push(stored);
        }
        Ok((infos, frames))
    }

    /// Compresses a frame in small chunks; in long ones where that takes a quarter less. HEURISTIC: texts of kilobytes that repeat, such
    /// as scripts, took a fifth then (win_opth: 0.9% of the JSON, not 4.1%), others hardly less; and to read one value, a long chunk is
    /// decompressed.
    fn compress(&mut self, draft: &[u8]) -> Result<(Packing, Vec<u8>), EncodeError> {
        let stored = self.compress_chunks(draft, CHUNK_BYTES)?;
        if draft.len() >= 4 * CHUNK_BYTES {
            let probe = &draft[..draft.len().min(LONG_CHUNK_BYTES)];
            let long = self.compressed_length(probe);
            let short = stored.len() as u64 * probe.len() as u64 / draft.len() as u64;
            if (long as u64) * 4 < short * 3 {
                return Ok((Packing::Long, self.compress_chunks(draft, LONG_CHUNK_BYTES)?));
            }
        }
        Ok((Packing::Compressed, stored))
    }

    /// The lengths of the chunks as stored, then the chunks. One that does not shrink is stored as it is.
    fn compress_chunks(&mut self, draft: &[u8], chunk_bytes: usize) -> Result<Vec<u8>, EncodeError> {
        let mut head = Vec::new();
        let mut body = Vec::with_capacity(draft.len() / 2);
        for chunk in draft.chunks(chunk_bytes) {
            let length = self.compressed_length(chunk);
            if length == usize::MAX {
                return Err(EncodeError::Compressor);
            }
            let stored = if length < chunk.len() { &self.scratch[..] } else { chunk };
            put(&mut head, stored.len() as u64);
            body.extend_from_slice(stored);
        }
        head.append(&mut body);
        Ok(head)
    }
}

/// Where frames come from.
///
/// A list of them is one; a store implements this for the parts of its files.
pub trait Frames {
    /// The stored bytes of a frame; nothing where there is no such frame.
    fn frame(&self, frame: u32) -> Option<&[u8]>;
}

impl Frames for Vec<Vec<u8>> {
    fn frame(&self, frame: u32) -> Option<&[u8]> {
        self.get(frame as usize).map(Vec::as_slice)
    }
}

/// Reads parts, verifies each frame at its first use, and keeps the chunk that was decompressed last of each.
pub(crate) struct FrameReader<'f> {
    infos: &'f [FrameInfo],
    source: &'f dyn Frames,
    opened: Vec<Option<Opened<'f>>>,
    decompressor: Option<Decompressor<'static>>,
    /// Bytes decompressed so far.
    decompressed: u64,
}

/// A frame whose checksum was right.
struct Opened<'f> {
    stored: &'f [u8],
    /// Where each chunk stands; empty where nothing is compressed.
    chunks: Vec<(usize, usize)>,
    /// The chunk decompressed last.
    held: Option<(usize, Vec<u8>)>,
}

impl<'f> FrameReader<'f> {
    pub(crate) fn new(infos: &'f [FrameInfo], source: &'f dyn Frames) -> FrameReader<'f> {
        let opened = infos.iter().map(|_| None).collect();
        FrameReader { infos, source, opened, decompressor: None, decompressed: 0 }
    }

    /// How many bytes were decompressed so far.
    pub(crate) fn decompressed(&self) -> u64 {
        self.decompressed
    }

    /// A whole part.
    pub(crate) fn part(&mut self, part: Part) -> Result<Cow<'f, [u8]>, DecodeError> {
        self.range(part, 0, part.length as usize)
    }

    /// The bytes of a part from `from` on up to `to`. Decompresses the chunks that they lie in.
    pub(crate) fn range(&mut self, part: Part, from: usize, to: usize) -> Result<Cow<'f, [u8]>, DecodeError> {
        if from > to || to > part.length as usize {
            return Err(malformed("a range outside its part"));
        }
        self.open(part.frame)?;
        let (from, to) = (part.offset as usize + from, part.offset as usize + to);
        let info = *self.infos.get(part.frame as usize).ok_or(malformed("no such frame"))?;
        let opened = self.opened.get_mut(part.frame as usize).and_then(Option::as_mut);
        let opened = opened.ok_or(malformed("no such frame"))?;
        let Some(chunk_bytes) = info.packing.chunk_bytes() else {
            let stored = opened.stored.get(from..to);
            return stored.map(Cow::Borrowed).ok_or(malformed("a part outside its frame"));
        };
        let mut bytes = Vec::with_capacity(to - from);
        while from + bytes.len() < to {
            let at = from + bytes.len();
            let (chunk, start) = (at / chunk_bytes, at % chunk_bytes);
            let length = (info.length as usize - chunk * chunk_bytes).min(chunk_bytes);
            if opened.held.as_ref().is_none_or(|(held, _)| *held != chunk) {
                let buffer = opened.held.take().map_or_else(Vec::new, |(_, buffer)| buffer);
                let buffer = decompress(&mut self.decompressor, opened, chunk, length, buffer)?;
                self.decompressed += length as u64;
                opened.held = Some((chunk, buffer));
            }
            let held = opened.held.as_ref().map_or(&[][..], |(_, bytes)| bytes);
            let end = held.len().min(start + to - at);
            bytes.extend_from_slice(held.get(start..end).ok_or(malformed("a part outside its frame"))?);
        }
        Ok(Cow::Owned(bytes))
    }

    fn open(&mut self, frame: u32) -> Result<(), DecodeError> {
        let index = frame as usize;
        let info = *self.infos.get(index).ok_or(malformed("no such frame"))?;
        let place = self.opened.get_mut(index).ok_or(malformed("no such frame"))?;
        if place.is_some() {
            return Ok(());
        }
        let stored = self.source.frame(frame).ok_or(DecodeError::MissingFrame { frame })?;
        if stored.len() != info.stored as usize || crc32fast::hash(stored) != info.checksum {
            return Err(DecodeError::FrameChecksum { frame });
        }
        let chunks = match info.packing.chunk_bytes() {
            Some(chunk_bytes) => chunks(stored, info.length as usize, chunk_bytes)?,
            None if info.length == info.stored => Vec::new(),
            None => return Err(malformed("a frame's two lengths differ")),
        };
        *place = Some(Opened { stored, chunks, held: None });
        Ok(())
    }
}

/// Where the chunks of a compressed frame stand.
fn chunks(stored: &[u8], length: usize, chunk_bytes: usize) -> Result<Vec<(usize, usize)>, DecodeError> {
    let mut reader = Reader(stored);
    let count = length.div_ceil(chunk_bytes);
    if count > stored.len() {
        return Err(malformed("a frame too short for its chunks"));
    }
    let lengths = (0..count).map(|_| reader.at_most(chunk_bytes, "a chunk that is too long"));
    let lengths = lengths.collect::<Result<Vec<usize>, DecodeError>>()?;
    let mut at = stored.len() - reader.0.len();
    let mut places = Vec::with_capacity(count);
    for length in lengths {
        reader.take(length)?;
        places.push((at, at + length));
        at += length;
    }
    reader.end()?;
    Ok(places)
}

fn decompress(
    decompressor: &mut Option<Decompressor<'static>>,
    opened: &Opened<'_>,
    chunk: usize,
    length: usize,
    mut buffer: Vec<u8>,
) -> Result<Vec<u8>, DecodeError> {
    let (from, to) = *opened.chunks.get(chunk).ok_or(malformed("a chunk that is not there"))?;
    let stored = opened.stored.get(from..to).ok_or(malformed("a chunk that is not there"))?;
    buffer.clear();
    if stored.len() == length {
        buffer.extend_from_slice(stored);
        return Ok(buffer);
    }
    let decompressor = match decompressor {
        Some(decompressor) => decompressor,
        None => {
            decompressor.insert(Decompressor::new().map_err(|_| malformed("no memory to decompress with"))?)
        }
    };
    buffer.reserve_exact(length);
    let done = decompressor.decompress_to_buffer(stored, &mut buffer);
    if done.ok() != Some(length) {
        return Err(malformed("a chunk that does not decompress"));
    }
    Ok(buffer)
}
