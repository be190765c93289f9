//! The whole path, from lines to rows, against a naive evaluation of the same lines with serde_json.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use rust_decimal::Decimal;
use serde_json::value::RawValue;
use tamias::{Batch, EventFormat, Query, RunOptions, Store};

/// An event as serde_json reads it; each value keeps its text. Of equal keys the last counts.
type Naive = BTreeMap<String, Box<RawValue>>;

/// A query, and what it should say of one event: its row, or `None` where the event does not pass.
struct Case {
    query: &'static str,
    naive: fn(&Naive) -> Option<Vec<Option<String>>>,
}

fn raw<'n>(event: &'n Naive, key: &str) -> Option<&'n str> {
    event.get(key).map(|value| value.get())
}

fn text(event: &Naive, key: &str) -> Option<String> {
    // A lone surrogate, which serde_json refuses, reads as U+FFFD.
    raw(event, key).filter(|raw| raw.starts_with('"')).map(|raw| {
        serde_json::from_str(raw)
            .unwrap_or_else(|_| serde_json::from_str(&replace_lone_surrogates(raw)).unwrap())
    })
}

fn replace_lone_surrogates(raw: &str) -> String {
    let mut text = raw.to_owned();
    while let Some(at) = text.find("\\ud").or_else(|| text.find("\\uD")) {
        text.replace_range(at..at + 6, "\u{FFFD}");
    }
    text
}

/// How the number in a key compares with a bound, by its mathematical value.
fn compare(event: &Naive, key: &str, bound: i64) -> Option<Ordering> {
    let number = raw(event, key).filter(|raw| raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()))?;
    Some(scientific(number).cmp(&scientific(&bound.to_string())))
}

/// A number in a form whose derived order is the mathematical one: the sign, then for negative numbers turned round the
/// power of ten and the digits after `0.`, without zeros at either end.
fn scientific(text: &str) -> (i64, i64, Vec<i64>) {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{integer}{fraction}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return (0, 0, Vec::new());
    }
    let leading_zeros = digits.len() - significant.len();
    let power = integer.len() as i64 - leading_zeros as i64 + exponent.parse::<i64>().unwrap();
    let digits = significant.trim_end_matches('0').bytes().map(|digit| sign * i64::from(digit - b'0'));
    // For a negative number, more digits after an equal beginning make it less: a closing 1 is above every digit turned round.
    (sign, sign * power, digits.chain((sign < 0).then_some(1)).collect())
}

fn column(event: &Naive, key: &str) -> Option<String> {
    raw(event, key).map(str::to_owned)
}

const CASES: &[Case] = &[
    Case {
        query: "select Message from stream where Elapsed > 200",
        naive: |event| {
            (compare(event, "Elapsed", 200) == Some(Ordering::Greater))
                .then(|| vec![column(event, "Message")])
        },
    },
    Case {
        query: "select Message from stream where match(Message, '/api/customers')",
        naive: |event| {
            text(event, "Message")?.contains("/api/customers").then(|| vec![column(event, "Message")])
        },
    },
    Case {
        query: "select Elapsed as E, StatusCode from stream where StatusCode = 500 or not (Elapsed >= 10)",
        naive: |event| {
            let fails = compare(event, "StatusCode", 500) == Some(Ordering::Equal);
            let quick = matches!(compare(event, "Elapsed", 10), None | Some(Ordering::Less));
            (fails || quick).then(|| vec![column(event, "Elapsed"), column(event, "StatusCode")])
        },
    },
    Case {
        query: "select RequestId from stream where RequestId is not null and Elapsed <= 200",
        naive: |event| {
            let present = raw(event, "RequestId").is_some_and(|raw| raw != "null");
            let quick = matches!(compare(event, "Elapsed", 200), Some(Ordering::Less | Ordering::Equal));
            (present && quick).then(|| vec![column(event, "RequestId")])
        },
    },
    Case {
        query: "select Application from stream where RequestId is null",
        naive: |event| {
            let absent = raw(event, "RequestId").is_none_or(|raw| raw == "null");
            absent.then(|| vec![column(event, "Application")])
        },
    },
    Case {
        query: "select Message from stream where Message like '%/api/%' and Elapsed <> 200",
        naive: |event| {
            let differs =
                raw(event, "Elapsed").is_some() && compare(event, "Elapsed", 200) != Some(Ordering::Equal);
            (text(event, "Message")?.contains("/api/") && differs).then(|| vec![column(event, "Message")])
        },
    },
];

/// The rows that a store of `lines` gives to a query, each cell as JSON text: the same on one thread, and on several.
fn rows_of(store: &Store, query: &str) -> Vec<Vec<Option<String>>> {
    let rows = rows_on(1, store, query);
    for threads in [2, 3] {
        assert!(rows_on(threads, store, query) == rows, "{query} on {threads} threads");
    }
    rows
}

fn rows_on(threads: usize, store: &Store, query: &str) -> Vec<Vec<Option<String>>> {
    let threads = NonZeroUsize::new(threads).unwrap();
    let options = RunOptions { threads, ..RunOptions::default() };
    let mut rows = store.run_with(&Query::prepare(query).unwrap(), options).unwrap();
    let mut result = Vec::new();
    while let Some(row) = rows.next_row().unwrap() {
        let cell = |index| {
            row.get(index).and_then(|cell| cell.json().map(|json| String::from_utf8(json.to_vec()).unwrap()))
        };
        result.push((0..row.len()).map(cell).collect());
    }
    result
}

/// Two texts of JSON mean the same: their spelling may differ, as ingest normalises it.
fn same(a: &Option<String>, b: &Option<String>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) if a != b => {
            let read = |text: &str| -> serde_json::Value {
                serde_json::from_str(text)
                    .or_else(|_| serde_json::from_str(&replace_lone_surrogates(text)))
                    .unwrap()
            };
            read(a) == read(b)
        }
        (a, b) => a == b,
    }
}

fn check(lines: &[Vec<u8>]) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    for chunk in lines.chunks(1000) {
        store.append(chunk).unwrap();
    }
    let events: Vec<Naive> = lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
    for sealed in [false, true] {
        if sealed {
            store.seal().unwrap();
        }
        for case in CASES {
            let expected: Vec<_> = events.iter().filter_map(case.naive).collect();
            let actual = rows_of(&store, case.query);
            assert_eq!(actual.len(), expected.len(), "rows of {} (sealed: {sealed})", case.query);
            for (actual, expected) in actual.iter().zip(&expected) {
                let equal =
                    actual.len() == expected.len() && actual.iter().zip(expected).all(|(a, b)| same(a, b));
                assert!(equal, "{}: {actual:?} is not {expected:?}", case.query);
            }
        }
    }
}

#[test]
fn rows_of_generated_events_are_the_naive_ones() {
    let mut generator = tamias_testdata::Generator::new(7, 5000);
    let mut lines = Vec::new();
    let mut line = Vec::new();
    while generator.write_next(&mut line) {
        lines.push(line.trim_ascii_end().to_vec());
        line.clear();
    }
    assert_eq!(lines.len(), 5000);
    check(&lines);
}

#[test]
fn rows_of_nasty_events_are_the_naive_ones() {
    let lines: Vec<Vec<u8>> = tamias_testdata::nasty_documents()
        .into_iter()
        .map(|document| document.trim_ascii().to_vec())
        // Those with a time of their own would come in another order.
        .filter(|document| {
            serde_json::from_slice::<Naive>(document).is_ok_and(|event| !event.contains_key("@t"))
        })
        .map(|document| {
            let comma: &[u8] = if document[1..].trim_ascii_start().starts_with(b"}") { b"" } else { b"," };
            [b"{\"@t\":\"2024-05-29T10:56:01Z\"", comma, &document[1..]].concat()
        })
        .collect();
    assert!(lines.len() > 50);
    check(&lines);
}

/// The rows of `select page from stream where delta > 200` over the Wikipedia edits, where they are at hand.
#[test]
fn rows_of_real_events_are_the_naive_ones() {
    let Some(lines) = tamias_testdata::data_set("wiki") else { return };
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let format = EventFormat::time_key("time");
    let mut batch = Batch::new();
    for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        batch.push(line, &format).unwrap();
    }
    store.append_batch(&mut batch).unwrap();
    let mut expected: Vec<(String, Vec<Option<String>>)> = lines
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice::<Naive>(line).unwrap())
        .filter(|event| compare(event, "delta", 200) == Some(Ordering::Greater))
        .map(|event| (text(&event, "time").unwrap(), vec![column(&event, "page")]))
        .collect();
    expected.sort_by(|a, b| a.0.cmp(&b.0)); // stable: edits of one instant stay in their order
    let actual = rows_of(&store, "select page from stream where delta > 200");
    assert_eq!(actual.len(), expected.len());
    for (actual, (_, expected)) in actual.iter().zip(&expected) {
        assert!(same(&actual[0], &expected[0]), "{actual:?} is not {expected:?}");
    }
}

#[test]
fn aggregates_are_the_naive_ones() {
    let mut generator = tamias_testdata::Generator::new(8, 3000);
    let mut bytes = Vec::new();
    while generator.write_next(&mut bytes) {}
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let events: Vec<Naive> = lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
    let elapsed: Vec<Decimal> =
        events.iter().filter_map(|event| raw(event, "Elapsed")?.parse().ok()).collect();

    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.append(&lines).unwrap();
    let query = "select count(*), count(Elapsed), sum(Elapsed), min(Elapsed), max(Elapsed), mean(Elapsed) from stream";
    let mut rows = store.query(query).unwrap();
    let row = rows.next_row().unwrap().unwrap();
    let number = |index: usize| row.get(index).and_then(|cell| cell.to_decimal()).unwrap();
    let sum: Decimal = elapsed.iter().sum();
    assert_eq!(number(0), Decimal::from(events.len()));
    assert_eq!(number(1), Decimal::from(elapsed.len()));
    assert_eq!(number(2), sum);
    assert_eq!(number(3), *elapsed.iter().min().unwrap());
    assert_eq!(number(4), *elapsed.iter().max().unwrap());
    assert_eq!(number(5).round_dp(10), (sum / Decimal::from(elapsed.len())).round_dp(10));
    assert!(rows.next_row().unwrap().is_none());
}
