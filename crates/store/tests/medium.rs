//! Sectors that cannot be read, and media without a byte of room.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;

use support::{Row, names, open, rows, tiny};
use tamias_store::format::FRAME_BYTES;
use tamias_store::io::{Chance, Crash, Directory, Fault, FaultKind, LockKind, Simulated};
use tamias_store::{
    AppendError, Backup, Damage, Direction, Durability, Event, OpenError, Operation, Options, ReadError,
    ReadMode, Reader, Removed, Repair, Retention, Store,
};

fn append(store: &Store, range: std::ops::Range<u64>) {
    let documents: Vec<String> =
        range.clone().map(|n| format!("{{\"n\":{n:04},\"{}\":0}}", "x".repeat(60))).collect();
    let events: Vec<Event<'_>> =
        documents.iter().zip(range).map(|(d, n)| Event { instant: 100 + n, bytes: d.as_bytes() }).collect();
    store.append(&events).unwrap();
}

/// Nine segments of 100 events, and 40 events in four batches of the log.
fn store() -> (Simulated, Vec<Row>) {
    let folder = Simulated::new();
    let options = Options { segment_bytes: 1 << 20, block_bytes: 4096, ..tiny() };
    let store = open(&folder, &options).unwrap();
    for first in (0..900).step_by(100) {
        append(&store, first..first + 100);
        store.seal().unwrap();
    }
    for first in (900..940).step_by(10) {
        append(&store, first..first + 10);
    }
    let expected = rows(&store.snapshot());
    drop(store);
    (folder, expected)
}

/// What is left when damaged blocks are passed over, and what these are.
fn past_damage(reader: &Reader) -> (Vec<Row>, Vec<Damage>) {
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    let snapshot = reader.snapshot().unwrap();
    let mut groups = snapshot.groups(0..=u64::MAX, Direction::Ascending).skip_damaged();
    for group in &mut groups {
        for block in group.unwrap() {
            match block.times().and_then(|_| block.documents()) {
                Err(ReadError::Damaged(damage)) => left_out.push(damage),
                Err(failure) => panic!("{failure}"),
                Ok(_) => rows.extend((0..block.len()).map(|index| {
                    let key = block.key(index).unwrap().unwrap();
                    (key.arrival, key.instant, block.document(index).unwrap().unwrap().to_vec())
                })),
            }
        }
    }
    left_out.extend_from_slice(groups.left_out());
    rows.sort();
    (rows, left_out)
}

#[test]
fn an_unreadable_sector_is_damage_of_its_range() {
    for read_mode in [ReadMode::Map, ReadMode::Plain] {
        let (folder, expected) = store();
        let options = Options { read_mode, ..tiny() };
        let segments = names(&folder, ".segment");
        // Within the documents of the first segment, the index of the second, the header of the third.
        folder.spoil(&segments[0], 5000..5001);
        let length = folder.open(&segments[1]).unwrap().length().unwrap();
        folder.spoil(&segments[1], length - 200..length - 199);
        folder.spoil(&segments[2], 3..4);
        let reader = Reader::open_on(Arc::new(folder.clone()), options.clone(), support::codec()).unwrap();
        let (left, left_out) = past_damage(&reader);
        let lost: u64 = left_out.iter().map(|damage| damage.events.unwrap()).sum();
        assert_eq!(left.len() as u64 + lost, expected.len() as u64, "{left_out:?}");
        assert!(
            (101..200).contains(&lost),
            "a block of the first, all of the second, none of the third: {lost}"
        );
        assert!(left.iter().all(|row| expected.contains(row)));
        let found = reader.snapshot().unwrap().verify().unwrap();
        let files: Vec<_> = found.iter().map(|damage| damage.file.file_name().unwrap().to_owned()).collect();
        assert_eq!(files, [&segments[0][..], &segments[1][..], &segments[2][..]]);
        assert!(found[0].to_string().contains("the medium does not give it back"), "{}", found[0]);
        // Compaction passes them over, and repair keeps what can be read.
        let store = open(&folder, &Options { segment_bytes: 1 << 20, ..options.clone() }).unwrap();
        store.compact().unwrap();
        drop(store);
        let done =
            Repair::run_on(Arc::new(folder.clone()), &options, support::codec(), false, &mut |_, _| ())
                .unwrap();
        assert_eq!(done.events, left.len() as u64);
        let reader = Reader::open_on(Arc::new(folder.clone()), options.clone(), support::codec()).unwrap();
        assert_eq!(past_damage(&reader), (left, vec![]));
    }
}

#[test]
fn an_unreadable_sector_of_the_log_takes_its_batch_only() {
    let (folder, expected) = store();
    let log = names(&folder, ".log").pop().unwrap();
    // Within the second of four batches.
    folder.spoil(&log, 1500..1600);
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
    let snapshot = reader.snapshot().unwrap();
    let [damage] = snapshot.damage() else { panic!("{:?}", snapshot.damage()) };
    // The simulated disk gives nothing of 4096 bytes of which one is bad.
    assert!(damage.bytes.start <= 1500 && damage.found.contains("does not give it back"), "{damage}");
    let found = snapshot.verify().unwrap();
    assert_eq!(found.len(), 1, "the nine segments are fine");
    assert_eq!(past_damage(&reader).0, expected[..900], "all batches lie in one sector");
    let store = open(&folder, &tiny()).unwrap();
    assert!(store.append(&[Event { instant: 1, bytes: b"new" }]).unwrap().start >= 940);
    drop(store);
    let done =
        Repair::run_on(Arc::new(folder.clone()), &tiny(), support::codec(), false, &mut |_, _| ()).unwrap();
    assert_eq!((done.events, done.files.len()), (901, 1));
    assert_eq!(open(&folder, &tiny()).unwrap().snapshot().verify().unwrap(), []);
}

#[test]
fn a_read_that_fails_once_costs_nothing_for_ever() {
    let (folder, expected) = store();
    for at in 0..60 {
        folder.fail(Some(Fault { at: folder.calls() + at, forever: false, kind: FaultKind::Unreadable }));
        let _ = open(&folder, &tiny());
        folder.fail(None);
        let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
        assert_eq!(past_damage(&reader), (expected.clone(), vec![]));
    }
}

#[test]
fn a_segment_that_has_grown_or_lost_its_header_is_read_all_the_same() {
    let (folder, expected) = store();
    let segments = names(&folder, ".segment");
    let file = folder.open_for_writing(&segments[0]).unwrap();
    file.write_at(file.length().unwrap(), b"x").unwrap();
    folder.open_for_writing(&segments[1]).unwrap().write_at(4, b"x").unwrap();
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
    assert_eq!(past_damage(&reader), (expected, vec![]));
    let found: Vec<_> = reader.snapshot().unwrap().verify().unwrap();
    let told: Vec<_> = found.iter().map(|damage| (damage.events, damage.found)).collect();
    assert_eq!(
        told,
        [(Some(0), "the file has grown"), (Some(0), "its header is not the one that was written")]
    );
}

fn no_room(folder: &Simulated) {
    folder.fail(Some(Fault { at: folder.calls(), forever: true, kind: FaultKind::NoSpace }));
}

fn listing(folder: &Simulated) -> Vec<(String, u64)> {
    let mut names = folder.list().unwrap();
    names.sort();
    let length = |name: &String| folder.open(name).unwrap().length().unwrap();
    names.iter().filter(|name| !name.ends_with('/')).map(|name| (name.clone(), length(name))).collect()
}

#[test]
fn a_full_disk_is_no_standstill() {
    let (folder, expected) = store();
    // A process was killed while it wrote: the log was not closed.
    let store = open(&folder, &Options { segment_bytes: 1 << 20, ..tiny() }).unwrap();
    append(&store, 940..950);
    let killed = Simulated::with(folder.medium());
    // The next process goes on with the log, which takes no room; after a loss of power it is copied.
    let lost_power = Simulated::with(folder.medium().after(Crash::Everything, &mut Chance(1)));
    drop(store);
    no_room(&killed);
    assert_eq!(open(&killed, &tiny()).unwrap().snapshot().events(), 950);
    let killed = lost_power;
    no_room(&killed);
    let before = listing(&killed);
    assert!(open(&killed, &tiny()).unwrap_err().to_string().contains("space"));
    let after: Vec<_> = listing(&killed).into_iter().filter(|(name, _)| name != "writer").collect();
    let before: Vec<_> = before.into_iter().filter(|(name, _)| name != "writer").collect();
    assert_eq!(after, before, "what a failed opening wrote is gone again");
    let snapshot =
        || Reader::open_on(Arc::new(killed.clone()), tiny(), support::codec()).unwrap().snapshot().unwrap();
    assert_eq!((snapshot().events(), snapshot().verify().unwrap()), (950, vec![]));
    // Time after time, without any room coming free: the manifest before makes room for the next.
    for left in [850, 750, 650] {
        let oldest = snapshot().time_range().unwrap().0;
        let retention = Retention { before: Some(oldest + 100), file_bytes_max: None };
        let removed = Removed::from_on(Arc::new(killed.clone()), retention, false).unwrap();
        assert_eq!((removed.events, snapshot().events()), (100, left));
    }
    // There is room again.
    killed.fail(None);
    let store = open(&killed, &tiny()).unwrap();
    assert_eq!(rows(&store.snapshot())[..640], expected[300..940]);
    assert_eq!(store.snapshot().events(), 650);
}

#[test]
fn a_running_writer_removes_without_a_byte_of_room() {
    let (folder, _) = store();
    let store = open(&folder, &tiny()).unwrap();
    no_room(&folder);
    let refused = store.append(&[Event { instant: 1, bytes: b"no room" }]).unwrap_err();
    assert!(matches!(&refused, AppendError::Failure(failure) if failure.is_lack_of_room()), "{refused}");
    let removed = store.remove(Retention { before: Some(300), file_bytes_max: None }, false).unwrap();
    assert_eq!((removed.events, store.snapshot().events()), (200, 740));
    folder.fail(None);
    store.append(&[Event { instant: 1, bytes: b"room" }]).unwrap();
    drop(store);
    assert_eq!(open(&folder, &tiny()).unwrap().snapshot().events(), 741);
}

#[test]
fn a_log_that_was_closed_is_gone_on_with() {
    let (folder, expected) = store();
    let log = names(&folder, ".log");
    let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
    let reader = Reader::open_on(Arc::new(folder.clone()), roomy.clone(), support::codec()).unwrap();
    let store = open(&folder, &roomy).unwrap();
    assert_eq!(rows(&store.snapshot()), expected);
    append(&store, 940..950);
    drop(store);
    let manifests = names(&folder, ".manifest");
    for round in 0..20 {
        let store = open(&folder, &roomy).unwrap();
        assert_eq!(store.snapshot().events(), 950 + round);
        append(&store, 950 + round..951 + round);
        drop(store);
        assert_eq!(reader.snapshot().unwrap().events(), 951 + round);
    }
    assert_eq!((names(&folder, ".log"), names(&folder, ".manifest")), (log, manifests));
    drop(reader);
    let store = open(&folder, &roomy).unwrap();
    store.seal().unwrap();
    drop(store);
    assert_eq!(names(&folder, ".log"), Vec::<String>::new());
    assert_eq!(open(&folder, &roomy).unwrap().snapshot().events(), 970);
}

#[test]
fn of_two_writers_one_goes_on_with_a_log() {
    let (folder, expected) = store();
    let log = names(&folder, ".log");
    let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
    // Another writer, which has lost its lock, has just gone on with it.
    let lock = folder.lock(&log[0], LockKind::Exclusive).unwrap().unwrap();
    let first = open(&folder, &roomy).unwrap();
    append(&first, 940..950);
    drop(first);
    let (logs, length) = (names(&folder, ".log"), folder.open(&log[0]).unwrap().length().unwrap());
    assert_eq!((&logs[..1], logs.len()), (&log[..], 2));
    // What that one writes counts for nobody.
    let file = folder.open_for_writing(&log[0]).unwrap();
    file.write_at(length, &[0x89; 200]).unwrap();
    drop(lock);
    for round in 0..20 {
        let lock = folder.lock(&logs[1], LockKind::Exclusive).ok();
        let store = open(&folder, &roomy).unwrap();
        append(&store, 950 + round..951 + round);
        drop((store, lock));
        assert!(names(&folder, ".log").len() < 12, "many are copied into one");
    }
    let store = open(&folder, &roomy).unwrap();
    assert_eq!(rows(&store.snapshot())[..940], expected);
    assert_eq!(store.snapshot().events(), 970);
}

#[test]
fn a_log_that_is_not_gone_on_with_ends_before_the_batch_that_closed_it() {
    let (folder, expected) = store();
    let (log, roomy) = (names(&folder, ".log"), Options { segment_bytes: 1 << 20, ..tiny() });
    let lock = folder.lock(&log[0], LockKind::Exclusive).unwrap().unwrap();
    drop(open(&folder, &roomy).unwrap());
    drop(lock);
    // The batch with which it was closed was in the cache only.
    let file = folder.open_for_writing(&log[0]).unwrap();
    file.set_length(file.length().unwrap() - FRAME_BYTES as u64).unwrap();
    let store = open(&folder, &roomy).unwrap();
    assert_eq!((rows(&store.snapshot()), store.snapshot().damage()), (expected, &[][..]));
}

#[test]
fn a_log_with_a_second_name_is_not_written_to() {
    let (folder, _) = store();
    let (log, roomy) = (names(&folder, ".log"), Options { segment_bytes: 1 << 20, ..tiny() });
    folder.folder("copy").unwrap();
    folder.link(&log[0], &format!("copy/{}", log[0])).unwrap();
    let before = folder.medium().contents(folder.medium().find(&log[0]).unwrap()).to_vec();
    let store = open(&folder, &roomy).unwrap();
    append(&store, 940..950);
    drop(store);
    let copy = format!("copy/{}", log[0]);
    assert_eq!(folder.medium().contents(folder.medium().find(&copy).unwrap()), before);
    assert_eq!(open(&folder, &roomy).unwrap().snapshot().events(), 950);
}

#[test]
fn a_copied_store_that_nobody_flushed_keeps_what_it_acknowledges() {
    let original = Simulated::new();
    let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
    let first = open(&original, &roomy).unwrap();
    append(&first, 0..10);
    drop(first);
    let copy = Simulated::new();
    let medium = original.medium();
    for name in original.list().unwrap() {
        copy.create(&name).unwrap().write_at(0, medium.contents(medium.find(&name).unwrap())).unwrap();
    }
    let store = open(&copy, &roomy).unwrap();
    append(&store, 10..11);
    let left = Simulated::with(copy.medium().after(Crash::Nothing, &mut Chance(1)));
    assert_eq!(open(&left, &roomy).unwrap().snapshot().events(), 11);
}

#[test]
fn a_log_that_lost_what_a_backup_has_is_not_gone_on_with() {
    let (folder, _) = store();
    let roomy = Options { segment_bytes: 1 << 20, durability: Durability::None, ..tiny() };
    let to = Simulated::new();
    let back_up = |from: &Simulated| Backup::take_on(Arc::new(from.clone()), &to, true, &mut |_, _| ());
    let store = open(&folder, &roomy).unwrap();
    append(&store, 940..945);
    back_up(&folder).unwrap();
    let left = Simulated::with(folder.medium().after(Crash::Nothing, &mut Chance(1)));
    let store = open(&left, &roomy).unwrap();
    assert_eq!(store.snapshot().events(), 940);
    append(&store, 950..960);
    drop(store);
    back_up(&left).unwrap();
    let backup = Reader::open_on(Arc::new(to.clone()), roomy.clone(), support::codec()).unwrap();
    assert_eq!(rows(&backup.snapshot().unwrap()), rows(&open(&left, &roomy).unwrap().snapshot()));
}

#[test]
fn a_backup_of_a_closed_store_fits_when_the_log_has_gone_on() {
    let (folder, to) = (store().0, Simulated::new());
    let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
    let log = names(&folder, ".log");
    for round in 0..5 {
        append(&open(&folder, &roomy).unwrap(), 940 + round..941 + round);
        Backup::take_on(Arc::new(folder.clone()), &to, true, &mut |_, _| ()).unwrap();
        let backup = Reader::open_on(Arc::new(to.clone()), roomy.clone(), support::codec()).unwrap();
        assert_eq!(backup.snapshot().unwrap().events(), 941 + round);
    }
    assert_eq!((names(&folder, ".log"), names(&to, ".log")), (log.clone(), log));
}

#[test]
fn what_follows_a_closing_that_no_medium_has_is_there_after_a_loss_of_power() {
    for call in 0..16 {
        let (folder, _) = store();
        let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
        let first = open(&folder, &roomy).unwrap();
        append(&first, 940..941);
        folder.fail(Some(Fault { at: folder.calls() + call, forever: false, kind: FaultKind::Device }));
        drop(first);
        folder.fail(None);
        let second = open(&folder, &roomy).unwrap();
        append(&second, 941..942);
        append(&second, 942..943);
        let left = Simulated::with(folder.medium().after(Crash::Nothing, &mut Chance(1)));
        let left = open(&left, &roomy).unwrap();
        assert_eq!((left.snapshot().events(), left.snapshot().damage().len()), (943, 0), "call {call}");
    }
}

/// What is left of a store whose log has one bit altered in the batch with this event.
fn with_a_flipped_bit(folder: &Simulated, event: u64) -> (usize, Vec<Damage>, u64) {
    let log = names(folder, ".log").pop().unwrap();
    let what = format!("{{\"n\":{event:04}");
    let file = folder.open_for_writing(&log).unwrap();
    let mut bytes = vec![0; file.length().unwrap() as usize];
    file.read_full_at(0, &mut bytes).unwrap();
    let at = bytes.windows(what.len()).position(|window| window == what.as_bytes()).unwrap();
    file.write_at(at as u64 + 5, &[bytes[at + 5] ^ 1]).unwrap();
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
    let left = past_damage(&reader).0.len();
    let damage = reader.snapshot().unwrap().damage().to_vec();
    let store = open(folder, &tiny()).unwrap();
    (left, damage, store.leftovers().iter().map(|leftover| leftover.events).sum())
}

#[test]
fn a_hole_below_a_witnessed_length_is_damage_and_what_follows_is_kept() {
    for durability in [Durability::None, Durability::Interval(std::time::Duration::MAX), Durability::Sync] {
        for closed in [true, false] {
            let folder = Simulated::new();
            let options = Options { durability, ..tiny() };
            let store = open(&folder, &Options { segment_bytes: 1 << 30, ..options }).unwrap();
            for first in (0..1000).step_by(10) {
                append(&store, first..first + 10);
            }
            store.flush().unwrap();
            let killed = Simulated::with(folder.medium());
            drop(store);
            let (left, damage, _) = with_a_flipped_bit(if closed { &folder } else { &killed }, 100);
            assert_eq!((left, damage.len()), (990, 1), "{durability:?}, closed: {closed}: {damage:?}");
            assert_eq!(damage[0].events, Some(10));
        }
    }
}

#[test]
fn a_single_batch_that_was_acknowledged_is_no_end_of_the_log() {
    let folder = Simulated::new();
    let store = open(&folder, &Options { segment_bytes: 1 << 30, ..tiny() }).unwrap();
    append(&store, 0..2500);
    drop(store);
    let (left, damage, _) = with_a_flipped_bit(&folder, 250);
    assert_eq!(left, 0);
    assert_eq!(damage.len(), 1, "verify tells of it");
}

#[test]
fn whole_batches_behind_a_hole_that_nobody_witnessed_are_kept_aside() {
    let folder = Simulated::new();
    let options = Options { durability: Durability::None, segment_bytes: 1 << 30, ..tiny() };
    let store = open(&folder, &options).unwrap();
    for first in (0..1000).step_by(10) {
        append(&store, first..first + 10);
    }
    let killed = Simulated::with(folder.medium());
    drop(store);
    let (left, damage, aside) = with_a_flipped_bit(&killed, 100);
    assert_eq!((left, damage, aside), (100, vec![], 890), "a power loss leaves such holes rightly");
    assert_eq!(names(&killed, "quarantine/").len(), 0);
}

#[test]
fn a_log_that_fails_while_it_is_copied_is_not_lost() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    (0..4).for_each(|n| append(&store, n..n + 1));
    let (killed, expected) = (folder.medium(), rows(&store.snapshot()));
    drop(store);
    let (mut opened, mut refused) = (0, 0);
    for at in 0..100 {
        let folder = Simulated::with(killed.clone());
        folder.fail(Some(Fault { at: folder.calls() + at, forever: true, kind: FaultKind::Unreadable }));
        match open(&folder, &tiny()) {
            Ok(_) => opened += 1,
            Err(_) => refused += 1,
        }
        folder.fail(None);
        let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
        assert_eq!(past_damage(&reader), (expected.clone(), vec![]), "call {at}");
    }
    assert!(opened > 0 && refused > 0);
}

#[test]
fn a_file_that_cannot_be_opened_is_damage_and_repair_leaves_it() {
    for read_mode in [ReadMode::Map, ReadMode::Plain] {
        let (folder, expected) = store();
        let options = Options { read_mode, ..tiny() };
        let bad = [names(&folder, ".segment").remove(0), names(&folder, ".log").pop().unwrap()];
        bad.iter().for_each(|name| folder.spoil(name, 0..u64::MAX));
        let reader = Reader::open_on(Arc::new(folder.clone()), options.clone(), support::codec()).unwrap();
        let (left, left_out) = past_damage(&reader);
        assert_eq!(left, expected[100..900]);
        assert!(bad.iter().all(|bad| left_out.iter().any(|damage| damage.file.ends_with(bad))));
        drop(reader);
        drop(open(&folder, &options).unwrap());
        let repair =
            || Repair::run_on(Arc::new(folder.clone()), &options, support::codec(), false, &mut |_, _| ());
        for name in &bad {
            let error = repair().unwrap_err();
            assert!(
                matches!(&error, OpenError::Unreadable(failure) if failure.path.ends_with(name)),
                "{error}"
            );
            folder.rename(name, &format!("{name}.moved")).unwrap();
        }
        let done = repair().unwrap();
        assert_eq!((done.files.len(), done.events), (2, 800));
        let reader = Reader::open_on(Arc::new(folder.clone()), options.clone(), support::codec()).unwrap();
        assert_eq!(past_damage(&reader), (left, vec![]));
    }
}

/// Each attempt used to leave a copy of the whole log, until the disk was full of them.
#[test]
fn an_opening_or_a_repair_that_fails_leaves_no_copy_of_the_log() {
    let folder = Simulated::new();
    let store = open(&folder, &Options { segment_bytes: 1 << 30, ..tiny() }).unwrap();
    (0..6).for_each(|n| append(&store, n..n + 1));
    let killed = folder.medium();
    drop(store);
    let folder = Simulated::with(killed.clone());
    let log = names(&folder, ".log").pop().unwrap();
    let file = folder.open_for_writing(&log).unwrap();
    file.write_at(file.length().unwrap() / 2, &[0x55; 8]).unwrap();
    let damaged = folder.medium();
    for (medium, is_repair) in [(killed, false), (damaged, true)] {
        let mut failed = 0;
        for (at, kind) in (0..150).flat_map(|at| [(at, FaultKind::Device), (at, FaultKind::NoSpace)]) {
            let folder = Simulated::with(medium.clone());
            folder.fail(Some(Fault { at: folder.calls() + at, forever: false, kind }));
            let result = match is_repair {
                true => {
                    let directory = Arc::new(folder.clone());
                    Repair::run_on(directory, &tiny(), support::codec(), false, &mut |_, _| ()).map(drop)
                }
                false => open(&folder, &tiny()).map(drop),
            };
            folder.fail(None);
            let Err(error) = result else { continue };
            // Where a manifest may name them they stay.
            let is_final = matches!(
                &error,
                OpenError::Failure(failure) if matches!(
                    failure.operation,
                    Operation::Flush | Operation::FlushFolder | Operation::Rename
                )
            );
            failed += usize::from(!is_final);
            assert!(is_final || names(&folder, ".log.tmp").is_empty(), "call {at}, {kind:?}: {error}");
        }
        assert!(failed > 10, "{failed}, repair: {is_repair}");
    }
}

/// The next process used to find it in the system's cache, and a loss of power took it after it was shown.
#[test]
fn what_a_failed_flush_has_left_in_the_cache_is_written_again_in_its_place() {
    let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
    for batches in 0..3 {
        let folder = Simulated::new();
        let first = open(&folder, &roomy).unwrap();
        (0..batches).for_each(|n| append(&first, n..n + 1));
        let log = names(&folder, ".log");
        // Writing goes well, flushing does not.
        folder.fail(Some(Fault { at: folder.calls() + 3, forever: true, kind: FaultKind::Device }));
        let failed =
            (0..9).find(|n| first.append(&[Event { instant: 100 + n, bytes: b"in doubt" }]).is_err());
        folder.fail(None);
        let left = Simulated::with(folder.medium());
        let second = open(&left, &roomy).unwrap();
        let shown = rows(&second.snapshot());
        assert!(shown.len() >= batches as usize, "{failed:?}");
        let after = Simulated::with(left.medium().after(Crash::Nothing, &mut Chance(1)));
        assert_eq!(rows(&open(&after, &roomy).unwrap().snapshot()), shown, "{batches}");
        if batches > 0 {
            assert_eq!(names(&left, ".log"), log, "it is the same log");
        }
    }
}

/// Whoever has lost the store's lock may still be writing to its log.
#[test]
fn a_log_whose_writer_lives_is_not_taken_over() {
    let folder = Simulated::new();
    let roomy = Options { segment_bytes: 1 << 20, ..tiny() };
    let first = open(&folder, &roomy).unwrap();
    append(&first, 0..5);
    let log = names(&folder, ".log");
    folder.remove("lock").unwrap();
    let second = open(&folder, &roomy).unwrap();
    let contents = || folder.medium().contents(folder.medium().find(&log[0]).unwrap()).to_vec();
    let before = contents();
    append(&second, 5..6);
    assert_eq!((contents(), names(&folder, ".log").len()), (before, 2), "it was copied into another");
    assert!(first.append(&[Event { instant: 1, bytes: b"lost" }]).is_err());
    drop((first, second));
    assert_eq!(open(&folder, &roomy).unwrap().snapshot().events(), 6);
}
