//! Statistics against a plain reading of the same documents with serde_json.

use super::layout::{KEYS_MAX, NAME_BYTES_MAX, VERSION};
use super::read::KeyFacts;
use super::*;
use crate::value::Number;
use proptest::prelude::*;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use tamias_json::search::Needle;
use tamias_json::validate::{Limits, minify_object};

/// The members of a document in their order, duplicates included; each value keeps its text.
pub(super) struct Members(pub(super) Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// A block of documents, in the spelling that is stored.
pub(super) fn block(documents: &[impl AsRef<[u8]>]) -> (Vec<u8>, Vec<u32>) {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for document in documents {
        minify_object(document.as_ref(), &Limits::default(), &mut bytes).unwrap();
        ends.push(bytes.len() as u32);
        bytes.push(b'\n');
    }
    (bytes, ends)
}

pub(super) fn statistics_of(documents: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let (bytes, ends) = block(documents);
    let mut out = Vec::new();
    collect_statistics(&bytes, &ends, &mut out);
    check_own(&bytes, &ends, &out);
    out
}

fn facts<'b>(statistics: &Statistics<'b>, name: &str) -> KeyFacts<'b> {
    match statistics.key(name) {
        Key::Present(facts) => facts,
        other => panic!("{name}: {other:?}"),
    }
}

/// What the events of a block say of a key, read plainly.
#[derive(Default)]
pub(super) struct Plain {
    pub(super) events: BTreeSet<u32>,
    pub(super) is_repeated: bool,
    /// By its text: the events that have the value.
    pub(super) values: BTreeMap<String, Vec<u32>>,
}

fn plain(documents: &[u8]) -> (u32, BTreeMap<String, Plain>) {
    let mut keys: BTreeMap<String, Plain> = BTreeMap::new();
    let mut events = 0;
    for (event, document) in (0..).zip(documents.split(|&byte| byte == b'\n').filter(|d| !d.is_empty())) {
        events += 1;
        for (key, value) in serde_json::from_slice::<Members>(document).unwrap().0 {
            let plain = keys.entry(key).or_default();
            plain.is_repeated |= !plain.events.insert(event);
            plain.values.entry(value.get().to_owned()).or_default().push(event);
        }
    }
    (events, keys)
}

/// Honest statistics are not found to be false.
pub(super) fn check_own(documents: &[u8], ends: &[u32], statistics: &[u8]) {
    let ends: Vec<[u8; 4]> = ends.iter().map(|end| end.to_le_bytes()).collect();
    assert_eq!(check_statistics(documents, &ends, statistics), Ok(()));
}

fn occurrences(documents: &[u8], key: &[u8]) -> usize {
    documents.windows(key.len()).filter(|window| *window == key).count()
}

fn tally(events: &[u32]) -> Tally {
    Tally { count: events.len() as u32, first: events.first().copied().unwrap_or(0) }
}

/// Whether a document holds no object, no key more than once, and no key that has to be escaped.
fn is_flat(document: &[u8]) -> bool {
    fn holds_object(value: &RawValue) -> bool {
        let text = value.get();
        let elements = || serde_json::from_str::<Vec<Box<RawValue>>>(text).unwrap();
        text.starts_with('{')
            || text.starts_with('[') && elements().iter().any(|element| holds_object(element))
    }
    let members = serde_json::from_slice::<Members>(document).unwrap().0;
    let names: BTreeSet<&String> = members.iter().map(|(name, _)| name).collect();
    let is_escaped = |name: &&String| name.contains(|c| c < ' ' || c == '"' || c == '\\');
    names.len() == members.len()
        && !names.iter().any(is_escaped)
        && !members.iter().any(|(_, value)| holds_object(value))
}

/// A key as it stands in documents.
fn spelled_key(name: &str) -> Vec<u8> {
    let mut key = Vec::new();
    tamias_json::write_json_string(name, &mut key);
    key.push(b':');
    key
}

/// Holds every fact of statistics against the documents.
fn check(documents: &[u8], ends: &[u32]) {
    let mut bytes = Vec::new();
    collect_statistics(documents, ends, &mut bytes);
    assert!(bytes.len() <= (documents.len() / 40).max(2048), "{} bytes", bytes.len());
    check_own(documents, ends, &bytes);
    let statistics = Statistics::parse(&bytes).unwrap();
    let (events, keys) = plain(documents);
    assert_eq!(statistics.events(), events);
    let is_nested = keys.values().any(|plain| plain.values.keys().any(|text| text.starts_with(['{', '['])));
    assert_eq!(statistics.never_nested(), !is_nested);
    let lines = documents.split(|&byte| byte == b'\n').filter(|document| !document.is_empty());
    for (event, document) in lines.enumerate() {
        let is_told = statistics.flat()[event / 8] >> (event % 8) & 1 == 1;
        let is_flat = is_flat(document);
        // Where there were too many keys to keep, their event is not told to be flat.
        let is_complete = matches!(statistics.key("no key has this name"), Key::Absent);
        assert!(is_told == is_flat || !is_told && !is_complete, "{}", String::from_utf8_lossy(document));
    }
    for (name, plain) in &keys {
        let facts = match statistics.key(name) {
            Key::Absent => panic!("{name:?} is there"),
            Key::Unknown => continue,
            Key::Present(facts) => facts,
        };
        assert_eq!(facts.events as usize, plain.events.len(), "{name:?}");
        if facts.is_simple {
            assert_eq!(
                occurrences(documents, &spelled_key(name)),
                plain.events.len(),
                "{name:?} is not simple"
            );
        }
        check_plain(name, plain, &statistics, documents);
        assert_eq!(facts.values.is_none(), plain.is_repeated, "{name:?}");
        if let Some(values) = facts.values {
            check_values(name, plain, values, events);
        }
    }
    for name in ["", "no such key", "Elapsed", ",", "\"", "a\\"] {
        if !keys.contains_key(name) {
            assert!(!matches!(statistics.key(name), Key::Present(_)), "{name:?} is not there");
        }
    }
}

/// Events in which the key is told to be plain hold it once, or not at all.
fn check_plain(name: &str, plain: &Plain, statistics: &Statistics<'_>, documents: &[u8]) {
    let mut bits = Vec::new();
    statistics.plain(name, &mut bits);
    let lines = documents.split(|&byte| byte == b'\n').filter(|document| !document.is_empty());
    for (event, document) in (0..).zip(lines) {
        let is_plain = bits[event as usize / 8] >> (event % 8) & 1 == 1;
        let has_key = plain.events.contains(&event);
        // Other names are never searched for.
        let is_searched = Needle::key(name).is_some();
        assert!(
            !is_plain || !is_searched || occurrences(document, &spelled_key(name)) == usize::from(has_key),
            "{name:?} in {}",
            String::from_utf8_lossy(document)
        );
    }
}

/// What is told of a key's values is what they are.
pub(super) fn check_values(name: &str, plain: &Plain, values: Values<'_>, events: u32) {
    let of = |first: &[char]| -> Vec<(&String, &Vec<u32>)> {
        plain.values.iter().filter(|(text, _)| text.starts_with(first)).collect()
    };
    let count = |first: &[char]| of(first).iter().map(|(_, events)| events.len()).sum::<usize>();
    let missing: Vec<u32> = (0..events).filter(|event| !plain.events.contains(event)).collect();
    assert_eq!(values.missing, tally(&missing), "{name:?}");
    for (told, text) in [(values.null, "null"), (values.truth, "true"), (values.falsehood, "false")] {
        assert_eq!(told, plain.values.get(text).map_or(Tally::default(), |events| tally(events)), "{name:?}");
    }
    let numbers = ['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];
    assert_eq!(values.strings as usize, count(&['"']), "{name:?}");
    assert_eq!(values.numbers as usize, count(&numbers), "{name:?}");
    assert_eq!(values.maps as usize, count(&['{']), "{name:?}");
    assert_eq!(values.arrays as usize, count(&['[']), "{name:?}");
    for (listed, quote, all) in
        [(values.listed_strings, "\"", of(&['"'])), (values.listed_numbers, "", of(&numbers))]
    {
        let Some(listed) = listed else { continue };
        let told: BTreeMap<String, Tally> = listed
            .map(|(text, tally)| (format!("{quote}{}{quote}", std::str::from_utf8(text).unwrap()), tally))
            .collect();
        let expected: BTreeMap<String, Tally> =
            all.iter().map(|(text, events)| ((*text).clone(), tally(events))).collect();
        assert_eq!(told, expected, "{name:?}");
    }
    for (text, _) in of(&['"']) {
        assert!(values.may_hold(&text.as_bytes()[1..text.len() - 1]), "{name:?} has {text}");
    }
    if let Some((least, greatest)) = values.range {
        let first_of = |extreme: Extreme<'_>, beyond: std::cmp::Ordering| {
            let mut events = Vec::new();
            for (text, of) in of(&numbers) {
                let order = Number::Stored(text).compare(&Number::Stored(extreme.text));
                assert_ne!(order, beyond, "{name:?}: {text} and {}", extreme.text);
                if order.is_eq() {
                    events.extend(of);
                }
            }
            assert_eq!(events.iter().min(), Some(&extreme.event));
            assert!(plain.values[extreme.text].contains(&extreme.event));
        };
        first_of(least, std::cmp::Ordering::Less);
        first_of(greatest, std::cmp::Ordering::Greater);
    }
    if let Some(sum) = values.sum {
        let told: rust_decimal::Decimal =
            sum.map(|(scale, part)| rust_decimal::Decimal::from_i128_with_scale(part, scale)).sum();
        let each = of(&numbers).into_iter().map(|(text, events)| {
            tamias_json::number::to_decimal(text).unwrap() * rust_decimal::Decimal::from(events.len())
        });
        // Decimals round where the digits do not suffice.
        assert!((told - each.sum::<rust_decimal::Decimal>()).abs() < 1.into(), "{name:?}");
    }
}

/// Pieces that are unkind when they stand beside each other.
pub(super) fn key() -> impl Strategy<Value = String> {
    let names = [
        "Elapsed",
        "a",
        "b",
        "",
        ",",
        ":",
        "]",
        "}",
        ",a",
        ":Elapsed",
        "x\"Elapsed",
        "\"a",
        "a\"",
        "\\",
        "a\\",
        "\\\"b",
        "é",
        "\n",
        "fifteen letters",
        "sixteen letters.",
        "sixteen letters,",
        "sixteen letters..",
        "Elapsed, as it was measured",
        "Elapsed: as it is measured",
        "Elapsed, as it is measured",
    ];
    prop_oneof![prop::sample::select(names.to_vec()).prop_map(str::to_owned), "[ab]{1,2}"]
}

fn scalar() -> impl Strategy<Value = String> {
    let texts = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "200",
        "200.0",
        "2e2",
        "-1.50",
        "1999e-3",
        "12345678901234567890",
        "1e20",
        "1e2",
        "0.1",
        "12345678",
        "-123456789.5",
        "12345678.12345678",
        "1234567890123456.25",
        "0.00000000000000000000000000001",
        "\"\"",
        "\"a\"",
        "\"Elapsed\"",
        "\"\\\"Elapsed\\\":1\"",
        "\"\\\\\"",
        "\":\"",
        "\"\\n\"",
    ];
    prop_oneof![
        3 => prop::sample::select(texts.to_vec()).prop_map(str::to_owned),
        1 => (-1000i32..1000).prop_map(|n| n.to_string()),
        1 => (-1000i32..1000, 0usize..6).prop_map(|(n, zeros)| format!("{n}.{}5", "0".repeat(zeros))),
        1 => (0u32..1000).prop_map(|n| format!("\"text {n}\"")),
    ]
}

pub(super) fn value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec((key(), inner.clone()), 0..3).prop_map(|members| object(&members)),
            prop::collection::vec(inner, 0..3).prop_map(|elements| format!("[{}]", elements.join(","))),
        ]
    })
}

pub(super) fn object(members: &[(String, String)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{}:{value}", serde_json::to_string(key).unwrap()))
        .collect();
    format!("{{{}}}", members.join(","))
}

proptest! {
    #[test]
    fn facts_are_those_of_a_plain_reading(
        documents in prop::collection::vec(prop::collection::vec((key(), value()), 0..5), 0..120)
    ) {
        let documents: Vec<String> = documents.iter().map(|members| object(members)).collect();
        let (documents, ends) = block(&documents);
        check(&documents, &ends);
    }

    #[test]
    fn any_bytes_may_be_read(bytes in prop::collection::vec(any::<u8>(), 0..200), names in prop::collection::vec(key(), 3)) {
        read_all(&bytes, &names);
    }

    #[test]
    fn altered_statistics_may_be_read(
        documents in prop::collection::vec(prop::collection::vec((key(), value()), 0..5), 0..60),
        alterations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let documents: Vec<String> = documents.iter().map(|members| object(members)).collect();
        let mut bytes = statistics_of(&documents);
        for (at, byte) in alterations {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let names = ["Elapsed", "a", "b", "", "ab"].map(str::to_owned);
        read_all(&bytes, &names);
        read_all(&bytes[..cut.index(bytes.len())], &names);
    }
}

/// Reads everything that can be asked for; the answers may be anything.
fn read_all(bytes: &[u8], names: &[String]) {
    let Some(statistics) = Statistics::parse(bytes) else { return };
    let _ = (statistics.events(), statistics.never_nested());
    for name in names {
        let Key::Present(KeyFacts { values: Some(values), .. }) = statistics.key(name) else { continue };
        let listed = values.listed_strings.into_iter().chain(values.listed_numbers).flatten().count();
        assert!(listed <= bytes.len());
        assert!(values.sum.into_iter().flatten().all(|(scale, _)| scale <= 28));
        values.may_hold(b"text 1");
    }
}

#[test]
fn facts_of_nasty_documents() {
    let documents: Vec<Vec<u8>> = tamias_testdata::nasty_documents()
        .into_iter()
        .filter(|document| serde_json::from_slice::<Members>(document).is_ok())
        .collect();
    assert!(documents.len() > 100);
    let (all, ends) = block(&documents);
    check(&all, &ends);
    for document in &documents {
        let (one, ends) = block(&[document]);
        check(&one, &ends);
    }
}

#[test]
fn facts_of_documents_that_fill_several_windows() {
    let document = |number: usize| {
        let filler = "x".repeat(number * 37 % 300);
        let members = match number % 5 {
            0 => format!(r#""a":{number},"b":"{filler}""#),
            1 => format!(r#""b":"{filler}","a":"text {number}","b":null"#),
            2 => format!(r#""a":-{number}.5e1,"rare {}":[{{"a":1}}]"#, number % 700),
            3 => format!(r#""a\"b":{number},"a":{}.{:03}"#, number / 7, number % 999),
            _ => String::new(),
        };
        format!("{{{members}}}")
    };
    let documents: Vec<String> = (0..6000).map(document).collect();
    let (documents, ends) = block(&documents);
    assert!(documents.len() > 400 << 10);
    check(&documents, &ends);
}

#[test]
fn facts_of_generated_events() {
    let mut generator = tamias_testdata::Generator::new(5, 2000);
    let mut bytes = Vec::new();
    while generator.write_next(&mut bytes) {}
    let documents: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let (documents, ends) = block(&documents);
    check(&documents, &ends);
    let mut bytes = Vec::new();
    collect_statistics(&documents, &ends, &mut bytes);
    let statistics = Statistics::parse(&bytes).unwrap();
    for name in ["@mt", "@tr", "Application"] {
        assert!(facts(&statistics, name).is_simple, "{name}");
    }
    assert!(facts(&statistics, "Application").values.unwrap().listed_strings.is_some());
    assert!(facts(&statistics, "Elapsed").values.unwrap().range.is_some());
    let ids = facts(&statistics, "@tr").values.unwrap();
    let found = (0..1000).filter(|n| ids.may_hold(format!("{n:032x}").as_bytes())).count();
    assert!(found < 30, "{found} of 1000 that are not there may be");
}

#[test]
fn events_in_which_a_key_is_nested_are_told() {
    let documents: Vec<String> = (0..1000)
        .map(|n| match n % 50 {
            7 => format!(r#"{{"b":{{"a":{n}}},"a":1}}"#),
            8 => format!(r#"{{"b":[{{"a":{n}}},{{"a":{n}}}]}}"#),
            _ => format!(r#"{{"a":{n},"b":2}}"#),
        })
        .collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let bytes = statistics_of(&documents);
    let mut plain = Vec::new();
    Statistics::parse(&bytes).unwrap().plain("a", &mut plain);
    for n in 0..1000 {
        assert_eq!(plain[n / 8] >> (n % 8) & 1 == 1, !matches!(n % 50, 7 | 8), "{n}");
    }
}

#[test]
fn simple_keys() {
    let is_simple = |documents: &[&str], name: &str| {
        facts(&Statistics::parse(&statistics_of(documents)).unwrap(), name).is_simple
    };
    assert!(is_simple(&[r#"{"a":1}"#, r#"{"a":2,"b":3}"#], "a"));
    assert!(is_simple(&[r#"{"a":1,"b":"a"}"#, r#"{"b":["a","\"a\":"]}"#], "a"));
    assert!(is_simple(&[r#"{"a":{"b":1}}"#], "a"));
    assert!(!is_simple(&[r#"{"a":1}"#, r#"{"b":{"a":2}}"#], "a"), "nested");
    assert!(!is_simple(&[r#"{"a":1}"#, r#"{"b":[[{"a":2}]]}"#], "a"), "nested in an array");
    assert!(!is_simple(&[r#"{"b":[{"a":1}]}"#, r#"{"a":1}"#], "a"), "nested before");
    assert!(!is_simple(&[r#"{"a":{"a":1}}"#], "a"), "nested in itself");
    assert!(!is_simple(&[r#"{"a":1,"a":2}"#], "a"), "repeated");
    assert!(!is_simple(&[r#"{"a":1,"x\"a":2}"#], "a"), "behind a backslash");
    assert!(!is_simple(&[r#"{"b":{"x\"a":2}}"#, r#"{"a":1}"#], "a"), "nested behind a backslash");
    assert!(!is_simple(&[r#"{",a":1}"#], ",a"), "begins as what follows a quote");
    assert!(!is_simple(&[r#"{"a\"b":1}"#], "a\"b"), "has a backslash");
}

#[test]
fn what_is_not_listed_is_unknown() {
    let many: Vec<String> = (0..600).map(|n| format!("\"key{n}\":{n}")).collect();
    let many = format!("{{{}}}", many.join(","));
    let bytes = statistics_of(&[many.as_str(), r#"{"key1":1,"key2":2}"#]);
    let statistics = Statistics::parse(&bytes).unwrap();
    assert_eq!(facts(&statistics, "key1").events, 2);
    let listed = (0..600).filter(|n| matches!(statistics.key(&format!("key{n}")), Key::Present(_))).count();
    assert!((10..=KEYS_MAX).contains(&listed), "{listed}");
    assert!(matches!(statistics.key("other"), Key::Unknown));

    let long = format!("{{\"{}\":1,\"a\":2}}", "x".repeat(NAME_BYTES_MAX + 1));
    let bytes = statistics_of(&[long]);
    let statistics = Statistics::parse(&bytes).unwrap();
    assert!(facts(&statistics, "a").is_simple);
    assert!(matches!(statistics.key("b"), Key::Unknown));
}

#[test]
fn more_names_than_are_told_apart_leave_no_key_simple() {
    let many: Vec<String> = (0..5000).map(|n| format!("\"key{n}\":{n}")).collect();
    let bytes = statistics_of(&[format!("{{\"a\":1,\"b\":{{{}}}}}", many.join(","))]);
    let statistics = Statistics::parse(&bytes).unwrap();
    let facts = facts(&statistics, "a");
    assert!(!facts.is_simple && facts.events == 1);
    assert!(matches!(statistics.key("c"), Key::Unknown));
}

#[test]
fn lone_surrogates_have_no_one_spelling() {
    let bytes = statistics_of(&[r#"{"\ud800":"\udfff","a":"\udfff"}"#]);
    let statistics = Statistics::parse(&bytes).unwrap();
    assert!(matches!(statistics.key("\u{FFFD}"), Key::Unknown));
    assert!(spelled("\u{FFFD}").is_none());
    assert_eq!(&*spelled("a\"\n").unwrap(), br#"a\"\n"#);
}

#[test]
fn of_what_is_no_block_nothing_is_known() {
    let mut out = vec![7];
    collect_statistics(b"{\"a\":1}\n{\"a\"\n", &[7, 12], &mut out);
    collect_statistics(b"{\"a\":1}\n", &[100], &mut out);
    assert_eq!(out, [7]);
    let mut bytes = statistics_of(&[r#"{"a":1}"#]);
    bytes[0] = VERSION + 1;
    assert!(Statistics::parse(&bytes).is_none());
    assert!(Statistics::parse(&[]).is_none());
}
