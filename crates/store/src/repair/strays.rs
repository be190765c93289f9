//! What strays hold that the store has lost comes back to it; the rest is kept in quarantine.

use roaring::RoaringTreemap;

use super::origin::{Origin, Rivals};
use super::report::{LeftFile, RegainedFile};
use super::{Logs, Lost, RECEIPT_DAMAGED, RECEIPTS_UNREADABLE, Work, changed};
use crate::adopt::{Held, Stray};
use crate::error::OpenError;
use crate::format::{FileKind, Key, NUMBER_MAX};
use crate::manifest::mark;
use crate::marks::Arrivals;
use crate::replay::beyond_lost;

/// The events of a stray that may come back, by whether the store has one with the same arrival number.
struct Sorted<'a> {
    /// How many there are, those included that may not.
    events: u64,
    free: RoaringTreemap,
    rivals: Rivals<'a>,
}

impl<'a> Sorted<'a> {
    fn of(held: &'a Held, known: &RoaringTreemap, may_come_back: impl Fn(Key) -> bool) -> Sorted<'a> {
        let mut sorted = Sorted { events: 0, free: RoaringTreemap::new(), rivals: Rivals::new() };
        for (key, document) in held.events() {
            sorted.events += 1;
            if !may_come_back(key) {
                continue;
            }
            if known.contains(key.arrival) {
                sorted.rivals.insert(key.arrival, (key.instant, document));
            } else {
                sorted.free.insert(key.arrival);
            }
        }
        sorted
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
        let parts = self.files.iter().flat_map(|file| {
            let parsed = file.file.file_name().and_then(|name| FileKind::parse(name.to_str()?));
            parsed.into_iter().flat_map(|(kind, number)| {
                let parts = file.damage.iter().filter(|part| part.events != Some(0));
                parts.map(move |part| Lost { kind, number, keys: part.keys })
            })
        });
        parts.collect()
    }

    /// Takes in what strays hold that the store has lost, and keeps the rest in quarantine. True if anything came back.
    pub(super) fn take_in(&mut self, strays: &[Stray], logs: &mut Logs<'_>) -> Result<bool, OpenError> {
        let Some(mut known) = self.known.take() else { return Ok(false) };
        let Some(gone) = self.gone(strays)? else { return Ok(false) };
        let mut came_back = false;
        let lost = self.lost();
        let is_damaged = !self.files.is_empty();
        // Events of these strays, by their numbers, which are those of other events.
        let mut conflicting = Vec::new();
        for stray in strays {
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
            let mut sorted = Sorted::of(&held, &known, may_come_back);
            if stray.is_retired() {
                sorted.rivals.clear();
            }
            let conflicts = self.origins.conflicts(std::mem::take(&mut sorted.rivals), &self.environment)?;
            known |= &sorted.free;
            match &held.sources {
                Some(sources) => {
                    sources.iter().for_each(|(name, mark_)| mark(&mut self.sources, name, mark_.clone()))
                }
                None if !sorted.free.is_empty() => self.untold = self.untold.max(known.max()),
                None => {}
            }
            came_back |= !stray.is_retired() && sorted.free.len() + conflicts.len() > 0;
            self.take_stray(stray, &held, &sorted, conflicts.len())?;
            self.origins.add(Origin::Stray(stray.clone()), &sorted.free);
            if !conflicts.is_empty() {
                conflicting.push((stray, conflicts));
            }
        }
        if let Some(greatest) = known.max() {
            logs.next_arrival = logs.next_arrival.max(greatest.saturating_add(1));
        }
        self.renumber(&conflicting, logs)?;
        Ok(came_back)
    }

    /// Whether it is a damaged log of the manifest, which is told of and kept with the damaged files.
    fn is_told(&self, stray: &Stray) -> bool {
        let own = self.directory.path(&stray.kind.name(stray.number));
        stray.is_named() && self.files.iter().any(|told| told.file == own)
    }

    /// Takes in the free events of a stray; those that conflict with others of the store come later.
    fn take_stray(
        &mut self,
        stray: &Stray,
        held: &Held,
        sorted: &Sorted<'_>,
        conflicts: u64,
    ) -> Result<(), OpenError> {
        let Sorted { free, events, .. } = sorted;
        if stray.is_retired() && free.is_empty() {
            return Ok(());
        }
        let regained = free.len() + conflicts;
        self.events += regained;
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
                self.quarantined.insert(stray.name.clone());
                self.keep(&stray.name)?
            }
        };
        self.unnamed.push(RegainedFile {
            file: self.directory.path(&stray.name),
            regained,
            renumbered: conflicts,
            known: events - regained,
            damage: held.damage.clone(),
            quarantined,
            is_foreign: false,
        });
        Ok(())
    }

    /// Gives events new arrival numbers whose own ones other events of the store have: an older manifest was put in the place of a newer one while events were
    /// appended. No other file can have the new numbers, not even one that cannot be read.
    fn renumber(
        &mut self,
        conflicting: &[(&Stray, RoaringTreemap)],
        logs: &mut Logs<'_>,
    ) -> Result<(), OpenError> {
        for (place, (stray, numbers)) in conflicting.iter().enumerate() {
            if place == 0 {
                logs.next_arrival = beyond_lost(logs.next_arrival);
            }
            if logs.next_arrival + numbers.len() >= NUMBER_MAX {
                let none_left = "no arrival numbers are left for its events; move it out of the store";
                return Err(changed(self.directory, &stray.name, none_left).into());
            }
            let held = Held::in_stray(stray, &self.environment)?;
            let events = held.events().filter(|(key, _)| numbers.contains(key.arrival));
            let events: Vec<(Key, &[u8])> = (logs.next_arrival..)
                .zip(events)
                .map(|(arrival, (key, document))| (Key { arrival, ..key }, document))
                .collect();
            self.write(&events)?;
            logs.next_arrival += events.len() as u64;
        }
        Ok(())
    }
}
