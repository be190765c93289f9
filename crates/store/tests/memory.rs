//! What opening and an idle store take in memory, by what the system (Linux) says of a process of its own.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tamias_store::{Direction, Event, Options, ReadMode, Reader, Store};

const FOLDER: &str = "TAMIAS_MEMORY_FOLDER";

/// A figure of this process, in bytes.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let text = status.lines().find_map(|text| text.strip_prefix(line)).unwrap();
    1024 * text.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<u64>().unwrap()
}

/// No test of its own: what the others start as a process, to measure it.
#[test]
fn opening_process() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let before = memory("RssAnon");
    let store = Store::open(folder, Options::default(), Arc::new(())).unwrap();
    println!(
        "\nopened {} {}",
        memory("VmHWM").saturating_sub(before),
        memory("RssAnon").saturating_sub(before)
    );
    drop(store);
    let before = memory("RssAnon");
    for read_mode in [ReadMode::Map, ReadMode::Plain] {
        let reader = Reader::open(folder, Options { read_mode, ..Options::default() }, Arc::new(())).unwrap();
        let snapshot = reader.snapshot().unwrap();
        for group in snapshot.groups(0..=u64::MAX, Direction::Ascending) {
            assert!(group.unwrap().iter().all(|block| block.documents().is_ok()));
        }
        println!("\nread {}", memory("RssAnon").saturating_sub(before));
    }
}

/// The figures that such a process tells.
fn measure(folder: &Path) -> Vec<u64> {
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["opening_process", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .output()
        .unwrap();
    assert!(run.status.success());
    let text = String::from_utf8(run.stdout).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("opened ") || line.starts_with("read "));
    lines.flat_map(|line| line.split(' ').skip(1).map(|figure| figure.parse().unwrap())).collect()
}

/// For the process itself.
const BASE: u64 = 8 << 20;

#[test]
fn opening_takes_a_few_times_the_memory_of_the_logs() {
    for (event_bytes, events) in [(1, 600_000), (360, 60_000)] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Options::default(), Arc::new(())).unwrap();
        let document = vec![b'x'; event_bytes];
        let batch: Vec<Event<'_>> = (0..events).map(|instant| Event { instant, bytes: &document }).collect();
        store.append(&batch).unwrap();
        let log = store.snapshot().segments()[0].file_bytes;
        drop(store);
        let figures = measure(folder.path());
        assert!(figures[0] <= BASE + 5 * log, "{figures:?} for a log of {log}");
        assert!(figures[1] <= BASE + 2 * log, "{figures:?} for a log of {log}");
    }
}

#[test]
fn an_idle_store_keeps_its_index_only() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        Options { block_bytes: 2000, segment_bytes: 100_000, background: false, ..Options::default() };
    let store = Store::open(folder.path(), options, Arc::new(())).unwrap();
    let document = [b'x'; 360];
    let batch: Vec<Event<'_>> = (0..100_000).map(|instant| Event { instant, bytes: &document }).collect();
    store.append_sealed(&batch, None).unwrap();
    let (segments, blocks) = (store.snapshot().segments().len() as u64, 20_000);
    assert!(segments > 300);
    drop(store);
    let figures = measure(folder.path());
    // 1 KiB a segment, 120 bytes a block.
    assert!(figures[1] <= BASE + 1024 * segments, "{figures:?}");
    assert!(figures[2] <= BASE + 1024 * segments + 120 * blocks, "{figures:?}");
    assert!(figures[3] <= 2 * BASE + 1024 * segments + 120 * blocks, "{figures:?}");
}
