//! Queries on two threads, beside the same on one.
//! `cargo bench -p tamias-benches --bench threads` prints the table, and fails where two threads take too much more of the processors.
//!
//! Each answer is asserted first, row by row and in order. How much sooner two threads are done shows by the clock, where two
//! processors have nothing else to do. What they take of the processors together shows on a busy machine as well, and is guarded:
//! twice what one thread takes would be no gain at all, and the same is a gain of two, but for threads that wait for each other.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tamias::{Layout, Query, Rows, RunOptions, Store};
use tamias_benches::stored;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS: u64 = 1_369_670;
const ROUNDS: usize = 25;
/// The most processor time of two threads together, that of one being 1.
const GUARD: f64 = 1.15;

const QUERIES: [&str; 6] = [
    "select count(*), sum(Length(Message)) from stream where Elapsed > 200",
    "select count(*), sum(Length(Message)) from stream where match(Message, '/api/customers')",
    "select Message from stream where Elapsed > 200",
    "select Message from stream where match(Message, '/api/customers')",
    "select @Data from stream where Elapsed > 200",
    "select Message, Application, Elapsed from stream order by time desc",
];

fn main() -> ExitCode {
    let stored = stored(EVENTS, Layout::Text);
    let store = &stored.store;
    println!("{EVENTS} generated events; the least of {ROUNDS} runs\n");
    println!(
        "| query | one thread | two | times as fast | processor time | guard |\n|---|---|---|---|---|---|"
    );
    let mut failed = false;
    for text in QUERIES {
        let query = Query::prepare(text).expect("a query");
        assert_same(store, &query);
        let mut least = [(Duration::MAX, Duration::MAX); 2];
        for _ in 0..ROUNDS {
            for (threads, least) in (1..).zip(&mut least) {
                let (clock, processor) = (Instant::now(), processor_time());
                black_box(consume(rows(store, &query, threads)));
                let (clock, processor) = (clock.elapsed(), processor_time().saturating_sub(processor));
                *least = (least.0.min(clock), least.1.min(processor));
            }
        }
        let [(one, one_processor), (two, two_processor)] = least;
        let share = two_processor.as_secs_f64() / one_processor.as_secs_f64();
        failed |= share > GUARD;
        println!(
            "| {text} | {:.2} ms | {:.2} ms | {:.2}× | {share:.2}× | {GUARD}× {} |",
            one.as_secs_f64() * 1e3,
            two.as_secs_f64() * 1e3,
            one.as_secs_f64() / two.as_secs_f64(),
            if share > GUARD { "MISSED" } else { "met" }
        );
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn rows(store: &Store, query: &Query, threads: usize) -> Rows {
    let threads = NonZeroUsize::new(threads).expect("one or two");
    store.run_with(query, RunOptions { threads, ..RunOptions::default() }).expect("a snapshot")
}

/// Copies each cell, as a program does that hands them on.
fn consume(mut rows: Rows) -> usize {
    let (mut copy, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next_row().expect("a row") {
        copy.clear();
        row.cells().filter_map(|cell| cell.json()).for_each(|json| copy.extend_from_slice(json));
        bytes += black_box(&copy).len();
    }
    bytes
}

fn assert_same(store: &Store, query: &Query) {
    let (mut one, mut two) = (rows(store, query, 1), rows(store, query, 2));
    loop {
        let (one, two) = (one.next_row().expect("a row"), two.next_row().expect("a row"));
        let [json, again] =
            [one, two].map(|row| row.map(|row| row.cells().map(|cell| cell.json()).collect::<Vec<_>>()));
        assert_eq!(json, again);
        if json.is_none() {
            return;
        }
    }
}

/// What all threads of this process have used of the processors.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
