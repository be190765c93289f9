//! Stores of each version of the format that was ever written open, and answer as on the first day.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use tamias::{Damage, Options, Query, ReadMode, RunOptions, Start, Store};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../store-fixtures")
}

/// The 60 events in order of time, with the arrival numbers that they were given: 20 to 39 came first.
fn events() -> Vec<(u64, String)> {
    let text = std::fs::read_to_string(fixtures().join("shop.clef")).unwrap();
    let arrival = |line: u64| match line {
        0..20 => line + 20,
        20..40 => line - 20,
        _ => line,
    };
    let events = text.lines().zip(0..).map(|(line, number)| (arrival(number), line.to_owned()));
    let mut events: Vec<(u64, String)> = events.collect();
    assert_eq!(events.len(), 60);
    // Times of one length order as their text does.
    events.sort_by_key(|(arrival, line)| (line[7..34].to_owned(), *arrival));
    events
}

fn plain() -> Options {
    Options { read_mode: ReadMode::Plain, ..Options::default() }
}

/// The events that a store gives, and what it had to leave out.
fn read(store: &Store) -> (Vec<(u64, String)>, Vec<Damage>) {
    let query = Query::prepare("select @Arrived, @Data from stream").unwrap();
    let (rows, left_out) = store.run_past_damage(&query, RunOptions::default()).unwrap();
    let text = |row: &tamias::OwnedRow, index| {
        String::from_utf8(row.get(index).unwrap().json().unwrap().to_vec()).unwrap()
    };
    let rows = rows.map(|row| {
        let row = row.unwrap();
        (text(&row, 0).parse().unwrap(), text(&row, 1))
    });
    (rows.collect(), left_out.damage())
}

const VERSIONS: [&str; 3] = ["v1", "v2", "v2-columns"];

/// A copy to write to.
fn copy(version: &str, name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(fixtures().join(version).join(name)).unwrap() {
        let file = entry.unwrap().path();
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    folder
}

fn texts(damage: &[Damage], folder: &Path) -> Vec<String> {
    damage.iter().map(|part| part.to_string().replace(folder.to_str().unwrap(), "STORE")).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What queries say of a store with the first so many of these events.
fn check_answers(store: &Store, events: &[(u64, String)]) {
    assert_eq!(read(store), (events.to_vec(), vec![]));
    assert_eq!(store.verify().unwrap(), []);
    let count = |predicate: &str| -> usize {
        let query = format!("select count(*) from stream where {predicate}");
        let row = store.query(&query).unwrap().next().unwrap().unwrap();
        String::from_utf8(row.get(0).unwrap().json().unwrap().to_vec()).unwrap().parse().unwrap()
    };
    // What statistics can tell, and what they cannot.
    let with = |what: &str| events.iter().filter(|(_, line)| line.contains(what)).count();
    assert_eq!(count("Application = 'Shop.Api'"), with("\"Application\":\"Shop.Api\""));
    assert_eq!(count("Elapsed is not null"), with("\"Elapsed\":"));
    assert_eq!(count("NoSuchProperty = 1"), 0);
    assert_eq!(count("Message like '%order%' ci"), {
        let message = |line: &str| {
            // Half a surrogate pair is none of serde_json's strings.
            let line = line.replace("\\ud800", "?");
            let document: serde_json::Value = serde_json::from_str(&line).unwrap();
            document["Message"].as_str().is_some_and(|text| text.to_uppercase().contains("ORDER"))
        };
        events.iter().filter(|(_, line)| message(line)).count()
    });
    let page = store.page(Start::Latest, 3).unwrap();
    let latest: Vec<&str> = page.events.iter().map(|event| event.json.as_str()).collect();
    assert!(latest.iter().copied().eq(events.iter().rev().take(3).map(|(_, line)| line.as_str())));
    for event in page.events {
        assert_eq!(store.get(event.id).unwrap().unwrap(), event);
    }
}

/// Enough events that each way to pack numbers, texts and shapes is in the columns, as those of 60 events are not.
#[test]
fn a_large_block_in_columns_gives_its_documents() {
    let packed = std::fs::read(fixtures().join("large.ndjson.zst")).unwrap();
    let lines = String::from_utf8(zstd::decode_all(packed.as_slice()).unwrap()).unwrap();
    let events: Vec<(u64, String)> = (0..).zip(lines.lines().map(str::to_owned)).collect();
    assert_eq!(events.len(), 3000);
    for version in ["v2-columns", "v2-columns2"] {
        for options in [Options::default(), plain()] {
            let store = Store::open_read_only_with(fixtures().join(version).join("large"), options).unwrap();
            check_answers(&store, &events);
        }
    }
}

#[test]
fn a_clean_store_of_each_version_opens() {
    VERSIONS.into_iter().chain(["v2-columns2"]).for_each(clean);
}

fn clean(version: &str) {
    let (folder, events) = (fixtures().join(version).join("clean"), events());
    for options in [Options::default(), plain()] {
        let store = Store::open_read_only_with(&folder, options).unwrap();
        check_answers(&store, &events);
        assert_eq!(store.source_position("shop").unwrap(), Some(60));
        let sizes: Vec<u64> = store.info().unwrap().segments.iter().map(|segment| segment.events).collect();
        assert_eq!(sizes, [40, 10, 10]);
    }
    let folder = copy(version, "clean");
    let store = Store::open(folder.path()).unwrap();
    check_answers(&store, &events);
    let appended = store.append([r#"{"@t":"2030-01-01T00:00:00Z"}"#]).unwrap();
    assert_eq!(appended.first_arrival, 60);
    store.seal().unwrap();
    store.compact().unwrap();
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.source_position("shop").unwrap(), Some(60));
    let (rows, _) = read(&store);
    assert_eq!((rows.len(), &rows[..60]), (61, &events[..]));
    drop(store);
    assert!(Store::repair(folder.path(), false, |_, _| ()).unwrap().files.is_empty());
}

#[test]
fn a_torn_store_of_each_version_opens_to_what_was_whole() {
    VERSIONS.into_iter().for_each(torn);
}

fn torn(version: &str) {
    let whole: Vec<_> = events().into_iter().filter(|(arrival, _)| *arrival < 56).collect();
    for options in [Options::default(), plain()] {
        let store = Store::open_read_only_with(fixtures().join(version).join("torn"), options).unwrap();
        check_answers(&store, &whole);
        assert_eq!(store.source_position("shop").unwrap(), Some(56));
    }
    let folder = copy(version, "torn");
    let repair = Store::repair(folder.path(), false, |_, _| ()).unwrap();
    assert_eq!((repair.files, repair.events), (vec![], 56));
    let store = Store::open(folder.path()).unwrap();
    check_answers(&store, &whole);
    assert_eq!(store.append([r#"{"@t":"2030-01-01T00:00:00Z"}"#]).unwrap().first_arrival, 56);
    drop(store);
    let (names, kept) = (names(folder.path()), names(&folder.path().join("quarantine")));
    let leftover = |name: &&String| name.ends_with(".tmp") || name.as_str() == "00000000000000f2.segment";
    assert_eq!(names.iter().find(leftover), None, "it was unfinished, or repair has set it aside");
    let expected: &[&str] = match version {
        // The half of a batch, and the half of a segment that has its final name.
        "v1" => &["0000000000000008.log.2432-3348", "00000000000000f2.segment"],
        _ => &["0000000000000008.log.2432-3348"],
    };
    assert_eq!(kept, expected);
    // Nobody repaired this one.
    let folder = copy(version, "torn");
    let store = Store::open(folder.path()).unwrap();
    check_answers(&store, &whole);
    assert_eq!(store.append([r#"{"@t":"2030-01-01T00:00:00Z"}"#]).unwrap().first_arrival, 56);
    assert!(!store.is_source_lost("shop").unwrap());
    let [leftover] = store.leftovers() else { panic!("{:?}", store.leftovers()) };
    assert_eq!((leftover.bytes.clone(), leftover.events), (2432..3348, 0));
    drop(store);
    let left = |name: &String| ["f0.", "f1.", "f2."].iter().any(|number| name.contains(number));
    let kept: Vec<String> = self::names(folder.path()).into_iter().filter(left).collect();
    assert_eq!(kept, if version == "v1" { &["00000000000000f2.segment"][..] } else { &[] });
}

#[test]
fn a_corrupt_store_of_each_version_says_what_is_lost_and_is_repaired() {
    VERSIONS.into_iter().for_each(corrupt);
}

fn corrupt(version: &str) {
    let log = match version {
        "v1" => "though a later one says it was flushed",
        // The store was closed, so its manifest tells.
        _ => "though it was durable",
    };
    let log = format!(
        "STORE/0000000000000008.log is damaged at bytes 1328 to 2432: a batch in it is not whole, {log}; 3 events are lost, of \
         unknown times"
    );
    let expected = [log.as_str(), segment_damage(version)];
    let original = fixtures().join(version).join("corrupt");
    for options in [Options::default(), plain()] {
        let store = Store::open_read_only_with(&original, options).unwrap();
        assert_eq!(texts(&store.verify().unwrap(), &original), expected);
        let failed = store.query("select Message from stream").unwrap().find_map(Result::err).unwrap();
        let failed = failed.to_string().replace(original.to_str().unwrap(), "STORE");
        assert!(failed.ends_with(expected[0]), "{failed}");
        let (rows, left_out) = read(&store);
        assert_eq!(texts(&left_out, &original), expected);
        assert_eq!(rows, left(version));
    }
    let folder = copy(version, "corrupt");
    let dry = Store::repair(folder.path(), true, |_, _| ()).unwrap();
    let repair = Store::repair(folder.path(), false, |_, _| ()).unwrap();
    assert_eq!(dry, repair);
    let kept: Vec<u64> = repair.files.iter().map(|file| file.kept).collect();
    let left_events = left(version).len() as u64;
    assert_eq!((kept, repair.events), (vec![left_events - 10 - 7, 7], left_events));
    for file in &repair.files {
        let (name, kept) = (file.file.file_name().unwrap(), file.quarantined.as_ref().unwrap());
        assert_eq!(std::fs::read(kept).unwrap(), std::fs::read(original.join(name)).unwrap());
    }
    let store = Store::open(folder.path()).unwrap();
    check_answers(&store, &left(version));
    assert_eq!(store.source_position("shop").unwrap(), Some(60));
}

/// What is said of the bit that is wrong in a segment.
fn segment_damage(version: &str) -> &'static str {
    match version {
        "v2-columns" => {
            "STORE/0000000000000005.segment is damaged at bytes 7440 to 7954 (part frame.1 with @mt, @i, Setting, Value, Environment, \
             Outcome, CacheKey, SourceContext, Application, City, RequestMethod, InvoiceId and 11 more): its checksum does not \
             hold; 9 events are lost, from 2024-05-30T13:14:19.0233241Z to 2024-05-30T21:10:50.7724096Z"
        }
        _ => {
            "STORE/0000000000000005.segment is damaged at bytes 48 to 3780: the checksum of its documents does not hold; 10 events \
             are lost, from 2024-05-27T05:22:41.7150638Z to 2024-05-27T20:18:14.4191687Z"
        }
    }
}

/// What is left of the corrupt store.
fn left(version: &str) -> Vec<(u64, String)> {
    let lost = |(arrival, line): &(u64, String)| {
        let in_segment = match version {
            "v2-columns" => ("2024-05-30T13:14:19".."2024-05-30T21:10:51").contains(&&line[7..26]),
            _ => (20..30).contains(arrival),
        };
        in_segment || (53..56).contains(arrival)
    };
    events().into_iter().filter(|event| !lost(event)).collect()
}
