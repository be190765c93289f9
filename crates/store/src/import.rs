//! Importing events under the keys that they had in another store.

use std::fmt;

use roaring::RoaringTreemap;

use crate::error::AppendError;
use crate::event::Event;
use crate::format::{Key, NUMBER_MAX};
use crate::replay::beyond_lost;
use crate::store::Store;

/// An import of events under the keys that they had in another store. Other appends to the store make it fail.
///
/// ```
/// # use std::sync::Arc;
/// # use tamias_store::{Key, Options, Store};
/// # let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
/// let mut import = store.import()?;
/// import.append(&[(Key { instant: 1, arrival: 7 }, b"a"), (Key { instant: 2, arrival: 3 }, b"b")])?;
/// drop(import);
/// assert!(store.snapshot().get(Key { instant: 2, arrival: 3 })?.is_some());
/// assert!(store.import().is_err(), "it has events");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Import<'s> {
    store: &'s Store,
    /// The arrival numbers so far, to find one that comes twice.
    numbers: RoaringTreemap,
    /// What the store would give next, if nobody else has appended.
    next: u64,
}

impl fmt::Debug for Import<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import").field("events", &self.numbers.len()).finish_non_exhaustive()
    }
}

/// Why events were not imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The store has, or had, events of its own, or gets some now.
    #[error("it has, or had, events already, which have ids; give a new folder")]
    NotEmpty,
    /// Two events have one arrival number.
    #[error("two events have the arrival number {arrival}: they are not of one store, or one comes twice")]
    Twice {
        /// The number.
        arrival: u64,
    },
    /// An arrival number is greater than any that a store assigns.
    #[error("there is no event with the arrival number {arrival}: the greatest is below 2^62")]
    TooGreat {
        /// The number.
        arrival: u64,
    },
    /// The events could not be stored.
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl Store {
    /// Begins an import of events under the keys that they had in another store. Later events get arrival numbers that are 2^40 higher than all of these,
    /// so that they differ from any that the other store assigns meanwhile.
    ///
    /// # Errors
    /// [`ImportError::NotEmpty`] where the store has ever given a number.
    pub fn import(&self) -> Result<Import<'_>, ImportError> {
        let next = self.inner.lock().replayed.next_arrival;
        if next > 0 || self.snapshot().events() > 0 {
            return Err(ImportError::NotEmpty);
        }
        Ok(Import { store: self, numbers: RoaringTreemap::new(), next })
    }
}

impl Import<'_> {
    /// Stores events straight into segments, in any order, as [`append_sealed`](Store::append_sealed) does. Those of an import need not come in order.
    ///
    /// # Errors
    /// See [`ImportError`]. Events stored before the error stay, and the import cannot continue: begin again with another folder.
    pub fn append(&mut self, events: &[(Key, &[u8])]) -> Result<(), ImportError> {
        let mut next = self.next;
        for (Key { arrival, .. }, _) in events {
            let arrival = *arrival;
            let behind = arrival.checked_add(1).map(beyond_lost).filter(|_| arrival < NUMBER_MAX - (1 << 41));
            next = next.max(behind.ok_or(ImportError::TooGreat { arrival })?);
            if !self.numbers.insert(arrival) {
                return Err(ImportError::Twice { arrival });
            }
        }
        let checked: Vec<Event<'_>> =
            events.iter().map(|(key, bytes)| Event { instant: key.instant, bytes }).collect();
        self.store.inner.check(&checked, None)?;
        let mut sorted = events.to_vec();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        if sorted.is_empty() {
            return Ok(());
        }
        let inner = &self.store.inner;
        // Where it fails its numbers are used up, by the same events.
        let mut expected = self.next;
        let sealed = inner.with_room(AppendError::is_full_medium, || {
            let sealed = inner.seal_numbered(&sorted, expected, next);
            expected = next;
            sealed
        });
        match sealed? {
            true => self.next = next,
            false => return Err(ImportError::NotEmpty),
        }
        Ok(())
    }
}
