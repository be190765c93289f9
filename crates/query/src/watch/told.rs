//! What was watched for → warnings.

use super::Watch;
use super::block::LEVEL;
use super::level;
use super::names::{as_written, built_in};
use super::sought::{Ranks, Reading, Sought, TakesNumbers, Watched};
use crate::error::closest;
use crate::warning::Warning;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn warnings(watch: &Watch) -> Vec<Warning> {
    let hyphens = hyphens(watch);
    let is_part = |key: &String| hyphens.iter().any(|(_, parts)| parts.contains(key));
    let is_open = |watched: &&Watched| match watched.sought {
        Sought::Level { .. } => false,
        // What is known of it is told at the end.
        Sought::Ranked { .. } => true,
        _ => !watched.is_settled(),
    };
    let mut warnings: Vec<Warning> = watch
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
            _ => warning(watch, watched),
        })
        .collect();
    let is_level =
        |watched: &Watched| matches!(watched.sought, Sought::Level { .. }) && !watched.is_settled();
    if !watch.tells_levels.load(Relaxed) && watch.watched.iter().any(is_level) {
        warnings.push(Warning::NoLevels);
    } else {
        warnings.extend(level::warnings(&watch.watched));
    }
    warnings
}

/// Keys with hyphens that events have, where the query names parts of them that they do not have.
fn hyphens(watch: &Watch) -> Vec<(&str, &[String])> {
    let is_open = |part: &String| {
        watch.watched.iter().any(|watched| {
            !watched.is_settled() && matches!(&watched.sought, Sought::Key { text, .. } if text == part)
        })
    };
    let found = watch.watched.iter().filter_map(|watched| match &watched.sought {
        Sought::Hyphens { name, parts } if watched.is_there() && parts.iter().any(is_open) => {
            Some((&**name, parts.as_slice()))
        }
        _ => None,
    });
    found.collect()
}

/// What there is to warn of one thing that is watched for.
fn warning(watch: &Watch, watched: &Watched) -> Option<Warning> {
    match &watched.sought {
        Sought::Key { text, readings, .. } if watched.is_there() => {
            let only = watched.only_kind();
            let key = as_written(&readings.first()?.name);
            watched.has_scalars().then(|| Warning::NeverObject { path: text.clone(), key, only })
        }
        Sought::Key { text, readings, meant } => unknown_key(watch, text, readings, meant.clone()),
        Sought::Value { key, quoted: Some(text), .. } if watched.has_texts() => {
            let has_numbers = watched.has_numbers();
            has_numbers.then(|| Warning::NumberInQuotes { key: key.clone(), text: text.clone() })
        }
        Sought::Value { key, name, operator, with, .. } => {
            // An event without a level has one all the same.
            let is_there = watched.is_there() || &**name == LEVEL;
            is_there.then(|| Warning::NeverCompared {
                key: key.clone(),
                operator,
                with: *with,
                only: watched.only_kind(),
            })
        }
        Sought::Pair { keys, operator, met, .. } => {
            let met = met.lock().unwrap_or_else(PoisonError::into_inner);
            met.iter().all(|known| known.has_values()).then(|| Warning::NeverAlike {
                keys: keys.clone(),
                operator,
                is_text: met.map(|known| known.texts),
            })
        }
        Sought::Number { of: TakesNumbers::Aggregate(aggregate), key, .. } => watched
            .has_texts()
            .then(|| Warning::NumbersInText { aggregate: aggregate.clone(), key: key.clone(), ranks: false }),
        Sought::Number { of: TakesNumbers::Arithmetic { expression, is_sum }, key, .. } => {
            let only = watched.only_kind();
            (watched.has_scalars() || only.is_some()).then(|| Warning::NeverNumber {
                expression: expression.clone(),
                key: key.clone(),
                only,
                may_be_time: *is_sum,
            })
        }
        Sought::Ranked { by: Ranks::Aggregate { text, .. }, key, texts, .. } => watched
            .ranks_numbers(texts, false)
            .then(|| Warning::NumbersInText { aggregate: text.clone(), key: key.clone(), ranks: true }),
        Sought::Ranked { by: Ranks::Order, key, texts, .. } => {
            watched.ranks_numbers(texts, true).then(|| Warning::OrderOfText { key: key.clone() })
        }
        Sought::Hyphens { .. } | Sought::Level { .. } => None,
    }
}

/// No event has a key. One without a path that leads into it is not told of: its key is.
fn unknown_key(watch: &Watch, text: &str, readings: &[Reading], meant: Option<String>) -> Option<Warning> {
    if readings.iter().all(|reading| reading.is_within) {
        return None;
    }
    let known = watch.names.lock().unwrap_or_else(PoisonError::into_inner);
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
