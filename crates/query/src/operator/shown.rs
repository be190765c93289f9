//! The keys of groups, as the first event of each shows them.

use super::several::SeveralKeys;
use crate::allocated::ALLOCATION_BYTES;
use crate::chunk::Order;
use crate::key_numbers::KeptKeys;
use crate::keys::Keys;
use crate::outputs::KeyColumn;
use crate::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// A group, beside its states.
#[derive(Clone, Copy)]
pub(super) struct Group {
    /// The place in time of its first event.
    pub(super) first: Order,
    /// When that was found to be the first: tells groups of one event apart.
    pub(super) begun: u32,
    /// Whether its keys are kept apart.
    pub(super) is_apart: bool,
}

impl Group {
    /// What groups are ordered by.
    pub(super) fn place(&self) -> (Order, u32) {
        (self.first, self.begun)
    }
}

/// The keys of all groups.
pub(super) struct GroupKeys {
    /// Of groups by a single key. Where there are no keys it is empty, and there is one group.
    pub(super) single: Keys,
    /// Of groups by several, each of which is shown in the spelling in which its value came first.
    pub(super) several: SeveralKeys,
    /// By the numbers of those groups whose first event spells its keys otherwise.
    apart: HashMap<u32, Box<[Value<'static>]>>,
    apart_bytes: usize,
}

impl GroupKeys {
    /// No groups yet, by some keys, of each of which there may be keys that outlive the query.
    pub(super) fn new(keys: &[KeyColumn], kept: &[Option<Arc<KeptKeys>>]) -> GroupKeys {
        let (single, several) = match keys {
            [key] => (key.keys(kept.first().cloned().flatten()), SeveralKeys::default()),
            keys => (Keys::default(), SeveralKeys::new(keys, kept)),
        };
        GroupKeys { single, several, apart: HashMap::new(), apart_bytes: 0 }
    }

    /// Makes them the keys of a part of the groups of a query by a single key.
    pub(super) fn be_part(&mut self) {
        self.single.be_part();
    }

    /// Takes in the keys of groups by a single key that are none of these, which follow so many: false, and nothing done, where they have to be looked up for that. Keys are not found any more.
    pub(super) fn append(&mut self, other: &mut GroupKeys, groups: u32) -> bool {
        if !self.single.append(&mut other.single) {
            return false;
        }
        self.apart.extend(other.apart.drain().map(|(number, values)| (groups + number, values)));
        self.apart_bytes += other.apart_bytes;
        true
    }

    /// Keeps the keys of a group apart from now on.
    pub(super) fn keep_apart(&mut self, number: u32, values: Box<[Value<'static>]>) {
        let each = size_of::<Value<'static>>() + 2 * ALLOCATION_BYTES;
        let bytes = values.iter().map(|value| each + value.weight()).sum::<usize>();
        self.apart_bytes += size_of::<(u32, Box<[Value<'static>]>)>() + ALLOCATION_BYTES + bytes;
        self.apart.insert(number, values);
    }

    /// Adds the keys of a group.
    pub(super) fn values<'s>(&'s self, number: u32, group: &Group, into: &mut Vec<Value<'s>>) {
        match group.is_apart {
            true => into.extend(self.apart.get(&number).into_iter().flatten().map(Value::reborrow)),
            false if self.several.has_keys() => {
                self.several.each_value(number, &mut |spelling| into.push(spelling.value()));
            }
            false => into.push(self.single.first(number).value()),
        }
    }

    /// The same as values that outlive the tables.
    pub(super) fn own_values(&self, number: u32, group: &Group) -> Box<[Value<'static>]> {
        let mut values = Vec::new();
        self.values(number, group, &mut values);
        values.into_iter().map(Value::into_static).collect()
    }

    /// Reads what tells the keys of some groups, [`TOGETHER`](crate::key_table::TOGETHER) at most, so that none is waited for once it is asked for. Those of groups by one key mostly
    /// stand in the order of the groups.
    pub(super) fn read_ahead(&self, groups: &[u32]) {
        if self.several.has_keys() {
            self.several.read_ahead(groups);
        }
    }

    /// The keys of a group one after the other, each by those that have it and its number among them; false where they are not spelled in the tables.
    pub(super) fn each_number(&self, number: u32, group: &Group, mut each: impl FnMut(&Keys, u32)) -> bool {
        match group.is_apart {
            true => return false,
            false if self.several.has_keys() => self.several.each_number(number, &mut each),
            false => each(&self.single, number),
        }
        true
    }

    /// Forgets how groups are found: their keys are all that is asked for from now on.
    pub(super) fn close(&mut self) {
        self.single.close();
        self.several.close();
    }

    /// What they hold once they are closed, in bytes.
    pub(super) fn closed_bytes(&self) -> usize {
        self.single.closed_bytes() + self.several.closed_bytes() + self.apart_bytes
    }

    /// What they hold, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.single.bytes() + self.several.bytes() + self.apart_bytes
    }
}

impl KeyColumn {
    /// No keys yet of this kind.
    pub(super) fn keys(&self, kept: Option<Arc<KeptKeys>>) -> Keys {
        match self {
            KeyColumn::Time(_) => Keys::new(false, None),
            KeyColumn::Value { ci, .. } => Keys::new(*ci, kept),
        }
    }
}
