//! What expressions make of texts, kept from query to query: a slot stands for it, as for what stands at a path.

use super::compile::{ColumnPlan, Wanted, makes_texts, slots_of};
use super::evaluate::{Evaluator, Mask, count};
use super::found::Passing;
use super::made::matches_patterns;
use super::of_array::StandIn;
use crate::chunk::Form;
use crate::column_block::{ColumnBlock, ColumnError, Path, PathColumn, Use};
use crate::expr::{Expr, Printed};
use crate::functions::FROM_JSON;
use crate::value::Kind;
use std::borrow::Cow;
use std::sync::Arc;

/// One row in so many of those that have something at a path, or more, are worth what is made for all.
const MADE_SHARE: usize = 4;

/// Of fewer rows in a block nothing is kept.
const ASKED_SHARE: usize = 64;

/// What expressions that are spelled in more bytes make is not kept.
const SPELLED_MAX: usize = 1 << 10;

impl Evaluator<'_> {
    /// The plan, with slots in place of what its outputs make of texts, where groups are made of many rows.
    pub(super) fn with_made_outputs<'p>(
        &mut self,
        plan: &'p ColumnPlan,
        rows: &Passing,
    ) -> Result<Cow<'p, ColumnPlan>, ColumnError> {
        let makes = plan.outputs.iter().any(|output| makes_texts(&output.expr));
        if plan.wants != Wanted::Block || plan.unnest.is_some() || !makes {
            return Ok(Cow::Borrowed(plan));
        }
        let mut plan = plan.clone();
        for output in &mut plan.outputs {
            let usage = if output.form == Form::Keys { Use::Keys } else { Use::Values };
            self.take_made(usage, &mut output.expr, rows.len())?;
        }
        Ok(Cow::Owned(plan))
    }

    /// A term of a condition, with slots in place of what it makes of texts, where that is not told as fast by looking at the texts themselves.
    pub(super) fn with_made_operands<'e>(
        &mut self,
        term: &'e Expr,
        within: Option<&Mask>,
    ) -> Result<Cow<'e, Expr>, ColumnError> {
        if !makes_texts(term) || !is_worth_keeping(term) {
            return Ok(Cow::Borrowed(term));
        }
        let mut term = term.clone();
        let rows = within.map_or(self.rows(), |within| count(Some(within)));
        self.take_made(Use::Values, &mut term, rows)?;
        Ok(Cow::Owned(term))
    }

    /// Puts slots in place of what an expression makes of texts, if that is kept of this block, or so many rows are asked for it again.
    fn take_made(&mut self, usage: Use, expr: &mut Expr, rows: usize) -> Result<(), ColumnError> {
        let Some(block) = self.block.stored().filter(|_| self.origins.is_none() && makes_texts(expr)) else {
            return Ok(());
        };
        let Some(spelled) = self.spelled_to_be_kept(expr) else {
            let mut children = expr.children_mut().into_iter();
            return children.try_for_each(|child| self.take_made(Use::Values, child, rows));
        };
        let column = match block.made(usage, &spelled) {
            None if rows * ASKED_SHARE >= self.rows() && block.is_to_be_made(&spelled) => {
                match self.are_worth_all(block, expr, rows)? {
                    true => self.make(block, usage, expr, &spelled)?,
                    false => {
                        block.is_not_worth_making(&spelled);
                        None
                    }
                }
            }
            known => known,
        };
        // That columns cannot tell it is kept, too.
        let column = column.filter(|column| !matches!(**column, PathColumn::Unknown));
        if let Some(column) = column {
            let paths = slots_of(expr).into_iter().filter_map(|slot| self.paths.get(slot).cloned());
            let paths = paths.collect();
            *expr = Expr::Slot(self.stand_in(StandIn::Made(paths), Some(column)));
        }
        Ok(())
    }

    /// Whether so many rows are not few of those that have something at a path that an expression reads.
    fn are_worth_all(&self, block: &ColumnBlock, expr: &Expr, rows: usize) -> Result<bool, ColumnError> {
        if rows * MADE_SHARE >= self.rows() {
            return Ok(true);
        }
        for path in slots_of(expr).into_iter().filter_map(|slot| self.paths.get(slot)) {
            let there = self.by_type(Some(&*block.presence(path)?), |kind| kind != Kind::Undefined);
            // Of a path with dots one reading may have nothing.
            if (1..=rows * MADE_SHARE).contains(&count(Some(&there))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What an expression makes of all rows, which is kept.
    fn make(
        &self,
        block: &ColumnBlock,
        usage: Use,
        expr: &Expr,
        spelled: &Path,
    ) -> Result<Option<Arc<PathColumn>>, ColumnError> {
        // Of what this query has read some may be there for some rows alone.
        let mut whole = self.emptied();
        let column = if whole.load_for(expr, None)? { whole.computed(expr) } else { None };
        if let Some(broken) = whole.take_broken() {
            return Err(broken);
        }
        // A query that was interrupted tells nothing.
        if column.is_none() && self.check().is_err() {
            return Ok(None);
        }
        let column = column.unwrap_or(Arc::new(PathColumn::Unknown));
        if usage == Use::Keys {
            column.will_be_keys();
        }
        Ok(Some(block.keep_made(usage, spelled, column)))
    }

    /// How an expression is spelled with its paths, which no other one is; none where something else than what stands at paths tells its values, or they are no more than
    /// reckoned with, or true or false.
    fn spelled_to_be_kept(&self, expr: &Expr) -> Option<Path> {
        let is_made = match expr {
            Expr::ReplaceMatch { .. }
            | Expr::IndexOfMatch { .. }
            | Expr::Concat(_)
            | Expr::If(_)
            | Expr::Coalesce(_) => true,
            Expr::Call { function, .. } => {
                function.name != FROM_JSON && function.gives != Some(Kind::Boolean)
            }
            _ => false,
        };
        if !is_made || expr.reads_local() || !expr.is_alike_anywhere() {
            return None;
        }
        let mut places = Vec::new();
        let mut bare = expr.clone();
        self.take_places(&mut bare, &mut places)?;
        // Nothing else is spelled so outside of quotes.
        let slots: Vec<String> = (0..places.len()).map(|place| format!("\u{0}{place}")).collect();
        let spelled = Printed { expr: &bare, slots: &slots, locals: &[] }.to_string();
        (spelled.len() <= SPELLED_MAX).then(|| std::iter::once(spelled.into()).chain(places).collect())
    }

    /// Puts the numbers of places, which are added with their paths, in place of slots.
    fn take_places(&self, expr: &mut Expr, places: &mut Vec<Box<str>>) -> Option<()> {
        let readings = match expr {
            Expr::Slot(_) => std::slice::from_ref(expr),
            Expr::Path(readings) => readings.as_slice(),
            Expr::BuiltIn(_) => return None,
            _ => {
                return expr.children_mut().into_iter().try_for_each(|child| self.take_places(child, places));
            }
        };
        let path = |reading: &Expr| match reading {
            Expr::Slot(slot) => self.paths.get(*slot),
            _ => None,
        };
        let paths: Vec<&Path> = readings.iter().map(path).collect::<Option<_>>()?;
        *expr = Expr::Slot(places.len());
        places.push(format!("{paths:?}").into());
        Some(())
    }
}

/// Whether what a condition makes of texts had better be kept: it compares it as a number or with another value of the row, or makes it by a pattern. A constant is
/// looked for in texts as they are.
fn is_worth_keeping(term: &Expr) -> bool {
    match term {
        Expr::CompareNumber { .. } => true,
        Expr::Compare { left, right, .. } => {
            let is_constant = |side: &Expr| matches!(side, Expr::Constant(_));
            !is_constant(left) && !is_constant(right) || matches_patterns(term)
        }
        other => matches_patterns(other),
    }
}
