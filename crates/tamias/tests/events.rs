//! Single events, their neighbours and pages, against a plain list.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use tamias::{
    Batch, Continuation, Durability, EventFormat, EventId, Options, Page, ReadMode, Start, Store, StoredEvent,
};

fn document(second: u8, n: usize) -> String {
    format!("{{\"@t\":\"2024-05-29T10:56:{second:02}Z\",\"n\":{n}}}")
}

/// Everything that a store holds, by a query.
fn all(store: &Store) -> Vec<StoredEvent> {
    let rows = store.query("select @Id, @Data from stream").unwrap();
    rows.map(|row| {
        let row = row.unwrap();
        let id = row.get(0).unwrap().text().unwrap().parse().unwrap();
        let json = String::from_utf8(row.get(1).unwrap().json().unwrap().to_vec()).unwrap();
        StoredEvent { id, json }
    })
    .collect()
}

fn pages(store: &Store, start: Start, size: usize) -> Vec<StoredEvent> {
    let mut events = Vec::new();
    let mut start = start;
    loop {
        let Page { events: more, next } = store.page(start, size).unwrap();
        assert!(more.len() <= size && (next.is_none() || more.len() == size));
        events.extend(more);
        let Some(next) = next else { return events };
        start = Start::Continue(next.to_string().parse().unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn events_are_found_with_their_neighbours(
        batches in prop::collection::vec((prop::collection::vec(0..60u8, 1..40), 0..4u8), 1..6),
        size in 1..9usize,
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, 0..12usize), 1..6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { block_bytes: 300, ..Options::default() };
        let store = Store::open_with(folder.path(), options).unwrap();
        let mut n = 0;
        for (seconds, seal) in &batches {
            let mut batch = Batch::new();
            for second in seconds {
                batch.push(document(*second, n).as_bytes(), &EventFormat::clef()).unwrap();
                n += 1;
            }
            store.append_batch(&mut batch).unwrap();
            if *seal == 0 {
                store.seal().unwrap();
            }
        }
        let plain = Options { read_mode: ReadMode::Plain, ..Options::default() };
        let reader = Store::open_read_only_with(folder.path(), plain).unwrap();
        let expected = all(&store);
        prop_assert_eq!(expected.len(), n);
        prop_assert!(expected.is_sorted_by(|a, b| a.id < b.id));
        for store in [&store, &reader] {
            prop_assert_eq!(&pages(store, Start::Earliest, size), &expected);
            let mut back = pages(store, Start::Latest, size);
            back.reverse();
            prop_assert_eq!(&back, &expected);
            for (pick, before, after) in &picks {
                let place = pick.index(n);
                let id = expected[place].id;
                prop_assert_eq!(store.get(id).unwrap(), Some(expected[place].clone()));
                let around = store.around(id, *before, *after).unwrap();
                let from = place.saturating_sub(*before);
                prop_assert_eq!(&around[..], &expected[from..n.min(place + after + 1)]);
                // An event that does not exist has a place all the same.
                let gone = EventId::new(id.instant(), u64::MAX);
                prop_assert_eq!(store.get(gone).unwrap(), None);
                let next = expected.partition_point(|event| event.id < gone);
                prop_assert_eq!(&store.around(gone, 1, 1).unwrap()[..], &expected[next - 1..n.min(next + 1)]);
            }
        }
    }
}

#[test]
fn pages_go_on_where_they_ended_whatever_comes_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.page(Start::Earliest, 10).unwrap(), Page { events: vec![], next: None });
    store.append((0..10).map(|n| document(10 + n as u8, n))).unwrap();
    let first = store.page(Start::Earliest, 4).unwrap();
    // One behind the page's end and one ahead of it; the same events in another file.
    store.append([document(11, 100), document(15, 101)]).unwrap();
    store.seal().unwrap();
    let rest = pages(&store, Start::Continue(first.next.unwrap()), 3);
    let n = first.events.iter().chain(&rest).map(|event| &event.json[event.json.find("\"n\"").unwrap()..]);
    let expected =
        ["0}", "1}", "2}", "3}", "4}", "5}", "101}", "6}", "7}", "8}", "9}"].map(|n| format!("\"n\":{n}"));
    assert_eq!(n.collect::<Vec<_>>(), expected);
    // Waiting for what comes.
    let last = rest.last().unwrap().id;
    assert_eq!(store.page(Start::Continue(Continuation::after(last)), 5).unwrap().events, []);
    store.append([document(59, 200)]).unwrap();
    assert_eq!(store.page(Start::Continue(Continuation::after(last)), 5).unwrap().events.len(), 1);
    assert_eq!(store.page(Start::Earliest, 0).unwrap().events.len(), 1, "at least one");
}

#[test]
fn ids_and_continuations_are_read_strictly() {
    let id = EventId::new("2024-05-29T10:56:01Z".parse().unwrap(), 42);
    let text = id.to_string();
    assert_eq!(text.parse(), Ok(id));
    assert_eq!(text.to_uppercase().parse(), Ok(id));
    let signed = format!("+{}", &text[1..]);
    for bad in
        ["", &text[1..], &format!("{text}0"), "08dc7fc93a25fc00000000000000000g", &signed, &"ä".repeat(16)]
    {
        let error = bad.parse::<EventId>().unwrap_err();
        assert_eq!(error.to_string(), "an event's id has 32 hexadecimal digits");
        let error = format!("a{bad}").parse::<Continuation>().unwrap_err();
        assert_eq!(error.to_string(), "this is no continuation that a page of events gave");
    }
    for continuation in [Continuation::after(id), Continuation::before(id)] {
        assert_eq!(continuation.to_string().parse(), Ok(continuation));
    }
    assert!(format!("c{text}").parse::<Continuation>().is_err() && "".parse::<Continuation>().is_err());
}

#[test]
fn options_reach_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durability: Durability::None, event_bytes_max: 45, ..Options::default() };
    let store = Store::open_with(folder.path(), options).unwrap();
    store.append([document(1, 1)]).unwrap();
    let error = store.append([document(1, 1).replace("1}", "\"a long text\"}")]).unwrap_err();
    assert!(error.to_string().contains("event_bytes_max = 45"), "{error}");
    store.flush().unwrap();
    let error =
        Store::open_with(folder.path(), Options { block_bytes: 0, ..Options::default() }).unwrap_err();
    assert!(error.to_string().starts_with("option block_bytes is 0"), "{error}");
    let reader = Store::open_read_only(folder.path()).unwrap();
    assert!(reader.flush().is_err());
    assert_eq!(reader.info().unwrap().events, 1);
}
