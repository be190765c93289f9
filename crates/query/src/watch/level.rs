//! Levels as queries name them, and as events have them.

use crate::expr::Like;
use crate::value::Text;
use std::collections::BTreeSet;

/// A level as a query names it.
#[derive(Debug)]
pub(super) enum GivenLevel {
    Text(String),
    Like(Box<GivenLike>),
}

/// A pattern, and the same in any case.
#[derive(Debug)]
pub(super) struct GivenLike {
    pub(super) pattern: Like,
    pub(super) in_any_case: Option<Like>,
}

impl GivenLevel {
    pub(super) fn text(&self) -> &str {
        match self {
            GivenLevel::Text(text) => text,
            GivenLevel::Like(given) => given.pattern.source(),
        }
    }

    pub(super) fn is_match(&self, level: &str) -> bool {
        match self {
            GivenLevel::Text(text) => text == level,
            GivenLevel::Like(given) => given.pattern.is_match(&Text::from(level)),
        }
    }

    pub(super) fn is_match_in_other_case(&self, level: &str) -> bool {
        match self {
            GivenLevel::Text(text) => text.eq_ignore_ascii_case(level),
            GivenLevel::Like(given) => {
                given.in_any_case.as_ref().is_some_and(|pattern| pattern.is_match(&Text::from(level)))
            }
        }
    }
}

/// Levels that events have, none of which is the one that is sought.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// One that differs only in case.
    pub(super) in_other_case: Option<String>,
    pub(super) all: BTreeSet<String>,
}

pub(super) const LEVELS_MAX: usize = 20;

/// The levels of CLEF.
const CLEF_LEVELS: [&str; 6] = ["Verbose", "Debug", "Information", "Warning", "Error", "Fatal"];

/// Whether a level is one of those that events have others of: nothing is wrong where no event has just that one.
pub(super) fn is_absent_only(given: &GivenLevel, levels: &BTreeSet<String>) -> bool {
    CLEF_LEVELS.iter().any(|level| given.is_match(level))
        && levels.iter().any(|level| CLEF_LEVELS.contains(&level.trim_matches('\'')))
}
