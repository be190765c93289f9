//! What stands inside a value: its members and elements.

use super::types::Value;
use rust_decimal::Decimal;

impl<'a> Value<'a> {
    /// The member called `name`, of an object.
    pub(crate) fn member(&self, name: &str) -> Value<'a> {
        match self {
            Value::Object(object) => object.get(name),
            _ => Value::Undefined,
        }
    }

    /// `self[index]`: an element of an array by its number, a member of an object by its name.
    pub(crate) fn element(&self, index: &Value<'_>) -> Value<'a> {
        match (self, index) {
            (Value::Array(array), Value::Number(number)) => {
                // A zero may have a sign, which counts for nothing.
                let index = number.decimal().filter(|n| n.is_integer() && *n >= Decimal::ZERO);
                match index.and_then(|n| usize::try_from(n.abs()).ok()) {
                    Some(index) => array.get(index),
                    None => Value::Undefined,
                }
            }
            (Value::Object(object), Value::Text(name)) => object.get(&name.text()),
            _ => Value::Undefined,
        }
    }
}
