//! Receipts and what comes back beside them: erased events stay away, and no other event goes with them.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use support::refusing::{Ask, Refusing, unreadable};
use support::{append_rows, codec, names, open, row, rows, tiny};
use tamias_store::io::{Directory, Fault, FaultKind, Simulated};
use tamias_store::{Event, Key, Reader, Repair, Store, UnnamedKind};

fn repair(folder: &Simulated) -> Repair {
    Repair::run_on(Arc::new(folder.clone()), &tiny(), codec(), false, &mut |_, _| ()).unwrap()
}

/// Erases the rows of these numbers, with a receipt.
fn erase(store: &Store, numbers: impl Iterator<Item = u64>) {
    let keys: Vec<Key> = numbers.map(|n| Key { instant: n, arrival: n }).collect();
    assert_eq!(store.delete(&keys).unwrap().events, keys.len() as u64);
    assert!(store.erase().unwrap().receipt.is_some());
}

/// Gives a file the bytes that it had in another folder.
fn put_back(folder: &Simulated, from: &Simulated, name: &str) {
    let medium = from.medium();
    let _ = folder.remove(name);
    folder.create(name).unwrap().write_at(0, medium.contents(medium.find(name).unwrap())).unwrap();
}

/// Twenty rows under the manifest that was there before ten more came and were erased.
fn under_an_older_manifest() -> Simulated {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    append_rows(&store, 0..20);
    store.seal().unwrap();
    drop(store);
    let older = Simulated::with(folder.medium());
    let store = open(&folder, &tiny()).unwrap();
    append_rows(&store, 20..30);
    erase(&store, 20..30);
    drop(store);
    names(&folder, ".manifest").iter().for_each(|name| folder.remove(name).unwrap());
    names(&older, ".manifest")
        .iter()
        .chain(&names(&older, ".log"))
        .for_each(|name| put_back(&folder, &older, name));
    folder
}

/// Twenty rows in a log, under the manifest that was there before each third one was erased.
fn with_an_older_log() -> Simulated {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    append_rows(&store, 0..20);
    drop(store);
    let older = Simulated::with(folder.medium());
    let store = open(&folder, &tiny()).unwrap();
    erase(&store, (0..20).filter(|n| n % 3 == 0));
    drop(store);
    let restored = [".manifest", ".segment", ".log"];
    for ending in restored {
        names(&folder, ending).iter().for_each(|name| folder.remove(name).unwrap());
    }
    for ending in restored {
        names(&older, ending).iter().for_each(|name| put_back(&folder, &older, name));
    }
    folder
}

/// Damages the document of a row in a log.
fn spoil(folder: &Simulated, log: &str, n: u64) {
    let bytes = folder.open(log).unwrap().read_range(0, 10_000).unwrap();
    let lost = row(n).2;
    let at = bytes.windows(lost.len()).position(|window| window == lost).unwrap();
    folder.open_for_writing(log).unwrap().write_at(at as u64, b"X").unwrap();
}

/// They were given to new events, which the next repair took for the erased ones.
#[test]
fn numbers_of_erased_events_are_not_given_again_while_a_receipt_cannot_be_read() {
    for is_damaged in [true, false] {
        let folder = under_an_older_manifest();
        let receipts = folder.folder("receipts").unwrap();
        let name = receipts.list().unwrap().pop().unwrap();
        let bytes = receipts.open(&name).unwrap().read_range(50, 8).unwrap();
        let receipt = receipts.open_for_writing(&name).unwrap();
        if is_damaged {
            receipt.write_at(50, &[0x55; 8]).unwrap();
        }
        let shut =
            move |ask, name: &str| (!is_damaged && ask == Ask::List && name == "receipts/").then(unreadable);
        let store = Store::open_on(Arc::new(Refusing::new(&folder, shut)), tiny(), codec()).unwrap();
        let arrival = store.append(&[Event { instant: 1000, bytes: b"new" }]).unwrap().start;
        drop(store);
        receipt.write_at(50, &bytes).unwrap();
        let repaired = repair(&folder);
        assert_eq!((repaired.erased_again, repaired.events), (0, 21), "{is_damaged} {arrival}");
        let mut expected: Vec<_> = (0..20).map(row).collect();
        expected.push((arrival, 1000, b"new".to_vec()));
        assert_eq!(rows(&open(&folder, &tiny()).unwrap().snapshot()), expected);
    }
}

/// Each opening moved them on.
#[test]
fn numbers_move_on_once_for_a_receipt_that_cannot_be_read() {
    const STEP: u64 = 1 << 40;
    let folder = under_an_older_manifest();
    let older = Simulated::with(folder.medium());
    let receipts = folder.folder("receipts").unwrap();
    let first = receipts.list().unwrap().pop().unwrap();
    let damage = |name: &str| {
        let receipt = receipts.open_for_writing(name).unwrap();
        receipt.write_at(50, &[0x55; 8]).unwrap();
    };
    let next = |folder: &dyn Fn() -> Arc<dyn Directory>| {
        let store = Store::open_on(folder(), tiny(), codec()).unwrap();
        store.append(&[Event { instant: 1000, bytes: b"new" }]).unwrap().start
    };
    let plain = || -> Arc<dyn Directory> { Arc::new(folder.clone()) };
    damage(&first);
    let moved = next(&plain);
    assert!(moved >= STEP, "{moved}");
    // Whoever opens it again goes on, and so does a repair.
    assert_eq!(next(&plain), moved + 1);
    repair(&folder);
    let manifests = names(&folder, ".manifest");
    assert_eq!(next(&plain), moved + 2);
    assert_eq!(names(&folder, ".manifest"), manifests, "nothing is published for it");
    // Another one is another matter, even if the first can be read again.
    let store = open(&folder, &tiny()).unwrap();
    store.delete(&[Key { instant: 3, arrival: 3 }]).unwrap();
    assert!(store.erase().unwrap().receipt.is_some());
    drop(store);
    damage(&receipts.list().unwrap().into_iter().max().unwrap());
    let again = next(&plain);
    assert!(again >= moved + STEP, "{again}");
    assert_eq!(next(&plain), again + 1);
    // Nobody knows which receipts are in a folder that cannot be listed.
    let shut = |ask, name: &str| (ask == Ask::List && name == "receipts/").then(unreadable);
    let refusing = || -> Arc<dyn Directory> { Arc::new(Refusing::new(&folder, shut)) };
    let (one, two) = (next(&refusing), next(&refusing));
    assert!(one >= again + STEP && two >= one + STEP, "{one} {two}");
    // An older manifest knows nothing of all this.
    for ending in [".manifest", ".log"] {
        names(&folder, ending).iter().for_each(|name| folder.remove(name).unwrap());
        names(&older, ending).iter().for_each(|name| put_back(&folder, &older, name));
    }
    assert!(next(&plain) >= STEP);
}

/// It was named only where there were unnamed files too, and by `repair`.
#[test]
fn a_receipt_that_cannot_be_read_is_named() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    append_rows(&store, 0..20);
    erase(&store, 0..5);
    drop(store);
    let named = |folder: Arc<dyn Directory>| {
        let reader = Reader::open_on(folder, tiny(), codec()).unwrap();
        assert_eq!(reader.snapshot().unwrap().verify().unwrap(), []);
        reader.unnamed().unwrap().into_iter().map(|file| (file.file, file.kind)).collect::<Vec<_>>()
    };
    assert_eq!(named(Arc::new(folder.clone())), []);
    let shut = |ask, name: &str| (ask == Ask::List && name == "receipts/").then(unreadable);
    let kind = UnnamedKind::UnreadableReceipt;
    assert_eq!(named(Arc::new(Refusing::new(&folder, shut))), [(folder.path("receipts"), kind)]);
    let receipts = folder.folder("receipts").unwrap();
    let name = receipts.list().unwrap().pop().unwrap();
    receipts.open_for_writing(&name).unwrap().write_at(50, &[0x55; 8]).unwrap();
    assert_eq!(named(Arc::new(folder.clone())), [(receipts.path(&name), kind)]);
}

/// The receipt seemed to know of later events than the list of files did, so that an older list seemed to be there: nothing told of the numbers that the batch had taken.
#[test]
fn a_receipt_after_a_batch_that_failed_is_not_ahead_of_the_list_of_files() {
    let mut failed = 0;
    for at in 0.. {
        let folder = Simulated::new();
        let store = open(&folder, &tiny()).unwrap();
        append_rows(&store, 0..20);
        store.seal().unwrap();
        let calls = folder.calls();
        folder.fail(Some(Fault { at: calls + at, forever: false, kind: FaultKind::NoSpace }));
        let (bytes, mut events) = (row(20).2, Vec::new());
        (0..20).for_each(|n| events.push(Event { instant: 20 + n, bytes: &bytes }));
        let appended = store.append_sealed(&events, None);
        let was_called = folder.calls() - calls > at;
        folder.fail(None);
        let (Err(_), true) = (appended, was_called) else {
            if was_called {
                continue;
            }
            break;
        };
        failed += 1;
        let ahead = |folder: &Simulated| {
            let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap();
            assert_eq!(reader.snapshot().unwrap().verify().unwrap(), []);
            reader.unnamed().unwrap().into_iter().filter(|file| file.kind == UnnamedKind::Receipt).count()
        };
        assert_eq!(store.delete(&[Key { instant: 3, arrival: 3 }]).map(|deleted| deleted.events).unwrap(), 1);
        assert!(store.erase().unwrap().receipt.is_some());
        assert_eq!(ahead(&folder), 0, "call {at}");
        drop(store);
        assert_eq!(ahead(&folder), 0, "call {at}, closed");
        assert_eq!(repair(&folder).rebuilt, None);
        let store = open(&folder, &tiny()).unwrap();
        let arrival = store.append(&[Event { instant: 1000, bytes: b"new" }]).unwrap().start;
        assert!((20..=40).contains(&arrival), "{arrival}");
    }
    assert!(failed > 3, "{failed}");
}

/// Nobody knows how many events a damaged log has lost, so numbers move on, and no manifest told of that.
#[test]
fn a_receipt_beside_a_damaged_log_is_not_ahead_of_the_list_of_files() {
    let whole = Simulated::new();
    let store = open(&whole, &tiny()).unwrap();
    append_rows(&store, 0..20);
    store.seal().unwrap();
    append_rows(&store, 20..30);
    drop(store);
    let log = names(&whole, ".log").pop().unwrap();
    for at in [48, 300, 900] {
        let folder = Simulated::with(whole.medium());
        folder.open_for_writing(&log).unwrap().write_at(at, &[0x55; 40]).unwrap();
        let store = open(&folder, &tiny()).unwrap();
        store.delete(&[Key { instant: 3, arrival: 3 }]).unwrap();
        assert!(store.erase().unwrap().receipt.is_some(), "{at}");
        drop(store);
        let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap();
        assert!(!reader.snapshot().unwrap().verify().unwrap().is_empty());
        assert_eq!(reader.unnamed().unwrap(), [], "{at}");
    }
}

/// A repair listed them three times, and an opening once.
#[test]
fn receipts_are_listed_once_by_an_opening_and_once_by_a_repair() {
    let folder = under_an_older_manifest();
    let listed = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&listed);
    let counting = Refusing::new(&folder, move |ask, name: &str| {
        count.fetch_add(u64::from(ask == Ask::List && name == "receipts/"), Relaxed);
        None
    });
    Repair::run_on(Arc::new(counting.clone()), &tiny(), codec(), false, &mut |_, _| ()).unwrap();
    assert_eq!(listed.swap(0, Relaxed), 1);
    drop(Store::open_on(Arc::new(counting), tiny(), codec()).unwrap());
    assert_eq!(listed.load(Relaxed), 1);
}

/// It was told of twice, and kept under the name that somebody had given it.
#[test]
fn a_renamed_log_of_erased_events_is_told_of_once_and_kept_under_its_own_name() {
    for is_damaged in [false, true] {
        let folder = with_an_older_log();
        let log = names(&folder, ".log").pop().unwrap();
        if is_damaged {
            spoil(&folder, &log, 4);
        }
        let renamed = "00000000000000ff.log";
        folder.rename(&log, renamed).unwrap();
        let plan =
            || Repair::run_on(Arc::new(folder.clone()), &tiny(), codec(), true, &mut |_, _| ()).unwrap();
        let (planned, done) = (plan(), repair(&folder));
        assert_eq!(planned, done);
        let left = 13 - u64::from(is_damaged);
        assert_eq!((done.erased_again, done.events), (7, left));
        let kept = folder.path("quarantine").join(&log);
        let told = done.unnamed.iter().map(|file| (&file.file, file.regained, &file.quarantined));
        let told: Vec<_> =
            told.chain(done.files.iter().map(|file| (&file.file, file.kept, &file.quarantined))).collect();
        let file = folder.path(if is_damaged { &log } else { renamed });
        assert_eq!(told, [(&file, left, &Some(kept))]);
        let again = repair(&folder);
        assert_eq!((again.files, again.unnamed, again.rebuilt), (vec![], vec![], None), "once is enough");
        let expected = (0..20).filter(|n| n % 3 > 0 && !(is_damaged && *n == 4)).map(row);
        assert!(rows(&open(&folder, &tiny()).unwrap().snapshot()).into_iter().eq(expected));
    }
}

/// They were copied with what was whole in the log, and deleted by a second repair only.
#[test]
fn erased_events_in_a_log_that_is_damaged_too_go_with_the_first_repair() {
    let folder = with_an_older_log();
    let log = names(&folder, ".log").pop().unwrap();
    spoil(&folder, &log, 4);

    let plan = || Repair::run_on(Arc::new(folder.clone()), &tiny(), codec(), true, &mut |_, _| ()).unwrap();
    let (planned, done) = (plan(), repair(&folder));
    assert_eq!(planned, done);
    let told: Vec<(u64, Option<u64>)> =
        done.files.iter().map(|file| (file.kept, file.damage[0].events)).collect();
    assert_eq!((done.erased_again, done.events, told), (7, 12, vec![(12, Some(1))]));
    assert_eq!(done.unnamed, []);
    let again = repair(&folder);
    assert_eq!((again.erased_again, again.files, again.rebuilt), (0, vec![], None), "once is enough");
    let store = open(&folder, &tiny()).unwrap();
    let expected: Vec<_> = (0..20).filter(|n| n % 3 > 0 && *n != 4).map(row).collect();
    assert_eq!(rows(&store.snapshot()), expected);
    let kept = folder.folder("quarantine").unwrap();
    assert!(kept.kind(&log).unwrap().is_some(), "all of it is kept");
}
