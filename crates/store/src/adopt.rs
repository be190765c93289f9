//! Segments and logs of the store that no manifest names: an older manifest was put in the place of the newest, or all were lost.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::codec::Codec;
use crate::error::{Damage, Failure, OpenError, unless_refused};
use crate::format::{FileKind, HEADER_BYTES, Key, VERSION};
use crate::inventory::{self, UnnamedKind};
use crate::io::Directory;
use crate::log::LogReader;
use crate::manifest::{LogEntry, Manifest, SegmentEntry, Sources, mark};
use crate::options::{Options, ReadMode};
use crate::replay::{Replayed, beyond_lost, log_damage};
use crate::retire;
use crate::segment::{Environment, Salvaged, Segment};

/// A segment or log of this store that no manifest names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stray {
    pub(crate) kind: FileKind,
    /// The one in its header; where that is damaged, the one in its name.
    pub(crate) number: u64,
    pub(crate) name: String,
    /// What the survey of the folder said of it.
    found: UnnamedKind,
    /// As a manifest names it, for a log that is to be taken apart.
    named: Option<LogEntry>,
}

impl Stray {
    /// A log that a manifest names, to be taken in as if none did.
    pub(crate) fn of_log(entry: &LogEntry, name: String) -> Stray {
        let (kind, found) = (FileKind::Log, UnnamedKind::Events);
        Stray { kind, number: entry.number, name, found, named: Some(*entry) }
    }

    /// Whether it is a log that a manifest names.
    pub(crate) fn is_named(&self) -> bool {
        self.named.is_some()
    }

    /// The name that it has in quarantine: one that a manifest names may have been renamed.
    pub(crate) fn kept_name(&self) -> String {
        if self.is_named() { self.kind.name(self.number) } else { self.name.clone() }
    }

    /// Whether the manifest retires it: it is a stray only if the store has lost what it holds.
    pub(crate) fn is_retired(&self) -> bool {
        self.found == UnnamedKind::Retired
    }

    /// Whether somebody has renamed it.
    fn is_misnamed(&self) -> bool {
        self.name != self.kind.name(self.number)
    }

    /// The log as a manifest would name it that knows nothing of it.
    fn log_entry(&self, directory: &dyn Directory) -> Result<LogEntry, Failure> {
        if let Some(entry) = self.named {
            return Ok(entry);
        }
        // Where the header is damaged the checksums of batches tell.
        let header = unless_refused(retire::header(directory, &self.name, FileKind::Log))?;
        let version = header.map_or(VERSION, |header| header.version);
        Ok(LogEntry { number: self.number, version, length: HEADER_BYTES as u64, ended: false })
    }

    /// The segment as a manifest would name it.
    fn examine(&self, environment: &Environment) -> Result<Option<SegmentEntry>, Failure> {
        Segment::examine(&*environment.directory, environment.store, self.number, &self.name)
    }

    fn segment(&self, entry: SegmentEntry, environment: &Arc<Environment>) -> Arc<Segment> {
        Arc::new(Segment::new(entry, None, Arc::clone(environment)).under(&self.name))
    }

    /// Opens the log.
    fn open_log(&self, directory: &dyn Directory, store: u128) -> Result<LogReader, Failure> {
        LogReader::open(directory, store, &self.log_entry(directory)?, self.name.clone())
    }
}

/// The strays in the folder: segments before logs, the newest segment first, as it may hold what older ones held; logs in the order of their age.
pub(crate) fn strays(directory: &dyn Directory, manifest: &Manifest) -> Result<Vec<Stray>, Failure> {
    let unnamed = inventory::unnamed(directory, inventory::list(directory)?, manifest)?;
    let own = [UnnamedKind::Events, UnnamedKind::Unfinished, UnnamedKind::Retired, UnnamedKind::Unreadable];
    let events = unnamed.iter().filter(|file| own.contains(&file.kind));
    let mut strays = Vec::new();
    for (name, found) in events.filter_map(|file| Some((file.file.file_name()?.to_str()?, file.kind))) {
        // Those of unfinished names are nobody's loss.
        let Some((kind @ (FileKind::Segment | FileKind::Log), number)) = FileKind::parse(name) else {
            continue;
        };
        let header = unless_refused(retire::header(directory, name, kind))?;
        let number = header.map_or(number, |header| header.number);
        strays.push(Stray { kind, number, name: name.to_owned(), found, named: None });
    }
    // What was retired comes last: the store has its events, if nothing is wrong with it.
    strays.sort_unstable_by_key(|stray| match stray.kind {
        FileKind::Segment => (stray.is_retired(), 0, u64::MAX - stray.number),
        _ => (stray.is_retired(), 1, stray.number),
    });
    Ok(strays)
}

/// Moves the next arrival number beyond those of strays: they belong to events that were acknowledged, and may come back. True if it has
/// moved: then the manifest is not the newest one there was. As long as there are any nobody knows where sources stood.
pub(crate) fn beyond_unnamed(
    directory: &Arc<dyn Directory>,
    manifest: &Manifest,
    options: &Options,
    codec: &Arc<dyn Codec>,
    replayed: &mut Replayed,
) -> Result<bool, OpenError> {
    let mut strays = strays(&**directory, manifest)?;
    strays.retain(|stray| !stray.is_retired());
    if strays.is_empty() {
        return Ok(false);
    }
    let environment = plain_environment(directory, manifest, options, Arc::clone(codec));
    let before = replayed.next_arrival;
    // Up to here it is lost where sources stood, as far as the strays tell: what a later batch says stands.
    let mut lost_before = replayed.sources_lost_before;
    for stray in &strays {
        let greatest = greatest_arrival(stray, &environment)?;
        let next = match greatest {
            Some(greatest) => greatest.saturating_add(1).max(replayed.next_arrival),
            // Crashes left such files to version 1, which hold nothing that was acknowledged.
            None if manifest.version == 1 => replayed.next_arrival,
            None => beyond_lost(replayed.next_arrival),
        };
        replayed.next_arrival = next.min(crate::format::NUMBER_MAX - 1);
        if stray.found == UnnamedKind::Events {
            lost_before = lost_before
                .max(greatest.map_or(replayed.next_arrival, |greatest| greatest.saturating_add(1)));
        }
    }
    replayed.sources_lost_before = lost_before;
    Ok(replayed.next_arrival > before)
}

/// For whoever goes through whole segments.
pub(crate) fn plain_environment(
    directory: &Arc<dyn Directory>,
    manifest: &Manifest,
    options: &Options,
    codec: Arc<dyn Codec>,
) -> Arc<Environment> {
    let options = Options { read_mode: ReadMode::Plain, open_files_max: 1, ..options.clone() };
    Arc::new(Environment::new(Arc::clone(directory), manifest.store, &options, codec))
}

/// The greatest arrival number in a stray, as far as it can be read; `None` if it cannot be told.
fn greatest_arrival(stray: &Stray, environment: &Arc<Environment>) -> Result<Option<u64>, OpenError> {
    let directory = &*environment.directory;
    if stray.kind == FileKind::Log {
        let Some(mut log) = unless_refused(stray.open_log(directory, environment.store).map(Some))? else {
            return Ok(None);
        };
        let mut greatest = 0;
        log.read(directory, |batch| {
            greatest =
                greatest.max((batch.frame.first_arrival + u64::from(batch.frame.events)).saturating_sub(1));
        })?;
        return Ok(log.damage.is_empty().then_some(greatest));
    }
    let Some(entry) = unless_refused(stray.examine(environment))? else {
        return Ok(None);
    };
    if entry.arrivals.1 != u64::MAX {
        return Ok(Some(entry.arrivals.1));
    }
    // Version 1 does not tell.
    let blocks = stray.segment(entry, environment).salvage()?;
    let greatest = blocks.events().map(|(key, _)| key.arrival).max();
    Ok(greatest.filter(|_| blocks.damage.is_empty()))
}

/// What a stray holds, read whole.
pub(crate) struct Held {
    /// The segment as a manifest would name it, if all of it is whole and it has its own name.
    pub(crate) entry: Option<SegmentEntry>,
    events: Events,
    /// What of it cannot be used.
    pub(crate) damage: Vec<Damage>,
    /// Where sources stood; `None` if it does not tell.
    pub(crate) sources: Option<Sources>,
}

/// Events in the order of their keys.
enum Events {
    Salvaged(Salvaged),
    Copied(Vec<(Key, Vec<u8>)>),
}

impl Held {
    pub(crate) fn in_stray(stray: &Stray, environment: &Arc<Environment>) -> Result<Held, OpenError> {
        match stray.kind {
            FileKind::Log => Held::in_log(stray, environment),
            _ => Held::in_segment(stray, environment),
        }
    }

    /// All events that are whole, in order.
    pub(crate) fn events(&self) -> Box<dyn Iterator<Item = (Key, &[u8])> + '_> {
        match &self.events {
            Events::Salvaged(salvaged) => Box::new(salvaged.events()),
            Events::Copied(events) => Box::new(events.iter().map(|(key, document)| (*key, &**document))),
        }
    }

    /// What a file with these events is known by, whatever it is called: the SHA-256 of their keys. Documents are not in it, as they may be erased.
    pub(crate) fn known_by(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        for (key, _) in self.events() {
            hasher.update(key.instant.to_le_bytes());
            hasher.update(key.arrival.to_le_bytes());
        }
        hasher.finalize().into()
    }

    fn in_segment(stray: &Stray, environment: &Arc<Environment>) -> Result<Held, OpenError> {
        let Some(entry) = stray.examine(environment)? else {
            let damage = Damage {
                file: environment.directory.path(&stray.name),
                bytes: 0..0,
                part: None,
                keys: None,
                events: None,
                found: "its end is not one that was written, so that nothing in it is found",
            };
            let (events, damage) = (Events::Copied(Vec::new()), vec![damage]);
            return Ok(Held { entry: None, events, damage, sources: None });
        };
        let segment = stray.segment(entry, environment);
        let mut salvaged = segment.salvage()?;
        let damage = std::mem::take(&mut salvaged.damage);
        let is_whole = damage.is_empty() && !stray.is_misnamed();
        let (entry, sources) = (is_whole.then_some(entry), segment.sources()?);
        Ok(Held { entry, events: Events::Salvaged(salvaged), damage, sources })
    }

    fn in_log(stray: &Stray, environment: &Arc<Environment>) -> Result<Held, OpenError> {
        let directory = &*environment.directory;
        let (mut events, mut sources) = (Vec::new(), Sources::new());
        let mut log = stray.open_log(directory, environment.store)?;
        log.read(directory, |batch| {
            events.extend(batch.events().map(|(key, document)| (key, document.to_vec())));
            if let Some((name, position)) = batch.source_mark() {
                mark(&mut sources, name, position);
            }
        })?;
        let mut damage = log_damage(directory, &log);
        if let Some(rest) = log.rest(directory)? {
            damage.push(Damage::of_rest(log.path(directory), rest.bytes));
        }
        events.sort_unstable_by_key(|(key, _)| *key);
        Ok(Held { entry: None, events: Events::Copied(events), damage, sources: Some(sources) })
    }
}
