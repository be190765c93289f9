//! A query in the engine and in the oracle, and what they answer compared.

use crate::ast::Query;
use crate::events::Store;
use crate::rows;
use crate::value::{self, Value, entries};
use proptest::test_runner::TestCaseError;
use serde_json::value::RawValue;
use std::num::NonZeroUsize;
use tamias_query::{Kind, OwnedRow, Query as Prepared, Row, RunOptions, Statement};

/// The cells of rows as JSON, none where there is no value.
type Texts = Vec<Vec<Option<Vec<u8>>>>;

/// Runs a query in the engine and in the oracle, and compares what they answer.
pub(crate) fn check(query: &Query, store: &Store) -> Result<(), TestCaseError> {
    let text = query.print();
    let compared = prepare(query, &text).and_then(|prepared| {
        let answer = rows::answer(query, &store.events);
        let given = run(query, &text, store, &prepared, &answer)?;
        run_again(query, &text, store, &prepared, &given)
    });
    compared.map_err(|what| {
        let events: Vec<String> = store
            .events
            .iter()
            .map(|event| format!("  {} #{} {}", event.instant, event.arrival, event.json))
            .collect();
        TestCaseError::fail(format!("{what}\nquery: {text}\nevents:\n{}", events.join("\n")))
    })
}

/// The query in the engine: it says the same when it is printed, and has the columns that it should have.
fn prepare(query: &Query, text: &str) -> Result<Prepared, String> {
    let prepared = Prepared::prepare(text).map_err(|error| format!("not prepared: {error}"))?;
    let statement = Statement::parse(text).map_err(|error| format!("not parsed: {error}"))?;
    let printed = statement.to_string();
    if Statement::parse(&printed).ok().as_ref() != Some(&statement) {
        return Err(format!("printed as {printed}, which says something else"));
    }
    let names = query.names();
    if prepared.columns() != names {
        return Err(format!("columns {:?}, not {names:?}", prepared.columns()));
    }
    Ok(prepared)
}

/// Runs the query, and compares each row with what is expected: the rows that were given.
fn run(
    query: &Query,
    text: &str,
    store: &Store,
    prepared: &Prepared,
    answer: &rows::Answer,
) -> Result<Texts, String> {
    let names = query.names();
    let kinds = prepared.column_kinds();
    let mut rows = prepared.run(store.source(prepared.direction()));
    let mut given = Texts::new();
    while let Some(row) = rows.next_row().map_err(|error| format!("not run: {error}"))? {
        let shown = cells(&row, &names)?;
        for (cell, kind) in row.cells().zip(&kinds) {
            let nothing = matches!(cell.kind(), Kind::Undefined | Kind::Null);
            if !nothing && kind.is_some_and(|kind| kind != cell.kind()) {
                return Err(format!("{cell:?} is in a column of {kinds:?}"));
            }
        }
        let count = given.len();
        let show = |values: &[Value]| values.iter().map(Value::json).collect::<Vec<_>>().join(" | ");
        let Some(wanted) = answer.rows.get(count) else {
            return Err(format!("a row too many, {count}: {}", show(&shown)));
        };
        if wanted.len() != shown.len() || !wanted.iter().zip(&shown).all(|(cell, value)| cell.admits(value)) {
            let wanted: Vec<String> = wanted.iter().map(rows::Cell::show).collect();
            return Err(format!("row {count} is  {}\nand should be  {}", show(&shown), wanted.join(" | ")));
        }
        given.push(row.cells().map(|cell| cell.json().map(<[u8]>::to_vec)).collect());
    }
    let count = given.len();
    if count != answer.rows.len() {
        return Err(format!("{count} rows, not {}", answer.rows.len()));
    }
    // Rows are counted as they are given; a limit may stop the reading, as may `top`, and an element is no event.
    let stats = rows.stats();
    let counts_hits =
        query.limit.is_none() && query.from.as_ref().is_some_and(Vec::is_empty) && !text.contains("top(");
    if stats.rows != count as u64 || (counts_hits && stats.hits != answer.hits as u64) {
        return Err(format!("{count} rows of {} hits, but it counts {stats:?}", answer.hits));
    }
    Ok(given)
}

/// Some are run once more for rows that are owned: unoptimized, with everything counted, or on several threads.
fn run_again(
    query: &Query,
    text: &str,
    store: &Store,
    prepared: &Prepared,
    given: &Texts,
) -> Result<(), String> {
    let source = store.source(prepared.direction());
    let (mut again, how) = match text.len() % 16 {
        0 | 8 => {
            let options = RunOptions { plain: true, ..RunOptions::default() };
            (prepared.unoptimized().run_with(source, options), "unoptimized")
        }
        1 => {
            let options = RunOptions { count_kinds: true, measure: true, ..RunOptions::default() };
            (prepared.run_with(source, options), "counted")
        }
        2..=7 => {
            let threads = NonZeroUsize::new(2 + text.len() % 2).unwrap();
            let options = RunOptions { threads, ..RunOptions::default() };
            (prepared.run_with(source, options), "on several threads")
        }
        9..=11 => {
            let source = store.in_columns(prepared.direction());
            (prepared.run_with(source, RunOptions::default()), "in columns")
        }
        12 => {
            let kept = store.kept();
            // It is asked twice before: the first time takes note of its paths, the second makes their columns.
            for _ in 0..2 {
                let before = prepared.run_with(kept.source(prepared.direction()), RunOptions::default());
                drop(before.collect::<Result<Vec<OwnedRow>, _>>());
            }
            let source = kept.source(prepared.direction());
            (prepared.run_with(source, RunOptions::default()), "over text that was asked before")
        }
        13..=14 => {
            let source = store.beside_deleted(prepared.direction());
            (prepared.run_with(source, RunOptions::default()), "in columns that have deleted events")
        }
        _ => return Ok(()),
    };
    let found: Result<Vec<OwnedRow>, _> = again.by_ref().collect();
    let found = found.map_err(|error| format!("not run again: {error}"))?;
    let texts = |row: &OwnedRow| row.cells().map(|cell| cell.json().map(<[u8]>::to_vec)).collect::<Vec<_>>();
    if found.iter().map(texts).collect::<Texts>() != *given {
        return Err(format!("{how} and owned, the rows are {found:?}"));
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
        return Err(format!("of {stats:?} {wrong:?}"));
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
