//! Manifests that are older than the files beside them, damaged, lost, or another store's: nothing sound is deleted, and all of it comes back.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;

use support::{Row, append_rows, open, row, rows, tiny};
use tamias_store::format::FRAME_BYTES;
use tamias_store::io::{Chance, Change, Crash, Directory, Fault, FaultKind, Medium, Simulated};
use tamias_store::{
    Event, OpenError, Options, Reader, Rebuilt, RegainedFile, Removed, Repair, Retention, SourcePosition,
    Store, Unnamed, UnnamedKind,
};

fn options() -> Options {
    // A segment holds some forty events, so that there are many of them.
    Options { segment_bytes: 500, ..tiny() }
}

/// Appends events numbered from `first` on, some sealed, some left in the log, with the position of a source.
fn append(store: &Store, range: std::ops::Range<u64>) {
    for first in range.clone().step_by(10) {
        let documents: Vec<String> = (first..first + 10).map(|n| format!("{{\"n\":{n}}}")).collect();
        let event = |(document, n): (&'_ String, u64)| (100 + (n * 7) % 400, document.clone());
        let events: Vec<(u64, String)> = documents.iter().zip(first..).map(event).collect();
        let events: Vec<Event<'_>> = events
            .iter()
            .map(|(instant, bytes)| Event { instant: *instant, bytes: bytes.as_bytes() })
            .collect();
        let source = SourcePosition { name: "web", position: first + 10, note: &[] };
        store.append_from(&events, Some(source)).unwrap();
        if first % 70 == 60 {
            store.seal().unwrap();
        }
    }
}

/// A store of 700 events, closed, and the same with 800 more, of which some were compacted and some still are in the log.
fn before_and_after() -> (Medium, Medium, Vec<Row>) {
    let folder = Simulated::new();
    let store = open(&folder, &options()).unwrap();
    append(&store, 0..700);
    drop(store);
    let before = folder.medium();
    let store = open(&folder, &options()).unwrap();
    append(&store, 700..1100);
    store.compact().unwrap();
    append(&store, 1100..1500);
    let expected = rows(&store.snapshot());
    assert_eq!(expected.len(), 1500);
    drop(store);
    (before, folder.medium(), expected)
}

fn names(medium: &Medium, ending: &str) -> Vec<String> {
    medium.names().filter(|name| name.ends_with(ending) && !name.contains('/')).cloned().collect()
}

fn contents(medium: &Medium, name: &str) -> Vec<u8> {
    medium.contents(medium.find(name).unwrap()).to_vec()
}

/// Whether a file has a document, as text or as the columns of these tests have it.
fn holds(file: &[u8], document: &[u8]) -> bool {
    let turned = support::turned(document);
    file.windows(document.len()).any(|window| window == document || window == turned)
}

fn put(medium: &mut Medium, name: &str, bytes: &[u8]) {
    medium.apply(&Change::Create(name.to_owned()));
    let file = medium.find(name).unwrap();
    medium.apply(&Change::Write(file, 0, bytes.into()));
    medium.apply(&Change::Flush(file, true));
}

/// Every segment and log of `before` is in `after` or its quarantine, byte for byte.
fn check_nothing_lost(before: &Medium, after: &Medium) {
    for name in names(before, ".segment").into_iter().chain(names(before, ".log")) {
        let mut bytes = contents(before, &name);
        if name.ends_with(".log") && bytes.ends_with(&[1, 0, 0, 0]) {
            // Whoever goes on with a log puts another batch in the place of the one with which it was closed.
            bytes.truncate(bytes.len() - FRAME_BYTES);
        }
        let there = [name.clone(), format!("quarantine/{name}")]
            .into_iter()
            .any(|name| after.find(&name).is_some_and(|file| after.contents(file).starts_with(&bytes)));
        assert!(there, "{name} is lost");
    }
}

fn repair(folder: &Simulated) -> Repair {
    let run = |dry_run| {
        Repair::run_on(Arc::new(folder.clone()), &options(), support::codec(), dry_run, &mut |_, _| ())
    };
    let planned = run(true).unwrap();
    let done = run(false).unwrap();
    assert_eq!(planned, done, "a dry run tells what would be done");
    let again = run(false).unwrap();
    assert_eq!((again.files, again.unnamed, again.rebuilt), (vec![], vec![], None), "once is enough");
    done
}

fn unnamed(folder: &Simulated) -> Vec<Unnamed> {
    Reader::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap().unnamed().unwrap()
}

/// After a repair the store holds all of these, and what else was appended.
fn check_repaired(folder: &Simulated, expected: &[Row], more: usize) {
    let store = open(folder, &options()).unwrap();
    let found = rows(&store.snapshot());
    assert!(expected.iter().all(|row| found.contains(row)), "every acknowledged event is back, with its id");
    assert_eq!(found.len(), expected.len() + more);
    assert_eq!(store.snapshot().verify().unwrap(), []);
    assert_eq!(unnamed(folder), []);
    let next = store.append(&[Event { instant: 1, bytes: b"next" }]).unwrap().start;
    assert!(found.iter().all(|row| row.0 < next), "no number is given twice");
}

#[test]
fn an_older_manifest_deletes_no_sound_data() {
    let (before, after, expected) = before_and_after();
    // Without the newest manifest, and with the files of a backup over all others, or the manifest alone.
    for whole_backup in [true, false] {
        let mut medium = after.clone();
        for name in names(&after, ".manifest") {
            medium.apply(&Change::Remove(name));
        }
        for name in medium_names(&before).filter(|name| whole_backup || name.ends_with(".manifest")) {
            put(&mut medium, &name, &contents(&before, &name));
        }
        let folder = Simulated::with(medium.clone());
        let events = unnamed(&folder).iter().filter(|file| file.kind == UnnamedKind::Events).count();
        assert!(events > 2, "verify tells of them");
        // Reading and writing go on, and take nothing away.
        let store = open(&folder, &options()).unwrap();
        assert!(store.is_source_lost("web") && store.is_source_lost("another"));
        store.append(&[Event { instant: 1, bytes: b"meanwhile" }]).unwrap();
        store.seal().unwrap();
        store.compact().unwrap();
        drop(store);
        drop(open(&folder, &options()).unwrap());
        check_nothing_lost(&after, &folder.medium());
        let done = repair(&folder);
        assert_eq!(done.rebuilt, Some(Rebuilt::Stale));
        assert_eq!(done.events, 1501);
        assert_eq!(done.lost_sources, Vec::<String>::new(), "the segments tell where sources stood");
        check_nothing_lost(&after, &folder.medium());
        check_repaired(&folder, &expected, 1);
        let store = open(&folder, &options()).unwrap();
        assert_eq!((store.source_position("web"), store.is_source_lost("web")), (Some(1500), false));
    }
}

fn medium_names(medium: &Medium) -> impl Iterator<Item = String> {
    medium.names().filter(|name| name.contains('.') && !name.contains('/')).cloned()
}

#[test]
fn repair_takes_in_what_yesterdays_manifest_does_not_name() {
    let (before, after, expected) = before_and_after();
    let mut medium = after.clone();
    for name in names(&after, ".manifest") {
        medium.apply(&Change::Remove(name));
    }
    let manifest = names(&before, ".manifest").pop().unwrap();
    put(&mut medium, &manifest, &contents(&before, &manifest));
    let folder = Simulated::with(medium);
    assert_eq!(repair(&folder).events, 1500);
    check_nothing_lost(&after, &folder.medium());
    check_repaired(&folder, &expected, 0);
}

#[test]
fn a_lost_or_damaged_manifest_is_rebuilt_from_segments_and_log() {
    let (_, after, expected) = before_and_after();
    let manifest = names(&after, ".manifest").pop().unwrap();
    for damaged in [false, true] {
        let mut medium = after.clone();
        medium.apply(&Change::Remove(manifest.clone()));
        if damaged {
            let mut bytes = contents(&after, &manifest);
            bytes[100] ^= 1;
            put(&mut medium, &manifest, &bytes);
        }
        let folder = Simulated::with(medium);
        let refused = open(&folder, &options()).unwrap_err();
        match damaged {
            true => assert!(matches!(refused, OpenError::ManifestDamaged { .. })),
            false => assert!(matches!(refused, OpenError::ManifestMissing { .. })),
        }
        let done = repair(&folder);
        assert_eq!(done.rebuilt, Some(if damaged { Rebuilt::Damaged } else { Rebuilt::Missing }));
        assert_eq!((done.events, done.lost_sources.len()), (1500, 0));
        check_nothing_lost(&after, &folder.medium());
        check_repaired(&folder, &expected, 0);
        assert_eq!(open(&folder, &options()).unwrap().source_position("web"), Some(1500));
    }
}

#[test]
fn a_manifest_that_lingers_does_not_take_the_place_of_a_newer_one_unseen() {
    let folder = Simulated::new();
    let store = open(&folder, &options()).unwrap();
    append(&store, 0..300);
    // This reader keeps the manifest that was current then.
    let reader = Reader::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap();
    let held = reader.snapshot().unwrap();
    append(&store, 300..600);
    store.compact().unwrap();
    let expected = rows(&store.snapshot());
    drop(store);
    let medium = folder.medium();
    let newest = names(&medium, ".manifest").pop().unwrap();
    assert_eq!(names(&medium, ".manifest").len(), 2);
    folder.remove(&newest).unwrap();
    let store = open(&folder, &options()).unwrap();
    store.append(&[Event { instant: 1, bytes: b"meanwhile" }]).unwrap();
    drop(store);
    drop((held, reader));
    check_nothing_lost(&medium, &folder.medium());
    assert_eq!(repair(&folder).events, 601);
    check_repaired(&folder, &expected, 1);
}

#[test]
fn a_stray_empty_manifest_does_not_block_a_healthy_store() {
    let (_, after, expected) = before_and_after();
    for bytes in [&b""[..], b"not a manifest at all, but long enough for a header, which it is not"] {
        let mut medium = after.clone();
        put(&mut medium, "00000000000000ff.manifest", bytes);
        let folder = Simulated::with(medium);
        let reader = Reader::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap();
        assert_eq!(rows(&reader.snapshot().unwrap()), expected);
        let store = open(&folder, &options()).unwrap();
        store.append(&[Event { instant: 1, bytes: b"new" }]).unwrap();
        store.seal().unwrap();
        assert_eq!(reader.snapshot().unwrap().events(), 1501, "a reader follows the writer past it");
        assert_eq!(
            store
                .unnamed()
                .unwrap()
                .iter()
                .filter(|file| ![UnnamedKind::Manifest, UnnamedKind::Retired].contains(&file.kind))
                .count(),
            0
        );
        drop(store);
        assert_eq!(open(&folder, &options()).unwrap().snapshot().events(), 1501);
    }
}

#[test]
fn a_manifest_of_another_store_is_refused_by_name_and_left_alone() {
    let (_, after, _) = before_and_after();
    let other = Simulated::new();
    let store = open(&other, &options()).unwrap();
    append(&store, 0..100);
    for _ in 0..200 {
        store.seal().unwrap();
        append(&store, 0..10);
    }
    drop(store);
    let foreign = names(&other.medium(), ".manifest").pop().unwrap();
    assert!(foreign > names(&after, ".manifest").pop().unwrap(), "its number is higher");
    // Its manifest alone is nothing to this store.
    let mut medium = after.clone();
    put(&mut medium, &foreign, &contents(&other.medium(), &foreign));
    let folder = Simulated::with(medium);
    let store = open(&folder, &options()).unwrap();
    store.append(&[Event { instant: 1, bytes: b"new" }]).unwrap();
    drop(store);
    assert_eq!(open(&folder, &options()).unwrap().snapshot().events(), 1501);
    assert_eq!(contents(&folder.medium(), &foreign), contents(&other.medium(), &foreign));
    assert_eq!(unnamed(&folder)[0].kind, UnnamedKind::Foreign);
    // All of it copied over the store: nobody can tell which one it is now.
    let mut medium = after.clone();
    for name in medium_names(&other.medium()) {
        put(&mut medium, &name, &contents(&other.medium(), &name));
    }
    let folder = Simulated::with(medium.clone());
    let reader = Reader::open_on(Arc::new(folder.clone()), options(), support::codec());
    let refused = [
        open(&folder, &options()).err().unwrap(),
        reader.err().unwrap(),
        Repair::run_on(Arc::new(folder.clone()), &options(), support::codec(), false, &mut |_, _| ())
            .unwrap_err(),
    ];
    let own = names(&after, ".manifest").pop().unwrap();
    for error in refused {
        let text = format!(
            "simulated/{foreign} belongs to another store than simulated/{own}; move the files of one of the two to a folder of \
             their own"
        );
        assert_eq!(error.to_string(), text);
    }
    for name in medium_names(&medium) {
        assert_eq!(contents(&folder.medium(), &name), contents(&medium, &name), "nothing was touched");
    }
}

#[test]
fn a_segment_of_another_history_is_set_aside_aloud() {
    // After the backup of 700 events was put back in the old way, other events got the numbers of those that came later.
    let (before, after, of_after) = before_and_after();
    let folder = Simulated::with(before.clone());
    let store = open(&folder, &options()).unwrap();
    append(&store, 2000..2400);
    store.seal().unwrap();
    let expected = rows(&store.snapshot());
    drop(store);
    let mut medium = folder.medium();
    let missing: Vec<String> = names(&after, ".segment")
        .into_iter()
        .filter(|name| before.find(name).is_none() && medium.find(name).is_none())
        .collect();
    assert!(!missing.is_empty());
    // Somebody wants them back.
    missing.iter().for_each(|name| put(&mut medium, name, &contents(&after, name)));
    let folder = Simulated::with(medium);
    let done = repair(&folder);
    let sum = |of: fn(&RegainedFile) -> u64| done.unnamed.iter().map(of).sum::<u64>();
    let (regained, renumbered) = (sum(|file| file.regained), sum(|file| file.renumbered));
    assert!(renumbered > 0, "the store has other events of these numbers: {done:?}");
    assert!(done.unnamed.iter().filter(|file| file.renumbered > 0).all(|file| file.quarantined.is_some()));
    let found = rows(&open(&folder, &options()).unwrap().snapshot());
    let has = |row: &Row| found.iter().any(|other| (other.1, &other.2) == (row.1, &row.2));
    let of_segments =
        |row: &&Row| row.0 >= 700 && missing.iter().any(|name| holds(&contents(&after, name), &row.2));
    assert!(of_after.iter().filter(of_segments).all(has), "no event is lost for another one");
    check_repaired(&folder, &expected, regained as usize);
}

/// The events of the log that was away went to quarantine as if the store had them.
#[test]
fn of_two_events_with_one_number_both_stay() {
    let roomy = Options { segment_bytes: 1 << 20, ..options() };
    for log in [false, true] {
        let folder = Simulated::new();
        let append = |first: u64, is_sealed: bool| {
            let store = open(&folder, &roomy).unwrap();
            support::append_rows(&store, first..first + 10);
            if is_sealed {
                store.seal().unwrap();
            }
        };
        append(0, true);
        let older = folder.medium();
        append(10, !log);
        let newer = folder.medium();
        let is_new = |name: &&String| older.find(name).is_none() && !name.contains('/');
        let away: Vec<String> = newer.names().filter(is_new).cloned().collect();
        let folder = Simulated::with(older.clone());
        let store = open(&folder, &roomy).unwrap();
        // They get the numbers of those that are away; every other one is the same event.
        for n in 10..25 {
            let (_, instant, bytes) = support::row(if n % 2 == 0 { n } else { n + 500 });
            store.append(&[Event { instant, bytes: &bytes }]).unwrap();
        }
        let expected = rows(&store.snapshot());
        drop(store);
        let mut medium = folder.medium();
        for name in away.iter().filter(|name| !name.ends_with(".manifest")) {
            let (_, ending) = name.split_once('.').unwrap();
            put(&mut medium, &format!("00000000000000f0.{ending}"), &contents(&newer, name));
        }
        let folder = Simulated::with(medium);
        let done = repair(&folder);
        let told: Vec<(u64, u64, u64)> =
            done.unnamed.iter().map(|file| (file.regained, file.renumbered, file.known)).collect();
        assert_eq!(told, [(5, 5, 5)], "log: {log}");
        check_repaired(&folder, &expected, 5);
        let found = rows(&open(&folder, &roomy).unwrap().snapshot());
        for (n, instant, bytes) in (11..20).step_by(2).map(support::row) {
            let back = found.iter().find(|row| (row.1, &row.2) == (instant, &bytes)).unwrap();
            assert!(back.0 >= 1 << 40 && n == instant, "{back:?}");
        }
    }
}

#[test]
fn retention_is_not_undone_by_opening() {
    let (_, after, _) = before_and_after();
    let folder = Simulated::with(after);
    let store = open(&folder, &options()).unwrap();
    let removed = store.remove(Retention { before: Some(300), file_bytes_max: None }, false).unwrap();
    let left = store.snapshot().events();
    assert_eq!(removed.events + left, 1500);
    drop(store);
    assert_eq!(open(&folder, &options()).unwrap().snapshot().events(), left);
    assert_eq!(repair(&folder).events, left);
    assert_eq!(names(&folder.medium(), ".tmp"), Vec::<String>::new());
}

/// All losses of power after each change that `work` makes to this medium; `check` looks at what is left.
fn interrupt(medium: &Medium, work: impl Fn(&Simulated), check: impl Fn(Medium)) -> usize {
    let folder = Simulated::with(medium.clone());
    work(&folder);
    let (mut at_each, mut chance, mut images) = (medium.clone(), Chance(7), 0);
    for change in folder.changes().iter().map(Some).chain([None]) {
        for crash in Crash::ALL {
            check(at_each.after(crash, &mut chance));
            images += 1;
        }
        if let Some(change) = change {
            at_each.apply(change);
        }
    }
    images
}

#[test]
fn a_manifest_is_made_anew_whatever_interrupts_it() {
    let (before, after, expected) = before_and_after();
    let mut lost = after.clone();
    names(&after, ".manifest").into_iter().for_each(|name| lost.apply(&Change::Remove(name)));
    let mut stale = lost.clone();
    let manifest = names(&before, ".manifest").pop().unwrap();
    put(&mut stale, &manifest, &contents(&before, &manifest));
    for mut medium in [lost, stale] {
        medium.apply(&Change::FlushFolder(String::new(), true));
        let images = interrupt(
            &medium,
            |folder| drop(repair(folder)),
            |left| {
                check_nothing_lost(&after, &left);
                let folder = Simulated::with(left);
                Repair::run_on(Arc::new(folder.clone()), &options(), support::codec(), false, &mut |_, _| ())
                    .unwrap();
                check_repaired(&folder, &expected, 0);
            },
        );
        assert!(images > 50, "{images}");
    }
}

#[test]
fn a_removal_without_opening_is_all_or_nothing() {
    let (_, after, expected) = before_and_after();
    let lengths = names(&after, ".segment").into_iter().map(|name| contents(&after, &name).len() as u64);
    let retention = Retention { before: None, file_bytes_max: Some(lengths.sum::<u64>() / 2) };
    let remove = |folder: &Simulated| Removed::from_on(Arc::new(folder.clone()), retention, false).unwrap();
    let removed = remove(&Simulated::with(after.clone()));
    assert!(removed.events > 0);
    let images = interrupt(
        &after,
        |folder| drop(remove(folder)),
        |left| {
            let folder = Simulated::with(left);
            let left = open(&folder, &options()).unwrap().snapshot().events();
            assert!(left == 1500 || left == 1500 - removed.events, "{left}");
            remove(&folder);
            assert_eq!(
                rows(&open(&folder, &options()).unwrap().snapshot()).len() as u64,
                1500 - removed.events
            );
            assert_eq!(unnamed(&folder), []);
        },
    );
    assert!(images > 30 && expected.len() == 1500, "{images}");
}

#[test]
fn any_call_of_opening_a_stale_store_may_fail() {
    let (before, after, expected) = before_and_after();
    let mut medium = after.clone();
    names(&after, ".manifest").into_iter().for_each(|name| medium.apply(&Change::Remove(name)));
    let manifest = names(&before, ".manifest").pop().unwrap();
    put(&mut medium, &manifest, &contents(&before, &manifest));
    for kind in [FaultKind::Device, FaultKind::NoSpace, FaultKind::Short, FaultKind::Interrupted] {
        for at in 0..150 {
            let folder = Simulated::with(medium.clone());
            folder.fail(Some(Fault { at, forever: false, kind }));
            if let Ok(store) = open(&folder, &options()) {
                let _ = store.append(&[Event { instant: 1, bytes: b"meanwhile" }]);
            }
            folder.fail(None);
            check_nothing_lost(&after, &folder.medium());
            Repair::run_on(Arc::new(folder.clone()), &options(), support::codec(), false, &mut |_, _| ())
                .unwrap();
            let found = rows(&open(&folder, &options()).unwrap().snapshot());
            assert!(expected.iter().all(|row| found.contains(row)), "{kind:?} at call {at}");
        }
    }
}

#[test]
fn a_missing_file_that_is_put_back_after_a_repair_is_taken_in_again() {
    let (_, after, expected) = before_and_after();
    for ending in [".segment", ".log"] {
        let mut medium = after.clone();
        let name = names(&after, ending).pop().unwrap();
        medium.apply(&Change::Remove(name.clone()));
        let folder = Simulated::with(medium);
        assert!(repair(&folder).events < 1500);
        let mut medium = folder.medium();
        put(&mut medium, &name, &contents(&after, &name));
        let folder = Simulated::with(medium);
        drop(open(&folder, &options()).unwrap());
        check_nothing_lost(&after, &folder.medium());
        assert_eq!(repair(&folder).events, 1500);
        check_repaired(&folder, &expected, 0);
    }
}

#[test]
fn another_stores_file_under_a_retired_name_is_left_alone() {
    let folder = Simulated::new();
    let store = open(&folder, &options()).unwrap();
    append(&store, 0..300);
    store.compact().unwrap();
    drop(store);
    let other = Simulated::new();
    let store = open(&other, &options()).unwrap();
    append(&store, 0..300);
    drop(store);
    let (mut medium, foreign) = (folder.medium(), other.medium());
    let free: Vec<String> =
        names(&foreign, ".segment").into_iter().filter(|name| medium.find(name).is_none()).collect();
    assert!(!free.is_empty());
    free.iter().for_each(|name| put(&mut medium, name, &contents(&foreign, name)));
    let folder = Simulated::with(medium);
    for _ in 0..3 {
        let store = open(&folder, &options()).unwrap();
        append(&store, 300..310);
        store.seal().unwrap();
    }
    for name in free {
        assert_eq!(contents(&folder.medium(), &name), contents(&foreign, &name));
    }
}

/// A store whose newest segment was made from a log that is still there, as a reader held it.
fn retired_log() -> (Simulated, String, String, Vec<Row>) {
    let folder = Simulated::new();
    let store = open(&folder, &options()).unwrap();
    append(&store, 0..20);
    let log = names(&folder.medium(), ".log").pop().unwrap();
    let reader = Reader::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap();
    store.seal().unwrap();
    let expected = rows(&store.snapshot());
    drop(store);
    drop(reader);
    let segment = names(&folder.medium(), ".segment").pop().unwrap();
    assert!(names(&folder.medium(), ".log").contains(&log));
    (folder, log, segment, expected)
}

#[test]
fn a_running_store_keeps_what_a_missing_file_was_made_from() {
    let (folder, log, segment, expected) = retired_log();
    folder.remove(&segment).unwrap();
    let store = open(&folder, &options()).unwrap();
    store.append(&[Event { instant: 1, bytes: b"more" }]).unwrap();
    store.seal().unwrap();
    drop(store);
    assert!(names(&folder.medium(), ".log").contains(&log), "it has the only copy");
    repair(&folder);
    check_repaired(&folder, &expected, 1);
}

#[test]
fn a_live_file_under_a_retired_name_is_not_swept() {
    let folder = Simulated::new();
    let store = open(&folder, &options()).unwrap();
    append(&store, 0..300);
    let reader = Reader::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap();
    let before = names(&folder.medium(), ".segment");
    store.compact().unwrap();
    drop(store);
    drop(reader);
    let after = names(&folder.medium(), ".segment");
    let live = after.iter().find(|name| !before.contains(name)).unwrap();
    let bytes = contents(&folder.medium(), live);
    folder.rename(live, &before[0]).unwrap();
    Repair::run_on(Arc::new(folder.clone()), &options(), support::codec(), false, &mut |_, _| ()).unwrap();
    drop(open(&folder, &options()).unwrap());
    // Repair has given it its own name again.
    assert_eq!(contents(&folder.medium(), live), bytes);
}

#[test]
fn a_renamed_segment_is_taken_in_again_by_repair() {
    let (_, medium, expected) = before_and_after();
    let live = names(&medium, ".segment").pop().unwrap();
    let folder = Simulated::with(medium);
    folder.rename(&live, "00000000000000ff.segment").unwrap();
    let repair = |dry_run| {
        let folder = Arc::new(folder.clone());
        Repair::run_on(folder, &options(), support::codec(), dry_run, &mut |_, _| ()).unwrap()
    };
    let planned = repair(true);
    assert!(folder.medium().find(&live).is_none(), "nothing is changed");
    let done = repair(false);
    assert_eq!(planned, done);
    assert_eq!((done.events, done.files.len(), done.unnamed.len()), (expected.len() as u64, 0, 1));
    assert!(done.unnamed[0].file.ends_with("00000000000000ff.segment") && done.unnamed[0].regained > 0);
    assert_eq!(rows(&open(&folder, &options()).unwrap().snapshot()), expected);
}

/// A log was read by the number in its name, and nothing in it was whole.
#[test]
fn a_renamed_log_is_read_whether_a_manifest_names_it_or_not() {
    let (_, medium, expected) = before_and_after();
    let log = names(&medium, ".log").pop().unwrap();
    let number = u64::from_str_radix(&log[..16], 16).unwrap();
    // A store is opened meanwhile or not, and its manifest is there or not.
    for (shift, opened, lost) in [1, 100].into_iter().flat_map(|shift| {
        [(false, false), (true, false), (false, true), (true, true)]
            .map(|(opened, lost)| (shift, opened, lost))
    }) {
        let folder = Simulated::with(medium.clone());
        folder.rename(&log, &format!("{:016x}.log", number + shift)).unwrap();
        if opened {
            append(&open(&folder, &options()).unwrap(), 3000..3010);
        }
        if lost {
            names(&folder.medium(), ".manifest").iter().for_each(|name| folder.remove(name).unwrap());
        }
        let done = repair(&folder);
        let more = if opened { 10 } else { 0 };
        assert_eq!(done.events, 1500 + more, "{shift} {opened} {lost} {done:?}");
        assert_eq!(done.files, [], "nothing was damaged");
        check_repaired(&folder, &expected, more as usize);
    }
}

#[test]
fn a_segment_whose_own_name_is_taken_is_read_by_the_number_in_its_header() {
    let (before, after, expected) = before_and_after();
    // The segment of one history under the name of another, and its own one elsewhere.
    let segment = names(&after, ".segment").into_iter().find(|name| before.find(name).is_none()).unwrap();
    let mut medium = after.clone();
    put(&mut medium, "00000000000000f7.segment", &contents(&after, &segment));
    alter_name(&mut medium, &segment, &contents(&before, &names(&before, ".segment")[0]));
    for name in names(&after, ".manifest") {
        medium.apply(&Change::Remove(name));
    }
    let folder = Simulated::with(medium);
    let done = repair(&folder);
    assert_eq!(done.events, 1500, "{done:?}");
    check_repaired(&folder, &expected, 0);
}

/// Puts other bytes under a name.
fn alter_name(medium: &mut Medium, name: &str, bytes: &[u8]) {
    medium.apply(&Change::Remove(name.to_owned()));
    put(medium, name, bytes);
}

/// Each repair said that it was in quarantine, and left it where it was: an empty store beside it stayed shut.
#[test]
fn a_renamed_file_of_another_store_goes_to_quarantine_once() {
    let (_, other, _) = before_and_after();
    for ending in [".log", ".segment"] {
        let foreign = contents(&other, &names(&other, ending)[0]);
        for events in [0, 10] {
            let folder = Simulated::new();
            let store = open(&folder, &options()).unwrap();
            append(&store, 0..events);
            drop(store);
            let name = format!("000000000000004d{ending}");
            let mut medium = folder.medium();
            put(&mut medium, &name, &foreign);
            let folder = Simulated::with(medium);
            assert_eq!(open(&folder, &options()).is_ok(), events > 0);
            let done = repair(&folder);
            assert!(done.unnamed.len() == 1 && done.unnamed[0].is_foreign, "{done:?}");
            assert!(folder.medium().find(&name).is_none(), "it is gone from the store");
            assert_eq!(contents(&folder.medium(), &format!("quarantine/{name}")), foreign);
            assert_eq!(open(&folder, &options()).unwrap().snapshot().events(), events);
        }
    }
}

#[test]
fn of_two_renamed_segments_the_one_that_was_cut_short_is_not_taken() {
    let (_, mut medium, expected) = before_and_after();
    let live = names(&medium, ".segment").pop().unwrap();
    let cut = contents(&medium, &live)[..60].to_vec();
    put(&mut medium, "00000000000000f0.segment", &cut);
    let folder = Simulated::with(medium);
    folder.rename(&live, "00000000000000f1.segment").unwrap();
    let done = Repair::run_on(Arc::new(folder.clone()), &options(), support::codec(), false, &mut |_, _| ())
        .unwrap();
    assert_eq!((done.events, done.files.len()), (expected.len() as u64, 0));
    assert_eq!(rows(&open(&folder, &options()).unwrap().snapshot()), expected);
}

/// Its events used to go to quarantine, as its name did not fit its header.
#[test]
fn a_renamed_log_is_taken_in_again_by_repair() {
    for has_more in [false, true] {
        let folder = Simulated::new();
        let store = open(&folder, &tiny()).unwrap();
        append_rows(&store, 0..20);
        store.seal().unwrap();
        append_rows(&store, 20..30);
        drop(store);
        let live = names(&folder.medium(), ".log").pop().unwrap();
        folder.rename(&live, "00000000000000ff.log").unwrap();
        // An earlier copy of it.
        let mut medium = folder.medium();
        let copy = contents(&medium, "00000000000000ff.log")[..700].to_vec();
        put(&mut medium, "00000000000000f0.log", &copy);
        let folder = Simulated::with(medium);
        let mut expected: Vec<Row> = (0..30).map(row).collect();
        if has_more {
            // Nobody minded.
            let store = open(&folder, &tiny()).unwrap();
            let arrival = store.append(&[Event { instant: 100, bytes: b"later" }]).unwrap().start;
            assert!(arrival > 1 << 40);
            expected.push((arrival, 100, b"later".to_vec()));
        }
        let repair = |dry_run| {
            let folder = Arc::new(folder.clone());
            Repair::run_on(folder, &tiny(), support::codec(), dry_run, &mut |_, _| ()).unwrap()
        };
        let planned = repair(true);
        assert!(folder.medium().find(&live).is_none(), "nothing is changed");
        let done = repair(false);
        assert_eq!(planned, done);
        let regained: Vec<u64> = done.unnamed.iter().map(|file| file.regained).collect();
        assert_eq!((done.events, done.files.len(), regained), (expected.len() as u64, 0, vec![10, 0]));
        let store = open(&folder, &tiny()).unwrap();
        assert_eq!(rows(&store.snapshot()), expected);
        assert_eq!(store.snapshot().verify().unwrap(), []);
        // As if it had been a copy that lacks the latest events.
        assert!(store.append(&[Event { instant: 200, bytes: b"last" }]).unwrap().start > 1 << 40);
    }
}

#[test]
fn a_name_that_uses_up_all_numbers_is_refused_before_anything_changes() {
    let (_, after, expected) = before_and_after();
    for ending in ["segment", "log", "segment.tmp", "manifest"] {
        let mut medium = after.clone();
        let name = format!("3fffffffffffffff.{ending}");
        put(&mut medium, &name, b"");
        let folder = Simulated::with(medium);
        for _ in 0..2 {
            let refused = open(&folder, &options()).unwrap_err().to_string();
            assert!(refused.contains(&name) && refused.contains("move it out of the store"), "{refused}");
        }
        folder.remove(&name).unwrap();
        assert_eq!(rows(&open(&folder, &options()).unwrap().snapshot()), expected);
    }
}

#[test]
fn a_stray_manifest_does_not_hide_a_damaged_one() {
    let (before, after, _) = before_and_after();
    let mut medium = after.clone();
    let (older, newest) = (names(&before, ".manifest"), names(&after, ".manifest"));
    // All that the older one names is here, and nothing newer.
    for name in names(&after, ".segment").into_iter().chain(names(&after, ".log")) {
        medium.apply(&Change::Remove(name));
    }
    for name in names(&before, ".segment").into_iter().chain(names(&before, ".log")).chain(older) {
        put(&mut medium, &name, &contents(&before, &name));
    }
    let mut bytes = contents(&after, &newest[0]);
    *bytes.last_mut().unwrap() ^= 1;
    medium.apply(&Change::Remove(newest[0].clone()));
    put(&mut medium, &newest[0], &bytes);
    for stray in [false, true] {
        if stray {
            put(&mut medium, "00000000000fffff.manifest", b"");
        }
        let opened = open(&Simulated::with(medium.clone()), &options());
        let Err(OpenError::ManifestDamaged { file }) = opened else { panic!("{opened:?}") };
        assert!(file.ends_with(&newest[0]));
    }
}

/// They were told as lost, and whoever repaired a store that had lost nothing was told so by the exit code.
#[test]
fn what_came_back_from_another_file_is_not_told_as_lost() {
    for copied in [false, true] {
        let folder = Simulated::new();
        let store = open(&folder, &options()).unwrap();
        append(&store, 0..300);
        store.seal().unwrap();
        let expected = rows(&store.snapshot());
        // It keeps the files that are compacted.
        let reader = Reader::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap();
        let before = names(&folder.medium(), ".segment");
        store.compact().unwrap();
        let named: Vec<String> = store
            .snapshot()
            .segments()
            .into_iter()
            .filter_map(|segment| segment.file?.file_name()?.to_str().map(str::to_owned))
            .collect();
        drop((store, reader));
        let mut medium = folder.medium();
        let live = named.iter().find(|name| !before.contains(name)).unwrap().clone();
        let bytes = contents(&medium, &live);
        let mut damaged = bytes.clone();
        damaged.iter_mut().skip(200).take(400).for_each(|byte| *byte ^= 1);
        alter_name(&mut medium, &live, &damaged);
        if copied {
            let retired = before.iter().filter(|name| !named.contains(name));
            retired.for_each(|name| medium.apply(&Change::Remove(name.clone())));
            put(&mut medium, "00000000000000f7.segment", &bytes);
        }
        let folder = Simulated::with(medium);
        let done = repair(&folder);
        let [file] = &done.files[..] else { panic!("{done:?}") };
        let lost: u64 = file.damage.iter().map(|part| part.events.unwrap()).sum();
        assert!(lost > 0 && file.regained == lost, "{done:?}");
        check_repaired(&folder, &expected, 0);
    }
}

/// Both went to quarantine, and their events were told as lost.
#[test]
fn segments_that_were_exchanged_get_their_own_names_again() {
    let (_, after, expected) = before_and_after();
    let segments = names(&after, ".segment");
    assert!(segments.len() > 3);
    // A circle of names, without or with another copy in the place of one.
    for (circle, is_copied) in [(2, false), (3, false), (2, true)] {
        let mut medium = after.clone();
        for at in 0..circle {
            let from = &segments[(at + 1) % circle];
            alter_name(&mut medium, &segments[at], &contents(&after, from));
        }
        if is_copied {
            // The first has its own name again, the second is elsewhere, and its name has a copy of the first.
            put(&mut medium, "00000000000000f7.segment", &contents(&after, &segments[1]));
            alter_name(&mut medium, &segments[0], &contents(&after, &segments[0]));
        }
        medium.apply(&Change::FlushFolder(String::new(), true));
        let folder = Simulated::with(medium.clone());
        let done = repair(&folder);
        assert_eq!((done.events, done.files.len()), (1500, 0), "{done:?}");
        check_repaired(&folder, &expected, 0);
        let images = interrupt(
            &medium,
            |folder| drop(repair(folder)),
            |left| {
                let folder = Simulated::with(left);
                Repair::run_on(Arc::new(folder.clone()), &options(), support::codec(), false, &mut |_, _| ())
                    .unwrap();
                check_repaired(&folder, &expected, 0);
            },
        );
        assert!(images > 50, "{images}");
    }
}
