//! Sealing into columns takes the memory of a few blocks, however much is sealed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tamias::{Batch, Durability, EventFormat, Layout, Options, Store};
use tamias_testdata::Generator;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts the bytes that all threads together hold.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe to write; this one hands on to the system's")]
// SAFETY: every call goes to the system's allocator as it is; counting touches atomics only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: std::alloc::Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Bytes of documents of a block in columns.
const BLOCK_BYTES: usize = 1 << 20;

/// The most bytes that sealing so many events holds at once beside the memtable, and how many blocks it makes.
fn peak(events: u64) -> (usize, u64) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        block_bytes: BLOCK_BYTES / 8,
        segments: Layout::Columns,
        background: false,
        durability: Durability::None,
        ..Options::default()
    };
    let store = Store::open_with(folder.path(), options).unwrap();
    let (mut generator, mut line, mut batch) = (Generator::new(1, events), Vec::new(), Batch::new());
    while generator.write_next(&mut line) {
        batch.push(line.trim_ascii_end(), &EventFormat::clef()).unwrap();
        line.clear();
    }
    store.append_batch(&mut batch).unwrap();
    drop(batch);
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    store.seal().unwrap();
    let segment = store.info().unwrap().segments.remove(0);
    assert_eq!(segment.column_blocks, segment.blocks);
    (PEAK.load(Relaxed) - before, segment.blocks)
}

/// The only test of this program: another one's memory would count too.
#[test]
fn sealing_four_times_the_blocks_takes_no_more_memory_but_for_the_order_of_the_events() {
    // Enough for two threads.
    let (few, few_blocks) = peak(26_000);
    let (many, many_blocks) = peak(80_000);
    assert!(few_blocks > 8 && many_blocks >= 3 * few_blocks, "{few_blocks} and {many_blocks} blocks");
    // A key and where the document is, sorted by merging; and what the index and the summaries take.
    let order = 54_000 * 3 * 32;
    println!("{few} and {many} bytes for {few_blocks} and {many_blocks} blocks");
    assert!(many <= few + order + 2 * BLOCK_BYTES, "{few} bytes, for three times the events {many}");
    // Two blocks are encoded at once, and two wait; it was eleven times the bytes of a block.
    assert!(few <= 16 * BLOCK_BYTES, "{few}");
}
