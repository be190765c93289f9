//! What is asked of the JSON that texts spell: a slot stands for what has a column, as a path does.

use super::compile::slots_of;
use super::evaluate::Evaluator;
use super::of_array::{InJson, StandIn};
use crate::column_block::{ColumnBlock, ColumnError, Path, PathColumn};
use crate::expr::Expr;
use crate::functions::FROM_JSON;
use std::sync::Arc;

impl Evaluator<'_> {
    /// Puts slots in place of what stands in the JSON of texts that a block has columns of.
    pub(super) fn take_json(&mut self, expr: &mut Expr) {
        if self.block.stored().is_none() {
            return;
        }
        let Some((slot, below)) = place_of(expr) else {
            return expr.children_mut().into_iter().for_each(|child| self.take_json(child));
        };
        let Some(texts) = self.paths.get(slot).cloned() else { return };
        let of = InJson { texts, below: below.into() };
        let is_same = |known: &StandIn| matches!(known, StandIn::InJson(known) if *known == of);
        let slot = match self.stand_ins.iter().position(is_same) {
            Some(nth) => self.first_stand_in + nth,
            None => self.stand_in(StandIn::InJson(of), None),
        };
        *expr = Expr::Slot(slot);
    }

    /// Whether an expression asks for something in the JSON of texts that was not read yet.
    pub(super) fn reads_json(&self, expr: &Expr) -> bool {
        let is_new = |slot: usize| {
            matches!(self.of_events(slot), Some(StandIn::InJson(_))) && !self.is_told_at_once(slot)
        };
        slots_of(expr).into_iter().any(is_new)
    }

    /// What stands at a path in the JSON of texts, for some rows at least; and what else is asked of the same texts, which are read but once.
    pub(super) fn column_in_json(
        &mut self,
        block: &ColumnBlock,
        InJson { texts, below }: &InJson,
        rows: Option<&[u32]>,
    ) -> Result<Option<Arc<PathColumn>>, ColumnError> {
        let mut wanted = vec![(None, below.clone())];
        for (nth, stand_in) in self.stand_ins.iter().enumerate() {
            let slot = self.first_stand_in + nth;
            if let StandIn::InJson(other) = stand_in
                && other.texts == *texts
                && other.below != *below
                && self.columns.get(slot).is_some_and(Option::is_none)
            {
                wanted.push((Some(slot), other.below.clone()));
            }
        }
        let (slots, below): (Vec<Option<usize>>, Vec<Path>) = wanted.into_iter().unzip();
        let Some(columns) = block.in_json(texts, &below, rows)? else { return Ok(None) };
        for (slot, column) in slots.iter().zip(&columns) {
            if let Some(place) = slot.and_then(|slot| self.columns.get_mut(slot)) {
                *place = Some(column.clone());
            }
        }
        Ok(columns.into_iter().next())
    }
}

/// The slot of texts that an expression reads as JSON, and the path that it follows there.
fn place_of(expr: &Expr) -> Option<(usize, Vec<Box<str>>)> {
    match expr {
        Expr::Member(of, name) => {
            let (slot, mut below) = place_of(of)?;
            below.push(name.clone());
            Some((slot, below))
        }
        Expr::Call { function, arguments, .. } if function.name == FROM_JSON => match arguments.as_slice() {
            [Expr::Slot(slot)] => Some((*slot, Vec::new())),
            _ => None,
        },
        _ => None,
    }
}
