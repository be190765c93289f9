//! What a function is, and what it is called with.

use crate::value::{Kind, Text, TooLarge, Value};
use rust_decimal::Decimal;
use std::cell::Cell;

/// A function of the language that makes a value of values; aggregates are another thing.
pub(crate) struct ScalarFunction {
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

impl std::fmt::Debug for ScalarFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub(crate) type Body = for<'a> fn(&Call<'_, 'a>) -> Value<'a>;

pub(crate) struct Call<'s, 'a> {
    pub(crate) arguments: &'s [Value<'a>],
    pub(crate) ci: bool,
    pub(crate) now: u64,
    /// Whether the answer is undefined for being too large.
    pub(crate) too_large: Cell<bool>,
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

    pub(crate) fn decimal(&self, index: usize) -> Option<Decimal> {
        match self.argument(index) {
            Value::Number(number) => number.decimal(),
            _ => None,
        }
    }

    /// The answer; undefined where it is too large, which is noted.
    pub(crate) fn computed(&self, number: Result<Decimal, TooLarge>) -> Value<'a> {
        self.too_large.set(number.is_err());
        Value::from_option(number.ok())
    }

    /// A whole number.
    pub(crate) fn integer(&self, index: usize) -> Option<i64> {
        self.decimal(index)
            .filter(|decimal| decimal.is_integer())
            .and_then(|decimal| i64::try_from(decimal).ok())
    }

    /// A whole number that is not negative, `default` where the argument is left out; the largest `usize` for what is larger.
    pub(crate) fn count_or(&self, index: usize, default: usize) -> Option<usize> {
        if self.argument(index).is_undefined() {
            return Some(default);
        }
        let number = self.decimal(index).filter(|number| number.is_integer() && *number >= Decimal::ZERO)?;
        Some(usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// A whole number, `default` where the argument is left out.
    pub(crate) fn integer_or(&self, index: usize, default: i64) -> Option<i64> {
        if self.argument(index).is_undefined() { Some(default) } else { self.integer(index) }
    }
}
