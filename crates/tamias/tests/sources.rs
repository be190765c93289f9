//! Positions of sources: stored with the batch, or not at all.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tamias::{AppendError, Batch, EventFormat, SourcePosition, Store};

fn batch(events: usize, bytes_each: usize) -> Batch {
    let mut batch = Batch::new();
    let event = format!("{{\"@t\":\"2024-05-29T10:56:01Z\",\"a\":\"{}\"}}", "x".repeat(bytes_each));
    for _ in 0..events {
        batch.push(event.as_bytes(), &EventFormat::clef()).unwrap();
    }
    batch
}

fn at(name: &str, position: u64) -> SourcePosition<'_> {
    SourcePosition { name, position, note: &[] }
}

#[test]
fn positions_are_found_again_whichever_way_a_batch_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let reader = {
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.source_position("a").unwrap(), None);
        store.append_batch_from(&mut batch(3, 10), at("a", 300)).unwrap();
        let reader = Store::open_read_only(folder.path()).unwrap();
        // Large enough to go past the log.
        store.append_batch_from(&mut batch(35, 1 << 20), at("b", u64::MAX)).unwrap();
        store.append_batch_from(&mut Batch::new(), at("a", 350)).unwrap();
        reader
    };
    for store in [reader, Store::open(folder.path()).unwrap()] {
        assert_eq!(store.source_position("a").unwrap(), Some(350));
        assert_eq!(store.source_position("b").unwrap(), Some(u64::MAX));
        assert_eq!(store.source_position("c").unwrap(), None);
        assert_eq!(store.info().unwrap().events, 38);
    }
    // A position may also go back: it is the caller's.
    let store = Store::open(folder.path()).unwrap();
    store.append_batch_from(&mut batch(1, 1), at("b", 7)).unwrap();
    store.seal().unwrap();
    drop(store);
    assert_eq!(Store::open(folder.path()).unwrap().source_position("b").unwrap(), Some(7));
}

#[test]
fn a_note_is_stored_with_the_position_and_replaced_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let from = |name, position, note| SourcePosition { name, position, note };
    assert_eq!(*store.source_note("a").unwrap(), []);
    store.append_batch_from(&mut batch(3, 10), from("a", 1, b"in the log")).unwrap();
    // Large enough to go past the log; the longest note.
    let longest = vec![7; 32 << 10];
    store.append_batch_from(&mut batch(35, 1 << 20), from("b", 1, &longest)).unwrap();
    store.append_batch_from(&mut batch(1, 10), from("c", 1, b"before")).unwrap();
    store.append_batch_from(&mut Batch::new(), from("c", 1, b"")).unwrap();
    let error = store.append_batch_from(&mut batch(1, 1), from("c", 2, &[7; (32 << 10) + 1])).unwrap_err();
    assert!(error.to_string().contains("32768"), "{error}");
    let check = |store: &Store| {
        assert_eq!(*store.source_note("a").unwrap(), *b"in the log");
        assert_eq!(*store.source_note("b").unwrap(), *longest);
        assert_eq!(*store.source_note("c").unwrap(), []);
        assert_eq!(store.source_position("c").unwrap(), Some(1));
    };
    check(&store);
    check(&Store::open_read_only(folder.path()).unwrap());
    store.seal().unwrap();
    store.compact().unwrap();
    drop(store);
    check(&Store::open(folder.path()).unwrap());
}

#[test]
fn a_batch_that_is_refused_moves_no_position() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let mut events = batch(2, 1);
    assert!(matches!(store.append_batch_from(&mut events, at("", 1)), Err(AppendError::SourceUnnamed)));
    let long = "n".repeat(4097);
    let error = store.append_batch_from(&mut events, at(&long, 1)).unwrap_err().to_string();
    assert!(error.contains("4096"), "{error}");
    assert_eq!((events.len(), store.source_position(&long).unwrap()), (2, None));
    let reader = Store::open_read_only(folder.path()).unwrap();
    assert!(matches!(reader.append_batch_from(&mut events, at("a", 1)), Err(AppendError::ReadOnly)));
    assert_eq!(store.source_position("a").unwrap(), None);
    store.append_batch_from(&mut events, at(&long[1..], 1)).unwrap();
    assert_eq!(store.source_position(&long[1..]).unwrap(), Some(1));
}
