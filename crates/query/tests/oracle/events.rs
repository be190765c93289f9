//! Events in memory, in the blocks and groups that a store would hand out.

use crate::eval::Event;
use crate::generate::Draft;
use crate::memory::{self, Memory, MemoryBlock};
use std::sync::Arc;
use tamias_json::validate::{Limits, minify_object};
use tamias_query::{Direction, Source};

/// All events in time order, and how they are dealt out to blocks.
pub(crate) struct Store {
    pub(crate) events: Vec<Event>,
    memory: Memory,
}

/// 2024-05-29T10:56:01.2345678Z.
const BEGIN: u64 = 638_525_841_612_345_678;

impl Store {
    pub(crate) fn new(drafts: &[Draft]) -> Store {
        let mut order: Vec<usize> = (0..drafts.len()).collect();
        order.sort_by_key(|&index| drafts[index].arrival);
        let mut arrivals = vec![0; drafts.len()];
        for (arrival, index) in order.into_iter().enumerate() {
            arrivals[index] = arrival as u64;
        }
        let mut instant = BEGIN;
        let mut placed: Vec<(Event, &Draft)> = Vec::new();
        for (index, draft) in drafts.iter().enumerate() {
            instant += draft.gap;
            placed.push((Event::new(instant, arrivals[index], normalised(&draft.json)), draft));
        }
        placed.sort_by_key(|(event, _)| (event.instant, event.arrival));
        let mut memory = Memory::default();
        let mut group: [Vec<memory::Event>; 3] = [const { Vec::new() }; 3];
        for (index, (event, draft)) in placed.iter().enumerate() {
            let document = event.json.clone();
            let stored = memory::Event { instant: event.instant, arrival: event.arrival, document };
            group[usize::from(draft.block)].push(stored);
            // Groups are disjoint in time: one instant is never in two of them.
            let next = placed.get(index + 1);
            if next.is_none_or(|(next, _)| draft.ends_group && next.instant > event.instant) {
                let filled = group.iter().filter(|events| !events.is_empty());
                memory.groups.push(filled.map(|events| Arc::new(MemoryBlock::new(events))).collect());
                group = Default::default();
            }
        }
        Store { events: placed.into_iter().map(|(event, _)| event).collect(), memory }
    }

    /// The same events in columns that have deleted ones too.
    pub(crate) fn beside_deleted(&self, direction: Direction) -> Box<dyn Source> {
        self.memory.beside_deleted().source(direction)
    }

    /// The same events in columns.
    pub(crate) fn in_columns(&self, direction: Direction) -> Box<dyn Source> {
        self.memory.in_columns().source(direction)
    }

    /// The same events as text, of which queries keep what they find for those to come.
    pub(crate) fn kept(&self) -> Memory {
        self.memory.kept()
    }

    pub(crate) fn source(&self, direction: Direction) -> Box<dyn Source> {
        self.memory.source(direction)
    }
}

/// A document as it is stored.
fn normalised(json: &str) -> String {
    let mut stored = Vec::new();
    minify_object(json.as_bytes(), &Limits::default(), &mut stored).unwrap();
    String::from_utf8(stored).unwrap()
}
