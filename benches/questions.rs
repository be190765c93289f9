//! The questions that people ask of a shop's log and of real events, over segments in columns, beside the plain path over text of the same events.
//! `cargo bench -p tamias-benches --bench questions` prints a table for each list, and fails where a ratio is below its guard.
//!
//! All answers are asserted first, row by row. One thread; the two take turns, and the least processor time counts. The plain path
//! looks at each event by itself and concludes nothing, so that its time hardly changes from version to version.

use std::collections::HashMap;
use std::hint::black_box;
use std::process::ExitCode;
use tamias::{Layout, Query, RunOptions, Store};
use tamias_benches::{Contender, Stored, geometric_mean, stored, stored_real, take_turns};
use tamias_testdata::DATA_SETS;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// So many generated events.
const EVENTS: u64 = 200_000;

/// The most rounds of a question, of which the least time counts, and how long its rounds may take together at most: small sets get all, and no long question
/// holds up the others.
const ROUNDS_MAX: usize = 15;
const ROUNDS_SECONDS: f64 = 3.0;

/// The questions that other engines are asked as well, by their list: a line each, its name, then ours, then theirs.
const LISTS: [(&str, &str); 10] = [
    ("shop", include_str!("peers/questions/shop.tsv")),
    ("people", include_str!("peers/questions/people.tsv")),
    ("operators", include_str!("peers/questions/operators.tsv")),
    ("wiki", include_str!("peers/questions/wiki.tsv")),
    ("win_dcom", include_str!("peers/questions/win_dcom.tsv")),
    ("win_exchange", include_str!("peers/questions/win_exchange.tsv")),
    ("win_opth", include_str!("peers/questions/win_opth.tsv")),
    ("github", include_str!("peers/questions/github.tsv")),
    ("nginxplus", include_str!("peers/questions/nginxplus.tsv")),
    ("cloudtrail", include_str!("peers/questions/cloudtrail.tsv")),
];

/// How many times as fast as the plain path each question has to be, about half of what it was when the guard was set: a line each, its list, its name, and the
/// number.
const GUARDS: &str = include_str!("peers/questions/guards.tsv");

fn main() -> ExitCode {
    let mut guards = guards();
    let generated = LAYOUTS.map(|segments| stored(EVENTS, segments));
    println!(
        "{EVENTS} generated events, or all of a real set; times are processor time, least of {ROUNDS_MAX} at most"
    );
    let mut failed = false;
    for (list, questions) in LISTS {
        let real = if DATA_SETS.contains(&list) {
            let [Some(columns), Some(text)] = LAYOUTS.map(|segments| stored_real(list, segments)) else {
                println!("\n{list} is not at hand: its questions were not asked");
                guards.retain(|(of, _), _| *of != list);
                continue;
            };
            Some([columns, text])
        } else {
            None
        };
        failed |= !are_met(list, questions, real.as_ref().unwrap_or(&generated), &mut guards);
    }
    assert!(guards.is_empty(), "each guard has its question: {guards:?}");
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The two ways to keep events, in the order in which stores of them are handed over.
const LAYOUTS: [Layout; 2] = [Layout::Columns, Layout::Text];

/// Asks the questions of a list and prints what they take: whether all guards are met. Their guards are taken out of those of all lists.
fn are_met(
    list: &'static str,
    questions: &'static str,
    [columns, text]: &[Stored; 2],
    guards: &mut HashMap<(&str, &str), f64>,
) -> bool {
    println!("\n| {list} | columns, ms | plain path over text, ms | times as fast | guard |");
    println!("|---|---|---|---|---|");
    let (mut ratios, mut all_are_met) = (Vec::new(), true);
    for line in questions.lines().skip(1) {
        let mut fields = line.split('\t');
        let name = fields.next().expect("a name");
        let guard = guards.remove(&(list, name)).expect("each question has a guard");
        let query = Query::prepare(fields.next().expect("a question")).expect("a query");
        let [fast, plain] = times(name, &query, &columns.store, &text.store);
        let ratio = plain / fast;
        let is_met = ratio >= guard;
        all_are_met &= is_met;
        ratios.push(ratio);
        println!(
            "| {name} | {:.3} | {:.1} | {ratio:.1}× | {guard}× {} |",
            fast * 1e3,
            plain * 1e3,
            if is_met { "met" } else { "MISSED" }
        );
    }
    println!("| geometric mean | | | {:.1}× | |", geometric_mean(&ratios));
    all_are_met
}

/// The guards by list and name.
fn guards() -> HashMap<(&'static str, &'static str), f64> {
    let guard = |line: &'static str| match line.split('\t').collect::<Vec<_>>()[..] {
        [list, name, times] => ((list, name), times.parse().expect("a number")),
        _ => panic!("three fields: {line}"),
    };
    GUARDS.lines().skip(1).map(guard).collect()
}

/// The least times of a query over columns and on the plain path over text, in seconds, once its answers are asserted.
fn times(name: &str, query: &Query, columns: &Store, text: &Store) -> [f64; 2] {
    assert_eq!(answer(columns, query, false), answer(text, query, true), "{name}");
    let mut contenders = [
        Contender::new("columns", || run(columns, query, false)),
        Contender::new("plain", || run(text, query, true)),
    ];
    let first = take_turns(&mut contenders, 1);
    let seconds: f64 = first.iter().map(|times| times.least.as_secs_f64()).sum();
    let rounds = ((ROUNDS_SECONDS / seconds) as usize).clamp(3, ROUNDS_MAX);
    let times = take_turns(&mut contenders, rounds);
    [times[0], times[1]].map(|times| times.least.as_secs_f64())
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
