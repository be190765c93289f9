//! Blocks in columns: what is read of them, what is lost with a part, and what the codec may do meanwhile.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;

use support::{KEPT, codec, open, rows, tiny};
use tamias_store::format::{HEADER_BYTES, Trailer, VERSION};
use tamias_store::io::{Change, Simulated};
use tamias_store::{
    Block, Damage, Direction, Event, Layout, Options, Parts, ReadError, ReadMode, Reader, Repair, Snapshot,
    Store,
};

fn columns() -> Options {
    Options { segments: Layout::Columns, block_bytes: 100, ..tiny() }
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

fn part_of(damage: &Damage) -> Option<&str> {
    damage.part.as_ref().map(|part| part.name.as_str())
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
            assert_eq!(part_of(&damage), Some(*other));
            assert_eq!(damage.events, Some(30));
            let (first, last) = damage.keys.unwrap();
            assert_eq!((first.instant, last.instant), (1030, 1059));
        }
        assert_eq!(block.times().is_ok(), *name == "times");
        assert!(block.documents().is_err());
    }
}

#[test]
fn compacting_makes_columns_of_text_once() {
    let folder = Simulated::new();
    let text = Options { segment_bytes: 500, ..tiny() };
    let store = open(&folder, &text).unwrap();
    let mut documents = documents(200);
    for batch in documents.chunks(40) {
        append(&store, batch);
        store.seal().unwrap();
    }
    // Of one segment the codec makes no columns.
    documents.push(String::from_utf8(KEPT.to_vec()).unwrap());
    append(&store, &documents[200..]);
    store.seal().unwrap();
    store.compact().unwrap();
    let before = rows(&store.snapshot());
    assert!(store.snapshot().segments().iter().all(|segment| segment.column_blocks == 0), "text stays text");
    drop(store);
    let store = open(&folder, &Options { segments: Layout::Columns, ..text.clone() }).unwrap();
    store.compact().unwrap();
    let segments = store.snapshot().segments();
    assert_eq!(segments.iter().filter(|segment| segment.column_blocks == 0).count(), 1);
    assert_eq!(rows(&store.snapshot()), before);
    let written = store.flush_stats().segments;
    store.compact().unwrap();
    assert_eq!(store.flush_stats().segments, written, "nothing is written again");
    drop(store);
    // Whoever does not ask for columns keeps those that are there.
    let store = open(&folder, &text).unwrap();
    store.compact().unwrap();
    assert_eq!(store.snapshot().segments(), segments);
    assert_eq!(store.snapshot().verify().unwrap(), []);
}

#[test]
fn repairing_keeps_every_block_whose_parts_are_whole() {
    let folder = sealed(120);
    let part = blocks(&snapshot(&folder, columns()))[2].columns().unwrap().part("odd").unwrap().unwrap();
    let damaged = with_segment(&folder, |segment| {
        let at = find(segment, &part);
        segment[at + 5] ^= 1;
    });
    let whole = rows(&snapshot(&folder, columns()));
    let found = snapshot(&damaged, columns()).verify().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((part_of(&found[0]), found[0].events), (Some("odd"), Some(30)));
    assert!(found[0].to_string().contains("(part odd): its checksum does not hold; 30 events are lost"));
    let repair =
        Repair::run_on(Arc::new(damaged.clone()), &columns(), codec(), false, &mut |_, _| ()).unwrap();
    assert_eq!((repair.events, repair.files[0].kept, &repair.files[0].damage), (90, 90, &found));
    let after = snapshot(&damaged, columns());
    assert_eq!(after.verify().unwrap(), []);
    let kept: Vec<_> = whole.iter().filter(|row| !(60..90).contains(&row.0)).cloned().collect();
    assert_eq!(rows(&after), kept);
    let (name, bytes) = (segment(&folder).0, damaged.medium());
    assert!(bytes.find(&format!("quarantine/{name}")).is_some(), "the damaged file is kept");
}

#[test]
fn damaged_statistics_take_no_event_away() {
    let folder = sealed(60);
    let block = blocks(&snapshot(&folder, columns()))[0].columns().unwrap().clone();
    let sizes: Vec<(String, u32)> = block.parts().unwrap();
    assert_eq!(sizes.last().unwrap(), &("summary".to_owned(), 4));
    let damaged = with_segment(&folder, |segment| {
        let at = find(segment, &[30, 0, 0, 0, 0, 0, 0, 0, 30, 0, 0, 0]);
        segment[at] ^= 1;
    });
    let snapshot = snapshot(&damaged, columns());
    assert_eq!(blocks(&snapshot)[0].statistics(), Some(&[][..]));
    assert_eq!(rows(&snapshot).len(), 60);
    let found = snapshot.verify().unwrap();
    assert_eq!((part_of(&found[0]), found[0].events), (Some("summary"), Some(0)));
}

#[test]
fn a_program_without_the_codec_says_so_and_repairs_nothing() {
    let folder = sealed(60);
    let before = segment(&folder);
    let reader = Reader::open_on(Arc::new(folder.clone()), columns(), Arc::new(())).unwrap();
    let snapshot = reader.snapshot().unwrap();
    let error = blocks(&snapshot)[0].documents().unwrap_err().to_string();
    assert!(error.starts_with("cannot decode") && error.ends_with("does not know its columns"), "{error}");
    assert!(snapshot.verify().is_err());
    let repair = Repair::run_on(Arc::new(folder.clone()), &columns(), Arc::new(()), false, &mut |_, _| ());
    assert!(repair.is_err());
    assert_eq!(segment(&folder), before);
}

#[cfg(target_os = "linux")]
#[test]
fn segments_of_columns_stay_open_within_the_limit_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { read_mode: ReadMode::Map, open_files_max: 2, segment_bytes: 200, ..columns() };
    let store = Store::open(folder.path(), options, codec()).unwrap();
    append(&store, &documents(100));
    store.seal().unwrap();
    let snapshot = store.snapshot();
    assert!(snapshot.segments().len() > 5);
    assert_eq!(rows(&snapshot).len(), 100);
    let open = |entry: std::io::Result<std::fs::DirEntry>| std::fs::read_link(entry.unwrap().path()).ok();
    let files = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(open);
    let segments =
        files.filter(|file| file.starts_with(folder.path()) && file.extension() == Some("segment".as_ref()));
    assert_eq!(segments.count(), 2);
}
