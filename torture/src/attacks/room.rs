//! A store that keeps to little room by letting the oldest events go: it takes every event, whatever it does meanwhile and whoever else takes room.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tamias_store::io::{Chance, Directory, Disk, Simulated};
use tamias_store::{AppendError, Options, Settings, Store, WhenFull};

use super::{Attack, Round};
use crate::batch::Batch;
use crate::columns;
use crate::devices::{self, Mounted};
use crate::examine;
use crate::report::Report;
use crate::scene::{Finding, violation};
use crate::soaking::planted;
use crate::writer::{Waits, options};

/// A store keeps at least so much room, whatever others take: several times the largest batch.
const LEAST: u64 = 400 << 10;

/// How many steps a round has.
const STEPS: usize = 250;

/// Little room, on the simulated medium or on a file system in memory.
#[derive(Debug)]
pub(crate) struct Room {
    name: &'static str,
    about: &'static str,
    is_mounted: bool,
}

/// Both.
pub(crate) fn all() -> Vec<Box<dyn Attack>> {
    let about = "little room, of which others take and give back some, and the oldest events may go: every event is taken, and what is not there has gone aloud";
    let room = |name, is_mounted| Box::new(Room { name, about, is_mounted }) as Box<dyn Attack>;
    vec![room("room", false), room("room-tmpfs", true)]
}

impl Attack for Room {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn needs_root(&self) -> bool {
        self.is_mounted
    }

    fn obstacle(&self) -> Option<String> {
        self.is_mounted.then(|| devices::obstacle(&[])).flatten()
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let bytes = LEAST + round.chance.below(2 << 20) as u64;
        let medium: Box<dyn Little> = if self.is_mounted {
            let mounted = Mounted::in_memory(&round.folder.join("mounted"), bytes, 2000)?;
            let store = mounted.folder().join("store");
            std::fs::create_dir(&store)?;
            let ballast = mounted.folder().join("ballast");
            Box::new(Small { store, ballast, bytes, _mounted: mounted })
        } else {
            let folder = Simulated::new();
            folder.set_room(Some(bytes));
            Box::new(Made { folder, bytes })
        };
        let done = catch_unwind(AssertUnwindSafe(|| live(round, &*medium)));
        done.unwrap_or_else(|_| violation("the store panicked in little room"))
    }
}

/// A medium with little room.
trait Little {
    fn directory(&self, round: &Round) -> std::io::Result<Arc<dyn Directory>>;
    /// Others take what the store does not need to have so much.
    fn squeeze(&self, least: u64) -> std::io::Result<()>;
    /// They give it back.
    fn ease(&self) -> std::io::Result<()>;
}

struct Made {
    folder: Simulated,
    bytes: u64,
}

impl Little for Made {
    fn directory(&self, round: &Round) -> std::io::Result<Arc<dyn Directory>> {
        Ok(planted(round.plant, &self.folder))
    }

    fn squeeze(&self, least: u64) -> std::io::Result<()> {
        // Its own threads may be writing: it must not have more than there is room for.
        let mut room = 0;
        while self.folder.medium().bytes() > room {
            room = self.folder.medium().bytes().max(least);
            self.folder.set_room(Some(room));
        }
        Ok(())
    }

    fn ease(&self) -> std::io::Result<()> {
        self.folder.set_room(Some(self.bytes));
        Ok(())
    }
}

struct Small {
    store: PathBuf,
    ballast: PathBuf,
    bytes: u64,
    _mounted: Mounted,
}

impl Little for Small {
    fn directory(&self, round: &Round) -> std::io::Result<Arc<dyn Directory>> {
        let disk: Arc<dyn Directory> = Arc::new(Disk::new(&self.store));
        Ok(match round.plant {
            Some(plant) => plant.over(disk),
            None => disk,
        })
    }

    fn squeeze(&self, least: u64) -> std::io::Result<()> {
        let taken = taken(&self.store)?.max(least);
        let mut ballast = File::create(&self.ballast)?;
        // A hole takes no room.
        let mut bytes = std::io::repeat(b'x').take(self.bytes.saturating_sub(taken));
        match std::io::copy(&mut bytes, &mut ballast) {
            // The store has taken more meanwhile.
            Err(error) if error.kind() == ErrorKind::StorageFull => Ok(()),
            copied => copied.map(drop),
        }
    }

    fn ease(&self) -> std::io::Result<()> {
        std::fs::remove_file(&self.ballast).or(Ok(()))
    }
}

/// Bytes that the files in a folder take, in whole pages.
fn taken(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let length = entry.metadata()?.len();
        let own = if entry.file_type()?.is_dir() { taken(&entry.path())? } else { length };
        bytes += own.next_multiple_of(4096);
    }
    Ok(bytes)
}

/// What a store was given, and what it has to account for.
#[derive(Default)]
struct Given {
    events: u64,
    /// The number of the next batch.
    next: u64,
}

fn live(round: &mut Round, medium: &dyn Little) -> Result<(), Finding> {
    let mut chance = Chance(round.chance.below(1 << 40) as u64);
    let segments = columns::layout(chance.below(2) as u64);
    let is_late = chance.below(2) == 0;
    let segment_bytes = [30_000, 1 << 20][chance.below(2)];
    let background = chance.below(2) == 0;
    let removing = Settings { when_full: WhenFull::RemoveOldest, ..Settings::default() };
    let open = |round: &Round, settings: Option<Settings>| {
        let own = options(Waits::Sync);
        let options = Options { segments, background, segment_bytes, settings, ..own };
        let store = Store::open_on(medium.directory(round)?, options, columns::codec(None));
        store.or_else(|error| violation(format!("in little room the store does not open: {error}")))
    };
    round.tally.note(format!(
        "{segments:?}, late: {is_late}, segments of {segment_bytes}, background: {background}"
    ));
    let mut given = Given::default();
    let mut store = open(round, Some(if is_late { Settings::default() } else { removing }))?;
    if is_late {
        fill(&store, &mut given)?;
        store.set_settings(removing).or_else(|error| violation(format!("settings: {error}")))?;
    }
    for _ in 0..STEPS {
        let step = chance.below(100);
        round.tally.note(format!("step {step}"));
        match step {
            0..75 => {
                let appended = append(round, &store, &mut given, step >= 60);
                appended.inspect_err(|_| tell_files(round, medium))?;
            }
            75..80 => work(store.seal(), "seal")?,
            80..84 => work(store.compact(), "compact")?,
            84..92 => {
                medium.squeeze(LEAST)?;
                round.tally.blows.fetch_add(1, Ordering::Relaxed);
            }
            92..96 => medium.ease()?,
            _ => {
                drop(store);
                store = open(round, None)?;
            }
        }
        account(&store, &given)?;
    }
    drop(store);
    let store = open(round, None)?;
    account(&store, &given)?;
    round.tally.checks.fetch_add(1, Ordering::Relaxed);
    look(&store, &given)
}

/// Notes what lies in the folder.
fn tell_files(round: &Round, medium: &dyn Little) {
    let Ok(directory) = medium.directory(round) else { return };
    for name in directory.list().unwrap_or_default() {
        let length = directory.open(&name).and_then(|file| file.length());
        round.tally.note(format!("    {name}: {length:?}"));
    }
}

/// Appends and seals as long as there is room. What is only in the log cannot go, so it is sealed now and then, as the years of a store do it.
fn fill(store: &Store, given: &mut Given) -> Result<(), Finding> {
    loop {
        if given.next % 20 == 19 {
            work(store.seal(), "seal")?;
        }
        let batch = Batch::new(given.next);
        match store.append_from(&batch.events(), batch.position()) {
            Ok(_) => given.events += batch.rows.len() as u64,
            Err(error) if error.is_lack_of_room() => return Ok(()),
            Err(error) => return violation(format!("instead of lacking room: {error}")),
        }
        given.next += 1;
    }
}

fn append(round: &Round, store: &Store, given: &mut Given, sealed: bool) -> Result<(), Finding> {
    let batch = Batch::new(given.next);
    let appended: Result<_, AppendError> = match sealed {
        true => store.append_sealed(&batch.events(), batch.position()),
        false => store.append_from(&batch.events(), batch.position()),
    };
    if let Err(error) = appended {
        return violation(format!("an append is refused where the oldest events may go: {error}"));
    }
    given.next += 1;
    given.events += batch.rows.len() as u64;
    round.tally.acknowledged.fetch_add(batch.rows.len() as u64, Ordering::Relaxed);
    Ok(())
}

/// What needs room may lack it, and changes nothing then.
fn work(done: Result<(), tamias_store::SealError>, what: &str) -> Result<(), Finding> {
    match done {
        Err(error) if !error.is_lack_of_room() => violation(format!("{what}: {error}")),
        _ => Ok(()),
    }
}

/// That each event is there, or has gone aloud.
fn account(store: &Store, given: &Given) -> Result<(), Finding> {
    let housekeeping = store.housekeeping().or_else(|error| violation(error.to_string()))?;
    let went: u64 = housekeeping.history.iter().map(|entry| entry.events).sum();
    let there = store.snapshot().events();
    if there + went == given.events {
        return Ok(());
    }
    violation(format!("of {} events {there} are there, and {went} have gone aloud", given.events))
}

/// That what is there is what was given, once each.
fn look(store: &Store, given: &Given) -> Result<(), Finding> {
    let mut report = Report::default();
    examine::look(&store.snapshot(), false, &mut report).map_err(Finding::Violation)?;
    if let Some(part) = report.damage().first() {
        return violation(format!("{} is said to be damaged: {}", part.file, part.found));
    }
    let all: BTreeSet<(u64, Vec<u8>)> = (0..given.next).flat_map(|id| Batch::new(id).rows.clone()).collect();
    let there: BTreeSet<(u64, Vec<u8>)> =
        report.rows.iter().map(|row| (row.instant, row.document.clone())).collect();
    if there.len() != report.rows.len() {
        return violation("an event is there twice");
    }
    if !there.is_subset(&all) {
        return violation("an event is there that nobody has given");
    }
    // The oldest go, and never all.
    let is_empty = given.events > 0 && there.is_empty();
    if is_empty { violation("no event has stayed") } else { Ok(()) }
}
