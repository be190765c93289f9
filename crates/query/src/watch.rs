//! What a running query watches for beside its rows, to warn of what is in no event that it looks at: told from statistics, and
//! where a block has none, from its bytes.

mod block;
mod collected;
mod level;
mod names;
mod place;
mod sought;
mod told;

use crate::expr::{Expr, property};
use crate::plan::{Input, Key as GroupKey, Output, Plan, Sort};
use crate::source::Block;
use crate::statistics::Statistics;
use crate::value::Value;
use crate::warning::{Compared, Warning};
use block::{LEVEL, Look, Searched, Told, number};
use collected::Collected;
use sought::{Ranks, Sought, Watched};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use told::Seen;

/// All that a query watches for, on all of its threads.
#[derive(Debug)]
pub(crate) struct Watch {
    watched: Vec<Watched>,
    /// How many of them are not settled.
    open: AtomicUsize,
    has_looked: AtomicBool,
    /// Events tell levels, or leave out the usual one as CLEF does.
    tells_levels: AtomicBool,
    /// Keys that events have, to suggest one.
    names: Mutex<BTreeSet<String>>,
    blocks_named: AtomicUsize,
    /// How many groups of the answer are still to be looked at.
    groups_to_look_at: AtomicUsize,
}

/// HEURISTIC: a name that is meant is among the keys of the first blocks.
const BLOCKS_NAMED: usize = 16;
/// Most names that are remembered.
const NAMES_MAX: usize = 10_000;
/// HEURISTIC: so many rows of an answer show whether its values are numbers in text.
pub(crate) const ROWS_LOOKED_AT: usize = 64;
/// CLEF has these with events that tell no level.
const CLEF_KEYS: [&str; 3] = ["@m", "@mt", "@i"];

impl Watch {
    /// What a plan has to be watched for.
    pub(crate) fn new(plan: &Plan) -> Watch {
        let mut found = Vec::new();
        if let Input::Events(events) = &plan.input {
            let shown: Vec<String> = events.names.iter().map(|name| property(name)).collect();
            let mut collected =
                Collected { names: &events.names, shown: &shown, found: Vec::new(), told_apart: Vec::new() };
            let exprs = events.unnest.iter().chain(&plan.filter).chain(plan.output.exprs());
            exprs.for_each(|expr| collected.whole(expr));
            let first_by: Option<&Expr> = match &plan.output {
                Output::Rows { cells, sort } => sort.first().and_then(|by| cells.get(by.column)),
                Output::Groups(grouping) => {
                    let aggregates = grouping.aggregates.iter().enumerate();
                    aggregates.for_each(|(number, aggregate)| collected.aggregate(number, aggregate));
                    match grouping.sort.first().and_then(|by| grouping.keys.get(by.column)) {
                        Some(GroupKey::Expr { expr, .. }) => Some(expr),
                        Some(GroupKey::Time(_)) | None => None,
                    }
                }
            };
            first_by.into_iter().for_each(|by| collected.order(by));
            found = collected.found;
        }
        let watched: Vec<Watched> = found.into_iter().map(Watched::new).collect();
        let is_of_aggregate =
            |watched: &Watched| matches!(watched.sought, Sought::Ranked { by: Ranks::Aggregate { .. }, .. });
        let groups_to_look_at = if watched.iter().any(is_of_aggregate) { ROWS_LOOKED_AT } else { 0 };
        Watch {
            // Hyphens matter only where a key is not found.
            open: AtomicUsize::new(
                watched.iter().filter(|watched| !matches!(watched.sought, Sought::Hyphens { .. })).count(),
            ),
            watched,
            has_looked: AtomicBool::new(false),
            tells_levels: AtomicBool::new(false),
            names: Mutex::default(),
            blocks_named: AtomicUsize::new(0),
            groups_to_look_at: AtomicUsize::new(groups_to_look_at),
        }
    }

    /// Looks at a block whose events are within the query's time. Costs next to nothing once all is settled.
    pub(crate) fn look(&self, block: &dyn Block, statistics: Option<&Statistics<'_>>) {
        self.has_looked.store(true, Relaxed);
        if self.open.load(Relaxed) == 0 {
            // A level that was found may have other spellings. What the query reads anyway may tell them.
            if let Some(statistics) = statistics {
                self.look_at_levels(&Told(statistics));
            }
            return;
        }
        let own = if statistics.is_none() { Statistics::with_deleted(block) } else { None };
        match statistics.or(own.as_ref()) {
            Some(statistics) => self.look_with(&Told(statistics)),
            // What is in columns, or damaged, is not read for a warning.
            None => {
                let is_text = matches!(block.columns(), Ok(None));
                match is_text.then(|| block.documents()) {
                    Some(Ok(Some(documents))) => {
                        self.look_with(&Searched { bytes: documents.bytes, events: block.len() });
                    }
                    Some(Ok(None) | Err(_)) | None => {
                        self.watched.iter().for_each(|watched| self.settle_untold(watched));
                    }
                }
            }
        }
    }

    fn settle(&self, watched: &Watched) {
        if matches!(watched.sought, Sought::Hyphens { .. }) {
            return;
        }
        if watched.settle() {
            self.open.fetch_sub(1, Relaxed);
        }
    }

    fn settle_untold(&self, watched: &Watched) {
        watched.leave_untold();
        self.settle(watched);
    }

    fn look_with(&self, block: &impl Look) {
        let mut lacks_name = false;
        for watched in self.watched.iter().filter(|watched| !watched.is_settled()) {
            match &watched.sought {
                Sought::Key { readings, .. } => {
                    let mut is_there = false;
                    for reading in readings {
                        let Some(known) = block.known(std::slice::from_ref(&reading.name), false) else {
                            self.settle(watched);
                            break;
                        };
                        is_there |= known.is_there;
                        watched.note(known);
                        if reading.is_found(known) {
                            self.settle(watched);
                            break;
                        }
                    }
                    lacks_name |= !is_there && !watched.is_settled();
                }
                Sought::BuiltIn { keys, .. } => lacks_name |= self.lacks_built_in(watched, keys, block),
                Sought::Value { place, with, quoted, .. } => match place.known(block, quoted.is_some()) {
                    None => self.settle(watched),
                    Some(known) => {
                        watched.note(known);
                        let has_quoted = || known.in_text.is_none_or(|texts| texts.numbers > 0);
                        let is_found = match with {
                            Compared::Number | Compared::Instant => known.numbers,
                            Compared::Text => known.texts && (quoted.is_none() || has_quoted()),
                        };
                        if is_found {
                            self.settle(watched);
                        }
                    }
                },
                Sought::Text { place, given, otherwise, .. } => {
                    let otherwise = &mut *otherwise.lock().unwrap_or_else(PoisonError::into_inner);
                    if sought::meet_text(block, place, given, otherwise) {
                        self.settle(watched);
                    }
                }
                Sought::Instant { place, unit, .. } => {
                    let unit = &mut *unit.lock().unwrap_or_else(PoisonError::into_inner);
                    if sought::meet_unit(block, place, unit) {
                        self.settle(watched);
                    }
                }
                Sought::Pair { places: [left, right], operator, met, .. } => {
                    let both = left.known(block, false).zip(right.known(block, false));
                    let met = &mut *met.lock().unwrap_or_else(PoisonError::into_inner);
                    if both.is_none_or(|both| sought::meet_pair(both, operator, met)) {
                        self.settle(watched);
                    }
                }
                Sought::Number { place, .. } => match place.known(block, false) {
                    Some(known) if !known.numbers => watched.note(known),
                    _ => self.settle(watched),
                },
                Sought::Ranked { place, texts, .. } => match place.known(block, true) {
                    Some(known) if !watched.note_ranked(known, texts) => {}
                    Some(_) => self.settle(watched),
                    None => self.settle_untold(watched),
                },
                Sought::Hyphens { name, .. } => {
                    if lacks_name && let Some(known) = block.known(std::slice::from_ref(name), false) {
                        watched.note(known);
                    }
                }
                Sought::Level { .. } => {}
            }
        }
        self.look_at_levels(block);
        if lacks_name && self.blocks_named.fetch_add(1, Relaxed) < BLOCKS_NAMED {
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            block.names(&mut |name| {
                if names.len() < NAMES_MAX && !names.contains(name) {
                    names.insert(name.to_owned());
                }
            });
        }
    }

    /// Whether a block has nothing of a built-in.
    fn lacks_built_in(&self, watched: &Watched, keys: &[Box<str>], block: &impl Look) -> bool {
        let is_there = keys.iter().any(|key| block.has(key));
        if is_there {
            self.settle(watched);
        } else if CLEF_KEYS.into_iter().chain([LEVEL]).any(|key| block.has(key)) {
            watched.find();
        }
        !is_there
    }

    fn look_at_levels(&self, block: &impl Look) {
        let levels = || {
            self.watched.iter().filter_map(|watched| match &watched.sought {
                Sought::Level { given, met, .. } => Some((watched, given, met)),
                _ => None,
            })
        };
        if levels().next().is_none() {
            return;
        }
        if !self.tells_levels.load(Relaxed)
            && (block.has(LEVEL) || CLEF_KEYS.into_iter().any(|key| block.has(key)))
        {
            self.tells_levels.store(true, Relaxed);
        }
        let is_known = block.levels(&mut |level| {
            for (watched, given, met) in levels() {
                if met.lock().unwrap_or_else(PoisonError::into_inner).meet(given, level) {
                    watched.find();
                }
            }
        });
        for (watched, ..) in levels() {
            if !is_known || watched.is_found() && self.tells_levels.load(Relaxed) {
                self.settle(watched);
            }
        }
    }

    /// Whether there is more to be learnt of the values of aggregates for groups.
    pub(crate) fn looks_at_answers(&self) -> bool {
        self.groups_to_look_at.load(Relaxed) > 0
    }

    /// Looks at the values of all aggregates for a group, if it is one of the first.
    pub(crate) fn look_at_answer(&self, values: &[Value<'_>]) {
        if !self.looks_at_answers() {
            return;
        }
        // Of several threads one may have looked at the last.
        _ = self.groups_to_look_at.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        for watched in &self.watched {
            if let Sought::Ranked { by: Ranks::Aggregate { number: aggregate, .. }, .. } = &watched.sought
                && values.get(*aggregate).is_some_and(|value| number_in_text(value).is_some())
            {
                watched.show();
            }
        }
    }

    /// Looks at what the first rows are sorted by; and whether there may be more rows than are wanted.
    pub(crate) fn look_at_order<'v>(&self, by: &Sort, is_cut: bool, values: impl Iterator<Item = Value<'v>>) {
        let is_order = |watched: &&Watched| matches!(watched.sought, Sought::Ranked { by: Ranks::Order, .. });
        let Some(watched) = self.watched.iter().find(is_order) else { return };
        let mut rows = 0;
        let numbers = values.take(ROWS_LOOKED_AT).inspect(|_| rows += 1);
        let numbers: Vec<f64> = numbers.filter_map(|value| number_in_text(&value)).collect();
        // Where rows are left out, nobody can tell by the others.
        let is_ordered = numbers.is_sorted_by(|a, b| if by.descending { a >= b } else { a <= b });
        if !is_ordered || is_cut && numbers.len() * 2 > rows {
            watched.show();
        }
    }

    /// What there is to warn of, as far as events were looked at.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        if !self.has_looked.load(Relaxed) {
            return Vec::new();
        }
        let names = &*self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let tells_levels = self.tells_levels.load(Relaxed);
        told::warnings(Seen { watched: &self.watched, names, tells_levels })
    }
}

/// The number that a text reads as.
fn number_in_text(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Text(text) => number(text.text().as_bytes()),
        _ => None,
    }
}
