//! How many bytes go to the medium: each once, and what is appended in small batches once more, into the log.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

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
