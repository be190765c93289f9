//! Compaction: several small segments become a larger one.
//!
//! In the background this happens by tiers of size: eight segments of about a size become one of eight times that, so that an
//! event is written anew a number of times that grows with the logarithm of a full segment's size over its first one's. One
//! step reads and writes no more documents than a full segment holds.
//!
//! What is written is laid out as [`Options::segments`](crate::Options::segments) says: so text becomes columns where it is compacted
//! anyway, and the rest when the whole store is.

use std::sync::{Arc, PoisonError};

use crate::error::{Failure, ReadError, SealError};
use crate::format::Key;
use crate::history::{self, Cause, HistoryEntry};
use crate::manifest::SegmentEntry;
use crate::options::{FlushStats, Layout};
use crate::recovery::ENDED_LOGS_MAX;
use crate::segment::{Block, Segment};
use crate::settings::{self, WhenFull};
use crate::writer::{Inner, Passed};

/// HEURISTIC: so many segments of a tier become one at once. More would leave more small ones, fewer would write events more often.
const TIER_SEGMENTS: usize = 8;

/// A tier holds segments of up to so many times the bytes of its smallest, as a power of two.
const TIER_BITS: u32 = 2;

/// Which segments to compact, by number: neighbours in time that fit into one together.
fn tier(segments: &[SegmentEntry], segment_bytes: u64) -> Option<Vec<u64>> {
    let small = small(segments, segment_bytes);
    let tier_of = |entry: &SegmentEntry| entry.document_bytes.max(1).ilog2() / TIER_BITS;
    let lowest_first = 0..u64::BITS / TIER_BITS;
    lowest_first.into_iter().find_map(|tier| {
        let members: Vec<SegmentEntry> =
            small.iter().filter(|entry| tier_of(entry) == tier).copied().collect();
        let full = members.chunks_exact(TIER_SEGMENTS);
        full.into_iter().find_map(|members| fitting(members, segment_bytes))
    })
}

/// Which segments to compact so that few are left.
fn neighbours(segments: &[SegmentEntry], segment_bytes: u64) -> Option<Vec<u64>> {
    let small = small(segments, segment_bytes);
    (0..small.len()).find_map(|start| fitting(small.get(start..)?, segment_bytes))
}

/// The earliest segment without any columns, where these are wanted; not one that was found to stay text.
fn text(segments: &[SegmentEntry], passed: &Passed) -> Option<Vec<u64>> {
    let is_text = |entry: &&SegmentEntry| entry.column_blocks == 0 && !passed.text.contains(&entry.number);
    let earliest = segments.iter().filter(is_text).min_by_key(|entry| entry.first)?;
    Some(vec![earliest.number])
}

/// A segment that begins before `begin`, and ends behind the border.
fn at_border(segments: &[SegmentEntry], begin: u64, border: u64) -> Option<Vec<u64>> {
    let is_at = |entry: &&SegmentEntry| entry.first.instant < begin && entry.last.instant >= border;
    Some(vec![segments.iter().find(is_at)?.number])
}

/// Those that fill at most half a segment, in order of time.
fn small(segments: &[SegmentEntry], segment_bytes: u64) -> Vec<SegmentEntry> {
    let mut small: Vec<SegmentEntry> =
        segments.iter().filter(|entry| entry.document_bytes <= segment_bytes / 2).copied().collect();
    small.sort_unstable_by_key(|entry| entry.first);
    small
}

/// The first of these segments that fit into one, if that is more than one.
fn fitting(segments: &[SegmentEntry], segment_bytes: u64) -> Option<Vec<u64>> {
    let mut bytes = 0u64;
    let fitting = segments.iter().take_while(|entry| {
        bytes = bytes.saturating_add(entry.document_bytes);
        bytes <= segment_bytes
    });
    let numbers: Vec<u64> = fitting.map(|entry| entry.number).collect();
    (numbers.len() > 1).then_some(numbers)
}

impl Inner {
    /// Compacts whatever can be, and removes what is too old, as long as it may go on: that is asked before each block, and a step that is not finished then leaves nothing behind. False if it was not done
    /// then. `told` hears before each step how many bytes of documents are done, and of how many.
    pub(crate) fn compact_all(
        &self,
        may_go_on: &dyn Fn() -> bool,
        told: &dyn Fn(u64, u64),
    ) -> Result<bool, SealError> {
        while self.cut_border(may_go_on)? {}
        self.remove_too_old()?;
        let all = self.uncompacted_bytes();
        let step = || told(all.saturating_sub(self.uncompacted_bytes()), all);
        step();
        while self.compact_neighbours(may_go_on)? {
            step();
        }
        while self.compact_text(may_go_on)? {
            step();
        }
        Ok(may_go_on())
    }

    /// Bytes of the documents of segments that are small, or text where columns are wanted.
    fn uncompacted_bytes(&self) -> u64 {
        let passed = self.compacting.lock().unwrap_or_else(PoisonError::into_inner);
        let segments = &self.state().segments;
        let are_columns_wanted = self.options.segments == Layout::Columns;
        let is_left = |entry: &SegmentEntry| {
            let is_text = are_columns_wanted && entry.column_blocks == 0;
            let is_small = entry.document_bytes <= self.segment_bytes() as u64 / 2;
            (is_small || is_text && !passed.text.contains(&entry.number))
                && !passed.unreadable.contains(&entry.number)
        };
        let left = segments.list.iter().map(|segment| segment.entry).filter(is_left);
        left.map(|entry| entry.document_bytes).fold(0, u64::saturating_add)
    }

    /// Compacts one group of small segments of a tier; false if there is none, or it may not go on.
    pub(crate) fn compact_tier(&self, may_go_on: &dyn Fn() -> bool) -> Result<bool, SealError> {
        let free = match self.settings().when_full {
            WhenFull::Fail => None,
            // It must not take the room for which the oldest events go.
            WhenFull::RemoveOldest => self.directory.free_bytes(),
        };
        let has_room = |segments: &[SegmentEntry], chosen: &[u64]| {
            let chosen = segments.iter().filter(|entry| chosen.contains(&entry.number));
            let bytes: u64 = chosen.map(|entry| entry.file_bytes).sum();
            free.is_none_or(|free| free / 2 >= bytes)
        };
        let plan = |segments: &[SegmentEntry], bytes| {
            tier(segments, bytes).filter(|chosen| has_room(segments, chosen))
        };
        self.compact(|segments, bytes, _| plan(segments, bytes), may_go_on)
    }

    /// Seals what processes that live for a moment only leave in the log, once it is worth a segment or too old to be kept, and takes one step of compaction.
    pub(crate) fn tidy(&self, may_go_on: &dyn Fn() -> bool) -> Result<(), SealError> {
        let writer = self.lock();
        let border = writer.manifest.settings.border(settings::now()).unwrap_or(0);
        let runs = &writer.replayed.memtable.runs;
        let too_old = runs.iter().any(|run| run.key(0).is_some_and(|key| key.instant < border));
        let due =
            writer.is_worth_a_segment(&self.options) || writer.ended.logs.len() >= ENDED_LOGS_MAX || too_old;
        drop(writer);
        if due {
            self.seal()?;
        }
        self.compact_tier(may_go_on).map(drop)
    }

    /// Compacts one group of small segments that are neighbours; false if there is none, or it may not go on.
    fn compact_neighbours(&self, may_go_on: &dyn Fn() -> bool) -> Result<bool, SealError> {
        self.compact(|segments, bytes, _| neighbours(segments, bytes), may_go_on)
    }

    /// Writes one segment anew that spans the border of age, without what is too old; false if there is none, or it may not go on.
    pub(crate) fn cut_border(&self, may_go_on: &dyn Fn() -> bool) -> Result<bool, SealError> {
        let settings = self.settings();
        let now = settings::now();
        match (settings.cut_before(now), settings.border(now)) {
            (Some(begin), Some(border)) => {
                self.compact(|segments, _, _| at_border(segments, begin, border), may_go_on)
            }
            _ => Ok(false),
        }
    }

    /// Makes columns of one segment that is text, if columns are what segments shall consist of; false if there is none, or it may not go on.
    fn compact_text(&self, may_go_on: &dyn Fn() -> bool) -> Result<bool, SealError> {
        match self.options.segments {
            Layout::Text => Ok(false),
            Layout::Columns => self.compact(|segments, _, passed| text(segments, passed), may_go_on),
        }
    }

    /// Writes the segments that `plan` chooses anew as one; false if it chooses none, or it may not go on.
    pub(crate) fn compact(
        &self,
        plan: impl FnOnce(&[SegmentEntry], u64, &Passed) -> Option<Vec<u64>>,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<bool, SealError> {
        if !may_go_on() {
            return Ok(false);
        }
        let mut passed = self.compacting.lock().unwrap_or_else(PoisonError::into_inner);
        // It keeps the files that are read.
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.state();
        let segments = &state.segments;
        let candidates: Vec<SegmentEntry> = segments
            .list
            .iter()
            .map(|segment| segment.entry)
            .filter(|entry| !passed.unreadable.contains(&entry.number))
            .collect();
        let Some(chosen) = plan(&candidates, self.segment_bytes() as u64, &passed) else {
            return Ok(false);
        };
        let mut blocks = Vec::new();
        let plain = self.environment.plain();
        for segment in segments.list.iter().filter(|segment| chosen.contains(&segment.entry.number)) {
            match all_blocks(&Arc::new(segment.read_by(Arc::clone(&plain))), may_go_on) {
                Ok(Some(more)) => blocks.extend(more),
                Ok(None) => return Ok(false),
                Err(ReadError::Failure(failure)) => return Err(failure.into()),
                // It stays as it is, and as it can be read; another group may do.
                Err(ReadError::Damaged(_)) => {
                    passed.unreadable.push(segment.entry.number);
                    return Ok(true);
                }
            }
        }
        // Whoever makes room then frees what it removes.
        plain.close_all_but(&[]);
        drop((state, reading));
        // All was verified, so all is there.
        let mut events: Vec<(Key, &[u8])> =
            blocks.iter().filter_map(|block| block.events().ok()).flatten().collect();
        events.sort_by_key(|(key, _)| *key);
        let now = settings::now();
        let before = self.settings().border(now).unwrap_or(0);
        let too_old = events.partition_point(|(key, _)| key.instant < before);
        let instants_of =
            |events: &[(Key, &[u8])]| Some((events.first()?.0.instant, events.last()?.0.instant));
        let went = events.get(..too_old).and_then(instants_of);
        let events = events.split_off(too_old);
        let mut stats = FlushStats::default();
        let sources = self.lock().manifest.sources.clone();
        let written = self.write_segments_while(&events, &sources, &mut stats, may_go_on);
        let Some(written) = written.map_err(|failure: Failure| self.lock().fail(failure))? else {
            return Ok(false);
        };
        let mut writer = self.lock_manifest();
        writer.stats.add(&stats);
        let mut manifest = writer.manifest.clone();
        let replaced: Vec<SegmentEntry> =
            manifest.segments.iter().filter(|entry| chosen.contains(&entry.number)).copied().collect();
        if replaced.len() < chosen.len() {
            // One of them was removed meanwhile.
            written.remove(&*self.directory);
            return Ok(true);
        }
        if went.is_some() && manifest.settings.border(now).is_none_or(|border| border < before) {
            // The settings let these stay by now.
            written.remove(&*self.directory);
            return Ok(true);
        }
        if let Some(instants) = went {
            let bytes = |entries: &[SegmentEntry]| entries.iter().map(|entry| entry.file_bytes).sum::<u64>();
            let file_bytes = bytes(&replaced).saturating_sub(bytes(&written.entries));
            let events = too_old as u64;
            let entry = HistoryEntry {
                began: now,
                ended: now,
                cause: Cause::Age,
                removals: 1,
                segments: 0,
                file_bytes,
                events,
                instants,
            };
            history::note(&mut manifest.history, entry);
        }
        let left_text = written.entries.iter().filter(|entry| entry.column_blocks == 0);
        passed.text.extend(left_text.map(|entry| entry.number));
        self.replace_segments(&mut writer, manifest, &chosen, written, |_| ())?;
        Ok(true)
    }
}

/// All blocks of a segment, read plainly, each verified whole, without what is deleted; none if it may not go on.
fn all_blocks(segment: &Arc<Segment>, may_go_on: &dyn Fn() -> bool) -> Result<Option<Vec<Block>>, ReadError> {
    let count = segment.load()?.index().blocks.len();
    let mut blocks = Vec::with_capacity(count);
    for number in 0..count {
        if !may_go_on() {
            return Ok(None);
        }
        let block = segment.block(number)?;
        if let Some(block) = &block {
            block.times()?;
            block.documents()?;
        }
        blocks.extend(block);
    }
    Ok(Some(blocks))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::event::Event;
    use crate::io::{Directory, Simulated};
    use crate::options::Options;
    use crate::settings::Settings;
    use crate::store::Store;

    fn entries(bytes: &[u64]) -> Vec<SegmentEntry> {
        let key = |instant| Key { instant, arrival: 0 };
        let entry = |(number, &document_bytes): (usize, &u64)| SegmentEntry {
            document_bytes,
            first: key(1000 - number as u64),
            last: key(1000),
            ..SegmentEntry::example(number as u64)
        };
        bytes.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn eight_of_a_size_are_compacted_and_large_ones_left() {
        assert_eq!(tier(&entries(&[20; 7]), 1000), None);
        assert_eq!(tier(&entries(&[20; 9]), 1000), Some(vec![8, 7, 6, 5, 4, 3, 2, 1]), "in order of time");
        assert_eq!(tier(&entries(&[501; 20]), 1000), None);
        assert_eq!(tier(&entries(&[300; 8]), 1000), Some(vec![7, 6, 5]), "as many as fit");
        assert_eq!(tier(&entries(&[1, 5, 20, 70, 1, 5, 20, 70, 1, 5, 20, 70]), 1000), None);
    }

    #[test]
    fn neighbours_are_compacted_until_all_but_one_are_half_full() {
        assert_eq!(neighbours(&entries(&[100]), 1000), None);
        assert_eq!(neighbours(&entries(&[100, 700, 900]), 1000), None);
        assert_eq!(neighbours(&entries(&[100, 700, 200]), 1000), Some(vec![2, 0]));
        assert_eq!(neighbours(&entries(&[400, 400, 400]), 1000), Some(vec![2, 1]));
    }

    /// While it writes, its input is there too. Without as much room again, appends meanwhile would drive the oldest events out, and later they would have found room.
    #[test]
    fn a_compaction_waits_for_room_on_a_medium_where_the_oldest_are_to_go() {
        for (halves, is_compacted) in [(3, false), (5, true)] {
            let folder = Simulated::new();
            let settings = Some(Settings { when_full: WhenFull::RemoveOldest, ..Settings::default() });
            let options = Options {
                segment_bytes: 30_000,
                block_bytes: 1000,
                segments: Layout::Text,
                background: false,
                settings,
                ..Options::default()
            };
            let store = Store::open_on(Arc::new(folder.clone()), options, Arc::new(())).unwrap();
            let append = |_| {
                store.append(&[Event { instant: 1, bytes: &[b'x'; 100] }]).unwrap();
            };
            for _ in 0..TIER_SEGMENTS {
                (0..20).for_each(append);
                store.seal().unwrap();
            }
            append(0);
            let input: u64 = store.snapshot().segments().iter().map(|segment| segment.file_bytes).sum();
            folder.set_room(Some(folder.medium().bytes() + input * halves / 2));
            let (events, appended) = (input / 500, Cell::new(0));
            let may_go_on = || {
                let is_writing = folder.list().unwrap().iter().any(|name| name.ends_with(".segment.tmp"));
                if is_writing && appended.get() < events {
                    (appended.get()..events).for_each(append);
                    appended.set(events);
                }
                true
            };
            assert_eq!(store.inner.compact_tier(&may_go_on).unwrap(), is_compacted);
            (appended.get()..events).for_each(append);
            assert!(store.housekeeping().unwrap().history.is_empty(), "{halves}: none went");
            assert_eq!(store.snapshot().events(), 20 * TIER_SEGMENTS as u64 + 1 + events);
        }
    }

    #[test]
    fn an_event_is_written_anew_a_few_times_only() {
        let segment_bytes = 64 << 20;
        let (mut segments, mut written, mut number) = (Vec::new(), 0u64, 0);
        let sealed = 4096u64;
        for _ in 0..40_000 {
            segments.extend(entries(&[sealed]));
            if let Some(last) = segments.last_mut() {
                (last.number, last.first.instant) = (number, number);
            }
            number += 1;
            while let Some(chosen) = tier(&segments, segment_bytes) {
                let bytes = segments.iter().filter(|entry| chosen.contains(&entry.number));
                let bytes: u64 = bytes.map(|entry| entry.document_bytes).sum();
                let first = chosen[0];
                segments.retain(|entry| entry.number == first || !chosen.contains(&entry.number));
                segments
                    .iter_mut()
                    .filter(|entry| entry.number == first)
                    .for_each(|entry| entry.document_bytes = bytes);
                written += bytes;
            }
        }
        assert!(segments.len() < 60, "{}", segments.len());
        let anew = written as f64 / (40_000 * sealed) as f64;
        assert!(anew < 6.0, "{anew}");
    }
}
