//! False statistics are found, each for what is false in it.

use super::super::tests::{block, statistics_of};
use super::{FalseStatistics, check_statistics};

/// Holds the statistics of some documents against others.
fn held_against(told: &[impl AsRef<[u8]>], documents: &[impl AsRef<[u8]>]) -> Result<(), FalseStatistics> {
    let (bytes, ends) = block(documents);
    let ends: Vec<[u8; 4]> = ends.iter().map(|end| end.to_le_bytes()).collect();
    check_statistics(&bytes, &ends, &statistics_of(told))
}

#[track_caller]
fn finds(told: &[impl AsRef<[u8]>], documents: &[impl AsRef<[u8]>], what: &str) {
    let found = held_against(told, documents).unwrap_err().to_string();
    assert_eq!(found, what);
}

#[test]
fn every_kind_of_claim_is_held_against_the_documents() {
    finds(&[r#"{"a":1}"#], &[r#"{"a":1}"#, "{}"], "events: 1 in the statistics, 2 in the documents");
    finds(&[r#"{"a":1}"#], &[r#"{"a":1,"b":2}"#], "key \"b\": in event 0, and not in the statistics");
    finds(
        &[r#"{"a":1}"#, r#"{"a":2}"#],
        &[r#"{"a":1}"#, "{}"],
        "key \"a\": events that have it: 2 in the statistics, 1 in the documents",
    );
    finds(
        &[r#"{"a":1}"#, "{}", r#"{"a":1}"#],
        &["{}", r#"{"a":1}"#, r#"{"a":1}"#],
        "key \"a\": events without it: 1 from event 1 in the statistics, 1 from event 0 in the documents",
    );
    finds(
        &[r#"{"a":null}"#, r#"{"a":true}"#],
        &[r#"{"a":true}"#, r#"{"a":null}"#],
        "key \"a\": null: 1 from event 0 in the statistics, 1 from event 1 in the documents",
    );
    finds(
        &[r#"{"a":true}"#],
        &[r#"{"a":false}"#],
        "key \"a\": false: none in the statistics, 1 from event 0 in the documents",
    );
    finds(
        &[r#"{"a":1}"#],
        &[r#"{"a":[]}"#],
        "event 0: an object or array, where the statistics tell of none",
    );
    finds(&[r#"{"a":[]}"#], &[r#"{"a":{}}"#], "event 0: flat in the statistics, not in the documents");
    finds(&[r#"{"a":{}}"#], &[r#"{"a":[]}"#], "key \"a\": objects: 1 in the statistics, 0 in the documents");
    finds(
        &[r#"{"a":true}"#],
        &[r#"{"a":"true"}"#],
        "key \"a\": true: 1 from event 0 in the statistics, none in the documents",
    );
    finds(
        &[r#"{"a":[],"b":{}}"#],
        &[r#"{"a":1,"b":{}}"#],
        "key \"a\": arrays: 1 in the statistics, 0 in the documents",
    );
    finds(
        &[r#"{",a":1,"b":{}}"#],
        &[r#"{",a":1,",a":1,"b":{}}"#],
        "key \",a\": an event has it more than once, where the statistics tell its values",
    );
    finds(&[r#"{"a":1}"#], &[r#"{"a":"1"}"#], "key \"a\": strings: 0 in the statistics, 1 in the documents");
}

#[test]
fn every_value_is_held_against_the_documents() {
    finds(
        &[r#"{"a":"x"}"#, r#"{"a":"x"}"#],
        &[r#"{"a":"x"}"#, r#"{"a":"y"}"#],
        "key \"a\": strings, x: 2 from event 0 in the statistics, 1 from event 0 in the documents",
    );
    finds(
        &[r#"{"a":"x"}"#],
        &[r#"{"a":"y"}"#],
        "key \"a\": the next of all strings: x in the statistics, y in the documents",
    );
    finds(
        &[r#"{"a":1}"#],
        &[r#"{"a":1.0}"#],
        "key \"a\": the next of all numbers: 1 in the statistics, 1.0 in the documents",
    );
    // More than a list holds.
    let numbered = |n: u32| format!("{{\"a\":{n},\"b\":\"name {n}\"}}");
    let told: Vec<String> = (0..100).map(numbered).collect();
    let finds_in_changed = |event: usize, document: &str, what: &str| {
        let mut documents = told.clone();
        documents[event] = document.to_owned();
        finds(&told, &documents, what);
    };
    finds_in_changed(7, r#"{"a":7,"b":"another"}"#, "key \"b\": the filter lacks the string \"another\"");
    finds_in_changed(
        7,
        r#"{"a":8,"b":"name 7"}"#,
        "key \"a\": the sum of the numbers is not that of the documents",
    );
    finds_in_changed(
        99,
        r#"{"a":99.5,"b":"name 99"}"#,
        "key \"a\": the greatest number, of event 99: 99 in the statistics, 99.5 in the documents",
    );
    finds_in_changed(
        50,
        r#"{"a":99,"b":"name 50"}"#,
        "key \"a\": the greatest number: 99 in the statistics, 99 in event 50",
    );
    finds_in_changed(
        50,
        r#"{"a":-1,"b":"name 50"}"#,
        "key \"a\": the least number: 0 in the statistics, -1 in event 50",
    );
}

#[test]
fn places_are_held_against_the_documents() {
    finds(
        &[r#"{"c":{"b":1},"a":1}"#],
        &[r#"{"c":{"a":1},"a":1}"#],
        "key \"a\": in event 0 its bytes stand elsewhere too, which the statistics deny",
    );
    finds(&[r#"{"a":1}"#], &[r#"{"a":1,"a":1}"#], "event 0: flat in the statistics, not in the documents");
    finds(
        &[r#"{"a":{}}"#],
        &[r#"{"a":{},"a":{}}"#],
        "key \"a\": in event 0 its bytes stand elsewhere too, which the statistics deny",
    );
}

#[test]
fn keys_out_of_order_are_found() {
    let documents = [r#"{"a":1,"b":2,"c":3}"#];
    let (bytes, ends) = block(&documents);
    let ends: Vec<[u8; 4]> = ends.iter().map(|end| end.to_le_bytes()).collect();
    let mut statistics = statistics_of(&documents);
    // Where the records of the first two keys begin: a search by halves goes astray, though each record is true.
    let (first, second) = statistics[12..20].split_at_mut(4);
    first.swap_with_slice(second);
    let found = check_statistics(&bytes, &ends, &statistics).unwrap_err().to_string();
    assert_eq!(found, "the keys of the statistics are not in order");
}

#[test]
fn what_is_left_open_is_no_mistake() {
    let documents = [r#"{"a":1,"b":"x"}"#, r#"{"b":{"a":2}}"#];
    let (bytes, ends) = block(&documents);
    let ends: Vec<[u8; 4]> = ends.iter().map(|end| end.to_le_bytes()).collect();
    let check = |statistics: &[u8]| check_statistics(&bytes, &ends, statistics);
    assert_eq!(check(&[]), Ok(()), "no statistics");
    let mut statistics = statistics_of(&documents);
    statistics[0] = 3;
    assert_eq!(check(&statistics), Ok(()), "a later version");
    statistics[0] = 1;
    // Keys may be missing, and which events are flat.
    let flat = statistics.len() - 1;
    statistics[flat] = 0;
    statistics[1] |= 1;
    assert_eq!(check(&statistics), Ok(()));
    statistics.truncate(flat - 4);
    let malformed = check(&statistics).unwrap_err().to_string();
    assert!(malformed.contains("malformed"), "{malformed}");
}
