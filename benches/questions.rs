//! The 22 questions that people ask of a shop's log, over segments in columns, beside the plain path over text of the same events.
//! `cargo bench -p tamias-benches --bench questions` prints the table, and fails where a ratio is below its guard.
//!
//! All answers are asserted first, row by row. One thread; the two take turns, and the least processor time counts. The plain path
//! looks at each event by itself and concludes nothing, so that its time hardly changes from version to version.

use std::hint::black_box;
use std::process::ExitCode;
use tamias::{Layout, Query, RunOptions, Store};
use tamias_benches::{Contender, geometric_mean, stored, take_turns};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS: u64 = 200_000;
const ROUNDS: usize = 15;

/// The questions that other engines are asked as well: a line each, its name, then ours, then theirs.
const QUESTIONS: &str = include_str!("peers/questions/shop.tsv");

/// How many times as fast as the plain path a question has to be: about half of what it was when the guard was set.
const GUARDS: [(&str, f64); 22] = [
    ("slow, counted", 60.0),
    ("slow, with lengths", 25.0),
    ("slow, not", 60.0),
    ("literal", 6.0),
    ("literal, any case", 1.5),
    ("mean by key", 20.0),
    ("top ten paths", 1.5),
    ("distinct numbers", 5.0),
    ("distinct texts", 8.0),
    ("p95 by time", 4.0),
    ("levels by hour", 9.0),
    ("two keys", 15.0),
    ("sum by currency", 20.0),
    ("three conditions", 30.0),
    ("slowest twenty", 14.0),
    ("equal text", 40.0),
    ("nested", 80.0),
    ("ten-way or", 20.0),
    ("errors by hour", 35.0),
    ("extremes", 300.0),
    ("all rows of slow", 5.0),
    ("long messages", 80.0),
];

fn main() -> ExitCode {
    let [columns, text] = [Layout::Columns, Layout::Text].map(|segments| stored(EVENTS, segments));
    let (columns, text) = (&columns.store, &text.store);
    println!("{EVENTS} generated events; times are processor time, least of {ROUNDS}\n");
    println!(
        "| question | columns, ms | plain path over text, ms | times as fast | guard |\n|---|---|---|---|---|"
    );
    let mut ratios = Vec::new();
    let mut failed = false;
    for (line, (name, guard)) in QUESTIONS.lines().skip(1).zip(GUARDS) {
        let mut fields = line.split('\t');
        assert_eq!(fields.next(), Some(name), "guards are in the order of the questions");
        let query = Query::prepare(fields.next().expect("a question")).expect("a query");
        assert_eq!(answer(columns, &query, false), answer(text, &query, true), "{name}");
        let mut contenders = [
            Contender::new("columns", || run(columns, &query, false)),
            Contender::new("plain", || run(text, &query, true)),
        ];
        let times = take_turns(&mut contenders, ROUNDS);
        let [fast, plain] = [times[0], times[1]].map(|times| times.least.as_secs_f64());
        let ratio = plain / fast;
        let is_met = ratio >= guard;
        failed |= !is_met;
        ratios.push(ratio);
        println!(
            "| {name} | {:.3} | {:.1} | {ratio:.1}× | {guard}× {} |",
            fast * 1e3,
            plain * 1e3,
            if is_met { "met" } else { "MISSED" }
        );
    }
    assert_eq!(ratios.len(), GUARDS.len(), "each guard has its question");
    println!("| geometric mean | | | {:.1}× | |", geometric_mean(&ratios));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn rows(store: &Store, query: &Query, plain: bool) -> tamias::Rows {
    store.run_with(query, RunOptions { plain, ..RunOptions::default() }).expect("a snapshot")
}

/// All rows, as text that can be compared.
fn answer(store: &Store, query: &Query, plain: bool) -> Vec<String> {
    rows(store, query, plain).map(|row| format!("{:?}", row.expect("a row"))).collect()
}

/// All rows, each cell looked at.
fn run(store: &Store, query: &Query, plain: bool) -> usize {
    let (mut rows, mut bytes) = (rows(store, query, plain), 0);
    while let Some(row) = rows.next_row().expect("a row") {
        bytes += row.cells().map(|cell| cell.json().map_or(0, <[u8]>::len)).sum::<usize>();
    }
    black_box(bytes)
}
