//! Scrubbing: everything is read once a round, what rots is told, and a round goes on where it stopped.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use support::{codec, open, tiny};
use tamias_store::io::{Directory, Simulated};
use tamias_store::{Event, Options, Reader, Scrub, Store};

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
        // Each time a little further: a segment, of two blocks, asks a few times.
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
