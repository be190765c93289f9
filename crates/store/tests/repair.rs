//! Repair: what is damaged is kept in quarantine, what is whole stays in the store, whatever interrupts it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;

use support::{Row, append_rows, open, row, rows, tiny};
use tamias_store::io::{Chance, Change, Crash, Directory, Fault, FaultKind, LockKind, Medium, Simulated};
use tamias_store::{Damage, Direction, Event, OpenError, Options, ReadMode, Reader, Repair, Snapshot, Store};

/// A file's name and what it holds.
type Bytes = (String, Vec<u8>);

/// Three segments of several blocks, and a log of three batches.
fn store() -> (Medium, Vec<Row>) {
    store_left(true)
}

/// The same, closed or as a process leaves it that was killed.
fn store_left(closed: bool) -> (Medium, Vec<Row>) {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let append = |first: u64, count: u64| {
        let documents: Vec<String> = (first..first + count).map(|n| format!("{{\"n\":{n:03}}}")).collect();
        let events: Vec<Event<'_>> = documents
            .iter()
            .zip(first..)
            .map(|(document, n)| Event { instant: 100 + (n * 7) % 40, bytes: document.as_bytes() })
            .collect();
        store.append(&events).unwrap();
    };
    for first in [0, 30, 60] {
        append(first, 30);
        store.seal().unwrap();
    }
    append(90, 2);
    append(92, 3);
    append(95, 1);
    let expected = rows(&store.snapshot());
    let killed = folder.medium();
    drop(store);
    drop(open(&folder, &tiny()).unwrap());
    (if closed { folder.medium() } else { killed }, expected)
}

fn alter(medium: &mut Medium, name: &str, alter: impl FnOnce(&mut Vec<u8>)) {
    let file = medium.find(name).unwrap();
    let mut bytes = medium.contents(file).to_vec();
    alter(&mut bytes);
    medium.apply(&Change::SetLength(file, 0));
    medium.apply(&Change::Write(file, 0, bytes.into()));
    medium.apply(&Change::Flush(file, true));
}

fn names(medium: &Medium, ending: &str) -> Vec<String> {
    medium.names().filter(|name| name.ends_with(ending)).cloned().collect()
}

fn flip(medium: &mut Medium, name: &str, what: &[u8]) {
    alter(medium, name, |bytes| {
        let turned = support::turned(what);
        let is_it = |window: &[u8]| window == what || window == turned;
        let at = bytes.windows(what.len()).position(is_it).unwrap();
        bytes[at + what.len() - 1] ^= 1;
    });
}

/// A store with damage of each kind, how it was before, and the damaged files.
fn damaged() -> (Medium, Vec<Row>, Vec<Bytes>) {
    let (mut medium, expected) = store();
    let (segments, logs) = (names(&medium, ".segment"), names(&medium, ".log"));
    flip(&mut medium, &segments[0], b"\"n\":007");
    alter(&mut medium, &segments[1], |bytes| bytes[17] ^= 1);
    alter(&mut medium, &segments[2], |bytes| bytes.truncate(bytes.len() - 100));
    flip(&mut medium, &logs[0], b"\"n\":093");
    let files: Vec<Bytes> = segments
        .into_iter()
        .chain(logs)
        .map(|name| (name.clone(), medium.contents(medium.find(&name).unwrap()).to_vec()))
        .collect();
    (medium, expected, files)
}

fn repair(folder: &Simulated, dry_run: bool) -> Result<Repair, OpenError> {
    repair_with(folder, ReadMode::Map, dry_run)
}

fn repair_with(folder: &Simulated, read_mode: ReadMode, dry_run: bool) -> Result<Repair, OpenError> {
    let options = Options { read_mode, ..tiny() };
    Repair::run_on(Arc::new(folder.clone()), &options, support::codec(), dry_run, &mut |_, _| ())
}

fn skipping(snapshot: &Snapshot) -> Vec<Row> {
    let mut rows = Vec::new();
    for group in snapshot.groups(0..=u64::MAX, Direction::Ascending).skip_damaged() {
        for block in group.unwrap() {
            if block.times().is_err() || block.documents().is_err() {
                continue;
            }
            for index in 0..block.len() {
                let key = block.key(index).unwrap().unwrap();
                rows.push((key.arrival, key.instant, block.document(index).unwrap().unwrap().to_vec()));
            }
        }
    }
    rows.sort();
    rows
}

/// That the damaged files are in the store or in quarantine, as they were.
fn check_kept(medium: &Medium, files: &[Bytes]) {
    for (name, bytes) in files {
        let holds = |name: &str| medium.find(name).is_some_and(|file| medium.contents(file) == bytes);
        assert!(holds(name) || holds(&format!("quarantine/{name}")), "{name} is lost");
    }
}

#[test]
fn what_is_whole_stays_and_the_rest_is_kept() {
    let (medium, expected, files) = damaged();
    let folder = Simulated::with(medium);
    let before = skipping(&open(&folder, &tiny()).unwrap().snapshot());
    let changes = folder.change_count();
    let planned = repair(&folder, true).unwrap();
    // The lock, and who holds it.
    let names_of_changes: Vec<Change> = folder.changes()[changes..].to_vec();
    assert!(
        names_of_changes
            .iter()
            .all(|change| matches!(change, Change::Create(name) | Change::Remove(name) if name == "writer")
                || matches!(change, Change::Write(..))),
        "a dry run changes nothing: {names_of_changes:?}"
    );
    let done = repair(&folder, false).unwrap();
    assert_eq!(planned, done, "a dry run tells what would be done");
    let plain = Simulated::with(damaged().0);
    assert_eq!(repair_with(&plain, ReadMode::Plain, false).unwrap(), done);
    assert_eq!(
        rows(&open(&plain, &tiny()).unwrap().snapshot()),
        rows(&open(&folder, &tiny()).unwrap().snapshot())
    );

    let store = open(&folder, &tiny()).unwrap();
    assert_eq!(store.snapshot().verify().unwrap(), []);
    let after = rows(&store.snapshot());
    assert_eq!(after.len() as u64, done.events);
    assert!(before.iter().all(|row| after.contains(row)));
    assert!(after.iter().all(|row| expected.contains(row)));
    check_kept(&folder.medium(), &files);
    let lost: u64 = done.files.iter().flat_map(|file| &file.damage).filter_map(|part| part.events).sum();
    assert_eq!(after.len() as u64 + lost, expected.len() as u64);
    // One block of the first, none of the second, of which only the header is wrong, all of the third, one batch.
    let kept: Vec<u64> = done.files.iter().map(|file| file.kept).collect();
    let block = done.files[0].damage[0].events.unwrap();
    assert_eq!(kept, [30 - block, 30, 0, 3]);
    for file in &done.files {
        assert_eq!(
            file.quarantined.as_deref(),
            file.file
                .parent()
                .map(|folder| folder.join("quarantine").join(file.file.file_name().unwrap()))
                .as_deref()
        );
    }
    let numbers: Vec<u64> = store.append(&[Event { instant: 1, bytes: b"new" }]).unwrap().collect();
    assert!(!expected.iter().any(|row| numbers.contains(&row.0)), "no number is given twice");
    store.seal().unwrap();
    drop(store);
    // Once more there is nothing to do.
    let changes = folder.change_count();
    let again = repair(&folder, false).unwrap();
    assert_eq!((again.files, again.unnamed, again.events), (vec![], vec![], after.len() as u64 + 1));
    assert_eq!(folder.change_count(), changes + 3, "only who the writer is was written");
    check_kept(&folder.medium(), &files);
}

#[test]
fn a_repair_may_be_interrupted_at_any_point() {
    let (medium, _, files) = damaged();
    assert!(interrupt(medium, &files) > 200);
    // Of this one nothing is left, so that no new file is written.
    let (mut medium, _) = store();
    let name = names(&medium, ".segment")[1].clone();
    alter(&mut medium, &name, |bytes| bytes.truncate(bytes.len() - 100));
    let bytes = medium.contents(medium.find(&name).unwrap()).to_vec();
    assert!(interrupt(medium, &[(name, bytes)]) > 50);
}

/// All losses of power after each change of a repair; how many there were.
fn interrupt(medium: Medium, files: &[Bytes]) -> usize {
    let whole = |folder: &Simulated| {
        repair(folder, false).unwrap();
        let store = open(folder, &tiny()).unwrap();
        assert_eq!(store.snapshot().verify().unwrap(), []);
        check_kept(&folder.medium(), files);
        rows(&store.snapshot())
    };
    let repaired = whole(&Simulated::with(medium.clone()));
    let unrepaired = skipping(&open(&Simulated::with(medium.clone()), &tiny()).unwrap().snapshot());
    let folder = Simulated::with(medium.clone());
    repair(&folder, false).unwrap();
    let changes = folder.changes();
    let mut chance = Chance(1);
    let mut at_each = medium;
    let mut images = 0;
    for change in changes.iter().map(Some).chain([None]) {
        for crash in Crash::ALL {
            let left = at_each.after(crash, &mut chance);
            check_kept(&left, files);
            // Opened as it is, or repaired again, with another interruption on the way.
            let folder = Simulated::with(left.clone());
            let shown = skipping(&open(&folder, &tiny()).unwrap().snapshot());
            assert!(shown == unrepaired || shown == repaired);
            let folder = Simulated::with(left);
            assert_eq!(whole(&folder), repaired);
            images += 1;
            let mut again = folder.changes();
            again.truncate(chance.below(again.len() + 1));
            let mut medium = at_each.after(Crash::Everything, &mut chance);
            if crash == Crash::Everything {
                again.iter().for_each(|change| medium.apply(change));
                let left = medium.after(Crash::ALL[chance.below(8)], &mut chance);
                check_kept(&left, files);
                assert_eq!(whole(&Simulated::with(left)), repaired);
            }
        }
        if let Some(change) = change {
            at_each.apply(change);
        }
    }
    images
}

#[test]
fn any_call_of_a_repair_may_fail() {
    let (medium, _, files) = damaged();
    let repaired = {
        let folder = Simulated::with(medium.clone());
        repair(&folder, false).unwrap();
        rows(&open(&folder, &tiny()).unwrap().snapshot())
    };
    for kind in [FaultKind::Device, FaultKind::NoSpace, FaultKind::Short, FaultKind::Interrupted] {
        for at in 0..200 {
            let folder = Simulated::with(medium.clone());
            folder.fail(Some(Fault { at, forever: false, kind }));
            let first = repair(&folder, false);
            folder.fail(None);
            if matches!(kind, FaultKind::Short | FaultKind::Interrupted) {
                first.unwrap();
            }
            check_kept(&folder.medium(), &files);
            repair(&folder, false).unwrap();
            let store = open(&folder, &tiny()).unwrap();
            assert_eq!(store.snapshot().verify().unwrap(), []);
            assert_eq!(rows(&store.snapshot()), repaired, "{kind:?} at call {at}");
            check_kept(&folder.medium(), &files);
        }
    }
}

#[test]
fn a_reader_goes_on_beside_a_repair() {
    let (medium, _, _) = damaged();
    let folder = Simulated::with(medium);
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
    let snapshot = reader.snapshot().unwrap();
    let before = skipping(&snapshot);
    let repaired = repair(&folder, false).unwrap();
    assert_eq!(skipping(&snapshot), before);
    assert_eq!(reader.snapshot().unwrap().events(), repaired.events);
}

#[test]
fn what_is_no_store_or_in_use_is_not_repaired() {
    let folder = Simulated::new();
    assert!(matches!(repair(&folder, false), Err(OpenError::Missing { .. })));
    assert_eq!(folder.change_count(), 0);
    let store = open(&folder, &tiny()).unwrap();
    assert!(matches!(repair(&folder, false), Err(OpenError::Locked { .. })));
    drop(store);
    let nothing = repair(&folder, false).unwrap();
    assert!(nothing.files.is_empty() && nothing.unnamed.is_empty() && nothing.events == 0);
    let missing = tempfile::tempdir().unwrap().path().join("missing");
    let refused = Repair::run(&missing, &Options::default(), support::codec(), false, &mut |_, _| ());
    assert!(matches!(refused, Err(OpenError::Missing { .. })));
    assert!(!missing.exists());
}

#[test]
fn files_that_are_missing_are_given_up() {
    let (medium, expected) = store();
    let folder = Simulated::with(medium.clone());
    folder.remove(&names(&medium, ".segment")[1]).unwrap();
    folder.remove(&names(&medium, ".log")[0]).unwrap();
    let done = repair(&folder, false).unwrap();
    assert_eq!(
        done.files.iter().map(|file| (&file.quarantined, file.kept)).collect::<Vec<_>>(),
        [(&None, 0); 2]
    );
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!(store.snapshot().verify().unwrap(), []);
    let left: Vec<Row> = expected.into_iter().filter(|row| row.0 < 30 || (60..90).contains(&row.0)).collect();
    assert_eq!(rows(&store.snapshot()), left);
    // The numbers of the events that were in the log are not given again, however many there were.
    let arrival = store.append(&[Event { instant: 1, bytes: b"new" }]).unwrap().start;
    assert!(arrival > 96 && arrival < 1 << 62, "{arrival}");
}

#[test]
fn another_file_in_quarantine_is_not_replaced() {
    let (mut medium, _) = store();
    let segment = names(&medium, ".segment")[0].clone();
    let sound = medium.clone();
    flip(&mut medium, &segment, b"\"n\":007");
    let folder = Simulated::with(medium);
    repair(&folder, false).unwrap();
    // Somebody puts the old files back, and they are damaged again in another place.
    let mut medium = folder.medium();
    for name in names(&medium, "").into_iter().filter(|name| !name.contains('/')) {
        medium.apply(&Change::Remove(name));
    }
    for name in names(&sound, "") {
        medium.apply(&Change::Create(name.clone()));
        let bytes = sound.contents(sound.find(&name).unwrap());
        medium.apply(&Change::Write(medium.find(&name).unwrap(), 0, bytes.into()));
    }
    flip(&mut medium, &segment, b"\"n\":009");
    let folder = Simulated::with(medium);
    let done = repair(&folder, false).unwrap();
    let kept = done.files[0].quarantined.as_ref().unwrap();
    assert!(kept.ends_with(format!("quarantine/{segment}.2")), "{kept:?}");
    let kept = names(&folder.medium(), "").into_iter().filter(|name| name.contains(&segment)).count();
    assert_eq!(kept, 2, "the store's own is gone");
}

#[test]
fn the_end_of_a_log_that_was_closed_is_damage_if_it_is_not_whole() {
    let (mut medium, expected) = store();
    let log = names(&medium, ".log")[0].clone();
    flip(&mut medium, &log, b"\"n\":095");
    let folder = Simulated::with(medium);
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!(skipping(&store.snapshot()), expected[..95]);
    let damage = store.snapshot().verify().unwrap();
    assert_eq!(damage.iter().map(|part| part.events).collect::<Vec<_>>(), [Some(1)]);
}

#[test]
fn the_end_of_a_log_that_cannot_be_read_is_kept_when_opening() {
    let (mut medium, expected) = store_left(false);
    let log = names(&medium, ".log")[0].clone();
    flip(&mut medium, &log, b"\"n\":095");
    let bytes = medium.contents(medium.find(&log).unwrap()).to_vec();
    let folder = Simulated::with(medium);
    // Whether that batch was acknowledged nobody can tell: the process was killed before it wrote another.
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!(rows(&store.snapshot()), expected[..95]);
    assert_eq!(store.snapshot().verify().unwrap(), Vec::<Damage>::new());
    let medium = folder.medium();
    let kept =
        names(&medium, "").into_iter().find(|name| name.starts_with("quarantine/") && !name.ends_with('/'));
    let kept = kept.unwrap();
    let range = kept.strip_prefix(&format!("quarantine/{log}.")).unwrap().split_once('-').unwrap();
    let (start, end): (usize, usize) = (range.0.parse().unwrap(), range.1.parse().unwrap());
    assert_eq!(medium.contents(medium.find(&kept).unwrap()), &bytes[start..end]);
    assert_eq!(end, bytes.len());
    assert!(medium.find(&log).is_none(), "the log itself was copied and removed");
    let [leftover] = store.leftovers() else { panic!("{:?}", store.leftovers()) };
    assert_eq!((leftover.bytes.clone(), leftover.events), (start as u64..end as u64, 0));
    assert_eq!(leftover.kept, std::path::Path::new("simulated").join(&kept));
    // Opening again finds nothing of the kind.
    drop(store);
    assert_eq!(open(&folder, &tiny()).unwrap().leftovers(), []);
    assert_eq!(names(&folder.medium(), "").iter().filter(|name| name.starts_with("quarantine/")).count(), 2);
}

/// Opens a store that goes on with no log, as another process seems to have them.
fn open_anew(folder: &Simulated) -> Store {
    let logs = names(&folder.medium(), ".log");
    let _locks: Vec<_> = logs.iter().map(|log| folder.lock(log, LockKind::Exclusive)).collect();
    open(folder, &tiny()).unwrap()
}

/// Appends one event by a process of its own, to a log of its own; it closes the store or is killed.
fn process(folder: &Simulated, n: u64, closed: bool) -> Simulated {
    let store = open_anew(folder);
    let document = format!("{{\"n\":{n:03}}}");
    store.append(&[Event { instant: 100 + n, bytes: document.as_bytes() }]).unwrap();
    if closed {
        drop(store);
        return folder.clone();
    }
    Simulated::with(folder.medium())
}

/// Which of these events the store shows.
fn numbers(folder: &Simulated) -> Vec<u64> {
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
    let rows = skipping(&reader.snapshot().unwrap());
    rows.iter().map(|(_, instant, _)| instant - 100).collect()
}

#[test]
fn a_damaged_log_takes_no_other_log_with_it() {
    for closed in [true, false] {
        for first in [1, 2, 12] {
            let mut folder = (0..first).fold(Simulated::new(), |folder, n| process(&folder, n, true));
            let damaged = names(&folder.medium(), ".log").pop().unwrap();
            let mut medium = folder.medium();
            flip(&mut medium, &damaged, format!("\"n\":{:03}", first - 1).as_bytes());
            folder = Simulated::with(medium);
            for n in first..first + 12 {
                folder = process(&folder, n, closed);
                let expected: Vec<u64> = (0..=n).filter(|n| *n != first - 1).collect();
                assert_eq!(numbers(&folder), expected, "{closed} {first}");
            }
            let expected: Vec<u64> = (0..first + 12).filter(|n| *n != first - 1).collect();
            let repaired = repair(&folder, false).unwrap();
            let lost: Vec<(bool, u64)> =
                repaired.files.iter().map(|file| (file.file.ends_with(&damaged), file.kept)).collect();
            assert_eq!(lost, [(true, 0)]);
            assert_eq!(repaired.events, expected.len() as u64);
            drop(open(&folder, &tiny()).unwrap());
            assert_eq!(numbers(&folder), expected);
            assert_eq!(repair(&folder, false).unwrap().files, []);
        }
    }
}

#[test]
fn a_log_that_was_missing_for_a_while_is_copied_with_the_others() {
    let mut folder = (0..8).fold(Simulated::new(), |folder, n| process(&folder, n, true));
    let name = names(&folder.medium(), ".log")[4].clone();
    let bytes = folder.medium().contents(folder.medium().find(&name).unwrap()).to_vec();
    let missing = bytes.windows(8).find_map(|window| window.strip_prefix(b"\"n\":")?.get(..3)).unwrap();
    let missing: u64 = std::str::from_utf8(missing).unwrap().parse().unwrap();
    folder.remove(&name).unwrap();
    // More logs than stay as they are: the others are copied around it.
    folder = process(&process(&folder, 8, true), 9, false);
    assert!(names(&folder.medium(), ".log").len() < 8);
    assert_eq!(numbers(&folder), (0..10).filter(|n| *n != missing).collect::<Vec<_>>());
    let file = folder.create(&name).unwrap();
    tamias_store::io::File::write_at(&*file, 0, &bytes).unwrap();
    file.flush().unwrap();
    for n in 10..30 {
        folder = process(&folder, n, n % 3 > 0);
        assert_eq!(numbers(&folder), (0..=n).collect::<Vec<_>>());
    }
    assert_eq!(repair(&folder, false).unwrap().files, []);
}

#[test]
fn repair_keeps_the_unprovable_end_of_an_undamaged_log() {
    let folder = process(&Simulated::new(), 0, true);
    let closed = names(&folder.medium(), ".log").pop().unwrap();
    let store = open_anew(&folder);
    for n in 1..4 {
        let document = format!("{{\"n\":{n:03}}}");
        store.append(&[Event { instant: 100 + n, bytes: document.as_bytes() }]).unwrap();
    }
    let mut medium = folder.medium();
    drop(store);
    let live = names(&medium, ".log").pop().unwrap();
    assert_ne!(closed, live);
    flip(&mut medium, &closed, b"\"n\":000");
    flip(&mut medium, &live, b"\"n\":003");
    let bytes = medium.contents(medium.find(&live).unwrap()).to_vec();
    let folder = Simulated::with(medium);
    let planned = repair(&folder, true).unwrap();
    let done = repair(&folder, false).unwrap();
    assert_eq!(planned, done, "a dry run tells what would be done");
    assert_eq!(done.files.iter().map(|file| file.kept).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(numbers(&folder), [1, 2]);
    let kept = done.files[1].quarantined.as_ref().unwrap().file_name().unwrap().to_str().unwrap();
    let medium = folder.medium();
    let kept = medium.contents(medium.find(&format!("quarantine/{kept}")).unwrap());
    assert!(bytes.ends_with(kept) && kept.windows(7).any(|window| window == b"\"n\":002"));
}

/// One bit took the whole segment with it, though all of its blocks were sound.
#[test]
fn a_damaged_index_takes_few_blocks_with_it() {
    let (medium, expected) = store();
    let segment = names(&medium, ".segment")[1].clone();
    let bytes = medium.contents(medium.find(&segment).unwrap()).to_vec();
    let trailer = bytes.len() - 96;
    let index = trailer - u64::from_le_bytes(*bytes[trailer + 16..].first_chunk().unwrap()) as usize;
    let most = {
        let store = open(&Simulated::with(medium.clone()), &tiny()).unwrap();
        let groups = store.snapshot().groups(0..=u64::MAX, Direction::Ascending);
        groups.flat_map(|group| group.unwrap()).map(|block| block.len()).max().unwrap()
    };
    let (mut kept_most, mut tried) = (0, 0);
    for at in index..trailer {
        let mut medium = medium.clone();
        alter(&mut medium, &segment, |bytes| bytes[at] ^= 1 << (at % 8));
        let folder = Simulated::with(medium);
        let done = repair(&folder, false).unwrap();
        let [file] = &done.files[..] else { panic!("byte {at}: {:?}", done.files) };
        assert_eq!((file.damage.len(), file.damage[0].events), (1, Some(30 - file.kept)), "byte {at}");
        let left = rows(&open(&folder, &tiny()).unwrap().snapshot());
        assert!(left.iter().all(|row| expected.contains(row)), "byte {at}");
        assert_eq!((left.len() as u64, done.events), (done.events, 66 + file.kept));
        tried += 1;
        kept_most += usize::from(file.kept as usize + 2 * most >= 30);
    }
    // Of the four numbers and the names at its beginning all depends.
    assert!(kept_most * 10 > tried * 7, "{kept_most} of {tried}");
}

/// What somebody had appended to a segment was taken for its end, or hid it.
#[test]
fn bytes_behind_the_end_of_a_segment_take_no_event_with_them() {
    let (mut medium, expected) = store();
    for name in names(&medium, ".manifest") {
        medium.apply(&Change::Remove(name));
    }
    let segment = names(&medium, ".segment")[0].clone();
    let bytes = medium.contents(medium.find(&segment).unwrap()).to_vec();
    let mut chance = Chance(1);
    let noise: Vec<u8> = (0..70_000).map(|_| chance.below(256) as u8).collect();
    let zeros = vec![0; 150_000];
    let behind = [
        ("its last 96 bytes", bytes[bytes.len() - 96..].to_vec()),
        ("its last 200 bytes", bytes[bytes.len() - 200..].to_vec()),
        ("its last bytes, far behind", [&zeros, &bytes[bytes.len() - 96..], &noise].concat()),
        ("all of it once more", bytes.clone()),
        ("zeros", zeros.clone()),
        ("noise", noise.clone()),
    ];
    for (what, behind) in behind {
        let mut medium = medium.clone();
        alter(&mut medium, &segment, |bytes| bytes.extend(&behind));
        let folder = Simulated::with(medium);
        let repaired = repair(&folder, false).unwrap();
        assert_eq!(repaired.events, expected.len() as u64, "{what}: {repaired:?}");
        assert_eq!(rows(&open(&folder, &tiny()).unwrap().snapshot()), expected, "{what}");
    }
}

/// A store whose last log is gone, and an earlier copy of it there under another name: it lacks the latest five rows of thirty.
fn with_a_renamed_copy_of_a_log() -> (Medium, String, &'static str) {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    append_rows(&store, 0..20);
    store.seal().unwrap();
    append_rows(&store, 20..25);
    let earlier = folder.medium();
    append_rows(&store, 25..30);
    let left = Simulated::with(folder.medium());
    let log = names(&earlier, ".log").pop().unwrap();
    let renamed = "00000000000000ff.log";
    left.remove(&log).unwrap();
    let copy = left.create(renamed).unwrap();
    copy.write_at(0, earlier.contents(earlier.find(&log).unwrap())).unwrap();
    copy.flush().unwrap();
    let mut medium = left.medium();
    medium.apply(&Change::FlushFolder(String::new(), true));
    (medium, log, renamed)
}

/// The copy had its own name again before a manifest said so: whoever opened the store then took it for the whole log, and gave the numbers of lost events to new ones.
#[test]
fn a_log_has_its_own_name_again_only_once_a_manifest_tells_that_it_may_lack_events() {
    let (medium, _, _) = with_a_renamed_copy_of_a_log();
    let folder = Simulated::with(medium.clone());
    assert_eq!(repair(&folder, false).unwrap().events, 25);
    let (mut at_each, mut chance) = (medium, Chance(3));
    for change in folder.changes().iter().map(Some).chain([None]) {
        for crash in Crash::ALL {
            let left = at_each.after(crash, &mut chance);
            let folder = Simulated::with(left.clone());
            let store = open(&folder, &tiny()).unwrap();
            let arrival = store.append(&[Event { instant: 1000, bytes: b"new" }]).unwrap().start;
            assert!(arrival >= 30, "{arrival} after {change:?}");
            drop(store);
            for (folder, more) in [(folder, 1), (Simulated::with(left), 0)] {
                assert_eq!(repair(&folder, false).unwrap().events, 25 + more);
                assert_eq!(repair(&folder, false).unwrap().unnamed, []);
            }
        }
        if let Some(change) = change {
            at_each.apply(change);
        }
    }
}

#[test]
fn a_renamed_log_that_is_damaged_is_kept_under_its_own_name() {
    let (medium, log, renamed) = with_a_renamed_copy_of_a_log();
    let mut medium = medium;
    flip(&mut medium, renamed, &row(22).2);
    let folder = Simulated::with(medium);
    let planned = repair(&folder, true).unwrap();
    let done = repair(&folder, false).unwrap();
    assert_eq!(planned, done);
    assert_eq!((done.events, done.files[0].kept), (24, 4));
    assert_eq!(done.files[0].quarantined, Some(folder.path("quarantine").join(&log)));
    assert!(folder.kind(renamed).unwrap().is_none() && folder.kind(&log).unwrap().is_none());
    let again = repair(&folder, false).unwrap();
    assert_eq!((again.files, again.unnamed), (vec![], vec![]));
}
