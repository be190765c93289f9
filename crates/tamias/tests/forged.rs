//! Real groups of columns of which bytes were altered and all checksums made to fit, in a store: an error or a report of damage that names the file, or some events; never a panic, and
//! in bounded memory. `crates/shred/tests/hostile.rs` asks the same of a group by itself, `crates/store/tests/corrupt_checksummed.rs` of the files around it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use tamias::{Batch, EventFormat, EventId, Options, Query, ReadMode, RunOptions, Start, Store};
use tamias_shred::{Group, forge};
use tamias_store::format::{FileKind, HEADER_BYTES, Header, Index, Part, Trailer, VERSION, checksum};

/// `TAMIAS_FORGED_ROUNDS` sets another number.
const ROUNDS: usize = 3000;

/// Numbers by chance, the same ones each time (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// Documents in which each encoding comes to be.
fn document(n: u64) -> String {
    let scrambled = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (order, cent) = ((scrambled ^ (scrambled >> 29)) % 9_000, scrambled % 99 + 1);
    let letters: String =
        (0..scrambled % 21).map(|at| char::from(b'a' + (scrambled >> (at * 3) & 15) as u8)).collect();
    let level = ["Debug", "Warning", "Error"][(scrambled >> 33) as usize % 3];
    let rest = match n % 3 {
        0 => format!(r#""m":"GET /api/orders/{order} took {cent}.5 ms","ms":{cent}.5,"tags":["a",{n}]"#),
        1 => format!(
            r#""id":"{scrambled:016x}","n":{},"note":"{letters}","at":{{"x":1e{n}}},"level":"{level}""#,
            scrambled >> 40
        ),
        _ => format!(r#""n":-{n},"tags":[{{"b":null}},[{order},{{}}]],"at":{{"x":0.{cent}1}}"#),
    };
    format!(r#"{{"@t":"2024-05-29T10:{:02}:{:02}.1234567Z",{rest}}}"#, n / 60, n % 60)
}

/// A store of a segment of several groups, made by the encoder: of these documents, and of generated events.
fn made(folder: &Path) {
    let options = Options { block_bytes: 4 << 10, background: false, ..Options::default() };
    let store = Store::open_with(folder, options).unwrap();
    let mut batch = Batch::new();
    (0..200).for_each(|n| batch.push(document(n).as_bytes(), &EventFormat::clef()).unwrap());
    let (mut generator, mut line) = (tamias_testdata::Generator::new(5, 150), Vec::new());
    while generator.write_next(&mut line) {
        batch.push(line.trim_ascii_end(), &EventFormat::clef()).unwrap();
        line.clear();
    }
    store.append_batch(&mut batch).unwrap();
    store.seal().unwrap();
}

/// The files of a store, of which a segment can be forged.
struct Files {
    manifest: (PathBuf, Vec<u8>),
    segment: (PathBuf, Vec<u8>),
    seed: u32,
    index: Index,
    trailer: Trailer,
}

impl Files {
    fn of(folder: &Path) -> Files {
        let one = |ending: &str| {
            let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let mut files: Vec<PathBuf> =
                files.filter(|file| file.extension().is_some_and(|own| own == ending)).collect();
            files.sort();
            let file = files.swap_remove(0);
            let bytes = std::fs::read(&file).unwrap();
            (file, bytes)
        };
        let (manifest, segment) = (one("manifest"), one("segment"));
        let seed = Header::decode(FileKind::Segment, &segment.1).unwrap().seed();
        let end = segment.1.len() - Trailer::length(VERSION);
        let trailer = Trailer::decode(VERSION, seed, &segment.1[end..]).unwrap();
        let index = Index::decode(VERSION, &segment.1[end - trailer.index_bytes as usize..end]).unwrap();
        Files { manifest, segment, seed, index, trailer }
    }

    /// The bytes of all parts.
    fn parts(&self) -> Vec<Vec<u8>> {
        let range = |part: &Part| part.range().start as usize..part.range().end as usize;
        self.index.parts.iter().map(|part| self.segment.1[range(part)].to_vec()).collect()
    }

    /// The places of the parts of a block in columns: its directory, its frames in their order, and its statistics.
    fn places(&self, block: usize) -> Option<(usize, Vec<usize>, usize)> {
        let (first, count) = self.index.blocks[block].parts;
        let places = first as usize..(first + count) as usize;
        let find =
            |name: &str| places.clone().find(|place| self.index.name_of(&self.index.parts[*place]) == name);
        let frames = (0..).map_while(|frame| find(&format!("frame.{frame}"))).collect();
        Some((find("directory")?, frames, find("summary")?))
    }

    /// Writes the segment with these parts, and the manifest that names it so.
    fn write(&self, parts: &[Vec<u8>]) {
        let mut index = self.index.clone();
        let mut bytes = self.segment.1[..HEADER_BYTES].to_vec();
        for (entry, part) in index.parts.iter_mut().zip(parts) {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            *entry =
                Part::new(bytes.len() as u64, part.len() as u32, checksum(self.seed, &[part]), entry.name);
            bytes.extend_from_slice(part);
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let encoded = index.encode();
        let trailer = Trailer {
            index_checksum: checksum(self.seed, &[&encoded]),
            index_bytes: encoded.len() as u64,
            ..self.trailer
        };
        bytes.extend_from_slice(&encoded);
        bytes.extend_from_slice(&trailer.encode(VERSION, self.seed));
        std::fs::write(&self.segment.0, &bytes).unwrap();
        let mut manifest = self.manifest.1.clone();
        let seed = Header::decode(FileKind::Manifest, &manifest).unwrap().seed();
        let (body, sum) = manifest[HEADER_BYTES..].split_last_chunk_mut::<4>().unwrap();
        // Its entry: the length of the file is the second number in it, and the length of the index and its checksum stand at 80 and 92.
        let known = self.trailer.index_checksum.to_le_bytes();
        let entry = body.windows(4).position(|window| window == known).unwrap() - 92;
        let mut put = |at: usize, field: &[u8]| body[entry + at..][..field.len()].copy_from_slice(field);
        put(8, &(bytes.len() as u64).to_le_bytes());
        put(80, &trailer.index_bytes.to_le_bytes());
        put(92, &trailer.index_checksum.to_le_bytes());
        *sum = checksum(seed, &[body]).to_le_bytes();
        std::fs::write(&self.manifest.0, manifest).unwrap();
    }

    /// Alters something of a block: false if there was nothing to alter.
    fn forge(&self, parts: &mut [Vec<u8>], chance: &mut Chance) -> bool {
        let Some((directory, frames, summary)) = self.places(chance.below(self.index.blocks.len())) else {
            return false;
        };
        let mut unpacked = forge::unpacked(&parts[directory]).unwrap();
        let frame = frames[chance.below(frames.len())];
        match chance.below(8) {
            0 => alter(&mut parts[summary], chance),
            1 => parts.swap(frame, frames[0]),
            2 => alter(&mut parts[frame], chance),
            // What is in a frame, if it is compressed.
            3..=5 => match unpacked_chunk(&parts[frame]) {
                Some(mut inside) => {
                    alter(&mut inside, chance);
                    parts[frame] = packed_chunk(&inside);
                }
                None => alter(&mut parts[frame], chance),
            },
            _ => {
                (0..1 + chance.below(2)).for_each(|_| alter(&mut unpacked, chance));
            }
        }
        let frames: Vec<Vec<u8>> = frames.iter().map(|frame| parts[*frame].clone()).collect();
        forge::directory(&unpacked, &frames).map(|forged| parts[directory] = forged).is_some()
    }
}

/// What the only chunk of a frame holds, if it is compressed: the number of its bytes stands before it.
fn unpacked_chunk(frame: &[u8]) -> Option<Vec<u8>> {
    let last = frame.iter().take(5).position(|byte| *byte < 0x80)?;
    let (number, chunk) = frame.split_at(last + 1);
    let length = number.iter().rev().fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
    (length == chunk.len()).then(|| zstd::bulk::decompress(chunk, 16 << 20).ok())?
}

fn packed_chunk(inside: &[u8]) -> Vec<u8> {
    let chunk = zstd::bulk::compress(inside, 1).unwrap();
    let (mut frame, mut length) = (Vec::new(), chunk.len());
    while length >= 0x80 {
        frame.push(length as u8 | 0x80);
        length >>= 7;
    }
    frame.push(length as u8);
    [frame, chunk].concat()
}

/// A byte made great, small, a little different, or anything; now and then one more or one less.
fn alter(bytes: &mut Vec<u8>, chance: &mut Chance) {
    if bytes.is_empty() {
        return;
    }
    let at = chance.below(bytes.len());
    match chance.below(9) {
        0 => bytes[at] = 0,
        1 => bytes[at] = 0xff,
        2 => bytes[at] = 0x7f,
        3 => bytes[at] = 0x80,
        4 => bytes[at] = bytes[at].wrapping_add(1),
        5 => bytes[at] ^= 1 << chance.below(8),
        6 => drop(bytes.remove(at)),
        7 => bytes.insert(at, chance.below(256) as u8),
        _ => bytes[at] = chance.below(256) as u8,
    }
}

const QUERIES: [&str; 8] = [
    "select count(*) from stream",
    "select @Data from stream",
    "select m, ms from stream where m like '%orders/1%' order by time desc limit 20",
    "select id, note, at.x from stream where n > 5",
    "select count(*), max(n), min(ms) from stream group by level",
    "select count(*), mean(Elapsed), max(Elapsed) from stream where StatusCode >= 200 group by Application",
    "select tags from stream where tags[?] = 'a'",
    "select count(*) from stream where match(@Message, '/api/.*[0-9]') group by time(10s)",
];

/// Asks for everything that there is to ask for; whether anything was found to be wrong.
fn ask(
    folder: &Path,
    segment: &str,
    queries: &[&Query],
    ids: &[EventId],
    read_mode: ReadMode,
    is_deep: bool,
) -> bool {
    let store = Store::open_read_only_with(folder, Options { read_mode, ..Options::default() }).unwrap();
    let mut is_damaged = false;
    let mut named = |error: &dyn std::fmt::Display| {
        is_damaged = true;
        let text = error.to_string();
        // A document that decodes to what is no JSON is named by its event.
        assert!(text.contains(segment) || text.contains("the event with arrival number"), "{text}");
    };
    for query in queries {
        let mut rows = store.run(query).unwrap();
        loop {
            match rows.next_row() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    named(&error);
                    let (rows, left_out) = store.run_past_damage(query, RunOptions::default()).unwrap();
                    rows.for_each(|row| drop(row.inspect_err(|error| named(error))));
                    left_out.damage().iter().for_each(|damage| named(damage));
                    break;
                }
            }
        }
    }
    for id in ids {
        let _ = store.get(*id).inspect_err(|error| named(error));
        let _ = store.around(*id, 2, 2).inspect_err(|error| named(error));
    }
    let mut start = Start::Earliest;
    loop {
        match store.page(start, 1000) {
            Ok(page) => match page.next {
                Some(next) => start = Start::Continue(next),
                None => break,
            },
            Err(error) => {
                named(&error);
                break;
            }
        }
    }
    store.verify().unwrap().iter().for_each(|damage| named(damage));
    if is_deep {
        store.verify_deep().unwrap().iter().for_each(|found| named(found));
    }
    is_damaged
}

/// How many bytes the process has held at most, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

fn copied(from: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let file = entry.unwrap().path();
        if file.is_file() {
            std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    folder
}

fn forge_rounds(folder: &Path, rounds: usize, chance: &mut Chance) {
    let files = Files::of(folder);
    let name = files.segment.0.file_name().unwrap().to_str().unwrap().to_owned();
    let queries: Vec<Query> = QUERIES.iter().map(|text| Query::prepare(text).unwrap()).collect();
    let store = Store::open_read_only(folder).unwrap();
    let events = store.page(Start::Earliest, 1000).unwrap().events;
    let ids: Vec<EventId> = events.iter().step_by(97).map(|event| event.id).collect();
    drop(store);
    let all: Vec<&Query> = queries.iter().collect();
    assert!(!ask(folder, &name, &all, &ids, ReadMode::Map, true), "nothing is wrong yet");
    let sound = files.parts();
    files.write(&sound);
    assert!(!ask(folder, &name, &all, &ids, ReadMode::Plain, true), "as it is written here");
    let mut found = 0;
    for round in 0..rounds {
        let mut parts = sound.clone();
        if !files.forge(&mut parts, chance) {
            continue;
        }
        files.write(&parts);
        let read_mode = if round % 2 == 0 { ReadMode::Map } else { ReadMode::Plain };
        // Not all of it each time: it is to take some seconds only.
        let some: Vec<&Query> = queries.iter().skip(round % 4).step_by(4).collect();
        let is_damaged = ask(folder, &name, &some, &ids[round % ids.len()..][..1], read_mode, round % 8 == 0);
        found += usize::from(is_damaged);
        if round % 100 == 0 {
            let repaired = copied(folder);
            let done = Store::repair(repaired.path(), false, |_, _| ()).unwrap();
            assert!(done.files.iter().all(|file| file.file.ends_with(&name)), "{done:?}");
            let store =
                Store::open_with(repaired.path(), Options { background: false, ..Options::default() })
                    .unwrap();
            assert_eq!(store.verify().unwrap(), [], "what is left is sound");
            store.append([r#"{"@t":"2025-05-29T10:00:00Z","new":1}"#]).unwrap();
            store.compact().unwrap();
            assert_eq!(store.info().unwrap().events, done.events + 1);
        }
    }
    assert!(found * 3 > rounds, "much of it is noticed: {found}");
}

#[test]
fn the_groups_have_every_encoding() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    let files = Files::of(folder.path());
    let parts = files.parts();
    let mut encodings: Vec<String> = Vec::new();
    let mut compressed = 0;
    for block in 0..files.index.blocks.len() {
        let (directory, frames, _) = files.places(block).unwrap();
        compressed += frames.iter().filter(|frame| unpacked_chunk(&parts[**frame]).is_some()).count();
        let group = Group::open(&parts[directory]).unwrap();
        encodings.extend(group.columns().map(|column| column.encoding.to_owned()));
    }
    assert!(files.index.blocks.len() > 1, "{}", files.index.blocks.len());
    assert!(compressed > 0, "what is inside of frames can be altered");
    for encoding in ["dictionary", "fractions", "instants", "packed", "positions", "strings", "templates"] {
        assert!(encodings.iter().any(|own| own == encoding), "{encoding} is missing among {encodings:?}");
    }
}

#[test]
fn forged_groups_do_no_harm_to_the_process() {
    let mut chance = Chance(20_261_121);
    let rounds = std::env::var("TAMIAS_FORGED_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    forge_rounds(folder.path(), rounds, &mut chance);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../store-fixtures/v2-columns");
    let clean = copied(&fixtures.join("clean"));
    forge_rounds(clean.path(), rounds / 6, &mut chance);
    assert!(peak_bytes().is_none_or(|bytes| bytes < 512 << 20), "{:?}", peak_bytes());
}
