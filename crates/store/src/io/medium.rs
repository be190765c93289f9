//! A medium in memory that knows what was flushed, and what it would hold after a loss of power.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes that a disk writes in one piece.
const SECTOR_BYTES: usize = 512;

/// One call that changes files or folder, as the simulation records it.
#[derive(Debug, Clone)]
pub enum Change {
    /// A new file under a name; another that was there is gone. The name of a folder ends in a slash, those in it begin with its name.
    Create(String),
    /// Bytes written to a file, counted in order of creation, at an offset.
    Write(usize, u64, Arc<[u8]>),
    /// A file cut or grown.
    SetLength(usize, u64),
    /// A file flushed, or a flush that failed: then what it was about is never written, though it still reads well.
    Flush(usize, bool),
    /// A file renamed.
    Rename(String, String),
    /// A second name given to a file.
    Link(String, String),
    /// A file removed.
    Remove(String),
    /// A folder flushed, by the beginning of the names in it, or a flush that failed.
    FlushFolder(String, bool),
}

/// What a loss of power leaves of the changes that were not flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// None of them.
    Nothing,
    /// All of them.
    Everything,
    /// The first few.
    Prefix,
    /// Any of them, each sector of a write for itself.
    Subset,
    /// The first few, and of the last of them only the first sectors.
    Torn,
    /// Files have their lengths, but zeros where the bytes should be.
    Zeros,
    /// All contents, but no change of a name.
    NamesLost,
    /// All changes of names, but no contents.
    NamesOnly,
}

impl Crash {
    /// All kinds.
    pub const ALL: [Crash; 8] = [
        Crash::Nothing,
        Crash::Everything,
        Crash::Prefix,
        Crash::Subset,
        Crash::Torn,
        Crash::Zeros,
        Crash::NamesLost,
        Crash::NamesOnly,
    ];
}

/// Random numbers that are the same each time (splitmix64).
#[derive(Debug, Clone)]
pub struct Chance(pub u64);

impl Chance {
    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// Files and their names, as a process sees them and as they would survive.
#[derive(Debug, Clone, Default)]
pub struct Medium {
    files: Vec<Contents>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    /// Changes not flushed yet, in order.
    pending: Vec<Pending>,
    /// How often power was lost.
    pub(super) boot: u64,
}

#[derive(Debug, Clone, Default)]
struct Contents {
    seen: Vec<u8>,
    durable: Vec<u8>,
}

#[derive(Debug, Clone)]
enum Pending {
    Write(usize, u64, Arc<[u8]>),
    SetLength(usize, u64),
    Link(String, usize),
    Rename(String, String, usize),
    Unlink(String),
}

impl Pending {
    fn file(&self) -> Option<usize> {
        match self {
            Pending::Write(file, ..) | Pending::SetLength(file, _) => Some(*file),
            _ => None,
        }
    }

    /// Whether it is about a name in the folder whose names begin like this.
    fn names_in(&self, folder: &str) -> bool {
        let (Pending::Link(name, _) | Pending::Rename(_, name, _) | Pending::Unlink(name)) = self else {
            return false;
        };
        name.strip_prefix(folder).is_some_and(|name| !name.trim_end_matches('/').contains('/'))
    }
}

impl Medium {
    /// The number of the file with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.names.keys()
    }

    /// A file's bytes, as a process sees them.
    pub fn contents(&self, file: usize) -> &[u8] {
        self.files.get(file).map_or(&[], |contents| &contents.seen)
    }

    /// Bytes of all files that have a name.
    pub fn bytes(&self) -> u64 {
        let named: BTreeSet<usize> = self.names.values().copied().collect();
        named.into_iter().map(|file| self.contents(file).len() as u64).sum()
    }

    /// By how much a change makes a file longer.
    pub fn growth(&self, change: &Change) -> u64 {
        let (file, length) = match change {
            Change::Write(file, offset, bytes) => (*file, *offset + bytes.len() as u64),
            Change::SetLength(file, length) => (*file, *length),
            Change::Create(_)
            | Change::Flush(..)
            | Change::Rename(..)
            | Change::Link(..)
            | Change::Remove(_)
            | Change::FlushFolder(..) => return 0,
        };
        length.saturating_sub(self.contents(file).len() as u64)
    }

    /// Carries a change out.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Create(name) => {
                let file = self.files.len();
                self.files.push(Contents::default());
                self.names.insert(name.clone(), file);
                self.pending.push(Pending::Link(name.clone(), file));
            }
            Change::Write(file, offset, bytes) => {
                if let Some(contents) = self.files.get_mut(*file) {
                    write(&mut contents.seen, *offset, bytes);
                }
                self.pending.push(Pending::Write(*file, *offset, Arc::clone(bytes)));
            }
            Change::SetLength(file, length) => {
                if let Some(contents) = self.files.get_mut(*file) {
                    contents.seen.resize(*length as usize, 0);
                }
                self.pending.push(Pending::SetLength(*file, *length));
            }
            Change::Rename(from, to) => {
                if let Some(file) = self.names.remove(from) {
                    self.names.insert(to.clone(), file);
                    self.pending.push(Pending::Rename(from.clone(), to.clone(), file));
                }
            }
            Change::Link(from, to) => {
                if let Some(&file) = self.names.get(from) {
                    self.names.insert(to.clone(), file);
                    self.pending.push(Pending::Link(to.clone(), file));
                }
            }
            Change::Remove(name) => {
                self.names.remove(name);
                self.pending.push(Pending::Unlink(name.clone()));
            }
            Change::Flush(file, kept) => self.settle(|change| change.file() == Some(*file), *kept),
            Change::FlushFolder(folder, kept) => self.settle(|change| change.names_in(folder), *kept),
        }
    }

    /// Makes the pending changes of one kind durable, or loses them.
    fn settle(&mut self, which: impl Fn(&Pending) -> bool, kept: bool) {
        let (settled, pending) = std::mem::take(&mut self.pending).into_iter().partition(which);
        self.pending = pending;
        if kept {
            for change in &settled {
                self.keep(change);
            }
        }
    }

    fn keep(&mut self, change: &Pending) {
        match change {
            Pending::Write(file, offset, bytes) => {
                if let Some(contents) = self.files.get_mut(*file) {
                    write(&mut contents.durable, *offset, bytes);
                }
            }
            Pending::SetLength(file, length) => {
                if let Some(contents) = self.files.get_mut(*file) {
                    contents.durable.resize(*length as usize, 0);
                }
            }
            Pending::Link(name, file) => {
                self.durable_names.insert(name.clone(), *file);
            }
            Pending::Rename(from, to, file) => {
                if self.durable_names.get(from) == Some(file) {
                    self.durable_names.remove(from);
                }
                self.durable_names.insert(to.clone(), *file);
            }
            Pending::Unlink(name) => {
                self.durable_names.remove(name);
            }
        }
    }

    /// What a loss of power leaves: a medium on which everything that is seen is durable.
    pub fn after(&self, crash: Crash, chance: &mut Chance) -> Medium {
        let mut left = Medium { pending: Vec::new(), boot: self.boot + 1, ..self.clone() };
        let prefix = chance.below(self.pending.len() + 1);
        for (at, change) in self.pending.iter().enumerate() {
            let names = change.file().is_none();
            match (crash, change) {
                (Crash::Nothing, _) => {}
                (Crash::Everything, _) => left.keep(change),
                (Crash::Prefix, _) if at < prefix => left.keep(change),
                (Crash::Torn, Pending::Write(file, offset, bytes)) if at + 1 == prefix => {
                    // The disk's sectors are those of the file, not of the write.
                    let head = SECTOR_BYTES - (*offset as usize % SECTOR_BYTES);
                    let sectors = bytes.len().saturating_sub(head).div_ceil(SECTOR_BYTES) + 1;
                    let torn = match chance.below(sectors) {
                        0 => 0,
                        sectors => head + (sectors - 1) * SECTOR_BYTES,
                    };
                    let kept = bytes.get(..torn.min(bytes.len())).unwrap_or_default();
                    left.keep(&Pending::Write(*file, *offset, kept.into()));
                }
                (Crash::Torn, _) if at < prefix => left.keep(change),
                (Crash::Subset, Pending::Write(file, offset, bytes)) => {
                    let mut from = 0;
                    while let Some(rest) = bytes.get(from..).filter(|rest| !rest.is_empty()) {
                        let at = *offset + from as u64;
                        let length = rest.len().min(SECTOR_BYTES - (at as usize % SECTOR_BYTES));
                        if chance.below(2) == 0 {
                            let kept = rest.get(..length).unwrap_or_default();
                            left.keep(&Pending::Write(*file, at, kept.into()));
                        }
                        from += length;
                    }
                }
                (Crash::Subset, _) if chance.below(2) == 0 => left.keep(change),
                (Crash::Zeros, Pending::Write(file, offset, bytes)) => {
                    // Only what the file has grown by: what was there before is overwritten, or is not.
                    let there = left.files.get(*file).map_or(0, |contents| contents.durable.len() as u64);
                    let (begin, end) = ((*offset).max(there), *offset + bytes.len() as u64);
                    if begin < end {
                        let zeros = vec![0; (end - begin) as usize];
                        left.keep(&Pending::Write(*file, begin, zeros.into()));
                    }
                }
                (Crash::Zeros, _) => left.keep(change),
                (Crash::NamesLost, _) if !names => left.keep(change),
                (Crash::NamesOnly, _) if names => left.keep(change),
                _ => {}
            }
        }
        // Without its folder a name is lost.
        let folders = left.durable_names.clone();
        let reached = |name: &str| {
            name.split_once('/').is_none_or(|(folder, _)| folders.contains_key(&format!("{folder}/")))
        };
        left.durable_names.retain(|name, _| reached(name));
        left.names = left.durable_names.clone();
        for contents in &mut left.files {
            contents.seen = contents.durable.clone();
        }
        left
    }
}

fn write(contents: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let (start, end) = (offset as usize, offset as usize + bytes.len());
    if contents.len() < end {
        contents.resize(end, 0);
    }
    if let Some(place) = contents.get_mut(start..end) {
        place.copy_from_slice(bytes);
    }
}
