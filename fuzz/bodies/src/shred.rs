//! Any documents as columns, and back.

use std::cell::RefCell;
use std::collections::BTreeSet;

use tamias_shred::{Encoder, Event, Group, group_len};

thread_local! {
    /// Kept from input to input: to make the memory that it needs took a sixth of the time of an input.
    static ENCODER: RefCell<Encoder> = RefCell::new(Encoder::new().expect("memory for a compressor"));
}

/// So many documents are read alone. Of an input of twenty lines, to read each took as long as to encode all.
const ALONE: usize = 4;

/// Documents, one a line, come back from columns byte for byte, all together, and alone those from the first to the last at equal distances.
///
/// Inputs above 16 KiB are left out: they take longer and show nothing that smaller ones do not.
pub fn shred(input: &[u8]) {
    if input.len() > 16 << 10 {
        return;
    }
    let events: Vec<Event<'_>> = input
        .split(|byte| *byte == b'\n')
        .zip(0..)
        .map(|(document, n)| Event { instant: n * 10_000_000 + n % 3, arrival: n, document })
        .collect();
    let events = &events[..group_len(&events)];
    let encoded = ENCODER
        .with_borrow_mut(|encoder| encoder.encode(events))
        .expect("a group of fewer events and bytes than the limits");
    assert!(!encoded.fell_back, "columns must give the documents back");
    let group = Group::open(&encoded.directory).expect("what was written opens");
    let mut reader = group.read(&encoded.frames);
    let documents = reader.documents().expect("what was written reads");
    assert!(documents.iter().eq(events.iter().map(|event| event.document)));
    let alone: BTreeSet<usize> = (0..ALONE).map(|nth| nth * (events.len() - 1) / (ALONE - 1)).collect();
    for row in alone {
        assert_eq!(reader.document(row).expect("what was written reads"), events[row].document, "row {row}");
    }
    for column in 0..group.columns().len() {
        let values = reader.column(column).expect("what was written reads");
        let rows = reader.rows(column).expect("what was written reads");
        assert_eq!(values.len(), rows.len());
        assert!(rows.is_sorted());
    }
}
