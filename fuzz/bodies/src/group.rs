//! Any bytes as a group of columns.

use tamias_shred::{AtObjects, AtPath, Group, Wanted, Within, forge};

/// Any bytes as a group: with right checksums around them, an error or some documents, in bounded time and memory.
///
/// The input is the unpacked directory and the frames, each behind its length in two bytes, the lower one first.
pub fn group(input: &[u8]) {
    let mut pieces = pieces(input).into_iter();
    let Some(unpacked) = pieces.next() else { return };
    let frames: Vec<Vec<u8>> = pieces.collect();
    let Some(directory) = forge::directory(&unpacked, &frames) else { return };
    let Ok(group) = Group::open(&directory) else { return };
    // A directory may announce a gigabyte; that is bounded, but a fuzzer has better things to do.
    if group.document_bytes() > 1 << 20 {
        return;
    }
    let mut reader = group.read(&frames);
    let documents = reader.documents();
    if let Ok(documents) = &documents {
        assert_eq!(documents.iter().map(<[u8]>::len).sum::<usize>(), group.document_bytes());
    }
    for row in 0..group.events().min(4) {
        let document = reader.document(row);
        if let (Ok(documents), Ok(document)) = (&documents, document) {
            assert_eq!(documents.get(row), Some(document.as_slice()), "row {row}");
        }
    }
    if let (Ok(documents), Ok(whole)) = (&documents, reader.whole_documents()) {
        assert!(
            documents.iter().zip(whole).all(|(document, whole)| whole.is_none_or(|whole| whole == document))
        );
    }
    for column in 0..group.columns().len().min(64) {
        let (values, rows) = (reader.column(column), reader.rows(column));
        if let (Ok(values), Ok(rows), Ok(_)) = (values, rows, &documents) {
            assert_eq!(values.len(), rows.len(), "column {column}");
        }
        let _ = reader.between(column, -5, 1_000);
    }
    // As a query reads it.
    let find = |text: &[u8]| text.contains(&b'1');
    let wanted = Wanted { text: b"1", any_case: true, has_others: true, within: Within::Anywhere };
    let rows: Vec<u32> = (0..group.events().min(64) as u32).step_by(3).collect();
    let keys = match group.objects_at(&[]) {
        AtObjects::Objects(keys) => keys,
        AtObjects::Nothing | AtObjects::Unknown => Vec::new(),
    };
    for key in keys.iter().take(16) {
        for keys in [&[&**key][..], &[key, "City"]] {
            let (all, some) = (reader.at(keys), reader.at_rows(keys, &rows));
            if documents.is_ok() && all.is_ok() {
                assert!(some.is_ok(), "{keys:?}");
            }
            if let Ok(AtPath::Pieces(pieces)) = &all {
                assert!(documents.is_err() || pieces.texts(None).is_ok(), "{keys:?}");
                assert_eq!(pieces.lengths().len(), group.events());
                assert_eq!(pieces.search(wanted, find).len(), group.events());
            }
            // What is not read for it may be wrong.
            let found = reader.search_at(keys, wanted, find).ok().flatten();
            assert!(found.is_none_or(|found| found.len() == group.events()), "{keys:?}");
            let lengths = reader.lengths_at(keys).ok().flatten();
            assert!(lengths.is_none_or(|lengths| lengths.len() == group.events()), "{keys:?}");
            let _ = (group.objects_at(keys), reader.presence(keys), reader.object_keys(keys));
            assert!(group.frames_at(keys).iter().all(|frame| (*frame as usize) < group.frames()));
        }
    }
}

fn pieces(input: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    let mut rest = input;
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(after.len());
        pieces.push(after[..length].to_vec());
        rest = &after[length..];
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tamias_shred::{Event, encode};

    /// The corpus's groups are those of the documents from which the other target starts, as they are written now.
    #[test]
    fn the_corpus_has_the_groups_of_the_documents() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        for file in std::fs::read_dir(corpus.join("documents")).expect("a corpus") {
            let file = file.expect("a readable folder");
            let input = std::fs::read(file.path()).expect("a readable file");
            let lines = input.split(|byte| *byte == b'\n').zip(0..);
            let events: Vec<Event<'_>> = lines
                .map(|(document, n)| Event { instant: n * 10_000_000 + n % 3, arrival: n, document })
                .collect();
            let encoded = encode(&events).expect("encodes");
            let mut expected = Vec::new();
            for piece in [forge::unpacked(&encoded.directory).expect("unpacks")].iter().chain(&encoded.frames)
            {
                expected.extend(u16::try_from(piece.len()).expect("a small group").to_le_bytes());
                expected.extend(piece);
            }
            let group = corpus.join("group").join(file.file_name());
            if std::env::var_os("TAMIAS_BLESS").is_some() {
                std::fs::write(&group, &expected).expect("a writable folder");
            }
            assert_eq!(std::fs::read(&group).expect("a group of each file"), expected, "{group:?}");
            super::group(&expected);
        }
    }
}
