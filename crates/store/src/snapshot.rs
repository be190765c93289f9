//! The store as it was at one moment, and its blocks in order of time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Damage, Failure, ReadError};
use crate::format::{Index, Key};
use crate::io::Lock;
use crate::manifest::SegmentEntry;
use crate::run::Run;
use crate::segment::{Block, Environment, Segment};

/// The sealed part of a store, with its sums.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    pub(crate) list: Vec<Arc<Segment>>,
    events: u64,
    document_bytes: u64,
    instants: Option<(u64, u64)>,
}

impl Segments {
    pub(crate) fn new(list: Vec<Arc<Segment>>) -> Segments {
        let mut segments = Segments { list, ..Segments::default() };
        for segment in &segments.list {
            let entry = segment.shown();
            // A corrupt but checksummed manifest may claim any figure.
            segments.events = segments.events.saturating_add(entry.events);
            let bytes = entry.document_bytes.saturating_sub(entry.events);
            segments.document_bytes = segments.document_bytes.saturating_add(bytes);
            segments.instants = joined(segments.instants, entry.first.instant, entry.last.instant);
        }
        segments
    }
}

fn joined(range: Option<(u64, u64)>, first: u64, last: u64) -> Option<(u64, u64)> {
    Some(range.map_or((first, last), |(low, high)| (low.min(first), high.max(last))))
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) environment: Arc<Environment>,
    pub(crate) segments: Arc<Segments>,
    pub(crate) memtable: Vec<Arc<Run>>,
    /// Bytes of the logs that hold the memtable.
    pub(crate) log_bytes: u64,
    /// Of logs: nobody knows of which times the lost events were.
    pub(crate) damage: Arc<[Damage]>,
    /// Keeps the files that the snapshot may still open.
    #[expect(dead_code, reason = "held for its lock")]
    pub(crate) lock: Arc<dyn Lock>,
}

/// The store at one moment: whole batches in order of their arrival numbers, none missing before the last one, but for a large batch that
/// is being [sealed](crate::Store::append_sealed) and has its numbers already. What happens to the store later does not show.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub(crate) state: Arc<State>,
}

/// A segment as [`Snapshot::segments`] lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentInfo {
    /// The file; `None` for the memtable, which is not sealed yet.
    pub file: Option<PathBuf>,
    /// Bytes of the file; for the memtable those of its logs.
    pub file_bytes: u64,
    /// How many events.
    pub events: u64,
    /// Bytes of documents without line feeds.
    pub document_bytes: u64,
    /// How many blocks.
    pub blocks: u64,
    /// How many of them are in columns.
    pub column_blocks: u64,
    /// First and last instant, in ticks.
    pub instants: (u64, u64),
}

/// Which way a scan goes through time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the earliest event on.
    Ascending,
    /// From the latest event back.
    Descending,
}

impl Snapshot {
    /// How many events, those in damaged blocks included.
    pub fn events(&self) -> u64 {
        let memtable: u64 = self.state.memtable.iter().map(|run| run.len() as u64).sum();
        self.state.segments.events.saturating_add(memtable)
    }

    /// Bytes of all documents, without the line feeds.
    pub fn document_bytes(&self) -> u64 {
        let memtable: u64 =
            self.state.memtable.iter().map(|run| (run.documents.len() - run.len()) as u64).sum();
        self.state.segments.document_bytes.saturating_add(memtable)
    }

    /// The first and the last instant, in ticks; `None` for an empty store.
    pub fn time_range(&self) -> Option<(u64, u64)> {
        let mut range = self.state.segments.instants;
        for run in &self.state.memtable {
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                range = joined(range, first.instant, last.instant);
            }
        }
        range
    }

    /// The segments, in the order in which they were sealed, and the memtable if it holds anything.
    pub fn segments(&self) -> Vec<SegmentInfo> {
        let mut infos: Vec<SegmentInfo> = Vec::with_capacity(self.state.segments.list.len() + 1);
        for entry in self.state.segments.list.iter().map(|segment| segment.shown()) {
            infos.push(SegmentInfo {
                file: Some(self.state.environment.directory.path(&entry.name())),
                file_bytes: entry.file_bytes,
                events: entry.events,
                document_bytes: entry.document_bytes.saturating_sub(entry.events),
                blocks: u64::from(entry.blocks),
                column_blocks: u64::from(entry.column_blocks),
                instants: (entry.first.instant, entry.last.instant),
            });
        }
        let mut memtable: Option<SegmentInfo> = None;
        for run in &self.state.memtable {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let info = memtable.get_or_insert(SegmentInfo {
                file: None,
                file_bytes: self.state.log_bytes,
                events: 0,
                document_bytes: 0,
                blocks: 0,
                column_blocks: 0,
                instants: (first.instant, last.instant),
            });
            info.events += run.len() as u64;
            info.document_bytes += (run.documents.len() - run.len()) as u64;
            info.blocks += 1;
            info.instants = (info.instants.0.min(first.instant), info.instants.1.max(last.instant));
        }
        infos.extend(memtable);
        infos
    }

    /// What is known to be damaged without reading the segments: stretches of logs. Every scan fails on them, or leaves them out if asked.
    pub fn damage(&self) -> &[Damage] {
        &self.state.damage
    }

    /// The blocks with events of these instants, in groups: blocks of one group overlap in the order of events, directly or through others,
    /// groups are disjoint and come in order. Within a group the blocks come in the order of their beginnings (or ends, descending). Blocks may
    /// also hold events outside of the range.
    ///
    /// Segments are opened, and the keys of blocks of text verified, when the scan reaches them: a scan that stops early has read little.
    /// Documents are not read: that is up to [`Block::documents`]. Of blocks in columns nothing is.
    pub fn groups(&self, instants: RangeInclusive<u64>, direction: Direction) -> Groups {
        let mut groups = Groups {
            state: Arc::clone(&self.state),
            instants,
            direction,
            pending: BinaryHeap::new(),
            skip: false,
            reads_first: false,
            has_waited: false,
            begun: false,
            ended: false,
            left_out: Vec::new(),
        };
        for segment in &self.state.segments.list {
            let SegmentEntry { first, last, .. } = segment.shown();
            groups.add(first, last, Item::Segment(Arc::clone(segment)));
        }
        for run in &self.state.memtable {
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                groups.add(first, last, Item::Memtable(Arc::clone(run)));
            }
        }
        groups
    }

    /// Reads all segments again, every checksum and every order in them, and lists what is damaged, that of the logs as well.
    pub fn verify(&self) -> Result<Vec<Damage>, Failure> {
        let mut damage = self.state.damage.to_vec();
        for segment in &self.state.segments.list {
            segment.verify(0, &mut |verified| {
                damage.extend(verified.damage);
                true
            })?;
        }
        Ok(damage)
    }

    /// The event with this key, as a block and a place in it.
    pub fn get(&self, key: Key) -> Result<Option<(Block, usize)>, ReadError> {
        for group in self.groups(key.instant..=key.instant, Direction::Ascending) {
            for block in group? {
                if let Some(index) = block.find(key)? {
                    return Ok(Some((block, index)));
                }
            }
        }
        Ok(None)
    }
}

/// The groups of a scan; see [`Snapshot::groups`]. After an error it yields nothing more.
#[derive(Debug)]
pub struct Groups {
    state: Arc<State>,
    instants: RangeInclusive<u64>,
    direction: Direction,
    pending: BinaryHeap<Pending>,
    skip: bool,
    reads_first: bool,
    has_waited: bool,
    begun: bool,
    ended: bool,
    left_out: Vec<Damage>,
}

/// A segment or block that the scan has not reached yet.
#[derive(Debug)]
struct Pending {
    /// Greatest for what comes first in the scan's direction.
    near: Key,
    far: Key,
    item: Item,
}

#[derive(Debug)]
enum Item {
    Segment(Arc<Segment>),
    /// One block of a segment; the next one takes its place. It does not keep the segment open.
    Block(Arc<Segment>, Arc<Index>, usize),
    Memtable(Arc<Run>),
}

impl Ord for Pending {
    fn cmp(&self, other: &Pending) -> Ordering {
        self.near.cmp(&other.near)
    }
}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Pending) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pending {
    fn eq(&self, other: &Pending) -> bool {
        self.near == other.near
    }
}

impl Eq for Pending {}

impl Groups {
    /// Leaves blocks with damaged keys out instead of failing; [`left_out`](Groups::left_out) lists them. Damaged documents, and what is damaged
    /// of blocks in columns, are found by those who ask for them.
    pub fn skip_damaged(mut self) -> Groups {
        self.skip = true;
        self
    }

    /// Tells that all segments from now on are read, and not only looked into: the system is asked for what is [read first](crate::Codec::is_read_first) of blocks in columns, and their
    /// statistics, together with the index, and for much of a file at a time where its blocks are text.
    pub fn expect_first(&mut self) {
        self.reads_first = true;
    }

    /// Whether one that was opened since then had to be waited for.
    pub fn has_waited(&self) -> bool {
        self.has_waited
    }

    /// What was left out so far, everything once the scan has ended.
    pub fn left_out(&self) -> &[Damage] {
        &self.left_out
    }

    /// Whether a damaged block stands in the way: the error to end with, or nothing if it is left out.
    fn pass(&mut self, error: ReadError) -> Result<(), ReadError> {
        match error {
            ReadError::Damaged(damage) if self.skip => {
                self.left_out.push(damage);
                Ok(())
            }
            error => {
                self.ended = true;
                Err(error)
            }
        }
    }

    fn add(&mut self, first: Key, last: Key, item: Item) {
        if last.instant < *self.instants.start() || first.instant > *self.instants.end() {
            return;
        }
        // All bits turned over, keys order the other way round.
        let turned = |key: Key| Key { instant: !key.instant, arrival: !key.arrival };
        let (near, far) = match self.direction {
            Direction::Ascending => (turned(first), turned(last)),
            Direction::Descending => (last, first),
        };
        self.pending.push(Pending { near, far, item });
    }

    /// Adds the first block of a segment that lies in the range.
    fn enter(&mut self, segment: Arc<Segment>, index: &Arc<Index>) {
        let (start, end) = (*self.instants.start(), *self.instants.end());
        let number = match self.direction {
            Direction::Ascending => Some(index.blocks.partition_point(|block| block.last.instant < start)),
            Direction::Descending => {
                index.blocks.partition_point(|block| block.first.instant <= end).checked_sub(1)
            }
        };
        if let Some(number) = number {
            self.add_block(segment, index, number);
        }
    }

    fn add_block(&mut self, segment: Arc<Segment>, index: &Arc<Index>, number: usize) {
        if let Some(block) = index.blocks.get(number) {
            self.add(block.first, block.last, Item::Block(segment, Arc::clone(index), number));
        }
    }

    fn next_group(&mut self) -> Result<Option<Vec<Block>>, ReadError> {
        if !self.begun {
            self.begun = true;
            let state = Arc::clone(&self.state);
            for damage in state.damage.iter().cloned() {
                self.pass(ReadError::Damaged(damage))?;
            }
        }
        let mut group = Vec::new();
        // How far the blocks of the group reach.
        let mut reach: Option<Key> = None;
        loop {
            let overlaps =
                self.pending.peek().is_some_and(|next| reach.is_none_or(|reach| next.near >= reach));
            if !overlaps {
                // A group of nothing but damaged blocks ends too, and the next one begins.
                if group.is_empty() && reach.take().is_some() {
                    continue;
                }
                return Ok((!group.is_empty()).then_some(group));
            }
            let Some(Pending { far, item, .. }) = self.pending.pop() else { return Ok(None) };
            let block = match item {
                Item::Segment(segment) => {
                    let loaded = match self.reads_first {
                        true => segment.load_to_read(self.has_waited).map(|(loaded, waited)| {
                            self.has_waited = waited;
                            loaded
                        }),
                        false => segment.load(),
                    };
                    match loaded {
                        Ok(loaded) => self.enter(segment, loaded.index()),
                        Err(error) => self.pass(error)?,
                    }
                    continue;
                }
                Item::Memtable(run) => Ok(Some(Block::in_memory(run))),
                Item::Block(segment, index, number) => {
                    let block = segment.block(number);
                    let next = match self.direction {
                        Direction::Ascending => number.checked_add(1),
                        Direction::Descending => number.checked_sub(1),
                    };
                    if let Some(next) = next {
                        self.add_block(segment, &index, next);
                    }
                    block
                }
            };
            match block {
                Ok(Some(block)) => group.push(block),
                // All of it is deleted.
                Ok(None) => continue,
                Err(error) => self.pass(error)?,
            }
            reach = Some(reach.map_or(far, |reach| reach.min(far)));
        }
    }
}

impl Iterator for Groups {
    type Item = Result<Vec<Block>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let group = self.next_group().transpose();
        self.ended |= group.is_none();
        group
    }
}

impl std::iter::FusedIterator for Groups {}
