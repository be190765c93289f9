//! Measures what an open store takes in memory while nobody asks it anything, and what opening takes (Linux only):
//! `cargo run --release -p tamias-store --example idle [FOLDER]`. Needs 3 GB there.
//!
//! The events are short, and so are blocks and segments, so that there are as many of these as with 360 bytes an event: what is
//! in memory depends on their number, not on the bytes in them.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tamias_store::{Direction, Event, Options, ReadMode, Reader, Snapshot, Store};

const EVENTS: u64 = 100_000_000;
const BATCH: u64 = 2_000_000;
const DOCUMENT: &[u8] = b"{\"n\":1}";
/// How much shorter they are.
const SCALE: usize = 360 / (DOCUMENT.len() + 1);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    // Each figure is that of a process of its own, whose memory nobody has used before.
    if let [what, folder] = &arguments[..] {
        return opened(what.to_str().unwrap_or_default(), Path::new(folder));
    }
    let parent = arguments.into_iter().next().unwrap_or_else(|| std::env::temp_dir().into());
    let folder = tempfile::tempdir_in(parent)?;
    let sealed = folder.path().join("sealed");
    make_sealed(&sealed)?;
    for what in ["writing", "reading", "plain"] {
        again(what, &sealed)?;
    }
    for (bytes, batch) in [(1, 1000), (20, 1000), (360, 1000), (1, 10_000_000), (360, 59_000)] {
        let memtable = folder.path().join(format!("memtable-{bytes}-{batch}"));
        make_memtable(&memtable, bytes, batch)?;
        println!("batches of {batch} events of {bytes} bytes");
        again("memtable", &memtable)?;
    }
    Ok(())
}

/// Runs this program again, to measure one thing.
fn again(what: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let done = std::process::Command::new(std::env::current_exe()?).arg(what).arg(folder).status()?;
    if done.success() { Ok(()) } else { Err(format!("{what} failed").into()) }
}

fn opened(what: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let before = memory("RssAnon");
    let begun = Instant::now();
    let options = |read_mode| Options { read_mode, ..Options::default() };
    let (snapshot, _store, _reader) = match what {
        "writing" | "memtable" => {
            let store = Store::open(folder, Options::default(), Arc::new(()))?;
            (store.snapshot(), Some(store), None)
        }
        _ => {
            let read_mode = if what == "plain" { ReadMode::Plain } else { ReadMode::Map };
            let reader = Reader::open(folder, options(read_mode), Arc::new(()))?;
            (reader.snapshot()?, None, Some(reader))
        }
    };
    let time = begun.elapsed();
    if what == "memtable" {
        let (peak, idle) = (memory("VmHWM") - before, memory("RssAnon") - before);
        let log = snapshot.segments().first().map_or(0, |memtable| memtable.file_bytes) / 1024;
        println!(
            "opening a log of {log} kB, {} events, {} bytes of documents: {time:?}, at most {peak} kB, then {idle} kB",
            snapshot.events(),
            snapshot.document_bytes()
        );
        return Ok(());
    }
    println!("opening for {what}: {time:?}, {} kB", memory("RssAnon") - before);
    scan(&snapshot)?;
    println!("    once every block was read: {} kB", memory("RssAnon") - before);
    Ok(())
}

/// A line of what the system knows of this process, in kB.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
    found.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn make_sealed(folder: &Path) -> Result<(), Box<dyn Error>> {
    let options = Options {
        block_bytes: (1 << 20) / SCALE,
        segment_bytes: (64 << 20) / SCALE,
        background: false,
        ..Options::default()
    };
    let store = Store::open(folder, options, Arc::new(()))?;
    for first in (0..EVENTS).step_by(BATCH as usize) {
        let events: Vec<Event<'_>> =
            (first..first + BATCH).map(|instant| Event { instant, bytes: DOCUMENT }).collect();
        store.append_sealed(&events, None)?;
    }
    let segments = store.snapshot().segments();
    let blocks: u64 = segments.iter().map(|segment| segment.blocks).sum();
    println!("{EVENTS} events in {} segments of {blocks} blocks", segments.len());
    Ok(())
}

fn scan(snapshot: &Snapshot) -> Result<(), Box<dyn Error>> {
    let mut events = 0;
    for group in snapshot.groups(0..=u64::MAX, Direction::Ascending) {
        for block in group? {
            block.documents()?;
            events += block.len() as u64;
        }
    }
    assert_eq!(events, EVENTS);
    Ok(())
}

/// A store with a log of events of so many bytes each.
fn make_memtable(folder: &Path, event_bytes: usize, events: u64) -> Result<(), Box<dyn Error>> {
    let document = vec![b'x'; event_bytes];
    let batch: Vec<Event<'_>> = (0..events).map(|instant| Event { instant, bytes: &document }).collect();
    let store = Store::open(folder, Options::default(), Arc::new(()))?;
    while store.snapshot().document_bytes() < 20_000_000 {
        store.append(&batch)?;
    }
    Ok(())
}
