//! What the benchmarks share: sets of documents, and timing that takes turns.

use std::hint::black_box;
use std::ops::Range;
use std::time::Duration;

use tamias::{Batch, EventFormat, Layout, Options, Store, TimeFormat, TimeKeys};
use tamias_json::{Map, Offsets};
use tamias_testdata::{DATA_SETS, Generator, data_set};

/// The most bytes that a set brings to a benchmark: hundreds to thousands of documents, and runs of a millisecond or so, which
/// now and then get by without being interrupted.
const SET_BYTES_MAX: usize = 3 << 20;

/// Documents, one after another, and where each stands.
#[derive(Debug)]
pub struct Set {
    /// A short name for tables.
    pub name: String,
    /// The documents, without anything between them.
    pub bytes: Vec<u8>,
    /// Where each document stands in there.
    pub spans: Vec<Range<usize>>,
}

impl Set {
    /// An empty set.
    #[must_use]
    pub fn new(name: &str) -> Set {
        Set { name: name.to_owned(), bytes: Vec::new(), spans: Vec::new() }
    }

    /// Adds a document.
    pub fn push(&mut self, document: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(document);
        self.spans.push(start..self.bytes.len());
    }

    /// The documents.
    pub fn documents(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|span| &self.bytes[span.clone()])
    }

    /// Mean length of a document in bytes.
    #[must_use]
    pub fn mean(&self) -> usize {
        self.bytes.len() / self.spans.len().max(1)
    }
}

/// A store in a folder that is removed with it.
#[derive(Debug)]
pub struct Stored {
    /// The store, all of it sealed.
    pub store: Store,
    _folder: tempfile::TempDir,
}

/// So many generated events, stored in segments of a layout.
#[must_use]
pub fn stored(events: u64, segments: Layout) -> Stored {
    let mut generator = Generator::new(7, events);
    let stored = stored_all(segments, &EventFormat::clef(), |event| generator.write_next(event));
    assert_eq!(stored.store.info().expect("information").events, events, "a generated event is valid");
    stored
}

/// All events of a real data set, stored in segments of a layout; `None` where it is not at hand. Their time is found as `tamias ingest` finds it, and lines
/// that are no events are passed over.
///
/// # Panics
/// Where none of their keys is known to hold their time.
#[must_use]
pub fn stored_real(name: &str, segments: Layout) -> Option<Stored> {
    /// So many events tell which key holds their time.
    const LOOKED_AT: usize = 100;
    let bytes = data_set(name)?;
    let mut keys = TimeKeys::new(TimeFormat::default());
    bytes.split(|byte| *byte == b'\n').take(LOOKED_AT).for_each(|line| keys.look(line));
    let key = keys.best().or_else(|| keys.only()).expect("a key that holds the time");
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let next = |event: &mut Vec<u8>| lines.next().map(|line| event.extend_from_slice(line)).is_some();
    Some(stored_all(segments, &EventFormat::time_key(key), next))
}

/// Stores events as long as there is a next one, which is appended to what is handed over. What is no event is passed over.
fn stored_all(segments: Layout, format: &EventFormat, mut next: impl FnMut(&mut Vec<u8>) -> bool) -> Stored {
    const BATCH: usize = 10_000;
    let folder = tempfile::tempdir().expect("a folder for the store");
    let store =
        Store::open_with(folder.path(), Options { segments, ..Options::default() }).expect("a new store");
    let (mut event, mut batch) = (Vec::new(), Batch::new());
    while next(&mut event) {
        // The last line of a set may be cut.
        let _ = batch.push(event.trim_ascii_end(), format);
        event.clear();
        if batch.len() == BATCH {
            store.append_batch(&mut batch).expect("events are stored");
        }
    }
    store.append_batch(&mut batch).expect("events are stored");
    store.seal().expect("events are sealed");
    Stored { store, _folder: folder }
}

/// The real sets that are at hand, then the generated ones.
#[must_use]
pub fn sets() -> Vec<Set> {
    let mut sets: Vec<Set> = DATA_SETS.iter().filter_map(|name| real(name)).collect();
    sets.extend([short_events(), events(), long_events()]);
    sets
}

/// A real data set; `None` where it is not at hand.
#[must_use]
pub fn real(name: &str) -> Option<Set> {
    let bytes = data_set(name)?;
    let mut set = Set::new(name);
    let mut offsets = Offsets::new();
    for line in bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end) {
        // The last line of a set may be cut.
        if set.bytes.len() + line.len() <= SET_BYTES_MAX && offsets.scan_trusted(line).is_ok() {
            set.push(line);
        }
    }
    Some(set)
}

/// Generated events as they come.
#[must_use]
pub fn events() -> Set {
    let mut set = Set::new("events 400 B");
    let mut generator = Generator::new(1, 8_000);
    let mut line = Vec::new();
    while generator.write_next(&mut line) {
        set.push(line.trim_ascii_end());
        line.clear();
    }
    set
}

/// The first members of generated events, up to some 150 bytes.
#[must_use]
pub fn short_events() -> Set {
    let mut set = Set::new("events 150 B");
    let mut offsets = Offsets::new();
    let mut short = Vec::new();
    for event in events().documents() {
        short.clear();
        short.push(b'{');
        let root = offsets.scan_trusted(event).expect("a generated event");
        for (key, value) in root.entries() {
            let (key, value) = (key.raw_quoted(), value.raw());
            if short.len() + key.len() + value.len() + 3 <= 180 {
                if short.len() > 1 {
                    short.push(b',');
                }
                short.extend_from_slice(key);
                short.push(b':');
                short.extend_from_slice(value);
            }
        }
        short.push(b'}');
        set.push(&short);
    }
    set
}

/// Documents of some 10 kB: arrays of generated events.
#[must_use]
pub fn long_events() -> Set {
    let mut set = Set::new("events 10 kB");
    for documents in grouped(10_000, SET_BYTES_MAX) {
        set.push(&documents);
    }
    set
}

/// Objects with an array of generated events each, of about `bytes` bytes, `total` bytes in all at least.
pub fn grouped(bytes: usize, total: usize) -> impl Iterator<Item = Vec<u8>> {
    let events = events();
    let mut next = 0;
    let mut made = 0;
    std::iter::from_fn(move || {
        if made >= total {
            return None;
        }
        let mut document = br#"{"Events":["#.to_vec();
        while document.len() < bytes || document.ends_with(b"[") {
            if !document.ends_with(b"[") {
                document.push(b',');
            }
            document.extend_from_slice(&events.bytes[events.spans[next % events.spans.len()].clone()]);
            next += 1;
        }
        document.extend_from_slice(b"]}");
        made += document.len();
        Some(document)
    })
}

/// Something to be timed, with a name for tables.
pub struct Contender<'a> {
    /// A short name.
    pub name: String,
    /// Work that is not timed, before each run.
    pub prepare: Box<dyn FnMut() + 'a>,
    /// One run, giving a figure that depends on all of its work.
    pub run: Box<dyn FnMut() -> usize + 'a>,
}

impl<'a> Contender<'a> {
    /// A contender that needs no preparation.
    pub fn new(name: impl Into<String>, run: impl FnMut() -> usize + 'a) -> Contender<'a> {
        Contender { name: name.into(), prepare: Box::new(|| ()), run: Box::new(run) }
    }
}

/// The times of a contender's runs.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The fastest run.
    pub least: Duration,
    /// The run in the middle.
    pub median: Duration,
}

/// What this thread has used of the processor: on a machine with other work too, the time that counts.
#[must_use]
pub fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Lets the contenders run in turns, so that a slow moment of the machine meets them all. Times are the thread's own.
pub fn take_turns(contenders: &mut [Contender<'_>], rounds: usize) -> Vec<Times> {
    let mut times = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            (contender.prepare)();
            let start = processor_time();
            black_box((contender.run)());
            times.push(processor_time().saturating_sub(start));
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort_unstable();
            Times { least: times[0], median: times[times.len() / 2] }
        })
        .collect()
}

/// Bytes per nanosecond, which is GB/s.
#[must_use]
pub fn gigabytes_per_second(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_nanos().max(1) as f64
}

/// The geometric mean.
#[must_use]
pub fn geometric_mean(figures: &[f64]) -> f64 {
    (figures.iter().map(|figure| figure.ln()).sum::<f64>() / figures.len() as f64).exp()
}

/// The key of a document's last member, decoded: what the contenders that look something up look for.
#[must_use]
pub fn last_key(root: Map<'_>) -> String {
    root.entries().last().map(|(key, _)| key.text().into_owned()).unwrap_or_default()
}
