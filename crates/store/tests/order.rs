//! What goes in comes out, in order of (instant, arrival), whatever the order of arrival, sealing and reopening.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use tamias_store::io::Simulated;
use tamias_store::{
    AppendError, Direction, Durability, Event, Key, Options, Reader, Snapshot, SourcePosition, Store,
};

fn small() -> Options {
    Options { block_bytes: 256, segment_bytes: 2048, segments: support::LAYOUT, ..Options::default() }
}

fn open(folder: &Path) -> Store {
    Store::open(folder, small(), support::codec()).unwrap()
}

type Row = (u64, u64, Vec<u8>);

/// All rows of a range in order, each group merged; and the groups are held against what is promised of them.
fn rows(snapshot: &Snapshot, instants: std::ops::RangeInclusive<u64>, direction: Direction) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut edge: Option<Key> = None;
    for group in snapshot.groups(instants.clone(), direction) {
        let mut merged = Vec::new();
        for block in group.unwrap() {
            assert!(!block.is_empty());
            assert_eq!(block.documents().unwrap().bytes.last(), Some(&b'\n'));
            for index in 0..block.len() {
                let key = block.key(index).unwrap().unwrap();
                merged.push((key.instant, key.arrival, block.document(index).unwrap().unwrap().to_vec()));
            }
            let keys: Vec<Key> = (0..block.len()).map(|index| block.key(index).unwrap().unwrap()).collect();
            assert!(keys.is_sorted_by(|a, b| a < b), "a block is in order");
        }
        merged.sort();
        let key = |row: &Row| Key { instant: row.0, arrival: row.1 };
        let (first, last) = (key(&merged[0]), key(&merged[merged.len() - 1]));
        if direction == Direction::Descending {
            merged.reverse();
            assert!(edge.is_none_or(|edge| last < edge), "groups are disjoint and in order");
            edge = Some(first);
        } else {
            assert!(edge.is_none_or(|edge| first > edge), "groups are disjoint and in order");
            edge = Some(last);
        }
        rows.extend(merged.into_iter().filter(|row| instants.contains(&row.0)));
    }
    rows
}

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<(u64, u8)>),
    AppendSealed(Vec<(u64, u8)>),
    Seal,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let instant = prop_oneof![4 => 1000u64..1100, 2 => 0u64..2000, 1 => any::<u64>()];
    let events = |most| prop::collection::vec((instant.clone(), any::<u8>()), 0..most);
    let step = prop_oneof![
        8 => events(12).prop_map(Step::Append),
        1 => events(60).prop_map(Step::AppendSealed),
        2 => Just(Step::Seal),
        2 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 0..40)
}

fn documents(events: &[(u64, u8)]) -> Vec<(u64, Vec<u8>)> {
    events
        .iter()
        .map(|(instant, n)| {
            (*instant, format!("{{\"n\":{n},\"pad\":\"{}\"}}", "x".repeat(usize::from(*n) / 4)).into_bytes())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn rows_come_in_order_of_instant_and_arrival(steps in steps(), low in 0u64..2000, span in 0u64..500) {
        let folder = Simulated::new();
        let open = || Store::open_on(Arc::new(folder.clone()), small(), support::codec()).unwrap();
        let mut store = open();
        let mut model: Vec<Row> = Vec::new();
        let reader = Reader::open_on(Arc::new(folder.clone()), small(), support::codec()).unwrap();
        for step in &steps {
            match step {
                Step::Append(events) | Step::AppendSealed(events) => {
                    let documents = documents(events);
                    let events: Vec<Event<'_>> =
                        documents.iter().map(|(instant, bytes)| Event { instant: *instant, bytes }).collect();
                    let before = store.snapshot();
                    let arrivals = match step {
                        Step::Append(_) => store.append(&events).unwrap(),
                        _ => store.append_sealed(&events, None).unwrap(),
                    };
                    prop_assert_eq!(arrivals.clone(), model.len() as u64..(model.len() + events.len()) as u64);
                    prop_assert_eq!(before.events(), model.len() as u64, "a snapshot does not change");
                    model.extend(arrivals.zip(&documents).map(|(a, (i, d))| (*i, a, d.clone())));
                }
                Step::Seal => store.seal().unwrap(),
                Step::Reopen => {
                    drop(store);
                    store = open();
                }
            }
            prop_assert_eq!(reader.snapshot().unwrap().events(), model.len() as u64);
        }
        model.sort();
        let snapshot = store.snapshot();
        let elsewhere = reader.snapshot().unwrap();
        for snapshot in [&snapshot, &elsewhere] {
            prop_assert_eq!(snapshot.events(), model.len() as u64);
            let bytes: usize = model.iter().map(|row| row.2.len()).sum();
            prop_assert_eq!(snapshot.document_bytes(), bytes as u64);
            prop_assert_eq!(snapshot.time_range(), model.first().map(|first| (first.0, model[model.len() - 1].0)));
            prop_assert_eq!(&rows(snapshot, 0..=u64::MAX, Direction::Ascending), &model);
            let mut backwards = rows(snapshot, 0..=u64::MAX, Direction::Descending);
            backwards.reverse();
            prop_assert_eq!(&backwards, &model);
            let range = low..=low + span;
            let inside: Vec<Row> = model.iter().filter(|row| range.contains(&row.0)).cloned().collect();
            prop_assert_eq!(&rows(snapshot, range.clone(), Direction::Ascending), &inside);
            for row in inside.iter().take(5) {
                let (block, index) = snapshot.get(Key { instant: row.0, arrival: row.1 }).unwrap().unwrap();
                let document = block.document(index).unwrap();
                prop_assert_eq!(document.as_deref(), Some(&row.2[..]));
            }
            let unknown = Key { instant: low, arrival: u64::MAX };
            prop_assert!(snapshot.get(unknown).unwrap().is_none());
        }
    }
}

#[test]
fn a_snapshot_outlives_sealing_and_closing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.append(&[Event { instant: 5, bytes: b"five" }]).unwrap();
    let unsealed = store.snapshot();
    store.seal().unwrap();
    let sealed = store.snapshot();
    store.append(&[Event { instant: 4, bytes: b"four" }]).unwrap();
    drop(store);
    assert_eq!(rows(&unsealed, 0..=9, Direction::Ascending), [(5, 0, b"five".to_vec())]);
    assert_eq!(rows(&sealed, 0..=9, Direction::Ascending), [(5, 0, b"five".to_vec())]);
    assert_eq!(rows(&open(folder.path()).snapshot(), 0..=9, Direction::Ascending).len(), 2);
}

#[test]
fn one_late_event_does_not_join_all_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { block_bytes: 1000, segment_bytes: 100_000, ..Options::default() };
    let store = Store::open(folder.path(), options, support::codec()).unwrap();
    for half in 0..2u64 {
        let documents: Vec<Vec<u8>> = (0..500).map(|n| format!("event {n:94}").into_bytes()).collect();
        let mut events: Vec<Event<'_>> = (1_000_000 * (half + 1)..)
            .step_by(1000)
            .zip(&documents)
            .map(|(instant, bytes)| Event { instant, bytes })
            .collect();
        if half == 1 {
            events[250].instant = 7;
        }
        store.append(&events).unwrap();
        store.seal().unwrap();
    }
    let groups: Vec<usize> = store
        .snapshot()
        .groups(0..=u64::MAX, Direction::Ascending)
        .map(|group| group.unwrap().len())
        .collect();
    assert!(groups.iter().all(|blocks| *blocks == 1), "{groups:?}");
}

#[test]
fn the_position_of_a_source_is_stored_with_its_batch() {
    let folder = tempfile::tempdir().unwrap();
    let source = |position| Some(tamias_store::SourcePosition { name: "web.log", position, note: &[] });
    let event = [Event { instant: 1, bytes: b"x" }];
    let store = open(folder.path());
    assert_eq!(store.source_position("web.log"), None);
    store.append_from(&event, source(10)).unwrap();
    assert_eq!(store.source_position("web.log"), Some(10));
    store.append_from(&[], source(20)).unwrap();
    drop(store);
    let store = open(folder.path());
    assert_eq!((store.source_position("web.log"), store.snapshot().events()), (Some(20), 1));
    store.seal().unwrap();
    store.append_sealed(&event, source(5)).unwrap();
    drop(store);
    let store = open(folder.path());
    assert_eq!((store.source_position("web.log"), store.snapshot().events()), (Some(5), 2));
    let reader = Reader::open(folder.path(), small(), support::codec()).unwrap();
    assert_eq!((reader.source_position("web.log"), reader.source_position("other")), (Some(5), None));
}

/// Each manifest holds them all.
#[test]
fn names_and_notes_of_all_sources_are_bounded_together() {
    let folder = Simulated::new();
    let options = Options { durability: Durability::None, background: false, ..Options::default() };
    let store = support::open(&folder, &options).unwrap();
    let note = vec![7; 32 << 10];
    let append = |number: usize, note: &[u8]| {
        let name = format!("{number:016}");
        store.append_from(&[], Some(SourcePosition { name: &name, position: 1, note }))
    };
    // Each takes 32 KiB and 16 bytes of 64 MiB.
    let most = (64 << 20) / ((32 << 10) + 16);
    for number in 0..most {
        append(number, &note).unwrap();
    }
    let error = append(most, &note).unwrap_err();
    assert!(matches!(error, AppendError::SourcesTooLarge { bytes, most: 67_108_864 } if bytes > 64 << 20));
    assert!(error.to_string().contains("names and notes of all sources"), "{error}");
    // What is there may go on, and events without a source do.
    append(0, &note).unwrap();
    append(1, &[]).unwrap();
    append(most, &note[..16 << 10]).unwrap();
    store.append(&[Event { instant: 1, bytes: b"x" }]).unwrap();
}
