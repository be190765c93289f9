//! Scrubbing: everything is read once a round, what rots is told, and a round goes on where it stopped.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use support::{codec, open, tiny};
use tamias_store::io::{Change, Directory, Simulated};
use tamias_store::{Event, Layout, Options, Reader, Scrub, Store};

/// Fast enough for no pause.
const RATE: u64 = u64::MAX;

/// A store of so many segments.
fn prepared(folder: &Simulated, segments: u64) -> Store {
    let store = open(folder, &tiny()).unwrap();
    add(&store, segments);
    store
}

fn add(store: &Store, segments: u64) {
    for n in 0..segments {
        let document = format!("{n:0>90}");
        let events = [Event { instant: n, bytes: document.as_bytes() }; 5];
        store.append_sealed(&events, None).unwrap();
    }
}

fn bytes(store: &Store) -> u64 {
    store.snapshot().segments().iter().map(|segment| segment.file_bytes).sum()
}

fn remembered(store: &Store) -> Option<Scrub> {
    store.housekeeping().unwrap().scrub
}

#[test]
fn a_round_reads_all_and_tells_what_rots() {
    let folder = Simulated::new();
    let store = prepared(&folder, 6);
    assert_eq!(remembered(&store), None);
    let whole = store.scrub(RATE, &|| true, &mut |damage| panic!("{damage:?}")).unwrap();
    assert_eq!((whole.bytes, whole.damaged, whole.ended.is_some()), (bytes(&store), 0, true));
    assert_eq!(remembered(&store), Some(whole));
    let names = folder.list().unwrap();
    let name = names.iter().filter(|name| name.ends_with(".segment")).min().unwrap();
    folder.open_for_writing(name).unwrap().write_at(70, &[0xff; 3]).unwrap();
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap();
    let mut found = Vec::new();
    let next = reader.scrub(RATE, &|| true, &mut |damage| found.push(damage)).unwrap();
    assert_eq!((next.damaged, found.len()), (1, 1));
    assert_eq!(found[0].file, folder.path(name));
    assert_eq!(reader.housekeeping().unwrap().scrub, Some(next));
}

#[test]
fn a_round_goes_on_where_it_stopped_and_leaves_what_is_new_to_the_next() {
    let folder = Simulated::new();
    let store = prepared(&folder, 6);
    let before = bytes(&store);
    let mut rounds = 0;
    let whole = loop {
        // Each time a little further.
        let left = Cell::new(4);
        let may_go_on = || left.replace(left.get() - 1) > 0;
        let scrub = store.scrub(RATE, &may_go_on, &mut |_| ()).unwrap();
        rounds += 1;
        if scrub.ended.is_some() {
            break scrub;
        }
        assert!(scrub.bytes <= before);
        add(&store, 1);
    };
    assert!(rounds > 2, "{rounds}");
    assert_eq!(whole.bytes, before);
    let next = store.scrub(RATE, &|| true, &mut |_| ()).unwrap();
    assert_eq!(next.bytes, bytes(&store));
    // What is no memory of it is as if there were none.
    folder.open_for_writing("scrub").unwrap().write_at(30, &[7]).unwrap();
    assert_eq!(remembered(&store), None);
}

/// A segment of a minute was begun anew by each run that was stopped before, and each of its blocks counted for all behind it.
#[test]
fn a_round_goes_on_within_a_segment() {
    let folder = Simulated::new();
    let store = open(&folder, &Options { segment_bytes: 1 << 20, ..tiny() }).unwrap();
    let document = "x".repeat(90);
    store.append_sealed(&[Event { instant: 1, bytes: document.as_bytes() }; 100], None).unwrap();
    let segment = store.snapshot().segments()[0].clone();
    assert!(segment.blocks > 10, "{}", segment.blocks);
    let mut runs = 0;
    let whole = loop {
        // It asks before a segment, and after a block.
        let left = Cell::new(1);
        let may_go_on = || left.replace(left.get() - 1) > 0;
        let scrub = store.scrub(RATE, &may_go_on, &mut |damage| panic!("{damage:?}")).unwrap();
        runs += 1;
        if scrub.ended.is_some() {
            break scrub;
        }
        assert_eq!(remembered(&store), Some(scrub));
    };
    assert!(runs > segment.blocks, "{runs}");
    assert_eq!(whole.bytes, segment.file_bytes);
}

#[test]
fn a_store_scrubs_itself() {
    let folder = Simulated::new();
    drop(prepared(&folder, 6));
    let store = open(&folder, &Options { background: true, scrub: Some(RATE), ..tiny() }).unwrap();
    let begun = Instant::now();
    while remembered(&store).is_none_or(|scrub| scrub.ended.is_none()) {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(remembered(&store).unwrap().bytes, bytes(&store));
}

/// Where nobody could write down that a round was over, the next one began at once, for ever.
#[test]
fn a_round_that_cannot_be_noted_is_followed_by_a_pause_all_the_same() {
    let folder = Simulated::new();
    drop(prepared(&folder, 6));
    let tries = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&tries);
    folder.refuse(move |change| match change {
        Change::Create(name) if name == "scrub.tmp" => {
            counted.fetch_add(1, Relaxed);
            Some(std::io::ErrorKind::ReadOnlyFilesystem)
        }
        _ => None,
    });
    let store = open(&folder, &Options { background: true, scrub: Some(RATE), ..tiny() }).unwrap();
    let segments = store.snapshot().segments().len() as u64;
    // After each segment, and at the end.
    let begun = Instant::now();
    while tries.load(Relaxed) <= segments {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(tries.load(Relaxed), segments + 1);
}

#[test]
fn a_round_that_is_told_to_end_leaves_its_segment_in_the_middle() {
    let folder = Simulated::new();
    // Of columns a block takes more events.
    let text = Options { segments: Layout::Text, block_bytes: 100, segment_bytes: 1 << 20, ..tiny() };
    let store = open(&folder, &text).unwrap();
    let document = "x".repeat(90);
    store.append_sealed(&[Event { instant: 1, bytes: document.as_bytes() }; 100], None).unwrap();
    assert!(store.snapshot().segments()[0].blocks >= 50);
    let calls = |asked: u64| {
        let (before, left) = (folder.calls(), Cell::new(asked));
        let may_go_on = || left.replace(left.get().saturating_sub(1)) > 0;
        assert_eq!(store.scrub(RATE, &may_go_on, &mut |_| ()).unwrap().ended, None);
        folder.calls() - before
    };
    assert!(calls(3) < calls(40), "it stops where it is told to");
}
