use std::sync::Arc;
use std::time::Instant;

use super::columns::Columns;
use crate::Summarize;
use crate::error::{Failure, Operation};
use crate::format::{BlockEntry, FileKind, HEADER_BYTES, Header, Key, Trailer, aligned, checksum};
use crate::io::{Directory, File, write_all_at};
use crate::manifest::SegmentEntry;
use crate::options::FlushStats;
use crate::run::Run;
use crate::segment::{Making, Numbers};

/// HEURISTIC: at most this many extra blocks in a segment begin at gaps in time.
const GAPS_MAX: usize = 64;

/// HEURISTIC: with so many bytes of documents, a thread of its own makes the summaries meanwhile.
const HELPED_BYTES_MIN: usize = 8 << 20;

/// Where and how segments are written.
pub(crate) struct Sealed<'a> {
    pub(crate) directory: &'a dyn Directory,
    pub(crate) store: u128,
    pub(crate) block_bytes: usize,
    pub(crate) segment_bytes: usize,
    pub(crate) summarize: &'a dyn Summarize,
    pub(crate) numbers: &'a Numbers,
}

/// New segments that no manifest names yet.
#[derive(Default)]
pub(crate) struct Written<'a> {
    pub(crate) entries: Vec<SegmentEntry>,
    making: Vec<Making<'a>>,
}

impl Written<'_> {
    /// Removes the files. What cannot be removed is cleared away at the next opening.
    pub(crate) fn remove(self, directory: &dyn Directory) {
        for making in &self.making {
            let _ = directory.remove(&FileKind::Segment.name(making.number));
        }
    }
}

/// Writes events, sorted by key, into as many segments as they need. When this returns the files are durable under their final
/// names, the folder excepted: the caller flushes it, and a manifest has to name them. On failure what was written is removed again.
pub(crate) fn write_sorted<'a>(
    to: &Sealed<'a>,
    events: &[(Key, &[u8])],
    stats: &mut FlushStats,
) -> Result<Written<'a>, Failure> {
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
        let making = to.numbers.make();
        match SegmentWriter::write(to, now, making.number, stats) {
            Ok(entry) => written.entries.push(entry),
            Err(failure) => {
                let _ = to.directory.remove(&FileKind::Segment.unfinished_name(making.number));
                written.remove(to.directory);
                return Err(failure);
            }
        }
        written.making.push(making);
        rest = later;
    }
    Ok(written)
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
    unfinished: String,
    seed: u32,
    offset: u64,
    run: Run,
    /// Per block; what concerns its columns is filled in at the end.
    blocks: Vec<BlockEntry>,
    columns: Columns<'a>,
}

impl<'a> SegmentWriter<'a> {
    fn write(
        to: &'a Sealed<'a>,
        events: &[(Key, &[u8])],
        number: u64,
        stats: &mut FlushStats,
    ) -> Result<SegmentEntry, Failure> {
        let header = Header { kind: FileKind::Segment, store: to.store, number };
        let bytes: usize = events.iter().map(|(_, document)| document.len() + 1).sum();
        if bytes < HELPED_BYTES_MIN {
            let columns = Columns::new(to.summarize, header.seed());
            return SegmentWriter::write_with(to, events, header, columns, stats);
        }
        let (columns, helper) = Columns::with_helper(to.summarize, header.seed());
        std::thread::scope(|scope| {
            let helped = std::thread::Builder::new().spawn_scoped(scope, || helper.run()).is_ok();
            let columns = if helped { columns } else { Columns::new(to.summarize, header.seed()) };
            SegmentWriter::write_with(to, events, header, columns, stats)
        })
    }

    fn write_with(
        to: &'a Sealed<'a>,
        events: &[(Key, &[u8])],
        header: Header,
        columns: Columns<'a>,
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
            unfinished,
            seed: header.seed(),
            offset: 0,
            run: Run::default(),
            blocks: Vec::new(),
            columns,
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
        writer.finish(number, stats)
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

    fn end_block(&mut self) -> Result<(), Failure> {
        let run = std::mem::take(&mut self.run);
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(()) };
        self.blocks.push(BlockEntry {
            document_offset: self.offset,
            document_bytes: run.documents.len() as u32,
            events: run.len() as u32,
            column_offset: 0,
            summary_bytes: 0,
            document_checksum: checksum(self.seed, &[&run.documents]),
            column_checksum: 0,
            first,
            last,
        });
        self.put(&run.documents)?;
        self.run = self.columns.add(run);
        Ok(())
    }

    fn finish(mut self, number: u64, stats: &mut FlushStats) -> Result<SegmentEntry, Failure> {
        let column_offset = aligned(self.offset);
        let padding = [0; 8];
        self.put(padding.get(..(column_offset - self.offset) as usize).unwrap_or_default())?;
        let columns =
            std::mem::replace(&mut self.columns, Columns::new(self.to.summarize, self.seed)).finish();
        assert_eq!(columns.len(), self.blocks.len(), "each block has its columns");
        let (mut end, mut index) = (Vec::new(), Vec::new());
        for (block, made) in self.blocks.iter_mut().zip(columns) {
            block.column_offset = column_offset + end.len() as u64;
            block.summary_bytes = made.summary_bytes;
            block.column_checksum = made.checksum;
            block.encode(&mut index);
            end.extend_from_slice(&made.bytes);
        }
        let index_checksum = checksum(self.seed, &[&index]);
        end.extend_from_slice(&index);
        let (Some(head), Some(tail)) = (self.blocks.first(), self.blocks.last()) else {
            unreachable!("a segment is written for at least one event")
        };
        let trailer = Trailer {
            blocks: self.blocks.len() as u32,
            index_checksum,
            events: self.blocks.iter().map(|block| u64::from(block.events)).sum(),
            document_bytes: self.blocks.iter().map(|block| u64::from(block.document_bytes)).sum(),
            first: head.first,
            last: tail.last,
        };
        end.extend_from_slice(&trailer.encode(self.seed));
        self.put(&end)?;
        let directory = self.to.directory;
        let begun = Instant::now();
        self.file.flush().map_err(Failure::during(directory, &self.unfinished, Operation::Flush))?;
        stats.segments += 1;
        stats.segment_flush_time += begun.elapsed();
        let name = FileKind::Segment.name(number);
        directory.rename(&self.unfinished, &name).map_err(Failure::during(
            directory,
            &name,
            Operation::Rename,
        ))?;
        Ok(SegmentEntry {
            number,
            file_bytes: self.offset,
            events: trailer.events,
            document_bytes: trailer.document_bytes,
            first: trailer.first,
            last: trailer.last,
            blocks: trailer.blocks,
            index_checksum,
        })
    }
}

const _: () = assert!(HEADER_BYTES.is_multiple_of(8), "documents begin aligned");
