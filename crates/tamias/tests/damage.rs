//! Damaged stores: what is said of them, and what can still be read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use tamias::{Layout, Options, Query, RunOptions, Store};

/// A store of two segments, a byte of the first one's documents altered.
fn damaged(folder: &Path) -> Store {
    let text = Options { segments: Layout::Text, ..Options::default() };
    let store = Store::open_with(folder, text).unwrap();
    for hour in [10, 11] {
        let events = (0..3).map(|n| format!(r#"{{"@t":"2024-05-29T{hour}:00:0{n}Z","N":{hour}}}"#));
        store.append(events).unwrap();
        store.seal().unwrap();
    }
    let file = store.info().unwrap().segments[0].file.clone().unwrap();
    drop(store);
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(6).position(|six| six == br#""N":10"#).unwrap() + 5;
    bytes[at] = b'1';
    std::fs::write(&file, bytes).unwrap();
    Store::open(folder).unwrap()
}

#[test]
fn a_query_fails_on_damage_and_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = damaged(folder.path());
    let error = store.query("select N from stream").unwrap().next_row().err().unwrap().to_string();
    let said = "the checksum of its documents does not hold; \
        3 events are lost, from 2024-05-29T10:00:00Z to 2024-05-29T10:00:02Z";
    assert!(error.contains(said), "{error}");
    assert!(error.contains(&folder.path().display().to_string()), "{error}");
}

#[test]
fn a_query_past_damage_lists_what_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = damaged(folder.path());
    let query = Query::prepare("select count(@Data) from stream").unwrap();
    let (mut rows, left_out) = store.run_past_damage(&query, RunOptions::default()).unwrap();
    let row = rows.next().unwrap().unwrap();
    assert_eq!(row.get(0).unwrap().json(), Some(&b"3"[..]));
    let damage = left_out.damage();
    assert_eq!(damage.len(), 1);
    assert_eq!(damage[0].events(), Some(3));
    assert_eq!(damage[0].time_range().unwrap().1.to_string(), "2024-05-29T10:00:02Z");
    assert_eq!(store.verify().unwrap(), damage);

    store.append([r#"{"@t":"2024-05-29T12:00:00Z","N":12}"#]).unwrap();
    let (rows, _) = store.run_past_damage(&query, RunOptions::default()).unwrap();
    let counts: Vec<_> = rows.map(|row| row.unwrap().get(0).unwrap().to_decimal().unwrap()).collect();
    assert_eq!(counts, [4.into()], "a damaged store still takes events");
}

#[test]
fn what_a_query_does_not_need_may_be_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let store = damaged(folder.path());
    for (query, answer) in [
        ("select count(*) from stream", &["6"][..]),
        ("select N from stream where N = 11 and Absent is null limit 1", &["11"]),
        ("select count(*) from stream where Absent = 1", &["0"]),
        ("select sum(N) from stream", &["63"]),
        ("select @Arrived from stream where @Timestamp < DateTime('2024-05-29T10:00:01Z')", &["0"]),
        ("select N from stream order by time desc limit 3", &["11", "11", "11"]),
        ("select N from stream where @Timestamp >= DateTime('2024-05-29T11:00:01Z')", &["11", "11"]),
    ] {
        let mut rows = store.query(query).unwrap();
        let mut shown = Vec::new();
        while let Some(row) = rows.next_row().unwrap() {
            shown.push(String::from_utf8(row.get(0).unwrap().json().unwrap().to_vec()).unwrap());
        }
        assert_eq!(shown, answer, "{query}");
    }
}

#[test]
fn a_sound_store_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.append([r#"{"@t":"2024-05-29T12:00:00Z","N":12}"#]).unwrap();
    store.seal().unwrap();
    assert_eq!(store.verify().unwrap(), []);
    let info = store.info().unwrap();
    assert_eq!(info.segments.len(), 1);
    assert_eq!((info.segments[0].events, info.segments[0].blocks), (1, 1));
    assert_eq!(info.segments[0].bytes, info.bytes);
}
