//! A process that writes is killed again and again; what it acknowledged on its pipe is in the store, whole batches and nothing else.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use tamias_store::io::Chance;
use tamias_store::{Direction, Event, Options, Reader, Snapshot, Store};

const FOLDER: &str = "TAMIAS_KILL_FOLDER";
const ROUNDS: u64 = 200;

fn options() -> Options {
    Options { block_bytes: 2000, segment_bytes: 20_000, segments: support::LAYOUT, ..Options::default() }
}

/// The batch that begins with this arrival number.
fn batch(first: u64) -> Vec<(u64, Vec<u8>)> {
    let mut chance = Chance(first);
    let size = if first.is_multiple_of(13) { 80 } else { 1 + chance.below(8) as u64 };
    let event = |arrival| {
        let document = format!("{arrival}:{}", "-".repeat(chance.below(300)));
        (chance.below(10_000) as u64, document.into_bytes())
    };
    (first..first + size).map(event).collect()
}

fn check(snapshot: &Snapshot, acknowledged: u64) {
    let mut rows = Vec::new();
    for group in snapshot.groups(0..=u64::MAX, Direction::Ascending) {
        for block in group.unwrap() {
            for index in 0..block.len() {
                let key = block.key(index).unwrap().unwrap();
                rows.push((key.arrival, key.instant, block.document(index).unwrap().unwrap().to_vec()));
            }
        }
    }
    rows.sort();
    assert!(rows.len() as u64 >= acknowledged, "{} rows, {acknowledged} acknowledged", rows.len());
    let mut next = 0;
    while next < rows.len() {
        for (instant, document) in batch(next as u64) {
            assert_eq!(rows.get(next), Some(&(next as u64, instant, document)), "batches are whole");
            next += 1;
        }
    }
}

/// No test of its own: what the other test starts as a process, to be killed.
#[test]
fn writer_process() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = Store::open(Path::new(&folder), options(), support::codec()).unwrap();
    let mut out = std::io::stdout().lock();
    loop {
        let rows = batch(store.snapshot().events());
        let events: Vec<Event<'_>> =
            rows.iter().map(|(instant, bytes)| Event { instant: *instant, bytes }).collect();
        let stored =
            if events.len() == 80 { store.append_sealed(&events, None) } else { store.append(&events) };
        writeln!(out, "\nacknowledged {}", stored.unwrap().end).unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut chance = Chance(1);
    let mut acknowledged = 0;
    // Reads all the time beside the processes that write, through all their ends.
    drop(Store::open(folder.path(), options(), support::codec()).unwrap());
    let reader = Reader::open(folder.path(), options(), support::codec()).unwrap();
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([&*support::test_name(module_path!(), "writer_process"), "--exact", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut left = 1 + chance.below(12);
        for line in lines {
            let Ok(line) = line else { break };
            if let Some(end) = line.strip_prefix("acknowledged ") {
                acknowledged = acknowledged.max(end.parse().unwrap());
                left = left.saturating_sub(1);
                assert!(reader.snapshot().unwrap().events() >= acknowledged);
                if left == 0 {
                    // What it wrote to the pipe before it died is read on.
                    child.kill().unwrap();
                }
            }
        }
        assert!(!child.wait().unwrap().success(), "it was killed");
        check(&reader.snapshot().unwrap(), acknowledged);
        if round % 5 == 0 {
            let reader = Reader::open(folder.path(), options(), support::codec()).unwrap();
            check(&reader.snapshot().unwrap(), acknowledged);
        }
        let store = Store::open(folder.path(), options(), support::codec()).unwrap();
        check(&store.snapshot(), acknowledged);
    }
    println!("{ROUNDS} rounds, {acknowledged} events");
}
