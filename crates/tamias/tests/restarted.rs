//! A program that is started each minute, appends a little, and ends or is killed: what it writes, and what it leaves.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tamias::{Batch, EventFormat, Layout, Options, Store, Traffic};

const EVENTS: u64 = 20;

fn document(n: u64) -> String {
    let (minute, second, user, cents) = (n / 60 % 60, n % 60, n * 7 % 83, n * 31 % 9_973);
    format!(
        r#"{{"@t":"2026-11-22T10:{minute:02}:{second:02}Z","@mt":"{{User}} paid {{Amount}}","User":"u{user}","Amount":{cents}.5}}"#
    )
}

fn batch(run: u64) -> Batch {
    let mut batch = Batch::new();
    for n in run * EVENTS..(run + 1) * EVENTS {
        batch.push(document(n).as_bytes(), &EventFormat::clef()).unwrap();
    }
    batch
}

/// Segments of a sixteenth of the usual size, so that as many come of fewer runs.
fn options(segments: Layout) -> Options {
    Options { segment_bytes: 4 << 20, segments, ..Options::default() }
}

/// What so many runs write, and how it divides.
fn written(runs: u64, segments: Layout) -> (Traffic, String) {
    let folder = tempfile::tempdir().unwrap();
    for run in 0..runs {
        let store = Store::open_with(folder.path(), options(segments)).unwrap();
        store.append_batch(&mut batch(run)).unwrap();
    }
    let store = Store::open_read_only(folder.path()).unwrap();
    assert_eq!(store.info().unwrap().events, runs * EVENTS);
    let traffic = store.housekeeping().unwrap().traffic;
    let times = |bytes: u64| bytes as f64 / traffic.appended as f64;
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    let line = format!(
        "{segments:?}: {:.2} bytes written per byte appended: logs {:.2}, sealed {:.2}, compacted {:.2}, manifests {:.2}; {} segments, {files} files",
        times(traffic.written()),
        times(traffic.logs),
        times(traffic.sealed),
        times(traffic.rewritten),
        times(traffic.manifests),
        store.info().unwrap().segments.len(),
    );
    println!("{line}");
    assert!(files < 30, "{line}");
    (traffic, line)
}

#[test]
fn a_program_that_is_started_each_minute_writes_less_than_twice_what_it_appends() {
    let (traffic, line) = written(500, Layout::Columns);
    assert!(traffic.written() < traffic.appended * 2, "{line}");
    assert!(traffic.rewritten > 0, "some of it was compacted: {line}");
}

/// As text each event is as long in a segment as in the log, so twice is the least there is before anything is compacted, and compaction writes it once more.
#[test]
fn as_text_it_writes_what_a_log_and_a_segment_take_and_a_compaction() {
    let (traffic, line) = written(500, Layout::Text);
    assert!(traffic.rewritten > 0, "some of it was compacted: {line}");
    let once = traffic.written() - traffic.rewritten;
    assert!(once * 10 < traffic.appended * 27, "{line}");
    assert!(traffic.rewritten < traffic.appended * 2, "{line}");
}

/// Runs that are killed, each a process of its own.
#[cfg(target_os = "linux")]
mod killed {
    use std::fs;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    const FOLDER: &str = "TAMIAS_RESTARTED_FOLDER";
    const RUN: &str = "TAMIAS_RESTARTED_RUN";
    const LAYOUT: &str = "TAMIAS_RESTARTED_LAYOUT";
    const AT_REST: &str = "TAMIAS_RESTARTED_AT_REST";
    /// How many runs, where it is set: a month has 43,200 minutes.
    const RUNS: &str = "TAMIAS_RESTARTED_RUNS";

    /// Bytes that this process has given to the system to be written.
    fn written() -> u64 {
        let counts = fs::read_to_string("/proc/self/io").unwrap();
        counts.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
    }

    fn files(folder: &Path) -> Vec<(PathBuf, u64)> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let file = |entry: std::io::Result<fs::DirEntry>| {
            let path = entry.ok()?.path();
            let bytes = fs::metadata(&path).ok()?.len();
            Some((path, bytes))
        };
        entries.filter_map(file).collect()
    }

    fn has_ending(path: &Path, ending: &str) -> bool {
        path.extension().is_some_and(|found| found == ending)
    }

    /// Waits until the background thread has done what it does at the start of a run.
    fn wait_for_background(folder: &Path, due: &[PathBuf]) {
        let mut quiet = 0;
        while quiet < 3 {
            let files = files(folder);
            let is_busy = files.iter().any(|(path, _)| has_ending(path, "tmp") || due.contains(path));
            quiet = if is_busy { 0 } else { quiet + 1 };
            std::thread::sleep(Duration::from_millis(3));
        }
    }

    /// No test of its own: one run, which the tests start and kill.
    #[test]
    fn one_run() {
        let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
        let run: u64 = std::env::var(RUN).unwrap().parse().unwrap();
        let segments = if std::env::var(LAYOUT).unwrap() == "text" { Layout::Text } else { Layout::Columns };
        // A log with half as much again as is worth a segment is sealed at once.
        let logs = files(&folder).into_iter().filter(|(path, _)| has_ending(path, "log"));
        let due: Vec<PathBuf> = logs.filter(|(_, bytes)| *bytes > 96 << 10).map(|(path, _)| path).collect();
        let before = written();
        let store = Store::open_with(&folder, options(segments)).unwrap();
        store.append_batch(&mut batch(run)).unwrap();
        if std::env::var_os(AT_REST).is_some() {
            // This writes what the background thread does once nothing is appended for a moment.
            store.flush().unwrap();
        }
        wait_for_background(&folder, &due);
        let mut out = std::io::stdout().lock();
        writeln!(out, "written {}", written() - before).unwrap();
        out.flush().unwrap();
        // Until this process is killed.
        let _ = std::io::stdin().read(&mut [0]);
        std::process::abort();
    }

    /// Bytes that the runs write for each byte that they append. Each appends one batch and is killed, at once or at rest.
    fn written_by_the_killed(runs: u64, layout: &str, at_rest: bool) -> f64 {
        let runs = std::env::var(RUNS).map_or(runs, |runs| runs.parse().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let (mut written, mut appended) = (0, 0);
        for run in 0..runs {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "killed::one_run", "--nocapture"])
                .env(FOLDER, folder.path())
                .env(RUN, run.to_string())
                .env(LAYOUT, layout)
                .envs(at_rest.then_some((AT_REST, "1")))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let told = lines
                .map(Result::unwrap)
                .find_map(|line| line.split_once("written ").map(|(_, bytes)| bytes.parse::<u64>().unwrap()));
            written += told.expect("the run ended by itself");
            child.kill().unwrap();
            child.wait().unwrap();
            appended += (run * EVENTS..(run + 1) * EVENTS).map(|n| document(n).len() as u64 + 1).sum::<u64>();
        }
        let store = Store::open_read_only(folder.path()).unwrap();
        assert_eq!(store.info().unwrap().events, runs * EVENTS);
        let segments = store.info().unwrap().segments.len();
        let files = files(folder.path()).len();
        let times = written as f64 / appended as f64;
        println!(
            "{layout}: {times:.2} bytes written per byte appended by {runs} killed runs (at rest: {at_rest}); {segments} segments, {files} files"
        );
        assert!(segments > 0 && files < 30, "{segments} segments, {files} files");
        times
    }

    #[test]
    fn a_program_that_is_killed_each_minute_writes_less_than_twice_what_it_appends() {
        let times = written_by_the_killed(200, "columns", true);
        assert!(times < 2.0, "{times:.2}");
    }

    /// What is appended last is written twice: here that is everything. Each run used to copy the whole log.
    #[test]
    fn a_program_that_is_killed_at_once_writes_its_last_batch_twice() {
        let times = written_by_the_killed(200, "columns", false);
        assert!(times < 3.0, "{times:.2}");
    }

    /// As [`as_text_it_writes_what_a_log_and_a_segment_take_and_a_compaction`].
    #[test]
    fn as_text_a_program_that_is_killed_writes_as_much_as_one_that_ends() {
        let times = written_by_the_killed(200, "text", true);
        assert!(times < 4.5, "{times:.2}");
    }
}
