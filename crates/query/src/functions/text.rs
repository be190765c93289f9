//! Functions of strings. Positions and lengths count Unicode scalars.

use super::call::Call;
use crate::value::{Text, VALUE_BYTES_MAX, Value, upper};
use icu_casemap::CaseMapper;
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
        (call.text(0), call.integer(1), call.integer_or(2, i64::MAX))
    else {
        return Value::Undefined;
    };
    let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(length)) else {
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
    let lower = |character: char| const { CaseMapper::new() }.simple_lowercase(character);
    Value::from_option(call.text(0).map(|text| text.text().chars().map(lower).collect::<String>()))
}
