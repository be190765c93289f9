//! The order of rows: by time, then by arrival, however late an event comes.

use serde_json::Value;

use crate::tool::{events, folder, rows, tool_with_input};

#[test]
fn late_events_take_their_place() {
    let folder = folder();
    // The same five days three times over, each load in an order of its own; `n` counts arrivals.
    let text = String::from_utf8(events(8, 4000)).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let mut arrived: Vec<(String, u64)> = Vec::new();
    for turn in 0..3 {
        match turn {
            0 => {}
            1 => lines.reverse(),
            _ => lines.sort_by_key(|line| line.len()),
        }
        let mut input = String::new();
        for line in &lines {
            let number = arrived.len() as u64;
            let time = line.split('"').nth(3).unwrap().to_owned();
            input.push_str(&format!("{{\"n\":{number},{}\n", &line[1..]));
            arrived.push((time, number));
        }
        tool_with_input(folder.path(), &["ingest", "s", "-"], input.as_bytes()).well();
    }
    arrived.sort();
    let expected: Vec<u64> = arrived.into_iter().map(|(_, number)| number).collect();

    let numbers = |query: &str| -> Vec<u64> {
        rows(folder.path(), "s", query).iter().map(|row| row["n"].as_u64().unwrap()).collect()
    };
    let all = numbers("select n from stream");
    let wrong = all.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!((all.len(), wrong), (expected.len(), None), "the first row in the wrong place");
    assert_eq!(numbers("select n from stream limit 7"), expected[..7]);
    let backwards: Vec<u64> = expected.iter().rev().copied().collect();
    assert!(numbers("select n from stream order by time desc") == backwards);
    assert_eq!(numbers("select n from stream order by time desc limit 7"), backwards[..7]);

    let arrivals = rows(folder.path(), "s", "select n, @Arrived as arrived from stream");
    assert!(arrivals.iter().all(|row| row["n"] == row["arrived"] && row["n"] != Value::Null));
}
