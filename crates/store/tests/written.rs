//! How many bytes go to the medium: each once, and what is appended in small batches once more, into the log.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::time::{Duration, Instant};

use support::{LAYOUT, open};
use tamias_store::io::{Change, Simulated};
use tamias_store::{Event, Options, Store};

/// Manifests, and what sectors are filled up with.
const OTHERS: usize = 64 << 10;

const DOCUMENT_BYTES: usize = 300;

fn options() -> Options {
    Options { segments: LAYOUT, background: false, ..Options::default() }
}

/// Bytes of all writes so far.
fn written(folder: &Simulated) -> usize {
    let length = |change: &Change| if let Change::Write(_, _, bytes) = change { bytes.len() } else { 0 };
    folder.changes().iter().map(length).sum()
}

/// Bytes of the segments that are there.
fn segments(store: &Store) -> usize {
    let snapshot = store.snapshot();
    let sealed = snapshot.segments().into_iter().filter(|segment| segment.file.is_some());
    sealed.map(|segment| segment.file_bytes as usize).sum()
}

/// Gives batches of so many events to `store`, all together `events`.
fn batches(events: u64, of: usize, mut store: impl FnMut(&[Event<'_>])) {
    let documents: Vec<String> =
        (0..events).map(|n| format!("{n:0>width$}", width = DOCUMENT_BYTES - 1)).collect();
    let events: Vec<Event<'_>> =
        (0..).zip(&documents).map(|(instant, text)| Event { instant, bytes: text.as_bytes() }).collect();
    events.chunks(of).for_each(&mut store);
}

#[test]
fn a_batch_that_is_written_into_segments_is_written_once() {
    let folder = Simulated::new();
    let store = open(&folder, &options()).unwrap();
    batches(30_000, 10_000, |events| {
        store.append_sealed(events, None).unwrap();
    });
    let (written, segments) = (written(&folder), segments(&store));
    assert!(segments >= 30_000 * DOCUMENT_BYTES, "{segments}");
    assert!(written <= segments + OTHERS, "{written} bytes for segments of {segments}");
}

#[test]
fn what_is_appended_by_the_thousand_is_written_into_the_log_and_into_a_segment() {
    let folder = Simulated::new();
    let store = open(&folder, &options()).unwrap();
    batches(20_000, 1_000, |events| {
        store.append(events).unwrap();
    });
    let log = written(&folder);
    // An instant and an end for each event.
    assert!(log <= 20_000 * (DOCUMENT_BYTES + 16) + OTHERS, "{log} bytes in the log");
    store.seal().unwrap();
    let (written, segments) = (written(&folder), segments(&store));
    assert!(written <= log + segments + OTHERS, "{written} bytes: {log} in the log, {segments} in segments");
}

/// So many processes append 40 events each, in batches of so many, and are killed. Returns the bytes that they write for each byte that they append, and what they leave.
fn written_by_the_killed(runs: u64, of: usize, options: &Options) -> (f64, Simulated) {
    let mut folder = Simulated::new();
    let (mut all, mut appended) = (0, 0);
    for run in 0..runs {
        let store = open(&folder, options).unwrap();
        assert_eq!(store.snapshot().events(), run * 40, "all that was acknowledged");
        batches(40, of, |events| {
            store.append(events).unwrap();
        });
        appended += 40 * DOCUMENT_BYTES;
        all += written(&folder);
        folder = Simulated::with(folder.medium());
    }
    let store = open(&folder, options).unwrap();
    assert_eq!(store.snapshot().verify().unwrap(), []);
    assert_eq!(store.snapshot().events(), runs * 40);
    (all as f64 / appended as f64, folder)
}

/// Each process used to copy the whole log: 100 of them wrote some 50 times what they appended.
#[test]
fn a_process_continues_the_log_of_one_that_was_killed() {
    let (all, folder) = written_by_the_killed(100, 5, &options());
    println!("{all:.2} bytes written per byte appended in eight batches");
    assert!(all < 1.5, "{all} bytes written per byte appended");
    let logs = folder.medium().names().filter(|name| name.ends_with(".log")).count();
    assert_eq!(logs, 1, "one log goes on");
    // If there is one batch only, all is written twice.
    let (all, _) = written_by_the_killed(100, 40, &options());
    println!("{all:.2} bytes written per byte appended in one batch");
    assert!(all < 2.4, "{all} bytes written per byte appended");
}

#[test]
fn what_was_at_rest_when_its_process_was_killed_is_not_written_again() {
    let folder = Simulated::new();
    let store = open(&folder, &Options { background: true, ..options() }).unwrap();
    batches(100, 100, |events| {
        store.append(events).unwrap();
    });
    let appended = written(&folder);
    let begun = Instant::now();
    while written(&folder) == appended {
        assert!(begun.elapsed() < Duration::from_secs(60), "the log says that it is durable");
        std::thread::sleep(Duration::from_millis(10));
    }
    let left = Simulated::with(folder.medium());
    let next = open(&left, &options()).unwrap();
    assert_eq!(next.snapshot().events(), 100);
    let name = left.medium().names().find(|name| name.ends_with(".log")).cloned().unwrap();
    let log = left.medium().find(&name).unwrap();
    let to_log = |change: &Change| match change {
        Change::Write(file, _, bytes) if *file == log => bytes.len(),
        _ => 0,
    };
    let bytes: usize = left.changes().iter().map(to_log).sum();
    assert_eq!(bytes, 56, "only the batch that says that the others are durable may be lost");
    assert!(left.changes().iter().any(|change| matches!(change, Change::Flush(file, _) if *file == log)));
}
