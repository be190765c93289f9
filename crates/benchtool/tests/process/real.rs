//! Real logs of other people, where they are at hand.

use serde_json::{Map, Value};
use tamias_testdata::data_set;

use crate::tool::{count, figures, folder, rows, tool_with_input};

/// Ingests a set, and checks what became of its lines.
fn check_set(name: &str, time_key: &str) {
    let Some(bytes) = data_set(name) else { return };
    let folder = folder();
    let run = tool_with_input(folder.path(), &["ingest", "s", "-", "--time-key", time_key], &bytes).well();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() as u64;
    assert_eq!(figures(&run.out), (lines, 0, lines, bytes.len() as u64), "{name}: {}", run.err);
    assert_eq!(count(folder.path(), "s"), lines, "{name}");
}

#[test]
fn sets_go_in_with_one_command() {
    check_set("github", "created_at");
    check_set("nginxplus", "timestamp");
    check_set("cloudtrail", "eventTime");
    check_set("win_exchange", "@timestamp");
    check_set("win_opth", "@timestamp");
}

#[test]
fn edits_are_those_that_a_naive_reader_finds() {
    let Some(bytes) = data_set("wiki") else { return };
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-", "--time-key", "time"], &bytes).well();
    let found = rows(folder.path(), "s", "select page from stream where delta > 200");
    let mut expected: Vec<Map<String, Value>> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut event: Map<String, Value> = serde_json::from_slice(line).unwrap();
        if event.get("delta").and_then(Value::as_i64) > Some(200) {
            expected
                .push(event.remove("page").map(|page| Map::from_iter([("page".to_owned(), page)])).unwrap());
        }
    }
    assert!(expected.len() > 1000);
    assert_eq!(found.len(), expected.len());
    // The set is in the order of its times but for a few edits.
    let texts = |rows: &[Map<String, Value>]| {
        let mut texts: Vec<String> = rows.iter().map(|row| row["page"].to_string()).collect();
        texts.sort();
        texts
    };
    assert!(texts(&found) == texts(&expected));
}
