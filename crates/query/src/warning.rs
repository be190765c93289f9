//! Warnings: what may mislead about an answer.

use crate::value::PLACES_MAX;
use std::fmt;

/// Something about a query, or about the events that it read, that its answer may mislead about. An answer never changes by it.
///
/// `Display` writes one line, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// No event that was looked at has the key.
    UnknownKey {
        /// The key, or the dotted path, as the language writes it.
        key: String,
        /// A key that some events have and that is spelt nearly so, or the built-in that is called so elsewhere.
        near: Option<String>,
    },
    /// Events have the key, but of none of them the value is of the kind that it is compared with: that was undefined for each, or the same.
    NeverCompared {
        /// The key as the language writes it.
        key: String,
        /// What it was compared by, as in `>`, `like` or `in`.
        operator: &'static str,
        /// What it was compared with.
        with: Compared,
    },
    /// No event has this level, but some have it in another case.
    LevelCase {
        /// As the query has it.
        given: String,
        /// As an event has it.
        stored: String,
    },
    /// Percentiles are told in hundredths, and this one lies between 0 and 1.
    SmallPercentile {
        /// The aggregate as it was written.
        aggregate: String,
        /// What was probably meant.
        meant: String,
    },
    /// An instant is compared with a text that tells none, which is undefined.
    NoInstant {
        /// The text.
        text: String,
    },
    /// An instant is compared with a number that is written like a date.
    NumberForDate {
        /// The number as the query has it.
        text: String,
    },
    /// An aggregate met numbers of too many digits, and is undefined there.
    TooManyDigits {
        /// The aggregate, as in `sum(Elapsed)`.
        aggregate: String,
        /// How many such numbers.
        count: u64,
    },
    /// Arithmetic is undefined where its result is larger than a decimal.
    Overflow {
        /// How many such results. One that was asked for more than once may have been counted more than once.
        count: u64,
    },
}

/// What a key's values were compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compared {
    /// A number.
    Number,
    /// A text, or a pattern.
    Text,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::UnknownKey { key, near: Some(near) } => {
                write!(f, "no event that was read has a key `{key}`; did you mean `{near}`?")
            }
            Warning::UnknownKey { key, near: None } => {
                write!(f, "no event that was read has a key `{key}`; names of keys are case-sensitive")
            }
            Warning::NeverCompared { key, operator, with } => {
                let always = match *operator {
                    "=" | "in" => "false",
                    "<>" | "not in" => "true",
                    _ => "undefined",
                };
                match with {
                    Compared::Number => write!(
                        f,
                        "`{key}` {operator} a number is {always} for every event: no value of `{key}` is a number; \
                         `ToNumber({key})` reads numbers in text"
                    ),
                    Compared::Text => write!(
                        f,
                        "`{key}` {operator} a text is {always} for every event: no value of `{key}` is a text; \
                         compare it with a number, or `ToString({key})` with the text"
                    ),
                }
            }
            Warning::LevelCase { given, stored } => write!(
                f,
                "no event has the level '{given}', but some have '{stored}'; write that, or `ci` after the comparison"
            ),
            Warning::SmallPercentile { aggregate, meant } => {
                write!(
                    f,
                    "`{aggregate}` is not what it may look like: percentiles go from 0 to 100; did you mean {meant}?"
                )
            }
            Warning::TooManyDigits { aggregate, count } => write!(
                f,
                "`{aggregate}` is undefined where it met a number with digits more than {PLACES_MAX} places from the point ({count} in all)"
            ),
            Warning::Overflow { count } => write!(
                f,
                "arithmetic is undefined where its result is larger than a decimal ({count} in all)"
            ),
            Warning::NumberForDate { text } => write!(
                f,
                "an instant is compared with {text}, which is a number of ticks; a date is written in quotes, as in '2024-05-29'"
            ),
            Warning::NoInstant { text } => write!(
                f,
                "an instant is compared with '{text}', which is not an ISO 8601 date or time, so the comparison is undefined; \
                 write it as in '2024-05-29T10:56:01Z'"
            ),
        }
    }
}
