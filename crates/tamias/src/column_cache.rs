//! What was decoded of blocks in columns, and found in blocks of text, kept for the queries to come: up to a number of bytes, the blocks that were
//! used last.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tamias_query::{DecodedColumns, Places};
use tamias_store::BlockId;

/// Decoded blocks, by where they stand in the store that was opened. File numbers are never used again, so that an entry is never wrong, only of no use.
pub(crate) struct ColumnCache {
    bytes_max: usize,
    entries: Mutex<Entries>,
    /// What they take together, to be known without waiting for them.
    held_bytes: AtomicUsize,
}

#[derive(Default)]
struct Entries {
    by_id: HashMap<BlockId, Entry>,
    bytes: usize,
    /// Counts uses, to tell which was the last.
    uses: u64,
}

struct Entry {
    cached: Arc<Cached>,
    bytes: usize,
    used: u64,
}

/// What is kept of a block.
#[derive(Default)]
pub(crate) struct Cached {
    decoded: OnceLock<Arc<DecodedColumns>>,
    statistics: OnceLock<Vec<u8>>,
    /// How many single documents were asked for.
    points: AtomicUsize,
    /// Of a block of text.
    places: Arc<Places>,
}

/// HEURISTIC: where more documents of a block of so many events are asked for, all of them are put together. Of 16,384 generated events one by itself
/// took 5 ms, all of them 45 ms; of 50 events of 16,000 keys one took half as long as all.
pub(crate) fn points_max(events: usize) -> usize {
    (events / 2048).clamp(1, 8)
}

impl Cached {
    pub(crate) fn decoded(&self) -> Option<Arc<DecodedColumns>> {
        self.decoded.get().cloned()
    }

    pub(crate) fn keep(&self, decoded: &Arc<DecodedColumns>) {
        self.decoded.get_or_init(|| decoded.clone());
    }

    /// The statistics of the block, which are read if they are not there.
    pub(crate) fn statistics(&self, read: impl FnOnce() -> Vec<u8>) -> &[u8] {
        self.statistics.get_or_init(read)
    }

    /// Counts a single document that is asked for, of a block of so many events: whether so many were that all of them had better be put together, and
    /// kept.
    pub(crate) fn ask_for_document(&self, events: usize) -> bool {
        self.points.fetch_add(1, Relaxed) >= points_max(events)
    }

    /// Whether there is nothing to be kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.decoded.get().is_none()
            && self.statistics.get().is_none()
            && self.points.load(Relaxed) == 0
            && self.places.held_bytes() == 0
    }

    /// Where keys stand in the block, if it is text.
    pub(crate) fn places(&self) -> &Arc<Places> {
        &self.places
    }

    fn held_bytes(&self) -> usize {
        let decoded = self.decoded.get().map_or(0, |decoded| decoded.held_bytes());
        let statistics = self.statistics.get().map_or(0, Vec::capacity);
        decoded + statistics + self.places.held_bytes() + size_of::<Entry>() + size_of::<Cached>()
    }
}

impl ColumnCache {
    /// A cache of at most so many bytes.
    pub(crate) fn new(bytes_max: usize) -> ColumnCache {
        ColumnCache { bytes_max, entries: Mutex::default(), held_bytes: AtomicUsize::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // Whatever panics leaves sums at worst that are too large.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is kept of a block, or nothing yet.
    pub(crate) fn get(&self, id: BlockId) -> Arc<Cached> {
        let entries = self.lock();
        entries.by_id.get(&id).map(|entry| entry.cached.clone()).unwrap_or_default()
    }

    /// A block was used, and may have grown: it is kept, and others go if there are too many. Who may hold no more than `budget_bytes` adds
    /// nothing to a cache that takes as much: a block that has grown goes then.
    pub(crate) fn note(&self, id: BlockId, cached: &Arc<Cached>, budget_bytes: usize) {
        let bytes = cached.held_bytes();
        let mut entries = self.lock();
        let known = entries.by_id.get(&id).map_or(0, |entry| entry.bytes);
        let together = entries.bytes.saturating_sub(known).saturating_add(bytes);
        if bytes > self.bytes_max || together > budget_bytes && bytes > known {
            // What is kept of it has grown with it.
            if let Some(before) = entries.by_id.remove(&id) {
                entries.bytes -= before.bytes;
            }
            self.held_bytes.store(entries.bytes, Relaxed);
            return;
        }
        entries.uses += 1;
        let used = entries.uses;
        let before = entries.by_id.insert(id, Entry { cached: cached.clone(), bytes, used });
        entries.bytes = entries.bytes + bytes - before.map_or(0, |before| before.bytes);
        if entries.bytes > self.bytes_max {
            entries.shrink(self.bytes_max / 8 * 7);
        }
        self.held_bytes.store(entries.bytes, Relaxed);
    }
}

/// For queries it is one with their own memory.
impl tamias_query::Cache for ColumnCache {
    fn held_bytes(&self) -> usize {
        self.held_bytes.load(Relaxed)
    }

    fn shrink(&self, bytes_max: usize) {
        let mut entries = self.lock();
        entries.shrink(bytes_max);
        self.held_bytes.store(entries.bytes, Relaxed);
    }
}

impl Entries {
    /// Drops blocks that were used longest ago, until the others take so many bytes at most. As that is done for many at once, it costs little
    /// for each.
    fn shrink(&mut self, bytes_max: usize) {
        let mut by_use: Vec<(u64, BlockId)> =
            self.by_id.iter().map(|(id, entry)| (entry.used, *id)).collect();
        by_use.sort_unstable_by_key(|(used, _)| *used);
        for (_, id) in by_use {
            if self.bytes <= bytes_max {
                return;
            }
            if let Some(entry) = self.by_id.remove(&id) {
                self.bytes -= entry.bytes;
            }
        }
    }
}

impl std::fmt::Debug for ColumnCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnCache").field("bytes_max", &self.bytes_max).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamias_query::Cache;

    #[test]
    fn blocks_that_were_used_last_stay_within_the_limit() {
        let cache = ColumnCache::new(100_000);
        let id = |block| BlockId { opening: 0, segment: 1, block };
        for block in 0..200 {
            let cached = cache.get(id(block));
            cached.statistics(|| vec![0; 1000]);
            cache.note(id(block), &cached, usize::MAX);
            assert!(cache.lock().bytes <= 100_000);
            // The first is used all the time.
            cache.note(id(0), &cache.get(id(0)), usize::MAX);
        }
        assert!(cache.get(id(0)).statistics.get().is_some());
        assert!(cache.get(id(199)).statistics.get().is_some());
        assert!(cache.get(id(1)).statistics.get().is_none());
        let entries = cache.lock();
        assert_eq!(entries.bytes, entries.by_id.values().map(|entry| entry.bytes).sum::<usize>());
        assert!(entries.bytes > 80_000, "{}", entries.bytes);
        drop(entries);
        cache.shrink(10_000);
        assert!(cache.held_bytes() <= 10_000 && cache.held_bytes() > 8_000);
        assert!(cache.get(id(0)).statistics.get().is_some());
    }

    #[test]
    fn who_may_hold_little_adds_nothing() {
        let cache = ColumnCache::new(100_000);
        let id = |block| BlockId { opening: 0, segment: 1, block };
        let note = |block, budget_bytes| {
            let cached = cache.get(id(block));
            cached.statistics(|| vec![0; 1000]);
            cache.note(id(block), &cached, budget_bytes);
        };
        note(0, 4000);
        note(1, 2000);
        assert!(cache.get(id(0)).statistics.get().is_some() && cache.get(id(1)).statistics.get().is_none());
        // What is there already stays.
        note(0, 10);
        assert!(cache.get(id(0)).statistics.get().is_some());
    }

    #[test]
    fn a_block_that_grew_beyond_what_there_is_goes() {
        let cache = ColumnCache::new(100_000);
        let id = BlockId { opening: 0, segment: 1, block: 0 };
        let cached = cache.get(id);
        cache.note(id, &cached, 4000);
        assert!(cache.held_bytes() > 0);
        cached.statistics(|| vec![0; 5000]);
        cache.note(id, &cached, 4000);
        assert_eq!((cache.held_bytes(), cache.lock().bytes), (0, 0));
        assert!(cache.get(id).statistics.get().is_none());
    }

    #[test]
    fn of_few_events_all_documents_are_put_together_at_the_second_that_is_asked_for() {
        let first_of_many = |events| {
            let cached = Cached::default();
            (1..100).find(|_| cached.ask_for_document(events))
        };
        assert_eq!([1, 50, 4_096, 16_384].map(first_of_many), [2, 2, 3, 9].map(Some));
    }

    #[test]
    fn a_block_that_alone_is_too_large_is_not_kept() {
        let cache = ColumnCache::new(1000);
        let cached = cache.get(BlockId { opening: 0, segment: 1, block: 0 });
        cached.statistics(|| vec![0; 2000]);
        cache.note(BlockId { opening: 0, segment: 1, block: 0 }, &cached, usize::MAX);
        assert_eq!(cache.lock().bytes, 0);
    }
}
