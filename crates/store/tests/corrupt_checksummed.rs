//! Files whose fields were altered and whose checksums all fit: no panic, no endless loop, no slice outside of its block.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;

use support::{open, tiny};
use tamias_store::format::{
    FRAME_BYTES, FileKind, Frame, HEADER_BYTES, Header, Index, Part, Trailer, VERSION, Word, checksum,
};
use tamias_store::io::{Chance, Change, Medium, Simulated};
use tamias_store::{Direction, Event, Options, ReadMode, Reader, Repair, Snapshot, SourcePosition};

const ROUNDS: usize = 10_000;

/// One segment of a few blocks, one log of a few batches; closed, or as a killed process leaves it.
fn small_store(closed: bool) -> Medium {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    for round in 0..4u64 {
        let documents: Vec<String> = (0..9).map(|n| format!("document {round} {n}")).collect();
        let events: Vec<Event<'_>> =
            documents.iter().zip(0..).map(|(d, n)| Event { instant: n, bytes: d.as_bytes() }).collect();
        store
            .append_from(&events, Some(SourcePosition { name: "source", position: round, note: &[] }))
            .unwrap();
        if round == 1 {
            store.seal().unwrap();
        }
    }
    let killed = folder.medium();
    drop(store);
    if closed { folder.medium() } else { killed }
}

fn name(medium: &Medium, extension: &str) -> String {
    medium.names().find(|name| name.ends_with(extension)).unwrap().clone()
}

fn contents(medium: &Medium, name: &str) -> Vec<u8> {
    medium.contents(medium.find(name).unwrap()).to_vec()
}

fn replace(medium: &mut Medium, name: &str, bytes: Vec<u8>) {
    let file = medium.find(name).unwrap();
    medium.apply(&Change::SetLength(file, 0));
    medium.apply(&Change::Write(file, 0, bytes.into()));
}

/// A field made great, small, a little different, or anything.
fn corrupt(bytes: &mut [u8], chance: &mut Chance) {
    if bytes.is_empty() {
        return;
    }
    let at = chance.below(bytes.len()) & !3;
    let end = bytes.len().min(at + if chance.below(2) == 0 { 4 } else { 8 });
    match chance.below(4) {
        0 => bytes[at..end].fill(0xff),
        1 => bytes[at..end].fill(0),
        2 => bytes[at] = bytes[at].wrapping_add(chance.below(5) as u8).wrapping_sub(2),
        _ => bytes[at..end].iter_mut().for_each(|byte| *byte = chance.below(256) as u8),
    }
}

fn seed(kind: FileKind, bytes: &[u8]) -> u32 {
    Header::decode(kind, bytes).unwrap().seed()
}

fn corrupt_manifest(medium: &mut Medium, alter: impl FnOnce(&mut [u8])) {
    let name = name(medium, ".manifest");
    let mut bytes = contents(medium, &name);
    let seed = seed(FileKind::Manifest, &bytes);
    let (body, sum) = bytes[HEADER_BYTES..].split_last_chunk_mut::<4>().unwrap();
    alter(body);
    *sum = checksum(seed, &[body]).to_le_bytes();
    replace(medium, &name, bytes);
}

fn corrupt_segment(medium: &mut Medium, chance: &mut Chance) {
    let name = name(medium, ".segment");
    let mut bytes = contents(medium, &name);
    let seed = seed(FileKind::Segment, &bytes);
    let trailer_at = bytes.len() - Trailer::length(VERSION);
    let mut trailer = Trailer::decode(VERSION, seed, &bytes[trailer_at..]).unwrap();
    let index_at = trailer_at - trailer.index_bytes as usize;
    // The parts first, with their checksums, then the index.
    let mut index = Index::decode(VERSION, &bytes[index_at..trailer_at]).unwrap();
    for part in &mut index.parts {
        let range = part.range().start as usize..part.range().end as usize;
        if chance.below(3) == 0 {
            corrupt(&mut bytes[range.clone()], chance);
        }
        let sum = checksum(seed, &[&bytes[range.clone()]]);
        *part = Part::new(range.start as u64, range.len() as u32, sum, part.name);
    }
    bytes[index_at..trailer_at].copy_from_slice(&index.encode());
    if chance.below(2) == 0 {
        corrupt(&mut bytes[index_at..trailer_at], chance);
    }
    let before = trailer.index_checksum.to_le_bytes();
    trailer.index_checksum = checksum(seed, &[&bytes[index_at..trailer_at]]);
    bytes[trailer_at..].copy_from_slice(&trailer.encode(VERSION, seed));
    replace(medium, &name, bytes);
    // The manifest repeats the checksum of the index.
    corrupt_manifest(medium, |body| {
        let at = body.windows(4).position(|window| window == before).unwrap();
        body[at..at + 4].copy_from_slice(&trailer.index_checksum.to_le_bytes());
    });
}

fn corrupt_log(medium: &mut Medium, chance: &mut Chance) {
    let name = name(medium, ".log");
    let mut bytes = contents(medium, &name);
    let seed = seed(FileKind::Log, &bytes);
    let mut at = HEADER_BYTES;
    while let Some(frame) = bytes.get(at..).and_then(|rest| rest.first_chunk::<FRAME_BYTES>()) {
        let Some(mut frame) = Frame::decode(seed, frame) else { break };
        let next = at + frame.total_bytes() as usize;
        let body = at + FRAME_BYTES..at + FRAME_BYTES + frame.body_bytes() as usize;
        if chance.below(2) == 0 {
            corrupt(&mut bytes[body.clone()], chance);
        }
        frame.body_checksum = checksum(0, &[&bytes[body]]);
        let mut encoded = frame.encode(seed);
        if chance.below(2) == 0 {
            corrupt(&mut encoded[16..], chance);
            let sum = checksum(seed, &[&encoded[12..]]);
            encoded[8..12].copy_from_slice(&sum.to_le_bytes());
        }
        bytes[at..at + FRAME_BYTES].copy_from_slice(&encoded);
        at = next;
    }
    replace(medium, &name, bytes);
}

/// Uses everything that is handed out.
fn read(snapshot: &Snapshot) {
    let _ = (snapshot.events(), snapshot.document_bytes(), snapshot.time_range(), snapshot.segments());
    for direction in [Direction::Ascending, Direction::Descending] {
        for group in snapshot.groups(0..=u64::MAX, direction).skip_damaged() {
            for block in group.unwrap() {
                // Of a block of text the keys were checked before.
                assert!(block.times().is_ok() || block.columns().is_some());
                if let Ok(times) = block.times() {
                    (0..block.len()).for_each(|index| assert!(times.key(index).is_some()));
                }
                let Ok(documents) = block.documents() else { continue };
                let length = |index| block.document(index).unwrap().unwrap().len() + 1;
                assert_eq!(documents.bytes.len(), (0..block.len()).map(length).sum::<usize>());
            }
        }
    }
}

#[test]
fn corrupt_but_checksummed_files_do_no_harm_to_the_process() {
    let media = [small_store(true), small_store(false)];
    let mut chance = Chance(1);
    for round in 0..3 * ROUNDS {
        let mut corrupted = media[round / 3 % 2].clone();
        match round % 3 {
            0 => corrupt_manifest(&mut corrupted, |body| corrupt(body, &mut chance)),
            1 => corrupt_segment(&mut corrupted, &mut chance),
            _ => corrupt_log(&mut corrupted, &mut chance),
        }
        for read_mode in [ReadMode::Map, ReadMode::Plain] {
            let options = Options { read_mode, ..tiny() };
            let folder = Simulated::with(corrupted.clone());
            if let Ok(reader) = Reader::open_on(Arc::new(folder.clone()), options.clone(), support::codec())
                && let Ok(snapshot) = reader.snapshot()
            {
                read(&snapshot);
            }
            if let Ok(store) = open(&folder, &options) {
                read(&store.snapshot());
                let _ = store.append(&[Event { instant: 1, bytes: b"new" }]);
                let _ = store.seal();
                read(&store.snapshot());
            }
        }
    }
}

#[test]
fn a_log_too_long_to_search_for_a_witness_is_reported() {
    let mut medium = small_store(false);
    let name = name(&medium, ".log");
    let mut bytes = contents(&medium, &name);
    let seed = seed(FileKind::Log, &bytes);
    // The first batch is damaged; behind the last come frames, each of which claims everything behind it.
    bytes[HEADER_BYTES] ^= 1;
    let honest = bytes.len();
    let frames = 400;
    for left in (0..frames).rev() {
        let frame = Frame {
            body_checksum: 1,
            document_bytes: (left * FRAME_BYTES + 4000) as u32,
            events: 0,
            flushed: 0,
            first_arrival: 0,
            source_position: 0,
            source_name_bytes: 0,
            source_note_bytes: 0,
            word: Word::None,
        };
        bytes.extend_from_slice(&frame.encode(seed));
    }
    bytes.resize(bytes.len() + 4000, b'x');
    // Without a witness before them, there is no telling.
    bytes.drain(HEADER_BYTES + 8..honest);
    bytes.splice(HEADER_BYTES + 8..HEADER_BYTES + 8, [0; 8]);
    let end = bytes.len();
    replace(&mut medium, &name, bytes.clone());
    let folder = Simulated::with(medium);
    let store = open(&folder, &tiny()).unwrap();
    let damage = store.snapshot().damage().to_vec();
    assert_eq!(damage.len(), 1);
    assert_eq!((damage[0].bytes.clone(), damage[0].events), (48..end as u64, None));
    assert!(damage[0].found.contains("it cannot be told whether it was flushed"), "{}", damage[0].found);
    drop(store);
    assert_eq!(contents(&folder.medium(), &name), bytes, "it stays for whoever repairs it");
    let done =
        Repair::run_on(Arc::new(folder.clone()), &tiny(), support::codec(), false, &mut |_, _| ()).unwrap();
    assert_eq!((done.files.len(), done.events), (1, 18));
    assert_eq!(contents(&folder.medium(), &format!("quarantine/{name}")), bytes);
    assert_eq!(open(&folder, &tiny()).unwrap().snapshot().verify().unwrap(), []);
}

/// Each hole used to be searched for a batch that tells of it, however far behind it that was.
#[test]
fn a_log_of_many_holes_is_read_in_linear_time() {
    let calls = |holes: u64| {
        let folder = Simulated::new();
        let store = open(&folder, &tiny()).unwrap();
        store.append(&[Event { instant: 1, bytes: b"{}" }]).unwrap();
        let mut medium = folder.medium();
        drop(store);
        let log = name(&medium, ".log");
        let mut bytes = contents(&medium, &log);
        let seed = Header::decode(FileKind::Log, &bytes).unwrap().seed();
        bytes.truncate(HEADER_BYTES);
        let mut next = 0;
        let mut frame = |bytes: &mut Vec<u8>, flushed: u64, is_whole: bool| {
            let mut body = 1u64.to_le_bytes().to_vec();
            body.extend_from_slice(&1u32.to_le_bytes());
            body.extend_from_slice(b"a\n");
            let frame = Frame {
                body_checksum: checksum(u32::from(!is_whole), &[&body]),
                document_bytes: 2,
                events: 1,
                flushed,
                first_arrival: next,
                source_position: 0,
                source_name_bytes: 0,
                source_note_bytes: 0,
                word: Word::None,
            };
            next += u64::from(is_whole);
            bytes.extend_from_slice(&frame.encode(seed));
            bytes.extend_from_slice(&body);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        };
        let mut behind = Vec::new();
        for _ in 0..holes {
            frame(&mut bytes, 0, false);
            behind.push(bytes.len() as u64);
            frame(&mut bytes, 0, true);
        }
        behind.iter().for_each(|flushed| frame(&mut bytes, *flushed, true));
        replace(&mut medium, &log, bytes);
        let folder = Simulated::with(medium);
        let before = folder.calls();
        let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
        assert!(!reader.snapshot().unwrap().damage().is_empty());
        folder.calls() - before
    };
    let (few, many) = (calls(1000), calls(4000));
    assert!(many < few * 8, "{few} calls, of four times as many holes {many}");
}
