//! Damaged stores: what is said of them, and what can still be read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use tamias::{ExecError, Layout, Options, Query, ReadError, RunOptions, Store};

const LAYOUTS: [Layout; 2] = [Layout::Text, Layout::Columns];

/// A store of two segments, a byte of the first one altered: in its documents, or in the directory of its columns.
fn damaged(folder: &Path, segments: Layout) -> Store {
    let store = Store::open_with(folder, Options { segments, ..Options::default() }).unwrap();
    for hour in [10, 11] {
        let events = (0..3).map(|n| format!(r#"{{"@t":"2024-05-29T{hour}:00:0{n}Z","N":{hour}}}"#));
        store.append(events).unwrap();
        store.seal().unwrap();
    }
    let first = store.info().unwrap().segments[0].clone();
    assert_eq!(first.column_blocks, u64::from(segments == Layout::Columns));
    drop(store);
    let file = first.file.unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let at = match segments {
        Layout::Columns => bytes.windows(4).position(|four| four == b"TSH2").unwrap() + 12,
        _ => bytes.windows(6).position(|six| six == br#""N":10"#).unwrap() + 5,
    };
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    Store::open_with(folder, Options { segments, ..Options::default() }).unwrap()
}

#[test]
fn a_query_fails_on_damage_and_names_it() {
    for layout in LAYOUTS {
        let folder = tempfile::tempdir().unwrap();
        let store = damaged(folder.path(), layout);
        let error = store.query("select N from stream").unwrap().next_row().err().unwrap().to_string();
        let what = match layout {
            Layout::Columns => "(part directory): its checksum does not hold",
            _ => "the checksum of its documents does not hold",
        };
        let lost = "3 events are lost, from 2024-05-29T10:00:00Z to 2024-05-29T10:00:02Z";
        assert!(error.contains(&format!("{what}; {lost}")), "{error}");
        assert!(error.contains(&folder.path().display().to_string()), "{error}");
    }
}

#[test]
fn a_query_that_comes_again_names_damage_like_the_first() {
    for layout in LAYOUTS {
        let folder = tempfile::tempdir().unwrap();
        let store = damaged(folder.path(), layout);
        for time in 1..=4 {
            let error = store.query("select N from stream").unwrap().next_row().err().unwrap();
            let ExecError::Source(source) = &error else { panic!("{error:?}") };
            assert!(
                source.downcast_ref::<ReadError>().is_some(),
                "{layout:?}, at the {time}. time: {error:?}"
            );
        }
    }
}

#[test]
fn a_query_past_damage_lists_what_it_left_out() {
    for layout in LAYOUTS {
        let folder = tempfile::tempdir().unwrap();
        let store = damaged(folder.path(), layout);
        let query = Query::prepare("select count(@Data) from stream").unwrap();
        let (mut rows, left_out) = store.run_past_damage(&query, RunOptions::default()).unwrap();
        let row = rows.next().unwrap().unwrap();
        assert_eq!(row.get(0).unwrap().json(), Some(&b"3"[..]));
        let damage = left_out.damage();
        assert_eq!(damage.len(), 1, "{layout:?}");
        assert_eq!(damage[0].events(), Some(3));
        assert_eq!(damage[0].time_range().unwrap().1.to_string(), "2024-05-29T10:00:02Z");
        assert_eq!(store.verify().unwrap(), damage);

        store.append([r#"{"@t":"2024-05-29T12:00:00Z","N":12}"#]).unwrap();
        let (rows, _) = store.run_past_damage(&query, RunOptions::default()).unwrap();
        let counts: Vec<_> = rows.map(|row| row.unwrap().get(0).unwrap().to_decimal().unwrap()).collect();
        assert_eq!(counts, [4.into()], "a damaged store still takes events");
    }
}

#[test]
fn what_a_query_does_not_need_may_be_damaged() {
    for layout in LAYOUTS {
        let folder = tempfile::tempdir().unwrap();
        let store = damaged(folder.path(), layout);
        let ask = |query: &str| {
            let mut rows = store.query(query).unwrap();
            let mut shown = Vec::new();
            while let Some(row) = rows.next_row().map_err(|error| error.to_string())? {
                shown.push(String::from_utf8(row.get(0).unwrap().json().unwrap().to_vec()).unwrap());
            }
            Ok::<_, String>(shown)
        };
        for (query, answer) in [
            ("select count(*) from stream", &["6"][..]),
            ("select N from stream where N = 11 and Absent is null limit 1", &["11"]),
            ("select count(*) from stream where Absent = 1", &["0"]),
            ("select N from stream order by time desc limit 3", &["11", "11", "11"]),
            ("select N from stream where @Timestamp >= DateTime('2024-05-29T11:00:01Z')", &["11", "11"]),
        ] {
            assert_eq!(
                ask(query),
                Ok(answer.iter().map(|text| (*text).to_owned()).collect()),
                "{layout:?}: {query}"
            );
        }
        // Statistics tell sums too. Of text the times stand beside the documents; of columns the directory tells where all of it is.
        assert_eq!(ask("select sum(N) from stream"), Ok(vec!["63".to_owned()]));
        let times = ask("select @Arrived from stream where @Timestamp < DateTime('2024-05-29T10:00:01Z')");
        match layout {
            Layout::Columns => assert!(times.unwrap_err().contains("3 events are lost")),
            _ => assert_eq!(times, Ok(vec!["0".to_owned()])),
        }
    }
}

/// Of a block with deleted events the times used to count as zeros where they could not be read: it was passed over, or counted whole.
#[test]
fn what_is_left_of_a_damaged_block_is_neither_passed_over_nor_counted_unseen() {
    let folder = tempfile::tempdir().unwrap();
    let store = damaged(folder.path(), Layout::Columns);
    let whole = store.info().unwrap().segments[1].clone();
    drop(store);
    // The first segment is whole again while an event of each is deleted.
    let name = |file: &Path| file.file_name().unwrap().to_owned();
    let first = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut segments = first.filter(|path| path.extension().is_some_and(|kind| kind == "segment"));
    let first = segments.find(|path| name(path) != name(whole.file.as_ref().unwrap())).unwrap();
    let bytes = std::fs::read(&first).unwrap();
    let mut sound = bytes.clone();
    sound[bytes.windows(4).position(|four| four == b"TSH2").unwrap() + 12] ^= 1;
    std::fs::write(&first, sound).unwrap();
    let options = Options { background: false, ..Options::default() };
    let store = Store::open_with(folder.path(), options.clone()).unwrap();
    assert_eq!(store.delete("@Timestamp = DateTime('2024-05-29T10:00:02Z')").unwrap().events, 1);
    assert_eq!(store.delete("@Timestamp = DateTime('2024-05-29T11:00:00Z')").unwrap().events, 1);
    drop(store);
    std::fs::write(&first, bytes).unwrap();
    let store = Store::open_with(folder.path(), options).unwrap();
    for (query, sound) in [
        ("select count(*) from stream where @Timestamp >= DateTime('2024-05-29T10:00:01Z')", "2"),
        ("select count(*) from stream where @Timestamp < DateTime('2024-05-29T10:00:01Z')", "0"),
        ("select count(N) from stream where @Timestamp > DateTime('2024-05-29T09:00:00Z')", "2"),
    ] {
        let error = store.query(query).unwrap().next_row().err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("(part directory)")), "{query}");
        let prepared = Query::prepare(query).unwrap();
        let (mut rows, left_out) = store.run_past_damage(&prepared, RunOptions::default()).unwrap();
        let row = rows.next().unwrap().unwrap();
        assert_eq!(row.get(0).unwrap().json(), Some(sound.as_bytes()), "{query}");
        assert_eq!(left_out.damage().len(), 1, "{query}");
    }
    // Outside of its times nobody needs it.
    let later = "select count(*) from stream where @Timestamp >= DateTime('2024-05-29T11:00:02Z')";
    let row = store.query(later).unwrap().next().unwrap().unwrap();
    assert_eq!(row.get(0).unwrap().json(), Some(&b"1"[..]));
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
