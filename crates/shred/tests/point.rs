//! What one document of a group costs.

use tamias_shred::{Event, Group, encode};

/// Texts of letters that repeat nowhere, in columns whose order is not that of the keys.
fn document(n: u64) -> String {
    let mut state = n + 1;
    let mut letter = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        char::from(b'a' + (state >> 60) as u8)
    };
    let members: Vec<String> = (0..40u64)
        .map(|key| {
            let text: String = (0..12 + key * 17 % 40 + n % 3).map(|_| letter()).collect();
            format!("\"k{key}\":\"{text}\"")
        })
        .collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn a_document_decompresses_no_chunk_twice() {
    let documents: Vec<String> = (0..400).map(document).collect();
    let events: Vec<Event<'_>> = (0..)
        .zip(&documents)
        .map(|(n, text)| Event { instant: n, arrival: n, document: text.as_bytes() })
        .collect();
    let encoded = encode(&events).expect("encodes");
    let group = Group::open(&encoded.directory).expect("opens");
    let mut all = group.read(&encoded.frames);
    all.documents().expect("reads");
    // Of many chunks, as many as the columns take.
    assert!(all.decompressed_bytes() > 4 * (64 << 10));
    for (row, document) in documents.iter().enumerate().step_by(37) {
        let mut reader = group.read(&encoded.frames);
        assert_eq!(reader.document(row).expect("reads"), document.as_bytes());
        assert!(reader.decompressed_bytes() <= all.decompressed_bytes(), "row {row}");
    }
}
