//! What a running query watches for beside its rows, to warn of what is in no event that it looks at: told from statistics, and
//! where a block has none, from its bytes.

mod block;
mod collected;
mod level;
mod names;
mod sought;

use crate::error::closest;
use crate::expr::{Expr, property};
use crate::plan::{Input, Key as GroupKey, Output, Plan};
use crate::source::Block;
use crate::statistics::Statistics;
use crate::value::Kind;
use crate::warning::{Compared, Warning};
use block::{Known, LEVEL, Look, Searched, Told};
use collected::Collected;
use level::{LEVELS_MAX, is_absent_only};
use names::{as_written, built_in};
use sought::{Sought, Watched};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// All that a query watches for, on all of its threads.
#[derive(Debug)]
pub(crate) struct Watch {
    watched: Vec<Watched>,
    /// How many of them are not settled.
    open: AtomicUsize,
    has_looked: AtomicBool,
    /// Keys that events have, to suggest one.
    names: Mutex<BTreeSet<String>>,
    blocks_named: AtomicUsize,
}

/// HEURISTIC: a name that is meant is among the keys of the first blocks.
const BLOCKS_NAMED: usize = 16;
/// Most names that are remembered.
const NAMES_MAX: usize = 10_000;

impl Watch {
    /// What a plan has to be watched for.
    pub(crate) fn new(plan: &Plan) -> Watch {
        let mut watched = Vec::new();
        if let Input::Events(events) = &plan.input {
            let mut exprs: Vec<&Expr> = events.unnest.iter().chain(&plan.filter).collect();
            match &plan.output {
                Output::Rows { cells, .. } => exprs.extend(cells),
                Output::Groups(grouping) => {
                    exprs.extend(grouping.keys.iter().filter_map(|key| match key {
                        GroupKey::Time(_) => None,
                        GroupKey::Expr { expr, .. } => Some(expr),
                    }));
                    exprs.extend(grouping.aggregates.iter().map(|aggregate| &aggregate.argument));
                }
            }
            let aggregates = match &plan.output {
                Output::Rows { .. } => &[],
                Output::Groups(grouping) => grouping.aggregates.as_slice(),
            };
            let shown: Vec<String> = events.names.iter().map(|name| property(name)).collect();
            let mut collected = Collected { names: &events.names, shown: &shown, found: Vec::new() };
            exprs.into_iter().for_each(|expr| collected.expr(expr));
            aggregates.iter().for_each(|aggregate| collected.aggregate(aggregate));
            watched = collected.found;
        }
        let watched: Vec<Watched> = watched
            .into_iter()
            .map(|sought| Watched {
                sought,
                is_settled: AtomicBool::new(false),
                is_there: AtomicBool::new(false),
                has_texts: AtomicBool::new(false),
                has_booleans: AtomicBool::new(false),
                has_numbers: AtomicBool::new(false),
                has_arrays: AtomicBool::new(false),
                has_objects: AtomicBool::new(false),
            })
            .collect();
        Watch {
            // Hyphens matter only where a key is not found.
            open: AtomicUsize::new(
                watched.iter().filter(|watched| !matches!(watched.sought, Sought::Hyphens { .. })).count(),
            ),
            watched,
            has_looked: AtomicBool::new(false),
            names: Mutex::default(),
            blocks_named: AtomicUsize::new(0),
        }
    }

    /// Looks at a block whose events are within the query's time. Costs nothing once all is settled.
    pub(crate) fn look(&self, block: &dyn Block, statistics: Option<&Statistics<'_>>) {
        self.has_looked.store(true, Relaxed);
        if self.open.load(Relaxed) == 0 {
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
                        self.watched.iter().for_each(|watched| self.settle(watched));
                    }
                }
            }
        }
    }

    fn settle(&self, watched: &Watched) {
        if matches!(watched.sought, Sought::Hyphens { .. }) {
            return;
        }
        if !watched.is_settled.swap(true, Relaxed) {
            self.open.fetch_sub(1, Relaxed);
        }
    }

    fn look_with(&self, block: &impl Look) {
        let mut lacks_name = false;
        for watched in self.watched.iter().filter(|watched| !watched.is_settled.load(Relaxed)) {
            match &watched.sought {
                Sought::Key { names, .. } => {
                    if names.iter().any(|name| block.known(name).is_none_or(|known| known.is_there)) {
                        self.settle(watched);
                    } else {
                        lacks_name = true;
                    }
                }
                Sought::Value { name, with, quoted, .. } => match block.known(name) {
                    None => self.settle(watched),
                    Some(known @ Known { numbers, texts, digits, .. }) => {
                        watched.note(known);
                        let is_found = match with {
                            Compared::Number => numbers,
                            Compared::Text => texts && (quoted.is_none() || digits),
                        };
                        if is_found {
                            self.settle(watched);
                        }
                    }
                },
                Sought::Number { name, ranks, .. } => match block.known(name) {
                    Some(known) if !(known.numbers || *ranks && known.words) => watched.note(known),
                    _ => self.settle(watched),
                },
                Sought::Hyphens { name, .. } => {
                    if lacks_name && let Some(known) = block.known(name) {
                        watched.note(known);
                    }
                }
                Sought::Level { given, met, .. } => {
                    let is_known = block.levels(&mut |level, kind| {
                        let is_text = kind == Kind::String;
                        if is_text && given.is_match(level) {
                            return self.settle(watched);
                        }
                        let mut met = met.lock().unwrap_or_else(PoisonError::into_inner);
                        if is_text && met.in_other_case.is_none() && given.is_match_in_other_case(level) {
                            met.in_other_case = Some(level.to_owned());
                        }
                        if met.all.len() < LEVELS_MAX {
                            met.all.insert(if is_text { format!("'{level}'") } else { level.to_owned() });
                        }
                    });
                    if !is_known {
                        self.settle(watched);
                    }
                }
            }
        }
        if lacks_name && self.blocks_named.fetch_add(1, Relaxed) < BLOCKS_NAMED {
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            block.names(&mut |name| {
                if names.len() < NAMES_MAX && !names.contains(name) {
                    names.insert(name.to_owned());
                }
            });
        }
    }

    /// What there is to warn of, as far as events were looked at.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        if !self.has_looked.load(Relaxed) {
            return Vec::new();
        }
        let open = || self.watched.iter().filter(|watched| !watched.is_settled.load(Relaxed));
        let is_open = |part: &String| {
            open().any(|watched| matches!(&watched.sought, Sought::Key { text, .. } if text == part))
        };
        let hyphens = || {
            open().filter_map(|watched| match &watched.sought {
                Sought::Hyphens { name, parts }
                    if watched.is_there.load(Relaxed) && parts.iter().any(is_open) =>
                {
                    Some((name, parts))
                }
                _ => None,
            })
        };
        // Where one of the query's levels is there, the query speaks of levels as the events do.
        let has_found_level = self.watched.iter().any(|watched| {
            matches!(watched.sought, Sought::Level { .. }) && watched.is_settled.load(Relaxed)
        });
        open()
            .filter_map(|watched| match &watched.sought {
                Sought::Key { text, .. } if hyphens().any(|(_, parts)| parts.contains(text)) => None,
                Sought::Key { text, names, meant } => {
                    let known = self.names.lock().unwrap_or_else(PoisonError::into_inner);
                    // The longest name is the one that was meant for a flat key: `id.orig_h`, and not `id`.
                    let mut names: Vec<&str> = names.iter().map(|name| &**name).collect();
                    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
                    let near = names.iter().find_map(|name| closest(name, known.iter().map(String::as_str)));
                    let near = near.map(as_written).or_else(|| meant.clone());
                    let near = near.or_else(|| match names.as_slice() {
                        [only] => built_in(only).map(str::to_owned),
                        _ => None,
                    });
                    Some(Warning::UnknownKey { key: text.clone(), near })
                }
                Sought::Value { key, quoted: Some(text), .. } if watched.has_texts.load(Relaxed) => {
                    let has_numbers = watched.has_numbers.load(Relaxed);
                    has_numbers.then(|| Warning::NumberInQuotes { key: key.clone(), text: text.clone() })
                }
                Sought::Value { key, name, operator, with, .. } => {
                    // An event without a level has one all the same.
                    let is_there = watched.is_there.load(Relaxed) || &**name == LEVEL;
                    is_there.then(|| Warning::NeverCompared {
                        key: key.clone(),
                        operator,
                        with: *with,
                        only: watched.only_kind(),
                    })
                }
                Sought::Number { aggregate, key, ranks, .. } => watched.has_texts.load(Relaxed).then(|| {
                    Warning::NumbersInText { aggregate: aggregate.clone(), key: key.clone(), ranks: *ranks }
                }),
                Sought::Hyphens { name, .. } => hyphens()
                    .any(|(known, _)| known == name)
                    .then(|| Warning::Hyphens { key: name.to_string() }),
                Sought::Level { given, is_excluded, met } => {
                    let met = met.lock().unwrap_or_else(PoisonError::into_inner);
                    // Nothing is wrong with leaving out what is not there.
                    let is_fine = *is_excluded || met.all.is_empty() || has_found_level;
                    let text = given.text().to_owned();
                    match &met.in_other_case {
                        Some(stored) => Some(Warning::LevelCase { given: text, stored: stored.clone() }),
                        None if is_fine || is_absent_only(given, &met.all) => None,
                        None => {
                            let levels = met.all.iter().cloned().collect();
                            Some(Warning::UnknownLevel { given: text, levels })
                        }
                    }
                }
            })
            .collect()
    }
}
