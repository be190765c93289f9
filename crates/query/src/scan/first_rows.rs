//! Blocks that none of the first rows of an order can come from, as the statistics of the value that rows are ordered by tell.

use super::columns::ColumnPlan;
use crate::ast::Comparison;
use crate::expr::{Computed, Expr};
use crate::plan::{Events, Output, Plan};
use crate::pushdown::{bare_path, is_absent};
use crate::source::Block;
use crate::statistics::{Key, Statistics, Tally};
use crate::value::{Kind, Number, Value};
use std::cmp::Ordering;
use std::sync::Arc;

/// What the first rows of an order are told by.
pub(super) struct FirstRows {
    columns: Arc<ColumnPlan>,
    /// What rows are ordered by first, and the keys that its slots stand for.
    by: Expr,
    names: Vec<Box<str>>,
    passing: Passing,
}

/// What passes of the values that rows are ordered by, as far as the condition tells at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Passing {
    All,
    /// Neither null nor what is missing.
    Present,
    Numbers,
}

impl Passing {
    fn of(filter: &Expr, by: &Expr) -> Passing {
        match filter {
            Expr::And(terms) => terms.iter().map(|term| Passing::of(term, by)).max().unwrap_or(Passing::All),
            Expr::CompareNumber { op, left, .. } if *op != Comparison::NotEqual && left.is_same(by) => {
                Passing::Numbers
            }
            Expr::IsNull(of, true) if of.is_same(by) => Passing::Present,
            _ => Passing::All,
        }
    }
}

impl FirstRows {
    /// None where a row that is left out might have failed.
    pub(super) fn of(plan: &Plan, events: &Events, columns: &Arc<ColumnPlan>) -> Option<FirstRows> {
        let Output::Rows { cells, sort } = &plan.output else { return None };
        let by = cells.get(sort.first()?.column)?;
        let never_fail = cells.iter().all(never_fails);
        if !events.unnest.is_empty() || !never_fail || !plan.filter.iter().all(never_fails) {
            return None;
        }
        let passing = plan.filter.as_ref().map_or(Passing::All, |filter| Passing::of(filter, by));
        Some(FirstRows { columns: columns.clone(), by: by.clone(), names: events.names.clone(), passing })
    }

    /// Whether all events of a block come behind as many rows that were found as are wanted.
    pub(super) fn come_before(&self, block: &dyn Block) -> bool {
        let Some((bound, is_descending)) = self.columns.bound() else { return false };
        let Value::Number(bound) = bound else { return false };
        // What they tell of deleted events is not too little.
        let Some(statistics) = Statistics::with_deleted(block) else { return false };
        let path = match bare_path(&self.by, &is_absent(&statistics, &self.names)) {
            Some(Some(path)) => path,
            // What is missing comes before all numbers.
            Some(None) => return is_descending,
            None => return false,
        };
        let Key::Present(facts) = path.key(&statistics, &self.names) else { return false };
        let Some(values) = facts.values else { return false };
        let Some((least, greatest)) = values.range else { return false };
        // What is missing, null and the Booleans come before numbers, all else behind them.
        let all_lesser = [values.missing, values.null, values.falsehood, values.truth];
        let counted = |tallies: &[Tally]| tallies.iter().map(|tally| u64::from(tally.count)).sum::<u64>();
        let lesser = counted(&all_lesser);
        let others = u64::from(statistics.events()).checked_sub(lesser + u64::from(values.numbers));
        let (lesser, others) = match self.passing {
            Passing::All => (lesser, others),
            Passing::Present => (counted(&[values.falsehood, values.truth]), others),
            Passing::Numbers => (0, Some(0)),
        };
        let compare = |extreme: &str| Number::Stored(extreme).compare(&bound);
        match is_descending {
            true => others == Some(0) && compare(greatest.text) == Ordering::Less,
            false => lesser == 0 && compare(least.text) == Ordering::Greater,
        }
    }
}

/// Whether an expression comes to something for each event, whatever that has.
fn never_fails(expr: &Expr) -> bool {
    let is_sure = match expr {
        Expr::BuiltIn(computed) => !matches!(computed, Computed::Message { .. }),
        Expr::Constant(_)
        | Expr::Slot(_)
        | Expr::Path(_)
        | Expr::Member(..)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Not(_)
        | Expr::IsNull(..)
        | Expr::CompareNumber { .. }
        | Expr::Compare { .. }
        | Expr::InSet { .. }
        | Expr::Like { .. }
        | Expr::Match { .. }
        | Expr::MatchWhole { .. } => true,
        // No value that it makes is too large.
        Expr::Call { .. } => matches!(expr.kind(&[]), Some(Kind::Boolean | Kind::Number)),
        _ => false,
    };
    is_sure && expr.children().into_iter().all(never_fails)
}
