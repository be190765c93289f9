//! Warnings about probable mistakes in a query.

use crate::calendar::TICKS_PER_MILLISECOND;
use crate::expr::quoted;
use crate::time::UNIX_EPOCH;
use crate::value::{Kind, PLACES_MAX};
use rust_decimal::Decimal;
use std::fmt;

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
    /// No event that the query has read has what a built-in is stored under.
    UnknownBuiltIn {
        /// The built-in, such as `@TraceId`.
        built_in: String,
        /// The keys of an event that it is told by, such as `@tr`.
        keys: Vec<String>,
        /// The key under which the events probably have it.
        near: Option<String>,
    },
    /// Events have the key, but no value is of the kind that it is compared with, so the comparison is undefined or the same for every event.
    NeverCompared {
        /// The key as the language writes it.
        key: String,
        /// The operator, such as `>`, `like` or `in`, or a function such as `Contains`.
        operator: &'static str,
        /// The kind of the other operand.
        with: Compared,
        /// The kind of all values, if they are of one kind.
        only: Option<Kind>,
    },
    /// Two keys are compared with each other, and their values are never of one kind, so the comparison is undefined or the same for every event.
    NeverAlike {
        /// The keys as the language writes them.
        keys: [String; 2],
        /// The operator, such as `>`.
        operator: &'static str,
        /// Whether each has strings.
        is_text: [bool; 2],
    },
    /// A path leads into the values of a key, and none of them has anything within, so the path is undefined for every event.
    NeverObject {
        /// The path as the language writes it.
        path: String,
        /// The key as the language writes it.
        key: String,
        /// The kind of all values, if they are of one kind.
        only: Option<Kind>,
    },
    /// Arithmetic is undefined for every event, because no value of a key in it is a number.
    NeverNumber {
        /// The arithmetic as the language writes it.
        expression: String,
        /// The key as the language writes it.
        key: String,
        /// The kind of all values, if they are of one kind.
        only: Option<Kind>,
        /// Whether the values are added or subtracted, as times are.
        may_be_time: bool,
        /// What joins the texts, if a text is added to the key.
        joined: Option<String>,
    },
    /// A key is compared with a number in quotes. Some events have numbers there, and no event such a string.
    NumberInQuotes {
        /// The key as the language writes it.
        key: String,
        /// The string.
        text: String,
    },
    /// An aggregate of numbers found only strings; or an aggregate that ranks values found mostly strings that look like numbers.
    NumbersInText {
        /// The aggregate, such as `sum(Elapsed)`.
        aggregate: String,
        /// Its argument, a key as the language writes it.
        key: String,
        /// Whether it ranks the strings rather than ignoring them.
        ranks: bool,
    },
    /// An aggregate of numbers found none, and values of another kind that is no text.
    NeverAggregated {
        /// The aggregate, such as `sum(Elapsed)`.
        aggregate: String,
        /// Its argument, a key as the language writes it.
        key: String,
        /// The kind of all values.
        only: Kind,
    },
    /// Rows are sorted by numbers in text.
    OrderOfText {
        /// The key as the language writes it.
        key: String,
    },
    /// Events have a key with hyphens or slashes, which the query reads as arithmetic.
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
    /// No value of a key is this text, but some are the same in another case, or another name for the same level.
    ValueSpelling {
        /// The key as the language writes it.
        key: String,
        /// The text as written in the query.
        given: String,
        /// What events have instead, sorted.
        stored: Vec<String>,
        /// Whether they differ in nothing but the case of letters.
        in_other_case: bool,
    },
    /// Some events have this level, and some have it in another spelling.
    OtherSpellings {
        /// The level as written in the query.
        given: String,
        /// The other spellings, sorted.
        others: Vec<String>,
        /// The condition that all of them meet.
        condition: String,
    },
    /// A level is compared, and no event has one, so each has the usual one.
    NoLevels,
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
    /// A part of the query is valid, and means something else than the same text does in other languages.
    Habit {
        /// The part as written in the query.
        text: String,
        /// What it means.
        meaning: String,
        /// What to write instead.
        remedy: String,
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
    /// An instant, which is a number of ticks, is compared with a key whose values are all Unix times.
    UnixTime {
        /// The key as the language writes it.
        key: String,
        /// What the values count.
        unit: UnixUnit,
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

/// What a Unix time counts since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnixUnit {
    /// Seconds, whole or not.
    Seconds,
    /// Thousandths of them.
    Milliseconds,
    /// Millionths.
    Microseconds,
    /// Billionths.
    Nanoseconds,
}

impl UnixUnit {
    /// The unit in which numbers from the first to the second are Unix times. HEURISTIC: of the years from 2001 to 2096; a number of
    /// ticks is an instant of its own.
    pub(crate) fn of((least, greatest): (f64, f64)) -> Option<UnixUnit> {
        let units = [
            (UnixUnit::Seconds, 1.0),
            (UnixUnit::Milliseconds, 1e3),
            (UnixUnit::Microseconds, 1e6),
            (UnixUnit::Nanoseconds, 1e9),
        ];
        let is_within = |per_second: f64| least >= 1e9 * per_second && greatest < 4e9 * per_second;
        units.into_iter().find(|(_, per_second)| is_within(*per_second)).map(|(unit, _)| unit)
    }
}

/// The kind of value that a key is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compared {
    /// A number.
    Number,
    /// A number that may be an instant.
    Instant,
    /// A text, or a pattern.
    Text,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::UnknownKey { key, near } => unknown_key(f, key, near.as_deref()),
            Warning::UnknownBuiltIn { built_in, keys, near } => unknown_built_in(f, built_in, keys, near.as_deref()),
            Warning::NeverCompared { key, operator, with, only } => {
                never_compared(f, key, operator, *with, *only)
            }
            Warning::NeverAlike { keys, operator, is_text } => never_alike(f, keys, operator, *is_text),
            Warning::NeverObject { path, key, only } => never_object(f, path, key, *only),
            Warning::NeverNumber { expression, key, only, may_be_time, joined } => {
                never_number(f, expression, key, *only, *may_be_time, joined.as_deref())
            }
            Warning::NumberInQuotes { key, text } => write!(
                f,
                "no `{key}` is the string '{text}' or another number in quotes, but some are numbers; write {text} without quotes"
            ),
            Warning::NumbersInText { aggregate, key, ranks } => numbers_in_text(f, aggregate, key, *ranks),
            Warning::NeverAggregated { aggregate, key, only } => never_aggregated(f, aggregate, key, *only),
            Warning::OrderOfText { key } => write!(
                f,
                "rows are sorted by texts, in which '10' comes before '9', and `{key}` has numbers in text; select `ToNumber({key}) as x`, \
                 and `order by x`"
            ),
            Warning::Hyphens { key } => {
                write!(
                    f,
                    "`{key}` was read as arithmetic; for the key of this name write `@Properties['{key}']`"
                )
            }
            Warning::DurationForNumber { text, ticks, key } => duration_for_number(f, text, *ticks, key),
            Warning::LevelCase { given, stored } => write!(
                f,
                "no event has the level {}, but some have {}; write that, or `ci` after the comparison",
                quoted(given),
                quoted(stored)
            ),
            Warning::ValueSpelling { key, given, stored, in_other_case } => {
                value_spelling(f, key, given, stored, *in_other_case)
            }
            Warning::OtherSpellings { given, others, condition } => {
                other_spellings(f, given, others, condition)
            }
            Warning::NoLevels => f.write_str(
                "no event that was read has a level (`@l`), so `@Level` is 'Information' for each; compare the key that tells how bad an \
                 event is",
            ),
            Warning::UnknownLevel { given, levels } => unknown_level(f, given, levels),
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
            Warning::Habit { text, meaning, remedy } => write!(f, "`{text}` {meaning}; {remedy}"),
            Warning::UnixTime { key, unit } => unix_time(f, key, *unit),
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

fn unknown_key(f: &mut fmt::Formatter<'_>, key: &str, near: Option<&str>) -> fmt::Result {
    write!(f, "no event that was read has a key `{key}`; ")?;
    match near {
        Some(near) => write!(f, "did you mean `{near}`?"),
        None => f.write_str("names of keys are case-sensitive"),
    }
}

fn unknown_level(f: &mut fmt::Formatter<'_>, given: &str, levels: &[String]) -> fmt::Result {
    let (given, levels) = (quoted(given), levels.join(", "));
    write!(f, "no event that was read has the level {given}; their levels are {levels}")
}

fn unix_time(f: &mut fmt::Formatter<'_>, key: &str, unit: UnixUnit) -> fmt::Result {
    let (unit, ticks) = match unit {
        UnixUnit::Seconds => ("seconds", " * 10000000"),
        UnixUnit::Milliseconds => ("milliseconds", " * 10000"),
        UnixUnit::Microseconds => ("microseconds", " * 10"),
        UnixUnit::Nanoseconds => ("nanoseconds", " / 100"),
    };
    write!(
        f,
        "`{key}` is compared with an instant, which is a number of ticks, and its values look like Unix {unit}; \
         the instant is `{key}{ticks} + {UNIX_EPOCH}`"
    )
}

fn unknown_built_in(
    f: &mut fmt::Formatter<'_>,
    built_in: &str,
    keys: &[String],
    near: Option<&str>,
) -> fmt::Result {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    write!(f, "no event that was read has {}, so `{built_in}` is undefined for each", keys.join(" or "))?;
    match near {
        Some(near) => write!(f, "; did you mean `{near}`?"),
        None => Ok(()),
    }
}

fn value_spelling(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    given: &str,
    stored: &[String],
    in_other_case: bool,
) -> fmt::Result {
    let all = stored.iter().map(|text| quoted(text)).collect::<Vec<String>>().join(", ");
    write!(f, "no `{key}` is {}, but some are {all}; ", quoted(given))?;
    match stored.len() {
        1 => f.write_str("write that")?,
        _ => write!(f, "`{key} in [{all}]` has all of them")?,
    }
    if in_other_case { f.write_str(", or write `ci` after the comparison") } else { Ok(()) }
}

fn other_spellings(
    f: &mut fmt::Formatter<'_>,
    given: &str,
    others: &[String],
    condition: &str,
) -> fmt::Result {
    let given = quoted(given);
    let others = others.iter().map(|other| quoted(other)).collect::<Vec<String>>().join(", ");
    write!(f, "events have the level {given} as {others} too; `{condition}` has all of them")
}

fn never_object(f: &mut fmt::Formatter<'_>, path: &str, key: &str, only: Option<Kind>) -> fmt::Result {
    write!(f, "`{key}` is never an object or array, so `{path}` is undefined for every event; ")?;
    match (only, path.strip_prefix(key)) {
        (Some(Kind::String) | None, Some(rest)) if !rest.contains('?') => {
            write!(f, "if it holds JSON as text, `FromJson({key}){rest}` reads it")
        }
        (Some(kind), _) => f.write_str(values_are(kind)),
        (None, _) => write!(f, "compare `{key}` itself"),
    }
}

fn values_are(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "its values are Booleans",
        Kind::Number => "its values are numbers",
        Kind::Array => "its values are arrays",
        Kind::Object => "its values are objects: name a key in them",
        _ => "its values are texts",
    }
}

fn duration_for_number(f: &mut fmt::Formatter<'_>, text: &str, ticks: Decimal, key: &str) -> fmt::Result {
    let milliseconds = (ticks / Decimal::from(TICKS_PER_MILLISECOND)).normalize();
    write!(
        f,
        "`{key}` is compared with {text}, which is {ticks} ticks of 100 nanoseconds; \
         if `{key}` is in milliseconds, write {milliseconds}"
    )
}

fn never_alike(
    f: &mut fmt::Formatter<'_>,
    [left, right]: &[String; 2],
    operator: &str,
    is_text: [bool; 2],
) -> fmt::Result {
    let remedy = match is_text {
        [true, _] => format!("`ToNumber({left})` reads numbers in text"),
        [false, true] => format!("`ToNumber({right})` reads numbers in text"),
        [false, false] => format!("`TypeOf({left})` tells a kind"),
    };
    write!(
        f,
        "`{left}` and `{right}` are never of one kind, so `{left} {operator} {right}` is {}; {remedy}",
        match operator {
            // It is undefined for events that lack one of them.
            "=" => "never true",
            "<>" => "never false",
            _ => "undefined for every event",
        }
    )
}

fn never_number(
    f: &mut fmt::Formatter<'_>,
    expression: &str,
    key: &str,
    only: Option<Kind>,
    may_be_time: bool,
    joined: Option<&str>,
) -> fmt::Result {
    write!(f, "`{key}` is never a number, so `{expression}` is undefined for every event; ")?;
    if let Some(joined) = joined {
        return write!(f, "`{joined}` joins texts");
    }
    match only {
        Some(Kind::String) if may_be_time => {
            write!(f, "`ToNumber({key})` reads numbers in text, and `DateTime({key})` times")
        }
        Some(Kind::String) | None => write!(f, "`ToNumber({key})` reads numbers in text"),
        Some(kind) => f.write_str(values_are(kind)),
    }
}

fn numbers_in_text(f: &mut fmt::Formatter<'_>, aggregate: &str, key: &str, ranks: bool) -> fmt::Result {
    let what = match ranks {
        true => format!("ranks texts, in which '10' comes before '9', and `{key}` has numbers in text"),
        false => format!("passes over texts, and no value of `{key}` is a number"),
    };
    let meant = aggregate.replacen(&format!("({key}"), &format!("(ToNumber({key})"), 1);
    write!(f, "`{aggregate}` {what}; `{meant}` reads numbers in text")
}

fn never_aggregated(f: &mut fmt::Formatter<'_>, aggregate: &str, key: &str, only: Kind) -> fmt::Result {
    let values = values_are(only);
    write!(f, "no `{key}` is a number, so `{aggregate}` has nothing to take; {values}")?;
    match only {
        Kind::Array => write!(f, ": `from stream lateral unnest({key}) as x` gives a row for each element"),
        _ => Ok(()),
    }
}

/// What a comparison of values of different kinds is.
fn always(operator: &str) -> &'static str {
    match operator {
        "=" | "in" => "false",
        "<>" | "not in" => "true",
        _ => "undefined",
    }
}

fn never_compared(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    operator: &str,
    with: Compared,
    only: Option<Kind>,
) -> fmt::Result {
    let always = always(operator);
    let (with, remedy) = match with {
        Compared::Number | Compared::Instant if key == "@Level" => {
            ("number", "levels are compared as strings, as in `@Level in ['Error', 'Fatal']`".to_owned())
        }
        Compared::Number => ("number", format!("`ToNumber({key})` reads numbers in text")),
        Compared::Instant => {
            ("number", format!("`DateTime({key})` reads times in text, and `ToNumber({key})` numbers"))
        }
        Compared::Text => {
            ("string", format!("compare it with a number, or `ToString({key})` with the string"))
        }
    };
    let is_function = operator.starts_with(|first: char| first.is_ascii_uppercase());
    let remedy = match only {
        Some(Kind::Array) if operator == "Contains" => {
            format!("its values are arrays: write `'…' in {key}` for one of their elements")
        }
        _ if is_function => format!("`ToString({key})` makes a string of a number"),
        Some(Kind::Boolean) => format!("its values are Booleans: write `{key} = true` or `{key} = false`"),
        Some(Kind::Array) => format!("its values are arrays: write `{key}[?]` for any of their elements"),
        Some(Kind::Object) => format!("its values are objects: name a key in them, as in `{key}.Name`"),
        _ => remedy,
    };
    let compared = match is_function {
        true => format!("`{operator}({key}, …)`"),
        false => format!("`{key}` {operator} a {with}"),
    };
    write!(f, "`{key}` is never a {with}, so {compared} is {always} for every event; {remedy}")
}
