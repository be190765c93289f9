//! What the trust boundary takes, and what it says of the rest.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tamias::{Batch, EventFormat, Store};

/// The reason for which a line is refused, and the byte that it names.
#[track_caller]
fn refused(line: impl AsRef<[u8]>, format: &EventFormat) -> (String, usize) {
    let mut batch = Batch::new();
    batch.push(br#"{"@t":"2024-05-29T10:56:01Z","time":0}"#, format).unwrap();
    let rejection = batch.push(line.as_ref(), format).unwrap_err();
    assert_eq!(batch.len(), 1, "nothing of a refused line stays in the batch");
    assert_eq!(batch.bytes(), 38);
    (rejection.to_string(), rejection.offset())
}

/// The instant at which a line is stored.
#[track_caller]
fn instant(line: &str, format: &EventFormat) -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let mut batch = Batch::new();
    batch.push(line.as_bytes(), format).unwrap();
    store.append_batch(&mut batch).unwrap();
    assert!(batch.is_empty());
    store.info().unwrap().time_range.unwrap().0.to_string()
}

#[test]
fn a_refused_line_names_its_reason_and_place() {
    let clef = EventFormat::clef();
    for (line, reason, offset) in [
        ("", "the document ends too early at byte 0", 0),
        ("[1]", "expected an object: `{` at byte 0", 0),
        ("{\"a\":01}", "a number must not begin with a superfluous zero at byte 6", 6),
        ("{\"a\":1} 2", "unexpected text after the end of the document at byte 8", 8),
        ("{\"a\":1}", "the event has no time: no key '@t'", 0),
        ("{\"x\":{\"@t\":\"2024-05-29T10:56:01Z\"}}", "the event has no time: no key '@t'", 0),
        ("{\"@t\":\"soon\"}", "the time in '@t' is not a time in the form 2024-05-29T10:56:01.123Z: soon", 0),
        ("{\"@t\":null}", "the time in '@t' is not a time in the form 2024-05-29T10:56:01.123Z: null", 0),
        ("{\"@t\":1e27}", "the time in '@t' is a time outside the years 1 to 9999: 1e27", 0),
        ("{\"@t\":1e999}", "the time in '@t' is not a number that a time can be: 1e999", 0),
    ] {
        assert_eq!(refused(line, &clef), (reason.to_owned(), offset), "{line}");
    }
    assert_eq!(refused(b"{\"@t\":\"\xff\"}", &clef), ("the bytes are not UTF-8 at byte 7".to_owned(), 7));
    let long = format!("{{\"@t\":\"{}\"}}", "é".repeat(100));
    assert!(refused(long, &clef).0.ends_with(&format!(": {}…", "é".repeat(40))));
    let small = EventFormat::clef().event_bytes_max(50);
    let long = format!("{{\"@t\":\"2024-05-29T10:56:01Z\",\"a\":\"{}\"}}", "x".repeat(50));
    assert_eq!(
        refused(long, &small),
        ("the document is longer than the limit of 50 bytes at byte 50".to_owned(), 50)
    );
}

#[test]
fn the_time_is_read_in_each_of_its_forms() {
    let clef = EventFormat::clef();
    let time = EventFormat::time_key("time");
    let whole = "2020-10-09T18:27:49Z";
    assert_eq!(instant(r#"{"@t":"2020-10-09T18:27:49Z"}"#, &clef), whole);
    assert_eq!(instant(r#"{"time":"2020-10-09 18:27:49"}"#, &time), whole);
    assert_eq!(instant(r#"{"time":"2020-10-09T20:27:49+02:00"}"#, &time), whole);
    assert_eq!(instant(r#"{"time":1602268069}"#, &time), whole);
    assert_eq!(instant(r#"{"time":1602268069000}"#, &time), whole);
    assert_eq!(instant(r#"{"time":1602268069000000}"#, &time), whole);
    assert_eq!(instant(r#"{"time":1602268069000000000}"#, &time), whole);
    assert_eq!(instant(r#"{"time":1602268069.5}"#, &time), "2020-10-09T18:27:49.5Z");
    assert_eq!(
        instant(r#"{"time":1,"\u0074ime":1602268069}"#, &time),
        whole,
        "of equal keys the last counts"
    );
}

#[test]
fn an_event_is_stored_in_its_one_spelling() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.append([r#" { "@t" : "2024-05-29T10:56:01Z", "\u0041\/" : [ 1.0, "\u00e9\ud800" ] } "#]).unwrap();
    let row = store.query("select @Data from stream").unwrap().next().unwrap().unwrap();
    let json = row.get(0).unwrap().json().unwrap().to_vec();
    assert_eq!(String::from_utf8(json).unwrap(), r#"{"@t":"2024-05-29T10:56:01Z","A/":[1.0,"é\ud800"]}"#);
}

#[test]
fn a_large_batch_goes_straight_into_segments() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let filling = "x".repeat(1 << 20);
    let events = (0..33).map(|n| format!(r#"{{"@t":"2024-05-29T10:56:{n:02}Z","N":{n},"F":"{filling}"}}"#));
    store.append([r#"{"@t":"2024-05-29T10:56:59Z","N":100}"#]).unwrap();
    let appended = store.append(events).unwrap();
    assert_eq!((appended.first_arrival, appended.events), (1, 33));
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    let rows = store.query("select N, @Arrived from stream where N >= 31").unwrap();
    let rows: Vec<(i64, i64)> = rows
        .map(|row| {
            let row = row.unwrap();
            let number = |column: usize| row.get(column).unwrap().to_decimal().unwrap().try_into().unwrap();
            (number(0), number(1))
        })
        .collect();
    assert_eq!(rows, [(31, 32), (32, 33), (100, 0)]);
}
