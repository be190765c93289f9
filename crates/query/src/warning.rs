//! Warnings about probable mistakes in a query.

use crate::value::{Kind, PLACES_MAX};
use rust_decimal::Decimal;
use std::fmt;

const TICKS_PER_MILLISECOND: u32 = 10_000;

/// A warning that the result of a query may be misleading, because of a probable mistake in the query. Warnings never change the result.
///
/// `Display` writes one line, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// No event that the query has read has the key.
    UnknownKey {
        /// The key, or the dotted path, as the language writes it.
        key: String,
        /// A similarly spelt key that some events have, what was probably meant where the name stands, or the built-in that other systems call
        /// by this name.
        near: Option<String>,
    },
    /// Events have the key, but no value is of the kind that it is compared with, so the comparison is undefined or the same for every event.
    NeverCompared {
        /// The key as the language writes it.
        key: String,
        /// The operator, such as `>`, `like` or `in`.
        operator: &'static str,
        /// The kind of the other operand.
        with: Compared,
        /// The kind of all values, if they are of one kind.
        only: Option<Kind>,
    },
    /// A key is compared with a number in quotes. Some events have numbers there, and no event such a string.
    NumberInQuotes {
        /// The key as the language writes it.
        key: String,
        /// The string.
        text: String,
    },
    /// An aggregate of numbers found only strings; or an aggregate that ranks values found only strings that look like numbers.
    NumbersInText {
        /// The aggregate, such as `sum(Elapsed)`.
        aggregate: String,
        /// Its argument, a key as the language writes it.
        key: String,
        /// Whether it ranks the strings rather than ignoring them.
        ranks: bool,
    },
    /// Events have a key with hyphens, which the query reads as a subtraction.
    Hyphens {
        /// The key.
        key: String,
    },
    /// A duration, which is a number of ticks, is compared with a key whose values may have another unit.
    DurationForNumber {
        /// The duration as written in the query.
        text: String,
        /// The duration in ticks of 100 nanoseconds.
        ticks: Decimal,
        /// The key as written in the query.
        key: String,
    },
    /// No event has this level, but some have it in another case.
    LevelCase {
        /// The level as written in the query.
        given: String,
        /// The level as written in an event.
        stored: String,
    },
    /// No event has this level; events have levels of other names.
    UnknownLevel {
        /// The level or pattern as written in the query.
        given: String,
        /// Levels that events have, as the language writes them, sorted, at most 20.
        levels: Vec<String>,
    },
    /// Percentiles range from 0 to 100, and this one lies between 0 and 1.
    SmallPercentile {
        /// The aggregate as written in the query.
        aggregate: String,
        /// The percentile that was probably meant.
        meant: String,
    },
    /// An instant is compared with a text that is not a time, which is undefined.
    NoInstant {
        /// The text.
        text: String,
    },
    /// An instant is compared with a number that is written like a date.
    NumberForDate {
        /// The number as written in the query.
        text: String,
    },
    /// An aggregate is undefined because it found numbers with too many digits.
    TooManyDigits {
        /// The aggregate, such as `sum(Elapsed)`.
        aggregate: String,
        /// The number of such numbers.
        count: u64,
    },
    /// Arithmetic was undefined because a result is too large for a decimal, or an operand has digits too far from the decimal point.
    Overflow {
        /// Approximately how often. A result that is computed once for many events with the same value is counted once, and one that is
        /// computed more than once may be counted more than once.
        count: u64,
    },
}

/// The kind of value that a key is compared with.
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
            Warning::NeverCompared { key, operator, with, only } => {
                never_compared(f, key, operator, *with, *only)
            }
            Warning::NumberInQuotes { key, text } => write!(
                f,
                "no `{key}` is the string '{text}' or another number in quotes, but some are numbers; write {text} without quotes"
            ),
            Warning::NumbersInText { aggregate, key, ranks } => {
                let what = match ranks {
                    true => format!(
                        "ranks texts, in which '10' comes before '9': every `{key}` is a number in text"
                    ),
                    false => format!("passes over texts, and no value of `{key}` is a number"),
                };
                let meant = aggregate.replacen(&format!("({key}"), &format!("(ToNumber({key})"), 1);
                write!(f, "`{aggregate}` {what}; `{meant}` reads numbers in text")
            }
            Warning::Hyphens { key } => {
                write!(
                    f,
                    "`{key}` was read as a subtraction; for the key of this name write `@Properties['{key}']`"
                )
            }
            Warning::DurationForNumber { text, ticks, key } => {
                let milliseconds = (*ticks / Decimal::from(TICKS_PER_MILLISECOND)).normalize();
                write!(
                    f,
                    "`{key}` is compared with {text}, which is {ticks} ticks of 100 nanoseconds; \
                     if `{key}` is in milliseconds, write {milliseconds}"
                )
            }
            Warning::LevelCase { given, stored } => write!(
                f,
                "no event has the level '{given}', but some have '{stored}'; write that, or `ci` after the comparison"
            ),
            Warning::UnknownLevel { given, levels } => {
                write!(
                    f,
                    "no event that was read has the level '{given}'; their levels are {}",
                    levels.join(", ")
                )
            }
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
                "arithmetic is undefined where a result is larger than a decimal, or an operand has digits more than {PLACES_MAX} places \
                 from the point (at least {})",
                if *count == 1 { "once".to_owned() } else { format!("{count} times") }
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

fn never_compared(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    operator: &str,
    with: Compared,
    only: Option<Kind>,
) -> fmt::Result {
    let always = match operator {
        "=" | "in" => "false",
        "<>" | "not in" => "true",
        _ => "undefined",
    };
    let (with, remedy) = match with {
        Compared::Number if key == "@Level" => {
            ("number", "levels are compared as strings, as in `@Level in ['Error', 'Fatal']`".to_owned())
        }
        Compared::Number => ("number", format!("`ToNumber({key})` reads numbers in text")),
        Compared::Text => {
            ("string", format!("compare it with a number, or `ToString({key})` with the string"))
        }
    };
    let remedy = match only {
        Some(Kind::Boolean) => format!("its values are Booleans: write `{key} = true`"),
        Some(Kind::Array) => format!("its values are arrays: write `{key}[?]` for any of their elements"),
        Some(Kind::Object) => format!("its values are objects: name a key in them, as in `{key}.Name`"),
        _ => remedy,
    };
    write!(
        f,
        "`{key}` is never a {with}, so `{key}` {operator} a {with} is {always} for every event; {remedy}"
    )
}
