//! Repair: what is damaged goes to quarantine, what is whole stays in the store or comes back to it, and nothing is removed before both are
//! durable.

mod basis;
mod origin;
mod report;
mod strays;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::adopt::{self, Stray};
use crate::codec::Codec;
use crate::deletion::Hit;
use crate::error::{Damage, Failure, OpenError, Operation};
use crate::format::{FileKind, Key, NUMBER_MAX, SCRUB_NAME, parse_unfinished};
use crate::hold;
use crate::inventory::{self, UnnamedKind, list, next_manifest};
use crate::io::{Directory, Disk, is_unreadable};
use crate::log::{LogCopies, LogReader, LogWriter, NewLogs};
use crate::manifest::{LogEntry, Manifest, Renumbered, SegmentEntry, Sources, mark};
use crate::marks::Arrivals;
use crate::named::unfinished;
use crate::options::{FlushStats, Options};
use crate::quarantine::{self, Kept};
use crate::receipt::Receipts;
use crate::recovery;
use crate::replay::{self, beyond_lost};
use crate::retire;
use crate::segment::{Environment, Numbers, Sealed, Segment, Unwritten, Written, write_sorted};
use crate::settings;

use basis::Basis;
use origin::{Origin, Origins, RIVALS_MAX};
pub use report::{LeftFile, Rebuilt, RegainedFile, Repair, RepairedFile};

impl Repair {
    /// Repairs the store in this folder, which no process may be writing to; readers go on undisturbed. Each damaged file is kept whole
    /// in the folder `quarantine` in the store, and what is whole in it is written into a new file. Segments and logs of the store that its
    /// manifest does not name are taken in where their arrival numbers are free, and kept in quarantine otherwise; a manifest that is
    /// missing or damaged is made anew from them. Then a manifest with the new files is published, and the damaged ones are removed from the store.
    /// Interrupted at any point it leaves the store as it was or repaired, and may be run again.
    ///
    /// With `dry_run` nothing is changed, and the result tells what would be. `progress` hears now and then how many bytes of how many
    /// were read. Takes room for what is whole in damaged files once more.
    ///
    /// # Errors
    /// As opening has them, but for a missing or damaged manifest.
    pub fn run(
        folder: &Path,
        options: &Options,
        codec: Arc<dyn Codec>,
        dry_run: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Repair, OpenError> {
        inventory::require_folder(folder)?;
        Repair::run_on(Arc::new(Disk::new(folder)), options, codec, dry_run, progress)
    }

    /// Repairs a store in any kind of folder.
    ///
    /// # Errors
    /// As [`run`](Repair::run).
    pub fn run_on(
        directory: Arc<dyn Directory>,
        options: &Options,
        codec: Arc<dyn Codec>,
        dry_run: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Repair, OpenError> {
        Repair::run_bounded(directory, options, codec, dry_run, RIVALS_MAX, progress)
    }

    /// The same with so many rivals at once.
    fn run_bounded(
        directory: Arc<dyn Directory>,
        options: &Options,
        codec: Arc<dyn Codec>,
        dry_run: bool,
        rivals_max: usize,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Repair, OpenError> {
        options.check()?;
        let options = &options.clone().with(&*codec);
        let _lock = hold::lock_writer(&*directory, Some(&Basis::find(&*directory)?.manifest))?;
        let basis = Basis::find(&*directory)?;
        if !dry_run {
            retire::finish_names(&*directory, &list(&*directory)?, &basis.manifest)?;
        }
        let old = &basis.manifest;
        let misnamed = retire::misnamed(&*directory, &list(&*directory)?, old)?;
        let numbers = Numbers::new(inventory::next_file(&*directory, old)?);
        let receipts = Receipts::of(&*directory, old.store)?;
        let work = Work {
            directory: &*directory,
            environment: adopt::plain_environment(&directory, old, options, codec),
            options,
            dry_run,
            old,
            numbers: &numbers,
            files: Vec::new(),
            unnamed: Vec::new(),
            left: Vec::new(),
            erased: receipts.all_erased(),
            receipts,
            hits: Vec::new(),
            erased_again: 0,
            known: None,
            renumbered: old.renumbered.clone(),
            origins: Origins::default(),
            written: Written::default(),
            segments: Vec::new(),
            events: 0,
            sources: old.sources.clone(),
            untold: None,
            quarantined: BTreeSet::new(),
            unkept: BTreeSet::new(),
            kept: Vec::new(),
            told: Sources::new(),
            misnamed,
            known_by: &basis.known_by,
            rivals_max,
        };
        work.run(basis.rebuilt, progress)
    }
}

/// A manifest that is made without an older one gets a number beyond all that the store can have had.
const REBUILT: u64 = 1 << 32;

/// Why files that no manifest names are left where they are.
const RECEIPT_DAMAGED: &str = "it is damaged or cannot be read, so it is unknown which events were erased, and no unnamed file is taken in; make it readable, or \
                               put it back from a backup or another copy of the store. If you move it away, events that it erased can come back";

/// The same, where not even the receipts can be listed.
const RECEIPTS_UNREADABLE: &str = "it cannot be read, so it is unknown which events were erased, and no unnamed file is taken in; make it readable, or put the \
                                   folder itself in the place of a link, and repair again";

/// What keeps a repair from looking into a file ends it: nothing is to be concluded from it.
fn unreadable(failure: Failure) -> OpenError {
    if failure.is_unreadable() { OpenError::Unreadable(failure) } else { failure.into() }
}

/// What cannot be repaired, or was read well a moment ago and is not.
fn changed(directory: &dyn Directory, name: &str, found: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
    Failure::during(directory, name, Operation::Read)(io::Error::other(found))
}

/// A repair under way.
struct Work<'a> {
    directory: &'a dyn Directory,
    environment: Arc<Environment>,
    options: &'a Options,
    dry_run: bool,
    old: &'a Manifest,
    numbers: &'a Numbers,
    files: Vec<RepairedFile>,
    unnamed: Vec<RegainedFile>,
    left: Vec<LeftFile>,
    receipts: Receipts,
    /// What receipts say was erased, as far as all of them can be read.
    erased: Arrivals,
    /// What is deleted again, as it was erased once.
    hits: Vec<Hit>,
    erased_again: u64,
    /// The arrival numbers of all events that the store holds, where strays have to be held against them.
    known: Option<RoaringTreemap>,
    /// Events that have new numbers now, or since an earlier repair.
    renumbered: Vec<Renumbered>,
    /// Where they come from, where there are strays.
    origins: Origins,
    /// New segments, under their unfinished names.
    written: Written,
    /// The segments after the repair.
    segments: Vec<SegmentEntry>,
    events: u64,
    sources: Sources,
    /// Where they stand by the logs that stay.
    told: Sources,
    /// Files were taken in that do not tell where sources stood: this is the greatest of their arrival numbers.
    untold: Option<u64>,
    /// Names of unnamed files that are kept in quarantine, and leave the store.
    quarantined: BTreeSet<String>,
    /// Names of files that nobody could look at, so that they are not in quarantine: they are not retired either.
    unkept: BTreeSet<String>,
    /// What went to quarantine so far.
    kept: Vec<Kept>,
    /// Segments and logs that the manifest names, by their own names, and the names that somebody has given them.
    misnamed: BTreeMap<String, String>,
    /// A file that could be read when the repair began.
    known_by: &'a str,
    /// So many events are held against those of the store at once.
    rivals_max: usize,
}

/// A part of a damaged file that is lost.
struct Lost {
    /// The place of the file among those that are repaired.
    place: usize,
    kind: FileKind,
    number: u64,
    /// The first and the last key that it may have held; of logs nobody knows them.
    keys: Option<(Key, Key)>,
    /// The least and the greatest arrival number in its segment.
    arrivals: Option<(u64, u64)>,
    /// How many events it held, less those that came back; `None` where nobody knows.
    events: Option<u64>,
}

impl Lost {
    /// Whether a file that was taken out may have held the same event: what a segment was made of has lower numbers, and what is in a log was in none but logs before. All
    /// else was taken out because it was to go.
    fn may_be_in(&self, stray: &Stray, key: Key) -> bool {
        let is_older = match self.kind {
            FileKind::Log => stray.kind == FileKind::Log,
            _ => stray.number < self.number,
        };
        is_older && self.keys.is_none_or(|(first, last)| first <= key && key <= last)
    }

    /// Whether an event that the store has none of, and that came back with a file, is one of those lost here.
    fn has_back(&self, stray: &Stray, key: Key) -> bool {
        let is_its_own = match self.keys {
            // A newer segment has none of its events.
            Some((first, last)) => stray.number <= self.number && first <= key && key <= last,
            None => stray.is_retired() && self.may_be_in(stray, key),
        };
        let has_number = |(least, greatest)| least <= key.arrival && key.arrival <= greatest;
        let is_left = self.events.is_some_and(|events| events > 0);
        is_its_own && is_left && self.arrivals.is_none_or(has_number)
    }
}

/// The logs after the repair.
struct Logs<'a> {
    live: Vec<LogEntry>,
    copies: NewLogs<'a>,
    next_arrival: u64,
}

impl<'a> Work<'a> {
    fn run(
        mut self,
        rebuilt: Option<Rebuilt>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Repair, OpenError> {
        let result = self.repair(rebuilt, progress);
        if result.is_err() {
            // No manifest will name them, unless nobody knows whether it does.
            let known = !matches!(&result, Err(OpenError::Failure(failure)) if failure.is_final());
            if known {
                std::mem::take(&mut self.written).remove(self.directory);
                quarantine::take_back(self.directory, &self.kept);
            }
        }
        result
    }

    fn repair(
        &mut self,
        mut rebuilt: Option<Rebuilt>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Repair, OpenError> {
        let mut strays = adopt::strays(self.directory, self.old)?;
        strays.retain(|stray| !self.misnamed.values().any(|name| *name == stray.name));
        self.known = (!strays.is_empty() || !self.erased.is_empty()).then(RoaringTreemap::new);
        self.named_segments(progress)?;
        let mut logs = self.logs(&mut strays)?;
        let reach = self.receipts.reach().map_or(0, |(below, _)| below);
        let is_behind = logs.next_arrival < reach;
        logs.next_arrival = logs.next_arrival.max(reach);
        let stale = self.take_in(&strays, &mut logs)? || is_behind || self.erased_again > 0;
        self.set_aside()?;
        rebuilt = rebuilt.or(stale.then_some(Rebuilt::Stale));
        // What a later batch tells stands.
        let lost_before = self.untold.map_or(0, |greatest| greatest.saturating_add(1));
        let lost_before = lost_before.max(self.old.sources_lost_before);
        if rebuilt.is_some() {
            logs.next_arrival = beyond_lost(logs.next_arrival);
        }
        let repair = Repair {
            files: std::mem::take(&mut self.files),
            unnamed: std::mem::take(&mut self.unnamed),
            left: std::mem::take(&mut self.left),
            rebuilt,
            erased_again: self.erased_again,
            lost_sources: if lost_before > 0 { self.doubtful(lost_before) } else { Vec::new() },
            events: self.events,
        };
        self.require_medium()?;
        let nothing = repair.files.is_empty() && repair.unnamed.is_empty() && repair.rebuilt.is_none();
        if !self.dry_run && (!nothing || !self.quarantined.is_empty()) {
            self.publish(logs, lost_before)?;
            // What a scrub found is of files that are mended now.
            let _ = self.directory.remove(SCRUB_NAME);
        }
        Ok(repair)
    }

    /// Where the medium has come to give nothing at all, what it did not give is not damaged. A device that is gone while the system still has this file in memory fails the next flush.
    fn require_medium(&self) -> Result<(), OpenError> {
        let kind = FileKind::parse(self.known_by).or_else(|| parse_unfinished(self.known_by));
        let kind = kind.map_or(FileKind::Manifest, |(kind, _)| kind);
        retire::header(self.directory, self.known_by, kind).map(drop).map_err(unreadable)
    }

    fn publish(&mut self, logs: Logs<'_>, sources_lost_before: u64) -> Result<(), OpenError> {
        let names = list(self.directory)?;
        let Logs { live, copies, next_arrival } = logs;
        let mut manifest = Manifest {
            number: next_manifest(&names, self.old.number).max(if self.old.number == 0 {
                REBUILT
            } else {
                0
            }),
            next_file: self.numbers.next(),
            next_arrival: next_arrival.min(NUMBER_MAX - 1),
            // Without an older one nobody knows of which line it was: of none that a backup was taken of.
            line: if self.old.number == 0 { recovery::random_identity() as u64 | 1 } else { self.old.line },
            logs: live,
            segments: std::mem::take(&mut self.segments),
            sources: std::mem::take(&mut self.sources),
            sources_lost_before,
            renumbered: std::mem::take(&mut self.renumbered),
            ..self.old.clone()
        };
        if !self.hits.is_empty() {
            manifest.delete(&self.hits, self.numbers.next(), settings::now());
        }
        self.rename_misnamed(FileKind::Segment)?;
        manifest.replaces(self.old, self.directory)?;
        manifest.retired.extend(std::mem::take(&mut self.quarantined));
        let live: BTreeSet<String> = manifest.names().collect();
        manifest.retired.extend(self.misnamed.keys().filter(|own| !live.contains(*own)).cloned());
        // What was taken out before is not to become a file of nobody's: `sweep` leaves it while it cannot be opened.
        manifest.retired.retain(|name| !self.unkept.contains(name) || self.old.retired.contains(name));
        let (_, mut copies) = copies.named(manifest.publish(self.directory))?;
        // From here on the files in quarantine are all that is left of damaged ones, whatever fails later.
        self.kept.clear();
        self.written.finish(self.directory)?;
        for copy in &mut copies {
            copy.rename(self.directory)?;
        }
        self.rename_misnamed(FileKind::Log)?;
        let fail = Failure::during(self.directory, "", Operation::FlushFolder);
        self.directory.flush().map_err(fail)?;
        retire::sweep(self.directory, &manifest);
        retire::sweep_unfinished(self.directory, &names, &manifest);
        retire::forget_gone(self.directory, &manifest);
        Ok(())
    }

    /// Keeps a file in quarantine under its own name, or says where it would be; `None` if there is none, or what is there is no file.
    fn keep(&mut self, name: &str) -> Result<Option<PathBuf>, Failure> {
        let present = self.present_name(name);
        let fail = Failure::during(self.directory, &present, Operation::Open);
        let kind = match self.directory.kind(&present) {
            Err(error) if is_unreadable(&error) => {
                self.unkept.insert(name.to_owned());
                return Ok(None);
            }
            kind => kind.map_err(fail)?,
        };
        match kind {
            Some(crate::io::NameKind::File(_)) if self.dry_run => {
                Ok(Some(quarantine::path(self.directory, name)))
            }
            Some(crate::io::NameKind::File(_)) => {
                let kept = quarantine::keep_file(self.directory, &present, name)?;
                let path = kept.path.clone();
                self.kept.push(kept);
                Ok(Some(path))
            }
            _ => Ok(None),
        }
    }

    /// Gives segments or logs that were renamed their own names again, by way of their unfinished names, as one may have the name of another. Segments come before the manifest is published, which may retire the name that one has now. A log may be an
    /// earlier copy that lacks events: it is opened as a whole one by whoever finds it under its own name, so the manifest that keeps their arrival numbers from being given again
    /// comes first.
    fn rename_misnamed(&mut self, kind: FileKind) -> Result<(), Failure> {
        let is_of_kind = |own: &str| FileKind::parse(own).is_some_and(|(of, _)| of == kind);
        let mut misnamed = self.misnamed.clone();
        misnamed.retain(|own, _| is_of_kind(own));
        if misnamed.is_empty() {
            return Ok(());
        }
        for (own, name) in &misnamed {
            let interim = unfinished(own);
            if *name != interim {
                self.keep_copy(&interim, own)?;
                let renamed = self.directory.rename(name, &interim);
                renamed.map_err(Failure::during(self.directory, name, Operation::Rename))?;
            }
        }
        // Each has left the name of another before that one gets it.
        let fail = Failure::during(self.directory, "", Operation::FlushFolder);
        self.directory.flush().map_err(fail)?;
        for own in misnamed.keys() {
            self.keep_copy(own, own)?;
            retire::finish_name(self.directory, own)?;
        }
        Ok(())
    }

    /// Keeps what has a name that another file is to get: by now that is a copy of a third one.
    fn keep_copy(&mut self, name: &str, kept: &str) -> Result<(), Failure> {
        let there = self.directory.kind(name);
        if there.map_err(Failure::during(self.directory, name, Operation::Open))?.is_some() {
            // It stays there even if the repair fails: its name may have gone to another file by then.
            quarantine::keep_file(self.directory, name, kept)?;
        }
        Ok(())
    }

    /// What a file is called as long as no manifest is published: one that was renamed gets its own name again then.
    fn present_name(&self, own: &str) -> String {
        self.misnamed.get(own).map_or_else(|| own.to_owned(), String::clone)
    }

    /// Tells of a file that has its own name again.
    fn tell_renamed(&mut self, own: &str, events: u64) {
        let Some(name) = self.misnamed.get(own) else { return };
        self.unnamed.push(RegainedFile {
            file: self.directory.path(name),
            regained: events,
            renumbered: 0,
            known: 0,
            damage: Vec::new(),
            quarantined: None,
            is_foreign: false,
        });
    }

    /// Goes through the segments that the manifest names.
    fn named_segments(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), OpenError> {
        let total = self.old.segments.iter().map(|entry| entry.file_bytes).fold(0, u64::saturating_add);
        let mut done = 0u64;
        for entry in &self.old.segments {
            let name = entry.name();
            let segment = Segment::of(*entry, self.old, Arc::clone(&self.environment));
            let segment = Arc::new(segment.under(&self.present_name(&name)));
            let salvaged = segment.salvage().map_err(unreadable)?;
            let damage = &salvaged.damage;
            let is_back = |key: &Key| self.erased.contains(key.arrival);
            let back: Vec<Key> = salvaged.events().map(|(key, _)| key).filter(is_back).collect();
            let whole: u64 = salvaged.blocks.iter().map(|block| block.len() as u64).sum();
            let kept = whole - back.len() as u64;
            self.erased_again += back.len() as u64;
            self.events += kept;
            self.tell_renamed(&name, kept);
            if let Some(known) = &mut self.known {
                let numbers = salvaged.events().map(|(key, _)| key.arrival).collect();
                *known |= &numbers;
                self.origins.add(Origin::Segment(Arc::clone(&segment)), &numbers);
            }
            if damage.is_empty() {
                self.segments.push(*entry);
                let hit = Hit::of(&segment, &back);
                self.hits.extend(hit.map_err(|error| changed(self.directory, &name, error))?);
            } else {
                let quarantined = self.keep(&name)?;
                let file = self.directory.path(&name);
                self.files.push(RepairedFile {
                    file,
                    quarantined,
                    kept,
                    regained: 0,
                    damage: damage.clone(),
                });
                let stays = |(key, _): &(Key, &[u8])| !self.erased.contains(key.arrival);
                let events: Vec<(Key, &[u8])> = salvaged.events().filter(stays).collect();
                self.write(&events)?;
            }
            done = done.saturating_add(entry.file_bytes);
            progress(done, total);
        }
        Ok(())
    }

    /// Writes events, in order, into new segments of the store.
    fn write(&mut self, events: &[(Key, &[u8])]) -> Result<(), OpenError> {
        if self.dry_run || events.is_empty() {
            return Ok(());
        }
        let to = Sealed {
            directory: self.directory,
            store: self.old.store,
            options: self.options,
            segment_bytes: self.options.segment_bytes,
            codec: &*self.environment.codec,
            numbers: self.numbers,
            sources: &self.sources,
            may_go_on: &|| true,
        };
        match write_sorted(&to, events, &mut FlushStats::default()) {
            Ok(Written { entries }) => {
                self.segments.extend(&entries);
                self.written.entries.extend(entries);
                Ok(())
            }
            Err(Unwritten::Failure(failure)) => Err(failure.into()),
            Err(Unwritten::Stopped) => unreachable!("it may always go on"),
        }
    }

    /// If a log is damaged, copies what is whole in all of them into a new one, and keeps what is not. One that holds what was erased once is taken apart with the strays.
    fn logs(&mut self, strays: &mut Vec<Stray>) -> Result<Logs<'a>, OpenError> {
        let next_arrival = self.old.next_arrival;
        let copies = NewLogs::none(self.directory);
        let mut logs = Logs { live: self.old.logs.clone(), copies, next_arrival };
        let (mut readable, mut apart) = (Vec::new(), Vec::new());
        let mut are_copied = false;
        for entry in &self.old.logs {
            let name = entry.name();
            let there = self.present_name(&name);
            let opened = replay::open_log_as(self.directory, self.old.store, entry, there.clone());
            let (mut back, mut kept) = (0, 0);
            let damage = match opened.map_err(|error| match error {
                OpenError::Failure(failure) => unreadable(failure),
                error => error,
            })? {
                Err(missing) => vec![missing],
                Ok(mut log) => {
                    let mut numbers = RoaringTreemap::new();
                    let erased = &self.erased;
                    let (is_known, told) = (self.known.is_some(), &mut self.told);
                    log.read(self.directory, |batch| {
                        if let Some((name, position)) = batch.source_mark() {
                            mark(told, name, position);
                        }
                        kept += u64::from(batch.frame.events);
                        if is_known {
                            numbers.extend(batch.events().map(|(key, _)| key.arrival));
                            back +=
                                batch.events().filter(|(key, _)| erased.contains(key.arrival)).count() as u64;
                        }
                    })
                    .map_err(unreadable)?;
                    kept -= back;
                    logs.next_arrival = logs.next_arrival.max(log.least_arrival);
                    let damage = replay::log_damage(self.directory, &log);
                    if back > 0 {
                        logs.live.retain(|live| live.number != entry.number);
                        apart.push(Stray::of_log(entry, there));
                    } else {
                        if let Some(known) = &mut self.known {
                            *known |= &numbers;
                            self.origins.add(Origin::Log(*entry, there), &numbers);
                        }
                        readable.push((*entry, log, kept));
                    }
                    damage
                }
            };
            self.erased_again += back;
            if back == 0 {
                self.events += kept;
                are_copied |= !damage.is_empty();
                self.tell_renamed(&name, kept);
            }
            if self.misnamed.contains_key(&name) || damage.iter().any(|part| part.events.is_none()) {
                // One that was renamed may be a copy that lacks the latest events: their numbers stay theirs.
                logs.next_arrival = beyond_lost(logs.next_arrival);
            }
            if damage.is_empty() {
                continue;
            }
            let quarantined = self.keep(&name)?;
            let file = self.directory.path(&name);
            self.files.push(RepairedFile { file, quarantined, kept, regained: 0, damage });
        }
        // What the store still has comes before what it had once.
        strays.splice(0..0, apart);
        if are_copied {
            self.keep_rests(&mut readable)?;
            if !self.dry_run {
                logs.copies = self.copy_logs(&readable)?;
                logs.live = logs.copies.logs.iter().map(LogWriter::entry).collect();
            }
        }
        Ok(logs)
    }

    /// Keeps what follows the last batch of logs that are not damaged: they leave the store with the damaged ones, which are kept whole.
    fn keep_rests(&mut self, logs: &mut [(LogEntry, LogReader, u64)]) -> Result<(), Failure> {
        for (entry, log, kept) in logs.iter_mut().filter(|(_, log, _)| log.damage.is_empty()) {
            let Some(rest) = log.rest(self.directory)? else { continue };
            let name = FileKind::Log.name(entry.number);
            let rest_name = rest.kept_name(&name);
            let quarantined = if self.dry_run {
                quarantine::path(self.directory, &rest_name)
            } else {
                let present = self.present_name(&name);
                let kept = quarantine::keep_bytes(self.directory, &present, rest.bytes.clone(), &rest_name)?;
                let path = kept.path.clone();
                self.kept.push(kept);
                path
            };
            let file = self.directory.path(&name);
            let damage = vec![Damage::of_rest(file.clone(), rest.bytes)];
            let quarantined = Some(quarantined);
            self.files.push(RepairedFile { file, quarantined, kept: *kept, regained: 0, damage });
        }
        Ok(())
    }

    fn copy_logs(&self, readable: &[(LogEntry, LogReader, u64)]) -> Result<NewLogs<'a>, Failure> {
        let mut copies = LogCopies::new(self.directory);
        for (entry, log, _) in readable {
            let mut copied = Ok(());
            let read = log.read_again(self.directory, entry, |batch| {
                if copied.is_ok() {
                    let number = || self.numbers.take_free(self.directory, FileKind::Log);
                    copied = copies.push(self.old.store, batch, number);
                }
            });
            read.and(copied)?;
        }
        copies.finish()
    }

    /// The sources of which it was lost where they stood, and an empty name for all that are not known.
    fn doubtful(&self, lost_before: u64) -> Vec<String> {
        let mut sources = self.sources.clone();
        self.told.iter().for_each(|(name, position)| mark(&mut sources, name, position.clone()));
        let doubtful = sources.iter().filter(|(_, mark)| mark.next_arrival <= lost_before);
        [String::new()].into_iter().chain(doubtful.map(|(name, _)| name.clone())).collect()
    }

    /// Files of other stores go to quarantine, and so do manifests of this store that do not count, and what looks like one: they would be looked at each time.
    fn set_aside(&mut self) -> Result<(), OpenError> {
        for file in inventory::unnamed(self.directory, inventory::list(self.directory)?, self.old)? {
            let name = file.file.file_name().and_then(|name| name.to_str());
            // Nothing is known of the unfinished files of another store.
            let goes = |name: &&str| match file.kind {
                UnnamedKind::Manifest => true,
                UnnamedKind::Foreign => FileKind::parse(name).is_some(),
                _ => false,
            };
            if let Some(name) = name.filter(goes) {
                let quarantined = self.keep(name)?;
                self.quarantined.insert(name.to_owned());
                self.unnamed.push(RegainedFile {
                    file: file.file.clone(),
                    regained: 0,
                    renumbered: 0,
                    known: 0,
                    damage: Vec::new(),
                    quarantined,
                    is_foreign: true,
                });
            }
        }
        Ok(())
    }
}
