//! What a repair has found and done, for its callers.

use std::path::PathBuf;

use crate::error::Damage;

/// What a repair has found and done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The damaged files, segments first.
    pub files: Vec<RepairedFile>,
    /// Files of the store that its manifest did not name: what of them came back, and where the rest is.
    pub unnamed: Vec<RegainedFile>,
    /// Files that were left as they are, because they cannot be read, and why. While there are any the store may lack events that they hold.
    pub left: Vec<LeftFile>,
    /// Why the list of the store's files was made anew from the files, if it was.
    pub rebuilt: Option<Rebuilt>,
    /// How many events were in the store again that a receipt says were erased, because older files were put back. They are deleted again: erasing takes them out of the files.
    pub erased_again: u64,
    /// Sources of which it was lost where they stood. An empty name stands for all that the store does not know.
    pub lost_sources: Vec<String>,
    /// How many events the store holds afterwards.
    pub events: u64,
}

/// A damaged file, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedFile {
    /// Where it was.
    pub file: PathBuf,
    /// Where its bytes are kept as they were found: all of them, or the damaged ones of a log that only ends with such; `None` if the file was
    /// missing.
    pub quarantined: Option<PathBuf>,
    /// How many of its events stay in the store.
    pub kept: u64,
    /// How many of the events that were lost in it came back from other files: they are not lost to the store.
    pub regained: u64,
    /// Its damaged parts, with the events lost in each.
    pub damage: Vec<Damage>,
}

/// A file of the store that its manifest did not name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegainedFile {
    /// Where it was found.
    pub file: PathBuf,
    /// How many events came back to the store with it.
    pub regained: u64,
    /// How many of these have new arrival numbers, because other events have theirs.
    pub renumbered: u64,
    /// How many other whole events it holds: the store has the same ones, or they were deleted, or removed.
    pub known: u64,
    /// What of it cannot be used, with the events lost in each part.
    pub damage: Vec<Damage>,
    /// Where it is kept; `None` if it is a part of the store again as it is.
    pub quarantined: Option<PathBuf>,
    /// Whether it belongs to another store, or is a manifest that does not count: its events were not looked at.
    pub is_foreign: bool,
}

/// A file that a repair has left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftFile {
    /// Where it is.
    pub file: PathBuf,
    /// Why, and what to do about it.
    pub reason: &'static str,
}

/// Why a manifest was made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebuilt {
    /// There was none.
    Missing,
    /// The newest was damaged.
    Damaged,
    /// Files showed that there had been a newer one.
    Stale,
}
