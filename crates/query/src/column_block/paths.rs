//! The columns of paths, as they are evaluated, and in few bytes.

use super::coded::held_by_numbers;
use super::compact::{Compact, CompactNumbers};
use super::kept::{Columns, Kept, Path, Turns, Use, keep, known, lock, path_bytes, some_of};
use super::path_column::{PathColumn, known_coded};
use std::sync::Arc;
use tamias_shred::Numbers;

/// Columns by their paths, as they are evaluated, and in few bytes. A column may be there in both ways.
#[derive(Default)]
pub(super) struct Paths {
    pub(super) wide: Columns<Path, PathColumn>,
    pub(super) compact: Columns<Path, Compact>,
    /// How many characters texts have, where these are not there themselves.
    pub(super) lengths: Columns<Path, Lengths>,
}

/// How many characters texts have, as they are reckoned with or in few bytes.
pub(super) enum Lengths {
    Wide(Arc<Numbers>),
    Compact(CompactNumbers),
}

impl Lengths {
    pub(super) fn held_bytes(&self) -> usize {
        match self {
            Lengths::Wide(numbers) => held_by_numbers(numbers),
            Lengths::Compact(numbers) => numbers.held_bytes(),
        }
    }

    pub(super) fn widened(&self) -> Arc<Numbers> {
        match self {
            Lengths::Wide(numbers) => numbers.clone(),
            Lengths::Compact(numbers) => Arc::new(numbers.widened()),
        }
    }
}

impl Paths {
    pub(super) fn get(&self, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        self.get_for(Use::Values, path, turn)
    }

    /// The same for some use: keys may have their texts elsewhere.
    pub(super) fn get_for(&self, usage: Use, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        let wide = lock(&self.wide).get_mut(path).map(|kept| {
            kept.turns.use_for(usage, turn);
            kept.column.clone()
        });
        wide.or_else(|| {
            let widened = {
                let mut compact = lock(&self.compact);
                let kept = compact.get_mut(path)?;
                let column = kept.column.clone();
                if usage == Use::Keys || !column.are_keys() {
                    kept.turns.use_for(usage, turn);
                }
                drop(compact);
                match usage {
                    Use::Values => column.widened()?,
                    Use::Keys => column.widened_keys()?,
                }
            };
            Some(self.keep_for(usage, path, Arc::new(widened), turn))
        })
    }

    /// Where another thread was first, its column counts.
    pub(super) fn keep(&self, path: &[Box<str>], column: Arc<PathColumn>, turn: u64) -> Arc<PathColumn> {
        self.keep_for(Use::Values, path, column, turn)
    }

    pub(super) fn keep_for(
        &self,
        usage: Use,
        path: &[Box<str>],
        column: Arc<PathColumn>,
        turn: u64,
    ) -> Arc<PathColumn> {
        keep(&self.wide, path.into(), column, Turns::new(turn, usage))
    }

    pub(super) fn each_piece(&self, act: &mut dyn FnMut(Turns, usize)) {
        for (path, Kept { column, turns }) in &*lock(&self.wide) {
            act(*turns, column.held_bytes() + path_bytes(path));
        }
        for (path, Kept { column, turns }) in &*lock(&self.compact) {
            act(*turns, column.held_bytes() + path_bytes(path));
        }
        for (path, Kept { column, turns }) in &*lock(&self.lengths) {
            act(*turns, column.held_bytes() + path_bytes(path));
        }
    }

    /// How many characters the texts of a path have, if that was counted.
    pub(super) fn lengths(&self, path: &[Box<str>], turn: u64) -> Option<Arc<Numbers>> {
        let of_wide = |kept: &mut Kept<PathColumn>| {
            let lengths = kept.column.known_lengths()?.clone();
            kept.turns.use_in(turn);
            Some(lengths)
        };
        let counted = lock(&self.wide).get_mut(path).and_then(of_wide);
        counted.or_else(|| Some(known(&self.lengths, path, turn)?.widened()))
    }

    pub(super) fn kept_if(&self, is_kept: &dyn Fn(Turns) -> bool) -> Paths {
        Paths {
            wide: some_of(&self.wide, is_kept),
            compact: some_of(&self.compact, is_kept),
            lengths: some_of(&self.lengths, is_kept),
        }
    }

    /// Each column in one way: in few bytes where that is possible. Of texts by template whose lengths alone were asked for the lengths are kept.
    pub(super) fn compacted(&self) -> Paths {
        let all = self.kept_if(&|_| true);
        let (mut compact, mut lengths) = (lock(&all.compact), lock(&all.lengths));
        for kept in lengths.values_mut() {
            if let Lengths::Wide(wide) = &*kept.column
                && let Some(of_lengths) = CompactNumbers::of(wide)
            {
                kept.column = Arc::new(Lengths::Compact(of_lengths));
            }
        }
        lock(&all.wide).retain(|path, Kept { column, turns }| {
            let counted = column.known_lengths().and_then(|counted| CompactNumbers::of(counted));
            let are_counted = counted.is_some();
            if let Some(counted) = counted {
                let kept = || Kept { column: Arc::new(Lengths::Compact(counted)), turns: *turns };
                lengths.entry(path.clone()).or_insert_with(kept).turns.join(*turns);
            }
            // What spells its texts by a table keeps that from being freed once it is given up.
            let is_in_table = known_coded(column).is_some_and(|coded| coded.dictionary.is_in_table());
            if known_coded(column).is_some_and(|coded| coded.dictionary.is_left_in_table()) {
                compact.remove(path);
                return false;
            }
            // Keys without texts are of no use where texts were asked for since.
            let is_of_use = |known: &Compact| match turns.are_of_keys() {
                true => !known.is_left_in_table(),
                false => !known.are_keys(),
            };
            if let Some(known) = compact.get_mut(path).filter(|known| is_of_use(&known.column)) {
                known.turns.join(*turns);
                if turns.are_of_keys()
                    && !known.column.are_keys_of(column)
                    && let Some(keys) = Compact::of_keys(column)
                {
                    known.column = Arc::new(keys);
                }
                return false;
            }
            let keys = if turns.are_of_keys() { Compact::of_keys(column) } else { None };
            match keys.or_else(|| Compact::of(column)) {
                Some(of_column) => {
                    compact.insert(path.clone(), Kept { column: Arc::new(of_column), turns: *turns });
                    false
                }
                None => {
                    compact.remove(path);
                    !is_in_table && (!are_counted || !matches!(**column, PathColumn::Pieces(_)))
                }
            }
        });
        drop((compact, lengths));
        all
    }
}
