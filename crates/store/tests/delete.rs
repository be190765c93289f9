//! Deleting and erasing: what is gone, what stays, what a receipt says, whatever happens meanwhile.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use support::{codec, open, rows, tiny, turned};
use tamias_store::format::{FileKind, Header};
use tamias_store::io::{Chance, Crash, Directory, Fault, FaultKind, LockKind, Medium, Simulated};
use tamias_store::{
    Block, Cause, Codec, DecodeError, DeleteError, Deleted, Direction, Documents, Event, Key, Layout,
    NamedPart, OpenError, Options, OwnedDocuments, OwnedTimes, Parts, Reader, Rebuilt, Receipt, ReceiptCheck,
    Repair, Retention, Snapshot, Store, Times, UnnamedKind,
};

/// Events that must be there, by their keys.
type Model = BTreeMap<Key, Vec<u8>>;

/// A document that no other has anything in common with.
fn document(arrival: u64) -> String {
    format!("<{:016x}>", (arrival + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Appends events at random instants.
fn append(store: &Store, model: &mut Model, next: &mut u64, count: u64, sealed: bool, chance: &mut Chance) {
    let documents: Vec<String> = (*next..*next + count).map(document).collect();
    let instants: Vec<u64> = documents.iter().map(|_| 1000 + chance.below(60) as u64).collect();
    let events: Vec<Event<'_>> = instants
        .iter()
        .zip(&documents)
        .map(|(instant, document)| Event { instant: *instant, bytes: document.as_bytes() })
        .collect();
    let arrivals = if sealed { store.append_sealed(&events, None) } else { store.append(&events) }.unwrap();
    assert_eq!(arrivals, *next..*next + count);
    for ((arrival, instant), document) in arrivals.zip(instants).zip(documents) {
        model.insert(Key { instant, arrival }, document.into_bytes());
    }
    *next += count;
}

/// Everything that a snapshot tells is what the model holds.
fn check(snapshot: &Snapshot, model: &Model) {
    let expected: Vec<(u64, u64, Vec<u8>)> =
        model.iter().map(|(key, document)| (key.arrival, key.instant, document.clone())).collect();
    let sorted: BTreeSet<_> = expected.iter().cloned().collect();
    assert!(rows(snapshot).into_iter().eq(sorted));
    let bytes = model.values().map(|document| document.len() as u64).sum::<u64>();
    assert_eq!((snapshot.events(), snapshot.document_bytes()), (model.len() as u64, bytes));
    let range = model.first_key_value().zip(model.last_key_value());
    assert_eq!(snapshot.time_range(), range.map(|((first, _), (last, _))| (first.instant, last.instant)));
    assert_eq!(snapshot.segments().iter().map(|segment| segment.events).sum::<u64>(), model.len() as u64);
    for direction in [Direction::Ascending, Direction::Descending] {
        for instants in [1010..=1020, 0..=u64::MAX] {
            let mut keys = Vec::new();
            for group in snapshot.groups(instants.clone(), direction) {
                let mut group: Vec<Key> = group
                    .unwrap()
                    .iter()
                    .flat_map(|block| (0..block.len()).map(|index| block.key(index).unwrap().unwrap()))
                    .collect();
                group.sort();
                if direction == Direction::Descending {
                    group.reverse();
                }
                keys.extend(group);
            }
            if direction == Direction::Descending {
                keys.reverse();
            }
            keys.retain(|key| instants.contains(&key.instant));
            assert!(keys.iter().eq(model.keys().filter(|key| instants.contains(&key.instant))));
        }
    }
}

/// About one in so many.
fn some(model: &Model, of: usize, chance: &mut Chance) -> Vec<Key> {
    model.keys().filter(|_| chance.below(of) == 0).copied().collect()
}

fn delete(store: &Store, model: &mut Model, keys: &[Key]) {
    let events = keys.len() as u64;
    assert_eq!(store.delete(keys).unwrap(), Deleted { events, missed: 0 });
    keys.iter().for_each(|key| drop(model.remove(key)));
}

/// Whether any file holds the text of an event, as it is or as a part of columns has it.
fn holds(medium: &Medium, document: &[u8]) -> bool {
    let found = |bytes: &[u8]| bytes.windows(document.len()).any(|window| window == document);
    medium.names().any(|name| {
        let bytes = medium.find(name).map_or(&[][..], |file| medium.contents(file));
        found(bytes) || found(&turned(bytes))
    })
}

#[test]
fn a_store_answers_as_one_that_never_had_what_was_deleted() {
    for seed in 0..60 {
        let mut chance = Chance(seed);
        let folder = Simulated::new();
        let mut store = open(&folder, &tiny()).unwrap();
        let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap();
        let (mut model, mut next, mut gone) = (Model::new(), 0, Vec::new());
        for _ in 0..40 {
            match chance.below(12) {
                0 => store.compact().unwrap(),
                1 => store.seal().unwrap(),
                2 => append(&store, &mut model, &mut next, 1 + chance.below(90) as u64, true, &mut chance),
                3 | 4 => {
                    let of = 1 + chance.below(9);
                    let keys = some(&model, of, &mut chance);
                    delete(&store, &mut model, &keys);
                    gone.extend(keys);
                }
                5 => {
                    store.erase().unwrap();
                    // It lets what it has seen go, and looks anew.
                    reader.snapshot().unwrap();
                    let erased = store.erase().unwrap();
                    assert_eq!((erased.held.len(), erased.damaged.len()), (0, 0));
                    if let Some(receipt) = erased.receipt {
                        assert_eq!(receipt.stays.events, model.len() as u64);
                        let check = store.snapshot().check_receipt(&receipt).unwrap();
                        assert_eq!(check, ReceiptCheck::Holds);
                    }
                    let medium = folder.medium();
                    assert!(!gone.iter().any(|key| holds(&medium, document(key.arrival).as_bytes())));
                }
                6 => {
                    drop(store);
                    let repair =
                        Repair::run_on(Arc::new(folder.clone()), &tiny(), codec(), false, &mut |_, _| ());
                    assert!(repair.unwrap().files.is_empty());
                    store = open(&folder, &tiny()).unwrap();
                }
                _ => append(&store, &mut model, &mut next, 1 + chance.below(20) as u64, false, &mut chance),
            }
            check(&store.snapshot(), &model);
            check(&reader.snapshot().unwrap(), &model);
            for key in gone.iter().rev().take(3) {
                assert!(store.snapshot().get(*key).unwrap().is_none());
            }
            assert!(store.snapshot().verify().unwrap().is_empty());
        }
        let deleted =
            store.housekeeping().unwrap().history.into_iter().filter(|left| left.cause == Cause::Deleted);
        assert_eq!(deleted.map(|left| left.events).sum::<u64>(), gone.len() as u64);
    }
}

/// A store of some segments and a log, and some of its events.
fn prepared(folder: &Simulated, seed: u64) -> (Store, Model, Vec<Key>) {
    let mut chance = Chance(seed);
    let store = open(folder, &tiny()).unwrap();
    let (mut model, mut next) = (Model::new(), 0);
    for _ in 0..4 {
        append(&store, &mut model, &mut next, 40, true, &mut chance);
    }
    append(&store, &mut model, &mut next, 7, false, &mut chance);
    let mut keys = some(&model, 5, &mut chance);
    // And one that is in the log only.
    keys.extend(model.keys().rfind(|key| key.arrival == 165));
    keys.sort();
    keys.dedup();
    (store, model, keys)
}

#[test]
fn what_a_reader_holds_is_told_and_no_receipt_is_given_before_it_lets_go() {
    let folder = Simulated::new();
    let (store, mut model, keys) = prepared(&folder, 3);
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap();
    let before = reader.snapshot().unwrap();
    let all = model.clone();
    delete(&store, &mut model, &keys);
    check(&store.snapshot(), &model);
    let erased = store.erase().unwrap();
    assert!(erased.receipt.is_none() && !erased.held.is_empty());
    check(&store.snapshot(), &model);
    check(&before, &all);
    drop((before, reader));
    let receipt = store.erase().unwrap().receipt.unwrap();
    assert_eq!((receipt.events, receipt.stays.events), (keys.len() as u64, model.len() as u64));
    assert!(!keys.iter().any(|key| holds(&folder.medium(), document(key.arrival).as_bytes())));
    assert_eq!(store.erase().unwrap().receipt, None, "there is nothing left to erase");
}

#[test]
fn receipts_are_kept_and_tell_what_has_become_of_the_rest() {
    let folder = Simulated::new();
    let (store, mut model, keys) = prepared(&folder, 4);
    let with_all = folder.medium();
    delete(&store, &mut model, &keys);
    let receipt = store.erase().unwrap().receipt.unwrap();
    let listed = Receipt::list_on(&folder).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].1.as_ref(), Some(&receipt));
    let check = |store: &Store| store.snapshot().check_receipt(&receipt).unwrap();
    // What comes later does not matter, nor where it is.
    append(&store, &mut model, &mut 167, 9, false, &mut Chance(1));
    store.seal().unwrap();
    store.compact().unwrap();
    assert_eq!(check(&store), ReceiptCheck::Holds);
    let one = *model.keys().next().unwrap();
    delete(&store, &mut model, &[one]);
    assert_eq!(check(&store), ReceiptCheck::Holds, "it is there until it is erased");
    store.erase().unwrap();
    assert_eq!(check(&store), ReceiptCheck::Less(1));
    assert_eq!(Receipt::list_on(&folder).unwrap().len(), 2);
    store.remove(Retention { before: Some(u64::MAX), file_bytes_max: None }, false).unwrap();
    assert!(matches!(check(&store), ReceiptCheck::Less(_)));
    // A backup of before, in the place of the store.
    let old = open(&Simulated::with(with_all), &tiny()).unwrap();
    assert_eq!(check(&old), ReceiptCheck::Back(keys.len() as u64));
    // A receipt of which a bit was altered is none.
    let file = folder.folder("receipts").unwrap();
    let name = file.list().unwrap().into_iter().min().unwrap();
    let byte = &mut [0];
    file.open(&name).unwrap().read_at(50, byte).unwrap();
    file.open_for_writing(&name).unwrap().write_at(50, &[byte[0] ^ 1]).unwrap();
    assert_eq!(Receipt::list_on(&folder).unwrap()[0].1, None);
}

#[test]
fn repair_takes_nothing_in_that_was_deleted() {
    for erase in [false, true] {
        let folder = Simulated::new();
        let (store, mut model, keys) = prepared(&folder, 5);
        store.seal().unwrap();
        // A reader of before keeps the old files, and the log that they came from.
        let names = folder.list().unwrap();
        let manifest = names.iter().filter(|name| name.ends_with(".manifest")).max().unwrap();
        let lock = folder.lock(manifest, LockKind::Shared).unwrap();
        store.compact().unwrap();
        delete(&store, &mut model, &keys);
        if erase {
            assert!(!store.erase().unwrap().held.is_empty());
        }
        drop(store);
        // Something is damaged, so that repair looks into what was retired.
        let live = folder.list().unwrap();
        let newest = live.iter().filter(|name| name.ends_with(".segment")).max().unwrap();
        folder.open_for_writing(newest).unwrap().write_at(60, &[0x55; 4]).unwrap();
        let folder_ = Arc::new(folder.clone());
        let repair = Repair::run_on(folder_, &tiny(), codec(), false, &mut |_, _| ()).unwrap();
        assert!(!repair.files.is_empty());
        let store = open(&folder, &tiny()).unwrap();
        let left: BTreeSet<u64> = rows(&store.snapshot()).into_iter().map(|row| row.0).collect();
        assert!(!keys.iter().any(|key| left.contains(&key.arrival)), "erase: {erase}");
        check(&store.snapshot(), &model);
        drop(lock);
        let receipt = store.erase().unwrap().receipt.unwrap();
        assert!(receipt.quarantined > 0, "what is damaged lies there as it was");
    }
}

#[test]
fn what_is_damaged_is_named_and_nothing_is_deleted() {
    let folder = Simulated::new();
    let (store, mut model, keys) = prepared(&folder, 6);
    store.seal().unwrap();
    let names = folder.list().unwrap();
    let first = names.iter().filter(|name| name.ends_with(".segment")).min().unwrap();
    let file = folder.open_for_writing(first).unwrap();
    let whole = &mut [0; 4];
    file.read_at(60, whole).unwrap();
    file.write_at(60, &whole.map(|byte| !byte)).unwrap();
    assert!(matches!(store.delete(&keys), Err(DeleteError::Read(_))));
    assert_eq!(store.snapshot().events(), model.len() as u64);
    file.write_at(60, whole).unwrap();
    delete(&store, &mut model, &keys);
    file.write_at(60, &whole.map(|byte| !byte)).unwrap();
    let erased = store.erase().unwrap();
    assert_eq!((erased.receipt, erased.damaged), (None, vec![folder.path(first)]));
}

/// After each change that a deletion and an erasure make to the medium, whatever a loss of power leaves: all events of the deletion are there, or
/// none; none once it was acknowledged; and an erasure that is begun again ends with a receipt, and no text in any file.
#[test]
fn a_loss_of_power_leaves_all_or_nothing_and_erasing_goes_on() {
    let (mut images, mut chance) = (0, Chance(77));
    for seed in 0..3 {
        let folder = Simulated::new();
        let (store, model, keys) = prepared(&folder, 20 + seed);
        let (mut after, all) = (model.clone(), model);
        let medium = folder.medium();
        let begun = folder.change_count();
        delete(&store, &mut after, &keys);
        let deleted = folder.change_count();
        store.erase().unwrap().receipt.unwrap();
        let changes = folder.changes();
        drop(store);
        let mut medium = medium;
        for (at, change) in changes.iter().enumerate().skip(begun) {
            medium.apply(change);
            // Each eighth of the images is opened: all kinds come in turn.
            let crash = Crash::ALL[at % Crash::ALL.len()];
            let left = Simulated::with(medium.after(crash, &mut chance));
            let store = open(&left, &tiny()).unwrap();
            let events = store.snapshot().events();
            let expected = if events == all.len() as u64 { &all } else { &after };
            assert!(at + 1 < deleted || events == after.len() as u64, "what was acknowledged is gone");
            check(&store.snapshot(), expected);
            let mut model = expected.clone();
            if expected.len() == all.len() {
                delete(&store, &mut model, &keys);
            }
            store.erase().unwrap();
            check(&store.snapshot(), &after);
            drop(store);
            let medium = left.medium();
            assert!(!keys.iter().any(|key| holds(&medium, document(key.arrival).as_bytes())), "{crash:?}");
            assert!(Receipt::list_on(&left).unwrap().iter().all(|(_, receipt)| receipt.is_some()));
            assert!(!Receipt::list_on(&left).unwrap().is_empty());
            images += 1;
        }
    }
    assert!(images > 100, "{images}");
}

#[test]
fn a_call_that_fails_leaves_all_or_nothing() {
    for (first, kind) in [FaultKind::Device, FaultKind::NoSpace].into_iter().enumerate() {
        for at in (first as u64..400).step_by(2) {
            let folder = Simulated::new();
            let (store, model, keys) = prepared(&folder, 40);
            let mut after = model.clone();
            keys.iter().for_each(|key| drop(after.remove(key)));
            folder.fail(Some(Fault { at: folder.calls() + at, forever: false, kind }));
            let deleted = store.delete(&keys);
            let erased = deleted.as_ref().ok().map(|_| store.erase());
            folder.fail(None);
            let is_over = matches!(&erased, Some(Ok(erased)) if erased.receipt.is_some());
            drop(store);
            let store = open(&folder, &tiny()).unwrap();
            let expected = if store.snapshot().events() == after.len() as u64 { &after } else { &model };
            assert!(deleted.is_err() || expected.len() == after.len());
            check(&store.snapshot(), expected);
            let missing: Vec<Key> = keys.iter().filter(|key| expected.contains_key(key)).copied().collect();
            let mut model = expected.clone();
            delete(&store, &mut model, &missing);
            store.erase().unwrap();
            drop(store);
            assert!(!keys.iter().any(|key| holds(&folder.medium(), document(key.arrival).as_bytes())));
            assert!(!Receipt::list_on(&folder).unwrap().is_empty());
            if is_over && at > 300 {
                break;
            }
        }
    }
}

#[test]
fn events_that_come_and_are_compacted_meanwhile_are_not_touched() {
    let folder = Simulated::new();
    let store = open(&folder, &Options { background: true, ..tiny() }).unwrap();
    let (mut model, mut next) = (Model::new(), 0);
    append(&store, &mut model, &mut next, 200, false, &mut Chance(1));
    let first = model.clone();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut chance = Chance(2);
            for _ in 0..60 {
                append(&store, &mut model, &mut next, 9, chance.below(3) == 0, &mut chance);
            }
        });
        scope.spawn(|| (0..20).for_each(|_| store.compact().unwrap()));
        for keys in first.keys().copied().collect::<Vec<_>>().chunks(11) {
            assert_eq!(store.delete(keys).unwrap().events, keys.len() as u64);
            store.erase().unwrap();
        }
    });
    first.keys().for_each(|key| drop(model.remove(key)));
    check(&store.snapshot(), &model);
    store.erase().unwrap();
    assert!(!first.keys().any(|key| holds(&folder.medium(), document(key.arrival).as_bytes())));
}

/// A write of which half was done, and then a loss of power, can leave as much.
#[test]
fn an_unfinished_file_with_a_part_of_its_header_stands_in_no_receipt_s_way() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let (mut model, mut next) = (Model::new(), 0);
    append(&store, &mut model, &mut next, 30, true, &mut Chance(1));
    let all = some(&model, 3, &mut Chance(2));
    delete(&store, &mut model, &all);
    drop(store);
    let medium = folder.medium();
    let segment = medium.names().find(|name| name.ends_with(".segment")).unwrap();
    let bytes = medium.contents(medium.find(segment).unwrap());
    let header = Header::decode(FileKind::Segment, bytes).unwrap();
    let number = (0..).find(|n| !medium.names().any(|name| name.contains(&format!("{n:016x}.")))).unwrap();
    let name = format!("{number:016x}.segment.tmp");
    let file = folder.create(&name).unwrap();
    let own = Header { number, ..header }.encode();
    file.write_at(0, &own[..own.len() / 2]).unwrap();
    file.write_at(own.len() as u64, b"documents").unwrap();
    // Somebody else's, so far as anybody can tell.
    let other = format!("{:016x}.log.tmp", number + 1000);
    folder.create(&other).unwrap().write_at(0, b"notes").unwrap();
    let store = open(&folder, &tiny()).unwrap();
    let erased = store.erase().unwrap();
    assert_eq!((erased.held.len(), erased.receipt.unwrap().events), (0, all.len() as u64));
    assert_eq!([&name, &other].map(|name| folder.kind(name).unwrap().is_some()), [false, true]);
}

/// A closed store with erased events, in whose folder the log that had them lies again; what stays of the events, and the name of the log.
fn erased_with_its_log_back() -> (Simulated, Model, String) {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let (mut model, mut next) = (Model::new(), 0);
    append(&store, &mut model, &mut next, 30, false, &mut Chance(1));
    let before = folder.medium();
    let log = before.names().find(|name| name.ends_with(".log")).unwrap().to_owned();
    let keys = some(&model, 3, &mut Chance(2));
    delete(&store, &mut model, &keys);
    assert!(store.erase().unwrap().receipt.is_some());
    drop(store);
    let bytes = before.contents(before.find(&log).unwrap());
    folder.create(&log).unwrap().write_at(0, bytes).unwrap();
    (folder, model, log)
}

/// As after a loss of power, where the folder could not be flushed when the file went.
#[test]
fn an_erased_event_does_not_come_back_with_a_file_that_does() {
    let (folder, model, _) = erased_with_its_log_back();
    let repair = Repair::run_on(Arc::new(folder.clone()), &tiny(), codec(), false, &mut |_, _| ()).unwrap();
    assert_eq!(repair.unnamed.iter().map(|file| file.regained).collect::<Vec<_>>(), [0]);
    let store = open(&folder, &tiny()).unwrap();
    check(&store.snapshot(), &model);
}

/// They were given to new events, which the next repair took for the erased ones.
#[test]
fn numbers_of_erased_events_are_not_given_again_under_an_older_manifest() {
    for repair_first in [false, true] {
        let folder = Simulated::new();
        let store = open(&folder, &tiny()).unwrap();
        let (mut model, mut next) = (Model::new(), 0);
        append(&store, &mut model, &mut next, 20, true, &mut Chance(1));
        drop(store);
        let manifest = |folder: &Simulated| {
            folder.list().unwrap().into_iter().filter(|name| name.ends_with(".manifest")).max().unwrap()
        };
        let (before, older) = (folder.medium(), manifest(&folder));
        let store = open(&folder, &tiny()).unwrap();
        let mut erased = Model::new();
        append(&store, &mut erased, &mut next, 10, true, &mut Chance(2));
        let keys: Vec<Key> = erased.keys().copied().collect();
        delete(&store, &mut erased, &keys);
        assert!(store.erase().unwrap().receipt.is_some());
        drop(store);
        let unnamed =
            || Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap().unnamed().unwrap();
        assert_eq!(unnamed(), []);
        folder.remove(&manifest(&folder)).unwrap();
        folder.create(&older).unwrap().write_at(0, before.contents(before.find(&older).unwrap())).unwrap();
        let told: Vec<UnnamedKind> = unnamed().iter().map(|file| file.kind).collect();
        assert_eq!(told, [UnnamedKind::Receipt]);
        let run =
            || Repair::run_on(Arc::new(folder.clone()), &tiny(), codec(), false, &mut |_, _| ()).unwrap();
        if repair_first {
            assert_eq!(run().rebuilt, Some(Rebuilt::Stale));
        }
        let store = open(&folder, &tiny()).unwrap();
        next = store.append(&[Event { instant: 1000, bytes: document(1).as_bytes() }]).unwrap().start;
        assert!(next >= 30, "{next}");
        model.insert(Key { instant: 1000, arrival: next }, document(1).into_bytes());
        drop(store);
        assert_eq!(unnamed(), []);
        folder.remove(&manifest(&folder)).unwrap();
        assert_eq!(run().events, 21);
        check(&open(&folder, &tiny()).unwrap().snapshot(), &model);
    }
}

/// A repair left them in the store.
#[test]
fn erased_events_that_are_back_with_an_older_manifest_and_its_files_are_deleted_again() {
    for (sealed, all) in [(true, false), (true, true), (false, false), (false, true)] {
        let folder = Simulated::new();
        let store = open(&folder, &tiny()).unwrap();
        let (mut model, mut next) = (Model::new(), 0);
        append(&store, &mut model, &mut next, 30, sealed, &mut Chance(1));
        append(&store, &mut model, &mut next, 10, false, &mut Chance(2));
        drop(store);
        let before = folder.medium();
        let store = open(&folder, &tiny()).unwrap();
        let of = |number: &u64| if all { *number < 30 } else { number.is_multiple_of(3) };
        let keys: Vec<Key> = model.keys().copied().filter(|key| of(&key.arrival)).collect();
        delete(&store, &mut model, &keys);
        assert!(store.erase().unwrap().receipt.is_some());
        append(&store, &mut model, &mut next, 10, true, &mut Chance(3));
        drop(store);
        for name in folder.list().unwrap().iter().filter(|name| name.ends_with(".manifest")) {
            folder.remove(name).unwrap();
        }
        let is_old =
            |name: &&String| [".manifest", ".segment", ".log"].iter().any(|ending| name.ends_with(ending));
        for name in before.names().filter(is_old) {
            let _ = folder.remove(name);
            folder.create(name).unwrap().write_at(0, before.contents(before.find(name).unwrap())).unwrap();
        }
        let run = |dry_run| {
            Repair::run_on(Arc::new(folder.clone()), &tiny(), codec(), dry_run, &mut |_, _| ()).unwrap()
        };
        let planned = run(true);
        let done = run(false);
        assert_eq!(planned, done, "a dry run tells what would be done");
        assert_eq!(
            (done.erased_again, done.events),
            (keys.len() as u64, model.len() as u64),
            "{sealed} {all}"
        );
        assert_eq!(done.rebuilt, Some(Rebuilt::Stale));
        let again = run(false);
        assert_eq!((again.erased_again, again.unnamed, again.rebuilt), (0, vec![], None), "once is enough");
        let store = open(&folder, &tiny()).unwrap();
        check(&store.snapshot(), &model);
        assert_eq!(store.erase().unwrap().receipt.is_some(), sealed, "of a log nothing is left to erase");
        for (_, receipt) in Receipt::list_on(&folder).unwrap() {
            let checked = store.snapshot().check_receipt(&receipt.unwrap()).unwrap();
            assert!(!matches!(checked, ReceiptCheck::Back(_)), "{checked:?}");
        }
    }
}

/// Counts the blocks whose documents are decoded.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Codec for Counted {
    fn makes_columns(&self) -> bool {
        true
    }

    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>) {
        support::Halves.collect(documents, ends, statistics);
    }

    fn events_max(&self) -> usize {
        support::Halves.events_max()
    }

    fn encode(&self, times: Times<'_>, documents: Documents<'_>) -> Option<Vec<NamedPart>> {
        support::Halves.encode(times, documents)
    }

    fn times(&self, block: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
        support::Halves.times(block)
    }

    fn documents(&self, block: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
        self.0.fetch_add(1, SeqCst);
        support::Halves.documents(block)
    }
}

#[test]
fn a_block_with_deleted_events_is_read_when_it_is_asked_for() {
    let folder = Simulated::new();
    let codec = Arc::new(Counted::default());
    let options = Options { segments: Layout::Columns, ..tiny() };
    let store = Store::open_on(Arc::new(folder), options, codec.clone()).unwrap();
    let (mut model, mut next, mut chance) = (Model::new(), 0, Chance(9));
    append(&store, &mut model, &mut next, 300, true, &mut chance);
    let keys = some(&model, 3, &mut chance);
    delete(&store, &mut model, &keys);
    codec.0.store(0, SeqCst);
    let groups = store.snapshot().groups(0..=u64::MAX, Direction::Ascending);
    let blocks: Vec<Block> = groups.flat_map(Result::unwrap).collect();
    assert!(blocks.len() >= 10 && blocks.iter().all(|block| block.statistics().is_none()));
    assert_eq!(blocks.iter().map(Block::len).sum::<usize>(), model.len());
    let keys: Vec<Key> = blocks.iter().map(|block| block.key(0).unwrap().unwrap()).collect();
    assert!(keys.iter().all(|key| model.contains_key(key)), "times are told without documents");
    assert_eq!(codec.0.load(SeqCst), 0);
    for _ in 0..2 {
        assert_eq!(blocks[3].document(0).unwrap().unwrap(), model[&keys[3]]);
        assert_eq!(codec.0.load(SeqCst), 1, "one block is decoded, once");
    }
}

#[test]
fn a_file_of_which_nobody_knows_whose_it_is_is_named() {
    for name in [
        |number: u64| format!("{number:016x}.segment"),
        |number: u64| format!("{number:016x}.log"),
        |number: u64| format!("{number:016x}.segment.tmp"),
    ] {
        let folder = Simulated::new();
        let (store, mut model, keys) = prepared(&folder, 8);
        store.seal().unwrap();
        store.compact().unwrap();
        delete(&store, &mut model, &keys);
        let taken = folder.list().unwrap();
        let free = (1..).map(name).find(|name| !taken.contains(name)).unwrap();
        let file = folder.create(&free).unwrap();
        file.write_at(0, &[7; 100]).unwrap();
        let erased = store.erase().unwrap();
        assert_eq!(
            (erased.receipt, erased.held, erased.unreadable),
            (None, vec![], vec![folder.path(&free)])
        );
        folder.remove(&free).unwrap();
        assert_eq!(store.erase().unwrap().receipt.unwrap().events, keys.len() as u64);
    }
}

/// Lets something happen while a block is read, and holds blocks of `y` up until one of `x` is encoded.
#[derive(Default)]
struct Gate {
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// So many blocks of `y` were encoded.
    begun: AtomicUsize,
    is_open: AtomicBool,
}

/// Enough for a segment.
const BEGUN_MAX: usize = 40;

fn wait_until(mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Codec for Gate {
    fn makes_columns(&self) -> bool {
        true
    }

    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>) {
        support::Halves.collect(documents, ends, statistics);
    }

    fn encode(&self, times: Times<'_>, documents: Documents<'_>) -> Option<Vec<NamedPart>> {
        if documents.bytes.first() == Some(&b'y') {
            if self.begun.fetch_add(1, SeqCst) >= BEGUN_MAX {
                wait_until(|| self.is_open.load(SeqCst));
            }
        } else if self.begun.load(SeqCst) > 0 {
            self.is_open.store(true, SeqCst);
        }
        support::Halves.encode(times, documents)
    }

    fn times(&self, block: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
        support::Halves.times(block)
    }

    fn documents(&self, block: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
        let meanwhile = self.meanwhile.lock().unwrap().take();
        meanwhile.into_iter().for_each(|meanwhile| meanwhile());
        support::Halves.documents(block)
    }
}

/// What is sealed beside a deletion has a file that no list names yet, and a number from before the deletion.
#[test]
fn what_is_being_sealed_is_not_held() {
    let folder = Simulated::new();
    let gate = Arc::new(Gate::default());
    let options = Options { block_bytes: 30, segments: Layout::Columns, ..tiny() };
    let store = Arc::new(Store::open_on(Arc::new(folder.clone()), options, gate.clone()).unwrap());
    let append = |store: &Store, letter: u8, count: usize| {
        let document = [letter; 50];
        store.append_sealed(&vec![Event { instant: 7, bytes: &document }; count], None).unwrap();
    };
    append(&store, b'x', 40);
    let (beside, seen) = (Arc::clone(&store), folder.clone());
    let (send, sealing) = std::sync::mpsc::channel();
    *gate.meanwhile.lock().unwrap() = Some(Box::new(move || {
        send.send(std::thread::spawn(move || append(&beside, b'y', 400))).unwrap();
        wait_until(|| seen.list().unwrap().iter().any(|name| name.ends_with(".segment.tmp")));
    }));
    assert_eq!(store.delete(&[Key { instant: 7, arrival: 3 }]).unwrap().events, 1);
    let erased = store.erase().unwrap();
    assert_eq!((&erased.held, &erased.unreadable), (&vec![], &vec![]));
    assert_eq!(erased.receipt.unwrap().events, 1);
    sealing.recv().unwrap().join().unwrap();
}

/// Its receipt tells that it was erased; one that was damaged used to count as none.
#[test]
fn an_erased_event_does_not_come_back_while_its_receipt_cannot_be_read() {
    let (folder, model, log) = erased_with_its_log_back();
    let receipts = folder.folder("receipts").unwrap();
    let name = receipts.list().unwrap().pop().unwrap();
    receipts.open_for_writing(&name).unwrap().write_at(50, &[0x55; 8]).unwrap();
    assert_eq!(Receipt::list_on(&folder).unwrap()[0].1, None);

    let run = |folder: &Simulated| {
        Repair::run_on(Arc::new(folder.clone()), &tiny(), codec(), false, &mut |_, _| ())
    };
    let before = folder.list().unwrap();
    let repair = run(&folder).unwrap();
    assert!(matches!(&repair.left[..], [left] if left.file == receipts.path(&name)), "{repair:?}");
    assert_eq!((repair.files.len(), repair.unnamed.len()), (0, 0), "nothing was repaired, and nothing lost");
    assert_eq!(folder.list().unwrap(), before, "nothing was published for it");
    assert_eq!(run(&folder).unwrap(), repair, "it is told each time");
    check(&open(&folder, &tiny()).unwrap().snapshot(), &model);
    assert!(folder.kind(&log).unwrap().is_some(), "it waits");
    // Without a manifest there would be nothing left.
    let lost = Simulated::with(folder.medium());
    for name in lost.list().unwrap().iter().filter(|name| name.ends_with(".manifest")) {
        lost.remove(name).unwrap();
    }
    let error = run(&lost).unwrap_err();
    assert!(matches!(&error, OpenError::ReceiptDamaged { file } if *file == receipts.path(&name)), "{error}");
    // Whoever moves the receipt away asks for it.
    receipts.remove(&name).unwrap();
    assert_eq!(run(&folder).unwrap().events, 30);
}

/// It came back where any other file was damaged, as long as somebody still read it.
#[test]
fn what_was_removed_does_not_come_back_with_a_repair_of_something_else() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    for part in 0..4 {
        let documents: Vec<String> = (0..10).map(|n| format!("{:0>40}", part * 10 + n)).collect();
        let events: Vec<Event<'_>> = (part * 100..)
            .zip(&documents)
            .map(|(instant, document)| Event { instant, bytes: document.as_bytes() })
            .collect();
        store.append_sealed(&events, None).unwrap();
    }
    let held = Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap().snapshot().unwrap();
    let retention = Retention { before: Some(200), file_bytes_max: None };
    assert_eq!(store.remove(retention, false).unwrap().events, 20);
    drop(store);
    let names = folder.list().unwrap();
    let segments = names.iter().filter(|name| name.ends_with(".segment"));
    assert_eq!(segments.clone().count(), 4, "the removed ones are still read");
    let newest = segments.max().unwrap();
    folder.open_for_writing(newest).unwrap().write_at(60, &[0x55; 4]).unwrap();
    let repair = Repair::run_on(Arc::new(folder.clone()), &tiny(), codec(), false, &mut |_, _| ()).unwrap();
    assert!(!repair.files.is_empty());
    let left = rows(&open(&folder, &tiny()).unwrap().snapshot());
    assert!(left.len() >= 10 && left.iter().all(|row| row.0 >= 20), "{left:?}");
    assert_eq!(held.events(), 40);
}

/// Writes into the first byte of the latest segment that no checksum covers: between two parts.
fn write_between_parts(folder: &Simulated, store: &Store) {
    let segment = folder.list().unwrap().into_iter().filter(|name| name.ends_with(".segment")).max().unwrap();
    let file = folder.open_for_writing(&segment).unwrap();
    let is_between = |at: &u64| {
        let mut before = [0];
        file.read_at(*at, &mut before).unwrap();
        if before != [0] {
            return false;
        }
        file.write_at(*at, b"e").unwrap();
        let is_sound = store.snapshot().verify().unwrap().is_empty();
        if !is_sound {
            file.write_at(*at, &before).unwrap();
        }
        is_sound
    };
    assert!((48..file.length().unwrap()).any(|at| is_between(&at)), "all parts are as long as they may be");
}

/// Two segments of two events each, with bytes between the parts of the later one; the first event is deleted.
fn with_bytes_between_parts() -> (Simulated, Store) {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let event = |instant, bytes| Event { instant, bytes };
    store.append_sealed(&[event(1, b"one"), event(2, b"two")], None).unwrap();
    store.append_sealed(&[event(3, b"three"), event(4, b"four")], None).unwrap();
    write_between_parts(&folder, &store);
    store.delete(&[Key { instant: 1, arrival: 0 }]).unwrap();
    (folder, store)
}

/// They used to be passed over by the proof, as no query reads them.
#[test]
fn no_receipt_is_given_while_a_file_holds_bytes_that_belong_to_no_part() {
    let (_, store) = with_bytes_between_parts();
    let error = store.erase().unwrap_err();
    assert!(matches!(&error, DeleteError::Stray(stray) if stray.part.is_none()), "{error}");
    assert!(error.to_string().contains("which belong to no part; no receipt is given"), "{error}");
    // The file was written anew from its events.
    assert_eq!(store.erase().unwrap().receipt.unwrap().stays.events, 3);
}

#[test]
fn no_receipt_is_given_while_a_reader_holds_a_file_with_a_stray_text() {
    let (folder, store) = with_bytes_between_parts();
    assert!(matches!(store.erase().unwrap_err(), DeleteError::Stray(_)));
    write_between_parts(&folder, &store);
    // By now no file holds the erased event.
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), codec()).unwrap();
    let held = reader.snapshot().unwrap();
    assert!(matches!(store.erase().unwrap_err(), DeleteError::Stray(_)));
    let erased = store.erase().unwrap();
    assert!(erased.receipt.is_none() && erased.held.len() == 1, "{erased:?}");
    drop((held, reader));
    let receipt = store.erase().unwrap().receipt.unwrap();
    assert_eq!((receipt.events, receipt.stays.events, receipt.stays.below), (1, 3, 4));
}
