//! Damaged and forged groups: an error, or some documents, in bounded time and memory; never a panic.

use proptest::prelude::*;
use tamias_shred::{AtObjects, AtPath, DecodeError, Encoded, Event, Group, Wanted, Within, encode, forge};

/// A document of one of three structures, with values of every kind.
fn document(n: u64) -> String {
    let scrambled = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let scrambled = (scrambled ^ (scrambled >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (order, cent) = (scrambled % 9_000, scrambled % 99 + 1);
    match n % 3 {
        0 => format!(
            r#"{{"@t":"2024-05-29T10:56:{:02}.1234567Z","m":"GET /api/orders/{order} took {cent}.5 ms","path":"/api/orders/{order}","ms":{cent}.5,"tags":["a",{n}]}}"#,
            n % 60
        ),
        1 => format!(
            r#"{{"id":"{scrambled:016x}","n":{},"note":"{}","at":{{"x":1e{n},"":true}},"level":"{}"}}"#,
            scrambled >> 40,
            letters(scrambled),
            ["Debug", "Warning", "Error"][(scrambled >> 33) as usize % 3],
        ),
        _ => format!(r#"{{"n":-{n},"tags":[{{"b":null}},[{order},{{}}]],"at":{{"":false,"x":0.{cent}1}}}}"#),
    }
}

/// Some letters, another number of them each time.
fn letters(seed: u64) -> String {
    (0..seed % 21).map(|place| char::from(b'a' + (seed >> (place * 3) & 15) as u8)).collect()
}

/// Enough of each that every encoding comes to be.
fn encoded() -> Encoded {
    let documents: Vec<String> = (0..90).map(document).collect();
    let events: Vec<Event<'_>> = (0..)
        .zip(&documents)
        .map(|(n, text)| Event {
            instant: 638_526_000_000_000_000 + n * 77,
            arrival: n,
            document: text.as_bytes(),
        })
        .collect();
    encode(&events).expect("encodes")
}

/// The paths that queries may name: those of the top level, one below each of some of them, and one that there is not.
fn paths(group: &Group) -> Vec<Vec<Box<str>>> {
    let keys = match group.objects_at(&[]) {
        AtObjects::Objects(keys) => keys,
        AtObjects::Nothing | AtObjects::Unknown => Vec::new(),
    };
    let below = keys.iter().take(4).map(|key| vec![key.clone(), "City".into()]);
    let mut paths: Vec<Vec<Box<str>>> = keys.iter().take(16).map(|key| vec![key.clone()]).collect();
    paths.extend(below);
    paths.push(vec!["none".into()]);
    paths
}

/// Everything that a reader can be asked. What it says does not matter; that it ends does.
fn ask_everything(directory: &[u8], frames: &Vec<Vec<u8>>) -> Result<(), DecodeError> {
    let group = Group::open(directory)?;
    let mut reader = group.read(frames);
    let documents = reader.documents();
    if let Ok(documents) = &documents {
        assert!(documents.iter().map(<[u8]>::len).sum::<usize>() <= group.document_bytes());
    }
    for row in 0..group.events().min(8) {
        let document = reader.document(row);
        // Where all is well, one document is what it is among all.
        if let (Ok(documents), Ok(document)) = (&documents, document) {
            assert_eq!(documents.get(row), Some(document.as_slice()));
        }
    }
    if let Ok(documents) = &documents {
        let _ = reader.leftovers(documents.bytes());
    }
    if let (Ok(documents), Ok(whole)) = (&documents, reader.whole_documents()) {
        assert!(
            documents.iter().zip(whole).all(|(document, whole)| whole.is_none_or(|whole| whole == document))
        );
    }
    for column in 0..group.columns().len() {
        let values = reader.column(column);
        let rows = reader.rows(column);
        if let (Ok(values), Ok(rows), Ok(_)) = (values, rows, &documents) {
            assert_eq!(values.len(), rows.len());
        }
        let _ = reader.between(column, -5, 1_000);
    }
    for path in paths(&group) {
        let keys: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
        let all = reader.at(&keys);
        let rows: Vec<u32> = (0..group.events() as u32).step_by(3).collect();
        let some = reader.at_rows(&keys, &rows);
        if documents.is_ok() && all.is_ok() {
            assert!(some.is_ok(), "{keys:?}: {some:?}");
        }
        let find = |text: &[u8]| text.contains(&b'a');
        let wanted = Wanted { text: b"a", any_case: false, has_others: false, within: Within::Start };
        let _ = (reader.lengths_at(&keys), reader.search_at(&keys, wanted, find));
        let _ = (reader.presence(&keys), reader.object_keys(&keys));
        if let Ok(AtPath::Pieces(pieces)) = &all {
            let texts = pieces.texts(None);
            assert!(documents.is_err() || texts.is_ok(), "{keys:?}: {texts:?}");
            let coded = pieces.coded();
            assert!(documents.is_err() || coded.is_ok(), "{keys:?}: {coded:?}");
            assert_eq!(pieces.lengths().len(), group.events());
            let find = |text: &[u8]| text.windows(2).any(|part| part == b"/1");
            let wanted = Wanted { text: b"/1", any_case: false, has_others: false, within: Within::Anywhere };
            let found = pieces.search(wanted, find);
            assert_eq!(found.len(), group.events());
            // What is not read for it may be wrong.
            let spared = [
                reader.lengths_at(&keys).map(|lengths| lengths.map(|lengths| lengths == pieces.lengths())),
                reader.search_at(&keys, wanted, find).map(|holds| holds.map(|holds| holds == found)),
            ];
            assert!(documents.is_err() || spared == [Ok(Some(true)), Ok(Some(true))], "{keys:?}: {spared:?}");
        }
        let frames = group.frames_at(&keys);
        assert!(frames.iter().all(|frame| (*frame as usize) < group.frames()));
    }
    documents.map(|_| ())
}

#[test]
fn the_group_has_every_encoding() {
    let group = Group::open(&encoded().directory).expect("opens");
    let mut encodings: Vec<&str> = group.columns().map(|column| column.encoding).collect();
    encodings.sort_unstable();
    encodings.dedup();
    for encoding in ["dictionary", "fractions", "instants", "packed", "positions", "strings", "templates"] {
        assert!(encodings.contains(&encoding), "{encoding} is missing among {encodings:?}");
    }
}

#[test]
fn each_damaged_byte_is_found_by_a_checksum() {
    let encoded = encoded();
    for at in 0..encoded.directory.len() {
        let mut directory = encoded.directory.clone();
        directory[at] ^= 0x10;
        assert_eq!(Group::open(&directory).map(|_| ()), Err(DecodeError::DirectoryChecksum));
    }
    for frame in 0..encoded.frames.len() {
        for at in 0..encoded.frames[frame].len() {
            let mut frames = encoded.frames.clone();
            frames[frame][at] ^= 0x10;
            let group = Group::open(&encoded.directory).expect("opens");
            let wrong = DecodeError::FrameChecksum { frame: frame as u32 };
            assert_eq!(group.read(&frames).documents(), Err(wrong));
        }
    }
}

#[test]
fn a_missing_or_shortened_frame_is_named() {
    let mut encoded = encoded();
    let group = Group::open(&encoded.directory).expect("opens");
    let last = encoded.frames.pop().expect("a frame");
    let frame = encoded.frames.len() as u32;
    assert_eq!(group.read(&encoded.frames).documents(), Err(DecodeError::MissingFrame { frame }));
    encoded.frames.push(last[1..].to_vec());
    assert_eq!(group.read(&encoded.frames).documents(), Err(DecodeError::FrameChecksum { frame }));
}

#[test]
fn forged_directories_end_in_an_error_or_in_documents() {
    let encoded = encoded();
    let unpacked = forge::unpacked(&encoded.directory).expect("unpacks");
    assert_eq!(
        ask_everything(&forge::directory(&unpacked, &encoded.frames).expect("packs"), &encoded.frames),
        Ok(())
    );
    let mut errors = 0;
    for at in 0..unpacked.len() {
        for value in [0, 1, 2, 5, 0x7f, 0x80, 0xff, unpacked[at] ^ 1, unpacked[at].wrapping_add(1)] {
            let mut forged = unpacked.clone();
            forged[at] = value;
            if let Some(directory) = forge::directory(&forged, &encoded.frames) {
                errors += usize::from(ask_everything(&directory, &encoded.frames).is_err());
            }
        }
        // Cut there, and with a byte too many.
        let cut = forge::directory(&unpacked[..at], &encoded.frames);
        assert!(cut.is_none_or(|directory| ask_everything(&directory, &encoded.frames).is_err()));
        let mut longer = unpacked.clone();
        longer.insert(at, 7);
        if let Some(directory) = forge::directory(&longer, &encoded.frames) {
            let _ = ask_everything(&directory, &encoded.frames);
        }
    }
    assert!(errors > unpacked.len(), "most of what is wrong is told: {errors}");
}

#[test]
fn forged_directories_of_the_first_version_end_in_an_error_or_in_documents() {
    let encoded = encoded();
    let unpacked = forge::unpacked_of_first_version(&encoded.directory).expect("unpacks");
    let ask = |unpacked: &[u8]| {
        ask_everything(&forge::directory_of_first_version(unpacked).expect("packs"), &encoded.frames)
    };
    assert_eq!(ask(&unpacked), Ok(()));
    let documents = |directory: &[u8]| Group::open(directory)?.read(&encoded.frames).documents();
    let first = forge::directory_of_first_version(&unpacked).expect("packs");
    assert_eq!(documents(&first), documents(&encoded.directory));
    let mut errors = 0;
    for at in 0..unpacked.len() {
        for value in [0, 1, 0x7f, 0xff, unpacked[at] ^ 1] {
            let mut forged = unpacked.clone();
            forged[at] = value;
            errors += usize::from(ask(&forged).is_err());
        }
        assert!(ask(&unpacked[..at]).is_err());
    }
    assert!(errors > unpacked.len(), "most of what is wrong is told: {errors}");
}

#[test]
fn forged_frames_end_in_an_error_or_in_documents() {
    let encoded = encoded();
    let unpacked = forge::unpacked(&encoded.directory).expect("unpacks");
    for frame in 0..encoded.frames.len() {
        for at in 0..encoded.frames[frame].len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut frames = encoded.frames.clone();
                frames[frame][at] = value;
                let directory = forge::directory(&unpacked, &frames).expect("packs");
                let _ = ask_everything(&directory, &frames);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_changes_together_end(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..6),
    ) {
        let encoded = encoded();
        let mut unpacked = forge::unpacked(&encoded.directory).expect("unpacks");
        let mut frames = encoded.frames.clone();
        for (index, value, in_frame) in changes {
            if in_frame {
                let frame = index.index(frames.len());
                let at = index.index(frames[frame].len());
                frames[frame][at] = value;
            } else {
                let at = index.index(unpacked.len());
                unpacked[at] = value;
            }
        }
        if let Some(directory) = forge::directory(&unpacked, &frames) {
            let _ = ask_everything(&directory, &frames);
        }
    }

    #[test]
    fn any_bytes_are_no_group(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Group::open(&bytes).is_err());
        if let Some(directory) = forge::directory(&bytes, &[]) {
            let _ = ask_everything(&directory, &Vec::new());
        }
    }
}
