//! Every command with a standard error or a standard output that cannot be written: the exit codes are the documented ones.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::damage::damaged_store;
use crate::tool::{events, folder, tool};

/// What is run: the arguments, the standard input, the exit code, and whether a full standard output makes that 5.
type Case = (&'static [&'static str], &'static str, i32, bool);

const CASES: [Case; 47] = [
    (&["generate", "--events", "10"], "", 0, true),
    (&["ingest", "new", "events"], "", 0, true),
    (&["ingest", "new", "events"], "", 0, true),
    (&["ingest", "new", "grown"], "", 0, true),
    (&["ingest", "new", "bad"], "", 4, false),
    (&["ingest", "new", "--time-key", "@t", "bad"], "", 4, true),
    (&["ingest", "new", "--time-key", "@t", "--again", "--rejects", "rejects", "bad"], "", 4, true),
    (&["ingest", "new", "--again", "--on-invalid", "fail", "bad", "events"], "", 4, false),
    (&["ingest", "new", "missing"], "", 5, false),
    (&["query", "s", "select Elapsed from stream"], "", 0, true),
    (&["query", "s", "select Elapsed from stream", "--stats", "--format", "table"], "", 0, true),
    (&["query", "s", "explain analyze select Elapsed from stream"], "", 0, true),
    (&["query", "s", "select Elapsed from stream where"], "", 3, false),
    (&["query", "s", "select Elapsed from stream where false", "--exit-status"], "", 1, false),
    (&["query", "s", "select count(*) from stream", "--output", "rows.csv"], "", 0, false),
    (&["query", "missing", "select Elapsed from stream"], "", 5, false),
    (&["query", "d", "select count(@Data) from stream"], "", 6, false),
    (&["query", "d", "select count(@Data) from stream", "--on-damage", "skip"], "", 0, true),
    (&["shell", "s"], "select Elapsed from stream;\n.keys\n", 0, true),
    (&["shell", "s"], ".help\nselect nothing;\n", 3, false),
    (&["keys", "s"], "", 0, true),
    (&["tail", "s"], "", 0, true),
    (&["search", "s", "customers"], "", 0, true),
    (&["get", "s", "00000000000000000000000000000000"], "", 4, false),
    (&["around", "s", "00000000000000000000000000000000"], "", 0, true),
    (&["eval"], "1 + 2\n", 0, true),
    (&["info", "s"], "", 0, true),
    (&["info", "s", "--format", "json"], "", 0, true),
    (&["settings", "s", "--max-age", "90000d"], "", 0, true),
    (&["backup", "s", "backup"], "", 0, true),
    (&["restore", "s", "s"], "", 2, false),
    (&["verify", "s"], "", 0, true),
    (&["scrub", "s"], "", 0, true),
    (&["scrub", "d"], "", 6, true),
    (&["verify", "d"], "", 6, true),
    (&["verify", "d", "--deep"], "", 6, true),
    (&["repair", "d", "--dry-run"], "", 6, true),
    (&["seal", "s"], "", 0, true),
    (&["compact", "s"], "", 0, true),
    (&["remove", "s", "--max-bytes", "1000000000"], "", 0, true),
    (&["bench", "--cases", "cases", "--percentile", "90", "--runs", "1", "s"], "", 0, true),
    (&["demo", "--events", "100"], "", 0, true),
    (&["generate-completions", "bash"], "", 0, true),
    (&["generate-man"], "", 0, true),
    (&["query", "--help"], "", 0, true),
    (&["--version"], "", 0, true),
    (&["nonsense"], "", 2, false),
];

/// A folder with everything that the commands need.
fn prepared() -> tempfile::TempDir {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    damaged_store(folder.path());
    fs::rename(path("s"), path("d")).unwrap();
    fs::write(path("events"), events(1, 50)).unwrap();
    tool(folder.path(), &["ingest", "s", "events"]).well();
    let grown: Vec<u8> = [events(1, 50), events(2, 50)].concat();
    fs::write(path("grown"), grown).unwrap();
    // More than are told one by one.
    fs::write(path("bad"), "{\"no\":\"time\"}\n".repeat(30)).unwrap();
    fs::write(path("cases"), "select Elapsed from stream\n").unwrap();
    folder
}

/// Runs all commands with this redirection, and holds their exit codes against the right ones.
fn run_all(redirection: &str, streams: [fn() -> Stdio; 2], right: impl Fn(&Case) -> i32) {
    let folder = prepared();
    for case in &CASES {
        let (arguments, input, ..) = case;
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("exec \"$0\" \"$@\" {redirection}"));
        command.arg(env!("CARGO_BIN_EXE_benchtool")).args(*arguments).current_dir(folder.path());
        command.stdin(Stdio::piped()).stdout(streams[0]()).stderr(streams[1]());
        let mut child = command.spawn().unwrap();
        drop(command);
        // It may end before it reads.
        _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(right(case)), "{arguments:?} {redirection}: {ended:?}");
    }
}

/// A pipe that nobody reads.
fn unread() -> Stdio {
    std::io::pipe().unwrap().1.into()
}

/// The documented exit code.
fn documented((_, _, code, _): &Case) -> i32 {
    *code
}

/// That of a run whose standard output is full.
fn with_full_output((_, _, code, is_told): &Case) -> i32 {
    if *is_told { 5 } else { *code }
}

#[test]
fn a_standard_error_that_cannot_be_written_changes_nothing() {
    run_all("", [Stdio::piped, Stdio::piped], documented);
    run_all("2>/dev/full", [Stdio::piped, Stdio::piped], documented);
    run_all("2>&-", [Stdio::piped, Stdio::piped], documented);
    run_all("", [Stdio::piped, unread], documented);
}

#[test]
fn a_full_standard_output_is_an_error() {
    run_all(">/dev/full", [Stdio::piped, Stdio::piped], with_full_output);
}

#[test]
fn a_standard_output_that_nobody_reads_is_no_error_and_hides_none() {
    run_all("", [unread, Stdio::piped], documented);
    run_all(">&-", [Stdio::piped, Stdio::piped], documented);
}

#[test]
fn nothing_can_be_told_at_all() {
    run_all("", [unread, unread], documented);
    run_all(">&- 2>&-", [Stdio::piped, Stdio::piped], documented);
    run_all(">/dev/full 2>/dev/full", [Stdio::piped, Stdio::piped], with_full_output);
}

/// It used to end with the line that nobody heard, and left all texts of the events in the store's files.
#[test]
fn what_is_deleted_is_erased_though_nobody_hears_of_it() {
    let folder = folder();
    fs::write(folder.path().join("events"), events(1, 50)).unwrap();
    tool(folder.path(), &["ingest", "s", "events"]).well();
    tool(folder.path(), &["seal", "s"]).well();
    let delete = ["delete", "s", "--where", "Elapsed >= 0"];
    let mut command = crate::tool::command(folder.path(), &delete);
    let ended = command.stdout(unread()).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(tool(folder.path(), &delete).well().out, "deleted: 0 events\nno event meets the condition\n");
    assert_eq!(fs::read_dir(folder.path().join("s/receipts")).unwrap().count(), 1);
}
