//! What was tried and what was acknowledged, and whether a store holds what it must.

use std::collections::{BTreeMap, BTreeSet};

use crate::batch::{self, Batch};
use crate::columns::turned;
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
    /// Removals that were begun, and failed or were never heard of again: nobody knows how many events they took.
    removals_open: u32,
    /// A batch whose writer ended without closing the store: its log's last one.
    last: Option<u64>,
    /// Deletions that were begun.
    deletions: BTreeMap<u64, Deletion>,
    /// Events that a store opened for writing did not show any more: batch and place.
    gone: BTreeSet<(u64, usize)>,
}

/// How far a deletion has come, as far as anybody was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deletion {
    /// All of its events are there, or none.
    Begun,
    /// None is there.
    Done,
    /// None is in any file.
    Erased,
}

/// What a store may lack.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leave {
    /// What is not firm, the latest batches, whole.
    pub(crate) weak: bool,
    /// What lies in these parts.
    pub(crate) damage: Vec<Part>,
    /// What these files held, which were damaged: no list of files told whose they are.
    pub(crate) files: Vec<Vec<u8>>,
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
            Line::Opened => self.settle(true),
            // A flush that fails while closing is told to nobody.
            Line::Closed => self.last = None,
            Line::Done(what) if what != "compact" => self.settle(what == "seal"),
            Line::Removing(before) => {
                self.removing = self.removing.max(Some(*before));
                self.removals_open += 1;
            }
            Line::Removed(events) => {
                self.removed += events;
                self.removals_open -= 1;
            }
            Line::Deleting(id) => drop(self.deletions.entry(*id).or_insert(Deletion::Begun)),
            // All was sealed before.
            Line::Deleted(id) => {
                let deletion = self.deletions.entry(*id).or_insert(Deletion::Done);
                if *deletion == Deletion::Begun {
                    *deletion = Deletion::Done;
                }
                self.settle(true);
            }
            Line::Erased => {
                let done = self.deletions.values_mut().filter(|deletion| **deletion == Deletion::Done);
                done.for_each(|deletion| *deletion = Deletion::Erased);
            }
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
        let is_there = |id: u64, n: usize| places.get(&id).is_some_and(|place| place.present.contains(&n));
        for (id, fate) in &self.batches {
            if matches!(fate, Fate::Stored { .. }) {
                let absent = (0..Batch::new(*id).rows.len()).filter(|n| !is_there(*id, *n));
                self.gone.extend(absent.map(|n| (*id, n)));
            }
        }
        let took_place = |deletion: u64| {
            let mut there = places.iter().flat_map(|(id, place)| place.present.iter().map(|n| (*id, *n)));
            !there.any(|(id, n)| Batch::is_deleted_by(deletion, id, n))
        };
        self.deletions.retain(|id, state| *state != Deletion::Begun || took_place(*id));
        for state in self.deletions.values_mut().filter(|state| **state == Deletion::Begun) {
            *state = Deletion::Done;
        }
        // Those that are gone explain themselves from now on.
        (self.removed, self.removals_open) = (0, 0);
    }

    /// The deletions that take an event, and how far they are.
    fn deletions_of(&self, id: u64, n: usize) -> impl Iterator<Item = (u64, Deletion)> {
        let all = self.deletions.iter().map(|(deletion, state)| (*deletion, *state));
        all.filter(move |(deletion, _)| Batch::is_deleted_by(*deletion, id, n))
    }

    /// Whether a receipt says that no file holds this event any more.
    pub(crate) fn is_erased(&self, id: u64, n: usize) -> bool {
        matches!(self.batches.get(&id), Some(Fate::Stored { .. }))
            && self.deletions_of(id, n).any(|(_, state)| state == Deletion::Erased)
    }

    /// Whether a receipt was given for everything that is deleted.
    pub(crate) fn is_all_erased(&self) -> bool {
        self.deletions.values().all(|state| *state == Deletion::Erased)
    }

    /// What somebody must see who began to look when `before` was true, and saw what he saw at any time until now.
    pub(crate) fn since(&self, before: &Truth) -> Truth {
        let mut truth = self.clone();
        for (id, fate) in &mut truth.batches {
            if !matches!(before.batches.get(id), Some(Fate::Stored { .. })) && *fate != Fate::Refused {
                *fate = Fate::Begun;
            }
        }
        for (id, state) in &mut truth.deletions {
            if before.deletions.get(id).is_none_or(|before| *before == Deletion::Begun) {
                *state = Deletion::Begun;
            }
        }
        truth.gone.clone_from(&before.gone);
        truth
    }

    /// So many of the oldest events, whichever these are, were removed by others than its writers.
    pub(crate) fn removed_by_others(&mut self, events: u64) {
        self.removed += events;
        self.removing = Some(u64::MAX);
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
        let mut doubts = Doubts::default();
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
                let is_there = there.is_some_and(|place| place.present.contains(&n));
                let deletions: Vec<(u64, Deletion)> = self.deletions_of(*id, n).collect();
                let is_deleted = deletions.iter().any(|(_, state)| *state != Deletion::Begun);
                let is_gone = is_deleted || self.gone.contains(&(*id, n));
                if is_there && is_gone && !leave.anything {
                    let was = if is_deleted { "deleted" } else { "gone" };
                    return Err(format!("event {n} of batch {id} was {was}, and is in the store"));
                }
                let removing = self.removed > 0 || self.removals_open > 0;
                let excused = is_gone || removing && self.may_be_removed(*instant);
                doubts.see(&deletions, is_there, excused);
                if !is_there && !is_gone && deletions.is_empty() {
                    let (arrival, firm) = (first.0 + n as u64, first.1);
                    lost.push(Lost { id: *id, n, instant: *instant, arrival, firm });
                }
            }
        }
        doubts.check(leave)?;
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
        // Lost by removal, by damage, or by either.
        let (mut removed, mut damaged, mut either) = (0u64, 0u64, 0u64);
        let mut unexplained = Vec::new();
        // The first that was lost for want of a flush: nothing behind it may be there.
        let mut hole: Option<u64> = None;
        for event in lost {
            let key = (event.instant, event.arrival);
            let weak =
                leave.weak && !event.firm && matches!(self.batches.get(&event.id), Some(Fate::Stored { .. }));
            let in_damage =
                leave.damage.iter().any(|part| part.covers(key)) || is_in(&leave.files, event.id, event.n);
            match (self.may_be_removed(event.instant), in_damage) {
                (true, true) => either += 1,
                (true, false) => removed += u64::from(!weak),
                (false, true) => damaged += 1,
                (false, false) if weak => {
                    hole = Some(hole.map_or(event.arrival, |hole| hole.min(event.arrival)))
                }
                (false, false) if leave.last && self.last == Some(event.id) => {}
                (false, false) => unexplained.push(event),
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
        // An interrupted removal leaves nobody knowing how many; so does some damage of logs.
        let most_removed = if self.removals_open == 0 { Some(self.removed) } else { None };
        let most_damaged: Option<u64> = match leave.files.is_empty() {
            true => leave.damage.iter().map(|part| part.events).sum(),
            false => None,
        };
        if most_removed.is_some_and(|most| removed > most) {
            return Err(format!(
                "{removed} events are gone, though only {} were said to be removed",
                self.removed
            ));
        }
        if most_damaged.is_some_and(|most| damaged > most) {
            return Err(format!("{damaged} events are lost, more than the damage says ({most_damaged:?})"));
        }
        if let (Some(removed_most), Some(damaged_most)) = (most_removed, most_damaged)
            && removed + damaged + either > removed_most + damaged_most
        {
            return Err(format!(
                "{} events are gone; {removed_most} were said to be removed and {damaged_most} to be damaged",
                removed + damaged + either
            ));
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
                let position = Batch::new(*id).source.as_ref().filter(|(own, _)| *own == name)?.1;
                let first = match fate {
                    Fate::Stored { first, firm } => (*first, *firm || !leave.weak),
                    _ => (places.get(id)?.first, true),
                };
                let unwitnessed = leave.last && self.last == Some(*id);
                (first.1 && !unwitnessed || places.contains_key(id)).then_some((first.0, position))
            });
            let expected = named.max().map(|(_, position)| position);
            let found = report.sources.get(&name).copied();
            // A batch of which nobody knows may be stored, and be removed since.
            let unknown = |position: u64| {
                let id = position / 10;
                let may_be_gone = |(n, (instant, _)): (usize, &(u64, Vec<u8>))| {
                    self.may_be_removed(*instant) || self.deletions_of(id, n).next().is_some()
                };
                self.batches.get(&id) == Some(&Fate::Begun)
                    && Batch::new(id).rows.iter().enumerate().all(may_be_gone)
            };
            let lost = report.lost_sources.contains(&name);
            if found != expected && !lost && !found.is_some_and(unknown) {
                return Err(format!("{name} stands at {found:?}, and should at {expected:?}"));
            }
        }
        Ok(())
    }
}

/// Of deletions of which nobody was told how they went: how many of their events are there, and how many are not.
#[derive(Default)]
struct Doubts(BTreeMap<u64, (u64, u64)>);

impl Doubts {
    fn see(&mut self, deletions: &[(u64, Deletion)], is_there: bool, excused: bool) {
        match deletions {
            // Nothing else explains it.
            [(id, Deletion::Begun)] if !is_there && !excused => self.0.entry(*id).or_default().1 += 1,
            _ if is_there => deletions.iter().for_each(|(id, _)| self.0.entry(*id).or_default().0 += 1),
            _ => {}
        }
    }

    /// Each took place whole, or not at all.
    fn check(&self, leave: &Leave) -> Result<(), String> {
        let half = self.0.iter().find(|(_, (there, absent))| *there > 0 && *absent > 0);
        match half {
            Some((id, (there, absent))) if !leave.anything && leave.damage.is_empty() => Err(format!(
                "of deletion {id}, which nobody was told of, {absent} events are gone, and {there} are there"
            )),
            _ => Ok(()),
        }
    }
}

/// Whether one of the files holds this document, as text or in columns.
fn is_in(files: &[Vec<u8>], id: u64, n: usize) -> bool {
    let batch = Batch::new(id);
    let document = batch.rows.get(n).map_or(&[][..], |(_, document)| document);
    let in_columns = turned(document);
    let is_it = |window: &[u8]| window == document || window == in_columns;
    files.iter().any(|file| file.windows(document.len().max(1)).any(is_it))
}

/// Where a batch is in a store.
struct Place {
    first: u64,
    present: Vec<usize>,
}
