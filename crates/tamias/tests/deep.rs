//! Bytes that are what was written and yet not true: false statistics, and documents that the store does not take.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tamias::{Contradiction, Options, ReadMode, RunOptions, Store};
use tamias_store::{Codec, Event};

/// Writes statistics that are not those of the documents.
struct Lying<L>(L);

impl<L: Fn(&mut Vec<u8>) + Send + Sync> Codec for Lying<L> {
    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>) {
        let mut own = Vec::new();
        tamias_query::collect_statistics(documents, ends, &mut own);
        (self.0)(&mut own);
        statistics.extend_from_slice(&own);
    }
}

const HOUR: u64 = 36_000_000_000;

/// Stores documents as they are, an hour apart, past the trust boundary.
fn store(folder: &Path, documents: &[impl AsRef<[u8]>], lie: impl Fn(&mut Vec<u8>) + Send + Sync + 'static) {
    let options = Options { background: false, block_bytes: 2000, ..Options::default() };
    let store = tamias_store::Store::open(folder, options, Arc::new(Lying(lie))).unwrap();
    let events: Vec<Event<'_>> = (0..)
        .zip(documents)
        .map(|(number, document)| Event { instant: number * HOUR, bytes: document.as_ref() })
        .collect();
    store.append(&events).unwrap();
    store.seal().unwrap();
}

/// What is found, whichever way the files are read.
fn found(folder: &Path) -> Vec<Contradiction> {
    let with = |read_mode| {
        let store = Store::open_read_only_with(folder, Options { read_mode, ..Options::default() }).unwrap();
        assert_eq!(store.verify().unwrap(), [], "each byte is as it was written");
        store.verify_deep().unwrap()
    };
    let found = with(ReadMode::Map);
    assert_eq!(with(ReadMode::Plain), found);
    found
}

#[test]
fn honest_stores_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let mut generator = tamias_testdata::Generator::new(4, 3000);
    let mut lines = Vec::new();
    while generator.write_next(&mut lines) {}
    let store = Store::open(folder.path()).unwrap();
    store.append(lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())).unwrap();
    assert_eq!(store.verify_deep().unwrap(), [], "in the log");
    store.seal().unwrap();
    assert_eq!(store.verify_deep().unwrap(), [], "sealed");
    assert!(store.info().unwrap().segments.iter().any(|segment| segment.file.is_some()));
}

#[test]
fn nasty_documents_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let mut documents = Vec::new();
    for document in tamias_testdata::nasty_documents() {
        let mut minified = Vec::new();
        let limits = tamias_json::validate::Limits::default();
        if tamias_json::validate::minify_object(&document, &limits, &mut minified).is_ok() {
            documents.push(minified);
        }
    }
    assert!(documents.len() > 100);
    store(folder.path(), &documents, |_| {});
    assert_eq!(found(folder.path()), []);
}

#[test]
fn stores_of_version_1_are_sound_but_for_their_damage() {
    for name in ["clean", "torn", "corrupt"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../store-fixtures/v1").join(name);
        let store = Store::open_read_only(folder).unwrap();
        assert_eq!(store.verify_deep().unwrap(), [], "{name}");
    }
}

#[test]
fn false_statistics_are_named_with_their_block() {
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<String> =
        (0..300).map(|n| format!(r#"{{"n":{n},"pad":"{}"}}"#, "x".repeat(20))).collect();
    // Of the blocks the second one tells that no event has `n`: its name is another.
    let count = AtomicUsize::new(0);
    store(folder.path(), &documents, move |statistics| {
        if count.fetch_add(1, Ordering::Relaxed) == 1 {
            let name = statistics.windows(2).position(|two| two == b"\x01n").unwrap() + 1;
            statistics[name] = b'm';
        }
    });
    let found = found(folder.path());
    let [found] = found.as_slice() else { panic!("{found:?}") };
    let store = Store::open_read_only(folder.path()).unwrap();
    let info = store.info().unwrap();
    assert!(info.segments[0].blocks > 3);
    assert_eq!(found.file(), info.segments[0].file.as_deref());
    assert_eq!(found.what(), "its statistics are false: key \"n\": in event 0, and not in the statistics");
    let (first, last) = found.time_range();
    assert_eq!(last.ticks() - first.ticks(), (found.events() - 1) * HOUR);
    let text = found.to_string();
    assert!(
        text.contains(".segment, block of ") && text.contains(&format!(" from {first} to {last}: ")),
        "{text}"
    );

    // What a query would have answered from it: only the documents tell.
    let query = tamias::Query::prepare("select count(n) from stream").unwrap();
    let count = |plain| {
        let options = RunOptions { plain, ..RunOptions::default() };
        let mut rows = store.run_with(&query, options).unwrap();
        let row = rows.next_row().unwrap().unwrap();
        row.get(0).unwrap().to_decimal().unwrap()
    };
    assert_eq!((count(true), count(false)), (300.into(), (300 - found.events()).into()));
}

#[test]
fn any_byte_of_statistics_that_changes_an_answer_is_found() {
    let documents: Vec<String> =
        (0..20).map(|n| format!(r#"{{"n":{n},"s":"{}","t":true}}"#, ["a", "b", "c"][n % 3])).collect();
    let bytes = {
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for document in &documents {
            all.extend_from_slice(document.as_bytes());
            ends.push(all.len() as u32);
            all.push(b'\n');
        }
        let mut statistics = Vec::new();
        tamias_query::collect_statistics(&all, &ends, &mut statistics);
        statistics.len()
    };
    let queries = [
        "select count(*), count(n), count(s), count(t), min(n), max(n), sum(n) from stream",
        "select count(*) from stream group by s",
        "select count(*) from stream where n > 7 and s = 'b' and t",
        "select distinct(s) from stream where t is not null",
    ];
    let mut found_in = 0;
    for at in 0..bytes {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), &documents, move |statistics| statistics[at] ^= 1);
        if !found(folder.path()).is_empty() {
            found_in += 1;
            continue;
        }
        let store = Store::open_read_only(folder.path()).unwrap();
        for text in queries {
            let query = tamias::Query::prepare(text).unwrap();
            let rows = |plain| -> Vec<_> {
                let options = RunOptions { plain, ..RunOptions::default() };
                store.run_with(&query, options).unwrap().map(Result::unwrap).collect()
            };
            assert_eq!(rows(false), rows(true), "byte {at}: {text}");
        }
    }
    assert!(found_in * 2 > bytes, "{found_in} of {bytes}");
}

#[test]
fn documents_that_the_store_does_not_take_are_named() {
    for (document, why) in [
        (&br#"{"a":1, "b":2}"#[..], "it is not minified"),
        (br#"{"a":"\u0041"}"#, "it is not minified"),
        (br#"{"a":01}"#, "a number must not begin with a superfluous zero at byte 6"),
        (br#"[1]"#, ""),
        (b"{\"a\":\"\xff\"}", ""),
        (br#"{"a":1"#, ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), &[br#"{"a":1}"#, document], |_| {});
        let found = found(folder.path());
        let [found] = found.as_slice() else { panic!("{why}: {found:?}") };
        let id = format!("{HOUR:016x}{:016x}", 1);
        let beginning = format!("the document of event {id} is none that the store takes: {why}");
        assert!(found.what().starts_with(&beginning), "{found}");
        assert_eq!((found.events(), found.file().is_some()), (2, true));
    }
}
