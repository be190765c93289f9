//! A batch in pieces: all of it or nothing, whatever interrupts it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::time::Duration;

use support::{append_rows, open, row, rows, tiny};
use tamias_store::io::{Chance, Crash, Directory, Fault, FaultKind, Simulated};
use tamias_store::{AppendError, Event, Key, Pieces, ReceiptCheck, Store};

const PIECE: u64 = 30;
const PIECES: u64 = 4;

fn push(pieces: &mut Pieces<'_>, number: u64) -> Result<(), AppendError> {
    let rows: Vec<_> = (number * PIECE..(number + 1) * PIECE).map(row).collect();
    let events: Vec<Event<'_>> =
        rows.iter().map(|(_, instant, bytes)| Event { instant: *instant, bytes }).collect();
    pieces.push(&events)
}

fn store_all(store: &Store) -> Result<(), AppendError> {
    let mut pieces = store.append_in_pieces();
    (0..PIECES).try_for_each(|number| push(&mut pieces, number))?;
    pieces.finish()
}

/// That a store holds all of the pieces or none, and none of their files where there is none. Whether it has them.
fn check(folder: &Simulated) -> bool {
    let store = open(folder, &tiny()).unwrap();
    let shown = rows(&store.snapshot());
    let mut expected: Vec<_> = (0..PIECES * PIECE).map(row).collect();
    expected.sort_by_key(|row| (row.1, row.0));
    let mut sorted = shown.clone();
    sorted.sort_by_key(|row| (row.1, row.0));
    let is_there = !shown.is_empty();
    assert_eq!(sorted, if is_there { expected } else { vec![] });
    assert_eq!(store.snapshot().verify().unwrap(), []);
    let segments = folder.list().unwrap().into_iter().filter(|name| name.contains("segment")).count();
    assert_eq!(segments > 0, is_there, "nothing is left");
    let next = store.append(&[Event { instant: 5, bytes: b"next" }]).unwrap().start;
    assert!(shown.iter().all(|row| row.0 < next), "no number is given twice");
    is_there
}

#[test]
fn whatever_interrupts_a_batch_in_pieces_all_of_it_is_there_or_nothing() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let (mut medium, from) = (folder.medium(), folder.change_count());
    store_all(&store).unwrap();
    let (changes, mut chance) = (folder.changes().split_off(from), Chance(7));
    let mut outcomes = [0, 0];
    for at in 0..=changes.len() {
        for crash in Crash::ALL {
            let is_there = check(&Simulated::with(medium.after(crash, &mut chance)));
            assert!(is_there || at < changes.len(), "it was acknowledged");
            outcomes[usize::from(is_there)] += 1;
        }
        if let Some(change) = changes.get(at) {
            medium.apply(change);
        }
    }
    assert!(outcomes[0] > 100 && outcomes[1] > 8, "{outcomes:?}");
}

#[test]
fn whichever_call_of_a_batch_in_pieces_fails_all_of_it_is_there_or_nothing() {
    for kind in [FaultKind::Device, FaultKind::NoSpace, FaultKind::Interrupted] {
        for call in 0.. {
            let folder = Simulated::new();
            let store = open(&folder, &tiny()).unwrap();
            let from = folder.calls();
            folder.fail(Some(Fault { at: from + call, forever: false, kind }));
            let stored = store_all(&store);
            let calls = folder.calls() - from;
            folder.fail(None);
            drop(store);
            let is_there = check(&folder);
            // Of a failed flush nobody knows.
            assert!(is_there || stored.is_err(), "{kind:?} at {call}");
            if call > calls {
                break;
            }
        }
    }
}

#[test]
fn what_is_not_finished_leaves_nothing_and_others_append_meanwhile() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let mut pieces = store.append_in_pieces();
    push(&mut pieces, 0).unwrap();
    assert_eq!(store.snapshot().events(), 0);
    drop(pieces);
    assert!(folder.list().unwrap().iter().all(|name| !name.contains("segment")));
    let mut pieces = store.append_in_pieces();
    push(&mut pieces, 0).unwrap();
    assert_eq!(store.append(&[Event { instant: 7, bytes: b"meanwhile" }]).unwrap().start, 2 * PIECE);
    push(&mut pieces, 1).unwrap();
    pieces.finish().unwrap();
    store.append_in_pieces().finish().unwrap();
    assert_eq!(store.snapshot().events(), 2 * PIECE + 1);
    drop(store);
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!(store.snapshot().events(), 2 * PIECE + 1);
    append_rows(&store, 500..501);
}

/// A receipt speaks of all events with numbers below its own: none of them may come later.
#[test]
fn no_receipt_is_given_in_the_middle_of_a_batch() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    append_rows(&store, 0..10);
    store.delete(&[Key { instant: 3, arrival: 3 }]).unwrap();
    let mut pieces = store.append_in_pieces();
    push(&mut pieces, 0).unwrap();
    std::thread::scope(|scope| {
        let erased = scope.spawn(|| store.erase().unwrap());
        std::thread::sleep(Duration::from_millis(50));
        push(&mut pieces, 1).unwrap();
        pieces.finish().unwrap();
        let receipt = erased.join().unwrap().receipt.unwrap();
        assert_eq!(store.snapshot().check_receipt(&receipt).unwrap(), ReceiptCheck::Holds);
    });
    assert_eq!(store.snapshot().events(), 9 + 2 * PIECE);
}
