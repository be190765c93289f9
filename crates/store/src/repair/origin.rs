//! The files from which the events of a store come, so that others with the same arrival numbers can be held against them.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::adopt::{Held, Stray};
use crate::error::{Failure, OpenError, Operation};
use crate::format::Key;
use crate::io::Directory;
use crate::log::LogReader;
use crate::manifest::LogEntry;
use crate::segment::{Environment, Segment};

/// An event of a stray, where the store has one of the same arrival number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rival {
    /// The number.
    pub(super) number: u64,
    /// The place of the stray among all,
    pub(super) stray: usize,
    /// and the number of the event in it.
    pub(super) own: u64,
    /// What [`Origins::hash`] says of it.
    pub(super) hash: u64,
    /// Whether it is the one that the store has, once that is known.
    pub(super) is_same: Option<bool>,
}

/// HEURISTIC: so many are held against the files of the store at once, in some 80 MB: each time they are read once.
pub(super) const RIVALS_MAX: usize = 2 << 20;

/// A file of which the store has events, and what it is called.
pub(super) enum Origin {
    Segment(Arc<Segment>),
    Log(LogEntry, String),
    Stray(Stray),
}

/// All of them, in the order in which they gave their events: of two with the same arrival number the store has that of the first. With each file go the
/// least and the greatest number in it.
#[derive(Default)]
pub(super) struct Origins {
    files: Vec<(Origin, (u64, u64))>,
    /// Nobody can make up events that it takes for the same.
    hasher: RandomState,
}

impl Origins {
    pub(super) fn add(&mut self, origin: Origin, numbers: &RoaringTreemap) {
        if let (Some(least), Some(greatest)) = (numbers.min(), numbers.max()) {
            self.files.push((origin, (least, greatest)));
        }
    }

    /// Of an event, by which it is known again while a repair lasts.
    pub(super) fn hash(&self, instant: u64, document: &[u8]) -> u64 {
        self.hasher.hash_one((instant, document))
    }

    /// Tells which of these are the events that the store has. Reads each file again that may have one of them.
    pub(super) fn compare(
        &self,
        rivals: &mut [Rival],
        environment: &Arc<Environment>,
    ) -> Result<(), OpenError> {
        rivals.sort_unstable_by_key(|rival| rival.number);
        for (origin, (least, greatest)) in &self.files {
            let start = rivals.partition_point(|rival| rival.number < *least);
            let end = rivals.partition_point(|rival| rival.number <= *greatest);
            let Some(rivals) = rivals.get_mut(start..end) else { continue };
            if rivals.iter().all(|rival| rival.is_same.is_some()) {
                continue;
            }
            origin.each(environment, |key, document| {
                let from = rivals.partition_point(|rival| rival.number < key.arrival);
                let of_number = rivals.iter_mut().skip(from).take_while(|rival| rival.number == key.arrival);
                let open = of_number.filter(|rival| rival.is_same.is_none());
                open.for_each(|rival| rival.is_same = Some(rival.hash == self.hash(key.instant, document)));
            })?;
        }
        if rivals.iter().all(|rival| rival.is_same.is_some()) {
            return Ok(());
        }
        let changed = io::Error::other("its files do not read as they did a moment ago; try again");
        Err(Failure::during(&*environment.directory, "", Operation::Read)(changed).into())
    }
}

impl Origin {
    /// Reads all of its events.
    pub(super) fn each(
        &self,
        environment: &Arc<Environment>,
        mut take: impl FnMut(Key, &[u8]),
    ) -> Result<(), OpenError> {
        let directory: &dyn Directory = &*environment.directory;
        match self {
            Origin::Segment(segment) => {
                segment.salvage()?.events().for_each(|(key, document)| take(key, document));
            }
            Origin::Log(entry, name) => {
                let mut log = LogReader::open(directory, environment.store, entry, name.clone())?;
                log.read(directory, |batch| batch.events().for_each(|(key, document)| take(key, document)))?;
            }
            Origin::Stray(stray) => {
                let held = Held::in_stray(stray, environment)?;
                held.events().for_each(|(key, document)| take(key, document));
            }
        }
        Ok(())
    }
}
