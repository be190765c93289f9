//! Ingest that goes on where it stopped: nothing is stored twice, nothing is missing, and every rejected line is kept once.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::tool::{command, count, events, figures, folder, rows, tool, tool_with_input};

/// `earlier lines` of the last line; 0 where there are none.
#[track_caller]
pub(crate) fn earlier(out: &str) -> u64 {
    let line = out.lines().last().unwrap();
    line.split_once(", earlier lines: ").map_or(0, |(_, number)| number.parse().unwrap())
}

/// The documents of a store, in the order in which they came.
pub(crate) fn documents(folder: &Path, store: &str) -> Vec<String> {
    let run =
        tool(folder, &["query", store, "select @Arrived as a, @Data as d from stream", "--format", "ndjson"]);
    let mut found: Vec<(u64, String)> = run.well().out.lines().map(arrival_and_document).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, document)| document).collect()
}

fn arrival_and_document(row: &str) -> (u64, String) {
    let (arrived, document) = row["{\"a\":".len()..].split_once(",\"d\":").unwrap();
    (arrived.parse().unwrap(), document.strip_suffix('}').unwrap().to_owned())
}

/// Generated events with a line that is none after every seventh.
pub(crate) fn mixed(seed: u64, count: u64) -> (Vec<String>, Vec<u8>) {
    let text = String::from_utf8(events(seed, count)).unwrap();
    let good: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut lines = Vec::new();
    for (index, line) in good.iter().enumerate() {
        writeln!(lines, "{line}").unwrap();
        if index % 7 == 6 {
            writeln!(lines, "{{\"no time\":{index}}}").unwrap();
        }
    }
    (good, lines)
}

/// How long the files in a folder are together. One that goes away meanwhile counts nothing.
pub(crate) fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes_below(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

const ROUNDS: u32 = 12;

/// Kills the same command again and again, lets it come to its end at last, and compares with a run that nobody killed.
#[track_caller]
fn check_killed(name: &str, inputs: &[(&str, Vec<u8>)], good: &[String]) {
    let folder = folder();
    let path = folder.path();
    for (input, bytes) in inputs {
        fs::write(path.join(input), bytes).unwrap();
    }
    let ingest = |store: &'static str, rejects: &'static str| {
        let mut arguments = vec!["ingest", store, "--batch-bytes", "300000", "--rejects", rejects];
        arguments.extend(inputs.iter().map(|(name, _)| *name));
        arguments
    };
    let whole = tool(path, &ingest("whole", "expected")).with(4);
    let (mut stops, mut before) = (0, 0);
    for turn in 0..ROUNDS {
        let mut child =
            command(path, &ingest("s", "bad")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // By what it has written rather than by the clock, which runs differently under load.
        let enough = bytes_below(&path.join("s")) + u64::from(turn % 4) * 400_000 + 100_000;
        while child.try_wait().unwrap().is_none() && bytes_below(&path.join("s")) < enough {
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Opening for writing puts in order what the kill left, be it a folder without a store.
        tool_with_input(path, &["ingest", "s", "-"], b"").well();
        let now = count(path, "s");
        stops += u32::from(now > before && now < good.len() as u64);
        before = now;
    }
    assert!(stops > 0, "{name}: no kill came in the middle");
    let run = tool(path, &ingest("s", "bad"));
    assert!(run.code == Some(4) || run.code == Some(0), "{run:?}");
    let (stored, rejected, ..) = figures(&run.out);
    let (all_stored, all_rejected, ..) = figures(&whole.out);
    assert_eq!(stored + before, all_stored, "{name}");
    assert_eq!(stored + rejected + earlier(&run.out), all_stored + all_rejected, "{name}");
    assert!(documents(path, "s") == good, "{name}: the events are others");
    assert_eq!(
        fs::read_to_string(path.join("bad")).unwrap(),
        fs::read_to_string(path.join("expected")).unwrap(),
        "{name}"
    );
    let run = tool(path, &ingest("s", "bad")).well();
    assert_eq!((figures(&run.out).2, earlier(&run.out)), (0, all_stored + all_rejected), "{name}");
    assert_eq!(figures(&run.out).3, 0, "{name}");
    assert!(run.err.contains("nothing new in "), "{}", run.err);
}

#[test]
fn after_kill_9_lines_go_on_where_they_stopped() {
    let (good, lines) = mixed(31, 20_000);
    check_killed("lines", &[("events", lines)], &good);
}

#[test]
fn after_kill_9_packed_lines_go_on_where_they_stopped() {
    let (good, lines) = mixed(32, 10_000);
    check_killed("zstd", &[("events", zstd::encode_all(&lines[..], 1).unwrap())], &good);
}

#[test]
fn after_kill_9_several_files_and_an_array_go_on_where_they_stopped() {
    let (mut good, first) = mixed(33, 6000);
    let (second_good, second) = mixed(34, 6000);
    let text = String::from_utf8(second).unwrap();
    let array = format!("[{}]", text.trim_end().replace('\n', ",\n"));
    good.extend(second_good);
    check_killed("files", &[("events", first), ("array", array.into_bytes())], &good);
}

#[test]
fn a_file_that_grows_gives_its_new_lines() {
    let folder = folder();
    let path = folder.path();
    let (good, lines) = mixed(5, 70);
    let line = |number: usize| lines.split_inclusive(|byte| *byte == b'\n').nth(number).unwrap();
    let ends: Vec<usize> = line_ends(&lines);
    let mut taken = 0;
    for (index, end) in [ends[9], ends[10], ends[10], ends[79]].into_iter().enumerate() {
        fs::write(path.join("log"), &lines[..end]).unwrap();
        let run = tool(path, &["ingest", "s", "log", "--rejects", "bad"]);
        let (stored, rejected, came, bytes) = figures(&run.out);
        assert_eq!(earlier(&run.out), taken, "{}", run.out);
        assert_eq!(run.code, Some(if rejected > 0 { 4 } else { 0 }));
        if index > 0 && came > 0 {
            let place = format!("log: continuing at line {}, byte ", taken + 1);
            assert!(run.err.starts_with(&place), "{}", run.err);
        }
        if index == 1 {
            assert_eq!((stored, bytes), (1, line(10).len() as u64 + 1));
        }
        taken += came;
    }
    assert_eq!(taken, 80);
    assert!(documents(path, "s") == good);
    let kept = fs::read_to_string(path.join("bad")).unwrap();
    assert_eq!(kept.lines().filter(|line| line.starts_with("{\"no time\"")).count(), 10);
    assert_eq!(kept.lines().count(), 20);
}

/// Where each line ends, with its line feed.
fn line_ends(lines: &[u8]) -> Vec<usize> {
    lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect()
}

const FIRST: &str = "{\"@t\":\"2024-05-29T10:56:01Z\",\"N\":1}";
const SECOND: &str = "{\"@t\":\"2024-05-29T10:56:02Z\",\"N\":2}";

#[test]
fn a_line_that_has_no_end_yet_is_read_again() {
    let folder = folder();
    let path = folder.path();
    let ingest = |text: &str| {
        fs::write(path.join("log"), text).unwrap();
        tool(path, &["ingest", "s", "log", "--rejects", "bad"])
    };
    let half = format!("{FIRST}\n{}", &SECOND[..20]);
    for _ in 0..2 {
        assert_eq!(figures(&ingest(&half).with(4).out).1, 1);
        assert_eq!(fs::read_to_string(path.join("bad")).unwrap().lines().count(), 2);
    }
    assert_eq!(figures(&ingest(&format!("{FIRST}\n{SECOND}")).well().out).0, 1);
    assert_eq!(fs::read_to_string(path.join("bad")).unwrap(), "", "it was none in the end");
    assert_eq!(figures(&ingest(&format!("{FIRST}\n{SECOND}\n")).well().out).2, 0);
    assert_eq!(count(path, "s"), 2);
    // A line that was whole, and then went on, is no line that was stored.
    let run = ingest(&format!("{FIRST}\n{SECOND}, no\n")).with(4);
    assert!(run.err.contains("log has changed since it was read up to byte"), "{}", run.err);
    assert_eq!((run.out.as_str(), count(path, "s")), ("", 2));
}

/// It stopped all files, at each run, and the remedy stored all others a second time.
#[test]
fn a_file_that_has_changed_keeps_no_other_from_being_read() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("a"), format!("{FIRST}\n{SECOND}\n")).unwrap();
    tool(path, &["ingest", "s", "a"]).well();
    fs::write(path.join("a"), format!("{FIRST}\n")).unwrap();
    fs::write(path.join("b"), format!("{SECOND}\n")).unwrap();
    let run = tool(path, &["ingest", "s", "a", "b"]).with(4);
    assert!(run.err.contains("a has changed since it was read up to byte 71"), "{}", run.err);
    assert_eq!((figures(&run.out).0, count(path, "s")), (1, 3));
}

/// Two hosts may write the same lines.
#[test]
fn a_log_that_begins_like_another_that_is_still_there_is_another() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("a"), format!("{FIRST}\n")).unwrap();
    tool(path, &["ingest", "s", "a"]).well();
    fs::write(path.join("b"), format!("{FIRST}\n{SECOND}\n")).unwrap();
    assert_eq!(figures(&tool(path, &["ingest", "s", "b"]).well().out).0, 2);
    fs::rename(path.join("b"), path.join("b.1")).unwrap();
    assert_eq!(figures(&tool(path, &["ingest", "s", "b.1"]).well().out).0, 0);
}

/// The new store was removed with it.
#[test]
fn rejected_lines_are_not_saved_in_a_store_that_is_to_be_made() {
    let folder = folder();
    let run = tool_with_input(folder.path(), &["ingest", "s", "-", "--rejects", "s/bad"], b"no\n").with(2);
    assert!(run.err.contains("s/bad is inside the store"), "{}", run.err);
    assert!(!folder.path().join("s").exists());
}

#[test]
fn a_file_in_the_place_of_another_is_another() {
    let folder = folder();
    let path = folder.path();
    let ingest = |text: &str, more: &[&str]| {
        fs::write(path.join("log"), text).unwrap();
        tool(path, &[&["ingest", "s", "log"], more].concat())
    };
    ingest(&format!("{FIRST}\n{SECOND}\n"), &[]).well();
    // It begins with another event.
    assert_eq!(figures(&ingest(&format!("{SECOND}\n{FIRST}\n"), &[]).well().out).0, 2);
    // It begins with the same one, and is shorter.
    ingest(&format!("{FIRST}\n{SECOND}\n"), &[]).well();
    let run = ingest(&format!("{FIRST}\n"), &[]).with(4);
    assert!(run.err.contains("log has changed since it was read up to byte 71"), "{}", run.err);
    assert!(run.out.is_empty(), "{run:?}");
    assert_eq!(figures(&ingest(&format!("{FIRST}\n"), &["--again"]).well().out).0, 1);
    assert_eq!(figures(&ingest(&format!("{FIRST}\n"), &[]).well().out).0, 0);
    assert_eq!(count(path, "s"), 5);
}

/// Lines of a file that was replaced used to be skipped where a line ended by chance where the old one's had.
#[test]
fn a_file_that_begins_as_the_one_before_is_another_where_its_last_line_is() {
    let third = SECOND.replace("\"N\":2", "\"N\":3");
    for header in ["", "a banner\n"] {
        let folder = folder();
        let path = folder.path();
        let first = if header.is_empty() { FIRST } else { "" };
        let mut stored = 0;
        for last in [SECOND, &third] {
            fs::write(path.join("log"), format!("{header}{first}\n{last}\n")).unwrap();
            let mut run = tool(path, &["ingest", "s", "log"]);
            if run.err.contains("has changed since") {
                run = tool(path, &["ingest", "s", "log", "--again"]);
            }
            assert_eq!(earlier(&run.out), 0, "{header}: {run:?}");
            stored += figures(&run.out).0;
        }
        assert_eq!((stored, count(path, "s")), if first.is_empty() { (2, 2) } else { (4, 4) });
    }
}

/// White space behind an entry used to be a part of it, so that the file had changed when something else followed.
#[test]
fn what_grows_behind_white_space_goes_on() {
    for (before, after) in [
        (format!("[\n{FIRST}\n]"), format!("[\n{FIRST},\n{SECOND}\n]")),
        (format!("[{FIRST}"), format!("[{FIRST}\n,{SECOND}]")),
        (FIRST.to_owned(), format!("{FIRST}\r\n{SECOND}\r\n")),
    ] {
        let folder = folder();
        let path = folder.path();
        fs::write(path.join("log"), &before).unwrap();
        assert_eq!(figures(&tool(path, &["ingest", "s", "log"]).out).0, 1);
        fs::write(path.join("log"), &after).unwrap();
        let run = tool(path, &["ingest", "s", "log"]).well();
        assert_eq!((figures(&run.out).0, earlier(&run.out)), (1, 1), "{after}: {run:?}");
    }
}

#[test]
fn a_file_of_which_nothing_was_stored_is_tried_again() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("log"), "{\"when\":1,\"N\":1}\n{\"when\":2,\"N\":2}\n").unwrap();
    assert_eq!(figures(&tool(path, &["ingest", "s", "log", "--time-key", "@t"]).with(4).out).1, 2);
    let run = tool(path, &["ingest", "s", "log", "--time-key", "when"]).well();
    assert_eq!((figures(&run.out).0, earlier(&run.out)), (2, 0));
}

#[test]
fn a_run_that_ended_at_an_invalid_line_goes_on_with_it() {
    let folder = folder();
    let path = folder.path();
    let ingest = |text: &str| {
        fs::write(path.join("log"), text).unwrap();
        tool(path, &["ingest", "s", "log", "--on-invalid", "fail"])
    };
    for earlier_lines in [0, 1] {
        let run = ingest(&format!("{FIRST}\nno\n{SECOND}\n")).with(4);
        assert_eq!((figures(&run.out).1, earlier(&run.out)), (1, earlier_lines));
    }
    assert_eq!(figures(&ingest(&format!("{FIRST}\n\n{SECOND}\n")).well().out).0, 1);
    assert_eq!(count(path, "s"), 2);
}

#[test]
fn a_file_that_is_named_twice_is_read_once() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("log"), format!("{FIRST}\n")).unwrap();
    assert_eq!(figures(&tool(path, &["ingest", "s", "log", "./log", "lo*"]).well().out).0, 1);
    // The standard input is never known.
    for _ in 0..2 {
        tool_with_input(path, &["ingest", "t", "-"], FIRST.as_bytes()).well();
    }
    assert_eq!(count(path, "t"), 2);
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_stored_while_it_is_open() {
    let folder = folder();
    let path = folder.path();
    let made = std::process::Command::new("mkfifo").arg(path.join("pipe")).status().unwrap();
    assert!(made.success());
    let mut child = command(path, &["ingest", "s", "pipe"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = fs::File::options().write(true).open(path.join("pipe")).unwrap();
    let patient_until = Instant::now() + Duration::from_secs(20);
    let mut written = 0;
    // A line every few moments: it never rests.
    while !path.join("s").exists()
        || !tool(path, &["query", "s", "select count(*) as n from stream where N = 1"]).out.contains("n\":1")
    {
        assert!(Instant::now() < patient_until, "nothing is stored while the pipe is open");
        writeln!(pipe, "{}", FIRST.replace(":1}", &format!(":{written}}}"))).unwrap();
        written += 1;
        sleep(Duration::from_millis(60));
    }
    drop(pipe);
    assert!(child.wait().unwrap().success());
    assert_eq!(rows(path, "s", "select N from stream").len(), written);
}

/// Logs that rotate used to be stored once more under each name that they got.
#[test]
fn a_log_that_was_rotated_or_packed_is_stored_once() {
    let folder = folder();
    let path = folder.path();
    let event = |n: u32| format!("{{\"@t\":\"2024-05-29T10:56:{n:02}Z\",\"N\":{n}}}\n");
    let log = |name: &str, numbers: std::ops::Range<u32>| {
        fs::write(path.join(name), numbers.map(event).collect::<String>()).unwrap();
    };
    let ingest = || tool(path, &["ingest", "s", "app.log*"]).well();
    log("app.log", 0..3);
    assert_eq!(figures(&ingest().out).0, 3);
    // Two more lines come before it is rotated.
    log("app.log.1", 0..5);
    log("app.log", 5..6);
    let run = ingest();
    assert_eq!((figures(&run.out).0, earlier(&run.out)), (3, 3), "{run:?}");
    assert!(
        run.err.contains("app.log.1: begins like ") && run.err.contains("app.log.1: continuing"),
        "{run:?}"
    );
    assert_eq!(figures(&ingest().out).0, 0);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&fs::read(path.join("app.log.1")).unwrap()).unwrap();
    fs::remove_file(path.join("app.log.1")).unwrap();
    fs::write(path.join("app.log.2.gz"), packed.finish().unwrap()).unwrap();
    fs::rename(path.join("app.log"), path.join("app.log.1")).unwrap();
    let run = ingest();
    assert_eq!((figures(&run.out).0, run.err.matches("begins like").count()), (0, 2), "{run:?}");
    assert!(!ingest().err.contains("begins like"), "by now it is known under its new name");
    // What only begins like it is another one.
    fs::write(path.join("app.log.9"), event(0) + &event(9)).unwrap();
    assert_eq!(figures(&ingest().out).0, 2);
    assert_eq!(count(path, "s"), 8);
}
