//! Writing segments.

use std::sync::Arc;
use std::time::Instant;

use super::columns::Columns;
use super::keys::KeyMaker;
use super::numbers::Numbers;
use crate::error::{Failure, Operation};
use crate::event::Statistics;
use crate::format::{
    BlockEntry, FileKind, HEADER_BYTES, Header, Index, Key, Part, Trailer, VERSION, aligned, checksum, part,
};
use crate::io::{Directory, File, write_all_at};
use crate::manifest::{SegmentEntry, Sources, encode_sources};
use crate::options::FlushStats;
use crate::retire;
use crate::run::Run;

/// HEURISTIC: at most this many extra blocks in a segment begin at gaps in time.
const GAPS_MAX: usize = 64;

/// HEURISTIC: with so many bytes of documents, a thread of its own makes the statistics meanwhile.
const HELPED_BYTES_MIN: usize = 8 << 20;

/// A segment keeps the positions of all sources if they take no more bytes than this; a store with thousands of them has only the manifest's.
const SOURCE_BYTES_MAX: usize = 64 << 10;

/// Where and how segments are written.
pub(crate) struct Sealed<'a> {
    pub(crate) directory: &'a dyn Directory,
    pub(crate) store: u128,
    pub(crate) block_bytes: usize,
    pub(crate) segment_bytes: usize,
    pub(crate) statistics: &'a dyn Statistics,
    pub(crate) numbers: &'a Numbers,
    /// Where sources stand behind these events: kept in each segment, in case the manifest is lost.
    pub(crate) sources: &'a Sources,
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
/// names: a manifest has to name them, and then they get their final ones. On failure what was written is removed again.
pub(crate) fn write_sorted(
    to: &Sealed<'_>,
    events: &[(Key, &[u8])],
    stats: &mut FlushStats,
) -> Result<Written, Failure> {
    let mut written = Written::default();
    // Segments of about the same size, rather than a small one at the end.
    let total: usize = events.iter().map(|(_, document)| document.len() + 1).sum();
    let segment_bytes = total.div_ceil(total.div_ceil(to.segment_bytes).max(1));
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
            Err(failure) => {
                // What stood in the way is not this call's to remove.
                if failure.operation != Operation::Create {
                    let _ = to.directory.remove(&FileKind::Segment.unfinished_name(number));
                }
                written.remove(to.directory);
                return Err(failure);
            }
        }
        rest = later;
    }
    let flushed = to.directory.flush().map_err(Failure::during(to.directory, "", Operation::FlushFolder));
    match flushed {
        Ok(()) => Ok(written),
        Err(failure) => {
            written.remove(to.directory);
            Err(failure)
        }
    }
}

/// Instants before which a new block begins: behind the largest gaps, so that a late event does not stretch a block, and with it a
/// group, over all the time between.
///
/// HEURISTIC: a gap is large if it is longer than a block of the middle nine tenths of the events lasts.
fn instants_after_gaps(events: &[(Key, &[u8])], block_bytes: usize) -> Vec<u64> {
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
    gaps.truncate(GAPS_MAX);
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
    run: Run,
    /// What concerns keys and statistics is added at the end.
    index: Index,
    maker: KeyMaker<'a>,
}

impl<'a> SegmentWriter<'a> {
    fn write(
        to: &'a Sealed<'a>,
        events: &[(Key, &[u8])],
        number: u64,
        stats: &mut FlushStats,
    ) -> Result<SegmentEntry, Failure> {
        let header = Header { kind: FileKind::Segment, version: VERSION, store: to.store, number };
        let bytes: usize = events.iter().map(|(_, document)| document.len() + 1).sum();
        if bytes < HELPED_BYTES_MIN {
            let maker = KeyMaker::new(to.statistics, header.seed());
            return SegmentWriter::write_with(to, events, header, maker, stats);
        }
        let (maker, helper) = KeyMaker::with_helper(to.statistics, header.seed());
        std::thread::scope(|scope| {
            let helped = std::thread::Builder::new().spawn_scoped(scope, || helper.run()).is_ok();
            let maker = if helped { maker } else { KeyMaker::new(to.statistics, header.seed()) };
            SegmentWriter::write_with(to, events, header, maker, stats)
        })
    }

    fn write_with(
        to: &'a Sealed<'a>,
        events: &[(Key, &[u8])],
        header: Header,
        maker: KeyMaker<'a>,
        stats: &mut FlushStats,
    ) -> Result<SegmentEntry, Failure> {
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
            run: Run::default(),
            index: Index::default(),
            maker,
        };
        writer.put(&header.encode())?;
        let breaks = instants_after_gaps(events, to.block_bytes);
        let mut breaks = breaks.iter().copied().peekable();
        for (key, document) in events {
            let at_gap = breaks.next_if(|instant| *instant <= key.instant).is_some();
            let full = writer.run.documents.len() + document.len() + 1 > to.block_bytes;
            if at_gap || full {
                writer.end_block()?;
            }
            writer.run.push(*key, document);
        }
        writer.end_block()?;
        writer.finish(stats)
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

    fn end_block(&mut self) -> Result<(), Failure> {
        let run = std::mem::take(&mut self.run);
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(()) };
        self.align()?;
        let (events, document_bytes) = (run.len() as u32, run.documents.len() as u32);
        let sum = checksum(self.seed, &[&run.documents]);
        let name = self.index.name(part::DOCUMENTS);
        self.index.parts.push(Part::new(self.offset, document_bytes, sum, name));
        self.index.blocks.push(BlockEntry { first, last, events, document_bytes, parts: (0, 0) });
        self.put(&run.documents)?;
        self.run = self.maker.add(run);
        Ok(())
    }

    /// Writes keys and statistics behind the documents, and puts the parts in the order of the index. Gives the range of arrival numbers.
    fn put_keys(&mut self) -> Result<(u64, u64), Failure> {
        let maker = KeyMaker::new(self.to.statistics, self.seed);
        let made = std::mem::replace(&mut self.maker, maker).finish();
        assert_eq!(made.len(), self.index.blocks.len(), "each block has its keys");
        let (keys_name, statistics_name) = (self.index.name(part::KEYS), self.index.name(part::STATISTICS));
        let documents = std::mem::take(&mut self.index.parts);
        let mut arrivals = (u64::MAX, 0);
        for (number, (made, documents)) in made.into_iter().zip(documents).enumerate() {
            self.align()?;
            let keys = Part::new(self.offset, made.keys.len() as u32, made.key_checksum, keys_name);
            self.put(&made.keys)?;
            self.align()?;
            let length = made.statistics.len() as u32;
            let statistics = Part::new(self.offset, length, made.statistics_checksum, statistics_name);
            self.put(&made.statistics)?;
            let Some(block) = self.index.blocks.get_mut(number) else { continue };
            block.parts = (self.index.parts.len() as u32, 3);
            self.index.parts.extend([documents, keys, statistics]);
            let columns = Columns::of(&made.keys, block.events as usize);
            for arrival in columns.iter().flat_map(|columns| columns.arrivals) {
                let arrival = u64::from_le_bytes(*arrival);
                arrivals = (arrivals.0.min(arrival), arrivals.1.max(arrival));
            }
        }
        Ok(arrivals)
    }

    /// Writes where sources stand: the first of the index's parts.
    fn put_sources(&mut self) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        encode_sources(self.to.sources, &mut bytes);
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
        let arrivals = self.put_keys()?;
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
            arrivals,
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
