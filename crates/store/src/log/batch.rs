//! A batch as it stands in a log.

use crate::event::Event;
use crate::format::{ALIGNMENT, Frame, Key};
use crate::manifest::SourceMark;
use crate::run;

/// How much of a log is read or copied at once, unless a batch is longer.
pub(super) const WINDOW_BYTES: usize = 256 * 1024;

/// Where a source stood after a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourcePosition<'a> {
    /// The source's name, chosen by the caller; at most 4096 bytes.
    pub name: &'a str,
    /// Where it stood, in the caller's own measure.
    pub position: u64,
    /// What else the caller wants to find with it, in a form of its own; at most 32 KiB. It replaces the note before.
    pub note: &'a [u8],
}

impl SourcePosition<'_> {
    /// What is kept of it, with the first arrival number after its batch.
    pub(crate) fn mark(&self, next_arrival: u64) -> SourceMark {
        SourceMark { position: self.position, next_arrival, note: self.note.into() }
    }
}

/// A batch as it stands in a log; its parts fit together.
#[derive(Debug)]
pub(crate) struct StoredBatch<'a> {
    pub(crate) frame: Frame,
    body: &'a [u8],
    events: Vec<Event<'a>>,
    source_name: &'a str,
    source_note: &'a [u8],
}

impl<'a> StoredBatch<'a> {
    /// Takes a batch apart; `None` if its parts do not fit together.
    pub(super) fn parse(frame: Frame, body: &'a [u8]) -> Option<StoredBatch<'a>> {
        let count = frame.events as usize;
        let (instants, rest) = body.split_at_checked(count.checked_mul(8)?)?;
        let (ends, rest) = rest.split_at_checked(count.checked_mul(4)?)?;
        let (documents, rest) = rest.split_at_checked(frame.document_bytes as usize)?;
        let (name, source_note) = rest.split_at_checked(frame.source_name_bytes.into())?;
        let source_name = std::str::from_utf8(name).ok()?;
        let mut events = Vec::with_capacity(count);
        let mut start = 0;
        for (instant, end) in instants.as_chunks::<8>().0.iter().zip(ends.as_chunks::<4>().0) {
            let end = u32::from_le_bytes(*end) as usize;
            let bytes = documents.get(start..end)?;
            if bytes.is_empty() || documents.get(end) != Some(&b'\n') {
                return None;
            }
            events.push(Event { instant: u64::from_le_bytes(*instant), bytes });
            start = end + 1;
        }
        (start == documents.len()).then_some(StoredBatch { frame, body, events, source_name, source_note })
    }

    /// Adds its bytes, under this frame, as they stand in a log.
    pub(super) fn write_to(&self, out: &mut Vec<u8>, frame: &Frame, seed: u32) {
        out.extend_from_slice(&frame.encode(seed));
        out.extend_from_slice(self.body);
        out.resize(out.len().next_multiple_of(ALIGNMENT as usize), 0);
    }

    /// Its events as runs, numbered.
    pub(crate) fn runs(&self, block_bytes: usize) -> Vec<run::Run> {
        let mut runs = run::sort(&self.events, block_bytes);
        for run in &mut runs {
            run::number(run, self.frame.first_arrival);
        }
        runs
    }

    /// Its events with their keys, in order of arrival.
    pub(crate) fn events(&self) -> impl Iterator<Item = (Key, &'a [u8])> {
        let arrivals = self.frame.first_arrival..;
        arrivals
            .zip(&self.events)
            .map(|(arrival, event)| (Key { instant: event.instant, arrival }, event.bytes))
    }

    /// Where the source stood that it names.
    pub(crate) fn source_mark(&self) -> Option<(&'a str, SourceMark)> {
        let next_arrival = self.frame.first_arrival + u64::from(self.frame.events);
        let source = self.source()?;
        Some((source.name, source.mark(next_arrival)))
    }

    /// Whether it only bears witness to its log.
    pub(super) fn is_witness(&self) -> bool {
        self.frame.events == 0 && self.source_name.is_empty()
    }

    /// The source that it names.
    pub(crate) fn source(&self) -> Option<SourcePosition<'a>> {
        let (name, note) = (self.source_name, self.source_note);
        (!name.is_empty()).then_some(SourcePosition { name, position: self.frame.source_position, note })
    }
}
