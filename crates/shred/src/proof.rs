//! The proof of a group: what was written is read again, and put together gives every document back, byte for byte.

use crate::encoded::{Encoded, Event};
use crate::group::Group;

/// The rows of the documents that do not come back as they were; nothing where anything else does not.
pub(crate) fn differing(encoded: &Encoded, events: &[Event<'_>]) -> Option<Vec<usize>> {
    let group = Group::open(&encoded.directory).ok()?;
    let mut reader = group.read(&encoded.frames);
    let mut next = events.iter().enumerate();
    let mut rows = Vec::new();
    reader
        .each_document(|document| {
            rows.extend(next.next().filter(|(_, event)| event.document != document).map(|(row, _)| row));
        })
        .ok()?;
    let (instants, arrivals) = (reader.instants().ok()?, reader.arrivals().ok()?);
    let equal = next.next().is_none()
        && instants.iter().eq(events.iter().map(|event| &event.instant))
        && arrivals.iter().eq(events.iter().map(|event| &event.arrival));
    equal.then_some(rows)
}
