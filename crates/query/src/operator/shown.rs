//! A group's keys as its first event shows them.

use crate::allocated::ALLOCATION_BYTES;
use crate::chunk::{Order, value_of};
use crate::key_table::KeyTable;
use crate::value::Value;
use std::ops::Range;

/// A group, beside its states.
pub(super) struct Group {
    /// That event, and when it was found to be the first.
    pub(super) first: (Order, u64),
    pub(super) shown: Shown,
}

/// The keys of a group's first event.
pub(super) enum Shown {
    /// A single one, in the spelling that the table keeps.
    Spelled(Range<usize>),
    Values(Box<[Value<'static>]>),
}

impl Shown {
    pub(super) fn values<'s>(&'s self, table: &'s KeyTable, into: &mut Vec<Value<'s>>) {
        match self {
            Shown::Spelled(range) => {
                let json = table.spelling(range);
                let value = value_of(json);
                // As a value that is computed with: what is no character is the replacement character.
                let is_escaped = memchr::memchr(b'\\', json).is_some();
                into.push(if is_escaped { value.into_static() } else { value });
            }
            Shown::Values(values) => into.extend(values.iter().map(Value::reborrow)),
        }
    }

    pub(super) fn into_owned(self, table: &KeyTable) -> Shown {
        match self {
            Shown::Spelled(range) => {
                Shown::Values(Box::new([value_of(table.spelling(&range)).into_static()]))
            }
            values @ Shown::Values(_) => values,
        }
    }

    /// What it takes, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Shown::Spelled(_) => 0,
            Shown::Values(values) => {
                let each = size_of::<Value<'static>>() + 2 * ALLOCATION_BYTES;
                ALLOCATION_BYTES + values.iter().map(|value| each + value.weight()).sum::<usize>()
            }
        }
    }
}
