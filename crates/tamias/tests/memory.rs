//! A query takes the same memory, however large the store.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tamias::{Batch, Durability, EventFormat, Options, Query, RunOptions, Store};
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
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// A sealed store of generated events, in small blocks so that few events make many of them.
fn filled(events: u64, segments: tamias::Layout) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        block_bytes: 64 << 10,
        segment_bytes: 4 << 20,
        segments,
        background: false,
        durability: Durability::None,
        ..Options::default()
    };
    let store = Store::open_with(folder.path(), options).unwrap();
    let (mut generator, mut line, mut batch) = (Generator::new(1, events), Vec::new(), Batch::new());
    while generator.write_next(&mut line) {
        batch.push(line.trim_ascii_end(), &EventFormat::clef()).unwrap();
        line.clear();
        if batch.len() == 4_000 {
            store.append_batch(&mut batch).unwrap();
        }
    }
    store.append_batch(&mut batch).unwrap();
    store.seal().unwrap();
    (folder, store)
}

/// The most bytes that a query holds at once beside the store, and how many its rows have together.
fn peak(store: &Store, text: &str, plain: bool, threads: usize) -> (usize, usize) {
    let query = Query::prepare(text).unwrap();
    let options = RunOptions { plain, threads: NonZeroUsize::new(threads).unwrap(), ..RunOptions::default() };
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let (mut rows, mut bytes) = (store.run_with(&query, options).unwrap(), 0);
    while let Some(row) = rows.next_row().unwrap() {
        bytes += row.cells().filter_map(|cell| cell.json()).map(<[u8]>::len).sum::<usize>();
    }
    drop(rows);
    (PEAK.load(Relaxed) - before, bytes)
}

/// The only test of this program: another one's memory would count too.
#[test]
fn memory_is_bounded() {
    a_query_over_four_times_the_events_takes_no_more();
    what_is_kept_of_columns_counts_in_the_budget();
    columns_are_not_repeated_for_each_of_many_elements();
}

/// Each event has a key of its own and a long array, so that each key's column would have a cell for each element of all arrays.
fn columns_are_not_repeated_for_each_of_many_elements() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durability: Durability::None, ..Options::default() };
    let store = Store::open_with(folder.path(), options).unwrap();
    let elements = ["1"; 1000].join(",");
    let event = |n: u32| format!(r#"{{"@t":"2024-05-29T10:00:00.{n:03}Z","k{n}":"v","a":[{elements}]}}"#);
    store.append((0..120).map(event)).unwrap();
    store.seal().unwrap();
    let store = store.with_column_cache(0);
    let keys = |each: &dyn Fn(u32) -> String, by: &str| (0..120).map(each).collect::<Vec<_>>().join(by);
    let greatest = keys(&|n| format!("max(k{n})"), ", ");
    let equals = keys(&|n| format!("k{n} = x"), " or ");
    for text in [
        format!("select {greatest} from stream lateral unnest(a) as e where e > 0"),
        format!("select count(*) from stream where Some(a, |x| x > 5 or {equals})"),
    ] {
        let (bytes, _) = peak(&store, &text, false, 1);
        assert!(bytes < 48 << 20, "{bytes}");
    }
}

fn what_is_kept_of_columns_counts_in_the_budget() {
    const LITTLE: usize = 1 << 20;
    let (folder, store) = filled(24_000, tamias::Layout::Columns);
    drop(store);
    let store = Store::open_read_only(folder.path()).unwrap();
    let before = LIVE.load(Relaxed);
    // What stays when the queries are done, each of which reads other columns.
    let run = |memory_bytes: usize| {
        for text in [
            "select count(*), sum(Length(Message)) from stream where Elapsed > 200",
            "select count(*) from stream where RequestPath like '%x%'",
            "select count(*) from stream group by Application, @Level",
            "select @TraceId, @SpanId, UserAgent from stream",
            "select count(*) from stream group by Length(@TraceId)",
        ] {
            let query = Query::prepare(text).unwrap();
            let options = RunOptions { memory_bytes, ..RunOptions::default() };
            let mut rows = store.run_with(&query, options).unwrap();
            while rows.next_row().unwrap().is_some() {}
        }
        LIVE.load(Relaxed) - before
    };
    let kept = run(LITTLE);
    // Open files and their indexes are there too.
    assert!(kept <= LITTLE + LITTLE / 5 + (256 << 10), "{kept}");
    let kept = run(256 << 20);
    assert!(kept > 2 * LITTLE, "{kept}");
    // A group a row: they take more than what was kept leaves room for.
    let query =
        Query::prepare("select count(*) from stream group by @TraceId, @SpanId having count(*) > 1000")
            .unwrap();
    let memory_bytes = kept + LITTLE;
    PEAK.store(before, Relaxed);
    let mut rows = store.run_with(&query, RunOptions { memory_bytes, ..RunOptions::default() }).unwrap();
    while rows.next_row().unwrap().is_some() {}
    let peak = PEAK.load(Relaxed) - before;
    // The columns of the block in use are not counted.
    assert!(
        peak > memory_bytes / 2 && peak <= memory_bytes + memory_bytes / 5 + (4 << 20),
        "{peak} of {memory_bytes}"
    );
}

fn a_query_over_four_times_the_events_takes_no_more() {
    for layout in [tamias::Layout::Text, tamias::Layout::Columns] {
        four_times_the_events_take_no_more(layout);
    }
}

fn four_times_the_events_take_no_more(layout: tamias::Layout) {
    let (_small_folder, small) = filled(12_000, layout);
    let (_large_folder, large) = filled(48_000, layout);
    // What is kept for queries to come has a bound of its own.
    let (small, large) = (small.with_column_cache(0), large.with_column_cache(0));
    for text in [
        "select count(*), sum(Length(Message)) from stream where Elapsed > 200",
        "select count(*), sum(Length(Message)) from stream where match(Message, '/api/customers')",
        "select count(*), percentile(Elapsed, 95) from stream group by Application",
        "select Message from stream where Elapsed > 200",
        "select Message, Concat(Application, '!') from stream where match(Message, '/api/customers')",
        "select @Data from stream",
        "select Message from stream order by time desc limit 100",
        "select Message, Elapsed from stream order by Elapsed desc limit 10",
    ] {
        // Eight blocks in columns are half of the events.
        let ways = [(false, 1), (true, 1), (false, 3)];
        let ways = ways.into_iter().filter(|(_, threads)| *threads == 1 || layout == tamias::Layout::Text);
        for (plain, threads) in ways {
            // The first run opens files, and fills what is made once.
            peak(&small, text, plain, threads);
            peak(&large, text, plain, threads);
            let ((few, _), (many, bytes)) =
                (peak(&small, text, plain, threads), peak(&large, text, plain, threads));
            // How far threads get ahead of each other is chance: the most is eight blocks of rows. So is how much is open of the groups in columns that are read before the
            // query comes to them, of which there are sixteen at most: as many as the store has, here, which was up to two thirds of a megabyte more.
            let slack = match layout {
                tamias::Layout::Text if threads == 1 => 64 << 10,
                tamias::Layout::Text | tamias::Layout::Columns => 1 << 20,
            };
            assert!(
                bytes > 0 && many <= few + slack,
                "{text}, plain: {plain}, threads: {threads}: {few} bytes, over four times the events {many}"
            );
        }
    }
}
