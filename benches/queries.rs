//! Queries over a store, beside the plain path and beside a loop that asks sonic-rs for a key of each event.
//! `cargo bench -p tamias-benches --bench queries` prints the table, and fails where a ratio is below its guard.
//!
//! The store holds generated events in sealed blocks, in the page cache, and each block was verified before anything is timed. All
//! answers are asserted first, the fast path's against the plain one's, row by row. One thread; contenders take turns, and the
//! least processor time counts.

use sonic_rs::JsonValueTrait;
use std::hint::black_box;
use std::process::ExitCode;
use tamias::{Batch, EventFormat, Layout, Options, Query, RunOptions, Store};
use tamias_benches::{Contender, take_turns};
use tamias_testdata::Generator;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS: u64 = 200_000;
const ROUNDS: usize = 15;

/// A query, the keys that the loop asks each event for, and how many times as fast as the loop the query has to be.
struct Case {
    query: &'static str,
    keys: &'static [&'static str],
    guard: f64,
}

const CASES: &[Case] = &[
    Case {
        query: "select count(*), sum(Length(Message)) from stream where Elapsed > 200",
        keys: &["Elapsed"],
        guard: 7.0,
    },
    Case {
        query: "select count(*), sum(Length(Message)) from stream where match(Message, '/api/customers')",
        keys: &["Message"],
        guard: 8.0,
    },
    Case { query: "select Message from stream where Elapsed > 200", keys: &["Elapsed"], guard: 6.0 },
    Case {
        query: "select Message from stream where match(Message, '/api/customers')",
        keys: &["Message"],
        guard: 7.0,
    },
    Case {
        query: "select count(*) from stream where RequestId is not null",
        keys: &["RequestId"],
        guard: 50.0,
    },
    Case { query: "select count(*) from stream group by Application", keys: &["Application"], guard: 50.0 },
    Case { query: "select count(*) from stream where TraceId = 'x'", keys: &["TraceId"], guard: 50.0 },
    Case { query: "select count(*) from stream where @Exception like 'Sys%'", keys: &["@x"], guard: 6.0 },
    Case {
        query: "select percentile(Elapsed, 95) from stream group by time(12h)",
        keys: &["Elapsed"],
        guard: 6.0,
    },
    Case {
        query: "select percentile(Elapsed, 95) from stream where Elapsed > 50 group by Application",
        keys: &["Elapsed"],
        guard: 2.5,
    },
    Case { query: "select count(*) from stream group by time(1h)", keys: &["@t"], guard: 50.0 },
    Case {
        query: "select sum(Elapsed), min(StatusCode), max(Quantity) from stream",
        keys: &["Elapsed", "StatusCode", "Quantity"],
        guard: 50.0,
    },
    Case {
        query: "select count(*) from stream where Elapsed = 1 or Elapsed = 2 or Elapsed = 3 or Elapsed = 4 or Elapsed = 5 \
                or Elapsed = 6 or Elapsed = 7 or Elapsed = 8 or Elapsed = 9 or Elapsed = 10",
        keys: &["Elapsed"],
        guard: 6.0,
    },
    Case { query: "select distinct(CustomerId) from stream", keys: &["CustomerId"], guard: 6.0 },
    Case { query: "select count(distinct(CustomerId)) from stream", keys: &["CustomerId"], guard: 6.0 },
];

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder for the store");
    let store = Store::open_with(folder.path(), Options { segments: Layout::Text, ..Options::default() })
        .expect("a new store");
    let mut events = Vec::new();
    let mut generator = Generator::new(7, EVENTS);
    while generator.write_next(&mut events) {}
    let mut batch = Batch::new();
    for event in documents(&events) {
        batch.push(event, &EventFormat::clef()).expect("a generated event is valid");
    }
    store.append_batch(&mut batch).expect("events are stored");
    store.seal().expect("events are sealed");

    println!(
        "{EVENTS} generated events of {} MB; times are processor time, least of {ROUNDS}\n",
        events.len() / 1_000_000
    );
    println!(
        "| query | ms | GB/s | to the plain path | to the sonic-rs loop | guard |\n|---|---|---|---|---|---|"
    );
    let mut failed = false;
    for case in CASES {
        let query = Query::prepare(case.query).expect("a query");
        let rows = |plain: bool| {
            let options = RunOptions { plain, ..RunOptions::default() };
            store.run_with(&query, options).expect("a snapshot")
        };
        let text =
            |plain| -> Vec<String> { rows(plain).map(|row| format!("{:?}", row.expect("a row"))).collect() };
        assert_eq!(text(false), text(true), "{}", case.query);
        let count = |plain: bool| {
            let (mut rows, mut cells) = (rows(plain), 0);
            while let Some(row) = rows.next_row().expect("a row") {
                cells += row.cells().map(|cell| cell.json().map_or(0, <[u8]>::len)).sum::<usize>();
            }
            black_box(cells)
        };
        let asked = || {
            let mut found = 0;
            for document in documents(&events) {
                for key in case.keys {
                    // SAFETY: the events were checked when they were stored.
                    #[expect(unsafe_code, reason = "what is compared: access without checks")]
                    let value = unsafe { sonic_rs::get_unchecked(document, [*key]) };
                    found += usize::from(value.is_ok_and(|value| !value.is_null()));
                }
            }
            black_box(found)
        };
        let mut contenders = [
            Contender::new("fast", || count(false)),
            Contender::new("plain", || count(true)),
            Contender::new("sonic-rs", asked),
        ];
        let times = take_turns(&mut contenders, ROUNDS);
        let [fast, plain, sonic] = [times[0], times[1], times[2]].map(|times| times.least.as_secs_f64());
        let is_met = sonic / fast >= case.guard;
        failed |= !is_met;
        println!(
            "| {} | {:.2} | {:.1} | {:.1}× | {:.1}× | {}× {} |",
            case.query,
            fast * 1e3,
            events.len() as f64 / fast / 1e9,
            plain / fast,
            sonic / fast,
            case.guard,
            if is_met { "met" } else { "MISSED" }
        );
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn documents(events: &[u8]) -> impl Iterator<Item = &[u8]> {
    events.split(|byte| *byte == b'\n').filter(|document| !document.is_empty())
}
