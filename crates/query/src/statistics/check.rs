//! Checking a block's statistics against its documents.
//!
//! Each conclusion that a query may draw from statistics is compared with the documents, which are scanned one by one, as on the plain path.
//! Missing facts are not an error: an older version may have recorded fewer.

mod key;
mod report;
#[cfg(test)]
mod tests;

use super::layout::{APART_VERSION, NAME_BYTES_MAX, PACKED_APART_VERSION, PACKED_VERSION, STEP, VERSION};
use super::packed::unpack_statistics;
use super::read::{KeyFacts, Statistics};
use report::{Member, expect, shown};
use std::collections::{BTreeMap, BTreeSet};
use tamias_json::{Document, Map, Value};

/// The error for statistics that contradict the documents of their block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FalseStatistics(String);

impl FalseStatistics {
    pub(super) fn unreadable() -> FalseStatistics {
        FalseStatistics("the statistics are malformed, or of another version".to_owned())
    }

    pub(super) fn with_gaps() -> FalseStatistics {
        FalseStatistics("the statistics have bytes that belong to no record".to_owned())
    }

    pub(super) fn of_no_event(key: &[u8]) -> FalseStatistics {
        FalseStatistics(format!("key \"{}\": in the statistics, and in no event", shown(key)))
    }
}

/// Checks a block's statistics against its documents. `ends` holds the end offset of each document, little-endian.
///
/// Takes time linear in the documents for each key that the statistics list, and memory of a few times their size.
///
/// ```
/// let documents = b"{\"a\":1}\n{\"a\":2}\n";
/// let mut statistics = Vec::new();
/// tamias_query::collect_statistics(documents, &[7, 15], &mut statistics);
/// let ends = [7u32, 15].map(u32::to_le_bytes);
/// tamias_query::check_statistics(documents, &ends, &statistics)?;
///
/// let others = b"{\"a\":1}\n{\"b\":2}\n";
/// assert!(tamias_query::check_statistics(others, &ends, &statistics).is_err());
/// # Ok::<(), tamias_query::FalseStatistics>(())
/// ```
///
/// # Errors
/// The first contradiction, or that the statistics are malformed. Statistics of another version, and empty ones, are always accepted. A filter that is
/// [apart](crate::split_statistics) is not looked at: [`join`](crate::join_statistics) it before.
pub fn check_statistics(
    documents: &[u8],
    ends: &[[u8; 4]],
    statistics: &[u8],
) -> Result<(), FalseStatistics> {
    let checked = match statistics.first() {
        Some(&(VERSION | APART_VERSION)) => check(documents, ends, statistics),
        Some(&(PACKED_VERSION | PACKED_APART_VERSION)) => match unpack_statistics(statistics.to_vec()) {
            unpacked if unpacked.is_empty() => Err("the statistics do not unpack".to_owned()),
            unpacked => check(documents, ends, &unpacked),
        },
        _ => Ok(()),
    };
    checked.map_err(FalseStatistics)
}

fn check(documents: &[u8], ends: &[[u8; 4]], statistics: &[u8]) -> Result<(), String> {
    let malformed = || "the statistics are malformed".to_owned();
    let statistics = Statistics::parse(statistics).ok_or_else(malformed)?;
    expect("events", statistics.events(), ends.len() as u32)?;
    let told = statistics.keys().collect::<Option<Vec<(&[u8], KeyFacts<'_>)>>>().ok_or_else(malformed)?;
    if !told.is_sorted_by(|(a, _), (b, _)| a < b) {
        return Err("the keys of the statistics are not in order".to_owned());
    }
    let scanned = scan(documents, ends)?;
    let mut block = Block {
        documents: &scanned,
        is_complete: statistics.is_complete(),
        has_all_paths: statistics.has_all_paths(),
        members: told.iter().map(|(name, _)| (*name, Vec::new())).collect(),
    };
    block.read(&statistics)?;
    for (name, facts) in &told {
        let members = block.members.get(name).map(Vec::as_slice).unwrap_or_default();
        key::check(&scanned, name, facts, members)
            .map_err(|what| format!("key \"{}\": {what}", shown(name)))?;
    }
    Ok(())
}

fn scan<'d>(documents: &'d [u8], ends: &[[u8; 4]]) -> Result<Vec<Document<'d>>, String> {
    let mut start = 0;
    let scanned = (0..).zip(ends).map(|(event, end): (u32, _)| {
        let end = u32::from_le_bytes(*end) as usize;
        let document = documents.get(start..end).and_then(|bytes| Document::scan_trusted(bytes).ok());
        start = end.saturating_add(1);
        document.ok_or_else(|| format!("event {event} is not a JSON object"))
    });
    scanned.collect()
}

struct Block<'d> {
    documents: &'d [Document<'d>],
    /// What is not listed is not there.
    is_complete: bool,
    /// The same of nested paths.
    has_all_paths: bool,
    /// By the names that the statistics list, in the order of the events.
    members: BTreeMap<&'d [u8], Vec<Member<'d>>>,
}

impl<'d> Block<'d> {
    /// Collects the members of all events, and checks what is told of whole events.
    fn read(&mut self, statistics: &Statistics<'_>) -> Result<(), String> {
        for (event, document) in (0..).zip(self.documents) {
            let is_flat = self.read_event(event, document, statistics)?;
            let flat =
                statistics.flat().get(event as usize / 8).is_some_and(|bits| bits >> (event % 8) & 1 == 1);
            if flat && !is_flat {
                return Err(format!("event {event}: flat in the statistics, not in the documents"));
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        name: &[u8],
        event: u32,
        value: &Value<'d>,
        must_be_listed: bool,
    ) -> Result<(), String> {
        match self.members.get_mut(name) {
            Some(members) => members.push(Member { event, value: value.raw() }),
            None if must_be_listed => {
                return Err(format!("key \"{}\": in event {event}, and not in the statistics", shown(name)));
            }
            None => {}
        }
        Ok(())
    }

    /// Collects what stands at paths in an object, however deep, but for those that are too long to be listed. What lies in something that comes twice counts as
    /// coming twice itself: of the two only the last is read.
    fn read_inside(
        &mut self,
        name: &[u8],
        event: u32,
        object: Map<'d>,
        comes_twice: bool,
    ) -> Result<(), String> {
        let mut left = vec![(name.to_vec(), object, comes_twice)];
        while let Some((name, object, comes_twice)) = left.pop() {
            let repeated = repeated(object);
            for (key, value) in object.entries() {
                if name.len() + 1 + key.raw().len() > NAME_BYTES_MAX {
                    if self.has_all_paths {
                        return Err(format!(
                            "a path in \"{}\": in event {event}, and longer than any in the statistics",
                            shown(&name)
                        ));
                    }
                    continue;
                }
                let path = [name.as_slice(), &[STEP], key.raw()].concat();
                self.add(&path, event, &value, self.has_all_paths)?;
                if comes_twice {
                    self.add(&path, event, &value, self.has_all_paths)?;
                }
                if let Value::Map(object) = value {
                    left.push((path, object, comes_twice || repeated.contains(key.raw())));
                }
            }
        }
        Ok(())
    }

    /// Whether the event is flat.
    fn read_event(
        &mut self,
        event: u32,
        document: &'d Document<'d>,
        statistics: &Statistics<'_>,
    ) -> Result<bool, String> {
        let repeated = repeated(document.root());
        let mut is_flat = repeated.is_empty();
        for (key, value) in document.root().entries() {
            let name = key.raw();
            is_flat &= !key.has_escapes() && !holds_object(&value);
            if statistics.never_nested() && matches!(value, Value::Map(_) | Value::Array(_)) {
                return Err(format!("event {event}: an object or array, where the statistics tell of none"));
            }
            self.add(name, event, &value, self.is_complete)?;
            if let Value::Map(object) = value {
                self.read_inside(name, event, object, repeated.contains(name))?;
            }
        }
        Ok(is_flat)
    }
}

/// The keys that an object has more than once.
fn repeated<'d>(object: Map<'d>) -> BTreeSet<&'d [u8]> {
    let mut keys: Vec<&[u8]> = object.entries().map(|(key, _)| key.raw()).collect();
    keys.sort_unstable();
    keys.array_windows().filter(|[one, next]| one == next).map(|[one, _]| *one).collect()
}

/// Whether it is an object, or an array in which there is one, however deep.
fn holds_object(value: &Value<'_>) -> bool {
    let mut left = vec![*value];
    while let Some(value) = left.pop() {
        match value {
            Value::Map(_) => return true,
            Value::Array(array) => left.extend(array.iter()),
            _ => {}
        }
    }
    false
}
