//! A query holds no more than its budget, as the allocator sees it.

mod memory;

use memory::{Event, Memory};
use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tamias_query::{ExecError, Query, RunOptions};

/// The tests count the same bytes, so they take turns.
static TURN: Mutex<()> = Mutex::new(());

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts the bytes that all threads hold, and the most they ever held.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

impl Counting {
    fn grew(&self, bytes: usize) {
        PEAK.fetch_max(HELD.fetch_add(bytes, Relaxed) + bytes, Relaxed);
    }
}

#[expect(unsafe_code, reason = "an allocator is unsafe to write; this one hands on to the system's")]
// SAFETY: every call goes to the system's allocator as it is; counting touches two atomic numbers only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.grew(layout.size());
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A large allocation grows where it is, or its pages are moved: they are not there twice.
        HELD.fetch_sub(layout.size(), Relaxed);
        self.grew(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn numbered(events: u64) -> Memory {
    // The order of the texts is not that of the events.
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(
            r#"{{"n":{n},"text":"GET /api/customers/{:016x}/orders"}}"#,
            n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ),
    };
    let events: Vec<Event> = (0..events).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(1000).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    Memory::blocks(&groups)
}

/// The most bytes that were held beside those before, while this was done.
fn most_held(act: impl FnOnce()) -> usize {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    act();
    PEAK.load(Relaxed) - before
}

/// What a query holds beside its budget: the columns of a chunk or two, windows, rows that are made ahead.
const BESIDE_BYTES: usize = 1 << 20;

#[test]
fn no_more_is_held_than_the_budget() {
    let _turn = TURN.lock();
    let memory = numbered(100_000);
    let (mut ended, mut beyond) = (0, Vec::new());
    for text in [
        "select count(*) from stream group by text",
        "select count(*) from stream group by n",
        "select count(*), first(text), sum(n), max(n) from stream group by text, n",
        "select percentile(n, 50), last(text) from stream group by text",
        "select distinct(text) from stream",
        "select distinct(n) from stream",
        "select count(distinct(text)) from stream",
        "select bottom(text, 50000) from stream",
        "select top(text, 100000) from stream",
        "select n, text from stream order by text",
        "select n % 100 as part, text from stream order by part, text desc",
        "select Concat(text, text) as t from stream order by t limit 30000",
        "select text from stream order by text limit 3",
    ] {
        let query = Query::prepare(text).unwrap_or_else(|error| panic!("{error}"));
        for threads in [1, 2] {
            for budget in [2 << 20, 6 << 20, 10 << 20, 14 << 20, 20 << 20, 28 << 20, 40 << 20] {
                let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
                let options = RunOptions { threads, memory_bytes: budget, ..RunOptions::default() };
                let source = memory.source(query.direction());
                let held = most_held(|| {
                    let mut rows = query.run_with(source, options);
                    loop {
                        match rows.next_row() {
                            Ok(Some(_)) => {}
                            Ok(None) => break,
                            Err(ExecError::MemoryExceeded { .. }) => {
                                ended += 1;
                                break;
                            }
                            Err(error) => panic!("{text}: {error}"),
                        }
                    }
                });
                let most = budget / 5 * 6 + BESIDE_BYTES;
                if held > most {
                    beyond.push(format!("{text} on {threads} threads held {held} bytes, of {budget}"));
                }
            }
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
    assert!(ended >= 40, "{ended} queries needed more than they may hold");
}

#[test]
fn two_threads_need_hardly_more_than_one() {
    let _turn = TURN.lock();
    let memory = numbered(60_000);
    for text in [
        "select count(*) from stream group by text",
        "select max(n), last(text) from stream group by text",
        "select count(distinct(text)) from stream",
    ] {
        let query = Query::prepare(text).unwrap_or_else(|error| panic!("{error}"));
        let is_enough = |threads: usize, budget: usize| {
            let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
            let options = RunOptions { threads, memory_bytes: budget, ..RunOptions::default() };
            let mut rows = query.run_with(memory.source(query.direction()), options);
            loop {
                match rows.next_row() {
                    Ok(Some(_)) => {}
                    Ok(None) => return true,
                    Err(ExecError::MemoryExceeded { .. }) => return false,
                    Err(error) => panic!("{text}: {error}"),
                }
            }
        };
        let least = (1..).map(|step| step << 20).find(|budget| is_enough(1, *budget)).unwrap_or_default();
        assert!(least > 4 << 20, "{text} takes {least} bytes");
        assert!(is_enough(2, least / 5 * 6), "{text}: one thread takes {least} bytes");
    }
}

/// A group by a key of many values needed more memory than its groups took, for its rows were copied beside them.
#[test]
fn rows_of_groups_are_not_held_beside_the_groups() {
    let _turn = TURN.lock();
    let memory = numbered(20_000);
    for by in ["text", "n", "text, n"] {
        let is_enough = |having: &str, memory_bytes: usize| {
            let text = format!("select count(*) as count from stream group by {by} {having}");
            let query = Query::prepare(&text).unwrap_or_else(|error| panic!("{error}"));
            let options = RunOptions { threads: NonZeroUsize::MIN, memory_bytes, ..RunOptions::default() };
            query.run_with(memory.source(query.direction()), options).all(|row| row.is_ok())
        };
        let least = (1..).map(|step| step << 19).find(|budget| is_enough("having count > 1", *budget));
        assert!(is_enough("", least.unwrap_or_default()), "by {by}");
    }
}

/// What one thread had added to the groups of all was lost where another kept its own.
#[test]
fn groups_that_only_some_threads_share_are_not_lost() {
    let _turn = TURN.lock();
    // Few groups in the first blocks, which one thread reads alone, and in every other one of those behind.
    let event = |block: u64, n: u64| {
        let id = block * 500 + n;
        let user = if block > 4 && block.is_multiple_of(2) { id } else { n % 3 };
        Event { instant: id, arrival: id, document: format!(r#"{{"user":"user {user}"}}"#) }
    };
    let blocks: Vec<Vec<Event>> = (0..40).map(|block| (0..500).map(|n| event(block, n)).collect()).collect();
    let blocks: Vec<[&[Event]; 1]> = blocks.iter().map(|events| [events.as_slice()]).collect();
    let blocks: Vec<&[&[Event]]> = blocks.iter().map(|block| block.as_slice()).collect();
    let memory = Memory::blocks(&blocks);
    let query =
        Query::prepare("select count(*) as n, first(user) as u from stream group by user order by n, u")
            .unwrap_or_else(|error| panic!("{error}"));
    let rows = |threads: usize| {
        let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        let options = RunOptions { threads, memory_bytes: 8 << 20, ..RunOptions::default() };
        let mut rows = query.run_with(memory.source(query.direction()), options);
        let mut found = Vec::new();
        while let Some(row) = rows.next_row().unwrap_or_else(|error| panic!("{error}")) {
            found.push(row.cells().filter_map(|cell| cell.json().map(<[u8]>::to_vec)).collect::<Vec<_>>());
        }
        found
    };
    let expected = rows(1);
    assert_eq!(expected.len(), 3 + 17 * 500);
    for _ in 0..20 {
        assert!(rows(4) == expected, "four threads give other groups than one");
    }
}

/// Long texts that a query computes are made as its rows are taken, not of all events that were found at once.
#[test]
fn computed_texts_are_not_made_ahead() {
    let _turn = TURN.lock();
    let text = numbered(1000);
    let columns = text.in_columns();
    let long = "x".repeat(100_000);
    let many: Vec<String> = (0..200).map(|n| format!("Concat(text, '{n}')")).collect();
    for query in [
        format!("select Replace(text, 'orders', '{long}') as r from stream"),
        format!("select Concat(text, '{}') as r from stream", "x".repeat(60_000)),
        format!("select Concat(text, '{long}') as r from stream"),
        format!("select {} from stream", many.join(", ")),
        format!("select top(Replace(text, 'orders', '{long}'), 3) from stream"),
        format!("select {} from stream", vec!["@Data"; 200].join(", ")),
        "select count(*) from stream lateral unnest([1, 2, 3]) as i group by i".to_owned(),
    ] {
        let query = Query::prepare(&query).unwrap_or_else(|error| panic!("{error}"));
        for (memory, most) in [(&text, 25 << 20), (&columns, 120 << 20)] {
            let source = memory.source(query.direction());
            let options = RunOptions { threads: NonZeroUsize::MIN, ..RunOptions::default() };
            let held = most_held(|| {
                let mut rows = query.run_with(source, options);
                while rows.next_row().unwrap_or_else(|error| panic!("{error}")).is_some() {}
            });
            assert!(held < most, "{query:.60?} held {held} bytes of {most}");
        }
    }
}

/// A long text that a condition chooses for few rows is not written down for each of them.
#[test]
fn a_text_that_is_chosen_is_not_made_for_each_row() {
    let _turn = TURN.lock();
    // All of them in one block, of which one row in twenty is asked about.
    let event = |n: u64| Event { instant: n, arrival: n, document: format!(r#"{{"n":{n}}}"#) };
    let events: Vec<Event> = (0..16_000).map(event).collect();
    let columns = Memory::blocks(&[&[&events]]).in_columns();
    let long = "x".repeat(300_000);
    let few = "where n % 20 = 1";
    for text in [
        format!("select count(*) from stream {few} group by if n > 9 then '{long}' else n"),
        format!("select count(*) from stream {few} group by Coalesce(if n > 9 then '{long}' else null, 7)"),
        format!("select n, (if n > 9 then '{long}' else n) as v from stream {few} limit 3"),
    ] {
        let query = Query::prepare(&text).unwrap_or_else(|error| panic!("{error}"));
        let held = most_held(|| {
            let options = RunOptions { threads: NonZeroUsize::MIN, ..RunOptions::default() };
            let mut rows = query.run_with(columns.source(query.direction()), options);
            while rows.next_row().unwrap_or_else(|error| panic!("{error}")).is_some() {}
        });
        assert!(held < 120 << 20, "{text:.60?} held {held} bytes");
    }
}

/// What an event has is not repeated in memory for each of the elements that are made rows.
#[test]
fn elements_do_not_multiply_the_texts_beside_them() {
    let _turn = TURN.lock();
    let elements: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let document = format!(r#"{{"big":"{}","items":[{}]}}"#, "x".repeat(50_000), elements.join(","));
    let text = Memory::new(&[&document]);
    for memory in [&text, &text.in_columns()] {
        for text in [
            "select count(*) from stream lateral unnest(items) as i group by i, big",
            "select top(big, 1000000) from stream lateral unnest(items) as i",
        ] {
            let query = Query::prepare(text).unwrap();
            let source = memory.source(query.direction());
            let options = RunOptions { memory_bytes: 50 << 20, ..RunOptions::default() };
            let held = most_held(|| {
                let mut rows = query.run_with(source, options);
                while let Ok(Some(_)) = rows.next_row() {}
            });
            assert!(held < 200 << 20, "{text} held {held} bytes");
        }
    }
}
