//! Compressed statistics: all but the filter, whose bits cannot be compressed.

use super::layout::{HEADER_BYTES, PACKED_VERSION, VERSION};
use zstd::bulk;
use zstd::zstd_safe::find_frame_compressed_size;

/// Higher levels gain nothing for a few kilobytes.
const LEVEL: i32 = 3;
/// Version, bytes of the filter, bytes of the rest once unpacked.
const PACKED_HEADER_BYTES: usize = 9;
/// The maximum size of the rest: ten times that of the longest block.
const REST_BYTES_MAX: usize = 4 << 20;

/// Compresses statistics from [`collect_statistics`](super::collect_statistics) if that saves at least a quarter; otherwise returns them unchanged, since
/// they are faster to read. [`unpack_statistics`] restores them.
///
/// ```
/// let documents = [br#"{"Application":"Shop.Api"}"#.as_slice(); 100].join(&b'\n');
/// let ends: Vec<u32> = (1..=100).map(|n| n * 27 - 1).collect();
/// let mut statistics = Vec::new();
/// tamias_query::collect_statistics(&documents, &ends, &mut statistics);
/// let packed = tamias_query::pack_statistics(statistics.clone());
/// assert_eq!(tamias_query::unpack_statistics(packed), statistics);
/// ```
pub fn pack_statistics(statistics: Vec<u8>) -> Vec<u8> {
    match packed(&statistics) {
        Some(packed) if packed.len() <= statistics.len() / 4 * 3 => packed,
        _ => statistics,
    }
}

/// Restores packed statistics; returns unpacked ones unchanged. Takes time and memory linear in their size, at most 4 MiB in addition to the input.
/// Malformed input gives an empty result, which means that nothing is known.
pub fn unpack_statistics(bytes: Vec<u8>) -> Vec<u8> {
    match bytes.first() {
        Some(&PACKED_VERSION) => unpacked(&bytes).unwrap_or_default(),
        _ => bytes,
    }
}

fn packed(statistics: &[u8]) -> Option<Vec<u8>> {
    let filter_bytes = filter_bytes(statistics)?;
    let flat = statistics.len().checked_sub(flat_bytes(statistics)?)?;
    let filter = statistics.get(flat.checked_sub(filter_bytes)?..flat)?;
    let rest = [statistics.get(..flat - filter_bytes)?, statistics.get(flat..)?].concat();
    if rest.len() > REST_BYTES_MAX {
        return None;
    }
    let compressed = bulk::compress(&rest, LEVEL).ok()?;
    let lengths = [filter_bytes as u32, rest.len() as u32].map(u32::to_le_bytes);
    Some([&[PACKED_VERSION], lengths.as_flattened(), filter, &compressed].concat())
}

/// Those that were packed; none where they are malformed.
pub(super) fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let (header, body) = bytes.split_first_chunk::<PACKED_HEADER_BYTES>()?;
    let [_, f0, f1, f2, f3, r0, r1, r2, r3] = *header;
    let (filter, compressed) = body.split_at_checked(u32::from_le_bytes([f0, f1, f2, f3]) as usize)?;
    let rest_bytes = u32::from_le_bytes([r0, r1, r2, r3]) as usize;
    if rest_bytes > REST_BYTES_MAX {
        return None;
    }
    // A second frame, which may be skipped, could hold anything.
    if find_frame_compressed_size(compressed) != Ok(compressed.len()) {
        return None;
    }
    let rest = bulk::decompress(compressed, rest_bytes).ok().filter(|rest| rest.len() == rest_bytes)?;
    let is_fitting = rest.first() == Some(&VERSION) && filter_bytes(&rest) == Some(filter.len());
    let (before, flat) = rest.split_at_checked(rest.len().checked_sub(flat_bytes(&rest)?)?)?;
    is_fitting.then(|| [before, filter, flat].concat())
}

/// What the header says of the filter.
fn filter_bytes(statistics: &[u8]) -> Option<usize> {
    let [.., f0, f1, f2, f3] = *statistics.first_chunk::<HEADER_BYTES>()?;
    Some(u32::from_le_bytes([f0, f1, f2, f3]) as usize)
}

/// How long the bits of the events are, at the end.
fn flat_bytes(statistics: &[u8]) -> Option<usize> {
    let [_, _, _, _, e0, e1, e2, e3, ..] = *statistics.first_chunk::<HEADER_BYTES>()?;
    Some(u32::from_le_bytes([e0, e1, e2, e3]).div_ceil(8) as usize)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::collect_statistics;

    /// Statistics of documents that fill a list, and a filter.
    fn statistics() -> Vec<u8> {
        let (mut documents, mut ends) = (Vec::new(), Vec::new());
        for n in 0..2000 {
            let (kind, id) = (["first of all", "second to none", "third"][n % 3], n * 7919);
            let note = "what takes room in a document ".repeat(8);
            let document = format!(r#"{{"Kind{}":"{kind}","Id":"{id:x}","n":{n},"Note":"{note}"}}"#, n % 40);
            documents.extend(document.bytes());
            ends.push(documents.len() as u32);
            documents.push(b'\n');
        }
        let mut statistics = Vec::new();
        collect_statistics(&documents, &ends, &mut statistics);
        assert!(filter_bytes(&statistics).unwrap() > 0);
        statistics
    }

    #[test]
    fn what_is_packed_comes_back() {
        let statistics = statistics();
        let packed = packed(&statistics).unwrap();
        assert!(packed.len() < statistics.len());
        assert_eq!(unpack_statistics(packed), statistics);
    }

    #[test]
    fn what_saves_little_stays() {
        let mut statistics = Vec::new();
        collect_statistics(b"{\"a\":1}\n", &[7], &mut statistics);
        assert_eq!(pack_statistics(statistics.clone()), statistics);
        assert_eq!(unpack_statistics(statistics.clone()), statistics);
        assert_eq!(pack_statistics(Vec::new()), Vec::<u8>::new());
    }

    #[test]
    fn of_what_is_malformed_nothing_is_known() {
        let packed = packed(&statistics()).unwrap();
        for cut in 1..packed.len() {
            assert_eq!(unpack_statistics(packed[..cut].to_vec()), Vec::<u8>::new(), "{cut}");
        }
        let mut too_long = packed.clone();
        too_long[5..9].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(unpack_statistics(too_long), Vec::<u8>::new());
        // A second frame, of bytes that are skipped.
        let skipped = [&packed[..], b"\x50\x2a\x4d\x18\x07\x00\x00\x00mallory"].concat();
        assert_eq!(unpack_statistics(skipped), Vec::<u8>::new());
        // Another filter than the header tells of.
        let mut shifted = packed;
        shifted[1] ^= 1;
        assert_eq!(unpack_statistics(shifted), Vec::<u8>::new());
    }
}
