//! `benchtool keys`: what a store's events have.

use crate::tool::{events, folder, objects, tool, tool_with_input};

const EVENTS: &[u8] = b"{\"@t\":\"2024-05-29T10:56:01Z\",\"N\":1,\"Actor\":{\"Name\":\"a\\\"b\"}}
{\"@t\":\"2024-05-29T10:56:02Z\",\"N\":\"x\",\"Tags\":[\"a\",null]}
{\"@t\":\"2024-05-29T10:56:03Z\",\"N\":1,\"odd key\":\"\\u001b[31m\"}
";

#[test]
fn keys_are_told_with_kinds_and_examples() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], EVENTS).well();
    let run = tool(folder.path(), &["keys", "s"]).well();
    let n = &objects(&run.out)[3];
    assert_eq!(n["key"], "N");
    assert_eq!(n["kinds"].to_string(), "{\"number\":2,\"string\":1}");
    assert_eq!(n["examples"].to_string(), r#"["1","\"x\""]"#);
    let keys: Vec<String> = objects(&run.out).iter().map(|key| key["key"].to_string()).collect();
    let expected = [
        "\"@t\"",
        "\"Actor\"",
        "\"Actor.Name\"",
        "\"N\"",
        "\"Tags\"",
        "\"Tags[?]\"",
        "\"@Properties['odd key']\"",
    ];
    assert_eq!(keys, expected);
    assert_eq!(run.err, "read 3 events: all of them\n");

    let run = tool(folder.path(), &["keys", "s", "--depth", "1", "--limit", "1"]).well();
    assert_eq!(run.out.lines().count(), 3);
    assert!(run.err.starts_with("read 1 event: the first of 3 in the store;"), "{}", run.err);
    let run = tool(folder.path(), &["keys", "s", "--every", "2", "--from", "2024-05-29T10:56:02Z"]).well();
    assert!(run.err.starts_with("read 1 event: one in 2 of 2;"), "{}", run.err);
    let table = tool(folder.path(), &["keys", "s", "--format", "table"]).well().out;
    assert!(table.contains("string 1, number 2") && table.contains("33%"), "{table}");
    assert!(!table.contains('\u{1b}'), "{table}");
    tool(folder.path(), &["keys", "s", "--depth", "0"]).with(2);
    assert_eq!(tool(folder.path(), &["keys", "nowhere"]).with(5).out, "");
}

#[test]
fn keys_are_those_that_every_event_has() {
    let folder = folder();
    let input = events(4, 3000);
    tool_with_input(folder.path(), &["ingest", "s", "-"], &input).well();
    let mut expected = std::collections::BTreeMap::new();
    for event in objects(std::str::from_utf8(&input).unwrap()) {
        for key in event.keys() {
            // What is no name, or is a keyword in any case, is named otherwise.
            let is_other = key.contains([' ', '-']) || ["", "Limit", "Order"].contains(&key.as_str());
            let path = if is_other { format!("@Properties['{key}']") } else { key.clone() };
            *expected.entry(path).or_insert(0u64) += 1;
        }
    }
    let run = tool(folder.path(), &["keys", "s", "--depth", "1"]).well();
    let found = objects(&run.out);
    let found =
        found.iter().map(|key| (key["key"].as_str().unwrap().to_owned(), key["values"].as_u64().unwrap()));
    assert_eq!(found.collect::<std::collections::BTreeMap<String, u64>>(), expected);
}

#[test]
fn flat_keys_with_points_are_shown_as_people_write_them() {
    let folder = folder();
    let event = br#"{"@t":"2024-05-29T10:56:01Z","id.orig_h":"10.0.0.1","a.b":1,"a":{"b":2},"odd key.c":3}"#;
    tool_with_input(folder.path(), &["ingest", "s", "-"], event).well();
    let table = tool(folder.path(), &["keys", "s", "--format", "table"]).well().out;
    for key in ["\u{2502} id.orig_h ", " @Properties['a.b'] ", " a.b ", " @Properties['odd key.c'] "] {
        assert!(table.contains(key), "{key}: {table}");
    }
    // For programs the name that is always right.
    let keys = tool(folder.path(), &["keys", "s", "--format", "ndjson"]).well().out;
    assert!(keys.contains("@Properties['id.orig_h']"), "{keys}");
}

/// It was "number would be zero for non-zero type".
#[test]
fn a_depth_of_nothing_is_refused_in_plain_words() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], br#"{"@t":"2024-05-29T10:56:01Z"}"#).well();
    for (option, value) in [("--depth", "0"), ("--every", "x")] {
        let run = tool(folder.path(), &["keys", "s", option, value]).with(2);
        assert!(run.err.contains("write a whole number from 1 on"), "{}", run.err);
    }
}
