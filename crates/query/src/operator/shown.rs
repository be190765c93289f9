//! A group's keys as its first event shows them.

use super::several::{SeveralKeys, value_of_spelling};
use crate::allocated::ALLOCATION_BYTES;
use crate::chunk::Order;
use crate::key_table::{Kept, KeyTable};
use crate::value::Value;

/// A group, beside its states.
pub(super) struct Group {
    /// That event, and when it was found to be the first.
    pub(super) first: (Order, u64),
    pub(super) shown: Shown,
}

/// The keys of a group's first event.
pub(super) enum Shown {
    /// A single one, in the spelling that the table keeps.
    Spelled(Kept),
    /// Several, each in the spelling in which its value came first.
    Tuple(u32),
    Values(Box<[Value<'static>]>),
}

impl Shown {
    pub(super) fn values<'s>(
        &'s self,
        table: &'s KeyTable,
        several: &'s SeveralKeys,
        into: &mut Vec<Value<'s>>,
    ) {
        match self {
            Shown::Spelled(kept) => into.push(value_of_spelling(table.spelling(*kept))),
            Shown::Tuple(group) => into.extend(several.values(*group).map(value_of_spelling)),
            Shown::Values(values) => into.extend(values.iter().map(Value::reborrow)),
        }
    }

    /// The same, apart from the tables that spellings are kept in.
    pub(super) fn into_owned(self, table: &KeyTable, several: &SeveralKeys) -> Shown {
        if let Shown::Values(_) = self {
            return self;
        }
        let mut values = Vec::new();
        self.values(table, several, &mut values);
        Shown::Values(values.into_iter().map(Value::into_static).collect())
    }

    /// What it takes, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Shown::Spelled(_) | Shown::Tuple(_) => 0,
            Shown::Values(values) => {
                let each = size_of::<Value<'static>>() + 2 * ALLOCATION_BYTES;
                ALLOCATION_BYTES + values.iter().map(|value| each + value.weight()).sum::<usize>()
            }
        }
    }
}
