//! Snapshots: several queries see the same events, whatever happens to the store meanwhile.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tamias::{Query, Retention, RunOptions, Snapshot, Start, Store};

/// So many events a batch: a snapshot has whole batches only.
const BATCH: u64 = 7;

fn append(store: &Store, batch: u64) {
    let event = |place| format!(r#"{{"@t":"2024-05-29T10:56:0{place}Z","N":{}}}"#, batch * BATCH + place);
    store.append((0..BATCH).map(event)).unwrap();
}

/// The one number that a query gives.
fn number(snapshot: &Snapshot, query: &str) -> u64 {
    let mut rows = snapshot.query(query).unwrap();
    let row = rows.next_row().unwrap().unwrap();
    row.get(0).unwrap().to_decimal().unwrap().try_into().unwrap()
}

/// Tells the writer to stop when the reading has ended, well or not.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn queries_of_one_snapshot_see_the_same_events_while_a_writer_appends() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Store::open(folder.path()).unwrap();
    append(&writer, 0);
    let reader = Store::open_read_only(folder.path()).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = Stop(&is_done);
        let writing = scope.spawn(|| {
            for batch in 1.. {
                append(&writer, batch);
                match batch % 5 {
                    1 | 3 => writer.seal().unwrap(),
                    4 => writer.compact().unwrap(),
                    _ => {}
                }
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let each = Query::prepare("select N from stream order by time desc").unwrap();
        for round in 0..20 {
            let store = if round % 2 == 0 { &writer } else { &reader };
            let snapshot = store.snapshot().unwrap();
            let events = snapshot.info().events;
            assert_eq!(events % BATCH, 0);
            for _ in 0..2 {
                assert_eq!(number(&snapshot, "select count(*) from stream"), events);
                assert_eq!(number(&snapshot, "select count(distinct(N)) from stream"), events);
                assert_eq!(number(&snapshot, "select max(N) from stream"), events - 1);
                assert_eq!(snapshot.run(&each, RunOptions::default()).count() as u64, events);
                // The writer goes on, and the next snapshot shows it.
                while store.snapshot().unwrap().info().events == events {
                    assert!(!writing.is_finished(), "the writer writes");
                    thread::yield_now();
                }
            }
            assert_eq!(snapshot.clone().info(), snapshot.info());
        }
    });
}

#[test]
fn a_snapshot_outlives_what_is_removed_and_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    append(&store, 0);
    store.seal().unwrap();
    append(&store, 1);
    let snapshots =
        [store.snapshot().unwrap(), Store::open_read_only(folder.path()).unwrap().snapshot().unwrap()];
    store.seal().unwrap();
    let removed = store.remove(Retention { before: None, file_bytes_max: Some(0) }, false).unwrap();
    assert_eq!(removed.events, 2 * BATCH);
    assert_eq!(number(&store.snapshot().unwrap(), "select count(*) from stream"), 0);
    drop(store);
    for snapshot in snapshots {
        assert_eq!(number(&snapshot, "select sum(N) from stream"), (0..2 * BATCH).sum());
    }
}

#[test]
fn pages_of_a_snapshot_have_its_events_only() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    append(&store, 0);
    let snapshot = store.snapshot().unwrap();
    let mut found = Vec::new();
    let mut start = Start::Earliest;
    loop {
        let page = snapshot.page(start, 3).unwrap();
        found.extend(page.events);
        // Its events are of the same times: the store's next page would have them.
        append(&store, 1);
        let Some(next) = page.next else { break };
        start = Start::Continue(next);
    }
    assert_eq!(found.len() as u64, BATCH);
    let last = found.last().unwrap();
    assert_eq!(snapshot.get(last.id).unwrap().as_ref(), Some(last));
    assert_eq!(snapshot.around(last.id, 2, 5).unwrap(), found[found.len() - 3..]);
    let newer = store.page(Start::Latest, 1).unwrap().events.remove(0);
    assert_eq!(snapshot.get(newer.id).unwrap(), None);
    assert_eq!(store.get(newer.id).unwrap(), Some(newer));
}

#[test]
fn a_malformed_query_is_refused_by_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let error = store.snapshot().unwrap().query("select a from stream where").err().unwrap();
    assert_eq!(error.line(), 1);
}
