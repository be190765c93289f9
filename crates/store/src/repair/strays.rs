//! What strays hold that the store has lost comes back to it; the rest is kept in quarantine.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringTreemap;

use super::origin::{Origin, Origins, Rival};
use super::report::{LeftFile, RegainedFile};
use super::{Logs, Lost, RECEIPT_DAMAGED, RECEIPTS_UNREADABLE, Work, changed};
use crate::adopt::{Held, Stray};
use crate::error::OpenError;
use crate::format::{FileKind, Key, NUMBER_MAX};
use crate::manifest::{Renumbered, mark};
use crate::marks::Arrivals;
use crate::replay::beyond_lost;
use crate::segment::Environment;

/// The events of a stray that may come back, by whether the store has one with the same arrival number.
#[derive(Default)]
struct Sorted {
    /// How many there are, those included that may not.
    events: u64,
    free: RoaringTreemap,
}

/// The events of strays that the store has none of, though it has others of their numbers: by the places of strays, their numbers there.
#[derive(Default)]
struct Conflicts(BTreeMap<usize, RoaringTreemap>);

impl Conflicts {
    /// Takes in those of these events that the store has under no number, and no stray before. Reads each stray again that may have one of them: what is known of all together is only
    /// their numbers.
    fn add(
        &mut self,
        mut rivals: Vec<Rival>,
        strays: &[Stray],
        origins: &Origins,
        environment: &Arc<Environment>,
    ) -> Result<(), OpenError> {
        rivals.sort_unstable_by_key(|rival| (rival.stray, rival.own));
        let of_one = rivals.chunk_by(|one, other| (one.stray, one.own) == (other.stray, other.own));
        let is_there = |of_one: &&[Rival]| of_one.iter().any(|rival| rival.is_same == Some(true));
        let missing = of_one.filter(|of_one| !is_there(of_one));
        let mut missing: Vec<Rival> = missing.filter_map(|of_one| of_one.first().copied()).collect();
        // The first file has it.
        missing.sort_unstable_by_key(|rival| (rival.own, rival.hash, rival.stray));
        missing.dedup_by_key(|rival| (rival.own, rival.hash));
        for (place, numbers) in &self.0 {
            let may_have = missing.iter().any(|rival| rival.stray != *place && numbers.contains(rival.own));
            let Some(stray) = strays.get(*place).filter(|_| may_have) else { continue };
            Origin::Stray(stray.clone()).each(environment, |key, document| {
                if !numbers.contains(key.arrival) {
                    return;
                }
                let hash = origins.hash(key.instant, document);
                let from = missing.partition_point(|rival| rival.own < key.arrival);
                let of_number = missing.iter_mut().skip(from).take_while(|rival| rival.own == key.arrival);
                let same = of_number.filter(|rival| rival.stray != *place && rival.hash == hash);
                same.for_each(|rival| rival.is_same = Some(true));
            })?;
        }
        for rival in missing.iter().filter(|rival| rival.is_same != Some(true)) {
            self.0.entry(rival.stray).or_default().insert(rival.own);
        }
        Ok(())
    }
}

impl Work<'_> {
    /// What was deleted, and stays so; what was erased too, whichever file it comes back with. `None` where nobody knows, so that nothing is to be taken in: it waits for a repair
    /// that can look.
    fn gone(&mut self, strays: &[Stray]) -> Result<Option<Arrivals>, OpenError> {
        let Some(fault) = self.receipts.fault() else {
            let erasing = self.old.erasing.as_ref();
            let mut gone = erasing.map_or_else(Arrivals::default, |erasing| erasing.arrivals.clone());
            gone.add(&self.erased);
            return Ok(Some(gone));
        };
        // What was taken out, and may hold what is lost, would not be there any more; without a manifest there would be nothing left.
        let would_go = !self.files.is_empty() && strays.iter().any(Stray::is_retired);
        let (file, reason) = match fault {
            fault if self.old.number == 0 || would_go => return Err(fault),
            OpenError::ReceiptDamaged { file } => (file, RECEIPT_DAMAGED),
            OpenError::Failure(failure) => (failure.path, RECEIPTS_UNREADABLE),
            fault => return Err(fault),
        };
        // Where nothing is lost nothing would come back of what was taken out.
        if !strays.iter().all(Stray::is_retired) {
            self.left.push(LeftFile { file, reason });
        }
        Ok(None)
    }

    /// What the damaged files have lost: only that comes back of what was taken out.
    fn lost(&self) -> Vec<Lost> {
        let parts = self.files.iter().enumerate().flat_map(|(place, file)| {
            let parsed = file.file.file_name().and_then(|name| FileKind::parse(name.to_str()?));
            parsed.into_iter().flat_map(move |(kind, number)| {
                let own = self.old.segments.iter().find(|entry| entry.number == number);
                let arrivals = own.filter(|_| kind == FileKind::Segment).map(|entry| entry.arrivals);
                let parts = file.damage.iter().filter(|part| part.events != Some(0));
                parts.map(move |part| {
                    let (keys, events) = (part.keys, part.events);
                    Lost { place, kind, number, keys, arrivals, events }
                })
            })
        });
        parts.collect()
    }

    /// Takes in what strays hold that the store has lost, and keeps the rest in quarantine. True if anything came back.
    pub(super) fn take_in(&mut self, strays: &[Stray], logs: &mut Logs<'_>) -> Result<bool, OpenError> {
        let Some(mut known) = self.known.take() else { return Ok(false) };
        let Some(gone) = self.gone(strays)? else { return Ok(false) };
        let mut came_back = false;
        let mut lost = self.lost();
        let is_damaged = !self.files.is_empty();
        let (mut rivals, mut conflicts) = (Vec::new(), Conflicts::default());
        for (place, stray) in strays.iter().enumerate() {
            // Only where something is lost can it be in what was taken out.
            if stray.is_retired() && !is_damaged {
                continue;
            }
            let held = match Held::in_stray(stray, &self.environment) {
                Err(OpenError::Failure(failure)) if failure.is_refused() => {
                    // It stays where it is, and each opening sets its numbers aside, until somebody can look.
                    let file = self.directory.path(&stray.name);
                    let reason = "it cannot be opened; repair again when it can be";
                    self.left.push(LeftFile { file, reason });
                    self.unkept.insert(stray.name.clone());
                    continue;
                }
                held => held?,
            };
            let may_come_back = |key: Key| {
                !gone.contains(key.arrival)
                    && (!stray.is_retired() || lost.iter().any(|lost| lost.may_be_in(stray, key)))
            };
            let sorted = self.sort((place, stray), &held, &known, &gone, may_come_back, |rival| {
                // Those of one event are told apart together.
                let is_next = rivals.last().is_none_or(|last: &Rival| last.own != rival.own);
                if is_next && rivals.len() >= self.rivals_max {
                    self.origins.compare(&mut rivals, &self.environment)?;
                    conflicts.add(std::mem::take(&mut rivals), strays, &self.origins, &self.environment)?;
                }
                rivals.push(rival);
                Ok(())
            })?;
            known |= &sorted.free;
            match &held.sources {
                Some(sources) => {
                    sources.iter().for_each(|(name, mark_)| mark(&mut self.sources, name, mark_.clone()))
                }
                None if !sorted.free.is_empty() => self.untold = self.untold.max(known.max()),
                None => {}
            }
            came_back |= !stray.is_retired() && !sorted.free.is_empty();
            self.count_back(&mut lost, stray, &held, &sorted.free);
            self.take_stray(stray, &held, &sorted)?;
            self.origins.add(Origin::Stray(stray.clone()), &sorted.free);
        }
        self.origins.compare(&mut rivals, &self.environment)?;
        conflicts.add(rivals, strays, &self.origins, &self.environment)?;
        if let Some(greatest) = known.max() {
            logs.next_arrival = logs.next_arrival.max(greatest.saturating_add(1));
        }
        for (place, numbers) in &conflicts.0 {
            if let Some(stray) = strays.get(*place) {
                came_back = true;
                self.renumber(stray, numbers, &mut known, logs)?;
            }
        }
        Ok(came_back)
    }

    /// The events of the stray at a place, held against what is known so far. Of one that was taken out nothing is a rival of what the store has; of others `take` gets these.
    fn sort(
        &self,
        (place, stray): (usize, &Stray),
        held: &Held,
        known: &RoaringTreemap,
        gone: &Arrivals,
        may_come_back: impl Fn(Key) -> bool,
        mut take: impl FnMut(Rival) -> Result<(), OpenError>,
    ) -> Result<Sorted, OpenError> {
        let mut sorted = Sorted::default();
        let before = if stray.is_retired() { Vec::new() } else { self.renumbered_of(|| held.known_by()) };
        for (key, document) in held.events() {
            sorted.events += 1;
            if !may_come_back(key) {
                continue;
            }
            if !known.contains(key.arrival) {
                sorted.free.insert(key.arrival);
                continue;
            }
            if stray.is_retired() {
                continue;
            }
            let new = number_of(&before, key.arrival);
            if new.is_some_and(|new| gone.contains(new)) {
                continue;
            }
            let hash = self.origins.hash(key.instant, document);
            let numbers = [Some(key.arrival), new.filter(|new| known.contains(*new))];
            let rival = |number| Rival { number, stray: place, own: key.arrival, hash, is_same: None };
            numbers.into_iter().flatten().map(rival).try_for_each(&mut take)?;
        }
        Ok(sorted)
    }

    /// Counts the events of a stray that are back as some of those that damaged files have lost.
    fn count_back(&mut self, lost: &mut [Lost], stray: &Stray, held: &Held, free: &RoaringTreemap) {
        if lost.is_empty() {
            return;
        }
        for (key, _) in held.events().filter(|(key, _)| free.contains(key.arrival)) {
            let Some(part) = lost.iter_mut().find(|part| part.has_back(stray, key)) else { continue };
            part.events = part.events.map(|events| events - 1);
            if let Some(file) = self.files.get_mut(part.place) {
                file.regained += 1;
            }
        }
    }

    /// Which new numbers events of this file have, the latest first.
    fn renumbered_of(&self, file: impl FnOnce() -> [u8; 32]) -> Vec<Renumbered> {
        if self.renumbered.is_empty() {
            return Vec::new();
        }
        let file = file();
        self.renumbered.iter().rev().filter(|renumbered| renumbered.file == file).cloned().collect()
    }

    /// Whether it is a damaged log of the manifest, which is told of and kept with the damaged files.
    fn is_told(&self, stray: &Stray) -> bool {
        let own = self.directory.path(&stray.kept_name());
        stray.is_named() && self.files.iter().any(|told| told.file == own)
    }

    /// Takes in the free events of a stray; those that conflict with others of the store come later.
    fn take_stray(&mut self, stray: &Stray, held: &Held, sorted: &Sorted) -> Result<(), OpenError> {
        let Sorted { free, events, .. } = sorted;
        if stray.is_retired() && free.is_empty() {
            return Ok(());
        }
        self.events += free.len();
        let quarantined = match held.entry.filter(|_| free.len() == *events) {
            Some(entry) => {
                self.segments.push(entry);
                None
            }
            None => {
                let events = held.events().filter(|(key, _)| free.contains(key.arrival));
                self.write(&events.collect::<Vec<_>>())?;
                if self.is_told(stray) {
                    return Ok(());
                }
                self.quarantined.insert(stray.kept_name());
                self.keep(&stray.kept_name())?
            }
        };
        self.unnamed.push(RegainedFile {
            file: self.directory.path(&stray.name),
            regained: free.len(),
            renumbered: 0,
            known: events - free.len(),
            damage: held.damage.clone(),
            quarantined,
            is_foreign: false,
        });
        Ok(())
    }

    /// Gives events of a stray new arrival numbers, as other events of the store have their own: an older manifest was put in the place of a newer one while events were
    /// appended. No other file can have the new numbers, not even one that cannot be read. Those that an earlier repair gave numbers, and that are lost, get these again.
    fn renumber(
        &mut self,
        stray: &Stray,
        numbers: &RoaringTreemap,
        known: &mut RoaringTreemap,
        logs: &mut Logs<'_>,
    ) -> Result<(), OpenError> {
        let held = Held::in_stray(stray, &self.environment)?;
        let file = held.known_by();
        let before = self.renumbered_of(|| file);
        let again = |number| number_of(&before, number).filter(|new| !known.contains(*new));
        let first_time = Arrivals::of(numbers.iter().filter(|number| again(*number).is_none()).collect());
        if !first_time.is_empty() {
            logs.next_arrival = beyond_lost(logs.next_arrival);
        }
        if logs.next_arrival + first_time.len() >= NUMBER_MAX {
            let none_left = "no arrival numbers are left for its events; move it out of the store";
            return Err(changed(self.directory, &stray.name, none_left).into());
        }
        let mut renumbered = Renumbered { file, runs: Vec::new() };
        for (first, count) in first_time.stretches {
            renumbered.runs.push((first, count, logs.next_arrival));
            logs.next_arrival += count;
        }
        let events = held.events().filter(|(key, _)| numbers.contains(key.arrival));
        let mut events: Vec<(Key, &[u8])> = events
            .filter_map(|(key, document)| {
                let arrival = renumbered.number(key.arrival).or_else(|| again(key.arrival))?;
                Some((Key { arrival, ..key }, document))
            })
            .collect();
        events.sort_unstable_by_key(|(key, _)| *key);
        // Another file may have had the same numbers once.
        known.extend(events.iter().map(|(key, _)| key.arrival));
        self.write(&events)?;
        if !renumbered.runs.is_empty() {
            self.renumbered.push(renumbered);
        }
        self.events += numbers.len();
        let path = self.directory.path(&stray.name);
        if let Some(told) = self.unnamed.iter_mut().find(|told| told.file == path) {
            told.regained += numbers.len();
            told.renumbered = numbers.len();
            told.known -= numbers.len();
        }
        Ok(())
    }
}

/// The number that the latest of these tells of an event.
fn number_of(renumbered: &[Renumbered], arrival: u64) -> Option<u64> {
    renumbered.iter().find_map(|renumbered| renumbered.number(arrival))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::io::{Directory, Simulated};
    use crate::options::Options;
    use crate::repair::Repair;
    use crate::snapshot::Direction;
    use crate::store::Store;

    fn opened(folder: &Simulated) -> Store {
        let options = Options { background: false, ..Options::default() };
        Store::open_on(Arc::new(folder.clone()), options, Arc::new(())).unwrap()
    }

    fn copy(from: &Simulated, name: &str, to: &Simulated, as_name: &str) {
        let bytes = from.open(name).unwrap();
        let bytes = bytes.read_range(0, bytes.length().unwrap() as usize).unwrap();
        to.create(as_name).unwrap().write_at(0, &bytes).unwrap();
    }

    /// Each event that was in conflict was remembered, however many there were.
    #[test]
    fn conflicts_are_the_same_however_few_are_held_at_once() {
        let repaired = |rivals_max| {
            let folder = Simulated::new();
            let append = |folder: &Simulated, text: &str, share: u64| {
                let store = opened(folder);
                for n in 0..20 {
                    // Some are the same in each history.
                    let document = if n % share == 0 { format!("{n}") } else { format!("{text} {n}") };
                    store.append(&[Event { instant: n, bytes: document.as_bytes() }]).unwrap();
                }
                store.seal().unwrap();
            };
            drop(opened(&folder));
            // Three histories of one store, each with numbers of its own.
            let others = ["one", "other"].map(|text| {
                let other = Simulated::with(folder.medium());
                append(&other, text, 3);
                other
            });
            append(&folder, "own", 2);
            for (number, other) in others.iter().chain(&others).enumerate() {
                let segment = other.list().unwrap().into_iter().find(|name| name.ends_with(".segment"));
                copy(other, &segment.unwrap(), &folder, &format!("{:016x}.segment", 0xf0 + number));
            }
            let done = Repair::run_bounded(
                Arc::new(folder.clone()),
                &Options::default(),
                Arc::new(()),
                false,
                rivals_max,
                &mut |_, _| (),
            );
            let done = done.unwrap();
            let store = opened(&folder);
            let snapshot = store.snapshot();
            let mut events = Vec::new();
            for block in snapshot.groups(0..=u64::MAX, Direction::Ascending).flat_map(Result::unwrap) {
                events.extend(block.events().unwrap().map(|(key, bytes)| (key, bytes.to_vec())));
            }
            (done.events, events)
        };
        let (events, all) = repaired(1 << 20);
        assert!(events > 40 && all.len() as u64 == events, "{events} {}", all.len());
        for rivals_max in [1, 2, 7, 19, 20, 21] {
            assert_eq!(repaired(rivals_max), (events, all.clone()), "{rivals_max} at once");
        }
    }
}
