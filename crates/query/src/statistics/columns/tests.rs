//! Statistics of columns against a plain reading of the same documents, and against those of the same documents as text.

use super::collect_surveyed_statistics;
use crate::statistics::read::{Key, Statistics, Tally, Values};
use crate::statistics::tests::{Members, Plain, block, check_own, check_values, key, object, value};
use crate::statistics::{check_statistics, collect_statistics, statistics_texts};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tamias_shred::{Encoder, Event, Survey};

/// Documents in columns: their statistics; none where a document is kept as text.
fn surveyed(documents: &[u8], ends: &[u32]) -> Option<Vec<u8>> {
    let each = documents.split(|&byte| byte == b'\n').take(ends.len());
    let events: Vec<Event<'_>> = each.map(|document| Event { instant: 0, arrival: 0, document }).collect();
    let mut bytes = None;
    let mut survey = |survey: Option<&Survey<'_>>| {
        bytes = survey.map(|survey| {
            let mut bytes = Vec::new();
            collect_surveyed_statistics(survey, documents.len(), &mut bytes);
            bytes
        });
    };
    Encoder::new().unwrap().encode_surveyed(&events, &mut survey).unwrap();
    bytes
}

fn surveyed_of(documents: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let (bytes, ends) = block(documents);
    let statistics = surveyed(&bytes, &ends).unwrap();
    check_own(&bytes, &ends, &statistics);
    statistics
}

/// What is plainly read at each path through objects.
fn plain(documents: &[u8]) -> (u32, BTreeMap<Vec<String>, Plain>) {
    let mut paths: BTreeMap<Vec<String>, Plain> = BTreeMap::new();
    let mut events = 0;
    for document in documents.split(|&byte| byte == b'\n').filter(|document| !document.is_empty()) {
        let mut left = vec![(Vec::new(), std::str::from_utf8(document).unwrap().to_owned())];
        while let Some((path, object)) = left.pop() {
            for (key, value) in serde_json::from_str::<Members>(&object).unwrap().0 {
                let path = [path.as_slice(), &[key]].concat();
                let value = value.get().to_owned();
                let plain = paths.entry(path.clone()).or_default();
                plain.is_repeated |= !plain.events.insert(events);
                plain.values.entry(value.clone()).or_default().push(events);
                if value.starts_with('{') {
                    left.push((path, value));
                }
            }
        }
        events += 1;
    }
    let repeated: Vec<Vec<String>> =
        paths.iter().filter(|(_, plain)| plain.is_repeated).map(|(path, _)| path.clone()).collect();
    for (path, plain) in &mut paths {
        plain.is_repeated |= repeated.iter().any(|above| path.starts_with(above));
    }
    (events, paths)
}

/// How many events have what.
fn counts(values: &Values<'_>) -> ([Tally; 4], [u32; 4]) {
    let Values { missing, null, falsehood, truth, maps, arrays, strings, numbers, .. } = *values;
    ([missing, null, falsehood, truth], [maps, arrays, strings, numbers])
}

fn check(documents: &[u8], ends: &[u32]) {
    let bytes = surveyed(documents, ends).unwrap();
    check_own(documents, ends, &bytes);
    let statistics = Statistics::parse(&bytes).unwrap();
    let (events, paths) = plain(documents);
    for (path, plain) in &paths {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        match statistics.path(&keys) {
            Key::Present(told) => {
                assert_eq!(told.events as usize, plain.events.len(), "{path:?}");
                assert_eq!(told.values.is_none(), plain.is_repeated, "{path:?}");
                if let Some(values) = told.values {
                    check_values(&path.join("."), plain, values, events);
                }
            }
            Key::Unknown => {}
            Key::Absent => panic!("{path:?} is not absent"),
        }
        let longer = [keys.as_slice(), &["nowhere"]].concat();
        assert!(!matches!(statistics.path(&longer), Key::Present(_)), "{longer:?}");
    }
    // What is told of keys of documents as text is told of those in columns.
    let mut of_text = Vec::new();
    collect_statistics(documents, ends, &mut of_text);
    let of_text = Statistics::parse(&of_text).unwrap();
    assert_eq!(statistics.never_nested(), of_text.never_nested());
    for name in paths.keys().filter(|path| path.len() == 1).map(|path| path[0].as_str()) {
        let both = (statistics.key(name), of_text.key(name));
        let (Key::Present(columns), Key::Present(text)) = both else { continue };
        let (Some(columns), Some(text)) = (columns.values, text.values) else { continue };
        assert_eq!(counts(&columns), counts(&text), "{name:?}");
        assert_eq!(columns.range, text.range, "{name:?}");
    }
}

proptest! {
    #[test]
    fn facts_are_those_of_a_plain_reading(
        documents in prop::collection::vec(prop::collection::vec((key(), value()), 0..5), 1..120)
    ) {
        let documents: Vec<String> = documents.iter().map(|members| object(members)).collect();
        let (documents, ends) = block(&documents);
        check(&documents, &ends);
    }
}

#[test]
fn facts_of_generated_events() {
    let mut generator = tamias_testdata::Generator::new(5, 4000);
    let mut bytes = Vec::new();
    while generator.write_next(&mut bytes) {}
    let documents: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let (documents, ends) = block(&documents);
    check(&documents, &ends);
    let bytes = surveyed(&documents, &ends).unwrap();
    let statistics = Statistics::parse(&bytes).unwrap();
    let Key::Present(city) = statistics.path(&["Actor", "Address", "City"]) else { panic!("no city") };
    assert!(city.values.unwrap().listed_strings.is_some());
    let Key::Present(ids) = statistics.key("@tr") else { panic!("no trace") };
    let found = (0..1000).filter(|n| ids.values.unwrap().may_hold(format!("{n:032x}").as_bytes())).count();
    assert!(found < 30, "{found} of 1000 that are not there may be");
}

#[test]
fn values_of_several_kinds_come_in_the_order_of_their_events() {
    let documents: Vec<String> = (0..90)
        .map(|n| ["{\"a\":1.5}", "{\"a\":2}", "{\"a\":1e3}", "{\"b\":0}"][n / 3 % 4].to_owned())
        .collect();
    let bytes = surveyed_of(&documents);
    let Key::Present(a) = Statistics::parse(&bytes).unwrap().key("a") else { panic!("no a") };
    let numbers: Vec<_> =
        a.values.unwrap().listed_numbers.unwrap().map(|(text, tally)| (text, tally.first)).collect();
    assert_eq!(numbers, [(&b"1.5"[..], 0), (b"2", 3), (b"1e3", 6)]);
}

#[test]
fn a_path_is_absent_where_what_it_begins_with_holds_no_object() {
    let bytes = surveyed_of(&[r#"{"a":{"b":1},"c":[{"b":1}]}"#, r#"{"a":"b"}"#]);
    let statistics = Statistics::parse(&bytes).unwrap();
    assert!(matches!(statistics.path(&["a", "b"]), Key::Present(_)));
    for absent in [["a", "c"], ["c", "b"], ["d", "b"]] {
        assert!(matches!(statistics.path(&absent), Key::Absent), "{absent:?}");
    }
    let (documents, ends) = block(&[r#"{"a":{"b":1},"c":[{"b":1}]}"#, r#"{"a":"b"}"#]);
    let mut bytes = Vec::new();
    collect_statistics(&documents, &ends, &mut bytes);
    let statistics = Statistics::parse(&bytes).unwrap();
    assert!(matches!(statistics.path(&["a", "b"]), Key::Unknown), "those of text know no paths");
    assert!(matches!(statistics.path(&["c", "b"]), Key::Absent));
}

#[test]
fn a_key_with_a_dot_is_no_path() {
    let bytes = surveyed_of(&[r#"{"a.b":1,"a":{"c":2}}"#]);
    let statistics = Statistics::parse(&bytes).unwrap();
    assert!(matches!(statistics.path(&["a", "b"]), Key::Absent));
    assert!(matches!(statistics.path(&["a.b"]), Key::Present(_)));
}

#[test]
fn paths_take_no_room_from_keys() {
    let inside: Vec<String> = (0..300).map(|n| format!("\"key number {n}\":\"value {n}\"")).collect();
    let documents: Vec<String> =
        (0..50).map(|n| format!("{{\"a\":\"text {n}\",\"of\":{{{}}}}}", inside.join(","))).collect();
    let bytes = surveyed_of(&documents);
    let statistics = Statistics::parse(&bytes).unwrap();
    let Key::Present(a) = statistics.key("a") else { panic!("no a") };
    assert_eq!(a.values.unwrap().listed_strings.unwrap().count(), 50);
    assert!(matches!(statistics.path(&["of", "nowhere"]), Key::Unknown), "not all paths have room");
    assert!(matches!(statistics.key("nowhere"), Key::Absent));
}

#[test]
fn texts_of_paths_are_counted_and_checked() {
    let (documents, ends) = block(&[r#"{"a":{"user":"eve"}}"#, r#"{"a":{"user":"bob"}}"#]);
    let statistics = surveyed(&documents, &ends).unwrap();
    let offsets: Vec<[u8; 4]> = ends.iter().map(|end| end.to_le_bytes()).collect();
    assert_eq!(statistics_texts(&documents, &offsets, &statistics), Ok(4));
    let (others, _) = block(&[r#"{"a":{"user":"bob"}}"#, r#"{"a":{"user":"bob"}}"#]);
    let error = statistics_texts(&others, &offsets, &statistics).unwrap_err();
    assert!(error.to_string().contains("a.user"), "{error}");
}

/// The names of siblings in a deep object would take gigabytes.
#[test]
fn paths_that_are_too_long_to_be_listed_are_not_put_together() {
    let siblings: Vec<String> = (0..2000).map(|n| format!("\"{n}\":0")).collect();
    let mut document = format!("{{{}}}", siblings.join(","));
    for n in 0..200 {
        document = format!("{{\"{n}{}\":{document}}}", "x".repeat(300));
    }
    let bytes = surveyed_of(&[document]);
    let statistics = Statistics::parse(&bytes).unwrap();
    assert!(matches!(statistics.key("nowhere"), Key::Unknown));
    let key = "k".repeat(256);
    let bytes = surveyed_of(&[format!("{{\"{key}\":1}}")]);
    let statistics = Statistics::parse(&bytes).unwrap();
    assert!(matches!(statistics.key(&key), Key::Present(_)));
    assert!(matches!(statistics.key("nowhere"), Key::Absent));
}

/// Of the two objects under `a` only the last is read, which has no `b`.
#[test]
fn values_in_an_object_that_comes_twice_are_not_told() {
    let documents = [r#"{"a":{"b":1},"a":{"c":2}}"#, r#"{"o":{"a":{"b":1},"a":{"c":{"d":2}}}}"#];
    let bytes = surveyed_of(&documents);
    let statistics = Statistics::parse(&bytes).unwrap();
    for path in [&["a", "b"][..], &["o", "a", "b"], &["o", "a", "c", "d"]] {
        let Key::Present(facts) = statistics.path(path) else { panic!("{path:?} is there") };
        assert!(facts.values.is_none(), "{path:?}");
    }
    // Statistics of an event in which it comes once are false of one in which it comes twice.
    let (once, ends) = block(&[r#"{"a":{"b":1}}"#]);
    let told = surveyed(&once, &ends).unwrap();
    let (twice, ends) = block(&[r#"{"a":{"b":1},"a":{}}"#]);
    let ends: Vec<[u8; 4]> = ends.iter().map(|end| end.to_le_bytes()).collect();
    assert!(check_statistics(&twice, &ends, &told).is_err());
}
