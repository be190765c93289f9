//! Members of dotted paths in a block: of the readings of a path most blocks have one, and there the member is a path like others.

use super::compile::ColumnPlan;
use super::evaluate::Evaluator;
use super::members::{READINGS_MAX, beneath, slot_of};
use crate::expr::Expr;
use tamias_shred::AtArrays;

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
