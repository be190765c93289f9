//! The proof of a group: the written bytes are decoded again, and must give every document byte for byte.

use crate::encoded::{Encoded, Event};
use crate::group::Group;

/// The rows of the documents that do not come back as they were; nothing where anything else does not.
pub(crate) fn differing(encoded: &Encoded, events: &[Event<'_>]) -> Option<Vec<usize>> {
    let group = Group::open(&encoded.directory).ok()?;
    let mut reader = group.read(&encoded.frames);
    let rows = reader.differing(events).ok()?;
    let (instants, arrivals) = (reader.instants().ok()?, reader.arrivals().ok()?);
    let equal = instants.iter().eq(events.iter().map(|event| &event.instant))
        && arrivals.iter().eq(events.iter().map(|event| &event.arrival));
    equal.then_some(rows)
}
