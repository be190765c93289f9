//! What the advised commands make of logs of many kinds.

use std::fs;

use serde_json::{Value, json};

use crate::foreign::{Event, advised, converted, error, stored};
use crate::tool::{figures, folder, objects, tool, tool_with_input};

/// Of each event its instant, its level and its message.
fn told(stored: &[Event]) -> Value {
    let told = |event: &Event| json!([event["at"], event["d"]["@l"], event["d"]["@m"]]);
    stored.iter().map(told).collect()
}

/// Each line of a stack trace was rejected, as it has no time, and no event had a level.
#[test]
fn text_has_levels_and_keeps_the_lines_without_a_time() {
    let folder = folder();
    let log = "2026-11-23 10:00:01.123 [main] ERROR com.x.A - boom\r\njava.lang.E: x\r\n\tat 2026\r\n2026-11-23 10:00:02 starting\n";
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "text, not JSON") {
        let boom = "2026-11-23 10:00:01.123 [main] ERROR com.x.A - boom\njava.lang.E: x\n\tat 2026";
        let starting = json!(["2026-11-23T10:00:02.0000000Z", null, "2026-11-23 10:00:02 starting"]);
        assert_eq!(told(&stored), json!([["2026-11-23T10:00:01.1230000Z", "ERROR", boom], starting]));
    }
    for (log, at, level) in [
        // Its offset was left out, and the time was two hours late.
        ("2024-05-29 12:56:01.123 +02:00 [ERR] boom\n", "2024-05-29T10:56:01.1230000Z", json!("ERR")),
        ("[29/May/2024:12:56:01.123 +0200] x\n", "2024-05-29T10:56:01.1230000Z", Value::Null),
        ("1716980161.123 250 10.0.0.1 TCP_MISS/200\n", "2024-05-29T10:56:01.1230000Z", Value::Null),
        ("24/05/29 10:56:01 WARN Executor: slow\n", "2024-05-29T10:56:01.0000000Z", json!("WARN")),
        ("2024/05/29 10:56:01.5 listening\n", "2024-05-29T10:56:01.5000000Z", Value::Null),
        ("1:M 29 May 2024 10:56:01.123 * Ready\n", "2024-05-29T10:56:01.1230000Z", Value::Null),
        (
            "http 2024-05-29T10:56:01.123456Z app 200 2024-05-29T10:56:01.1Z\n",
            "2024-05-29T10:56:01.1234560Z",
            Value::Null,
        ),
    ] {
        if let Some(stored) = converted(folder.path(), log.as_bytes(), "text, not JSON") {
            assert_eq!(told(&stored), json!([[at, level, log.trim_end()]]));
        }
    }
}

/// It was taken for the access log of another server, and each line had the current time.
#[test]
fn lines_of_haproxy_are_syslog() {
    let folder = folder();
    let log = "May 29 10:56:01 lb haproxy[14389]: 10.0.1.2:33317 [29/May/2024:10:56:01.655] in s/1 10/0 200 \"GET / HTTP/1.1\"\n";
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "syslog, not JSON") {
        let message = log.split_once(": ").unwrap().1.trim_end();
        assert_eq!((&stored[0]["d"]["app"], &stored[0]["d"]["@m"]), (&"haproxy".into(), &message.into()));
    }
}

/// The address of each was that of the first word, or its time was not read.
#[test]
fn logs_of_linux_have_their_parts() {
    let folder = folder();
    let log = "2024-05-29T12:56:01.123456+02:00 web sshd[12]: Failed\n2024-05-29T12:56:02+02:00 web kernel: x: y\nmore\n";
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "syslog, not JSON") {
        let event = &stored[0]["d"];
        assert_eq!(
            (&event["host"], &event["app"], &event["pid"]),
            (&"web".into(), &"sshd".into(), &"12".into())
        );
        assert_eq!((&event["@m"], &stored[1]["d"]["@m"]), (&"Failed".into(), &"x: y".into()));
        assert_eq!(stored[2]["at"], "2024-05-29T10:56:02.0000000Z");
    }
    let log = "type=USER_CMD msg=audit(1716980161.123:456): pid=7 comm=\"ls -l\" msg='op=x res=success'\u{1d}UID=\"root\"\n";
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "auditd") {
        let event = &stored[0]["d"];
        assert_eq!(stored[0]["at"], "2024-05-29T10:56:01.1230000Z");
        assert_eq!(
            (&event["type"], &event["comm"], &event["pid"]),
            (&"USER_CMD".into(), &"ls -l".into(), &"7".into())
        );
        // The enriched form was a part of the value before it.
        assert_eq!((&event["msg"], &event["UID"]), (&"'op=x res=success'".into(), &"root".into()));
    }
}

/// A single line was rejected without a remedy.
#[test]
fn a_line_of_several_events_is_told_of() {
    let folder = folder();
    let line = "{\"time\":\"2024-05-29T10:56:01Z\"}{\"time\":\"2024-05-29T10:56:02Z\"}\n";
    if let Some(stored) = converted(folder.path(), line.as_bytes(), "several events on a line") {
        assert_eq!(stored.len(), 2);
    }
}

/// In January all of December was in the future, and then the later days of each month; lines of another form were left out.
#[test]
fn days_after_tomorrow_are_those_of_last_year() {
    let folder = folder();
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let line = |month: &str, day: u32| format!("{month} {day:2} 00:00:01 web sshd[1]: in {month}\nmore\n");
    let log: String =
        months.iter().flat_map(|month| [1, 8, 15, 22, 28].map(|day| line(month, day))).collect();
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "syslog, not JSON") {
        assert_eq!(stored.len(), 120);
        let query =
            "select count(*) as n from stream where @Timestamp > Now() + 1d or @Timestamp < Now() - 366d";
        assert_eq!(objects(&tool(folder.path(), &["query", "s", query]).well().out)[0]["n"], 0);
    }
}

/// Its times were not read.
#[test]
fn klog_has_its_parts() {
    let folder = folder();
    let log = "I0101 10:56:01.123456       1 main.go:12] \"Starting\" port=8080\nE0101 10:56:02.5  7 a.go:13] failed\n";
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "klog") {
        assert!(stored[0]["at"].as_str().unwrap().ends_with("-01-01T10:56:01.1234560Z"), "{stored:?}");
        let event = &stored[1]["d"];
        assert_eq!((&event["@l"], &event["@m"]), (&"E".into(), &"failed".into()));
        assert_eq!((&event["source"], &event["thread"]), (&"a.go:13".into(), &"7".into()));
    }
}

/// Its times were not read, nor the names of its fields.
#[test]
fn logs_of_zeek_have_the_names_of_their_fields() {
    let folder = folder();
    let log = "#separator \\x09\n#unset_field\t-\n#fields\tts\tuid\tid.orig_p\tproto\tnote\n#types\ttime\tstring\tport\tenum\tstring\n\
               1716972961.123456\tCAbc1\t52311\ttcp\t-\n1716972962.5\t007\t53\tudp\ta b\n#close\t2024-05-29-11-00-00\n";
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "a log of Zeek") {
        assert_eq!(stored[0]["at"], "2024-05-29T08:56:01.1234560Z");
        let expected =
            json!({"ts": 1716972962.5, "uid": "007", "id.orig_p": 53, "proto": "udp", "note": "a b"});
        assert_eq!((stored.len(), &stored[1]["d"]), (2, &expected));
    }
}

/// What stands before it hid the JSON.
#[test]
fn json_behind_other_text_is_taken_out() {
    let folder = folder();
    let compose = "web-1  | {\"time\":\"2026-11-23T10:00:00Z\",\"level\":\"info\",\"msg\":\"a\"}\ndb-1   | {\"time\":\"2026-11-23T10:00:01Z\"}\n";
    if let Some(stored) = converted(folder.path(), compose.as_bytes(), "JSON behind other text") {
        assert_eq!((&stored[0]["d"]["prefix"], &stored[0]["d"]["msg"]), (&"web-1".into(), &"a".into()));
        assert_eq!(stored[1]["d"]["prefix"], "db-1");
    }
    let fluentd = "2026-11-23T10:00:00+00:00\tapp.access\t{\"code\":200}\n2026-11-23T10:00:01+00:00\tapp.access\tplain\n";
    if let Some(stored) = converted(folder.path(), fluentd.as_bytes(), "JSON behind other text") {
        assert_eq!(
            (&stored[0]["d"]["code"], &stored[0]["at"]),
            (&200.into(), &"2026-11-23T10:00:00.0000000Z".into())
        );
        assert_eq!(stored[1]["at"], "2026-11-23T10:00:01.0000000Z");
    }
}

/// Attributes were lists of pairs, which no query names, and of spans nothing was said but that there is a list.
#[test]
fn batches_of_opentelemetry_become_events() {
    let folder = folder();
    let path = folder.path();
    let resource = r#""resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]}"#;
    let attributes = r#""attributes":[{"key":"n","value":{"intValue":"42"}},{"key":"none"},{"key":"ok","value":{"boolValue":false}}]"#;
    let logs = format!(
        r#"{{"resourceLogs":[{{{resource},"scopeLogs":[{{"logRecords":[{{"timeUnixNano":"1716972961123456789","severityText":"ERROR","body":{{"stringValue":"boom"}},{attributes}}},{{"timeUnixNano":"1716972961123456790"}}]}}]}}]}}"#
    );
    let spans = format!(
        r#"{{"resourceSpans":[{{{resource},"scopeSpans":[{{"spans":[{{"name":"GET /","startTimeUnixNano":"1716972961123456789","endTimeUnixNano":"1716972961223456789",{attributes}}}]}}]}}]}}"#
    );
    for (text, key, value) in [(logs, "body", "boom"), (spans, "name", "GET /")] {
        for count in [1, 2] {
            fs::write(path.join("log"), format!("{text}\n").repeat(count)).unwrap();
            let err = error(tool(path, &["ingest", "s", "log"]));
            assert!(!err.contains("--now"), "{err}");
        }
        let Some(stored) = converted(path, text.as_bytes(), "holds a list; if these are the events") else {
            continue;
        };
        let event = &stored[0]["d"];
        assert_eq!((&stored[0]["at"], &event[key]), (&"2024-05-29T08:56:01.1234567Z".into(), &value.into()));
        assert_eq!(event["attributes"], json!({"n": 42, "ok": false}));
        assert_eq!(event["resource"]["attributes"]["service.name"], "shop");
    }
}

/// Nothing was said but that it is no known form of a time.
#[test]
fn times_of_powershell_are_converted() {
    let folder = folder();
    let log = "[{\"Id\":1,\"LevelDisplayName\":\"Error\",\"TimeCreated\":\"/Date(1716972961123)/\"},\n\
               {\"Id\":2,\"TimeCreated\":\"/Date(1716972962123)/\"}]\n";
    for log in [log, &log.replace(['[', ']'], "").replace(",\n", "\n")] {
        if let Some(stored) = converted(folder.path(), log.as_bytes(), "no known form of a time") {
            assert_eq!((stored.len(), &stored[1]["at"]), (2, &"2024-05-29T08:56:02.1230000Z".into()));
        }
    }
}

/// A value with a backslash that is none of JSON became null, and lines of another form were rejected where the time was not in `time`.
#[test]
fn logfmt_keeps_what_it_has() {
    let folder = folder();
    let log = "ts=2024-05-29T10:56:03Z raw=\"C:\\dir\" text=\"a\\x1b\"\nplain words\n";
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "logfmt, not JSON") {
        assert_eq!(stored.len(), 2);
        assert!(stored.iter().all(|event| event["at"] == "2024-05-29T10:56:03.0000000Z"), "{stored:?}");
        let event = stored.iter().find(|event| event["d"].get("raw").is_some()).unwrap();
        assert_eq!((&event["d"]["raw"], &event["d"]["text"]), (&"C:\\dir".into(), &"a\\x1b".into()));
    }
}

/// All of a line was its day.
#[test]
fn logs_in_the_w3c_format_may_have_tabs() {
    let folder = folder();
    let log = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes\n2026-11-23\t10:00:00\tFRA2\t200\n";
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "the W3C format") {
        assert_eq!(stored[0]["at"], "2026-11-23T10:00:00.0000000Z");
        assert_eq!(stored[0]["d"]["sc-bytes"], 200);
    }
}

/// What a note of `ingest` advises, done for a new store.
fn noted(log: &str, part: &str) -> Option<Vec<Event>> {
    let folder = folder();
    fs::write(folder.path().join("log"), log).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "log"]).well();
    assert_eq!(figures(&run.out).0, log.lines().count() as u64);
    assert!(run.err.contains(part), "{}", run.err);
    let command = run.err.lines().find(|line| line.starts_with("  jq -c ")).unwrap();
    stored(folder.path(), advised(command, "NEW_STORE"), "NEW_STORE")
}

/// The events of a program stayed in a text, in which no query finds their keys.
#[test]
fn json_in_a_message_is_told_of() {
    let log = r#"{"log":"{\"level\":\"info\",\"msg\":\"inner\",\"time\":\"10:00\"}\n","stream":"stdout","time":"2026-11-23T10:00:00Z"}
{"log":"panic: boom\n","stream":"stderr","time":"2026-11-23T10:00:01Z"}
"#;
    if let Some(stored) = noted(log, "queries read as FromJson(log).KEY") {
        let inner =
            json!({"stream": "stdout", "time": "2026-11-23T10:00:00Z", "level": "info", "msg": "inner"});
        assert_eq!((&stored[0]["d"], &stored[1]["d"]["log"]), (&inner, &"panic: boom\n".into()));
    }
    let text = "{\"time\":\"2026-11-23T10:00:00Z\",\"msg\":\"{not json}\"}\n";
    let run = tool_with_input(folder().path(), &["ingest", "s", "-"], text.as_bytes()).well();
    assert!(!run.err.contains("FromJson"), "{}", run.err);
}

/// Their level and their message were one level down.
#[test]
fn what_exports_put_around_events_is_told_of() {
    let log = "{\"_index\":\"a\",\"_id\":\"1\",\"_source\":{\"@timestamp\":\"2026-11-23T10:00:00Z\",\"message\":\"m\"}}\n";
    if let Some(stored) = noted(log, "inside of `_source`") {
        assert_eq!(stored[0]["d"]["message"], "m");
    }
    let log = "{\"preview\":false,\"result\":{\"_raw\":\"x\",\"_time\":\"2026-11-23 10:00:01.123 UTC\"}}\n";
    if let Some(stored) = noted(log, "inside of `result`") {
        assert_eq!(stored[0]["d"]["_raw"], "x");
    }
}

/// They were not looked for.
#[test]
fn levels_and_messages_of_more_systems_are_named() {
    for (event, hint) in [
        (
            r#""RenderedMessage":"Failed 4","Level":"Error""#,
            "--level-key Level --message-key RenderedMessage",
        ),
        (r#""error_severity":"ERROR","message":"x""#, "--level-key error_severity --message-key message"),
        (r#""LevelDisplayName":"Error","Level":2,"ProviderName":"x""#, "--level-key Level"),
        (r#""priority":"Warning","output":"x""#, "--level-key priority --message-key output"),
        (r#""priority":1,"severityNumber":17"#, "--level-key severityNumber"),
        (r#""event":{"message":"boom","severity":"ERROR"}"#, "levels seem to be in `event.severity`"),
        (r#""event":{"severity":3}"#, "reading the time"),
    ] {
        let line = format!("{{\"time\":\"2026-11-23T20:00:00Z\",{event}}}\n");
        let run = tool_with_input(folder().path(), &["ingest", "s", "-"], line.as_bytes()).well();
        assert!(run.err.contains(hint), "{hint}: {}", run.err);
        assert_eq!(hint.contains("evel"), run.err.contains("evels seem"), "{}", run.err);
    }
}
