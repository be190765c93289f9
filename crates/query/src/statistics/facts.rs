//! What is learnt of one key of the top level, or of a nested path.

use super::numbers::Numbers;
use super::occurrence::Occurrence;
use super::strings::{Recent, Strings};

pub(super) struct Facts<'d> {
    /// How many events have it.
    pub(super) events: u32,
    /// Some event has it more than once: then what follows is not true of it.
    pub(super) is_repeated: bool,
    /// The event after the last that has it.
    pub(super) next: u32,
    /// The first event between others that does not have it.
    pub(super) first_missing: Option<u32>,
    pub(super) maps: u32,
    pub(super) arrays: u32,
    pub(super) null: Tally,
    pub(super) falsehood: Tally,
    pub(super) truth: Tally,
    pub(super) strings: Strings<'d>,
    pub(super) numbers: Numbers<'d>,
}

/// How many events have a value, and which is the first.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) count: u32,
    pub(super) first: u32,
}

impl Tally {
    fn add(&mut self, event: u32) {
        if self.count == 0 {
            self.first = event;
        }
        self.count += 1;
    }
}

impl<'d> Facts<'d> {
    pub(super) fn new(name: &[u8]) -> Facts<'d> {
        Facts {
            events: 0,
            is_repeated: false,
            next: 0,
            first_missing: None,
            maps: 0,
            arrays: 0,
            null: Tally::default(),
            falsehood: Tally::default(),
            truth: Tally::default(),
            strings: Strings::new(name),
            numbers: Numbers::new(),
        }
    }

    /// Takes in values, in the order of their events; `repeated` is told of each event that has the key again.
    #[inline(never)]
    pub(super) fn add(
        &mut self,
        documents: &'d [u8],
        occurrences: &mut Vec<Occurrence>,
        recent: &mut Recent,
        mut repeated: impl FnMut(u32),
    ) {
        let mut next = self.next;
        let mut is_rising = true;
        for occurrence in &*occurrences {
            is_rising &= occurrence.event >= next;
            next = occurrence.event + 1;
        }
        if !is_rising {
            let mut next = self.next;
            occurrences.retain(|occurrence| {
                let is_first = occurrence.event >= next;
                if !is_first {
                    repeated(occurrence.event);
                }
                next = occurrence.event + 1;
                is_first
            });
            self.is_repeated = true;
        }
        // As many as there are events have gone by: none is missing.
        if self.first_missing.is_none() && occurrences.len() as u32 != next - self.next {
            let present =
                (self.next..).zip(&*occurrences).take_while(|(event, occurrence)| occurrence.event == *event);
            self.first_missing = Some(self.next + present.count() as u32);
        }
        self.next = next;
        self.events += occurrences.len() as u32;
        let mut rest = &**occurrences;
        while let Some((Occurrence { start, event, .. }, others)) = rest.split_first() {
            let taken = match documents.get(*start as usize) {
                Some(b'"') => self.strings.add(documents, rest, recent),
                Some(b'-' | b'0'..=b'9') => self.numbers.add(documents, rest),
                _ => 0,
            };
            if taken > 0 {
                rest = rest.get(taken..).unwrap_or_default();
                continue;
            }
            match documents.get(*start as usize) {
                Some(b't') => self.truth.add(*event),
                Some(b'f') => self.falsehood.add(*event),
                Some(b'n') => self.null.add(*event),
                Some(b'{') => self.maps += 1,
                Some(b'[') => self.arrays += 1,
                _ => {}
            }
            rest = others;
        }
    }
}
