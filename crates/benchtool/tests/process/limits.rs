//! What the system refuses: files beyond a size, and threads.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tool::{Ended, command, count, ended, events, figures, folder, tool};

/// Runs the tool behind a command of the shell that sets a limit.
fn limited(folder: &Path, limit: &str, arguments: &[&str]) -> Ended {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{limit} && exec \"$0\" \"$@\"")).arg(env!("CARGO_BIN_EXE_benchtool"));
    ended(shell.args(arguments).current_dir(folder).output().expect("a shell"))
}

/// Half a megabyte, whether the shell counts blocks of 512 bytes or of 1024.
const HALF_A_MEGABYTE: &str = "ulimit -f 500";

#[test]
fn a_file_size_limit_is_an_error_and_kills_nobody() {
    let folder = folder();
    fs::write(folder.path().join("events"), events(1, 10_000)).unwrap();
    let batches = ["--batch-bytes", "50000", "s", "events"];
    let run = limited(folder.path(), HALF_A_MEGABYTE, &[&["ingest"], &batches[..]].concat()).with(5);
    assert!(run.err.starts_with("error: cannot write s/") && run.err.contains("too large"), "{run:?}");
    let (stored, ..) = figures_of_a_failure(&run.out);
    assert!((1..10_000).contains(&stored), "{run:?}");
    // What was acknowledged is there, and without the limit the same command goes on.
    tool(folder.path(), &["verify", "s"]).well();
    assert!(count(folder.path(), "s") >= stored);
    tool(folder.path(), &[&["ingest"], &batches[..]].concat()).well();
    assert_eq!(count(folder.path(), "s"), 10_000);
}

#[test]
fn a_segment_beyond_the_limit_leaves_no_event_behind() {
    let folder = folder();
    fs::write(folder.path().join("events"), events(1, 10_000)).unwrap();
    let run = limited(folder.path(), HALF_A_MEGABYTE, &["ingest", "s", "events"]).with(5);
    assert_eq!(figures_of_a_failure(&run.out).0, 0, "{run:?}");
    assert_eq!(count(folder.path(), "s"), 0);
    assert_eq!(figures(&tool(folder.path(), &["ingest", "s", "events"]).well().out).0, 10_000);
}

#[test]
fn output_beyond_the_limit_is_an_error() {
    let folder = folder();
    fs::write(folder.path().join("events"), events(1, 10_000)).unwrap();
    tool(folder.path(), &["ingest", "s", "events"]).well();
    let query =
        ["query", "s", "select @Data as event from stream", "--format", "csv", "--output", "rows.csv"];
    let run = limited(folder.path(), HALF_A_MEGABYTE, &query).with(5);
    assert!(run.err.starts_with("error: ") && run.err.contains("too large"), "{run:?}");
    assert!(!folder.path().join("rows.csv").exists(), "half a file takes no place");
}

/// Stored and lines of a run that could not store all that it had read.
fn figures_of_a_failure(out: &str) -> (u64, u64) {
    let figure = |name: &str| {
        let rest = out.split(&format!("{name}: ")).nth(1).expect("a figure");
        rest.split([',', '\n']).next().and_then(|number| number.parse().ok()).expect("a number")
    };
    (figure("stored"), figure("lines"))
}

/// Runs the tool where the system gives it no thread: none has room for a stack of this size.
fn without_threads(folder: &Path, arguments: &[&str]) -> Ended {
    let mut command = command(folder, arguments);
    ended(command.env("RUST_MIN_STACK", (1u64 << 60).to_string()).output().expect("the tool starts"))
}

#[test]
fn without_threads_everything_is_read_all_the_same() {
    let folder = folder();
    // Several blocks, so that there is something to share out.
    fs::write(folder.path().join("events"), events(1, 20_000)).unwrap();
    fs::write(folder.path().join("cases"), "select Elapsed from stream where Elapsed > 900\n").unwrap();
    tool(folder.path(), &["ingest", "s", "events"]).well();
    for arguments in [
        &["query", "s", "--threads", "4", "select @Timestamp, Elapsed from stream where Elapsed > 900"][..],
        &["query", "s", "--threads", "4", "select Elapsed from stream order by Elapsed desc limit 100"],
        &["query", "s", "--threads", "4", "select count(*), max(Elapsed) from stream group by @Level"],
        &["keys", "s", "--depth", "1"],
        &["info", "s"],
        &["verify", "s"],
        &["repair", "s"],
    ] {
        let (with, without) =
            (tool(folder.path(), arguments).well(), without_threads(folder.path(), arguments));
        assert_eq!((without.code, without.out, without.err), (Some(0), with.out, with.err), "{arguments:?}");
    }
    let bench = ["bench", "--cases", "cases", "--percentile", "50", "--runs", "1", "--threads", "4", "s"];
    without_threads(folder.path(), &bench).well();
    let analyzed = "explain analyze select Elapsed from stream where Elapsed > 900";
    without_threads(folder.path(), &["query", "s", "--threads", "4", analyzed]).well();
}

#[test]
fn without_threads_a_writer_works_or_says_what_it_lacks() {
    let folder = folder();
    fs::write(folder.path().join("events"), events(1, 2000)).unwrap();
    let run = without_threads(folder.path(), &["ingest", "s", "events"]);
    match run.code {
        Some(0) => assert_eq!(count(folder.path(), "s"), 2000),
        _ => assert!(run.with(5).err.starts_with("error: cannot start a thread for s: ")),
    }
}

/// It used to say that everything before is stored, and that was all: the batch before had not been stored.
#[test]
fn what_could_not_be_stored_is_why_it_ends() {
    let folder = folder();
    let lines = [&events(1, 3000)[..], b"no event\n"].concat();
    fs::write(folder.path().join("events"), lines).unwrap();
    let arguments = ["ingest", "s", "--on-invalid", "fail", "events"];
    let run = limited(folder.path(), "ulimit -f 60", &arguments).with(5);
    assert!(run.err.contains("error: cannot write s/") && !run.err.contains("is stored"), "{run:?}");
    assert_eq!(figures_of_a_failure(&run.out).0, 0);
    let run = tool(folder.path(), &arguments).with(4);
    assert!(run.err.contains("stopped at line 3001 of events") && run.err.contains("is stored"), "{run:?}");
    assert_eq!(count(folder.path(), "s"), 3000);
}
