//! The events of a block, told apart by what statistics say of the values of one key.

use crate::statistics::{Extreme, Key, Listed, Tally, Values};

/// Some events of a block, by what they have under a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Class<'b> {
    Missing,
    /// A scalar as it is stored, a string without its quotes.
    Known(Scalar, &'b [u8]),
    /// Strings that are not told one by one; what may be among them.
    Strings(Values<'b>),
    /// Numbers that are not told one by one, and their range if that is known.
    Numbers(Option<(Extreme<'b>, Extreme<'b>)>),
    Arrays,
    Objects,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    Text,
    /// A number, `null`, `true` or `false`.
    Bare,
}

impl Class<'_> {
    /// Whether the value is known itself.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self, Class::Missing | Class::Known(..))
    }

    /// Writes a document of nothing but a value of the class, under a key and further ones inside of that; false where it is not known.
    pub(super) fn write(&self, name: &str, inside: &[Box<str>], out: &mut Vec<u8>) -> bool {
        out.clear();
        let (quote, text): (&[u8], _) = match self {
            Class::Missing => {
                out.extend_from_slice(b"{}");
                return true;
            }
            Class::Known(Scalar::Text, text) => (b"\"", text),
            Class::Known(Scalar::Bare, text) => (b"", text),
            _ => return false,
        };
        for key in [name].into_iter().chain(inside.iter().map(|key| &**key)) {
            out.push(b'{');
            tamias_json::write_json_string(key, out);
            out.push(b':');
        }
        [quote, text, quote].iter().for_each(|part| out.extend_from_slice(part));
        out.resize(out.len() + 1 + inside.len(), b'}');
        true
    }
}

/// Calls `each` for each class of a key's values, with the events of it, if the classes are known: whether they are.
pub(crate) fn classes<'b>(key: &Key<'b>, events: u32, mut each: impl FnMut(Class<'b>, Tally)) -> bool {
    let values = match key {
        Key::Unknown => return false,
        Key::Absent => {
            each(Class::Missing, Tally { count: events, first: 0 });
            return true;
        }
        Key::Present(facts) => match facts.values {
            Some(values) => values,
            None => return false,
        },
    };
    let Values { missing, null, falsehood, truth, maps, arrays, strings, numbers, .. } = values;
    each(Class::Missing, missing);
    for (text, tally) in [("null", null), ("false", falsehood), ("true", truth)] {
        each(Class::Known(Scalar::Bare, text.as_bytes()), tally);
    }
    // Which is the first of these is not told.
    let unordered = |count| Tally { count, first: 0 };
    each(Class::Objects, unordered(maps));
    each(Class::Arrays, unordered(arrays));
    let mut listed = |listed: Option<Listed<'b>>, scalar, others: Class<'b>, count| match listed {
        Some(listed) => listed.for_each(|(text, tally)| each(Class::Known(scalar, text), tally)),
        None => each(others, unordered(count)),
    };
    listed(values.listed_strings, Scalar::Text, Class::Strings(values), strings);
    listed(values.listed_numbers, Scalar::Bare, Class::Numbers(values.range), numbers);
    true
}
