//! Blocks in columns: what is read of them, what is lost with a part, and what the codec may do meanwhile.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;

use support::{KEPT, codec, open, rows, tiny};
use tamias_store::format::{HEADER_BYTES, Trailer, VERSION};
use tamias_store::io::{Change, Simulated};
use tamias_store::{
    Block, Direction, Event, Layout, Options, Parts, ReadError, ReadMode, Reader, Snapshot, Store,
};

fn columns() -> Options {
    Options { segments: Layout::Columns, ..tiny() }
}

fn append(store: &Store, documents: &[String]) {
    let events: Vec<Event<'_>> = documents
        .iter()
        .zip(1000..)
        .map(|(text, instant)| Event { instant, bytes: text.as_bytes() })
        .collect();
    store.append(&events).unwrap();
}

fn documents(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("document {number}")).collect()
}

/// A closed store of one segment in columns, of blocks of 30 events.
fn sealed(count: usize) -> Simulated {
    let folder = Simulated::new();
    let store = open(&folder, &columns()).unwrap();
    append(&store, &documents(count));
    store.seal().unwrap();
    drop(store);
    folder
}

fn snapshot(folder: &Simulated, options: Options) -> Snapshot {
    Reader::open_on(Arc::new(folder.clone()), options, codec()).unwrap().snapshot().unwrap()
}

fn blocks(snapshot: &Snapshot) -> Vec<Block> {
    snapshot.groups(0..=u64::MAX, Direction::Ascending).flat_map(|group| group.unwrap()).collect()
}

/// Where the bytes of a part are in the only segment, and its name.
fn segment(folder: &Simulated) -> (String, Vec<u8>) {
    let medium = folder.medium();
    let name = medium.names().find(|name| name.ends_with(".segment")).unwrap().clone();
    let bytes = medium.contents(medium.find(&name).unwrap()).to_vec();
    (name, bytes)
}

/// The same folder with other bytes in its segment.
fn with_segment(folder: &Simulated, change: impl FnOnce(&mut [u8])) -> Simulated {
    let (name, mut bytes) = segment(folder);
    change(&mut bytes);
    let mut medium = folder.medium();
    let file = medium.find(&name).unwrap();
    medium.apply(&Change::Write(file, 0, bytes.into()));
    Simulated::with(medium)
}

fn find(bytes: &[u8], needle: &[u8]) -> usize {
    bytes.windows(needle.len()).position(|window| window == needle).unwrap()
}

#[test]
fn what_was_stored_in_columns_comes_back_from_segments_without_text() {
    for read_mode in [ReadMode::Map, ReadMode::Plain] {
        let folder = sealed(100);
        let (_, bytes) = segment(&folder);
        assert!(!bytes.windows(8).any(|window| window == b"document"), "no document stands there as text");
        let snapshot = snapshot(&folder, Options { read_mode, ..columns() });
        let info = &snapshot.segments()[0];
        assert_eq!((info.blocks, info.column_blocks, info.events), (4, 4, 100));
        let expected = documents(100);
        assert!(rows(&snapshot).iter().map(|row| &row.2).eq(expected.iter().map(|text| text.as_bytes())));
        for (number, block) in blocks(&snapshot).iter().enumerate() {
            assert_eq!(block.columns().unwrap().id().block as usize, number);
            assert_eq!(block.statistics().unwrap(), (block.len() as u32).to_le_bytes());
            let key = block.key(3).unwrap().unwrap();
            assert_eq!(block.find(key).unwrap(), Some(3));
            let document = block.document(3).unwrap();
            assert_eq!(document.as_deref(), Some(expected[number * 30 + 3].as_bytes()));
        }
    }
}

#[test]
fn a_block_that_the_codec_leaves_alone_stays_text_among_columns() {
    let folder = Simulated::new();
    let store = open(&folder, &columns()).unwrap();
    let mut documents = documents(100);
    documents[40] = String::from_utf8(KEPT.to_vec()).unwrap();
    append(&store, &documents);
    store.seal().unwrap();
    let snapshot = store.snapshot();
    let kinds: Vec<bool> = blocks(&snapshot).iter().map(|block| block.columns().is_some()).collect();
    assert_eq!(kinds, [true, false, true, true]);
    assert_eq!(snapshot.segments()[0].column_blocks, 3);
    assert!(rows(&snapshot).iter().map(|row| &row.2).eq(documents.iter().map(|text| text.as_bytes())));
    assert_eq!(snapshot.verify().unwrap(), []);
}

#[test]
fn a_part_is_read_though_all_others_are_overwritten() {
    let folder = sealed(90);
    let parts = ["times", "even", "odd"];
    let whole = snapshot(&folder, columns());
    let expected: Vec<Vec<u8>> =
        parts.iter().map(|name| blocks(&whole)[1].columns().unwrap().part(name).unwrap().unwrap()).collect();
    for (name, bytes) in parts.iter().zip(&expected) {
        let damaged = with_segment(&folder, |segment| {
            let at = find(segment, bytes);
            // Index and trailer stand behind all parts.
            let trailer = segment.len() - Trailer::length(VERSION);
            let index = u64::from_le_bytes(*segment[trailer + 16..].first_chunk().unwrap()) as usize;
            segment[HEADER_BYTES..at].fill(0xee);
            segment[at + bytes.len()..trailer - index].fill(0xee);
        });
        let snapshot = snapshot(&damaged, columns());
        let block = &blocks(&snapshot)[1];
        assert_eq!(block.columns().unwrap().part(name).unwrap().as_ref(), Some(bytes));
        for other in parts.iter().filter(|other| *other != name) {
            let error = block.columns().unwrap().part(other).unwrap_err();
            let ReadError::Damaged(damage) = error else { panic!("{error}") };
            assert_eq!(damage.part.as_deref(), Some(*other));
            assert_eq!(damage.events, Some(30));
            let (first, last) = damage.keys.unwrap();
            assert_eq!((first.instant, last.instant), (1030, 1059));
        }
        assert_eq!(block.times().is_ok(), *name == "times");
        assert!(block.documents().is_err());
    }
}
