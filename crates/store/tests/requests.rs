//! What other processes ask of the one that writes, and what becomes of it when either of them ends.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use support::{codec, open, rows, tiny};
use tamias_store::io::{Chance, Directory, Simulated, write_all_at};
use tamias_store::{
    Codec, Deleted, Erased, Event, Key, Options, Reader, Removed, Reply, Request, RequestError,
    RequestProgress, Retention, Settings, Store,
};

const PATIENCE: Duration = Duration::from_secs(60);

fn append(store: &Store, count: u64) {
    let first = store.snapshot().events();
    let documents: Vec<String> = (first..first + count).map(|arrival| format!("{arrival:0>50}")).collect();
    let events: Vec<Event<'_>> = (first..)
        .zip(&documents)
        .map(|(instant, document)| Event { instant, bytes: document.as_bytes() })
        .collect();
    store.append(&events).unwrap();
}

/// A store that takes requests, with small segments and a log.
fn running(folder: &Simulated) -> Store {
    // Large enough that nothing is compacted unasked.
    let options = Options { background: true, segment_bytes: 1 << 20, ..tiny() };
    let store = open(folder, &options).unwrap();
    for _ in 0..5 {
        append(&store, 4);
        store.seal().unwrap();
    }
    append(&store, 2);
    store
}

fn ask(folder: &Simulated, request: Request) -> Option<Reply> {
    request.ask_on(folder, PATIENCE, &mut |_| ()).unwrap()
}

fn segments(store: &Store) -> usize {
    store.snapshot().segments().len()
}

/// What lies in the folder of requests.
fn left(folder: &Simulated) -> Vec<String> {
    folder.folder("requests").unwrap().list().unwrap()
}

#[test]
fn the_writer_does_what_it_is_asked_for() {
    let folder = Simulated::new();
    let store = running(&folder);
    assert_eq!(segments(&store), 6);
    assert_eq!(ask(&folder, Request::Seal), Some(Reply::Done));
    assert!(store.snapshot().segments().iter().all(|segment| segment.file.is_some()));
    let retention = Retention { before: Some(4), file_bytes_max: None };
    let planned = store.remove(retention, true).unwrap();
    assert_eq!(planned.events, 4);
    assert_eq!(ask(&folder, Request::Remove(retention)), Some(Reply::Removed(planned)));
    assert_eq!(rows(&store.snapshot()).len(), 18);
    let mut seen = Vec::new();
    let reply = Request::Compact.ask_on(&folder, PATIENCE, &mut |progress| seen.push(progress));
    assert_eq!((reply.unwrap(), segments(&store)), (Some(Reply::Done), 1));
    assert!(seen.contains(&RequestProgress::Waiting));
    let settings = Settings { max_bytes: Some(1 << 30), ..Settings::default() };
    assert_eq!(ask(&folder, Request::Settings(settings)), Some(Reply::Done));
    assert_eq!(store.settings(), settings);
    assert_eq!(left(&folder), [""; 0]);
    drop(store);
    assert_eq!(ask(&folder, Request::Seal), None, "nobody writes");
    assert!(matches!(
        Request::Seal.ask_on(&Simulated::new(), PATIENCE, &mut |_| ()),
        Err(RequestError::Open(_))
    ));
}

#[test]
fn many_ask_at_once() {
    let folder = Simulated::new();
    let store = running(&folder);
    std::thread::scope(|scope| {
        for asker in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                for request in [Request::Seal, Request::Compact, Request::Settings(Settings::default())] {
                    assert_eq!(ask(folder, request), Some(Reply::Done), "asker {asker}");
                }
            });
        }
        for _ in 0..30 {
            append(&store, 3);
        }
    });
    assert_eq!(left(&folder), [""; 0]);
    assert!(rows(&store.snapshot()).iter().map(|row| row.0).eq(0..22 + 90));
}

/// A codec that takes its time over each block until it is told to hurry.
#[derive(Default)]
struct Slow {
    is_slow: AtomicBool,
    blocks: AtomicUsize,
}

impl Codec for Slow {
    fn collect(&self, _: &[u8], _: &[u32], _: &mut Vec<u8>) {
        self.blocks.fetch_add(1, SeqCst);
        if self.is_slow.load(SeqCst) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// They used to wait until the whole store was compacted, which may take hours.
#[test]
fn short_requests_do_not_wait_for_a_compaction() {
    let folder = Simulated::new();
    let slow = Arc::new(Slow::default());
    let options = Options { background: true, segment_bytes: 1 << 20, block_bytes: 100, ..tiny() };
    let options = Options { segments: tamias_store::Layout::Text, ..options };
    let store = Store::open_on(Arc::new(folder.clone()), options, slow.clone()).unwrap();
    for _ in 0..5 {
        append(&store, 100);
        store.seal().unwrap();
    }
    append(&store, 2);
    slow.is_slow.store(true, SeqCst);
    let before = slow.blocks.load(SeqCst);
    let is_compacted = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = Vec::new();
            let reply = Request::Compact.ask_on(&folder, PATIENCE, &mut |progress| seen.push(progress));
            assert_eq!(reply.unwrap(), Some(Reply::Done));
            let is_told =
                |progress: &RequestProgress| matches!(progress, RequestProgress::Running { of, .. } if *of > 25_000);
            assert!(seen.iter().any(is_told), "it tells how much there is to be done: {:?}", seen.last());
            is_compacted.store(true, SeqCst);
        });
        while slow.blocks.load(SeqCst) < before + 5 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let settings = Settings { max_bytes: Some(1 << 30), ..Settings::default() };
        assert_eq!(ask(&folder, Request::Settings(settings)), Some(Reply::Done));
        append(&store, 3);
        assert_eq!(ask(&folder, Request::Seal), Some(Reply::Done));
        let retention = Retention { before: Some(50), file_bytes_max: None };
        assert_eq!(ask(&folder, Request::Remove(retention)), Some(Reply::Removed(Removed::default())));
        assert!(!is_compacted.load(SeqCst), "it goes on meanwhile");
        assert_eq!(store.settings(), settings);
        slow.is_slow.store(false, SeqCst);
    });
    assert_eq!(left(&folder), [""; 0]);
    assert_eq!(segments(&store), 1);
    assert!(rows(&store.snapshot()).iter().map(|row| row.0).eq(0..505));
}

#[test]
fn what_no_writer_takes_is_withdrawn_and_the_writer_named() {
    let folder = Simulated::new();
    // As one of an older version, which has no thread for it.
    let store = open(&folder, &tiny()).unwrap();
    append(&store, 1);
    let asked = Request::Seal.ask_on(&folder, Duration::from_millis(50), &mut |_| ());
    let error = asked.unwrap_err();
    assert!(matches!(&error, RequestError::NotTaken { .. }));
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    assert_eq!(left(&folder), [""; 0]);
    assert_eq!(segments(&store), 1);
}

#[test]
fn what_the_writer_cannot_do_it_says() {
    let folder = Simulated::new();
    let store = running(&folder);
    folder.refuse(|change| {
        let segment = matches!(change, tamias_store::io::Change::Create(name) if name.contains(".segment"));
        segment.then_some(std::io::ErrorKind::StorageFull)
    });
    let error = Request::Seal.ask_on(&folder, PATIENCE, &mut |_| ()).unwrap_err();
    assert!(matches!(&error, RequestError::Refused { found, .. } if found.contains("space")), "{error}");
    assert_eq!(rows(&store.snapshot()).len(), 22);
}

/// Puts a file into the folder of requests.
fn put(folder: &Simulated, name: &str, bytes: &[u8]) {
    let file = folder.folder("requests").unwrap().create(name).unwrap();
    write_all_at(&*file, 0, bytes).unwrap();
}

#[test]
fn what_is_no_request_of_now_is_not_carried_out() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    append(&store, 1);
    drop(Request::Seal.ask_on(&folder, Duration::from_millis(30), &mut |_| ()));
    // A request that was not taken, as it was written.
    let names: Vec<String> = folder.changes().iter().filter_map(created_request).collect();
    let number = folder.changes().iter().filter_map(created).position(|name| name == names[0]).unwrap();
    let bytes = folder.medium().contents(number).to_vec();
    assert!(bytes.starts_with(b"\x89TMreqst"));
    drop(store);
    put(&folder, "late.request", &bytes);
    put(&folder, "garbage.request", b"seal, please");
    put(&folder, "taken.running", &bytes);
    put(&folder, "answered.reply", &bytes);
    put(&folder, "unfinished.request.tmp", &bytes);
    let store = open(&folder, &Options { background: true, segment_bytes: 1 << 20, ..tiny() }).unwrap();
    // One that is carried out comes behind them.
    let settings = Settings { max_bytes: Some(1 << 40), ..Settings::default() };
    assert_eq!(ask(&folder, Request::Settings(settings)), Some(Reply::Done));
    assert_eq!(ask(&folder, Request::Settings(Settings::default())), Some(Reply::Done));
    assert!(store.snapshot().segments().iter().all(|segment| segment.file.is_none()), "nothing is sealed");
    let mut left = left(&folder);
    left.sort();
    assert_eq!(left, ["late.request", "unfinished.request.tmp"], "the asker may withdraw it still");
}

#[test]
fn a_request_whose_asker_has_gone_is_dropped() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    append(&store, 3);
    // It ends while it waits.
    let ended = std::panic::catch_unwind(|| {
        Request::Seal.ask_on(&folder, PATIENCE, &mut |_| std::panic::resume_unwind(Box::new(())))
    });
    assert!(ended.is_err() && left(&folder).len() == 1);
    drop(store);
    let store = open(&folder, &Options { background: true, segment_bytes: 1 << 20, ..tiny() }).unwrap();
    assert_eq!(ask(&folder, Request::Settings(Settings::default())), Some(Reply::Done));
    // The folder may have been looked through before that one came.
    assert_eq!(ask(&folder, Request::Settings(Settings::default())), Some(Reply::Done));
    assert_eq!(left(&folder), [""; 0]);
    assert!(store.snapshot().segments().iter().all(|segment| segment.file.is_none()), "nothing is sealed");
}

/// A full disk used to refuse what makes room on it.
#[test]
fn a_removal_is_asked_for_done_and_answered_without_a_byte_of_room() {
    for is_held in [false, true] {
        let folder = Simulated::new();
        let store = running(&folder);
        assert_eq!(ask(&folder, Request::Settings(Settings::default())), Some(Reply::Done));
        // What a snapshot holds makes no room when it goes.
        let held = is_held.then(|| store.snapshot());
        folder.set_room(Some(folder.medium().bytes()));
        assert!(store.append(&[Event { instant: 1, bytes: b"no room" }]).unwrap_err().is_lack_of_room());
        let retention = Retention { before: Some(10), file_bytes_max: None };
        let Some(Reply::Removed(removed)) = ask(&folder, Request::Remove(retention)) else { panic!() };
        assert_eq!((removed.events, removed.instants), (8, Some((0, 7))));
        assert_eq!((removed.files.len(), store.snapshot().events()), (2, 14));
        assert_eq!(left(&folder), [""; 0]);
        folder.set_room(None);
        drop(held);
        assert_eq!(ask(&folder, Request::Seal), Some(Reply::Done));
        assert_eq!(rows(&store.snapshot()).len(), 14);
    }
}

#[test]
fn events_are_deleted_and_erased_on_demand() {
    let folder = Simulated::new();
    let store = running(&folder);
    let keys: Vec<Key> = (3..22).step_by(3).map(|n| Key { instant: n, arrival: n }).collect();
    let deleted = Deleted { events: keys.len() as u64, missed: 0 };
    assert_eq!(ask(&folder, Request::Delete(keys.clone())), Some(Reply::Deleted(deleted)));
    assert_eq!(rows(&store.snapshot()).len(), 22 - keys.len());
    let Some(Reply::Erased(erased)) = ask(&folder, Request::Erase) else { panic!() };
    assert_eq!(erased.receipt.unwrap().events, keys.len() as u64);
    let missed = Deleted { events: 0, missed: keys.len() as u64 };
    assert_eq!(ask(&folder, Request::Delete(keys)), Some(Reply::Deleted(missed)));
    assert_eq!(ask(&folder, Request::Erase), Some(Reply::Erased(Erased::default())));
}

fn created(change: &tamias_store::io::Change) -> Option<String> {
    match change {
        tamias_store::io::Change::Create(name) => Some(name.clone()),
        _ => None,
    }
}

fn created_request(change: &tamias_store::io::Change) -> Option<String> {
    created(change).filter(|name| name.ends_with(".request.tmp"))
}

const FOLDER: &str = "TAMIAS_REQUESTS_FOLDER";

fn options() -> Options {
    Options { segment_bytes: 40_000, background: true, segments: support::LAYOUT, ..tiny() }
}

fn child(test: &str, folder: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([&*support::test_name(module_path!(), test), "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "begun"));
    // It may go on writing there.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

fn begun() {
    println!("\nbegun");
    std::io::stdout().flush().unwrap();
}

/// No test of its own: a writer, to be killed.
#[test]
fn writer_process() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = Store::open(Path::new(&folder), options(), codec()).unwrap();
    begun();
    loop {
        append(&store, 5);
        if store.snapshot().events().is_multiple_of(50) {
            store.seal().unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// No test of its own: one that asks, to be killed.
#[test]
fn asking_process() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    begun();
    for round in 0u64.. {
        let request = match round % 3 {
            0 => Request::Compact,
            1 => Request::Remove(Retention { before: Some(round), file_bytes_max: None }),
            _ => Request::Settings(Settings { max_bytes: Some((1 << 30) + round), ..Settings::default() }),
        };
        drop(request.ask(Path::new(&folder), PATIENCE, &mut |_| ()));
    }
}

#[test]
fn a_writer_that_is_killed_leaves_the_work_to_the_asker_and_the_store_whole() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path(), options(), codec()).unwrap());
    let mut chance = Chance(2);
    let (mut done, mut left) = (0, 0);
    for round in 0..24 {
        let mut writer = child("writer_process", folder.path());
        let pause = Duration::from_millis(chance.below(1000) as u64);
        let killer = std::thread::spawn(move || {
            std::thread::sleep(pause);
            writer.kill().unwrap();
            writer.wait().unwrap();
        });
        match Request::Compact.ask(folder.path(), PATIENCE, &mut |_| ()).unwrap() {
            Some(reply) => {
                assert_eq!(reply, Reply::Done);
                done += 1;
            }
            // It ended first: the asker does it itself.
            None => {
                let store = Store::open(folder.path(), options(), codec()).unwrap();
                store.compact().unwrap();
                left += 1;
            }
        }
        killer.join().unwrap();
        let reader = Reader::open(folder.path(), options(), codec()).unwrap();
        let snapshot = reader.snapshot().unwrap();
        assert_eq!(snapshot.verify().unwrap(), [], "round {round}");
        assert!(rows(&snapshot).iter().map(|row| row.0).eq(0..snapshot.events()));
    }
    assert!(done > 0 && left > 0, "{done} by the writer, {left} by the asker");
    drop(Store::open(folder.path(), options(), codec()).unwrap());
}

#[test]
fn an_asker_that_is_killed_leaves_nothing_half_done() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), options(), codec()).unwrap();
    let mut chance = Chance(4);
    for _ in 0..20 {
        let mut asker = child("asking_process", folder.path());
        for _ in 0..chance.below(20) {
            append(&store, 2);
            std::thread::sleep(Duration::from_millis(chance.below(20) as u64));
        }
        asker.kill().unwrap();
        asker.wait().unwrap();
        assert_eq!(store.snapshot().verify().unwrap(), []);
        let next = store.append(&[Event { instant: 1 << 40, bytes: b"next" }]).unwrap().end;
        let housekeeping = store.housekeeping().unwrap();
        let went: u64 = housekeeping.history.iter().map(|entry| entry.events).sum();
        assert_eq!(rows(&store.snapshot()).len() as u64 + went, next);
    }
    // Others are served as before.
    assert_eq!(Request::Seal.ask(folder.path(), PATIENCE, &mut |_| ()).unwrap(), Some(Reply::Done));
}
