//! The oracle: a second evaluator of the language, plain and slow, with none of the engine's code, not even its parser.
//!
//! A random query is a tree (`ast`), which prints itself as text for the engine and is evaluated as it stands by `eval`,
//! `calls`, `aggregates` and `rows`, over values that own everything (`value`) and numbers in schoolbook arithmetic
//! (`number`). Both get the same events (`generate`, `events`), and their rows are compared one by one: kinds, strings,
//! the very texts of numbers.
//!
//! `TAMIAS_ORACLE_QUERIES` is how many queries a run makes, 24,000 unless it is set.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod aggregates;
mod ast;
mod calls;
mod eval;
mod events;
mod generate;
#[path = "../memory/mod.rs"]
mod memory;
mod number;
mod rows;
mod template;
mod value;

use ast::Query;
use events::Store;
use generate::Draft;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use serde_json::value::RawValue;
use std::num::NonZeroUsize;
use tamias_query::{Kind, OwnedRow, Row, RunOptions, Statement};
use value::{Value, entries};

/// How many queries one of the tests makes: its share, in percent, of all.
fn queries(percent: u32) -> u32 {
    let all: u32 =
        std::env::var("TAMIAS_ORACLE_QUERIES").ok().and_then(|text| text.parse().ok()).unwrap_or(24_000);
    (all * percent).div_ceil(100)
}

fn agree(percent: u32, queries_of: BoxedStrategy<Query>, events_of: BoxedStrategy<Draft>, most: usize) {
    let config = Config {
        cases: queries(percent),
        failure_persistence: None,
        max_shrink_iters: 3_000,
        ..Config::default()
    };
    let case = (queries_of, vec(events_of, 0..=most));
    let outcome = TestRunner::new(config).run(&case, |(query, drafts)| check(&query, &Store::new(&drafts)));
    match outcome {
        Ok(()) => {}
        // The reason shows the query as text, and the events; their trees would only be long.
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(other) => panic!("{other}"),
    }
}

/// Runs a query in the engine and in the oracle, and compares what they answer.
fn check(query: &Query, store: &Store) -> Result<(), TestCaseError> {
    let text = query.print();
    let fail = |what: String| {
        let events: Vec<String> = store
            .events
            .iter()
            .map(|event| format!("  {} #{} {}", event.instant, event.arrival, event.json))
            .collect();
        TestCaseError::fail(format!("{what}\nquery: {text}\nevents:\n{}", events.join("\n")))
    };
    let prepared =
        tamias_query::Query::prepare(&text).map_err(|error| fail(format!("not prepared: {error}")))?;
    let statement = Statement::parse(&text).map_err(|error| fail(format!("not parsed: {error}")))?;
    let printed = statement.to_string();
    if Statement::parse(&printed).ok().as_ref() != Some(&statement) {
        return Err(fail(format!("printed as {printed}, which says something else")));
    }
    let names = query.names();
    if prepared.columns() != names {
        return Err(fail(format!("columns {:?}, not {names:?}", prepared.columns())));
    }
    let rows::Answer { rows: expected, hits } = rows::answer(query, &store.events);
    let mut rows = prepared.run(store.source(prepared.direction()));
    let kinds = prepared.column_kinds();
    let mut count = 0;
    let mut given = Vec::new();
    while let Some(row) = rows.next_row().map_err(|error| fail(format!("not run: {error}")))? {
        given.push(row.cells().map(|cell| cell.json().map(<[u8]>::to_vec)).collect::<Vec<_>>());
        let shown = cells(&row, &names).map_err(&fail)?;
        for (cell, kind) in row.cells().zip(&kinds) {
            let nothing = matches!(cell.kind(), Kind::Undefined | Kind::Null);
            if !nothing && kind.is_some_and(|kind| kind != cell.kind()) {
                return Err(fail(format!("{cell:?} is in a column of {kinds:?}")));
            }
        }
        let show = |values: &[Value]| values.iter().map(Value::json).collect::<Vec<_>>().join(" | ");
        match expected.get(count) {
            None => return Err(fail(format!("a row too many, {count}: {}", show(&shown)))),
            Some(wanted) => {
                if wanted.len() != shown.len()
                    || !wanted.iter().zip(&shown).all(|(cell, value)| cell.admits(value))
                {
                    let wanted: Vec<String> = wanted.iter().map(rows::Cell::show).collect();
                    return Err(fail(format!(
                        "row {count} is  {}\nand should be  {}",
                        show(&shown),
                        wanted.join(" | ")
                    )));
                }
            }
        }
        count += 1;
    }
    if count != expected.len() {
        return Err(fail(format!("{count} rows, not {}", expected.len())));
    }
    // Rows are counted as they are given; a limit may stop the reading, as may `top`, and an element is no event.
    let stats = rows.stats();
    let counts_hits =
        query.limit.is_none() && query.from.as_ref().is_some_and(Vec::is_empty) && !text.contains("top(");
    if stats.rows != count as u64 || (counts_hits && stats.hits != hits as u64) {
        return Err(fail(format!("{count} rows of {hits} hits, but it counts {stats:?}")));
    }
    // Some are run once more for rows that are owned: unoptimized, with everything counted, or on several threads.
    let texts = |row: &OwnedRow| row.cells().map(|cell| cell.json().map(<[u8]>::to_vec)).collect::<Vec<_>>();
    let (again, how) = match text.len() % 16 {
        0 | 8 => {
            let options = RunOptions { plain: true, ..RunOptions::default() };
            let source = store.source(prepared.direction());
            (prepared.unoptimized().run_with(source, options), "unoptimized")
        }
        1 => {
            let options = RunOptions { count_kinds: true, measure: true, ..RunOptions::default() };
            (prepared.run_with(store.source(prepared.direction()), options), "counted")
        }
        2..=7 => {
            let threads = NonZeroUsize::new(2 + text.len() % 2).unwrap();
            let options = RunOptions { threads, ..RunOptions::default() };
            (prepared.run_with(store.source(prepared.direction()), options), "on several threads")
        }
        _ => return Ok(()),
    };
    let mut again = again;
    let found: Result<Vec<OwnedRow>, _> = again.by_ref().collect();
    let found = found.map_err(|error| fail(format!("not run again: {error}")))?;
    if found.iter().map(texts).collect::<Vec<_>>() != given {
        return Err(fail(format!("{how} and owned, the rows are {found:?}")));
    }
    // Each path has one value for each event, or element, that was tested or has passed.
    let stats = again.stats();
    let unnests = query.from.as_ref().is_some_and(|from| !from.is_empty());
    let tested = if unnests { stats.elements } else { stats.events };
    let report = again.kinds().unwrap_or_default();
    let wrong = report.paths.iter().find(|path| {
        path.counts.all() != if path.is_tested { tested } else { stats.hits } || path.path.is_empty()
    });
    if query.limit.is_none() && wrong.is_some() {
        return Err(fail(format!("of {stats:?} {wrong:?}")));
    }
    Ok(())
}

/// The values of a row, which have to be the same in its JSON.
fn cells(row: &Row<'_>, names: &[String]) -> Result<Vec<Value>, String> {
    let mut line = Vec::new();
    row.write_ndjson(&mut line);
    let line = String::from_utf8(line).map_err(|error| error.to_string())?;
    if let Err(error) = serde_json::from_str::<&RawValue>(&line) {
        return Err(format!("a row is no JSON: {line} ({error})"));
    }
    let shown: Vec<(String, &str)> = entries(line.trim_end())
        .into_iter()
        .map(|(key, raw)| (value::decode(key.get()), raw.get()))
        .collect();
    let mut shown = shown.into_iter().peekable();
    let mut values = Vec::new();
    for (cell, name) in row.cells().zip(names) {
        let json = cell.json().map(|json| std::str::from_utf8(json).unwrap());
        if let Some(json) = json {
            match shown.next() {
                Some((key, raw)) if key == *name && raw == json => {}
                other => return Err(format!("the cell {name} is {json}, and in the row's JSON {other:?}")),
            }
        }
        values.push(json.map_or(Value::Undefined, Value::stored));
    }
    match shown.next() {
        Some(more) => Err(format!("the row's JSON has more than its cells: {more:?}")),
        None => Ok(values),
    }
}

#[test]
fn scalar_queries() {
    agree(10, generate::scalar_query(), generate::event(), 0);
}

#[test]
fn plain_queries() {
    agree(30, generate::plain_query(), generate::event(), 12);
}

#[test]
fn grouped_queries() {
    agree(30, generate::grouped_query(), generate::event(), 20);
}

#[test]
fn queries_for_values() {
    agree(10, generate::values_query(), generate::event(), 20);
}

/// The documents that are unkind to short cuts, dealt out at random.
fn nasty() -> BoxedStrategy<Draft> {
    let documents: Vec<String> = tamias_testdata::nasty_documents()
        .into_iter()
        .map(|bytes| String::from_utf8(bytes).unwrap())
        .collect();
    generate::placed(proptest::sample::select(documents).boxed())
}

#[test]
fn plain_queries_of_nasty_documents() {
    agree(10, generate::plain_query(), nasty(), 12);
}

#[test]
fn grouped_queries_of_nasty_documents() {
    agree(10, generate::grouped_query(), nasty(), 20);
}

/// More events than the engine takes in one go: the same few, over and over, in large blocks.
fn many(of: BoxedStrategy<Query>) {
    let config = Config {
        cases: queries(1).min(30),
        failure_persistence: None,
        max_shrink_iters: 50,
        ..Config::default()
    };
    let case = (of, vec(generate::event(), 1..8));
    let outcome = TestRunner::new(config).run(&case, |(query, drafts)| {
        let repeated: Vec<Draft> = drafts.iter().cycle().take(2500).cloned().collect();
        check(&query, &Store::new(&repeated))
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{:.3000}", reason.message());
    }
}

#[test]
fn plain_queries_of_many_events() {
    many(generate::plain_query());
}

#[test]
fn grouped_queries_of_many_events() {
    many(generate::grouped_query());
}
