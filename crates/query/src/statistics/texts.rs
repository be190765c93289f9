//! The texts in statistics: whether each occurs in a document.

use super::check::FalseStatistics;
use super::packed::unpack_statistics;
use super::read::{KeyFacts, Statistics};
use super::{check_statistics, collect_statistics};

/// Counts the texts in a block's statistics (names of keys, strings, spellings of numbers), after checking that each occurs in its documents.
/// `ends` holds the end offset of each document, little-endian.
///
/// Statistics that equal those collected from the documents now are accepted at once. Others, for instance from an earlier version, are checked
/// as by [`check_statistics`], except for their filter, which holds no texts. Takes time linear in the documents; for statistics that differ, that time for
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
    let mut fresh = Vec::new();
    let native: Vec<u32> = ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
    collect_statistics(documents, &native, &mut fresh);
    let is_fresh = fresh == unpacked;
    if !is_fresh {
        check_statistics(documents, ends, &unpacked)?;
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
