//! The index of a segment: its blocks, and the named parts that they consist of.

use std::ops::Range;

use super::fields::{Fields, Key, encode_key, part};
use super::trailer::{Trailer, V1_BLOCK_BYTES};

/// Bytes of a part's entry.
const PART_BYTES: usize = 20;
/// Bytes of a block's entry, without its parts.
const BLOCK_BYTES: usize = 44;

/// Where an index is damaged its parts are together at most so many times as long as the file.
const READ_MAX: u64 = 4;

/// A stretch of the file with a checksum of its own. Kept small: a store has several of them for each megabyte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    offset: [u8; 8],
    length: u32,
    /// Checksum of its bytes.
    pub checksum: u32,
    /// Its name's place in [`Index::names`].
    pub name: u32,
}

impl Part {
    /// A part of so many bytes at an offset of the file.
    pub fn new(offset: u64, length: u32, checksum: u32, name: u32) -> Part {
        Part { offset: offset.to_le_bytes(), length, checksum, name }
    }

    /// Where in the file its bytes lie.
    pub fn range(&self) -> Range<u64> {
        let start = u64::from_le_bytes(self.offset);
        start..start.saturating_add(u64::from(self.length))
    }

    /// How many bytes.
    pub fn length(&self) -> u32 {
        self.length
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset);
        for field in [self.length, self.checksum, self.name] {
            out.extend_from_slice(&field.to_le_bytes());
        }
    }

    fn decode(at: &mut Fields<'_>) -> Option<Part> {
        Some(Part { offset: at.take()?, length: at.u32()?, checksum: at.u32()?, name: at.u32()? })
    }
}

/// A block as the index describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEntry {
    /// Its first event.
    pub first: Key,
    /// Its last event.
    pub last: Key,
    /// How many events, at least one.
    pub events: u32,
    /// Bytes of its documents, line feeds included.
    pub document_bytes: u32,
    /// Its first part's place in [`Index::parts`], and how many there are.
    pub parts: (u32, u32),
}

/// What a segment consists of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// The names that parts have. What is in a part is nobody's business here.
    pub names: Vec<String>,
    /// The parts that belong to the segment as a whole come first, then those of the blocks in their order.
    pub parts: Vec<Part>,
    /// How many parts belong to the segment as a whole.
    pub own_parts: u32,
    /// The blocks in order of their keys.
    pub blocks: Vec<BlockEntry>,
}

impl Index {
    /// The place of a name, which is added if it is new.
    pub fn name(&mut self, text: &str) -> u32 {
        let place = self.names.iter().position(|name| name == text);
        let place = place.unwrap_or_else(|| {
            self.names.push(text.to_owned());
            self.names.len() - 1
        });
        place as u32
    }

    /// The name of a part.
    pub fn name_of(&self, part: &Part) -> &str {
        self.names.get(part.name as usize).map_or("", String::as_str)
    }

    /// Whether a block is in columns: one of text has its documents.
    pub fn is_columns(&self, block: &BlockEntry) -> bool {
        self.part_of(block, part::DOCUMENTS).is_none()
    }

    /// The parts of a block.
    pub fn parts_of(&self, block: &BlockEntry) -> &[Part] {
        let (first, count) = (block.parts.0 as usize, block.parts.1 as usize);
        self.parts.get(first..first.saturating_add(count)).unwrap_or_default()
    }

    /// Their names.
    pub fn names_of(&self, block: &BlockEntry) -> impl Iterator<Item = &str> {
        self.parts_of(block).iter().map(|part| self.name_of(part))
    }

    /// The parts of the block of this number; none where there is none.
    pub fn parts_at(&self, number: usize) -> &[Part] {
        self.blocks.get(number).map_or(&[], |block| self.parts_of(block))
    }

    /// The part of this name that a block has.
    pub fn part_of(&self, block: &BlockEntry, name: &str) -> Option<&Part> {
        self.find(self.parts_of(block), name)
    }

    /// The part of this name that the segment has as a whole.
    pub fn own_part(&self, name: &str) -> Option<&Part> {
        self.find(self.parts.get(..self.own_parts as usize)?, name)
    }

    fn find<'a>(&self, parts: &'a [Part], name: &str) -> Option<&'a Part> {
        parts.iter().find(|part| self.name_of(part) == name)
    }

    /// Whether a block of a damaged index is like one that a segment with this end has.
    pub fn may_be(&self, block: &BlockEntry, end: &Trailer) -> bool {
        let parts = self.parts_of(block);
        let bytes = |name| self.part_of(block, name).map(Part::length);
        let text_fits = bytes(part::DOCUMENTS) == Some(block.document_bytes) && bytes(part::KEYS).is_some();
        // In place of a part that was lost there may be another one's entry.
        let mut names: Vec<u32> = parts.iter().map(|part| part.name).collect();
        names.sort_unstable();
        let is_distinct = names.is_sorted_by(|one, next| one < next);
        block.events > 0
            && block.document_bytes / 2 >= block.events
            && u64::from(block.events) <= end.events
            && u64::from(block.document_bytes) <= end.document_bytes
            && parts.len() == block.parts.1 as usize
            && is_distinct
            && (text_fits || self.is_columns(block))
    }

    /// The index's bytes, in version 2.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for count in [self.names.len(), self.own_parts as usize, self.blocks.len(), self.parts.len()] {
            out.extend_from_slice(&(count as u32).to_le_bytes());
        }
        for name in &self.names {
            out.push(name.len() as u8);
            out.extend_from_slice(name.as_bytes());
        }
        for block in &self.blocks {
            encode_key(block.first, &mut out);
            encode_key(block.last, &mut out);
            for field in [block.events, block.document_bytes, block.parts.1] {
                out.extend_from_slice(&field.to_le_bytes());
            }
        }
        for part in &self.parts {
            part.encode(&mut out);
        }
        out
    }

    /// Reads an index of a version of the format. Allocates no more than it has bytes, some times over.
    pub fn decode(version: u32, bytes: &[u8]) -> Option<Index> {
        if version == 1 {
            return Index::decode_v1(bytes);
        }
        let index = Index::decode_counted(bytes)?;
        let is_named = |part: &Part| (part.name as usize) < index.names.len();
        let end =
            index.blocks.last().map_or(index.own_parts, |last| last.parts.0.saturating_add(last.parts.1));
        let is_sound = end as usize == index.parts.len() && index.parts.iter().all(is_named);
        is_sound.then_some(index)
    }

    /// Reads an index with as many names, blocks and parts as it says, if it has room for these and no others.
    fn decode_counted(bytes: &[u8]) -> Option<Index> {
        let mut at = Fields(bytes);
        let mut count = || at.u32().map(|count| count as usize);
        let (names, own_parts, blocks, parts) = (count()?, count()?, count()?, count()?);
        let least = names.checked_add(blocks.checked_mul(BLOCK_BYTES)?)?;
        if least.checked_add(parts.checked_mul(PART_BYTES)?)? > at.0.len() {
            return None;
        }
        let mut index = Index { own_parts: own_parts as u32, ..Index::default() };
        for _ in 0..names {
            let [length] = at.take()?;
            let name = std::str::from_utf8(at.bytes(usize::from(length))?).ok()?;
            index.names.push(name.to_owned());
        }
        let mut first_part = own_parts as u32;
        for _ in 0..blocks {
            let (first, last) = (at.key()?, at.key()?);
            let (events, document_bytes, count) = (at.u32()?, at.u32()?, at.u32()?);
            index.blocks.push(BlockEntry { first, last, events, document_bytes, parts: (first_part, count) });
            first_part = first_part.saturating_add(count);
        }
        for _ in 0..parts {
            index.parts.push(Part::decode(&mut at)?);
        }
        (at.0.is_empty() && own_parts <= parts).then_some(index)
    }

    /// Reads an index whose checksum does not hold, for what is right in it: nothing in it is to be believed that the bytes of the parts do not confirm. Each block stands twice, one
    /// behind the other: once with the parts that follow those of the blocks before it, once with those before the parts of the blocks behind it. These are the same where the numbers of parts are
    /// right. `end` is where the parts end. Allocates no more than it has bytes, some times over, and no byte belongs to more than a few parts on average.
    pub fn decode_damaged(version: u32, bytes: &[u8], end: u64) -> Option<Index> {
        let mut index = match version {
            1 => Index::decode_v1(bytes)?,
            _ => Index::decode_counted(bytes)?,
        };
        let names = index.names.len() as u32;
        let mut readable = end.saturating_mul(READ_MAX);
        for part in &mut index.parts {
            let is_within = part.range().end <= end && part.name < names;
            match readable.checked_sub(u64::from(part.length)).filter(|_| is_within) {
                Some(rest) => readable = rest,
                // A name that none has.
                None => *part = Part::new(0, 0, 0, u32::MAX),
            }
        }
        let mut behind = index.parts.len() as u32;
        let mut blocks = Vec::new();
        for block in index.blocks.iter().rev() {
            behind = behind.saturating_sub(block.parts.1);
            blocks.extend([BlockEntry { parts: (behind, block.parts.1), ..*block }, *block]);
        }
        blocks.reverse();
        index.blocks = blocks;
        Some(index)
    }

    /// In version 1 a block has its documents, and keys and statistics in one part.
    fn decode_v1(bytes: &[u8]) -> Option<Index> {
        let (entries, rest) = bytes.as_chunks::<V1_BLOCK_BYTES>();
        if !rest.is_empty() {
            return None;
        }
        let mut index = Index::default();
        let (documents, keys) = (index.name(part::DOCUMENTS), index.name(part::KEYS));
        for entry in entries {
            let mut at = Fields(entry);
            let (document_offset, document_bytes, events) = (at.u64()?, at.u32()?, at.u32()?);
            let (key_offset, statistics_bytes) = (at.u64()?, at.u32()?);
            let (document_checksum, key_checksum, reserved) = (at.u32()?, at.u32()?, at.u32()?);
            let (first, last) = (at.key()?, at.key()?);
            let key_bytes = events.checked_mul(20)?.checked_add(statistics_bytes)?;
            if reserved != 0 {
                return None;
            }
            let parts = (index.parts.len() as u32, 2);
            index.parts.push(Part::new(document_offset, document_bytes, document_checksum, documents));
            index.parts.push(Part::new(key_offset, key_bytes, key_checksum, keys));
            index.blocks.push(BlockEntry { first, last, events, document_bytes, parts });
        }
        Some(index)
    }
}
