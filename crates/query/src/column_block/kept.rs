//! Pieces that are kept by what they are asked for by: in whose turn each was made, and in whose turn it was used last.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keys, as documents spell them.
pub(crate) type Path = Box<[Box<str>]>;

/// Columns by their paths.
pub(super) type Columns<P, C> = Mutex<HashMap<P, Kept<C>>>;

/// The column of a path.
pub(super) struct Kept<C> {
    pub(super) column: Arc<C>,
    pub(super) turns: Turns,
}

/// When a piece was made, and when it was used last.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    pub(super) made: u64,
    pub(super) used: u64,
    /// When it was used last for more than keys, which are told apart and no more.
    pub(super) read: u64,
}

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Values,
    /// Values are told apart, and few of them are spelled.
    Keys,
}

impl Turns {
    /// Of what is made in a turn.
    pub(super) fn new(turn: u64, usage: Use) -> Turns {
        let mut turns = Turns { made: turn, used: 0, read: 0 };
        turns.use_for(usage, turn);
        turns
    }

    /// Takes note of a turn in which it is used.
    pub(super) fn use_in(&mut self, turn: u64) {
        self.use_for(Use::Values, turn);
    }

    /// The same of what it is used for.
    pub(super) fn use_for(&mut self, usage: Use, turn: u64) {
        self.used = self.used.max(turn);
        if usage == Use::Values {
            self.read = self.read.max(turn);
        }
    }

    /// Takes note of when something that is the same was used.
    pub(super) fn join(&mut self, other: Turns) {
        self.used = self.used.max(other.used);
        self.read = self.read.max(other.read);
    }

    /// Whether it was used for keys only in the turn in which it was used last.
    pub(super) fn are_of_keys(&self) -> bool {
        self.read < self.used
    }
}

/// What a path takes beside what its column holds: its place in a map with the column, and its keys, each with how long it is.
pub(super) fn path_bytes(path: &[Box<str>]) -> usize {
    const PLACE_BYTES: usize = 256;
    PLACE_BYTES + path.iter().map(|key| size_of::<Box<str>>() + key.len()).sum::<usize>()
}

/// A column that is kept.
pub(super) fn known<P, C, Q>(columns: &Columns<P, C>, path: &Q, turn: u64) -> Option<Arc<C>>
where
    P: Borrow<Q> + Eq + Hash,
    Q: Eq + Hash + ?Sized,
{
    lock(columns).get_mut(path).map(|kept| {
        kept.turns.use_in(turn);
        kept.column.clone()
    })
}

/// Keeps a column. Where another thread was first, its column counts.
pub(super) fn keep<P: Eq + Hash, C>(
    columns: &Columns<P, C>,
    path: P,
    column: Arc<C>,
    turns: Turns,
) -> Arc<C> {
    let kept = || Kept { column, turns };
    lock(columns).entry(path).or_insert_with(kept).column.clone()
}

/// The columns that are to be kept.
pub(super) fn some_of<P: Clone + Eq + Hash, C>(
    columns: &Columns<P, C>,
    is_kept: &dyn Fn(Turns) -> bool,
) -> Columns<P, C> {
    let columns = lock(columns);
    let kept = columns.iter().filter(|(_, kept)| is_kept(kept.turns));
    let each = kept
        .map(|(path, Kept { column, turns })| (path.clone(), Kept { column: column.clone(), turns: *turns }));
    Mutex::new(each.collect())
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is locked is never half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
