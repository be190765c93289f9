//! Writing segments.

use std::sync::Arc;
use std::time::Instant;

use super::maker::{Made, MadePart, Maker, Recipe, TAILS};
use super::numbers::Numbers;
use crate::codec::Codec;
use crate::error::{Failure, Operation};
use crate::format::{
    FileKind, HEADER_BYTES, Header, Index, Key, Part, Trailer, VERSION, aligned, checksum, part,
};
use crate::io::{Directory, File, write_all_at};
use crate::manifest::{SegmentEntry, Sources, encode_positions, encode_sources};
use crate::options::{FlushStats, Layout, Options};
use crate::retire;
use crate::run::Run;

/// HEURISTIC: at most this many extra blocks in a segment begin at gaps in time: fewer of columns, which gain by having much in common.
const GAPS_MAX: usize = 64;
const COLUMN_GAPS_MAX: usize = 8;

/// HEURISTIC: with so many bytes of documents, another thread shares the work.
const HELPED_BYTES_MIN: usize = 8 << 20;

/// A segment keeps the positions of all sources if they take no more bytes than this; a store with thousands of them has only the manifest's.
const SOURCE_BYTES_MAX: usize = 64 << 10;

/// Where and how segments are written.
pub(crate) struct Sealed<'a> {
    pub(crate) directory: &'a dyn Directory,
    pub(crate) store: u128,
    pub(crate) options: &'a Options,
    /// Bytes of documents of a full segment.
    pub(crate) segment_bytes: usize,
    pub(crate) codec: &'a dyn Codec,
    pub(crate) numbers: &'a Numbers,
    /// Where sources stand behind these events: kept in each segment, in case the manifest is lost.
    pub(crate) sources: &'a Sources,
    /// Asked before each block: whether to go on.
    pub(crate) may_go_on: &'a dyn Fn() -> bool,
}

/// Why nothing was written.
pub(crate) enum Unwritten {
    Failure(Failure),
    /// It [may not go on](Sealed::may_go_on).
    Stopped,
}

impl From<Failure> for Unwritten {
    fn from(failure: Failure) -> Unwritten {
        Unwritten::Failure(failure)
    }
}

impl Sealed<'_> {
    /// The most bytes of documents and the most events of a block.
    fn block_max(&self) -> (usize, usize) {
        match self.options.segments {
            Layout::Text => (self.options.block_bytes, usize::MAX),
            Layout::Columns => {
                let bytes = self.options.column_block_bytes().min(self.codec.document_bytes_max());
                (bytes.max(1), self.codec.events_max().max(1))
            }
        }
    }

    fn gaps_max(&self) -> usize {
        match self.options.segments {
            Layout::Text => GAPS_MAX,
            Layout::Columns => COLUMN_GAPS_MAX,
        }
    }
}

/// New segments that no manifest names yet.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) entries: Vec<SegmentEntry>,
}

impl Written {
    /// Takes the files away again.
    pub(crate) fn remove(self, directory: &dyn Directory) {
        for entry in &self.entries {
            let _ = directory.remove(&FileKind::Segment.unfinished_name(entry.number));
        }
    }

    /// Those that a manifest names, and those that it does not: they were outside of the store's bounds when they came.
    pub(crate) fn named_by(self, segments: &[SegmentEntry]) -> (Written, Written) {
        let (named, outside) = self.entries.into_iter().partition(|entry| segments.contains(entry));
        (Written { entries: named }, Written { entries: outside })
    }

    /// Gives the files their final names, now that a manifest names them, and makes these durable.
    pub(crate) fn finish(&self, directory: &dyn Directory) -> Result<(), Failure> {
        for entry in &self.entries {
            retire::finish_name(directory, &entry.name())?;
        }
        if self.entries.is_empty() {
            return Ok(());
        }
        directory.flush().map_err(Failure::during(directory, "", Operation::FlushFolder))
    }
}

/// Writes events, sorted by key, into as many segments as they need. When this returns the files are durable under their unfinished
/// names: a manifest has to name them, and then they get their final ones. On failure, and where it may not go on, what was written is removed again.
pub(crate) fn write_sorted(
    to: &Sealed<'_>,
    events: &[(Key, &[u8])],
    stats: &mut FlushStats,
) -> Result<Written, Unwritten> {
    let mut written = Written::default();
    // Segments of about the same size, rather than a small one at the end.
    let total: usize = events.iter().map(|(_, document)| document.len() + 1).sum();
    let segment_bytes = total.div_ceil(total.div_ceil(to.segment_bytes.max(1)).max(1));
    let mut rest = events;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fitting = rest.iter().take_while(|(_, document)| {
            bytes += document.len() + 1;
            bytes <= segment_bytes
        });
        let (now, later) = rest.split_at(fitting.count().max(1));
        let number = to.numbers.take_free(to.directory, FileKind::Segment);
        match SegmentWriter::write(to, now, number, stats) {
            Ok(entry) => written.entries.push(entry),
            Err(unwritten) => {
                // What stood in the way is not this call's to remove.
                let is_own = match &unwritten {
                    Unwritten::Failure(failure) => failure.operation != Operation::Create,
                    Unwritten::Stopped => true,
                };
                if is_own {
                    let _ = to.directory.remove(&FileKind::Segment.unfinished_name(number));
                }
                written.remove(to.directory);
                return Err(unwritten);
            }
        }
        rest = later;
    }
    let flushed = to.directory.flush().map_err(Failure::during(to.directory, "", Operation::FlushFolder));
    match flushed {
        Ok(()) => Ok(written),
        Err(failure) => {
            written.remove(to.directory);
            Err(failure.into())
        }
    }
}

/// Instants before which a new block begins: behind the largest gaps, so that a late event does not stretch a block, and with it a
/// group, over all the time between.
///
/// HEURISTIC: a gap is large if it is longer than a block of the middle nine tenths of the events lasts.
fn instants_after_gaps(events: &[(Key, &[u8])], block_bytes: usize, gaps_max: usize) -> Vec<u64> {
    let instant = |index: usize| events.get(index).map_or(0, |(key, _)| key.instant);
    let tail = events.len() / 20;
    let middle = instant(events.len().saturating_sub(1 + tail)) - instant(tail);
    let bytes: usize = events.iter().map(|(_, document)| document.len() + 1).sum();
    let blocks = (bytes / block_bytes).max(1) as u64;
    let large = middle / blocks;
    let mut gaps: Vec<(u64, u64)> = events
        .windows(2)
        .filter_map(|pair| match pair {
            [(before, _), (after, _)] => Some((after.instant - before.instant, after.instant)),
            _ => None,
        })
        .filter(|(gap, _)| *gap > large)
        .collect();
    gaps.sort_unstable_by(|a, b| b.cmp(a));
    gaps.truncate(gaps_max);
    let mut instants: Vec<u64> = gaps.into_iter().map(|(_, instant)| instant).collect();
    instants.sort_unstable();
    instants
}

struct SegmentWriter<'a> {
    to: &'a Sealed<'a>,
    file: Arc<dyn File>,
    number: u64,
    unfinished: String,
    seed: u32,
    offset: u64,
    index: Index,
    maker: Maker<'a>,
    /// Of each block the parts of its body, and what is still to be written of it.
    written: Vec<(Vec<Part>, [Vec<MadePart>; TAILS])>,
    /// The least and the greatest arrival number.
    arrivals: (u64, u64),
    column_blocks: u32,
}

impl<'a> SegmentWriter<'a> {
    fn write(
        to: &'a Sealed<'a>,
        events: &[(Key, &[u8])],
        number: u64,
        stats: &mut FlushStats,
    ) -> Result<SegmentEntry, Unwritten> {
        let header = Header { kind: FileKind::Segment, version: VERSION, store: to.store, number };
        let bytes: usize = events.iter().map(|(_, document)| document.len() + 1).sum();
        let recipe = Recipe { codec: to.codec, layout: to.options.segments, seed: header.seed() };
        if bytes < HELPED_BYTES_MIN {
            return SegmentWriter::write_with(to, events, header, Maker::new(recipe), stats);
        }
        let (maker, helper) = Maker::with_helper(recipe);
        std::thread::scope(|scope| {
            let helped = std::thread::Builder::new().spawn_scoped(scope, || helper.run()).is_ok();
            let maker = if helped { maker } else { Maker::new(recipe) };
            SegmentWriter::write_with(to, events, header, maker, stats)
        })
    }

    fn write_with(
        to: &'a Sealed<'a>,
        events: &[(Key, &[u8])],
        header: Header,
        maker: Maker<'a>,
        stats: &mut FlushStats,
    ) -> Result<SegmentEntry, Unwritten> {
        let number = header.number;
        let unfinished = FileKind::Segment.unfinished_name(number);
        let file = to.directory.create(&unfinished).map_err(Failure::during(
            to.directory,
            &unfinished,
            Operation::Create,
        ))?;
        let mut writer = SegmentWriter {
            to,
            file,
            number,
            unfinished,
            seed: header.seed(),
            offset: 0,
            index: Index::default(),
            maker,
            written: Vec::new(),
            arrivals: (u64::MAX, 0),
            column_blocks: 0,
        };
        writer.put(&header.encode())?;
        let (bytes_max, events_max) = to.block_max();
        let breaks = instants_after_gaps(events, bytes_max, to.gaps_max());
        let mut breaks = breaks.iter().copied().peekable();
        let total: usize = events.iter().map(|(_, document)| document.len() + 1).sum();
        // Room for all of a block at once: what is not used is never touched.
        let room = || Run::with_capacity(events.len().min(events_max), total.min(bytes_max));
        let mut run = room();
        for (key, document) in events {
            let at_gap = breaks.next_if(|instant| *instant <= key.instant).is_some();
            let full = run.documents.len() + document.len() + 1 > bytes_max || run.len() >= events_max;
            if at_gap || full {
                if !(to.may_go_on)() {
                    return Err(Unwritten::Stopped);
                }
                let next = writer.maker.spare().unwrap_or_else(room);
                writer.end_block(std::mem::replace(&mut run, next))?;
            }
            run.push(*key, document);
        }
        writer.end_block(run)?;
        Ok(writer.finish(stats)?)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        write_all_at(&*self.file, self.offset, bytes).map_err(Failure::during(
            self.to.directory,
            &self.unfinished,
            Operation::Write,
        ))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Writes zeros up to where the next part begins.
    fn align(&mut self) -> Result<(), Failure> {
        let padding = aligned(self.offset) - self.offset;
        self.put([0; 8].get(..padding as usize).unwrap_or_default())
    }

    /// Hands a block over to be made, unless it is empty, and writes those that are.
    fn end_block(&mut self, run: Run) -> Result<(), Failure> {
        if !run.is_empty() {
            self.maker.add(run);
        }
        while let Some(made) = self.maker.next_made() {
            self.put_body(made)?;
        }
        Ok(())
    }

    /// Writes the body of the next block; the rest of it waits.
    fn put_body(&mut self, made: Made) -> Result<(), Failure> {
        let Made { entry, arrivals, columns, body, tails } = made;
        let body = body.iter().map(|part| self.put_part(part)).collect::<Result<_, _>>()?;
        self.index.blocks.push(entry);
        self.written.push((body, tails));
        self.arrivals = (self.arrivals.0.min(arrivals.0), self.arrivals.1.max(arrivals.1));
        self.column_blocks += u32::from(columns);
        Ok(())
    }

    fn put_part(&mut self, part: &MadePart) -> Result<Part, Failure> {
        self.align()?;
        let name = self.index.name(&part.name);
        let placed = Part::new(self.offset, part.bytes.len() as u32, part.checksum, name);
        self.put(&part.bytes)?;
        Ok(placed)
    }

    /// Writes what waits behind the bodies, one kind after another, and puts the parts in the order of the index.
    fn put_tails(&mut self) -> Result<(), Failure> {
        let mut written = std::mem::take(&mut self.written);
        for kind in 0..TAILS {
            for (parts, tails) in &mut written {
                for part in tails.get(kind).into_iter().flatten() {
                    parts.push(self.put_part(part)?);
                }
            }
        }
        for (block, (parts, _)) in self.index.blocks.iter_mut().zip(written) {
            block.parts = (self.index.parts.len() as u32, parts.len() as u32);
            self.index.parts.extend(parts);
        }
        Ok(())
    }

    /// Writes where sources stand: the first of the index's parts.
    fn put_sources(&mut self) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        encode_sources(self.to.sources, &mut bytes);
        if bytes.len() > SOURCE_BYTES_MAX {
            bytes.clear();
            encode_positions(self.to.sources, &mut bytes);
        }
        if bytes.len() > SOURCE_BYTES_MAX {
            return Ok(());
        }
        self.align()?;
        let name = self.index.name(part::SOURCES);
        let sources = Part::new(self.offset, bytes.len() as u32, checksum(self.seed, &[&bytes]), name);
        self.index.parts.insert(0, sources);
        self.index.own_parts = 1;
        for block in &mut self.index.blocks {
            block.parts.0 += 1;
        }
        self.put(&bytes)
    }

    fn finish(mut self, stats: &mut FlushStats) -> Result<SegmentEntry, Failure> {
        while let Some(made) = self.maker.next_of_rest() {
            self.put_body(made)?;
        }
        self.put_tails()?;
        self.put_sources()?;
        self.align()?;
        let index = self.index.encode();
        let blocks = &self.index.blocks;
        let (Some(head), Some(tail)) = (blocks.first(), blocks.last()) else {
            unreachable!("a segment is written for at least one event")
        };
        let trailer = Trailer {
            blocks: blocks.len() as u32,
            index_checksum: checksum(self.seed, &[&index]),
            index_bytes: index.len() as u64,
            events: blocks.iter().map(|block| u64::from(block.events)).sum(),
            document_bytes: blocks.iter().map(|block| u64::from(block.document_bytes)).sum(),
            first: head.first,
            last: tail.last,
            arrivals: self.arrivals,
            column_blocks: self.column_blocks,
        };
        self.put(&index)?;
        self.put(&trailer.encode(VERSION, self.seed))?;
        let directory = self.to.directory;
        let begun = Instant::now();
        self.file.flush().map_err(Failure::during(directory, &self.unfinished, Operation::Flush))?;
        stats.segments += 1;
        stats.segment_flush_time += begun.elapsed();
        Ok(SegmentEntry::of(self.number, VERSION, self.offset, &trailer))
    }
}

const _: () = assert!(HEADER_BYTES.is_multiple_of(8), "documents begin aligned");
