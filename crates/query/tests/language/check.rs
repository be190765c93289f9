//! What the rules are checked with: an event, a small store, and what is asked of them.

use crate::memory::{Event, Memory};

/// The event whose properties the expressions name.
pub(crate) const EVENT: &str = r#"{
    "a": 1, "b": "text", "f": true, "n": null, "half": 0.5, "kept": 1.0, "big": 1e400, "huge": 123456789012345678901234567890,
    "tags": ["x", "Y"], "none": [], "o": {"k": 1, "odd name": 2, "K": 3}, "twice": 1, "twice": {"a": 1, "b": 2, "a": 3},
    "time": "noon", "Length": 7, "lone": "\ud800", "@@at": "own", "@version": "1", "tick": -0
}"#;

/// Checks `expression → value` lines, the value as JSON or `undefined`.
#[track_caller]
pub(crate) fn check(table: &str) {
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (expression, expected) = line.rsplit_once(" → ").unwrap();
        let found = match tamias_query::eval(expression, EVENT) {
            Ok(value) => value.unwrap_or("undefined".to_owned()),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(found, expected, "{expression}");
    }
}

/// Checks a query over the events of [`store`]: the rows as JSON, separated by blanks.
#[track_caller]
pub(crate) fn rows(query: &str, expected: &str) {
    let found = store().query(query);
    assert_eq!(found.lines().collect::<Vec<_>>().join(" "), expected, "{query}");
}

/// Checks that a query is refused, and that the error says `part`.
#[track_caller]
pub(crate) fn refused(query: &str, part: &str) {
    let found = store().query(query);
    assert!(found.starts_with("line ") && found.contains(part), "{query}: {found}");
}

pub(crate) const HOUR: u64 = 36_000_000_000;

/// Two groups of blocks. In time order, which is neither that of arrival nor that of the blocks, n counts from 1.
pub(crate) fn store() -> Memory {
    let event = |hours: u64, ticks: u64, arrival: u64, document: &str| Event {
        instant: hours * HOUR + ticks,
        arrival,
        document: document.to_owned(),
    };
    Memory::blocks(&[
        &[
            &[
                event(5, 0, 4, r#"{"n":1,"g":"a","v":1.0,"list":[1,2]}"#),
                event(5, 9, 3, r#"{"n":3,"g":"A","v":"text","list":[]}"#),
                event(6, 0, 0, r#"{"n":4,"v":1,"list":{"k":1}}"#),
            ],
            &[event(5, 9, 1, r#"{"n":2,"g":"b","v":2.5,"list":["x"]}"#)],
        ],
        &[&[
            event(9, 1, 2, r#"{"n":5,"g":null,"v":null,"f":true}"#),
            event(9, 2, 5, r#"{"n":6,"g":"a","v":-3}"#),
        ]],
    ])
}
