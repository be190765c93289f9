//! `benchtool ingest`: what goes in, what is refused, and that nothing is lost between the two.

use std::fs;

use crate::tool::{command, count, events, figures, folder, rows, tool, tool_with_input};

/// Where a rejected line must be said to stand, and a word of the reason.
#[track_caller]
fn check_rejected(line: &[u8], reason: &str) {
    let folder = folder();
    let good = br#"{"@t":"2024-05-29T10:56:01Z","a":1}"#;
    let input = [&good[..], b"\n", line, b"\n", good, b"\n"].concat();
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], &input).with(4);
    let (stored, rejected, lines, bytes) = figures(&run.out);
    assert_eq!((stored, rejected, lines, bytes), (2, 1, 3, input.len() as u64));
    let place = format!("rejected: standard input, line 2, from byte {}: ", good.len() + 1);
    let told = run.err.lines().next().unwrap();
    assert!(told.starts_with(&place) && told.contains(reason), "{}\n{}", run.err, line.escape_ascii());
    assert!(told.chars().all(|character| !character.is_control()));
    assert!(run.err.contains("1 line was rejected"), "{}", run.err);
    assert_eq!(rows(folder.path(), "s", "select a from stream").len(), 2, "nothing of it is stored");
}

#[test]
fn files_and_standard_input_go_in() {
    let folder = folder();
    let (first, second, third) = (events(1, 1000), events(2, 500), events(3, 20));
    fs::write(folder.path().join("first"), &first).unwrap();
    fs::write(folder.path().join("second"), &second).unwrap();

    let run = tool(folder.path(), &["ingest", "new/store", "first"]).well();
    assert_eq!(figures(&run.out), (1000, 0, 1000, first.len() as u64));
    assert_eq!(run.err, "");
    assert_eq!(run.out.lines().count(), 1);

    let run =
        tool_with_input(folder.path(), &["ingest", "new/store", "second", "-", "first", "--again"], &third)
            .well();
    assert_eq!(figures(&run.out), (1520, 0, 1520, (first.len() + second.len() + third.len()) as u64));
    let run = tool_with_input(folder.path(), &["ingest", "new/store"], b"").well();
    assert_eq!(figures(&run.out), (0, 0, 0, 0));
    assert_eq!(count(folder.path(), "new/store"), 2520);
}

#[test]
fn stored_events_are_those_that_came() {
    let folder = folder();
    let input = events(5, 3000);
    tool_with_input(folder.path(), &["ingest", "s", "-"], &input).well();
    let run =
        tool(folder.path(), &["query", "s", "select @Data as d from stream", "--format", "ndjson"]).well();
    let stored: Vec<&str> = run
        .out
        .lines()
        .map(|line| line.strip_prefix("{\"d\":").and_then(|line| line.strip_suffix('}')).unwrap())
        .collect();
    let came: Vec<&str> = std::str::from_utf8(&input).unwrap().lines().collect();
    assert_eq!(stored.len(), came.len());
    for (stored, came) in stored.iter().zip(came) {
        assert_eq!(*stored, came);
    }
}

#[test]
fn lines_that_are_no_events_are_rejected() {
    check_rejected(b"no JSON", "");
    check_rejected(b"[1]", "object");
    check_rejected(b"null", "object");
    check_rejected(br#"{"@t":"2024-05-29T10:56:01Z","a":}"#, "byte 33");
    check_rejected(br#"{"@t":"2024-05-29T10:56:01Z"} {}"#, "byte");
    check_rejected(br#"{"@t":"2024-05-29T10:56:01Z""#, "");
    check_rejected(br#"{"a":2}"#, "'@t'");
    check_rejected(br#"{"@T":"2024-05-29T10:56:01Z"}"#, "'@t'");
    check_rejected(br#"{"@t":"tomorrow"}"#, "tomorrow");
    check_rejected(br#"{"@t":"2024-13-29T10:56:01Z"}"#, "2024-13-29T10:56:01Z");
    check_rejected(br#"{"@t":null}"#, "null");
    check_rejected(br#"{"@t":{}}"#, "{}");
    check_rejected(br#"{"@t":"\u001b[31m"}"#, "\\u001b[31m");
    check_rejected(b"{\"@t\":\"2024-05-29T10:56:01Z\",\"a\":\"\xff\"}", "UTF-8");
    check_rejected(b"\0", "");
}

#[test]
fn a_line_over_the_limit_is_rejected_without_being_held() {
    let limit = 16 << 20;
    let line = |length: usize| {
        let head = br#"{"@t":"2024-05-29T10:56:01Z","a":""#;
        [&head[..], &vec![b'x'; length - head.len() - 2], b"\"}"].concat()
    };
    check_rejected(&line(limit + 1), "16777217 bytes");
    check_rejected(&line(5 * limit), "83886080 bytes");

    let folder = folder();
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], &line(limit)).well();
    assert_eq!(figures(&run.out), (1, 0, 1, limit as u64));
    assert_eq!(count(folder.path(), "s"), 1);
}

#[test]
fn many_rejections_are_told_in_part_and_counted_in_full() {
    let folder = folder();
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], &b"{\n".repeat(50)).with(4);
    assert_eq!(figures(&run.out), (0, 50, 50, 100));
    let told = run.err.lines().filter(|line| line.starts_with("rejected: standard input, line ")).count();
    assert_eq!(told, 20);
    assert!(run.err.contains("rejected: 30 more lines; use --rejects FILE to save them all"), "{}", run.err);
    assert!(run.err.contains("50 lines were rejected"), "{}", run.err);
}

#[test]
fn blank_lines_carriage_returns_and_a_byte_order_mark_do_no_harm() {
    let folder = folder();
    let input = b"\xef\xbb\xbf{\"@t\":\"2024-05-29T10:56:01Z\"}\r\n\r\n\n  \t\n {\"@t\" : \"2024-05-29T10:56:02Z\"} \n\nx";
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], input).with(4);
    assert_eq!(figures(&run.out), (2, 1, 3, input.len() as u64));
    // Lines are numbered as an editor numbers them.
    assert!(run.err.starts_with("rejected: standard input, line 7, from byte "), "{}", run.err);
}

#[test]
fn a_file_that_cannot_be_read_stops_it_before_anything_is_stored() {
    let folder = folder();
    fs::write(folder.path().join("good"), events(1, 10)).unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    for bad in ["missing", "dir"] {
        let run = tool(folder.path(), &["ingest", "s", "good", bad]).with(5);
        assert!(run.err.contains(bad) && run.err.lines().count() == 1 && run.out.is_empty(), "{run:?}");
    }
    assert!(!folder.path().join("s").exists());
}

#[test]
fn a_folder_that_is_no_store_is_left_alone() {
    let folder = folder();
    fs::create_dir(folder.path().join("photos")).unwrap();
    fs::write(folder.path().join("photos/cat.jpg"), "meow").unwrap();
    let run = tool_with_input(folder.path(), &["ingest", "photos", "-"], &events(1, 1)).with(5);
    assert!(run.err.contains("photos") && run.err.lines().count() == 1, "{run:?}");
    assert_eq!(fs::read_dir(folder.path().join("photos")).unwrap().count(), 1);
}

/// Ticks of 2024-05-29T10:56:01Z.
const TICKS: u64 = 638_525_769_610_000_000;

#[test]
fn times_in_every_form() {
    let cases: &[(&str, u64)] = &[
        (r#""2024-05-29T10:56:01Z""#, 0),
        (r#""2024-05-29T10:56:01""#, 0),
        (r#""2024-05-29 10:56:01""#, 0),
        (r#""2024-05-29 10:56:01.5""#, 5_000_000),
        (r#""2024-05-29 12:56:01.1234567+02:00""#, 1_234_567),
        (r#""2024-05-29T04:56:01.123456789-06:00""#, 1_234_567),
        (r#""2024-05-29t10:56:01.1z""#, 1_000_000),
        (r#""2024-05-29T10:56:01.12345678901234Z""#, 1_234_567),
        ("1716980161", 0),
        ("1716980161.5", 5_000_000),
        ("1716980161123", 1_230_000),
        ("1716980161123456", 1_234_560),
        ("1716980161123456789", 1_234_567),
        ("1.716980161e9", 0),
    ];
    let folder = folder();
    let lines: Vec<String> =
        cases.iter().enumerate().map(|(n, (time, _))| format!("{{\"n\":{n},\"when\":{time}}}\n")).collect();
    let run = tool_with_input(
        folder.path(),
        &["ingest", "s", "--time-key", "when", "--time-zone", "UTC"],
        lines.concat().as_bytes(),
    );
    assert_eq!(run.well().err, "");
    let rows = rows(folder.path(), "s", "select n, @Timestamp as ticks from stream");
    assert_eq!(rows.len(), cases.len());
    for row in rows {
        let (time, beyond) = cases[row["n"].as_u64().unwrap() as usize];
        assert_eq!(row["ticks"].as_u64(), Some(TICKS + beyond), "{time}");
    }
}

#[test]
fn other_people_s_forms_are_told_on_the_command_line() {
    let folder = folder();
    let lines = b"{\"ts\":\"29/May/2024:12:56:01 +0200\",\"severity\":\"warn\",\"msg\":\"low on acorns\"}\n{\"msg\":2}\n{\"ts\":1}\n";
    let options = ["ingest", "s", "--time-key", "ts", "--time-format", "%d/%b/%Y:%H:%M:%S %z", "--now"];
    let keys = ["--level-key", "severity", "--message-key", "msg"];
    let run = tool_with_input(folder.path(), &[&options[..], &keys].concat(), lines).with(4);
    assert_eq!(figures(&run.out), (2, 1, 3, lines.len() as u64));
    assert!(
        run.err.contains("not in the form %d/%b/%Y:%H:%M:%S %z, or there is no such time: 1"),
        "{}",
        run.err
    );
    let rows = rows(
        folder.path(),
        "s",
        "select @Timestamp as t, @Level as l, @Message as m, @Data as d from stream",
    );
    assert_eq!(rows[0]["t"].as_u64(), Some(TICKS));
    assert_eq!((rows[0]["l"].as_str(), rows[0]["m"].as_str()), (Some("warn"), Some("low on acorns")));
    assert_eq!(
        rows[0]["d"].to_string(),
        r#"{"@l":"warn","@m":"low on acorns","ts":"29/May/2024:12:56:01 +0200"}"#
    );
    assert!(rows[1]["t"].as_u64() > Some(TICKS));

    let run = tool(folder.path(), &["ingest", "s", "--time-format", "local"]).with(2);
    assert!(run.err.contains("local is none of auto, iso, unix"), "{}", run.err);
}

#[test]
fn a_dash_is_no_store() {
    let folder = folder();
    for command in ["ingest", "query", "info"] {
        let arguments: &[&str] =
            if command == "query" { &["query", "-", "select 1"] } else { &[command, "-"] };
        let run = tool(folder.path(), arguments).with(2);
        assert!(run.err.contains("the store, a folder, comes first"), "{}", run.err);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_time_key_is_the_only_one_that_counts() {
    let folder = folder();
    let lines = b"{\"@t\":\"2024-05-29T10:56:01Z\"}\n{\"when\":\"2024-05-29T10:56:01Z\",\"@t\":\"never\"}\n\
        {\"a\":{\"when\":1}}\n{\"when\":1,\"when\":true}\n{\"when\":true,\"when\":1}\n";
    let run = tool_with_input(folder.path(), &["ingest", "s", "--time-key", "when"], lines).with(4);
    assert_eq!(figures(&run.out).0, 2);
    let told: Vec<&str> = run.err.lines().filter(|line| line.contains("'when'")).collect();
    assert_eq!(told.len(), 3, "{}", run.err);
    assert!(told[0].contains("line 1,") && told[1].contains("line 3,") && told[2].contains("line 4,"));
}

#[test]
fn packed_input_is_known_by_its_content() {
    let folder = folder();
    let lines = events(9, 3000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &lines).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(&lines[..], 1).unwrap();
    fs::write(folder.path().join("events"), &gzip).unwrap();
    fs::write(folder.path().join("more.gz"), &zstd).unwrap();

    let run = tool_with_input(folder.path(), &["ingest", "s", "events", "more.gz", "-"], &zstd).well();
    assert_eq!(figures(&run.out), (9000, 0, 9000, 3 * lines.len() as u64));
    assert_eq!(count(folder.path(), "s"), 9000);

    // Places are those of the text, and what a damaged file still gives is stored.
    let bad = [&lines[..], b"bad\n", &lines].concat();
    let run =
        tool_with_input(folder.path(), &["ingest", "t"], &zstd::encode_all(&bad[..], 1).unwrap()).with(4);
    assert!(run.err.contains(&format!("line 3001, from byte {}: ", lines.len())), "{}", run.err);
    for cut in [&gzip[..gzip.len() / 2], &zstd[..zstd.len() - 3]] {
        let run = tool_with_input(folder.path(), &["ingest", "u"], cut).with(4);
        assert!(
            run.err.starts_with("error: standard input: the ") && run.err.contains("damaged or truncated"),
            "{}",
            run.err
        );
        assert_eq!(run.err.lines().count(), 1);
        figures(&run.out);
    }
}

const MIXED: &[u8] =
    b"{\"@t\":\"2024-05-29T10:56:01Z\"}\n{\"a\":\"\xff\"}\nno \x1b[31m\n{\"@t\":\"2024-05-29T10:56:02Z\"}\n";

#[test]
fn rejected_lines_can_be_mended_and_ingested() {
    let folder = folder();
    fs::write(folder.path().join("events"), MIXED).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "events", "--rejects", "bad"]).with(4);
    assert_eq!(figures(&run.out), (2, 2, 4, MIXED.len() as u64));
    let kept = fs::read(folder.path().join("bad")).unwrap();
    // There the place names the file by a checksum of its path and its first event.
    let text = String::from_utf8_lossy(&kept);
    let file = &text[text.find(" (").unwrap()..][..11];
    let told = run.err.replace("from byte 30", &format!("from byte 30{file}"));
    let told = told.replace("from byte 40", &format!("from byte 40{file}"));
    let told: Vec<&str> = told.lines().take(2).collect();
    let expected = [
        &[b"# ", told[0].as_bytes(), b"\n{\"a\":\"\xff\"}\n"].concat()[..],
        &[b"# ", told[1].as_bytes(), b"\nno \x1b[31m\n"].concat()[..],
    ];
    assert_eq!(kept, expected.concat());

    // As it is, it is rejected again; mended, it goes in.
    let run = tool(folder.path(), &["ingest", "s", "bad"]).with(4);
    assert_eq!(figures(&run.out).2, 2);
    let mended = String::from_utf8_lossy(&kept)
        .replace("{\"a\"", "{\"@t\":\"2024-05-29T10:56:03Z\",\"a\"")
        .replace("\nno \u{1b}[31m", "\n{\"@t\":\"2024-05-29T10:56:04Z\"}");
    fs::write(folder.path().join("mended"), mended).unwrap();
    assert_eq!(figures(&tool(folder.path(), &["ingest", "s", "mended"]).well().out).0, 2);
    assert_eq!(count(folder.path(), "s"), 4);

    let run = tool(folder.path(), &["ingest", "s", "bad", "--rejects", "./bad"]).with(2);
    assert!(run.err.contains("bad"), "{}", run.err);
    assert_eq!(fs::read(folder.path().join("bad")).unwrap(), kept, "the file is left alone");
}

#[test]
fn on_request_the_first_invalid_line_ends_it() {
    let folder = folder();
    let run = tool_with_input(folder.path(), &["ingest", "s", "--on-invalid", "fail"], MIXED).with(4);
    assert_eq!(figures(&run.out), (1, 1, 2, MIXED.len() as u64));
    assert!(run.err.contains("stopped at line 2 of standard input"), "{}", run.err);
    assert_eq!(count(folder.path(), "s"), 1);
}

#[test]
fn an_array_of_events_goes_in_element_by_element() {
    let folder = folder();
    let lines = String::from_utf8(events(12, 2000)).unwrap();
    let array = format!("[\n  {}\n]\n", lines.trim_end().replace('\n', ",\n  "));
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], array.as_bytes()).well();
    assert_eq!(figures(&run.out), (2000, 0, 2000, array.len() as u64));
    assert_eq!(count(folder.path(), "s"), 2000);

    let array = b"[{\"@t\":\"2024-05-29T10:56:01Z\"}, {\n\"a\":1}, {\"@t\":\"2024-05-29T10:56:01Z\"}]";
    let run = tool_with_input(folder.path(), &["ingest", "s", "-", "--rejects", "bad"], array).with(4);
    assert_eq!(figures(&run.out), (2, 1, 3, array.len() as u64));
    assert!(run.err.starts_with("rejected: standard input, element 2, from byte 32: "), "{}", run.err);
    let kept = fs::read_to_string(folder.path().join("bad")).unwrap();
    assert!(kept.ends_with("\n{ \"a\":1}\n"), "{kept}");

    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], &array[..40]).with(4);
    assert!(run.err.contains("has no end") && figures(&run.out).0 == 1, "{run:?}");
}

#[test]
fn the_file_of_rejects_takes_no_other_s_place() {
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("e"), THREE_LINES).unwrap();
    std::fs::hard_link(path.join("e"), path.join("same")).unwrap();
    let run = tool(path, &["ingest", "s", "e", "--rejects", "same"]).with(2);
    assert!(run.err.contains("same cannot be both an input"), "{}", run.err);
    let standard_input = std::fs::File::open(path.join("e")).unwrap();
    let output =
        command(path, &["ingest", "s", "-", "--rejects", "e"]).stdin(standard_input).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read(path.join("e")).unwrap(), THREE_LINES);
    tool(path, &["ingest", "s", "e"]).well();
    let run = tool(path, &["ingest", "s", "e", "--rejects", "s/0000000000000001.log"]).with(2);
    assert!(run.err.contains("is inside the store"), "{}", run.err);
}

#[test]
fn files_after_one_that_fails_are_named() {
    let folder = folder();
    std::fs::write(folder.path().join("e"), THREE_LINES).unwrap();
    std::fs::write(folder.path().join("cut.gz"), b"\x1f\x8b\x08\x00").unwrap();
    std::fs::write(folder.path().join("f"), THREE_LINES).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "e", "cut.gz", "f"]).with(4);
    assert!(run.err.contains("not read: f\n"), "{}", run.err);
    assert_eq!(figures(&run.out).0, 3);
}

#[test]
fn patterns_fit_files_as_in_a_shell() {
    let folder = folder();
    let path = folder.path();
    fs::create_dir_all(path.join("logs/old")).unwrap();
    for (name, line) in
        [("b.clef", 2), ("a.clef", 1), ("old/c.clef", 3), (".hidden.clef", 4), ("[x].clef", 5)]
    {
        let line = format!("{{\"@t\":\"2024-05-29T10:56:01Z\",\"N\":{line}}}\n");
        fs::write(path.join("logs").join(name), line).unwrap();
    }
    let stored = |store: &str, pattern: &str| {
        tool(path, &["ingest", store, pattern]).well();
        let rows = rows(path, store, "select N from stream");
        rows.iter().map(|row| row["N"].as_u64().unwrap()).collect::<Vec<u64>>()
    };
    assert_eq!(stored("one", "logs/[ab].clef"), [1, 2]);
    assert_eq!(stored("all", "logs/*.clef"), [5, 1, 2]);
    assert_eq!(stored("deep", "logs/**/*.clef"), [5, 1, 2, 3]);
    assert_eq!(stored("folders", "logs/*"), [5, 1, 2]);
    // A file of that very name goes before.
    assert_eq!(stored("literal", "logs/[x].clef"), [5]);
    let run = tool(path, &["ingest", "none", "logs/*.json"]).with(5);
    assert!(run.err.contains("no file matches logs/*.json") && run.err.lines().count() == 1, "{}", run.err);
    assert!(!path.join("none").exists());
}

#[test]
fn much_that_was_ingested_is_sealed() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(5, 4000)).well();
    assert!(tool(folder.path(), &["verify", "s"]).well().out.contains("4000 events in 1 segment"));
}

const THREE_LINES: &[u8] = b"{\"@t\":\"2024-05-29T10:56:01Z\",\"N\":1}
{\"@t\":\"2024-05-29T10:56:02Z\",\"N\":2}
{\"@t\":\"2024-05-29T10:56:03Z\",\"N\":3}
";

#[test]
fn the_time_key_is_found_out_and_told() {
    let folder = folder();
    for (key, line) in [
        ("ts", r#"{"ts":1716980161.5,"n":1}"#),
        ("@timestamp", r#"{"@timestamp":"2024-05-29T10:56:01.5Z","n":1}"#),
        ("created_at", r#"{"created_at":"2024-05-29T10:56:01.5Z","time":12,"n":1}"#),
        ("__REALTIME_TIMESTAMP", r#"{"__REALTIME_TIMESTAMP":"1716980161500000","n":1}"#),
    ] {
        let store = format!("s{key}");
        let run = tool_with_input(folder.path(), &["ingest", &store, "-"], line.as_bytes()).well();
        assert_eq!(run.err, format!("standard input: reading the time of events from `{key}`\n"));
        let rows = rows(folder.path(), &store, "select ToIsoString(@Timestamp) as t from stream");
        assert_eq!(rows[0]["t"], "2024-05-29T10:56:01.5000000Z", "{key}");
    }
    // Each file has its own.
    std::fs::write(folder.path().join("a"), "{\"ts\":1716980161}\n").unwrap();
    std::fs::write(folder.path().join("b"), "{\"@t\":\"2024-05-29T10:56:01Z\"}\n").unwrap();
    let run = tool(folder.path(), &["ingest", "both", "a", "b"]).well();
    assert_eq!((figures(&run.out).0, run.err.as_str()), (2, "a: reading the time of events from `ts`\n"));
}

#[test]
fn events_without_a_usual_time_key_are_one_error_with_the_candidates() {
    let folder = folder();
    let line = r#"{"when":"2024-05-29T10:56:01Z","event":{"created":"2024-05-29T10:56:02Z"},"n":1}"#;
    let lines = format!("{line}\n").repeat(5000);
    std::fs::write(folder.path().join("log"), &lines).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "log"]).with(4);
    assert_eq!((figures(&run.out).2, run.err.lines().count()), (0, 3), "{run:?}");
    assert!(run.err.contains("no usual time key in the first 100 events"), "{}", run.err);
    assert!(
        run.err
            .contains("`event.created`, `when`; use one of\n  --time-key event.created\n  --time-key when\n"),
        "{}",
        run.err
    );
    // The same file with the right key, a path; another key where that is missing.
    let run = tool(folder.path(), &["ingest", "s", "log", "--time-key", "event.created,when"]).well();
    assert_eq!(figures(&run.out).0, 5000);
    let query = "select ToIsoString(min(@Timestamp)) as t from stream";
    assert_eq!(rows(folder.path(), "s", query)[0]["t"], "2024-05-29T10:56:02.0000000Z");
    let other = br#"{"when":"2024-05-29T10:56:01Z"}"#;
    tool_with_input(folder.path(), &["ingest", "s", "-", "--time-key", "event.created,when"], other).well();
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], br#"{"n":1}"#).with(4);
    assert!(run.err.contains("--now"), "{}", run.err);
    tool_with_input(folder.path(), &["ingest", "s", "-", "--now"], br#"{"n":1}"#).well();
}
