//! Whether a condition holds for some member of objects, or for every one, told from the columns of the members.

use super::arrays::of_truths;
use super::compile::slots_of;
use super::evaluate::{Evaluator, Mask};
use super::of_array::OfMembers;
use super::unnest::REPEATED_CELLS_MAX;
use crate::ast::Quantifier;
use crate::column_block::{ColumnBlock, ColumnError, Path, PathColumn};
use crate::expr::Expr;
use crate::value::Kind;
use std::sync::Arc;

impl Evaluator<'_> {
    /// Of each event whether some members of its object pass, or every one does; undefined where it has no object. None where columns do not tell it.
    pub(super) fn folded_members(
        &mut self,
        block: &ColumnBlock,
        of: &OfMembers,
    ) -> Result<Option<Arc<PathColumn>>, ColumnError> {
        let slots = slots_of(&of.condition);
        if slots.len().saturating_mul(block.len()) > REPEATED_CELLS_MAX {
            return Ok(None);
        }
        for slot in slots.into_iter().filter(|slot| *slot < self.paths.len()) {
            if !self.load(&Expr::Slot(slot))? {
                return Ok(None);
            }
        }
        let decisive = of.quantifier == Quantifier::Any;
        let mut truths = vec![!decisive; self.rows()];
        for member in &of.members {
            let Some(passes) = self.passes_with(block, member, of)? else { return Ok(None) };
            let are_there = self.by_type(Some(&*block.presence(member)?), |kind| kind != Kind::Undefined);
            for ((truth, passes), is_there) in truths.iter_mut().zip(&passes).zip(&are_there) {
                *truth = match decisive {
                    true => *truth | (is_there & passes),
                    false => *truth & (!is_there | passes),
                };
            }
        }
        let are_objects = self.nulls(Some(&*block.presence(&of.object)?), true);
        let truths = truths.into_iter().zip(are_objects);
        let truths = truths.map(|(truth, is_object)| is_object.then_some(truth));
        Ok(Some(Arc::new(of_truths(truths))))
    }

    /// Of each event whether the condition holds for one member of its object.
    fn passes_with(
        &self,
        block: &ColumnBlock,
        member: &Path,
        of: &OfMembers,
    ) -> Result<Option<Mask>, ColumnError> {
        let mut columns: Vec<_> = self.columns.iter().take(self.paths.len()).cloned().collect();
        for path in &of.below {
            let path: Vec<Box<str>> = member.iter().chain(path.iter()).cloned().collect();
            let column = block.at(&path)?;
            if matches!(*column, PathColumn::Unknown) {
                return Ok(None);
            }
            columns.push(Some(column));
        }
        let with_member = self.beside(columns);
        // Why it fails is found again where documents are looked at one by one.
        let Ok(passes) = with_member.test(&of.condition, None) else { return Ok(None) };
        match with_member.take_broken() {
            Some(error) => Err(error),
            None => Ok(Some(passes)),
        }
    }
}
