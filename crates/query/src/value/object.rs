//! Objects, stored or computed. Of a key that is stored twice the last value counts.

use super::text::Text;
use super::types::{Object, SharedObject, VALUE_BYTES_MAX, Value};
use crate::builtin::property_name;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use tamias_json as stored;

/// The keys of so many pairs are compared with one another, which takes no memory.
const FEW: usize = 8;

/// The same of keys that are compared as bytes.
const FEW_AS_BYTES: usize = 32;

impl<'a> Value<'a> {
    /// An object of `pairs`, of which a repeated key keeps the last value, and an undefined one removes the key.
    pub(crate) fn object(pairs: Vec<(Text<'a>, Value<'a>)>) -> Value<'a> {
        Value::Object(Object::of(pairs))
    }
}

impl<'a> Object<'a> {
    /// As [`Value::object`].
    fn of(pairs: Vec<(Text<'a>, Value<'a>)>) -> Object<'a> {
        let mut pairs = last_of_each(pairs);
        pairs.retain(|(_, value)| !value.is_undefined());
        Object::of_unique(pairs)
    }

    /// An object of `pairs` that have different keys, and values.
    pub(super) fn of_unique(pairs: Vec<(Text<'a>, Value<'a>)>) -> Object<'a> {
        let weight = pairs.iter().fold(2usize, |sum, (key, value)| {
            let pair = size_of::<(Text<'a>, Value<'a>)>();
            sum.saturating_add(key.weight()).saturating_add(value.weight()).saturating_add(pair)
        });
        Object::Shared(Arc::new(SharedObject { pairs, weight }))
    }

    /// The user properties of a document; none if there are so many that going through them would take more memory than a
    /// value may.
    pub(crate) fn properties(document: stored::Map<'a>) -> Option<Object<'a>> {
        const MEMBER_BYTES_MIN: usize = 5;
        const MEMBERS_MAX: usize = VALUE_BYTES_MAX / size_of::<(Cow<'_, str>, u32)>();
        let is_large = document.raw().len() / MEMBER_BYTES_MIN > MEMBERS_MAX && document.len() > MEMBERS_MAX;
        (!is_large).then_some(Object::Properties(document))
    }

    /// The value of the last member called `name`.
    pub(crate) fn get(&self, name: &str) -> Value<'a> {
        match self {
            Object::Stored(map) => Value::maybe(map.get(name)),
            Object::Properties(map) if !name.starts_with('@') => Value::maybe(map.get(name)),
            Object::Properties(map) => Value::maybe(
                map.entries()
                    .filter(|(key, _)| property_name(&key.text()) == Some(name))
                    .last()
                    .map(|(_, value)| value),
            ),
            Object::Shared(members) => members
                .pairs
                .iter()
                .find(|(key, _)| key.text() == name)
                .map_or(Value::Undefined, |(_, value)| value.clone()),
        }
    }

    /// The members in their order, a repeated key with its last value only.
    pub(crate) fn iter(&self) -> Iter<'_, 'a> {
        let (map, are_properties) = match self {
            Object::Shared(members) => return Iter::Shared(members.pairs.iter()),
            Object::Stored(map) => (*map, false),
            Object::Properties(map) => (*map, true),
        };
        let replaced = replaced(map, are_properties).into_iter().peekable();
        Iter::Stored { entries: map.entries().enumerate(), are_properties, replaced }
    }
}

/// The members of an object.
pub(crate) enum Iter<'s, 'a> {
    Stored {
        entries: std::iter::Enumerate<stored::Entries<'a>>,
        are_properties: bool,
        /// The numbers of the entries that a later one replaces.
        replaced: std::iter::Peekable<std::vec::IntoIter<u32>>,
    },
    Shared(std::slice::Iter<'s, (Text<'a>, Value<'a>)>),
}

impl<'a> Iterator for Iter<'_, 'a> {
    type Item = (Text<'a>, Value<'a>);

    fn next(&mut self) -> Option<(Text<'a>, Value<'a>)> {
        match self {
            Iter::Shared(pairs) => pairs.next().cloned(),
            Iter::Stored { entries, are_properties, replaced } => loop {
                let (number, (key, value)) = entries.next()?;
                if replaced.next_if(|next| *next as usize == number).is_some() {
                    continue;
                }
                let key = if *are_properties { property(key) } else { Some(Text::Stored(key)) };
                if let Some(key) = key {
                    return Some((key, Value::stored(value)));
                }
            },
        }
    }
}

/// The name of the user property that is stored under `key`, if it is one's.
fn property(key: stored::Str<'_>) -> Option<Text<'_>> {
    if !matches!(key.raw().first(), Some(b'@' | b'\\')) {
        return Some(Text::Stored(key));
    }
    let text = key.text();
    let name = property_name(&text)?;
    Some(if name.len() == text.len() { Text::Stored(key) } else { Text::from(name.to_owned()) })
}

/// The numbers of the entries that a later one with the same name replaces, the least first.
///
/// For more than a few entries it takes some bytes of memory for each.
fn replaced(map: stored::Map<'_>, are_properties: bool) -> Vec<u32> {
    let named = || {
        (0u32..).zip(map.entries()).filter_map(|(number, (key, _))| {
            let text = key.text();
            let name = match are_properties {
                false => text,
                true => match property_name(&text)?.len() {
                    all if all == text.len() => text,
                    _ => Cow::Owned(property_name(&text)?.to_owned()),
                },
            };
            Some((name, number))
        })
    };
    if are_plainly_different(map, are_properties) {
        return Vec::new();
    }
    let mut names: Vec<(Cow<'_, str>, u32)> = named().collect();
    names.sort_unstable();
    let pairs = names.iter().zip(names.iter().skip(1));
    let mut replaced: Vec<u32> =
        pairs.filter(|((name, _), (next, _))| name == next).map(|((_, number), _)| *number).collect();
    replaced.sort_unstable();
    replaced
}

/// Whether no name comes twice, as far as the bytes of a few keys tell.
fn are_plainly_different(map: stored::Map<'_>, are_properties: bool) -> bool {
    let (mut keys, mut count) = ([b"".as_slice(); FEW_AS_BYTES], 0);
    for (key, _) in map.entries() {
        let key = key.raw();
        // Those with an escape are told by their text, and those of properties by what comes behind their sign.
        let is_special = key.contains(&b'\\') || (are_properties && key.starts_with(b"@"));
        let Some(place) = keys.get_mut(count).filter(|_| !is_special) else { return false };
        *place = key;
        count += 1;
    }
    let keys = keys.get(..count).unwrap_or_default();
    (1..).zip(keys).all(|(next, key)| !keys.iter().skip(next).any(|other| other == key))
}

/// Drops what a later pair with the same key replaces; what stays keeps its place.
fn last_of_each<'a>(mut pairs: Vec<(Text<'a>, Value<'a>)>) -> Vec<(Text<'a>, Value<'a>)> {
    let repeats = if pairs.len() <= FEW {
        pairs
            .iter()
            .enumerate()
            .any(|(i, (key, _))| pairs.iter().skip(i + 1).any(|(other, _)| key.equals(other)))
    } else {
        let mut keys: Vec<Cow<'_, str>> = pairs.iter().map(|(key, _)| key.text()).collect();
        keys.sort_unstable();
        keys.windows(2).any(|two| two[0] == two[1])
    };
    if !repeats {
        return pairs;
    }
    let mut last = HashMap::new();
    for (index, (key, _)) in pairs.iter().enumerate() {
        last.insert(key.text().into_owned(), index);
    }
    let mut index = 0;
    pairs.retain(|(key, _)| {
        index += 1;
        last.get(&*key.text()) == Some(&(index - 1))
    });
    pairs
}
