//! Levels as queries name them, and as events have them.

use crate::expr::{Like, quoted};
use crate::value::Text;
use std::collections::BTreeSet;

/// A level as a query names it.
#[derive(Debug)]
pub(super) enum GivenLevel {
    Text { text: String, ci: bool },
    Like(Box<GivenLike>),
}

/// A pattern, and the same in any case.
#[derive(Debug)]
pub(super) struct GivenLike {
    pub(super) pattern: Like,
    pub(super) in_any_case: Option<Like>,
}

impl GivenLevel {
    /// A text that values are compared with.
    pub(super) fn of(text: &Text<'_>, ci: bool) -> GivenLevel {
        GivenLevel::Text { text: text.text().into_owned(), ci }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            GivenLevel::Text { text, .. } => text,
            GivenLevel::Like(given) => given.pattern.source(),
        }
    }

    pub(super) fn is_same(&self, other: &GivenLevel) -> bool {
        let ci = |given: &GivenLevel| matches!(given, GivenLevel::Text { ci: true, .. });
        self.text() == other.text() && ci(self) == ci(other)
    }

    pub(super) fn is_match(&self, level: &str) -> bool {
        match self {
            GivenLevel::Text { text, ci: false } => text == level,
            GivenLevel::Text { text, ci: true } => text.eq_ignore_ascii_case(level),
            GivenLevel::Like(given) => given.pattern.is_match(&Text::from(level)),
        }
    }

    pub(super) fn is_match_in_other_case(&self, level: &str) -> bool {
        !self.is_match(level)
            && match self {
                GivenLevel::Text { text, .. } => text.eq_ignore_ascii_case(level),
                GivenLevel::Like(given) => {
                    given.in_any_case.as_ref().is_some_and(|pattern| pattern.is_match(&Text::from(level)))
                }
            }
    }

    /// The condition that the level meets in these spellings too.
    pub(super) fn condition(&self, others: &[String]) -> String {
        match self {
            GivenLevel::Text { text, ci } => {
                let all = [text].into_iter().chain(others).map(|level| quoted(level));
                let all = all.collect::<Vec<String>>().join(", ");
                format!("@Level in [{all}]{}", if *ci { " ci" } else { "" })
            }
            GivenLevel::Like(given) => format!("@Level like {} ci", quoted(given.pattern.source())),
        }
    }

    /// Whether a level is the same one in another spelling: in another case, or under another of its usual names.
    pub(super) fn is_spelt_otherwise(&self, level: &str) -> bool {
        let is_synonym = match self {
            GivenLevel::Text { text, .. } => SYNONYMS.iter().any(|names| {
                [text, level].iter().all(|level| names.iter().any(|name| name.eq_ignore_ascii_case(level)))
            }),
            GivenLevel::Like(_) => false,
        };
        !self.is_match(level) && (is_synonym || self.is_match_in_other_case(level))
    }
}

/// A level that was met.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level<'l> {
    /// Of an event that tells none.
    Default,
    Text(&'l str),
    Number(&'l str),
}

/// The levels that were met, as far as they matter to one that is sought.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// Other spellings of the one that is sought.
    pub(super) otherwise: BTreeSet<String>,
    /// Those that are texts.
    pub(super) texts: BTreeSet<String>,
    /// All, as the language writes them.
    pub(super) all: BTreeSet<String>,
}

impl Levels {
    /// Takes in a level. True if it is the one that is sought.
    pub(super) fn meet(&mut self, given: &GivenLevel, level: Level<'_>) -> bool {
        let text = match level {
            Level::Default => crate::expr::DEFAULT_LEVEL,
            Level::Text(text) => text,
            Level::Number(number) => {
                if self.all.len() < LEVELS_MAX {
                    self.all.insert(number.to_owned());
                }
                return false;
            }
        };
        if given.is_match(text) {
            return true;
        }
        if self.otherwise.len() < LEVELS_MAX && given.is_spelt_otherwise(text) {
            self.otherwise.insert(text.to_owned());
        }
        if self.all.len() < LEVELS_MAX && !self.texts.contains(text) {
            self.texts.insert(text.to_owned());
            self.all.insert(quoted(text));
        }
        false
    }
}

/// The names that loggers have for one level. Only whole names: `DEBUG1` and `P10` are others than `DEBUG` and `P1`.
const SYNONYMS: [&[&str]; 6] = [
    &["verbose", "verb", "vrb", "trace", "trc"],
    &["debug", "dbg", "dbug"],
    &["information", "info", "inf"],
    &["warning", "warn", "wrn"],
    &["error", "err", "eror"],
    &["fatal", "ftl", "critical", "crit"],
];

/// Most levels of one set that are watched for.
pub(super) const LEVELS_MAX: usize = 20;

/// The levels of CLEF.
pub(super) const CLEF_LEVELS: [&str; 6] = ["Verbose", "Debug", "Information", "Warning", "Error", "Fatal"];
