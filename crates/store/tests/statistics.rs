//! Statistics of blocks: each is made of its own block, beside the writing of others too.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use tamias_store::{Codec, Direction, Event, Options, Store};

/// The first document, and how many there are.
struct First;

fn first(documents: &[u8], events: usize) -> Vec<u8> {
    let mut said = documents.split(|&byte| byte == b'\n').next().unwrap().to_vec();
    said.extend_from_slice(&(events as u32).to_le_bytes());
    said
}

impl Codec for First {
    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>) {
        statistics.extend_from_slice(&first(documents, ends.len()));
    }
}

#[test]
fn each_block_has_its_own_statistics() {
    // The larger store is described by a thread of its own.
    for events in [200, 12_000] {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { block_bytes: 100_000, ..Options::default() };
        let store = Store::open(folder.path(), options, Arc::new(First)).unwrap();
        let documents: Vec<String> = (0..events).map(|n| format!("{n}{}", "x".repeat(1000))).collect();
        let events: Vec<Event<'_>> = documents
            .iter()
            .zip(0..)
            .map(|(document, instant)| Event { instant, bytes: document.as_bytes() })
            .collect();
        store.append_sealed(&events, None).unwrap();
        let mut found = 0;
        for group in store.snapshot().groups(0..=u64::MAX, Direction::Ascending) {
            for block in group.unwrap() {
                let expected = first(block.documents().unwrap().bytes, block.len());
                assert_eq!(block.statistics(), Some(&expected[..]));
                found += block.len();
            }
        }
        assert_eq!(found, events.len());
    }
}
