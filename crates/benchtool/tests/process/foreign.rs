//! Files that are not what `ingest` takes: one error that says what they are, and what to do.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use crate::tool::{Ended, count, events, figures, folder, objects, rows, tool, tool_with_input};

/// The only message of a run that took nothing; its last line is what to do.
#[track_caller]
pub(crate) fn error(run: Ended) -> String {
    let run = run.with(4);
    assert_eq!((figures(&run.out).2, run.err.lines().count()), (0, 2), "{run:?}");
    run.err
}

fn lines(line: impl Fn(u32) -> String) -> String {
    (0..150).map(line).fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").unwrap();
        text
    })
}

#[test]
fn what_is_no_json_is_one_error_with_the_remedy() {
    let folder = folder();
    let csv = "ts,level,msg\n".to_owned() + &lines(|n| format!("2026-11-22T10:00:00Z,INFO,hello {n}"));
    let syslog = lines(|n| format!("Nov 22 10:00:00 web-01 sshd[{n}]: Failed password for root"));
    let indented = lines(|n| format!("{{\n  \"ts\": 1716980161,\n  \"n\": {n}\n}}"));
    let text = "{\"ts\":1716980161}\n".repeat(150);
    let utf16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let tar = [&b"log"[..], &[0; 254], b"ustar\0", &[0; 249], text.as_bytes(), &[0; 1024]].concat();
    for (bytes, what, remedy) in [
        (csv.into_bytes(), "CSV", "mlr --icsv --ojsonl cat 'a log' | benchtool ingest s -\n"),
        (
            syslog.into_bytes(),
            "syslog, not JSON",
            "'a log' | benchtool ingest s - --time-key time --time-format '%Y %b %e %H:%M:%S' --message-key message\n",
        ),
        (indented.into_bytes(), "several lines per event", "jq -c . 'a log' | benchtool ingest s -\n"),
        (utf16, "UTF-16", "iconv -f UTF-16 -t UTF-8 'a log' | benchtool ingest s -\n"),
        (
            [&b"\xfd7zXZ\0"[..], &[7; 900]].concat(),
            "packed with xz",
            "xz -dc 'a log' | benchtool ingest s -\n",
        ),
        (tar, "a tar archive", "tar -xOf 'a log' | benchtool ingest s -\n"),
    ] {
        fs::write(folder.path().join("a log"), &bytes).unwrap();
        for options in [&[][..], &["--time-key", "ts"]] {
            let err = error(tool(folder.path(), &[&["ingest", "s", "a log"], options].concat()));
            assert!(err.contains(what) && err.ends_with(remedy), "{err}");
        }
        // A store in which nothing came used to stay, and was asked in vain.
        assert!(!folder.path().join("s").exists());
        let err = error(tool_with_input(folder.path(), &["ingest", "s", "-"], &bytes));
        assert!(err.starts_with("error: standard input is ") && err.contains(" FILE | "), "{err}");
    }
    // Whoever wants each line gets each.
    fs::write(folder.path().join("text"), lines(|n| format!("line {n}"))).unwrap();
    assert!(error(tool(folder.path(), &["ingest", "s", "text"])).contains("text, not JSON"));
    let run = tool(folder.path(), &["ingest", "s", "text", "--rejects", "bad"]).with(4);
    assert_eq!((figures(&run.out).0, figures(&run.out).1), (0, 150));
    assert!(!folder.path().join("s").exists());
}

#[test]
fn events_one_level_down_are_told_of() {
    let folder = folder();
    fs::write(folder.path().join("log"), r#"{"Records":[{"eventTime":"2024-05-29T10:56:01Z"}]}"#).unwrap();
    let err = error(tool(folder.path(), &["ingest", "s", "log"]));
    assert!(err.ends_with("use\n  jq -c '.Records[]' log | benchtool ingest s -\n"), "{err}");
}

/// Of two lines of batches the time of now was offered; those of OpenTelemetry went level by level, and lost the resource.
#[test]
fn several_batches_are_told_to_be_batches() {
    let folder = folder();
    for (batch, program) in [
        (r#"{"Records":[{"eventTime":"2024-05-29T10:56:01Z"}]}"#, ".Records[]"),
        (r#"{"records":[{"time":"2024-05-29T10:56:01Z"}]}"#, ".records[]"),
    ] {
        for lines in [1, 2, 200] {
            fs::write(folder.path().join("log"), format!("{batch}\n").repeat(lines)).unwrap();
            let err = error(tool(folder.path(), &["ingest", "s", "log"]));
            let remedy = format!("use\n  jq -c '{program}' log | benchtool ingest s -\n");
            assert!(err.ends_with(&remedy) && !err.contains("--now"), "{err}");
        }
    }
    let record = r#"{"timeUnixNano":"1716980161123456789","observedTimeUnixNano":"1716980161123456790","severityText":"INFO"}"#;
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], record.as_bytes()).well();
    assert!(run.err.contains("time of events from `timeUnixNano`"), "{}", run.err);
}

/// Of one line it was told only that it is no JSON object; of six lines how to convert them.
#[test]
fn files_of_one_line_are_recognised_as_well() {
    let folder = folder();
    let access = "203.0.113.7 - - [29/May/2024:10:56:01 +0000] \"GET / HTTP/1.1\" 200 5\n";
    let logfmt = "time=2026-11-23T20:00:00Z level=info msg=\"hello \\\"my\\\" world\" n=3\n";
    let cri = "2026-11-23T20:00:00.123456789Z stdout F {\"level\":\"info\",\"msg\":\"a b\"}\n";
    for (text, what) in [
        (access, "the access log of a web server"),
        (logfmt, "logfmt, not JSON"),
        (cri, "the log of a container (CRI)"),
        ("just a line\n", "text, not JSON"),
    ] {
        fs::write(folder.path().join("log"), text).unwrap();
        let err = error(tool(folder.path(), &["ingest", "s", "log"]));
        assert!(err.contains(what), "{err}");
        let Some((jq, options)) = err.lines().last().unwrap().split_once(" | benchtool ingest s -") else {
            panic!("{err}")
        };
        assert!(jq.starts_with("  jq -c") && jq.ends_with("' log"), "{jq}");
        // What is advised is done, where jq is at hand.
        let converted =
            std::process::Command::new("sh").args(["-c", jq]).current_dir(folder.path()).output().unwrap();
        if converted.status.code() == Some(127) {
            continue;
        }
        let options: Vec<&str> =
            ["ingest", what, "-"].into_iter().chain(options.split_whitespace()).collect();
        let run = tool_with_input(folder.path(), &options, &converted.stdout).well();
        assert_eq!(figures(&run.out).0, 1, "{run:?}");
        let stored = &objects(&tool(folder.path(), &["export", what]).well().out)[0];
        match what {
            "logfmt, not JSON" => assert_eq!(stored["msg"], "hello \"my\" world"),
            "the log of a container (CRI)" => {
                assert_eq!((&stored["msg"], &stored["stream"]), (&"a b".into(), &"stdout".into()))
            }
            _ => {}
        }
    }
}

/// A number that is no level of a scale was recommended, and words that are none were taken for levels; those of hclog were not.
#[test]
fn levels_are_told_by_their_values() {
    let folder = folder();
    let hint = |number: usize, event: &str| {
        let line = format!("{{\"time\":\"2026-11-23T20:00:00Z\",{event}}}\n");
        let store = format!("store-{number}");
        tool_with_input(folder.path(), &["ingest", &store, "-"], line.as_bytes()).well().err
    };
    let monolog = hint(0, r#""level":400,"level_name":"ERROR","message":"x""#);
    assert!(monolog.contains("--level-key level_name --message-key message"), "{monolog}");
    let hclog = hint(1, r#""@level":"warn","@message":"x""#);
    assert!(hclog.contains("--level-key @level --message-key @message"), "{hclog}");
    for (number, none) in
        [(2, r#""level":"Metadata""#), (3, r#""level":"premium""#), (4, r#""level":{"a":1}"#)]
    {
        let told = hint(number, none);
        assert!(!told.contains("levels seem"), "{told}");
    }
    let run =
        tool(folder.path(), &["query", "store-1", "select 1 as n from stream where @Level = 'warn'"]).well();
    assert!(run.err.contains("@Properties['@level']"), "{}", run.err);
}

#[test]
fn a_time_in_another_form_is_told_with_the_option_that_reads_it() {
    let folder = folder();
    for (number, (time, format)) in
        [("24/05/29 10:56:01", "%y/%m/%d %H:%M:%S"), ("29.05.2024 10:56:01", "%d.%m.%Y %H:%M:%S")]
            .into_iter()
            .enumerate()
    {
        let (store, line) = (format!("s{number}"), format!("{{\"ts\":\"{time}\",\"n\":1}}\n"));
        fs::write(folder.path().join("log"), line).unwrap();
        let err = error(tool(folder.path(), &["ingest", &store, "log"]));
        // A day may be a year as well, once that has come.
        let remedy = format!("\n  --time-key ts --time-format '{format}'");
        assert!(err.contains("`ts` looks like a time") && err.contains(&remedy), "{err}");
        tool(folder.path(), &["ingest", &store, "log", "--time-key", "ts", "--time-format", format]).well();
        let query = "select ToIsoString(@Timestamp) as t from stream";
        assert_eq!(rows(folder.path(), &store, query)[0]["t"], "2024-05-29T10:56:01.0000000Z");
    }
}

/// The first bytes of a file came alone, and were taken for its beginning.
#[test]
fn the_time_key_of_an_indented_array_is_found() {
    let folder = folder();
    let event = |n: u32| format!("  {{\n    \"ts\": \"2024-05-29T10:56:01Z\",\n    \"n\": {n}\n  }}");
    let array = (0..500).map(event).collect::<Vec<_>>().join(",\n");
    fs::write(folder.path().join("log"), format!("[\n{array}\n]\n")).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "log"]).well();
    assert_eq!((figures(&run.out).0, run.err.as_str()), (500, "log: reading the time of events from `ts`\n"));
}

#[test]
fn a_file_that_was_cut_is_continued_when_it_is_complete() {
    let folder = folder();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&events(3, 20_000)).unwrap();
    let packed = encoder.finish().unwrap();
    fs::write(folder.path().join("log.gz"), &packed[..packed.len() / 2]).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "log.gz"]).with(4);
    assert!(run.err.contains("the gzip data is damaged or truncated"), "{}", run.err);
    assert!(run.err.contains("put a complete copy of the file in its place"), "{}", run.err);
    let stored = figures(&run.out).0;
    assert!(stored > 1000 && count(folder.path(), "s") == stored, "{stored}");
    fs::write(folder.path().join("log.gz"), &packed).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "log.gz"]).well();
    assert_eq!(figures(&run.out).0, 20_000 - stored);
    assert_eq!(count(folder.path(), "s"), 20_000);
}

#[test]
fn an_empty_file_is_told() {
    let folder = folder();
    fs::write(folder.path().join("log"), "").unwrap();
    fs::write(folder.path().join("other"), events(1, 5)).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "log", "other"]).well();
    assert_eq!((figures(&run.out).0, run.err.as_str()), (5, "note: log is empty\n"));
}

/// What came before the checksum was stored, wrong lines too, and a complete copy was another file then.
#[test]
fn nothing_is_stored_of_a_packed_file_that_is_damaged() {
    let folder = folder();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&events(3, 20_000)).unwrap();
    let gzip = encoder.finish().unwrap();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(&events(4, 20_000)).unwrap();
    let zstd = encoder.finish().unwrap();
    // A bit of the checksum stands for any.
    for (name, whole, at) in [("log.gz", gzip, 5), ("log.zst", zstd, 2)] {
        let mut damaged = whole.clone();
        let at = whole.len() - at;
        damaged[at] ^= 1;
        fs::write(folder.path().join(name), &damaged).unwrap();
        let store = format!("store-{name}");
        let run = tool(folder.path(), &["ingest", &store, name]).with(4);
        assert!(run.err.contains("damaged") && run.err.contains("Nothing of it was stored"), "{run:?}");
        assert_eq!(figures(&run.out).0, 0, "{run:?}");
        assert!(!folder.path().join(&store).exists());
        // From a pipe it cannot be read twice.
        let run = tool_with_input(folder.path(), &["ingest", "piped", "-"], &damaged).with(4);
        assert!(run.err.contains("any of them may be wrong"), "{run:?}");
        fs::write(folder.path().join(name), &whole).unwrap();
        let run = tool(folder.path(), &["ingest", &store, name]).well();
        assert_eq!(figures(&run.out).0, 20_000);
    }
}

/// A few lines used to be rejected one by one, whatever they were.
#[test]
fn short_files_are_recognised_as_well() {
    let folder = folder();
    for (text, what, remedy) in [
        (
            "Nov 22 10:00:00 web sshd[1]: Failed\nNov 22 10:00:01 web sshd[1]: Failed\n",
            "syslog, not JSON",
            "jq -cnR 'foreach",
        ),
        (
            "203.0.113.7 - - [29/May/2024:10:56:01 +0000] \"GET / HTTP/1.1\" 200 5\n\n- - - [\n",
            "the access log of a web server",
            "capture(",
        ),
        (
            "24/05/29 10:56:01 INFO a\n24/05/29 10:56:02 INFO b\n",
            "text, not JSON",
            "--time-format '%y/%m/%d %H:%M:%S'",
        ),
        (
            "<34>1 2024-05-29T10:56:01Z host app - - - one\n<34>1 2024-05-29T10:56:02Z host app - - - two\n",
            "syslog (RFC 5424)",
            "severity",
        ),
        ("# of yesterday\n2024-05-29 10:56:01 one\n2024-05-29 10:56:02 two\n", "text, not JSON", "capture("),
        ("\u{1e}{\"ts\":1}\n\u{1e}{\"ts\":2}\n", "RFC 7464", "jq --seq -r tojson log"),
        ("{\"ts\":1}{\"ts\":2}\n{\"ts\":3}{\"ts\":4}\n", "several events on a line", "jq -c . log"),
        ("{\"ts\":1},\n{\"ts\":2},\n", "a comma behind each event", "sed 's/,[[:space:]]*$//' log"),
        (
            "ts=2024-05-29 level=info\nts=2024-05-29 level=warn\n",
            "logfmt, not JSON",
            "all values become text",
        ),
        ("<a>\n  <b/>\n</a>\n", "text, not JSON", "--now"),
        ("time\tlevel\n1\t2\n", "TSV, not JSON", "mlr --itsv --ojsonl cat log"),
        ("time;level\n1;2\n", "CSV with semicolons", "mlr --icsv --ifs ';' --ojsonl cat log"),
        ("PAR1\u{15}\u{4}", "a Parquet file", "pqrs cat --json log"),
    ] {
        fs::write(folder.path().join("log"), text).unwrap();
        let run = tool(folder.path(), &["ingest", "s", "log"]).with(4);
        assert!(run.err.contains(what) && run.err.contains(remedy), "{run:?}");
        assert!(!folder.path().join("s").exists());
    }
    fs::write(folder.path().join("log"), "{\"when\":\"29 May 2024 10:56:01\"}\n").unwrap();
    let run = tool(folder.path(), &["ingest", "s", "log", "--time-key", "when"]).with(4);
    assert!(run.err.contains("a time in `when`") && run.err.contains("--time-format"), "{}", run.err);
}

/// The log shows them whatever their keys are; queries used to say nothing.
#[test]
fn levels_and_messages_of_other_logs_are_told_of() {
    let folder = folder();
    let path = folder.path();
    fs::write(
        path.join("l"),
        "{\"@t\":\"2024-05-29T10:56:01Z\",\"level\":\"error\",\"message\":\"x failed\"}\n",
    )
    .unwrap();
    let run = tool(path, &["ingest", "s", "l"]).well();
    let hint = "levels seem to be in `level`, messages seem to be in `message`; with --level-key level --message-key message";
    assert!(run.err.contains(hint), "{run:?}");
    for (condition, found) in [
        ("@Level = 'error'", &["did you mean `level`?"][..]),
        (
            "@Message like '%failed%' and @Level = 'error'",
            &["did you mean `level`?", "did you mean `message`?"],
        ),
        ("level = 'error'", &[]),
    ] {
        let run = tool(path, &["query", "s", &format!("select 1 as n from stream where {condition}")]).well();
        assert_eq!(run.err.matches("did you mean").count(), found.len(), "{run:?}");
        assert!(found.iter().all(|warning| run.err.contains(warning)), "{run:?}");
    }
    let run = tool(path, &["ingest", "t", "l", "--level-key", "level", "--message-key", "message"]).well();
    assert!(run.err.is_empty(), "{run:?}");
    let run =
        tool(path, &["query", "t", "select @Level as l from stream where @Message like '%failed%'"]).well();
    assert_eq!((run.out.as_str(), run.err.as_str()), ("{\"l\":\"error\"}\n", ""));
    // Ids that were exported are no part of the events.
    let ids = tool(path, &["export", "t", "--ids"]).well().out;
    let run = tool_with_input(path, &["ingest", "u", "-"], ids.as_bytes()).well();
    assert!(run.err.contains("--keep-ids"), "{run:?}");
}

/// The command that a message advises in its last line, up to what stores its output, and the options of that.
#[track_caller]
pub(crate) fn advised<'a>(err: &'a str, store: &str) -> (&'a str, &'a str) {
    let line = err.trim_end().rsplit('\n').next().unwrap();
    let Some((command, options)) = line.split_once(&format!(" | benchtool ingest {store} -")) else {
        panic!("{err}")
    };
    // Where its program is not at hand, so much is looked at all the same.
    assert!(
        ["jq -c", "iconv -c -f ", "gzip -dc ", "zstd -dc "]
            .iter()
            .any(|begin| command.trim().starts_with(begin)),
        "{err}"
    );
    assert_eq!(command.matches('\'').count() % 2, 0, "{err}");
    (command.trim(), options)
}

/// What an advised command makes, stored: nothing where its program is not at hand.
#[track_caller]
pub(crate) fn stored(
    folder: &std::path::Path,
    (command, options): (&str, &str),
    store: &str,
) -> Option<Vec<Event>> {
    let made = std::process::Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
    // A shell tells of a missing program by its status only where it is the last one.
    if String::from_utf8_lossy(&made.stderr).contains("not found") {
        return None;
    }
    assert!(made.stderr.is_empty(), "{made:?}");
    fs::write(folder.join("made"), &made.stdout).unwrap();
    let ingest = format!("\"$0\" ingest {store} made{options}");
    let program = env!("CARGO_BIN_EXE_benchtool");
    let run =
        std::process::Command::new("sh").args(["-c", &ingest, program]).current_dir(folder).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    let query = "select ToIsoString(@Timestamp) as at, @Data as d from stream";
    let mut stored = objects(&tool(folder, &["query", store, query]).well().out);
    stored.sort_by_key(|event| event["at"].as_str().map(str::to_owned));
    Some(stored)
}

pub(crate) type Event = serde_json::Map<String, serde_json::Value>;

/// What a command that an error advises makes of a file, stored: nothing where its program is not at hand.
#[track_caller]
pub(crate) fn converted(folder: &std::path::Path, text: &[u8], what: &str) -> Option<Vec<Event>> {
    fs::write(folder.join("log"), text).unwrap();
    let _ = fs::remove_dir_all(folder.join("s"));
    let err = error(tool(folder, &["ingest", "s", "log"]));
    assert!(err.contains(what), "{err}");
    let advised = advised(&err, "s");
    assert!(advised.0.ends_with(" log"), "{err}");
    stored(folder, advised, "s")
}

/// The commands read the packed file, and stored what they took for lines.
#[test]
fn packed_files_are_unpacked_by_the_command_that_is_advised() {
    let folder = folder();
    let path = folder.path();
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let access = "203.0.113.7 - - [29/May/2024:10:56:01 +0000] \"GET / HTTP/1.1\" 200 5\n".repeat(150);
    let log4j = "{\"instant\":{\"epochSecond\":1795428000,\"nanoOfSecond\":1}}\n".repeat(150);
    let latin1 = b"{\"@t\":\"2026-11-23T10:00:00Z\",\"a\":\"Gr\xfc\xdfe\"}\n".repeat(150);
    for (store, name, bytes, begin) in [
        ("a", "log.gz", gzip(access.as_bytes()), "gzip -dc log.gz | jq -cnR '"),
        (
            "b",
            "my log.zst",
            zstd::encode_all(access.as_bytes(), 1).unwrap(),
            "zstd -dc 'my log.zst' | jq -cnR '",
        ),
        ("c", "instants.gz", gzip(log4j.as_bytes()), "gzip -dc instants.gz | jq -c '"),
        ("d", "latin1.gz", gzip(&latin1), "gzip -dc latin1.gz | iconv -c -f WINDOWS-1252 -t UTF-8"),
    ] {
        fs::write(path.join(name), bytes).unwrap();
        let err = error(tool(path, &["ingest", store, name]));
        let advised = advised(&err, store);
        assert!(advised.0.starts_with(begin), "{err}");
        if let Some(stored) = stored(path, advised, store) {
            assert!(
                stored.len() == 150 && stored.iter().all(|event| event["d"].get("@m").is_none()),
                "{store}"
            );
        }
    }
    for (text, remedy) in [
        // `unzip` reads no pipe.
        (&b"PK\x03\x04\x14"[..], "\n  gzip -dc other.gz | funzip | benchtool ingest s -\n"),
        (b"ts,level\n1,INFO\n", "\n  gzip -dc other.gz | mlr --icsv --ojsonl cat | benchtool ingest s -\n"),
        (
            &[&b"log"[..], &[0; 254], b"ustar\0", &[0; 249]].concat(),
            "\n  gzip -dc other.gz | tar -xOf - | benchtool ingest s -\n",
        ),
    ] {
        fs::write(path.join("other.gz"), gzip(text)).unwrap();
        let err = error(tool(path, &["ingest", "s", "other.gz"]));
        assert!(err.ends_with(remedy), "{err}");
    }
}

/// Text that begins with a bracket was taken for an array, and each of its lines was rejected.
#[test]
fn text_that_begins_with_a_bracket_is_no_array() {
    let folder = folder();
    let apache = "[Mon Nov 23 10:00:00.123456 2026] [core:error] [pid 42:tid 1] [client 1.2.3.4:55] AH00126: Invalid URI\n\
                  [Mon Nov 23 10:00:01.000000 2026] [mpm_event:notice] [pid 1:tid 2] AH00489: configured\n";
    if let Some(stored) = converted(folder.path(), apache.as_bytes(), "the error log of a web server") {
        assert_eq!(stored[0]["at"], "2026-11-23T10:00:00.1234560Z");
        let event = &stored[0]["d"];
        assert_eq!((&event["module"], &event["@l"]), (&"core".into(), &"error".into()));
        assert_eq!((&event["client"], &event["@m"]), (&"1.2.3.4:55".into(), &"AH00126: Invalid URI".into()));
        assert_eq!(stored[1]["d"]["client"], serde_json::Value::Null);
        // The thread was dropped.
        assert_eq!((&event["pid"], &event["tid"]), (&"42".into(), &"1".into()));
    }
    // Of these the time was not read.
    let nginx = "2026/11/23 10:00:00 [error] 12#34: *5 open() \"/x\" failed, client: 1.2.3.4\n\
                 2026/11/23 10:00:01 [notice] 1#1: start worker processes\nmore of it\n";
    if let Some(stored) = converted(folder.path(), nginx.as_bytes(), "the error log of nginx") {
        let event = &stored[0]["d"];
        assert_eq!(stored[0]["at"], "2026-11-23T10:00:00.0000000Z");
        assert_eq!(
            (&event["@l"], &event["pid"], &event["tid"]),
            (&"error".into(), &"12".into(), &"34".into())
        );
        assert_eq!(event["connection"], "5");
        assert_eq!(event["@m"], "open() \"/x\" failed, client: 1.2.3.4");
        assert_eq!(stored[1]["d"]["@m"], "start worker processes");
        // It had the time of now.
        assert_eq!((&stored[2]["d"]["@m"], &stored[2]["at"]), (&"more of it".into(), &stored[1]["at"]));
    }
    let laravel =
        "[2026-11-23 10:00:00] local.ERROR: failed {\"userId\":1}\n[2026-11-23 10:00:01] local.INFO: done\n";
    if let Some(stored) = converted(folder.path(), laravel.as_bytes(), "text, not JSON") {
        assert_eq!(stored[0]["at"], "2026-11-23T10:00:00.0000000Z");
    }
    let dmesg = "[    0.000000] Linux version 6.1\n[    0.000001] Command line: quiet\n";
    if let Some(stored) = converted(folder.path(), dmesg.as_bytes(), "text, not JSON") {
        assert_eq!(stored[0]["d"]["@m"], "[    0.000000] Linux version 6.1");
    }
    // An array is one still, even of what is no event.
    fs::write(folder.path().join("log"), "[1, 2]\n").unwrap();
    let run = tool(folder.path(), &["ingest", "s", "log"]).with(4);
    assert!(run.err.contains("rejected: log, element 1"), "{}", run.err);
}

/// Escaped quotes, hosts before the address and blanks in the user left lines out, and half of each line was dropped.
#[test]
fn all_of_an_access_log_is_stored() {
    let folder = folder();
    let log = "shop.example.com:443 10.0.0.2 - John Doe [23/Nov/2026:10:00:01 +0000] \"GET /?q=\\\"x\\\" HTTP/1.1\" 304 - \"https://a.b/\" \"curl\"\n\
               10.0.0.3 - ada [23/Nov/2026:10:00:02 +0000] \"GET /b HTTP/1.0\" 500 7\nsomething else\n\
               10.0.0.4 - - [23/Nov/2026:10:00:03 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"curl\" \"1.2.3.4\" rt=0.5\r\n";
    let Some(stored) = converted(folder.path(), log.as_bytes(), "the access log of a web server") else {
        return;
    };
    let event = |addr: &str| &stored.iter().find(|event| event["d"]["addr"] == addr).unwrap()["d"];
    let first = event("10.0.0.2");
    assert_eq!((&first["vhost"], &first["user"]), (&"shop.example.com:443".into(), &"John Doe".into()));
    assert_eq!((&first["status"], &first["bytes"]), (&304.into(), &0.into()));
    assert_eq!((&first["referrer"], &first["agent"]), (&"https://a.b/".into(), &"curl".into()));
    assert_eq!(first["request"], "GET /?q=\\\"x\\\" HTTP/1.1");
    assert_eq!((&event("10.0.0.3")["status"], &event("10.0.0.3")["bytes"]), (&500.into(), &7.into()));
    // It had the time of now.
    let other = stored.iter().find(|event| event["d"]["@m"] == "something else").unwrap();
    assert_eq!(other["at"], "2026-11-23T10:00:02.0000000Z");
    // What some servers add behind the agent was dropped.
    assert_eq!(
        (&event("10.0.0.4")["agent"], &event("10.0.0.4")["rest"]),
        (&"curl".into(), &"\"1.2.3.4\" rt=0.5".into())
    );
    assert!(first.get("rest").is_none(), "{stored:?}");
}

/// The lines that begin with `#` hid what the others are.
#[test]
fn logs_in_the_w3c_format_have_the_names_of_their_fields() {
    let folder = folder();
    let log = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2026-11-23 10:00:00\r\n\
               #Fields: date time cs-method sc-status\r\n2026-11-23 10:00:00 GET 200\r\n2026-11-23 10:00:01 PUT 500\r\n";
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "the W3C format") {
        assert_eq!(stored.len(), 2);
        assert_eq!(
            (&stored[1]["at"], &stored[1]["d"]["cs-method"]),
            (&"2026-11-23T10:00:01.0000000Z".into(), &"PUT".into())
        );
        assert_eq!(stored[1]["d"]["sc-status"], 500);
    }
}

/// A line with more values than names ended the command, a byte order mark left nothing, and texts that look like numbers changed.
#[test]
fn values_of_the_w3c_format_stay_as_they_are() {
    let folder = folder();
    let log = "\u{feff}#Fields: date time a b\r\n2026-11-23 10:00:00 00123 12345678901234567890 more of it\r\n\r\n\
               2026-11-23 10:00:01 infinity 1e5\r\n2026-11-23 10:00:02 0\r\n2026-11-23 10:00:03 -7 -0\r\n";
    let Some(stored) = converted(folder.path(), log.as_bytes(), "the W3C format") else { return };
    let values = |key: &str| stored.iter().map(|event| event["d"].get(key).cloned()).collect::<Vec<_>>();
    let text = |text: &str| Some(serde_json::Value::from(text));
    assert_eq!(values("a"), [text("00123"), text("infinity"), Some(0.into()), Some((-7).into())]);
    assert_eq!(values("b"), [text("12345678901234567890"), text("1e5"), None, text("-0")]);
    assert_eq!(values("rest"), [text("more of it"), None, None, None]);
}

#[test]
fn syslog_of_rfc_5424_has_its_parts() {
    let folder = folder();
    let log = "<165>1 2026-11-23T10:00:00.123Z web app 7 ID47 [ex@1 a=\"b\\]\\\"\"][y] hello\n<10>1 2026-11-23T10:00:01Z web app - - -\n\
               <10>1 - web app - - - no time\n";
    let Some(stored) = converted(folder.path(), log.as_bytes(), "syslog (RFC 5424)") else { return };
    let event = &stored[0]["d"];
    assert_eq!((&event["host"], &event["app"]), (&"web".into(), &"app".into()));
    assert_eq!(stored[0]["at"], "2026-11-23T10:00:00.1230000Z");
    assert_eq!((&event["@l"], &stored[1]["d"]["@l"]), (&"notice".into(), &"crit".into()));
    assert_eq!(event["@m"], "hello");
    // It has no time, and was rejected; then it had that of now.
    assert_eq!(stored[2]["d"]["@m"], "<10>1 - web app - - - no time");
    assert_eq!(stored[2]["at"], stored[1]["at"]);
}

/// Each line was rejected, and nothing said what to do.
#[test]
fn files_in_latin_1_are_told_to_be_converted() {
    let folder = folder();
    let event = |text: &[u8]| [&b"{\"@t\":\"2026-11-23T10:00:00Z\",\"a\":\"Gr"[..], text, b"e\"}\n"].concat();
    let log = event(b"\xfc\xdf").repeat(3);
    if let Some(stored) = converted(folder.path(), &log, "not UTF-8") {
        assert_eq!(stored[0]["d"]["a"], "Grüße");
    }
    // A byte that means nothing ended the conversion.
    if let Some(stored) = converted(folder.path(), &event(b"\xfc\x81\xdf").repeat(3), "not UTF-8") {
        assert_eq!((stored.len(), &stored[0]["d"]["a"]), (3, &"Grüße".into()));
    }
}

/// All of the file was to be converted: what was stored came a second time, and what was UTF-8 as something else.
#[test]
fn only_lines_that_were_not_stored_are_converted_from_latin_1() {
    let folder = folder();
    let path = folder.path();
    let event = |text: &[u8]| [&b"{\"@t\":\"2026-11-23T10:00:00Z\",\"a\":\""[..], text, b"\"}\n"].concat();
    let log =
        [event("Größe".as_bytes()), event(b"Gr\xfc\xdfe"), event("€".as_bytes()), event(b"\x80")].concat();
    fs::write(path.join("mixed"), &log).unwrap();
    let run = tool(path, &["ingest", "m", "mixed"]).with(4);
    let save = "\n  benchtool ingest m mixed --rejects bad.ndjson\n  iconv -c -f WINDOWS-1252 -t UTF-8 bad.ndjson | benchtool ingest m -\n";
    assert!(run.err.contains(save), "{}", run.err);
    let run = tool(path, &["ingest", "m", "mixed", "--rejects", "bad.ndjson"]).with(4);
    let convert = "\n  iconv -c -f WINDOWS-1252 -t UTF-8 bad.ndjson | benchtool ingest m -";
    assert!(run.err.contains(convert) && !run.err.contains("ingest m mixed"), "{}", run.err);
    let command = convert.trim().split_once(" |").unwrap().0;
    if let Some(stored) = stored(path, (command, ""), "m") {
        let mut texts: Vec<_> = stored.iter().map(|event| event["d"]["a"].as_str().unwrap()).collect();
        texts.sort_unstable();
        assert_eq!(texts, ["Größe", "Grüße", "€", "€"]);
    }
    // What has gone by cannot be saved.
    let run = tool_with_input(path, &["ingest", "p", "-"], &log).with(4);
    assert!(run.err.contains("may be Windows-1252") && !run.err.contains("iconv"), "{}", run.err);
}

/// Only the seconds were found.
#[test]
fn instants_of_log4j_keep_their_nanoseconds() {
    let folder = folder();
    let log =
        "{\"instant\":{\"epochSecond\":1795428000,\"nanoOfSecond\":12345600},\"level\":\"INFO\"}\n".repeat(3);
    if let Some(stored) = converted(folder.path(), log.as_bytes(), "seconds and nanoseconds") {
        assert_eq!(stored[0]["at"], "2026-11-23T10:00:00.0123456Z");
    }
}

/// Bytes were stored as numbers without a word.
#[test]
fn messages_that_journald_writes_as_bytes_are_told_of() {
    let folder = folder();
    let event = |n: usize, message: &str| {
        format!("{{\"__REALTIME_TIMESTAMP\":\"179542800{n}000000\",\"MESSAGE\":{message}}}\n")
    };
    let bytes = [&b"Hi \x1b"[..], "häß€😀".as_bytes(), b"\xe2\x82", b"\xffa\xe2\x82b\x80\xf7\xbf\xbf\xbf"];
    let log: String = (1..).zip(bytes).map(|(n, bytes)| event(n, &format!("{bytes:?}"))).collect();
    let log = event(0, "\"a\"") + &log;
    fs::write(folder.path().join("log"), log).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "log"]).well();
    assert_eq!(figures(&run.out).0, 5);
    // These are stored already, and would be twice.
    assert!(run.err.contains("array of bytes") && run.err.contains("into a new store"), "{}", run.err);
    let err = run.err.split_inclusive('\n').find(|line| line.contains("jq -c")).unwrap();
    if let Some(stored) = stored(folder.path(), advised(err, "NEW_STORE"), "NEW_STORE") {
        let texts: Vec<_> = stored.iter().map(|event| event["d"]["MESSAGE"].as_str().unwrap()).collect();
        // Bytes above 127 were taken for characters.
        assert_eq!(texts, ["a", "Hi \u{1b}", "häß€😀", "\u{fffd}", "\u{fffd}a\u{fffd}b\u{fffd}\u{fffd}"]);
    }
}

/// The level and the message of OpenTelemetry, Google Cloud and structlog were not looked for.
#[test]
fn levels_and_messages_of_other_systems_are_named() {
    let folder = folder();
    for (number, (event, hints)) in [
        (r#""SeverityText":"ERROR","Body":"b""#, "--level-key SeverityText --message-key Body"),
        (
            r#""severity":"ERROR","jsonPayload":{"message":"b"}"#,
            "messages seem to be in `jsonPayload.message`",
        ),
        (r#""level":"info","event":"logged in""#, "--level-key level --message-key event"),
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("{{\"time\":\"2026-11-23T20:00:00Z\",{event}}}\n");
        let store = format!("store-{number}");
        let run = tool_with_input(folder.path(), &["ingest", &store, "-"], line.as_bytes()).well();
        assert!(run.err.contains(hints), "{}", run.err);
        let run = tool(folder.path(), &["query", &store, "select @Message from stream"]).well();
        assert!(run.err.starts_with("warning: ") && run.err.lines().count() == 1, "{}", run.err);
        assert!(run.err.contains("neither `@m` nor `@mt`"), "{}", run.err);
    }
}
