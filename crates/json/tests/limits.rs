//! The limits, held by what is too large.

use tamias_json::{BYTES_MAX, Offsets, ScanError};

#[test]
fn a_document_over_the_limit_is_refused_unread() {
    // Zeros that nobody touches take no memory.
    let mut bytes = vec![0; BYTES_MAX + 1];
    bytes[0] = b'{';
    let mut offsets = Offsets::new();
    assert_eq!(offsets.scan_trusted(&bytes).err(), Some(ScanError::TooLong { bytes: BYTES_MAX + 1 }));
    assert!(offsets.scan_trusted(b"{}").is_ok());
}
