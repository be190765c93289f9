//! Frames: the bytes that are stored beside the directory, each with its checksum; written and read in parts.
//!
//! A frame holds one part, or many small ones that share it. It is stored as it is, or compressed in chunks of 64 KiB, each by
//! itself or with the first one as its dictionary. So a part in the middle is read without what stands before it, but for the first
//! chunk.

use std::borrow::Cow;

use hashbrown::HashTable;
use zstd::zstd_safe::{CCtx, CDict, MAGIC_DICTIONARY, compress_bound};

use crate::bytes::{Reader, put};
use crate::decompressor;
use crate::error::{DecodeError, EncodeError, malformed};
use crate::hash;
use crate::limits::CHUNK_BYTES;

/// Texts below this size share a frame. HEURISTIC: a part by itself gives up what it has in common with others; on sets of few events and
/// many columns (800 events of 755) shared frames took half the space.
const SHARED_TEXTS_BYTES: usize = 64 << 10;

/// Other parts below this size share a frame. They have little in common, and a frame is read and verified whole: what fills a page of a
/// disk stands by itself, for some 30 bytes in the directory and the segment's index.
const SHARED_NUMBERS_BYTES: usize = 4 << 10;

/// Texts below this size share a frame with others of that kind alone: most are the few entries of a dictionary, which are read without the texts of other columns.
/// HEURISTIC: what they take more together is within a thousandth.
const FEW_TEXTS_BYTES: usize = 1 << 10;

/// A shared frame of texts is closed when it has this size.
const SHARED_FRAME_BYTES: usize = 1 << 20;

/// The same for what is no texts, or texts of few bytes.
const SHARED_SMALL_FRAME_BYTES: usize = 16 << 10;

/// HEURISTIC: over columns the level matters little: generated events took 4.98% of the JSON at levels 1, 2 and 3, wiki 10.1, 9.8 and 9.7%.
const LEVEL: i32 = 2;

/// HEURISTIC: of texts that repeat a better search finds more: wiki took 9.3, 9.0 and 8.8% at levels 2, 4 and 5, at 300, 250 and 220 MB/s.
const PREFIXED_LEVEL: i32 = 5;

/// How hard the encoder looks for what takes less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Effort {
    #[default]
    Full,
    /// For a group of many columns with few values each. All that is done for a column by itself costs more there than its values.
    Low,
}

/// HEURISTIC: with so many bytes of documents for a column, or fewer, the effort is low. Of 800 events with 755 columns compression took a quarter of
/// the time; at low effort they take 4% more space. Of real sets with more bytes for a column some would grow by 5%.
const LOW_EFFORT_BYTES: usize = 8 << 10;

impl Effort {
    /// That for so many columns of documents of so many bytes.
    pub(crate) fn of(bytes: usize, columns: usize) -> Effort {
        if bytes / LOW_EFFORT_BYTES < columns { Effort::Low } else { Effort::Full }
    }
}

/// Where some bytes stand: in which frame, and from where to where once it is decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
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
    /// The same, all chunks but the first with that as their dictionary: texts that repeat.
    Prefixed,
}

/// What a part holds: it shares a frame with others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// What is not to be compressed: packed numbers, random bytes.
    Dense,
    /// Numbers that compress.
    Numbers,
    /// Texts that compress.
    Texts,
    /// The same, of few bytes.
    FewTexts,
    /// Documents kept as text: as many bytes as there are columns else. HEURISTIC: they are compressed quickly, since a better search took most of the time.
    Json,
}

impl Content {
    /// A shared frame is closed when it has this size.
    fn shared_bytes(self) -> usize {
        match self {
            Content::Dense | Content::Numbers | Content::FewTexts => SHARED_SMALL_FRAME_BYTES,
            Content::Texts | Content::Json => SHARED_FRAME_BYTES,
        }
    }

    fn shares(self, bytes: &[u8]) -> bool {
        bytes.len()
            < match self {
                Content::Dense | Content::Numbers => SHARED_NUMBERS_BYTES,
                Content::Texts => SHARED_TEXTS_BYTES,
                Content::FewTexts => FEW_TEXTS_BYTES,
                Content::Json => 0,
            }
    }
}

/// A dictionary for the chunks after the first, the level of compression, and the second chunk compressed.
type Second = (Option<CDict<'static>>, i32, Vec<u8>);

/// HEURISTIC: where so many chunks or more are still to come, the better search has to make the second one smaller by a thirty-second, or the quick one does:
/// words and numbers without end took twice the time, and were not smaller.
const CHUNKS_PER_TRIAL: usize = 8;

/// HEURISTIC: texts that shrink to less than this share are compressed as quickly by the better search.
const TRIED_SHARE: usize = 4;

/// Collects parts into frames.
pub(crate) struct FrameWriter {
    drafts: Vec<(Content, Vec<u8>)>,
    /// The shared frames that are still open, by content.
    open: [Option<usize>; 4],
    compressor: CCtx<'static>,
    /// For samples alone: a compressor that is asked for little a hundred times gives its memory back, and takes it anew for the next frame.
    sampler: CCtx<'static>,
    scratch: Vec<u8>,
    effort: Effort,
    /// Memory of frames that were compressed, for those to come.
    spare: Vec<Vec<u8>>,
    /// The parts by their bytes, and the hash of those: columns whose values repeat those of another, or tell the same, share its parts.
    known: HashTable<(u64, Part)>,
    /// How many bytes all parts have together, and how many are there that serve once more, for each time.
    written: usize,
    repeated: usize,
}

/// Parts below this size are not looked for: to refer to one takes some bytes too.
const REPEATED_MIN: usize = 64;

/// So many shared frames' memory is kept from one group to the next.
const SPARE_FRAMES: usize = 4;

impl FrameWriter {
    pub(crate) fn new() -> Result<FrameWriter, EncodeError> {
        let new = || CCtx::try_create().ok_or(EncodeError::Compressor);
        Ok(FrameWriter {
            drafts: Vec::new(),
            open: [None; 4],
            compressor: new()?,
            sampler: new()?,
            scratch: Vec::new(),
            effort: Effort::Full,
            spare: Vec::new(),
            known: HashTable::new(),
            written: 0,
            repeated: 0,
        })
    }

    /// Begins a group.
    pub(crate) fn begin(&mut self, effort: Effort) {
        self.effort = effort;
    }

    /// How hard to look for what takes less.
    pub(crate) fn effort(&self) -> Effort {
        self.effort
    }

    /// The level at which texts are compressed that refer to a first chunk.
    fn prefixed_level(&self) -> i32 {
        match self.effort {
            Effort::Full => PREFIXED_LEVEL,
            Effort::Low => LEVEL,
        }
    }

    /// How many bytes a sample would take compressed: to choose between encodings.
    pub(crate) fn compressed_length(&mut self, sample: &[u8]) -> usize {
        self.scratch.clear();
        self.scratch.reserve(compress_bound(sample.len()));
        self.sampler.compress(&mut self.scratch, sample, LEVEL).unwrap_or(usize::MAX)
    }

    /// How many bytes these take compressed by themselves; they are left in `scratch`.
    fn length_at(&mut self, level: i32, bytes: &[u8]) -> usize {
        self.scratch.clear();
        self.scratch.reserve(compress_bound(bytes.len()));
        self.compressor.compress(&mut self.scratch, bytes, level).unwrap_or(usize::MAX)
    }

    /// Something beside the frames, compressed.
    pub(crate) fn compressed(&mut self, bytes: &[u8], level: i32) -> Result<&[u8], EncodeError> {
        match self.length_at(level, bytes) {
            usize::MAX => Err(EncodeError::Compressor),
            _ => Ok(&self.scratch),
        }
    }

    /// Adds a part, or finds one that has these bytes.
    pub(crate) fn add(&mut self, bytes: &[u8], content: Content) -> Part {
        if bytes.len() < REPEATED_MIN {
            return self.append(bytes, content);
        }
        let hash = hash::of_bytes(bytes);
        let known = self.known.find(hash, |(_, part)| self.bytes_of(*part) == Some(bytes)).copied();
        match known {
            Some((_, part)) if self.repeat(bytes.len()) => part,
            _ => {
                let part = self.append(bytes, content);
                if known.is_none() {
                    self.known.insert_unique(hash, (hash, part), |(hash, _)| *hash);
                }
                part
            }
        }
    }

    /// Whether parts of so many bytes may serve once more: a reader allows that parts have twice the bytes of their frames.
    pub(crate) fn repeat(&mut self, bytes: usize) -> bool {
        let may = self.repeated + bytes <= self.written;
        self.repeated += if may { bytes } else { 0 };
        may
    }

    fn bytes_of(&self, part: Part) -> Option<&[u8]> {
        let from = part.offset as usize;
        self.drafts.get(part.frame as usize)?.1.get(from..from + part.length as usize)
    }

    fn append(&mut self, bytes: &[u8], content: Content) -> Part {
        self.written += bytes.len();
        let content = match content {
            // Of few events texts have little in common but with those of other columns.
            Content::Texts if self.effort == Effort::Full && Content::FewTexts.shares(bytes) => {
                Content::FewTexts
            }
            Content::Json if Content::Texts.shares(bytes) => Content::Texts,
            other => other,
        };
        let open = self.open.get(content as usize).copied().flatten();
        let frame = match open {
            Some(frame) if content.shares(bytes) => frame,
            _ => {
                let spare = if content == Content::Dense { None } else { self.spare.pop() };
                self.drafts.push((content, spare.unwrap_or_default()));
                let frame = self.drafts.len() - 1;
                if content.shares(bytes) {
                    self.open[content as usize] = Some(frame);
                }
                frame
            }
        };
        let draft = &mut self.drafts[frame].1;
        let part = Part { frame: frame as u32, offset: draft.len() as u32, length: bytes.len() as u32 };
        draft.extend_from_slice(bytes);
        if draft.len() >= content.shared_bytes() {
            self.open.iter_mut().filter(|open| **open == Some(frame)).for_each(|open| *open = None);
        }
        part
    }

    /// Compresses what is to be, and gives what is to be stored. What is added after that belongs to the next group.
    pub(crate) fn finish(&mut self) -> Result<(Vec<FrameInfo>, Vec<Vec<u8>>), EncodeError> {
        let mut infos = Vec::with_capacity(self.drafts.len());
        let mut frames = Vec::with_capacity(self.drafts.len());
        self.open = [None; 4];
        self.known.clear();
        (self.written, self.repeated) = (0, 0);
        for (content, draft) in std::mem::take(&mut self.drafts) {
            let length = draft.len() as u32;
            let (packing, stored) = match content {
                Content::Dense => (Packing::Plain, draft),
                Content::Numbers | Content::Texts | Content::FewTexts | Content::Json => {
                    let compressed = self.compress(&draft, content)?;
                    self.keep(draft);
                    compressed
                }
            };
            let checksum = crc32fast::hash(&stored);
            infos.push(FrameInfo { length, stored: stored.len() as u32, packing, checksum });
            frames.push(stored);
        }
        Ok((infos, frames))
    }

    fn keep(&mut self, mut draft: Vec<u8>) {
        if self.spare.len() < SPARE_FRAMES && draft.capacity() <= 2 * SHARED_FRAME_BYTES {
            draft.clear();
            self.spare.push(draft);
        }
    }

    /// Compresses a frame: the lengths of the chunks as stored, then the chunks. One that does not shrink is stored as it is.
    fn compress(&mut self, draft: &[u8], content: Content) -> Result<(Packing, Vec<u8>), EncodeError> {
        let (first, rest) = draft.split_at(draft.len().min(CHUNK_BYTES));
        let mut chunks = Chunks { head: Vec::new(), body: Vec::with_capacity(draft.len() / 2) };
        if first.is_empty() {
            return Ok((Packing::Compressed, Vec::new()));
        }
        let (second, rest) = match content {
            Content::Json => (&[][..], rest),
            _ => rest.split_at(rest.len().min(CHUNK_BYTES)),
        };
        let (dictionary, level, compressed) = self.second(first, second, rest.len() / CHUNK_BYTES)?;
        let length = self.length_at(level, first);
        chunks.push(first, length, &self.scratch)?;
        if !second.is_empty() {
            chunks.push(second, compressed.len(), &compressed)?;
        }
        for chunk in rest.chunks(CHUNK_BYTES) {
            let length = match &dictionary {
                Some(dictionary) => self.length_after(chunk, dictionary),
                None => self.length_at(LEVEL, chunk),
            };
            chunks.push(chunk, length, &self.scratch)?;
        }
        let packing = if dictionary.is_some() { Packing::Prefixed } else { Packing::Compressed };
        Ok((packing, chunks.finish()))
    }

    /// The first chunk as a dictionary for the others, if that makes the second one smaller by a sixteenth; at which level; and the second one
    /// compressed. HEURISTIC: names and addresses took a tenth less, texts of kilobytes that repeat an eighth of what they took.
    fn second(&mut self, first: &[u8], second: &[u8], rest: usize) -> Result<Second, EncodeError> {
        if second.is_empty() {
            return Ok((None, LEVEL, Vec::new()));
        }
        if self.length_at(LEVEL, second) == usize::MAX {
            return Err(EncodeError::Compressor);
        }
        let alone = self.scratch.clone();
        // What begins so would be taken for a dictionary that was trained.
        if first.starts_with(&MAGIC_DICTIONARY.to_le_bytes()) {
            return Ok((None, LEVEL, alone));
        }
        let mut level = self.prefixed_level();
        let (mut dictionary, mut after) = self.after(first, second, level);
        if level > LEVEL && rest >= CHUNKS_PER_TRIAL && after.len() > second.len() / TRIED_SHARE {
            let (quick, quick_after) = self.after(first, second, LEVEL);
            if after.len() as u64 * 32 > quick_after.len() as u64 * 31 {
                (dictionary, after, level) = (quick, quick_after, LEVEL);
            }
        }
        Ok(match after.len() as u64 * 16 < alone.len() as u64 * 15 {
            true => (dictionary, level, after),
            false => (None, LEVEL, alone),
        })
    }

    /// A first chunk as a dictionary at a level, and the second one compressed with it.
    fn after(&mut self, first: &[u8], second: &[u8], level: i32) -> (Option<CDict<'static>>, Vec<u8>) {
        let dictionary = CDict::try_create(first, level);
        let length =
            dictionary.as_ref().map_or(usize::MAX, |dictionary| self.length_after(second, dictionary));
        (dictionary, if length == usize::MAX { second.to_vec() } else { self.scratch.clone() })
    }

    /// How many bytes a chunk takes with a dictionary; they are left in `scratch`.
    fn length_after(&mut self, chunk: &[u8], dictionary: &CDict<'_>) -> usize {
        self.scratch.clear();
        self.scratch.reserve(compress_bound(chunk.len()));
        self.compressor.compress_using_cdict(&mut self.scratch, chunk, dictionary).unwrap_or(usize::MAX)
    }
}

/// The chunks of a frame while it is written.
struct Chunks {
    head: Vec<u8>,
    body: Vec<u8>,
}

impl Chunks {
    /// Adds a chunk that takes `length` bytes, those in `scratch`.
    fn push(&mut self, chunk: &[u8], length: usize, scratch: &[u8]) -> Result<(), EncodeError> {
        if length == usize::MAX {
            return Err(EncodeError::Compressor);
        }
        let stored = if length < chunk.len() { scratch } else { chunk };
        put(&mut self.head, stored.len() as u64);
        self.body.extend_from_slice(stored);
        Ok(())
    }

    fn finish(mut self) -> Vec<u8> {
        self.head.append(&mut self.body);
        self.head
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

/// So many chunks of a frame are kept: all of a shared one. The columns of one document stand in many chunks, in another order than it has them.
const KEPT_CHUNKS: usize = SHARED_FRAME_BYTES / CHUNK_BYTES;

/// Reads parts, verifies each frame at its first use, and keeps the chunks that were decompressed last of each.
pub(crate) struct FrameReader<'f> {
    infos: &'f [FrameInfo],
    source: &'f dyn Frames,
    opened: Vec<Option<Opened<'f>>>,
    /// Bytes decompressed so far.
    decompressed: u64,
    /// And at most.
    decompressed_max: u64,
}

/// A chunk is decompressed again where others were needed in between. So often as this for all bytes of the frames, and [`DECOMPRESSED_FREE`] beside
/// that, no reader of what an encoder wrote comes to; tiny parts scattered over many chunks would take 64 KiB for each.
const DECOMPRESSED_PER_BYTE: u64 = 16;

/// See [`DECOMPRESSED_PER_BYTE`].
const DECOMPRESSED_FREE: u64 = 64 << 20;

/// A frame whose checksum was right.
struct Opened<'f> {
    stored: &'f [u8],
    /// Where each chunk stands; empty where nothing is compressed.
    chunks: Vec<(usize, usize)>,
    /// The first chunk, where it is the dictionary of the others, once it is needed.
    first: Option<Vec<u8>>,
    /// The chunks decompressed last, the newest at the end.
    held: Vec<(usize, Vec<u8>)>,
}

impl<'f> FrameReader<'f> {
    pub(crate) fn new(infos: &'f [FrameInfo], source: &'f dyn Frames) -> FrameReader<'f> {
        let opened = infos.iter().map(|_| None).collect();
        let length: u64 = infos.iter().map(|info| u64::from(info.length)).sum();
        let decompressed_max = DECOMPRESSED_PER_BYTE * length + DECOMPRESSED_FREE;
        FrameReader { infos, source, opened, decompressed: 0, decompressed_max }
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
        if info.packing == Packing::Plain {
            let stored = opened.stored.get(from..to);
            return stored.map(Cow::Borrowed).ok_or(malformed("a part outside its frame"));
        }
        let mut bytes = Vec::with_capacity(to - from);
        while from + bytes.len() < to {
            let at = from + bytes.len();
            let (chunk, start) = (at / CHUNK_BYTES, at % CHUNK_BYTES);
            let place = match opened.held.iter().rposition(|(held, _)| *held == chunk) {
                Some(place) => place,
                None if self.decompressed > self.decompressed_max => {
                    return Err(malformed("parts so scattered that its frames are read again and again"));
                }
                None => {
                    self.decompressed += opened.hold(&info, chunk)?;
                    opened.held.len() - 1
                }
            };
            let held = opened.held.get(place).map_or(&[][..], |(_, bytes)| bytes);
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
        let chunks = match info.packing {
            Packing::Compressed | Packing::Prefixed => chunks(stored, info.length as usize)?,
            Packing::Plain if info.length == info.stored => Vec::new(),
            Packing::Plain => return Err(malformed("a frame's two lengths differ")),
        };
        *place = Some(Opened { stored, chunks, first: None, held: Vec::new() });
        Ok(())
    }
}

/// Where the chunks of a compressed frame stand.
fn chunks(stored: &[u8], length: usize) -> Result<Vec<(usize, usize)>, DecodeError> {
    let mut reader = Reader(stored);
    let count = length.div_ceil(CHUNK_BYTES);
    if count > stored.len() {
        return Err(malformed("a frame too short for its chunks"));
    }
    let lengths = (0..count).map(|_| reader.at_most(CHUNK_BYTES, "a chunk that is too long"));
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

impl Opened<'_> {
    /// Decompresses a chunk, and the first one before it if that is its dictionary; how many bytes that made.
    fn hold(&mut self, info: &FrameInfo, chunk: usize) -> Result<u64, DecodeError> {
        let length =
            |chunk: usize| (info.length as usize).saturating_sub(chunk * CHUNK_BYTES).min(CHUNK_BYTES);
        let mut made = length(chunk) as u64;
        let mut buffer = match self.held.len() {
            KEPT_CHUNKS.. => self.held.remove(0).1,
            _ => Vec::new(),
        };
        let mut dictionary = &[][..];
        if info.packing == Packing::Prefixed {
            let first = match &mut self.first {
                Some(first) => first,
                none => {
                    let mut first = Vec::new();
                    decompress(self.stored, &self.chunks, 0, length(0), &[], &mut first)?;
                    made += if chunk == 0 { 0 } else { first.len() as u64 };
                    none.insert(first)
                }
            };
            if chunk == 0 {
                buffer.clear();
                buffer.extend_from_slice(first);
                self.held.push((chunk, buffer));
                return Ok(made);
            }
            dictionary = first;
        }
        decompress(self.stored, &self.chunks, chunk, length(chunk), dictionary, &mut buffer)?;
        self.held.push((chunk, buffer));
        Ok(made)
    }
}

/// Decompresses a chunk into a buffer.
fn decompress(
    stored: &[u8],
    chunks: &[(usize, usize)],
    chunk: usize,
    length: usize,
    dictionary: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let (from, to) = *chunks.get(chunk).ok_or(malformed("a chunk that is not there"))?;
    let stored = stored.get(from..to).ok_or(malformed("a chunk that is not there"))?;
    if stored.len() == length {
        buffer.clear();
        buffer.extend_from_slice(stored);
        return Ok(());
    }
    decompressor::decompress(stored, dictionary, length, buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part of so many bytes that repeat at a distance of 70,000.
    fn repeating(length: usize) -> Vec<u8> {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let once = |n: u64| (n + 1).wrapping_mul(ODD) ^ ((n + 1).wrapping_mul(ODD) >> 29);
        (0..length as u64).map(|n| (once(n % 70_000).wrapping_mul(ODD) >> 58) as u8).collect()
    }

    fn round_trip(bytes: &[u8]) -> FrameInfo {
        let mut writer = FrameWriter::new().unwrap();
        let part = writer.add(bytes, Content::Texts);
        let (infos, frames) = writer.finish().unwrap();
        let whole = FrameReader::new(&infos, &frames).part(part).unwrap().into_owned();
        assert_eq!(whole, bytes);
        let (from, to) = (bytes.len() - 10, bytes.len());
        let mut reader = FrameReader::new(&infos, &frames);
        assert_eq!(*reader.range(part, from, to).unwrap(), bytes[from..]);
        assert!(reader.decompressed() <= 2 * CHUNK_BYTES as u64);
        infos[0]
    }

    #[test]
    fn the_effort_is_low_where_columns_have_few_values() {
        let low: Vec<bool> = [(3_000_000, 755), (2_800_000, 190), (100, 1), (100, 0), (8_192, 1), (8_191, 1)]
            .map(|(bytes, columns)| Effort::of(bytes, columns) == Effort::Low)
            .to_vec();
        assert_eq!(low, [true, false, true, false, false, true]);
    }

    #[test]
    fn texts_of_few_bytes_are_read_without_those_of_other_columns() {
        let mut writer = FrameWriter::new().unwrap();
        for (effort, are_apart) in [(Effort::Full, true), (Effort::Low, false)] {
            writer.begin(effort);
            let long = writer.add(&repeating(SHARED_TEXTS_BYTES - 1), Content::Texts);
            let few = writer.add(&repeating(FEW_TEXTS_BYTES - 1), Content::Texts);
            let others = writer.add(&repeating(FEW_TEXTS_BYTES - 2), Content::Texts);
            assert_eq!((few.frame != long.frame, few.frame), (are_apart, others.frame));
            writer.finish().unwrap();
        }
    }

    #[test]
    fn texts_that_repeat_refer_to_the_first_chunk() {
        let info = round_trip(&repeating(1 << 20));
        assert_eq!(info.packing, Packing::Prefixed);
        assert!(info.stored < 200_000, "{info:?}");
        assert_eq!(round_trip(&repeating(60_000)).packing, Packing::Compressed);
    }

    #[test]
    fn words_without_end_take_the_quick_search() {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed =
            |n: u64| ((n + 1).wrapping_mul(ODD) ^ ((n + 1).wrapping_mul(ODD) >> 29)).wrapping_mul(ODD) >> 20;
        let letter = |n: u64| char::from(b'a' + (n % 26) as u8);
        let name = |n: u64| (0..3 + n % 8).map(|at| letter(mixed(8 * n + at))).collect::<String>();
        let word = |n: u64| format!("{} {} ", name(mixed(n) % 3_000), mixed(n) % 10u64.pow(1 + n as u32 % 9));
        let words: Vec<u8> = (0..20_000).flat_map(|n| word(n).into_bytes()).collect();
        let mut writer = FrameWriter::new().unwrap();
        let (first, rest) = words.split_at(CHUNK_BYTES);
        let (second, _) = rest.split_at(CHUNK_BYTES);
        let (_, few, _) = writer.second(first, second, CHUNKS_PER_TRIAL - 1).unwrap();
        let (_, many, _) = writer.second(first, second, CHUNKS_PER_TRIAL).unwrap();
        assert_eq!((few, many), (PREFIXED_LEVEL, LEVEL));
    }

    #[test]
    fn a_first_chunk_that_looks_like_a_trained_dictionary_is_none() {
        let mut bytes = repeating(1 << 20);
        bytes[..4].copy_from_slice(&MAGIC_DICTIONARY.to_le_bytes());
        assert_eq!(round_trip(&bytes).packing, Packing::Compressed);
    }

    #[test]
    fn tiny_parts_scattered_over_more_chunks_than_are_kept_are_not_read_for_ever() {
        let mut writer = FrameWriter::new().unwrap();
        let whole = writer.add(&repeating(CHUNK_BYTES * (KEPT_CHUNKS + 1)), Content::Texts);
        let (infos, frames) = writer.finish().unwrap();
        let mut reader = FrameReader::new(&infos, &frames);
        let most = DECOMPRESSED_PER_BYTE as usize * whole.length as usize + DECOMPRESSED_FREE as usize;
        let reads = (0..2 * most / CHUNK_BYTES).position(|read| {
            let at = read % (KEPT_CHUNKS + 1) * CHUNK_BYTES;
            reader.range(whole, at, at + 1).is_err()
        });
        assert!(reads.is_some_and(|reads| reads <= most / CHUNK_BYTES + 1), "{reads:?}");
        assert!(reader.decompressed() <= (most + 2 * CHUNK_BYTES) as u64);
    }

    #[test]
    fn an_empty_frame_has_no_chunk() {
        let mut writer = FrameWriter::new().unwrap();
        let part = writer.add(&[], Content::Texts);
        let (infos, frames) = writer.finish().unwrap();
        assert_eq!(infos[0].stored, 0);
        assert!(FrameReader::new(&infos, &frames).part(part).unwrap().is_empty());
    }
}
