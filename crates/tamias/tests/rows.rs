//! The order and the life of rows, as a program sees them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use tamias::{Instant, Store};

fn event(second: u32, serial: usize) -> String {
    format!(r#"{{"@t":"2024-05-29T10:{:02}:{:02}Z","N":{serial}}}"#, second / 60, second % 60)
}

fn serials(store: &Store, query: &str) -> Vec<usize> {
    let rows = store.query(query).unwrap();
    rows.map(|row| row.unwrap().get(0).unwrap().to_decimal().unwrap().try_into().unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Events come late, in batches of any size, with seals and reopenings between them: rows come in the order of
    /// time, and of arrival where the instant is one.
    #[test]
    fn order_survives_late_events(
        batches in prop::collection::vec((prop::collection::vec(0_u32..3000, 1..30), 0_u8..4), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let mut expected = Vec::new();
        for (seconds, then) in batches {
            let first = expected.len();
            let events: Vec<String> =
                seconds.iter().enumerate().map(|(index, &second)| event(second, first + index)).collect();
            let appended = store.append(&events).unwrap();
            prop_assert_eq!(appended.first_arrival, first as u64);
            expected.extend(seconds.iter().enumerate().map(|(index, &second)| (second, first + index)));
            match then {
                0 => store.seal().unwrap(),
                1 => {
                    drop(store);
                    store = Store::open(folder.path()).unwrap();
                }
                _ => {}
            }
        }
        expected.sort();
        let in_order: Vec<usize> = expected.iter().map(|&(_, serial)| serial).collect();
        prop_assert_eq!(serials(&store, "select N from stream"), in_order.clone());
        let reversed: Vec<usize> = in_order.iter().rev().copied().collect();
        prop_assert_eq!(serials(&store, "select N from stream order by time desc"), reversed);
        let few: Vec<usize> = in_order.iter().copied().take(3).collect();
        prop_assert_eq!(serials(&store, "select N from stream limit 3"), few);
        prop_assert_eq!(store.info().unwrap().events, expected.len() as u64);
    }
}

#[test]
fn a_query_sees_the_events_that_were_there_when_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.append([event(1, 0), event(2, 1)]).unwrap();
    let rows = store.query("select N from stream").unwrap();
    store.append([event(3, 2)]).unwrap();
    store.seal().unwrap();
    assert_eq!(rows.count(), 2);
    assert_eq!(serials(&store, "select N from stream"), [0, 1, 2]);
}

#[test]
fn rows_and_stores_cross_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<Store>();
    shared::<tamias::Query>();
    shared::<tamias::OwnedRow>();
    sent::<tamias::Rows>();

    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = store.clone();
            scope.spawn(move || {
                for serial in 0..25 {
                    store.append([event(serial as u32, thread * 25 + serial)]).unwrap();
                }
            });
        }
    });
    let mut all = serials(&store, "select N from stream");
    all.sort();
    assert_eq!(all, (0..100).collect::<Vec<_>>());
}

#[test]
fn a_reader_sees_what_a_writer_has_stored() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Store::open(folder.path()).unwrap();
    writer.append([event(1, 0)]).unwrap();
    let reader = Store::open_read_only(folder.path()).unwrap();
    assert_eq!(serials(&reader, "select N from stream"), [0]);
    writer.append([event(2, 1)]).unwrap();
    assert_eq!(serials(&reader, "select N from stream"), [0, 1]);
    writer.seal().unwrap();
    assert_eq!(serials(&reader, "select N from stream"), [0, 1]);
    assert_eq!(reader.append([event(3, 2)]).unwrap_err().to_string(), "the store is open for reading only");
}

#[test]
fn a_batch_with_a_bad_event_is_not_stored_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let error = store.append([event(1, 0), "{\"N\":1}".to_owned()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event 1 of the batch (from 0): the event has no time: no key '@t', or its value is null"
    );
    assert_eq!(store.info().unwrap().events, 0);
}

#[test]
fn info_tells_events_bytes_and_times() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.info().unwrap().time_range, None);
    let events = [event(59, 10), event(7, 11)];
    store.append(&events).unwrap();
    let info = store.info().unwrap();
    assert_eq!(info.events, 2);
    assert_eq!(info.bytes, (events[0].len() + events[1].len()) as u64);
    let instant = |text: &str| text.parse::<Instant>().unwrap();
    assert_eq!(info.time_range, Some((instant("2024-05-29T10:00:07Z"), instant("2024-05-29T10:00:59Z"))));
}
