//! What queries found in a block of text, kept for later ones: the positions of keys, in eight bytes for each document and key, and columns of paths.

use crate::column_block::KeptColumns;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use tamias_json::search::Place;

/// What several queries use of a block of text: the positions of its keys, and columns that were made of it.
///
/// The first query that searches all documents for a key only marks the key; the second stores the positions; later queries need not search. So a
/// key that is used once costs nothing. May be shared by several threads.
#[derive(Default)]
pub struct Places {
    by_key: Mutex<HashMap<Box<str>, Asked>>,
    held_bytes: AtomicUsize,
    columns: KeptColumns,
}

/// A key that was searched for.
enum Asked {
    Once,
    Again(Arc<[Place]>),
}

/// The memory that a key takes beside its positions, for its name and its entry.
const KEY_BYTES: usize = 96;
/// The maximum number of keys, which bounds the memory; further keys are not noted.
const KEYS_MAX: usize = 64;

impl Places {
    /// The positions of a key, if they are stored.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<[Place]>> {
        match self.lock().get(name) {
            Some(Asked::Again(places)) => Some(places.clone()),
            Some(Asked::Once) | None => None,
        }
    }

    /// The same, for a key that all documents are about to be searched for. If that happened before, the positions are found and stored.
    pub(crate) fn ask(&self, name: &str, find: impl FnOnce() -> Vec<Place>) -> Option<Arc<[Place]>> {
        {
            let mut by_key = self.lock();
            match by_key.get(name) {
                Some(Asked::Again(places)) => return Some(places.clone()),
                Some(Asked::Once) => {}
                None if by_key.len() >= KEYS_MAX => return None,
                None => {
                    by_key.insert(name.into(), Asked::Once);
                    self.held_bytes.fetch_add(KEY_BYTES + name.len(), Relaxed);
                    return None;
                }
            }
        }
        let places: Arc<[Place]> = find().into();
        let mut by_key = self.lock();
        match by_key.insert(name.into(), Asked::Again(places.clone())) {
            // Another thread has found them as well.
            Some(Asked::Again(_)) => {}
            Some(Asked::Once) | None => {
                self.held_bytes.fetch_add(size_of_val(&*places), Relaxed);
            }
        }
        Some(places)
    }

    /// The columns that were made of the block.
    pub(crate) fn columns(&self) -> &KeptColumns {
        &self.columns
    }

    /// Takes note that there is room for what was kept.
    pub fn settle(&self) {
        self.columns.settle();
    }

    /// Drops the columns that were kept since there was room last.
    pub fn drop_new(&self) {
        self.columns.drop_new();
    }

    /// The memory in use, in bytes, approximately.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes.load(Relaxed) + self.columns.held_bytes()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Box<str>, Asked>> {
        // The map is never left half changed while it is locked.
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Places").field("held_bytes", &self.held_bytes()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_twice_is_found_and_kept() {
        let places = Places::default();
        let one = || vec![Place::ABSENT; 3];
        assert!(places.get("a").is_none());
        assert!(places.ask("a", || unreachable!("it is not found at the first time")).is_none());
        assert!(places.get("a").is_none());
        let marked = places.held_bytes();
        assert_eq!(places.ask("a", one).map(|places| places.len()), Some(3));
        assert_eq!(places.held_bytes(), marked + 24);
        assert_eq!(places.get("a").map(|places| places.len()), Some(3));
        assert!(places.ask("a", || unreachable!("it is there")).is_some());
    }

    #[test]
    fn keys_without_end_take_no_memory() {
        let places = Places::default();
        for number in 0..1000 {
            places.ask(&number.to_string(), Vec::new);
        }
        assert!(places.held_bytes() < 100 * (KEYS_MAX + 10), "{}", places.held_bytes());
        assert!(places.ask("999", || unreachable!("it is not noted")).is_none());
    }
}
