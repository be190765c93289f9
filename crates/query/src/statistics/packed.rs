//! Statistics as they are kept beside columns: the filter apart from what is read first, and that compressed where it pays.

use super::layout::{APART_VERSION, HEADER_BYTES, PACKED_APART_VERSION, PACKED_VERSION, VERSION};
use zstd::bulk;
use zstd::zstd_safe::find_frame_compressed_size;

/// Higher levels gain nothing for a few kilobytes.
const LEVEL: i32 = 3;
/// Of packed statistics with their filter: version, bytes of the filter, bytes of the rest once unpacked.
const PACKED_HEADER_BYTES: usize = 9;
/// Of those without: version, bytes once unpacked.
const PACKED_APART_HEADER_BYTES: usize = 5;
/// The maximum size of the rest: ten times that of the longest block.
const REST_BYTES_MAX: usize = 4 << 20;

/// Statistics in two parts. The filter is most of them, and few queries ask it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitStatistics {
    /// All but the filter. Compressed if that saves at least a quarter of both; otherwise it is quicker to read as it is.
    pub statistics: Vec<u8>,
    /// The filter; may be empty.
    pub filter: Vec<u8>,
}

/// Splits statistics from [`collect_statistics`](super::collect_statistics). [`join_statistics`] puts them together again. What is not such statistics is not split.
///
/// ```
/// let documents = [br#"{"Application":"Shop.Api"}"#.as_slice(); 100].join(&b'\n');
/// let ends: Vec<u32> = (1..=100).map(|n| n * 27 - 1).collect();
/// let mut statistics = Vec::new();
/// tamias_query::collect_statistics(&documents, &ends, &mut statistics);
/// let split = tamias_query::split_statistics(statistics.clone());
/// assert_eq!(tamias_query::join_statistics(&split.statistics, &split.filter), Some(statistics));
/// ```
pub fn split_statistics(statistics: Vec<u8>) -> SplitStatistics {
    let Some((mut rest, filter)) = without_filter(&statistics) else {
        return SplitStatistics { statistics, filter: Vec::new() };
    };
    if let Some(packed) = packed(&rest)
        && packed.len() + statistics.len() / 4 <= rest.len()
    {
        rest = packed;
    }
    SplitStatistics { statistics: rest, filter }
}

/// Puts statistics together with their filter, which is empty where it is not apart; what was packed is unpacked. `None` if that is malformed, or the filter is not
/// as long as the statistics say, or they are of [another version](knows_statistics) and have one. Takes time and memory linear in their size, at most 4 MiB in addition to the input.
pub fn join_statistics(statistics: &[u8], filter: &[u8]) -> Option<Vec<u8>> {
    match statistics.first() {
        Some(&PACKED_VERSION) if filter.is_empty() => unpacked(statistics),
        Some(&APART_VERSION) => with_filter(statistics, filter),
        Some(&PACKED_APART_VERSION) => {
            unpacked_apart(statistics).and_then(|statistics| with_filter(&statistics, filter))
        }
        Some(&PACKED_VERSION) => None,
        _ => filter.is_empty().then(|| statistics.to_vec()),
    }
}

/// Whether statistics are of a version that this library knows. Nothing can be said against others. Takes constant time.
pub fn knows_statistics(statistics: &[u8]) -> bool {
    let known = [VERSION, PACKED_VERSION, APART_VERSION, PACKED_APART_VERSION];
    statistics.first().is_some_and(|version| known.contains(version))
}

/// Unpacks statistics, whether their filter is apart or not; returns unpacked ones unchanged. Takes time and memory linear in their size, at most 4 MiB in addition to the input.
/// Malformed input gives an empty result, which means that nothing is known.
pub fn unpack_statistics(bytes: Vec<u8>) -> Vec<u8> {
    match bytes.first() {
        Some(&PACKED_VERSION) => unpacked(&bytes).unwrap_or_default(),
        Some(&PACKED_APART_VERSION) => unpacked_apart(&bytes).unwrap_or_default(),
        _ => bytes,
    }
}

/// Statistics of version 1 without their filter, and the filter.
fn without_filter(statistics: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let filter_bytes = filter_bytes(statistics).filter(|_| statistics.first() == Some(&VERSION))?;
    let flat = statistics.len().checked_sub(flat_bytes(statistics)?)?;
    let filter = statistics.get(flat.checked_sub(filter_bytes)?..flat)?;
    let mut rest = [statistics.get(..flat - filter_bytes)?, statistics.get(flat..)?].concat();
    *rest.first_mut()? = APART_VERSION;
    Some((rest, filter.to_vec()))
}

/// Those of version 1 again.
fn with_filter(rest: &[u8], filter: &[u8]) -> Option<Vec<u8>> {
    let (before, flat) = rest.split_at_checked(rest.len().checked_sub(flat_bytes(rest)?)?)?;
    let mut joined = (filter_bytes(rest)? == filter.len()).then(|| [before, filter, flat].concat())?;
    *joined.first_mut()? = VERSION;
    Some(joined)
}

fn packed(rest: &[u8]) -> Option<Vec<u8>> {
    if rest.len() > REST_BYTES_MAX {
        return None;
    }
    let compressed = bulk::compress(rest, LEVEL).ok()?;
    Some([&[PACKED_APART_VERSION], (rest.len() as u32).to_le_bytes().as_slice(), &compressed].concat())
}

/// Those that were packed without their filter; none where they are malformed.
fn unpacked_apart(bytes: &[u8]) -> Option<Vec<u8>> {
    let ([_, length @ ..], compressed) = bytes.split_first_chunk::<PACKED_APART_HEADER_BYTES>()?;
    let rest = decompressed(compressed, u32::from_le_bytes(*length) as usize)?;
    (rest.first() == Some(&APART_VERSION)).then_some(rest)
}

/// Those that were packed with their filter; none where they are malformed.
fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let (header, body) = bytes.split_first_chunk::<PACKED_HEADER_BYTES>()?;
    let [_, f0, f1, f2, f3, r0, r1, r2, r3] = *header;
    let (filter, compressed) = body.split_at_checked(u32::from_le_bytes([f0, f1, f2, f3]) as usize)?;
    let rest = decompressed(compressed, u32::from_le_bytes([r0, r1, r2, r3]) as usize)?;
    if rest.first() != Some(&VERSION) {
        return None;
    }
    with_filter(&rest, filter)
}

fn decompressed(compressed: &[u8], bytes: usize) -> Option<Vec<u8>> {
    // A second frame, which may be skipped, could hold anything.
    let is_one_frame = find_frame_compressed_size(compressed) == Ok(compressed.len());
    if bytes > REST_BYTES_MAX || !is_one_frame {
        return None;
    }
    bulk::decompress(compressed, bytes).ok().filter(|rest| rest.len() == bytes)
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

    /// As an earlier version packed them, filter and all.
    fn packed_with_filter(statistics: &[u8]) -> Vec<u8> {
        let (mut rest, filter) = without_filter(statistics).unwrap();
        rest[0] = VERSION;
        let compressed = bulk::compress(&rest, LEVEL).unwrap();
        let lengths = [filter.len() as u32, rest.len() as u32].map(u32::to_le_bytes);
        [&[PACKED_VERSION], lengths.as_flattened(), &filter, &compressed].concat()
    }

    #[test]
    fn what_is_split_comes_back() {
        let statistics = statistics();
        let SplitStatistics { statistics: rest, filter } = split_statistics(statistics.clone());
        assert!(rest.len() + filter.len() <= statistics.len() && filter.len() > statistics.len() / 4);
        assert_eq!(join_statistics(&rest, &filter), Some(statistics.clone()));
        let packed = packed(&without_filter(&statistics).unwrap().0).unwrap();
        assert_eq!(join_statistics(&packed, &filter), Some(statistics));
    }

    #[test]
    fn what_an_earlier_version_packed_comes_back() {
        let statistics = statistics();
        let packed = packed_with_filter(&statistics);
        assert_eq!(unpack_statistics(packed.clone()), statistics);
        assert_eq!(join_statistics(&packed, &[]), Some(statistics.clone()));
        assert_eq!(join_statistics(&statistics, &[]), Some(statistics));
    }

    #[test]
    fn what_saves_little_is_not_packed() {
        let mut statistics = Vec::new();
        collect_statistics(b"{\"a\":1}\n", &[7], &mut statistics);
        let split = split_statistics(statistics.clone());
        assert_eq!((split.statistics.first(), split.filter.len()), (Some(&APART_VERSION), 0));
        assert_eq!(unpack_statistics(split.statistics.clone()), split.statistics);
        assert_eq!(split_statistics(Vec::new()), SplitStatistics::default());
    }

    #[test]
    fn a_filter_that_is_no_part_of_the_statistics_is_told() {
        let statistics = statistics();
        let SplitStatistics { statistics: rest, filter } = split_statistics(statistics.clone());
        assert!(join_statistics(&rest, &filter[1..]).is_none());
        assert!(join_statistics(&rest, &[&filter[..], b"mallory"].concat()).is_none());
        assert!(join_statistics(&statistics, b"mallory").is_none());
        assert!(join_statistics(&packed_with_filter(&statistics), b"mallory").is_none());
        assert!(join_statistics(&[], b"mallory").is_none());
        assert_eq!(join_statistics(&[], &[]), Some(Vec::new()));
    }

    #[test]
    fn the_filter_of_a_later_version_is_not_judged() {
        let later = [PACKED_APART_VERSION + 1, 7, 7];
        assert!(!knows_statistics(&later) && !knows_statistics(&[]));
        assert!(join_statistics(&later, b"whatever").is_none());
        assert!(
            knows_statistics(&statistics()) && knows_statistics(&split_statistics(statistics()).statistics)
        );
    }

    #[test]
    fn of_what_is_malformed_nothing_is_known() {
        let statistics = statistics();
        let earlier = packed_with_filter(&statistics);
        let now = packed(&without_filter(&statistics).unwrap().0).unwrap();
        for (packed, length_at) in [(earlier, 5), (now, 1)] {
            for cut in 1..packed.len() {
                assert_eq!(unpack_statistics(packed[..cut].to_vec()), Vec::<u8>::new(), "{cut}");
            }
            let mut too_long = packed.clone();
            too_long[length_at..length_at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            assert_eq!(unpack_statistics(too_long), Vec::<u8>::new());
            // A second frame, of bytes that are skipped.
            let skipped = [&packed[..], b"\x50\x2a\x4d\x18\x07\x00\x00\x00mallory"].concat();
            assert_eq!(unpack_statistics(skipped), Vec::<u8>::new());
            // Another length, of the filter or of the rest, than the header tells of.
            let mut shifted = packed;
            shifted[1] ^= 1;
            assert_eq!(unpack_statistics(shifted), Vec::<u8>::new());
        }
    }
}
