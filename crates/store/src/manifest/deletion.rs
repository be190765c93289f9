//! The sections of a manifest that tell what is deleted, and still in files.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::content::{Erasing, Manifest, SegmentEntry};
use crate::format::{Fields, NUMBER_MAX, encode_key};
use crate::marks::{Arrivals, Marks, Stretch};

/// Appends the marks of segments: number, events, bytes of documents, keys that stay, stretches.
pub(super) fn encode_deleted(deleted: &BTreeMap<u64, Arc<Marks>>, out: &mut Vec<u8>) {
    for (number, marks) in deleted {
        let Marks { events, document_bytes, stay, stretches } = &**marks;
        for field in [*number, *events, *document_bytes] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        encode_key(stay.0, out);
        encode_key(stay.1, out);
        out.extend_from_slice(&(stretches.len() as u64).to_le_bytes());
        for Stretch { block, first, events } in stretches {
            for field in [block, first, events] {
                out.extend_from_slice(&field.to_le_bytes());
            }
        }
    }
}

pub(super) fn decode_deleted(at: &mut Fields<'_>) -> Option<BTreeMap<u64, Arc<Marks>>> {
    let mut deleted = BTreeMap::new();
    while !at.0.is_empty() {
        let (number, events, document_bytes) = (at.u64()?, at.u64()?, at.u64()?);
        let stay = (at.key()?, at.key()?);
        let count = usize::try_from(at.u64()?).ok()?;
        let mut stretches = Fields(at.bytes(count.checked_mul(STRETCH_BYTES)?)?);
        let mut marks = Marks { events, document_bytes, stay, stretches: Vec::with_capacity(count) };
        while !stretches.0.is_empty() {
            let (block, first, events) = (stretches.u32()?, stretches.u32()?, stretches.u32()?);
            marks.stretches.push(Stretch { block, first, events });
        }
        if !marks.are_sound() || deleted.insert(number, Arc::new(marks)).is_some() {
            return None;
        }
    }
    Some(deleted)
}

const STRETCH_BYTES: usize = 12;

/// Whether marks fit the segments that they are of.
pub(super) fn fit(deleted: &BTreeMap<u64, Arc<Marks>>, segments: &[SegmentEntry]) -> bool {
    let fits = |entry: &SegmentEntry, marks: &Marks| {
        marks.events < entry.events
            && marks.document_bytes < entry.document_bytes
            && entry.first <= marks.stay.0
            && marks.stay.1 <= entry.last
            && marks.stretches.last().is_some_and(|last| last.block < entry.blocks)
    };
    let marked = segments.iter().filter_map(|entry| Some((entry, deleted.get(&entry.number)?)));
    let fitting = marked.filter(|(entry, marks)| fits(entry, marks)).count();
    fitting == deleted.len()
}

/// Appends what is being erased.
pub(super) fn encode_erasing(erasing: &Erasing, out: &mut Vec<u8>) {
    let Erasing { began, document_bytes, files, file_bytes, below, arrivals } = erasing;
    for field in [began, document_bytes, files, file_bytes, below] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    encode_arrivals(arrivals, out);
}

pub(super) fn decode_erasing(at: &mut Fields<'_>) -> Option<Erasing> {
    let (began, document_bytes) = (at.u64()?, at.u64()?);
    let (files, file_bytes, below) = (at.u64()?, at.u64()?, at.u64()?);
    let arrivals = decode_arrivals(at)?;
    Some(Erasing { began, document_bytes, files, file_bytes, below, arrivals })
}

/// Appends arrival numbers: of each stretch the first, and how many.
pub(crate) fn encode_arrivals(arrivals: &Arrivals, out: &mut Vec<u8>) {
    for (first, count) in &arrivals.stretches {
        out.extend_from_slice(&first.to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
    }
}

/// Reads arrival numbers, to the end.
pub(crate) fn decode_arrivals(at: &mut Fields<'_>) -> Option<Arrivals> {
    let mut arrivals = Arrivals::default();
    while !at.0.is_empty() {
        arrivals.stretches.push((at.u64()?, at.u64()?));
    }
    arrivals.are_sound(NUMBER_MAX).then_some(arrivals)
}

impl Manifest {
    /// The segments with the figures of the events that are not deleted.
    pub(crate) fn shown(&self) -> Vec<SegmentEntry> {
        let shown =
            |entry: &SegmentEntry| entry.without(self.deleted.get(&entry.number).map(|marks| &**marks));
        self.segments.iter().map(shown).collect()
    }

    /// Forgets the marks of segments that are not live any more, and counts these as erased. `old` is the manifest before.
    pub(crate) fn forget_marks(&mut self, old: &Manifest) {
        let live: std::collections::BTreeSet<u64> = self.segments.iter().map(|entry| entry.number).collect();
        self.deleted.retain(|number, _| live.contains(number));
        let gone = old.segments.iter().filter(|entry| old.deleted.contains_key(&entry.number));
        for entry in gone.filter(|entry| !live.contains(&entry.number)) {
            if let Some(erasing) = &mut self.erasing {
                erasing.files = erasing.files.saturating_add(1);
                erasing.file_bytes = erasing.file_bytes.saturating_add(entry.file_bytes);
            }
        }
    }
}

impl SegmentEntry {
    /// With the figures of the events that are left where others are deleted.
    pub(crate) fn without(&self, marks: Option<&Marks>) -> SegmentEntry {
        let Some(marks) = marks else { return *self };
        SegmentEntry {
            events: self.events.saturating_sub(marks.events),
            document_bytes: self.document_bytes.saturating_sub(marks.document_bytes),
            first: marks.stay.0,
            last: marks.stay.1,
            ..*self
        }
    }
}
