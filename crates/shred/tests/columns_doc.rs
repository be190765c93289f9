//! The worked dump of `docs/columns.md` is what the code writes.

use tamias_shred::{Event, encode, forge};

/// The bytes of each block of text that is a dump: pairs of hex digits, then two blanks and a remark.
fn dumps(page: &str) -> Vec<Vec<u8>> {
    let blocks = page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("text\n"));
    let line = |line: &str| {
        let hex = line.split("  ").next().unwrap_or_default();
        hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).ok()).collect::<Option<Vec<u8>>>()
    };
    let block = |block: &str| block.lines().map(line).collect::<Option<Vec<Vec<u8>>>>();
    blocks.filter_map(block).map(|lines| lines.concat()).collect()
}

#[test]
fn the_worked_dump_is_what_is_written() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/columns.md")).unwrap();
    let documents: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with('{'))
        .filter_map(|line| line.split("   ").next())
        .collect();
    assert_eq!(documents.len(), 3);
    let events: Vec<Event<'_>> = (1..)
        .zip(&documents)
        .map(|(n, document)| Event { instant: 1_000 * n, arrival: n, document: document.as_bytes() })
        .collect();
    let encoded = encode(&events).unwrap();
    let mut written = vec![forge::unpacked(&encoded.directory).unwrap()];
    written.extend(encoded.frames);
    assert_eq!(written, dumps(&page));
}
