//! Readers beside the writer: each snapshot is a beginning of what was stored, in whole batches, and stays readable.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tamias_store::io::{Directory, Simulated};
use tamias_store::{
    Backup, Block, Direction, Event, Key, OpenError, Options, ReadMode, Reader, Snapshot, Store,
};

fn options() -> Options {
    Options { block_bytes: 1000, segment_bytes: 8000, segments: support::LAYOUT, ..Options::default() }
}

fn documents(first: u64) -> Vec<(u64, String)> {
    let size = 1 + first % 7;
    (first..first + size).map(|arrival| (arrival * 31 % 1000, format!("{first}/{arrival}"))).collect()
}

fn events(rows: &[(u64, String)]) -> Vec<Event<'_>> {
    rows.iter().map(|(instant, document)| Event { instant: *instant, bytes: document.as_bytes() }).collect()
}

/// Checks a snapshot and returns how many events it has.
fn check(snapshot: &Snapshot, direction: Direction) -> u64 {
    let mut rows = Vec::new();
    for group in snapshot.groups(0..=u64::MAX, direction) {
        for block in group.unwrap() {
            for index in 0..block.len() {
                let Key { instant, arrival } = block.key(index).unwrap().unwrap();
                rows.push((arrival, instant, block.document(index).unwrap().unwrap().to_vec()));
            }
        }
    }
    rows.sort();
    assert_eq!(rows.len() as u64, snapshot.events());
    let mut next = 0;
    while next < rows.len() {
        for (instant, document) in documents(next as u64) {
            assert_eq!(rows.get(next), Some(&(next as u64, instant, document.into_bytes())));
            next += 1;
        }
    }
    rows.len() as u64
}

#[test]
fn one_writer_and_eight_readers() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), options(), support::codec()).unwrap();
    let acknowledged = AtomicU64::new(0);
    let end = Instant::now() + Duration::from_secs(4);
    let checked = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let direction = if number % 2 == 0 { Direction::Ascending } else { Direction::Descending };
            let (store, acknowledged, checked, folder) = (&store, &acknowledged, &checked, folder.path());
            scope.spawn(move || {
                let options = || Options {
                    read_mode: if number == 7 { ReadMode::Plain } else { ReadMode::Map },
                    ..options()
                };
                let reader = Reader::open(folder, options(), support::codec()).unwrap();
                let mut before = 0;
                while Instant::now() < end {
                    let least = acknowledged.load(Ordering::SeqCst).max(before);
                    let snapshot = match number {
                        0..4 => store.snapshot(),
                        // As if by a new process.
                        4 => Reader::open(folder, options(), support::codec()).unwrap().snapshot().unwrap(),
                        _ => reader.snapshot().unwrap(),
                    };
                    before = check(&snapshot, direction);
                    assert!(before >= least, "{before} events, {least} had been acknowledged or seen");
                    checked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut first = 0;
        while Instant::now() < end {
            let rows = documents(first);
            let stored = match first % 50 {
                0 => store.append_sealed(&events(&rows), None).unwrap(),
                _ => store.append(&events(&rows)).unwrap(),
            };
            first = stored.end;
            acknowledged.store(first, Ordering::SeqCst);
        }
    });
    println!("{} snapshots, {} events", checked.into_inner(), acknowledged.into_inner());
}

#[test]
fn threads_append_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), options(), support::codec()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let store = store.clone();
            scope.spawn(move || {
                for n in 0..40 {
                    let document = format!("{thread}/{n}");
                    let event = [Event { instant: n, bytes: document.as_bytes() }];
                    let arrivals =
                        if n == 20 { store.append_sealed(&event, None) } else { store.append(&event) };
                    let key = Key { instant: n, arrival: arrivals.unwrap().start };
                    let (block, index) = store.snapshot().get(key).unwrap().unwrap();
                    assert_eq!(block.document(index).unwrap().as_deref(), Some(document.as_bytes()));
                    if n == 10 {
                        store.seal().unwrap();
                    }
                }
            });
        }
    });
    drop(store);
    let store = Store::open(folder.path(), options(), support::codec()).unwrap();
    assert_eq!(store.snapshot().events(), 320);
}

#[test]
fn what_a_reader_may_need_is_not_removed() {
    let folder = Simulated::new();
    let store = Store::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap();
    store.append(&events(&documents(0))).unwrap();
    let logs = || {
        let names = folder.list().unwrap();
        names.into_iter().filter(|name| name.ends_with(".log")).count()
    };
    let reader = Reader::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap();
    let snapshot = reader.snapshot().unwrap();
    store.seal().unwrap();
    assert_eq!(logs(), 1, "the reader's manifest names the log");
    drop(store);
    // Another writer respects it as well.
    let store = Store::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap();
    assert_eq!(logs(), 1);
    assert_eq!(check(&reader.snapshot().unwrap(), Direction::Ascending), 1);
    store.append(&events(&documents(1))).unwrap();
    assert_eq!(logs(), 2, "the snapshot is still there");
    drop(snapshot);
    store.seal().unwrap();
    assert_eq!(check(&reader.snapshot().unwrap(), Direction::Ascending), 3);
    store.append(&events(&documents(3))).unwrap();
    assert_eq!(logs(), 1, "only the current one");
}

#[test]
fn a_reader_sees_new_batches_with_its_next_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), options(), support::codec()).unwrap();
    let reader = Reader::open(folder.path(), options(), support::codec()).unwrap();
    let mut first = 0;
    for _ in 0..300 {
        let before = reader.snapshot().unwrap();
        let rows = documents(first);
        let seen = first;
        first = store.append(&events(&rows)).unwrap().end;
        assert_eq!(check(&before, Direction::Descending), seen);
        assert_eq!(check(&reader.snapshot().unwrap(), Direction::Ascending), first);
    }
}

/// Open files and maps of this process, by what the system says.
#[cfg(target_os = "linux")]
fn open_files(folder: &Path) -> usize {
    let files = std::fs::read_dir("/proc/self/fd").unwrap();
    files
        .filter(|file| {
            std::fs::read_link(file.as_ref().unwrap().path()).is_ok_and(|to| to.starts_with(folder))
        })
        .count()
}

#[cfg(not(target_os = "linux"))]
fn open_files(_: &Path) -> usize {
    0
}

#[test]
fn many_segments_need_few_open_files() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::open(folder.path(), Options { segment_bytes: 30, ..options() }, support::codec()).unwrap();
    // All segments overlap: every other event is of the same instant.
    let rows: Vec<(u64, String)> =
        (0..400).map(|n| (n % 2 * (n + 5), format!("a document {n:06}"))).collect();
    for batch in rows.chunks(4) {
        store.append_sealed(&events(batch), None).unwrap();
    }
    assert!(store.snapshot().segments().len() >= 200);
    drop(store);
    for read_mode in [ReadMode::Plain, ReadMode::Map] {
        let reader = Reader::open(
            folder.path(),
            Options { open_files_max: 4, read_mode, ..options() },
            support::codec(),
        )
        .unwrap();
        let snapshot = reader.snapshot().unwrap();
        let mut blocks: Vec<Block> = Vec::new();
        for group in snapshot.groups(0..=u64::MAX, Direction::Ascending) {
            blocks.extend(group.unwrap());
            // Four segments, and the locked manifest.
            assert!(open_files(folder.path()) <= 5);
        }
        assert_eq!(blocks.iter().map(Block::len).sum::<usize>(), 400);
        assert_eq!(snapshot.verify().unwrap(), []);
    }
}

#[test]
fn opening_takes_a_few_calls_for_each_of_ten_thousand_segments() {
    let calls_for = |segments: u64| {
        let folder = Simulated::new();
        let open = || {
            let options = Options { segment_bytes: 10, ..Options::default() };
            Store::open_on(Arc::new(folder.clone()), options, support::codec()).unwrap()
        };
        let rows: Vec<(u64, String)> = (0..segments).map(|n| (n, format!("{n:08}"))).collect();
        open().append_sealed(&events(&rows), None).unwrap();
        let before = folder.calls();
        let store = open();
        let snapshot = store.snapshot();
        assert_eq!((snapshot.segments().len() as u64, snapshot.events()), (segments, segments));
        let group = snapshot.groups(0..=u64::MAX, Direction::Descending).next().unwrap().unwrap();
        let last = format!("{:08}\n", segments - 1);
        assert_eq!(group[0].documents().unwrap().bytes, last.as_bytes());
        folder.calls() - before
    };
    // Of each file its name, its length and its header; not more for each where there are more.
    let few = calls_for(100);
    let many = calls_for(10_000);
    assert!(many <= few + 8 * 9_900 + 10, "{many} calls for ten thousand segments, {few} for a hundred");
}

#[test]
fn a_list_that_a_later_version_has_written_is_told_and_the_one_before_not_gone_on_with() {
    let folder = Simulated::new();
    let store = support::open(&folder, &options()).unwrap();
    store.append(&events(&documents(0))).unwrap();
    let reader = Reader::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap();
    let before = reader.snapshot().unwrap().events();
    drop(store);
    let names = folder.list().unwrap();
    let newest = names.iter().filter(|name| name.ends_with(".manifest")).max().unwrap();
    let file = folder.open(newest).unwrap();
    let mut bytes = vec![0; file.length().unwrap() as usize];
    file.read_at(0, &mut bytes).unwrap();
    // The version, and the checksum of the header.
    bytes[8] = 9;
    let checksum = crc32fast::hash(&bytes[..44]);
    bytes[44..48].copy_from_slice(&checksum.to_le_bytes());
    let number = u64::from_str_radix(newest.split('.').next().unwrap(), 16).unwrap();
    let later = format!("{:016x}.manifest", number + 1);
    folder.create(&later).unwrap().write_at(0, &bytes).unwrap();
    match reader.snapshot() {
        Err(OpenError::Version { file, found: 9, .. }) => assert_eq!(file, folder.path(&later)),
        other => panic!("{other:?}"),
    }
    folder.remove(&later).unwrap();
    assert_eq!(reader.snapshot().unwrap().events(), before);
}

/// The documents of a snapshot, in order.
fn texts(snapshot: &Snapshot) -> Vec<String> {
    let mut texts = Vec::new();
    for group in snapshot.groups(0..=u64::MAX, Direction::Ascending) {
        for block in group.unwrap() {
            let documents = String::from_utf8(block.documents().unwrap().bytes.to_vec()).unwrap();
            texts.extend(documents.lines().map(str::to_owned));
        }
    }
    texts
}

/// A store, its events one after another in segments or in the log: `s` and `l`.
fn filled(folder: &Path, events: &str, what: &str) -> Store {
    let store = Store::open(folder, options(), support::codec()).unwrap();
    for (instant, place) in events.chars().enumerate() {
        let document = format!("{what} {instant}");
        store.append(&[Event { instant: instant as u64, bytes: document.as_bytes() }]).unwrap();
        if place == 's' {
            store.seal().unwrap();
        }
    }
    store
}

/// The reader used to go on with the events of the old store, or to take the new one's segments for damaged.
#[test]
fn a_reader_turns_to_the_store_that_has_come_into_its_folder() {
    for (old, new) in
        [("l", "l"), ("ll", "l"), ("s", "s"), ("ss", "s"), ("sl", "sl"), ("sl", "sssl"), ("", "l")]
    {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("store");
        let store = filled(&folder, old, "old");
        let reader = Reader::open(&folder, options(), support::codec()).unwrap();
        let before = reader.snapshot().unwrap();
        assert_eq!(texts(&before).len(), old.len());
        drop(store);
        std::fs::remove_dir_all(&folder).unwrap();
        let store = filled(&folder, new, "new");
        assert_eq!(texts(&reader.snapshot().unwrap()), texts(&store.snapshot()), "{old}, {new}");
        store.append(&[Event { instant: 100, bytes: b"later" }]).unwrap();
        assert_eq!(texts(&reader.snapshot().unwrap()), texts(&store.snapshot()), "{old}, {new}");
        assert_eq!(reader.snapshot().unwrap().verify().unwrap(), []);
    }
}

/// The reader used to show what had come after the backup as well.
#[test]
fn a_reader_turns_to_the_backup_that_was_restored_into_its_folder() {
    let parent = tempfile::tempdir().unwrap();
    let [folder, backup] = ["store", "backup"].map(|name| parent.path().join(name));
    let store = filled(&folder, "sl", "an event");
    Backup::take(&folder, &backup, true, &mut |_, _| ()).unwrap();
    store.append(&[Event { instant: 7, bytes: b"after the backup" }]).unwrap();
    let reader = Reader::open(&folder, options(), support::codec()).unwrap();
    assert_eq!(texts(&reader.snapshot().unwrap()).len(), 3);
    drop(store);
    std::fs::remove_dir_all(&folder).unwrap();
    Backup::restore(&backup, &folder, true, &mut |_, _| ()).unwrap();
    assert_eq!(texts(&reader.snapshot().unwrap()), ["an event 0", "an event 1"]);
    let store = Store::open(&folder, options(), support::codec()).unwrap();
    store.append(&[Event { instant: 9, bytes: b"after the restoration" }]).unwrap();
    let expected = ["an event 0", "an event 1", "after the restoration"];
    assert_eq!(texts(&reader.snapshot().unwrap()), expected);
}
