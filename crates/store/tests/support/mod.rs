//! A workload whose every attempt to store something is remembered, and the check that a store holds what it must.

#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses a part of this")]

pub(crate) mod refusing;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use tamias_store::io::{Chance, Directory, Fault, FaultKind, Medium, Simulated};
use tamias_store::{
    AppendError, Codec, DecodeError, Direction, Documents, Durability, Event, Layout, NamedPart, OpenError,
    Options, OwnedDocuments, OwnedTimes, Parts, ReadError, Reader, Snapshot, SourcePosition, Store, Times,
};

/// One attempt to store a batch.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    /// How many changes the medium had seen when it began.
    pub(crate) begun: usize,
    /// How many it had seen when the batch was acknowledged, or shown to a reader after opening.
    pub(crate) acknowledged: Option<usize>,
    /// Instant and document of each event. Documents tell the attempt and the place in it.
    pub(crate) rows: Vec<(u64, Vec<u8>)>,
    /// Whether the caller was told that nothing of it was stored, with the store still in order.
    pub(crate) refused: bool,
    /// Whether it was to be written straight into segments: its arrival numbers stay unused where it is not stored.
    pub(crate) sealed: bool,
}

impl Attempt {
    fn new(id: usize, begun: usize, most: usize, sealed: bool, chance: &mut Chance) -> Attempt {
        let rows = (0..1 + chance.below(most))
            .map(|n| {
                // Some are longer than a sector, so that a hole in the middle shows in no other way than by the checksum.
                let pad = "x".repeat(if chance.below(8) == 0 { 2000 } else { chance.below(40) });
                (1000 + chance.below(50) as u64, format!("{id}/{n}/{pad}").into_bytes())
            })
            .collect();
        Attempt { begun, acknowledged: None, rows, refused: false, sealed }
    }

    fn store(&self, id: usize, store: &Store) -> Result<Range<u64>, AppendError> {
        let events: Vec<Event<'_>> =
            self.rows.iter().map(|(instant, bytes)| Event { instant: *instant, bytes }).collect();
        let name = format!("source {id}");
        let note = note(id);
        let source = (id.is_multiple_of(3)).then_some(SourcePosition {
            name: &name,
            position: id as u64,
            note: &note,
        });
        if self.sealed { store.append_sealed(&events, source) } else { store.append_from(&events, source) }
    }
}

/// What batch `id` leaves with its source; some leave nothing.
fn note(id: usize) -> Vec<u8> {
    (0..id as u8 % 5 * 3).collect()
}

/// What a workload tried on a folder.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pub(crate) folder: Simulated,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) options: Options,
}

/// What a test of a module is called in its program: to be started as a process.
pub(crate) fn test_name(module: &str, name: &str) -> String {
    let inner = module.split_once("::").map(|(_, module)| format!("{module}::{name}"));
    inner.unwrap_or_else(|| name.to_owned())
}

/// A codec for tests, which knows nothing of JSON: times are one part, the documents of even places another, those of odd ones a third, all
/// of them turned over, so that nothing passes for text. What it cannot use of its parts is malformed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Halves;

/// A document that is not taken apart: its block stays text.
pub(crate) const KEPT: &[u8] = b"kept as text";

/// Bytes as they stand in a part of columns.
pub(crate) fn turned(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}

fn part(block: &dyn Parts, name: &str) -> Result<Vec<u8>, DecodeError> {
    block.part(name)?.map(|bytes| turned(&bytes)).ok_or(DecodeError::Malformed("it lacks a part"))
}

impl Codec for Halves {
    fn makes_columns(&self) -> bool {
        true
    }

    fn collect(&self, _: &[u8], ends: &[u32], statistics: &mut Vec<u8>) {
        statistics.extend_from_slice(&(ends.len() as u32).to_le_bytes());
    }

    fn events_max(&self) -> usize {
        30
    }

    fn encode(&self, times: Times<'_>, documents: Documents<'_>) -> Option<Vec<NamedPart>> {
        let (mut halves, mut all) = ([Vec::new(), Vec::new()], 0..documents.len());
        if all.any(|index| documents.get(index) == Some(KEPT)) {
            return None;
        }
        for index in 0..documents.len() {
            let half = &mut halves[index % 2];
            half.extend_from_slice(documents.get(index).unwrap());
            half.push(b'\n');
        }
        let [even, odd] = halves;
        let times = [times.instants.as_flattened(), times.arrivals.as_flattened()].concat();
        let part = |(name, bytes): (&str, Vec<u8>)| NamedPart { name: name.into(), bytes: turned(&bytes) };
        Some([("times", times), ("even", even), ("odd", odd)].map(part).into())
    }

    fn times(&self, block: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
        let bytes = part(block, "times")?;
        let (numbers, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() || numbers.len() != block.events() * 2 {
            return Err(DecodeError::Malformed("its times are cut"));
        }
        let (instants, arrivals) = numbers.split_at(block.events());
        Ok(OwnedTimes { instants: instants.to_vec(), arrivals: arrivals.to_vec() })
    }

    fn documents(&self, block: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
        let halves = [part(block, "even")?, part(block, "odd")?];
        let mut lines = [0, 1].map(|half: usize| halves[half].split(|byte| *byte == b'\n'));
        let mut documents = OwnedDocuments::default();
        for index in 0..block.events() {
            let line = lines[index % 2].next().ok_or(DecodeError::Malformed("it has too few lines"))?;
            documents.push(line);
        }
        Ok(documents)
    }
}

/// What the segments of a test consist of: each file of tests is compiled for both, by its own name and within `over_columns`.
pub(crate) const LAYOUT: Layout = match env!("CARGO_CRATE_NAME").as_bytes() {
    b"over_columns" => Layout::Columns,
    _ => Layout::Text,
};

/// The codec that all tests open stores with.
pub(crate) fn codec() -> Arc<dyn Codec> {
    Arc::new(Halves)
}

pub(crate) fn tiny() -> Options {
    Options {
        block_bytes: if matches!(LAYOUT, Layout::Text) { 100 } else { 30 },
        segment_bytes: 3000,
        segments: LAYOUT,
        background: false,
        ..Options::default()
    }
}

pub(crate) fn open(folder: &Simulated, options: &Options) -> Result<Store, OpenError> {
    Store::open_on(Arc::new(folder.clone()), options.clone(), codec())
}

/// Arrival number, instant and document.
pub(crate) type Row = (u64, u64, Vec<u8>);

/// A row of [`append_rows`].
pub(crate) fn row(n: u64) -> Row {
    (n, n, format!("event {n} {n:0>100}").into_bytes())
}

/// Appends rows one by one, the numbers of which are also their instants.
pub(crate) fn append_rows(store: &Store, range: Range<u64>) {
    for n in range {
        store.append(&[Event { instant: n, bytes: &row(n).2 }]).unwrap();
    }
}

/// Thirty of these rows in three segments, and ten in the log; closed.
pub(crate) fn forty() -> Simulated {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    for part in 0..3 {
        append_rows(&store, part * 10..part * 10 + 10);
        store.seal().unwrap();
    }
    append_rows(&store, 30..40);
    folder
}

/// The names in the folder that end so, in order.
pub(crate) fn names(folder: &Simulated, ending: &str) -> Vec<String> {
    let mut names = folder.list().unwrap();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    names
}

/// All rows in order of arrival.
pub(crate) fn rows(snapshot: &Snapshot) -> Vec<Row> {
    try_rows(snapshot).unwrap()
}

pub(crate) fn try_rows(snapshot: &Snapshot) -> Result<Vec<Row>, ReadError> {
    let mut rows = Vec::new();
    for group in snapshot.groups(0..=u64::MAX, Direction::Ascending) {
        for block in group? {
            for index in 0..block.len() {
                let key = block.key(index)?.unwrap();
                rows.push((key.arrival, key.instant, block.document(index)?.unwrap().to_vec()));
            }
        }
    }
    rows.sort();
    Ok(rows)
}

impl History {
    /// Runs some steps: appends of several sizes, sealed batches, seals, reopenings. After a failure that the store calls final it is
    /// opened again on what the process sees, as a restarted process would.
    pub(crate) fn run(folder: Simulated, options: &Options, steps: usize, chance: &mut Chance) -> History {
        let mut history = History { folder: folder.clone(), attempts: Vec::new(), options: options.clone() };
        let mut store = None;
        for _ in 0..steps {
            let Some(open) = &store else {
                store = history.reopen();
                continue;
            };
            match chance.below(20) {
                0 => store = None,
                1 | 2 => drop(open.seal()),
                4 => drop(open.compact()),
                3 => history.append(open, chance, 12, true),
                _ => history.append(open, chance, 4, false),
            }
        }
        history
    }

    /// Opens the store; what it shows counts as acknowledged from then on.
    pub(crate) fn reopen(&mut self) -> Option<Store> {
        let store = open(&self.folder, &self.options).ok()?;
        let now = self.folder.change_count();
        // A read may fail under a fault: then it is tried again later.
        let shown = try_rows(&store.snapshot()).ok()?;
        for attempt in found(&self.attempts, &shown, now) {
            self.attempts[attempt].acknowledged.get_or_insert(now);
        }
        Some(store)
    }

    /// Several threads append at the same time, seal now and then, and compact; another one does so in the background. What they do is the same each time, in which order is not.
    pub(crate) fn run_threads(options: &Options, threads: u64, steps: usize, seed: u64) -> History {
        let folder = Simulated::new();
        let store = open(&folder, &Options { background: true, ..options.clone() }).unwrap();
        // Long enough for others to write meanwhile.
        folder.before_flush(|| std::thread::sleep(std::time::Duration::from_micros(200)));
        let attempts: Mutex<Vec<Attempt>> = Mutex::default();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (store, attempts, folder) = (store.clone(), &attempts, &folder);
                let mut chance = Chance(seed * threads + thread);
                scope.spawn(move || {
                    for _ in 0..steps {
                        let kind = chance.below(10);
                        if kind == 0 {
                            store.seal().unwrap();
                            continue;
                        }
                        if kind == 2 {
                            store.compact().unwrap();
                            continue;
                        }
                        let mut list = attempts.lock().unwrap();
                        let id = list.len();
                        let begun = folder.change_count();
                        let attempt = Attempt::new(id, begun, 4, kind == 1, &mut chance);
                        list.push(attempt.clone());
                        drop(list);
                        attempt.store(id, &store).unwrap();
                        attempts.lock().unwrap()[id].acknowledged = Some(folder.change_count());
                    }
                });
            }
        });
        History { folder, attempts: attempts.into_inner().unwrap(), options: options.clone() }
    }

    fn append(&mut self, store: &Store, chance: &mut Chance, most: usize, sealed: bool) {
        let id = self.attempts.len();
        let mut attempt = Attempt::new(id, self.folder.change_count(), most, sealed, chance);
        let stored = attempt.store(id, store);
        let now = self.folder.change_count();
        attempt.refused = stored.is_err() && store.flush().is_ok();
        attempt.acknowledged = stored.is_ok().then_some(now);
        self.attempts.push(attempt);
    }

    /// Opens a store on a medium that is what is left of this history after `at` changes, and checks that it holds everything
    /// acknowledged by then, whole batches and nothing else. Returns the rows.
    pub(crate) fn check(&self, folder: &Simulated, at: usize) -> Vec<Row> {
        let store = open(folder, &self.options).unwrap();
        let shown = rows(&store.snapshot());
        self.check_rows(&shown, at);
        for (id, attempt) in self.attempts.iter().enumerate() {
            if id.is_multiple_of(3) && attempt.acknowledged.is_some_and(|acknowledged| acknowledged <= at) {
                let name = format!("source {id}");
                assert_eq!(store.source_position(&name), Some(id as u64));
                assert_eq!(*store.source_note(&name), *note(id));
            }
        }
        shown
    }

    pub(crate) fn check_rows(&self, shown: &[Row], at: usize) {
        let found = found(&self.attempts, shown, at);
        for (id, attempt) in self.attempts.iter().enumerate() {
            if attempt.acknowledged.is_some_and(|acknowledged| acknowledged <= at) {
                assert!(found.contains(&id), "acknowledged batch {id} is lost after {at} changes");
            }
        }
    }

    /// A process that only reads sees the same, or a moment ahead.
    pub(crate) fn check_reader(&self, medium: &Medium, at: usize) {
        let folder = Simulated::with(medium.clone());
        match Reader::open_on(Arc::new(folder), self.options.clone(), codec()) {
            Ok(reader) => self.check_rows(&rows(&reader.snapshot().unwrap()), at),
            Err(OpenError::Missing { .. }) => self.check_rows(&[], at),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Which attempts make up these rows: whole ones, one after another, begun before `at`.
fn found(attempts: &[Attempt], shown: &[Row], at: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut next = 0;
    // Arrival numbers that no row has, before the one that comes next.
    let mut unused = 0;
    while next < shown.len() {
        let document = std::str::from_utf8(&shown[next].2).unwrap();
        let id: usize = document.split('/').next().unwrap().parse().unwrap();
        let attempt = &attempts[id];
        assert!(attempt.begun <= at, "batch {id} had not begun");
        let end = next + attempt.rows.len();
        assert!(end <= shown.len(), "half of batch {id} is stored");
        for (row, expected) in shown[next..end].iter().zip(&attempt.rows) {
            assert_eq!((row.1, &row.2), (expected.0, &expected.1), "batch {id} is stored whole and in order");
        }
        assert!(shown[next].0 >= next as u64 + unused, "arrival numbers rise");
        unused = shown[next].0 - next as u64;
        for (offset, row) in shown[next..end].iter().enumerate() {
            assert_eq!(row.0, (next + offset) as u64 + unused, "a batch has consecutive arrival numbers");
        }
        assert!(!attempt.refused, "batch {id} was refused, and is stored");
        assert!(found.insert(id), "batch {id} is stored twice");
        next = end;
    }
    let missing = attempts.iter().enumerate().filter(|(id, attempt)| attempt.sealed && !found.contains(id));
    let missing: usize = missing.map(|(_, attempt)| attempt.rows.len()).sum();
    assert!(
        unused <= missing as u64,
        "no arrival number is passed over but those of batches that were not sealed"
    );
    found
}

/// A workload during which one call fails, or all from it on.
pub(crate) fn faulty(kind: FaultKind, at: u64, forever: bool, durability: Durability, seed: u64) -> History {
    let folder = Simulated::new();
    folder.fail(Some(Fault { at, forever, kind }));
    // Also with a thread that seals and compacts meanwhile.
    let options = Options { durability, background: seed.is_multiple_of(3), ..tiny() };
    History::run(folder, &options, 16, &mut Chance(seed))
}
