//! Nothing is allocated for an event where nothing has to be owned.

mod memory;

use memory::Memory;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use tamias_query::Query;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Counts each thread's own allocations, so that tests beside this one do not matter.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe to write; this one hands on to the system's")]
// SAFETY: every call goes to the system's allocator as it is; counting touches a constant-initialised cell only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// How many allocations a query makes over `events` events.
fn allocations(query: &str, events: usize) -> usize {
    let documents: Vec<String> = (0..events)
        .map(|n| {
            let app = ["Shop", "Mail"][n % 2];
            format!(
                r#"{{"Message":"GET /api/customers/{n}","Elapsed":{n}.5,"App":"{app}","Tags":["a","b"],"Actor":{{"Name":"Ada"}}}}"#
            )
        })
        .collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let memory = Memory::new(&documents);
    let query = Query::prepare(query).unwrap_or_else(|error| panic!("{error}"));
    let source = memory.source(query.direction());
    let before = ALLOCATIONS.with(Cell::get);
    let mut rows = query.run(source);
    let mut bytes = 0;
    while let Some(row) = rows.next_row().unwrap_or_else(|error| panic!("{error}")) {
        bytes += row.cells().filter_map(|cell| cell.json()).map(<[u8]>::len).sum::<usize>();
    }
    assert!(bytes > 0);
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn events_allocate_nothing() {
    for query in [
        "select Message from stream where Elapsed > 200",
        "select Message, App, Elapsed, Tags, Actor.Name from stream where Elapsed > 200 and App = 'Shop'",
        "select Message from stream where match(Message, '/api/customers')",
        "select Message from stream where IsMatch(Message, /customers.[0-9]+$/)",
        "select Elapsed from stream where Message like 'GET%' and not (App in ['x', 'y'])",
        "select Elapsed * 2 + 1 from stream where Tags[?] = 'b' and Actor.Name = 'ADA' ci",
        "select Elapsed from stream where let |e: Elapsed, now: Now()| e > 10 and now > e",
        "select count(*), sum(Elapsed), mean(Elapsed), any(Elapsed > 3) from stream where Message is not null",
        "select count(*), mean(Elapsed) from stream group by App",
        "select count(*) from stream group by App ci, Actor.Name, time(1d)",
        "select first(Message), last(Elapsed), count(distinct(App)), percentile(Elapsed, 50) from stream",
        "select count(*) from stream group by time(1h)",
        "select @Timestamp, @Data, @Level from stream where App = 'Shop' order by time desc",
    ] {
        // A first run fills what is made once in a thread, such as the regular expression's caches.
        allocations(query, 1_000);
        let (few, many) = (allocations(query, 10_000), allocations(query, 60_000));
        // Batches, windows and vectors grow to their full size, a logarithm of the events at most.
        assert!(many <= few + 48, "{query}: {few} allocations for 10,000 events, {many} for 60,000");
    }
}
