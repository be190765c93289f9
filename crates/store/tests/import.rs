//! Imports that end in the middle: of each batch of events all are there or none, and no number of theirs is given again.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use support::{Row, open, rows, tiny};
use tamias_store::io::{Chance, Crash, Fault, FaultKind, Simulated};
use tamias_store::{Event, Import, ImportError, Key, Options, Store};

const FOLDER: &str = "TAMIAS_IMPORT_FOLDER";
const BATCH: u64 = 30;

/// The events of a batch: their numbers come in no order of their times.
fn batch(number: u64) -> Vec<Row> {
    let events = (0..BATCH).map(|n| {
        let (arrival, instant) = (number * 2 * BATCH + n * 7 % BATCH, n * 7 % 11 + number);
        (arrival, instant, format!("{arrival}:{}", "-".repeat((n * 13 % 90) as usize)).into_bytes())
    });
    events.collect()
}

fn import_batch(import: &mut Import<'_>, number: u64) -> Result<(), ImportError> {
    let events = batch(number);
    let events: Vec<(Key, &[u8])> = events
        .iter()
        .map(|(arrival, instant, bytes)| (Key { instant: *instant, arrival: *arrival }, &**bytes))
        .collect();
    import.append(&events)
}

/// That a store holds the first batches, at least so many, each whole; and gives no number that one of them could have.
fn check(store: &Store, least: u64) {
    let shown = rows(&store.snapshot());
    let batches = shown.len() as u64 / BATCH;
    assert!(batches >= least, "{batches} batches of {least}");
    let mut expected: Vec<Row> = (0..batches).flat_map(batch).collect();
    expected.sort();
    assert_eq!(shown, expected);
    assert_eq!(store.snapshot().verify().unwrap(), []);
    let next = store.append(&[Event { instant: 5, bytes: b"next" }]).unwrap().start;
    assert!(batches == 0 || next >= 1 << 40, "{next}");
    assert!(matches!(store.import(), Err(ImportError::NotEmpty)));
}

#[test]
fn whatever_interrupts_an_import_its_batches_are_whole() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let (mut medium, from) = (folder.medium(), folder.change_count());
    let mut import = store.import().unwrap();
    let mut stored = Vec::new();
    for number in 0..4 {
        import_batch(&mut import, number).unwrap();
        stored.push(folder.change_count() - from);
    }
    let (changes, mut chance) = (folder.changes().split_off(from), Chance(7));
    for at in 0..=changes.len() {
        let least = stored.iter().filter(|changes| **changes <= at).count() as u64;
        for crash in Crash::ALL {
            let left = Simulated::with(medium.after(crash, &mut chance));
            check(&open(&left, &tiny()).unwrap(), least);
        }
        if let Some(change) = changes.get(at) {
            medium.apply(change);
        }
    }
}

#[test]
fn whichever_call_of_an_import_fails_its_batches_are_whole() {
    for kind in [FaultKind::Device, FaultKind::NoSpace, FaultKind::Interrupted] {
        for call in 0.. {
            let folder = Simulated::new();
            let store = open(&folder, &tiny()).unwrap();
            let mut import = store.import().unwrap();
            import_batch(&mut import, 0).unwrap();
            let from = folder.calls();
            folder.fail(Some(Fault { at: from + call, forever: false, kind }));
            let second = import_batch(&mut import, 1);
            let calls = folder.calls() - from;
            folder.fail(None);
            drop(import);
            drop(store);
            check(&open(&folder, &tiny()).unwrap(), if second.is_ok() { 2 } else { 1 });
            if call > calls {
                break;
            }
        }
    }
}

/// No test of its own: what the other test starts as a process, to be killed.
#[test]
fn import_process() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let options = Options { block_bytes: 2000, segment_bytes: 20_000, ..Options::default() };
    let store = Store::open(Path::new(&folder), options, support::codec()).unwrap();
    let mut import = store.import().unwrap();
    let mut out = std::io::stdout().lock();
    for number in 0.. {
        import_batch(&mut import, number).unwrap();
        writeln!(out, "\nstored {}", number + 1).unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn a_killed_import_loses_nothing_that_it_has_stored() {
    let mut chance = Chance(2);
    for _ in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([&*support::test_name(module_path!(), "import_process"), "--exact", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (mut stored, last) = (0, 1 + chance.below(10) as u64);
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let Ok(line) = line else { break };
            if let Some(end) = line.strip_prefix("stored ") {
                stored = end.parse().unwrap();
                if stored == last {
                    child.kill().unwrap();
                }
            }
        }
        assert!(!child.wait().unwrap().success(), "it was killed");
        let options = Options { block_bytes: 2000, segment_bytes: 20_000, ..Options::default() };
        check(&Store::open(folder.path(), options, support::codec()).unwrap(), stored);
    }
}
