//! Functions of strings. Positions and lengths count Unicode scalars.

use super::call::Call;
use crate::value::{Object, Text, VALUE_BYTES_MAX, Value, lower, upper};
use memchr::memmem;
use rust_decimal::Decimal;
use std::borrow::Cow;

/// The string to search in and the one to search for, both upper-cased if the call has `ci`.
///
/// The mapping is one to one, so positions counted in scalars stay what they are.
fn operands<'s>(call: &Call<'s, '_>) -> Option<(Cow<'s, str>, Cow<'s, str>)> {
    let fold = |text: &'s Text<'_>| {
        if call.ci { Cow::Owned(text.text().chars().map(upper).collect()) } else { text.text() }
    };
    Some((fold(call.text(0)?), fold(call.text(1)?)))
}

pub(super) fn contains<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(
        operands(call).map(|(text, part)| memmem::find(text.as_bytes(), part.as_bytes()).is_some()),
    )
}

/// Whether a string has the text that is searched for in it, at whatever depth of the event; of a key that comes twice each value counts.
/// The planner puts the event before the text.
pub(super) fn has_text<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let part = call.text(1).map(Text::text);
    Value::from_option(part.map(|part| any_string_has(call.argument(0).clone(), &part, call.ci)))
}

/// Whether a value is a string with a text in it, or has one inside.
fn any_string_has(value: Value<'_>, part: &str, ci: bool) -> bool {
    match ci {
        true => {
            let part: String = part.chars().map(upper).collect();
            let finder = memmem::Finder::new(part.as_bytes());
            any_string(value, |text| {
                let text: String = text.text().chars().map(upper).collect();
                finder.find(text.as_bytes()).is_some()
            })
        }
        false => {
            let finder = memmem::Finder::new(part.as_bytes());
            any_string(value, |text| finder.find(text.text().as_bytes()).is_some())
        }
    }
}

/// Whether a value is a string that is so, or has one inside.
pub(crate) fn any_string(value: Value<'_>, is_so: impl Fn(&Text<'_>) -> bool) -> bool {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match &value {
            Value::Text(text) => {
                if is_so(text) {
                    return true;
                }
            }
            Value::Array(array) => waiting.extend(array.iter()),
            Value::Object(Object::Stored(map)) => {
                waiting.extend(map.entries().map(|(_, value)| Value::stored(value)));
            }
            Value::Object(object) => waiting.extend(object.iter().map(|(_, value)| value)),
            Value::Undefined | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    false
}

pub(super) fn starts_with<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(operands(call).map(|(text, part)| text.starts_with(&*part)))
}

pub(super) fn ends_with<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(operands(call).map(|(text, part)| text.ends_with(&*part)))
}

pub(super) fn index_of<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(
        operands(call).map(|(text, part)| position(&text, memmem::find(text.as_bytes(), part.as_bytes()))),
    )
}

pub(super) fn last_index_of<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(
        operands(call).map(|(text, part)| position(&text, memmem::rfind(text.as_bytes(), part.as_bytes()))),
    )
}

/// A byte position as a count of scalars, -1 for none.
fn position(text: &str, at: Option<usize>) -> Decimal {
    match at.and_then(|at| text.get(..at)) {
        Some(before) => Decimal::from(before.chars().count()),
        None => Decimal::NEGATIVE_ONE,
    }
}

/// `Replace(text, part, replacement)`; an empty part is nowhere.
pub(super) fn replace<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let (Some(original), Some(part), Some(with)) = (call.text(0), call.text(1), call.text(2)) else {
        return Value::Undefined;
    };
    let (Some((searched, part_folded)), text, with) = (operands(call), original.text(), with.text()) else {
        return Value::Undefined;
    };
    if part.text().is_empty() {
        return Value::Text(original.clone());
    }
    let mut out = String::with_capacity(text.len());
    // The folded text may differ in bytes from the original, but not in scalars.
    let (mut at, mut rest) = (0, &*text);
    for found in memmem::find_iter(searched.as_bytes(), part_folded.as_bytes()) {
        let before = searched.get(at..found).unwrap_or_default();
        let (kept, after) = rest.split_at(bytes_of(rest, before.chars().count()));
        out.push_str(kept);
        out.push_str(&with);
        rest = &after[bytes_of(after, part_folded.chars().count())..];
        at = found + part_folded.len();
        if out.len() > VALUE_BYTES_MAX {
            // Longer than any value may be: the caller's limit finds that.
            break;
        }
    }
    out.push_str(rest);
    Value::from(out)
}

/// How many bytes the first `count` scalars take.
fn bytes_of(text: &str, count: usize) -> usize {
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}

/// `Substring(text, start [, length])`: undefined where it starts beyond the end.
pub(super) fn substring<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let (Some(text), Some(start), Some(length)) =
        (call.text(0), call.integer(1), call.count_or(2, usize::MAX))
    else {
        return Value::Undefined;
    };
    let Ok(start) = usize::try_from(start) else {
        return Value::Undefined;
    };
    let text = text.text();
    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let Some(from) = ends.nth(start) else {
        return Value::Undefined;
    };
    let to = match length {
        0 => from,
        length => ends.nth(length - 1).unwrap_or(text.len()),
    };
    Value::from_option(text.get(from..to).map(str::to_owned))
}

pub(super) fn to_upper<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(call.text(0).map(|text| text.text().chars().map(upper).collect::<String>()))
}

pub(super) fn to_lower<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(call.text(0).map(|text| text.text().chars().map(lower).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn call<'a>(function: fn(&Call<'_, 'a>) -> Value<'a>, arguments: &[Value<'a>], ci: bool) -> String {
        let made = function(&Call { arguments, ci, now: 0, too_large: Cell::new(false) });
        crate::value::json(&made).map_or_else(String::new, |json| String::from_utf8(json).unwrap())
    }

    proptest! {
        #[test]
        fn strings_are_searched_and_replaced_as_the_standard_library_does(
            text in "[aäßſ]{0,8}", part in "[aäßſ]{0,2}", with in "[x]{0,2}",
        ) {
            let arguments = [text.as_str(), &part, &with].map(Value::from);
            let replaced = if part.is_empty() { text.clone() } else { text.replace(&part, &with) };
            prop_assert_eq!(call(replace, &arguments, false), format!("\"{replaced}\""));
            let index = |at: Option<usize>| at.map_or(-1, |at| text[..at].chars().count() as i64).to_string();
            prop_assert_eq!(call(index_of, &arguments[..2], false), index(text.find(&part)));
            prop_assert_eq!(call(last_index_of, &arguments[..2], false), index(text.rfind(&part)));
            prop_assert_eq!(call(contains, &arguments[..2], false), text.contains(&part).to_string());
        }

        #[test]
        fn what_is_replaced_without_regard_to_case_is_found_so(text in "[aAäÄßſsS]{0,8}", part in "[aAäÄßſsS]{1,2}") {
            let arguments = [text.as_str(), &part, ""].map(Value::from);
            let left = call(replace, &arguments, true);
            let was_there = call(contains, &arguments[..2], true) == "true";
            prop_assert_eq!(left.chars().count() - 2 < text.chars().count(), was_there);
            let count = (text.chars().count() + 2 - left.chars().count()) % part.chars().count();
            prop_assert_eq!(count, 0, "whole parts are taken out");
        }

        #[test]
        fn a_part_begins_and_ends_where_it_is_asked_to(text in "[aä€😀]{0,6}", start in 0usize..8, length in 0usize..8) {
            let arguments = [Value::from(text.as_str()), Value::from(start), Value::from(length)];
            let characters: Vec<char> = text.chars().collect();
            let expected = characters.get(start..).map_or_else(String::new, |rest| {
                format!("\"{}\"", rest.iter().take(length).collect::<String>())
            });
            prop_assert_eq!(call(substring, &arguments, false), expected);
        }
    }
}
