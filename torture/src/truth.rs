//! What was tried and what was acknowledged, and whether a store holds what it must.

use std::collections::BTreeMap;

use crate::batch::{self, Batch};
use crate::line::Line;
use crate::report::{Part, Report, Row};

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was tried, and nobody was told how it went.
    Begun,
    /// It was acknowledged.
    Stored {
        /// With this first arrival number.
        first: u64,
        /// As durable as the medium: it survives a loss of power.
        firm: bool,
    },
    /// The writer was told that nothing of it is stored.
    Refused,
}

/// What is known of a store from its writers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Truth {
    pub(crate) batches: BTreeMap<u64, Fate>,
    /// What lies before this instant may have been removed.
    removing: Option<u64>,
    /// So many events were.
    removed: u64,
    /// Removals that were begun and of which nothing more was heard: nobody knows how many events they took.
    removals_open: u32,
    /// A batch whose writer ended without closing the store: its log's last one.
    last: Option<u64>,
}

/// What a store may lack.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leave {
    /// What is not firm, the latest batches, whole.
    pub(crate) weak: bool,
    /// What lies in these parts.
    pub(crate) damage: Vec<Part>,
    /// The last batch that was acknowledged before a writer was killed: nothing witnesses it.
    pub(crate) last: bool,
    /// Any events, but none may be wrong.
    pub(crate) anything: bool,
    /// Events of batches of which nobody knows how they went may be there by half.
    pub(crate) halves: bool,
    /// Source positions are not compared.
    pub(crate) sources: bool,
}

/// An event that should be there and is not.
struct Lost {
    id: u64,
    n: usize,
    instant: u64,
    arrival: u64,
    firm: bool,
}

impl Truth {
    /// Takes a line of a writer in. `sync`: what it acknowledges is firm.
    pub(crate) fn take(&mut self, line: &Line, sync: bool) {
        match line {
            Line::Begin(id) => drop(self.batches.insert(*id, Fate::Begun)),
            Line::Stored(id, first) => {
                self.batches.insert(*id, Fate::Stored { first: *first, firm: sync });
                self.last = Some(*id);
            }
            Line::Refused(id, _) => drop(self.batches.insert(*id, Fate::Refused)),
            Line::Opened | Line::Closed => self.settle(true),
            Line::Done(what) if what != "merge" => self.settle(what == "seal"),
            Line::Removing(before) => {
                self.removing = self.removing.max(Some(*before));
                self.removals_open += 1;
            }
            Line::Removed(events) => {
                self.removed += events;
                self.removals_open -= 1;
            }
            Line::Trouble(what, _) if what == "remove" => self.removals_open -= 1,
            _ => {}
        }
    }

    /// All that was acknowledged is firm; and if the log is closed or sealed, its last batch has a witness.
    fn settle(&mut self, witnessed: bool) {
        for fate in self.batches.values_mut() {
            if let Fate::Stored { firm, .. } = fate {
                *firm = true;
            }
        }
        if witnessed {
            self.last = None;
        }
    }

    /// A store was opened for writing and showed this: what it shows stays from now on, what was lost rightly is gone.
    pub(crate) fn adopt(&mut self, report: &Report) {
        let Ok(places) = self.check_rows(&report.rows) else { return };
        for (id, fate) in &mut self.batches {
            match (*fate, places.get(id)) {
                (Fate::Begun | Fate::Stored { .. }, Some(place)) => {
                    *fate = Fate::Stored { first: place.first, firm: true };
                }
                (Fate::Stored { firm: false, .. }, None) => *fate = Fate::Begun,
                _ => {}
            }
        }
        self.last = None;
    }

    /// The number for the next batch.
    pub(crate) fn next(&self) -> u64 {
        self.batches.last_key_value().map_or(0, |(id, _)| id + 1)
    }

    fn may_be_removed(&self, instant: u64) -> bool {
        self.removing.is_some_and(|before| instant < before)
    }

    /// Compares what a store shows with what it must hold; what differs, in words.
    pub(crate) fn compare(&self, report: &Report, leave: &Leave) -> Result<(), String> {
        let places = self.check_rows(&report.rows)?;
        let mut lost = Vec::new();
        for (id, fate) in &self.batches {
            let there = places.get(id);
            let batch = Batch::new(*id);
            let first = match (*fate, there) {
                (Fate::Begun | Fate::Refused, None) => continue,
                (Fate::Refused, Some(_)) => {
                    return Err(format!("batch {id} was refused, and is in the store"));
                }
                (Fate::Begun, Some(_)) if leave.halves || leave.anything => continue,
                (Fate::Begun, Some(place)) => (place.first, false),
                (Fate::Stored { first, firm }, place) => {
                    if let Some(place) = place.filter(|place| place.first != first) {
                        return Err(format!(
                            "batch {id} was acknowledged with arrival number {first}, and has {}",
                            place.first
                        ));
                    }
                    (first, firm)
                }
            };
            for (n, (instant, _)) in batch.rows.iter().enumerate() {
                if there.is_none_or(|place| !place.present.contains(&n)) {
                    let (arrival, firm) = (first.0 + n as u64, first.1);
                    lost.push(Lost { id: *id, n, instant: *instant, arrival, firm });
                }
            }
        }
        if !leave.anything {
            self.explain(lost, leave)?;
        }
        if leave.sources || leave.anything || !leave.damage.is_empty() {
            return Ok(());
        }
        self.check_sources(report, &places, leave)
    }

    /// That each row is one of a batch that was tried, byte for byte, once, and in its place.
    fn check_rows(&self, rows: &[Row]) -> Result<BTreeMap<u64, Place>, String> {
        let mut places: BTreeMap<u64, Place> = BTreeMap::new();
        let mut batch = Batch::new(0);
        for (row, next) in rows.iter().zip(rows.iter().skip(1).map(Some).chain([None])) {
            if next.is_some_and(|next| next.arrival == row.arrival) {
                return Err(format!("arrival number {} is given twice", row.arrival));
            }
            let Some((id, n)) = Batch::origin(&row.document) else {
                return Err(format!("event {} is none that was ever appended", row.arrival));
            };
            if !self.batches.contains_key(&id) {
                return Err(format!("event {} is of batch {id}, which nobody has begun", row.arrival));
            }
            if batch.id != id {
                batch = Batch::new(id);
            }
            if batch
                .rows
                .get(n)
                .is_none_or(|(instant, document)| *instant != row.instant || *document != row.document)
            {
                return Err(format!(
                    "event {n} of batch {id} (arrival number {}) has other bytes",
                    row.arrival
                ));
            }
            let Some(first) = row.arrival.checked_sub(n as u64) else {
                return Err(format!("event {n} of batch {id} has arrival number {}", row.arrival));
            };
            let place = places.entry(id).or_insert(Place { first, present: Vec::new() });
            if place.first != first {
                return Err(format!("the events of batch {id} do not follow each other, or are there twice"));
            }
            place.present.push(n);
        }
        Ok(places)
    }

    /// That each lost event may be.
    fn explain(&self, lost: Vec<Lost>, leave: &Leave) -> Result<(), String> {
        let (mut removed, mut damaged) = (0u64, 0u64);
        let mut unexplained = Vec::new();
        // The first that was lost for want of a flush: nothing behind it may be there.
        let mut hole: Option<u64> = None;
        for event in lost {
            let key = (event.instant, event.arrival);
            if self.may_be_removed(event.instant) {
                removed += 1;
            } else if leave.damage.iter().any(|part| part.covers(key)) {
                damaged += 1;
            } else if leave.weak
                && !event.firm
                && matches!(self.batches.get(&event.id), Some(Fate::Stored { .. }))
            {
                hole = Some(hole.map_or(event.arrival, |hole| hole.min(event.arrival)));
            } else if !(leave.last && self.last == Some(event.id)) {
                unexplained.push(event);
            }
        }
        if let Some(first) = unexplained.first() {
            return Err(format!(
                "{} events are lost without a word, the first of them event {} of batch {}, arrival number {}, which was {}",
                unexplained.len(),
                first.n,
                first.id,
                first.arrival,
                self.was(first.id)
            ));
        }
        if removed > self.removed && self.removals_open == 0 {
            return Err(format!(
                "{removed} events are gone, though only {} were said to be removed",
                self.removed
            ));
        }
        // Of logs nobody may know how many; and those of a batch that was never acknowledged count as well.
        let known: Option<u64> = leave.damage.iter().map(|part| part.events).sum();
        if known.is_some_and(|known| damaged > known) {
            return Err(format!("{damaged} events are lost, more than the damage says ({known:?})"));
        }
        let last = self.batches.iter().filter_map(|(id, fate)| match fate {
            Fate::Stored { first, firm: true } => Some((*id, *first)),
            _ => None,
        });
        match (hole, last.max_by_key(|(_, first)| *first)) {
            (Some(hole), Some((id, first))) if hole < first => {
                Err(format!("arrival number {hole} is lost, and the later batch {id} is not"))
            }
            _ => Ok(()),
        }
    }

    fn was(&self, id: u64) -> &'static str {
        match self.batches.get(&id) {
            Some(Fate::Stored { .. }) => "acknowledged",
            _ => "never acknowledged, but half of it is there",
        }
    }

    /// That each source stands where the last batch that named it left it.
    fn check_sources(
        &self,
        report: &Report,
        places: &BTreeMap<u64, Place>,
        leave: &Leave,
    ) -> Result<(), String> {
        for number in 0..batch::SOURCES {
            let name = batch::source_name(number);
            let named = self.batches.iter().filter_map(|(id, fate)| {
                let position = Batch::new(*id).source.filter(|(own, _)| *own == name)?.1;
                let first = match fate {
                    Fate::Stored { first, firm } => (*first, *firm || !leave.weak),
                    _ => (places.get(id)?.first, true),
                };
                (first.1 || places.contains_key(id)).then_some((first.0, position))
            });
            let expected = named.max().map(|(_, position)| position);
            let found = report.sources.get(&name).copied();
            // A batch of which nobody knows may be stored, and be removed since.
            let unknown = |position: u64| {
                let id = position / 10;
                self.batches.get(&id) == Some(&Fate::Begun) && self.may_be_removed(batch::instant(id))
            };
            if found != expected && !found.is_some_and(unknown) {
                return Err(format!("{name} stands at {found:?}, and should at {expected:?}"));
            }
        }
        Ok(())
    }
}

/// Where a batch is in a store.
struct Place {
    first: u64,
    present: Vec<usize>,
}
