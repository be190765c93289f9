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

/// The path that a reading of a path and keys that lead on from there come to.
fn extended(reading: &Path, names: &[&str]) -> Path {
    reading.iter().cloned().chain(names.iter().map(|name| spelled(name))).collect()
}

/// Adds the paths that a member may be at, one for each reading of the path before it.
pub(super) fn collect_members(expr: &Expr, names: &[Box<str>], paths: &mut Vec<Path>) {
    let Some((readings, keys)) = beneath(expr) else { return };
    for reading in readings {
        let path = path_of(reading, names).map(|reading| extended(&reading, &keys));
        paths.extend(path.filter(|path| !paths.contains(path)));
    }
}

/// The slots of these paths, once readings are slots.
pub(super) fn slots_of_members(expr: &Expr, paths: &[Path]) -> Vec<usize> {
    let Some((readings, keys)) = beneath(expr) else { return Vec::new() };
    readings.iter().filter_map(|reading| slot_of(reading, &keys, paths)).collect()
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
        match self.member(expr) {
            Some(slot) => *expr = Expr::Slot(slot),
            None => expr.children_mut().into_iter().for_each(|child| self.take_members(child)),
        }
    }

    /// The slot of a member, where there is no doubt which reading of its path counts.
    fn member(&self, expr: &Expr) -> Option<usize> {
        let (readings, keys) = beneath(expr)?;
        let mut there = readings.iter().filter(|reading| !self.is_nowhere(reading));
        let only = there.next().or(readings.first())?;
        if there.next().is_some() { None } else { slot_of(only, &keys, self.paths) }
    }

    /// Whether it is known that no event of this block has anything at a path.
    fn is_nowhere(&self, reading: &Expr) -> bool {
        let Expr::Slot(slot) = reading else { return false };
        let path = self.paths.get(*slot).zip(self.block.stored());
        path.is_some_and(|(path, block)| matches!(block.arrays_at(None, path), AtArrays::Nothing))
    }
}
