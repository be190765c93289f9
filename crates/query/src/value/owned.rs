//! Values made to outlive the document that they are borrowed from.

use super::types::{DEPTH_MAX, Object, Value};

impl<'a> Value<'a> {
    /// The value with nothing borrowed.
    pub(crate) fn into_static(self) -> Value<'static> {
        self.into_static_below(0)
    }

    fn into_static_below(self, depth: usize) -> Value<'static> {
        if depth > DEPTH_MAX {
            return Value::Undefined;
        }
        match self {
            Value::Undefined => Value::Undefined,
            Value::Null => Value::Null,
            Value::Bool(bool) => Value::Bool(bool),
            Value::Number(number) => Value::Number(number.into_static()),
            Value::Text(text) => Value::Text(text.into_static()),
            Value::Array(array) => {
                Value::array(array.iter().map(|value| value.into_static_below(depth + 1)).collect())
            }
            Value::Object(object) => Value::Object(Object::of_unique(
                object
                    .iter()
                    .map(|(key, value)| (key.into_static(), value.into_static_below(depth + 1)))
                    .collect(),
            )),
        }
    }
}
