//! The values of a group, made as they are asked for: most groups of a query may have no row.

use super::shown::{Group, GroupKeys};
use super::states::States;
use crate::plan::Grouping;
use crate::value::Value;

/// The values of its keys, then those of its aggregates; undefined where they are not made yet.
pub(super) struct GroupValues<'v> {
    pub(super) values: Vec<Value<'v>>,
    /// How many of them are keys.
    pub(super) keys: usize,
    /// For each value whether it is made: that of an aggregate may be asked for once only.
    are_made: Vec<bool>,
}

impl<'v> GroupValues<'v> {
    pub(super) fn of(grouping: &Grouping) -> GroupValues<'v> {
        let (keys, all) = (grouping.keys.len(), grouping.keys.len() + grouping.aggregates.len());
        GroupValues { values: vec![Value::Undefined; all], keys, are_made: vec![false; all] }
    }

    /// Goes on to another group, of which nothing is made.
    pub(super) fn begin(&mut self) {
        for (value, is_made) in self.values.iter_mut().zip(&mut self.are_made) {
            if std::mem::take(is_made) {
                *value = Value::Undefined;
            }
        }
    }

    /// Makes a value, with all keys where it is one of them.
    pub(super) fn make(
        &mut self,
        at: usize,
        number: u32,
        group: &Group,
        states: &'v States,
        tables: &'v GroupKeys,
    ) {
        let GroupValues { values, keys, are_made } = self;
        if are_made.get(at).is_none_or(|is_made| *is_made) {
            return;
        }
        let Some(aggregate) = at.checked_sub(*keys) else { return self.make_keys(number, group, tables) };
        if let (Some(value), Some(is_made)) = (values.get_mut(at), are_made.get_mut(at)) {
            (*value, *is_made) = (states.finish(aggregate, number), true);
        }
    }

    /// Makes the keys, if there are any.
    pub(super) fn make_keys(&mut self, number: u32, group: &Group, tables: &'v GroupKeys) {
        let mut own = Vec::with_capacity(self.keys);
        tables.values(number, group, &mut own);
        self.values.iter_mut().zip(own).for_each(|(value, own)| *value = own);
        self.are_made.iter_mut().take(self.keys).for_each(|is_made| *is_made = true);
    }

    /// Makes all that are not made yet.
    pub(super) fn make_all(&mut self, number: u32, group: &Group, states: &'v States, tables: &'v GroupKeys) {
        (0..self.values.len()).for_each(|at| self.make(at, number, group, states, tables));
    }
}
