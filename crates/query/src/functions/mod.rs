//! The functions: their names, what they take, and what they do.

mod collection;
mod number;
mod text;
mod time;

use crate::value::{Kind, Text, Value};

/// A function of the language.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// The fewest arguments, and the most.
    pub(crate) least: usize,
    pub(crate) most: usize,
    pub(crate) takes_ci: bool,
    /// An undefined argument that is not optional makes the call undefined.
    pub(crate) is_strict: bool,
    /// Equal arguments give equal answers, at any time.
    pub(crate) is_pure: bool,
    /// Of what kind its value is, where it has one; none if that depends.
    pub(crate) gives: Option<Kind>,
    pub(crate) body: Body,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub(crate) type Body = for<'a> fn(&Call<'_, 'a>) -> Value<'a>;

pub(crate) struct Call<'s, 'a> {
    pub(crate) arguments: &'s [Value<'a>],
    pub(crate) ci: bool,
    pub(crate) now: u64,
}

impl<'s, 'a> Call<'s, 'a> {
    /// An argument; one that is left out is undefined.
    pub(crate) fn argument(&self, index: usize) -> &'s Value<'a> {
        self.arguments.get(index).unwrap_or(&Value::Undefined)
    }

    pub(crate) fn text(&self, index: usize) -> Option<&'s Text<'a>> {
        match self.argument(index) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn decimal(&self, index: usize) -> Option<rust_decimal::Decimal> {
        match self.argument(index) {
            Value::Number(number) => number.decimal(),
            _ => None,
        }
    }

    /// A whole number.
    pub(crate) fn integer(&self, index: usize) -> Option<i64> {
        self.decimal(index)
            .filter(|decimal| decimal.is_integer())
            .and_then(|decimal| i64::try_from(decimal).ok())
    }

    /// A whole number, `default` where the argument is left out.
    pub(crate) fn integer_or(&self, index: usize, default: i64) -> Option<i64> {
        if self.argument(index).is_undefined() { Some(default) } else { self.integer(index) }
    }
}

const fn function(
    name: &'static str,
    least: usize,
    most: usize,
    gives: Option<Kind>,
    body: Body,
) -> Function {
    Function { name, least, most, takes_ci: false, is_strict: true, is_pure: true, gives, body }
}

const TRUTH: Option<Kind> = Some(Kind::Boolean);
const NUMBER: Option<Kind> = Some(Kind::Number);
const TEXT: Option<Kind> = Some(Kind::String);
const LIST: Option<Kind> = Some(Kind::Array);

const fn with_ci(function: Function) -> Function {
    Function { takes_ci: true, ..function }
}

const fn lenient(function: Function) -> Function {
    Function { is_strict: false, ..function }
}

/// Functions whose work is not done by a body: the planner makes expressions of their own from them.
fn planned<'a>(_: &Call<'_, 'a>) -> Value<'a> {
    Value::Undefined
}

static FUNCTIONS: [Function; 38] = [
    lenient(function("Coalesce", 0, usize::MAX, None, planned)),
    function("Concat", 1, usize::MAX, TEXT, planned),
    with_ci(function("Contains", 2, 2, TRUTH, text::contains)),
    function("DatePart", 2, 3, NUMBER, time::date_part),
    function("DateTime", 1, 1, NUMBER, time::date_time),
    with_ci(function("ElementAt", 2, 2, None, collection::element_at)),
    with_ci(function("EndsWith", 2, 2, TRUTH, text::ends_with)),
    function("Every", 2, 2, TRUTH, planned),
    function("FromJson", 1, 1, None, collection::from_json),
    lenient(function("Has", 1, 1, TRUTH, collection::has)),
    with_ci(function("IndexOf", 2, 2, NUMBER, text::index_of)),
    with_ci(function("IndexOfMatch", 2, 2, NUMBER, planned)),
    with_ci(function("IsMatch", 2, 2, TRUTH, planned)),
    function("Keys", 1, 1, LIST, collection::keys),
    with_ci(function("LastIndexOf", 2, 2, NUMBER, text::last_index_of)),
    function("Length", 1, 1, NUMBER, collection::length),
    with_ci(function("match", 2, 2, TRUTH, planned)),
    Function { is_pure: false, ..function("Now", 0, 0, NUMBER, time::now) },
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
pub(crate) fn named(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name))
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}
