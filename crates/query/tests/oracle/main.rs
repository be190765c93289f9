//! The oracle: a second evaluator of the language, plain and slow, with none of the engine's code, not even its parser.
//!
//! A random query is a tree (`ast`), which prints itself as text for the engine (`print`) and is evaluated as it stands by
//! `eval`, `calls`, `aggregates` and `rows`, over values that own everything (`value`) and numbers in schoolbook arithmetic
//! (`number`). Both get the same events (`generate`, `events`), and their rows are compared one by one (`compare`): kinds,
//! strings, the very texts of numbers.
//!
//! `TAMIAS_ORACLE_QUERIES` is how many queries a run makes, 24,000 unless it is set.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod aggregates;
mod ast;
mod calls;
mod compare;
mod eval;
mod events;
mod generate;
#[path = "../memory/mod.rs"]
mod memory;
mod number;
mod print;
mod rows;
mod template;
mod value;

use ast::Query;
use compare::check;
use events::Store;
use generate::Draft;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};

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
