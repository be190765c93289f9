//! Deleting by a condition: answers are those of a store that never had the events, whatever they are answered from.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;
use std::path::Path;

use tamias::{DeleteError, EventId, Layout, Options, OwnedRow, ReceiptCheck, Start, Store};

/// Small blocks and segments, so that there are many.
fn options(segments: Layout) -> Options {
    let (block_bytes, segment_bytes) = (1 << 12, 1 << 15);
    Options { block_bytes, segment_bytes, segments, background: false, ..Options::default() }
}

/// An event of which only `User` of some has anything to be deleted for.
fn event(n: u64) -> String {
    let user = ["alice", "bob", "carol", "dave", "eve"][(n * n % 11 % 5) as usize];
    let level = ["Information", "Warning", "Error"][(n % 7 % 3) as usize];
    let second = (n * 37) % 60;
    format!(
        r#"{{"@t":"2024-05-29T10:{:02}:{second:02}.5Z","@l":"{level}","@mt":"User {{User}} paid","User":"{user}","N":{n},"Amount":{}.25,"Mail":"{user}{n}@example.com"}}"#,
        n / 100 % 60,
        n % 97
    )
}

const QUERIES: [&str; 9] = [
    "select count(*) from stream",
    "select count(*) from stream where User = 'eve'",
    "select count(*), min(N), max(N), sum(Amount) from stream",
    "select count(*) as c, max(Amount) from stream group by User",
    "select count(*) from stream where @Level = 'Error' and N > 100",
    "select count(distinct(Mail)) from stream group by User",
    "select N, Mail from stream where Amount > 90 order by N limit 50",
    "select count(*) from stream group by time(1m)",
    "select @Data from stream where Mail like 'eve1%'",
];

fn answers(store: &Store) -> Vec<Vec<OwnedRow>> {
    QUERIES.iter().map(|query| store.query(query).unwrap().map(Result::unwrap).collect()).collect()
}

fn ids(store: &Store) -> BTreeSet<EventId> {
    let mut ids = BTreeSet::new();
    let mut start = Start::Earliest;
    loop {
        let page = store.page(start, 100).unwrap();
        ids.extend(page.events.iter().map(|event| event.id));
        match page.next {
            Some(next) => start = Start::Continue(next),
            None => return ids,
        }
    }
}

fn holds(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        path.is_file()
            && std::fs::read(path).unwrap().windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn answers_are_those_of_a_store_that_never_had_what_was_deleted() {
    for (layout, condition) in [
        (Layout::Text, "User = 'eve'"),
        (Layout::Columns, "User = 'eve'"),
        (Layout::Columns, "N % 3 = 0 or Mail like 'bob%' -- and so on"),
        (Layout::Columns, "true"),
        (Layout::Text, "N >= 250 and N < 900"),
    ] {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Store::open_with(folder.path(), options(layout)).unwrap();
        for part in 0..6 {
            store.append((part * 200..part * 200 + 200).map(event)).unwrap();
            if part < 5 {
                store.seal().unwrap();
            }
        }
        let before = ids(&store);
        let gone: BTreeSet<EventId> =
            store.matching(condition, &tamias::Parameters::new(), usize::MAX).unwrap().into_iter().collect();
        assert!(!gone.is_empty());
        let never = Store::open_with(other.path(), options(layout)).unwrap();
        let text = format!("select @Data from stream where not ({condition}\n)");
        let rows = store.query(&text).unwrap().map(Result::unwrap);
        let left: Vec<String> = rows
            .map(|row| String::from_utf8(row.get(0).unwrap().json().unwrap().to_vec()).unwrap())
            .collect();
        never.append(&left).unwrap();
        never.seal().unwrap();

        let deleted = store.delete(condition).unwrap();
        assert_eq!((deleted.events, deleted.missed), (gone.len() as u64, 0), "{condition}");
        let reader = Store::open_read_only(folder.path()).unwrap();
        for store in [&store, &reader] {
            assert_eq!(answers(store), answers(&never), "{layout:?}, {condition}");
            assert!(ids(store).iter().eq(before.difference(&gone)));
            for id in gone.iter().step_by(50) {
                assert!(store.get(*id).unwrap().is_none());
                let around = store.around(*id, 3, 3).unwrap();
                assert!(around.iter().all(|event| !gone.contains(&event.id)));
            }
            assert_eq!(store.info().unwrap().events, left.len() as u64);
        }
        assert_eq!(store.housekeeping().unwrap().unerased, gone.len() as u64);
        drop(reader);
        let receipt = store.erase().unwrap().receipt.unwrap();
        assert_eq!((receipt.events, receipt.stays.events), (gone.len() as u64, left.len() as u64));
        assert_eq!(answers(&store), answers(&never));
        assert_eq!(store.check_receipt(&receipt).unwrap(), ReceiptCheck::Holds);
        assert_eq!(store.housekeeping().unwrap().unerased, 0);
        assert!(store.verify_deep().unwrap().is_empty());
        drop(store);
        if layout == Layout::Text {
            for id in gone.iter().take(5) {
                let n = id.arrival();
                let mail = event(n).split("Mail\":\"").nth(1).unwrap().trim_end_matches("\"}").to_owned();
                assert!(!holds(folder.path(), &mail), "{mail}");
            }
        }
    }
}

#[test]
fn what_cannot_be_deleted_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.append((0..10).map(event)).unwrap();
    for wrong in ["User = ", "true) limit 5 --", "N = $n", ""] {
        assert!(matches!(store.delete(wrong), Err(DeleteError::Query(_))), "{wrong}");
    }
    let reader = Store::open_read_only(folder.path()).unwrap();
    assert!(matches!(reader.delete("true"), Err(DeleteError::ReadOnly)));
    assert_eq!(store.delete("N = 1000").unwrap().events, 0);
    assert_eq!(store.erase().unwrap().receipt, None);
    assert_eq!(reader.info().unwrap().events, 10);
}

#[test]
fn what_a_key_that_comes_twice_says_is_found_and_erased() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_with(folder.path(), options(Layout::Columns)).unwrap();
    let documents = [
        r#"{"@t":"2024-01-01T00:00:00Z","x":{"k":"eve@x.org","k":"d"}}"#,
        r#"{"@t":"2024-01-01T00:00:01Z","x":1}"#,
    ];
    store.append(documents).unwrap();
    store.seal().unwrap();
    assert_eq!(store.delete("HasText('eve@x.org')").unwrap().events, 1);
    assert_eq!(store.erase().unwrap().receipt.unwrap().events, 1);
    assert_eq!(ids(&store).len(), 1);
    assert!(!holds(folder.path(), "eve@x.org"));
}
