//! The kinds of values.

/// The kind of a value, as `TypeOf` returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// No value at all.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The kind of a value by the first byte of its JSON text; that of undefined is empty.
    #[inline]
    pub(crate) fn of_first(byte: Option<u8>) -> Kind {
        match byte {
            None => Kind::Undefined,
            Some(b'n') => Kind::Null,
            Some(b't' | b'f') => Kind::Boolean,
            Some(b'"') => Kind::String,
            Some(b'[') => Kind::Array,
            Some(b'{') => Kind::Object,
            Some(_) => Kind::Number,
        }
    }

    /// The name that `TypeOf` returns for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Undefined => "undefined",
            Kind::Null => "null",
            Kind::Boolean => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::value_of;

    #[test]
    fn the_first_byte_of_a_value_tells_its_kind() {
        for json in ["", "null", "true", "false", "0", "-1", "7.5e3", r#""n""#, "[1]", r#"{"n":1}"#] {
            assert_eq!(Kind::of_first(json.bytes().next()), value_of(json.as_bytes()).kind(), "{json}");
        }
    }
}
