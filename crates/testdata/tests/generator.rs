//! The generated log is the same everywhere, valid, and of the promised make.

use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use tamias_testdata::{Generator, nasty_documents, spaced_documents};

fn generate(seed: u64, events: u64) -> Vec<u8> {
    let mut generator = Generator::new(seed, events);
    let mut lines = Vec::new();
    while generator.write_next(&mut lines) {}
    assert_eq!(generator.remaining(), 0);
    assert!(!generator.write_next(&mut lines));
    lines
}

fn documents(lines: &[u8]) -> Vec<Map<String, Value>> {
    let text = std::str::from_utf8(lines).expect("UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// FNV-1a, 64 bits.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn bytes_never_change() {
    assert_eq!(fingerprint(&generate(1, 1000)), 0xf5e9_40ff_1a1f_2d72);
    assert_eq!(fingerprint(&generate(42, 100_000)), 0x80cf_56c2_8459_836e);
    assert!(generate(1, 0).is_empty());
}

#[test]
fn seeds_differ() {
    assert_ne!(generate(1, 100), generate(2, 100));
}

#[test]
fn sizes_and_shares_are_as_promised() {
    let events = 100_000;
    let lines = generate(7, events);
    let average = (lines.len() as u64 - events) as f64 / events as f64;
    assert!((355.0..363.0).contains(&average), "{average} bytes an event");

    let documents = documents(&lines);
    assert_eq!(documents.len() as u64, events);
    let share = |what: &str, test: &dyn Fn(&Map<String, Value>) -> bool, low: f64, high: f64| {
        let share = documents.iter().filter(|document| test(document)).count() as f64 / events as f64;
        assert!((low..high).contains(&share), "{what}: {share}");
    };
    let elapsed = |document: &Map<String, Value>| document.get("Elapsed").and_then(Value::as_f64);
    let text_has = |key: &'static str, part: &'static str| {
        move |document: &Map<String, Value>| {
            document.get(key).and_then(Value::as_str).is_some_and(|text| text.contains(part))
        }
    };
    share("Elapsed", &|document| elapsed(document).is_some(), 0.88, 0.92);
    share("Elapsed > 200", &|document| elapsed(document) > Some(200.0), 0.30, 0.32);
    share("Elapsed = 200", &|document| elapsed(document) == Some(200.0), 0.001, 0.01);
    share("integral", &|document| document.get("Elapsed").is_some_and(Value::is_u64), 0.3, 0.7);
    share("customers", &text_has("Message", "/api/customers"), 0.17, 0.19);
    share("Message", &|document| document["Message"].is_string(), 1.0, 1.1);
    share("traced", &|document| document.contains_key("@tr"), 0.1, 0.3);
    share(
        "System.",
        &|document| {
            document.get("@x").and_then(Value::as_str).is_some_and(|text| text.starts_with("System."))
        },
        0.01,
        0.04,
    );
    share("nested", &|document| document.values().any(Value::is_object), 0.05, 0.2);
    share("null", &|document| document.values().any(Value::is_null), 0.01, 0.1);
    share("rare", &|document| document.contains_key("PromoCode"), 0.0001, 0.002);
    let ascii =
        lines.split(|byte| *byte == b'\n').filter(|line| line.is_ascii()).count() as f64 / events as f64;
    assert!((0.5..0.95).contains(&ascii), "{ascii} of the lines are ASCII");

    let customers: HashSet<_> =
        documents.iter().filter_map(|document| document.get("CustomerId")?.as_u64()).collect();
    assert!(customers.len() > 5000 && customers.iter().all(|id| (1..=10_000).contains(id)));
    let templates: HashSet<_> = documents.iter().map(|document| document["@mt"].to_string()).collect();
    assert!((28..=36).contains(&templates.len()), "{} templates", templates.len());
    let traces: HashSet<_> = documents.iter().filter_map(|document| document.get("@tr")?.as_str()).collect();
    assert_eq!(traces.len(), documents.iter().filter(|document| document.contains_key("@tr")).count());
}

#[test]
fn instants_never_go_back_and_span_days() {
    let documents = documents(&generate(3, 20_000));
    let instants: Vec<&str> = documents.iter().map(|document| document["@t"].as_str().unwrap()).collect();
    assert!(instants.is_sorted());
    assert!(instants.iter().all(|text| text.len() == 28 && text.ends_with('Z')));
    let days: HashSet<&str> = instants.iter().map(|text| &text[..10]).collect();
    assert!((4..=7).contains(&days.len()), "{} days", days.len());
    let repeated = instants.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!((500..3000).contains(&repeated), "{repeated} instants repeat");
}

/// Events from one place share their keys and the order of these, up to the few that may be missing.
#[test]
fn shapes_are_few() {
    let lines = generate(5, 50_000);
    let mut shapes: HashMap<Vec<&str>, u64> = HashMap::new();
    for line in std::str::from_utf8(&lines).unwrap().lines() {
        *shapes.entry(top_level_keys(line)).or_default() += 1;
    }
    assert!((30..60).contains(&shapes.len()), "{} shapes", shapes.len());
}

/// The keys of a document as they stand; good for lines of this generator.
fn top_level_keys(line: &str) -> Vec<&str> {
    let (mut depth, mut start, mut keys, mut escaped) = (0, None, Vec::new(), false);
    let bytes = line.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match (byte, start) {
            _ if escaped => escaped = false,
            (b'\\', Some(_)) => escaped = true,
            (b'"', Some(from)) => {
                if depth == 1 && bytes.get(at + 1) == Some(&b':') {
                    keys.push(&line[from..at]);
                }
                start = None;
            }
            (b'"', None) => start = Some(at + 1),
            (b'{' | b'[', None) => depth += 1,
            (b'}' | b']', None) => depth -= 1,
            _ => {}
        }
    }
    keys
}

/// The lines are in the spelling that the store keeps, so that storing changes no byte.
#[test]
fn lines_are_minified_with_the_necessary_escapes_only() {
    for line in generate(9, 20_000).split(|byte| *byte == b'\n') {
        let text = std::str::from_utf8(line).unwrap();
        let escapes = text.replace("\\\\", "").match_indices('\\').map(|(at, _)| at).collect::<Vec<_>>();
        let text = text.replace("\\\\", "");
        for at in escapes {
            let next = text.as_bytes()[at + 1];
            assert!(b"\"bfnrtu".contains(&next), "{text}");
            assert!(next != b'u' || text[at..].starts_with("\\u0001"), "{text}");
        }
        assert!(!text.contains("\": ") && !text.contains("\\/"), "{text}");
    }
}

#[test]
fn messages_are_rendered() {
    for document in documents(&generate(11, 5000)) {
        let message = document["Message"].as_str().unwrap();
        assert!(!message.contains(['{', '}']), "{message}");
        if document["@mt"].as_str().unwrap().starts_with("HTTP {RequestMethod}") {
            let (path, milliseconds) =
                (document["RequestPath"].as_str().unwrap(), document["Elapsed"].as_f64().unwrap());
            assert!(
                message.contains(path) && message.ends_with(&format!("in {milliseconds:.4} ms")),
                "{message}"
            );
        }
    }
}

#[test]
fn nasty_documents_are_valid() {
    let documents = nasty_documents();
    assert!(documents.len() > 400);
    let mut refused = Vec::new();
    for bytes in &documents {
        assert!(!bytes.contains(&b'\n'));
        if let Err(error) = serde_json::from_slice::<Map<String, Value>>(bytes) {
            let text = String::from_utf8_lossy(bytes).into_owned();
            // What serde_json is stricter about: lone surrogates and what no double can hold.
            let known =
                text.contains("\\ud") || text.contains("\\uD") || error.to_string().contains("out of range");
            assert!(known, "{error}: {text}");
            refused.push(text);
        }
    }
    assert!(refused.len() < 25, "{refused:#?}");
    for bytes in spaced_documents() {
        serde_json::from_slice::<Map<String, Value>>(&bytes).expect("valid");
    }
}
