//! What the trust boundary takes, and what it says of the rest.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tamias::{Batch, EventFormat, Store, TimeFormat};

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
        ("{\"a\":1}", "the event has no time: no key '@t', or its value is null", 0),
        (
            "{\"x\":{\"@t\":\"2024-05-29T10:56:01Z\"}}",
            "the event has no time: no key '@t', or its value is null",
            0,
        ),
        ("{\"@t\":\"soon\"}", "the time in '@t' is not a time in the form 2024-05-29T10:56:01.123Z: soon", 0),
        ("{\"@t\":null}", "the event has no time: no key '@t', or its value is null", 0),
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
fn the_time_is_read_in_the_form_that_is_asked_for() {
    let check = |form: &str, time: &str, expected: Result<&str, &str>| {
        let format = EventFormat::time_key("t").time_format(form.parse().unwrap());
        let line = format!("{{\"t\":{time}}}");
        match expected {
            Ok(expected) => assert_eq!(instant(&line, &format), expected, "{form}: {time}"),
            Err(reason) => {
                let pushed = Batch::new().push(line.as_bytes(), &format);
                assert!(pushed.is_err(), "{form}: {time}");
                let refused = pushed.unwrap_err().to_string();
                assert!(refused.contains(reason), "{form}: {refused}");
            }
        }
    };
    let whole = Ok("2020-10-09T18:27:49Z");
    check("auto", "1602268069", whole);
    check("iso", "\"2020-10-09 18:27:49\"", whole);
    check("iso", "1602268069", Err("not a time in the form"));
    check("unix", "1602268069", whole);
    check("unix", "\"1602268069\"", whole);
    check("unix", "1602268069.1234567891", Ok("2020-10-09T18:27:49.1234567Z"));
    check("unix", "100000000000", Ok("5138-11-16T09:46:40Z"));
    check("unix-ms", "1602268069000", whole);
    check("unix-ms", "1000", Ok("1970-01-01T00:00:01Z"));
    check("unix-us", "-1", Ok("1969-12-31T23:59:59.999999Z"));
    check("unix-ns", "1602268069000000199", Ok("2020-10-09T18:27:49.0000001Z"));
    check("unix-ns", "-1", Ok("1969-12-31T23:59:59.9999999Z"));
    check("unix", "1e27", Err("outside the years"));
    check("unix", "\"soon\"", Err("not a number"));
    check("unix", "null", Err("null"));
    check("auto", "\"09/Oct/2020:20:27:49 +0200\"", whole);
    check("auto", "\"Fri, 9 Oct 2020 18:27:49 GMT\"", whole);
    check("auto", "\"Fri, 09 Oct 2020 20:27:49 +0200\"", whole);
    check("auto", "\"31/Feb/2020:20:27:49 +0200\"", Err(""));
    check("iso", "\"Fri, 9 Oct 2020 18:27:49 GMT\"", Err(""));
    let log = "%d/%b/%Y:%H:%M:%S %z";
    check(log, "\"09/Oct/2020:20:27:49 +0200\"", whole);
    check(log, "\"09/Oct/2020:20:27:49\"", Err("not in the form %d/%b/%Y:%H:%M:%S %z"));
    check(log, "\"09/Oct/2020:20:27:49 +0200 \"", Err("not in the form"));
    check(log, "\"31/Feb/2020:20:27:49 +0200\"", Err("no such time"));
    check("%Y-%m-%d", "\"2020-10-09\"", Ok("2020-10-09T00:00:00Z"));
    check("%Y%m%d%H%M%S", "20201009182749", whole);
    check("%Y-%m-%d %H:%M:%S%.f", "\"2020-10-09 18:27:49.25\"", Ok("2020-10-09T18:27:49.25Z"));
    check("%Y-%m-%d %H:%M:%S %Q", "\"2020-10-09 20:27:49 Europe/Berlin\"", whole);
    check("%s", "\"1602268069\"", whole);
    check("%b %d %H:%M:%S", "\"Oct 09 18:27:49\"", Err("no such time"));
    for wrong in ["", "rfc", "unix-s", "%", "%é", "%J"] {
        let error = wrong.parse::<TimeFormat>().unwrap_err().to_string();
        assert!(error.contains(wrong), "{error}");
    }
}

/// Times that name no zone were those of UTC, whatever the log meant.
#[test]
fn times_without_a_zone_are_those_of_the_zone_that_is_set() {
    let berlin = |form: &str| form.parse::<TimeFormat>().unwrap().time_zone("Europe/Berlin").unwrap();
    let check = |form: &str, time: &str, expected: &str| {
        let format = EventFormat::time_key("t").time_format(berlin(form));
        assert_eq!(instant(&format!("{{\"t\":{time}}}"), &format), expected, "{form}: {time}");
    };
    check("auto", "\"2026-11-23 20:00:00,123\"", "2026-11-23T19:00:00.123Z");
    check("auto", "\"2026-07-23T20:00:00.1234567\"", "2026-07-23T18:00:00.1234567Z");
    check("auto", "\"23/Nov/2026:20:00:00.123\"", "2026-11-23T19:00:00.123Z");
    check("iso", "\"2026-07-23 20:00\"", "2026-07-23T18:00:00Z");
    check("%d.%m.%Y %H:%M:%S CET", "\"23.11.2026 20:00:00 CET\"", "2026-11-23T19:00:00Z");
    check("%Y-%m-%d", "\"2026-11-23\"", "2026-11-22T23:00:00Z");
    // The clocks show it twice, and not at all.
    check("auto", "\"2026-10-25T02:30:00\"", "2026-10-25T00:30:00Z");
    check("auto", "\"2026-03-29T02:30:00\"", "2026-03-29T01:30:00Z");
    for named in [
        "\"2026-11-23T20:00:00Z\"",
        "\"2026-11-23 22:00:00 +0200\"",
        // The first of these was read, and not the others.
        "\"2026-11-23 22:00:00.000 +02:00\"",
        "\"2026-11-23T22:00:00 +02:00\"",
        "\"2026-11-23 20:00:00 UTC\"",
        "1795464000",
    ] {
        check("auto", named, "2026-11-23T20:00:00Z");
    }
    check("%Y-%m-%d %H:%M:%S %z", "\"2026-11-23 22:00:00 +0200\"", "2026-11-23T20:00:00Z");
    check("%Y-%m-%d %H:%M:%S %Q", "\"2026-11-23 15:00:00 America/New_York\"", "2026-11-23T20:00:00Z");
    assert!(TimeFormat::default().time_zone("Europe/Atlantis").is_err());
    let utc = berlin("auto").time_zone("UTC").unwrap();
    let format = EventFormat::time_key("t").time_format(utc);
    assert_eq!(instant(r#"{"t":"2026-11-23T20:00:00"}"#, &format), "2026-11-23T20:00:00Z");
}

#[test]
fn blanks_around_a_time_and_those_of_ha_proxy_are_read() {
    let format = EventFormat::clef();
    assert_eq!(instant(r#"{"@t":"2026-11-23 20:00:00 "}"#, &format), "2026-11-23T20:00:00Z");
    assert_eq!(instant(r#"{"@t":"23/Nov/2026:20:00:00.123"}"#, &format), "2026-11-23T20:00:00.123Z");
    assert_eq!(instant(r#"{"@t":"23/Nov/2026:20:00:00"}"#, &format), "2026-11-23T20:00:00Z");
}

#[test]
fn other_people_s_keys_get_clef_s_names() {
    let format = EventFormat::time_key("t").level_key("log.level").message_key("msg");
    let check = |line: &str, expected: &str| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let mut batch = Batch::new();
        batch.push(line.as_bytes(), &format).unwrap();
        store.append_batch(&mut batch).unwrap();
        let row = store.query("select @Data from stream").unwrap().next().unwrap().unwrap();
        assert_eq!(String::from_utf8_lossy(row.get(0).unwrap().json().unwrap()), expected, "{line}");
    };
    check(r#"{"t":1,"log.level":30,"a":[1.0],"msg":"hi"}"#, r#"{"t":1,"@l":30,"a":[1.0],"@m":"hi"}"#);
    check(r#"{"t":1,"ms\u0067":"\"h\\i\""}"#, r#"{"t":1,"@m":"\"h\\i\""}"#);
    check(r#"{"t":1,"msg":{"msg":1},"x":{"log.level":2}}"#, r#"{"t":1,"@m":{"msg":1},"x":{"log.level":2}}"#);
    check(r#"{"t":1,"msg":1,"msg":2}"#, r#"{"t":1,"@m":1,"@m":2}"#);
    // CLEF's own come first.
    check(r#"{"t":1,"@l":"a","log.level":"b","msg":1}"#, r#"{"t":1,"@l":"a","log.level":"b","@m":1}"#);
    check(r#"{"t":1,"@m":"a","msg":"b"}"#, r#"{"t":1,"@m":"a","msg":"b"}"#);
    check(r#"{"t":1}"#, r#"{"t":1}"#);

    let short = EventFormat::time_key("t").message_key("m").event_bytes_max(20);
    Batch::new().push(br#"{"t":1,"x":"1234567"}"#.get(..).unwrap(), &short).unwrap_err();
    let (reason, _) = {
        let mut batch = Batch::new();
        let rejection = batch.push(br#"{"t":1,"m":"123456"}"#, &short).unwrap_err();
        assert!(batch.is_empty() && batch.bytes() == 0);
        (rejection.to_string(), rejection.offset())
    };
    assert_eq!(reason, "with the keys of CLEF the event has 21 bytes, more than the 20 it may have");
}

#[test]
fn events_without_a_time_may_have_that_of_their_coming() {
    let format = EventFormat::clef().now_without_time();
    let before = tamias::Instant::now();
    let stored = instant(r#"{"a":1}"#, &format).parse::<tamias::Instant>().unwrap();
    assert!((before..=tamias::Instant::now()).contains(&stored));
    assert_eq!(instant(r#"{"@t":"2020-10-09T18:27:49Z"}"#, &format), "2020-10-09T18:27:49Z");
    assert_eq!(refused(r#"{"@t":"soon"}"#, &format.event_bytes_max(99)).1, 0);
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

#[test]
fn the_time_is_the_last_of_its_name_wherever_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let events = [
        r#"{"@t":"2024-05-29T10:56:01Z","a":1}"#,
        r#"{"@t":"2024-05-29T10:56:00Z","a":2,"@t":"2024-05-29T10:56:02Z"}"#,
        r#"{"\u0040t":"2024-05-29T10:56:00Z","a":3,"@\u0074":"2024-05-29T10:56:03Z"}"#,
        r#"{"@t":"2024-05-29T10:56:04Z","a":{"@t":"2024-05-29T10:56:00Z"},"b":"\"@t\":1","c\"@t":0}"#,
        r#"{"a":5,"@t":"2024-05-29T10:56:05Z"}"#,
        r#"{"@t":"2024-05-29T10:56:0\u0036Z"}"#,
        r#"{ "@t" : 1716980167 , "a" : "x" }"#,
        r#"{"@t":8,"a":"x","@t":"2024-05-29T10:56:08Z"}"#,
    ];
    store.append(events).unwrap();
    let rows = store.query("select ToIsoString(@Timestamp) from stream").unwrap();
    let times: Vec<String> =
        rows.map(|row| row.unwrap().get(0).unwrap().text().unwrap().into_owned()).collect();
    let expected: Vec<String> = (1..=8).map(|n| format!("2024-05-29T10:56:0{n}.0000000Z")).collect();
    assert_eq!(times, expected);
    for (event, said) in [
        (r#"{"@t":"soon","a":1}"#, "soon"),
        (r#"{"@t":"2024-05-29T10:56:01Z","@t":null}"#, "null"),
        (r#"{"a":{"@t":"2024-05-29T10:56:01Z"}}"#, "no key '@t'"),
    ] {
        let error = store.append([event]).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
