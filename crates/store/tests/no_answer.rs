//! A call that fails is no answer: what it was about is taken neither for damaged nor for missing, empty or another store's, and nothing that was erased comes back for it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use support::refusing::{Ask, Refusing, unreadable};
use support::{append_rows, codec, forty, names, open, rows, tiny};
use tamias_store::io::{Directory, Medium, NameKind, Simulated};
use tamias_store::{Key, OpenError, Receipt, Repair, Store};

fn contents(medium: &Medium, name: &str) -> Vec<u8> {
    medium.contents(medium.find(name).unwrap()).to_vec()
}

fn put(folder: &dyn Directory, name: &str, bytes: &[u8]) {
    folder.create(name).unwrap().write_at(0, bytes).unwrap();
}

/// The same without its manifests.
fn without_list() -> Simulated {
    let folder = forty();
    names(&folder, ".manifest").iter().for_each(|name| folder.remove(name).unwrap());
    folder
}

/// The same with the manifest of another store in it, which came first.
fn with_another_manifest() -> Simulated {
    let (folder, other) = (forty(), Simulated::new());
    append_rows(&open(&other, &tiny()).unwrap(), 0..5);
    let other = other.medium();
    let manifest = other.names().filter(|name| name.ends_with(".manifest")).max().unwrap().clone();
    put(&folder, &manifest, &contents(&other, &manifest));
    folder
}

/// Forty events of which ten were erased, whose old segment is back.
fn erased() -> Simulated {
    let folder = forty();
    let before = folder.medium();
    let old = names(&folder, ".segment")[0].clone();
    let store = open(&folder, &tiny()).unwrap();
    let keys: Vec<Key> = (0..10).map(|n| Key { instant: n, arrival: n }).collect();
    assert_eq!(store.delete(&keys).unwrap().events, 10);
    assert!(store.erase().unwrap().receipt.is_some());
    drop(store);
    put(&folder, &old, &contents(&before, &old));
    folder
}

fn repair(folder: impl Directory + 'static) -> Result<Repair, OpenError> {
    Repair::run_on(Arc::new(folder), &tiny(), codec(), false, &mut |_, _| ())
}

fn shown(folder: &Simulated) -> Vec<u64> {
    rows(&open(folder, &tiny()).unwrap().snapshot()).into_iter().map(|row| row.0).collect()
}

/// The process has as many open files as it may have: something that passes.
fn too_many_files() -> io::Error {
    io::Error::from_raw_os_error(if cfg!(windows) { 4 } else { 24 })
}

fn forbidden() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

/// A folder in which the call of this number fails, of those that ask this; how many of them there were is counted.
fn failing_once(
    folder: &Simulated,
    ask: Ask,
    at: u64,
    error: fn() -> io::Error,
) -> (Refusing, Arc<AtomicU64>) {
    let calls = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&calls);
    let odd = Refusing::new(folder, move |asked, _| {
        (asked == ask && count.fetch_add(1, Relaxed) == at).then(error)
    });
    (odd, calls)
}

/// Runs something on a store made anew for each call of it, which fails.
fn each_call(make: fn() -> Simulated, error: fn() -> io::Error, run: impl Fn(&Simulated, Refusing, &str)) {
    let medium = make().medium();
    for ask in [Ask::Open, Ask::Look, Ask::List] {
        for at in 0.. {
            let folder = Simulated::with(medium.clone());
            let (odd, calls) = failing_once(&folder, ask, at, error);
            run(&folder, odd, &format!("{ask:?} {at}: {}", error()));
            if calls.load(Relaxed) <= at {
                assert!(at > 0, "it asks for something");
                break;
            }
        }
    }
}

/// Files of the store in quarantine.
fn quarantined(folder: &Simulated) -> Vec<String> {
    match folder.kind("quarantine").unwrap() {
        Some(NameKind::Folder) => folder.folder("quarantine").unwrap().list().unwrap(),
        _ => Vec::new(),
    }
}

#[test]
fn a_repair_takes_no_sound_file_for_damaged_because_a_call_fails() {
    for make in [without_list, with_another_manifest] {
        each_call(make, too_many_files, |folder, odd, what| {
            match repair(odd) {
                Ok(repaired) => assert_eq!((repaired.events, repaired.left.len()), (40, 0), "{what}"),
                Err(_) => assert_eq!(repair(folder.clone()).unwrap().events, 40, "{what}"),
            }
            assert!(shown(folder).into_iter().eq(0..40), "{what}");
            let segments = quarantined(folder).into_iter().filter(|name| name.ends_with(".segment"));
            assert_eq!(segments.count(), 0, "{what}");
        });
    }
}

/// It used to pass over a log that it could not look at, without a word.
#[test]
fn a_repair_names_what_it_may_not_look_at_and_leaves_it() {
    each_call(without_list, forbidden, |folder, odd, what| {
        if let Ok(repaired) = repair(odd) {
            assert_eq!(repaired.events < 40, !repaired.left.is_empty(), "{what}: {repaired:?}");
        }
        let again = repair(folder.clone()).unwrap();
        assert_eq!((again.events, again.left.len()), (40, 0), "{what}");
        assert!(shown(folder).into_iter().eq(0..40), "{what}");
    });
}

/// What the medium does not give back is damaged, and named as that.
#[test]
fn a_repair_names_what_the_medium_does_not_give_back() {
    each_call(without_list, unreadable, |folder, odd, what| {
        let Ok(repaired) = repair(odd) else { return };
        let is_named =
            !repaired.left.is_empty() || repaired.unnamed.iter().any(|file| !file.damage.is_empty());
        assert!(repaired.events == 40 || is_named, "{what}: {repaired:?}");
        assert_eq!(shown(folder).len() as u64, repaired.events, "{what}");
    });
}

/// It went to quarantine as damaged, and its events were lost to the store with exit code 0.
#[test]
fn a_sound_segment_that_may_not_be_opened_stays_where_it_is() {
    let folder = without_list();
    let segment = names(&folder, ".segment")[1].clone();
    let name = segment.clone();
    let odd = Refusing::new(&folder, move |ask, asked| (ask == Ask::Open && asked == name).then(forbidden));
    let repaired = repair(odd.clone()).unwrap();
    assert_eq!(repaired.events, 30);
    let left: Vec<_> = repaired.left.iter().map(|left| left.file.clone()).collect();
    assert_eq!(left, [folder.path(&segment)]);
    assert!(repaired.unnamed.iter().all(|file| file.file != folder.path(&segment)));
    assert!(
        quarantined(&folder).iter().all(|name| name.ends_with(".log")),
        "the events of the log are in a segment"
    );
    // It is told each time, and nothing is published for it.
    let manifests = names(&folder, ".manifest");
    assert_eq!(repair(odd).unwrap().left.len(), 1);
    assert_eq!(names(&folder, ".manifest"), manifests);
    assert_eq!(repair(folder.clone()).unwrap().left, []);
    assert!(shown(&folder).into_iter().eq(0..40));
}

/// One that could not look at the manifest's files took the other store's for the one that counts.
#[test]
fn opening_takes_no_other_store_for_this_one_because_a_call_fails() {
    for error in [forbidden as fn() -> io::Error, too_many_files, unreadable] {
        for make in [forty, with_another_manifest] {
            each_call(make, error, |folder, odd, what| {
                if let Ok(store) = Store::open_on(Arc::new(odd), tiny(), codec()) {
                    let found = support::try_rows(&store.snapshot());
                    assert!(found.is_err() || found.unwrap().iter().map(|row| row.0).eq(0..40), "{what}");
                }
                assert!(shown(folder).into_iter().eq(0..40), "{what}");
            });
        }
    }
}

/// One failing look at the folder of receipts was enough: it was taken for empty.
#[test]
fn erased_events_do_not_come_back_because_a_call_fails() {
    for error in [forbidden as fn() -> io::Error, too_many_files, unreadable] {
        each_call(erased, error, |folder, odd, what| {
            if let Ok(repaired) = repair(odd) {
                let is_whole = repaired.files.is_empty();
                assert_eq!(repaired.events == 30, is_whole, "{what}: {repaired:?}");
            }
            assert!(shown(folder).iter().all(|arrival| *arrival >= 10), "{what}");
            repair(folder.clone()).unwrap();
            assert!(shown(folder).iter().all(|arrival| *arrival >= 10), "{what}");
        });
    }
}

/// As a link to the folder is none. It was taken for an empty one.
#[test]
fn receipts_that_are_no_folder_are_not_taken_for_none() {
    let folder = erased();
    let receipt = folder.folder("receipts").unwrap().list().unwrap().pop().unwrap();
    let moved = folder.medium();
    let lost = Simulated::new();
    for name in moved.names().filter(|name| !name.contains('/')) {
        put(&lost, name, &contents(&moved, name));
    }
    put(&lost, "receipts", b"");
    let told = Receipt::list_on(&lost).unwrap_err().to_string();
    assert!(told.contains("receipts: it is not a folder, or a link to one"), "{told}");
    let repaired = repair(lost.clone()).unwrap();
    let left: Vec<_> = repaired.left.iter().map(|left| left.file.clone()).collect();
    assert_eq!((left, repaired.events), (vec![lost.path("receipts")], 30));
    assert!(shown(&lost).into_iter().eq(10..40));
    // Without a list all would be taken in.
    names(&lost, ".manifest").iter().for_each(|name| lost.remove(name).unwrap());
    assert!(matches!(repair(lost.clone()), Err(OpenError::Failure(_))));
    lost.remove("receipts").unwrap();
    let bytes = contents(&moved, &format!("receipts/{receipt}"));
    put(&*lost.folder("receipts").unwrap(), &receipt, &bytes);
    assert_eq!(repair(lost.clone()).unwrap().events, 30);
    assert!(shown(&lost).into_iter().eq(10..40));
}
