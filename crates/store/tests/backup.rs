//! Backups of a store that is written to: whole whenever they are taken, whatever interrupts them, and never of two stores in one.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use support::{Row, codec, open, rows, tiny};
use tamias_store::io::{Chance, Crash, Directory, Fault, FaultKind, Medium, Simulated};
use tamias_store::{
    Backup, BackupError, Event, Key, OpenError, Options, Reader, Receipt, Repair, SourcePosition, Store,
};

fn append(store: &Store, count: u64) {
    let first = store.snapshot().events();
    let documents: Vec<String> = (first..first + count).map(|arrival| format!("{arrival:0>50}")).collect();
    let event = |(n, document): (usize, &String)| (first * 10 + n as u64 * 3 % 7, document.clone());
    let rows: Vec<(u64, String)> = documents.iter().enumerate().map(event).collect();
    let events: Vec<Event<'_>> = rows
        .iter()
        .map(|(instant, document)| Event { instant: *instant, bytes: document.as_bytes() })
        .collect();
    store
        .append_from(&events, Some(SourcePosition { name: "web", position: first + count, note: &[] }))
        .unwrap();
}

/// The folder of the backup, within that of the store: it has other files, and a name that no store uses.
fn destination(folder: &Simulated) -> Arc<dyn Directory> {
    folder.folder("backup").unwrap()
}

fn take(folder: &Simulated, copy: bool) -> Result<Backup, BackupError> {
    Backup::take_on(Arc::new(folder.clone()), &*destination(folder), copy, &mut |_, _| ())
}

/// What a backup shows, sound in every byte; nothing if there is none yet.
fn shown(folder: &Simulated) -> Option<Vec<Row>> {
    match Reader::open_on(destination(folder), tiny(), codec()) {
        Ok(reader) => {
            let snapshot = reader.snapshot().unwrap();
            assert_eq!(snapshot.verify().unwrap(), []);
            Some(rows(&snapshot))
        }
        Err(OpenError::Missing { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// A store with several segments and a log.
fn filled() -> (Simulated, Store) {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    for _ in 0..4 {
        append(&store, 6);
        store.seal().unwrap();
    }
    append(&store, 3);
    (folder, store)
}

#[test]
fn a_backup_holds_what_a_snapshot_does_and_is_brought_up_to_date() {
    for copy in [false, true] {
        let (folder, store) = filled();
        let first = take(&folder, copy).unwrap();
        assert_eq!((first.kept, first.linked, first.copied), if copy { (0, 0, 4) } else { (0, 4, 0) });
        assert_eq!(shown(&folder).unwrap(), rows(&store.snapshot()));
        let again = take(&folder, copy).unwrap();
        assert_eq!((again.kept, again.copied_bytes), (4, 0));
        // The log has grown.
        append(&store, 2);
        assert!(take(&folder, copy).unwrap().copied_bytes > 0);
        assert_eq!(shown(&folder).unwrap(), rows(&store.snapshot()));
        // What the backup has is merged, removed and sealed meanwhile.
        store.seal().unwrap();
        append(&store, 5);
        let third = take(&folder, copy).unwrap();
        assert_eq!((third.kept, third.linked + third.copied), (4, 1));
        store.compact().unwrap();
        append(&store, 1);
        let before = shown(&folder).unwrap();
        assert_eq!(before.len(), 34);
        assert_eq!(take(&folder, copy).unwrap().kept, 0);
        assert_eq!(shown(&folder).unwrap(), rows(&store.snapshot()));
        let files = destination(&folder).list().unwrap();
        assert_eq!(files.iter().filter(|name| name.contains(".segment")).count(), 1, "{files:?}");
        drop(store);
        take(&folder, copy).unwrap();
        let backup = Store::open_on(destination(&folder), tiny(), codec()).unwrap();
        assert_eq!((rows(&backup.snapshot()).len(), backup.source_position("web")), (35, Some(35)));
    }
}

/// At each flush of a backup, and before each piece that it copies, the store takes events, is sealed and compacted: nothing that these need is held meanwhile, by whichever thread.
#[test]
fn appends_wait_for_no_part_of_a_backup() {
    for copy in [false, true] {
        let (folder, store) = filled();
        let taken = Arc::new(AtomicUsize::new(0));
        let write = {
            let (store, taken, is_writing) = (store.clone(), Arc::clone(&taken), AtomicBool::new(false));
            move || {
                // Its own flushes are none of the backup.
                if !is_writing.swap(true, SeqCst) {
                    append(&store, 1);
                    match taken.fetch_add(1, SeqCst) % 8 {
                        3 => store.seal().unwrap(),
                        7 => store.compact().unwrap(),
                        _ => {}
                    }
                    is_writing.store(false, SeqCst);
                }
            }
        };
        let write = Arc::new(write);
        for _ in 0..4 {
            let before = (rows(&store.snapshot()), taken.load(SeqCst));
            let hook = Arc::clone(&write);
            folder.before_flush(move || hook());
            let from = Arc::new(folder.clone());
            Backup::take_on(from, &*destination(&folder), copy, &mut |_, _| write()).unwrap();
            folder.before_flush(|| ());
            assert!(taken.load(SeqCst) > before.1 + 2, "it was written to meanwhile");
            assert_eq!(shown(&folder).unwrap(), before.0, "it holds what was there when it began");
            append(&store, 3);
        }
        assert_eq!(store.snapshot().verify().unwrap(), []);
    }
}

#[test]
fn what_is_no_backup_of_the_store_is_left_alone() {
    let (folder, store) = filled();
    take(&folder, false).unwrap();
    let old = folder.medium();
    append(&store, 4);
    take(&folder, false).unwrap();
    drop(store);
    // Another store.
    let (other, _store) = filled();
    let taken = Backup::take_on(Arc::new(other), &*destination(&folder), false, &mut |_, _| ());
    assert!(matches!(taken, Err(BackupError::OtherStore { .. })));
    // An earlier state of this one.
    let earlier = Simulated::with(old);
    let taken = Backup::take_on(Arc::new(earlier.clone()), &*destination(&folder), true, &mut |_, _| ());
    assert!(matches!(taken, Err(BackupError::Diverged { .. })), "{taken:?}");
    assert_eq!(shown(&folder).unwrap().len(), 31);
    // A backup that somebody writes to is none.
    drop(Store::open_on(destination(&folder), tiny(), codec()).unwrap());
    assert!(matches!(take(&folder, false), Err(BackupError::Written { .. })));
    let taken = Backup::take_on(Arc::new(folder.clone()), &folder, false, &mut |_, _| ());
    assert!(matches!(taken, Err(BackupError::Written { .. })), "onto itself: {taken:?}");
    assert_eq!(shown(&folder).unwrap().len(), 31);
}

#[test]
fn a_restored_store_goes_on_and_gives_no_number_twice() {
    let (folder, store) = filled();
    take(&folder, false).unwrap();
    let before = rows(&store.snapshot());
    append(&store, 2);
    let lost = store.snapshot().events();
    drop(store);
    let to = folder.folder("restored").unwrap();
    Backup::restore_on(destination(&folder), &*to, false, &mut |_, _| ()).unwrap();
    let again = Backup::restore_on(destination(&folder), &*to, false, &mut |_, _| ());
    assert!(matches!(again, Err(BackupError::NotEmpty { .. })));
    let restored = Store::open_on(Arc::clone(&to), tiny(), codec()).unwrap();
    assert_eq!(rows(&restored.snapshot()), before);
    assert_eq!(restored.source_position("web"), Some(before.len() as u64));
    let arrivals = restored.append(&[Event { instant: 1, bytes: b"after" }]).unwrap();
    assert!(arrivals.start >= lost && arrivals.start >= 1 << 40);
    restored.seal().unwrap();
    drop(restored);
    let numbers = |ending: &str| {
        let mut names = to.list().unwrap();
        names.retain(|name| name.ends_with(ending));
        names.iter().map(|name| u64::from_str_radix(&name[..16], 16).unwrap()).collect::<Vec<_>>()
    };
    assert!(numbers(".manifest").iter().all(|number| *number >= 1 << 32));
    assert!(numbers(".segment").iter().any(|number| *number >= 1 << 32));
    // It is another line: the backups of before stay as they are.
    let taken = Backup::take_on(Arc::clone(&to), &*destination(&folder), false, &mut |_, _| ());
    assert!(matches!(taken, Err(BackupError::Diverged { .. })), "{taken:?}");
    let second = folder.folder("second").unwrap();
    Backup::take_on(Arc::clone(&to), &*second, false, &mut |_, _| ()).unwrap();
    Backup::take_on(to, &*second, false, &mut |_, _| ()).unwrap();
    let second = Reader::open_on(second, tiny(), codec()).unwrap();
    assert_eq!(rows(&second.snapshot().unwrap()).len(), before.len() + 1);
    let (other, _store) = filled();
    let foreign = other.folder("strange").unwrap();
    foreign.create("readme.txt").unwrap();
    assert!(Backup::restore_on(Arc::new(other.clone()), &*foreign, true, &mut |_, _| ()).is_err());
}

/// All losses of power after each change of some work.
fn images(before: Medium, folder: &Simulated, from: usize, mut check: impl FnMut(Simulated)) -> usize {
    let (mut medium, mut chance, mut images) = (before, Chance(5), 0);
    let changes = folder.changes().split_off(from);
    for at in 0..=changes.len() {
        for crash in Crash::ALL {
            check(Simulated::with(medium.after(crash, &mut chance)));
            images += 1;
        }
        if let Some(change) = changes.get(at) {
            medium.apply(change);
        }
    }
    images
}

#[test]
fn whatever_interrupts_it_a_backup_is_the_old_one_or_the_new_one() {
    let mut count = 0;
    for copy in [false, true] {
        let (folder, store) = filled();
        let first = rows(&store.snapshot());
        destination(&folder);
        folder.flush().unwrap();
        let (before, from) = (folder.medium(), folder.change_count());
        take(&folder, copy).unwrap();
        count += images(before, &folder, from, |left| {
            let there = shown(&left);
            assert!(there.is_none_or(|there| there == first));
            take(&left, copy).unwrap();
            assert_eq!(shown(&left).unwrap(), first);
            assert_eq!(rows(&open(&left, &tiny()).unwrap().snapshot()), first);
        });
        append(&store, 2);
        take(&folder, copy).unwrap();
        append(&store, 3);
        let old = shown(&folder).unwrap();
        for merge in [false, true] {
            if merge {
                take(&folder, copy).unwrap();
                append(&store, 1);
                store.seal().unwrap();
                store.compact().unwrap();
                append(&store, 1);
            }
            let old = if merge { shown(&folder).unwrap() } else { old.clone() };
            let new = rows(&store.snapshot());
            let (before, from) = (folder.medium(), folder.change_count());
            take(&folder, copy).unwrap();
            count += images(before, &folder, from, |left| {
                let there = shown(&left).unwrap();
                assert!(there == old || there == new);
                take(&left, copy).unwrap();
                assert_eq!(shown(&left).unwrap(), new);
            });
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn whichever_call_fails_the_backup_before_is_there() {
    for at in 0..150 {
        for kind in [FaultKind::Device, FaultKind::NoSpace] {
            let (folder, store) = filled();
            take(&folder, at % 2 == 0).unwrap();
            let old = rows(&store.snapshot());
            append(&store, 2);
            store.seal().unwrap();
            append(&store, 2);
            let new = rows(&store.snapshot());
            let to = destination(&folder);
            folder.fail(Some(Fault { at: folder.calls() + at, forever: false, kind }));
            let taken = Backup::take_on(Arc::new(folder.clone()), &*to, at % 2 == 0, &mut |_, _| ());
            folder.fail(None);
            let there = shown(&folder).unwrap();
            assert!(there == new || (taken.is_err() && there == old), "{at}");
            take(&folder, at % 2 == 0).unwrap();
            assert_eq!((shown(&folder).unwrap(), rows(&store.snapshot())), (new.clone(), new));
        }
    }
}

#[test]
fn a_backup_beside_a_busy_writer_has_whole_batches_and_none_missing() {
    let folder = Simulated::new();
    let store = open(&folder, &Options { background: true, ..tiny() }).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..400 {
                append(&store, 3);
                if round % 9 == 0 {
                    store.seal().unwrap();
                }
            }
            done.store(true, SeqCst);
        });
        let mut backups = 0;
        while !done.load(SeqCst) || backups == 0 {
            let least = store.snapshot().events();
            take(&folder, backups % 2 == 0).unwrap();
            let there = shown(&folder).unwrap();
            assert!(there.len() as u64 >= least && there.len().is_multiple_of(3));
            assert!(there.iter().map(|row| row.0).eq(0..there.len() as u64));
            backups += 1;
        }
    });
    take(&folder, false).unwrap();
    assert_eq!(shown(&folder).unwrap(), rows(&store.snapshot()));
}

const FROM: &str = "TAMIAS_BACKUP_FROM";

/// No test of its own: what the other test starts as a process, to be killed.
#[test]
fn backup_process() {
    let Some(from) = std::env::var_os(FROM) else { return };
    let from = Path::new(&from);
    let to = from.with_extension("backup");
    println!("\nbegun");
    std::io::stdout().flush().unwrap();
    for round in 0.. {
        Backup::take(from, &to, round % 2 == 0, &mut |_, _| ()).unwrap();
    }
}

#[test]
fn a_killed_backup_of_a_written_store_is_sound() {
    const ROUNDS: usize = 60;
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("logs");
    let to = from.with_extension("backup");
    let options = Options { segment_bytes: 20_000, segments: support::LAYOUT, ..tiny() };
    let store = Store::open(&from, options, codec()).unwrap();
    append(&store, 30);
    Backup::take(&from, &to, false, &mut |_, _| ()).unwrap();
    let mut chance = Chance(11);
    for round in 0..ROUNDS {
        let least = Reader::open(&to, tiny(), codec()).unwrap().snapshot().unwrap().events();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([&*support::test_name(module_path!(), "backup_process"), "--exact", "--nocapture"])
            .env(FROM, &from)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..1 + chance.below(30) {
            append(&store, 1 + chance.below(20) as u64);
            if chance.below(5) == 0 {
                store.seal().unwrap();
            }
            if chance.below(11) == 0 {
                store.compact().unwrap();
            }
            std::thread::sleep(std::time::Duration::from_micros(chance.below(3000) as u64));
        }
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "it was killed");
        let reader = Reader::open(&to, tiny(), codec()).unwrap();
        let snapshot = reader.snapshot().unwrap();
        assert_eq!(snapshot.verify().unwrap(), [], "round {round}");
        let there = rows(&snapshot);
        assert!(there.len() as u64 >= least);
        assert!(there.iter().map(|row| row.0).eq(0..there.len() as u64));
    }
    Backup::take(&from, &to, false, &mut |_, _| ()).unwrap();
    let reader = Reader::open(&to, tiny(), codec()).unwrap();
    assert_eq!(rows(&reader.snapshot().unwrap()), rows(&store.snapshot()));
}

/// Each backup counts its own manifests: what tells their states apart is the store's.
#[test]
fn a_backup_of_a_backup_is_as_old_as_that() {
    let (folder, store) = filled();
    let [a, b] = ["a", "b"].map(|name| folder.folder(name).unwrap());
    let source: Arc<dyn Directory> = Arc::new(folder.clone());
    let take = |from: &Arc<dyn Directory>, to: &Arc<dyn Directory>| {
        Backup::take_on(Arc::clone(from), &**to, true, &mut |_, _| ())
    };
    take(&source, &a).unwrap();
    append(&store, 6);
    store.seal().unwrap();
    take(&source, &b).unwrap();
    let older = take(&a, &b);
    assert!(matches!(older, Err(BackupError::Diverged { .. })), "{older:?}");
    append(&store, 6);
    store.seal().unwrap();
    take(&source, &a).unwrap();
    take(&a, &b).unwrap();
    let shown = Reader::open_on(b, tiny(), codec()).unwrap().snapshot().unwrap();
    assert_eq!(rows(&shown), rows(&store.snapshot()));
}

#[test]
fn deleted_events_are_not_counted() {
    let (folder, store) = filled();
    store.delete(&[Key { instant: 0, arrival: 0 }]).unwrap();
    // The log was sealed by that.
    assert_eq!(take(&folder, false).unwrap().sealed_events, 26);
    assert_eq!(shown(&folder).unwrap().len(), 26);
}

/// Such a backup used to be refused as one of another line of the store, for ever.
#[test]
fn a_segment_of_a_backup_that_was_cut_short_is_copied_again() {
    let (folder, store) = filled();
    take(&folder, true).unwrap();
    let names = destination(&folder).list().unwrap();
    let segment = names.iter().find(|name| name.ends_with(".segment")).unwrap();
    for length in [0, 100] {
        destination(&folder).open_for_writing(segment).unwrap().set_length(length).unwrap();
        let again = take(&folder, true).unwrap();
        assert_eq!((again.kept, again.copied), (3, 1));
        assert_eq!(shown(&folder).unwrap(), rows(&store.snapshot()));
    }
}

/// It used to pass for the original, and what only that had left the backup.
#[test]
fn a_restored_store_whose_manifest_was_lost_is_not_taken_for_its_original() {
    let (folder, store) = filled();
    take(&folder, true).unwrap();
    let restored = Simulated::new();
    Backup::restore_on(destination(&folder), &restored, true, &mut |_, _| ()).unwrap();
    append(&store, 3);
    take(&folder, true).unwrap();
    let before = shown(&folder).unwrap();
    for name in restored.list().unwrap().iter().filter(|name| name.ends_with(".manifest")) {
        restored.remove(name).unwrap();
    }
    Repair::run_on(Arc::new(restored.clone()), &tiny(), codec(), false, &mut |_, _| ()).unwrap();
    let taken = Backup::take_on(Arc::new(restored), &*destination(&folder), true, &mut |_, _| ());
    assert!(matches!(taken, Err(BackupError::Diverged { .. })), "{taken:?}");
    assert_eq!(shown(&folder).unwrap(), before);
}

/// Backups had no receipts: a repair of a restored store took erased events in again that were in an older file.
#[test]
fn a_restored_store_knows_what_was_erased() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    append(&store, 3);
    let log = folder.list().unwrap().into_iter().find(|name| name.ends_with(".log")).unwrap();
    let before = folder.medium();
    let erased = rows(&store.snapshot())[1].clone();
    store.delete(&[Key { instant: erased.1, arrival: erased.0 }]).unwrap();
    assert!(store.erase().unwrap().receipt.is_some());
    for _ in 0..2 {
        take(&folder, true).unwrap();
        append(&store, 1);
    }
    let restored = Simulated::new();
    Backup::restore_on(destination(&folder), &restored, true, &mut |_, _| ()).unwrap();
    let receipts = |folder: &Simulated| {
        Receipt::list_on(folder).unwrap().into_iter().map(|(_, receipt)| receipt).collect::<Vec<_>>()
    };
    assert_eq!((receipts(&restored), receipts(&restored).len()), (receipts(&folder), 1));
    let bytes = before.contents(before.find(&log).unwrap());
    restored.create(&log).unwrap().write_at(0, bytes).unwrap();
    let repaired =
        Repair::run_on(Arc::new(restored.clone()), &tiny(), codec(), false, &mut |_, _| ()).unwrap();
    assert_eq!(repaired.unnamed.iter().map(|file| file.regained).sum::<u64>(), 0, "{repaired:?}");
    assert!(rows(&open(&restored, &tiny()).unwrap().snapshot()).iter().all(|row| row.2 != erased.2));
}
