//! Values that are taken many at a time: in all spellings, and very many of them.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Values that look alike and are not, or do not and are.
const SPELLINGS: [&str; 40] = [
    "0",
    "-0",
    "0.0",
    "1",
    "1.0",
    "1e0",
    "10e-1",
    "\"1\"",
    "\"1.0\"",
    "200",
    "200.0",
    "2e2",
    "\"200\"",
    "-200",
    "-200.00",
    "65535",
    "65536",
    "65535.0",
    "123456789012.345",
    "1234567890123456",
    "1234567890123456.0",
    "12345678901234567",
    "9007199254740993",
    "0.1",
    "0.10",
    "0.12345678901234567890",
    "1e400",
    "10e399",
    "-1e-400",
    "79228162514264337593543950335",
    "null",
    "true",
    "false",
    "\"\"",
    "\"true\"",
    "\"a\\\"b\"",
    "\"\\\\\"",
    "\"\\u0001\"",
    "[1]",
    "{\"V\":1}",
];

/// Events with each of the spellings several times and in several orders, some without any, in blocks that overlap: the block that
/// comes first has the later events.
fn spelled(rounds: u64) -> Memory {
    let mut events = Vec::new();
    for round in 0..rounds {
        for at in 0..43u64 {
            // 43 is a prime: each step goes through all.
            let value = SPELLINGS.get((at * (round % 42 + 1) % 43) as usize);
            let value = value.map(|value| format!("\"V\":{value},")).unwrap_or_default();
            let arrival = round * 43 + at;
            let document = format!("{{{value}\"Of\":\"{}\",\"N\":{}}}", arrival % 3, arrival % 100);
            events.push(Event { instant: arrival / 2, arrival, document });
        }
    }
    let (even, odd): (Vec<Event>, Vec<Event>) = events.into_iter().partition(|event| event.arrival % 2 == 0);
    Memory::blocks(&[&[&odd, &even]])
}

#[test]
fn values_taken_together_are_those_of_each_event() {
    let aggregates = [
        "count(*), count(V)",
        "sum(V), mean(V)",
        "min(V), max(V)",
        "percentile(V, 0), percentile(V, 20), percentile(V, 50, 0.0001), percentile(V, 95), percentile(V, 100)",
        "count(distinct(V))",
        "distinct(V)",
        "first(V), last(V), any(V), all(V)",
        "sum(Length(V)), min(Length(V)), count(Length(V))",
        "top(V, 5)",
        "bottom(V, 5)",
        "percentile(N, 33), sum(N), min(N), max(N)",
    ];
    let groups = [
        "",
        " group by V, Of",
        " group by Of ci, V ci",
        " group by time(7us), V, Of",
        " group by V",
        " group by V ci",
        " group by Of",
        " group by time(7us)",
        " group by time(1us)",
    ];
    for (rounds, conditions) in
        [(1, &["", " where Of <> '1'"][..]), (20, &["", " where N > 3", " where V > 0"])]
    {
        let memory = spelled(rounds);
        for condition in conditions {
            for group in groups {
                for aggregates in aggregates {
                    agree(&memory, &format!("select {aggregates} from stream{condition}{group}"));
                }
            }
        }
    }
}

/// More combinations than are remembered, and some of them again.
#[test]
fn groups_of_very_many_keys_are_told_apart() {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(r#"{{"A":{},"B":"b{}"}}"#, n % 66_000, n % 7),
    };
    let events: Vec<Event> = (0..69_000).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for query in [
        "select count(*), max(A) from stream group by A, B",
        "select count(*) from stream group by B, A",
        "select count(*) as n from stream group by A having n > 1 limit 5",
    ] {
        agree(&memory, query);
    }
}

#[test]
fn lone_surrogates_are_shown_as_they_are_stored_by_every_query() {
    let document = r#"{"s":"x\udfffy","a":["\ud800"],"o":{"\udc00":1}}"#;
    let memory = Memory::new(&[document]);
    let of = |value: &str, column: &str| format!("{{\"{column}\":{value}}}\n");
    let stored = [("s", r#""x\udfffy""#), ("a", r#"["\ud800"]"#), ("o", r#"{"\udc00":1}"#)];
    for (key, json) in stored {
        for select in [
            "KEY",
            "first(KEY)",
            "last(KEY)",
            "distinct(KEY)",
            "top(KEY, 1)",
            "bottom(KEY, 1)",
            "Coalesce(KEY)",
        ] {
            let text = format!("select {} as x from stream", select.replace("KEY", key));
            assert_eq!(memory.query(&text), of(json, "x"), "{text}");
            assert_eq!(memory.in_columns().query(&text), of(json, "x"), "{text}");
        }
        for text in [
            format!("select {key} as x from stream order by x"),
            format!("select {key} as x from stream order by x desc limit 1"),
            format!("select x from stream lateral unnest([{key}]) as x"),
        ] {
            assert_eq!(memory.query(&text), of(json, "x"), "{text}");
        }
        let grouped = format!("select count(*) as n from stream group by {key} as x");
        assert_eq!(memory.query(&grouped), format!("{{\"x\":{json},\"n\":1}}\n"));
    }
    let text = "select min(s) as i, max(s) as a, any(s = 'x\u{fffd}y') as same from stream";
    let both = r#"{"i":"x\udfffy","a":"x\udfffy","same":true}"#;
    assert_eq!(memory.query(text), format!("{both}\n"));
}

/// A lone surrogate in a key is read as U+FFFD, and spelled otherwise.
#[test]
fn a_key_with_a_lone_surrogate_is_the_one_with_the_replacement_character() {
    let documents = [r#"{"\ud800":3}"#, "{\"\u{FFFD}\":3,\"\\ud800\":4}", "{\"\u{FFFD}\":5}", r#"{"a":1}"#];
    let event = |(n, document): (u64, &&str)| Event { instant: n, arrival: n, document: (*document).into() };
    let events: Vec<Event> = (0..).zip(&documents).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for query in [
        "select count(*) from stream where @Properties['\u{FFFD}'] = 3",
        "select count(*) from stream group by @Properties['\u{FFFD}']",
    ] {
        agree(&memory, query);
    }
}
