//! Events found by searching whole blocks: for the keys and literals of a condition, without scanning documents.
//!
//! [`Search`] is what a plan has to search for, made when it is prepared. A [`Finder`] does it for a window of events at a time:
//! each condition gives for each event yes, no or maybe. The few events for which it takes a scan to know (a repeated key, a
//! nested one that looks like one of the top level) remain a maybe, and are evaluated one by one as without a search: so are the
//! conditions that cannot be searched for.

mod condition;
mod finder;

pub(crate) use finder::{Finder, window};

use crate::expr::Expr;
use crate::plan::{Events, Input, Output, Plan};
use condition::Condition;
use std::fmt;
use tamias_json::search::Needle;

/// What to search for.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// For each name of the plan.
    keys: Vec<Needle>,
    /// What holds of all hits.
    condition: Option<Condition>,
    /// So many of the names are read by the condition.
    condition_names: usize,
    /// Whether the plan needs each hit's document whole.
    pub(crate) reads_whole: bool,
}

/// Where nothing is filtered, more names than these are quicker found by scanning each document once.
const NAMES_UNFILTERED: usize = 4;

impl Search {
    /// What to search for; none where every document has to be scanned in any case.
    pub(crate) fn of(plan: &Plan) -> Option<Search> {
        let Input::Events(Events { names, filter_names, unnest, reads_whole, .. }) = &plan.input else {
            return None;
        };
        if !unnest.is_empty() || names.is_empty() {
            return None;
        }
        let keys = names.iter().map(|name| Needle::key(name)).collect::<Option<Vec<_>>>()?;
        let condition = plan.filter.as_ref().map(|filter| Condition::of(filter, names));
        let narrows = condition.as_ref().is_some_and(Condition::narrows);
        let wanted = if condition.is_some() { *filter_names } else { names.len() };
        if !narrows && (*reads_whole || wanted > NAMES_UNFILTERED) {
            return None;
        }
        Some(Search { keys, condition, condition_names: *filter_names, reads_whole: *reads_whole })
    }

    /// Whether every event is a hit.
    pub(crate) fn finds_all(&self) -> bool {
        self.condition.is_none()
    }
}

/// What is searched for, in a few words, for `explain`.
impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.condition {
            Some(condition) if condition.narrows() => write!(f, "search blocks for {condition}"),
            _ => f.write_str("search blocks for the keys"),
        }
    }
}

/// Whether a plan's rows are nothing but stored values.
pub(crate) fn only_slots(output: &Output) -> bool {
    matches!(output, Output::Rows { cells, .. } if cells.iter().all(|cell| matches!(cell, Expr::Slot(_))))
}
