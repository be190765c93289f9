//! Folders that refuse something again and again: a file that may not be opened, one that cannot be looked at, a file system without second names.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use support::refusing::{Ask, Refusing, unreadable};
use support::{Row, append_rows, codec, forty, names, rows, tiny};
use tamias_store::io::{Directory, Fault, FaultKind, Simulated};
use tamias_store::{Backup, BackupError, Event, OpenError, Options, Reader, Repair, Store};

/// Alters the beginning of a file.
fn damage_header(folder: &Simulated, name: &str) {
    let file = folder.open_for_writing(name).unwrap();
    file.write_at(20, b"XXXX").unwrap();
}

fn repair(folder: impl Directory + 'static) -> Result<Repair, OpenError> {
    Repair::run_on(Arc::new(folder), &tiny(), codec(), false, &mut |_, _| ())
}

fn shown(folder: &Simulated) -> Vec<Row> {
    rows(&support::open(folder, &tiny()).unwrap().snapshot())
}

#[test]
fn a_damaged_header_is_repaired_once_where_files_have_one_name_only() {
    for ending in [".segment", ".log"] {
        let folder = forty();
        let name = names(&folder, ending)[0].clone();
        damage_header(&folder, &name);
        let without_links =
            || Refusing::new(&folder, |ask, _| (ask == Ask::Link).then(|| io::ErrorKind::Unsupported.into()));
        assert!(!repair(without_links()).unwrap().files.is_empty(), "{name}");
        assert!(!names(&folder, ending).contains(&name), "{name} is a copy in quarantine, and nowhere else");
        let again = repair(without_links()).unwrap();
        assert!(again.files.is_empty() && again.unnamed.is_empty(), "{name}: {again:?}");
        assert_eq!(names(&folder, ending).len(), if ending == ".log" { 1 } else { 3 });
    }
}

#[test]
fn a_file_that_cannot_be_opened_ends_a_repair_and_nothing_is_changed() {
    let folder = forty();
    let segments = names(&folder, ".segment");
    damage_header(&folder, &segments[1]);
    let bad = segments[0].clone();
    let odd = Refusing::new(&folder, move |ask, name| {
        (name == bad && matches!(ask, Ask::Look | Ask::Open)).then(unreadable)
    });
    let before = folder.list().unwrap();
    let error = repair(odd).unwrap_err();
    let OpenError::Unreadable(failure) = &error else { panic!("{error}") };
    assert!(failure.path.ends_with(&segments[0]) && error.to_string().contains("move it out"), "{error}");
    assert_eq!(folder.list().unwrap(), before);
    // Whoever moves it away gives it up for now.
    folder.rename(&segments[0], "elsewhere").unwrap();
    assert_eq!(repair(folder.clone()).unwrap().files.len(), 2);
    assert!(shown(&folder).iter().map(|row| row.0).eq(10..40), "the others are all there");
    // The medium gives it back later.
    folder.rename("elsewhere", &segments[0]).unwrap();
    let regained = repair(folder.clone()).unwrap();
    assert_eq!(regained.unnamed.iter().map(|file| file.regained).sum::<u64>(), 10);
    assert_eq!(shown(&folder).len(), 40);
}

/// One failing call took a sound segment out of the store.
#[test]
fn a_read_or_an_opening_that_fails_once_takes_nothing_out_of_the_store() {
    let calls = {
        let folder = forty();
        let from = folder.calls();
        repair(folder.clone()).unwrap();
        folder.calls() - from
    };
    for at in 0..calls {
        let folder = forty();
        folder.fail(Some(Fault { at: folder.calls() + at, forever: false, kind: FaultKind::Unreadable }));
        let repaired = repair(folder.clone()).unwrap();
        assert_eq!((repaired.files.len(), repaired.events), (0, 40), "call {at}");
    }
    for name in names(&forty(), ".segment").into_iter().chain(names(&forty(), ".log")) {
        let (folder, asked) = (forty(), AtomicBool::new(false));
        let odd = Refusing::new(&folder, move |ask, asked_for| {
            let first = ask == Ask::Open && asked_for == name && !asked.swap(true, Relaxed);
            first.then(unreadable)
        });
        let repaired = repair(odd).unwrap();
        assert_eq!((repaired.files.len(), repaired.events), (0, 40));
    }
}

/// The store was emptied, as if each file by itself were damaged.
#[test]
fn a_medium_that_gives_nothing_any_more_is_no_damage() {
    let folder = forty();
    let (before, from) = (folder.list().unwrap(), folder.calls());
    repair(folder.clone()).unwrap();
    for at in 0..folder.calls() - from {
        let folder = forty();
        folder.fail(Some(Fault { at: folder.calls() + at, forever: true, kind: FaultKind::Unreadable }));
        match repair(folder.clone()) {
            Ok(repaired) => assert_eq!((repaired.files.len(), repaired.events), (0, 40), "call {at}"),
            Err(_) => assert_eq!(folder.list().unwrap(), before, "call {at}"),
        }
        folder.fail(None);
        assert_eq!(repair(folder.clone()).unwrap().files, []);
    }
}

#[test]
fn a_log_of_nobodys_that_may_not_be_opened_does_not_keep_the_store_shut() {
    let folder = forty();
    let newest = names(&folder, ".manifest").pop().unwrap();
    let log = names(&folder, ".log")[0].clone();
    // A log with the number of a later one, which no manifest names.
    let stray = "00000000000000ff.log";
    folder.link(&log, stray).unwrap();
    let odd = Refusing::new(&folder, move |ask, name| {
        (ask == Ask::Open && name == stray).then(|| io::ErrorKind::PermissionDenied.into())
    });
    let store = Store::open_on(Arc::new(odd.clone()), tiny(), codec()).unwrap();
    assert!(rows(&store.snapshot()).iter().map(|row| row.0).eq(0..40));
    let next = store.append(&[Event { instant: 1, bytes: b"later" }]).unwrap().start;
    assert!(next >= 1 << 40, "nobody knows which numbers it has: {next}");
    drop(store);
    assert!(names(&folder, ".manifest").pop().unwrap() > newest);
    let repaired = repair(odd).unwrap();
    assert!(repaired.unnamed.is_empty());
    assert!(matches!(&repaired.left[..], [left] if left.file == folder.path(stray)), "{repaired:?}");
    assert!(folder.kind(stray).unwrap().is_some(), "what nobody could look at stays where it is");
    assert_eq!(shown(&folder).len(), 41);
    assert_eq!(repair(folder.clone()).unwrap().unnamed.len(), 1);
    assert!(folder.kind(stray).unwrap().is_none());
}

#[test]
fn where_a_lock_keeps_others_from_reading_no_log_is_locked() {
    let folder = forty();
    let (log, locked) = (names(&folder, ".log")[0].clone(), Arc::new(AtomicBool::new(false)));
    let (name, is_locked) = (log.clone(), Arc::clone(&locked));
    let odd = Refusing::new(&folder, move |ask, asked| match ask {
        Ask::Lock | Ask::Unlock if asked == name => {
            is_locked.store(ask == Ask::Lock, Relaxed);
            None
        }
        Ask::Open if asked == name => is_locked.load(Relaxed).then(|| io::ErrorKind::PermissionDenied.into()),
        _ => None,
    });
    let store = Store::open_on(Arc::new(odd.clone()), tiny(), codec()).unwrap();
    append_rows(&store, 40..50);
    let reader = Reader::open_on(Arc::new(odd), tiny(), codec()).unwrap();
    assert!(rows(&reader.snapshot().unwrap()).iter().map(|row| row.0).eq(0..50));
    assert!(!locked.load(Relaxed));
    drop((store, reader));
    assert_eq!(shown(&folder).len(), 50);
}

#[test]
fn a_store_is_repaired_without_its_receipts_and_takes_nothing_in_then() {
    let folder = forty();
    folder.folder("receipts").unwrap();
    let segments = names(&folder, ".segment");
    let older = Simulated::with(folder.medium());
    let store = support::open(&folder, &tiny()).unwrap();
    store.compact().unwrap();
    drop(store);
    // One that was compacted is back.
    let stray = "00000000000000ff.segment";
    let bytes = {
        let medium = older.medium();
        medium.contents(medium.find(&segments[0]).unwrap()).to_vec()
    };
    folder.create(stray).unwrap().write_at(0, &bytes).unwrap();
    damage_header(&folder, &names(&folder, ".log")[0]);
    let odd = Refusing::new(&folder, |ask, name| (ask == Ask::List && name == "receipts/").then(unreadable));
    let repaired = repair(odd).unwrap();
    assert_eq!((repaired.files.len(), repaired.unnamed.len()), (1, 0));
    assert!(matches!(&repaired.left[..], [left] if left.file == folder.path("receipts")), "{repaired:?}");
    assert!(folder.kind(stray).unwrap().is_some(), "it waits for a repair that can look");
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap();
    assert_eq!(reader.snapshot().unwrap().verify().unwrap(), []);
}

#[test]
fn what_was_taken_out_is_not_removed_while_nobody_knows_what_was_erased() {
    let folder = forty();
    folder.folder("receipts").unwrap();
    let before = names(&folder, ".segment");
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap();
    let held = reader.snapshot().unwrap();
    let store = support::open(&folder, &tiny()).unwrap();
    store.compact().unwrap();
    drop(store);
    drop((held, reader));
    let compacted = names(&folder, ".segment").into_iter().find(|name| !before.contains(name)).unwrap();
    folder.spoil(&compacted, 0..10_000);
    let odd = Refusing::new(&folder, |ask, name| (ask == Ask::List && name == "receipts/").then(unreadable));
    let error = repair(odd).unwrap_err().to_string();
    assert!(error.contains("receipts"), "{error}");
    let repaired = repair(folder.clone()).unwrap();
    assert_eq!(repaired.events, 40, "{repaired:?}");
    assert_eq!(shown(&folder).len(), 40);
}

fn back_up(from: &Simulated, to: &Simulated) -> Result<Backup, BackupError> {
    Backup::take_on(Arc::new(from.clone()), to, true, &mut |_, _| ())
}

#[test]
fn a_backup_past_a_bad_sector_loses_nothing_that_the_earlier_one_has() {
    let (folder, to) = (forty(), Simulated::new());
    back_up(&folder, &to).unwrap();
    let store = support::open(&folder, &tiny()).unwrap();
    append_rows(&store, 40..45);
    store.compact().unwrap();
    drop(store);
    let segment = names(&folder, ".segment").pop().unwrap();
    folder.spoil(&segment, 0..10_000);
    let before = (names(&to, ".segment"), names(&to, ".manifest"));
    let error = back_up(&folder, &to).unwrap_err();
    assert!(matches!(&error, BackupError::Damaged { damage, .. } if damage[0].file.ends_with(&segment)));
    assert!(error.to_string().contains(&segment), "{error}");
    assert_eq!((names(&to, ".segment"), names(&to, ".manifest")), before);
    let reader = Reader::open_on(Arc::new(to), tiny(), codec()).unwrap();
    assert_eq!(rows(&reader.snapshot().unwrap()).len(), 40);
}

#[test]
fn a_log_that_cannot_be_read_any_more_stays_in_a_backup_that_has_it() {
    let (folder, to) = (forty(), Simulated::new());
    back_up(&folder, &to).unwrap();
    folder.spoil(&names(&folder, ".log")[0], 0..10_000);
    back_up(&folder, &to).unwrap();
    let reader = Reader::open_on(Arc::new(to), tiny(), codec()).unwrap();
    assert_eq!(rows(&reader.snapshot().unwrap()).len(), 40);
}

#[test]
fn a_backup_whose_own_log_cannot_be_read_is_not_taken_for_whole() {
    let (folder, to) = (forty(), Simulated::new());
    back_up(&folder, &to).unwrap();
    to.spoil(&names(&to, ".log")[0], 0..10_000);
    let error = back_up(&folder, &to).unwrap_err().to_string();
    assert!(error.contains(".log"), "{error}");
}

#[test]
fn a_file_that_was_cut_short_is_as_short_in_a_backup() {
    let (folder, to) = (forty(), Simulated::new());
    let segment = names(&folder, ".segment")[0].clone();
    let file = folder.open_for_writing(&segment).unwrap();
    let whole = file.length().unwrap();
    file.set_length(100).unwrap();
    let backup = back_up(&folder, &to).unwrap();
    assert!(matches!(&backup.damage[..], [damage] if damage.bytes == (100..whole)), "{:?}", backup.damage);
    assert_eq!(to.open(&segment).unwrap().length().unwrap(), 100);
    assert_eq!(back_up(&folder, &to).unwrap().kept, 3, "it is there already");
}

#[test]
fn a_backup_has_all_that_can_be_read_and_names_the_rest() {
    let folder = forty();
    let (segments, logs) = (names(&folder, ".segment"), names(&folder, ".log"));
    folder.spoil(&segments[0], 0..10_000);
    let gone = segments[1].clone();
    let odd = Refusing::new(&folder, move |ask, name| (ask == Ask::Open && name == gone).then(unreadable));
    let to = Simulated::new();
    let backup = Backup::take_on(Arc::new(odd), &to, true, &mut |_, _| ()).unwrap();
    let mut named: Vec<String> = backup
        .damage
        .iter()
        .map(|damage| damage.file.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    named.dedup();
    assert_eq!(named, segments[..2]);
    assert_eq!(names(&to, ".log"), logs);
    let reader = Reader::open_on(Arc::new(to.clone()), Options { ..tiny() }, codec()).unwrap();
    let damage = reader.snapshot().unwrap().verify().unwrap();
    assert!(damage.iter().all(|damage| !damage.file.ends_with(&segments[2])) && !damage.is_empty());
    repair(to.clone()).unwrap();
    assert!(shown(&to).iter().map(|row| row.0).eq(20..40), "what could be read is all there");
}

#[test]
fn a_log_that_reads_otherwise_the_second_time_is_not_taken_for_repaired() {
    let damaged = forty();
    let log = names(&damaged, ".log")[0].clone();
    let file = damaged.open_for_writing(&log).unwrap();
    let mut bytes = vec![0; file.length().unwrap() as usize];
    file.read_at(0, &mut bytes).unwrap();
    let at = bytes.windows(8).position(|window| window == b"event 34").unwrap();
    file.write_at(at as u64, b"E").unwrap();
    let (mut told, mut calls) = (0, 0);
    for call in 0.. {
        let folder = Simulated::with(damaged.medium());
        let from = folder.calls();
        folder.fail(Some(Fault { at: from + call, forever: true, kind: FaultKind::Unreadable }));
        let repaired = repair(folder.clone());
        calls = calls.max(folder.calls() - from);
        folder.fail(None);
        match repaired {
            Ok(repaired) => assert_eq!(shown(&folder).len() as u64, repaired.events, "call {call}"),
            Err(error) => {
                told += usize::from(error.to_string().contains("does not read as it did a moment ago"));
                assert_eq!(repair(folder.clone()).unwrap().events, 39, "call {call}: {error}");
            }
        }
        if call > calls {
            break;
        }
    }
    assert!(told > 0, "some read is the second one of the log");
}
