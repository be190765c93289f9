//! The order of which only the first rows are wanted, and the first values that it has met so far.

use crate::plan::{Output as PlanOutput, Plan};
use crate::value::{Value, order};
use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

/// So many rows are wanted, in the order of an output first.
#[derive(Clone, Copy)]
pub(super) struct Beginning {
    pub(super) output: usize,
    pub(super) ci: bool,
    pub(super) descending: bool,
    pub(super) limit: usize,
}

/// Of more rows most are wanted.
const LIMIT_MAX: u64 = 4096;

impl Beginning {
    pub(super) fn of(plan: &Plan) -> Option<Beginning> {
        let PlanOutput::Rows { sort, .. } = &plan.output else { return None };
        let (first, limit) = (sort.first()?, plan.limit.filter(|limit| (1..=LIMIT_MAX).contains(limit))?);
        Some(Beginning {
            output: first.column,
            ci: first.ci,
            descending: first.descending,
            limit: limit as usize,
        })
    }
}

/// The first values of an order among the rows that the threads of a query have found so far, as many as are wanted.
#[derive(Default)]
pub(super) struct Best(Mutex<Vec<Value<'static>>>);

/// Of orders of which more rows are wanted, no values are kept: sorting them would take longer than it spares.
pub(super) const BEST_MAX: usize = 256;

impl Best {
    /// What comes behind this is not wanted; none as long as all is.
    pub(super) fn bound(&self, by: Beginning) -> Option<Value<'static>> {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        by.limit.checked_sub(1).and_then(|last| values.get(last)).cloned()
    }

    /// Adds values of rows that are given.
    pub(super) fn add(&self, by: Beginning, new: Vec<Value<'static>>) {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if by.limit > BEST_MAX {
            return;
        }
        values.extend(new);
        values.sort_by(|a, b| by.order(a, b));
        values.truncate(by.limit);
    }
}

impl Beginning {
    pub(super) fn order(self, a: &Value<'_>, b: &Value<'_>) -> Ordering {
        let order = order(a, b, self.ci);
        if self.descending { order.reverse() } else { order }
    }

    /// Whether a value does not come behind a bound.
    pub(super) fn has(self, value: &Value<'_>, bound: Option<&Value<'_>>) -> bool {
        bound.is_none_or(|bound| self.order(value, bound).is_le())
    }
}
