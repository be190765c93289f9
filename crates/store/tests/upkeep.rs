//! What a store does beside appending: sealing in the background, compacting, removing what is old.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use support::{Halves, LAYOUT, Row, open, rows, tiny};
use tamias_store::io::{Chance, Change, Crash, Directory, Medium, Simulated};
use tamias_store::{
    AppendError, Codec, Damage, DecodeError, Documents, Durability, Event, Layout, NamedPart, Options,
    OwnedDocuments, OwnedTimes, Parts, ReadMode, Reader, Removed, Retention, SegmentInfo, SourcePosition,
    Store, Times,
};

fn append(store: &Store, documents: &[(u64, String)]) {
    let events: Vec<Event<'_>> = documents
        .iter()
        .map(|(instant, document)| Event { instant: *instant, bytes: document.as_bytes() })
        .collect();
    store.append(&events).unwrap();
}

/// A document of a hundred bytes.
fn document(n: u64) -> (u64, String) {
    (n, format!("{n:0>100}"))
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn sealed(store: &Store) -> usize {
    store.snapshot().segments().iter().filter(|segment| segment.file.is_some()).count()
}

/// A codec that waits for a gate to be opened: before it says anything of a block of text, before it encodes one in columns.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
    reached: AtomicBool,
}

impl Gate {
    fn pass(&self) {
        self.reached.store(true, SeqCst);
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.changed.wait(open).unwrap();
        }
    }
}

impl Codec for Gate {
    fn makes_columns(&self) -> bool {
        true
    }

    fn collect(&self, _: &[u8], _: &[u32], _: &mut Vec<u8>) {
        if LAYOUT == Layout::Text {
            self.pass();
        }
    }

    fn encode(&self, times: Times<'_>, documents: Documents<'_>) -> Option<Vec<NamedPart>> {
        self.pass();
        Halves.encode(times, documents)
    }

    fn times(&self, block: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
        Halves.times(block)
    }

    fn documents(&self, block: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
        Halves.documents(block)
    }
}

#[test]
fn appends_go_on_while_the_memtable_is_being_sealed() {
    let folder = Simulated::new();
    let gate = Arc::new(Gate::default());
    let options = Options { segment_bytes: 1000, segments: LAYOUT, ..Options::default() };
    let store = Store::open_on(Arc::new(folder.clone()), options.clone(), gate.clone()).unwrap();
    for n in 0..12 {
        append(&store, &[document(n)]);
    }
    wait_until("sealing begins", || gate.reached.load(SeqCst));
    // The sealing stands still; appends, snapshots, other processes and losses of power do not mind.
    for n in 12..30 {
        append(&store, &[document(n)]);
    }
    assert_eq!(sealed(&store), 0);
    let expected: Vec<Row> =
        (0..30).map(document).map(|(n, document)| (n, n, document.into_bytes())).collect();
    assert_eq!(rows(&store.snapshot()), expected);
    let reader = Reader::open_on(Arc::new(folder.clone()), options.clone(), support::codec()).unwrap();
    assert_eq!(rows(&reader.snapshot().unwrap()), expected);
    let left = Simulated::with(folder.medium().after(Crash::Nothing, &mut Chance(1)));
    assert_eq!(rows(&open(&left, &tiny()).unwrap().snapshot()), expected);
    *gate.open.lock().unwrap() = true;
    gate.changed.notify_all();
    wait_until("sealing ends", || sealed(&store) > 0);
    assert_eq!(rows(&store.snapshot()), expected);
    assert_eq!(rows(&reader.snapshot().unwrap()), expected);
    store.seal().unwrap();
    assert_eq!(sealed(&store), store.snapshot().segments().len());
    assert_eq!(rows(&store.snapshot()), expected);
    let in_columns = |segment: &SegmentInfo| segment.column_blocks == segment.blocks;
    assert_eq!(store.snapshot().segments().iter().all(in_columns), LAYOUT == Layout::Columns);
    drop(store);
    assert_eq!(rows(&open(&folder, &tiny()).unwrap().snapshot()), expected);
}

#[test]
fn appends_go_on_while_a_batch_is_written_into_segments() {
    let folder = Simulated::new();
    let gate = Arc::new(Gate::default());
    let options = Options { segments: LAYOUT, background: false, ..Options::default() };
    let store = Store::open_on(Arc::new(folder.clone()), options, gate.clone()).unwrap();
    let source = |position| Some(SourcePosition { name: "app.log", position, note: &[] });
    append(&store, &[document(0)]);
    let bulk = std::thread::spawn({
        let store = store.clone();
        move || {
            let documents: Vec<(u64, String)> = (1..20).map(document).collect();
            let events: Vec<Event<'_>> =
                documents.iter().map(|(n, text)| Event { instant: *n, bytes: text.as_bytes() }).collect();
            store.append_sealed(&events, source(100)).unwrap()
        }
    });
    wait_until("the batch is being encoded", || gate.reached.load(SeqCst));
    // The encoder stands still; appends, snapshots and losses of power do not mind.
    let late = document(20);
    let event = [Event { instant: 20, bytes: late.1.as_bytes() }];
    assert_eq!(store.append_from(&event, source(200)).unwrap(), 20..21);
    let row = |n: u64| (n, n, document(n).1.into_bytes());
    assert_eq!(rows(&store.snapshot()), [row(0), row(20)]);
    let left = Simulated::with(folder.medium().after(Crash::Nothing, &mut Chance(1)));
    let reopened = open(&left, &tiny()).unwrap();
    assert_eq!(rows(&reopened.snapshot()), [row(0), row(20)]);
    assert_eq!(reopened.append(&event).unwrap(), 21..22, "the numbers of the batch stay unused");
    *gate.open.lock().unwrap() = true;
    gate.changed.notify_all();
    assert_eq!(bulk.join().unwrap(), 1..20);
    let expected: Vec<Row> = (0..21).map(row).collect();
    assert_eq!(rows(&store.snapshot()), expected);
    assert_eq!(store.source_position("app.log"), Some(200), "what came later counts");
    drop(store);
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!(rows(&store.snapshot()), expected);
    assert_eq!(store.source_position("app.log"), Some(200));
}

#[test]
fn what_is_old_enough_is_sealed() {
    for background in [true, false] {
        let folder = Simulated::new();
        let options = Options { seal_age: Duration::from_millis(30), background, ..tiny() };
        let store = open(&folder, &options).unwrap();
        append(&store, &[document(1)]);
        if !background {
            std::thread::sleep(Duration::from_millis(40));
            append(&store, &[document(2)]);
            assert_eq!(sealed(&store), 1);
        }
        wait_until("its age seals it", || sealed(&store) == 1);
        // And what is little, by far.
        let young = Options { seal_age: Duration::MAX, segment_bytes: 1 << 20, ..options };
        drop(store);
        let store = open(&folder, &young).unwrap();
        append(&store, &[document(3)]);
        std::thread::sleep(Duration::from_millis(40));
        append(&store, &[document(4)]);
        assert_eq!(sealed(&store), 1);
    }
}

/// A folder in which no segment can be made, for a while.
fn without_segments(full: &Arc<AtomicBool>) -> Simulated {
    let (folder, full) = (Simulated::new(), Arc::clone(full));
    folder.refuse(move |change| {
        let segment = matches!(change, Change::Create(name) if name.contains(".segment"));
        (segment && full.load(SeqCst)).then_some(io::ErrorKind::StorageFull)
    });
    folder
}

#[test]
fn while_sealing_fails_nothing_is_lost_and_at_last_an_append_says_so() {
    for background in [true, false] {
        let full = Arc::new(AtomicBool::new(true));
        let folder = without_segments(&full);
        let options = Options { segment_bytes: 1000, background, segments: LAYOUT, ..Options::default() };
        let store = open(&folder, &options).unwrap();
        let mut stored = 0;
        let error = loop {
            let (instant, document) = document(stored);
            match store.append(&[Event { instant, bytes: document.as_bytes() }]) {
                Ok(_) => stored += 1,
                Err(error) => break error,
            }
            assert!(stored < 100);
        };
        assert!(matches!(&error, AppendError::Failure(failure) if failure.to_string().contains("space")));
        assert!((39..=50).contains(&stored), "four segments and a little: {stored}");
        assert!(store.seal().is_err());
        let all = |store: &Store, stored: u64| {
            let rows = rows(&store.snapshot());
            assert!(rows.iter().map(|row| row.0).eq(0..stored), "all is there, once");
        };
        all(&store, stored);
        let left = Simulated::with(folder.medium().after(Crash::Nothing, &mut Chance(1)));
        all(&open(&left, &tiny()).unwrap(), stored);
        full.store(false, SeqCst);
        append(&store, &[document(stored)]);
        stored += 1;
        store.seal().unwrap();
        all(&store, stored);
        assert_eq!(sealed(&store), store.snapshot().segments().len());
        drop(store);
        all(&open(&folder, &tiny()).unwrap(), stored);
    }
}

#[test]
fn in_the_background_small_segments_become_few() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { segment_bytes: 20_000, segments: LAYOUT, ..Options::default() };
    let store = Store::open(folder.path(), options, support::codec()).unwrap();
    let early = store.snapshot();
    for n in 0..200 {
        append(&store, &[document(n)]);
        store.seal().unwrap();
    }
    wait_until("they are compacted", || sealed(&store) < 30);
    assert!(rows(&store.snapshot()).iter().map(|row| row.0).eq(0..200));
    assert_eq!(early.events(), 0);
    drop(early);
    // The next change of the manifest removes what nobody reads any more.
    store.compact().unwrap();
    append(&store, &[document(200)]);
    store.seal().unwrap();
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let files = names.filter(|name| name.to_str().unwrap().ends_with(".segment")).count();
    assert!(files <= 12 && sealed(&store) <= 12, "{files} files, {} segments", sealed(&store));
}

/// Twelve small segments that overlap, a log, and a source's position.
fn small_segments() -> (Simulated, Vec<Row>) {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    for round in 0..12 {
        let documents: Vec<(u64, String)> =
            (0..5).map(|n| (round * 10 + n * 3, format!("{round}/{n}"))).collect();
        append(&store, &documents);
        store.seal().unwrap();
    }
    let source = SourcePosition { name: "web", position: 60, note: &[] };
    store.append_from(&[Event { instant: 7, bytes: b"tail" }], Some(source)).unwrap();
    let expected = rows(&store.snapshot());
    (folder, expected)
}

/// The changes that some work on a store makes, and the medium before.
fn changes(folder: &Simulated, work: impl FnOnce(&Store)) -> (Medium, Vec<Change>) {
    let store = open(folder, &tiny()).unwrap();
    let before = folder.medium();
    let from = folder.change_count();
    work(&store);
    (before, folder.changes().split_off(from))
}

/// All losses of power after each change.
fn images(before: Medium, changes: &[Change], mut check: impl FnMut(usize, Simulated)) -> usize {
    let mut medium = before;
    let mut chance = Chance(7);
    let mut images = 0;
    for at in 0..=changes.len() {
        for _ in 0..6 {
            for crash in Crash::ALL {
                check(at, Simulated::with(medium.after(crash, &mut chance)));
                images += 1;
            }
        }
        if let Some(change) = changes.get(at) {
            medium.apply(change);
        }
    }
    images
}

#[test]
fn compaction_changes_no_answer_whatever_interrupts_it() {
    let (folder, expected) = small_segments();
    let (before, changes) = changes(&folder, |store| {
        store.compact().unwrap();
        assert_eq!(sealed(store), 1);
        assert_eq!(rows(&store.snapshot()), expected);
        assert_eq!(store.snapshot().verify().unwrap(), []);
    });
    let images = images(before, &changes, |_, folder| {
        let store = open(&folder, &tiny()).unwrap();
        assert_eq!(rows(&store.snapshot()), expected);
        assert_eq!(store.source_position("web"), Some(60));
        store.compact().unwrap();
        assert_eq!((sealed(&store), rows(&store.snapshot())), (1, expected.clone()));
        drop(store);
        let left = folder.medium().names().filter(|name| name.ends_with(".segment")).count();
        assert_eq!(left, 1, "the compacted ones are removed");
    });
    assert!(images > 500, "{images}");
}

#[test]
fn removal_takes_all_or_nothing_whatever_interrupts_it() {
    let (folder, all) = small_segments();
    // The segments whose last instant is before 62: those that begin at 0 to 40.
    let kept: Vec<Row> = all.iter().filter(|row| row.0 >= 25).cloned().collect();
    let retention = Retention { before: Some(62), file_bytes_max: None };
    let mut planned = Removed::default();
    let (before, changes) = changes(&folder, |store| {
        planned = store.remove(retention, true).unwrap();
        assert_eq!(rows(&store.snapshot()), all, "only told");
        assert_eq!(store.remove(retention, false).unwrap(), planned);
        assert_eq!(rows(&store.snapshot()), kept);
        assert_eq!(store.remove(retention, false).unwrap(), Removed::default());
    });
    assert_eq!((planned.files.len(), planned.events, planned.instants), (5, 25, Some((0, 52))));
    images(before, &changes, |at, folder| {
        let store = open(&folder, &tiny()).unwrap();
        let shown = rows(&store.snapshot());
        assert!(shown == kept || (at < changes.len() && shown == all), "after {at} changes");
        assert_eq!(store.source_position("web"), Some(60));
        assert_eq!(store.append(&[Event { instant: 1, bytes: b"new" }]).unwrap(), 61..62);
        store.remove(retention, false).unwrap();
        assert_eq!(rows(&store.snapshot()).len(), kept.len() + 1);
    });
    let store = open(&folder, &tiny()).unwrap();
    let size = |store: &Store| {
        store
            .snapshot()
            .segments()
            .iter()
            .filter(|segment| segment.file.is_some())
            .map(|segment| segment.file_bytes)
            .sum::<u64>()
    };
    let most = size(&store) / 2;
    store.remove(Retention { before: None, file_bytes_max: Some(most) }, false).unwrap();
    assert!(size(&store) <= most && sealed(&store) == 3);
    store.remove(Retention { before: None, file_bytes_max: Some(0) }, false).unwrap();
    assert_eq!(sealed(&store), 0);
    assert_eq!(rows(&store.snapshot()).len(), 1, "what is not sealed stays");
}

#[test]
fn snapshots_hold_what_was_merged_or_removed_since() {
    for read_mode in [ReadMode::Map, ReadMode::Plain] {
        let (folder, all) = small_segments();
        let options = Options { read_mode, ..tiny() };
        let store = open(&folder, &options).unwrap();
        let reader = Reader::open_on(Arc::new(folder.clone()), options.clone(), support::codec()).unwrap();
        let files = || folder.medium().names().filter(|name| name.ends_with(".segment")).count();
        // None of their segments has been opened yet.
        let (own, others) = (store.snapshot(), reader.snapshot().unwrap());
        store.compact().unwrap();
        let compacted = store.snapshot();
        store.remove(Retention { before: Some(u64::MAX), file_bytes_max: None }, false).unwrap();
        assert_eq!(files(), 13);
        assert_eq!(rows(&store.snapshot()).len(), 1);
        assert_eq!(rows(&reader.snapshot().unwrap()).len(), 1);
        for snapshot in [&own, &others, &compacted] {
            assert_eq!(rows(snapshot), all);
        }
        // A snapshot outlives its store, and the next one respects it as well.
        drop(store);
        let store = open(&folder, &options).unwrap();
        assert_eq!(files(), 13);
        assert_eq!(rows(&own), all);
        drop((own, others));
        // What nobody holds goes with the next change of the manifest.
        store.seal().unwrap();
        assert_eq!((files(), sealed(&store)), (2, 1), "the compacted one is still held");
        drop(compacted);
        append(&store, &[document(1)]);
        store.seal().unwrap();
        assert_eq!((files(), sealed(&store)), (2, 2));
    }
}

#[test]
fn what_is_damaged_is_not_merged_and_loses_nothing_more() {
    let (folder, all) = small_segments();
    let mut medium = folder.medium();
    let segment = medium.names().find(|name| name.ends_with(".segment")).unwrap().clone();
    let file = medium.find(&segment).unwrap();
    let mut bytes = medium.contents(file).to_vec();
    bytes[50] ^= 1;
    medium.apply(&Change::Write(file, 0, bytes.into()));
    let folder = Simulated::with(medium);
    let store = open(&folder, &tiny()).unwrap();
    let damage: Vec<Damage> = store.snapshot().verify().unwrap();
    assert_eq!(damage.len(), 1);
    store.compact().unwrap();
    assert_eq!(sealed(&store), 2);
    assert_eq!(store.snapshot().verify().unwrap(), damage);
    assert_eq!(store.snapshot().events(), all.len() as u64);
}

#[test]
fn a_position_that_is_not_durable_is_not_sealed_before_its_events() {
    let folder = Simulated::new();
    let gate = Arc::new(Gate::default());
    let options = Options { durability: Durability::None, segments: LAYOUT, ..Options::default() };
    let store = Store::open_on(Arc::new(folder.clone()), options, gate.clone()).unwrap();
    let event = [Event { instant: 1, bytes: b"event" }];
    store.append_from(&event, Some(SourcePosition { name: "web", position: 1, note: &[] })).unwrap();
    std::thread::scope(|scope| {
        let sealing = scope.spawn(|| store.seal());
        wait_until("sealing begins", || gate.reached.load(SeqCst));
        // Shown, and not flushed: a loss of power may take both, but never the event alone.
        store.append_from(&event, Some(SourcePosition { name: "web", position: 2, note: &[] })).unwrap();
        *gate.open.lock().unwrap() = true;
        gate.changed.notify_all();
        sealing.join().unwrap().unwrap();
    });
    let left = Simulated::with(folder.medium().after(Crash::Nothing, &mut Chance(1)));
    let left = open(&left, &tiny()).unwrap();
    assert_eq!((left.snapshot().events(), left.source_position("web")), (1, Some(1)));
    assert_eq!((store.snapshot().events(), store.source_position("web")), (2, Some(2)));
}

#[test]
fn the_memtable_has_the_bytes_of_its_logs() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
    append(&store, &[document(1), document(2)]);
    append(&store, &[document(3)]);
    let medium = folder.medium();
    let log = medium.names().find(|name| name.ends_with(".log")).unwrap();
    let bytes = medium.contents(medium.find(log).unwrap()).len() as u64;
    for snapshot in [store.snapshot(), reader.snapshot().unwrap()] {
        let memtable = snapshot.segments();
        assert_eq!((memtable.len(), memtable[0].file_bytes, memtable[0].document_bytes), (1, bytes, 300));
    }
    drop(store);
    // Closing has added the word that all of it was durable, which an empty batch bears.
    let closed = bytes + tamias_store::format::FRAME_BYTES as u64;
    assert_eq!(open(&folder, &tiny()).unwrap().snapshot().segments()[0].file_bytes, closed);
}

#[test]
fn processes_that_live_for_a_moment_leave_few_files_and_write_little() {
    let folder = Simulated::new();
    let options = Options { segments: LAYOUT, ..Options::default() };
    let runs = 600;
    for run in 0..runs {
        let store = open(&folder, &options).unwrap();
        let documents: Vec<(u64, String)> = (0..20).map(|n| document(run * 20 + n)).collect();
        append(&store, &documents);
    }
    let store = open(&folder, &options).unwrap();
    let snapshot = store.snapshot();
    assert!(rows(&snapshot).iter().map(|row| row.0).eq(0..runs * 20));
    assert_eq!(snapshot.verify().unwrap(), []);
    let files = folder.medium().names().count();
    assert!(files < 50, "{files} files");
    let traffic = store.housekeeping().unwrap().traffic;
    let times = |bytes: u64| bytes as f64 / traffic.appended as f64;
    let (logs, segments) = (times(traffic.logs), times(traffic.sealed + traffic.rewritten));
    println!(
        "{traffic:?}: logs {logs:.2}, segments {segments:.2}, manifests {:.2}",
        times(traffic.manifests)
    );
    // As text, or in columns of a codec that makes nothing smaller, events are as long in a segment as in the log.
    assert!(logs < 1.3 && segments < 1.5 && times(traffic.manifests) < 0.1, "{traffic:?}");
}

#[test]
fn a_log_of_small_batches_is_sealed_before_it_is_many_times_as_long_as_its_events() {
    let folder = Simulated::new();
    // 512 bytes of documents, or 2 KiB of log, are worth a segment.
    let options = Options { segment_bytes: 32 << 10, ..Options::default() };
    for n in 0..200 {
        let store = open(&folder, &options).unwrap();
        store.append(&[Event { instant: n, bytes: b"{}" }]).unwrap();
    }
    let reader = Reader::open_on(Arc::new(folder.clone()), options, support::codec()).unwrap();
    let snapshot = reader.snapshot().unwrap();
    assert_eq!(snapshot.events(), 200);
    let log_bytes = reader.housekeeping().unwrap().usage.logs;
    assert!(log_bytes < 3 << 10, "{log_bytes} bytes of logs");
}

/// As many lives as there are minutes in a night, each of which has something to seal: neither the files nor the calls that a life makes become more and more.
#[test]
fn lives_that_each_seal_a_little_leave_few_files_and_make_no_more_calls_than_the_first() {
    let folder = Simulated::new();
    // Two kilobytes are worth a segment, and 64 lives fill one.
    let options = Options { segment_bytes: 128 << 10, segments: LAYOUT, ..Options::default() };
    let lives = 600;
    let mut calls = Vec::new();
    let mut most_small = 0;
    for life in 0..lives {
        let before = folder.calls();
        let store = open(&folder, &options).unwrap();
        let documents: Vec<(u64, String)> = (0..24).map(|n| document(life * 24 + n)).collect();
        append(&store, &documents);
        drop(store);
        calls.push(folder.calls() - before);
        let reader = Reader::open_on(Arc::new(folder.clone()), options.clone(), support::codec()).unwrap();
        let segments = reader.snapshot().unwrap().segments();
        let small = |segment: &&SegmentInfo| segment.document_bytes <= 64 << 10;
        most_small = most_small.max(segments.iter().filter(small).count());
    }
    assert!(most_small <= 32, "{most_small} small segments at once");
    let files = folder.medium().names().count();
    assert!(files < 60, "{files} files, of which {} are full", lives * 24 * 101 / (128 << 10));
    let (early, late) = calls.split_at(calls.len() / 2);
    let most = |calls: &[u64]| calls.iter().max().copied().unwrap();
    println!(
        "{most_small} small segments at once, {files} files; calls: {} then {}",
        most(early),
        most(late)
    );
    assert!(most(late) <= most(early) * 3 / 2, "{} calls, then {}", most(early), most(late));
}

/// A codec that makes so many blocks and then waits until it may make more.
#[derive(Default)]
struct Turnstile {
    left: Mutex<usize>,
    changed: Condvar,
    waits: AtomicBool,
    made: AtomicUsize,
}

impl Turnstile {
    fn let_through(&self, blocks: usize) {
        *self.left.lock().unwrap() += blocks;
        self.changed.notify_all();
    }

    fn made(&self) -> usize {
        self.made.load(SeqCst)
    }
}

impl Codec for Turnstile {
    fn makes_columns(&self) -> bool {
        true
    }

    fn collect(&self, _: &[u8], _: &[u32], _: &mut Vec<u8>) {
        let mut left = self.left.lock().unwrap();
        while *left == 0 {
            self.waits.store(true, SeqCst);
            left = self.changed.wait(left).unwrap();
        }
        *left -= 1;
        self.made.fetch_add(1, SeqCst);
    }

    fn encode(&self, times: Times<'_>, documents: Documents<'_>) -> Option<Vec<NamedPart>> {
        Halves.encode(times, documents)
    }

    fn times(&self, block: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
        Halves.times(block)
    }

    fn documents(&self, block: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
        Halves.documents(block)
    }
}

/// Segments of ten events each.
fn segments_of_ten(store: &Store, count: u64) {
    for segment in 0..count {
        append(store, &(segment * 10..segment * 10 + 10).map(document).collect::<Vec<_>>());
        store.seal().unwrap();
    }
}

fn unfinished(folder: &Simulated) -> Vec<String> {
    folder.medium().names().filter(|name| name.ends_with(".tmp")).cloned().collect()
}

#[test]
fn a_compaction_stops_before_any_block_and_leaves_nothing_behind() {
    let folder = Simulated::new();
    let codec = Arc::new(Turnstile::default());
    codec.let_through(usize::MAX / 2);
    let options = Options { segment_bytes: 1 << 20, ..tiny() };
    let store = Store::open_on(Arc::new(folder.clone()), options.clone(), codec.clone()).unwrap();
    segments_of_ten(&store, 4);
    let (all, names) = (rows(&store.snapshot()), folder.list().unwrap());
    // Reading, writing, and between steps.
    for asks in 0.. {
        let (asked, made) = (AtomicUsize::new(0), codec.made());
        let is_done = store.compact_while(&|| asked.fetch_add(1, SeqCst) < asks, &|_, _| ()).unwrap();
        assert_eq!(rows(&store.snapshot()), all);
        assert_eq!(unfinished(&folder), [""; 0]);
        if is_done || sealed(&store) == 1 {
            assert!(asks > 30, "{asks}");
            break;
        }
        assert!(codec.made() - made <= asks);
        assert_eq!(folder.list().unwrap(), names, "after {asks} times");
        let left = Simulated::with(folder.medium().after(Crash::ALL[asks % 8], &mut Chance(asks as u64)));
        assert_eq!(rows(&open(&left, &tiny()).unwrap().snapshot()), all);
    }
    assert!(store.compact_while(&|| true, &|_, _| ()).unwrap());
    assert_eq!((sealed(&store), rows(&store.snapshot())), (1, all));
}

/// It used to wait for the step that the thread had begun, a full segment's worth.
#[test]
fn a_store_that_is_closed_does_not_wait_for_a_compaction() {
    let folder = Simulated::new();
    let codec = Arc::new(Turnstile::default());
    // A block of text has one event, one in columns two.
    let blocks = if LAYOUT == Layout::Text { 80 } else { 40 };
    codec.let_through(blocks);
    let options = Options { segment_bytes: 1 << 20, background: true, ..tiny() };
    let store = Store::open_on(Arc::new(folder.clone()), options.clone(), codec.clone()).unwrap();
    // The step right after opening is finished in any case: with nothing to do, before there are segments.
    std::thread::sleep(Duration::from_millis(500));
    segments_of_ten(&store, 8);
    // So many are compacted in the background, once it is woken.
    append(&store, &[document(1000)]);
    wait_until("compaction begins", || codec.waits.load(SeqCst));
    let all = rows(&store.snapshot());
    std::thread::scope(|scope| {
        let closing = scope.spawn(move || drop(store));
        while !closing.is_finished() {
            codec.let_through(1);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert!(codec.made() < 2 * blocks, "{}", codec.made());
    assert_eq!(unfinished(&folder), [""; 0]);
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!((sealed(&store), rows(&store.snapshot())), (8, all));
}
