//! What was decoded of blocks in columns, and found in blocks of text, kept for the queries to come, up to a number of bytes.
//!
//! Queries go through all blocks in the same order, time and again. If each block took the place of the one used longest ago, a store that is somewhat larger
//! than the cache would find nothing in it: each block would go just before it is needed again. So one query replaces at most an eighth of what is
//! kept, and what else it decodes goes as soon as its block is done with: a part stays that is as large as the cache, and another kind of queries takes the place over
//! within eight of them.
//!
//! Before anything goes, columns are kept in fewer bytes: numbers and codes in a quarter of the room, mostly, and to widen them for a query takes less than to
//! decode them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tamias_query::{DecodedColumns, KeyNumbers, Places};
use tamias_store::BlockId;

/// Decoded blocks, by where they stand in the store that was opened. File numbers are never used again, so that an entry is never wrong, only of no use.
pub(crate) struct ColumnCache {
    bytes_max: usize,
    entries: Mutex<Entries>,
    /// What they take together, to be known without waiting for them.
    held_bytes: AtomicUsize,
    /// Those of groups' keys, which take a part of it.
    key_numbers: KeyNumbers,
    /// How many queries there were.
    turns: AtomicU64,
}

/// A query, or whatever else reads blocks, with what it keeps.
#[derive(Clone)]
pub(crate) struct Turn {
    cache: Arc<ColumnCache>,
    pub(crate) number: u64,
    /// What it may hold, the cache included.
    budget_bytes: usize,
}

#[derive(Default)]
struct Entries {
    by_id: HashMap<BlockId, Entry>,
    bytes: usize,
    /// How many of them are not compact.
    wide: usize,
    /// The last query for which something was dropped.
    made_room: u64,
}

/// A query replaces one part in so many of what is kept.
const REPLACED_SHARE: usize = 8;

/// The numbers of keys that no query uses take one part in so many at most where memory is short.
const UNUSED_KEYS_SHARE: usize = 4;

/// The numbers of keys take so many parts of so many at most: a query that uses them would have to hold the keys itself.
const KEYS_SHARE: (usize, usize) = (3, 4);

/// The most that the numbers of keys take of so many bytes.
fn keys_bytes_max(bytes_max: usize) -> usize {
    let (parts, of) = KEYS_SHARE;
    bytes_max / of * parts
}

struct Entry {
    cached: Arc<Cached>,
    bytes: usize,
    /// Whether its columns were in as few bytes as they can be when it was used last.
    is_compact: bool,
    /// In whose turn it was used last.
    used: u64,
}

/// What is kept of a block.
#[derive(Default)]
pub(crate) struct Cached {
    decoded: Mutex<Option<Arc<DecodedColumns>>>,
    statistics: OnceLock<Vec<u8>>,
    /// The filter of the statistics, where it is apart.
    filter: OnceLock<Vec<u8>>,
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
        lock(&self.decoded).clone()
    }

    /// Where another thread was first, what it has counts.
    pub(crate) fn keep(&self, decoded: &Arc<DecodedColumns>) {
        lock(&self.decoded).get_or_insert_with(|| decoded.clone());
    }

    /// Keeps some of what is decoded. Whoever uses the rest at this time goes on with it.
    fn reduce(&self, kept: impl FnOnce(&DecodedColumns) -> DecodedColumns) {
        let mut decoded = lock(&self.decoded);
        *decoded = decoded.as_deref().map(|decoded| Arc::new(kept(decoded)));
    }

    /// The statistics of the block, which are read if they are not there.
    pub(crate) fn statistics(&self, read: impl FnOnce() -> Vec<u8>) -> &[u8] {
        self.statistics.get_or_init(read)
    }

    /// The filter of the statistics, which is read if it is not there.
    pub(crate) fn filter(&self, read: impl FnOnce() -> Vec<u8>) -> &[u8] {
        self.filter.get_or_init(read)
    }

    /// Counts a single document that is asked for, of a block of so many events: whether so many were that all of them had better be put together, and
    /// kept.
    pub(crate) fn ask_for_document(&self, events: usize) -> bool {
        self.points.fetch_add(1, Relaxed) >= points_max(events)
    }

    /// Whether there is nothing to be kept.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.decoded).is_none()
            && self.statistics.get().is_none()
            && self.filter.get().is_none()
            && self.points.load(Relaxed) == 0
            && self.places.held_bytes() == 0
    }

    /// Where keys stand in the block, if it is text.
    pub(crate) fn places(&self) -> &Arc<Places> {
        &self.places
    }

    fn held_bytes(&self) -> usize {
        let decoded = lock(&self.decoded).as_ref().map_or(0, |decoded| decoded.held_bytes());
        let statistics: usize =
            [&self.statistics, &self.filter].into_iter().filter_map(OnceLock::get).map(Vec::capacity).sum();
        decoded + statistics + self.places.held_bytes() + size_of::<Entry>() + size_of::<Cached>()
    }
}

impl ColumnCache {
    /// A cache of at most so many bytes.
    pub(crate) fn new(bytes_max: usize) -> ColumnCache {
        ColumnCache {
            bytes_max,
            entries: Mutex::default(),
            held_bytes: AtomicUsize::new(0),
            key_numbers: KeyNumbers::new(keys_bytes_max(bytes_max)),
            turns: AtomicU64::new(0),
        }
    }

    /// The turn of a query that may hold so many bytes, the cache included.
    pub(crate) fn turn(self: &Arc<ColumnCache>, budget_bytes: usize) -> Turn {
        let number = self.turns.fetch_add(1, Relaxed) + 1;
        Turn { cache: self.clone(), number, budget_bytes }
    }
}

impl Turn {
    /// What is kept of a block, or nothing yet.
    pub(crate) fn get(&self, id: BlockId) -> Arc<Cached> {
        let entries = lock(&self.cache.entries);
        entries.by_id.get(&id).map(|entry| entry.cached.clone()).unwrap_or_default()
    }

    /// A block was used, and may have grown: it is kept if there is room, or if the query may make room. Otherwise what grew goes. A query that may hold
    /// no more than the cache takes adds nothing to it.
    pub(crate) fn note(&self, id: BlockId, cached: &Arc<Cached>) {
        let ColumnCache { bytes_max, entries, held_bytes, key_numbers, .. } = &*self.cache;
        // What the cache may hold beyond what the query may is of no use to it.
        let all_max = self.budget_bytes.min(*bytes_max);
        let bytes_max = all_max.saturating_sub(key_numbers.held_bytes());
        let mut bytes = cached.held_bytes();
        // A cache of nothing has nothing to gain by it. Others need not wait meanwhile.
        let is_compact = bytes_max > 0 && !lock(entries).has_room(id, bytes, bytes_max);
        if is_compact {
            cached.reduce(DecodedColumns::compacted);
            bytes = cached.held_bytes();
        }
        let mut entries = lock(entries);
        let may_make_room = self.budget_bytes >= entries.bytes;
        if is_compact && may_make_room && !entries.has_room(id, bytes, bytes_max) {
            let room = bytes_max.saturating_sub(bytes);
            // Its own columns are compact, and what it has grown by is yet to be let in.
            entries.compact(room.min(bytes_max - bytes_max / REPLACED_SHARE), Some(id));
        }
        if !entries.has_room(id, bytes, bytes_max) && entries.made_room < self.number && may_make_room {
            entries.made_room = self.number;
            // Keys that no query uses make room first. What they take until somebody reads them no more is known in the next turn.
            key_numbers.shrink(all_max / UNUSED_KEYS_SHARE, keys_bytes_max(all_max));
            let bytes_max = all_max.saturating_sub(key_numbers.held_bytes());
            entries.shrink(bytes_max - bytes_max / REPLACED_SHARE, None);
            bytes = cached.held_bytes();
        }
        let mut has_room = entries.has_room(id, bytes, bytes_max);
        if !has_room {
            cached.reduce(|decoded| decoded.made_before(self.number));
            cached.places.drop_new();
            bytes = cached.held_bytes();
            has_room = entries.has_room(id, bytes, bytes_max);
        }
        let used = entries.remove(id).map_or(0, |entry| entry.used).max(self.number);
        if has_room {
            cached.places.settle();
            entries.insert(id, Entry { cached: cached.clone(), bytes, is_compact, used });
        }
        held_bytes.store(entries.bytes, Relaxed);
    }
}

/// For queries it is one with their own memory.
impl tamias_query::Cache for ColumnCache {
    fn held_bytes(&self) -> usize {
        self.held_bytes.load(Relaxed) + self.key_numbers.held_bytes()
    }

    fn shrink(&self, bytes_max: usize) {
        self.key_numbers.shrink(bytes_max / UNUSED_KEYS_SHARE, keys_bytes_max(bytes_max));
        let bytes_max = bytes_max.saturating_sub(self.key_numbers.held_bytes());
        let mut entries = lock(&self.entries);
        if bytes_max > 0 {
            entries.compact(bytes_max, None);
        }
        entries.shrink(bytes_max, Some(self.turns.load(Relaxed)));
        self.held_bytes.store(entries.bytes, Relaxed);
    }

    fn key_numbers(&self) -> Option<&KeyNumbers> {
        Some(&self.key_numbers)
    }
}

impl Entries {
    /// Whether a block may take so many bytes, where all may take `bytes_max`. One that has not grown always may.
    fn has_room(&self, id: BlockId, bytes: usize, bytes_max: usize) -> bool {
        let known = self.by_id.get(&id).map_or(0, |entry| entry.bytes);
        bytes <= known || (self.bytes - known).saturating_add(bytes) <= bytes_max
    }

    fn insert(&mut self, id: BlockId, entry: Entry) {
        self.bytes += entry.bytes;
        self.wide += usize::from(!entry.is_compact);
        self.by_id.insert(id, entry);
    }

    fn remove(&mut self, id: BlockId) -> Option<Entry> {
        let entry = self.by_id.remove(&id)?;
        self.bytes -= entry.bytes;
        self.wide -= usize::from(!entry.is_compact);
        Some(entry)
    }

    /// Keeps columns in fewer bytes, those first that were used longest ago, until all take so many at most, or none but one can be made smaller.
    fn compact(&mut self, bytes_max: usize, but: Option<BlockId>) {
        if self.bytes <= bytes_max || self.wide == 0 {
            return;
        }
        let mut wide: Vec<_> =
            self.by_id.iter_mut().filter(|(id, entry)| !entry.is_compact && Some(**id) != but).collect();
        wide.sort_unstable_by_key(|(id, entry)| (entry.used, **id));
        for (_, entry) in wide {
            entry.cached.reduce(DecodedColumns::compacted);
            entry.is_compact = true;
            self.wide -= 1;
            let bytes = entry.cached.held_bytes();
            self.bytes = self.bytes - entry.bytes + bytes;
            entry.bytes = bytes;
            if self.bytes <= bytes_max {
                break;
            }
        }
    }

    /// Drops what was used longest ago, until the rest takes so many bytes at most. As that is done for much at once, it costs little for each piece.
    ///
    /// Where a query that goes on needs the memory, the newest turn is given, which is its own unless there are several: what was used in the turn before goes last in blocks
    /// that it has yet to come to, as most queries come again, and would find nothing if each block went just before it is needed.
    fn shrink(&mut self, bytes_max: usize, by: Option<u64>) {
        let mut pieces: Vec<((bool, u64), BlockId, usize)> = Vec::new();
        for (id, Entry { cached, bytes, used, .. }) in &self.by_id {
            let is_to_come = |of: u64| by.is_some_and(|turn| *used < turn && of + 1 >= turn);
            let mut of_columns = 0;
            if let Some(decoded) = cached.decoded() {
                decoded.pieces(|used, bytes| {
                    of_columns += bytes;
                    pieces.push(((is_to_come(used), used), *id, bytes));
                });
            }
            pieces.push(((is_to_come(*used), *used), *id, bytes.saturating_sub(of_columns)));
        }
        pieces.sort_unstable();
        let mut left = self.bytes;
        // Of each block what was used before a turn goes.
        let mut since: HashMap<BlockId, u64> = HashMap::new();
        for ((_, used), id, bytes) in pieces {
            if left <= bytes_max {
                break;
            }
            left = left.saturating_sub(bytes);
            let since = since.entry(id).or_default();
            *since = (*since).max(used + 1);
        }
        for (id, since) in since {
            let Some(Entry { cached, is_compact, used, .. }) = self.remove(id) else { continue };
            if used >= since {
                cached.reduce(|decoded| decoded.used_since(since));
                let bytes = cached.held_bytes();
                self.insert(id, Entry { cached, bytes, is_compact, used });
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whatever panics leaves sums at worst that are too large.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

    const BYTES_MAX: usize = 100_000;

    fn id(block: u32) -> BlockId {
        BlockId { opening: 0, segment: 1, block }
    }

    /// Reads a block that has this many bytes of statistics, and tells whether they were kept before.
    fn visit(turn: &Turn, block: u32, bytes: usize) -> bool {
        let cached = turn.get(id(block));
        let was_kept = cached.statistics.get().is_some();
        cached.statistics(|| vec![0; bytes]);
        turn.note(id(block), &cached);
        was_kept
    }

    fn check_sums(cache: &ColumnCache) {
        let entries = lock(&cache.entries);
        assert_eq!(entries.bytes, entries.by_id.values().map(|entry| entry.bytes).sum::<usize>());
        assert_eq!(entries.wide, entries.by_id.values().filter(|entry| !entry.is_compact).count());
        assert!(entries.bytes <= cache.bytes_max);
        assert_eq!(cache.held_bytes.load(Relaxed), entries.bytes);
    }

    #[test]
    fn of_blocks_that_take_more_than_the_cache_a_part_stays_from_query_to_query() {
        check_part_stays(BYTES_MAX, usize::MAX);
    }

    #[test]
    fn of_a_cache_that_may_hold_more_than_a_query_as_much_is_used_as_the_query_may_hold() {
        check_part_stays(10 * BYTES_MAX, BYTES_MAX);
    }

    fn check_part_stays(cache_bytes: usize, budget_bytes: usize) {
        let cache = Arc::new(ColumnCache::new(cache_bytes));
        // Twice what there is room for.
        let read = || {
            let turn = cache.turn(budget_bytes);
            let kept = (0..160).filter(|block| visit(&turn, *block, 1000)).count();
            check_sums(&cache);
            assert!(cache.held_bytes() <= budget_bytes);
            kept
        };
        assert_eq!(read(), 0);
        // Another one comes, which is let in within some queries.
        (0..8).for_each(|_| _ = visit(&cache.turn(budget_bytes), 200, 1000));
        assert!(visit(&cache.turn(budget_bytes), 200, 1000));
        for _ in 0..20 {
            let kept = read();
            assert!((60..=90).contains(&kept), "{kept}");
        }
    }

    #[test]
    fn what_is_no_longer_asked_for_gives_way_within_some_queries() {
        let cache = Arc::new(ColumnCache::new(BYTES_MAX));
        let read = |blocks: std::ops::Range<u32>| {
            let turn = cache.turn(usize::MAX);
            blocks.filter(|block| visit(&turn, *block, 1000)).count()
        };
        read(0..80);
        assert_eq!(read(0..80), 80);
        let kept: Vec<usize> = (0..10).map(|_| read(100..180)).collect();
        assert!(kept.is_sorted() && kept.last() == Some(&80), "{kept:?}");
        check_sums(&cache);
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let cache = Arc::new(ColumnCache::new(BYTES_MAX));
        (0..80).for_each(|block| _ = visit(&cache.turn(usize::MAX), block, 1000));
        visit(&cache.turn(usize::MAX), 0, 1000);
        tamias_query::Cache::shrink(&*cache, 10_000);
        let (bytes, turn) = (cache.held_bytes(), cache.turn(usize::MAX));
        assert!(bytes <= 10_000 && bytes > 8_000, "{bytes}");
        assert!(visit(&turn, 0, 1000) && visit(&turn, 79, 1000) && !visit(&turn, 1, 1000));
    }

    #[test]
    fn who_may_hold_little_adds_nothing() {
        let cache = Arc::new(ColumnCache::new(BYTES_MAX));
        visit(&cache.turn(4000), 0, 1000);
        visit(&cache.turn(2000), 1, 1000);
        // What is there already stays.
        assert!(visit(&cache.turn(10), 0, 1000));
        assert!(!visit(&cache.turn(10), 1, 1000));
    }

    #[test]
    fn a_block_that_grew_beyond_what_there_is_goes() {
        let cache = Arc::new(ColumnCache::new(BYTES_MAX));
        let turn = cache.turn(4000);
        let cached = turn.get(id(0));
        turn.note(id(0), &cached);
        assert!(cache.held_bytes() > 0);
        cached.statistics(|| vec![0; 5000]);
        turn.note(id(0), &cached);
        assert_eq!((cache.held_bytes(), lock(&cache.entries).bytes), (0, 0));
        assert!(turn.get(id(0)).statistics.get().is_none());
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
        let cache = Arc::new(ColumnCache::new(1000));
        visit(&cache.turn(usize::MAX), 0, 2000);
        assert_eq!(lock(&cache.entries).bytes, 0);
    }
}
