//! The first rows of an order over many blocks, of which statistics tell that most have none of them.

use crate::agree::agree;
use crate::memory::{Event, Memory};
use tamias_query::{Query, RunOptions};

const BLOCKS: u64 = 14;
const EVENTS: u64 = 300;

/// Each block has numbers of its own range; some have other values beside them, or no number at all. Equal numbers stand in several blocks.
fn readings() -> Memory {
    let event = |n: u64| {
        let (block, nth) = (n / EVENTS, n % EVENTS);
        let number = (block * 5 % BLOCKS) * 100 + n * 7919 % 150;
        let value = match (block, nth % 50) {
            (2, 1) => "\"high\"".to_owned(),
            (3, 1) => "null".to_owned(),
            (4, 1) => "true".to_owned(),
            (6, 1) => r#"{"of":1}"#.to_owned(),
            (7, 1) => format!("[{n}]"),
            (8, 2) => format!("{number}.0"),
            (9, 3) => format!("-{number}.25"),
            (10, _) => format!("\"text {n}\""),
            (12, 4) => "900e0".to_owned(),
            _ => number.to_string(),
        };
        let value = match (block, nth % 50) {
            (5, 1) | (11, _) => String::new(),
            _ => format!(r#","value":{value},"inner":{{"value":{value}}}"#),
        };
        let document = format!(
            r#"{{"n":{n},"kind":"{}","few":{},"only":{{"this":{number}}},"note":"note {n}"{value}}}"#,
            ["a", "b"][(n % 2) as usize],
            number % 3
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..BLOCKS * EVENTS).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(EVENTS as usize).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(2).collect();
    Memory::blocks(&groups)
}

#[test]
fn the_first_rows_of_an_order_are_those_of_events_whatever_blocks_are_passed_over() {
    let memory = readings();
    for by in [
        "value",
        "inner.value",
        "few",
        "only.this",
        "only.this desc",
        "value desc",
        "inner.value desc",
        "few desc",
    ] {
        let (key, direction) = by.split_once(' ').unwrap_or((by, ""));
        for condition in [
            "",
            "where kind = 'a'",
            "where value > 300",
            "where value < 500 or note like '%7%'",
            "where value is not null",
            "where kind = 'b' and inner.value <> 250",
            "where inner.value >= 250 and Length(note) < 9",
        ] {
            for limit in [1, 20, 700] {
                agree(
                    &memory,
                    &format!(
                        "select n, {key} as v from stream {condition} order by v {direction} limit {limit}"
                    ),
                );
            }
        }
        agree(&memory, &format!("select {key} as v, n from stream order by v {direction}, n desc limit 9"));
    }
    agree(&memory, "select *, value as v from stream where value > 0 order by v desc limit 5");
    agree(&memory, "select value, Replace(note, 'o', 'oo') from stream order by value desc limit 5");
    agree(&memory, "select n, value from stream where value > 0 order by value desc limit 8");
}

#[test]
fn blocks_whose_numbers_come_behind_those_that_were_found_are_passed_over() {
    let memory = readings();
    let columns = memory.in_columns();
    let skipped = |text: &str| {
        let query = Query::prepare(text).unwrap();
        columns.in_turn(1).run(&query, RunOptions::default()).1.blocks_skipped
    };
    assert_eq!(skipped("select n, few from stream order by few desc limit 1"), 0, "each has an equal one");
    assert!(skipped("select n, only.this as v from stream order by v desc limit 3") > 0);
    assert!(skipped("select n, only.this as v from stream where kind = 'a' order by v, n limit 3") > 0);
    // Blocks have other values beside these numbers, which do not pass.
    assert!(skipped("select n, value from stream where value > -1000000 order by value desc limit 3") > 3);
    assert!(skipped("select n, value from stream where value > -1000000 order by value limit 3") > 3);
    assert!(
        skipped("select n, inner.value as v from stream where inner.value is not null order by v limit 3")
            > 0
    );
    assert_eq!(skipped("select n, only.this + 0 as v from stream order by v limit 3"), 0, "it is computed");
    // A text that is made of a row that is not wanted may be too long.
    let made = "select only.this as v, Replace(note, 'o', 'oo') from stream order by v limit 3";
    assert_eq!(skipped(made), 0);
}
