//! The time key of a source, detected from its first events, however they come.

use std::fs;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use crate::tool::{Ended, count, ended, figures, folder, rows, started, tool, tool_with_input};

const TIME: &str = "\"time\": \"2024-05-29T10:56:01Z\"";

fn ingest(text: &str, options: &[&str]) -> Ended {
    let folder = folder();
    fs::write(folder.path().join("log"), text).unwrap();
    tool(folder.path(), &[&["ingest", "s", "log"], options].concat())
}

/// The key used to be looked for in the first four bytes, and then in lines from the middle of an array.
#[test]
fn the_key_is_found_from_the_first_byte_on() {
    let many = |between: &str| vec![format!("{{{TIME}}}"); 10_000].join(between);
    for (text, stored, rejected) in [
        (format!("[\n  {{\n    {TIME},\n    \"N\": 1\n  }},\n  {{\n    {TIME}\n  }}\n]\n"), 2, 0),
        (format!("[\n{}\n]\n", many(",\n")), 10_000, 0),
        // A line in the first event that looks like an event by itself.
        (format!("[{{\n\"timestamp\": \"2024-05-29T10:56:01Z\",\n\"a\":\n{{{TIME}}}\n}}]"), 1, 0),
        (format!("[{{{TIME},\n\"a\":\n{{\"x\": 1}}\n}}]"), 1, 0),
        (format!("\n{{{TIME}}}\n"), 1, 0),
        (format!("{{}}\n{{{TIME}}}\n"), 1, 1),
        (format!("no event\n{{}}\n{{{TIME}}}"), 1, 2),
        (format!("{{{TIME},\"long\":\"{}\"}}\n{{{TIME}}}\n", "x".repeat(3 << 20)), 2, 0),
    ] {
        let run = ingest(&text, &[]);
        let figures = figures(&run.out);
        assert_eq!((figures.0, figures.1), (stored, rejected), "{run:?}");
        assert!(!run.err.contains("`timestamp`") || text.contains("timestamp"), "{}", run.err);
    }
}

#[test]
fn a_source_without_a_time_is_refused_once_enough_of_it_was_seen() {
    for (events, told) in [(1, "the first event"), (2, "the first 2 events"), (1000, "the first 100 events")]
    {
        let run = ingest(&"{\"a\":1}\n".repeat(events), &[]).with(4);
        assert!(run.err.contains(&format!("log: no usual time key in {told}, nothing")), "{}", run.err);
        assert_eq!(figures(&run.out), (0, 0, 0, 0));
        assert_eq!(figures(&ingest(&"{\"a\":1}\n".repeat(events), &["--now"]).well().out).0, events as u64);
    }
}

/// Of a pipe that rests in the first element the beginning used to be forgotten.
#[test]
fn a_pipe_may_rest_anywhere() {
    for (options, pieces) in [
        (
            &[][..],
            [
                "[\n",
                "  {\"time\":",
                "\"2024-05-29T10:56:01Z\"},\n",
                "{\"time\":\"2024-05-29T10:56:01Z\"}\n]\n",
            ],
        ),
        (&["--now"], ["{\"a\":1}\n", "{\"a\"", ":1}", "\n"]),
    ] {
        let folder = folder();
        let arguments = [&["ingest", "s", "-"], options].concat();
        let (child, mut stdin) = started(folder.path(), &arguments);
        for piece in pieces {
            stdin.write_all(piece.as_bytes()).unwrap();
            // Longer than it waits for more.
            sleep(Duration::from_millis(400));
        }
        drop(stdin);
        let run = ended(child.wait_with_output().unwrap()).well();
        assert_eq!(figures(&run.out).0, 2, "{run:?}");
        assert_eq!(count(folder.path(), "s"), 2);
    }
}

/// Ticks were read as nanoseconds since 1970, and stored as times of 1990.
#[test]
fn ticks_are_refused_with_the_format_that_reads_them() {
    let text = "{\"Timestamp\":638525625610000000}\n{\"Timestamp\":638525625620000000}\n";
    let refused = ingest(text, &[]).with(4);
    let remedy = "use\n  --time-key Timestamp --time-format ticks\n";
    assert!(refused.err.ends_with(remedy), "{}", refused.err);
    let rejected = ingest(text, &["--time-key", "Timestamp"]).with(4);
    assert!(
        rejected.err.contains("probably .NET ticks") && rejected.err.contains("--time-format ticks"),
        "{rejected:?}"
    );

    // What a query writes with --ticks is read again.
    let folder = folder();
    let input = format!("{{{TIME},\"n\":1}}\n");
    tool_with_input(folder.path(), &["ingest", "s", "-"], input.as_bytes()).well();
    let own =
        tool(folder.path(), &["query", "s", "select @Timestamp as t, n from stream", "--ticks"]).well().out;
    let options = ["ingest", "again", "-", "--time-key", "t", "--time-format", "ticks"];
    tool_with_input(folder.path(), &options, own.as_bytes()).well();
    let query = "select ToIsoString(@Timestamp) as t from stream";
    assert_eq!(rows(folder.path(), "again", query)[0]["t"], "2024-05-29T10:56:01.0000000Z");
}

/// The first pattern that fitted was suggested: it took the day for the month, or 26 for the year.
#[test]
fn of_several_meanings_of_a_time_none_is_chosen() {
    let run = ingest("{\"time\":\"01/03/2024 10:00:00\"}\n{\"time\":\"12/03/2024 10:00:00\"}\n", &[]).with(4);
    let lines = [
        "several meanings; use one of\n",
        "\n  --time-key time --time-format '%m/%d/%Y %H:%M:%S'  # 2024-01-03T10:00:00Z\n",
        "\n  --time-key time --time-format '%d/%m/%Y %H:%M:%S'  # 2024-03-01T10:00:00Z\n",
    ];
    assert!(lines.iter().all(|line| run.err.contains(line)), "{}", run.err);
    let run = ingest("{\"time\":\"01.03.24 10:00:00\"}\n", &[]).with(4);
    assert!(run.err.contains("use\n  --time-key time --time-format '%d.%m.%y %H:%M:%S'\n"), "{}", run.err);
}

/// A null was taken for a time that cannot be read.
#[test]
fn null_is_no_time() {
    let text = "{\"time\":null,\"ts\":1716980161}\n";
    assert_eq!(figures(&ingest(text, &["--time-key", "time,ts"]).well().out).0, 1);
    assert_eq!(figures(&ingest("{\"time\":null}\n", &["--time-key", "time", "--now"]).well().out).0, 1);
    let run = ingest(text, &["--time-key", "time"]).with(4);
    assert!(run.err.contains("no time in `time` in the first event"), "{}", run.err);
}

/// One time in a hundred events was enough, and the others were rejected.
#[test]
fn a_key_that_few_events_have_is_not_taken_for_the_time() {
    let [other, timed] = ["{\"Event\":1}\n", "{\"Timestamp\":1716980161123}\n"];
    let text = [other.repeat(60), timed.repeat(3), other.repeat(60)].concat();
    let run = ingest(&text, &[]).with(4);
    assert_eq!(figures(&run.out), (0, 0, 0, 0));
    for part in ["only 3 have a time in `Timestamp`", "`Timestamp` looks like a time", "--now"] {
        assert!(run.err.contains(part), "{}", run.err);
    }
}

#[test]
fn a_usual_key_in_no_known_form_is_shown() {
    let run = ingest("{\"timestamp\":\"Nov 22 09:00:00\"}\n", &[]).with(4);
    assert!(run.err.contains("`timestamp` is \"Nov 22 09:00:00\", which is no known form"), "{}", run.err);
    // nginx writes `$msec` so.
    ingest("{\"timestamp\":\"1716980161.123\"}\n", &[]).well();
    let nested = "{\"Event\":{\"System\":{\"TimeCreated\":{\"SystemTime\":\"2024-05-29T10:56:01Z\"}}}}\n";
    let run = ingest(nested, &[]).well();
    assert!(run.err.contains("time of events from `Event.System.TimeCreated.SystemTime`"), "{}", run.err);
    // Sysmon has another time in what it tells of.
    let sysmon = "{\"Event\":{\"System\":{\"TimeCreated\":{\"#attributes\":{\"SystemTime\":\"2024-05-29T10:56:01Z\"}}},\"EventData\":{\"UtcTime\":\"2024-05-29 10:56:00\"}}}\n";
    let run = ingest(sysmon, &[]).well();
    assert!(run.err.contains("`Event.System.TimeCreated.#attributes.SystemTime`"), "{}", run.err);
    let run = ingest(nested, &["--time-key", "a", "--time-format", "%H:%M:%S %Z"]).with(2);
    assert!(run.err.contains("use %Q"), "{}", run.err);
}

#[test]
fn times_of_the_future_are_told_of() {
    let run = ingest("{\"ts\":\"2962-01-01T00:00:00Z\"}\n", &[]).well();
    assert!(run.err.contains("all in the future, from 2962-01-01T00:00:00Z on"), "{}", run.err);
    assert!(!ingest("{\"ts\":\"1995-01-01T00:00:00Z\"}\n", &[]).well().err.contains("future"));
}

/// Both were accepted without a word: a key that no event has, and options that cannot change what is stored.
#[test]
fn options_that_name_keys_in_vain_are_told_of() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("log"), format!("{{{TIME},\"severity\":\"error\"}}\n")).unwrap();
    let run = tool(path, &["ingest", "s", "log", "--level-key", "lvl"]).well();
    assert!(run.err.contains("the first event does not have `lvl`; did you mean `severity`?"), "{}", run.err);
    let run = tool(path, &["ingest", "s", "log", "--level-key", "severity"]).well();
    assert!(run.err.contains("apply to new lines only") && run.err.contains("a second time"), "{}", run.err);
    assert_eq!(count(path, "s"), 1);
}

#[test]
fn what_is_no_store_is_told_to_come_later() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("log"), format!("{{{TIME}}}\n")).unwrap();
    for arguments in [&["ingest", "log", "s"][..], &["ingest", "log"], &["query", "select 1", "s"]] {
        let run = tool(path, arguments).with(2);
        assert!(run.err.contains("the store, a folder, comes first"), "{run:?}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", path.join("link")).unwrap();
        let run = tool(path, &["ingest", "link", "-"]).with(2);
        assert!(run.err.contains("a link to something that does not exist"), "{run:?}");
    }
}

/// Each line of a large file was rejected.
#[test]
fn a_misspelt_time_key_is_told_once() {
    let lines = "{\"when\":\"2024-05-29T10:56:01Z\"}\n".repeat(5000);
    let run = ingest(&lines, &["--time-key", "whn"]).with(4);
    assert_eq!(figures(&run.out), (0, 0, 0, 0));
    let told = "error: log: no time in `whn` in the first 100 events, nothing of it was stored (--rejects FILE stores the events that have it); `when` looks like a time; use\n  --time-key when\n";
    assert_eq!(run.err, told);
    // Some have it, or each line is wanted.
    let some = format!("{lines}{{\"whn\":\"2024-05-29T10:56:01Z\"}}\n");
    assert_eq!(figures(&ingest(&some, &["--time-key", "whn,when"]).well().out).0, 5001);
    let run = ingest(&lines, &["--time-key", "whn", "--rejects", "bad"]).with(4);
    assert_eq!(figures(&run.out).1, 5000);
    let few = "{\"a\":1}\n{\"whn\":\"2024-05-29T10:56:01Z\",\"when\":\"2024-05-29T10:56:01Z\"}\n";
    assert_eq!(figures(&ingest(few, &["--time-key", "whn"]).with(4).out).0, 1);
}

/// Lines that follow others may have another key.
#[test]
fn a_time_key_of_later_lines_is_not_taken_for_misspelt() {
    let folder = folder();
    let log = folder.path().join("log");
    let first = "{\"@t\":\"2024-05-29T10:56:01Z\"}\n".repeat(200);
    fs::write(&log, &first).unwrap();
    tool(folder.path(), &["ingest", "s", "log"]).well();
    fs::write(&log, first + "{\"when\":\"2024-05-29T10:56:01Z\"}\n").unwrap();
    tool(folder.path(), &["ingest", "s", "log", "--time-key", "when"]).well();
    assert_eq!(count(folder.path(), "s"), 201);
}

#[test]
fn the_only_time_of_events_is_taken_and_told() {
    for (event, key) in [
        (r#"{"event":{"created":"2024-05-29T10:56:01Z"},"n":1}"#, "event.created"),
        (r#"{"asctime":"2024-05-29 12:56:01 +0200"}"#, "asctime"),
        (r#"{"t":{"$date":"2024-05-29 10:56:01 UTC"}}"#, "t.$date"),
    ] {
        let folder = folder();
        fs::write(folder.path().join("log"), event).unwrap();
        let run = tool(folder.path(), &["ingest", "s", "log"]).well();
        assert_eq!(run.err, format!("log: reading the time of events from `{key}`\n"));
        let time = &rows(folder.path(), "s", "select ToIsoString(@Timestamp) as t from stream")[0]["t"];
        assert_eq!(time, "2024-05-29T10:56:01.0000000Z");
    }
    let run = ingest("{\"day\":\"2024-05-29\"}\n", &[]).with(4);
    assert!(
        run.err.contains("--time-key day --time-format %Y-%m-%d")
            || run.err.contains("--time-format '%Y-%m-%d'"),
        "{}",
        run.err
    );
    ingest("{\"day\":\"2024-05-29\"}\n", &["--time-key", "day", "--time-format", "%Y-%m-%d"]).well();
}

/// They were taken for those of UTC without a word, and nothing could say otherwise.
#[test]
fn times_without_a_zone_are_told_of_and_read_in_the_zone_that_is_named() {
    let time = |text: &str, options: &[&str]| {
        let folder = folder();
        fs::write(folder.path().join("log"), text).unwrap();
        let run = tool(folder.path(), &[&["ingest", "s", "log"], options].concat()).well();
        let found = &rows(folder.path(), "s", "select ToIsoString(@Timestamp) as t from stream")[0]["t"];
        (found.as_str().unwrap().to_owned(), run.err)
    };
    let python = "{\"asctime\":\"2026-11-23 20:00:00,123\"}\n";
    let (found, err) = time(python, &[]);
    assert_eq!(found, "2026-11-23T20:00:00.1230000Z");
    assert!(err.contains("the times in `asctime` name no time zone and are taken as UTC"), "{err}");
    assert!(err.contains("--time-zone"), "{err}");
    assert!(time(python, &["--time-key", "asctime"]).1.contains("name no time zone"));
    for zone in ["Europe/Berlin", "+01:00"] {
        let (found, err) = time(python, &["--time-zone", zone]);
        assert_eq!(
            (found.as_str(), err.contains("time zone")),
            ("2026-11-23T19:00:00.1230000Z", false),
            "{err}"
        );
    }
    let (found, err) = time(python, &["--time-zone", "UTC"]);
    assert_eq!((found.as_str(), err.contains("time zone")), ("2026-11-23T20:00:00.1230000Z", false), "{err}");
    let cet = "{\"t\":\"23.11.2026 20:00:00 CET\"}\n";
    let options =
        ["--time-key", "t", "--time-format", "%d.%m.%Y %H:%M:%S CET", "--time-zone", "Europe/Berlin"];
    assert_eq!(time(cet, &options).0, "2026-11-23T19:00:00.0000000Z");
    // What names its zone is told of by nobody, and stays.
    let (found, err) = time("{\"time\":\"2026-11-23T20:00:00Z\"}\n", &["--time-zone", "+05:00"]);
    assert_eq!(found, "2026-11-23T20:00:00.0000000Z");
    assert!(!err.contains("time zone"), "{err}");
    assert!(!time("{\"time\":\"2026-11-23T20:00:00+01:00\"}\n", &[]).1.contains("time zone"));
    let run = ingest(python, &["--time-zone", "Berlin"]).with(2);
    assert!(run.err.contains("'Berlin' is not a time zone"), "{}", run.err);
}

/// Options under which lines were rejected are remembered with them: with another zone they are tried again.
#[test]
fn rejected_lines_are_retried_with_another_time_zone() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("log"), format!("{{{TIME}}}\n{{\"time\":\"soon\"}}\n")).unwrap();
    tool(path, &["ingest", "s", "log"]).with(4);
    assert!(!tool(path, &["ingest", "s", "log"]).well().err.contains("retrying"));
    let run = tool(path, &["ingest", "s", "log", "--time-zone", "+02:00"]).with(4);
    assert!(run.err.contains("retrying rejected lines, from line 2"), "{}", run.err);
}

/// The day alone was suggested as the time, and every event was at midnight.
#[test]
fn a_day_and_a_time_of_day_in_two_keys_are_to_be_joined() {
    let run = ingest("{\"date\":\"2026-11-23\",\"time\":\"20:01:02\"}\n", &[]).with(4);
    let remedy = "the time is in two keys, `date` and `time`; join them\n  \
        jq -c '.timestamp = .date + \"T\" + .time' log | benchtool ingest s -\n";
    assert!(run.err.ends_with(remedy) && !run.err.contains("--time-format"), "{}", run.err);
    let joined = r#"{"date":"2026-11-23","time":"20:01:02","timestamp":"2026-11-23T20:01:02"}"#;
    assert_eq!(figures(&ingest(joined, &[]).well().out).0, 1);
}

/// Events that have a list but are themselves events were told only to unpack it.
#[test]
fn events_with_a_list_may_lack_a_time_all_the_same() {
    let run = ingest("{\"N\":1,\"Items\":[{\"Sku\":\"pen\"}]}\n", &[]).with(4);
    for told in ["`Items` holds a list", "--time-key", "--now", "jq -c '.Items[]' log"] {
        assert!(run.err.contains(told), "{told}: {}", run.err);
    }
}

/// A blank behind the time, and the times of HAProxy, were no known form.
#[test]
fn blanks_behind_a_time_and_the_times_of_ha_proxy_are_read() {
    for time in ["2026-11-23 20:00:00 ", "23/Nov/2026:20:00:00.123"] {
        assert_eq!(
            figures(&ingest(&format!("{{\"Timestamp\":\"{time}\"}}\n"), &[]).well().out).0,
            1,
            "{time}"
        );
    }
}

/// One that lies deeper was said to be missing, though the events had it.
#[test]
fn a_message_key_that_is_a_path_is_told_to_be_none() {
    let text = "{\"time\":\"2026-11-23T20:00:00Z\",\"jsonPayload\":{\"message\":\"x\"}}\n";
    let run = ingest(text, &["--message-key", "jsonPayload.message"]).well();
    assert!(run.err.contains("only a top-level key can be renamed"), "{}", run.err);
    assert!(run.err.contains("queries find it as jsonPayload.message") && !run.err.contains("does not have"));
}

/// Of several files each line was rejected where no event had the key of --time-key; of one the error named the keys that look like times.
#[test]
fn several_files_are_refused_with_one_error_for_each_reason() {
    let folder = folder();
    let path = folder.path();
    for name in ["a", "b", "c"] {
        fs::write(path.join(name), "{\"when\":\"2024-05-29T10:56:01Z\"}\n".repeat(3)).unwrap();
    }
    fs::write(path.join("d"), "one\ntwo\n").unwrap();
    fs::write(path.join("good"), "{\"whn\":\"2024-05-29T10:56:01Z\"}\n").unwrap();
    let run = tool(path, &["ingest", "s", "a", "b", "c", "d", "good", "--time-key", "whn"]).with(4);
    assert_eq!((figures(&run.out).0, figures(&run.out).1), (1, 0), "{run:?}");
    assert!(
        run.err.contains("error: a: no time in `whn` in the first 3 events") && run.err.contains("`when`")
    );
    assert!(run.err.ends_with("The same is true of b, c.\n"), "{}", run.err);
    assert!(run.err.contains("warning: d is text, not JSON"), "{}", run.err);
    assert_eq!(run.err.matches("nothing of it was stored").count(), 2, "{}", run.err);
    // Nothing of them is remembered: with the right key they are stored, and the other one is known.
    let run = tool(path, &["ingest", "s", "a", "b", "c", "good", "--time-key", "when,whn"]).well();
    assert_eq!(figures(&run.out).0, 9, "{run:?}");
}

/// With --now the events of each other file had the current time, though they have their own.
#[test]
fn a_file_with_another_time_key_does_not_get_the_time_of_now() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("a"), "{\"ts\":\"2024-05-29T10:56:01Z\"}\n").unwrap();
    fs::write(path.join("b"), "{\"created_at\":\"2024-05-29T10:56:02Z\"}\n").unwrap();
    fs::write(path.join("c"), "{\"n\":1}\n").unwrap();
    let run = tool(path, &["ingest", "s", "a", "b", "c", "--time-key", "ts", "--now"]).with(4);
    assert_eq!(figures(&run.out).0, 2, "{run:?}");
    assert!(run.err.contains("error: b: no time in `ts`"), "{}", run.err);
    assert!(run.err.ends_with("use\n  --time-key created_at\n"), "{}", run.err);
    let run = tool(path, &["ingest", "s", "a", "b", "c", "--time-key", "ts,created_at", "--now"]).well();
    assert_eq!(figures(&run.out).0, 1, "{run:?}");
    let query = "select count(*) as n from stream where @Timestamp < '2024-05-30'";
    assert_eq!(rows(path, "s", query)[0]["n"], 2);
}

/// The keys were named, but not how to take several.
#[test]
fn events_of_several_kinds_are_told_to_need_several_time_keys() {
    let text =
        "{\"Event\":1,\"Submission Time\":1716980161000}\n{\"Event\":2,\"Finish Time\":1716980162000}\n";
    let run = ingest(text, &[]).with(4);
    let keys = "Finish Time,Submission Time";
    assert!(run.err.ends_with(&format!("\n  --time-key '{keys}'\n")), "{}", run.err);
    assert_eq!(figures(&ingest(text, &["--time-key", keys]).well().out).0, 2);
}

/// They were taken for a zone.
#[test]
fn hours_of_half_a_day_are_told_with_their_format() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("log"), "{\"time\":\"2024-05-29 10:56:01.5 PM\"}\n").unwrap();
    let run = tool(path, &["ingest", "s", "log"]).with(4);
    let format = "%Y-%m-%d %I:%M:%S%.f %p";
    assert!(run.err.ends_with(&format!("\n  --time-key time --time-format '{format}'\n")), "{}", run.err);
    tool(path, &["ingest", "s", "log", "--time-key", "time", "--time-format", format]).well();
    let query = "select ToIsoString(@Timestamp) as t from stream";
    assert_eq!(rows(path, "s", query)[0]["t"], "2024-05-29T22:56:01.5000000Z");
}

/// Of an abbreviation it was told only that it is no known form of a time.
#[test]
fn a_zone_that_is_an_abbreviation_is_told_to_be_named() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("log"), "{\"time\":\"2024-05-29 10:56:01.5 CEST\"}\n").unwrap();
    let run = tool(path, &["ingest", "s", "log"]).with(4);
    let format = "%Y-%m-%d %H:%M:%S%.f CEST";
    let options = format!("\n  --time-key time --time-format '{format}' --time-zone Europe/Berlin\n");
    assert!(run.err.ends_with(&options), "{}", run.err);
    let named = ["--time-key", "time", "--time-format", format, "--time-zone", "Europe/Berlin"];
    tool(path, &[&["ingest", "s", "log"][..], &named].concat()).well();
    let query = "select ToIsoString(@Timestamp) as t from stream";
    assert_eq!(rows(path, "s", query)[0]["t"], "2024-05-29T08:56:01.5000000Z");
}
