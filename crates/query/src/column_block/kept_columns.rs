//! The columns that were made of a block of text, kept for queries to come.

use super::kept::{Path, lock, path_bytes};
use super::path_column::PathColumn;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The columns of a block of text, by path. Queries that read the block one after another, or at once, may share them.
#[derive(Default)]
pub(crate) struct KeptColumns {
    by_path: Mutex<HashMap<Path, Kept>>,
}

/// What is kept of a path that was asked for.
#[derive(Default)]
struct Kept {
    all: Option<Arc<PathColumn>>,
    /// What was made for some rows only.
    some: Option<Arc<PathColumn>>,
    /// Whether something was made that no cache has found room for yet.
    is_new: bool,
    /// So many queries more search the documents.
    searches: u8,
}

impl Kept {
    fn is_empty(&self) -> bool {
        self.all.is_none() && self.some.is_none()
    }
}

/// The most paths, which bounds the memory; a further one takes the place of one of which nothing is kept.
const PATHS_MAX: usize = 64;

/// HEURISTIC: so many queries search the documents once there was no room for what was made, which took longer than to search.
const SEARCHES_WITHOUT_ROOM: u8 = 7;

impl KeptColumns {
    /// Takes note that a query asks for some paths: whether their columns are there, or had better be made, since all of them were asked for before.
    pub(crate) fn ask(&self, paths: &[Path]) -> bool {
        let mut by_path = lock(&self.by_path);
        let mut are_wanted = true;
        for path in paths {
            match by_path.get_mut(path) {
                Some(kept) => {
                    are_wanted &= kept.searches == 0;
                    kept.searches = kept.searches.saturating_sub(1);
                }
                None => {
                    are_wanted = false;
                    if by_path.len() == PATHS_MAX {
                        let empty =
                            by_path.iter().find(|(_, kept)| kept.is_empty()).map(|(path, _)| path.clone());
                        let Some(empty) = empty else { continue };
                        by_path.remove(&empty);
                    }
                    by_path.insert(path.clone(), Kept::default());
                }
            }
        }
        are_wanted
    }

    /// The column of a path.
    pub(crate) fn all(&self, path: &[Box<str>]) -> Option<Arc<PathColumn>> {
        lock(&self.by_path).get(path)?.all.clone()
    }

    /// What was made of a path for some rows.
    pub(crate) fn some(&self, path: &[Box<str>]) -> Option<Arc<PathColumn>> {
        lock(&self.by_path).get(path)?.some.clone()
    }

    /// Keeps the column of a path that was asked for. Where another thread was first, its column counts.
    pub(crate) fn keep_all(&self, path: &[Box<str>], column: PathColumn) -> Arc<PathColumn> {
        let column = Arc::new(column);
        match lock(&self.by_path).get_mut(path) {
            None => column,
            Some(kept) => {
                kept.is_new = true;
                kept.all.get_or_insert(column).clone()
            }
        }
    }

    /// Keeps what was made of a path for some rows, instead of what was made for others.
    pub(crate) fn keep_some(&self, path: &[Box<str>], column: PathColumn) -> Arc<PathColumn> {
        let column = Arc::new(column);
        if let Some(kept) = lock(&self.by_path).get_mut(path) {
            kept.is_new = true;
            kept.some = Some(column.clone());
        }
        column
    }

    /// There is room for what was made.
    pub(crate) fn settle(&self) {
        lock(&self.by_path).values_mut().for_each(|kept| kept.is_new = false);
    }

    /// There is none for what was made since it was settled: what is kept of the same path goes with it.
    pub(crate) fn drop_new(&self) {
        let mut by_path = lock(&self.by_path);
        for kept in by_path.values_mut().filter(|kept| kept.is_new) {
            *kept = Kept { searches: SEARCHES_WITHOUT_ROOM, ..Kept::default() };
        }
    }

    /// What it takes in memory, in bytes, about.
    pub(crate) fn held_bytes(&self) -> usize {
        let of = |column: &Option<Arc<PathColumn>>| column.as_ref().map_or(0, |column| column.held_bytes());
        let by_path = lock(&self.by_path);
        by_path.iter().map(|(path, kept)| path_bytes(path) + of(&kept.all) + of(&kept.some)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_wanted_from_the_second_query_on_and_seldom_where_there_is_no_room() {
        let columns = KeptColumns::default();
        let path = || -> Path { ["a".into()].into() };
        assert!(!columns.ask(&[path()]));
        assert!(columns.ask(&[path()]) && !columns.ask(&[path(), ["b".into()].into()]));
        columns.keep_all(&path(), PathColumn::Nothing);
        columns.settle();
        columns.drop_new();
        assert!(columns.all(&path()).is_some(), "there was room for it");
        columns.keep_some(&path(), PathColumn::Nothing);
        columns.drop_new();
        assert!(columns.all(&path()).is_none());
        let searches = (0..100).take_while(|_| !columns.ask(&[path()])).count();
        assert_eq!(searches, usize::from(SEARCHES_WITHOUT_ROOM));
    }

    #[test]
    fn paths_without_end_take_no_memory() {
        let columns = KeptColumns::default();
        for number in 0..1000 {
            let path: Path = [number.to_string().into()].into();
            columns.ask(std::slice::from_ref(&path));
            columns.keep_all(&path, PathColumn::Nothing);
        }
        assert!(columns.held_bytes() < 300 * PATHS_MAX, "{}", columns.held_bytes());
        assert!(!columns.ask(&[["999".into()].into()]), "it is not noted");
    }

    #[test]
    fn paths_that_were_asked_for_once_make_room_for_others() {
        let columns = KeptColumns::default();
        (0..1000).for_each(|number| _ = columns.ask(&[[number.to_string().into()].into()]));
        assert!(columns.ask(&[["999".into()].into()]), "it is noted");
    }
}
