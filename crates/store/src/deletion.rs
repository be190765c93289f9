//! Deleting events, and erasing what was deleted.
//!
//! To delete is to mark: the manifest lists the deleted events of each segment, and from then on no snapshot returns them. To erase is to rewrite each
//! segment with marks without these events, one after another, through the codec as compaction does; the old file is removed, and its marks
//! with it. Once no file is left that ever held one of the events, the whole store is read, each text of each block included, and a [receipt](Receipt) is written.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use crate::error::{DeleteError, Failure, ReadError};
use crate::format::{FileKind, Key, parse_unfinished};
use crate::history::{self, Cause, HistoryEntry};
use crate::inventory;
use crate::io::Directory;
use crate::manifest::{Erasing, Manifest, SegmentEntry};
use crate::marks::{self, Arrivals, Marks, Stretch};
use crate::receipt::{self, Proof, Receipt};
use crate::retire;
use crate::segment::{Segment, Written};
use crate::settings;
use crate::snapshot::Snapshot;
use crate::writer::Inner;

/// The result of deleting events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deleted {
    /// The number of events deleted.
    pub events: u64,
    /// The number of events that were not deleted because they do not exist, are already removed, or are in a damaged log, which is unchanged until it is repaired.
    pub missed: u64,
}

/// The result of erasing deleted events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Erased {
    /// The receipt, once no file of the store holds any deleted event. `None` before that, and if there was nothing to erase.
    pub receipt: Option<Receipt>,
    /// Files that may still hold deleted events: because a reader, or a snapshot of this process, holds them (erase again after it has ended), or because the
    /// manifest does not list them (repair takes them in).
    pub held: Vec<PathBuf>,
    /// Files that still hold deleted events because they are damaged: repair the store, and erase again.
    pub damaged: Vec<PathBuf>,
    /// Files named like the store's own whose header cannot be read, so that it is unknown whether they hold deleted events: move them
    /// elsewhere, and erase again.
    pub unreadable: Vec<PathBuf>,
}

/// What is deleted of a segment by one call.
pub(crate) struct Hit {
    number: u64,
    file_bytes: u64,
    /// All that is deleted of it from then on; nothing if no event is left.
    marks: Option<Arc<Marks>>,
    /// What was not deleted before.
    pub(crate) arrivals: Vec<u64>,
    document_bytes: u64,
    instants: (u64, u64),
}

impl Hit {
    /// Those of these keys, which are in order, that are in the segment and not deleted yet.
    pub(crate) fn of(segment: &Arc<Segment>, keys: &[Key]) -> Result<Option<Hit>, ReadError> {
        let entry = &segment.entry;
        let keys = between(keys, entry.first, entry.last);
        if keys.is_empty() {
            return Ok(None);
        }
        let loaded = segment.load()?;
        let blocks = &loaded.index().blocks;
        let mut hit = Hit {
            number: entry.number,
            file_bytes: entry.file_bytes,
            marks: None,
            arrivals: Vec::new(),
            document_bytes: 0,
            instants: (u64::MAX, 0),
        };
        let mut all: Vec<Stretch> = Vec::new();
        for (number, entry) in blocks.iter().enumerate() {
            let known = segment.marks.as_ref().map_or(&[][..], |marks| marks.of_block(number));
            match between(keys, entry.first, entry.last) {
                [] => all.extend(known),
                keys => all.extend(hit.of_block(segment, number, keys, known)?),
            }
        }
        if hit.arrivals.is_empty() {
            return Ok(None);
        }
        let known = segment.marks.as_ref().map_or((0, 0), |marks| (marks.events, marks.document_bytes));
        let mut marks = Marks {
            events: known.0 + hit.arrivals.len() as u64,
            document_bytes: known.1 + hit.document_bytes,
            stay: (entry.first, entry.last),
            stretches: all,
        };
        let stays =
            |number: usize, from_end: bool| staying(segment, number, marks.of_block(number), from_end);
        let first = (0..blocks.len()).find_map(|number| stays(number, false).transpose());
        let last = (0..blocks.len()).rev().find_map(|number| stays(number, true).transpose());
        if let (Some(first), Some(last)) = (first.transpose()?, last.transpose()?) {
            marks.stay = (first, last);
            hit.marks = Some(Arc::new(marks));
        }
        Ok(Some(hit))
    }

    /// Takes note of the events of a block, and gives all that is deleted of it from then on.
    fn of_block(
        &mut self,
        segment: &Arc<Segment>,
        number: usize,
        keys: &[Key],
        known: &[Stretch],
    ) -> Result<Vec<Stretch>, ReadError> {
        let block = segment.whole_block(number)?;
        let (times, documents) = (block.times()?, block.documents()?);
        let mut places = Vec::new();
        for key in keys {
            let Some(place) = block.find(*key)?.filter(|place| !marks::are_at(known, *place)) else {
                continue;
            };
            places.push(place as u32);
            self.arrivals.push(key.arrival);
            self.document_bytes += documents.get(place).map_or(0, |document| document.len() as u64 + 1);
            self.instants = (self.instants.0.min(key.instant), self.instants.1.max(key.instant));
        }
        if places.is_empty() {
            return Ok(known.to_vec());
        }
        places.extend((0..times.instants.len() as u32).filter(|place| marks::are_at(known, *place as usize)));
        places.sort_unstable();
        Ok(marks::stretches(number as u32, places.into_iter()))
    }
}

/// The keys from one to another.
fn between(keys: &[Key], first: Key, last: Key) -> &[Key] {
    let start = keys.partition_point(|key| *key < first);
    let end = keys.partition_point(|key| *key <= last);
    keys.get(start..end).unwrap_or_default()
}

/// The key of the first or the last event of a block that stays; nothing where all are deleted.
fn staying(
    segment: &Arc<Segment>,
    number: usize,
    deleted: &[Stretch],
    from_end: bool,
) -> Result<Option<Key>, ReadError> {
    let loaded = segment.load()?;
    let Some(entry) = loaded.index().blocks.get(number) else { return Ok(None) };
    if deleted.is_empty() {
        return Ok(Some(if from_end { entry.last } else { entry.first }));
    }
    let events = entry.events as usize;
    let stays = |place: &usize| !marks::are_at(deleted, *place);
    let place = if from_end { (0..events).rev().find(stays) } else { (0..events).find(stays) };
    place.map_or(Ok(None), |place| segment.whole_block(number)?.key(place))
}

impl Manifest {
    /// Takes deleted events out.
    pub(crate) fn delete(&mut self, hits: &[Hit], below: u64, now: u64) {
        let mut erasing = self.erasing.take().unwrap_or(Erasing { began: now, ..Erasing::default() });
        erasing.below = below;
        erasing.arrivals.add(&Arrivals::of(hits.iter().flat_map(|hit| &hit.arrivals).copied().collect()));
        let mut left = HistoryEntry {
            began: now,
            ended: now,
            cause: Cause::Deleted,
            removals: 1,
            segments: 0,
            file_bytes: 0,
            events: 0,
            instants: (u64::MAX, 0),
        };
        for hit in hits {
            erasing.document_bytes = erasing.document_bytes.saturating_add(hit.document_bytes);
            left.events += hit.arrivals.len() as u64;
            left.instants = (left.instants.0.min(hit.instants.0), left.instants.1.max(hit.instants.1));
            match &hit.marks {
                Some(marks) => drop(self.deleted.insert(hit.number, Arc::clone(marks))),
                None => {
                    left.segments += 1;
                    left.file_bytes = left.file_bytes.saturating_add(hit.file_bytes);
                    self.segments.retain(|entry| entry.number != hit.number);
                    // One that had marks is counted where these go.
                    if !self.deleted.contains_key(&hit.number) {
                        erasing.files += 1;
                        erasing.file_bytes = erasing.file_bytes.saturating_add(hit.file_bytes);
                    }
                }
            }
        }
        history::note(&mut self.history, left);
        self.erasing = Some(erasing);
    }

    /// The files that are no longer live, and may hold what is being erased: those of the store, and those of which it cannot be told whose they are.
    fn holding(
        &self,
        erasing: &Erasing,
        directory: &dyn Directory,
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
        let live: BTreeSet<String> = self.names().collect();
        let (mut held, mut unreadable) = (Vec::new(), Vec::new());
        for name in inventory::list(directory)? {
            let parsed = FileKind::parse(&name).or_else(|| parse_unfinished(&name));
            let Some((kind @ (FileKind::Log | FileKind::Segment), number)) = parsed else { continue };
            if number >= erasing.below || live.contains(&kind.name(number)) {
                continue;
            }
            match retire::belongs(directory, &name, kind)? {
                Some(store) if store == self.store => held.push(directory.path(&name)),
                Some(_) => {}
                // It may be gone by now.
                None if matches!(directory.kind(&name), Ok(None)) => {}
                None => unreadable.push(directory.path(&name)),
            }
        }
        Ok((held, unreadable))
    }
}

impl Inner {
    /// Deletes the events with these keys: all of them or, on failure, none.
    pub(crate) fn delete(&self, keys: &[Key]) -> Result<Deleted, DeleteError> {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        keys.dedup();
        // All is in segments then, but for what lies in damaged logs.
        self.seal()?;
        // What is compacted meanwhile would be written with the events.
        let _stands_still = self.compacting.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.state();
        let plain = self.environment.plain();
        let mut hits = Vec::new();
        for segment in &state.segments.list {
            hits.extend(Hit::of(&Arc::new(segment.read_by(Arc::clone(&plain))), &keys)?);
        }
        drop(state);
        let mut writer = self.lock_manifest();
        let mut manifest = writer.manifest.clone();
        // What was removed meanwhile is gone as well.
        hits.retain(|hit| manifest.segments.iter().any(|entry| entry.number == hit.number));
        let events = hits.iter().map(|hit| hit.arrivals.len() as u64).sum();
        let deleted = Deleted { events, missed: (keys.len() as u64).saturating_sub(events) };
        if events > 0 {
            manifest.delete(&hits, self.numbers.next(), settings::now());
            self.replace_segments(&mut writer, manifest, &[], Written::default(), |_| ())?;
        }
        Ok(deleted)
    }

    /// Erases what is deleted, as long as it may go on. It takes room for one segment at a time.
    pub(crate) fn erase(&self, may_go_on: &dyn Fn() -> bool) -> Result<Erased, DeleteError> {
        // The segments that had marks when the last of them was looked for.
        let seen = RefCell::new(Vec::new());
        let rewrite = || {
            let marked: Vec<u64> = self.lock().manifest.deleted.keys().copied().collect();
            seen.borrow_mut().clone_from(&marked);
            let next = |segments: &[SegmentEntry]| {
                segments.iter().find(|entry| marked.contains(&entry.number)).map(|next| vec![next.number])
            };
            self.compact(|segments, _, _| next(segments), may_go_on)
        };
        while rewrite()? {}
        // Not asked while others wait for what is held from here on.
        let goes_on = may_go_on();
        let seen = seen.into_inner();
        // What is being sealed has a file by now that no list names, and holds none of it.
        let sealing = self.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = self.lock_manifest();
        let Some(erasing) = writer.manifest.erasing.clone() else { return Ok(Erased::default()) };
        writer.sweep();
        let (held, unreadable) = writer.manifest.holding(&erasing, &*self.directory)?;
        let marked = writer.manifest.segments.iter().filter(|entry| {
            // Those that were not come to are neither, nor those of which events were deleted just now.
            goes_on && seen.contains(&entry.number) && writer.manifest.deleted.contains_key(&entry.number)
        });
        let damaged: Vec<PathBuf> = marked.map(|entry| self.directory.path(&entry.name())).collect();
        let is_free = held.is_empty() && unreadable.is_empty();
        let is_done = is_free && writer.manifest.deleted.is_empty();
        drop((writer, sealing));
        if !is_done && is_free && damaged.is_empty() && goes_on {
            // More was deleted meanwhile.
            return self.erase(may_go_on);
        }
        if !is_done {
            return Ok(Erased { receipt: None, held, damaged, unreadable });
        }
        let Some(proof) = self.prove(&erasing.arrivals, may_go_on)? else {
            return Ok(Erased { receipt: None, held, damaged, unreadable });
        };
        for (segment, _) in &proof.strays {
            let stray = |segments: &[SegmentEntry]| {
                segments.iter().find(|entry| entry.number == *segment).map(|entry| vec![entry.number])
            };
            self.compact(|segments, _, _| stray(segments), may_go_on)?;
        }
        if !proof.strays.is_empty() {
            // What it was written anew from may be held by a reader: it has to be gone as well before there is a receipt.
            let mut writer = self.lock_manifest();
            if let Some(erasing) = &writer.manifest.erasing {
                let erasing = Some(Erasing { below: self.numbers.next(), ..erasing.clone() });
                let manifest = Manifest { erasing, ..writer.manifest.clone() };
                self.replace_segments(&mut writer, manifest, &[], Written::default(), |_| ())?;
            }
        }
        let Proof { stays, blocks, texts, .. } = proof.holds()?;
        let receipt = Receipt {
            began: erasing.began,
            ended: settings::now(),
            events: erasing.arrivals.len(),
            document_bytes: erasing.document_bytes,
            files: erasing.files,
            file_bytes: erasing.file_bytes,
            stays,
            blocks,
            texts,
            quarantined: receipt::quarantined(&*self.directory)?,
            arrivals: erasing.arrivals.clone(),
        };
        let written = receipt.write(&*self.directory, self.environment.store);
        written.map_err(|failure| self.lock().fail(failure))?;
        let mut writer = self.lock_manifest();
        if writer.manifest.erasing.as_ref() == Some(&erasing) {
            let manifest = Manifest { erasing: None, ..writer.manifest.clone() };
            self.replace_segments(&mut writer, manifest, &[], Written::default(), |_| ())?;
        }
        Ok(Erased { receipt: Some(receipt), ..Erased::default() })
    }

    /// Reads the whole store, which must not hold any of these events; none if it may not go on.
    fn prove(&self, gone: &Arrivals, may_go_on: &dyn Fn() -> bool) -> Result<Option<Proof>, DeleteError> {
        // Each event with a number below the next one is in the state, or will never be there.
        let sealing = self.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        let writer = self.flush_log(self.lock())?;
        let writer = self.settle(writer)?;
        let below = writer.replayed.next_arrival;
        let snapshot = Snapshot { state: self.state() };
        drop((writer, sealing));
        self.name_next_arrival(below)?;
        Ok(snapshot.prove(below, gone, may_go_on)?)
    }

    /// Sees to it that the manifest knows of all numbers that a receipt does, also of those that went to a batch that could not be stored, or that a damaged log may have lost: otherwise
    /// it would pass for an older one.
    fn name_next_arrival(&self, next_arrival: u64) -> Result<(), DeleteError> {
        let mut writer = self.lock_manifest();
        if writer.manifest.next_arrival < next_arrival {
            let manifest = Manifest { next_arrival, ..writer.manifest.clone() };
            self.replace_segments(&mut writer, manifest, &[], Written::default(), |_| ())?;
        }
        Ok(())
    }
}
