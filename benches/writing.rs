//! What writing costs on this machine: `cargo bench -p tamias-benches --bench writing [-- FOLDER]`, for segments of text and in columns.
//!
//! Bytes written to the medium for a byte of JSON, in bulk and in appends of a thousand events, as the system (Linux) counts them for this
//! process; and how long an append takes that is not flushed, while segments are sealed beside it.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use tamias::{Batch, Durability, EventFormat, Layout, Options, Store};
use tamias_testdata::Generator;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS: u64 = 300_000;
const BULK_BYTES: usize = 48 << 20;

/// 99.9% of appends are to take no longer while segments are sealed beside them.
const APPEND_MAX: Duration = Duration::from_millis(20);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().skip(1).find(|argument| argument != "--bench");
    let parent = folder.unwrap_or_else(|| std::env::temp_dir().into());
    let (mut generator, mut bytes) = (Generator::new(1, EVENTS), Vec::new());
    while generator.write_next(&mut bytes) {}
    let events: Vec<&[u8]> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .filter(|event| !event.is_empty())
        .collect();
    for segments in [Layout::Text, Layout::Columns] {
        let folder = tempfile::tempdir_in(&parent)?;
        bulk(&folder.path().join("bulk"), segments, &events)?;
        thousands(&folder.path().join("thousands"), segments, &events)?;
        beside_sealing(&folder.path().join("beside"), segments, &events)?;
    }
    Ok(())
}

/// Bytes that this process has had written to the medium; nothing where the system does not tell.
fn written() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let figure = text.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    figure.and_then(|figure| figure.parse().ok()).unwrap_or(0)
}

fn options(segments: Layout, durability: Durability) -> Options {
    Options { segments, durability, ..Options::default() }
}

/// Appends events in batches; how many bytes of JSON that was.
fn append(store: &Store, events: &[&[u8]]) -> Result<usize, Box<dyn Error>> {
    let mut batch = Batch::new();
    for event in events {
        batch.push(event, &EventFormat::clef())?;
    }
    let bytes = batch.bytes();
    store.append_batch(&mut batch)?;
    Ok(bytes)
}

fn bulk(folder: &Path, segments: Layout, events: &[&[u8]]) -> Result<(), Box<dyn Error>> {
    let (before, begun) = (written(), Instant::now());
    let store = Store::open_with(folder, options(segments, Durability::Sync))?;
    let (mut batch, mut bytes) = (Batch::with_capacity(BULK_BYTES * 2), 0);
    for event in events {
        batch.push(event, &EventFormat::clef())?;
        if batch.bytes() >= BULK_BYTES {
            bytes += batch.bytes();
            store.append_batch(&mut batch)?;
        }
    }
    bytes += batch.bytes();
    store.append_batch(&mut batch)?;
    store.seal()?;
    drop(store);
    let time = begun.elapsed().as_secs_f64();
    println!(
        "{segments:?}, in bulk: {:.0} MB/s, {:.3} bytes written for a byte of JSON",
        bytes as f64 / time / 1e6,
        (written() - before) as f64 / bytes as f64
    );
    Ok(())
}

fn thousands(folder: &Path, segments: Layout, events: &[&[u8]]) -> Result<(), Box<dyn Error>> {
    let before = written();
    let store = Store::open_with(folder, options(segments, Durability::Sync))?;
    let mut bytes = 0;
    for events in events.chunks(1000) {
        bytes += append(&store, events)?;
    }
    store.seal()?;
    drop(store);
    println!(
        "{segments:?}, a thousand events at a time: {:.3} bytes written for a byte of JSON",
        (written() - before) as f64 / bytes as f64
    );
    Ok(())
}

/// A hundred events each two milliseconds, some 18 MB a second, for a minute: less than what sealing comes to.
fn beside_sealing(folder: &Path, segments: Layout, events: &[&[u8]]) -> Result<(), Box<dyn Error>> {
    let store = Store::open_with(folder, options(segments, Durability::None))?;
    let mut times = Vec::new();
    let batches: Vec<&[&[u8]]> = events.chunks(100).collect();
    for round in 0..30_000 {
        let mut batch = Batch::new();
        for event in batches[round % batches.len()] {
            batch.push(event, &EventFormat::clef())?;
        }
        let begun = Instant::now();
        store.append_batch(&mut batch)?;
        times.push(begun.elapsed());
        std::thread::sleep(Duration::from_millis(2).saturating_sub(begun.elapsed()));
    }
    times.sort_unstable();
    let at = |share: f64| {
        times.get((times.len() as f64 * share) as usize).or(times.last()).copied().unwrap_or_default()
    };
    let segments_made = store.info()?.segments;
    let unsealed: u64 =
        segments_made.iter().filter(|segment| segment.file.is_none()).map(|segment| segment.bytes).sum();
    println!(
        "{segments:?}, {} appends of 100 events, not flushed, beside sealing into {} segments ({:.0} MB not sealed yet at the end): half within {:?}, 99% within {:?}, 99.9% within {:?} (aimed at: {APPEND_MAX:?}), all within {:?}; {} took longer than {APPEND_MAX:?}",
        times.len(),
        segments_made.iter().filter(|segment| segment.file.is_some()).count(),
        unsealed as f64 / 1e6,
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0),
        times.iter().filter(|time| **time > APPEND_MAX).count()
    );
    Ok(())
}
