//! A program that is started each minute, appends a little, and ends: what it writes, and what it leaves.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tamias::{Batch, EventFormat, Options, Store};

const RUNS: u64 = 1_500;
const EVENTS: u64 = 20;

/// A sixteenth of the usual, so that as many segments come of fewer runs.
fn options() -> Options {
    Options { segment_bytes: 4 << 20, ..Options::default() }
}

fn document(n: u64) -> String {
    let (minute, second, user, cents) = (n / 60 % 60, n % 60, n * 7 % 83, n * 31 % 9_973);
    format!(
        r#"{{"@t":"2026-11-22T10:{minute:02}:{second:02}Z","@mt":"{{User}} paid {{Amount}}","User":"u{user}","Amount":{cents}.5}}"#
    )
}

#[test]
fn a_program_that_is_started_each_minute_writes_less_than_twice_what_it_appends() {
    let folder = tempfile::tempdir().unwrap();
    for run in 0..RUNS {
        let store = Store::open_with(folder.path(), options()).unwrap();
        let mut batch = Batch::new();
        for n in run * EVENTS..(run + 1) * EVENTS {
            batch.push(document(n).as_bytes(), &EventFormat::clef()).unwrap();
        }
        store.append_batch(&mut batch).unwrap();
    }
    let store = Store::open_read_only(folder.path()).unwrap();
    assert_eq!(store.info().unwrap().events, RUNS * EVENTS);
    let housekeeping = store.housekeeping().unwrap();
    let traffic = housekeeping.traffic;
    let times = |bytes: u64| bytes as f64 / traffic.appended as f64;
    let line = format!(
        "{:.2} bytes written per byte appended: logs {:.2}, sealed {:.2}, compacted {:.2}, manifests {:.2}; {} segments",
        times(traffic.written()),
        times(traffic.logs),
        times(traffic.sealed),
        times(traffic.rewritten),
        times(traffic.manifests),
        store.info().unwrap().segments.len(),
    );
    println!("{line}");
    assert!(times(traffic.written()) < 1.9, "{line}");
    assert!(traffic.rewritten > 0, "some of it was compacted: {line}");
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert!(files < 30, "{files} files; {line}");
}
