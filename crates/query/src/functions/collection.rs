//! Functions of arrays, of objects, and of any value.

use super::call::Call;
use crate::value::{Text, Value, json};
use tamias_json as stored;
use tamias_json::Offsets;
use tamias_json::validate::{Limits, minify_value};

/// `ElementAt(array, index)` or `ElementAt(object, name)`; under `ci` the last name that is equal so.
pub(super) fn element_at<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    match (call.argument(0), call.argument(1)) {
        (Value::Object(object), Value::Text(name)) if call.ci => object
            .iter()
            .filter(|(key, _)| key.compare(name, true).is_eq())
            .last()
            .map_or(Value::Undefined, |(_, value)| value),
        (of, index) => of.element(index),
    }
}

pub(super) fn keys<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    match call.argument(0) {
        Value::Object(object) => Value::array(object.iter().map(|(key, _)| Value::Text(key)).collect()),
        _ => Value::Undefined,
    }
}

pub(super) fn values<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    match call.argument(0) {
        Value::Object(object) => Value::array(object.iter().map(|(_, value)| value).collect()),
        _ => Value::Undefined,
    }
}

/// The scalars of a string, the elements of an array.
pub(super) fn length<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    match call.argument(0) {
        Value::Text(text) => Value::from(text.characters()),
        Value::Array(array) => Value::from(array.len()),
        _ => Value::Undefined,
    }
}

pub(super) fn has<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::Bool(!call.argument(0).is_undefined())
}

pub(super) fn type_of<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from(call.argument(0).kind().name())
}

pub(super) fn undefined<'a>(_: &Call<'_, 'a>) -> Value<'a> {
    Value::Undefined
}

pub(super) fn to_json<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(json(call.argument(0)).map(|json| String::from_utf8_lossy(&json).into_owned()))
}

/// The value that a string spells in JSON.
pub(super) fn from_json<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    call.text(0).map_or(Value::Undefined, |text| read_json(text, |value| value.into_static()))
}

/// What is made of the value that a string spells in JSON; undefined where it spells none.
pub(crate) fn read_json(text: &Text<'_>, of: impl FnOnce(Value<'_>) -> Value<'static>) -> Value<'static> {
    JsonReader::default().read(text).map_or(Value::Undefined, of)
}

/// Reads the values that strings spell in JSON, one after another.
#[derive(Default)]
pub(crate) struct JsonReader {
    minified: Vec<u8>,
    offsets: Offsets,
}

impl JsonReader {
    /// The value that a string spells; none where it spells none.
    pub(crate) fn read(&mut self, text: &Text<'_>) -> Option<Value<'_>> {
        self.minified.clear();
        minify_value(text.text().as_bytes(), &Limits::default(), &mut self.minified).ok()?;
        stored::Value::scan_trusted(&self.minified, &mut self.offsets).ok().map(Value::stored)
    }
}
