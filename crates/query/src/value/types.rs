//! What a value can be: a scalar, an array or an object, stored in a document or computed.

use super::kind::Kind;
use super::number::Number;
use super::text::Text;
use std::sync::Arc;
use tamias_json as stored;

/// The maximum size of one computed value, in bytes of JSON text.
pub const VALUE_BYTES_MAX: usize = 64 << 20;

/// The maximum depth to which values are walked. Stored documents nest at most 1024 levels; the argument of an aggregate, and an expression of
/// its result, can each add 256. Values below this depth are compared as text.
pub(crate) const DEPTH_MAX: usize = 1600;

#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Undefined,
    Null,
    Bool(bool),
    Number(Number<'a>),
    Text(Text<'a>),
    Array(Array<'a>),
    Object(Object<'a>),
}

#[derive(Clone, Debug)]
pub(crate) enum Array<'a> {
    Stored(stored::Array<'a>),
    Shared(Arc<SharedArray<'a>>),
}

/// The elements of a computed array.
#[derive(Debug)]
pub(crate) struct SharedArray<'a> {
    values: Vec<Value<'a>>,
    /// About how many bytes they take.
    weight: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Object<'a> {
    Stored(stored::Map<'a>),
    /// The user properties of a document: `@Properties`.
    Properties(stored::Map<'a>),
    Shared(Arc<SharedObject<'a>>),
}

/// The members of a computed object. Keys are unique.
#[derive(Debug)]
pub(crate) struct SharedObject<'a> {
    pub(super) pairs: Vec<(Text<'a>, Value<'a>)>,
    /// About how many bytes they take.
    pub(super) weight: usize,
}

impl<'a> Value<'a> {
    pub(crate) fn stored(value: stored::Value<'a>) -> Value<'a> {
        match value {
            stored::Value::Null => Value::Null,
            stored::Value::Bool(bool) => Value::Bool(bool),
            stored::Value::Number(number) => Value::Number(Number::Stored(number.text())),
            stored::Value::String(text) => Value::Text(Text::Stored(text)),
            stored::Value::Array(array) => Value::Array(Array::Stored(array)),
            stored::Value::Map(map) => Value::Object(Object::Stored(map)),
        }
    }

    pub(crate) fn maybe(value: Option<stored::Value<'a>>) -> Value<'a> {
        value.map_or(Value::Undefined, Value::stored)
    }

    pub(crate) fn from_option(value: Option<impl Into<Value<'a>>>) -> Value<'a> {
        value.map_or(Value::Undefined, Into::into)
    }

    /// The same value without counting another reference to its text.
    pub(crate) fn reborrow(&'a self) -> Value<'a> {
        match self {
            Value::Number(Number::Shared(text)) => Value::Number(Number::Stored(text)),
            Value::Text(Text::Shared(text)) => Value::Text(Text::Borrowed(text)),
            other => other.clone(),
        }
    }

    pub(crate) fn array(values: Vec<Value<'a>>) -> Value<'a> {
        let each = |value: &Value<'a>| value.weight().saturating_add(size_of::<Value<'a>>());
        let weight = values.iter().fold(2usize, |sum, value| sum.saturating_add(each(value)));
        Value::Array(Array::Shared(Arc::new(SharedArray { values, weight })))
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Value::Undefined => Kind::Undefined,
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Boolean,
            Value::Number(_) => Kind::Number,
            Value::Text(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }

    pub(crate) fn is_undefined(&self) -> bool {
        matches!(self, Value::Undefined)
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Value::Bool(true))
    }

    /// About how many bytes the value takes, in memory or as JSON text, whichever is more; never far below.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Value::Undefined | Value::Null | Value::Bool(_) => 5,
            Value::Number(number) => number.weight(),
            Value::Text(text) => text.weight(),
            Value::Array(array) => array.weight(),
            Value::Object(object) => object.weight(),
        }
    }
}

impl Object<'_> {
    /// As [`Value::weight`].
    pub(crate) fn weight(&self) -> usize {
        match self {
            Object::Stored(map) | Object::Properties(map) => map.raw().len(),
            Object::Shared(members) => members.weight,
        }
    }
}

impl<'a> Array<'a> {
    /// As [`Value::weight`].
    pub(crate) fn weight(&self) -> usize {
        match self {
            Array::Stored(array) => array.raw().len(),
            Array::Shared(items) => items.weight,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Array::Stored(array) => array.len(),
            Array::Shared(items) => items.values.len(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Value<'a> {
        match self {
            Array::Stored(array) => Value::maybe(array.get(index)),
            Array::Shared(items) => items.values.get(index).cloned().unwrap_or(Value::Undefined),
        }
    }

    pub(crate) fn iter(&self) -> Elements<'_, 'a> {
        match self {
            Array::Stored(array) => Elements::Stored(array.iter()),
            Array::Shared(items) => Elements::Shared(items.values.iter()),
        }
    }
}

/// The elements of an array, in their order.
pub(crate) enum Elements<'s, 'a> {
    Stored(stored::Elements<'a>),
    Shared(std::slice::Iter<'s, Value<'a>>),
}

impl<'a> Iterator for Elements<'_, 'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        match self {
            Elements::Stored(elements) => elements.next().map(Value::stored),
            Elements::Shared(values) => values.next().cloned(),
        }
    }
}

impl From<bool> for Value<'_> {
    fn from(bool: bool) -> Self {
        Value::Bool(bool)
    }
}

impl From<rust_decimal::Decimal> for Value<'_> {
    fn from(decimal: rust_decimal::Decimal) -> Self {
        Value::Number(Number::Decimal(decimal))
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Value::Number(Number::Decimal(number.into()))
    }
}

impl From<usize> for Value<'_> {
    fn from(number: usize) -> Self {
        Value::Number(Number::Decimal(number.into()))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Text::from(text))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Text::Borrowed(text))
    }
}

impl<'a> From<Number<'a>> for Value<'a> {
    fn from(number: Number<'a>) -> Value<'a> {
        Value::Number(number)
    }
}

impl<'a> From<Array<'a>> for Value<'a> {
    fn from(array: Array<'a>) -> Value<'a> {
        Value::Array(array)
    }
}

impl<'a> From<Object<'a>> for Value<'a> {
    fn from(object: Object<'a>) -> Value<'a> {
        Value::Object(object)
    }
}
