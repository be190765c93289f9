//! The values of the language, owned and plain, and how JSON text becomes one.

use crate::number::Number;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::cmp::Ordering;
use std::fmt;

/// A value, or the absence of one.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Undefined,
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Array(Vec<Value>),
    /// Keys are unique: the last of duplicates counts.
    Object(Vec<(String, Value)>),
}

use Value::*;

impl Value {
    /// The value of a stored JSON text. serde_json says where things begin and end; keys and strings are decoded here,
    /// because it takes no lone surrogates, and numbers keep their text.
    pub(crate) fn stored(json: &str) -> Value {
        match json.as_bytes()[0] {
            b'n' => Null,
            b't' => Bool(true),
            b'f' => Bool(false),
            b'"' => Text(decode(json)),
            b'[' => {
                let elements: Elements<'_> = serde_json::from_str(json).unwrap();
                Array(elements.0.iter().map(|raw| Value::stored(raw.get())).collect())
            }
            b'{' => Value::object(
                entries(json)
                    .into_iter()
                    .map(|(key, raw)| (decode(key.get()), Value::stored(raw.get())))
                    .collect(),
            ),
            _ => Number(Number::stored(json)),
        }
    }

    pub(crate) fn object(pairs: Vec<(String, Value)>) -> Value {
        let mut unique: Vec<(String, Value)> = Vec::new();
        for (key, value) in pairs {
            unique.retain(|(other, _)| *other != key);
            unique.push((key, value));
        }
        Object(unique)
    }

    pub(crate) fn text(text: &str) -> Value {
        Text(text.to_owned())
    }

    pub(crate) fn integer(number: i64) -> Value {
        Number(Number::integer(number))
    }

    pub(crate) fn is_undefined(&self) -> bool {
        matches!(self, Undefined)
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Bool(true))
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Undefined => "undefined",
            Null => "null",
            Bool(_) => "boolean",
            Number(_) => "number",
            Text(_) => "string",
            Array(_) => "array",
            Object(_) => "object",
        }
    }

    /// `=`, structural; none where either is undefined.
    pub(crate) fn equal(&self, other: &Value, ci: bool) -> Option<bool> {
        if self.is_undefined() || other.is_undefined() {
            return None;
        }
        Some(self.order(other, ci) == Ordering::Equal)
    }

    /// The order of all values that `order by` has; equal values, and only they, are `Equal`.
    pub(crate) fn order(&self, other: &Value, ci: bool) -> Ordering {
        match (self, other) {
            (Bool(a), Bool(b)) => a.cmp(b),
            (Number(a), Number(b)) => a.compare(b),
            (Text(a), Text(b)) => compare_text(a, b, ci),
            (Array(a), Array(b)) => {
                for (a, b) in a.iter().zip(b) {
                    let order = a.order(b, ci);
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                a.len().cmp(&b.len())
            }
            (Object(a), Object(b)) => {
                // "As pairs sorted by key": keys are compared as they are, also under `ci`.
                let sorted = |pairs: &[(String, Value)]| {
                    let mut pairs = pairs.to_vec();
                    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
                    pairs
                };
                let (a, b) = (sorted(a), sorted(b));
                for ((a_key, a), (b_key, b)) in a.iter().zip(&b) {
                    let order = a_key.cmp(b_key).then_with(|| a.order(b, ci));
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                a.len().cmp(&b.len())
            }
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Undefined => 0,
            Null => 1,
            Bool(_) => 2,
            Number(_) => 3,
            Text(_) => 4,
            Array(_) => 5,
            Object(_) => 6,
        }
    }

    /// Whether a row shows exactly this value: the same texts of numbers, the same strings.
    pub(crate) fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Number(a), Number(b)) => a.text() == b.text(),
            (Array(a), Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b)),
            (Object(a), Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, value)| {
                        b.iter().any(|(other, member)| key == other && value.same(member))
                    })
            }
            (a, b) => a.kind() == b.kind() && a.order(b, false) == Ordering::Equal,
        }
    }

    pub(crate) fn member(&self, name: &str) -> Value {
        match self {
            Object(pairs) => {
                pairs.iter().find(|(key, _)| key == name).map_or(Undefined, |(_, value)| value.clone())
            }
            _ => Undefined,
        }
    }

    /// `value[key]`, of an object by a string, of an array by a whole number from 0.
    pub(crate) fn element(&self, key: &Value, ci: bool) -> Value {
        match (self, key) {
            (Object(pairs), Text(name)) => pairs
                .iter()
                .rfind(|(key, _)| compare_text(key, name, ci) == Ordering::Equal)
                .map_or(Undefined, |(_, value)| value.clone()),
            (Array(elements), Number(index)) => {
                index.to_index().and_then(|index| elements.get(index).cloned()).unwrap_or(Undefined)
            }
            _ => Undefined,
        }
    }

    /// Elements of an array, member values of an object.
    pub(crate) fn elements(&self) -> Option<Vec<Value>> {
        match self {
            Array(elements) => Some(elements.clone()),
            Object(pairs) => Some(pairs.iter().map(|(_, value)| value.clone()).collect()),
            _ => None,
        }
    }

    /// JSON text, in the order of keys that the value has.
    pub(crate) fn json(&self) -> String {
        match self {
            Undefined => "undefined".to_owned(),
            Null => "null".to_owned(),
            Bool(bool) => bool.to_string(),
            Number(number) => number.text().to_owned(),
            Text(text) => quote(text),
            Array(elements) => {
                format!("[{}]", elements.iter().map(Value::json).collect::<Vec<_>>().join(","))
            }
            Object(pairs) => {
                let members = pairs.iter().map(|(key, value)| format!("{}:{}", quote(key), value.json()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// Text in quotes, in the one spelling of stored strings.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(control)))
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// The order by Unicode scalar value.
pub(crate) fn compare_text(a: &str, b: &str, ci: bool) -> Ordering {
    if ci {
        a.chars().map(upper).collect::<Vec<_>>().cmp(&b.chars().map(upper).collect::<Vec<_>>())
    } else {
        a.chars().collect::<Vec<_>>().cmp(&b.chars().collect::<Vec<_>>())
    }
}

/// The simple upper case, from std's full one: the two differ where the full mapping gives several characters. There the
/// simple one is the character itself, but for the Greek letters with an iota subscript, which have a capital of their own.
pub(crate) fn upper(character: char) -> char {
    let mut full = character.to_uppercase();
    if full.len() == 1 {
        return full.next().unwrap();
    }
    match u32::from(character) {
        code @ (0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7) => char::from_u32(code + 8).unwrap(),
        0x1fb3 => '\u{1fbc}',
        0x1fc3 => '\u{1fcc}',
        0x1ff3 => '\u{1ffc}',
        _ => character,
    }
}

/// A JSON string with its quotes, decoded; a surrogate without its partner reads as U+FFFD.
pub(crate) fn decode(json: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = json[1..json.len() - 1].chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            units.extend(character.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        let escaped = rest.next().unwrap();
        units.push(match escaped {
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => {
                let digits: String = rest.by_ref().take(4).collect();
                u16::from_str_radix(&digits, 16).unwrap()
            }
            other => u16::try_from(u32::from(other)).unwrap(),
        });
    }
    String::from_utf16_lossy(&units)
}

/// The members of a JSON object in their order, duplicates and all.
pub(crate) fn entries(json: &str) -> Vec<(&RawValue, &RawValue)> {
    let members: Members<'_> = serde_json::from_str(json).unwrap();
    members.0
}

struct Elements<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Elements<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Elements<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = access.next_element()? {
                    elements.push(element);
                }
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(Collect)
    }
}

struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = access.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
