//! Manifests that lack something, with a right checksum: as a store writes them that has forgotten it.

use tamias_store::format::{ALIGNMENT, FileKind, HEADER_BYTES, Header, checksum};

/// Bytes of a segment's entry in the section `segments`, and of its entry in `columns`; each begins with the segment's number.
const SEGMENT_BYTES: usize = 104;
const COLUMNS_BYTES: usize = 16;

/// A section: its name, its flags, its bytes.
type Section = ([u8; 8], [u8; 4], Vec<u8>);

/// The manifest without the entry of its last segment; nothing if it has fewer than two.
pub(super) fn without_last_segment(bytes: &[u8]) -> Option<Vec<u8>> {
    altered(bytes, |sections| {
        let (_, _, segments) = sections.iter_mut().find(|(name, ..)| name == b"segments")?;
        let rest = segments.len().checked_sub(SEGMENT_BYTES).filter(|rest| *rest > 0)?;
        let number = segments.split_off(rest).first_chunk::<8>().copied()?;
        for (_, _, columns) in sections.iter_mut().filter(|(name, ..)| name.starts_with(b"columns")) {
            let entries = columns.chunks_exact(COLUMNS_BYTES).filter(|entry| !entry.starts_with(&number));
            *columns = entries.collect::<Vec<_>>().concat();
        }
        Some(())
    })
}

/// The manifest without the marks of what is deleted; nothing if it has none.
pub(super) fn without_marks(bytes: &[u8]) -> Option<Vec<u8>> {
    altered(bytes, |sections| {
        let before = sections.len();
        sections.retain(|(name, ..)| name != b"deleted\0");
        (sections.len() < before).then_some(())
    })
}

fn altered(bytes: &[u8], alter: impl FnOnce(&mut Vec<Section>) -> Option<()>) -> Option<Vec<u8>> {
    let header = Header::decode(FileKind::Manifest, bytes).ok()?;
    let (mut body, _) = bytes.get(HEADER_BYTES..)?.split_last_chunk::<4>()?;
    let mut sections = Vec::new();
    while !body.is_empty() {
        let (name, rest) = body.split_first_chunk::<8>()?;
        let (flags, rest) = rest.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        sections.push((*name, *flags, rest.get(..length)?.to_vec()));
        body = rest.get(length.next_multiple_of(ALIGNMENT as usize)..)?;
    }
    alter(&mut sections)?;
    let mut out = Vec::new();
    for (name, flags, bytes) in sections {
        out.extend([&name[..], &flags, &(bytes.len() as u32).to_le_bytes(), &bytes].concat());
        out.resize(out.len().next_multiple_of(ALIGNMENT as usize), 0);
    }
    let sum = checksum(header.seed(), &[&out]).to_le_bytes();
    Some([bytes.get(..HEADER_BYTES)?, &out, &sum].concat())
}
