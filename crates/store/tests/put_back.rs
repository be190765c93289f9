//! Files that are put back into a store: what they hold is known again, and is stored once.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;

use support::{append_rows, open, row, rows, tiny};
use tamias_store::io::{Change, Directory, Medium, Simulated};
use tamias_store::{Event, Key, Options, Repair};

fn names(medium: &Medium, ending: &str) -> Vec<String> {
    medium.names().filter(|name| name.ends_with(ending) && !name.contains('/')).cloned().collect()
}

fn contents(medium: &Medium, name: &str) -> Vec<u8> {
    medium.contents(medium.find(name).unwrap()).to_vec()
}

fn put(medium: &mut Medium, name: &str, bytes: &[u8]) {
    medium.apply(&Change::Create(name.to_owned()));
    let file = medium.find(name).unwrap();
    medium.apply(&Change::Write(file, 0, bytes.into()));
    medium.apply(&Change::Flush(file, true));
}

fn repair(folder: &Simulated) -> Repair {
    let run = |dry_run| {
        Repair::run_on(Arc::new(folder.clone()), &tiny(), support::codec(), dry_run, &mut |_, _| ()).unwrap()
    };
    let (planned, done) = (run(true), run(false));
    assert_eq!(planned, done, "a dry run tells what would be done");
    done
}

/// What was compacted was read once for each of the files that it had been made of.
#[test]
fn files_that_were_put_back_are_held_against_the_store_in_linear_time() {
    let calls = |segments: u64| {
        let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
        let folder = Simulated::new();
        let store = open(&folder, &roomy).unwrap();
        for n in 0..segments {
            let (_, instant, bytes) = row(n);
            store.append_sealed(&[Event { instant, bytes: &bytes }], None).unwrap();
        }
        let mut medium = folder.medium();
        store.compact().unwrap();
        drop(store);
        let gone: Vec<String> = names(&medium, ".segment");
        for name in names(&folder.medium(), ".segment").iter().chain(&names(&folder.medium(), ".manifest")) {
            put(&mut medium, name, &contents(&folder.medium(), name));
        }
        for name in names(&medium, ".manifest") {
            if folder.kind(&name).unwrap().is_none() {
                medium.apply(&Change::Remove(name));
            }
        }
        let folder = Simulated::with(medium);
        let before = folder.calls();
        let done = repair(&folder);
        assert_eq!((done.events, done.unnamed.len()), (segments, gone.len()));
        folder.calls() - before
    };
    let (few, many) = (calls(40), calls(160));
    assert!(many < few * 8, "{few} calls, with four times as many files {many}");
}

/// Each time they were stored once more.
#[test]
fn events_that_got_new_numbers_get_them_only_once() {
    let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
    for log in [false, true] {
        let folder = Simulated::new();
        let store = open(&folder, &roomy).unwrap();
        append_rows(&store, 0..10);
        store.seal().unwrap();
        drop(store);
        let older = folder.medium();
        let store = open(&folder, &roomy).unwrap();
        // Not in the order of their instants.
        for n in (10..20).rev() {
            store.append(&[Event { instant: n, bytes: &row(n).2 }]).unwrap();
        }
        if !log {
            store.seal().unwrap();
        }
        drop(store);
        let newer = folder.medium();
        let away = names(&newer, if log { ".log" } else { ".segment" });
        let away = away.into_iter().rfind(|name| older.find(name).is_none()).unwrap();
        let (_, ending) = away.split_once('.').unwrap();
        let put_back = |folder: &Simulated, number: u64| {
            let mut medium = folder.medium();
            put(&mut medium, &format!("{number:016x}.{ending}"), &contents(&newer, &away));
            Simulated::with(medium)
        };
        let folder = Simulated::with(older);
        let store = open(&folder, &roomy).unwrap();
        append_rows(&store, 500..510);
        drop(store);
        // Under two names: they are the same events.
        let folder = put_back(&put_back(&folder, 0xf0), 0xf1);
        let done = repair(&folder);
        let told: Vec<(u64, u64, u64)> =
            done.unnamed.iter().map(|file| (file.regained, file.renumbered, file.known)).collect();
        assert_eq!((done.events, told), (30, vec![(10, 10, 0), (0, 0, 10)]), "log: {log}");
        let expected = rows(&open(&folder, &roomy).unwrap().snapshot());
        assert_eq!(expected.len(), 30);
        // Whether the manifest or a segment has changed since.
        let again = || {
            let folder = put_back(&folder, 0xff0);
            (repair(&folder), folder)
        };
        let is_known = |done: &Repair| {
            done.unnamed.iter().map(|file| (file.regained, file.known)).eq([(0, 10)])
                && done.rebuilt.is_none()
        };
        let first = again().0;
        assert!(is_known(&first), "{first:?}");
        open(&folder, &roomy).unwrap().compact().unwrap();
        let (done, last) = again();
        assert!(is_known(&done));
        assert_eq!(rows(&open(&last, &roomy).unwrap().snapshot()), expected);
        // What is lost comes back under the number that it had.
        let new = expected.last().unwrap().0;
        let mut medium = folder.medium();
        let segments = names(&medium, ".segment");
        segments.iter().for_each(|name| medium.apply(&Change::Remove(name.clone())));
        let lost = Simulated::with(medium);
        repair(&lost);
        let lost = put_back(&lost, 0xff0);
        repair(&lost);
        let found = rows(&open(&lost, &roomy).unwrap().snapshot());
        let back = expected.iter().filter(|row| row.0 > 1 << 40);
        assert!(found.iter().filter(|row| row.0 > 1 << 40).eq(back), "log: {log}, {found:?}");
        assert_eq!(found.last().unwrap().0, new);
        // What was deleted does not.
        let store = open(&folder, &roomy).unwrap();
        let keys: Vec<Key> = expected
            .iter()
            .filter(|row| row.0 > 1 << 40)
            .map(|row| Key { instant: row.1, arrival: row.0 })
            .collect();
        assert_eq!(store.delete(&keys).unwrap().events, 10);
        store.erase().unwrap();
        drop(store);
        let (done, last) = again();
        assert_eq!((done.events, rows(&open(&last, &roomy).unwrap().snapshot()).len()), (20, 20));
    }
}

/// The last file decides nothing: one that is to be removed, and still there, kept them from being compared with the store, and they were gone.
#[test]
fn events_that_need_new_numbers_get_them_beside_a_file_that_waits_for_its_removal() {
    let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
    let folder = Simulated::new();
    let store = open(&folder, &roomy).unwrap();
    for rows in [0..5, 5..10] {
        append_rows(&store, rows);
        store.seal().unwrap();
    }
    drop(store);
    let older = folder.medium();
    let store = open(&folder, &roomy).unwrap();
    append_rows(&store, 10..20);
    store.seal().unwrap();
    drop(store);
    let newer = folder.medium();
    let away = names(&newer, ".segment").into_iter().rfind(|name| older.find(name).is_none()).unwrap();
    let folder = Simulated::with(older);
    let store = open(&folder, &roomy).unwrap();
    append_rows(&store, 500..510);
    folder.refuse(|change| match change {
        Change::Remove(name) if name.ends_with(".segment") => Some(std::io::ErrorKind::PermissionDenied),
        _ => None,
    });
    store.compact().unwrap();
    drop(store);
    let mut medium = folder.medium();
    let waiting = names(&medium, ".segment").len();
    assert!(waiting > 1, "{waiting}");
    put(&mut medium, "00000000000000f0.segment", &contents(&newer, &away));
    let done = repair(&Simulated::with(medium));
    let told: Vec<(u64, u64)> = done.unnamed.iter().map(|file| (file.regained, file.renumbered)).collect();
    assert_eq!((done.events, told), (30, vec![(10, 10)]), "{done:?}");
}
