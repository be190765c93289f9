//! Events in memory, for tests: blocks and a source over them.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

use std::sync::Arc;
use tamias_query::{
    Block, ColumnBlock, Direction, Documents, Places, Query, ReadFrame, Rows, RunOptions, Source,
    SourceError, Stats, Times,
};
use tamias_shred::Encoder;

#[derive(Clone)]
pub(crate) struct Event {
    pub(crate) instant: u64,
    pub(crate) arrival: u64,
    pub(crate) document: String,
}

#[derive(Clone, Default)]
pub(crate) struct MemoryBlock {
    documents: Vec<u8>,
    ends: Vec<[u8; 4]>,
    instants: Vec<[u8; 8]>,
    arrivals: Vec<[u8; 8]>,
    statistics: Vec<u8>,
    columns: Option<Arc<ColumnBlock>>,
    frames: Frames,
    /// What queries keep of its documents.
    places: Option<Arc<Places>>,
    /// Whether columns and statistics have events that were deleted.
    has_deleted: bool,
}

/// The frames of a group in memory.
#[derive(Clone, Default)]
struct Frames(Arc<Vec<Vec<u8>>>);

impl ReadFrame for Frames {
    fn frame(&self, number: u32) -> Result<Vec<u8>, SourceError> {
        self.0.get(number as usize).cloned().ok_or_else(|| "no such frame".into())
    }
}

impl MemoryBlock {
    /// A block of `events`, sorted here; the documents are minified and normalised as ingest does.
    pub(crate) fn new(events: &[Event]) -> MemoryBlock {
        let mut events = events.to_vec();
        events.sort_by_key(|event| (event.instant, event.arrival));
        let mut block = MemoryBlock::default();
        for event in events {
            let limits = tamias_json::validate::Limits::default();
            tamias_json::validate::minify_object(event.document.as_bytes(), &limits, &mut block.documents)
                .unwrap();
            block.ends.push(u32::try_from(block.documents.len()).unwrap().to_le_bytes());
            block.documents.push(b'\n');
            block.instants.push(event.instant.to_le_bytes());
            block.arrivals.push(event.arrival.to_le_bytes());
        }
        let ends: Vec<u32> = block.ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
        tamias_query::collect_statistics(&block.documents, &ends, &mut block.statistics);
        block
    }

    /// The block in columns, beside its documents.
    pub(crate) fn in_columns(&self) -> MemoryBlock {
        let start = |index: usize| match index.checked_sub(1) {
            Some(before) => u32::from_le_bytes(self.ends[before]) as usize + 1,
            None => 0,
        };
        let event = |index: usize| tamias_shred::Event {
            instant: u64::from_le_bytes(self.instants[index]),
            arrival: u64::from_le_bytes(self.arrivals[index]),
            document: &self.documents[start(index)..u32::from_le_bytes(self.ends[index]) as usize],
        };
        let events: Vec<tamias_shred::Event<'_>> = (0..self.ends.len()).map(event).collect();
        // A block of text may have more events than a group.
        let mut statistics = self.statistics.clone();
        let encoded = Encoder::new().unwrap().encode_surveyed(&events, &mut |survey| {
            statistics.clear();
            match survey {
                Some(survey) => {
                    let bytes = self.documents.len();
                    tamias_query::collect_surveyed_statistics(survey, bytes, &mut statistics);
                }
                None => statistics.extend_from_slice(&self.statistics),
            }
        });
        let Ok(encoded) = encoded else { return self.clone() };
        let frames = Frames(Arc::new(encoded.frames));
        let columns = ColumnBlock::open(&encoded.directory, Box::new(frames.clone())).unwrap();
        MemoryBlock { columns: Some(Arc::new(columns)), frames, statistics, ..self.clone() }
    }

    /// The same block in columns for a query of this number, with what was decoded for those before.
    fn in_turn(&self, turn: u64) -> MemoryBlock {
        let sharing = |columns: &Arc<ColumnBlock>| {
            let frames = Box::new(self.frames.clone());
            Arc::new(ColumnBlock::sharing(columns.decoded().clone(), frames).in_turn(turn))
        };
        MemoryBlock { columns: self.columns.as_ref().map(sharing), ..self.clone() }
    }

    /// The block of text of which queries keep what they find.
    pub(crate) fn kept(&self) -> MemoryBlock {
        MemoryBlock { places: Some(Arc::default()), ..self.clone() }
    }

    /// The block in columns that have other events too, which are deleted: some stand by themselves, some several together, at the beginning and the end as well. What they
    /// say other events say as well, or none.
    pub(crate) fn beside_deleted(&self) -> MemoryBlock {
        let documents: Vec<&[u8]> = self.documents.split(|byte| *byte == b'\n').collect();
        let count = self.ends.len();
        let (mut all, mut deleted) = (MemoryBlock::default(), Vec::new());
        for place in 0..=count {
            let gone = if place == 0 || place == count { 2 } else { [0, 1, 0, 0, 3, 0, 1][place % 7] };
            let near = place.min(count - 1);
            let begin = all.ends.len() as u32;
            for nth in 0..gone {
                let document = match nth {
                    1 => br#"{"Gone":[7,"x"],"@l":"Gone","n":1e9}"#.as_slice(),
                    _ => documents[(place * 5 + nth) % count],
                };
                all.push(document, self.instants[near], self.arrivals[near]);
            }
            if gone > 0 {
                deleted.push(begin..all.ends.len() as u32);
            }
            if place < count {
                all.push(documents[place], self.instants[place], self.arrivals[place]);
            }
        }
        let ends: Vec<u32> = all.ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
        tamias_query::collect_statistics(&all.documents, &ends, &mut all.statistics);
        let MemoryBlock { columns, statistics, .. } = all.in_columns();
        let Some(columns) = columns.and_then(Arc::into_inner) else { return self.clone() };
        let columns = Some(Arc::new(columns.without(deleted)));
        MemoryBlock { columns, statistics, has_deleted: true, ..self.clone() }
    }

    fn push(&mut self, document: &[u8], instant: [u8; 8], arrival: [u8; 8]) {
        self.documents.extend_from_slice(document);
        self.ends.push(u32::try_from(self.documents.len()).unwrap().to_le_bytes());
        self.documents.push(b'\n');
        self.instants.push(instant);
        self.arrivals.push(arrival);
    }

    /// The block with other statistics; none if those are found to be false.
    pub(crate) fn with_statistics(&self, alter: impl Fn(&mut Vec<u8>)) -> Option<MemoryBlock> {
        let mut block = self.clone();
        alter(&mut block.statistics);
        tamias_query::check_statistics(&block.documents, &block.ends, &block.statistics).ok()?;
        Some(block)
    }
}

impl Block for MemoryBlock {
    fn len(&self) -> usize {
        self.ends.len()
    }
    fn range(&self) -> ((u64, u64), (u64, u64)) {
        Times { instants: &self.instants, arrivals: tamias_query::Arrivals::Each(&self.arrivals) }.range()
    }
    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        Ok(Some(Times { instants: &self.instants, arrivals: tamias_query::Arrivals::Each(&self.arrivals) }))
    }
    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError> {
        Ok(Some(Documents { bytes: &self.documents, ends: &self.ends }))
    }
    fn columns(&self) -> Result<Option<&ColumnBlock>, SourceError> {
        Ok(self.columns.as_deref())
    }
    fn places(&self) -> Option<Arc<Places>> {
        self.places.clone()
    }
    fn statistics(&self) -> Option<&[u8]> {
        (!self.has_deleted).then_some(&self.statistics)
    }
    fn statistics_with_deleted(&self) -> Option<&[u8]> {
        self.has_deleted.then_some(&self.statistics)
    }
}

/// Groups of blocks, given in time order.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    pub(crate) groups: Vec<Vec<Arc<MemoryBlock>>>,
}

impl Memory {
    /// All events in one block.
    pub(crate) fn new(documents: &[&str]) -> Memory {
        let events: Vec<Event> = documents
            .iter()
            .enumerate()
            .map(|(index, document)| Event {
                instant: index as u64,
                arrival: index as u64,
                document: (*document).to_owned(),
            })
            .collect();
        Memory::blocks(&[&[&events]])
    }

    /// Groups of blocks of events.
    pub(crate) fn blocks(groups: &[&[&[Event]]]) -> Memory {
        let blocks =
            |group: &&[&[Event]]| group.iter().map(|events| Arc::new(MemoryBlock::new(events))).collect();
        Memory { groups: groups.iter().map(blocks).collect() }
    }

    /// The same events in columns.
    pub(crate) fn in_columns(&self) -> Memory {
        let group =
            |group: &Vec<Arc<MemoryBlock>>| group.iter().map(|block| Arc::new(block.in_columns())).collect();
        Memory { groups: self.groups.iter().map(group).collect() }
    }

    /// The same events in columns for a query of this number, with what was decoded for those before.
    pub(crate) fn in_turn(&self, turn: u64) -> Memory {
        let block = |block: &Arc<MemoryBlock>| Arc::new(block.in_turn(turn));
        Memory { groups: self.groups.iter().map(|group| group.iter().map(block).collect()).collect() }
    }

    /// The same events as text, of which queries keep what they find for those to come.
    pub(crate) fn kept(&self) -> Memory {
        let block = |block: &Arc<MemoryBlock>| Arc::new(block.kept());
        Memory { groups: self.groups.iter().map(|group| group.iter().map(block).collect()).collect() }
    }

    /// The same events in columns that have deleted ones too.
    pub(crate) fn beside_deleted(&self) -> Memory {
        let block = |block: &Arc<MemoryBlock>| Arc::new(block.beside_deleted());
        Memory { groups: self.groups.iter().map(|group| group.iter().map(block).collect()).collect() }
    }

    /// The same events, every other block of which is in columns: as in a store whose newest events are not sealed yet.
    pub(crate) fn half_in_columns(&self) -> Memory {
        let block = |(number, block): (usize, &Arc<MemoryBlock>)| match number % 2 {
            0 => Arc::new(block.in_columns()),
            _ => block.clone(),
        };
        let mut numbers = 0..;
        let mut group = |group: &Vec<Arc<MemoryBlock>>| {
            group.iter().map(|of| block((numbers.next().unwrap_or(0), of))).collect()
        };
        Memory { groups: self.groups.iter().map(&mut group).collect() }
    }

    /// A source in the direction that the query wants.
    pub(crate) fn source(&self, direction: Direction) -> Box<dyn Source> {
        let mut groups = self.groups.clone();
        if direction == Direction::Ascending {
            groups.reverse();
        }
        Box::new(MemorySource(groups))
    }

    /// The rows of a query, as NDJSON lines; its error as text.
    pub(crate) fn query(&self, text: &str) -> String {
        match Query::prepare(text) {
            Ok(query) => self.run(&query, RunOptions::default()).0,
            Err(error) => error.to_string(),
        }
    }

    /// The rows of a query, as NDJSON lines with its error behind them if there is one; and what was counted.
    pub(crate) fn run(&self, query: &Query, options: RunOptions) -> (String, Stats) {
        let (lines, error, stats) = read(query.run_with(self.source(query.direction()), options));
        (lines.concat() + &error.map(|error| format!("error: {error}\n")).unwrap_or_default(), stats)
    }
}

/// All rows, as NDJSON lines; the error that ended them, if there was one; and what was counted.
pub(crate) fn read(mut rows: Rows) -> (Vec<String>, Option<String>, Stats) {
    let mut lines = Vec::new();
    let error = loop {
        match rows.next_row() {
            Ok(Some(row)) => {
                let mut line = Vec::new();
                row.write_ndjson(&mut line);
                lines.push(String::from_utf8(line).unwrap());
            }
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    (lines, error, *rows.stats())
}

/// The documents, a line each, with their places in time.
impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (group, blocks) in self.groups.iter().enumerate() {
            for (number, block) in blocks.iter().enumerate() {
                writeln!(f, "group {group}, block {number}:")?;
                let documents = block.documents.split(|&byte| byte == b'\n');
                for ((document, instant), arrival) in documents.zip(&block.instants).zip(&block.arrivals) {
                    let (instant, arrival) = (u64::from_le_bytes(*instant), u64::from_le_bytes(*arrival));
                    writeln!(f, "  {instant} #{arrival} {}", String::from_utf8_lossy(document))?;
                }
            }
        }
        Ok(())
    }
}

/// The next group is the last.
struct MemorySource(Vec<Vec<Arc<MemoryBlock>>>);

impl Source for MemorySource {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        Ok(self.0.pop().map(|group| group.into_iter().map(|block| block as Arc<dyn Block>).collect()))
    }
}
