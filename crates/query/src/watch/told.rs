//! What was watched for → warnings.

use super::block::LEVEL;
use super::level::{CLEF_LEVELS, GivenLevel, Levels};
use super::names::{as_written, built_in, meant};
use super::place::Place;
use super::sought::{Ranks, Reading, Sought, TakesNumbers, Watched};
use crate::builtin::BuiltIn;
use crate::error::closest;
use crate::warning::Warning;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// What a query has seen.
#[derive(Clone, Copy)]
pub(super) struct Seen<'w> {
    pub(super) watched: &'w [Watched],
    /// Keys that events have.
    pub(super) names: &'w BTreeSet<String>,
    /// Whether events tell levels, or leave out the usual one as CLEF does.
    pub(super) tells_levels: bool,
}

pub(super) fn warnings(seen: Seen<'_>) -> Vec<Warning> {
    let hyphens = hyphens(seen.watched);
    let is_part = |key: &String| hyphens.iter().any(|(_, parts)| parts.contains(key));
    let is_open = |watched: &&Watched| match watched.sought {
        Sought::Level { .. } => false,
        // What is known of it is told at the end.
        Sought::Ranked { .. } => true,
        _ => !watched.is_settled(),
    };
    let mut warnings: Vec<Warning> = seen
        .watched
        .iter()
        .filter(is_open)
        .filter_map(|watched| match &watched.sought {
            Sought::Key { text, .. } if is_part(text) => None,
            Sought::Number { key, .. } if is_part(key) => None,
            Sought::Hyphens { name, .. } => {
                let is_meant = hyphens.iter().any(|(known, _)| *known == &**name);
                is_meant.then(|| Warning::Hyphens { key: name.to_string() })
            }
            _ => warning(seen, watched),
        })
        .collect();
    let is_level =
        |watched: &Watched| matches!(watched.sought, Sought::Level { .. }) && !watched.is_settled();
    if !seen.tells_levels && seen.watched.iter().any(is_level) {
        warnings.push(Warning::NoLevels);
    } else {
        warnings.extend(of_levels(seen.watched));
    }
    warnings
}

/// Keys with hyphens that events have, where the query names parts of them that they do not have.
fn hyphens(watched: &[Watched]) -> Vec<(&str, &[String])> {
    let is_open = |part: &String| {
        watched.iter().any(|watched| {
            !watched.is_settled() && matches!(&watched.sought, Sought::Key { text, .. } if text == part)
        })
    };
    let found = watched.iter().filter_map(|watched| match &watched.sought {
        Sought::Hyphens { name, parts } if watched.met().is_there && parts.iter().any(is_open) => {
            Some((&**name, parts.as_slice()))
        }
        _ => None,
    });
    found.collect()
}

/// A built-in that no event has.
fn unknown_built_in(
    seen: Seen<'_>,
    watched: &Watched,
    built_in: BuiltIn,
    keys: &[Box<str>],
) -> Option<Warning> {
    let near = meant(built_in, seen.names);
    let is_named = |near: &String| {
        let is_near = |other: &Watched| matches!(&other.sought, Sought::Key { text, .. } if text == near);
        seen.watched.iter().any(is_near)
    };
    // Nothing is wrong where CLEF tells of no exception, nor where the query asks for what else may be meant.
    let is_fine = built_in == BuiltIn::Exception && watched.is_found() || near.as_ref().is_some_and(is_named);
    (!is_fine).then(|| Warning::UnknownBuiltIn {
        built_in: built_in.to_string(),
        keys: keys.iter().map(ToString::to_string).collect(),
        near,
    })
}

/// A text that no event has under a key, where some have it spelled otherwise.
fn spelled_otherwise(
    seen: Seen<'_>,
    key: &str,
    given: &GivenLevel,
    otherwise: &BTreeSet<String>,
) -> Option<Warning> {
    let is_named = |text: &String| {
        seen.watched.iter().any(|watched| match &watched.sought {
            Sought::Text { key: other, given, .. } => other == key && given.is_match(text),
            _ => false,
        })
    };
    let stored: Vec<String> = otherwise.iter().filter(|text| !is_named(text)).cloned().collect();
    let in_other_case = stored.iter().all(|text| given.is_match_in_other_case(text));
    // Somebody who names other values of the key, or patterns of them, knows how they are spelled.
    let is_known = seen.watched.iter().any(|watched| match &watched.sought {
        Sought::Text { key: other, .. } => other == key && !in_other_case && watched.is_settled(),
        Sought::Value { key: other, operator: "like", .. } => other == key,
        _ => false,
    });
    (!stored.is_empty() && !is_known).then(|| Warning::ValueSpelling {
        key: key.to_owned(),
        given: given.text().to_owned(),
        in_other_case,
        stored,
    })
}

/// What there is to warn of one thing that is watched for.
fn warning(seen: Seen<'_>, watched: &Watched) -> Option<Warning> {
    let known = watched.met();
    let only = known.only_kind();
    match &watched.sought {
        Sought::Key { text, readings, .. } if known.is_there => {
            let key = as_written(&readings.first()?.name);
            known.has_scalars().then(|| Warning::NeverObject { path: text.clone(), key, only })
        }
        Sought::Key { text, readings, meant } => unknown_key(seen.names, text, readings, meant.clone()),
        Sought::BuiltIn { built_in, keys } => unknown_built_in(seen, watched, *built_in, keys),
        Sought::Value { key, quoted: Some(text), .. } if known.texts => {
            known.numbers.then(|| Warning::NumberInQuotes { key: key.clone(), text: text.clone() })
        }
        Sought::Value { key, place, operator, with, .. } => {
            // An event without a level has one all the same.
            let is_there = known.is_there || *place == Place::key(LEVEL);
            is_there.then(|| Warning::NeverCompared { key: key.clone(), operator, with: *with, only })
        }
        Sought::Text { key, given, otherwise, .. } => {
            let otherwise = otherwise.lock().unwrap_or_else(PoisonError::into_inner);
            spelled_otherwise(seen, key, given, &otherwise)
        }
        Sought::Instant { key, unit, .. } => {
            let unit = *unit.lock().unwrap_or_else(PoisonError::into_inner);
            unit.map(|unit| Warning::UnixTime { key: key.clone(), unit })
        }
        Sought::Pair { keys, operator, met, .. } => {
            let met = met.lock().unwrap_or_else(PoisonError::into_inner);
            met.iter().all(|known| known.has_values()).then(|| Warning::NeverAlike {
                keys: keys.clone(),
                operator,
                is_text: met.map(|known| known.texts),
            })
        }
        Sought::Number { of: TakesNumbers::Aggregate(aggregate), key, .. } if known.texts => {
            Some(Warning::NumbersInText { aggregate: aggregate.clone(), key: key.clone(), ranks: false })
        }
        Sought::Number { of: TakesNumbers::Aggregate(aggregate), key, .. } => {
            only.map(|only| Warning::NeverAggregated { aggregate: aggregate.clone(), key: key.clone(), only })
        }
        Sought::Number { of: TakesNumbers::Arithmetic { expression, is_sum, joined }, key, .. } => {
            (known.has_scalars() || only.is_some()).then(|| Warning::NeverNumber {
                expression: expression.clone(),
                key: key.clone(),
                only,
                may_be_time: *is_sum,
                joined: joined.clone(),
            })
        }
        Sought::Ranked { by: Ranks::Aggregate { text, .. }, key, texts, .. } => watched
            .ranks_numbers(texts)
            .then(|| Warning::NumbersInText { aggregate: text.clone(), key: key.clone(), ranks: true }),
        Sought::Ranked { by: Ranks::Order, key, texts, .. } => {
            watched.ranks_numbers(texts).then(|| Warning::OrderOfText { key: key.clone() })
        }
        Sought::Hyphens { .. } | Sought::Level { .. } => None,
    }
}

/// No event has a key. One without a path that leads into it is not told of: its key is.
fn unknown_key(
    known: &BTreeSet<String>,
    text: &str,
    readings: &[Reading],
    meant: Option<String>,
) -> Option<Warning> {
    if readings.iter().all(|reading| reading.is_within) {
        return None;
    }
    // The longest name is the one that was meant for a flat key: `id.orig_h`, and not `id`.
    let mut names: Vec<&str> = readings.iter().map(|reading| &*reading.name).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let near = names.iter().find_map(|name| closest(name, known.iter().map(String::as_str)));
    let near = near.map(as_written).or(meant);
    let near = near.or_else(|| match names.as_slice() {
        [only] => built_in(only, |key| known.contains(key)).map(str::to_owned),
        _ => None,
    });
    Some(Warning::UnknownKey { key: text.to_owned(), near })
}

/// What there is to warn of the levels that a query names.
fn of_levels(watched: &[Watched]) -> Vec<Warning> {
    let levels = || {
        watched.iter().filter_map(|watched| match &watched.sought {
            Sought::Level { given, is_excluded, met } => Some((watched, given, *is_excluded, met)),
            _ => None,
        })
    };
    // Where one of the query's levels is there, the query speaks of levels as the events do.
    let has_found = levels().any(|(watched, ..)| watched.is_found());
    let is_named = |level: &String| levels().any(|(_, given, ..)| given.is_match(level));
    let warning = |(watched, given, is_excluded, met): (&Watched, &GivenLevel, bool, &Mutex<Levels>)| {
        let met = met.lock().unwrap_or_else(PoisonError::into_inner);
        let text = given.text();
        let mut otherwise = met.otherwise.iter().filter(|level| !is_named(level)).peekable();
        if watched.is_found() {
            otherwise.peek()?;
            let others: Vec<String> = otherwise.cloned().collect();
            let condition = given.condition(&others);
            return Some(Warning::OtherSpellings { given: text.to_owned(), others, condition });
        }
        if watched.is_settled() {
            return None;
        }
        let in_other_case = otherwise.clone().find(|level| given.is_match_in_other_case(level));
        if let Some(stored) = in_other_case {
            return Some(Warning::LevelCase { given: text.to_owned(), stored: stored.clone() });
        }
        let speaks_of_clef = CLEF_LEVELS.iter().any(|level| given.is_match(level));
        let has_clef = CLEF_LEVELS.iter().any(|level| met.texts.contains(*level));
        let unnamed = met.texts.iter().filter(|level| !is_named(level));
        let is_misspelt = closest(text, unnamed.map(String::as_str)).is_some();
        let is_fine = match otherwise.peek() {
            Some(_) => false,
            None if met.all.is_empty() => true,
            None if is_misspelt => false,
            None if has_found => true,
            // Nothing is wrong with leaving out what is not there.
            None if is_excluded => !speaks_of_clef || has_clef,
            // Nothing is wrong where no event has just that one of the levels that are usual there.
            None => speaks_of_clef && has_clef,
        };
        let levels = || met.all.iter().cloned().collect();
        (!is_fine).then(|| Warning::UnknownLevel { given: text.to_owned(), levels: levels() })
    };
    levels().filter_map(warning).collect()
}
