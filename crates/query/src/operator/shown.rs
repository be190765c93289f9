//! A group's keys as its first event shows them.

use crate::allocated::ALLOCATION_BYTES;
use crate::chunk::{Order, value_of};
use crate::key_table::{Kept, KeyTable};
use crate::value::Value;

/// A group, beside its states.
pub(super) struct Group {
    /// That event, and when it was found to be the first.
    pub(super) first: (Order, u64),
    pub(super) shown: Shown,
}

impl Group {
    /// Takes the first event of a group that is the same in another table.
    pub(super) fn begin_with(&mut self, other: Group, table: &KeyTable, other_table: &KeyTable) {
        self.first = other.first;
        match (&self.shown, &other.shown) {
            (Shown::Spelled(own), Shown::Spelled(kept))
                if table.spelling(*own) == other_table.spelling(*kept) => {}
            _ => self.shown = other.shown.into_owned(other_table),
        }
    }
}

/// The keys of a group's first event.
pub(super) enum Shown {
    /// A single one, in the spelling that the table keeps.
    Spelled(Kept),
    Values(Box<[Value<'static>]>),
}

impl Shown {
    pub(super) fn values<'s>(&'s self, table: &'s KeyTable, into: &mut Vec<Value<'s>>) {
        match self {
            Shown::Spelled(kept) => {
                let json = table.spelling(*kept);
                let value = value_of(json);
                // As a value that is computed with: what is no character is the replacement character.
                let is_escaped = memchr::memchr(b'\\', json).is_some();
                into.push(if is_escaped { value.into_static() } else { value });
            }
            Shown::Values(values) => into.extend(values.iter().map(Value::reborrow)),
        }
    }

    /// The same, of a key that was the last to be added to a table, from another one.
    pub(super) fn into_new_of(self, table: &KeyTable, other: &KeyTable) -> Shown {
        match self {
            Shown::Spelled(kept) if table.spelling(table.last_spelling()) == other.spelling(kept) => {
                Shown::Spelled(table.last_spelling())
            }
            shown => shown.into_owned(other),
        }
    }

    fn into_owned(self, table: &KeyTable) -> Shown {
        match self {
            Shown::Spelled(kept) => Shown::Values(Box::new([value_of(table.spelling(kept)).into_static()])),
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
