//! The 22 questions that people ask of a shop's log, over segments in columns, beside the plain path over text of the same events.
//! `cargo bench -p tamias-benches --bench questions` prints the table, and fails where a ratio is below its guard.
//!
//! All answers are asserted first, row by row. One thread; the two take turns, and the least processor time counts. The plain path
//! looks at each event by itself and concludes nothing, so that its time hardly changes from version to version.

use std::hint::black_box;
use std::process::ExitCode;
use tamias::{Batch, EventFormat, Layout, Options, Query, RunOptions, Store};
use tamias_benches::{Contender, geometric_mean, take_turns};
use tamias_testdata::Generator;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS: u64 = 200_000;
const BATCH: usize = 10_000;
const ROUNDS: usize = 15;

/// The questions that other engines are asked as well: a line each, its name, then ours, then theirs.
const QUESTIONS: &str = include_str!("peers/questions/shop.tsv");

/// How many times as fast as the plain path a question has to be.
const GUARDS: [(&str, f64); 22] = [
    ("slow, counted", 1.0),
    ("slow, with lengths", 1.0),
    ("slow, not", 1.0),
    ("literal", 1.0),
    ("literal, any case", 1.0),
    ("mean by key", 1.0),
    ("top ten paths", 1.0),
    ("distinct numbers", 1.0),
    ("distinct texts", 1.0),
    ("p95 by time", 1.0),
    ("levels by hour", 1.0),
    ("two keys", 1.0),
    ("sum by currency", 1.0),
    ("three conditions", 1.0),
    ("slowest twenty", 1.0),
    ("equal text", 1.0),
    ("nested", 1.0),
    ("ten-way or", 1.0),
    ("errors by hour", 1.0),
    ("extremes", 1.0),
    ("all rows of slow", 1.0),
    ("long messages", 1.0),
];

fn main() -> ExitCode {
    let [columns, text] = [Layout::Columns, Layout::Text].map(stored);
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
        assert_eq!(columns.answer(&query, false), text.answer(&query, true), "{name}");
        let mut contenders = [
            Contender::new("columns", || columns.run(&query, false)),
            Contender::new("plain", || text.run(&query, true)),
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

/// A store in a folder that is removed with it.
struct Stored {
    store: Store,
    _folder: tempfile::TempDir,
}

fn stored(segments: Layout) -> Stored {
    let folder = tempfile::tempdir().expect("a folder for the store");
    let store =
        Store::open_with(folder.path(), Options { segments, ..Options::default() }).expect("a new store");
    let (mut generator, mut event, mut batch) = (Generator::new(7, EVENTS), Vec::new(), Batch::new());
    while generator.write_next(&mut event) {
        batch.push(event.trim_ascii_end(), &EventFormat::clef()).expect("a generated event is valid");
        event.clear();
        if batch.len() == BATCH {
            store.append_batch(&mut batch).expect("events are stored");
        }
    }
    store.append_batch(&mut batch).expect("events are stored");
    store.seal().expect("events are sealed");
    Stored { store, _folder: folder }
}

impl Stored {
    fn rows(&self, query: &Query, plain: bool) -> tamias::Rows {
        self.store.run_with(query, RunOptions { plain, ..RunOptions::default() }).expect("a snapshot")
    }

    /// All rows, as text that can be compared.
    fn answer(&self, query: &Query, plain: bool) -> Vec<String> {
        self.rows(query, plain).map(|row| format!("{:?}", row.expect("a row"))).collect()
    }

    /// All rows, each cell looked at.
    fn run(&self, query: &Query, plain: bool) -> usize {
        let (mut rows, mut bytes) = (self.rows(query, plain), 0);
        while let Some(row) = rows.next_row().expect("a row") {
            bytes += row.cells().map(|cell| cell.json().map_or(0, <[u8]>::len)).sum::<usize>();
        }
        black_box(bytes)
    }
}
