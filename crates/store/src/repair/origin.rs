//! The files from which the events of a store come, so that others with the same arrival numbers can be held against them.

use std::collections::BTreeMap;
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

/// Events by their arrival numbers: the instant and the document of each.
pub(super) type Rivals<'a> = BTreeMap<u64, (u64, &'a [u8])>;

/// A file of which the store has events, and what it is called.
pub(super) enum Origin {
    Segment(Arc<Segment>),
    Log(LogEntry, String),
    Stray(Stray),
}

/// All of them, in the order in which they gave their events: of two with the same arrival number the store has that of the first. With each file go the
/// least and the greatest number in it.
#[derive(Default)]
pub(super) struct Origins(Vec<(Origin, (u64, u64))>);

impl Origins {
    pub(super) fn add(&mut self, origin: Origin, numbers: &RoaringTreemap) {
        if let (Some(least), Some(greatest)) = (numbers.min(), numbers.max()) {
            self.0.push((origin, (least, greatest)));
        }
    }

    /// The numbers of those of these events that are not the ones that the store has. Reads the files again that may have one of them.
    pub(super) fn conflicts(
        &self,
        mut rivals: Rivals<'_>,
        environment: &Arc<Environment>,
    ) -> Result<RoaringTreemap, OpenError> {
        let mut conflicts = RoaringTreemap::new();
        for (origin, (least, greatest)) in &self.0 {
            if rivals.range(least..=greatest).next().is_none() {
                continue;
            }
            origin.each(environment, |key, document| {
                let rival = rivals.remove(&key.arrival);
                if rival.is_some_and(|rival| rival != (key.instant, document)) {
                    conflicts.insert(key.arrival);
                }
            })?;
        }
        if rivals.is_empty() {
            return Ok(conflicts);
        }
        let changed = io::Error::other("its files do not read as they did a moment ago; try again");
        Err(Failure::during(&*environment.directory, "", Operation::Read)(changed).into())
    }
}

impl Origin {
    fn each(
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
