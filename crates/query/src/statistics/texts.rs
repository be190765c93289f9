//! The texts in statistics: whether each occurs in a document.

use super::check::FalseStatistics;
use super::packed::unpack_statistics;
use super::read::{KeyFacts, Statistics};
use super::{check_statistics, collect_statistics};

/// Counts the texts in a block's statistics (names of keys, strings, spellings of numbers), after checking that each occurs in its documents.
/// `ends` holds the end offset of each document, little-endian.
///
/// Statistics that equal those collected from the documents now are accepted at once. Others, those made from columns among them, are checked
/// as by [`check_statistics`], except for their filter, which holds no texts, and must have no byte beside their records. Takes time linear in the documents; for statistics that differ, that time for
/// each key that they list.
///
/// ```
/// let documents = b"{\"User\":\"eve\"}\n{\"User\":\"bob\"}\n";
/// let mut statistics = Vec::new();
/// tamias_query::collect_statistics(documents, &[14, 29], &mut statistics);
/// let ends = [14u32, 29].map(u32::to_le_bytes);
/// assert_eq!(tamias_query::statistics_texts(documents, &ends, &statistics)?, 3);
///
/// let others = b"{\"User\":\"bob\"}\n{\"User\":\"bob\"}\n";
/// assert!(tamias_query::statistics_texts(others, &ends, &statistics).is_err());
/// # Ok::<(), tamias_query::FalseStatistics>(())
/// ```
///
/// # Errors
/// If the statistics have a text that the documents do not have, or cannot be read.
pub fn statistics_texts(
    documents: &[u8],
    ends: &[[u8; 4]],
    statistics: &[u8],
) -> Result<u64, FalseStatistics> {
    if statistics.is_empty() {
        return Ok(0);
    }
    let unpacked = unpack_statistics(statistics.to_vec());
    let read = Statistics::parse(&unpacked).ok_or_else(FalseStatistics::unreadable)?;
    let is_fresh = || {
        let mut fresh = Vec::new();
        let native: Vec<u32> = ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
        collect_statistics(documents, &native, &mut fresh);
        fresh == unpacked
    };
    if read.has_paths() || !is_fresh() {
        check_statistics(documents, ends, &unpacked)?;
        if !read.is_gapless() {
            return Err(FalseStatistics::with_gaps());
        }
    }
    let mut texts = 0;
    for key in read.keys() {
        let (name, facts) = key.ok_or_else(FalseStatistics::unreadable)?;
        if facts.events == 0 {
            return Err(FalseStatistics::of_no_event(name));
        }
        texts += 1 + values(&facts);
    }
    Ok(texts)
}

/// How many values are told of a key.
fn values(facts: &KeyFacts<'_>) -> u64 {
    facts.values.map_or(0, |values| {
        let lists = [values.listed_strings, values.listed_numbers];
        let listed: usize = lists.into_iter().flatten().map(Iterator::count).sum();
        listed as u64 + if values.range.is_some() { 2 } else { 0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::layout::HEADER_BYTES;

    const DOCUMENTS: &[u8] = b"{\"User\":\"bob\",\"n\":1}\n{\"User\":\"eve\",\"n\":22}\n";
    const ENDS: [u32; 2] = [20, 42];

    fn texts(statistics: &[u8]) -> Result<u64, FalseStatistics> {
        statistics_texts(DOCUMENTS, &ENDS.map(u32::to_le_bytes), statistics)
    }

    fn fresh() -> Vec<u8> {
        let mut statistics = Vec::new();
        collect_statistics(DOCUMENTS, &ENDS, &mut statistics);
        statistics
    }

    /// The statistics with a text at a place, to which the offsets of what follows fit.
    fn with_text_at(place: usize) -> Vec<u8> {
        let mut statistics = fresh();
        statistics.splice(place..place, *b"mallory");
        let keys = usize::from(u16::from_le_bytes([statistics[2], statistics[3]]));
        for offset in statistics[HEADER_BYTES..HEADER_BYTES + 4 * keys].as_chunks_mut().0 {
            let now = u32::from_le_bytes(*offset);
            *offset = if now as usize >= place { now + 7 } else { now }.to_le_bytes();
        }
        statistics
    }

    /// No check has ever looked at these bytes, and a receipt of an erasure says that no erased text is left anywhere.
    #[test]
    fn between_records_of_earlier_statistics_there_is_no_room_for_a_text() {
        let statistics = fresh();
        assert_eq!(
            texts(&statistics),
            Ok(8),
            "two keys, two strings, two numbers, and the least and the greatest"
        );
        let offsets = &statistics[HEADER_BYTES..HEADER_BYTES + 8].as_chunks::<4>().0;
        let records: Vec<usize> = offsets.iter().map(|offset| u32::from_le_bytes(*offset) as usize).collect();
        let end = statistics.len() - 1;
        for place in [records[0], records[1], end] {
            let told = with_text_at(place);
            let ends = ENDS.map(u32::to_le_bytes);
            check_statistics(DOCUMENTS, &ends, &told).expect("they mislead no query");
            assert_eq!(texts(&told), Err(FalseStatistics::with_gaps()), "at {place}");
        }
    }

    #[test]
    fn within_the_parts_of_earlier_statistics_there_is_no_room_for_a_text() {
        let statistics = fresh();
        let mut found = 0;
        // Wherever a text fits, as the length of a part is made to tell of it.
        for at in HEADER_BYTES + 8..statistics.len() {
            let length = usize::from(statistics[at]);
            let (behind, longer) = (at + 1 + length, statistics[at].wrapping_add(7));
            if length < 2 || longer >= 0x80 || behind >= statistics.len() {
                continue;
            }
            let mut told = with_text_at(behind);
            told[at] = longer;
            found += 1;
            assert!(texts(&told).is_err(), "a length at {at}");
        }
        assert!(found > 4);
    }

    #[test]
    fn earlier_statistics_that_tell_less_are_read() {
        let mut told = fresh();
        // No key is called simple.
        let first = u32::from_le_bytes(*told[HEADER_BYTES..].first_chunk().unwrap()) as usize;
        let flags = first + 1 + usize::from(told[first]);
        assert_eq!(told[flags] & 1, 1);
        told[flags] &= !1;
        assert_eq!(texts(&told), Ok(8));
    }
}
