//! Damaged data, in the words of those who look after it.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tamias_query::Instant;
use tamias_store::{Failure, LeftFile, OpenError, Rebuilt};

/// A part of the store whose bytes are not what was written: the file, the bytes, the events lost and their times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage(pub(crate) tamias_store::Damage);

impl Damage {
    /// The file, and the bytes of it that cannot be used.
    pub fn place(&self) -> (&std::path::Path, std::ops::Range<u64>) {
        (&self.0.file, self.0.bytes.clone())
    }

    /// What the damaged bytes hold of each event, where it is known: the paths of values in a file of columns. The events are lost as a
    /// whole all the same; a query that needs none of these paths goes on.
    pub fn holds(&self) -> &[String] {
        self.0.part.as_ref().map_or(&[], |part| &part.holds)
    }

    /// How many events are lost, where that is known.
    pub fn events(&self) -> Option<u64> {
        self.0.events
    }

    /// The instants of the first and the last event lost, where they are known; otherwise they may be of any time.
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

/// What a repair has found and done, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The damaged files; none if the store is sound.
    pub files: Vec<RepairedFile>,
    /// Files of the store that its list did not name: what of them came back, and where the rest is.
    pub unnamed: Vec<RegainedFile>,
    /// Files that were left as they are, because they cannot be read, and why. While there are any the store may lack events that they hold.
    pub left: Vec<LeftFile>,
    /// Why the list of the store's files (the manifest) was made anew from the files, if it was.
    pub rebuilt: Option<Rebuilt>,
    /// Sources of which it was lost where they stood: see [`Store::is_source_lost`](crate::Store::is_source_lost). An empty name stands for
    /// all that the store does not know.
    pub lost_sources: Vec<String>,
    /// How many events the store holds afterwards.
    pub events: u64,
}

/// A damaged file, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedFile {
    /// Where it was.
    pub file: PathBuf,
    /// Where its bytes are kept, all of them as they were found; `None` if the file was missing.
    pub quarantined: Option<PathBuf>,
    /// How many of its events stay in the store.
    pub kept: u64,
    /// Its damaged parts, with the events lost in each and their times.
    pub damage: Vec<Damage>,
}

/// A file of the store that its list did not name, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegainedFile {
    /// Where it was found.
    pub file: PathBuf,
    /// How many events came back to the store with it.
    pub regained: u64,
    /// How many other whole events it holds: the store has others of their arrival numbers, in most cases the same.
    pub known: u64,
    /// What of it cannot be used, with the events lost in each part and their times.
    pub damage: Vec<Damage>,
    /// Where it is kept; `None` if it is a part of the store again as it is.
    pub quarantined: Option<PathBuf>,
}

impl Repair {
    pub(crate) fn of_store(repair: tamias_store::Repair) -> Repair {
        let parts = |damage: Vec<tamias_store::Damage>| damage.into_iter().map(Damage).collect();
        let file = |file: tamias_store::RepairedFile| RepairedFile {
            file: file.file,
            quarantined: file.quarantined,
            kept: file.kept,
            damage: parts(file.damage),
        };
        let unnamed = |file: tamias_store::RegainedFile| RegainedFile {
            file: file.file,
            regained: file.regained,
            known: file.known,
            damage: parts(file.damage),
            quarantined: file.quarantined,
        };
        Repair {
            files: repair.files.into_iter().map(file).collect(),
            unnamed: repair.unnamed.into_iter().map(unnamed).collect(),
            left: repair.left,
            rebuilt: repair.rebuilt,
            lost_sources: repair.lost_sources,
            events: repair.events,
        }
    }
}

/// An instant of the store, which takes any 64 bits: those after the year 9999 show as its end.
pub(crate) fn instant(ticks: u64) -> Instant {
    Instant::from_ticks(ticks).unwrap_or(Instant::MAX)
}

/// Why events could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system refused.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The bytes are not what was written.
    #[error("{0}")]
    Damaged(Damage),
    /// The store could not be looked at.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl ReadError {
    pub(crate) fn of_store(error: tamias_store::ReadError) -> ReadError {
        match error {
            tamias_store::ReadError::Failure(failure) => ReadError::Failure(failure),
            tamias_store::ReadError::Damaged(damage) => ReadError::Damaged(Damage(damage)),
            // The enum may grow: what is not known here is told in its own words.
            other => ReadError::Failure(Failure {
                path: std::path::PathBuf::new(),
                operation: tamias_store::Operation::Read,
                source: Arc::new(std::io::Error::other(other)),
            }),
        }
    }
}

/// What a query that [goes past damage](crate::Store::run_past_damage) had to leave out. Complete once its rows have ended.
#[derive(Clone, Debug, Default)]
pub struct LeftOut(Arc<Mutex<Vec<Damage>>>);

impl LeftOut {
    /// The damaged parts met so far, in the order in which they were met.
    pub fn damage(&self) -> Vec<Damage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes what has been met, perhaps again.
    pub(crate) fn add(&self, damage: tamias_store::Damage) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let damage = Damage(damage);
        if !known.contains(&damage) {
            known.push(damage);
        }
    }
}
