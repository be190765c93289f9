//! Damaged data and repairs, as reported to users of the library.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tamias_query::Instant;
use tamias_store::{Failure, LeftFile, OpenError, Rebuilt};

/// A damaged part of the store: the file, the byte range, the events lost and their times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage(pub(crate) tamias_store::Damage);

impl Damage {
    /// The file, and the range of its bytes that cannot be used.
    pub fn place(&self) -> (&std::path::Path, std::ops::Range<u64>) {
        (&self.0.file, self.0.bytes.clone())
    }

    /// The paths of the values in the damaged bytes, for a file in columns; empty if unknown. The documents of the events are lost
    /// as a whole, but queries that need none of these paths still work.
    pub fn holds(&self) -> &[String] {
        self.0.part.as_ref().map_or(&[], |part| &part.holds)
    }

    /// The number of events lost, if known.
    pub fn events(&self) -> Option<u64> {
        self.0.events
    }

    /// The instants of the first and the last event lost. `None` if unknown: the events may be of any time.
    pub fn time_range(&self) -> Option<(Instant, Instant)> {
        self.0.keys.map(|(first, last)| (instant(first.instant), instant(last.instant)))
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tamias_store::Damage { file, bytes, found, .. } = &self.0;
        write!(f, "{} is damaged at bytes {} to {}", file.display(), bytes.start, bytes.end)?;
        self.0.fmt_part(f)?;
        write!(f, ": {found}; ")?;
        match self.events() {
            Some(1) => f.write_str("1 event is lost, ")?,
            Some(events) => write!(f, "{events} events are lost, ")?,
            None => f.write_str("an unknown number of events is lost, ")?,
        }
        match self.time_range() {
            Some((first, last)) => write!(f, "from {first} to {last}"),
            None => f.write_str("of unknown times"),
        }
    }
}

/// What a repair has found and done, or would do in a dry run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The damaged files; none if the store is sound.
    pub files: Vec<RepairedFile>,
    /// Files of the store that its manifest did not list: how many events were regained, and where the rest is.
    pub unnamed: Vec<RegainedFile>,
    /// Files that were left as they are because they cannot be read, and why. The store may lack the events in them.
    pub left: Vec<LeftFile>,
    /// Why the manifest (the list of the store's files) was rebuilt from the files, if it was.
    pub rebuilt: Option<Rebuilt>,
    /// The number of events that a [receipt](crate::Receipt) says were erased and that were in the store again, because older files were put back.
    /// They are deleted again; [`erase`](crate::Store::erase) removes them from the files.
    pub erased_again: u64,
    /// Sources whose positions were lost: see [`Store::is_source_lost`](crate::Store::is_source_lost). An empty name stands for
    /// all sources that the store does not know.
    pub lost_sources: Vec<String>,
    /// The number of events in the store after the repair.
    pub events: u64,
}

/// A damaged file, and how it was repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedFile {
    /// Its path in the store.
    pub file: PathBuf,
    /// Where the original file is kept, unchanged; `None` if the file was missing.
    pub quarantined: Option<PathBuf>,
    /// The number of its events that stay in the store.
    pub kept: u64,
    /// The number of events lost in it that came back from other files.
    pub regained: u64,
    /// Its damaged parts, with the events lost in each and their times.
    pub damage: Vec<Damage>,
}

/// A file of the store that its manifest did not list, and how it was taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegainedFile {
    /// Where it was found.
    pub file: PathBuf,
    /// The number of events that the store regained from it.
    pub regained: u64,
    /// The number of these that got new ids, because other events of the store have theirs.
    pub renumbered: u64,
    /// The number of intact events that were not taken in, because the store already has them, or they were deleted or removed.
    pub known: u64,
    /// Its damaged parts, with the events lost in each and their times.
    pub damage: Vec<Damage>,
    /// Where it is kept; `None` if the whole file became part of the store again.
    pub quarantined: Option<PathBuf>,
    /// Whether it belongs to another store, or is a manifest that does not count: its events were not looked at.
    pub is_foreign: bool,
}

impl Repair {
    pub(crate) fn of_store(repair: tamias_store::Repair) -> Repair {
        let parts = |damage: Vec<tamias_store::Damage>| damage.into_iter().map(Damage).collect();
        let file = |file: tamias_store::RepairedFile| RepairedFile {
            file: file.file,
            quarantined: file.quarantined,
            kept: file.kept,
            regained: file.regained,
            damage: parts(file.damage),
        };
        let unnamed = |file: tamias_store::RegainedFile| RegainedFile {
            file: file.file,
            regained: file.regained,
            renumbered: file.renumbered,
            known: file.known,
            damage: parts(file.damage),
            quarantined: file.quarantined,
            is_foreign: file.is_foreign,
        };
        Repair {
            files: repair.files.into_iter().map(file).collect(),
            unnamed: repair.unnamed.into_iter().map(unnamed).collect(),
            left: repair.left,
            rebuilt: repair.rebuilt,
            erased_again: repair.erased_again,
            lost_sources: repair.lost_sources,
            events: repair.events,
        }
    }
}

/// Converts an instant of the store, which may be any 64 bits: those after the year 9999 become the end of that year.
pub(crate) fn instant(ticks: u64) -> Instant {
    Instant::from_ticks(ticks).unwrap_or(Instant::MAX)
}

/// Why events could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system reported an error.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// A part of the store is damaged.
    #[error("{0}")]
    Damaged(Damage),
    /// The store could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl ReadError {
    pub(crate) fn of_store(error: tamias_store::ReadError) -> ReadError {
        match error {
            tamias_store::ReadError::Failure(failure) => ReadError::Failure(failure),
            tamias_store::ReadError::Damaged(damage) => ReadError::Damaged(Damage(damage)),
            // The enum may grow: variants that are not known here keep their own message.
            other => ReadError::Failure(Failure {
                path: std::path::PathBuf::new(),
                operation: tamias_store::Operation::Read,
                source: Arc::new(std::io::Error::other(other)),
            }),
        }
    }
}

/// The damaged parts that a query [skipped](crate::Store::run_past_damage). Complete once all its rows were read.
#[derive(Clone, Debug, Default)]
pub struct LeftOut(Arc<Mutex<Vec<Damage>>>);

impl LeftOut {
    /// The damaged parts skipped so far, in the order in which the query reached them.
    pub fn damage(&self) -> Vec<Damage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a damaged part, unless it is listed already.
    pub(crate) fn add(&self, damage: tamias_store::Damage) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let damage = Damage(damage);
        if !known.contains(&damage) {
            known.push(damage);
        }
    }
}
