//! Whether what a summary tells of a block is true of its documents.
//!
//! Each conclusion that a query may draw from a summary is held against the documents, which are scanned one by one, as the plain path
//! does it. What a summary leaves open is no mistake: an older version may have told less.

mod key;
mod report;
#[cfg(test)]
mod tests;

use super::layout::VERSION;
use super::read::{KeyFacts, Summary};
use report::{Member, expect, shown};
use std::collections::BTreeMap;
use tamias_json::{Document, Value};

/// What a block's summary tells, and its documents contradict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FalseSummary(String);

/// Holds a block's summary against its documents, each of which ends where `ends` (little-endian) tells.
///
/// Takes time linear in the documents for each key that the summary lists, and some times their memory.
///
/// ```
/// let documents = b"{\"a\":1}\n{\"a\":2}\n";
/// let mut summary = Vec::new();
/// tamias_query::summarize(documents, &[7, 15], &mut summary);
/// let ends = [7u32, 15].map(u32::to_le_bytes);
/// tamias_query::check_summary(documents, &ends, &summary)?;
///
/// let others = b"{\"a\":1}\n{\"b\":2}\n";
/// assert!(tamias_query::check_summary(others, &ends, &summary).is_err());
/// # Ok::<(), tamias_query::FalseSummary>(())
/// ```
///
/// # Errors
/// The first thing that is not so, or that the summary is malformed. One of another version tells nothing, nor does an empty one.
pub fn check_summary(documents: &[u8], ends: &[[u8; 4]], summary: &[u8]) -> Result<(), FalseSummary> {
    match summary.first() {
        Some(&VERSION) => check(documents, ends, summary).map_err(FalseSummary),
        _ => Ok(()),
    }
}

fn check(documents: &[u8], ends: &[[u8; 4]], summary: &[u8]) -> Result<(), String> {
    let malformed = || "the summary is malformed".to_owned();
    let summary = Summary::parse(summary).ok_or_else(malformed)?;
    expect("events", summary.events(), ends.len() as u32)?;
    let told = summary.keys().collect::<Option<Vec<(&[u8], KeyFacts<'_>)>>>().ok_or_else(malformed)?;
    if !told.is_sorted_by(|(a, _), (b, _)| a < b) {
        return Err("the keys of the summary are not in order".to_owned());
    }
    let scanned = scan(documents, ends)?;
    let mut block = Block {
        documents: &scanned,
        is_complete: summary.is_complete(),
        members: told.iter().map(|(name, _)| (*name, Vec::new())).collect(),
    };
    block.read(&summary)?;
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
        document.ok_or_else(|| format!("event {event} is no JSON object"))
    });
    scanned.collect()
}

struct Block<'d> {
    documents: &'d [Document<'d>],
    /// What is not listed is not there.
    is_complete: bool,
    /// By the names that the summary lists, in the order of the events.
    members: BTreeMap<&'d [u8], Vec<Member<'d>>>,
}

impl<'d> Block<'d> {
    /// Collects the members of all events, and checks what is told of whole events.
    fn read(&mut self, summary: &Summary<'_>) -> Result<(), String> {
        for (event, document) in (0..).zip(self.documents) {
            let is_flat = self.read_event(event, document, summary)?;
            let flat =
                summary.flat().get(event as usize / 8).is_some_and(|bits| bits >> (event % 8) & 1 == 1);
            if flat && !is_flat {
                return Err(format!("event {event}: flat in the summary, not in the documents"));
            }
        }
        Ok(())
    }

    /// Whether the event is flat.
    fn read_event(
        &mut self,
        event: u32,
        document: &'d Document<'d>,
        summary: &Summary<'_>,
    ) -> Result<bool, String> {
        let mut is_flat = true;
        let mut names = Vec::new();
        for (key, value) in document.root().entries() {
            let name = key.raw();
            names.push(name);
            is_flat &= !key.has_escapes() && !holds_object(&value);
            if summary.never_nested() && matches!(value, Value::Map(_) | Value::Array(_)) {
                return Err(format!("event {event}: an object or array, where the summary tells of none"));
            }
            match self.members.get_mut(name) {
                Some(members) => members.push(Member { event, value: value.raw() }),
                None if self.is_complete => {
                    return Err(format!("key \"{}\": in event {event}, and not in the summary", shown(name)));
                }
                None => {}
            }
        }
        names.sort_unstable();
        Ok(is_flat && names.array_windows().all(|[one, next]| one != next))
    }
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
