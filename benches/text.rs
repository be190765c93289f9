//! Questions over text, beside counting the line feeds of the same bytes, which has to look at each of them once.
//! `cargo bench -p tamias-benches --bench text` prints a table, and fails where a question that comes again takes more than its guard.
//!
//! All answers are asserted first, row by row, against the plain path. One thread; all take turns, and the least processor time counts. Each question is asked of a store that keeps
//! nothing for the next query, as at its first time, and of one that keeps what it may.

use std::hint::black_box;
use std::process::ExitCode;
use tamias::{Layout, Query, RunOptions, Store};
use tamias_benches::{Contender, stored, take_turns};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS: u64 = 200_000;
const ROUNDS: usize = 15;

/// What is asked, and how many times as long as counting line feeds it may take when it comes again: conditions and numbers 4, `ci` 6, groups by texts 8.
const QUESTIONS: [(&str, f64); 12] = [
    ("select count(*) from stream where Elapsed > 200", 4.0),
    (
        "select count(*) from stream where Elapsed > 200 and Application = 'Shop.Api' and @Level = 'Warning'",
        4.0,
    ),
    ("select count(*) from stream where RequestPath = '/login'", 4.0),
    ("select count(*) from stream where Actor.Address.City = 'Berlin'", 4.0),
    ("select count(*) from stream where match(Message, '/api/customers')", 4.0),
    ("select count(*), sum(Length(Message)) from stream where Elapsed > 200", 4.0),
    ("select max(Elapsed), min(Elapsed), mean(Elapsed) from stream where Elapsed > 0", 4.0),
    ("select count(*) from stream where Elapsed * 2 % 7 > 3", 4.0),
    ("select count(*) from stream where Message like '%timeout%' ci", 6.0),
    ("select mean(Elapsed), count(*) from stream group by Application", 8.0),
    ("select count(*) from stream group by @Level, time(1h)", 8.0),
    ("select count(*) as n from stream group by RequestPath order by n desc limit 10", 8.0),
];

fn main() -> ExitCode {
    let text = stored(EVENTS, Layout::Text);
    let bytes = documents(&text.store);
    let keeping = text.store.clone();
    let keeps_nothing = text.store.clone().with_column_cache(0);
    println!("{EVENTS} generated events as text, {} bytes; processor time, least of {ROUNDS}", bytes.len());
    println!("\n| question | line feeds, ms | nothing kept | asked again | times as long | guard |");
    println!("|---|---|---|---|---|---|");
    let mut failed = false;
    for (question, guard) in QUESTIONS {
        let query = Query::prepare(question).expect("a query");
        let expected = answer(&text.store, &query, true);
        for store in [&keeps_nothing, &keeping, &keeping, &keeping] {
            assert_eq!(answer(store, &query, false), expected, "{question}");
        }
        let mut contenders = [
            Contender::new("line feeds", || memchr::memchr_iter(b'\n', &bytes).count()),
            Contender::new("nothing kept", || run(&keeps_nothing, &query)),
            Contender::new("asked again", || run(&keeping, &query)),
        ];
        let times = take_turns(&mut contenders, ROUNDS);
        let [feeds, first, again] = [0, 1, 2].map(|nth| times[nth].least.as_secs_f64() * 1e3);
        let ratio = again / feeds;
        let is_met = ratio <= guard;
        failed |= !is_met;
        println!(
            "| {question} | {feeds:.2} | {first:.2} | {again:.2} | {ratio:.1}× | {guard}× {} |",
            if is_met { "met" } else { "MISSED" }
        );
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// All documents, each with a line feed behind it.
fn documents(store: &Store) -> Vec<u8> {
    let query = Query::prepare("select @Data from stream").expect("a query");
    let mut rows = store.run(&query).expect("a snapshot");
    let mut bytes = Vec::new();
    while let Some(row) = rows.next_row().expect("a row") {
        bytes.extend_from_slice(row.get(0).and_then(|cell| cell.json()).expect("a document"));
        bytes.push(b'\n');
    }
    bytes
}

/// All rows, as text that can be compared.
fn answer(store: &Store, query: &Query, plain: bool) -> Vec<String> {
    let rows = store.run_with(query, RunOptions { plain, ..RunOptions::default() }).expect("a snapshot");
    rows.map(|row| format!("{:?}", row.expect("a row"))).collect()
}

/// All rows, each cell looked at.
fn run(store: &Store, query: &Query) -> usize {
    let mut rows = store.run_with(query, RunOptions::default()).expect("a snapshot");
    let mut bytes = 0;
    while let Some(row) = rows.next_row().expect("a row") {
        bytes += row.cells().map(|cell| cell.json().map_or(0, <[u8]>::len)).sum::<usize>();
    }
    black_box(bytes)
}
