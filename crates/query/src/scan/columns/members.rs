//! Members of dotted paths, as in `a.b['c-d']`: of the readings of `a.b` most blocks have one, and there the member is a path like others.

use super::compile::{ColumnPlan, path_of, spelled};
use super::evaluate::Evaluator;
use crate::column_block::Path;
use crate::expr::Expr;
use tamias_shred::AtArrays;

/// The readings of a dotted path, and the keys that lead on from its value, at least one.
fn beneath(expr: &Expr) -> Option<(&[Expr], Vec<&str>)> {
    let Expr::Member(of, name) = expr else { return None };
    match &**of {
        Expr::Path(readings) => Some((readings, vec![name])),
        of => {
            let (readings, mut names) = beneath(of)?;
            names.push(name);
            Some((readings, names))
        }
    }
}

/// A member of a path that has more readings is not looked for in columns, and no more paths than these are looked for: preparing a query is to take
/// little time, however long it is.
const READINGS_MAX: usize = 8;
const PATHS_MAX: usize = 512;

/// The path that a reading of a path and keys that lead on from there come to.
fn extended(reading: &Path, names: &[&str]) -> Path {
    reading.iter().cloned().chain(names.iter().map(|name| spelled(name))).collect()
}

/// The readings of the path that an expression asks for a member of, if it does, once the paths that the member may be at are added, one for each reading.
pub(super) fn collect_members<'e>(
    expr: &'e Expr,
    names: &[Box<str>],
    paths: &mut Vec<Path>,
) -> Option<&'e [Expr]> {
    let (readings, keys) = beneath(expr)?;
    if readings.len() <= READINGS_MAX && paths.len() + readings.len() <= PATHS_MAX {
        for reading in readings {
            let path = path_of(reading, names).map(|reading| extended(&reading, &keys));
            paths.extend(path.filter(|path| !paths.contains(path)));
        }
    }
    Some(readings)
}

/// The same readings and the slots of these paths, once readings are slots.
pub(super) fn slots_of_members<'e>(expr: &'e Expr, paths: &[Path]) -> Option<(&'e [Expr], Vec<usize>)> {
    let (readings, keys) = beneath(expr)?;
    let slots = if readings.len() <= READINGS_MAX {
        readings.iter().filter_map(|reading| slot_of(reading, &keys, paths)).collect()
    } else {
        Vec::new()
    };
    Some((readings, slots))
}

/// The slot of a member, where this reading counts.
fn slot_of(reading: &Expr, keys: &[&str], paths: &[Path]) -> Option<usize> {
    let Expr::Slot(slot) = reading else { return None };
    let path = extended(paths.get(*slot)?, keys);
    paths.iter().position(|known| *known == path)
}

/// Whether an expression asks for a member of a dotted path.
pub(super) fn has_members(expr: &Expr) -> bool {
    beneath(expr).is_some() || expr.children().into_iter().any(has_members)
}

impl Evaluator<'_> {
    /// The plan with slots in place of members of dotted paths of which this block has one reading, or none.
    pub(super) fn with_members(&self, plan: &ColumnPlan) -> ColumnPlan {
        let mut plan = plan.clone();
        plan.exprs_mut().for_each(|expr| self.take_members(expr));
        plan.collections_mut().for_each(|expr| self.take_members(expr));
        plan
    }

    fn take_members(&self, expr: &mut Expr) {
        match beneath(expr).map(|(readings, keys)| self.member(readings, &keys)) {
            Some(Some(slot)) => *expr = Expr::Slot(slot),
            // What it is a member of has no other readings.
            Some(None) => {}
            None => expr.children_mut().into_iter().for_each(|child| self.take_members(child)),
        }
    }

    /// The slot of a member, where there is no doubt which reading of its path counts.
    fn member(&self, readings: &[Expr], keys: &[&str]) -> Option<usize> {
        if readings.len() > READINGS_MAX {
            return None;
        }
        let mut there = readings.iter().filter(|reading| !self.is_nowhere(reading));
        let only = there.next().or(readings.first())?;
        if there.next().is_some() { None } else { slot_of(only, keys, self.paths) }
    }

    /// Whether it is known that no event of this block has anything at a path.
    fn is_nowhere(&self, reading: &Expr) -> bool {
        let Expr::Slot(slot) = reading else { return false };
        let path = self.paths.get(*slot).zip(self.block.stored());
        path.is_some_and(|(path, block)| matches!(block.arrays_at(None, path), AtArrays::Nothing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(readings: usize, keys: usize) -> Expr {
        let path = Expr::Path((0..readings).map(|_| Expr::Slot(0)).collect());
        (0..keys).fold(path, |of, key| Expr::Member(Box::new(of), format!("{key}").into()))
    }

    #[test]
    fn of_a_chain_of_members_the_last_one_alone_is_looked_for() {
        let mut paths = Vec::new();
        assert!(collect_members(&member(3, 100), &["a".into()], &mut paths).is_some());
        assert_eq!(paths.len(), 1);
        assert_eq!(paths[0].len(), 101);
    }

    #[test]
    fn no_more_paths_than_a_limit_are_looked_for() {
        let mut paths = Vec::new();
        collect_members(&member(READINGS_MAX + 1, 1), &["a".into()], &mut paths);
        assert_eq!(paths.len(), 0);
        (1..2 * PATHS_MAX)
            .for_each(|keys| drop(collect_members(&member(1, keys), &["a".into()], &mut paths)));
        assert_eq!(paths.len(), PATHS_MAX);
    }
}
