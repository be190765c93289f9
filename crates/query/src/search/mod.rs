//! Events found by searching whole blocks: for the keys and literals of a condition, without scanning documents.
//!
//! [`Search`] is what a plan has to search for, made when it is prepared. A [`Finder`] does it for a window of events at a time:
//! each condition gives for each event yes, no or maybe. The few events for which it takes a scan to know (a repeated key, a
//! nested one that looks like one of the top level) remain a maybe, and are evaluated one by one as without a search: so are the
//! conditions that cannot be searched for.

mod condition;
mod finder;

pub(crate) use finder::{FIRST_WINDOW_EVENTS, Finder, window};

use crate::expr::Expr;
use crate::plan::{Events, Input, Key, Output, Plan};
use condition::Condition;
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
    /// The slots that the rows are made of.
    output_slots: Vec<usize>,
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
        let output_slots = output_slots(plan);
        Some(Search { keys, condition, condition_names: *filter_names, output_slots })
    }
}

/// The slots that the rows are made of.
fn output_slots(plan: &Plan) -> Vec<usize> {
    let mut slots = Vec::new();
    match &plan.output {
        Output::Rows { cells, .. } => cells.iter().for_each(|cell| collect_slots(cell, &mut slots)),
        Output::Groups(grouping) => {
            for key in &grouping.keys {
                if let Key::Expr { expr, .. } = key {
                    collect_slots(expr, &mut slots);
                }
            }
            for aggregate in &grouping.aggregates {
                collect_slots(&aggregate.argument, &mut slots);
            }
        }
    }
    slots.sort_unstable();
    slots.dedup();
    slots
}

fn collect_slots(expr: &Expr, slots: &mut Vec<usize>) {
    match expr {
        Expr::Slot(slot) => slots.push(*slot),
        Expr::BuiltIn(computed) => slots.extend(computed.slots()),
        other => other.children().into_iter().for_each(|child| collect_slots(child, slots)),
    }
}
