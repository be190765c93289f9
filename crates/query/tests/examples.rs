//! The reference page of the language: every example on it is run, and every function has one.

mod memory;

use memory::{Event, Memory};
use std::collections::BTreeSet;
use tamias_query::{Instant, Query, eval};

const PAGE: &str = include_str!("../../../docs/query-language.md");

/// A fenced block of the page.
struct Fence {
    kind: &'static str,
    /// Where its text begins, from 1.
    line: usize,
    text: &'static str,
}

fn fences(kind: &str) -> impl Iterator<Item = Fence> {
    let mut fences = Vec::new();
    let mut rest = PAGE;
    while let Some((_, after)) = rest.split_once("\n```") {
        let (kind, after) = after.split_once('\n').expect("a line ends");
        let (text, after) = after.split_once("\n```").expect("a fence is closed");
        let before = PAGE.len() - after.len() - "\n```".len() - text.len();
        fences.push(Fence { kind, line: PAGE[..before].matches('\n').count() + 1, text });
        rest = after;
    }
    fences.into_iter().filter(move |fence| fence.kind == kind)
}

fn only_fence(kind: &str) -> Fence {
    let mut all = fences(kind);
    let fence = all.next().unwrap_or_else(|| panic!("the page has no {kind}"));
    assert!(all.next().is_none(), "the page has one block of {kind}");
    fence
}

/// The events of the page.
fn events() -> Memory {
    let events: Vec<Event> = only_fence("events")
        .text
        .lines()
        .enumerate()
        .map(|(arrival, document)| {
            let json: serde_json::Value = serde_json::from_str(document).expect("an event is JSON");
            let instant: Result<Instant, _> = json["@t"].as_str().unwrap_or_default().parse();
            let instant = instant.expect("an event has an instant").ticks();
            Event { instant, arrival: arrival as u64, document: document.to_owned() }
        })
        .collect();
    Memory::blocks(&[&[&events]])
}

/// An expression of the page and the value beside it.
fn expressions() -> impl Iterator<Item = (usize, &'static str, &'static str)> {
    fences("examples").flat_map(|fence| {
        fence.text.lines().enumerate().map(move |(at, line)| {
            let (expression, value) = line
                .rsplit_once(" → ")
                .unwrap_or_else(|| panic!("line {}: no value is shown", fence.line + at));
            (fence.line + at, expression.trim(), value.trim())
        })
    })
}

#[test]
fn expressions_have_the_values_that_the_page_shows() {
    let event = only_fence("event").text;
    let mut wrong = Vec::new();
    for (line, expression, value) in expressions() {
        let found = match eval(expression, event) {
            Ok(found) => found.unwrap_or_else(|| "undefined".to_owned()),
            Err(error) => error.to_string(),
        };
        if found != value {
            wrong.push(format!("line {line}: {expression} → {value}, but it is {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn queries_give_the_rows_that_the_page_shows() {
    let events = events();
    let mut wrong = Vec::new();
    for fence in fences("query").chain(fences("error")) {
        let (query, shown) = fence.text.split_once("\n---\n").expect("a query and its rows");
        let found = events.query(query);
        if found.trim_end() != shown {
            wrong
                .push(format!("line {}: {query}\nis shown to give\n{shown}\nbut gives\n{found}", fence.line));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn plans_are_those_that_the_page_shows() {
    for fence in fences("plan") {
        let (query, shown) = fence.text.split_once("\n---\n").expect("a query and its plan");
        let query = Query::prepare(query).expect("a query");
        assert_eq!(query.is_explain(), Some(false));
        assert_eq!(query.explain().trim_end(), shown, "line {}", fence.line);
    }
    assert!(fences("plan").next().is_some());
}

#[test]
fn every_function_is_described_with_an_example() {
    let functions = "Coalesce Concat Contains DatePart DateTime ElementAt EndsWith Every FromJson Has HasText IndexOf IndexOfMatch \
        IsMatch Keys LastIndexOf Length Now OffsetIn Replace Round Some StartsWith Substring TimeOfDay TimeSpan ToHexString \
        ToIsoString ToJson ToLower ToNumber ToString TotalMilliseconds ToTimeString ToUpper TypeOf Undefined Values";
    let described: BTreeSet<&str> = PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("### ")?.split_once('('))
        .map(|(name, _)| name)
        .collect();
    for function in functions.split_whitespace() {
        assert!(described.contains(function), "{function} has a section");
        let call = format!("{function}(");
        assert!(
            expressions().any(|(_, expression, _)| expression.contains(&call)),
            "{function} has an example"
        );
    }
    let known: BTreeSet<&str> = functions.split_whitespace().collect();
    assert_eq!(described, known, "the page describes functions that there are");
}

#[test]
fn links_within_the_page_lead_somewhere() {
    let anchors: BTreeSet<String> = PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("## ").or(line.strip_prefix("### ")))
        .map(|heading| {
            let kept =
                heading.to_lowercase().replace(|c: char| !(c.is_alphanumeric() || " -_".contains(c)), "");
            kept.replace(' ', "-")
        })
        .collect();
    for link in PAGE.split("](#").skip(1) {
        let target = link.split(')').next().unwrap_or_default();
        assert!(anchors.contains(target), "#{target} is a heading");
    }
}
