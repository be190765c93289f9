//! A program that is started each minute, appends a little, and ends: what it writes, and what it leaves.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tamias::{Batch, EventFormat, Layout, Options, Store, Traffic};

const EVENTS: u64 = 20;

fn document(n: u64) -> String {
    let (minute, second, user, cents) = (n / 60 % 60, n % 60, n * 7 % 83, n * 31 % 9_973);
    format!(
        r#"{{"@t":"2026-11-22T10:{minute:02}:{second:02}Z","@mt":"{{User}} paid {{Amount}}","User":"u{user}","Amount":{cents}.5}}"#
    )
}

/// What so many runs write, and how it divides. A segment is a sixteenth of the usual, so that as many come of fewer runs.
fn written(runs: u64, segments: Layout) -> (Traffic, String) {
    let folder = tempfile::tempdir().unwrap();
    let options = || Options { segment_bytes: 4 << 20, segments, ..Options::default() };
    for run in 0..runs {
        let store = Store::open_with(folder.path(), options()).unwrap();
        let mut batch = Batch::new();
        for n in run * EVENTS..(run + 1) * EVENTS {
            batch.push(document(n).as_bytes(), &EventFormat::clef()).unwrap();
        }
        store.append_batch(&mut batch).unwrap();
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
