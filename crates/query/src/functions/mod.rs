//! The functions: their names, what they take, and what they do.

mod call;
mod collection;
mod foreign;
mod number;
mod text;
mod time;

use crate::value::{Kind, Value};
use call::Body;
pub(crate) use call::{Call, ScalarFunction};
pub(crate) use collection::{JsonReader, read_json};
pub(crate) use foreign::advice;
pub(crate) use text::any_string;
pub(crate) use time::offset_of;

const fn function(
    name: &'static str,
    least: usize,
    most: usize,
    gives: Option<Kind>,
    body: Body,
) -> ScalarFunction {
    ScalarFunction { name, least, most, takes_ci: false, is_strict: true, is_pure: true, gives, body }
}

const TRUTH: Option<Kind> = Some(Kind::Boolean);
const NUMBER: Option<Kind> = Some(Kind::Number);
const TEXT: Option<Kind> = Some(Kind::String);
const LIST: Option<Kind> = Some(Kind::Array);

const fn with_ci(function: ScalarFunction) -> ScalarFunction {
    ScalarFunction { takes_ci: true, ..function }
}

const fn lenient(function: ScalarFunction) -> ScalarFunction {
    ScalarFunction { is_strict: false, ..function }
}

/// Functions whose work is not done by a body: the planner makes expressions of their own from them.
fn planned<'a>(_: &Call<'_, 'a>) -> Value<'a> {
    Value::Undefined
}

/// What reads a string as JSON.
pub(crate) const FROM_JSON: &str = "FromJson";

static FUNCTIONS: [ScalarFunction; 39] = [
    lenient(function("Coalesce", 0, usize::MAX, None, planned)),
    function("Concat", 1, usize::MAX, TEXT, planned),
    with_ci(function("Contains", 2, 2, TRUTH, text::contains)),
    function("DatePart", 2, 3, NUMBER, time::date_part),
    function("DateTime", 1, 1, NUMBER, time::date_time),
    with_ci(function("ElementAt", 2, 2, None, collection::element_at)),
    with_ci(function("EndsWith", 2, 2, TRUTH, text::ends_with)),
    function("Every", 2, 2, TRUTH, planned),
    function(FROM_JSON, 1, 1, None, collection::from_json),
    lenient(function("Has", 1, 1, TRUTH, collection::has)),
    with_ci(function("HasText", 1, 1, TRUTH, text::has_text)),
    with_ci(function("IndexOf", 2, 2, NUMBER, text::index_of)),
    with_ci(function("IndexOfMatch", 2, 2, NUMBER, planned)),
    with_ci(function("IsMatch", 2, 2, TRUTH, planned)),
    function("Keys", 1, 1, LIST, collection::keys),
    with_ci(function("LastIndexOf", 2, 2, NUMBER, text::last_index_of)),
    function("Length", 1, 1, NUMBER, collection::length),
    with_ci(function("match", 2, 2, TRUTH, planned)),
    ScalarFunction { is_pure: false, ..function("Now", 0, 0, NUMBER, time::now) },
    function("OffsetIn", 2, 2, NUMBER, time::offset_in),
    with_ci(function("Replace", 3, 3, TEXT, text::replace)),
    function("Round", 1, 2, NUMBER, number::round),
    function("Some", 2, 2, TRUTH, planned),
    with_ci(function("StartsWith", 2, 2, TRUTH, text::starts_with)),
    function("Substring", 2, 3, TEXT, text::substring),
    function("TimeOfDay", 1, 2, NUMBER, time::time_of_day),
    function("TimeSpan", 1, 1, NUMBER, time::time_span),
    function("ToHexString", 1, 1, TEXT, number::to_hex_string),
    function("ToIsoString", 1, 2, TEXT, time::to_iso_string),
    function("ToJson", 1, 1, TEXT, collection::to_json),
    function("ToLower", 1, 1, TEXT, text::to_lower),
    function("ToNumber", 1, 1, NUMBER, number::to_number),
    function("ToString", 1, 1, TEXT, number::to_string),
    function("TotalMilliseconds", 1, 1, NUMBER, time::total_milliseconds),
    function("ToTimeString", 1, 1, TEXT, time::to_time_string),
    function("ToUpper", 1, 1, TEXT, text::to_upper),
    lenient(function("TypeOf", 1, 1, TEXT, collection::type_of)),
    lenient(function("Undefined", 0, 0, Some(Kind::Undefined), collection::undefined)),
    function("Values", 1, 1, LIST, collection::values),
];

/// The function called `name`, in any case.
pub(crate) fn named(name: &str) -> Option<&'static ScalarFunction> {
    FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name))
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_any_case_is_one_functions() {
        let mut lower: Vec<String> = names().map(str::to_ascii_lowercase).collect();
        lower.sort_unstable();
        assert!(lower.windows(2).all(|pair| pair[0] != pair[1]), "{lower:?}");
        for name in names() {
            assert_eq!(named(&name.to_ascii_uppercase()).map(|function| function.name), Some(name));
            assert!(advice(name).is_none(), "{name} is a function here");
        }
    }
}
